/* mail.c - mail about jobs: --mail-type and --mail-user, sent by the site's program
 *
 *   event on disk  --.
 *   job has ended  --+--> is it asked for? --> message --> waits --> program, some at once
 *   part of limit  --'
 *
 * The program is that of `mail:` in fluxq.yaml, called like sendmail: PROGRAM -i -t, with
 * the message on its standard input. It runs as the job's user if the broker is root, else
 * as the broker. Mail is sent at most once: a message that waits, or whose program has not
 * read it when the broker ends, is lost, and so is a part of a time limit that is
 * reached while no broker runs.
 */
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/mail/mail.h"
#include "broker/services/mail/message.h"
#include "common/clock.h"
#include "job/deps_due.h"

#define AT_ONCE 4 /* programs */
#define WAITING_MAX 10000
#define A_TURN 100     /* parts of time limits */
#define SLEEP_MAX 60.0 /* the wall clock may be set */

struct mails {
    struct message_list waiting;
    struct message *running[AT_ONCE];
    size_t dropped; /* since the last message about it */
    struct due_heap parts;
    struct broker_timer timer; /* for the first of parts */
};

struct slot {
    bool known;     /* types was read from the job's record */
    bool began;     /* of an array: mail about its begin was due */
    unsigned types; /* enum mail_type */
    unsigned part;  /* index of the next part of the time limit */
    struct due due; /* in parts */
    struct entry *e;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    struct {
        char *program, *domain;
        double timeout;
    } mail;
};

#define AT(field)                                                                        \
    offsetof (struct settings, mail.field) - offsetof (struct settings, mail)
static const struct config_key mail_keys[] = {
    { "program", value_program, AT (program), sizeof (char *), 0, 0, NULL },
    { "domain", value_string, AT (domain), sizeof (char *), 0, 0, NULL },
    { "timeout", value_timeout, AT (timeout), sizeof (double), 0, 0, NULL },
    { 0 },
};
static const struct config_key keys[] = {
    { "mail", value_mapping, CONFIG_FIELD (struct settings, mail), 0, 0, mail_keys },
    { 0 },
};
static const struct settings defaults = { .mail = { .timeout = 60 } };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct mails)
SERVICE_SLOT_OF (struct slot)

static const char *program_of (const struct broker *b)
{
    const char *program = settings_of (b)->mail.program;

    return program && strcmp (program, CONFIG_NO_PROGRAM) != 0 ? program : NULL;
}

static int check_config (const struct config *c, struct error *err)
{
    const struct settings *set = service_settings (c, &place);
    char address[MAIL_USER_MAX + 2];

    if (!set->mail.domain)
        return 0;
    snprintf (address, sizeof (address), "a@%.*s", MAIL_USER_MAX - 1, set->mail.domain);
    if (!strchr (set->mail.domain, ',') && mail_user_check (address, "", NULL) == 0)
        return 0;
    return error_set (err, EINVAL,
                      "mail.domain: '%.60s' is not the domain of addresses, such as "
                      "example.org",
                      set->mail.domain);
}

/* -- sending -- */

static void send_next (struct broker *b);

static void sent (struct message *m, bool failed, void *arg)
{
    struct broker *b = arg;
    struct mails *s = state_of (b);

    for (size_t i = 0; i < AT_ONCE; i++)
        if (s->running[i] == m)
            s->running[i] = NULL;
    if (failed)
        log_warning ("job %ju: mail about it was not sent", (uintmax_t)message_job (m));
    message_destroy (m);
    if (!broker_is_dead (b))
        send_next (b);
}

static void start (struct broker *b, struct message **place_of, struct message *m)
{
    const struct settings *set = settings_of (b);
    const struct message_how how = { program_of (b), set->mail.timeout };
    struct error err = { 0 };

    if (how.program && message_send (m, b, &how, sent, b, &err) == 0) {
        *place_of = m;
        return;
    }
    log_warning ("job %ju: mail about it cannot be sent: %s", (uintmax_t)message_job (m),
                 how.program ? err.text : "mail.program is not set any more");
    message_destroy (m);
}

static void send_next (struct broker *b)
{
    struct mails *s = state_of (b);

    for (size_t i = 0; i < AT_ONCE; i++) {
        struct message *m = s->running[i] ? NULL : message_list_take (&s->waiting);
        if (m)
            start (b, &s->running[i], m);
    }
    if (s->waiting.n == 0 && s->dropped > 0) {
        log_warning ("mail: %zu messages were dropped, as %d waited", s->dropped,
                     WAITING_MAX);
        s->dropped = 0;
    }
}

static const char *shown (const struct job *job, const char *key)
{
    return json_string_value (json_object_get (job->shown, key));
}

static void mail (struct broker *b, const struct job *job, enum mail_type type,
                  bool summary)
{
    struct mails *s = state_of (b);
    const char *to = shown (job, "mail_user");
    struct message *m;

    to = to ? to : job->user;
    if (!program_of (b) || mail_user_check (to, "", NULL) < 0)
        return;
    if (s->waiting.n >= WAITING_MAX) {
        s->dropped++;
        return;
    }
    m = message_create (job, type);
    if (!m || message_write (m, job, summary, to, settings_of (b)->mail.domain) < 0) {
        log_warning ("job %ju: no memory for mail about it", (uintmax_t)job->id);
        message_destroy (m);
        return;
    }
    message_list_add (&s->waiting, m);
    send_next (b);
}

/* -- which events -- */

static unsigned types_of (const struct entry *e)
{
    const char *text = shown (entry_job (e), "mail_type");
    struct slot *slot = slot_of (e);

    if (!slot->known && text)
        mail_types_parse (text, &slot->types, "", NULL);
    slot->known = true;
    return slot->types;
}

/* Mail about an array is about the array as a whole, or about each task. */
static bool is_silent (const struct entry *e)
{
    const struct job *job = entry_job (e);
    bool tasks = types_of (e) & MAIL_ARRAY_TASKS;

    return (job->array && tasks) || (job->array_job && !tasks);
}

static bool listens (const struct broker *b, const struct entry *e)
{
    return types_of (e) != 0 && program_of (b);
}

static void about_begin (struct broker *b, struct entry *e, bool of_task)
{
    if (!(types_of (e) & MAIL_BEGIN) || is_silent (e) || (of_task && slot_of (e)->began))
        return;
    slot_of (e)->began = true;
    mail (b, entry_job (e), MAIL_BEGIN, false);
}

static void about_time_limit (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    const char *why = job->exception_type;

    if (why && job->exception_severity == 0 && !strcmp (why, "timeout")
        && (types_of (e) & MAIL_TIME_LIMIT) && !is_silent (e))
        mail (b, job, MAIL_TIME_LIMIT, false);
}

static void committed (struct broker *b, struct entry *e,
                       const char (*names)[EVENT_NAME_MAX], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!strcmp (names[i], "start") || !strcmp (names[i], "task-start"))
            about_begin (b, e, names[i][0] == 't');
        else if (!strcmp (names[i], "exception"))
            about_time_limit (b, e);
        else if (!strcmp (names[i], "requeue") && (types_of (e) & MAIL_REQUEUE))
            mail (b, entry_job (e), MAIL_REQUEUE, !(types_of (e) & MAIL_ARRAY_TASKS));
    }
}

void mail_invalid_depend (struct broker *b, struct entry *e)
{
    if ((types_of (e) & MAIL_INVALID_DEPEND) && !is_silent (e))
        mail (b, entry_job (e), MAIL_INVALID_DEPEND, false);
}

/* As in Slurm: a cancelled job has ended; FAIL is about all others that did not
 * complete, and END too, if FAIL is not asked for. */
static void ended (struct broker *b, struct entry *e)
{
    enum job_phase phase = job_result_phase (entry_job (e));
    bool failed = phase != JOB_COMPLETED && phase != JOB_CANCELLED;
    const char *why = entry_job (e)->exception_type;
    unsigned types = types_of (e);

    if (is_silent (e))
        return;
    if (why && !strcmp (why, "dependency"))
        mail_invalid_depend (b, e);
    if (failed && (types & MAIL_FAIL))
        mail (b, entry_job (e), MAIL_FAIL, false);
    else if (types & MAIL_END)
        mail (b, entry_job (e), MAIL_END, false);
}

/* -- parts of the time limit -- */

static const struct {
    enum mail_type type;
    double part;
} parts[] = {
    { MAIL_TIME_LIMIT_50, 0.5 },
    { MAIL_TIME_LIMIT_80, 0.8 },
    { MAIL_TIME_LIMIT_90, 0.9 },
};

static void set_timer (struct mails *s)
{
    const struct due *first = due_first (&s->parts);

    if (first)
        broker_timer_set (&s->timer, MIN (MAX (first->at - clock_wall (), 0), SLEEP_MAX));
}

/* Waits for the next part of the time limit that the job has asked for. */
static void watch_parts (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    struct mails *s = state_of (b);
    struct slot *slot = slot_of (e);
    unsigned n = ARRAY_SIZE (parts);
    bool runs = job->state == JOB_RUN && job->started && !job->finished
                && job->duration > 0 && !is_silent (e);

    while (runs && slot->part < n && !(types_of (e) & parts[slot->part].type))
        slot->part++;
    if (!runs || slot->part == n) {
        due_remove (&s->parts, &slot->due);
        return;
    }
    slot->e = e;
    if (due_set (&s->parts, &slot->due,
                 job->t_start + parts[slot->part].part * job->duration)
        < 0)
        log_warning ("job %ju: no memory for mail about its time limit",
                     (uintmax_t)job->id);
    set_timer (s);
}

static void pass (struct broker *b)
{
    struct mails *s = state_of (b);
    struct due *first;

    for (int n = 0; (first = due_first (&s->parts)) && first->at <= clock_wall (); n++) {
        struct slot *slot = CONTAINER_OF (first, struct slot, due);
        if (n == A_TURN)
            break;
        mail (b, entry_job (slot->e), parts[slot->part].type, false);
        slot->part++;
        watch_parts (b, slot->e);
    }
    set_timer (s);
}

static void event (struct broker *b, struct entry *e, const struct job_change *change)
{
    bool begins = !strcmp (change->name, "start");

    if (!(types_of (e) & (MAIL_TIME_LIMIT_50 | MAIL_TIME_LIMIT_80 | MAIL_TIME_LIMIT_90)))
        return;
    if (begins)
        slot_of (e)->part = 0;
    watch_parts (b, e);
}

/* After a restart: parts that have passed count as told. */
static void replayed (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    struct slot *slot = slot_of (e);

    if (types_of (e) == 0)
        return;
    slot->began =
        job->array
        && idset_count (job->array->waiting) + idset_count (job->array->cancelled)
               < idset_count (job->array->spec.tasks);
    while (slot->part < ARRAY_SIZE (parts)
           && job->t_start + parts[slot->part].part * job->duration < clock_wall ())
        slot->part++;
    watch_parts (b, e);
}

static void goes (struct broker *b, struct entry *e)
{
    due_remove (&state_of (b)->parts, &slot_of (e)->due);
}

/* -- what users see, and the end -- */

static void shows_job (struct broker *b, struct entry *e, const struct jobspec *js,
                       const struct journal_record *rec, json_t *job)
{
    bool asked = js && js->mail_type;

    (void)e;
    (void)rec;
    json_object_set_new (job, "mail_note",
                         asked && !program_of (b)
                             ? json_string ("mail is not set up here")
                             : json_null ());
}

static void close_mails (struct broker *b)
{
    struct mails *s = state_of (b);

    for (size_t i = 0; i < AT_ONCE; i++) {
        if (!s->running[i] || broker_ops (b)->spawn)
            continue; /* the executor ends the others */
        message_abandon (s->running[i]);
        s->running[i] = NULL;
    }
}

static void release (struct broker *b)
{
    struct mails *s = state_of (b);
    struct message *m;

    for (size_t i = 0; i < AT_ONCE; i++)
        message_destroy (s->running[i]);
    while ((m = message_list_take (&s->waiting)))
        message_destroy (m);
    due_release (&s->parts);
}

const struct broker_service service_mail = {
    .name = "mail",
    .place = &place,
    .state_size = sizeof (struct mails),
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .timer = offsetof (struct mails, timer),
    .on_timer = pass,
    .listens = listens,
    .committed = committed,
    .ended = ended,
    .event = event,
    .replayed = replayed,
    .goes = goes,
    .check_config = check_config,
    .shows_job = shows_job,
    .close = close_mails,
    .release = release,
};
