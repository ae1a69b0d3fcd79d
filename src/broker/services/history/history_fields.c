/* history_fields.c - see history_fields.h
 */
#include "broker/services/history/history_fields.h"

#include "broker/api/columns.h"
#include "broker/api/privacy.h"

#define TEXT_MAX ((size_t)1 << 20)

enum field_kind { FIELD_NUMBER, FIELD_TEXT };

struct history_field {
    const char *name;
    enum field_kind kind;
    /* NULL: the column of the history of this name */
    void (*render) (struct strbuf *sb, const struct history_job *job);
    unsigned private_part; /* of enum private_part; 0: none */
};

/* -- fields that are no columns of the history -- */

/* "12", "12_3" for a task, "12_[4-9]" for tasks of an array that never started. */
static void add_job (struct strbuf *sb, const struct history_job *job)
{
    bool task = job->array_task != HISTORY_NONE;

    column_add_number (sb, task ? job->array_job : job->id);
    if (task)
        strbuf_addf (sb, "_%jd", (intmax_t)job->array_task);
    else if (job->array_tasks && *job->array_tasks)
        strbuf_addf (sb, "_[%s]", job->array_tasks);
}

static void add_state (struct strbuf *sb, const struct history_job *job)
{
    strbuf_adds (sb, job_phase_name ((enum job_phase)job->state));
}

static void add_st (struct strbuf *sb, const struct history_job *job)
{
    strbuf_adds (sb, job_phase_letter ((enum job_phase)job->state));
}

static void add_time (struct strbuf *sb, const struct history_job *job)
{
    bool ran = job->start_time > 0 && job->end_time > job->start_time;

    column_add_number (sb, ran ? (int64_t)(job->end_time - job->start_time) : 0);
}

static void add_nodes (struct strbuf *sb, const struct history_job *job)
{
    column_add_number (sb, job->nodes > 0 ? job->nodes : job->asked_nodes);
}

static const struct history_field fields[] = {
    { "id", FIELD_NUMBER, NULL, 0 },
    { "job", FIELD_TEXT, add_job, 0 },
    { "array_job", FIELD_NUMBER, NULL, 0 },
    { "array_task", FIELD_NUMBER, NULL, 0 },
    { "array_tasks", FIELD_TEXT, NULL, 0 },
    { "queue", FIELD_TEXT, NULL, 0 },
    { "name", FIELD_TEXT, NULL, 0 },
    { "user", FIELD_TEXT, NULL, 0 },
    { "userid", FIELD_NUMBER, NULL, 0 },
    { "groupid", FIELD_NUMBER, NULL, 0 },
    { "account", FIELD_TEXT, NULL, 0 },
    { "qos", FIELD_TEXT, NULL, 0 },
    { "wckey", FIELD_TEXT, NULL, 0 },
    { "licenses", FIELD_TEXT, NULL, 0 },
    { "state", FIELD_TEXT, add_state, 0 },
    { "st", FIELD_TEXT, add_st, 0 },
    { "exit_code", FIELD_NUMBER, NULL, 0 },
    { "status", FIELD_NUMBER, NULL, 0 },
    { "time", FIELD_NUMBER, add_time, 0 },
    { "time_limit", FIELD_NUMBER, NULL, 0 },
    { "submit_time", FIELD_NUMBER, NULL, 0 },
    { "eligible_time", FIELD_NUMBER, NULL, 0 },
    { "start_time", FIELD_NUMBER, NULL, 0 },
    { "end_time", FIELD_NUMBER, NULL, 0 },
    { "nodes", FIELD_NUMBER, NULL, 0 },
    { "node_count", FIELD_NUMBER, add_nodes, 0 },
    { "ntasks", FIELD_NUMBER, NULL, 0 },
    { "ncores", FIELD_NUMBER, NULL, 0 },
    { "cpu_milli", FIELD_NUMBER, NULL, 0 },
    { "gpus", FIELD_NUMBER, NULL, 0 },
    { "memory_mib", FIELD_NUMBER, NULL, 0 },
    { "asked_nodes", FIELD_NUMBER, NULL, 0 },
    { "asked_ntasks", FIELD_NUMBER, NULL, 0 },
    { "asked_ncores", FIELD_NUMBER, NULL, 0 },
    { "asked_cpu_milli", FIELD_NUMBER, NULL, 0 },
    { "asked_gpus", FIELD_NUMBER, NULL, 0 },
    { "asked_memory_mib", FIELD_NUMBER, NULL, 0 },
    { "nodelist", FIELD_TEXT, NULL, 0 },
    { "components", FIELD_TEXT, NULL, 0 },
    { "cwd", FIELD_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "comment", FIELD_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "extra", FIELD_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "mcs_label", FIELD_TEXT, NULL, 0 },
    { "admin_comment", FIELD_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "exception", FIELD_TEXT, NULL, 0 },
    { "cancelled_by", FIELD_NUMBER, NULL, 0 },
    { "result_text", FIELD_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "restarts", FIELD_NUMBER, NULL, 0 },
    { "urgency", FIELD_NUMBER, NULL, 0 },
    { "priority", FIELD_NUMBER, NULL, PRIVATE_USAGE },
};
_Static_assert(ARRAY_SIZE (fields) <= HISTORY_FIELDS_MAX, "room for all");

static const struct history_field *find (const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE (fields); i++)
        if (strlen (fields[i].name) == len && !memcmp (fields[i].name, name, len))
            return &fields[i];
    return NULL;
}

int history_fields_parse (const char *text,
                          const struct history_field *list[HISTORY_FIELDS_MAX],
                          struct error *err)
{
    int n = 0;

    if (!text) {
        for (size_t i = 0; i < ARRAY_SIZE (fields); i++)
            list[n++] = &fields[i];
        return n;
    }
    while (*text) {
        size_t len = strcspn (text, ",");
        const struct history_field *f = find (text, len);
        if (!f)
            return error_set (err, EINVAL, "fields: the history has no '%.*s'",
                              (int)MIN (len, 40), text);
        for (int i = 0; i < n; i++) /* also bounds their number */
            if (list[i] == f)
                return error_set (err, EINVAL, "fields: %s is there twice", f->name);
        list[n++] = f;
        text += len + (text[len] == ',');
    }
    return n;
}

/* -- rows -- */

static bool sees (const struct history_viewer *v, const struct history_job *job,
                  unsigned part)
{
    return part == 0
           || privacy_sees_ended (v->b, v->uid, (uid_t)job->userid, job->queue,
                                  (enum private_part)part);
}

bool history_is_seen (const struct history_viewer *v, const struct history_job *job)
{
    return sees (v, job, PRIVATE_JOBS);
}

bool history_has_row (const struct history_job *job)
{
    return !job->array_tasks || *job->array_tasks;
}

static const struct history_column *column_of (const struct history_field *f)
{
    const struct history_column *c = history_columns;

    while (strcmp (c->name, f->name) != 0)
        c++;
    return c;
}

static void render (struct strbuf *sb, const struct history_job *job,
                    const struct history_field *f)
{
    if (f->render) {
        f->render (sb, job);
        return;
    }
    const struct history_column *c = column_of (f);
    const char *at = (const char *)job + c->at;
    int64_t n = c->kind == HISTORY_NUMBER ? *(const int64_t *)at : HISTORY_NONE;
    const char *text = c->kind == HISTORY_TEXT ? *(const char *const *)at : NULL;
    if (c->kind == HISTORY_TIME)
        column_add_time (sb, *(const double *)at);
    else if (n != HISTORY_NONE)
        column_add_number (sb, n);
    else if (text)
        strbuf_adds (sb, text);
}

/* Renders a field as far as the viewer sees it, into a buffer of the caller. */
static void render_seen (const struct history_viewer *v, const struct history_job *job,
                         const struct history_field *f, struct strbuf *text)
{
    strbuf_reset (text);
    if (sees (v, job, f->private_part))
        render (text, job, f);
    if (f->private_part == PRIVATE_ARGUMENTS)
        privacy_scrub (v->b, v->uid, text);
}

/* usage: the text of a JSON object; its members become the step's. */
static void add_step (struct strbuf *sb, const struct history_step *s)
{
    json_t *o = s->usage ? json_loads (s->usage, 0, NULL) : NULL;

    if (!o)
        o = json_object ();
    json_object_set_new (o, "attempt", json_integer (s->attempt));
    json_object_set_new (o, "step", json_string (s->step ? s->step : ""));
    json_object_set_new (o, "name", json_string (s->name ? s->name : ""));
    json_object_set_new (o, "begin", json_real (s->begin));
    json_object_set_new (o, "end", json_real (s->end));
    json_object_set_new (o, "ntasks", json_integer (MAX (s->ntasks, 0)));
    json_object_set_new (o, "nnodes", json_integer (MAX (s->nnodes, 0)));
    json_object_set_new (
        o, "status", s->status == HISTORY_NONE ? json_null () : json_integer (s->status));
    autofree char *text = o ? json_dumps (o, JSON_COMPACT) : NULL;
    strbuf_adds (sb, text ? text : "{}");
    json_decref (o);
}

void history_fields_add_json (const struct history_viewer *v,
                              const struct history_job *job,
                              const struct history_field *const list[], size_t n,
                              bool steps, struct strbuf *sb)
{
    autostrbuf struct strbuf text = STRBUF_INIT (TEXT_MAX);

    for (size_t i = 0; i < n; i++) {
        strbuf_addf (sb, "%s\"%s\":", i ? "," : "{", list[i]->name);
        render_seen (v, job, list[i], &text);
        if (list[i]->kind == FIELD_TEXT)
            strbuf_add_json (sb, text.buf, text.len);
        else
            strbuf_adds (sb, text.len ? text.buf : "null");
    }
    if (steps) {
        strbuf_adds (sb, n ? ",\"steps\":[" : "{\"steps\":[");
        for (size_t i = 0; sees (v, job, PRIVATE_ARGUMENTS) && i < job->nsteps; i++) {
            if (i)
                strbuf_addch (sb, ',');
            add_step (sb, &job->steps[i]);
        }
        strbuf_addch (sb, ']');
    } else if (n == 0) {
        strbuf_addch (sb, '{');
    }
    strbuf_addch (sb, '}');
}

void history_fields_add_tsv (const struct history_viewer *v,
                             const struct history_job *job,
                             const struct history_field *const list[], size_t n,
                             struct strbuf *sb)
{
    autostrbuf struct strbuf text = STRBUF_INIT (TEXT_MAX);

    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_addch (sb, '\t');
        render_seen (v, job, list[i], &text);
        column_add_escaped (sb, text.buf, text.len);
    }
    strbuf_addch (sb, '\n');
}
