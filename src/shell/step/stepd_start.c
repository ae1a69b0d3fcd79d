/* stepd_start.c - the start of a step on one of its ranks: from the request to its tasks */
#include "shell/step/stepd_private.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "protocol/taskmap.h"
#include "shell/io/mpidir.h"
#include "shell/step/env.h"
#include "shell/step/step_pmix.h"
#include "shell/step/steps.h"

#define NO_NUMBER UINT32_MAX

/* Finds the nodes of the step. -ENOENT: this node is not one of them. */
static int find_nodes (struct rank_step *s, struct error *err)
{
    autoidset struct idset *ids =
        s->spec.ranks ? idset_decode (s->spec.ranks, s->d->launch->nnodes, err) : NULL;
    uint32_t n = 0;
    if (!ids)
        return error_set (err, EINVAL, "step: ranks: missing, or no idset");
    s->node = idset_rank (ids, s->d->rank);
    s->nnodes = idset_count (ids);
    s->ranks = calloc (s->nnodes + 1, sizeof (*s->ranks));
    if (s->ranks) {
        IDSET_FOREACH (ids, id)
        {
            s->ranks[n++] = id;
        }
    }
    if (!idset_has (ids, s->d->rank))
        return -ENOENT;
    if (n > 0 && s->ranks[n - 1] < s->d->launch->nnodes)
        return 0;
    return error_set (err, EINVAL, "step: ranks: more than the job has");
}

/* Finds the tasks of this node. -ENOENT: none. */
static int find_tasks (struct rank_step *s, struct error *err)
{
    int rc = taskmap_decode (s->spec.taskmap ? s->spec.taskmap : "", s->nnodes,
                             &s->rank_of, &s->ntasks, err);
    if (rc < 0)
        return rc;
    for (uint32_t t = 0; t < s->ntasks; t++)
        s->nown += s->rank_of[t] == s->node;
    if (s->nown == 0)
        return -ENOENT;
    s->own = calloc (s->nown, sizeof (*s->own));
    autofree char *cores = step_spec_part (s->spec.cores, s->node);
    s->cores = cores ? idset_decode (cores, LAUNCH_IDS_MAX, NULL) : NULL;
    if (!s->own || !s->cores)
        return error_no_memory (err, NULL);
    for (uint32_t t = 0, i = 0; t < s->ntasks; t++)
        if (s->rank_of[t] == s->node)
            s->own[i++].id = t;
    return 0;
}

static int enter_cwd (struct rank_step *s, struct error *err)
{
    s->cwd = s->part->cwd;
    s->cwd_fd = open (s->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->cwd_fd < 0 && s->d->launch->cwd_fallback) {
        s->cwd = "/";
        s->cwd_fd = open (s->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return s->cwd_fd < 0
               ? error_errno (err, errno, "cannot change to directory %s", s->cwd)
               : 0;
}

struct child {
    const struct rank_step *s;
    uint32_t local;
};

/* In the child. */
static void prepare (void *ctx)
{
    const struct child *c = ctx;
    umask ((mode_t)c->s->spec.umask & 0777);
    stepbind_apply (c->s, c->local);
    stepbind_report_gpus (c->s, c->local);
}

/* Reads the program of each task from the file of --multi-prog, which has the tasks of the
 * part, numbered from 0. */
static int read_programs (struct rank_step *s, struct error *err)
{
    const char *text = s->part->multi_prog;
    uint32_t first = s->ntasks, n = 0;
    if (!text)
        return 0;
    for (uint32_t t = 0; t < s->ntasks; t++) {
        uint32_t rank = s->ranks[s->rank_of[t]];
        if (step_spec_of (&s->spec, s->d->launch->nodes[rank].component) != s->part)
            continue;
        first = MIN (first, t);
        n++;
    }
    s->part_first = first;
    s->programs = multiprog_parse (text, strlen (text), "--multi-prog", n, err);
    return s->programs ? 0 : -EINVAL;
}

/* Adds the node's name to that of the program, if the request says so. */
static int name_program (struct rank_step *s, struct error *err)
{
    char *text, **args = s->part->args;

    if (!s->spec.node_program || s->part->nargs == 0)
        return 0;
    if (asprintf (&text, "%s%s", args[0], s->d->launch->nodes[s->d->rank].name) < 0)
        return error_no_memory (err, NULL);
    free (args[0]);
    args[0] = text;
    return 0;
}

static int start_task (struct rank_step *s, uint32_t local, struct error *err)
{
    const struct step_task *t = &s->own[local];
    struct env_step step = { .spec = &s->spec,
                             .part = s->part,
                             .node = s->node,
                             .ntasks = s->ntasks,
                             .rank_of = s->rank_of,
                             .ranks = s->ranks,
                             .nnodes = s->nnodes };
    struct env_context ctx = { .launch = s->d->launch,
                               .rank = s->d->rank,
                               .task = t->id,
                               .local = local,
                               .cwd = s->cwd,
                               .start_time = tasks_start_time (s->d->tasks),
                               .end_time = tasks_end_time (s->d->tasks),
                               .step = &step };
    struct child child = { s, local };
    const struct task_pty size = { s->spec.pty_rows, s->spec.pty_cols };
    char **argv =
        s->programs ? multiprog_argv (s->programs, t->id - s->part_first) : s->part->args;
    struct task_start how = { .id = t->id,
                              .argv = argv,
                              .cwd_fd = s->cwd_fd,
                              .cwd = s->cwd,
                              .input = stepd_reads (s, t),
                              .pty = s->spec.pty && t->id == 0 ? &size : NULL,
                              .in_fd = -1,
                              .pass_fd = -1,
                              .prepare = prepare,
                              .prepare_ctx = &child };
    char **env = argv ? env_make (&ctx, err) : NULL;
    int rc = argv ? 0 : error_no_memory (err, NULL);
    if (argv && !env)
        rc = -EINVAL;
    if (rc == 0 && s->pmi)
        rc = steppmi_open (s->pmi, local, &env, &how.pass_fd, err);
    if (rc == 0 && s->pmix && (rc = steppmix_environment (s->pmix, local, &env)) < 0)
        error_no_memory (err, NULL);
    how.env = env;
    if (rc == 0)
        rc = taskset_start (s->set, &how, err);
    if (s->pmi)
        steppmi_started (s->pmi, local);
    free_strings (env);
    if (s->programs)
        free_strings (argv);
    return rc;
}

static bool wants (const struct rank_step *s, const char *mpi)
{
    return s->spec.mpi && !strcmp (s->spec.mpi, mpi);
}

static int start_tasks (struct rank_step *s, struct error *err)
{
    int rc = 0;
    for (; rc == 0 && s->started < s->nown; s->started++)
        if ((rc = start_task (s, s->started, err)) < 0)
            break;
    return rc;
}

/* Prepares what all tasks share. With PMIx they start in stepd_pmix_ready(). */
static int prepare_step (struct rank_step *s, struct error *err)
{
    int rc = enter_cwd (s, err);
    if (rc == 0)
        rc = read_programs (s, err);
    if (rc == 0)
        rc = name_program (s, err);
    if (rc == 0)
        rc = stepbind_create (s, err);
    if (rc == 0 && step_spec_has_mpidir (&s->spec))
        rc = mpidir_make (s->d->launch, s->d->rank, err);
    if (rc == 0 && wants (s, "pmix")) {
        s->waits = true;
        return steppmix_start (s, err);
    }
    if (rc == 0 && !wants (s, "none"))
        rc = steppmi_create (s, err);
    return rc == 0 ? start_tasks (s, err) : rc;
}

/* Reports the tasks that could not be started as ended: rank 0 waits for each task. Before
 * the set exists, the tasks may not be known, and one message reports all of them. */
static void give_up (struct rank_step *s, const struct error *err)
{
    uint32_t first = s->started;
    s->waits = false;
    stepd_put (s, WIRE_STEP_FAIL, !s->set, NO_NUMBER, err->text, strlen (err->text));
    if (!s->set) {
        stepd_free (s);
        return;
    }
    s->started = s->nown;
    for (uint32_t i = first; i < s->nown; i++) {
        s->own[i].ended = true;
        stepd_put_exit (s, s->own[i].id, 1 << 8, false);
    }
    if (taskset_running (s->set) == 0)
        stepd_free (s);
}

void stepd_start (struct rank_step *s)
{
    struct error err = { 0 };
    int rc = step_spec_parse (s->text.buf, s->text.len, &s->spec, &err);
    strbuf_release (&s->text);
    s->part = step_spec_of (&s->spec, s->d->launch->nodes[s->d->rank].component);
    if (rc == 0)
        rc = find_nodes (s, &err);
    if (rc == 0)
        rc = find_tasks (s, &err);
    if (rc == -ENOENT) {
        stepd_free (s);
        return;
    }
    if (rc == 0) {
        s->credit = steps_credit (s->spec.nnodes);
        s->set = taskset_create (s->d->tasks, s->nown, &stepd_task_events, s);
        rc = s->set ? prepare_step (s, &err) : error_no_memory (&err, NULL);
    }
    if (rc < 0)
        give_up (s, &err);
}

/* Handles the messages that came while no task had started. The step may be freed. */
static void replay (struct stepd *d, struct outbuf *held)
{
    const char *data = held->data + held->off;
    struct frame msg;
    ssize_t n;

    for (size_t at = 0; (n = wire_parse (data + at, held->len - at, &msg)) > 0;
         at += (size_t)n)
        stepd_message (d, &msg);
    outbuf_release (held);
}

void stepd_pmix_ready (struct rank_step *s, const struct error *err)
{
    struct stepd *d = s->d;
    struct outbuf held = s->held;
    struct error own = { 0 };

    if (!s->waits)
        return;
    s->held = (struct outbuf){ 0 };
    s->waits = false;
    if (err || start_tasks (s, &own) < 0)
        give_up (s, err ? err : &own);
    replay (d, &held);
}
