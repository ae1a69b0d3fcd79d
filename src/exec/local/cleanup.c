/* cleanup.c - the end of a local job: its last agent, its orphans, its epilog, its files */
#include <signal.h>
#include <time.h>
#include <utlist.h>

#include "common/log.h"
#include "exec/local/private.h"
#include "exec/local/remains.h"

#define KILL_DELAY_MS 10000
#define REMAINS_TRIES 500 /* of 10 ms */

void local_end_remains (struct local_job *l)
{
    const struct timespec pause = { 0, 10 * 1000 * 1000 };

    for (int i = 0; i < REMAINS_TRIES && remains_kill (l->x->remains, l->job); i++)
        nanosleep (&pause, NULL);
    l->orphans = false;
}

static void job_cleaned (struct local_job *l)
{
    struct exec *x = l->x;
    uint64_t id = l->job->id;

    local_job_free (l);
    x->host->cleaned (x->host->arg, id);
}

static void cleaned_later (uv_timer_t *t)
{
    job_cleaned (t->data);
}

static void files_removed (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    (void)status;
    if (local_work_ended (l))
        job_cleaned (l);
}

static void strays_overdue (uv_timer_t *t)
{
    struct local_job *l = t->data;

    log_warning ("job %ju: processes left by its agents do not die",
                 (uintmax_t)l->job->id);
    l->unclean = false;
    local_finish_cleanup (l);
}

static void epilog_done (struct local_admin *a, void *arg)
{
    struct local_job *l = arg;

    l->admin = NULL;
    admin_free (
        /* host->node_failed() has reported a failure; the job's end does not change */
        a);
    local_finish_cleanup (l);
}

/* Runs after the last process of the job. */
static bool epilog_runs (struct local_job *l)
{
    if (!l->job->epilog || !l->entered || l->epilogue)
        return false;
    l->epilogue = true;
    size_t n = l->job->r ? l->job->r->nranks : 0;
    l->admin = admin_start (l->x, l->job, true, 0, n, epilog_done, l);
    return l->admin != NULL;
}

static void remains_work (uv_work_t *w)
{
    local_end_remains (w->data);
}

static void remains_done (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    (void)status;
    if (!local_work_ended (l))
        return;
    l->remains_ended = true;
    if (!remains_remove_group (l->x->remains, l->job->id, l->job->attempt))
        log_warning ("job %ju: processes in its cgroup do not die",
                     (uintmax_t)l->job->id);
    local_finish_cleanup (l);
}

/* True: their end is under way, and local_finish_cleanup() runs again after it. */
static bool remains_are_ending (struct local_job *l)
{
    if (l->remains_ended
        || (remains_remove_group (l->x->remains, l->job->id, l->job->attempt)
            && !l->orphans))
        return false;
    return local_work_begin (l, remains_work, remains_done);
}

void local_finish_cleanup (struct local_job *l)
{
    if (l->busy || l->admin || l->nagents > 0 || l->closing)
        return;
    if (l->unclean && agents_strays (l->x->agents)) {
        if (!l->waits)
            uv_timer_start (&l->timer, strays_overdue, KILL_DELAY_MS, 0);
        l->waits = true;
        return;
    }
    if (remains_are_ending (l) || epilog_runs (l))
        return;
    l->closing = true;
    if (!local_work_begin (l, local_remove_files, files_removed))
        uv_timer_start (&l->timer, cleaned_later, 0, 0);
}

/* Agents end by themselves after FINISH, but not without it. */
void local_job_end_agents (struct local_job *l)
{
    const struct exec_job *job = l->job;

    if (l->nagents == 0)
        return;
    if (!l->finish_seen)
        agents_signal (l->x->agents, l, 0, SIGTERM);
    else if (job->resize.active) /* agents on the way cannot find rank 0 any more */
        agents_signal (l->x->agents, l, job->resize.from, SIGTERM);
    uv_timer_start (&l->timer, local_kill_due, KILL_DELAY_MS, 0);
}

void local_job_cleanup (struct exec *x, struct exec_job *job)
{
    struct local_job *l = job->aux;
    bool found = !l;

    if (found && !(l = local_job_make (x, job))) {
        log_error ("out of memory: the broker stops rather than leave a process");
        abort ();
    }
    if (l->admin)
        admin_end (l->admin);
    l->cleaning = true;
    l->starting = false;
    l->end_told = true;
    local_close_link (l);
    if (found)
        local_recover_cleanup (l);
    local_job_end_agents (l);
    local_finish_cleanup (l);
}

void local_jobs_no_strays (void *arg)
{
    struct exec *x = arg;
    struct local_job *l;

    DL_FOREACH (x->jobs, l)
        if (l->waits)
            local_finish_cleanup (l);
}
