/* sbcast.c - sbcast: copies a file to all nodes of a job, with Slurm's options
 *
 * This is a step, as in srun.c: the agent's program copies (shell/run/bcast.c). Outside of
 * a job and of a shell of salloc, --jobid names the job.
 */
#include "cmd/client/command.h"
#include "cmd/interactive/stepclient.h"
#include "common/parse.h"
#include "protocol/step_client.h"

/* The arguments of the agent's program: the options, "--", FILE and DEST. */
enum { WORDS_MAX = 6 };

struct sbcast {
    bool force, preserve;
    const char *jobid; /* as written, or NULL */
    const char *operands[2];
    int noperands; /* also those that are too many */
};

static int take_option (struct cmd *c, struct sbcast *s, const struct option_match *m)
{
    struct error err = { 0 };

    switch (m->desc->id) {
    case BCAST_OPT_FORCE:
        s->force = true;
        return CMD_OK;
    case BCAST_OPT_PRESERVE:
        s->preserve = true;
        return CMD_OK;
    case BCAST_OPT_JOBID:
        s->jobid = m->value;
        return CMD_OK;
    case BCAST_OPT_REFUSED:
        sbcast_refuse (m->desc, &err);
        return cmd_usage (c, "%s", err.text);
    default: /* BCAST_OPT_NOTHING */
        return CMD_OK;
    }
}

static int read_options (struct cmd *c, struct sbcast *s)
{
    struct option_match m;
    struct error err = { 0 };

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            take_option (c, s, &m);
        else if (s->noperands++ < 2)
            s->operands[s->noperands - 1] = m.value;
    }
    if (!c->ended && sbcast_read_environ (&s->force, &s->preserve, &err) < 0)
        return cmd_usage (c, "%s", err.text);
    if (!c->ended && s->noperands != 2) {
        fprintf (stderr,
                 "Need two file names, have %d names\n"
                 "Try \"sbcast --help\" for more information\n",
                 s->noperands);
        c->ended = true;
        c->status = CMD_FAILED;
    }
    return c->status;
}

static int run_in_job (struct cmd *c, const struct sbcast *s, char *const *argv)
{
    struct error err = { 0 };
    char refused[64];
    int64_t id;

    if (s->jobid && parse_int (s->jobid, 1, INT64_MAX, &id, "--jobid", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    if (!s->jobid && step_outer_job (c, &id) != CMD_OK)
        return c->status;
    snprintf (refused, sizeof (refused), "Slurm job %jd lookup error", (intmax_t)id);
    if (id > 0)
        return step_run_in (c, id, refused, argv);
    return cmd_fail (c,
                     "Need a job id to run this command. Run from within a Slurm job or "
                     "use the --jobid option.");
}

static int run (struct cmd *c)
{
    struct sbcast s = { 0 };
    const char *job = getenv ("FLUXQ_JOB_ID");
    char *argv[WORDS_MAX + 1];
    size_t n = 0;

    if (read_options (c, &s) != CMD_OK || c->ended)
        return c->status;
    argv[n++] = (char *)BCAST_CLIENT;
    if (s.force)
        argv[n++] = (char *)"--force";
    if (s.preserve)
        argv[n++] = (char *)"--preserve";
    argv[n++] = (char *)"--";
    argv[n++] = (char *)s.operands[0];
    argv[n++] = (char *)s.operands[1];
    argv[n] = NULL;
    if (!step_is_inside () || (s.jobid && (!job || strcmp (job, s.jobid) != 0)))
        return run_in_job (c, &s, argv);
    return step_run_inside (c, argv);
}

static const char *const usage[] = { "[OPTION]... FILE DEST", NULL };

const struct command slurm_sbcast = {
    .name = "sbcast",
    .summary = "Copy a file to all nodes of a job",
    .usage = usage,
    .options = sbcast_options,
    .operands = COMPLETE_FILES,
    .notes =
        "Works inside a job, in a shell of salloc, and elsewhere with --jobid. DEST is "
        "a path on the\nnodes. The variables SBCAST_FORCE and SBCAST_PRESERVE stand for "
        "the options.\n",
    .run = run,
    .slurm = true,
};
