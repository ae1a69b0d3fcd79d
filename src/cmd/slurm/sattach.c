/* sattach.c - sattach: shows the output of a step that runs, with Slurm's options
 *
 * Step 0 of a job without a script is the job's own tasks, and the broker has their
 * output. The output of a step that srun started goes to that srun.
 */
#include "cmd/interactive/follow.h"
#include "cmd/print/print.h"
#include "common/parse.h"

enum {
    LABEL = 1,
    OUTPUT_FILTER,
    ERROR_FILTER,
    QUIET,
    VERBOSE,
    INPUT_FILTER,
    LAYOUT,
    PTY
};

static const struct option_desc options[] = {
    { "label", 'l', NULL, "begin each line with the number of its task", LABEL, false,
      NULL },
    { "output-filter", 0, "TASK", "only the output of this task; needs --error-filter",
      OUTPUT_FILTER, false, NULL },
    { "error-filter", 0, "TASK", "only the errors of this task; needs --output-filter",
      ERROR_FILTER, false, NULL },
    { "quiet", 'Q', NULL, "print errors only", QUIET, false, NULL },
    { "verbose", 'v', NULL, NULL, VERBOSE, false, NULL },
    { "input-filter", 0, "TASK", NULL, INPUT_FILTER, false, NULL },
    { "layout", 0, NULL, NULL, LAYOUT, false, NULL },
    { "pty", 0, NULL, NULL, PTY, false, NULL },
    OPTION_END,
};

struct sattach {
    char id[48];      /* of the job, as written */
    int64_t step;     /* -1: not given */
    int64_t out, err; /* tasks; -1: all */
    bool label, quiet;
};

static int read_step (struct cmd *c, struct sattach *s, const char *text)
{
    const char *dot = strchr (text, '.');
    size_t len = dot ? (size_t)(dot - text) : 0;

    if (s->id[0])
        return cmd_usage (c, "too many parameters");
    if (dot && (!strcmp (dot, ".batch") || !strcmp (dot, ".extern")))
        return cmd_usage (c,
                          "Cannot be used with extern or batch steps (fluxq-attach %.*s "
                          "shows the output of the job)",
                          (int)len, text);
    if (len == 0 || len >= sizeof (s->id)
        || parse_int (dot + 1, 0, INT32_MAX, &s->step, "step", NULL) < 0)
        return cmd_usage (c, "'%s' is not a step: expected JOB.STEP, as 12.0", text);
    memcpy (s->id, text, len);
    return cmd_check_id (c, s->id);
}

static int refuse (struct cmd *c, const struct option_match *m)
{
    switch (m->desc->id) {
    case INPUT_FILTER:
        return cmd_usage (c,
                          "--input-filter: not supported: remove it (the tasks of a job "
                          "read no terminal)");
    case LAYOUT:
        return cmd_usage (c, "--layout: not supported: see scontrol -d show job");
    default:
        return cmd_usage (c,
                          "--pty: not supported: fluxq-attach --pty ID opens a terminal "
                          "on a node of the job");
    }
}

static int take_option (struct cmd *c, struct sattach *s, const struct option_match *m)
{
    struct error err = { 0 };
    int rc = 0;

    switch (m->desc->id) {
    case LABEL:
        s->label = true;
        break;
    case QUIET:
        s->quiet = true;
        break;
    case VERBOSE: /* the effect is the usual one here */
        break;
    case OUTPUT_FILTER:
        rc = parse_int (m->value, 0, INT32_MAX, &s->out, "--output-filter", &err);
        break;
    case ERROR_FILTER:
        rc = parse_int (m->value, 0, INT32_MAX, &s->err, "--error-filter", &err);
        break;
    default:
        return refuse (c, m);
    }
    return rc < 0 ? cmd_usage (c, "%s", err.text) : CMD_OK;
}

static int read_options (struct cmd *c, struct sattach *s)
{
    struct option_match m;

    while (!c->ended && cmd_next (c, &m) > 0) {
        if (m.desc)
            take_option (c, s, &m);
        else
            read_step (c, s, m.value);
    }
    if (!c->ended && !s->id[0])
        return cmd_usage (c, "which step?");
    if (!c->ended && s->out != s->err)
        return cmd_usage (c, "--output-filter and --error-filter: not supported for "
                             "different tasks: give both with the same task");
    return c->status;
}

/* Whether the broker has the output of this step: CMD_OK, or CMD_FAILED after the
 * reason. */
static int check_step (struct cmd *c, const struct sattach *s)
{
    autojson json_t *job = NULL;
    char target[64];

    snprintf (target, sizeof (target), "/v1/jobs/%s", s->id);
    if (cmd_get (c, target, &job) != CMD_OK)
        return c->status;
    if (strcmp (json_text (job, "state"), "RUNNING") != 0)
        return cmd_fail (c, "Could not get job step info: job %s is %s", s->id,
                         json_text (job, "state"));
    if (json_is_true (json_object_get (job, "batch")) || s->step > 0)
        return cmd_fail (c,
                         "the output of step %s.%jd goes to the srun that started it; "
                         "fluxq-attach %s shows the output of the job",
                         s->id, (intmax_t)s->step, s->id);
    if (s->out >= 0 && (double)s->out >= answer_number (job, "ntasks"))
        return cmd_fail (c, "--output-filter=%jd: step %s.0 has %.0f tasks, from 0",
                         (intmax_t)s->out, s->id, answer_number (job, "ntasks"));
    return CMD_OK;
}

static int run (struct cmd *c)
{
    struct sattach s = { .step = -1, .out = -1, .err = -1 };
    char target[160], task[40] = "";
    struct follow f = { .target = target };

    if (read_options (c, &s) != CMD_OK || c->ended || check_step (c, &s) != CMD_OK)
        return c->status;
    if (s.out >= 0)
        snprintf (task, sizeof (task), "&task=%jd", (intmax_t)s.out);
    snprintf (target, sizeof (target), "/v1/jobs/%s/output?follow=1%s%s", s.id, task,
              s.label ? "&label=1" : "");
    cmd_catch_interrupts ();
    int status = follow_output (c, &f);
    if (cmd_interrupted () && !s.quiet)
        cmd_warn (c, "detached from step %s.0, which goes on", s.id);
    return status;
}

static const char *const usage[] = { "[OPTION]... JOB.STEP", NULL };

const struct command slurm_sattach = {
    .name = "sattach",
    .summary = "Show the output of a step that runs",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_JOBS,
    .notes =
        "Shows the output of step 0 of a job without a script, from its beginning to "
        "its end. Ctrl-C\ndetaches; the job goes on.\n",
    .run = run,
    .slurm = true,
    .refused = "Could not get job step info: ",
};
