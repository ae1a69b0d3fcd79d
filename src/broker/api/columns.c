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

#define COLUMN(name)                                                                     \
    static void col_##name (struct broker *b, struct entry *e, struct strbuf *sb)
#define NUMBER(name, expr)                                                               \
    COLUMN (name)                                                                        \
    {                                                                                    \
        (void)b;                                                                         \
        add_number (sb, (int64_t)(expr));                                                \
    }
#define TEXT(name, expr)                                                                 \
    COLUMN (name)                                                                        \
    {                                                                                    \
        (void)b;                                                                         \
        const char *text = (expr);                                                       \
        strbuf_adds (sb, text ? text : "");                                              \
    }
#define TIME(name, expr)                                                                 \
    COLUMN (name)                                                                        \
    {                                                                                    \
        (void)b;                                                                         \
        add_time (sb, (expr));                                                           \
    }

NUMBER (id, e->id)

/* "12", "12_3" for a task, "12_[4-100%10]" for the waiting tasks of an array. */
COLUMN (job)
{
    const struct job *job = e->job;
    const struct job_array *a = job->array;

    (void)b;
    if (job->array_job) {
        add_number (sb, (int64_t)job->array_job);
        strbuf_addch (sb, '_');
        add_number (sb, job->array_task);
        return;
    }
    add_number (sb, (int64_t)e->id);
    if (!a)
        return;
    const struct idset *shown = idset_count (a->waiting) > 0     ? a->waiting
                                : idset_count (a->cancelled) > 0 ? a->cancelled
                                                                 : a->spec.tasks;
    strbuf_adds (sb, "_[");
    array_add_tasks (sb, shown, TASKS_SHOWN_MAX);
    if (a->spec.limit && shown == a->waiting)
        strbuf_addf (sb, "%%%u", a->spec.limit);
    strbuf_addch (sb, ']');
}

COLUMN (array_job)
{
    (void)b;
    if (e->job->array_job || e->job->array)
        add_number (sb, (int64_t)(e->job->array ? e->id : e->job->array_job));
}

COLUMN (array_task)
{
    (void)b;
    if (e->job->array_job)
        add_number (sb, e->job->array_task);
}

NUMBER (userid, e->job->userid)
NUMBER (nodes, e->job->nnodes)
NUMBER (ntasks, e->job->ntasks)
COLUMN (ncores)
{
    (void)b;
    if (e->job->cpu_milli > 0)
        strbuf_add_thousandths (sb, e->job->cpu_milli);
    else
        add_number (sb, e->job->ncores);
}

NUMBER (urgency, e->job->urgency)
NUMBER (restarts, e->job->restarts)
TEXT (queue, e->job->queue)
TEXT (name, e->job->name)
TEXT (adopted, e->job->adopted)
TEXT (user, e->job->user)
TEXT (state, job_phase_name (api_row_phase (e->job)))
TEXT (st, job_phase_letter (api_row_phase (e->job)))
TEXT (flux_state, job_state_name (e->job->state))
TEXT (nodelist, e->job->nodelist)
TIME (submit_time, e->job->t_submit)
TIME (eligible_time, e->job->t_eligible)
TIME (start_time, e->job->t_start)
TIME (end_time, e->job->t_finish > 0 ? e->job->t_finish : e->job->t_inactive)

static bool is_waiting (const struct entry *e)
{
    return e->job->state < JOB_RUN;
}

/* The requested count ("4-16") for waiting jobs and for arrays, whose tasks have their
 * own; else the granted one. */
COLUMN (node_count)
{
    (void)b;
    if (e->job->asked_nodes && (is_waiting (e) || e->job->array))
        strbuf_adds (sb, e->job->asked_nodes);
    else
        add_number (sb, e->job->nnodes);
}

COLUMN (time)
{
    const struct job *job = e->job;
    double end = job->t_finish > 0            ? job->t_finish
                 : job->state == JOB_INACTIVE ? job->t_inactive
                                              : clock_wall ();
    (void)b;
    add_number (sb, job->t_start > 0 && end > job->t_start && !is_waiting (e)
                        ? (int64_t)(end - job->t_start)
                        : 0);
}

COLUMN (time_limit)
{
    (void)b;
    if (e->job->duration > 0)
        add_number (sb, (int64_t)ceil (e->job->duration));
}

COLUMN (exit_code)
{
    (void)b;
    if (e->job->state == JOB_INACTIVE || e->job->finished)
        add_number (sb, job_exit_code (e->job));
}

COLUMN (result_text)
{
    char text[300];
    (void)b;
    if (e->job->state != JOB_INACTIVE && !e->job->finished)
        return;
    job_result_text (e->job, text, sizeof (text));
    strbuf_adds (sb, text);
}

/* Waiting jobs: the present sum; others: the last one recorded. */
COLUMN (priority)
{
    add_number (sb, is_waiting (e) ? priority_of (b, e, NULL) : e->job->priority_told);
}

#define TERM(term)                                                                       \
    COLUMN (priority_##term)                                                             \
    {                                                                                    \
        struct priority p;                                                               \
        if (!is_waiting (e))                                                             \
            return;                                                                      \
        priority_of (b, e, &p);                                                          \
        add_number (sb, p.term);                                                         \
    }
TERM (urgency)
TERM (queue)
TERM (age)
TERM (size)
TERM (fair_share)

static bool is_held (const struct entry *e)
{
    return is_waiting (e) && e->job->urgency == 0;
}

/* Pending jobs: who holds the job, or the scheduler's reason. Others: empty, the client
 * shows the nodes. */
COLUMN (reason)
{
    char text[ARRAY_REASON_MAX];
    const char *array = array_reason (b, e, text, sizeof (text));
    const char *depend = depend_reason (b, e);
    const char *name = is_held (e)      ? job_hold_reason (e->job, 0)
                       : depend         ? depend
                       : array          ? array
                       : is_waiting (e) ? reserve_reason_name (b, e)
                                        : NULL;
    if (name)
        strbuf_adds (sb, name);
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
    if (is_held (e)) {
        add_hold (sb, e->job);
    } else if (depend_reason (b, e)) {
        depend_explain (b, e->id, depend, sizeof (depend));
        strbuf_adds (sb, *depend ? depend : "waits for other jobs");
    } else if (is_waiting (e) && b->recovering) {
        strbuf_adds (sb, "the broker does not know its nodes yet (see its log)");
    } else if (array_reason (b, e, depend, sizeof (depend))) {
        strbuf_adds (sb, depend);
    } else if (is_waiting (e)) {
        reserve_reason_text (b, e, sb);
    }
    if (e->note)
        strbuf_addf (sb, "%s%s", sb->len && is_waiting (e) ? "; last start: " : "",
                     e->note);
}

static bool find_position (struct broker *b, const struct entry *e, size_t *ahead,
                           double *start)
{
    const struct sched *s = is_waiting (e) ? reserve_sched_of (b, e) : NULL;

    return s && !b->recovering
           && sched_position (s, array_queued_id (e), ahead, start) == 0;
}

/* Only for jobs with a planned start. */
COLUMN (expected_start)
{
    size_t ahead;
    double start;

    if (find_position (b, e, &ahead, &start) && start > 0)
        strbuf_addf (sb, "%.3f", start);
}

COLUMN (jobs_ahead)
{
    size_t ahead;
    double start;

    if (find_position (b, e, &ahead, &start))
        add_number (sb, (int64_t)ahead);
}

/* The first jobs that block this one. */
COLUMN (blocking_jobs)
{
    struct sched *s = is_waiting (e) ? reserve_sched_of (b, e) : NULL;
    struct match_blocker list[SCHED_BLOCKERS_MAX];
    uint64_t ids[SCHED_BLOCKERS_MAX];
    size_t n = is_waiting (e) ? depend_blockers (b, e->id, ids, ARRAY_SIZE (ids)) : 0;

    if (n == 0 && s && !b->recovering) {
        n = sched_blockers (s, array_queued_id (e), list, ARRAY_SIZE (list));
        for (size_t i = 0; i < n; i++)
            ids[i] = list[i].job;
    }
    for (size_t i = 0; i < MIN (n, ARRAY_SIZE (ids)); i++) {
        strbuf_adds (sb, i ? "," : "");
        add_number (sb, (int64_t)ids[i]);
    }
}

#define PART_NUM(name, part) { #name, COLUMN_NUMBER, col_##name, part }
#define PART_TXT(name, part) { #name, COLUMN_TEXT, col_##name, part }
#define NUM(name) PART_NUM (name, 0)
#define TXT(name) PART_TXT (name, 0)
#define IDS(name) { #name, COLUMN_IDS, col_##name, 0 }
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

static void render (struct broker *b, struct entry *e, const struct column *c,
                    struct strbuf *sb)
{
    const char *text;

    if (c->render)
        c->render (b, e, sb);
    else if ((text = json_string_value (json_object_get (e->job->shown, c->name))))
        strbuf_adds (sb, text);
}

static bool is_seen (const struct broker *b, uid_t viewer, const struct entry *e,
                     const struct column *c)
{
    return c->private_part == 0
           || privacy_sees (b, viewer, e, (enum private_part)c->private_part);
}

/* Adds the numbers; of job ids only those that the viewer sees. */
static void add_numbers (struct broker *b, uid_t viewer, struct entry *e,
                         const struct column *c, struct strbuf *sb)
{
    size_t begin = sb->len;

    if (!is_seen (b, viewer, e, c))
        return;
    render (b, e, c, sb);
    if (c->kind != COLUMN_IDS || sb->len == begin || sb->err)
        return;
    autofree char *ids = strdup (sb->buf + begin);
    sb->buf[sb->len = begin] = 0;
    for (char *rest = ids, *id; rest && (id = strsep (&rest, ","));)
        if (privacy_sees_id (b, viewer, strtoull (id, NULL, 10)))
            strbuf_addf (sb, "%s%s", sb->len > begin ? "," : "", id);
}

static void add_text (struct broker *b, uid_t viewer, struct entry *e,
                      const struct column *c, bool json, struct strbuf *sb)
{
    static struct strbuf scratch = { .max = 4096 };
    if (!scratch.buf)
        strbuf_init (&scratch, 64 * 1024);
    strbuf_reset (&scratch);
    if (is_seen (b, viewer, e, c))
        render (b, e, c, &scratch);
    if (c->private_part == PRIVATE_ARGUMENTS)
        privacy_scrub (b, viewer, &scratch);
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
    for (size_t i = 0; i < n; i++) {
        strbuf_adds (sb, i ? ",\"" : "{\"");
        strbuf_adds (sb, list[i]->name);
        strbuf_adds (sb, "\":");
        size_t before = sb->len;
        if (list[i]->kind == COLUMN_IDS)
            strbuf_addch (sb, '[');
        if (list[i]->kind == COLUMN_TEXT)
            add_text (b, viewer, e, list[i], true, sb);
        else
            add_numbers (b, viewer, e, list[i], sb);
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
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_addch (sb, '\t');
        if (list[i]->kind == COLUMN_TEXT)
            add_text (b, viewer, e, list[i], false, sb);
        else
            add_numbers (b, viewer, e, list[i], sb);
    }
    strbuf_addch (sb, '\n');
}
