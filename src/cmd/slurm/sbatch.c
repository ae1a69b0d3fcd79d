/* sbatch.c - sbatch: submits a batch script, with Slurm's options and words
 *
 * The table of options is jobspec/options/slurm_options.c; the rest is what fluxq-submit
 * does (submit/submission.c).
 */
#include "cmd/print/print.h"
#include "cmd/client/job_option.h"
#include "cmd/submit/submission.h"
#include "common/parse.h"
#include "jobspec/options/slurm_options.h"

extern char **environ;

#define IGNORE_DIRECTIVES "ignore-directives"

static const struct option_desc options[] = {
    { IGNORE_DIRECTIVES, 0, NULL, "read no options from the script", 1, false, NULL },
    OPTION_END,
};

static const struct option_desc *sbatch_options (void)
{
    return slurm_options_table (SLURM_SBATCH);
}

struct sbatch {
    struct submission job;
    struct submit_options *so; /* of the component whose options are read */
    const char *wrap; /* the command of --wrap, or NULL */
};

static int set_option (struct cmd *c, struct sbatch *s, const struct option_match *m)
{
    if (!strcmp (m->desc->name, IGNORE_DIRECTIVES)) {
        s->job.so.ignore_directives = true;
        return CMD_OK;
    }
    if (!strcmp (m->desc->name, "wrap")) {
        s->wrap = m->value;
        return CMD_OK;
    }
    return submit_set_option (c, s->so, m);
}

/* The script of --wrap. */
static int make_script (struct cmd *c, struct sbatch *s)
{
    struct strbuf *sb = &s->job.script;

    if (s->job.operands)
        return cmd_usage (c, "Script arguments not permitted with --wrap option");
    strbuf_addf (sb, "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n");
    strbuf_adds (sb, s->wrap);
    strbuf_adds (sb, "\n");
    if (sb->err)
        return cmd_fail (c, "--wrap: the command is too long");
    s->job.name = "--wrap";
    return CMD_OK;
}

static int read_options (struct cmd *c, struct sbatch *s)
{
    struct option_match m;
    struct error err = { 0 };
    const char *name;

    while (!s->job.operands && cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else if (!submit_next_component (c, &m, &s->so))
            s->job.operands = c->parser.argv + m.index;
    }
    if (c->ended)
        return c->status;
    if (s->wrap && make_script (c, s) != CMD_OK)
        return c->status;
    name = s->wrap ? "wrap" : s->job.operands ? NULL : "sbatch";
    if (name && !(s->job.so.script_name = strdup (name)))
        return cmd_fail (c, "out of memory");
    if (s->job.so.command.verbose)
        submission_explain (c, &s->job);
    submission_check_variables (c, SLURM_SBATCH);
    if (slurm_options_from_environ (&s->job.so, SLURM_SBATCH, environ, &err) < 0)
        return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}

/* "Job 7 to start at 2026-11-27T08:00:00 using 4 processors on nodes n[0-1] in partition
 * batch": the number is the one that the next job would get, so it is left out. */
static int test (struct cmd *c, const struct sbatch *s, const json_t *jobspec)
{
    autojson json_t *o = NULL;
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    if (submission_test (c, &s->job, jobspec, &o) != CMD_OK)
        return c->status;
    double start = answer_number (o, "start");
    if (start <= 0)
        return cmd_fail (c, "allocation failure: %s", json_text (o, "reason"));
    strbuf_adds (&sb, "Job to start at ");
    strbuf_add_time (&sb, start);
    strbuf_addf (&sb, " using %.10g processors on nodes %s in partition %s",
                 answer_number (o, "ncores"), json_text (o, "nodelist"),
                 json_text (o, "queue"));
    cmd_warn (c, "%s", sb.buf);
    return CMD_OK;
}

static int submit (struct cmd *c, const struct sbatch *s, const json_t *jobspec)
{
    uint64_t id;

    if (s->job.so.command.wait)
        cmd_catch_interrupts ();
    if (submission_send (c, &s->job, jobspec, &id) != CMD_OK)
        return c->status;
    bool parsable = s->job.so.command.parsable;
    if (parsable || !s->job.so.command.quiet)
        printf ("%s%ju%s%s\n", parsable ? "" : "Submitted batch job ", (uintmax_t)id,
                !c->cluster[0] ? ""
                : parsable     ? ";"
                               : " on cluster ",
                c->cluster);
    if (!s->job.so.command.wait)
        return CMD_OK;
    fflush (stdout);
    return submission_wait (c, id, false);
}

static int run (struct cmd *c)
{
    struct sbatch s = { 0 };
    autojson json_t *jobspec = NULL;

    submission_init (&s.job);
    s.job.so.slurm_defaults = true;
    s.so = &s.job.so;
    int status = read_options (c, &s);
    if (!c->ended && status == CMD_OK)
        status = submission_build (c, &s.job, &jobspec);
    if (!c->ended && status == CMD_OK)
        status =
            s.job.so.command.test_only ? test (c, &s, jobspec) : submit (c, &s, jobspec);
    submission_release (&s.job);
    return status;
}

static const char *const usage[] = {
    "[OPTION]... SCRIPT [ARGUMENT]...",
    "[OPTION]... --wrap=COMMAND",
    "[OPTION]... : [OPTION]... SCRIPT [ARGUMENT]...",
    "[OPTION]... <SCRIPT",
    NULL,
};

const struct command slurm_sbatch = {
    .name = "sbatch",
    .summary = "Submit a batch script",
    .usage = usage,
    .options = options,
    .more_options = sbatch_options,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_FILES,
    .notes = "Prints \"Submitted batch job N\". Options may also be set in the script "
             "(#SBATCH) and in the\nenvironment (SBATCH_TIMELIMIT=10). The command line "
             "overrides the environment, and the\nenvironment overrides the script.\n",
    .run = run,
    .slurm = true,
    .refused = "Batch job submission failed: ",
};
