/* logs.c - fluxq-logs: shows the output of a job's tasks, so far or until the end
 */

#include "cmd/interactive/allocation.h"
#include "cmd/client/command.h"
#include "cmd/interactive/follow.h"
#include "cmd/print/print.h"
#include "common/json.h"
#include "common/parse.h"

enum { FOLLOW = 1, RANK, TASK, LABEL, STDOUT, STDERR };

static const struct option_desc options[] = {
    { "follow", 'f', NULL, "continue until the job ends", FOLLOW, false, NULL },
    { "rank", 0, "N", "only output of this rank (node of the job, from 0)", RANK, false,
      NULL },
    { "task", 0, "N", "only output of this task (numbered from 0 over the whole job)",
      TASK, false, NULL },
    { "label", 'l', NULL, "begin each line with the number of its task", LABEL, false,
      NULL },
    { "stdout", 0, NULL, "only standard output", STDOUT, false, NULL },
    { "stderr", 0, NULL, "only standard error", STDERR, false, NULL },
    OPTION_END,
};

struct logs {
    const char *id;     /* NULL: not given */
    int64_t rank, task; /* -1: all */
    bool follow, label, out, err;
};

static int read_options (struct cmd *c, struct logs *l)
{
    struct option_match m;
    struct error err = { 0 };

    while (cmd_next (c, &m) > 0) {
        switch (m.desc ? m.desc->id : CMD_OPERAND) {
        case FOLLOW:
            l->follow = true;
            break;
        case RANK:
            if (parse_int (m.value, 0, INT32_MAX, &l->rank, "--rank", &err) < 0)
                cmd_usage (c, "%s", err.text);
            break;
        case TASK:
            if (parse_int (m.value, 0, UINT32_MAX, &l->task, "--task", &err) < 0)
                cmd_usage (c, "%s", err.text);
            break;
        case LABEL:
            l->label = true;
            break;
        case STDOUT:
            l->out = true;
            break;
        case STDERR:
            l->err = true;
            break;
        default:
            if (l->id)
                cmd_usage (c, "one job at a time");
            else if (cmd_check_id (c, m.value) == CMD_OK)
                l->id = m.value;
        }
    }
    if (!c->ended && !l->id)
        cmd_usage (c, "which job?");
    return c->status;
}

static void build_target (const struct logs *l, struct strbuf *target)
{
    strbuf_addf (target, "/v1/jobs/%s/output?follow=%d", l->id, l->follow);
    if (l->rank >= 0)
        strbuf_addf (target, "&rank=%jd", (intmax_t)l->rank);
    if (l->task >= 0)
        strbuf_addf (target, "&task=%jd", (intmax_t)l->task);
    if (l->label)
        strbuf_adds (target, "&label=1");
    if (l->out != l->err)
        strbuf_addf (target, "&stream=%s", l->out ? "stdout" : "stderr");
}

static int get_job (struct cmd *c, const struct logs *l, json_t **ret)
{
    char target[64];

    snprintf (target, sizeof (target), "/v1/jobs/%s", l->id);
    return cmd_get (c, target, ret);
}

/* Reports a rank or task that the job does not have, before its output is waited for. */
static int check_part (struct cmd *c, const struct logs *l)
{
    json_t *job;

    if ((l->rank < 0 && l->task < 0) || get_job (c, l, &job) != CMD_OK)
        return c->status;
    double nodes = answer_number (job, "nodes"), tasks = answer_number (job, "ntasks");
    if (l->rank >= 0 && nodes > 0 && (double)l->rank >= nodes)
        cmd_fail (c, "job %s has no rank %jd: it has %.0f node%s, counted from 0", l->id,
                  (intmax_t)l->rank, nodes, nodes == 1 ? "" : "s");
    else if (l->task >= 0 && tasks > 0 && (double)l->task >= tasks)
        cmd_fail (c, "job %s has no task %jd: it has %.0f task%s, counted from 0", l->id,
                  (intmax_t)l->task, tasks, tasks == 1 ? "" : "s");
    json_decref (job);
    return c->status;
}

/* There was no output: explains why, if that is unusual. */
static int explain_nothing (struct cmd *c, const struct logs *l)
{
    char text[ERROR_TEXT_MAX];
    json_t *job;

    if (check_part (c, l) != CMD_OK || get_job (c, l, &job) != CMD_OK)
        return c->status;
    const char *state = json_text (job, "state");
    job_end_text (job, text, sizeof (text));
    if (job_is_over (job) && strcmp (state, "COMPLETED") != 0)
        cmd_warn (c, "job %s has written nothing: %s", l->id, text);
    else if (!job_is_over (job) && !l->follow)
        cmd_warn (c, "job %s has written nothing yet: it is %s%s%s", l->id, state,
                  *json_text (job, "reason") ? ", " : "", json_text (job, "reason"));
    json_decref (job);
    return c->status;
}

static int run (struct cmd *c)
{
    struct logs l = { .rank = -1, .task = -1 };
    autostrbuf struct strbuf target = STRBUF_INIT (1024);

    if (read_options (c, &l) != CMD_OK || c->ended)
        return c->status;
    build_target (&l, &target);
    struct follow f = { .target = target.buf };
    int status = l.follow ? check_part (c, &l) : CMD_OK;
    if (status == CMD_OK)
        status = follow_output (c, &f);
    return status == CMD_OK && f.written == 0 ? explain_nothing (c, &l) : status;
}

static const char *const usage[] = { "[OPTION]... ID", NULL };

const struct command command_logs = {
    .name = "logs",
    .summary = "Show the output of a job, and follow it to the end",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_ALL_JOBS,
    .run = run,
};
