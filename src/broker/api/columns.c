/* columns.c - the columns of a listing: a table of names and renderers, and the
 * attributes that listings show
 *
 * Renderers write into the answer, without JSON values in between: 10,000 jobs cost a few
 * milliseconds.
 */
#include <math.h>
#include <string.h>

#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/services/depend/array.h"
#include "broker/services/depend/depend.h"
#include "broker/services/priority.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/reserve/reserve_job.h"
#include "common/clock.h"
#include "common/thousandths.h"
#include "jobspec/options/attributes.h"

static void add_number (struct strbuf *sb, int64_t n)
{
    char digits[24], *p = digits + sizeof (digits);
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (n < 0)
        *--p = '-';
    strbuf_add (sb, p, (size_t)(digits + sizeof (digits) - p));
}

/* Unix seconds with milliseconds; empty for a time that has not come. */
static void add_time (struct strbuf *sb, double t)
{
    if (t <= 0)
        return;
    int64_t ms = (int64_t)llround (t * 1000.0);
    add_number (sb, ms / 1000);
    ms %= 1000;
    char rest[] = { '.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10),
                    (char)('0' + ms % 10) };
    strbuf_add (sb, rest, sizeof (rest));
}

#define TASKS_SHOWN_MAX 40 /* bytes of a task list in a column */
#define ARRAY_REASON_MAX 128

#define COLUMN(name) static void col_##name (const struct cell *c)
#define NUMBER(name, expr)                                                               \
    COLUMN (name)                                                                        \
    {                                                                                    \
        add_number (c->sb, (int64_t)(expr));                                             \
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
        add_time (c->sb, (expr));                                                        \
    }

NUMBER (id, entry_id (c->e))

/* "12", "12_3" for a task, "12_[4-100%10]" for the waiting tasks of an array. */
COLUMN (job)
{
    const struct job *job = c->job;
    const struct job_array *a = job->array;
    if (job->array_job) {
        add_number (c->sb, (int64_t)job->array_job);
        strbuf_addch (c->sb, '_');
        add_number (c->sb, job->array_task);
        return;
    }
    add_number (c->sb, (int64_t)entry_id (c->e));
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
        add_number (c->sb,
                    (int64_t)(c->job->array ? entry_id (c->e) : c->job->array_job));
}

COLUMN (array_task)
{
    if (c->job->array_job)
        add_number (c->sb, c->job->array_task);
}

NUMBER (userid, c->job->userid)
NUMBER (nodes, c->job->nnodes)
NUMBER (ntasks, c->job->ntasks)
COLUMN (ncores)
{
    if (c->job->cpu_milli > 0)
        strbuf_add_thousandths (c->sb, c->job->cpu_milli);
    else
        add_number (c->sb, c->job->ncores);
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

static bool is_waiting (const struct entry *e)
{
    return entry_job (e)->state < JOB_RUN;
}

/* The requested count ("4-16") for waiting jobs and for arrays, whose tasks have their
 * own; else the granted one. */
COLUMN (node_count)
{
    if (c->job->asked_nodes && (is_waiting (c->e) || c->job->array))
        strbuf_adds (c->sb, c->job->asked_nodes);
    else
        add_number (c->sb, c->job->nnodes);
}

COLUMN (time)
{
    const struct job *job = c->job;
    double end = job->t_finish > 0            ? job->t_finish
                 : job->state == JOB_INACTIVE ? job->t_inactive
                                              : clock_wall ();
    add_number (c->sb, job->t_start > 0 && end > job->t_start && !is_waiting (c->e)
                           ? (int64_t)(end - job->t_start)
                           : 0);
}

COLUMN (time_limit)
{
    if (c->job->duration > 0)
        add_number (c->sb, (int64_t)ceil (c->job->duration));
}

COLUMN (exit_code)
{
    if (c->job->state == JOB_INACTIVE || c->job->finished)
        add_number (c->sb, job_exit_code (c->job));
}

COLUMN (result_text)
{
    char text[300];
    if (c->job->state != JOB_INACTIVE && !c->job->finished)
        return;
    job_result_text (c->job, text, sizeof (text));
    strbuf_adds (c->sb, text);
}

/* Waiting jobs: the present sum; others: the last one recorded. */
COLUMN (priority)
{
    add_number (c->sb, is_waiting (c->e) ? priority_of (c->b, c->e, NULL)
                                         : c->job->priority_told);
}

#define TERM(term)                                                                       \
    COLUMN (priority_##term)                                                             \
    {                                                                                    \
        struct priority p;                                                               \
        if (!is_waiting (c->e))                                                          \
            return;                                                                      \
        priority_of (c->b, c->e, &p);                                                    \
        add_number (c->sb, p.term);                                                      \
    }
TERM (urgency)
TERM (queue)
TERM (age)
TERM (size)
TERM (fair_share)

static bool is_held (const struct entry *e)
{
    return is_waiting (e) && entry_job (e)->urgency == 0;
}

/* Pending jobs: who holds the job, or the scheduler's reason. Others: empty, the client
 * shows the nodes. */
COLUMN (reason)
{
    char text[ARRAY_REASON_MAX];
    const char *array = array_reason (c->b, c->e, text, sizeof (text));
    const char *depend = depend_reason (c->b, c->e);
    const char *name = is_held (c->e)      ? job_hold_reason (c->job, 0)
                       : depend            ? depend
                       : array             ? array
                       : is_waiting (c->e) ? reserve_reason_name (c->b, c->e)
                                           : NULL;
    if (name)
        strbuf_adds (c->sb, name);
}

static void add_hold (struct strbuf *sb, const struct job *job)
{
    const char *note = job->hold_note;

    strbuf_addf (sb, "held by %s%s%s", job->held_by_operator ? "operator" : "its user",
                 note ? ": " : "", note ? note : "");
    if (!job->held_by_operator)
        strbuf_addf (sb, "; release it with fluxq-ctl release %ju", (uintmax_t)job->id);
}

COLUMN (reason_text)
{
    char depend[512];
    if (is_held (c->e)) {
        add_hold (c->sb, c->job);
    } else if (depend_reason (c->b, c->e)) {
        depend_explain (c->b, entry_id (c->e), depend, sizeof (depend));
        strbuf_adds (c->sb, *depend ? depend : "waits for other jobs");
    } else if (is_waiting (c->e) && broker_is_recovering (c->b)) {
        strbuf_adds (c->sb, "the broker does not know its nodes yet (see its log)");
    } else if (array_reason (c->b, c->e, depend, sizeof (depend))) {
        strbuf_adds (c->sb, depend);
    } else if (is_waiting (c->e)) {
        reserve_reason_text (c->b, c->e, c->sb);
    }
    if (entry_note (c->e))
        strbuf_addf (c->sb, "%s%s",
                     c->sb->len && is_waiting (c->e) ? "; last start: " : "",
                     entry_note (c->e));
}

static bool find_position (struct broker *b, const struct entry *e, size_t *ahead,
                           double *start)
{
    const struct sched *s = is_waiting (e) ? reserve_sched_of (b, e) : NULL;

    return s && !broker_is_recovering (b)
           && sched_position (s, array_queued_id (e), ahead, start) == 0;
}

/* Only for jobs with a planned start. */
COLUMN (expected_start)
{
    size_t ahead;
    double start;

    if (find_position (c->b, c->e, &ahead, &start) && start > 0)
        strbuf_addf (c->sb, "%.3f", start);
}

COLUMN (jobs_ahead)
{
    size_t ahead;
    double start;

    if (find_position (c->b, c->e, &ahead, &start))
        add_number (c->sb, (int64_t)ahead);
}

/* The first jobs that block this one. */
COLUMN (blocking_jobs)
{
    struct sched *s = is_waiting (c->e) ? reserve_sched_of (c->b, c->e) : NULL;
    struct match_blocker list[SCHED_BLOCKERS_MAX];
    uint64_t ids[SCHED_BLOCKERS_MAX];
    size_t n = is_waiting (c->e)
                   ? depend_blockers (c->b, entry_id (c->e), ids, ARRAY_SIZE (ids))
                   : 0;

    if (n == 0 && s && !broker_is_recovering (c->b)) {
        n = sched_blockers (s, array_queued_id (c->e), list, ARRAY_SIZE (list));
        for (size_t i = 0; i < n; i++)
            ids[i] = list[i].job;
    }
    for (size_t i = 0; i < MIN (n, ARRAY_SIZE (ids)); i++) {
        strbuf_adds (c->sb, i ? "," : "");
        add_number (c->sb, (int64_t)ids[i]);
    }
}

#define PART_NUM(name, part)                                                             \
    {                                                                                    \
#name, COLUMN_NUMBER, col_##name, part                                           \
    }
#define PART_TXT(name, part)                                                             \
    {                                                                                    \
#name, COLUMN_TEXT, col_##name, part                                             \
    }
#define NUM(name) PART_NUM (name, 0)
#define TXT(name) PART_TXT (name, 0)
#define IDS(name)                                                                        \
    {                                                                                    \
#name, COLUMN_IDS, col_##name, 0                                                 \
    }
static const struct column columns[] = {
    NUM (id),
    TXT (job),
    NUM (array_job),
    NUM (array_task),
    TXT (queue),
    TXT (name),
    TXT (user),
    TXT (state),
    TXT (st),
    TXT (flux_state),
    NUM (time),
    NUM (time_limit),
    NUM (nodes),
    NUM (ntasks),
    NUM (ncores),
    TXT (reason),
    PART_TXT (reason_text, PRIVATE_ARGUMENTS),
    TXT (nodelist),
    PART_NUM (priority, PRIVATE_USAGE),
    NUM (urgency),
    NUM (submit_time),
    NUM (eligible_time),
    NUM (start_time),
    NUM (end_time),
    NUM (exit_code),
    NUM (restarts),
    NUM (userid),
    PART_TXT (result_text, PRIVATE_ARGUMENTS),
    TXT (node_count),
    TXT (adopted),

    NUM (expected_start), /* of waiting jobs */
    NUM (jobs_ahead),
    IDS (blocking_jobs),

    NUM (priority_urgency), /* terms of the priority */
    NUM (priority_queue),
    NUM (priority_age),
    NUM (priority_size),
    PART_NUM (priority_fair_share, PRIVATE_USAGE),
};
const struct column *columns_all (size_t *ret_n)
{
    static struct column all[ARRAY_SIZE (columns) + ATTRIBUTES_MAX];
    static size_t n;

    if (n == 0) {
        memcpy (all, columns, sizeof (columns));
        n = ARRAY_SIZE (columns);
        for (const struct attribute *a = attribute_table; a->name; a++)
            if (a->heading)
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
    else if ((text = json_string_value (json_object_get (cell->job->shown, c->name))))
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

static void add_text (const struct cell *cell, uid_t viewer, const struct column *c,
                      bool json)
{
    static struct strbuf scratch = { .max = 4096 };
    struct strbuf *sb = cell->sb;
    struct cell raw = *cell;

    if (!scratch.buf)
        strbuf_init (&scratch, 64 * 1024);
    strbuf_reset (&scratch);
    raw.sb = &scratch;
    if (is_seen (cell, viewer, c))
        render (&raw, c);
    if (c->private_part == PRIVATE_ARGUMENTS)
        privacy_scrub (cell->b, viewer, &scratch);
    if (json) {
        strbuf_add_json (sb, scratch.buf, scratch.len);
        return;
    }
    if (scratch.len == strcspn (scratch.buf, "\t\n\\")) {
        strbuf_add (sb, scratch.buf, scratch.len);
        return;
    }
    for (size_t i = 0; i < scratch.len; i++) {
        char ch = scratch.buf[i];
        if (ch == '\t' || ch == '\n' || ch == '\\') {
            strbuf_addch (sb, '\\');
            ch = ch == '\t' ? 't' : ch == '\n' ? 'n' : '\\';
        }
        strbuf_addch (sb, ch);
    }
}

void columns_add_json (struct broker *b, uid_t viewer, struct entry *e,
                       const struct column *const list[], size_t n, struct strbuf *sb)
{
    const struct cell cell = { b, e, entry_job (e), sb };

    for (size_t i = 0; i < n; i++) {
        strbuf_adds (sb, i ? ",\"" : "{\"");
        strbuf_adds (sb, list[i]->name);
        strbuf_adds (sb, "\":");
        size_t before = sb->len;
        if (list[i]->kind == COLUMN_IDS)
            strbuf_addch (sb, '[');
        if (list[i]->kind == COLUMN_TEXT)
            add_text (&cell, viewer, list[i], true);
        else
            add_numbers (&cell, viewer, list[i]);
        if (list[i]->kind == COLUMN_IDS)
            strbuf_addch (sb, ']');
        if (sb->len == before)
            strbuf_adds (sb, "null");
    }
    strbuf_addch (sb, '}');
}

void columns_add_tsv (struct broker *b, uid_t viewer, struct entry *e,
                      const struct column *const list[], size_t n, struct strbuf *sb)
{
    const struct cell cell = { b, e, entry_job (e), sb };

    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_addch (sb, '\t');
        if (list[i]->kind == COLUMN_TEXT)
            add_text (&cell, viewer, list[i], false);
        else
            add_numbers (&cell, viewer, list[i]);
    }
    strbuf_addch (sb, '\n');
}
