/* shape.c - see shape.h
 *
 * All nodes of a job have the same number of slots. So the total of tasks is divided by
 * the number of nodes, also if either has several sizes. Numbers that do not divide are
 * refused; the error has numbers that do.
 */
#include "jobspec/options/shape.h"

#include "common/gputype.h"
#include "jobspec/attributes/requires.h"
#include "jobspec/options/submit_size.h"

static int64_t divide_up (int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* -- tasks on nodes -- */

/* The most tasks on a node, and the option that says so; 0: any number. A node counts as
 * one socket. */
static int64_t most_on_node (const struct submit_options *so, const char **option)
{
    bool socket =
        so->ntasks_per_socket
        && (!so->ntasks_per_node || so->ntasks_per_socket < so->ntasks_per_node);

    *option = socket ? "--ntasks-per-socket" : "--ntasks-per-node";
    return socket ? so->ntasks_per_socket : so->ntasks_per_node;
}

static int check_tasks (const struct submit_options *so, int64_t nodes, int64_t ntasks,
                        struct error *err)
{
    const char *option;
    int64_t most = most_on_node (so, &option);

    if (ntasks < nodes)
        return error_set (
            err, EINVAL,
            "%jd tasks (-n) cannot occupy %jd nodes (-N); ask for at most %jd nodes "
            "or at least %jd tasks",
            (intmax_t)ntasks, (intmax_t)nodes, (intmax_t)ntasks, (intmax_t)nodes);
    if (most && divide_up (ntasks, nodes) > most)
        return error_set (err, EINVAL,
                          "%jd tasks (-n) do not fit: %jd nodes (-N) with %jd tasks each "
                          "(%s%s) have room for %jd",
                          (intmax_t)ntasks, (intmax_t)nodes, (intmax_t)most, option,
                          so->ntasks_per_socket == most ? ", and a node is one socket"
                                                        : "",
                          (intmax_t)(nodes * most));
    return 0;
}

/* -N 4 -n 64: 16 on each node. */
static int fixed_on_fixed (const struct submit_options *so, struct submit_shape *s,
                           struct error *err)
{
    int64_t nodes = s->nodes.count.min, ntasks = so->ntasks.count.min;
    int rc = check_tasks (so, nodes, ntasks, err);

    if (rc < 0)
        return rc;
    s->ntasks = ntasks;
    size_set_fixed (&s->slots, divide_up (ntasks, nodes));
    if (s->slots.count.min * nodes != ntasks)
        s->total = ntasks;
    return 0;
}

/* -N 4 -n 8-64: 2 to 16 on each node. */
static int elastic_on_fixed (const struct submit_options *so, struct submit_shape *s,
                             struct error *err)
{
    const char *option;
    struct submit_size ntasks = so->ntasks; /* borrows the list */
    int64_t nodes = s->nodes.count.min, min = ntasks.count.min;
    int64_t most = most_on_node (so, &option);
    int rc = check_tasks (so, nodes, min, err);

    if (rc == 0 && size_is_open (&ntasks) && most)
        ntasks.count.max = jobspec_count_fit (&ntasks.count, nodes * most);
    int64_t max = ntasks.count.max;
    if (rc == 0 && !size_is_open (&ntasks))
        rc = check_tasks (so, nodes, max, err);
    if (rc < 0)
        return rc;
    if (size_divide (&ntasks, nodes, &s->slots))
        return 0;
    if (!size_is_plain (&so->ntasks) || max / nodes < divide_up (min, nodes))
        return error_set (err, EINVAL,
                          "-n %s does not divide among %jd nodes (-N), which get as many "
                          "tasks each; say multiples of %jd, or leave -N out",
                          size_text (&so->ntasks).s, (intmax_t)nodes, (intmax_t)nodes);
    return error_set (
        err, EINVAL,
        "-n %s does not divide among %jd nodes (-N), which get as many tasks each; say "
        "-n %jd-%jd, or leave -N out",
        size_text (&so->ntasks).s, (intmax_t)nodes,
        (intmax_t)(divide_up (min, nodes) * nodes), (intmax_t)(max / nodes * nodes));
}

/* -N 4-16 -n 64: spread over the granted nodes. */
static int fixed_on_elastic (const struct submit_options *so, struct submit_shape *s,
                             struct error *err)
{
    int64_t ntasks = so->ntasks.count.min, min = s->nodes.count.min;

    if (size_is_open (&s->nodes) && ntasks > min)
        s->nodes.count.max = jobspec_count_fit (&s->nodes.count, ntasks);
    int rc = check_tasks (so, s->nodes.count.max, ntasks, err);
    if (rc == 0)
        rc = check_tasks (so, min, ntasks, err);
    if (rc < 0)
        return rc;
    s->ntasks = s->total = ntasks;
    size_set_range (&s->slots, divide_up (ntasks, s->nodes.count.max),
                    divide_up (ntasks, min));
    return 0;
}

/* -N 4-16 -n 32-128: the fewest tasks go to the fewest nodes, the most to the most. */
static int elastic_on_elastic (const struct submit_options *so, struct submit_shape *s,
                               struct error *err)
{
    const struct jobspec_count *n = &s->nodes.count, *t = &so->ntasks.count;
    int rc;

    if (!size_is_plain (&so->ntasks) || size_is_open (&so->ntasks)
        || size_is_open (&s->nodes))
        return error_set (err, EINVAL,
                          "-n %s cannot be combined with several numbers of nodes (-N); "
                          "use -n MIN-MAX and -N MIN-MAX, or --ntasks-per-node",
                          size_text (&so->ntasks).s);
    if ((rc = check_tasks (so, n->min, t->min, err)) < 0
        || (rc = check_tasks (so, n->max, t->max, err)) < 0)
        return rc;
    if (t->min % n->min != 0 || t->max % n->max != 0)
        return error_set (err, EINVAL,
                          "-n %jd-%jd does not divide among the nodes (-N): %jd tasks on "
                          "%jd nodes, %jd on %jd; say -n %jd-%jd, or --ntasks-per-node",
                          (intmax_t)t->min, (intmax_t)t->max, (intmax_t)t->min,
                          (intmax_t)n->min, (intmax_t)t->max, (intmax_t)n->max,
                          (intmax_t)(divide_up (t->min, n->min) * n->min),
                          (intmax_t)(divide_up (t->max, n->max) * n->max));
    if (t->min / n->min > t->max / n->max)
        return error_set (err, EINVAL,
                          "-n %jd-%jd is %jd tasks on each of %jd nodes (-N), but only "
                          "%jd on each of %jd; say --ntasks-per-node",
                          (intmax_t)t->min, (intmax_t)t->max, (intmax_t)(t->min / n->min),
                          (intmax_t)n->min, (intmax_t)(t->max / n->max),
                          (intmax_t)n->max);
    size_set_range (&s->slots, t->min / n->min, t->max / n->max);
    return 0;
}

static int shape_on_nodes (const struct submit_options *so, struct submit_shape *s,
                           struct error *err)
{
    if (so->ntasks.count.min == 0) {
        if (so->ntasks_per_socket && so->ntasks_per_node > so->ntasks_per_socket)
            return error_set (err, EINVAL,
                              "%jd tasks on each node (--ntasks-per-node) are more than "
                              "%jd on each socket (--ntasks-per-socket); a node is one "
                              "socket",
                              (intmax_t)so->ntasks_per_node,
                              (intmax_t)so->ntasks_per_socket);
        size_set_fixed (&s->slots, so->ntasks_per_node ? so->ntasks_per_node : 1);
        if (!size_is_elastic (&s->nodes))
            s->ntasks = s->nodes.count.min * s->slots.count.min;
        return 0;
    }
    if (size_is_elastic (&s->nodes))
        return size_is_elastic (&so->ntasks) ? elastic_on_elastic (so, s, err)
                                             : fixed_on_elastic (so, s, err);
    return size_is_elastic (&so->ntasks) ? elastic_on_fixed (so, s, err)
                                         : fixed_on_fixed (so, s, err);
}

/* At most so many tasks on a node, without -N: as many nodes as that takes. */
static int find_nodes (const struct submit_options *so, struct submit_shape *s,
                       struct error *err)
{
    const char *option;
    const int64_t each = most_on_node (so, &option);

    if (!size_is_elastic (&so->ntasks)) {
        size_set_fixed (
            &s->nodes, so->ntasks.count.min ? divide_up (so->ntasks.count.min, each) : 1);
        return shape_on_nodes (so, s, err);
    }
    if (!size_divide (&so->ntasks, each, &s->nodes))
        return error_set (err, EINVAL,
                          "-n %s does not divide into %jd tasks a node (%s); say "
                          "multiples of %jd",
                          size_text (&so->ntasks).s, (intmax_t)each, option,
                          (intmax_t)each);
    size_set_fixed (&s->slots, each);
    return 0;
}

/* --spread-job with -n alone: on as many nodes as are free. */
static int spread_tasks (const struct submit_options *so, struct submit_shape *s,
                         struct error *err)
{
    const char *option;
    int64_t ntasks = so->ntasks.count.min, most = most_on_node (so, &option);

    if (size_is_elastic (&so->ntasks))
        return error_set (err, EINVAL,
                          "--spread-job does not go with several numbers of tasks (-n "
                          "%s); say one",
                          size_text (&so->ntasks).s);
    size_set_range (&s->nodes, most ? divide_up (ntasks, most) : 1, ntasks);
    return shape_on_nodes (so, s, err);
}

/* A given option that describes nodes, or NULL. */
static const char *per_node_option (const struct submit_options *so,
                                    const struct submit_shape *s)
{
    return so->exclusive       ? "--exclusive"
           : s->exclusive      ? "--mem=0"
           : so->gpus_per_node ? "--gpus-per-node"
           : so->tmp_mib       ? "--tmp"
           : so->gres.n > 0    ? "--gres"
           /* a component has no memory on each node without a number of nodes */
           : so->mem_mib && (so->first || so->nfurther) ? "--mem"
                                                        : NULL;
}

static int shape_anywhere (const struct submit_options *so, struct submit_shape *s,
                           struct error *err)
{
    if (per_node_option (so, s))
        return error_set (err, EINVAL,
                          "%s needs the number of nodes: give -N or --ntasks-per-node "
                          "besides -n %s",
                          per_node_option (so, s), size_text (&so->ntasks).s);
    if (so->ntasks.count.min > 0) {
        s->ntasks = size_is_elastic (&so->ntasks) ? 0 : so->ntasks.count.min;
        return size_copy (&so->ntasks, &s->slots, err);
    }
    s->ntasks = 1;
    size_set_fixed (&s->slots, 1);
    return 0;
}

/* The number of nodes that --nodelist names; 0: none. */
static uint32_t nodes_named (const struct submit_options *so)
{
    uint32_t n = 0;

    if (so->nodelist)
        json_decref (requires_hosts (so->nodelist, "--nodelist", &n, NULL));
    return n;
}

static int shape_counts (const struct submit_options *so, struct submit_shape *s,
                         struct error *err)
{
    uint32_t named = nodes_named (so);
    int rc;

    if (named && so->nodes.count.min > named)
        return error_set (err, EINVAL,
                          "--nodelist names %u nodes, and -N asks for %s of them; name "
                          "more, or choose nodes with --constraint",
                          named, size_text (&so->nodes).s);
    if (so->nodes.count.min > 0) {
        rc = size_copy (&so->nodes, &s->nodes, err);
        return rc < 0 ? rc : shape_on_nodes (so, s, err);
    }
    if (named && !so->ntasks_per_node) {
        size_set_fixed (&s->nodes,
                        so->ntasks.count.min ? MIN (named, so->ntasks.count.min) : named);
        return shape_on_nodes (so, s, err);
    }
    if (so->spread_job && so->ntasks.count.min > 0)
        return spread_tasks (so, s, err);
    if (so->ntasks_per_node || (so->ntasks_per_socket && so->ntasks.count.min > 0))
        return find_nodes (so, s, err);
    if (!per_node_option (so, s) || so->ntasks.count.max > 1)
        return shape_anywhere (so, s, err);
    size_set_fixed (&s->nodes, 1);
    return shape_on_nodes (so, s, err);
}

/* -- GPUs and generic resources -- */

/* Several options ask for GPUs; the one from the source of highest precedence counts. */
struct gpu_way {
    const char *option;
    int64_t count;
    const char *type; /* or NULL */
    int source;       /* 0: not given */
};

enum { IN_ALL, A_TASK, A_NODE, BY_GRES, GPU_WAYS };

/* 0 and the option that counts, or NULL; -EINVAL: two options of one source. */
static int choose_way (const struct gpu_way *ways, const struct gpu_way **ret,
                       struct error *err)
{
    *ret = NULL;
    for (const struct gpu_way *w = ways; w < ways + GPU_WAYS; w++) {
        if (w->count == 0 || (*ret && (*ret)->source > w->source))
            continue;
        if (*ret && (*ret)->source == w->source)
            return error_set (err, EINVAL, "%s and %s exclude each other", (*ret)->option,
                              w->option);
        *ret = w;
    }
    return 0;
}

/* -G: divide the total of GPUs. */
static int divide_gpus (const struct submit_options *so, struct submit_shape *s,
                        struct error *err)
{
    bool sized = size_is_elastic (&s->nodes);

    if (sized || size_is_elastic (&s->slots))
        return error_set (
            err, EINVAL,
            "-G %jd does not go with a range of %s (%s %s); say --gpus-per-task",
            (intmax_t)so->gpus, sized ? "nodes" : "tasks", sized ? "-N" : "-n",
            size_text (sized ? &s->nodes : &so->ntasks).s);
    if (so->gpus % s->ntasks == 0 && !s->total) {
        s->gpus_slot = so->gpus / s->ntasks;
    } else if (s->nodes.count.min && so->gpus % s->nodes.count.min == 0) {
        s->gpus_node = so->gpus / s->nodes.count.min;
    } else if (s->nodes.count.min) {
        return error_set (
            err, EINVAL,
            "%jd GPUs (-G) divide neither among %jd tasks nor among %jd nodes; ask "
            "for a multiple, or say --gpus-per-task",
            (intmax_t)so->gpus, (intmax_t)s->ntasks, (intmax_t)s->nodes.count.min);
    } else {
        return error_set (
            err, EINVAL,
            "%jd GPUs (-G) do not divide among %jd tasks; ask for a multiple, or "
            "give the number of nodes (-N) to have them shared there",
            (intmax_t)so->gpus, (intmax_t)s->ntasks);
    }
    return 0;
}

/* "gpu" or "gpu:TYPE" */
bool submit_gres_is_gpu (const struct gres *g)
{
    return !strcmp (g->name, "gpu")
           || !strncmp (g->name, GPU_TYPE_PREFIX, strlen (GPU_TYPE_PREFIX));
}

/* The first entry with GPUs from number `from` on, or NULL. */
static const struct gres *gpus_of_gres (const struct gres_list *l, size_t from)
{
    for (size_t i = from; i < l->n; i++)
        if (submit_gres_is_gpu (&l->v[i]))
            return &l->v[i];
    return NULL;
}

static const char *type_of (const struct gres *g)
{
    return g->name[strlen ("gpu")] ? g->name + strlen (GPU_TYPE_PREFIX) : NULL;
}

static int shape_gpus (const struct submit_options *so, struct submit_shape *s,
                       struct error *err)
{
    const struct gres *gpus = gpus_of_gres (&so->gres, 0);
    const struct gpu_way ways[GPU_WAYS] = {
        [IN_ALL] = { "--gpus", so->gpus, so->gpu_type.in_all,
                     submit_source_of (so, "gpus") },
        [A_TASK] = { "--gpus-per-task", so->gpus_per_task, so->gpu_type.per_task,
                     submit_source_of (so, "gpus-per-task") },
        [A_NODE] = { "--gpus-per-node", so->gpus_per_node, so->gpu_type.per_node,
                     submit_source_of (so, "gpus-per-node") },
        [BY_GRES] = { "--gres=gpu", gpus ? gpus->count : 0, gpus ? type_of (gpus) : NULL,
                      submit_source_of (so, "gres") },
    };
    const struct gpu_way *way;
    if (gpus && gpus_of_gres (&so->gres, (size_t)(gpus - so->gres.v) + 1))
        return error_set (err, EINVAL, "--gres: a job has GPUs of one type; name one");
    int rc = choose_way (ways, &way, err);
    if (rc < 0 || !way)
        return rc;
    s->gpu_type = way->type;
    if (way == &ways[IN_ALL])
        return divide_gpus (so, s, err);
    if (way == &ways[A_TASK])
        s->gpus_slot = way->count;
    else
        s->gpus_node = way->count;
    return 0;
}

/* -- tasks by the GPU -- */

static int no_gpus (const char *option, struct error *err)
{
    return error_set (err, EINVAL, "%s: the job asks for no GPUs; say --gpus-per-task",
                      option);
}

/* --ntasks-per-gpu: makes `so` ask for a slot for each GPU. */
static int slots_of_gpus (struct submit_options *so, struct submit_shape *s,
                          struct error *err)
{
    const int64_t each = so->ntasks_per_gpu, tasks = so->ntasks.count.min;
    int64_t gpus = so->gpus;

    if (size_is_elastic (&so->ntasks) || size_is_elastic (&so->nodes))
        return error_set (err, EINVAL,
                          "--ntasks-per-gpu does not go with several sizes (-N, -n)");
    if (so->gpus_per_task || so->ntasks_per_socket || gpus_of_gres (&so->gres, 0))
        return error_set (err, EINVAL, "--ntasks-per-gpu and %s exclude each other",
                          so->gpus_per_task       ? "--gpus-per-task"
                          : so->ntasks_per_socket ? "--ntasks-per-socket"
                                                  : "--gres=gpu");
    bool by_node = so->gpus_per_node && !gpus;
    if (by_node)
        gpus = so->gpus_per_node * MAX (so->nodes.count.min, 1);
    if (tasks > 0 && (tasks % each != 0 || (gpus > 0 && gpus != tasks / each)))
        return error_set (err, EINVAL,
                          "%jd tasks (-n) are not %jd for each GPU (--ntasks-per-gpu)%s",
                          (intmax_t)tasks, (intmax_t)each,
                          gpus ? "; leave -n out" : "; say a multiple");
    gpus = gpus ? gpus : tasks / each;
    if (gpus == 0)
        return no_gpus ("--ntasks-per-gpu", err);
    if (so->gpus_per_node && !so->nodes.count.min)
        size_set_fixed (&so->nodes, 1);
    if (so->gpus_per_node)
        so->ntasks_per_node = so->gpus_per_node;
    size_set_fixed (&so->ntasks, gpus);
    so->gpu_type.per_task = by_node ? so->gpu_type.per_node : so->gpu_type.in_all;
    so->gpus = so->gpus_per_node = 0;
    so->gpus_per_task = 1;
    s->per_slot = each;
    return 0;
}

/* -- cores and memory -- */

static int shape_cores (const struct submit_options *so, struct submit_shape *s,
                        struct error *err)
{
    int by_task = submit_source_of (so, "cpus-per-task");
    int by_gpu = submit_source_of (so, "cpus-per-gpu");
    int64_t slots = s->slots.count.min, all = so->cpus_per_gpu * s->gpus_node;

    s->cores = so->cpus_per_task ? so->cpus_per_task : 1;
    s->cores *= s->per_slot ? s->per_slot : 1;
    if (by_gpu == 0 || by_gpu < by_task)
        return 0;
    if (by_gpu == by_task)
        return error_set (err, EINVAL,
                          "--cpus-per-task and --cpus-per-gpu exclude each other");
    if (s->gpus_slot) {
        s->cores = so->cpus_per_gpu * s->gpus_slot;
        return 0;
    }
    if (all == 0)
        return no_gpus ("--cpus-per-gpu", err);
    if (size_is_elastic (&s->slots) || all % slots != 0)
        return error_set (
            err, EINVAL,
            "--cpus-per-gpu: %jd cores on each node do not divide among %jd "
            "tasks; say --cpus-per-task",
            (intmax_t)all, (intmax_t)slots);
    s->cores = all / slots;
    return 0;
}

static int shape_memory (const struct submit_options *so, struct submit_shape *s,
                         struct error *err)
{
    static const char *const ways[] = { "mem", "mem-per-cpu", "mem-per-gpu" };
    int sources[ARRAY_SIZE (ways)], way = 0;

    for (size_t i = 0; i < ARRAY_SIZE (ways); i++) {
        sources[i] = submit_source_of (so, ways[i]);
        if (sources[i] > 0 && i > 0 && sources[i] == sources[way])
            return error_set (err, EINVAL, "--%s and --%s exclude each other", ways[way],
                              ways[i]);
        if (sources[i] > sources[way])
            way = (int)i;
    }
    if (way == 1)
        s->mem_slot = so->cpu_milli ? divide_up (so->mem_per_cpu * so->cpu_milli, 1000)
                                    : so->mem_per_cpu * s->cores;
    else if (way == 2 && s->gpus_slot)
        s->mem_slot = so->mem_per_gpu * s->gpus_slot;
    else if (way == 2)
        s->mem_node = so->mem_per_gpu * s->gpus_node;
    else
        s->mem_node = so->mem_mib;
    if (way == 2 && s->mem_slot == 0 && s->mem_node == 0)
        return no_gpus ("--mem-per-gpu", err);
    if (MAX (s->mem_slot, s->mem_node) > JOBSPEC_COUNT_MAX)
        return error_set (err, ERANGE, "--%s: more than %d MiB on a node", ways[way],
                          JOBSPEC_COUNT_MAX);
    return 0;
}

int submit_shape_make (const struct submit_options *given, struct submit_shape *s,
                       struct error *err)
{
    struct submit_options changed = *given; /* borrows all that it points to */
    const struct submit_options *so = &changed;

    memset (s, 0, sizeof (*s));
    if (so->ntasks_per_gpu && slots_of_gpus (&changed, s, err) < 0)
        return -err->code;
    s->exclusive = so->exclusive || (so->mem_all && !so->mem_per_cpu && !so->mem_per_gpu);
    /* flux: nodes without a number of slots are whole nodes */
    if (so->whole_nodes && so->nodes.count.min && !so->ntasks.count.min
        && !so->ntasks_per_node
        && submit_source_of (so, "nodes") == SUBMIT_FROM_SCRIPT + 1)
        s->exclusive = true;
    int rc = shape_counts (so, s, err);
    if (rc == 0)
        rc = shape_gpus (so, s, err);
    if (rc == 0)
        rc = shape_cores (so, s, err);
    if (rc == 0)
        rc = shape_memory (so, s, err);
    if (rc == 0)
        rc = submit_shape_places (so, s, err);
    if (rc < 0)
        submit_shape_release (s);
    return rc;
}

void submit_shape_release (struct submit_shape *s)
{
    idset_destroy (s->nodes.list);
    idset_destroy (s->slots.list);
    idset_destroy (s->places.list);
    s->nodes.list = s->slots.list = s->places.list = NULL;
}
