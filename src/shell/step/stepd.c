/* stepd.c - a rank's part of the job's steps: starts tasks, passes input and output */
#include "shell/step/stepd.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "protocol/taskmap.h"
#include "shell/io/mpidir.h"
#include "shell/step/cgroup.h"
#include "shell/step/env.h"
#include "shell/step/sample.h"
#include "shell/step/step_pmix.h"
#include "shell/step/stepd_private.h"
#include "shell/step/steps.h"

#define NO_NUMBER UINT32_MAX

void stepd_put (const struct rank_step *s, uint8_t type, uint8_t stream, uint32_t number,
                const void *data, size_t len)
{
    char buf[4 + FRAME_DATA_MAX];
    size_t head = number == NO_NUMBER ? 0 : 4;
    len = MIN (len, FRAME_DATA_MAX - head);
    wire_put_u32 ((uint8_t *)buf, number);
    if (len > 0)
        memcpy (buf + head, data, len);
    s->d->up (s->d->ctx, &(struct frame){ .type = type,
                                          .stream = stream,
                                          .rank = s->d->rank,
                                          .task = s->id,
                                          .len = (uint32_t)(head + len),
                                          .data = buf });
}

static void free_step (struct rank_step *s)
{
    struct rank_step **at = &s->d->steps;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->set)
        taskset_destroy (s->set);
    if (s->cwd_fd >= 0)
        close (s->cwd_fd);
    idset_destroy (s->cores);
    multiprog_destroy (s->programs);
    steppmi_destroy (s->pmi);
    steppmix_release (s->pmix);
    outbuf_release (&s->held);
    stepbind_destroy (s->bind);
    strbuf_release (&s->text);
    step_spec_release (&s->spec);
    free (s->rank_of);
    free (s->ranks);
    free (s->own);
    loop_free_later (s->d->loop, s);
}

/* -- its tasks -- */

size_t stepd_room (const struct rank_step *s)
{
    return s->credit > 0 ? (size_t)MIN (s->credit, FRAME_DATA_MAX - 4) : 0;
}

static size_t on_room (void *ctx)
{
    return stepd_room (ctx);
}

void stepd_output (struct rank_step *s, uint32_t task, int stream, const char *data,
                   size_t len)
{
    s->credit -= (int64_t)len;
    for (size_t n; len > 0; data += n, len -= n) {
        n = MIN (len, FRAME_DATA_MAX - 4);
        stepd_put (s, WIRE_STEP_OUTPUT, (uint8_t)stream, task, data, n);
    }
}

static void on_output (void *ctx, uint32_t task, int stream, const char *data, size_t len)
{
    stepd_output (ctx, task, stream, data, len);
}

static struct step_task *find_own (struct rank_step *s, uint32_t task)
{
    for (uint32_t i = 0; i < s->nown; i++)
        if (s->own[i].id == task)
            return &s->own[i];
    return NULL;
}

static bool reads (const struct rank_step *s, const struct step_task *t)
{
    if (s->spec.input == STEP_INPUT_ALL || s->spec.input == STEP_INPUT_EACH)
        return true;
    return s->spec.input == STEP_INPUT_ONE && t->id == s->spec.input_task;
}

/* Tells rank 0 how much input all reading tasks here have taken. */
static void tell_taken (struct rank_step *s)
{
    uint64_t least = UINT64_MAX;
    uint8_t data[4];
    for (uint32_t i = 0; i < s->nown; i++)
        if (reads (s, &s->own[i]) && !s->own[i].ended)
            least = MIN (least, s->own[i].taken);
    if (least == UINT64_MAX || least <= s->taken)
        return;
    wire_put_u32 (data, (uint32_t)(least - s->taken));
    s->taken = least;
    stepd_put (s, WIRE_STEP_TAKEN, 0, NO_NUMBER, data, sizeof (data));
}

static void on_taken (void *ctx, uint32_t task, size_t len)
{
    struct rank_step *s = ctx;
    struct step_task *t = find_own (s, task);
    uint8_t data[4];
    t->taken += len;
    if (s->spec.input != STEP_INPUT_EACH) {
        tell_taken (s);
    } else if (!t->ended) {
        wire_put_u32 (data, (uint32_t)len);
        stepd_put (s, WIRE_STEP_TAKEN, 0, task, data, sizeof (data));
    }
}

static void put_oom (const struct rank_step *s)
{
    uint8_t data[CGROUP_MEMORY_SIZE];
    struct cgroup_memory now = cgroup_memory_now ();
    cgroup_memory_put (data, &now);
    stepd_put (s, WIRE_OOM, 0, NO_NUMBER, data, sizeof (data));
}

static void put_exit (struct rank_step *s, uint32_t task, int status, bool oom)
{
    uint8_t data[4];
    if (oom)
        put_oom (s);
    wire_put_u32 (data, (uint32_t)status);
    stepd_put (s, WIRE_STEP_EXIT, oom, task, data, sizeof (data));
}

static void put_usage (const struct rank_step *s)
{
    char text[USE_TEXT_MAX];
    struct use use = taskset_use (s->set);
    size_t len = use_encode (&use, text);
    stepd_put (s, WIRE_STEP_USAGE, 0, NO_NUMBER, text, len);
}

static void on_exited (void *ctx, uint32_t task, int status, bool oom)
{
    struct rank_step *s = ctx;
    struct step_task *t = find_own (s, task);
    bool last = s->started == s->nown && taskset_running (s->set) == 0;
    t->ended = true;
    if (s->spec.input != STEP_INPUT_EACH)
        tell_taken (s);
    if (s->pmi)
        steppmi_exited (s->pmi, (uint32_t)(t - s->own), status);
    if (s->pmix)
        steppmix_exited (s->pmix, (uint32_t)(t - s->own), status);
    if (last)
        put_usage (s);
    put_exit (s, task, status, oom);
    if (last)
        free_step (s);
}

static const struct task_events task_events = { on_room, on_output, on_exited, NULL,
                                                on_taken };

/* -- start -- */

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
    s->cwd = s->spec.cwd;
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
}

/* Reads the program of each task from the file of --multi-prog. */
static int read_programs (struct rank_step *s, struct error *err)
{
    const char *text = s->spec.multi_prog;
    if (!text)
        return 0;
    s->programs = multiprog_parse (text, strlen (text), "--multi-prog", s->ntasks, err);
    return s->programs ? 0 : -EINVAL;
}

static int start_task (struct rank_step *s, uint32_t local, struct error *err)
{
    const struct step_task *t = &s->own[local];
    struct env_step step = { .spec = &s->spec,
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
    char **argv = s->programs ? multiprog_argv (s->programs, t->id) : s->spec.args;
    struct task_start how = { .id = t->id,
                              .argv = argv,
                              .cwd_fd = s->cwd_fd,
                              .cwd = s->cwd,
                              .input = reads (s, t),
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
        free_step (s);
        return;
    }
    s->started = s->nown;
    for (uint32_t i = first; i < s->nown; i++) {
        s->own[i].ended = true;
        put_exit (s, s->own[i].id, 1 << 8, false);
    }
    if (taskset_running (s->set) == 0)
        free_step (s);
}

static void start (struct rank_step *s)
{
    struct error err = { 0 };
    int rc = step_spec_parse (s->text.buf, s->text.len, &s->spec, &err);
    strbuf_release (&s->text);
    if (rc == 0)
        rc = find_nodes (s, &err);
    if (rc == 0)
        rc = find_tasks (s, &err);
    if (rc == -ENOENT) {
        free_step (s);
        return;
    }
    if (rc == 0) {
        s->credit = steps_credit (s->spec.nnodes);
        s->set = taskset_create (s->d->tasks, s->nown, &task_events, s);
        rc = s->set ? prepare_step (s, &err) : error_no_memory (&err, NULL);
    }
    if (rc < 0)
        give_up (s, &err);
}

/* -- messages -- */

static struct rank_step *find (struct stepd *d, uint32_t id)
{
    struct rank_step *s = d->steps;
    while (s && s->id != id)
        s = s->next;
    return s;
}

static void on_start (struct stepd *d, const struct frame *msg)
{
    struct rank_step *s = find (d, msg->task);
    if (!s) {
        s = calloc (1, sizeof (*s));
        if (!s)
            abort ();
        *s =
            (struct rank_step){ .next = d->steps, .d = d, .id = msg->task, .cwd_fd = -1 };
        strbuf_init (&s->text, STEP_SPEC_MAX);
        d->steps = s;
    }
    strbuf_add (&s->text, msg->data, msg->len);
    if (msg->stream == 1)
        start (s);
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

static void on_size (struct rank_step *s, const struct frame *msg)
{
    const struct task_pty size = { wire_get_u32 (msg->data),
                                   wire_get_u32 (msg->data + 4) };
    for (uint32_t i = 0; i < s->started; i++)
        if (!s->own[i].ended)
            taskset_resize (s->set, i, &size);
}

/* Input for one task, with the number of the task before the bytes. */
static void on_own_input (struct rank_step *s, const struct frame *msg)
{
    struct step_task *t = msg->len < 4 ? NULL : find_own (s, wire_get_u32 (msg->data));
    if (t && !t->ended)
        taskset_input (s->set, (uint32_t)(t - s->own), msg->data + 4, msg->len - 4);
}

static void on_input (struct rank_step *s, const struct frame *msg)
{
    if (s->spec.input == STEP_INPUT_EACH) {
        on_own_input (s, msg);
        return;
    }
    for (uint32_t i = 0; i < s->nown; i++)
        if (reads (s, &s->own[i]) && !s->own[i].ended)
            taskset_input (s->set, i, msg->data, msg->len);
}

static void put_sample (const struct stepd *d, uint32_t id, uint8_t round,
                        const struct use *use)
{
    char text[USE_TEXT_MAX];
    size_t len = use_encode (use, text);
    d->up (d->ctx, &(struct frame){ .type = WIRE_STEP_SAMPLED,
                                    .stream = round,
                                    .rank = d->rank,
                                    .task = id,
                                    .len = (uint32_t)len,
                                    .data = text });
}

/* Tells what all tasks here have used so far. */
static void on_sample (const struct stepd *d, uint8_t round)
{
    struct samples *all = samples_read ();
    const struct taskset *own = tasks_own (d->tasks);
    if (all && own && tasks_count (d->launch, d->rank) > 0) {
        struct use use = samples_use (all, own);
        put_sample (d, WIRE_STEP_OWN, round, &use);
    }
    for (const struct rank_step *s = d->steps; all && s; s = s->next) {
        if (!s->set)
            continue;
        struct use use = samples_use (all, s->set);
        put_sample (d, s->id, round, &use);
    }
    samples_destroy (all);
}

void stepd_message (struct stepd *d, const struct frame *msg)
{
    if (msg->type == WIRE_STEP_START) {
        on_start (d, msg);
        return;
    }
    if (msg->type == WIRE_STEP_SAMPLE) {
        on_sample (d, msg->stream);
        return;
    }
    struct rank_step *s = find (d, msg->task);
    if (!s || !s->set)
        return;
    if (s->waits) {
        wire_put (&s->held, msg);
        return;
    }
    if (msg->type == WIRE_STEP_INPUT) {
        on_input (s, msg);
    } else if (msg->type == WIRE_STEP_CREDIT && msg->len == 4) {
        s->credit += wire_get_u32 (msg->data);
        if (s->credit > 0) {
            taskset_resume (s->set);
            steppmix_resume (s->pmix);
        }
    } else if (msg->type == WIRE_STEP_KVS && s->pmi) {
        steppmi_message (s->pmi, msg);
    } else if ((msg->type == WIRE_STEP_KVS || msg->type == WIRE_STEP_SEND) && s->pmix) {
        steppmix_message (s->pmix, msg);
    } else if (msg->type == WIRE_STEP_SIGNAL && msg->len == 4) {
        taskset_signal (s->set, (int)wire_get_u32 (msg->data));
    } else if (msg->type == WIRE_STEP_SIZE && msg->len == 8) {
        on_size (s, msg);
    }
}

struct stepd *stepd_create (struct loop *loop, const struct launch *launch,
                            struct tasks *tasks, uint32_t rank, stepd_up_fn up, void *ctx)
{
    struct stepd *d = calloc (1, sizeof (*d));
    if (!d)
        return NULL;
    *d = (struct stepd){ .loop = loop,
                         .launch = launch,
                         .tasks = tasks,
                         .rank = rank,
                         .up = up,
                         .ctx = ctx,
                         .allowed = cpubind_allowed (NULL) };
    return d;
}

void stepd_destroy (struct stepd *d)
{
    while (d && d->steps)
        free_step (d->steps);
    if (d)
        steppmix_destroy_all (d);
    if (d)
        idset_destroy (d->allowed);
    free (d);
}
