/* reserve_job.c - jobs that name a reservation: admission, and why they wait */
#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/services/depend/array.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/reserve/reserve_job.h"
#include "broker/services/resize/malleable.h"
#include "common/clock.h"
#include "common/parse.h"

/* -- a new job -- */

static int check_user (const struct reservation *r, uid_t uid, struct error *err)
{
    if (r->maintenance)
        return error_set (
            err, EPERM, "reservation %s is for maintenance: no jobs run there", r->name);
    if (reservation_admits (r, uid))
        return 0;
    return error_set (err, EPERM,
                      "you are not one of the users of reservation %s "
                      "(fluxq-show reservation %s names them)",
                      r->name, r->name);
}

/* The job must end by the reservation's end. */
static int check_time (const struct reservation *r, const struct jobspec *js,
                       struct error *err)
{
    double from = MAX (MAX (r->start, clock_wall ()), js->begin), left = r->end - from;
    double least = js->time_min > 0 ? js->time_min : js->duration;
    autostrbuf struct strbuf sb = STRBUF_INIT (200);

    if (least > 0 && least <= left)
        return 0;
    if (least > 0) {
        strbuf_adds (&sb, "a time limit of ");
        strbuf_add_duration (&sb, least);
    } else {
        strbuf_adds (&sb, "a job without a time limit");
    }
    strbuf_adds (&sb, " is longer than ");
    if (left > 0) {
        strbuf_adds (&sb, "the ");
        strbuf_add_duration (&sb, left);
        strbuf_adds (&sb, from > r->start ? " that are left of" : " of");
    } else {
        strbuf_adds (&sb, "what is left of");
    }
    return error_set (err, EINVAL, "%s reservation %s; ask for less with --time", sb.buf,
                      r->name);
}

int reserve_check (struct broker *b, const struct entry *e, uid_t uid,
                   bool allow_infeasible, const char **code, struct error *err)
{
    const char *name = entry_jobspec (e)->reservation;
    const struct reservation *r = reserve_find (b, name);

    *code = "unknown-reservation";
    if (!r)
        return error_set (
            err, ENOENT, "there is no reservation %s (fluxq-show reservation lists them)",
            name);
    *code = "not-in-reservation";
    int rc = check_user (r, uid, err);
    if (rc < 0)
        return rc;
    *code = "bad-jobspec";
    if ((rc = check_time (r, entry_jobspec (e), err)) < 0)
        return rc;
    *code = "infeasible";
    if (!broker_is_recovering (b) && !allow_infeasible
        && (rc = match_satisfiability (realm_matcher (r->realm), entry_request (e), err))
               < 0)
        error_prefix (err, "reservation %s", name);
    return rc;
}

/* -- why it waits -- */

/* The job is in no queue: why not, from the state of its reservation. */
static void add_no_place (const struct broker *b, const struct entry *e,
                          struct strbuf *sb)
{
    const char *name = reserve_name_of (e);
    const struct reservation *r = reserve_find (b, name);

    if (!r)
        strbuf_addf (
            sb,
            "reservation %s has ended or was removed; cancel the job, or wait for a "
            "reservation with this name",
            name);
    else if (r->maintenance)
        strbuf_addf (sb, "reservation %s is for maintenance: no jobs run there", r->name);
    else
        strbuf_addf (sb, "%s is not one of the users of reservation %s",
                     entry_job (e)->user, r->name);
}

static bool has_no_place (const struct entry *e)
{
    return reserve_name_of (e) && !reserve_has_realm (e)
           && entry_job (e)->state == JOB_SCHED;
}

/* The reservation with the job in its queue, or NULL. */
static const struct reservation *queued_in (const struct broker *b, const struct entry *e)
{
    return reserve_has_realm (e) ? reserve_find (b, reserve_name_of (e)) : NULL;
}

/* The job's reservation, if it has not begun. */
static const struct reservation *to_come (const struct broker *b, const struct entry *e)
{
    const struct reservation *r = queued_in (b, e);

    return r && !r->active ? r : NULL;
}

static bool is_of_plan (enum sched_reason_code code)
{
    return code == SCHED_REASON_RESOURCES || code == SCHED_REASON_LICENSES
           || code == SCHED_REASON_PRIORITY;
}

const char *reserve_reason_name (struct broker *b, const struct entry *e)
{
    struct sched *s = reserve_sched_of (b, e);
    struct sched_reason r;

    if (has_no_place (e))
        return "Reservation";
    if (pause_reason (b) && entry_job (e)->state == JOB_SCHED)
        return "BrokerPaused";
    if (!s || !to_come (b, e))
        return s ? sched_reason_name (s, array_queued_id (e)) : NULL;
    if (sched_reason (s, array_queued_id (e), &r) < 0)
        return NULL;
    return is_of_plan (r.code) ? "Reservation" : r.name;
}

static void add_to_come (const struct reservation *r, const struct sched_reason *why,
                         struct strbuf *sb)
{
    strbuf_addf (sb, "reservation %s begins at ", r->name);
    strbuf_add_time (sb, r->start);
    if (why->start > 0) {
        strbuf_adds (sb, "; starts about ");
        strbuf_add_time (sb, why->start);
    }
    if (why->ahead > 0)
        strbuf_addf (sb, "; %zu job%s ahead", why->ahead, why->ahead == 1 ? "" : "s");
}

/* Adds that the reservation has not enough time left for the job. */
static void add_too_late (const struct broker *b, const struct entry *e,
                          struct strbuf *sb)
{
    const struct reservation *r = queued_in (b, e);

    if (!r || entry_job (e)->duration <= r->end - clock_wall () || entry_time_min (e) > 0)
        return;
    strbuf_addf (sb,
                 "; its time limit is longer than the rest of reservation %s, which "
                 "ends ",
                 r->name);
    strbuf_add_time (sb, r->end);
}

bool reserve_reason_text (struct broker *b, const struct entry *e, struct strbuf *sb)
{
    const struct reservation *r = to_come (b, e);
    struct sched *s = reserve_sched_of (b, e);
    struct sched_reason why;

    if (has_no_place (e)) {
        add_no_place (b, e, sb);
        return true;
    }
    if (pause_reason (b) && entry_job (e)->state == JOB_SCHED) {
        strbuf_addf (sb, "no job starts until this is over: %s", pause_reason (b));
        return true;
    }
    if (!s || sched_reason (s, array_queued_id (e), &why) < 0)
        return false;
    if (r && is_of_plan (why.code)) {
        add_to_come (r, &why, sb);
        return true;
    }
    if (is_of_plan (why.code) && nodegroups_add_reason (b, e, sb))
        return true;
    strbuf_adds (sb, why.text);
    add_too_late (b, e, sb);
    malleable_add_reason (b, e, sb);
    return true;
}
