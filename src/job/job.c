/* job.c - the job record; the table of transitions applies events */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "job/transitions.h"
#include "jobspec/options/attributes.h"

struct job *job_create (uint64_t id)
{
    struct job *job = calloc (1, sizeof (*job));
    if (!job)
        return NULL;
    job->id = id;
    job->urgency = 16;
    job->user = strdup ("");
    job->name = strdup ("");
    job->queue = strdup ("");
    if (!job->user || !job->name || !job->queue) {
        job_destroy (job);
        return NULL;
    }
    return job;
}

void job_destroy (struct job *job)
{
    if (!job)
        return;
    free (job->user);
    free (job->name);
    free (job->queue);
    json_decref (job->shown);
    free (job->details);
    free (job->requeue_reason);
    free (job->avoid);
    free (job->hold_note);
    free (job->r);
    free (job->nodelist);
    free (job->asked_nodes);
    free (job->size_reason);
    free (job->size_text);
    free (job->places);
    free (job->namespace_);
    free (job->adopted);
    free (job->adopted_key);
    free (job->exception_type);
    free (job->exception_note);
    free (job->finish_text);
    job_array_destroy (job->array);
    free (job);
}

int job_apply (struct job *job, const struct event *e, unsigned *actions,
               struct error *err)
{
    const struct transition *transition = transition_find (job, e->name);
    *actions = 0;
    if (!transition && job->nevents > 0 && transition_is_remark (e->name)) {
        int rc = strcmp (e->name, "memo") == 0
                     ? attributes_of_memo (e->context, &job->shown)
                     : 0;
        job->nevents += rc == 0;
        return rc == 0 ? 0 : error_set (err, -rc, "memo: a value is no text");
    }
    if (!transition)
        return error_set (err, EPROTO, "event %s may not come %s %s", e->name,
                          job->nevents > 0 ? "in state" : "before",
                          job->nevents > 0 ? job_state_name (job->state) : "submit");
    struct outcome out = {
        .next = transition->to == TRANSITION_STAY ? job->state
                                                  : (enum job_state)transition->to,
        .actions = transition->actions,
    };
    int rc = transition->handle ? transition->handle (job, e, &out, err) : 0;
    if (rc < 0) /* a number out of its range is a bad context, too */
        return rc == -EPROTO || rc == -ENOMEM ? rc : -EINVAL;
    job->state = out.next;
    job->nevents++;
    *actions = out.actions;
    return 0;
}

const char *job_hold_reason (const struct job *job, double now)
{
    if (job->state > JOB_SCHED)
        return NULL;
    if (job->urgency == 0)
        return job->held_by_operator ? "JobHeldAdmin" : "JobHeldUser";
    return job->t_begin > now ? "BeginTime" : NULL;
}

double job_age_since (const struct job *job)
{
    if (job->t_age <= 0 || job->restarts > 0) /* t_begin is a back-off then */
        return job->t_age;
    return MAX (job->t_age, job->t_begin);
}

double job_backoff (unsigned n, double base, double max)
{
    double wait = base;
    if (n == 0)
        return 0;
    for (unsigned i = 1; i < n && wait < max; i++)
        wait *= 2;
    return MIN (wait, max);
}

/* -- names -- */

const char *job_state_name (enum job_state state)
{
    static const char *const names[] = {
        "NEW", "DEPEND", "PRIORITY", "SCHED", "RUN", "CLEANUP", "INACTIVE",
    };
    return (size_t)state < ARRAY_SIZE (names) ? names[state] : "UNKNOWN";
}

static const struct {
    const char *name, *letter;
    enum job_group group;
} phases[] = {
    [JOB_PENDING] = { "PENDING", "PD", JOB_GROUP_PENDING },
    [JOB_CONFIGURING] = { "CONFIGURING", "CF", JOB_GROUP_RUNNING },
    [JOB_RUNNING] = { "RUNNING", "R", JOB_GROUP_RUNNING },
    [JOB_COMPLETING] = { "COMPLETING", "CG", JOB_GROUP_RUNNING },
    [JOB_COMPLETED] = { "COMPLETED", "CD", JOB_GROUP_FINISHED },
    [JOB_FAILED] = { "FAILED", "F", JOB_GROUP_FINISHED },
    [JOB_CANCELLED] = { "CANCELLED", "CA", JOB_GROUP_FINISHED },
    [JOB_TIMEOUT] = { "TIMEOUT", "TO", JOB_GROUP_FINISHED },
    [JOB_NODE_FAIL] = { "NODE_FAIL", "NF", JOB_GROUP_FINISHED },
    [JOB_OUT_OF_MEMORY] = { "OUT_OF_MEMORY", "OOM", JOB_GROUP_FINISHED },
    [JOB_PREEMPTED] = { "PREEMPTED", "PR", JOB_GROUP_FINISHED },
    [JOB_DEADLINE] = { "DEADLINE", "DL", JOB_GROUP_FINISHED },
    [JOB_REQUEUED] = { "REQUEUED", "RQ", JOB_GROUP_PENDING },
};

const char *job_phase_name (enum job_phase phase)
{
    return (size_t)phase < ARRAY_SIZE (phases) ? phases[phase].name : "UNKNOWN";
}

enum job_group job_phase_group (enum job_phase phase)
{
    return (size_t)phase < ARRAY_SIZE (phases) ? phases[phase].group : JOB_GROUP_FINISHED;
}

const char *job_phase_letter (enum job_phase phase)
{
    return (size_t)phase < ARRAY_SIZE (phases) ? phases[phase].letter : "?";
}

int job_phase_from_name (const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE (phases); i++) {
        if (strcasecmp (name, phases[i].name) == 0
            || strcasecmp (name, phases[i].letter) == 0)
            return (int)i;
    }
    return -EINVAL;
}
