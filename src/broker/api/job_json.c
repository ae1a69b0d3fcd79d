/* job_json.c - see job_json.h
 */
#include "broker/api/job_json.h"

#include "broker/api/api.h"
#include "broker/api/columns.h"
#include "broker/api/components.h"
#include "broker/api/privacy.h"
#include "broker/core/exec_job.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/sizes.h"
#include "common/clock.h"
#include "jobspec/options/attributes.h"

#define JSON_MAX (16 << 20)

static json_t *describe_rset (const struct job *job)
{
    struct rset *r = job->r ? rset_decode (job->r, strlen (job->r), NULL) : NULL;
    json_t *list = json_array ();

    for (size_t i = 0; r && i < r->nranks; i++) {
        autofree char *cores = idset_encode (r->ranks[i].cores);
        autofree char *gpus = idset_encode (r->ranks[i].gpus);
        json_array_append_new (
            list,
            json_pack ("{s:i s:s s:s* s:s* s:I s:o s:i s:b s:i}", "rank", (int)i, "node",
                       r->ranks[i].node, "cores", cores, "gpus", gpus, "memory_mib",
                       (json_int_t)r->ranks[i].memory_mib, "gres",
                       gres_to_json (&r->ranks[i].gres), "slots", (int)r->ranks[i].slots,
                       "exclusive", (int)r->ranks[i].exclusive, "component",
                       (int)r->ranks[i].component));
    }
    rset_destroy (r);
    return list;
}

/* Memory on each node, in MiB: of memory vertices in a node vertex, else of the attribute;
 * 0: none is asked. */
static int64_t memory_a_node (const struct jobspec *js, const struct jobspec_resource *r,
                              size_t n, bool in_node)
{
    int64_t mib;

    for (size_t i = 0; i < n; i++) {
        if (in_node && !strcmp (r[i].type, "memory")
            && jobspec_memory_mib (r[i].unit, r[i].count.min, &mib) == 0)
            return mib;
        mib = memory_a_node (js, r[i].with, r[i].nwith, !strcmp (r[i].type, "node"));
        if (mib > 0)
            return mib;
    }
    return r == js->resources ? js->memory_per_node : 0;
}

/* Temporary disk on each node, in MiB; 0: none is asked. */
static int64_t disk_a_node (const struct jobspec_resource *r, size_t n)
{
    int64_t mib = 0;

    for (size_t i = 0; i < n && mib == 0; i++)
        mib = !strcmp (r[i].type, GRES_TMP_DISK) ? r[i].count.min
                                                 : disk_a_node (r[i].with, r[i].nwith);
    return mib;
}

/* Whether the job asks for whole nodes. */
static bool is_exclusive (const struct jobspec *js)
{
    for (size_t i = 0; i < js->nresources; i++)
        if (js->resources[i].exclusive == JOBSPEC_TRUE)
            return true;
    return false;
}

/* The request of a job, or of a component. */
static json_t *describe_request (const struct jobspec *js, const struct jobspec_sizes *s)
{
    autostrbuf struct strbuf nodes = STRBUF_INIT (4096), slots = STRBUF_INIT (4096);
    json_t *request = json_pack (
        "{s:I s:I s:I s:I s:I s:I s:I s:I}", "nodes_min", (json_int_t)s->min_nodes,
        "nodes_max", (json_int_t)s->max_nodes, "slots_min", (json_int_t)s->min_slots,
        "slots_max", (json_int_t)s->max_slots, "cores", (json_int_t)s->min_cores, "gpus",
        (json_int_t)s->min_gpus, "memory_per_node_mib",
        (json_int_t)memory_a_node (js, js->resources, js->nresources, false),
        "tmp_disk_per_node_mib", (json_int_t)disk_a_node (js->resources, js->nresources));

    if (jobspec_add_nodes (js, &nodes))
        jobspec_add_slots (js, &slots);
    json_object_set_new (request, "slots_per_node", api_text_or_null (&slots));
    json_object_set_new (request, "cores_per_slot",
                         json_integer ((json_int_t)s->cores_per_slot));
    json_object_set_new (request, "exclusive", json_boolean (is_exclusive (js)));
    json_object_set_new (request, "constraints",
                         js->constraints ? json_incref (js->constraints) : json_null ());
    return request;
}

/* Adds the components of a heterogeneous job, null for others. */
static void add_components (json_t *o, const struct jobspec *js, const struct job *job)
{
    json_t *list = js ? components_json (job) : NULL, *c;
    struct jobspec_sizes s;
    size_t i;

    json_array_foreach (list, i, c) {
        if (i > js->ncomponents)
            break;
        jobspec_get_component_sizes (jobspec_component (js, i), &s);
        json_object_set_new (c, "request",
                             describe_request (jobspec_component (js, i), &s));
    }
    json_object_set_new (o, "components", list ? list : json_null ());
}

static json_t *describe_jobspec (const struct broker *b, const struct jobspec *js)
{
    struct jobspec_sizes s;
    json_t *command = json_array ();

    jobspec_get_sizes (js, &s);
    for (size_t i = 0; i < js->ncommand; i++)
        json_array_append_new (command, json_string (js->command[i]));
    json_t *o = json_pack ("{s:o s:b s:s? s:s? s:s? s:s? s:o s:o s:s s:s s:o s:b s:o}",
                           "command", command, "batch", (int)jobspec_is_batch (js), "cwd",
                           js->cwd, "output", js->output, "error", js->error, "input",
                           js->input, "stage_in", stage_list_to_json (&js->stage_in),
                           "stage_out", stage_list_to_json (&js->stage_out), "open_mode",
                           js->append ? "append" : "truncate", "output_on_full",
                           jobspec_on_full_word (js->on_full), "request",
                           describe_request (js, &s), "requeue",
                           (int)exec_job_may_run_again (b, js), "time_min",
                           js->time_min > 0 ? json_real (js->time_min) : json_null ());
    attributes_show (o, js);
    return o;
}

/* Adds the job's size: requested, granted, and why. */
static void add_sizes (json_t *o, const struct jobspec *js, const struct job *job)
{
    autostrbuf struct strbuf asked = STRBUF_INIT (64 * 1024);
    autostrbuf struct strbuf granted = STRBUF_INIT (1024);

    if (js)
        sizes_add_asked (&asked, js);
    if (job->r)
        sizes_add_granted (&granted, job);
    json_object_set_new (o, "asked", api_text_or_null (&asked));
    json_object_set_new (o, "granted", api_text_or_null (&granted));
    json_object_update_new (o, json_pack ("{s:s? s:s?}", "size_reason", job->size_reason,
                                          "size_text", job->size_text));
}

/* Adds the size that a malleable job is changing to, or its possible sizes. */
static void add_resize (json_t *o, const struct jobspec *js, const struct job *job)
{
    json_t *change = job->resize.active
                         ? json_pack ("{s:I s:I s:I}", "generation",
                                      (json_int_t)job->resize.generation, "nodes",
                                      (json_int_t)job->resize.nnodes, "from",
                                      (json_int_t)job->resize.from)
                         : json_null ();

    json_object_set_new (o, "malleable", json_boolean (js && js->malleable));
    json_object_set_new (o, "resizes", json_integer ((json_int_t)job->resize.generation));
    json_object_set_new (o, "resize", change);
}

static void add_exception (json_t *o, const struct job *job)
{
    if (job->has_exception)
        json_object_set_new (o, "exception",
                             json_pack ("{s:s? s:i s:s?}", "type", job->exception_type,
                                        "severity", job->exception_severity, "note",
                                        job->exception_note));
}

/* Adds the array's own state: its tasks have rows of their own in listings. */
static void add_array (json_t *root, const struct job *job)
{
    const struct job_array *a = job->array;
    const struct {
        const char *name;
        const struct idset *tasks;
    } sets[] = { { "waiting", a->waiting },
                 { "running", a->running },
                 { "completed", a->ok },
                 { "failed", a->failed },
                 { "cancelled", a->cancelled } };
    json_t *o = json_pack ("{s:s s:I s:I}", "tasks", a->spec.text, "count",
                           (json_int_t)idset_count (a->spec.tasks), "limit",
                           (json_int_t)a->spec.limit);

    for (size_t i = 0; i < ARRAY_SIZE (sets); i++) {
        autostrbuf struct strbuf text = STRBUF_INIT (JSON_MAX);
        array_add_tasks (&text, sets[i].tasks, 0);
        json_object_set_new (o, sets[i].name,
                             json_pack ("{s:I s:s}", "count",
                                        (json_int_t)idset_count (sets[i].tasks), "tasks",
                                        text.buf));
    }
    json_object_set_new (root, "array", o);
    json_object_set_new (root, "state", json_string (job_phase_name (job_phase (job))));
    json_object_set_new (root, "st", json_string (job_phase_letter (job_phase (job))));
}

static json_t *time_or_null (double t)
{
    return t > 0 ? json_real (t) : json_null ();
}

/* For a running job with a limit: seconds, 0 past the limit. */
static json_t *time_left (const struct job *job)
{
    if (job->state != JOB_RUN || !job->started || job->duration <= 0)
        return json_null ();
    return json_real (MAX (job->t_start + job->duration - clock_wall (), 0.0));
}

/* Adds the members that come from the record alone. */
static void add_record (json_t *o, const struct job *job,
                        const struct journal_record *rec)
{
    json_object_set_new (o, "ranks", describe_rset (job));
    json_object_set_new (o, "alloc_time", time_or_null (job->t_alloc));
    json_object_set_new (o, "begin_time", time_or_null (job->t_begin));
    json_object_set_new (o, "deadline", time_or_null (job->t_deadline));
    json_object_set_new (o, "time_left", time_left (job));
    json_object_set_new (o, "avoids",
                         job->avoid ? json_string (job->avoid) : json_null ());
    json_object_set_new (o, "events", json_integer ((json_int_t)rec->nevents));
    add_exception (o, job);
    if (job->array)
        add_array (o, job);
}

/* All columns, as an object. */
static json_t *describe_columns (struct broker *b, uid_t viewer, struct entry *e)
{
    const struct column *list[COLUMNS_MAX];
    size_t n;
    const struct column *all = columns_all (&n);
    autostrbuf struct strbuf sb = STRBUF_INIT (JSON_MAX);

    for (size_t i = 0; i < n; i++)
        list[i] = &all[i];
    columns_add_json (b, viewer, clock_wall (), e, list, n, &sb);
    return json_loadb (sb.buf, sb.len, 0, NULL);
}

json_t *job_json (struct broker *b, uid_t viewer, struct entry *e,
                  const struct journal_record *rec)
{
    struct error err = { 0 };
    json_t *o = describe_columns (b, viewer, e);
    struct jobspec *js = o ? jobspec_parse (rec->jobspec, rec->jobspec_len, &err) : NULL;

    if (!o)
        return NULL;
    if (js)
        json_object_update_new (o, describe_jobspec (b, js));
    add_components (o, js, entry_job (e));
    add_sizes (o, js, entry_job (e));
    add_resize (o, js, entry_job (e));
    add_record (o, entry_job (e), rec);
    services_call (shows_job, b, e, js, rec, o);
    jobspec_destroy (js);
    privacy_mask_job (b, viewer, e, o);
    return o;
}
