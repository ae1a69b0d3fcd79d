/* deadline.c - jobs that cannot end by their deadline any more are not started
 *
 * Waiting jobs with a deadline are in a heap, ordered by their latest start: the
 * deadline minus the time limit, or minus --time-min if the limit can be lowered to it.
 * One timer runs for the first of them. A job with --time-min gets the time that is left
 * until its deadline.
 */
#include <math.h>

#include "broker/core/jobs.h"
#include "broker/core/turn.h"
#include "broker/services/deadline.h"
#include "broker/core/service.h"
#include "common/clock.h"
#include "common/parse.h"
#include "job/deps_due.h"

#define A_TURN 100
#define SLEEP_MAX 60.0 /* the wall clock may be set */

struct deadlines {
    struct due_heap heap; /* of slots, by the latest start */
    struct broker_timer timer;
};

struct slot {
    struct due due;
    struct entry *e;
};

static struct service_place place;
SERVICE_STATE_OF (struct deadlines)
SERVICE_SLOT_OF (struct slot)

static double least_time (double duration, double time_min)
{
    return time_min > 0 ? time_min : duration;
}

static int too_late (const struct jobspec *js, double begin, bool later,
                     struct error *err)
{
    autostrbuf struct strbuf by = STRBUF_INIT (64);
    autostrbuf struct strbuf start = STRBUF_INIT (64);
    autostrbuf struct strbuf limit = STRBUF_INIT (64);

    strbuf_add_time (&by, js->deadline);
    strbuf_add_time (&start, begin);
    strbuf_add_duration (&limit, least_time (js->duration, js->time_min));
    return error_set (err, EINVAL,
                      "deadline: the job cannot end by %s: it may start at %s (%s) and "
                      "its %s is %s",
                      by.buf, start.buf, later ? "its begin" : "now",
                      js->time_min > 0 ? "--time-min" : "time limit", limit.buf);
}

int deadline_check (const struct jobspec *js, double now, struct error *err)
{
    double begin = MAX (now, js->begin);
    double least = least_time (js->duration, js->time_min);

    if (js->deadline <= 0)
        return 0;
    if (least <= 0)
        return error_set (err, EINVAL,
                          "deadline: a job without a time limit may always end later; "
                          "give one with --time");
    return begin + least <= js->deadline ? 0 : too_late (js, begin, js->begin > now, err);
}

double deadline_time_limit (const struct entry *e, double now, double limit)
{
    const struct job *job = entry_job (e);
    double left = floor (job->t_deadline - now);

    if (job->t_deadline <= 0 || entry_time_min (e) <= 0 || (limit > 0 && limit <= left))
        return limit;
    return MAX (left, entry_time_min (e));
}

static void give_up (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    autostrbuf struct strbuf note = STRBUF_INIT (200);

    strbuf_adds (&note, "it cannot end by ");
    strbuf_add_time (&note, job->t_deadline);
    strbuf_addf (&note, " any more (%s ",
                 entry_time_min (e) > 0 ? "--time-min" : "time limit");
    strbuf_add_duration (&note, least_time (job->duration, entry_time_min (e)));
    strbuf_adds (&note, ")");
    if (broker_exception (b, e, "deadline", broker_uid (b), note.buf) < 0)
        /* logged there; prevents an endless loop */
        due_remove (&state_of (b)->heap, &slot_of (e)->due);
}

static void set_timer (struct deadlines *d)
{
    const struct due *first = due_first (&d->heap);

    if (first)
        broker_timer_set (&d->timer, MIN (MAX (first->at - clock_wall (), 0), SLEEP_MAX));
}

static void pass (struct broker *b)
{
    struct deadlines *d = state_of (b);
    struct due *first;
    int n = 0;

    while ((first = due_first (&d->heap)) && first->at < clock_wall () && n++ < A_TURN)
        give_up (b, CONTAINER_OF (first, struct slot, due)->e);
    set_timer (d);
}

void deadline_watch (struct broker *b, struct entry *e, bool waits)
{
    const struct job *job = entry_job (e);
    struct deadlines *d = state_of (b);
    struct slot *slot = slot_of (e);

    if (!waits || job->t_deadline <= 0) {
        due_remove (&d->heap, &slot->due);
    } else if (!slot->due.place) {
        double least = least_time (job->duration, entry_time_min (e));
        slot->e = e;
        if (due_set (&d->heap, &slot->due, job->t_deadline - least) < 0)
            log_error ("job %ju: out of memory: its deadline is not watched",
                       (uintmax_t)entry_id (e));
        set_timer (d);
    }
}

static void moved (struct broker *b, struct entry *e, enum job_state before)
{
    (void)before;
    deadline_watch (b, e, entry_job (e)->state < JOB_RUN);
}

static void leave (struct broker *b, struct entry *e)
{
    deadline_watch (b, e, false);
}

static void release (struct broker *b)
{
    due_release (&state_of (b)->heap);
}

const struct broker_service service_deadline = {
    .name = "deadline",
    .place = &place,
    .state_size = sizeof (struct deadlines),
    .slot_size = sizeof (struct slot),
    .timer = offsetof (struct deadlines, timer),
    .on_timer = pass,
    .moved = moved,
    .goes = leave,
    .release = release,
};
