/* exec_job.c - see exec_job.h
 */
#include "broker/core/exec_job.h"

#include "broker/core/inside.h"
#include "broker/core/jobs.h"

void exec_job_free (struct exec_job *x)
{
    if (!x)
        return;
    users_release (&x->user);
    free ((char *)x->dir);
    free ((char *)x->spool);
    free ((char *)x->prolog);
    free ((char *)x->epilog);
    free ((char *)x->name);
    free ((char *)x->queue);
    free ((char *)x->cluster);
    free ((char *)x->namespace_);
    free ((char *)x->adopted);
    free ((char *)x->adopted_key);
    free ((char *)x->requeue_reason);
    json_decref (x->mounts);
    free (x);
}

/* Gives tasks of a restarted job the number of restarts, as in Slurm. Such a variable in
 * the environment of the submit belongs to another job. */
static int tell_restarts (struct jobspec *js, unsigned restarts)
{
    static const char *const names[] = { "FLUXQ_RESTART_COUNT", "SLURM_RESTART_COUNT" };
    bool change = restarts > 0;
    char count[16];
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (names); i++)
        change |= json_object_get (js->environment, names[i]) != NULL;
    if (!change)
        return 0;
    json_t *env = js->environment ? json_copy (js->environment) : json_object ();
    snprintf (count, sizeof (count), "%u", restarts);
    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        json_object_del (env, names[i]);
        if (restarts > 0)
            rc |= json_object_set_new (env, names[i], json_string (count));
    }
    if (!env || rc < 0) {
        json_decref (env);
        return -ENOMEM;
    }
    json_decref (js->environment);
    js->environment = env;
    return 0;
}

static struct exec_limits limits_of (const struct broker *b, const struct entry *e)
{
    const struct config_timeouts t = config_timeouts_of (
        broker_config (b), e->queue, e->js ? e->js->start_timeout : 0);

    /* The time of the administrator's program does not count for the job. */
    const struct config_admin admin = config_admin_of (broker_config (b), e->queue);
    double more = admin.prolog ? admin.timeout : 0;

    return (
        struct exec_limits){ .start = t.start + more, .place = t.place, .pull = t.pull };
}

bool exec_job_may_run_again (const struct broker *b, const struct jobspec *js)
{
    if (!js || js->requeue == JOBSPEC_UNSET)
        return broker_config (b)->requeue;
    return js->requeue == JOBSPEC_TRUE;
}

struct exec_job *exec_job_make (struct broker *b, struct entry *e,
                                const struct exec_user *user)
{
    const struct job *job = entry_job (e);
    struct exec_job *x = calloc (1, sizeof (*x));
    size_t size = strlen (b->jobs_dir) + 64;
    char *dir = malloc (size), *spool = malloc (size);

    if (!x || !dir || !spool || (e->js && tell_restarts (e->js, job->restarts) < 0)
        || users_copy (&x->user, user) < 0) {
        free (x);
        free (dir);
        free (spool);
        return NULL;
    }
    snprintf (dir, size, "%s/%ju", b->jobs_dir, (uintmax_t)entry_id (e));
    snprintf (spool, size, "%s/%ju/spool-%u", b->jobs_dir, (uintmax_t)entry_id (e),
              job->restarts);
    x->id = entry_id (e);
    x->attempt = job->restarts;
    x->array_job = job->array_job;
    x->array_task = job->array_task;
    x->name = strdup (job->name);
    x->queue = strdup (job->queue);
    x->cluster = strdup (broker_config (b)->cluster_id);
    x->namespace_ = job->namespace_ ? strdup (job->namespace_) : NULL;
    x->adopted = job->adopted ? strdup (job->adopted) : NULL;
    x->adopted_key = job->adopted_key ? strdup (job->adopted_key) : NULL;
    x->started = job->started ? job->t_start : 0;
    x->t_submit = job->t_submit;
    x->t_eligible = job->t_eligible;
    x->t_alloc = job->t_alloc;
    x->requeue_reason = job->requeue_reason ? strdup (job->requeue_reason) : NULL;
    x->js = e->js;
    x->r = e->r;
    x->time_limit = job->duration;
    x->limit_changed = job->limit_changed;
    x->nice =
        broker_config (b)->propagate_nice && e->js ? MAX (e->js->process.nice, 0) : 0;
    x->grace = broker_config (b)->grace;
    x->once = !exec_job_may_run_again (b, e->js);
    x->output_max = broker_config (b)->output_max;
    x->limits = limits_of (b, e);
    x->mounts = json_incref (broker_config (b)->queues[e->queue].mounts);
    x->dir = dir;
    x->spool = spool;
    const struct config_admin admin = config_admin_of (broker_config (b), e->queue);
    x->prolog = admin.prolog ? strdup (admin.prolog) : NULL;
    x->epilog = admin.epilog ? strdup (admin.epilog) : NULL;
    x->admin_timeout = admin.timeout;
    if (!x->name || !x->queue || !x->namespace_ != !job->namespace_
        || !x->adopted != !job->adopted || !x->adopted_key != !job->adopted_key
        || !x->prolog != !admin.prolog || !x->epilog != !admin.epilog) {
        exec_job_free (x);
        return NULL;
    }
    return x;
}
