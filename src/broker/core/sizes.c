/* sizes.c - sizes of jobs, requested and granted, in numbers and in words
 */
#include "broker/core/inside.h"
#include "broker/core/sizes.h"
#include "common/thousandths.h"

void entry_take_sizes (struct entry *e)
{
    const struct jobspec *js = e->js;

    e->max_wait = js->max_wait;
    e->time_min = js->time_min;
    e->tasks_total = js->ncomponents > 0                    ? jobspec_tasks (js)
                     : js->task_count_kind == JOBSPEC_TOTAL ? js->task_count
                                                            : 0;
    e->tasks_per_slot = js->task_count_kind == JOBSPEC_TOTAL ? 0 : js->task_count;
}

int64_t entry_ntasks (const struct entry *e, const struct rset *r)
{
    if (e->tasks_total > 0)
        return e->tasks_total;
    return (int64_t)rset_slots (r) * MAX (e->tasks_per_slot, 1);
}

int sizes_check_most (const struct jobspec *js, const struct config_queue *q,
                      struct error *err)
{
    struct jobspec_sizes z;
    autostrbuf struct strbuf sb = STRBUF_INIT (400);

    jobspec_get_sizes (js, &z);
    if (!q->max_nodes || z.max_nodes <= q->max_nodes || !jobspec_add_nodes (js, &sb))
        return 0;
    if (js->ncomponents > 0) {
        strbuf_reset (&sb);
        strbuf_addf (&sb, "%jd", (intmax_t)z.max_nodes);
    }
    return error_set (err, EINVAL,
                      "queue %s allows at most %jd nodes per job, and the request allows "
                      "%s; request no more than that",
                      q->name, (intmax_t)q->max_nodes, sb.err ? "more" : sb.buf);
}

/* -- in words: "4-16 nodes, 8 tasks a node, 2 cores a task" -- */

static void add_range (struct strbuf *sb, int64_t min, int64_t max, const char *one)
{
    if (max <= 0)
        return;
    strbuf_addf (sb, "%s%jd", sb->len ? ", " : "", (intmax_t)min);
    if (max >= JOBSPEC_COUNT_MAX && max > min)
        strbuf_adds (sb, "+");
    else if (max > min)
        strbuf_addf (sb, "-%jd", (intmax_t)max);
    strbuf_addf (sb, " %s%s", one, max == 1 ? "" : "s");
}

/* "0.5 cpu", "0.5-2 cpus" */
static void add_parts_range (struct strbuf *sb, int64_t min, int64_t max)
{
    strbuf_adds (sb, sb->len ? ", " : "");
    strbuf_add_thousandths (sb, min);
    if (max > min) {
        strbuf_adds (sb, "-");
        strbuf_add_thousandths (sb, max);
    }
    strbuf_adds (sb, max > 1000 ? " cpus" : " cpu");
}

static void add_memory (struct strbuf *sb, int64_t mib)
{
    static const char units[] = "MGT";
    size_t i = 0;

    if (mib == 0)
        return;
    for (; mib % 1024 == 0 && units[i + 1]; i++)
        mib /= 1024;
    strbuf_addf (sb, ", %jd%ciB a node", (intmax_t)mib, units[i]);
}

/* "1-4:2:* tasks"; false: one count cannot express it. */
static bool add_count (struct strbuf *sb, const struct jobspec *js,
                       bool (*add) (const struct jobspec *js, struct strbuf *sb),
                       const char *one)
{
    autostrbuf struct strbuf count = STRBUF_INIT (64 * 1024);

    if (!add (js, &count) || count.err)
        return false;
    strbuf_addf (sb, "%s%s %s%s", sb->len ? ", " : "", count.buf, one,
                 strcmp (count.buf, "1") == 0 ? "" : "s");
    return true;
}

/* Tasks per node if the number of nodes is open, else in total. */
static void add_asked_tasks (struct strbuf *sb, const struct jobspec *js,
                             const struct jobspec_sizes *z, bool nodes)
{
    int64_t each = js->task_count;

    if (js->task_count_kind == JOBSPEC_TOTAL)
        add_range (sb, js->task_count, js->task_count, "task");
    else if (nodes && z->min_nodes == z->max_nodes)
        add_range (sb, z->min_slots * each, z->max_slots * each, "task");
    else if (each > 1 || !add_count (sb, js, jobspec_add_slots, "task")) {
        int64_t least = nodes ? z->min_nodes : 1, most = nodes ? z->max_nodes : 1;
        add_range (sb, z->min_slots / least * each, z->max_slots / most * each, "task");
    }
    if (nodes && z->min_nodes != z->max_nodes && js->task_count_kind != JOBSPEC_TOTAL)
        strbuf_adds (sb, " a node");
}

static void add_component (struct strbuf *sb, const struct jobspec *js)
{
    struct jobspec_sizes z;
    size_t before = sb->len;

    jobspec_get_component_sizes (js, &z);
    bool nodes = jobspec_add_nodes (js, sb), open = z.max_nodes >= JOBSPEC_COUNT_MAX;
    if (nodes)
        strbuf_adds (sb, sb->len == before + 1 && sb->buf[before] == '1' ? " node"
                                                                         : " nodes");
    add_asked_tasks (sb, js, &z, nodes);
    if (z.cpu_milli_per_slot > 0 && (open || z.min_cpu_milli != z.max_cpu_milli)) {
        add_parts_range (sb, z.cpu_milli_per_slot, z.cpu_milli_per_slot);
        strbuf_adds (sb, " a task");
    } else if (z.min_cpu_milli > 0) {
        add_parts_range (sb, z.min_cpu_milli, z.max_cpu_milli);
    } else if (z.cores_per_slot > 0 && (open || z.min_cores != z.max_cores)) {
        if (!add_count (sb, js, jobspec_add_slot_cores, "core"))
            add_range (sb, z.cores_per_slot, z.cores_per_slot, "core");
        strbuf_adds (sb, " a task");
    } else {
        add_range (sb, z.min_cores, z.max_cores, "core");
    }
    add_range (sb, z.min_gpus, z.max_gpus, "GPU");
    add_memory (sb, js->memory_per_node);
}

void sizes_add_asked (struct strbuf *sb, const struct jobspec *js)
{
    add_component (sb, js);
    for (size_t i = 0; i < js->ncomponents; i++) {
        autostrbuf struct strbuf one = STRBUF_INIT (64 * 1024);

        add_component (&one, js->components[i]);
        strbuf_addf (sb, " + %s", one.err ? "..." : one.buf);
    }
}

void sizes_add_granted (struct strbuf *sb, const struct job *job)
{
    add_range (sb, job->nnodes, job->nnodes, "node");
    add_range (sb, job->ntasks, job->ntasks, "task");
    if (job->cpu_milli > 0)
        add_parts_range (sb, job->cpu_milli, job->cpu_milli);
    else
        add_range (sb, job->ncores, job->ncores, "core");
}

/* -- in events -- */

static int set_number (json_t *o, const char *key, int64_t n)
{
    return json_object_set_new (o, key, json_integer ((json_int_t)n));
}

static int add_parts (json_t *context, int64_t cpu_milli)
{
    return cpu_milli > 0 ? set_number (context, "cpu_milli", cpu_milli) : 0;
}

int sizes_to_submit (json_t *context, const struct jobspec *js)
{
    struct jobspec_sizes z;
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);

    jobspec_get_sizes (js, &z);
    if (set_number (context, "nnodes", z.min_nodes) < 0
        || set_number (context, "ntasks", jobspec_tasks (js)) < 0
        || set_number (context, "ncores", z.min_cores) < 0
        || add_parts (context, z.min_cpu_milli) < 0)
        return -1;
    if (z.min_nodes == z.max_nodes || !jobspec_add_nodes (js, &sb) || sb.err)
        return 0;
    return json_object_set_new (context, "nodes", json_string (sb.buf));
}

int sizes_to_alloc (json_t *context, const struct entry *e, const struct sched_size *size)
{
    if (set_number (context, "nnodes", (int64_t)e->r->nranks) < 0
        || set_number (context, "ntasks", entry_ntasks (e, e->r)) < 0
        || set_number (context, "ncores", rset_cores (e->r)) < 0
        || add_parts (context, rset_cpu_milli (e->r)) < 0)
        return -1;
    if (size->code == SCHED_SIZE_FIXED)
        return 0;
    return json_object_set_new (context, "size",
                                json_pack ("{s:s s:s}", "reason",
                                           sched_size_name (size->code), "text",
                                           size->text));
}
