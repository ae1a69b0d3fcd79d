/* broker.c - requests of commands to the broker, and their end by ctrl-C. See command.h.
 */
#include <signal.h>
#include <time.h>

#include "cmd/client/command.h"
#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/attributes/array.h"

/* -- interrupts -- */

static volatile sig_atomic_t interrupted;

void cmd_note_interrupt (int signum)
{
    (void)signum;
    interrupted = 1;
}

/* Without SA_RESTART, so that waits for the broker return. A process that ignores ctrl-C
 * (a background command of a script) continues to ignore it. */
void cmd_catch_interrupts (void)
{
    struct sigaction sa = { .sa_handler = cmd_note_interrupt }, old;

    sigemptyset (&sa.sa_mask);
    if (sigaction (SIGINT, NULL, &old) < 0 || old.sa_handler != SIG_IGN)
        sigaction (SIGINT, &sa, NULL);
}

void cmd_forget_interrupt (void)
{
    interrupted = 0;
}

bool cmd_interrupted (void)
{
    return interrupted;
}

bool cmd_sleep (double seconds)
{
    struct timespec t = { .tv_sec = (time_t)seconds };

    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    while (!interrupted && nanosleep (&t, &t) < 0 && errno == EINTR)
        ;
    return !interrupted;
}

/* -- Slurm's words -- */

/* The sentences of Slurm's commands, by the code of the broker's problem; tools search for
 * them. */
static const struct {
    const char *code, *words;
} sentences[] = {
    { "unknown-job", "Invalid job id specified" },
    { "unknown-queue", "Invalid partition name specified" },
    { "unknown-node", "Invalid node name specified" },
    { "unknown-user", "Invalid user id" },
    { "unknown-reservation", "Requested reservation is invalid" },
    { "not-in-reservation", "Access denied to requested reservation" },
    { "not-in-queue", "User's group not permitted to use this partition" },
    { "not-owner", "Access/permission denied" },
    { "not-operator", "Access/permission denied" },
    { "inside-job", "Access/permission denied" },
    { "infeasible", "Requested node configuration is not available" },
    { "unknown-account", "Invalid account or account/partition combination specified" },
    { "unknown-qos", "Invalid qos specification" },
    { "bad-licenses", "Invalid license specification" },
    { "array-max", "Invalid job array specification" },
    { "over-limit", "Job violates accounting/QOS policy (job submit limit, user's size "
                    "and/or time limits)" },
    { "busy", "Socket timed out on send/recv operation" },
    { "too-many-requests", "Socket timed out on send/recv operation" },
};

const char *cmd_slurm_sentence (const char *code)
{
    for (size_t i = 0; i < ARRAY_SIZE (sentences); i++)
        if (!strcmp (sentences[i].code, code))
            return sentences[i].words;
    return NULL;
}

void cmd_add_words (const struct cmd *c, const struct http_response *r, struct error *err)
{
    autojson json_t *o = NULL;

    if (!c->command->slurm)
        return;
    o = json_parse (r->body, r->len, "answer", NULL);
    const char *words = o ? cmd_slurm_sentence (json_text (o, "code")) : NULL;
    const char *lead = c->command->refused ? c->command->refused : "";
    struct error own = *err;
    error_set (err, own.code, "%s%s%s%s%s", lead, words ? words : "", words ? " (" : "",
               own.text, words ? ")" : "");
}

/* -- requests -- */

int cmd_parse_wait (const char *text, double *ret_seconds, const char *what,
                    struct error *err)
{
    int rc = parse_fsd (text, ret_seconds, what, err);

    if (rc == 0 && !strncmp (text, "inf", 3))
        *ret_seconds = (double)CLOCK_OFFSET_MAX;
    return rc;
}

double cmd_broker_wait (struct cmd *c, struct error *err)
{
    const char *text = getenv (CMD_BROKER_WAIT);

    if (c->broker_wait >= 0)
        return c->broker_wait;
    c->broker_wait = CMD_BROKER_WAIT_SECONDS;
    int rc = text && *text ? cmd_parse_wait (text, &c->broker_wait, CMD_BROKER_WAIT, err)
                           : 0;
    if (rc < 0)
        c->broker_wait = -1;
    return rc < 0 ? rc : c->broker_wait;
}

static void tell_wait (const char *text, void *arg)
{
    cmd_warn (arg, "%s", text);
}

int cmd_open (struct cmd *c, struct error *err)
{
    struct error own = { 0 };
    struct http_patience patience = { .tell = tell_wait, .arg = c };

    if (c->client)
        return 0;
    patience.seconds = cmd_broker_wait (c, err);
    if (patience.seconds < 0)
        return (int)patience.seconds;
    c->client = http_client_open_patient (c->broker, &patience, &interrupted, &own);
    if (!c->client)
        return error_set (err, own.code ? own.code : ENOENT, "%s", own.text);
    return 0;
}

/* cmd_open(); 0, or the exit status after printing the reason. */
static int cmd_connect (struct cmd *c)
{
    struct error err = { 0 };
    int rc = cmd_open (c, &err);

    return rc < 0 ? cmd_broken (c, rc, &err) : CMD_OK;
}

void cmd_disconnect (struct cmd *c)
{
    if (c->client)
        http_client_close (c->client);
    c->client = NULL;
}

int cmd_broken (struct cmd *c, int rc, const struct error *err)
{
    if (interrupted)
        return c->status = CMD_INTERRUPTED;
    return cmd_fail (c, "%s", err->text[0] ? err->text : strerror (-rc));
}

/* The end of a request that needs a 2xx answer; rc: of http_client.h. Another answer is
 * released. */
static int check_answer (struct cmd *c, int rc, struct http_response *answer,
                         struct error *err)
{
    if (rc == 0 && answer->status >= 200 && answer->status < 300)
        return CMD_OK;
    if (rc == 0)
        rc = http_response_error (answer, err);
    if (rc < 0 && answer->status)
        cmd_add_words (c, answer, err);
    http_response_release (answer);
    *answer = (struct http_response){ 0 };
    return cmd_broken (c, rc, err);
}

int cmd_request (struct cmd *c, const char *method, const char *target, const char *body,
                 size_t len, struct http_response *ret)
{
    struct error err = { 0 };

    *ret = (struct http_response){ 0 };
    if (cmd_connect (c) != CMD_OK)
        return c->status;
    int rc = http_client_request (c->client, method, target, body, len, NULL, ret, &err);
    return check_answer (c, rc, ret, &err);
}

int cmd_read (struct cmd *c, const char *target, const struct http_reader *reader)
{
    struct http_response answer = { 0 };
    struct error err = { 0 };

    if (cmd_connect (c) != CMD_OK)
        return c->status;
    int rc = http_client_read (c->client, target, reader, &answer, &err);
    int status = check_answer (c, rc, &answer, &err);
    http_response_release (&answer);
    return status;
}

int cmd_call (struct cmd *c, const char *method, const char *target, json_t *body,
              json_t **ret)
{
    struct http_response r;
    struct error err = { 0 };
    autofree char *text = body ? json_dumps (body, JSON_COMPACT) : NULL;
    bool lacking = body && !text;

    json_decref (body);
    *ret = NULL;
    if (lacking)
        return cmd_fail (c, "out of memory");
    if (cmd_request (c, method, target, text, text ? strlen (text) : 0, &r) != CMD_OK)
        return c->status;
    *ret = json_parse (r.body, r.len, "the broker's answer", &err);
    http_response_release (&r);
    return *ret ? CMD_OK : cmd_fail (c, "%s", err.text);
}

int cmd_get (struct cmd *c, const char *target, json_t **ret)
{
    return cmd_call (c, "GET", target, NULL, ret);
}

/* -- targets and ids -- */

void target_add (struct strbuf *target, const char *name, const char *value)
{
    if (!value)
        return;
    strbuf_addch (target, strchr (target->buf, '?') ? '&' : '?');
    strbuf_adds (target, name);
    strbuf_addch (target, '=');
    strbuf_add_urlencoded (target, value);
}

static int any_range (const struct id_range *range, void *arg)
{
    (void)range;
    (void)arg;
    return 0;
}

int cmd_add_ids (struct cmd *c, struct strbuf *ids, const char *text)
{
    struct error err = { 0 };

    if (parse_id_ranges (text, any_range, NULL, "job id", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    if (ids->len > 0)
        strbuf_addch (ids, ',');
    if (strbuf_adds (ids, text) < 0)
        return cmd_usage (c, "too many job ids");
    return CMD_OK;
}

int cmd_check_id (struct cmd *c, const char *text)
{
    struct error err = { 0 };
    uint64_t id;
    uint32_t task;

    if (array_name_parse (text, &id, &task, "job id", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}
