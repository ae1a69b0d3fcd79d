/* cancel.c - fluxq-cancel: ends jobs, or sends them a signal
 */
#include <signal.h>

#include "cmd/client/command.h"
#include "cmd/client/named.h"
#include "cmd/print/print.h"
#include "common/parse.h"

#include "common/json.h"

enum { ME = 1, USER, STATE, QUEUE, NAME, SIGNAL, BATCH, FULL, NOTE };

static const struct option_desc options[] = {
    { "me", 0, NULL, "all my jobs", ME, false, "Which jobs" },
    { "user", 'u', "USER,...", "jobs of these users", USER, false, "Which jobs" },
    { "state", 't', "STATE,...", "jobs in these states (PENDING, RUNNING, ...)", STATE,
      false, "Which jobs" },
    { "queue", 'q', "QUEUE,...", "jobs of these queues", QUEUE, false, "Which jobs" },
    { "partition", 'p', "QUEUE,...", "the same as --queue", QUEUE, false, "Which jobs" },
    { "name", 'n', "NAME,...", "jobs with these names", NAME, false, "Which jobs" },
    { "signal", 's', "SIGNAL",
      "send this signal (USR1, 10) to the running tasks instead of cancelling", SIGNAL,
      false, "Signal and note" },
    { "batch", 'b', NULL, "... only to the batch script's shell", BATCH, false,
      "Signal and note" },
    { "full", 'f', NULL, "... to the batch script, all its processes and all steps", FULL,
      false, "Signal and note" },
    { "note", 0, "TEXT", "the reason, for the job's record", NOTE, false,
      "Signal and note" },
    OPTION_END,
};

struct cancel {
    json_t *request;
    struct strbuf ids;
    struct step {
        char job[32]; /* "12", "12_3" */
        int64_t step;
    } * steps; /* "12.0"; each is a separate request */
    size_t nsteps;
    const char *whom; /* or NULL */
    bool filtered;
};

static void set_filter (struct cancel *x, const char *key, const char *value)
{
    json_object_set_new (x->request, key, json_string (value));
    x->filtered = true;
}

static int set_signal (struct cmd *c, struct cancel *x, const char *value)
{
    struct error err = { 0 };
    int signum;

    if (parse_signal (value, &signum, "--signal", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    json_object_set_new (x->request, "signal", json_integer (signum));
    return CMD_OK;
}

/* "12.0", "12_3.0" */
static int add_step (struct cmd *c, struct cancel *x, const char *text)
{
    const char *dot = strchr (text, '.');
    size_t len = (size_t)(dot - text);
    struct step *steps = realloc (x->steps, (x->nsteps + 1) * sizeof (*steps));
    struct error err = { 0 };

    if (!steps)
        return cmd_fail (c, "out of memory");
    x->steps = steps;
    struct step *s = &steps[x->nsteps];
    if (len == 0 || len >= sizeof (s->job) || text[strspn (text, "0123456789_")] != '.')
        return cmd_usage (c, "'%s' is not JOB.STEP (as 12.0)", text);
    if (parse_int (dot + 1, 0, UINT32_MAX, &s->step, text, &err) < 0)
        return cmd_usage (c, "%s", err.text);
    snprintf (s->job, sizeof (s->job), "%.*s", (int)len, text);
    x->nsteps++;
    return CMD_OK;
}

static int read_options (struct cmd *c, struct cancel *x)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        switch (m.desc ? m.desc->id : CMD_OPERAND) {
        case ME:
            set_filter (x, "user", "me");
            break;
        case USER:
            set_filter (x, "user", m.value);
            break;
        case STATE:
            set_filter (x, "state", m.value);
            break;
        case QUEUE:
            set_filter (x, "queue", m.value);
            break;
        case NAME:
            set_filter (x, "name", m.value);
            break;
        case SIGNAL:
            set_signal (c, x, m.value);
            break;
        case BATCH:
        case FULL:
            x->whom = m.desc->id == BATCH ? "batch" : "full";
            break;
        case NOTE:
            json_object_set_new (x->request, "note", json_string (m.value));
            break;
        default:
            if (strchr (m.value, '.'))
                add_step (c, x, m.value);
            else
                cmd_add_ids (c, &x->ids, m.value);
        }
    }
    if (c->ended)
        return c->status;
    if (x->whom && !json_object_get (x->request, "signal"))
        return cmd_usage (c, "--%s needs a --signal", x->whom);
    if (x->nsteps > 0 && (x->whom || x->filtered))
        return cmd_usage (
            c,
            "%s.%jd is a step: --batch, --full and options that select jobs do not "
            "apply",
            x->steps[0].job, (intmax_t)x->steps[0].step);
    if (x->whom)
        json_object_set_new (x->request, "whom", json_string (x->whom));
    if (!x->filtered && x->ids.len == 0 && x->nsteps == 0)
        return cmd_usage (
            c, "name the jobs, or select them (--me, --user, --state, --queue, --name)");
    if (x->ids.len > 0)
        json_object_set_new (x->request, "ids", json_string (x->ids.buf));
    return CMD_OK;
}

/* Reports the jobs that could not be cancelled, and why. */
static int report (struct cmd *c, const struct cancel *x, const json_t *answer)
{
    const json_t *failed = json_object_get (answer, "failed"), *o;
    size_t i, done = json_array_size (json_object_get (answer, "done"));

    json_array_foreach (failed, i, o) {
        const char *why = json_text (o, "detail");
        if (*why)
            cmd_fail (c, "%s", why);
        else
            cmd_fail (c, "job %.0f: %s", answer_number (o, "id"), json_text (o, "code"));
    }
    if (done == 0 && json_array_size (failed) == 0) {
        cmd_warn (c, "nothing to cancel");
        return x->filtered ? CMD_OK : CMD_FAILED;
    }
    return json_array_size (failed) > 0 ? CMD_FAILED : CMD_OK;
}

static int send_request (struct cmd *c, const struct cancel *x, json_t *request)
{
    autojson json_t *answer = NULL;
    int status = cmd_call (c, "POST", "/v1/cancel", request, &answer);

    if (answer)
        status = report (c, x, answer);
    return status;
}

static int send_steps (struct cmd *c, const struct cancel *x)
{
    int status = CMD_OK;

    for (size_t i = 0; i < x->nsteps && status != CMD_INTERRUPTED; i++) {
        json_t *request = json_copy (x->request);
        json_object_set_new (request, "ids", json_string (x->steps[i].job));
        json_object_set_new (request, "step", json_integer (x->steps[i].step));
        int rc = send_request (c, x, request);
        status = rc ? rc : status;
    }
    return status;
}

static int check_names (struct cmd *c, const struct cancel *x)
{
    int status =
        named_users_check (c, json_string_value (json_object_get (x->request, "user")));

    return status == CMD_OK
               ? named_queues_check (
                   c, json_string_value (json_object_get (x->request, "queue")))
               : status;
}

static int run (struct cmd *c)
{
    struct cancel x = { .request = json_object () };

    strbuf_init (&x.ids, 128 * 1024);
    int status = read_options (c, &x);
    if (!c->ended)
        status = check_names (c, &x);
    if (!c->ended && status == CMD_OK && (x.ids.len > 0 || x.filtered))
        status = send_request (c, &x, json_incref (x.request));
    if (!c->ended && x.nsteps > 0) {
        int rc = send_steps (c, &x);
        status = rc ? rc : status;
    }
    free (x.steps);
    json_decref (x.request);
    strbuf_release (&x.ids);
    return status;
}

static const char *const usage[] = { "[OPTION]... IDS...",
                                     "[OPTION]... --me|--user=USER|...", NULL };

const struct command command_cancel = {
    .name = "cancel",
    .summary = "Cancel pending or running jobs, or send them a signal",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_JOBS,
    .notes =
        "IDS are job ids and ranges (7 1,4-7), or steps of running jobs (12.0). With "
        "several options,\njobs that match all of them are selected.\nExit status 1: "
        "some jobs could not be cancelled; each one is listed with the reason.\n",
    .run = run,
};
