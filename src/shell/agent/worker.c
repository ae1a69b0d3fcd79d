/* worker.c - the agent's worker: reads its files, watches signals, and runs as root or
 * member */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/sha256.h"
#include "shell/agent/agent.h"
#include "shell/agent/userenv.h"
#include "shell/io/sock.h"
#include "shell/step/reap.h"

struct worker {
    struct agent agent;
    struct loop_io signals;
    struct loop_io guardian;
};

static void on_signals (struct loop_io *io, uint32_t events)
{
    struct worker *worker = CONTAINER_OF (io, struct worker, signals);
    struct agent *agent = &worker->agent;
    struct signalfd_siginfo info;
    (void)events;
    while (read (io->fd, &info, sizeof (info)) == sizeof (info)) {
        if (info.ssi_signo == SIGCHLD)
            agent->on_child (agent->arg);
        else
            agent->on_end (agent->arg, strsignal ((int)info.ssi_signo), false);
    }
}

static void on_guardian (struct loop_io *io, uint32_t events)
{
    struct worker *worker = CONTAINER_OF (io, struct worker, guardian);
    (void)events;
    loop_watch (&worker->agent.loop, io, 0);
    worker->agent.on_end (worker->agent.arg, "the agent was killed", true);
}

static int watch_signals (struct worker *worker, struct error *err)
{
    sigset_t set;
    sigemptyset (&set);
    sigaddset (&set, SIGCHLD);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGINT);
    sigaddset (&set, SIGHUP);
    sigprocmask (SIG_BLOCK, &set, NULL);
    signal (SIGPIPE, SIG_IGN);
    worker->signals.fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (worker->signals.fd < 0)
        return error_errno (err, errno, "signalfd");
    worker->signals.ready = on_signals;
    loop_watch (&worker->agent.loop, &worker->signals, EPOLLIN);
    return 0;
}

static int check_launch (const struct agent *agent, struct error *err)
{
    const struct launch *l = &agent->launch;
    bool later = agent->rank < l->max_nodes && getenv (AGENT_NODE_VARIABLE);
    if (l->nnodes == 0 || (agent->rank >= l->nnodes && !later))
        return error_set (err, EINVAL, "rank %u of a job of %zu nodes", agent->rank,
                          l->nnodes);
    if (!l->listen || !l->rendezvous || !l->spool)
        return error_set (err, EINVAL,
                          "the launch file lacks listen, rendezvous or spool");
    if (l->batch && !l->script)
        return error_set (err, EINVAL, "the launch file lacks the script");
    if (!l->batch && l->nargs == 0)
        return error_set (err, EINVAL, "the launch file lacks the command");
    if (sock_has_rank (l->rendezvous) && sock_is_unix (l->listen)
        && !sock_has_rank (l->listen))
        return error_set (err, EINVAL,
                          "listen address %s: needs a %%r, like rendezvous, so that the "
                          "ranks have different addresses",
                          l->listen);
    int rc = sock_check (l->listen, err);
    return rc < 0 ? rc : sock_check (l->rendezvous, err);
}

/* The launch file of a rank that starts later, or again, may be outdated. Sets the rank's
 * own node from the environment; rank 0 sends the rest. */
static int name_own_node (struct agent *agent)
{
    struct launch *l = &agent->launch;
    const char *name = getenv (AGENT_NODE_VARIABLE);
    const char *old = l->nodes[agent->rank].name;
    if (l->max_nodes == 0 || !name || !*name || (old && !strcmp (old, name)))
        return 0;
    struct launch_node node = { .name = strdup (name) };
    if (!node.name)
        return -ENOMEM;
    launch_put_node (l, agent->rank, &node);
    return 0;
}

static int read_files (struct agent *agent, const struct agent_options *options,
                       struct error *err)
{
    struct strbuf text = STRBUF_INIT (AGENT_LAUNCH_MAX);
    int rc = io_read_file (options->launch_path, &text, AGENT_LAUNCH_MAX, err);
    if (rc >= 0) {
        rc = launch_parse (text.buf, text.len, &agent->launch, err);
        if (rc < 0)
            error_prefix (err, "%s", options->launch_path);
    }
    strbuf_release (&text);
    if (rc < 0)
        return rc;
    rc = check_launch (agent, err);
    if (rc < 0)
        return rc;
    /* If only rank 0 has an address, all ranks are its children. */
    struct launch *l = &agent->launch;
    if (launch_make_room (l, l->max_nodes) < 0)
        return error_no_memory (err, NULL);
    if (name_own_node (agent) < 0)
        return error_no_memory (err, NULL);
    /* Also if ranks are added and removed: no rank shall lose its connection because
     * another leaves. */
    bool star = l->max_nodes > 0 || !sock_has_rank (l->rendezvous);
    tree_init (&agent->tree, MAX ((uint32_t)l->nnodes, l->max_nodes),
               star ? UINT32_MAX : l->fanout);
    rc = agent_key_read (options->key_path, agent->key);
    if (rc == -EINVAL)
        return error_set (err, EINVAL, "key %s: not %d hex digits", options->key_path,
                          2 * AGENT_KEY_SIZE);
    return rc < 0 ? error_errno (err, -rc, "key %s", options->key_path) : 0;
}

int agent_work (const struct agent_options *options, int guardian_fd)
{
    static struct worker worker;
    struct agent *agent = &worker.agent;
    struct error err = { 0 };
    reap_init ();
    /* The key will be in memory: no core, ptrace or /proc/mem. */
    prctl (PR_SET_DUMPABLE, 0);
    agent->rank = options->rank;
    int rc = loop_init (&agent->loop);
    if (rc < 0)
        error_errno (&err, -rc, "epoll");
    if (rc == 0)
        rc = read_files (agent, options, &err);
    if (rc == 0)
        rc = watch_signals (&worker, &err);
    if (rc < 0) {
        agent_log (agent, "%s", err.text);
        return 1;
    }
    /* Output files get the user's umask, but the user must have access to our sockets. */
    umask ((mode_t)agent->launch.umask & 077);
    user_env_add (agent);
    worker.guardian.fd = guardian_fd;
    worker.guardian.ready = on_guardian;
    loop_watch (&agent->loop, &worker.guardian, EPOLLIN);
    int status = agent->rank == 0 ? root_run (agent) : member_run (agent);
    secret_wipe (agent->key, sizeof (agent->key));
    loop_release (&agent->loop);
    launch_release (&agent->launch);
    close (worker.signals.fd);
    return status;
}
