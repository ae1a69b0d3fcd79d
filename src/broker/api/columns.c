/* columns.c - the columns of a job's record, and listings of all columns
 *
 * Renderers write into the answer, without JSON values in between: 10,000 jobs cost a few
 * milliseconds.
 */
#include <math.h>

#include "broker/api/api.h"
#include "broker/api/columns.h"
#include "broker/api/components.h"
#include "broker/api/privacy.h"
#include "broker/core/service.h"
#include "common/thousandths.h"
#include "job/details.h"
#include "jobspec/options/attributes.h"

void column_add_number (struct strbuf *sb, int64_t n)
{
    char digits[24], *p = digits + sizeof (digits);
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    for (; u >= 100; u /= 100) { /* two digits a division */
        unsigned two = (unsigned)(u % 100);
        *--p = (char)('0' + two % 10);
        *--p = (char)('0' + two / 10);
    }
    if (u >= 10) {
        *--p = (char)('0' + u % 10);
        u /= 10;
    }
    *--p = (char)('0' + u);
    if (n < 0)
        *--p = '-';
    strbuf_add (sb, p, (size_t)(digits + sizeof (digits) - p));
}

void column_add_time (struct strbuf *sb, double t)
{
    if (t <= 0)
        return;
    int64_t ms = (int64_t)llround (t * 1000.0);
    column_add_number (sb, ms / 1000);
    ms %= 1000;
    char rest[] = { '.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10),
                    (char)('0' + ms % 10) };
    strbuf_add (sb, rest, sizeof (rest));
}

#define TASKS_SHOWN_MAX 40 /* bytes of a task list in a column */

#define COLUMN(name) static void col_##name (const struct cell *c)
#define NUMBER(name, expr)                                                               \
    COLUMN (name)                                                                        \
    {                                                                                    \
        column_add_number (c->sb, (int64_t)(expr));                                      \
    }
#define TEXT(name, expr)                                                                 \
    COLUMN (name)                                                                        \
    {                                                                                    \
        const char *text = (expr);                                                       \
        strbuf_adds (c->sb, text ? text : "");                                           \
    }
#define TIME(name, expr)                                                                 \
    COLUMN (name)                                                                        \
    {                                                                                    \
        column_add_time (c->sb, (expr));                                                 \
    }

NUMBER (id, entry_id (c->e))

/* "12", "12_3" for a task, "12_[4-100%10]" for the waiting tasks of an array. */
COLUMN (job)
{
    const struct job *job = c->job;
    const struct job_array *a = job->array;
    if (job->array_job) {
        column_add_number (c->sb, (int64_t)job->array_job);
        strbuf_addch (c->sb, '_');
        column_add_number (c->sb, job->array_task);
        return;
    }
    column_add_number (c->sb, (int64_t)entry_id (c->e));
    if (!a)
        return;
    const struct idset *shown = idset_count (a->waiting) > 0     ? a->waiting
                                : idset_count (a->cancelled) > 0 ? a->cancelled
                                                                 : a->spec.tasks;
    strbuf_adds (c->sb, "_[");
    array_add_tasks (c->sb, shown, TASKS_SHOWN_MAX);
    if (a->spec.limit && shown == a->waiting)
        strbuf_addf (c->sb, "%%%u", a->spec.limit);
    strbuf_addch (c->sb, ']');
}

COLUMN (array_job)
{
    if (c->job->array_job || c->job->array)
        column_add_number (
            c->sb, (int64_t)(c->job->array ? entry_id (c->e) : c->job->array_job));
}

COLUMN (array_task)
{
    if (c->job->array_job)
        column_add_number (c->sb, c->job->array_task);
}

NUMBER (userid, c->job->userid)
NUMBER (groupid, c->job->groupid)
NUMBER (nice, c->job->nice)
NUMBER (nodes, c->job->nnodes)
NUMBER (ntasks, c->job->ntasks)
COLUMN (ncores)
{
    if (c->job->cpu_milli > 0)
        strbuf_add_thousandths (c->sb, c->job->cpu_milli);
    else
        column_add_number (c->sb, c->job->ncores);
}

NUMBER (urgency, c->job->urgency)
NUMBER (restarts, c->job->restarts)
TEXT (queue, c->job->queue)
TEXT (name, c->job->name)
TEXT (adopted, c->job->adopted)
TEXT (user, c->job->user)
TEXT (state, job_phase_name (api_row_phase (c->job)))
TEXT (st, job_phase_letter (api_row_phase (c->job)))
TEXT (flux_state, job_state_name (c->job->state))
TEXT (nodelist, c->job->nodelist)
TIME (submit_time, c->job->t_submit)
TIME (eligible_time, c->job->t_eligible)
TIME (start_time, c->job->t_start)
TIME (end_time, c->job->t_finish > 0 ? c->job->t_finish : c->job->t_inactive)

/* The requested count ("4-16") for waiting jobs and for arrays, whose tasks have their
 * own; else the granted one. */
COLUMN (node_count)
{
    if (c->job->asked_nodes && (column_job_waits (c->e) || c->job->array))
        strbuf_adds (c->sb, c->job->asked_nodes);
    else
        column_add_number (c->sb, c->job->nnodes);
}

COLUMN (time)
{
    const struct job *job = c->job;
    double end = job->t_finish > 0            ? job->t_finish
                 : job->state == JOB_INACTIVE ? job->t_inactive
                 : job->t_start > 0           ? c->now
                                              : 0;
    column_add_number (c->sb,
                       job->t_start > 0 && end > job->t_start && !column_job_waits (c->e)
                           ? (int64_t)(end - job->t_start)
                           : 0);
}

COLUMN (time_limit)
{
    if (c->job->duration > 0)
        column_add_number (c->sb, (int64_t)ceil (c->job->duration));
}

COLUMN (exit_code)
{
    if (c->job->state == JOB_INACTIVE || c->job->finished)
        column_add_number (c->sb, job_exit_code (c->job));
}

/* As wait(2) gives it: of the tasks, also if the job ended otherwise. */
COLUMN (wait_status)
{
    if (c->job->finished)
        column_add_number (c->sb, c->job->status);
}

TIME (begin_time, c->job->t_begin)
TIME (deadline, c->job->t_deadline)

/* The tasks of an array that wait, all of them, and the limit: "4-100,200%10". */
COLUMN (array_tasks)
{
    const struct job_array *a = c->job->array;

    if (!a)
        return;
    strbuf_add_idset (c->sb, a->waiting);
    if (a->spec.limit && idset_count (a->waiting) > 0)
        strbuf_addf (c->sb, "%%%u", a->spec.limit);
}

COLUMN (result_text)
{
    char text[300];
    if (c->job->state != JOB_INACTIVE && !c->job->finished)
        return;
    job_result_text (c->job, text, sizeof (text));
    strbuf_adds (c->sb, text);
}

/* JSON, see components.h. */
COLUMN (components)
{
    autojson json_t *list = components_json (c->job);
    autofree char *text = list ? json_dumps (list, JSON_COMPACT) : NULL;

    strbuf_adds (c->sb, text ? text : "");
}

static const struct column columns[] = {
    { "id", COLUMN_NUMBER, col_id, 0 },
    { "job", COLUMN_TEXT, col_job, 0 },
    { "array_job", COLUMN_NUMBER, col_array_job, 0 },
    { "array_task", COLUMN_NUMBER, col_array_task, 0 },
    { "queue", COLUMN_TEXT, col_queue, 0 },
    { "name", COLUMN_TEXT, col_name, 0 },
    { "user", COLUMN_TEXT, col_user, 0 },
    { "state", COLUMN_TEXT, col_state, 0 },
    { "st", COLUMN_TEXT, col_st, 0 },
    { "flux_state", COLUMN_TEXT, col_flux_state, 0 },
    { "time", COLUMN_NUMBER, col_time, 0 },
    { "time_limit", COLUMN_NUMBER, col_time_limit, 0 },
    { "nodes", COLUMN_NUMBER, col_nodes, 0 },
    { "ntasks", COLUMN_NUMBER, col_ntasks, 0 },
    { "ncores", COLUMN_NUMBER, col_ncores, 0 },
    { "nodelist", COLUMN_TEXT, col_nodelist, 0 },
    { "urgency", COLUMN_NUMBER, col_urgency, 0 },
    { "submit_time", COLUMN_NUMBER, col_submit_time, 0 },
    { "eligible_time", COLUMN_NUMBER, col_eligible_time, 0 },
    { "start_time", COLUMN_NUMBER, col_start_time, 0 },
    { "end_time", COLUMN_NUMBER, col_end_time, 0 },
    { "exit_code", COLUMN_NUMBER, col_exit_code, 0 },
    { "restarts", COLUMN_NUMBER, col_restarts, 0 },
    { "wait_status", COLUMN_NUMBER, col_wait_status, 0 },
    { "userid", COLUMN_NUMBER, col_userid, 0 },
    { "groupid", COLUMN_NUMBER, col_groupid, 0 },
    { "nice", COLUMN_NUMBER, col_nice, 0 },
    { "result_text", COLUMN_TEXT, col_result_text, PRIVATE_ARGUMENTS },
    { "node_count", COLUMN_TEXT, col_node_count, 0 },
    { "adopted", COLUMN_TEXT, col_adopted, 0 },
    { "begin_time", COLUMN_NUMBER, col_begin_time, 0 },
    { "deadline", COLUMN_NUMBER, col_deadline, 0 },
    { "array_tasks", COLUMN_TEXT, col_array_tasks, 0 },
    { "components", COLUMN_TEXT, col_components, 0 },
    /* of the submit event's details (services/submit_details.c) */
    { "cwd", COLUMN_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "program", COLUMN_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "output", COLUMN_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "error", COLUMN_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "input", COLUMN_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "dependency", COLUMN_TEXT, NULL, PRIVATE_ARGUMENTS },
    { "reservation", COLUMN_TEXT, NULL, 0 },
    { "features", COLUMN_TEXT, NULL, 0 },
    { "required_nodes", COLUMN_TEXT, NULL, 0 },
    { "excluded_nodes", COLUMN_TEXT, NULL, 0 },
    { "gres_per_node", COLUMN_TEXT, NULL, 0 },
    { "gpus", COLUMN_NUMBER, NULL, 0 },
    { "memory_per_node", COLUMN_NUMBER, NULL, 0 },
    { "tmp_disk_per_node", COLUMN_NUMBER, NULL, 0 },
    { "cpus_per_task", COLUMN_NUMBER, NULL, 0 },
    { "exclusive", COLUMN_NUMBER, NULL, 0 },
    { "may_requeue", COLUMN_NUMBER, NULL, 0 },
    { "expedited_requeue", COLUMN_NUMBER, NULL, 0 },
    { "time_min", COLUMN_NUMBER, NULL, 0 },
    { "switches", COLUMN_NUMBER, NULL, 0 },
    { "switches_wait", COLUMN_NUMBER, NULL, 0 },
    { "batch_script", COLUMN_NUMBER, NULL, 0 },
    { 0 },
};

static size_t add_columns (struct column *to, size_t n, const struct column *from)
{
    for (; from->name && n < COLUMNS_MAX; from++)
        to[n++] = *from;
    return n;
}

const struct column *columns_all (size_t *ret_n)
{
    static struct column all[COLUMNS_MAX];
    static size_t n;

    if (n == 0) {
        n = add_columns (all, n, columns);
        for (const struct broker_service **s = SERVICES_WITH (columns); *s; s++)
            n = add_columns (all, n, (*s)->columns);
        for (const struct attribute *a = attribute_table; a->name; a++)
            if (a->heading && n < COLUMNS_MAX)
                all[n++] = (struct column){ a->event, COLUMN_TEXT, NULL,
                                            a->is_private ? PRIVATE_ARGUMENTS : 0 };
    }
    *ret_n = n;
    return all;
}

const struct column *column_find (const char *name, size_t len)
{
    size_t n;
    const struct column *all = columns_all (&n);

    for (size_t i = 0; i < n; i++)
        if (strlen (all[i].name) == len && !memcmp (all[i].name, name, len))
            return &all[i];
    return NULL;
}

static void render (const struct cell *cell, const struct column *c)
{
    const char *text;

    if (c->render)
        c->render (cell);
    else if ((text = json_string_value (json_object_get (cell->job->shown, c->name)))
             || (text = details_get (cell->job->details, c->name)))
        strbuf_adds (cell->sb, text);
}

static bool is_seen (const struct cell *cell, uid_t viewer, const struct column *c)
{
    return c->private_part == 0
           || privacy_sees (cell->b, viewer, cell->e, (enum private_part)c->private_part);
}

/* Adds the numbers; of job ids only those that the viewer sees. */
static void add_numbers (const struct cell *cell, uid_t viewer, const struct column *c)
{
    struct strbuf *sb = cell->sb;
    size_t begin = sb->len;

    if (!is_seen (cell, viewer, c))
        return;
    render (cell, c);
    if (c->kind != COLUMN_IDS || sb->len == begin || sb->err)
        return;
    autofree char *ids = strdup (sb->buf + begin);
    sb->buf[sb->len = begin] = 0;
    for (char *rest = ids, *id; rest && (id = strsep (&rest, ","));)
        if (privacy_sees_id (cell->b, viewer, strtoull (id, NULL, 10)))
            strbuf_addf (sb, "%s%s", sb->len > begin ? "," : "", id);
}

/* Renders the text into a buffer that the next call uses again. */
static struct strbuf *render_apart (const struct cell *cell, uid_t viewer,
                                    const struct column *c)
{
    static struct strbuf text = { .max = 4096 };
    struct cell apart = *cell;

    if (!text.buf)
        strbuf_init (&text, 64 * 1024);
    strbuf_reset (&text);
    apart.sb = &text;
    if (is_seen (cell, viewer, c))
        render (&apart, c);
    if (c->private_part == PRIVATE_ARGUMENTS)
        privacy_scrub (cell->b, viewer, &text);
    return &text;
}

static void add_json_text (const struct cell *cell, uid_t viewer, const struct column *c)
{
    const struct strbuf *text = render_apart (cell, viewer, c);

    strbuf_add_json (cell->sb, text->buf, text->len);
}

void column_add_escaped (struct strbuf *sb, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char ch = text[i];
        if (ch == '\t' || ch == '\n' || ch == '\\') {
            strbuf_addch (sb, '\\');
            ch = ch == '\t' ? 't' : ch == '\n' ? 'n' : '\\';
        }
        strbuf_addch (sb, ch);
    }
}

/* Whether a text with a NUL at its end needs no escapes. Most texts are shorter than what
 * strcspn() takes to begin. */
static bool is_plain (const char *text, size_t len)
{
    static const bool ends[256] = {
        [0] = true, ['\t'] = true, ['\n'] = true, ['\\'] = true
    };
    const char *p = text;

    while (!ends[(unsigned char)*p])
        p++;
    return p == text + len;
}

/* Most texts have nothing to hide or to escape: they are rendered in their place. */
static void add_tsv_text (const struct cell *cell, uid_t viewer, const struct column *c)
{
    struct strbuf *sb = cell->sb, *text;
    size_t begin = sb->len;

    if (c->private_part == 0) {
        render (cell, c);
        if (is_plain (sb->buf + begin, sb->len - begin))
            return;
        sb->buf[sb->len = begin] = 0;
    }
    text = render_apart (cell, viewer, c);
    column_add_escaped (sb, text->buf, text->len);
}

void columns_add_json (struct broker *b, uid_t viewer, double now, struct entry *e,
                       const struct column *const list[], size_t n, struct strbuf *sb)
{
    const struct cell cell = { b, e, entry_job (e), now, sb };

    for (size_t i = 0; i < n; i++) {
        strbuf_adds (sb, i ? ",\"" : "{\"");
        strbuf_adds (sb, list[i]->name);
        strbuf_adds (sb, "\":");
        size_t before = sb->len;
        if (list[i]->kind == COLUMN_IDS)
            strbuf_addch (sb, '[');
        if (list[i]->kind == COLUMN_TEXT)
            add_json_text (&cell, viewer, list[i]);
        else
            add_numbers (&cell, viewer, list[i]);
        if (list[i]->kind == COLUMN_IDS)
            strbuf_addch (sb, ']');
        if (sb->len == before)
            strbuf_adds (sb, "null");
    }
    strbuf_addch (sb, '}');
}

void columns_add_tsv (struct broker *b, uid_t viewer, double now, struct entry *e,
                      const struct column *const list[], size_t n, struct strbuf *sb)
{
    const struct cell cell = { b, e, entry_job (e), now, sb };

    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_addch (sb, '\t');
        if (list[i]->kind == COLUMN_TEXT)
            add_tsv_text (&cell, viewer, list[i]);
        else
            add_numbers (&cell, viewer, list[i]);
    }
    strbuf_addch (sb, '\n');
}
