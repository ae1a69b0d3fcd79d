/* run.c - one job as local processes
 *
 *   start --> files (worker) --> spawn agents --> RUNNING --> rank 0 exits
 *                                      |             --> read spool (worker) --> finished
 *                                      |  after 30 ms: agentlink, for READY and FINISH
 *   cleanup.c: wait for the last agent (SIGKILL after 10 s) and for its orphans
 *           --> remove files --> cleaned
 *
 * The spool is authoritative. A job shorter than 30 ms never needs the line to its agent.
 */
#include <signal.h>
#include <sys/wait.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/parse.h"
#include "exec/local/private.h"
#include "exec/local/remains.h"

#define LINK_DELAY_MS 30
#define KILL_DELAY_MS 10000
#define AGAIN_MS 500 /* until the next try after a shortage of the machine */
#define TERMINATE_SLACK 30.0 /* seconds after the grace until idle agents are killed */
#define UNREADY_SLACK 3.0 /* the same before all are ready: nothing of the user runs */
/* time after its limit that rank 0 has to name the missing ranks */
#define JOIN_SLACK_MS 1000

static void agent_exited (uint32_t rank, int status, bool known, void *arg);

/* -- the spool, on a worker thread -- */

static void spool_work (uv_work_t *w)
{
    struct local_job *l = w->data;

    if (l->orphans && l->no_agent)
        local_end_remains (l);
    local_read_spool (l);
}

static void look_again (uv_timer_t *t)
{
    local_look_at_spool (t->data);
}

static void spool_done (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    if (!local_work_ended (l))
        return;
    if (l->spool_errno && !l->finish_seen && !l->cleaning) { /* the spool is not lost */
        local_tell_shortage (l, l->job->spool, l->spool_errno);
        uv_timer_start (&l->timer, look_again, AGAIN_MS, 0);
        return;
    }
    if (status == 0 && l->ready_seen)
        local_tell_ready (l);
    local_tell_usages (l);
    if (l->finish_seen)
        local_tell_finish (l, &l->finish);
    else
        local_tell_lost (l);
    if (l->cleaning)
        local_finish_cleanup (l);
}

void local_look_at_spool (struct local_job *l)
{
    if (l->busy || l->end_told)
        return;
    if (!local_work_begin (l, spool_work, spool_done))
        local_tell_lost (l);
}

/* -- the line to rank 0 -- */

static void on_frame (const struct frame *f, void *arg)
{
    struct local_job *l = arg;
    if (f->type == FRAME_READY)
        local_tell_ready (l);
    else if (f->type == FRAME_USAGE)
        local_tell_usage (l, f);
    else if (f->type == FRAME_CALL)
        l->x->host->call (l->x->host->arg, l->job->id);
    else if (f->type == FRAME_NOTE)
        l->x->host->output (l->x->host->arg, l->job->id);
    else if (f->type == FRAME_RESIZED)
        local_resize_frame (l, f);
    else if (f->type == FRAME_LOST && !l->busy) /* otherwise a worker reads the spool */
        local_note_lost (l, f);
}

static void on_finish (const struct frame_finish *fin, void *arg)
{
    local_tell_finish (arg, fin);
}

void local_open_link (struct local_job *l)
{
    static const struct agentlink_events events = { .on_frame = on_frame,
                                                    .on_finish = on_finish };
    struct error err = { 0 };
    char path[64], host[64];

    if (l->link || l->end_told || l->nagents == 0 || l->looking || l->mute)
        return;
    snprintf (path, sizeof (path), "/proc/self/fd/%d/socket-%u-0", l->dir_fd,
              l->job->attempt);
    /* A host name of its own: the number in path is reused, and a connection to another
     * job must not serve. */
    snprintf (host, sizeof (host), "http://job%ju-%u", (uintmax_t)l->job->id,
              l->job->attempt);
    struct agentlink_where where = { .unix_socket = path,
                                     .peer = l->job->user.uid,
                                     .url_prefix = host };
    l->link = agentlink_open (l->x->http, l->x->host->loop, &where, l->key, 0, &events, l,
                              &err);
    if (!l->link)
        log_warning ("job %ju: no connection to its agent: %s", (uintmax_t)l->job->id,
                     err.text);
    else if (l->ending)
        agentlink_terminate (l->link, l->end_reason, l->job->grace);
    if (l->link && l->job->limit_changed)
        agentlink_limit (l->link, l->job->time_limit);
}

/* The start has failed because of this rank. Ends all agents; then the spool tells
 * whether they were ready after all. */
static void break_start (struct local_job *l, uint32_t rank, const char *why)
{
    if (l->broken[0] || l->ending)
        return;
    snprintf (l->broken, sizeof (l->broken), "%s", why);
    local_blame (l, rank);
    l->starting = false;
    agents_signal (l->x->agents, l, 0, SIGTERM);
    uv_timer_start (&l->timer, local_kill_due, (uint64_t)(UNREADY_SLACK * 1000.0), 0);
}

/* Rank 0 would have named the missing ranks by now: it is missing itself. */
static void give_up_start (struct local_job *l)
{
    autostrbuf struct strbuf text = STRBUF_INIT (512);

    strbuf_adds (&text, "not ready after ");
    strbuf_add_duration (&text, l->job->limits.start);
    strbuf_addf (&text, ": node %.200s: its agent does not answer",
                 l->job->r->ranks[0].node);
    break_start (l, 0, text.buf ? text.buf : "not ready in time");
}

/* The line may be broken: the spool has the truth. */
static void overdue_looked (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    if (!local_work_ended (l))
        return;
    if (l->cleaning) {
        local_finish_cleanup (l);
        return;
    }
    if (status == 0 && l->ready_seen)
        local_tell_ready (l);
    local_tell_usages (l);
    if (l->finish_seen)
        local_tell_finish (l, &l->finish);
    else if (l->nagents == 0)
        local_look_at_spool (l);
    else if (!l->ready_seen && !l->ending)
        give_up_start (l);
}

static void start_overdue (uv_timer_t *t)
{
    struct local_job *l = t->data;

    l->starting = false;
    if (!l->busy && !local_work_begin (l, spool_work, overdue_looked))
        give_up_start (l);
}

static void link_due (uv_timer_t *t)
{
    struct local_job *l = t->data;
    double limit = l->job->limits.start * 1000.0 + JOIN_SLACK_MS;

    local_open_link (l);
    if (l->dir_fd < 0 && !l->end_told && !l->ending) {
        uv_timer_start (t, link_due, AGAIN_MS, 0);
        return;
    }
    l->starting = !l->ready_told && !l->end_told && !l->ending;
    if (l->starting)
        uv_timer_start (t, start_overdue, (uint64_t)limit, 0);
}

/* -- agents -- */

/* Appends --groups as a list; "" without any. */
static void add_groups (struct strbuf *sb, const struct exec_user *user)
{
    for (size_t i = 0; i < user->ngroups; i++)
        strbuf_addf (sb, "%s%u", i ? "," : "", (unsigned)user->groups[i]);
}

/* By fluxq-launch, as the user. */
static int launch_rank (struct local_job *l, uint32_t rank)
{
    const struct launcher_agent agent = { .uid = l->job->user.uid,
                                          .job = l->job->id,
                                          .attempt = l->job->attempt,
                                          .rank = rank,
                                          .launch = l->launch,
                                          .key = l->key_path };

    return agents_launch (l->x->agents, &agent, agent_exited, l, &l->err);
}

int local_spawn_rank (struct local_job *l, uint32_t rank)
{
    autofree char *cgroup =
        remains_make_group (l->x->remains, l->job->id, l->job->attempt);
    autostrbuf struct strbuf groups = STRBUF_INIT (1 << 20);
    char number[16], uid[16], gid[16];
    const struct exec_user *user = &l->job->user;
    const char *path = l->x->host->shell_path;

    add_groups (&groups, user);
    const char *argv[] = { path,        "--launch", l->launch, "--key",
                           l->key_path, "--rank",   number,    NULL,
                           uid,         "--gid",    gid,       "--groups",
                           groups.buf,  NULL,       NULL,      NULL };
    size_t n = geteuid () == 0 ? 13 : 7;

    snprintf (number, sizeof (number), "%u", (unsigned)rank);
    snprintf (uid, sizeof (uid), "%u", (unsigned)user->uid);
    snprintf (gid, sizeof (gid), "%u", (unsigned)user->gid);
    if (geteuid () == 0)
        argv[7] = "--uid";
    if (cgroup) {
        argv[n] = "--cgroup";
        argv[n + 1] = cgroup;
        argv[n + 2] = NULL;
    }
    int rc = launcher_is_on () ? launch_rank (l, rank)
                               : agents_spawn (l->x->agents, (char *const *)argv, rank,
                                               agent_exited, l, &l->err);
    l->nagents += rc == 0;
    return rc;
}

/* Each agent is spawned before those that connect to it, but rank 0 last: they retry
 * until it listens, and its spool shows that all were spawned. */
static int spawn_all (struct local_job *l)
{
    size_t n = l->job->r->nranks;
    int rc = 0;

    for (size_t i = 1; i <= n && rc == 0; i++)
        rc = local_spawn_rank (l, (uint32_t)(i % n));
    return rc;
}

/* Nobody needs the job any more, and all reports were made. */
static bool is_unwanted (struct local_job *l)
{
    if (l->cleaning)
        local_finish_cleanup (l);
    else if (l->ending)
        local_tell_start_failed (l, false, "ended before it began");
    return l->cleaning || l->ending;
}

static void begin_agents (struct local_job *l)
{
    l->started = true;
    if (spawn_all (l) < 0) {
        agents_signal (l->x->agents, l, 0, SIGTERM);
        if (error_shortage (l->err.code))
            local_tell_short (l, l->err.code, l->err.text);
        else
            local_tell_start_failed (l, true, l->err.text);
        return;
    }
    uv_timer_start (&l->timer, link_due, LINK_DELAY_MS, 0);
}

static void prolog_done (struct local_admin *a, void *arg)
{
    struct local_job *l = arg;

    l->admin = NULL;
    if (!is_unwanted (l)) {
        if (admin_failure (a))
            local_tell_prolog_failed (l, a);
        else
            begin_agents (l);
    }
    admin_free (a);
}

static void files_done (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    if (!local_work_ended (l) || is_unwanted (l))
        return;
    if (status == 0 && l->rc < 0 && l->put_errno) {
        local_tell_short (l, l->put_errno, l->err.text);
        return;
    }
    if (status < 0 || l->rc < 0) {
        local_tell_start_failed (l, false, l->err.text);
        return;
    }
    l->entered = true;
    if (!l->job->prolog)
        begin_agents (l);
    else if (!(l->admin = admin_start (l->x, l->job, false, 0, l->job->r->nranks,
                                       prolog_done, l)))
        local_tell_short (l, ENOMEM, "out of memory");
}

static void broken_looked (uv_work_t *w, int status)
{
    struct local_job *l = w->data;

    if (!local_work_ended (l))
        return;
    if (l->cleaning)
        local_finish_cleanup (l);
    else if (l->nagents == 0)
        local_look_at_spool (l);
    else if (status == 0 && l->ready_seen)
        local_tell_ready (l);
    else if (!l->finish_seen)
        break_start (l, l->gone_rank, l->gone);
}

/* Other agents run. Unless the job has begun, or is ending, they would wait for this
 * one. */
static void look_at_start (struct local_job *l, uint32_t rank, int status, bool known)
{
    const char *node = rank < l->job->r->nranks ? l->job->r->ranks[rank].node : "?";

    if (l->ready_told || l->end_told || l->ending || l->cleaning || l->busy
        || l->broken[0])
        return;
    l->gone_rank = rank;
    snprintf (l->gone, sizeof (l->gone),
              "node %.200s: its agent %s before all were ready", node,
              known && WIFSIGNALED (status) ? "was killed" : "ended");
    if (!local_work_begin (l, spool_work, broken_looked))
        break_start (l, rank, l->gone);
}

static void agent_exited (uint32_t rank, int status, bool known, void *arg)
{
    struct local_job *l = arg;

    l->nagents--;
    if (known && WIFSIGNALED (status))
        log_warning ("job %ju: an agent was killed by signal %d", (uintmax_t)l->job->id,
                     WTERMSIG (status));
    l->unclean |= known && !agent_cleared_away (status);
    /* The spool is complete once the last agent has ended; rank 0 is no exception. */
    if (l->nagents > 0) {
        look_at_start (l, rank, status, known);
        local_resize_agent_gone (l);
    } else if (l->cleaning)
        local_finish_cleanup (l);
    else
        local_look_at_spool (l);
}

/* -- verbs -- */

static void failed_later (uv_timer_t *t)
{
    struct local_job *l = t->data;
    local_tell_short (l, ENOMEM, l->err.text);
}

void local_job_begin (struct local_job *l)
{
    if (!local_work_begin (l, local_put_files, files_done)) {
        error_set (&l->err, ENOMEM, "out of memory");
        uv_timer_start (&l->timer, failed_later, 0, 0);
    }
}

void local_job_start (struct exec *x, struct exec_job *job)
{
    struct local_job *l = local_job_create (x, job);

    if (l)
        local_job_begin (l);
}

void local_job_adopt (struct local_job *l)
{
    l->started = true;
    l->nagents = agents_adopt (l->x->agents, l->launch, l->job->user.uid, agent_exited, l);
    l->entered |= l->nagents > 0;
    l->orphans = true;
}

void local_job_link (struct local_job *l)
{
    uv_timer_start (&l->timer, link_due, 0, 0);
}

static void killed_outright (uv_timer_t *t)
{
    struct local_job *l = t->data;
    agents_signal (l->x->agents, l, 0, SIGKILL);
}

void local_kill_due (uv_timer_t *t)
{
    struct local_job *l = t->data;
    agents_kill (l->x->agents, l);
    uv_timer_start (&l->timer, killed_outright, KILL_DELAY_MS, 0);
}

/* Whatever the user has done to the agents (stopped them, removed their key or socket),
 * an ended job gives its nodes back. */
static void agents_overdue (uv_timer_t *t)
{
    struct local_job *l = t->data;

    log_warning ("job %ju: its agents do not end the job and are killed",
                 (uintmax_t)l->job->id);
    l->killed = true;
    local_kill_due (t);
}

void local_job_await_end (struct local_job *l)
{
    double slack = l->ready_told ? TERMINATE_SLACK : UNREADY_SLACK;

    if (l->ready_told && l->job->js && l->job->js->stage_out.n > 0)
        slack += AGENT_STAGE_SECONDS;
    if (l->mute)
        agents_signal (l->x->agents, l, 0, SIGTERM);
    if (l->nagents > 0)
        uv_timer_start (&l->timer, agents_overdue,
                        (uint64_t)((l->end_grace + slack) * 1000.0), 0);
}

void local_job_terminate (struct exec *x, struct exec_job *job, const char *reason,
                          double grace)
{
    struct local_job *l = job->aux;

    (void)x;
    if (!l || l->end_told)
        return;
    bool first = !l->ending;
    if (l->starting) { /* the end has a time limit of its own */
        uv_timer_stop (&l->timer);
        l->starting = false;
    }
    if (first)
        snprintf (l->end_reason, sizeof (l->end_reason), "%s", reason);
    l->ending = true;
    l->end_grace = grace;
    if (l->admin)
        admin_end (l->admin);
    if (!l->link)
        local_open_link (l);
    else
        agentlink_terminate (l->link, reason, grace);
    if (first)
        local_job_await_end (l);
}

/* The line to the job's agent; NULL and ESRCH: there is none. */
static struct agentlink *link_of (const struct exec_job *job, struct error *err)
{
    struct local_job *l = job->aux;

    if (!l || l->nagents == 0 || l->end_told)
        return error_null (error_set (err, ESRCH, "it does not run (any more)"));
    local_open_link (l);
    if (!l->link)
        error_set (err, ESRCH, "its agent cannot be reached");
    return l->link;
}

int local_job_signal (struct exec *x, struct exec_job *job, int signum,
                      enum exec_whom whom, int64_t step, void (*done) (int rc, void *arg),
                      void *arg, struct error *err)
{
    struct agentlink *link = link_of (job, err);

    (void)x;
    if (!link)
        return -ESRCH;
    agentlink_signal (link, signum, whom, step, done, arg);
    return 0;
}

int local_job_steps (struct exec *x, struct exec_job *job, bool fresh,
                     exec_steps_fn *done, void *arg, struct error *err)
{
    struct agentlink *link = link_of (job, err);

    (void)x;
    if (!link)
        return -ESRCH;
    agentlink_steps (link, fresh, done, arg);
    return 0;
}

int local_job_connect (struct exec *x, struct exec_job *job,
                       const struct agentstream_events *ev, void *arg,
                       struct agentstream **ret, struct error *err)
{
    struct agentlink *link = link_of (job, err);

    (void)x;
    if (!link)
        return -ESRCH;
    *ret = agentlink_connect (link, ev, arg, err);
    return *ret ? 0 : -EIO;
}

void local_job_limit (struct exec *x, struct exec_job *job)
{
    const struct local_job *l = job->aux;

    (void)x;
    if (l && l->link) /* otherwise when the link opens */
        agentlink_limit (l->link, job->time_limit);
}
