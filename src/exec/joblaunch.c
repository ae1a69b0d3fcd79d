/* joblaunch.c - see joblaunch.h */
#include "exec/joblaunch.h"

#define UMASK 022 /* default of the jobspec */

/* The tasks of the first n slots, rounded up. */
static uint64_t tasks_of (uint64_t ntasks, uint64_t n, uint64_t slots)
{
    return slots ? (ntasks * n + slots - 1) / slots : 0;
}

/* Without reserved names: parts of CPUs have a field of their own, and no step divides
 * the temporary disk. */
static char *gres_text (const struct gres_list *gres)
{
    struct strbuf sb = STRBUF_INIT (GRES_LIST_MAX * (GRES_NAME_MAX + 16));
    struct gres_list named = { 0 };
    char *text = NULL;

    if (gres_copy (&named, gres) == 0) {
        gres_set (&named, GRES_CPU_MILLI, 0); /* cannot fail, since it removes an entry */
        gres_set (&named, GRES_TMP_DISK, 0);
        strbuf_add_gres (&sb, &named);
        text = strbuf_detach (&sb);
    }
    gres_release (&named);
    return text;
}

static int fill_node (const struct rset_rank *rank, struct launch_node *node)
{
    node->component = rank->component;
    node->name = strdup (rank->node);
    node->cores = idset_encode (rank->cores);
    node->gpus = rank->gpus ? idset_encode (rank->gpus) : strdup ("");
    if (!node->name || !node->cores || !node->gpus
        || (rank->gpu_type && !(node->gpu_type = strdup (rank->gpu_type))))
        return -ENOMEM;
    return rank->gres.n > 0 && !(node->gres = gres_text (&rank->gres)) ? -ENOMEM : 0;
}

/* Distributes the tasks of a component over its nodes. */
static void fill_tasks (const struct rset *r, const struct jobspec *js, size_t component,
                        struct launch *l)
{
    size_t first, n = rset_component (r, component, &first);
    uint64_t slots = 0, before = 0;

    for (size_t i = first; i < first + n; i++)
        slots += r->ranks[i].slots;
    uint64_t ntasks = (uint64_t)jobspec_task_total (js, (int64_t)slots);
    for (size_t i = first; i < first + n; i++) {
        uint64_t own = r->ranks[i].slots;
        l->nodes[i].ntasks = (uint32_t)(tasks_of (ntasks, before + own, slots)
                                        - tasks_of (ntasks, before, slots));
        before += own;
    }
}

static int fill_nodes (const struct exec_job *job, struct launch *l)
{
    const struct rset *r = job->r;

    l->nodes = calloc (r->nranks, sizeof (l->nodes[0]));
    if (!l->nodes)
        return -ENOMEM;
    l->nnodes = r->nranks;
    for (size_t i = 0; i < r->nranks; i++)
        if (fill_node (&r->ranks[i], &l->nodes[i]) < 0)
            return -ENOMEM;
    for (size_t c = 0; c <= job->js->ncomponents; c++)
        fill_tasks (r, jobspec_component (job->js, c), c, l);
    return 0;
}

/* Memory of each node of a component, in MiB. */
static uint64_t node_memory (const struct rset *r, const struct jobspec *js,
                             size_t component)
{
    size_t first, n = rset_component (r, component, &first);
    int64_t most = 0;

    for (size_t i = first; i < first + n; i++)
        most = MAX (most, r->ranks[i].memory_mib);
    return (uint64_t)(js->memory_per_node > 0 ? js->memory_per_node : most);
}

static int fill_args (const struct jobspec *js, struct launch *l)
{
    size_t skip = jobspec_is_batch (js) && js->ncommand > 0 ? 1 : 0;

    l->args = calloc (js->ncommand - skip + 1, sizeof (char *));
    if (!l->args)
        return -ENOMEM;
    for (size_t i = skip; i < js->ncommand; i++) {
        l->args[l->nargs] = strdup (js->command[i]);
        if (!l->args[l->nargs++])
            return -ENOMEM;
    }
    return 0;
}

static int fill_env (json_t *environment, char ***ret, size_t *ret_n)
{
    const char *name;
    json_t *value;
    char **env = *ret = calloc (json_object_size (environment) + 1, sizeof (char *));

    if (!env)
        return -ENOMEM;
    json_object_foreach (environment, name, value) {
        if (!json_is_string (value))
            continue;
        if (asprintf (&env[*ret_n], "%s=%s", name, json_string_value (value)) < 0) {
            env[*ret_n] = NULL;
            return -ENOMEM;
        }
        (*ret_n)++;
    }
    return 0;
}

static void fill_array (const struct exec_job *job, struct launch *l)
{
    const struct idset *tasks = job->js->array.tasks;

    if (!job->array_job || !tasks)
        return;
    l->array_job = job->array_job;
    l->array_task = job->array_task;
    l->array_count = idset_count (tasks);
    l->array_min = idset_first (tasks);
    l->array_max = idset_nth (tasks, l->array_count - 1);
    l->array_step =
        l->array_count == 2 ? l->array_max - l->array_min : MAX (array_step (tasks), 1);
}

static void fill_malleable (const struct jobspec *js, struct launch *l)
{
    const struct jobspec_resource *nodes = jobspec_malleable (js);

    if (!nodes)
        return;
    l->max_nodes = (uint32_t)nodes->count.max;
    l->resize_signal = (uint32_t)js->resize_signal;
}

/* Values of a component that struct launch has in the same way, for component 0. */
static int fill_own (const struct rset *r, const struct jobspec *js, size_t component,
                     struct launch_component *c)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    struct jobspec_sizes sizes;
    bool per_slot = js->task_count_kind == JOBSPEC_PER_SLOT;
    int64_t count = per_slot ? MAX (js->task_count, 1) : 1;

    jobspec_get_component_sizes (js, &sizes);
    c->cores_per_task = (uint32_t)MAX (sizes.cores_per_slot / count, 1);
    c->cpu_milli_per_task = (uint32_t)sizes.cpu_milli_per_slot;
    if (per_slot)
        c->gpus_per_task = (uint32_t)MIN (jobspec_slot_gpus (js), LAUNCH_IDS_MAX);
    c->gpu_share = (uint32_t)MIN (count, INT32_MAX);
    c->mem_mib = node_memory (r, js, component);
    if (!jobspec_add_nodes (js, &sb))
        return 0;
    c->nodes_requested = strbuf_detach (&sb);
    return c->nodes_requested ? 0 : -ENOMEM;
}

static int fill_first (const struct exec_job *job, struct launch *l)
{
    struct launch_component c = { 0 };
    int rc = fill_own (job->r, job->js, 0, &c);

    l->cores_per_task = c.cores_per_task;
    l->cpu_milli_per_task = c.cpu_milli_per_task;
    l->gpus_per_task = c.gpus_per_task;
    l->gpu_share = c.gpu_share;
    l->mem_mib = c.mem_mib;
    l->nodes_requested = c.nodes_requested;
    return rc;
}

static int fill_further (const struct exec_job *job, struct launch *l)
{
    int rc = 0;

    for (size_t i = 1; i <= job->js->ncomponents && rc == 0; i++) {
        const struct jobspec *js = jobspec_component (job->js, i);
        struct launch_component c = { 0 };
        size_t first;

        c.nnodes = (uint32_t)rset_component (job->r, i, &first);
        rc = fill_own (job->r, js, i, &c);
        if (rc == 0)
            rc = fill_env (js->environment, &c.env, &c.nenv);
        if (rc == 0 && js->name && !(c.job_name = strdup (js->name)))
            rc = -ENOMEM;
        int added = launch_add_component (l, &c);
        rc = rc < 0 ? rc : added;
    }
    return rc;
}

static void fill_process (const struct exec_job *job, struct launch *l)
{
    const struct job_process *p = &job->js->process;

    l->umask = p->umask >= 0 ? (uint32_t)p->umask : UMASK;
    l->nice = job->nice > 0 ? (uint32_t)job->nice : 0;
    l->warn_signal = (uint32_t)p->warn.signum;
    l->warn_before = p->warn.before;
    l->warn_batch = p->warn.batch && l->batch;
    l->warn_steps = p->warn.steps && l->batch;
}

static int fill_rlimits (const struct rlimits *set, struct launch *l)
{
    char text[RLIMITS_TEXT_MAX];

    if (!(l->rlimits = calloc (RLIMITS_COUNT + 1, sizeof (char *))))
        return -ENOMEM;
    for (size_t i = 0; i < RLIMITS_COUNT; i++) {
        if (!(set->given >> i & 1))
            continue;
        rlimits_format (set, i, text, sizeof (text));
        if (!(l->rlimits[l->nrlimits++] = strdup (text)))
            return -ENOMEM;
    }
    return 0;
}

static int fill_user_env (const struct exec_job *job, struct launch *l)
{
    l->user_env = (uint32_t)job->js->process.user_env.timeout;
    l->user_env_login = job->js->process.user_env.login;
    l->home = strdup (job->user.home ? job->user.home : "/");
    l->shell = strdup (job->user.shell ? job->user.shell : "");
    return l->home && l->shell ? 0 : -ENOMEM;
}

int joblaunch_fill (const struct exec_job *job, struct launch *l, struct error *err)
{
    const struct jobspec *js = job->js;

    memset (l, 0, sizeof (*l));
    l->job_id = job->id;
    fill_array (job, l);
    l->batch = jobspec_is_batch (js);
    l->time_limit = job->time_limit;
    l->grace = job->grace;
    l->once = job->once;
    fill_process (job, l);
    fill_malleable (js, l);
    l->append = js->append;
    l->one_stream = js->error && js->output && !strcmp (js->error, js->output);
    l->on_full = (uint32_t)js->on_full;
    l->job_name = strdup (job->name ? job->name : js->name);
    l->user = strdup (job->user.name);
    l->queue = strdup (job->queue ? job->queue : "");
    l->cwd = strdup (js->cwd ? js->cwd : job->user.home ? job->user.home : "/");
    if (!l->job_name || !l->user || !l->queue || !l->cwd || fill_nodes (job, l) < 0
        || fill_first (job, l) < 0 || fill_further (job, l) < 0 || fill_args (js, l) < 0
        || fill_env (js->environment, &l->env, &l->nenv) < 0
        || fill_rlimits (&js->process.rlimits, l) < 0
        || (js->process.user_env.timeout && fill_user_env (job, l) < 0)
        || (job->cluster && !(l->cluster = strdup (job->cluster)))
        || (js->submit_dir && !(l->submit_dir = strdup (js->submit_dir)))) {
        launch_release (l);
        return error_set (err, ENOMEM, "out of memory");
    }
    return 0;
}
