/* reasons.c - for users: why a job waits, for which jobs, and when it is expected to start
 */
#include "broker/api/columns.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/depend/array.h"
#include "broker/services/depend/depend.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/reserve/reserve_job.h"
#include "common/clock.h"

/* The scheduler's reason, for a job that no other service holds back. */
static const char *reason (struct broker *b, const struct entry *e, struct strbuf *text)
{
    if (!column_job_waits (e))
        return NULL;
    if (text && broker_is_recovering (b))
        strbuf_adds (text, "the broker does not know its nodes yet (see its log)");
    else if (text)
        reserve_reason_text (b, e, text);
    return reserve_reason_name (b, e);
}

/* The first answer of the services. */
static const char *find_reason (const struct cell *c, struct strbuf *text)
{
    const char *name = NULL;

    for (const struct broker_service **s = SERVICES_WITH (reason); *s && !name; s++)
        name = (*s)->reason (c->b, c->e, text);
    return name;
}

/* -- columns -- */

/* Empty for jobs that do not wait; the client shows the nodes. */
static void col_reason (const struct cell *c)
{
    const char *name = find_reason (c, NULL);

    if (name)
        strbuf_adds (c->sb, name);
}

static void col_reason_text (const struct cell *c)
{
    find_reason (c, c->sb);
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
        if (sched_estimate (s, array_queued_id (e), clock_wall (), &start, &planned) < 0
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
    .order = SERVICE_AFTER, /* the plan's reason, when no other service has one */
    .reason = reason,
    .columns = columns,
    .shows_job = shows_job,
};
