/* shape.c - see shape.h
 *
 * All nodes of a job have the same number of slots. So the total of tasks is divided by
 * the number of nodes, also if either has several sizes. Numbers that do not divide are
 * refused; the error has numbers that do.
 */
#include "jobspec/options/shape.h"

#include "common/gputype.h"
#include "jobspec/attributes/requires.h"

static int64_t divide_up (int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* -- sizes -- */

static bool is_elastic (const struct submit_size *z)
{
    return z->count.min != z->count.max;
}

static bool is_open (const struct submit_size *z)
{
    return is_elastic (z) && z->count.max == JOBSPEC_COUNT_MAX && !z->list;
}

/* Whether each number from the least to the greatest is a size. */
static bool is_plain (const struct submit_size *z)
{
    return !z->list && z->count.op == '+' && z->count.operand == 1;
}

static void set_fixed (struct submit_size *z, int64_t n)
{
    z->count = (struct jobspec_count){ n, n, '+', 1 };
}

static void set_range (struct submit_size *z, int64_t min, int64_t max)
{
    z->count = (struct jobspec_count){ min, max, '+', 1 };
}

struct text {
    char s[80];
};

/* The sizes as in the option: "4-16" */
static struct text text_of (const struct submit_size *z)
{
    struct text t;
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);

    jobspec_count_add (&sb, &z->count, z->list);
    snprintf (t.s, sizeof (t.s), "%s", sb.err ? "..." : sb.buf);
    return t;
}

static int copy_size (const struct submit_size *from, struct submit_size *to,
                      struct error *err)
{
    to->count = from->count;
    if (from->list && !(to->list = idset_copy (from->list)))
        return error_no_memory (err, NULL);
    return 0;
}

static bool divide_list (const struct submit_size *from, int64_t by,
                         struct submit_size *to)
{
    if (!(to->list = idset_create ()))
        return false;
    IDSET_FOREACH (from->list, n)
    {
        if (n % by != 0 || idset_add (to->list, (uint32_t)(n / by)) < 0) {
            idset_destroy (to->list);
            to->list = NULL;
            return false;
        }
    }
    to->count.min = from->count.min / by;
    to->count.max = from->count.max / by;
    return true;
}

/* Divide each size; false: not all sizes divide. In a range of all numbers, only each
 * by-th number stays. */
static bool divide (const struct submit_size *from, int64_t by, struct submit_size *to)
{
    const struct jobspec_count *c = &from->count;

    *to = *from;
    to->list = NULL;
    if (from->list)
        return divide_list (from, by, to);
    if (c->min % by != 0 || (c->max % by != 0 && !is_open (from)))
        return false;
    if (is_elastic (from) && by > 1
        && (c->op == '^' || (c->op == '+' && c->operand > 1 && c->operand % by != 0)))
        return false;
    if (c->op == '+' && c->operand > 1 && is_elastic (from))
        to->count.operand /= by;
    to->count.min /= by;
    if (!is_open (from))
        to->count.max /= by;
    return true;
}

/* -- tasks on nodes -- */

static int check_tasks (const struct submit_options *so, int64_t nodes, int64_t ntasks,
                        struct error *err)
{
    if (ntasks < nodes)
        return error_set (
            err, EINVAL,
            "%jd tasks (-n) cannot occupy %jd nodes (-N); ask for at most %jd nodes "
            "or at least %jd tasks",
            (intmax_t)ntasks, (intmax_t)nodes, (intmax_t)ntasks, (intmax_t)nodes);
    if (so->ntasks_per_node && divide_up (ntasks, nodes) > so->ntasks_per_node)
        return error_set (err, EINVAL,
                          "%jd tasks (-n) do not fit: %jd nodes (-N) with %jd tasks each "
                          "(--ntasks-per-node) have room for %jd",
                          (intmax_t)ntasks, (intmax_t)nodes,
                          (intmax_t)so->ntasks_per_node,
                          (intmax_t)(nodes * so->ntasks_per_node));
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
    set_fixed (&s->slots, divide_up (ntasks, nodes));
    if (s->slots.count.min * nodes != ntasks)
        s->total = ntasks;
    return 0;
}

/* -N 4 -n 8-64: 2 to 16 on each node. */
static int elastic_on_fixed (const struct submit_options *so, struct submit_shape *s,
                             struct error *err)
{
    int64_t nodes = s->nodes.count.min, min = so->ntasks.count.min;
    int64_t max = so->ntasks.count.max;
    int rc = check_tasks (so, nodes, min, err);

    if (rc == 0 && !is_open (&so->ntasks))
        rc = check_tasks (so, nodes, max, err);
    if (rc < 0)
        return rc;
    if (divide (&so->ntasks, nodes, &s->slots))
        return 0;
    if (!is_plain (&so->ntasks) || max / nodes < divide_up (min, nodes))
        return error_set (err, EINVAL,
                          "-n %s does not divide among %jd nodes (-N), which get as many "
                          "tasks each; say multiples of %jd, or leave -N out",
                          text_of (&so->ntasks).s, (intmax_t)nodes, (intmax_t)nodes);
    return error_set (
        err, EINVAL,
        "-n %s does not divide among %jd nodes (-N), which get as many tasks each; say "
        "-n %jd-%jd, or leave -N out",
        text_of (&so->ntasks).s, (intmax_t)nodes,
        (intmax_t)(divide_up (min, nodes) * nodes), (intmax_t)(max / nodes * nodes));
}

/* -N 4-16 -n 64: spread over the granted nodes. */
static int fixed_on_elastic (const struct submit_options *so, struct submit_shape *s,
                             struct error *err)
{
    int64_t ntasks = so->ntasks.count.min, min = s->nodes.count.min;

    if (is_open (&s->nodes) && ntasks > min)
        s->nodes.count.max = jobspec_count_fit (&s->nodes.count, ntasks);
    int rc = check_tasks (so, s->nodes.count.max, ntasks, err);
    if (rc == 0)
        rc = check_tasks (so, min, ntasks, err);
    if (rc < 0)
        return rc;
    s->ntasks = s->total = ntasks;
    set_range (&s->slots, divide_up (ntasks, s->nodes.count.max),
               divide_up (ntasks, min));
    return 0;
}

/* -N 4-16 -n 32-128: the fewest tasks go to the fewest nodes, the most to the most. */
static int elastic_on_elastic (const struct submit_options *so, struct submit_shape *s,
                               struct error *err)
{
    const struct jobspec_count *n = &s->nodes.count, *t = &so->ntasks.count;
    int rc;

    if (!is_plain (&so->ntasks) || is_open (&so->ntasks) || is_open (&s->nodes))
        return error_set (err, EINVAL,
                          "-n %s cannot be combined with several numbers of nodes (-N); "
                          "use -n MIN-MAX and -N MIN-MAX, or --ntasks-per-node",
                          text_of (&so->ntasks).s);
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
    set_range (&s->slots, t->min / n->min, t->max / n->max);
    return 0;
}

static int shape_on_nodes (const struct submit_options *so, struct submit_shape *s,
                           struct error *err)
{
    if (so->ntasks.count.min == 0) {
        set_fixed (&s->slots, so->ntasks_per_node ? so->ntasks_per_node : 1);
        if (!is_elastic (&s->nodes))
            s->ntasks = s->nodes.count.min * s->slots.count.min;
        return 0;
    }
    if (is_elastic (&s->nodes))
        return is_elastic (&so->ntasks) ? elastic_on_elastic (so, s, err)
                                        : fixed_on_elastic (so, s, err);
    return is_elastic (&so->ntasks) ? elastic_on_fixed (so, s, err)
                                    : fixed_on_fixed (so, s, err);
}

/* --ntasks-per-node without -N: as many nodes as that takes. */
static int find_nodes (const struct submit_options *so, struct submit_shape *s,
                       struct error *err)
{
    const int64_t each = so->ntasks_per_node;

    if (!is_elastic (&so->ntasks)) {
        set_fixed (&s->nodes,
                   so->ntasks.count.min ? divide_up (so->ntasks.count.min, each) : 1);
        return shape_on_nodes (so, s, err);
    }
    if (!divide (&so->ntasks, each, &s->nodes))
        return error_set (err, EINVAL,
                          "-n %s does not divide into %jd tasks a node "
                          "(--ntasks-per-node); say multiples of %jd",
                          text_of (&so->ntasks).s, (intmax_t)each, (intmax_t)each);
    set_fixed (&s->slots, each);
    return 0;
}

/* A given option that describes nodes, or NULL. */
static const char *per_node_option (const struct submit_options *so,
                                    const struct submit_shape *s)
{
    return so->exclusive       ? "--exclusive"
           : s->exclusive      ? "--mem=0"
           : so->gpus_per_node ? "--gpus-per-node"
           : so->gres.n > 0    ? "--gres"
                               : NULL;
}

static int shape_anywhere (const struct submit_options *so, struct submit_shape *s,
                           struct error *err)
{
    if (per_node_option (so, s))
        return error_set (err, EINVAL,
                          "%s needs the number of nodes: give -N or --ntasks-per-node "
                          "besides -n %s",
                          per_node_option (so, s), text_of (&so->ntasks).s);
    if (so->ntasks.count.min > 0) {
        s->ntasks = is_elastic (&so->ntasks) ? 0 : so->ntasks.count.min;
        return copy_size (&so->ntasks, &s->slots, err);
    }
    s->ntasks = 1;
    set_fixed (&s->slots, 1);
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
                          named, text_of (&so->nodes).s);
    if (so->nodes.count.min > 0) {
        rc = copy_size (&so->nodes, &s->nodes, err);
        return rc < 0 ? rc : shape_on_nodes (so, s, err);
    }
    if (named && !so->ntasks_per_node) {
        set_fixed (&s->nodes,
                   so->ntasks.count.min ? MIN (named, so->ntasks.count.min) : named);
        return shape_on_nodes (so, s, err);
    }
    if (so->ntasks_per_node)
        return find_nodes (so, s, err);
    if (!per_node_option (so, s) || so->ntasks.count.max > 1)
        return shape_anywhere (so, s, err);
    set_fixed (&s->nodes, 1);
    return shape_on_nodes (so, s, err);
}

/* -- places -- */

/* --nodes-per: the nodes are cut into places of so many. */
static int shape_places (const struct submit_options *so, struct submit_shape *s,
                         struct error *err)
{
    const struct nodes_per *per = &so->nodes_per;

    if (per->count == 0)
        return 0;
    if (so->js.switches.count > 0 || so->js.placement.kind > PLACEMENT_ANY)
        return error_set (
            err, EINVAL,
            "--nodes-per=%s:%jd places the nodes and cannot be combined with %s",
            per->level, (intmax_t)per->count,
            so->js.switches.count > 0 ? "--switches" : "--placement");
    if (!s->nodes.count.min)
        return error_set (err, EINVAL,
                          "--nodes-per=%s:%jd needs the number of nodes: give -N",
                          per->level, (intmax_t)per->count);
    if (is_elastic (&s->nodes) && s->total)
        return error_set (err, EINVAL,
                          "--nodes-per=%s:%jd does not go with -n %jd spread over -N %s; "
                          "say --ntasks-per-node",
                          per->level, (intmax_t)per->count, (intmax_t)s->total,
                          text_of (&s->nodes).s);
    if (!divide (&s->nodes, per->count, &s->places))
        return error_set (err, EINVAL,
                          "-N %s does not divide into %jd nodes a %s (--nodes-per); say "
                          "multiples of %jd",
                          text_of (&s->nodes).s, (intmax_t)per->count, per->level,
                          (intmax_t)per->count);
    return 0;
}

/* -- GPUs and generic resources -- */

/* Several options ask for GPUs; the one from the source of highest precedence counts. */
struct gpu_way {
    const char *option;
    int64_t count;
    const char *type; /* or NULL */
    int source; /* 0: not given */
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
    bool sized = is_elastic (&s->nodes);

    if (sized || is_elastic (&s->slots))
        return error_set (
            err, EINVAL,
            "-G %jd does not go with a range of %s (%s %s); say --gpus-per-task",
            (intmax_t)so->gpus, sized ? "nodes" : "tasks", sized ? "-N" : "-n",
            text_of (sized ? &s->nodes : &so->ntasks).s);
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

    if (is_elastic (&so->ntasks) || is_elastic (&so->nodes))
        return error_set (err, EINVAL,
                          "--ntasks-per-gpu does not go with several sizes (-N, -n)");
    if (so->gpus_per_task || gpus_of_gres (&so->gres, 0))
        return error_set (err, EINVAL, "--ntasks-per-gpu and %s exclude each other",
                          so->gpus_per_task ? "--gpus-per-task" : "--gres=gpu");
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
        set_fixed (&so->nodes, 1);
    if (so->gpus_per_node)
        so->ntasks_per_node = so->gpus_per_node;
    set_fixed (&so->ntasks, gpus);
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
    if (is_elastic (&s->slots) || all % slots != 0)
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
        rc = shape_places (so, s, err);
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
