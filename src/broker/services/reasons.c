/* reasons.c - for users: why a job waits, for which jobs, and when it is expected to start
 */
#include <string.h>

#include "broker/api/columns.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/depend/array.h"
#include "broker/services/depend/depend.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/reserve/reserve_job.h"
#include "common/clock.h"

#define ARRAY_REASON_MAX 128

/* -- columns -- */

static bool is_held (const struct entry *e)
{
    return column_job_waits (e) && entry_job (e)->urgency == 0;
}

/* Pending jobs: who holds the job, or the scheduler's reason. Others: empty, the client
 * shows the nodes. */
static void col_reason (const struct cell *c)
{
    char text[ARRAY_REASON_MAX];
    const char *array = array_reason (c->b, c->e, text, sizeof (text));
    const char *depend = depend_reason (c->b, c->e);
    const char *name = is_held (c->e)            ? job_hold_reason (c->job, 0)
                       : depend                  ? depend
                       : array                   ? array
                       : column_job_waits (c->e) ? reserve_reason_name (c->b, c->e)
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

static void col_reason_text (const struct cell *c)
{
    char depend[512];
    if (is_held (c->e)) {
        add_hold (c->sb, c->job);
    } else if (depend_reason (c->b, c->e)) {
        depend_explain (c->b, entry_id (c->e), depend, sizeof (depend));
        strbuf_adds (c->sb, *depend ? depend : "waits for other jobs");
    } else if (column_job_waits (c->e) && broker_is_recovering (c->b)) {
        strbuf_adds (c->sb, "the broker does not know its nodes yet (see its log)");
    } else if (array_reason (c->b, c->e, depend, sizeof (depend))) {
        strbuf_adds (c->sb, depend);
    } else if (column_job_waits (c->e)) {
        reserve_reason_text (c->b, c->e, c->sb);
    }
    if (entry_note (c->e))
        strbuf_addf (c->sb, "%s%s",
                     c->sb->len && column_job_waits (c->e) ? "; last start: " : "",
                     entry_note (c->e));
}

static bool find_position (struct broker *b, const struct entry *e, size_t *ahead,
                           double *start)
{
    const struct sched *s = column_job_waits (e) ? reserve_sched_of (b, e) : NULL;

    return s && !broker_is_recovering (b)
           && sched_position (s, array_queued_id (e), ahead, start) == 0;
}

/* Only for jobs with a planned start. */
static void col_expected_start (const struct cell *c)
{
    size_t ahead;
    double start;

    if (find_position (c->b, c->e, &ahead, &start) && start > 0)
        strbuf_addf (c->sb, "%.3f", start);
}

static void col_jobs_ahead (const struct cell *c)
{
    size_t ahead;
    double start;

    if (find_position (c->b, c->e, &ahead, &start))
        column_add_number (c->sb, (int64_t)ahead);
}

/* The first jobs that block this one. */
static void col_blocking_jobs (const struct cell *c)
{
    struct sched *s = column_job_waits (c->e) ? reserve_sched_of (c->b, c->e) : NULL;
    struct match_blocker list[SCHED_BLOCKERS_MAX];
    uint64_t ids[SCHED_BLOCKERS_MAX];
    size_t n = column_job_waits (c->e)
                   ? depend_blockers (c->b, entry_id (c->e), ids, ARRAY_SIZE (ids))
                   : 0;

    if (n == 0 && s && !broker_is_recovering (c->b)) {
        n = sched_blockers (s, array_queued_id (c->e), list, ARRAY_SIZE (list));
        for (size_t i = 0; i < n; i++)
            ids[i] = list[i].job;
    }
    for (size_t i = 0; i < MIN (n, ARRAY_SIZE (ids)); i++) {
        strbuf_adds (c->sb, i ? "," : "");
        column_add_number (c->sb, (int64_t)ids[i]);
    }
}

/* -- GET /v1/jobs/ID -- */

/* For a job without a planned start: the earliest time at which it could fit. */
static void shows_job (struct broker *b, struct entry *e, const struct jobspec *js,
                       const struct journal_record *rec, json_t *job)
{
    double start = 0;
    bool planned = false;
    struct sched *s = reserve_sched_of (b, e);

    (void)js;
    (void)rec;
    if (!broker_is_recovering (b) && s && sched_reason_name (s, array_queued_id (e))) {
        /* Nodes have changed: an estimate would take too long now. */
        if (!reserve_is_prepared (b)
            || sched_estimate (s, array_queued_id (e), clock_wall (), &start, &planned)
                   < 0
            || planned)
            start = 0;
        if (!planned)
            start = MAX (start, nodegroups_not_before (b, e));
    }
    json_object_set_new (job, "not_before", start > 0 ? json_real (start) : json_null ());
}

static const struct column columns[] = {
    { "reason", COLUMN_TEXT, col_reason, 0 },
    { "reason_text", COLUMN_TEXT, col_reason_text, PRIVATE_ARGUMENTS },
    { "expected_start", COLUMN_NUMBER, col_expected_start, 0 },
    { "jobs_ahead", COLUMN_NUMBER, col_jobs_ahead, 0 },
    { "blocking_jobs", COLUMN_IDS, col_blocking_jobs, 0 },
    { 0 },
};

const struct broker_service service_reasons = {
    .name = "reasons",
    .columns = columns,
    .shows_job = shows_job,
};
