/* resize.c - changes the size of a local job
 *
 *   grows:    launch file (worker) --> rank 0 is told --> prolog --> agents of the new ranks
 *                                  --> FRAME_RESIZED --> resized
 *   shrinks:  rank 0 is told --> FRAME_RESIZED --> their agents have ended --> epilog --> resized
 *
 * Every step can be repeated after a restart: rank 0 knows the change by its generation,
 * and running agents are not started a second time.
 */
#include <signal.h>

#include "common/log.h"
#include "exec/local/private.h"

static const struct exec_resize *change_of (const struct local_job *l)
{
    return &l->job->resize;
}

static bool grows (const struct local_job *l)
{
    return change_of (l)->nodes > change_of (l)->from;
}

static bool is_wanted (const struct local_job *l)
{
    return change_of (l)->active && !l->cleaning && !l->end_told && l->nagents > 0;
}

static void tell (struct local_job *l, bool done, const char *text)
{
    if (!change_of (l)->active || l->resize_told == change_of (l)->generation)
        return;
    l->resize_told = change_of (l)->generation;
    l->x->host->resized (l->x->host->arg, l->job->id, l->resize_told, done, text);
}

/* The result is not needed: these ranks have joined nobody, or were released. */
static void give_up (struct local_job *l, const char *text)
{
    agents_signal (l->x->agents, l, change_of (l)->from, SIGTERM);
    tell (l, false, text);
}

/* -- it grows -- */

static void spawn_new (struct local_job *l)
{
    for (uint32_t rank = change_of (l)->from; rank < change_of (l)->nodes; rank++) {
        if (agents_have (l->x->agents, l, rank, rank))
            continue;
        if (local_spawn_rank (l, rank) < 0) {
            give_up (l, l->err.text);
            return;
        }
    }
    l->resize_spawned = change_of (l)->generation;
}

static void prolog_done (struct local_admin *a, void *arg)
{
    struct local_job *l = arg;
    char text[512] = "";

    l->admin = NULL;
    if (admin_failure (a))
        snprintf (text, sizeof (text), "%s", admin_failure (a));
    admin_free (a);
    if (l->cleaning)
        local_finish_cleanup (l);
    else if (is_wanted (l) && text[0])
        give_up (l, text);
    else if (is_wanted (l))
        spawn_new (l);
}

static bool all_run (const struct local_job *l)
{
    for (uint32_t rank = change_of (l)->from; rank < change_of (l)->nodes; rank++)
        if (!agents_have (l->x->agents, l, rank, rank))
            return false;
    return true;
}

static void told (int rc, void *arg)
{
    struct local_job *l = arg;

    if (!is_wanted (l))
        return;
    if (rc < 0) { /* the job is ending; if not, the next broker tries again */
        if (grows (l))
            give_up (l, "rank 0's agent did not accept the change");
        return;
    }
    if (!grows (l) || l->admin)
        return;
    if (!l->job->prolog || all_run (l))
        spawn_new (l);
    else if (!(l->admin = admin_start (l->x, l->job, false, change_of (l)->from,
                                       change_of (l)->nodes, prolog_done, l)))
        give_up (l, "out of memory");
}

static void send_to_agent (struct local_job *l)
{
    local_open_link (l);
    if (l->link)
        agentresize_begin (&l->resize, l->link, l->job, l->job->limits.start, told, l);
}

static void launch_done (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    if (!local_work_ended (l))
        return;
    if (l->cleaning)
        local_finish_cleanup (l);
    else if (l->nagents == 0)
        local_look_at_spool (l);
    else if (!is_wanted (l))
        return;
    else if (status < 0 || l->rc < 0)
        give_up (l, l->err.text);
    else
        send_to_agent (l);
}

/* -- it shrinks -- */

static void epilog_done (struct local_admin *a, void *arg)
{
    struct local_job *l = arg;

    l->admin = NULL;
    admin_free (a); /* host->node_failed() has reported a failure */
    if (l->cleaning)
        local_finish_cleanup (l);
    else if (is_wanted (l))
        tell (l, true, "");
}

/* Whether a new rank has ended before all had come. */
static bool new_one_ended (const struct local_job *l)
{
    return is_wanted (l) && grows (l) && l->resize_spawned == change_of (l)->generation
           && l->resize_told != change_of (l)->generation && !all_run (l);
}

void local_resize_agent_gone (struct local_job *l)
{
    const struct exec_resize *to = change_of (l);

    if (new_one_ended (l)) {
        give_up (l, "the agent of a new node ended before it had joined");
        return;
    }

    if (!l->resize_done || !is_wanted (l) || l->admin
        || agents_have (l->x->agents, l, to->nodes, UINT32_MAX))
        return;
    l->resize_done = false;
    if (l->job->epilog)
        l->admin = admin_start (l->x, l->job, true, to->nodes, to->from, epilog_done, l);
    if (!l->admin)
        tell (l, true, "");
}

/* -- */

void local_resize_frame (struct local_job *l, const struct frame *f)
{
    char text[256];

    if (!agentresize_is_about (l->job, f) || !is_wanted (l))
        return;
    snprintf (text, sizeof (text), "%.*s", (int)MIN (f->len, 250), f->data);
    if (f->stream != 0)
        give_up (l, text);
    else if (grows (l))
        tell (l, true, "");
    else {
        /* The ranks of a growth that was reverted may never have joined. */
        agents_signal (l->x->agents, l, change_of (l)->nodes, SIGTERM);
        l->resize_done = true;
        local_resize_agent_gone (l);
    }
}

void local_job_resize (struct exec *x, struct exec_job *job)
{
    struct local_job *l = job->aux;

    (void)x;
    if (!l || !is_wanted (l) || l->busy)
        return; /* the job ends */
    l->resize_done = false;
    agentresize_end (&l->resize);
    if (!grows (l)) {
        send_to_agent (l);
        return;
    }
    if (!local_work_begin (l, local_put_launch_again, launch_done))
        log_warning ("job %ju: its new nodes cannot be prepared", (uintmax_t)job->id);
}
