/* job_events.c - for tests of jobs: events, and the state of a job after them */
#include "job/test/job_events.h"

#include <stdio.h>
#include <string.h>

json_t *context_of (const char *name)
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

double now = 1000;

int apply_context (struct job *job, const char *name, json_t *context, unsigned *actions)
{
    struct error err = { 0 };
    struct event *e = event_create (now++, name, context);
    int rc = job_apply (job, e, actions, &err);
    assert_true ((rc < 0) == (err.text[0] != 0));
    event_destroy (e);
    return rc;
}

int apply (struct job *job, const char *name, unsigned *actions)
{
    return apply_context (job, name, context_of (name), actions);
}

struct job *job_after (const char *events)
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

const char *const all_events[] = {
    "submit",          "validate", "depend",  "priority",  "urgency",
    "alloc",           "start",    "finish",  "exception", "requeue",
    "release",         "free",     "clean",   "bogus",     "jobspec-update",
    "resource-update", "resize",   "resized", NULL,
};

void apply_all (struct job *job, const char *const *events, size_t n)
{
    unsigned actions;
    for (size_t i = 0; i < n; i++)
        assert_int_equal (apply (job, events[i], &actions), 0);
}

static unsigned cleanup_due (const struct job *job)
{
    if (!job->allocated)
        return JOB_ACT_CLEAN;
    if (job->released)
        return JOB_ACT_FREE;
    return job->finished || job->requeue || !job->kill_sent ? JOB_ACT_CLEANUP
                                                            : JOB_ACT_KILL;
}

unsigned due_actions (const struct job *job)
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
        return JOB_ACT_START; /* an array has started if its tasks have */
    case JOB_CLEANUP:
        return cleanup_due (job);
    case JOB_INACTIVE:
        break;
    }
    return 0;
}

char *job_text (const struct job *j)
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
