/* The table of edges. What would be wrong: an event that is let through in a state
 * where it may not come, a state or action that is not what the broker relies on, a
 * log that replays to something else. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "job/edges.h"
#include "match/test/build.h"

/* A well-formed context for each event. */
static json_t *context_of (const char *name)
{
    static const struct {
        const char *name, *context;
    } table[] = {
        { "submit",
          "{\"userid\":7,\"urgency\":16,\"flags\":0,\"version\":1,\"groupid\":8,"
          "\"user\":\"ann\",\"name\":\"sim\",\"queue\":\"q\",\"duration\":60,"
          "\"nnodes\":2,\"ntasks\":4,\"ncores\":8,\"nodes\":\"2-4\"}" },
        { "priority", "{\"priority\":42}" },
        { "urgency", "{\"urgency\":20,\"userid\":7}" },
        { "alloc",
          "{\"R\":{\"version\":1,\"execution\":{\"starttime\":1003}},"
          "\"nodelist\":\"n[0-3]\",\"namespace\":\"jobs-%u\",\"nnodes\":4,\"ntasks\":8,"
          "\"ncores\":16,\"size\":{\"reason\":\"largest\",\"text\":\"all\"}}" },
        { "finish", "{\"status\":256}" },
        { "exception",
          "{\"type\":\"cancel\",\"severity\":0,\"note\":\"enough\",\"userid\":7}" },
        { "requeue", "{\"reason\":\"no such node\",\"begin\":500}" },
        { "release", "{\"ranks\":\"all\",\"final\":true}" },
        { "jobspec-update", "{\"attributes.system.duration\":90,\"userid\":0}" },
        { "resource-update", "{\"expiration\":1123,\"duration\":120,\"userid\":0}" },
        { "resize", "{\"generation\":1,\"nnodes\":1,\"from\":2}" },
        { "resized",
          "{\"generation\":1,\"R\":{\"version\":1},\"nodelist\":\"n0\",\"nnodes\":1,"
          "\"ncores\":4}" },
        { "memo", "{\"a\":1}" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        if (strcmp (table[i].name, name) == 0)
            return json_loads (table[i].context, 0, NULL);
    }
    return NULL;
}

static double now = 1000;

static int apply_context (struct job *job, const char *name, json_t *context,
                          unsigned *actions)
{
    struct error err = { 0 };
    struct event *e = event_create (now++, name, context);
    int rc = job_apply (job, e, actions, &err);
    assert_true ((rc < 0) == (err.text[0] != 0));
    event_destroy (e);
    return rc;
}

static int apply (struct job *job, const char *name, unsigned *actions)
{
    return apply_context (job, name, context_of (name), actions);
}

/* Apply "submit validate ..." to a new job; all must be allowed. */
static struct job *job_after (const char *events)
{
    struct job *job = job_create (1);
    char *words = strdup (events), *rest = words, *word;
    unsigned actions;
    while ((word = strsep (&rest, " "))) {
        if (*word && apply (job, word, &actions) < 0)
            fail_msg ("%s in %s", word, events);
    }
    free (words);
    return job;
}

static const char *const all_events[] = {
    "submit", "validate", "depend",         "priority",        "urgency", "alloc",
    "start",  "finish",   "exception",      "requeue",         "release", "free",
    "clean",  "bogus",    "jobspec-update", "resource-update", "resize",  "resized",
};

#define TO_SCHED "submit validate depend priority"
#define TO_RUN TO_SCHED " alloc"

/* What must come of each event that is allowed after `events`; all others must be
 * refused and change nothing. */
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

static unsigned cleanup_due (const struct job *job)
{
    if (!job->allocated)
        return JOB_ACT_CLEAN;
    if (job->released)
        return JOB_ACT_FREE;
    return job->finished || job->requeue || !job->kill_sent ? JOB_ACT_CLEANUP
                                                            : JOB_ACT_KILL;
}

/* What is still to be done in the state that the job is in: after a replay, the
 * actions that the events seen so far have asked for and no later event has answered.
 * JOB_ACT_START with `started` not seen, and KILL, CLEANUP: the executor may have done
 * it before the restart. A job that runs (started) has none. */
static unsigned due_actions (const struct job *job)
{
    if (job->nevents == 0)
        return 0;
    switch (job->state) {
    case JOB_NEW:
        return JOB_ACT_VALIDATE;
    case JOB_DEPEND:
        return JOB_ACT_DEPEND;
    case JOB_PRIORITY:
        return JOB_ACT_PRIORITY;
    case JOB_SCHED:
        return JOB_ACT_ENQUEUE | (job->reprioritize ? JOB_ACT_PRIORITY : 0);
    case JOB_RUN:
        if (job->started)
            return job->resize.active ? JOB_ACT_RESIZE : 0;
        return JOB_ACT_START; /* an array has: its tasks */
    case JOB_CLEANUP:
        return cleanup_due (job);
    case JOB_INACTIVE:
        break;
    }
    return 0;
}

/* The whole record as text, to compare two. */
static char *job_text (const struct job *j)
{
    struct strbuf sb;
    char result[256];
    strbuf_init (&sb, 1 << 20);
    job_result_text (j, result, sizeof (result));
    strbuf_addf (&sb, "%d %u %u %s %s %s %g|", j->state, j->userid, j->groupid, j->user,
                 j->name, j->queue, j->duration);
    strbuf_addf (&sb, "%lld %lld %lld %d %lld %d %u %u %u %f %s|", (long long)j->nnodes,
                 (long long)j->ntasks, (long long)j->ncores, j->urgency,
                 (long long)j->priority, j->reprioritize, j->restarts, j->failed_starts,
                 j->reruns, j->t_age, j->requeue_reason ? j->requeue_reason : "-");
    strbuf_addf (&sb, "%s %s %s|", j->asked_nodes ? j->asked_nodes : "-",
                 j->size_reason ? j->size_reason : "-",
                 j->size_text ? j->size_text : "-");
    strbuf_addf (&sb, "%s %llu %lld|", j->avoid ? j->avoid : "-",
                 (unsigned long long)j->turn, (long long)j->setback);
    strbuf_addf (&sb, "%s %s %d%d%d%d%d%d %d|", j->r ? j->r : "-",
                 j->nodelist ? j->nodelist : "-", j->allocated, j->started,
                 j->kill_sent + 2 * j->limit_changed, j->requeue, j->released,
                 j->finished, j->status);
    strbuf_addf (&sb, "%d %d %s %s|%f %f %f %f %f %f %f|%llu %s %u %d", j->has_exception,
                 j->exception_severity, j->exception_type ? j->exception_type : "-",
                 j->exception_note ? j->exception_note : "-", j->t_submit, j->t_eligible,
                 j->t_alloc, j->t_start, j->t_finish, j->t_inactive, j->t_begin,
                 (unsigned long long)j->nevents, result, due_actions (j),
                 job_exit_code (j));
    return strbuf_detach (&sb);
}

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
        for (size_t e = 0; e < ARRAY_SIZE (all_events); e++)
            check_event (&rows[r], all_events[e]);
    }
}

/* The rows above stand on every edge of the table. */
static void test_table_is_covered (void **state)
{
    (void)state;
    for (size_t k = 0; k < edges_count; k++) {
        bool found = false;
        for (size_t r = 0; r < ARRAY_SIZE (rows) && !found; r++) {
            struct job *job = job_after (rows[r].events);
            found = edge_find (job, edges[k].event) == &edges[k];
            job_destroy (job);
        }
        if (!found)
            fail_msg ("no test for edge %d %s", edges[k].from, edges[k].event);
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

static void test_bad_contexts (void **state)
{
    (void)state;
    static const struct {
        const char *before, *event, *context;
    } table[] = {
        { "", "submit", "{}" },
        { "", "submit", "{\"userid\":1}" },
        { "", "submit", "{\"userid\":1,\"urgency\":32}" },
        { "", "submit", "{\"userid\":-1,\"urgency\":16}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"version\":2}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"user\":3}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"duration\":-1}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"adopted\":\"x\"}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"adopted\":{\"name\":\"x\"}}" },
        { "submit validate depend", "priority", "{}" },
        { "submit validate depend", "priority", "{\"priority\":\"1\"}" },
        { "submit", "urgency", "{\"urgency\":3}" },
        { "submit", "urgency", "{\"urgency\":-1,\"userid\":1}" },
        { "submit", "exception", "{\"severity\":0}" },
        { "submit", "exception", "{\"type\":\"x\",\"severity\":8}" },
        { TO_SCHED, "alloc", "{}" },
        { TO_SCHED, "alloc", "{\"R\":\"text\"}" },
        { TO_SCHED, "alloc", "{\"R\":{},\"nnodes\":-1}" },
        { TO_SCHED, "alloc", "{\"R\":{},\"size\":\"large\"}" },
        { TO_SCHED, "alloc", "{\"R\":{},\"size\":{\"reason\":\"largest\"}}" },
        { TO_RUN, "finish", "{}" },
        { TO_RUN, "finish", "{\"status\":65536}" },
        { TO_RUN, "requeue", "{\"begin\":5}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"begin\":-5}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":\"last\"}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":true}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"avoid\":[\"n1\"]}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":\"end\",\"turn\":-1}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":\"end\",\"setback\":-1}" },
        { TO_RUN " finish", "release", "{\"ranks\":\"all\"}" },
        { TO_RUN " finish", "release", "{\"final\":true}" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        struct job *job = job_after (table[i].before);
        char *before = job_text (job);
        unsigned actions = 1;
        json_t *context = json_loads (table[i].context, 0, NULL);
        if (apply_context (job, table[i].event, context, &actions) != -EINVAL)
            fail_msg ("accepted %s %s", table[i].event, table[i].context);
        char *after = job_text (job);
        assert_string_equal (before, after);
        assert_int_equal (actions, 0);
        free (before);
        free (after);
        job_destroy (job);
    }
}

static void test_fields (void **state)
{
    (void)state;
    now = 1000;
    struct job *job = job_after (TO_RUN " start");
    assert_int_equal (job->userid, 7);
    assert_int_equal (job->groupid, 8);
    assert_string_equal (job->user, "ann");
    assert_string_equal (job->name, "sim");
    assert_string_equal (job->queue, "q");
    assert_true (job->duration == 60);
    assert_int_equal (job->priority, 42);
    assert_int_equal (job->nnodes, 4);
    assert_int_equal (job->ncores, 16);
    assert_string_equal (job->nodelist, "n[0-3]");
    assert_string_equal (job->namespace_, "jobs-%u");
    assert_string_equal (job->r, "{\"version\":1,\"execution\":{\"starttime\":1003}}");
    assert_true (job->t_submit == 1000 && job->t_eligible == 1003 && job->t_alloc == 1004
                 && job->t_start == 1005);
    job_destroy (job);
    assert_true (sizeof (struct job) < 600);
}

/* Wrong: an attribute that listings show is lost, or the job keeps more of the event than that. */
static void test_shown (void **state)
{
    (void)state;
    struct job *job = job_create (1);
    unsigned actions;
    json_t *context = json_loads (
        "{\"userid\":7,\"urgency\":16,\"nice\":3,\"comment\":\"words\",\"color\":\"red\"}", 0, NULL);

    assert_int_equal (apply_context (job, "submit", context, &actions), 0);
    assert_int_equal (json_object_size (job->shown), 1);
    assert_string_equal (json_string_value (json_object_get (job->shown, "comment")), "words");
    job_destroy (job);
    job = job_after ("submit");
    assert_null (job->shown);
    job_destroy (job);
}

/* What others made is known as that as long as there is the job. */
static void test_adopted (void **state)
{
    (void)state;
    struct job *job = job_create (1);
    unsigned actions;
    json_t *context =
        json_loads ("{\"userid\":7,\"urgency\":16,\"adopted\":{\"name\":\"Job "
                    "team-a/train\",\"key\":\"job:1\"}}",
                    0, NULL);
    assert_int_equal (apply_context (job, "submit", context, &actions), 0);
    assert_string_equal (job->adopted, "Job team-a/train");
    assert_string_equal (job->adopted_key, "job:1");
    job_destroy (job);
    job = job_after ("submit");
    assert_true (!job->adopted && !job->adopted_key);
    job_destroy (job);
}

/* A requeued job is as it was before its attempt, but for the count and the first
 * times. */
static void test_requeue (void **state)
{
    (void)state;
    now = 1000;
    struct job *job = job_after (TO_RUN " requeue");
    assert_int_equal (job_phase (job), JOB_REQUEUED);
    unsigned actions;
    assert_string_equal (job->size_reason, "largest");
    assert_string_equal (job->size_text, "all");
    assert_int_equal (apply (job, "release", &actions), 0);
    assert_int_equal (apply (job, "free", &actions), 0);
    assert_int_equal (apply (job, "clean", &actions), 0);
    assert_int_equal (job_phase (job), JOB_PENDING);
    assert_null (job->size_reason);
    assert_null (job->size_text);
    assert_string_equal (job->asked_nodes, "2-4");
    assert_int_equal (job->restarts, 1);
    assert_int_equal (job->failed_starts, 1);
    assert_int_equal (job->nnodes, 2);
    assert_int_equal (job->ntasks, 4);
    assert_int_equal (job->ncores, 8);
    assert_null (job->r);
    assert_null (job->nodelist);
    assert_null (job->namespace_);
    assert_false (job->finished || job->started || job->allocated || job->requeue);
    assert_true (job->t_submit == 1000 && job->t_eligible == 1003 && job->t_alloc == 0);
    assert_true (job->t_begin == 500);
    assert_string_equal (job->requeue_reason, "no such node");
    assert_string_equal (job_hold_reason (job, 499), "BeginTime");
    assert_null (job_hold_reason (job, 501));
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_int_equal (apply (job, "alloc", &actions), 0);
    assert_true (job->t_begin == 0);
    assert_int_equal (apply (job, "start", &actions), 0);
    assert_int_equal (job->failed_starts, 0);
    assert_int_equal (job->restarts, 1);
    assert_null (job->requeue_reason);
    job_destroy (job);
}

static void apply_all (struct job *job, const char *const *events, size_t n)
{
    unsigned actions;
    for (size_t i = 0; i < n; i++)
        assert_int_equal (apply (job, events[i], &actions), 0);
}

/* A run that was lost is no failed start, and neither makes the other's count forgotten. */
static void test_requeue_of_a_run (void **state)
{
    static const char *const lost[] = { "start", "requeue",  "release", "free",
                                        "clean", "priority", "alloc" };
    static const char *const failed[] = { "requeue", "release",  "free",
                                          "clean",   "priority", "alloc" };
    (void)state;
    struct job *job = job_after (TO_RUN);
    apply_all (job, lost, ARRAY_SIZE (lost));
    assert_true (job->reruns == 1 && job->failed_starts == 0 && job->restarts == 1);
    assert_true (!job->started && job->t_start == 0);
    apply_all (job, failed, ARRAY_SIZE (failed));
    apply_all (job, failed, ARRAY_SIZE (failed));
    assert_true (job->reruns == 1 && job->failed_starts == 2 && job->restarts == 3);
    apply_all (job, lost, ARRAY_SIZE (lost));
    assert_true (job->reruns == 2 && job->failed_starts == 0 && job->restarts == 4);
    job_destroy (job);
}

/* The old place in the order: its age goes on. The end: it begins again at the requeue. */
static void test_requeue_order (void **state)
{
    static const struct {
        const char *order;
        double age;
    } table[] = { { "old", 1003 }, { "end", 5000 } };
    static const char *const rest[] = { "release", "free", "clean", "priority", "alloc" };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        unsigned actions;
        now = 1000;
        struct job *job = job_after (TO_RUN " start");
        now = 5000;
        json_t *context =
            json_pack ("{s:s s:s}", "reason", "lost", "order", table[i].order);
        assert_int_equal (apply_context (job, "requeue", context, &actions), 0);
        assert_true (job->t_begin == 0);
        apply_all (job, rest, ARRAY_SIZE (rest));
        assert_true (job_age_since (job) == table[i].age);
        assert_true (job->t_eligible == 1003 && job->t_submit == 1000);
        job_destroy (job);
    }
}

/* The end is behind those that were there then; the next time it is behind others. */
static void test_requeue_at_end (void **state)
{
    static const char *const rest[] = { "release", "free", "clean", "priority", "alloc" };
    (void)state;
    unsigned actions;
    struct job *job = job_after (TO_RUN " start");
    assert_true (job->turn == 0 && job->setback == 0);
    for (int i = 1; i <= 2; i++) {
        json_t *context = json_pack ("{s:s s:s s:i s:i}", "reason", "lost", "order",
                                     "end", "turn", 90 * i, "setback", 7 * (2 - i));
        assert_int_equal (apply_context (job, "requeue", context, &actions), 0);
        apply_all (job, rest, ARRAY_SIZE (rest));
        assert_true (job->turn == 90u * (unsigned)i && job->setback == 7 * (2 - i));
    }
    assert_int_equal (
        apply_context (job, "requeue",
                       json_pack ("{s:s s:s}", "reason", "x", "order", "old"), &actions),
        0);
    assert_true (job->turn == 180
                 && job->setback == 0); /* its own place, which is that */
    job_destroy (job);
}

/* Nodes that it failed to start on are known until a good start. */
static void test_avoid (void **state)
{
    static const char *const again[] = { "release", "free", "clean", "priority",
                                         "alloc" };
    (void)state;
    unsigned actions;
    struct job *job = job_after (TO_RUN);
    assert_null (job->avoid);
    assert_int_equal (
        apply_context (job, "requeue",
                       json_pack ("{s:s s:s}", "reason", "hung", "avoid", "n[2-3]"),
                       &actions),
        0);
    apply_all (job, again, ARRAY_SIZE (again));
    assert_string_equal (job->avoid, "n[2-3]");
    assert_int_equal (apply (job, "start", &actions), 0);
    assert_null (job->avoid);
    job_destroy (job);
}

/* Another limit: what the user asks for from then on, also after a requeue; R says the same. */
static void test_limit (void **state)
{
    struct job *job = job_after (TO_SCHED " jobspec-update");

    (void)state;
    assert_true (job->duration == 90 && !job->limit_changed);
    job_destroy (job);
    job = job_after (TO_RUN " start resource-update");
    assert_true (job->duration == 120 && job->limit_changed);
    assert_non_null (strstr (job->r, "1123"));
    assert_non_null (strstr (job->r, "1003"));
    job_destroy (job);
    job = job_after (TO_RUN " start resource-update requeue release free clean");
    assert_true (job->duration == 120);
    job_destroy (job);
    job = job_after (TO_RUN " start resource-update requeue release free clean priority "
                            "alloc");
    assert_false (job->limit_changed); /* its new agent is started with it */
    job_destroy (job);
}

static void test_backoff (void **state)
{
    static const double wait[] = { 0, 60, 120, 240, 480, 960, 1920, 3600, 3600 };
    (void)state;
    for (unsigned n = 0; n < ARRAY_SIZE (wait); n++)
        assert_true (job_backoff (n, 60, 3600) == wait[n]);
    assert_true (job_backoff (UINT_MAX, 1e-9, 3600) == 3600);
    assert_true (job_backoff (1000, 0, 3600) == 0);
    assert_true (job_backoff (1, 5, 5) == 5 && job_backoff (3, 0, 0) == 0);
}

static void test_hold (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_after ("submit validate");
    assert_null (job_hold_reason (job, 0));
    json_t *hold = json_pack ("{s:i, s:i}", "urgency", 0, "userid", 7);
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_string_equal (job_hold_reason (job, 0), "JobHeldUser");
    assert_int_equal (apply (job, "depend", &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job->t_eligible == 0);
    assert_int_equal (due_actions (job), JOB_ACT_ENQUEUE);
    assert_int_equal (apply (job, "urgency", &actions), 0);
    assert_int_equal (due_actions (job), JOB_ACT_ENQUEUE | JOB_ACT_PRIORITY);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job->t_eligible > 0);
    assert_null (job_hold_reason (job, 0));
    job_destroy (job);
}

/* Who holds: the job's own user, or another. A release forgets it, with its words. */
static void test_hold_by_operator (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_after ("submit validate depend priority");
    json_t *hold = json_pack ("{s:i s:i s:s}", "urgency", 0, "userid", 99, "note", "why");
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_true (job->held_by_operator);
    assert_string_equal (job->hold_note, "why");
    assert_string_equal (job_hold_reason (job, 0), "JobHeldAdmin");
    json_t *own = json_pack ("{s:i s:i}", "urgency", 0, "userid", 7);
    assert_int_equal (apply_context (job, "urgency", own, &actions), 0);
    assert_false (job->held_by_operator);
    assert_null (job->hold_note);
    hold = json_pack ("{s:i s:i s:s}", "urgency", 0, "userid", 99, "note", "");
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_true (job->held_by_operator && !job->hold_note);
    json_t *more = json_pack ("{s:i s:i s:s}", "urgency", 9, "userid", 99, "note", "x");
    assert_int_equal (apply_context (job, "urgency", more, &actions), 0);
    assert_true (!job->held_by_operator && !job->hold_note && job->urgency == 9);
    json_t *bad = json_pack ("{s:i s:i s:i}", "urgency", 0, "userid", 99, "note", 5);
    assert_int_equal (apply_context (job, "urgency", bad, &actions), -EINVAL);
    job_destroy (job);
}

/* Age: from when a job may start; not while it is held, but between its starts. */
static void test_age (void **state)
{
    (void)state;
    unsigned actions;
    now = 1000;
    struct job *job = job_after ("submit validate depend");
    assert_true (job_age_since (job) == 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job_age_since (job) == 1003);
    json_t *hold = json_pack ("{s:i s:i}", "urgency", 0, "userid", 7);
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job_age_since (job) == 0 && job->t_eligible == 1003);
    now = 2000;
    assert_int_equal (apply (job, "urgency", &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job_age_since (job) == 2001);
    job->t_begin = 3000;
    assert_true (job_age_since (job) == 3000);
    const char *const again[] = { "alloc", "requeue", "release", "free", "clean" };
    for (size_t i = 0; i < ARRAY_SIZE (again); i++)
        assert_int_equal (apply (job, again[i], &actions), 0);
    assert_true (job->restarts == 1 && job_age_since (job) == 3000);
    job->t_begin = 9000; /* the back-off */
    assert_true (job_age_since (job) == 3000);
    job_destroy (job);
}

/* Times that were submitted: eligible no sooner than its begin, and kept through a replay. */
static void test_begin_and_deadline (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_create (1);
    json_t *context = context_of ("submit");
    now = 1000;
    json_object_set_new (context, "begin", json_real (5000.5));
    json_object_set_new (context, "deadline", json_real (9000));
    assert_int_equal (apply_context (job, "submit", context, &actions), 0);
    assert_true (job->t_begin == 5000.5 && job->t_deadline == 9000);
    assert_string_equal (job_hold_reason (job, 5000), "BeginTime");
    assert_null (job_hold_reason (job, 5001));
    assert_int_equal (apply (job, "validate", &actions), 0);
    assert_int_equal (apply (job, "depend", &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job->t_eligible == 5000.5);
    job_destroy (job);
    job = job_create (2);
    context = context_of ("submit");
    json_object_set_new (context, "deadline", json_integer (-1));
    assert_int_equal (apply_context (job, "submit", context, &actions), -EINVAL);
    assert_true (job->nevents == 0);
    job_destroy (job);
}

/* The executor knows better than a wait status why a job failed; a success it may remark on. */
static void test_finish_text (void **state)
{
    (void)state;
    for (int status = 0; status <= 15; status += 15) {
        unsigned actions;
        char text[128];
        struct job *job = job_after (TO_RUN " start");
        json_t *context =
            json_pack ("{s:i, s:s}", "status", status, "text", "no space left");
        assert_int_equal (apply_context (job, "finish", context, &actions), 0);
        job_result_text (job, text, sizeof (text));
        assert_string_equal (text, status ? "no space left" : "completed; no space left");
        job_destroy (job);
    }
}

/* How a job ended, in all three ways of telling. */
static void test_endings (void **state)
{
    (void)state;
    static const struct {
        const char *exception; /* type or NULL */
        int status;            /* -1: no finish */
        enum job_phase phase;
        int code;
        const char *text;
    } table[] = {
        { NULL, 0, JOB_COMPLETED, 0, "completed" },
        { NULL, 3 << 8, JOB_FAILED, 3, "exited with status 3" },
        { NULL, 9, JOB_FAILED, 137, "killed by signal 9 (SIGKILL)" },
        { NULL, 6 | 0x80, JOB_FAILED, 134, "killed by signal 6 (SIGABRT)" },
        { "cancel", 15, JOB_CANCELLED, 1, "cancelled: so" },
        { "cancel", -1, JOB_CANCELLED, 1, "cancelled: so" },
        { "timeout", 15, JOB_TIMEOUT, 143, "time limit of 1:00 reached" },
        { "timeout", 0, JOB_TIMEOUT, 1, "time limit of 1:00 reached" },
        { "timelimit", 143 << 8, JOB_TIMEOUT, 143, "time limit of 1:00 reached" },
        { "node-lost", -1, JOB_NODE_FAIL, 1, "node lost: so" },
        { "oom", 9, JOB_OUT_OF_MEMORY, 137, "out of memory: so" },
        { "preempt", 15, JOB_PREEMPTED, 143, "preempted: so" },
        { "deadline", -1, JOB_DEADLINE, 1, "deadline passed: so" },
        { "dependency", -1, JOB_CANCELLED, 1, "cancelled: so" },
        { "exec", 2 << 8, JOB_FAILED, 2, "failed (exec): so" },
        { "start-failed", -1, JOB_FAILED, 1, "could not start: so" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        unsigned actions;
        struct job *job = job_after (TO_RUN " start");
        if (table[i].exception)
            assert_int_equal (
                apply_context (job, "exception",
                               json_pack ("{s:s, s:i, s:s}", "type", table[i].exception,
                                          "severity", 0, "note", "so"),
                               &actions),
                0);
        if (table[i].status >= 0)
            assert_int_equal (
                apply_context (job, "finish",
                               json_pack ("{s:i}", "status", table[i].status), &actions),
                0);
        assert_int_equal (job_phase (job), JOB_COMPLETING);
        assert_int_equal (job_result_phase (job), table[i].phase);
        assert_int_equal (apply (job, "release", &actions), 0);
        assert_int_equal (apply (job, "free", &actions), 0);
        assert_int_equal (apply (job, "clean", &actions), 0);
        char text[128];
        job_result_text (job, text, sizeof (text));
        assert_string_equal (text, table[i].text);
        assert_int_equal (job_phase (job), table[i].phase);
        assert_int_equal (job_exit_code (job), table[i].code);
        job_destroy (job);
    }
}

/* The agent's note says it with the node and the figures: once is enough. */
static void test_note_of_memory_stands_for_itself (void **state)
{
    const char *note = "node n1: out of memory: it asked for 64 MiB";
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    char text[128];

    (void)state;
    assert_int_equal (apply_context (job, "exception",
                                     json_pack ("{s:s, s:i, s:s}", "type", "oom",
                                                "severity", 0, "note", note),
                                     &actions),
                      0);
    job_result_text (job, text, sizeof (text));
    assert_string_equal (text, note);
    job_destroy (job);
}

/* Only severity 0 ends a job; the first of these is the cause. */
static void test_exceptions (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_after (TO_RUN " start");
    assert_int_equal (
        apply_context (job, "exception",
                       json_pack ("{s:s, s:i}", "type", "slow", "severity", 3), &actions),
        0);
    assert_int_equal (actions, 0);
    assert_int_equal (job->state, JOB_RUN);
    assert_int_equal (job_phase (job), JOB_RUNNING);
    assert_int_equal (
        apply_context (job, "exception",
                       json_pack ("{s:s, s:i}", "type", "oom", "severity", 0), &actions),
        0);
    assert_int_equal (apply (job, "exception", &actions), 0);
    assert_string_equal (job->exception_type, "oom");
    job_destroy (job);
    job = job_after (TO_SCHED " exception");
    assert_int_equal (job_phase (job), JOB_CANCELLED); /* nothing is left to complete */
    job_destroy (job);
}

static void test_names (void **state)
{
    (void)state;
    for (int p = JOB_PENDING; p <= JOB_REQUEUED; p++) {
        assert_int_equal (job_phase_from_name (job_phase_name ((enum job_phase)p)), p);
        assert_int_equal (job_phase_from_name (job_phase_letter ((enum job_phase)p)), p);
    }
    assert_int_equal (job_phase_from_name ("pending"), JOB_PENDING);
    assert_int_equal (job_phase_from_name ("cd"), JOB_COMPLETED);
    assert_int_equal (job_phase_from_name ("nonsense"), -EINVAL);
}

/* Who polls must not take a job that starts again for one that is over. */
static void test_groups (void **state)
{
    static const enum job_group expected[] = {
        [JOB_PENDING] = JOB_GROUP_PENDING,        [JOB_CONFIGURING] = JOB_GROUP_RUNNING,
        [JOB_RUNNING] = JOB_GROUP_RUNNING,        [JOB_COMPLETING] = JOB_GROUP_RUNNING,
        [JOB_COMPLETED] = JOB_GROUP_FINISHED,     [JOB_FAILED] = JOB_GROUP_FINISHED,
        [JOB_CANCELLED] = JOB_GROUP_FINISHED,     [JOB_TIMEOUT] = JOB_GROUP_FINISHED,
        [JOB_NODE_FAIL] = JOB_GROUP_FINISHED,     [JOB_OUT_OF_MEMORY] = JOB_GROUP_FINISHED,
        [JOB_PREEMPTED] = JOB_GROUP_FINISHED,     [JOB_DEADLINE] = JOB_GROUP_FINISHED,
        [JOB_REQUEUED] = JOB_GROUP_PENDING,
    };

    (void)state;
    assert_int_equal (ARRAY_SIZE (expected), JOB_REQUEUED + 1);
    for (int p = JOB_PENDING; p <= JOB_REQUEUED; p++)
        assert_int_equal (job_phase_group ((enum job_phase)p), expected[p]);
}

/* -- random walks -- */

#define WALK_MAX 60

static struct event *random_event (uint64_t *random)
{
    static const char *const types[] = { "cancel", "oom", "slow", "node-lost" };
    const char *name = all_events[build_random (random) % (ARRAY_SIZE (all_events) - 1)];
    json_t *context = context_of (name);
    if (strcmp (name, "exception") == 0) {
        if (build_random (random) % 3 > 0) /* not too often: walks should get somewhere */
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

/* The event as the journal gives it back. */
static struct event *event_again (const struct event *e)
{
    char *context = event_encode_context (e);
    struct event *again = event_create (e->timestamp, e->name,
                                        context[0] ? json_loads (context, 0, NULL) : NULL);

    free (context);
    return again;
}

/* Replay a log, as after a restart. */
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
    /* What was just asked for is still due, until an event answers it. */
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

/* -- other nodes while it runs -- */

static int resize (struct job *job, const char *name, const char *context,
                   unsigned *actions)
{
    return apply_context (job, name, json_loads (context, 0, NULL), actions);
}

#define GROW(g)                                                                          \
    "{\"generation\":" g ",\"nnodes\":4,\"from\":2,\"R\":{\"version\":1,\"x\":4},"       \
    "\"nodelist\":\"n[0-3]\",\"ncores\":16}"
#define BACK(g) "{\"generation\":" g ",\"nnodes\":2,\"from\":4,\"reason\":\"none came\"}"
#define LESS(g)                                                                          \
    "{\"generation\":" g ",\"R\":{\"version\":1,\"x\":2},\"nodelist\":\"n[0-1]\","       \
    "\"nnodes\":2,\"ncores\":8}"

static void test_resize_grows (void **state)
{
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    (void)state;
    assert_int_equal (resize (job, "resize", GROW ("1"), &actions), 0);
    assert_int_equal (actions, JOB_ACT_RESIZE);
    /* what it was given is its own at once, so that a replay books it */
    assert_true (job->resize.active && job->resize.nnodes == 4 && job->ncores == 16);
    assert_string_equal (job->nodelist, "n[0-3]");
    assert_non_null (strstr (job->r, "\"x\":4"));
    assert_int_equal (due_actions (job), JOB_ACT_RESIZE);
    assert_true (job->t_cores > job->t_start);
    assert_int_equal (resize (job, "resize", GROW ("2"), &actions), -EPROTO);
    assert_int_equal (resize (job, "resized", LESS ("1"), &actions), -EINVAL);
    assert_int_equal (resize (job, "resized", "{\"generation\":2}", &actions), -EPROTO);
    assert_int_equal (resize (job, "resized", "{\"generation\":1}", &actions), 0);
    assert_true (!job->resize.active && job->resize.generation == 1);
    assert_int_equal (due_actions (job), 0);
    assert_int_equal (resize (job, "resized", "{\"generation\":1}", &actions), -EPROTO);
    job_destroy (job);
}

static void test_resize_is_taken_back (void **state)
{
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    (void)state;
    assert_int_equal (resize (job, "resize", GROW ("1"), &actions), 0);
    assert_int_equal (resize (job, "resize", BACK ("3"), &actions), -EPROTO);
    assert_int_equal (resize (job, "resize", BACK ("2"), &actions), 0);
    assert_string_equal (job->nodelist, "n[0-3]"); /* until they are free */
    assert_int_equal (resize (job, "resize", BACK ("3"), &actions), -EPROTO);
    assert_int_equal (resize (job, "resized", "{\"generation\":2}", &actions), -EINVAL);
    assert_int_equal (resize (job, "resized", LESS ("2"), &actions), 0);
    assert_string_equal (job->nodelist, "n[0-1]");
    assert_true (job->nnodes == 2 && job->ncores == 8 && !job->resize.active);
    job_destroy (job);
}

static void test_resize_by_whom (void **state)
{
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    (void)state;
    assert_int_equal (
        resize (job, "resize",
                "{\"generation\":1,\"nnodes\":2,\"from\":4,\"by\":\"user\"}", &actions),
        0);
    assert_true (job->resize.by_user && !job->resize.failed);
    assert_int_equal (resize (job, "resized", LESS ("1"), &actions), 0);
    double at = job->resize.at;
    assert_int_equal (resize (job, "resize", GROW ("2"), &actions), 0);
    assert_true (job->resize.by_user && job->resize.at > at); /* it has said so once */
    assert_int_equal (
        resize (job, "resize",
                "{\"generation\":3,\"nnodes\":2,\"from\":4,\"by\":\"broker\"}", &actions),
        0);
    assert_true (job->resize.failed);
    job_destroy (job);
}

static void test_resize_ends_with_the_attempt (void **state)
{
    struct job *job = job_after (TO_RUN);
    unsigned actions;
    (void)state;
    assert_int_equal (resize (job, "resize", GROW ("1"), &actions), -EPROTO);
    job_destroy (job);
    job = job_after (TO_RUN " start resize requeue release free clean");
    assert_true (!job->resize.active && job->resize.generation == 0);
    job_destroy (job);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_every_edge_and_no_other),
        cmocka_unit_test (test_table_is_covered),
        cmocka_unit_test (test_remarks),
        cmocka_unit_test (test_bad_contexts),
        cmocka_unit_test (test_fields),
        cmocka_unit_test (test_adopted),
        cmocka_unit_test (test_shown),
        cmocka_unit_test (test_requeue),
        cmocka_unit_test (test_requeue_of_a_run),
        cmocka_unit_test (test_requeue_at_end),
        cmocka_unit_test (test_avoid),
        cmocka_unit_test (test_requeue_order),
        cmocka_unit_test (test_limit),
        cmocka_unit_test (test_backoff),
        cmocka_unit_test (test_hold),
        cmocka_unit_test (test_hold_by_operator),
        cmocka_unit_test (test_age),
        cmocka_unit_test (test_begin_and_deadline),
        cmocka_unit_test (test_endings),
        cmocka_unit_test (test_finish_text),
        cmocka_unit_test (test_exceptions),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_groups),
        cmocka_unit_test (test_note_of_memory_stands_for_itself),
        cmocka_unit_test (test_replay),
        cmocka_unit_test (test_resize_grows),
        cmocka_unit_test (test_resize_is_taken_back),
        cmocka_unit_test (test_resize_by_whom),
        cmocka_unit_test (test_resize_ends_with_the_attempt),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
