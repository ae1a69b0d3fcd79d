/* local_job.c - the record of one job as local processes */
#include <utlist.h>

#include "common/hostlist.h"
#include "common/sha256.h"
#include "exec/local/private.h"

#define USAGE_MAX (8 << 20) /* bytes of frames; the rest is not reported */

static const struct exec_start_failure no_memory = { .text = "out of memory",
                                                     .pause_errno = ENOMEM };

static char *path_in (const struct exec_job *job, const char *name)
{
    char *path;

    return asprintf (&path, "%s/%s-%u", job->dir, name, job->attempt) < 0 ? NULL : path;
}

struct local_job *local_job_make (struct exec *x, struct exec_job *job)
{
    struct local_job *l = calloc (1, sizeof (*l));
    if (!l)
        return NULL;
    l->x = x;
    l->job = job;
    l->dir_fd = -1;
    l->launch = path_in (job, "launch");
    l->key_path = path_in (job, "key");
    l->script = path_in (job, "script");
    l->socket = path_in (job, "socket");
    if (!l->launch || !l->key_path || !l->script || !l->socket) {
        free (l->launch);
        free (l->key_path);
        free (l->script);
        free (l->socket);
        free (l);
        return NULL;
    }
    uv_timer_init (x->host->loop, &l->timer);
    l->timer.data = l;
    l->work.data = l;
    strbuf_init (&l->usage, USAGE_MAX);
    job->aux = l;
    DL_APPEND (x->jobs, l);
    return l;
}

struct local_job *local_job_create (struct exec *x, struct exec_job *job)
{
    struct local_job *l = local_job_make (x, job);

    if (!l)
        x->host->start_failed (x->host->arg, job->id, &no_memory);
    return l;
}

static void timer_closed (uv_handle_t *h)
{
    struct local_job *l = h->data;
    if (l->dir_fd >= 0)
        close (l->dir_fd);
    secret_wipe (l->key, sizeof (l->key));
    hostlist_destroy (l->blamed);
    strbuf_release (&l->usage);
    char *texts[] = { l->launch, l->key_path, l->script, l->socket };
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        free (texts[i]);
    free (l);
}

void local_close_link (struct local_job *l)
{
    agentresize_end (&l->resize);
    if (l->link)
        agentlink_close (l->link);
    l->link = NULL;
}

void local_job_free (struct local_job *l)
{
    local_close_link (l);
    admin_free (l->admin);
    l->admin = NULL;
    agents_forget (l->x->agents, l);
    DL_DELETE (l->x->jobs, l);
    l->job->aux = NULL;
    if (l->busy) {
        l->forgotten = true;
        uv_timer_stop (&l->timer);
    } else {
        uv_close ((uv_handle_t *)&l->timer, timer_closed);
    }
}

bool local_work_begin (struct local_job *l, uv_work_cb work, uv_after_work_cb done)
{
    l->no_agent = l->nagents == 0;
    l->busy = uv_queue_work (l->x->host->loop, &l->work, work, done) == 0;
    return l->busy;
}

bool local_work_ended (struct local_job *l)
{
    l->busy = false;
    if (l->forgotten)
        uv_close ((uv_handle_t *)&l->timer, timer_closed);
    return !l->forgotten;
}

void local_jobs_forget (struct exec *x)
{
    struct local_job *l, *next;
    DL_FOREACH_SAFE (x->jobs, l, next)
    {
        if (l->ending && !l->end_told) /* it must end, and may not know it yet */
            agents_signal (x->agents, l, 0, SIGTERM);
        local_job_free (l);
    }
}
