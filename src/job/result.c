/* result.c - the job as a user sees it: its phase, its result, the exit status of
 * --wait */

#include "common/parse.h"
#include "job/job.h"

/* The layout of a wait(2) status in glibc and the kernel; <sys/wait.h> is not for pure
 * code. */
static int status_signal (int status)
{
    return status & 0x7f;
}

static int status_code (int status)
{
    return (status >> 8) & 0xff;
}

/* The phase of a job that an exception of severity 0 ended. */
static enum job_phase exception_phase (const char *type)
{
    static const struct {
        const char *type;
        enum job_phase phase;
    } table[] = {
        { "cancel", JOB_CANCELLED },  { "timeout", JOB_TIMEOUT },
        { "timelimit", JOB_TIMEOUT }, { "node-lost", JOB_NODE_FAIL },
        { "oom", JOB_OUT_OF_MEMORY }, { "preempt", JOB_PREEMPTED },
        { "deadline", JOB_DEADLINE }, { "dependency", JOB_CANCELLED },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        if (strcmp (table[i].type, type) == 0)
            return table[i].phase;
    }
    return JOB_FAILED;
}

static enum job_phase final_phase (const struct job *job)
{
    const struct job_array *a = job->array;

    if (job->has_exception && job->exception_severity == 0)
        return exception_phase (job->exception_type);
    if (a && idset_count (a->failed) > 0)
        return JOB_FAILED;
    if (a && idset_count (a->cancelled) > 0)
        return JOB_CANCELLED;
    return job->finished && job->status == 0 ? JOB_COMPLETED : JOB_FAILED;
}

enum job_phase job_result_phase (const struct job *job)
{
    return final_phase (job);
}

enum job_phase job_phase (const struct job *job)
{
    switch (job->state) {
    case JOB_RUN:
        return job->started ? JOB_RUNNING : JOB_CONFIGURING;
    case JOB_CLEANUP:
        if (job->requeue)
            return JOB_REQUEUED;
        return job->t_alloc > 0 ? JOB_COMPLETING : final_phase (job);
    case JOB_INACTIVE:
        return final_phase (job);
    default:
        return JOB_PENDING;
    }
}

int job_exit_code (const struct job *job)
{
    enum job_phase phase = final_phase (job);
    if (phase == JOB_COMPLETED)
        return 0;
    if (phase == JOB_CANCELLED || !job->finished || job->status == 0)
        return 1;
    int sig = status_signal (job->status);
    return sig > 0 ? 128 + sig : status_code (job->status);
}

static void add_status (struct strbuf *sb, int status)
{
    int sig = status_signal (status);
    const char *name = sig > 0 ? sigabbrev_np (sig) : NULL;
    if (sig == 0)
        strbuf_addf (sb, "exited with status %d", status_code (status));
    else if (name)
        strbuf_addf (sb, "killed by signal %d (SIG%s)", sig, name);
    else
        strbuf_addf (sb, "killed by signal %d", sig);
}

static void add_exception (struct strbuf *sb, const struct job *job)
{
    const char *note = job->exception_note;
    switch (exception_phase (job->exception_type)) {
    case JOB_CANCELLED:
        strbuf_adds (sb, "cancelled");
        break;
    case JOB_TIMEOUT:
        strbuf_adds (sb, "time limit ");
        if (job->duration > 0) {
            strbuf_adds (sb, "of ");
            strbuf_add_duration (sb, job->duration);
            strbuf_addch (sb, ' ');
        }
        strbuf_adds (sb, "reached");
        note = NULL; /* repeats the text */
        break;
    case JOB_NODE_FAIL:
        strbuf_adds (sb, "node lost");
        break;
    case JOB_OUT_OF_MEMORY:
        if (note && strstr (note, "out of memory")) { /* has the node and the figures */
            strbuf_adds (sb, note);
            return;
        }
        strbuf_adds (sb, "out of memory");
        break;
    case JOB_PREEMPTED:
        strbuf_adds (sb, "preempted");
        break;
    case JOB_DEADLINE:
        strbuf_adds (sb, "deadline passed");
        break;
    default:
        if (!strcmp (job->exception_type, "start-failed"))
            strbuf_adds (sb, "could not start");
        else
            strbuf_addf (sb, "failed (%s)", job->exception_type);
        break;
    }
    if (note)
        strbuf_addf (sb, ": %s", note);
}

void job_result_text (const struct job *job, char *buf, size_t size)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);
    if (job->state != JOB_CLEANUP && job->state != JOB_INACTIVE)
        strbuf_adds (&sb, "");
    else if (job->has_exception && job->exception_severity == 0)
        add_exception (&sb, job);
    else if (job->array)
        job_array_add_result (job->array, &sb);
    else if (job->finished && job->status == 0)
        strbuf_addf (&sb, "completed%s%s", job->finish_text ? "; " : "",
                     job->finish_text ? job->finish_text : "");
    else if (job->finished && job->finish_text)
        strbuf_adds (&sb, job->finish_text);
    else if (job->finished)
        add_status (&sb, job->status);
    else if (job->requeue)
        strbuf_addf (&sb, "queued again: %s", job->requeue_reason);
    else if (job->state == JOB_INACTIVE)
        strbuf_adds (&sb, "ended without a status");
    snprintf (buf, size, "%s", sb.buf);
}
