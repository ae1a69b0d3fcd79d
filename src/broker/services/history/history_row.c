/* history_row.c - see history_row.h
 *
 * The record is replayed (entry_replay()), so the row has what GET /v1/jobs/ID showed. The
 * figures of the steps come from the event `usage` of each attempt.
 */
#include "broker/services/history/history_row.h"

#include "broker/api/api.h"
#include "broker/api/components.h"
#include "broker/core/jobs.h"

#define TASKS_MAX 65536
#define STEPS_MAX 4096 /* of all attempts */

struct making {
    const struct job *job;
    const struct jobspec *js; /* or NULL */
    struct history_job row;
    struct history_step *steps;
    json_t *usage; /* array: owns the steps' texts */
    char result[300];
    struct strbuf array_tasks;
    char *components;
};

static int64_t or_none (int64_t n, bool is_known)
{
    return is_known ? n : HISTORY_NONE;
}

/* An attribute, as in the submit event, else as in the jobspec. */
static const char *attribute_of (const struct making *m, const char *key,
                                 const char *text)
{
    const char *shown = json_string_value (json_object_get (m->job->shown, key));

    return shown ? shown : text;
}

static void add_identity (struct making *m)
{
    const struct job *job = m->job;
    const struct jobspec *js = m->js;
    struct history_job *row = &m->row;

    row->id = (int64_t)job->id;
    row->array_job = or_none ((int64_t)(job->array ? job->id : job->array_job),
                              job->array || job->array_job);
    row->array_task = or_none (job->array_task, job->array_job != 0);
    if (job->array)
        array_add_tasks (&m->array_tasks, job->array->cancelled, 0);
    row->array_tasks = job->array ? m->array_tasks.buf : NULL;
    row->userid = job->userid;
    row->groupid = job->groupid;
    row->user = job->user;
    row->name = job->name;
    row->queue = job->queue;
    row->account = attribute_of (m, "account", js ? js->account : NULL);
    row->qos = attribute_of (m, "qos", js ? js->qos : NULL);
    row->wckey = attribute_of (m, "wckey", js ? js->wckey : NULL);
    row->extra = attribute_of (m, "extra", js ? js->extra : NULL);
    row->mcs_label = attribute_of (m, "mcs_label", js ? js->mcs_label : NULL);
    row->admin_comment = attribute_of (m, "admin_comment", js ? js->admin_comment : NULL);
    row->licenses = attribute_of (m, "licenses", js ? js->licenses : NULL);
    row->comment = attribute_of (m, "comment", js ? js->comment : NULL);
    row->cwd = js ? js->cwd : NULL;
}

static void add_times (struct making *m, const struct journal_record *rec)
{
    const struct job *job = m->job;
    struct history_job *row = &m->row;

    row->first_time = rec->nevents > 0 ? rec->events[0].timestamp : 0;
    row->submit_time = job->t_submit;
    row->eligible_time = job->t_eligible;
    row->start_time = job->t_start;
    row->end_time = job->t_finish > 0 ? job->t_finish : job->t_inactive;
    row->ended_time = MAX (job->t_inactive, row->end_time);
    row->time_limit = job->duration;
}

/* The allocation, if there was one, and the request. */
static void add_sizes (struct making *m)
{
    const struct job *job = m->job;
    struct history_job *row = &m->row;
    struct rset *r = job->r ? rset_decode (job->r, strlen (job->r), NULL) : NULL;
    struct jobspec_sizes sizes = { 0 };

    if (m->js)
        jobspec_get_sizes (m->js, &sizes);
    row->nodes = job->r ? job->nnodes : 0;
    row->ntasks = job->r ? job->ntasks : 0;
    row->ncores = job->r ? job->ncores : 0;
    row->cpu_milli = job->r ? job->cpu_milli : 0;
    for (size_t i = 0; r && i < r->nranks; i++) {
        row->gpus += idset_count (r->ranks[i].gpus);
        row->memory_mib += r->ranks[i].memory_mib;
    }
    rset_destroy (r);
    row->nodelist = job->nodelist;
    row->asked_nodes = job->asked.nnodes;
    row->asked_ntasks = job->asked.ntasks;
    row->asked_ncores = job->asked.ncores;
    row->asked_cpu_milli = job->asked.cpu_milli;
    row->asked_gpus = sizes.min_gpus;
    row->asked_memory_mib = m->js ? m->js->memory_per_node * job->asked.nnodes : 0;
}

static void add_components (struct making *m)
{
    autojson json_t *list = components_json (m->job);

    m->components = list ? json_dumps (list, JSON_COMPACT) : NULL;
    m->row.components = m->components;
}

static json_t *context_of (const struct journal_record_event *e)
{
    return e->context ? json_loads (e->context, 0, NULL) : NULL;
}

/* The user who cancelled the job, from the last exception that ended it. */
static int64_t find_canceller (const struct journal_record *rec)
{
    int64_t uid = HISTORY_NONE;

    for (size_t i = 0; i < rec->nevents; i++) {
        if (strcmp (rec->events[i].name, "exception") != 0)
            continue;
        json_t *context = context_of (&rec->events[i]);
        const char *type = json_string_value (json_object_get (context, "type"));
        const json_t *user = json_object_get (context, "userid");
        bool ends = json_integer_value (json_object_get (context, "severity")) == 0;
        if (ends && type && !strcmp (type, "cancel") && json_is_integer (user))
            uid = json_integer_value (user);
        json_decref (context);
    }
    return uid;
}

static void add_end (struct making *m, const struct journal_record *rec)
{
    const struct job *job = m->job;
    struct history_job *row = &m->row;

    row->state = api_row_phase (job);
    row->status = or_none (job->status, job->finished && job->t_start > 0);
    row->exit_code = job_exit_code (job);
    row->restarts = job->restarts;
    row->urgency = job->urgency;
    row->priority = job->priority;
    row->exception = job->has_exception ? job->exception_type : NULL;
    row->cancelled_by = row->state == JOB_CANCELLED ? find_canceller (rec) : HISTORY_NONE;
    job_result_text (job, m->result, sizeof (m->result));
    row->result_text = m->result;
}

/* -- steps -- */

/* Keeps the figures of a step as JSON text, without those of each rank. */
static const char *figures_of (struct making *m, json_t *step)
{
    static const char *const others[] = { "step",   "name",   "begin",  "end",
                                          "ntasks", "nnodes", "status", "ranks" };
    json_t *figures = json_copy (step);

    for (size_t i = 0; i < ARRAY_SIZE (others); i++)
        json_object_del (figures, others[i]);
    autofree char *text = figures ? json_dumps (figures, JSON_COMPACT) : NULL;
    json_decref (figures);
    json_t *kept = text ? json_string (text) : NULL;
    json_array_append_new (m->usage, kept);
    return json_string_value (kept);
}

static int64_t number_in (const json_t *o, const char *key)
{
    const json_t *n = json_object_get (o, key);

    return json_is_integer (n) ? json_integer_value (n) : HISTORY_NONE;
}

static void add_step (struct making *m, int64_t attempt, json_t *step)
{
    if (m->row.nsteps == STEPS_MAX || !json_is_object (step))
        return;
    m->steps[m->row.nsteps++] = (struct history_step){
        .attempt = attempt,
        .step = json_string_value (json_object_get (step, "step")),
        .name = json_string_value (json_object_get (step, "name")),
        .begin = json_number_value (json_object_get (step, "begin")),
        .end = json_number_value (json_object_get (step, "end")),
        .ntasks = number_in (step, "ntasks"),
        .nnodes = number_in (step, "nnodes"),
        .status = number_in (step, "status"),
        .usage = figures_of (m, step),
    };
}

static int add_steps (struct making *m, const struct journal_record *rec)
{
    m->usage = json_array ();
    m->steps = calloc (STEPS_MAX, sizeof (*m->steps));
    if (!m->usage || !m->steps)
        return -ENOMEM;
    for (size_t i = 0; i < rec->nevents; i++) {
        json_t *step;
        size_t k;
        if (strcmp (rec->events[i].name, "usage") != 0)
            continue;
        json_t *context = context_of (&rec->events[i]);
        json_array_foreach (json_object_get (context, "steps"), k, step) {
            add_step (m, json_integer_value (json_object_get (context, "attempt")), step);
        }
        if (context) /* the steps' texts stay */
            json_array_append_new (m->usage, context);
    }
    m->row.steps = m->steps;
    return 0;
}

/* -- the row -- */

int history_row_put (struct history *h, const struct journal_record *rec,
                     history_done_f done, void *arg)
{
    struct error err = { 0 };
    struct entry *e = entry_replay (rec);
    struct making m = { .job = e ? entry_job (e) : NULL };

    if (!e)
        return -ENOMEM;
    if (m.job->state != JOB_INACTIVE) {
        entry_destroy (e);
        return -EINVAL;
    }
    struct jobspec *js = jobspec_parse (rec->jobspec, rec->jobspec_len, &err);
    m.js = js; /* an old jobspec that cannot be read: the row has less */
    strbuf_init (&m.array_tasks, TASKS_MAX);
    add_identity (&m);
    add_times (&m, rec);
    add_sizes (&m);
    add_components (&m);
    add_end (&m, rec);
    int rc = err.code == ENOMEM ? -ENOMEM : add_steps (&m, rec);
    if (rc == 0)
        rc = history_put (h, &m.row, done, arg);
    strbuf_release (&m.array_tasks);
    free (m.components);
    json_decref (m.usage);
    free (m.steps);
    jobspec_destroy (js);
    entry_destroy (e);
    return rc;
}
