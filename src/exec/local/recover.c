/* recover.c - recovers a local job that an earlier broker has started
 *
 *   rank 0's agent runs --------> watched at once -----+
 *                                                      |
 *   local_look() (worker): the spool, the key, the launch file
 *       |                                              |
 *       | never ready, no spool, no agent of rank 0    | key: the line to it; no agent:
 *       v                                              v the spool has the end
 *   no task has begun: start                        as if this broker had started it
 *
 * Rank 0 is the last to be spawned: without it and its spool no task has started, and the
 * other agents are ended. The directory belongs to the user, so a worker thread reads it;
 * until then the job is busy.
 */

#include "common/log.h"
#include "exec/local/private.h"

#define AGAIN_MS 1000

static void look (struct local_job *l);

static void look_again (uv_timer_t *t)
{
    struct local_job *l = t->data;

    if (!l->busy && !l->end_told) /* otherwise its agents have ended meanwhile */
        look (l);
}

/* The broker itself is short of something (descriptors): it does not act on unknown
 * facts. */
static bool knows_nothing (struct local_job *l, int status)
{
    if (status == 0 && (l->rc == 0 || l->rc == -ENOENT))
        return false;
    log_warning ("job %ju: cannot be picked up yet: %s", (uintmax_t)l->job->id,
                 status < 0 ? "out of memory" : l->err.text);
    l->looking = true;
    uv_timer_start (&l->timer, look_again, AGAIN_MS, 0);
    return true;
}

static void pick_up (struct local_job *l)
{
    l->entered = true;
    l->mute = !l->has_key;
    if (l->nagents > 0 && l->mute)
        log_warning (
            "job %ju: its key cannot be read (%s); the job can be watched but not "
            "controlled",
            (uintmax_t)l->job->id, l->err.text);
    if (l->nagents == 0) {
        local_look_at_spool (l);
    } else if (l->ending) {
        local_open_link (l);
        local_job_await_end (l);
    } else if (!l->mute) {
        local_job_link (l);
        local_job_resize (l->x, l->job);
    }
}

static void looked (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    l->looking = false;
    if (!local_work_ended (l))
        return;
    if (!l->cleaning && knows_nothing (l, status))
        return;
    if (!l->started && !l->cleaning && !l->has_spool && l->job->started <= 0) {
        agents_end (l->x->agents, l->launch, l->job->user.uid);
        local_job_begin (l);
        return;
    }
    if (!l->started) {
        local_job_adopt (l);
        if (l->cleaning)
            local_job_end_agents (l);
    }
    if (!l->cleaning) {
        pick_up (l);
        return;
    }
    l->entered |= l->has_launch;
    local_finish_cleanup (l);
}

static void look (struct local_job *l)
{
    l->looking = true;
    if (!local_work_begin (l, local_look, looked))
        looked (&l->work, -ENOMEM);
}

void local_job_recover (struct exec *x, struct exec_job *job)
{
    struct local_job *l = local_job_create (x, job);

    if (!l)
        return;
    l->ready_told = job->started > 0;
    if (agents_running (x->agents, l->launch, job->user.uid))
        local_job_adopt (l);
    look (l);
}

void local_recover_cleanup (struct local_job *l)
{
    local_job_adopt (l);
    look (l);
}
