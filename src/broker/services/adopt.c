/* adopt.c - jobs made outside fluxq on its nodes: a batch/v1 Job, a group of pods
 *
 *   executor: adopt() --> known by its key? -------------------------------> adopted (id)
 *                           | no                                              ^
 *                           +--> its owner's uid --> submit.c --> journal ----+
 *
 *   events, and every ADOPT_SECONDS the reasons of those that wait --> foreign_state()
 *
 * The submit event contains the key, which is also the Idempotency-Key of the submit:
 * there is one job for each key, even if a process is killed between two of these steps.
 */
#include "broker/core/no_memory.h"

#include <uthash.h>

#include "broker/api/api.h"
#include "broker/api/columns.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/turn.h"
#include "broker/services/submit/submit.h"
#include "broker/core/service.h"
#include "common/clock.h"

#define ADOPT_SECONDS 3
#define TEXT_MAX 8192

struct adopted {
    UT_hash_handle hh;
    const char *key; /* of entry->job */
    struct entry *e;
};

struct state {
    struct adopted *adopted;   /* by key */
    struct broker_timer timer; /* tells the executor why adopted jobs wait */
};

struct slot {
    struct adopted *adopted; /* NULL: made in fluxq */
};

static struct service_place place;
SERVICE_STATE_OF (struct state)
SERVICE_SLOT_OF (struct slot)

/* An adoption that is not a job yet. */
struct adoption {
    struct broker *b;
    char *key, *name, *owner, *jobspec;
    int urgency;
};

static void adoption_free (struct adoption *a)
{
    free (a->key);
    free (a->name);
    free (a->owner);
    free (a->jobspec);
    free (a);
}

/* -- which there are -- */

static struct entry *find (const struct broker *b, const char *key)
{
    struct adopted *a;

    HASH_FIND_STR (state_of (b)->adopted, key, a);
    return a ? a->e : NULL;
}

static void insert (struct broker *b, struct entry *e)
{
    struct state *state = state_of (b);
    struct slot *slot = slot_of (e);

    if (!entry_job (e)->adopted_key || slot->adopted
        || find (b, entry_job (e)->adopted_key))
        return;
    struct adopted *a = calloc (1, sizeof (*a));
    if (!a)
        broker_no_memory ("the object of a job");
    a->key = entry_job (e)->adopted_key;
    a->e = e;
    slot->adopted = a;
    HASH_ADD_KEYPTR (hh, state->adopted, a->key, strlen (a->key), a);
    if (!state->timer.is_set)
        broker_timer_set (&state->timer, ADOPT_SECONDS);
}

static void leave (struct broker *b, struct entry *e)
{
    struct slot *slot = slot_of (e);

    if (!slot->adopted)
        return;
    HASH_DELETE (hh, state_of (b)->adopted, slot->adopted);
    free (slot->adopted);
    slot->adopted = NULL;
}

/* -- how it stands -- */

static void render (struct broker *b, struct entry *e, const char *name,
                    struct strbuf *sb)
{
    const struct job *job = entry_job (e);
    const struct column *c = column_find (name, strlen (name));

    strbuf_init (sb, TEXT_MAX);
    strbuf_adds (sb, "");
    c->render (&(struct cell){ b, e, job, clock_wall (), sb });
    if (c->private_part)
        privacy_scrub (b, job->userid, sb); /* the Job's owner sees some jobs only */
}

/* Appends the number of jobs ahead in the queue. */
static void add_place (struct broker *b, struct entry *e, struct strbuf *text)
{
    autostrbuf struct strbuf ahead;

    render (b, e, "jobs_ahead", &ahead);
    if (ahead.len > 0)
        strbuf_addf (text, "%sjobs ahead of it: %s", text->len ? "; " : "", ahead.buf);
}

static void tell (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    enum job_state state = job->state;
    bool ended = state == JOB_INACTIVE;
    autostrbuf struct strbuf word, reason, text;

    render (b, e, "state", &word);
    render (b, e, "reason", &reason);
    render (b, e,
            ended             ? "result_text"
            : state < JOB_RUN ? "reason_text"
                              : "nodelist",
            &text);
    if (state < JOB_RUN)
        add_place (b, e, &text);
    const struct exec_foreign_state s = {
        .id = entry_id (e),
        .key = job->adopted_key,
        .name = job->adopted,
        .state = word.buf,
        .reason = reason.buf,
        .text = text.buf,
        .active = state == JOB_RUN || state == JOB_CLEANUP,
        .ended = ended,
        .cancelled = job->has_exception && !strcmp (job->exception_type, "cancel")
    };
    broker_ops (b)->foreign_state (broker_exec (b), &s);
}

static void tell_state (struct broker *b, struct entry *e)
{
    if (slot_of (e)->adopted && !broker_is_dead (b) && broker_ops (b)->foreign_state)
        tell (b, e);
}

static void tell_all (struct broker *b)
{
    struct adopted *a, *next;

    HASH_ITER (hh, state_of (b)->adopted, a, next)
        tell_state (b, a->e);
}

static void tick (struct broker *b)
{
    struct state *state = state_of (b);
    struct adopted *a, *next;

    HASH_ITER (hh, state->adopted, a, next) {
        if (entry_job (a->e)->state < JOB_RUN && !broker_is_recovering (b))
            tell_state (b, a->e);
    }
    if (state->adopted)
        broker_timer_set (&state->timer, ADOPT_SECONDS);
}

/* -- new jobs -- */

/* Only the journal tells how the job ended. */
static void tell_ended (const struct adoption *a, uint64_t id)
{
    const struct exec_foreign_state s = { .id = id,
                                          .key = a->key,
                                          .name = a->name,
                                          .state = "ENDED",
                                          .reason = "",
                                          .text = "long ago",
                                          .ended = true };
    broker_ops (a->b)->foreign_state (broker_exec (a->b), &s);
}

static void answer (struct adoption *a, uint64_t id, bool again, const char *text)
{
    struct broker *b = a->b;
    struct entry *e = id && !broker_is_dead (b) ? entry_find (b, id) : NULL;

    if (!broker_is_dead (b)) {
        broker_ops (b)->adopted (broker_exec (b), a->key, id, again, text);
        if (e)
            tell_state (b, e);
        else if (id)
            tell_ended (a, id);
    }
    adoption_free (a);
}

/* Errors after which a client would try again are tried again. */
static void submitted (uint64_t id, int status, const char *text, void *arg)
{
    struct adoption *a = arg;

    if (id)
        log_info ("job %ju: adopted: %s", (uintmax_t)id, a->name);
    answer (a, id, status == 429 || status == 503, text);
}

static void owner_known (int rc, const struct exec_user *user, void *arg)
{
    struct adoption *a = arg;
    struct broker *b = a->b;
    char text[400];

    if (broker_is_dead (b)) {
        adoption_free (a);
        return;
    }
    if (rc < 0) {
        snprintf (text, sizeof (text),
                  rc == -ENOENT ? "its owner %.255s is not a user of the broker's machine"
                                : "its owner %.255s cannot be looked up now",
                  a->owner);
        answer (a, 0, rc != -ENOENT, text);
        return;
    }
    uint64_t id = journal_find_key (broker_journal (b), user->uid, a->key);
    struct entry *e = id ? entry_find (b, id) : NULL;
    if (e && !slot_of (e)->adopted) { /* the owner used our key for a submit */
        answer (a, 0, false, "its Idempotency-Key was used for another job");
        return;
    }
    if (id) { /* the job has ended, and only the journal has it */
        answer (a, id, false, "");
        return;
    }
    struct submit_foreign f = { .uid = user->uid,
                                .urgency = a->urgency,
                                .jobspec = a->jobspec,
                                .name = a->name,
                                .key = a->key,
                                .done = submitted,
                                .arg = a };
    a->jobspec = NULL;
    submit_foreign (b, &f);
}

static void host_adopt (void *arg, const struct exec_foreign *f)
{
    struct broker *b = arg;
    struct entry *e = find (b, f->key);
    struct adoption *a;

    if (e) {
        broker_ops (b)->adopted (broker_exec (b), f->key, entry_id (e), false, "");
        tell_state (b, e);
        return;
    }
    if (!(a = calloc (1, sizeof (*a)))) {
        broker_ops (b)->adopted (broker_exec (b), f->key, 0, true, "out of memory");
        return;
    }
    a->b = b;
    a->urgency = f->urgency;
    a->key = strdup (f->key);
    a->name = strdup (f->name);
    a->owner = strdup (f->owner);
    a->jobspec = json_dumps (f->jobspec, JSON_COMPACT);
    if (!a->key || !a->name || !a->owner || !a->jobspec) {
        broker_ops (b)->adopted (broker_exec (b), f->key, 0, true, "out of memory");
        adoption_free (a);
        return;
    }
    users_find_named (broker_users (b), a->owner, owner_known, a);
}

static void host_adopt_gone (void *arg, uint64_t id, const char *text)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);

    if (!e || !slot_of (e)->adopted || entry_job (e)->state == JOB_INACTIVE)
        return;
    if (entry_job (e)->state == JOB_CLEANUP && !entry_job (e)->requeue)
        return; /* already ending */
    log_info ("job %ju: %s", (uintmax_t)id, text);
    broker_exception (b, e, "cancel", broker_uid (b), text);
}

static void host_init (struct broker *b, struct exec_host *host)
{
    (void)b;
    host->adopt = host_adopt;
    host->adopt_gone = host_adopt_gone;
}

static bool listens (const struct broker *b, const struct entry *e)
{
    (void)b;
    return slot_of (e)->adopted;
}

static void committed (struct broker *b, struct entry *e,
                       const char (*names)[EVENT_NAME_MAX], unsigned n)
{
    (void)names;
    (void)n;
    tell_state (b, e);
}

const struct broker_service service_adopt = {
    .name = "adopt",
    .place = &place,
    .state_size = sizeof (struct state),
    .slot_size = sizeof (struct slot),
    .timer = offsetof (struct state, timer),
    .on_timer = tick,
    .host = host_init,
    .comes = insert,
    .goes = leave,
    .listens = listens,
    .committed = committed,
    .recovered = tell_all,
};
