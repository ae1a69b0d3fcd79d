/* runstep.c - see runstep.h
 *
 *   inside a job                     the agent's program does all (stepclient.h)
 *   in a shell of fluxq-alloc        connect to that job, then the same
 *   elsewhere                        submit a job, wait for it, connect, then the same;
 *                                    the job ends with the step, or with this process
 */
#include <sys/socket.h>

#include "cmd/interactive/allocation.h"
#include "cmd/interactive/runstep.h"
#include "cmd/interactive/stepclient.h"
#include "cmd/client/job_option.h"
#include "common/parse.h"
#include "common/pass_fd.h"
#include "jobspec/options/slurm_options.h"
#include "protocol/keepalive.h"
#include "protocol/step_client.h"

struct run {
    struct submit_options so;
    struct submit_options *component; /* whose options are read */
    char **argv; /* of the step's client, not freed: exec replaces this process */
    size_t argc;
    const char *program; /* the command's first word */
    bool immediate, quiet;
    const char *job_only; /* an option only for new jobs, as written */
    char where[64];       /* buffer for job_only */
    int64_t outer;        /* the job of the shell; 0: none */
};

/* The use of a step's option for a new job, which has an option of the same name. If a
 * size is not a plain number (a range, part of a CPU), the step takes the size granted.
 * Node lists are only for the job. */
enum sharing { FOR_BOTH, OF_SIZES, FOR_JOB };

static const struct {
    enum step_option id;
    enum sharing how;
} shared[] = {
    { STEP_OPT_NODES, OF_SIZES },          { STEP_OPT_NTASKS, OF_SIZES },
    { STEP_OPT_PER_NODE, FOR_BOTH },       { STEP_OPT_CPUS, OF_SIZES },
    { STEP_OPT_GPUS, FOR_BOTH },           { STEP_OPT_GPUS_PER_TASK, FOR_BOTH },
    { STEP_OPT_NTASKS_PER_GPU, FOR_BOTH }, { STEP_OPT_NAME, FOR_BOTH },
    { STEP_OPT_NODELIST, FOR_JOB },        { STEP_OPT_EXCLUDE, FOR_JOB }
};

/* The name under which the step's client is called. */
static const char *client_of (const struct cmd *c)
{
    return c->command->slurm ? SRUN_CLIENT : STEP_CLIENT;
}

/* -- options -- */

static int add_word (struct cmd *c, struct run *r, char *word)
{
    if (!word)
        return cmd_fail (c, "out of memory");
    r->argv[r->argc++] = word;
    r->argv[r->argc] = NULL;
    return CMD_OK;
}

static int add_option (struct cmd *c, struct run *r, const struct option_match *m)
{
    char *word;

    if (asprintf (&word, "--%s%s%s", m->desc->name, m->value ? "=" : "",
                  m->value ? m->value : "")
        < 0)
        word = NULL;
    return add_word (c, r, word);
}

/* Sets the job's option, too, if it has one. *ret_step: whether the step gets it. */
static int share_option (struct cmd *c, struct run *r, const struct option_match *m,
                         bool *ret_step)
{
    int64_t n;

    for (size_t i = 0; i < ARRAY_SIZE (shared) && r->outer == 0; i++) {
        if ((int)shared[i].id != m->desc->id)
            continue;
        *ret_step = shared[i].how == FOR_BOTH
                    || (shared[i].how == OF_SIZES
                        && parse_int (m->value, 1, INT64_MAX, &n, "", NULL) == 0);
        return submit_set_option (c, r->component, m);
    }
    return CMD_OK;
}

/* Whether srun has the option for a step, too, and the step gets it. */
static bool goes_to_step (const struct cmd *c, const struct run *r,
                          const struct option_desc *d)
{
    return c->command->slurm && r->outer > 0 && option_find (srun_options, d->name, NULL);
}

static int take_option (struct cmd *c, struct run *r, const struct option_match *m)
{
    bool is_step = true;
    struct error err = { 0 };

    if (m->desc->id == STEP_OPT_REFUSED) {
        srun_refuse (m->desc, &err);
        return cmd_usage (c, "%s", err.text);
    }
    if (m->desc->id == STEP_OPT_JOBID || m->desc->id == STEP_OPT_NOTHING)
        return CMD_OK; /* find_job() has read the job */
    if (m->desc->id >= SUBMIT_OPTION_FIRST && !goes_to_step (c, r, m->desc)) {
        cmd_option_as_written (c, m, r->where, sizeof (r->where));
        const struct slurm_option *row = slurm_option_of (m->desc);
        if (row && row->steps)
            return submit_set_option (c, r->component, m) == CMD_OK ? add_option (c, r, m)
                                                                    : c->status;
        r->job_only = r->where;
        return submit_set_option (c, r->component, m);
    }
    r->immediate |= m->desc->id == STEP_OPT_IMMEDIATE;
    r->quiet |= m->desc->id == STEP_OPT_QUIET;
    if (share_option (c, r, m, &is_step) != CMD_OK || !is_step)
        return c->status;
    return add_option (c, r, m);
}

/* srun --jobid=JOB: the step runs in this job. */
static int find_job (struct cmd *c, struct run *r)
{
    struct option_parser scan = c->parser;
    struct option_match m;
    struct error err = { 0 };

    while (c->command->slurm && option_next (&scan, &m, NULL) > 0 && m.desc)
        if (m.desc->id == STEP_OPT_JOBID
            && parse_int (m.value, 1, INT64_MAX, &r->outer, "--jobid", &err) < 0)
            return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}

static int take_options (struct cmd *c, struct run *r, int *ret_operand)
{
    struct option_match m;

    *ret_operand = 0;
    while (!*ret_operand && cmd_next (c, &m) > 0) {
        if (m.desc)
            take_option (c, r, &m);
        else if (c->command->slurm && submit_next_component (c, &m, &r->component))
            add_word (c, r, strdup (":"));
        else
            *ret_operand = m.index;
    }
    return c->ended ? c->status : CMD_OK;
}

/* Adds the command up to a ":" of srun; then the options of the next component follow,
 * and *ret_more is true. */
static int take_command (struct cmd *c, struct run *r, int operand, bool *ret_more)
{
    struct option_parser *p = &c->parser;

    *ret_more = false;
    if (!r->program)
        r->program = p->argv[operand];
    add_word (c, r, strdup ("--"));
    for (int i = operand; i < p->argc && !*ret_more && !c->ended; i++) {
        const struct option_match m = { .value = p->argv[i], .index = i };
        p->dashes = false; /* those before this command */
        *ret_more = c->command->slurm && submit_next_component (c, &m, &r->component);
        p->index = i + 1;
        add_word (c, r, strdup (p->argv[i]));
    }
    return c->ended ? c->status : CMD_OK;
}

static int read_options (struct cmd *c, struct run *r)
{
    bool more = true;
    int operand = 0;

    r->component = &r->so;
    /* a "--" for each command, and a word may become an option and its value */
    r->argv = calloc ((size_t)c->parser.argc * 2 + 3, sizeof (*r->argv));
    if (!r->argv || add_word (c, r, strdup (client_of (c))) != CMD_OK)
        return cmd_fail (c, "out of memory");
    while (more) {
        if (take_options (c, r, &operand) != CMD_OK)
            return c->status;
        if (!operand)
            return cmd_usage (c, "which command?");
        if (take_command (c, r, operand, &more) != CMD_OK)
            return c->status;
    }
    if (r->outer > 0 && r->job_only)
        return cmd_usage (
            c,
            "%s is for a new job, and this is a step of job %jd (in a shell "
            "of fluxq-alloc)",
            r->job_only, (intmax_t)r->outer);
    return r->outer > 0
               ? CMD_OK
               : allocation_options (c, &r->so, c->command->slurm ? SLURM_SRUN : 0);
}

/* -- where it runs -- */

static int run_new (struct cmd *c, const struct run *r)
{
    struct step_call call = { .c = c, .fd = -1, .argv = r->argv, .holds = true };
    int flags =
        (r->quiet ? 0 : ALLOCATION_TELLS) | (r->immediate ? ALLOCATION_IMMEDIATE : 0);
    uint8_t keep[KEEPALIVE_SIZE]; /* from its sending on, the connection holds the job */
    uint64_t id;

    allocation_catch_signals ();
    if (allocation_submit (c, &r->so, r->program, false, &id) != CMD_OK
        || allocation_wait (c, id, flags, &call.job) != CMD_OK)
        return c->status;
    step_session (&call);
    int status = allocation_connect (c, id, call.session, &call.fd);
    keepalive_encode (KEEPALIVE_KEEP, 0, keep);
    if (status == CMD_OK && send (call.fd, keep, sizeof (keep), MSG_NOSIGNAL) < 0)
        status = cmd_fail (c, "job %ju: its agents are gone", (uintmax_t)id);
    if (status == CMD_OK)
        status = step_client_run (&call);
    json_decref (call.job);
    return status;
}

/* Makes a new connection for a step's client after a break (run_link.h). Prints
 * errors, except that the job has ended after the step has. */
static int run_again (struct cmd *c, const char *socket)
{
    const char *job = getenv ("FLUXQ_JOB_ID"), *session = getenv (STEP_CLIENT_SESSION);
    struct error err = { 0 };
    int64_t id, to;
    int fd;

    c->broker = getenv (STEP_CLIENT_BROKER);
    if (parse_int (socket, 0, INT32_MAX, &to, STEP_CLIENT_AGAIN, &err) < 0
        || parse_int (job ? job : "", 1, INT64_MAX, &id, "FLUXQ_JOB_ID", &err) < 0)
        return cmd_fail (c, "%s", err.text);
    int rc = job_reach (c, (uint64_t)id, session ? session : "", &fd, &err);
    if (rc == -ESRCH && getenv (STEP_CLIENT_OVER))
        return CMD_FAILED;
    if (rc < 0)
        return cmd_fail (c, "%s", err.text);
    rc = pass_fd_send ((int)to, fd);
    close (fd);
    return rc < 0 ? CMD_FAILED : CMD_OK;
}

/* Runs the step in the job of --jobid, or of the shell of salloc. */
static int run_in_outer (struct cmd *c, const struct run *r)
{
    char refused[64];

    snprintf (refused, sizeof (refused), "Unable to confirm allocation for job %jd",
              (intmax_t)r->outer);
    return step_run_in (c, r->outer, c->command->slurm ? refused : NULL, r->argv);
}

static int run_inside (struct cmd *c)
{
    char program[16];

    snprintf (program, sizeof (program), "%s", client_of (c));
    c->parser.argv[0] = program;
    return step_run_inside (c, c->parser.argv);
}

/* The client prints the list of this node, also without a job. */
static bool asks_for_list (const struct cmd *c)
{
    return c->parser.argc == 2 && !strcmp (c->parser.argv[1], "--mpi=list");
}

static void release (struct run *r)
{
    for (size_t i = 0; i < r->argc; i++)
        free (r->argv[i]);
    free (r->argv);
    submit_options_release (&r->so);
}

int runstep (struct cmd *c)
{
    struct run r = { 0 };
    const char *again = getenv (STEP_CLIENT_AGAIN);

    if (again)
        return run_again (c, again);
    if (step_is_inside () || asks_for_list (c))
        return run_inside (c);
    if (step_outer_job (c, &r.outer) != CMD_OK || find_job (c, &r) != CMD_OK)
        return c->status;
    submit_options_init (&r.so);
    int status = read_options (c, &r);
    if (!c->ended && status == CMD_OK)
        status = r.outer > 0 ? run_in_outer (c, &r) : run_new (c, &r);
    allocation_release_signals ();
    release (&r);
    return status;
}
