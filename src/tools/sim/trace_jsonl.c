/* trace_jsonl.c - jobs as JSON objects, and fluxqd's own records of jobs
 *
 *     {"submit": 0, "runtime": 60, "limit": 120, "nodes": "2-4", "cores": 8, "memory": "1Gi"}
 *
 * One object per line, or indented over several lines, of one of three kinds:
 *
 * A job (with "submit"). Times are numbers of seconds.
 *     submit          required
 *     runtime         required; run time at the largest size
 *     limit           time limit; none: the run time; 0: unlimited
 *     begin           earliest start
 *     nodes           a number, or "MIN-MAX" for an elastic job; none: slots go anywhere
 *     slots           with nodes: on each [1]; else in total, a number or "MIN-MAX" [1]
 *     cores, gpus     of each slot [1, 0]
 *     memory          of each slot, "2Gi", or a number of MiB [0]
 *     exclusive       true: whole nodes
 *     priority        larger first [0]
 *     id, name, user  for people; ignored
 *
 * A job's record (with "submit_time": fluxq-show job ID --json). The job asks for what it
 * asked for originally; memory of its slots is known only for jobs that have started.
 *
 * An event log (with "events": fluxq-show job ID --events --json). The job asks for what
 * it got.
 *
 * Records and logs of jobs that have not ended, or never started, are left out.
 */
#include <math.h>

#include "common/json.h"
#include "common/parse.h"
#include "match/machine/rset.h"
#include "tools/sim/trace.h"

#define PRIORITY_MAX (INT64_C (1) << 53)

/* -- a job -- */

/* A number, or "MIN-MAX". 1, 0: absent, -EINVAL. */
static int get_range (const json_t *o, const char *key, uint32_t *min, uint32_t *max,
                      struct error *err)
{
    const json_t *v = json_object_get (o, key);
    int64_t a, b;
    int rc;

    if (!v)
        return 0;
    if (json_is_string (v))
        rc = parse_count_range (json_string_value (v), 1, TRACE_COUNT_MAX, &a, &b, key,
                                err);
    else
        rc = json_get_int (o, key, 1, TRACE_COUNT_MAX, &a, JSON_REQUIRED, NULL, err);
    if (rc < 0)
        return -EINVAL;
    *min = (uint32_t)a;
    *max = json_is_string (v) ? (uint32_t)b : (uint32_t)a;
    return 1;
}

static int get_memory (const json_t *o, uint32_t *ret, struct error *err)
{
    const json_t *v = json_object_get (o, "memory");
    int64_t mib = 0;
    int rc;

    if (json_is_string (v)) {
        rc = parse_bytes (json_string_value (v), &mib, "memory", err);
        mib = (mib >> 20) + (mib % (1 << 20) != 0);
        if (rc == 0 && mib > TRACE_COUNT_MAX)
            rc = error_set (err, EINVAL, "memory: more than %d MiB", TRACE_COUNT_MAX);
    } else {
        rc = json_get_int (o, "memory", 0, TRACE_COUNT_MAX, &mib, JSON_OPTIONAL_KEY, NULL,
                           err);
    }
    *ret = (uint32_t)mib;
    return rc < 0 ? -EINVAL : 0;
}

static int get_small (const json_t *o, const char *key, int64_t min, int64_t max,
                      uint32_t *ret, struct error *err)
{
    int64_t n = min;
    int rc = json_get_int (o, key, min, max, &n, JSON_OPTIONAL_KEY, NULL, err);

    *ret = (uint32_t)n;
    return rc < 0 ? rc : 0;
}

static int get_size (const json_t *o, struct job_size *size, struct error *err)
{
    bool exclusive = false;

    size->slots_min = size->slots_max = 1;
    if (get_range (o, "nodes", &size->nodes_min, &size->nodes_max, err) < 0
        || get_range (o, "slots", &size->slots_min, &size->slots_max, err) < 0
        || get_small (o, "cores", 1, TRACE_CORES_MAX, &size->cores, err) < 0
        || get_small (o, "gpus", 0, TRACE_GPUS_MAX, &size->gpus, err) < 0
        || get_memory (o, &size->memory_mib, err) < 0
        || json_get_bool (o, "exclusive", &exclusive, JSON_OPTIONAL_KEY, NULL, err) < 0)
        return -EINVAL;
    size->exclusive = exclusive;
    if (size->nodes_min > 0 && size->slots_min != size->slots_max)
        return error_set (err, EINVAL,
                          "slots: with nodes it is one number, of each node");
    if (exclusive && size->nodes_min == 0)
        return error_set (err, EINVAL, "exclusive: needs nodes");
    return 0;
}

static int get_time (const json_t *o, const char *key, double max, enum json_need need,
                     double *ret, struct error *err)
{
    int rc = json_get_double (o, key, 0, max, ret, need, NULL, err);
    return rc < 0 ? -EINVAL : rc;
}

static int read_job (const json_t *o, struct trace_job *ret, struct error *err)
{
    static const char *const known[] = { "submit", "begin", "runtime",  "limit",
                                         "nodes",  "slots", "cores",    "gpus",
                                         "memory", "user",  "priority", "exclusive",
                                         "id",     "name",  NULL };

    if (json_only_keys (o, known, NULL, err) < 0
        || get_time (o, "submit", TRACE_TIME_MAX, JSON_REQUIRED, &ret->submit, err) < 0
        || get_time (o, "runtime", TRACE_RUN_MAX, JSON_REQUIRED, &ret->runtime, err) < 0
        || get_time (o, "begin", TRACE_TIME_MAX, JSON_OPTIONAL_KEY, &ret->begin, err) < 0
        || get_size (o, &ret->size, err) < 0
        || json_get_int (o, "priority", -PRIORITY_MAX, PRIORITY_MAX, &ret->priority,
                         JSON_OPTIONAL_KEY, NULL, err)
               < 0)
        return -EINVAL;
    int rc = get_time (o, "limit", TRACE_RUN_MAX, JSON_OPTIONAL_KEY, &ret->limit, err);
    if (rc == 0)
        ret->limit = MAX (ret->runtime, 1);
    return rc < 0 ? rc : TRACE_JOB;
}

/* -- a record -- */

/* null or missing values become 0. */
static int get_known (const json_t *o, const char *key, double max, double *ret,
                      struct error *err)
{
    const json_t *v = json_object_get (o, key);

    *ret = 0;
    if (!v || json_is_null (v))
        return 0;
    return json_get_double (o, key, 0, max, ret, JSON_REQUIRED, NULL, err) < 0 ? -EINVAL
                                                                               : 0;
}

struct asked {
    double nodes_min, nodes_max, slots_min, slots_max, cores, gpus, memory;
};

static int get_asked (const json_t *o, struct asked *a, struct error *err)
{
    json_t *request;
    double unbounded = TRACE_COUNT_MAX;

    if (json_get_object (o, "request", &request, JSON_REQUIRED, NULL, err) < 0
        || get_known (request, "nodes_min", unbounded, &a->nodes_min, err) < 0
        || get_known (request, "nodes_max", 1e18, &a->nodes_max, err) < 0
        || get_known (request, "slots_min", unbounded, &a->slots_min, err) < 0
        || get_known (request, "slots_max", 1e18, &a->slots_max, err) < 0
        || get_known (request, "cores", unbounded, &a->cores, err) < 0
        || get_known (request, "gpus", unbounded, &a->gpus, err) < 0
        || get_known (request, "memory_per_node_mib", unbounded, &a->memory, err) < 0)
        return error_prefix (err, "request");
    if (a->nodes_min < 1 || a->slots_min < a->nodes_min || a->nodes_max < a->nodes_min
        || a->slots_max < a->slots_min)
        return error_set (err, EINVAL, "request: its nodes and slots cannot be");
    return 0;
}

/* Adds data that only the granted resources have, from the first rank. */
static void add_granted (const json_t *o, struct job_size *size)
{
    const json_t *rank = json_array_get (json_object_get (o, "ranks"), 0);
    json_int_t slots = json_integer_value (json_object_get (rank, "slots"));
    json_int_t mib = json_integer_value (json_object_get (rank, "memory_mib"));

    if (slots > 0 && mib > 0)
        size->memory_mib = (uint32_t)MIN (mib / slots, TRACE_COUNT_MAX);
    size->exclusive =
        size->nodes_min > 0 && json_is_true (json_object_get (rank, "exclusive"));
}

/* The allowed spread distinguishes slots anywhere from slots on nodes. */
static void set_asked (const struct asked *a, struct job_size *size)
{
    bool anywhere = a->nodes_min == 1 && a->nodes_max == a->slots_max;
    double per_node = anywhere ? 1 : floor (a->slots_min / a->nodes_min);

    size->nodes_min = anywhere ? 0 : (uint32_t)a->nodes_min;
    size->nodes_max = anywhere ? 0 : (uint32_t)MIN (a->nodes_max, TRACE_COUNT_MAX);
    size->slots_min = (uint32_t)(anywhere ? a->slots_min : per_node);
    size->slots_max =
        (uint32_t)(anywhere ? MIN (a->slots_max, TRACE_COUNT_MAX) : per_node);
    size->cores = (uint32_t)MAX (MIN (a->cores / a->slots_min, TRACE_CORES_MAX), 1);
    size->gpus = (uint32_t)MIN (a->gpus / a->slots_min, TRACE_GPUS_MAX);
    size->memory_mib = (uint32_t)ceil (a->memory / (anywhere ? 1 : per_node));
}

static int read_job_record (const json_t *o, struct trace_job *ret, struct error *err)
{
    struct asked a;
    double start, end;

    if (json_is_object (json_object_get (o, "array")))
        return TRACE_LEFT_OUT; /* its tasks have records of their own */

    if (get_time (o, "submit_time", TRACE_TIME_MAX, JSON_REQUIRED, &ret->submit, err) < 0
        || get_known (o, "start_time", TRACE_TIME_MAX, &start, err) < 0
        || get_known (o, "end_time", TRACE_TIME_MAX, &end, err) < 0
        || get_known (o, "begin_time", TRACE_TIME_MAX, &ret->begin, err) < 0
        || get_known (o, "time_limit", TRACE_TIME_MAX, &ret->limit, err) < 0
        || get_asked (o, &a, err) < 0)
        return -EINVAL;
    if (start == 0 || end == 0)
        return TRACE_LEFT_OUT;
    ret->runtime = MIN (MAX (end - start, 0), TRACE_RUN_MAX);
    ret->limit = MIN (ret->limit, TRACE_RUN_MAX);
    set_asked (&a, &ret->size);
    add_granted (o, &ret->size);
    return TRACE_JOB;
}

/* -- an event log -- */

struct log_times {
    double submit, start, finish;
    struct rset *r;
};

static void log_event (struct log_times *t, const json_t *event)
{
    const char *name = json_string_value (json_object_get (event, "name"));
    const json_t *context = json_object_get (event, "context");
    double when = json_number_value (json_object_get (event, "timestamp"));

    if (!name)
        return;
    if (!strcmp (name, "submit")) {
        json_t *waited =
            json_object_get (json_object_get (context, "array_task"), "submitted");
        t->submit = json_is_real (waited) ? json_real_value (waited) : when;
    } else if (!strcmp (name, "start")) {
        t->start = when;
    } else if (!strcmp (name, "finish")) {
        t->finish = when;
    } else if (!strcmp (name, "alloc")) {
        rset_destroy (t->r);
        t->r = rset_from_json (json_object_get (context, "R"), NULL);
    }
}

/* As if the job had requested the resources of its first rank, on each of its nodes. */
static int size_of_rset (const struct rset *r, struct job_size *size)
{
    const struct rset_rank *rank = &r->ranks[0];
    size_t cores = idset_count (rank->cores);
    uint32_t slots = MAX (rank->slots, 1);

    if (r->nranks > TRACE_COUNT_MAX || cores < slots)
        return -EINVAL;
    size->nodes_min = size->nodes_max = (uint32_t)r->nranks;
    size->slots_min = size->slots_max = slots;
    size->cores = (uint32_t)MIN (cores / slots, TRACE_CORES_MAX);
    size->gpus = (uint32_t)MIN (idset_count (rank->gpus) / slots, TRACE_GPUS_MAX);
    size->memory_mib = (uint32_t)MIN (rank->memory_mib / slots, TRACE_COUNT_MAX);
    size->exclusive = rank->exclusive;
    return 0;
}

static int job_of_log (const struct log_times *t, struct trace_job *ret,
                       struct error *err)
{
    double latest = MAX (t->submit, MAX (t->start, t->finish));

    if (!(t->submit > 0) || !(latest <= TRACE_TIME_MAX))
        return error_set (err, EINVAL, "events: there is no submit with a time");
    if (!(t->start > 0) || !(t->finish > 0) || !t->r)
        return TRACE_LEFT_OUT;
    if (t->r->nranks == 0 || size_of_rset (t->r, &ret->size) < 0)
        return error_set (err, EINVAL, "events: alloc: R gives no core to a slot");
    ret->submit = t->submit;
    ret->runtime = MIN (MAX (t->finish - t->start, 0), TRACE_RUN_MAX);
    if (t->r->expiration > t->r->starttime)
        ret->limit = MIN (t->r->expiration - t->r->starttime, TRACE_RUN_MAX);
    return TRACE_JOB;
}

static int read_log (const json_t *o, struct trace_job *ret, struct error *err)
{
    struct log_times t = { 0 };
    json_t *events, *event;
    size_t i;

    if (json_get_array (o, "events", &events, JSON_REQUIRED, NULL, err) < 0)
        return -EINVAL;
    json_array_foreach (events, i, event)
        log_event (&t, event);
    int rc = job_of_log (&t, ret, err);
    rset_destroy (t.r);
    return rc;
}

/* -- the three -- */

static int read_jsonl (const char *text, size_t len, struct trace_job *ret,
                       struct error *err)
{
    autojson json_t *o = json_parse (text, len, "object", err);

    if (!o)
        return -EINVAL;
    if (!json_is_object (o))
        return error_set (err, EINVAL, "expected an object, got %s", json_type_name (o));
    if (json_object_get (o, "submit_time"))
        return read_job_record (o, ret, err);
    if (json_object_get (o, "events"))
        return read_log (o, ret, err);
    return read_job (o, ret, err);
}

const struct trace_format trace_jsonl = {
    .name = "jsonl",
    .suffixes = { "jsonl", "json" },
    .summary = "one JSON object for each job; also the output of fluxq-show job --json",
    .indented = true,
    .comment = "",
    .read = read_jsonl,
};
