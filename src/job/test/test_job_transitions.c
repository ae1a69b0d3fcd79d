/* The table of transitions. Fails if an event is allowed in a wrong state, if a state or action
 * differs from what the broker relies on, or if a log replays to another state. */
#include "job/test/job_events.h"

#include <errno.h>
#include <string.h>

#include "match/test/build.h"

/* The required result of each event that is allowed after `events`; all other
 * events must be refused and change nothing. */
static const struct row {
    const char *events;
    struct {
        const char *event;
        enum job_state next;
        unsigned actions;
    } allowed[8];
} rows[] = {
    { "", { { "submit", JOB_NEW, JOB_ACT_VALIDATE } } },
    { "submit",
      { { "validate", JOB_DEPEND, JOB_ACT_DEPEND },
        { "urgency", JOB_NEW, 0 },
        { "exception", JOB_CLEANUP, JOB_ACT_DEQUEUE | JOB_ACT_CLEAN } } },
    { "submit validate",
      { { "depend", JOB_PRIORITY, JOB_ACT_PRIORITY },
        { "jobspec-update", JOB_DEPEND, 0 },
        { "urgency", JOB_DEPEND, 0 },
        { "exception", JOB_CLEANUP, JOB_ACT_DEQUEUE | JOB_ACT_CLEAN } } },
    { "submit validate depend",
      { { "priority", JOB_SCHED, JOB_ACT_ENQUEUE },
        { "jobspec-update", JOB_PRIORITY, 0 },
        { "urgency", JOB_PRIORITY, JOB_ACT_PRIORITY },
        { "exception", JOB_CLEANUP, JOB_ACT_DEQUEUE | JOB_ACT_CLEAN } } },
    { TO_SCHED,
      { { "alloc", JOB_RUN, JOB_ACT_START },
        { "jobspec-update", JOB_SCHED, JOB_ACT_DEQUEUE | JOB_ACT_ENQUEUE },
        { "priority", JOB_SCHED, JOB_ACT_ENQUEUE },
        { "urgency", JOB_SCHED, JOB_ACT_PRIORITY },
        { "exception", JOB_CLEANUP, JOB_ACT_DEQUEUE | JOB_ACT_CLEAN } } },
    { TO_RUN,
      { { "start", JOB_RUN, 0 },
        { "resource-update", JOB_RUN, JOB_ACT_LIMIT },
        { "finish", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "requeue", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "exception", JOB_CLEANUP, JOB_ACT_KILL } } },
    { TO_RUN " start resize",
      { { "resource-update", JOB_RUN, JOB_ACT_LIMIT },
        { "resized", JOB_RUN, 0 },
        { "finish", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "requeue", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "exception", JOB_CLEANUP, JOB_ACT_KILL } } },
    { TO_RUN " start",
      { { "resource-update", JOB_RUN, JOB_ACT_LIMIT },
        { "resize", JOB_RUN, JOB_ACT_RESIZE },
        { "finish", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "requeue", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "exception", JOB_CLEANUP, JOB_ACT_KILL } } },
    /* before an allocation there is nothing to give back */
    { TO_SCHED " exception",
      { { "clean", JOB_INACTIVE, JOB_ACT_INACTIVE }, { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " start finish",
      { { "release", JOB_CLEANUP, JOB_ACT_FREE },
        { "free", JOB_CLEANUP, JOB_ACT_CLEAN },
        { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " exception",
      { { "finish", JOB_CLEANUP, JOB_ACT_CLEANUP },
        { "release", JOB_CLEANUP, JOB_ACT_FREE },
        { "free", JOB_CLEANUP, JOB_ACT_CLEAN },
        { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " requeue",
      { { "finish", JOB_CLEANUP, 0 },
        { "release", JOB_CLEANUP, JOB_ACT_FREE },
        { "free", JOB_CLEANUP, JOB_ACT_CLEAN },
        { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " start exception finish",
      { { "release", JOB_CLEANUP, JOB_ACT_FREE },
        { "free", JOB_CLEANUP, JOB_ACT_CLEAN },
        { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " start finish release",
      { { "free", JOB_CLEANUP, JOB_ACT_CLEAN }, { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " start finish release free",
      { { "clean", JOB_INACTIVE, JOB_ACT_INACTIVE }, { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " requeue release free",
      { { "clean", JOB_PRIORITY, JOB_ACT_PRIORITY }, { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " requeue release free exception",
      { { "clean", JOB_INACTIVE, JOB_ACT_INACTIVE }, { "exception", JOB_CLEANUP, 0 } } },
    { TO_RUN " requeue release free clean",
      { { "priority", JOB_SCHED, JOB_ACT_ENQUEUE },
        { "jobspec-update", JOB_PRIORITY, 0 },
        { "urgency", JOB_PRIORITY, JOB_ACT_PRIORITY },
        { "exception", JOB_CLEANUP, JOB_ACT_DEQUEUE | JOB_ACT_CLEAN } } },
    { TO_RUN " start finish release free clean", { { NULL, JOB_INACTIVE, 0 } } },
};

static void check_event (const struct row *row, const char *event)
{
    struct job *job = job_after (row->events);
    char *before = job_text (job);
    unsigned actions = 99;
    int rc = apply (job, event, &actions);
    size_t i = 0;
    while (i < ARRAY_SIZE (row->allowed) && row->allowed[i].event
           && strcmp (row->allowed[i].event, event) != 0)
        i++;
    if (i < ARRAY_SIZE (row->allowed) && row->allowed[i].event) {
        if (rc != 0 || job->state != row->allowed[i].next
            || actions != row->allowed[i].actions)
            fail_msg ("%s | %s: rc %d, state %s, actions 0x%x", row->events, event, rc,
                      job_state_name (job->state), actions);
    } else {
        char *after = job_text (job);
        if (rc != -EPROTO || actions != 0)
            fail_msg ("%s | %s: rc %d, actions 0x%x", row->events, event, rc, actions);
        assert_string_equal (before, after);
        free (after);
    }
    free (before);
    job_destroy (job);
}

static void test_every_edge_and_no_other (void **state)
{
    (void)state;
    for (size_t r = 0; r < ARRAY_SIZE (rows); r++) {
        for (const char *const *e = all_events; *e; e++)
            check_event (&rows[r], *e);
    }
}

/* The rows above cover every transition of the table. */
static void test_table_is_covered (void **state)
{
    (void)state;
    for (size_t k = 0; k < transitions_count; k++) {
        bool found = false;
        for (size_t r = 0; r < ARRAY_SIZE (rows) && !found; r++) {
            struct job *job = job_after (rows[r].events);
            found = transition_find (job, transitions[k].event) == &transitions[k];
            job_destroy (job);
        }
        if (!found)
            fail_msg ("no test for transition %d %s", transitions[k].from,
                      transitions[k].event);
    }
}

static void test_remarks (void **state)
{
    (void)state;
    static const char *const remarks[] = { "memo", "usage", "fluxq-restart",
                                           "debug.anything" };
    for (size_t r = 0; r < ARRAY_SIZE (rows); r++) {
        for (size_t k = 0; k < ARRAY_SIZE (remarks); k++) {
            struct job *job = job_after (rows[r].events);
            enum job_state old = job->state;
            unsigned actions;
            assert_int_equal (apply (job, remarks[k], &actions), r == 0 ? -EPROTO : 0);
            assert_int_equal (actions, 0);
            assert_int_equal (job->state, old);
            job_destroy (job);
        }
    }
}

/* -- random walks -- */

/* -- random walks -- */

#define WALK_MAX 60
#define EVENTS 17 /* of all_events: all but the last */

static struct event *random_event (uint64_t *random)
{
    static const char *const types[] = { "cancel", "oom", "slow", "node-lost" };
    const char *name = all_events[build_random (random) % EVENTS];
    json_t *context = context_of (name);
    if (strcmp (name, "exception") == 0) {
        if (build_random (random) % 3 > 0) /* so that walks make progress */
            name = "memo";
        json_object_set_new (context, "severity",
                             json_integer ((json_int_t)(build_random (random) % 3)));
        json_object_set_new (context, "type",
                             json_string (types[build_random (random) % 4]));
    } else if (strcmp (name, "urgency") == 0) {
        json_object_set_new (context, "urgency",
                             json_integer ((json_int_t)(build_random (random) % 3)));
    } else if (strcmp (name, "release") == 0) {
        json_object_set_new (context, "final", json_boolean (build_random (random) % 2));
    }
    return event_create (now++, name, context);
}

/* The event as the journal returns it. */
static struct event *event_again (const struct event *e)
{
    char *context = event_encode_context (e);
    struct event *again = event_create (
        e->timestamp, e->name, context[0] ? json_loads (context, 0, NULL) : NULL);

    free (context);
    return again;
}

/* Replays a log, as after a restart. */
static struct job *replay (struct event *const *log, size_t n)
{
    struct job *job = job_create (1);
    for (size_t i = 0; i < n; i++) {
        unsigned actions;
        assert_int_equal (job_apply (job, log[i], &actions, NULL), 0);
    }
    return job;
}

static void check_invariants (const struct job *job, unsigned actions)
{
    const unsigned transient = JOB_ACT_DEQUEUE | JOB_ACT_INACTIVE | JOB_ACT_LIMIT;
    /* The last requested action is pending until an event answers it. */
    assert_int_equal (actions & ~transient & ~due_actions (job), 0);
    if (job->allocated)
        assert_true (job->state == JOB_RUN || job->state == JOB_CLEANUP);
    if (job->state == JOB_INACTIVE)
        assert_true (!job->allocated && !job->requeue && job->t_inactive > 0);
    if (job->started)
        assert_true (job->t_start > 0 && job->t_alloc > 0);
    assert_true (job->state == JOB_INACTIVE || job->nevents == 0 || due_actions (job)
                 || job->state == JOB_RUN);
}

static void walk (uint64_t seed)
{
    uint64_t random = seed;
    struct event *log[WALK_MAX];
    char *texts[WALK_MAX + 1];
    size_t n = 0;
    struct job *job = job_create (1);
    texts[0] = job_text (job);
    for (int tries = 0; tries < 400 && n < WALK_MAX; tries++) {
        struct event *e = random_event (&random);
        unsigned actions;
        if (job_apply (job, e, &actions, NULL) == 0) {
            log[n++] = event_again (e);
            texts[n] = job_text (job);
            check_invariants (job, actions);
        }
        event_destroy (e);
    }
    for (size_t k = 0; k <= n; k++) {
        struct job *again = replay (log, k);
        char *text = job_text (again);
        assert_string_equal (text, texts[k]);
        free (text);
        job_destroy (again);
    }
    for (size_t k = 0; k <= n; k++) {
        free (texts[k]);
        if (k < n)
            event_destroy (log[k]);
    }
    job_destroy (job);
}

static void test_replay (void **state)
{
    (void)state;
    uint64_t seed = build_seed ("job");
    for (uint64_t k = 0; k < 300; k++)
        walk (seed + k);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_every_edge_and_no_other),
        cmocka_unit_test (test_table_is_covered),
        cmocka_unit_test (test_remarks),
        cmocka_unit_test (test_replay),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
