/* member.c - the ranks other than 0: join, run the tasks, report and pass messages on
 *
 * The parent is above (uplink.h), children may be below (server.h). Messages from below
 * go up unchanged. Messages from above are for this rank, for one rank below, or for all;
 * the children get the latter first. A rank without children does not listen.
 *
 * The parent of a lost child reports the loss to rank 0. A rank that loses its parent
 * kills its processes and exits, as do all ranks below it. The key is kept until all
 * children have joined.
 */

#include "common/macros.h"
#include "common/sha256.h"
#include "shell/agent/agent.h"
#include "shell/agent/client_listener.h"
#include "shell/agent/server.h"
#include "shell/agent/uplink.h"
#include "shell/io/hostfile.h"
#include "shell/io/mpidir.h"
#include "shell/io/resizefile.h"
#include "shell/io/sock.h"
#include "shell/io/stage.h"
#include "shell/io/wire.h"
#include "shell/step/cgroup.h"
#include "shell/step/stepd.h"
#include "shell/step/task.h"

struct member {
    struct agent *agent;
    struct tasks *tasks;
    struct uplink *up;
    struct stage *stage;
    struct stepd *stepd;
    struct client_listener *listener; /* NULL: could not be created */
    struct server *server;   /* NULL: no children, or it cannot listen */
    char *listen;            /* address of the listening socket; NULL: none (any more) */
    uint32_t njoined;        /* children that have ever joined */
    struct loop_timer timer; /* latest time to exit when leaving */
    int64_t credit;          /* bytes of output that rank 0 accepts now */
    bool fell_back;
    bool has_size;        /* its resize file exists */
    bool ending;          /* all processes are being killed */
    bool leaving;         /* WIRE_EXIT was received */
    bool orphaned;        /* the parent or the guardian is lost */
    struct error problem; /* why the tasks cannot start */
};

static void put (struct member *m, uint8_t type, uint8_t stream, uint32_t task,
                 const void *data, size_t len)
{
    uplink_put (m->up, &(struct frame){ .type = type,
                                        .stream = stream,
                                        .rank = m->agent->rank,
                                        .task = task,
                                        .len = (uint32_t)len,
                                        .data = data });
}

/* -- this rank's tasks -- */

static size_t on_room (void *ctx)
{
    struct member *m = ctx;
    return m->credit > 0 ? (size_t)m->credit : 0;
}

static void on_output (void *ctx, uint32_t task, int stream, const char *data, size_t len)
{
    struct member *m = ctx;
    m->credit -= (int64_t)len;
    put (m, FRAME_OUTPUT, (uint8_t)stream, task, data, len);
}

static void on_exited (void *ctx, uint32_t task, int status, bool oom)
{
    struct member *m = ctx;
    uint8_t data[4];
    if (m->orphaned)
        return; /* we killed the task: rank 0 shall see a lost rank, not a failed task */
    if (oom) {
        uint8_t figures[CGROUP_MEMORY_SIZE];
        struct cgroup_memory now = cgroup_memory_now ();
        cgroup_memory_put (figures, &now);
        put (m, WIRE_OOM, 0, 0, figures, sizeof (figures));
    }
    wire_put_u32 (data, (uint32_t)status);
    put (m, FRAME_EXIT, oom, task, data, sizeof (data));
}

static void put_usage (struct member *m, uint8_t stream, struct use use)
{
    char text[USE_TEXT_MAX];
    size_t len = use_encode (&use, text);
    put (m, WIRE_USAGE, stream, 0, text, len);
}

static void on_killed (void *ctx)
{
    struct member *m = ctx;
    if (m->orphaned) {
        loop_stop (&m->agent->loop, 1);
        return;
    }
    put_usage (m, 0, tasks_own_use (m->tasks));
    put_usage (m, 1, tasks_use (m->tasks));
    put (m, WIRE_DONE, 0, 0, NULL, 0);
}

static const struct task_events task_events = { on_room, on_output, on_exited, on_killed,
                                                NULL };

/* -- staging of files -- */

static void on_file (void *ctx, const struct frame *frame)
{
    struct member *m = ctx;
    m->credit -= (int64_t)frame->len;
    put (m, frame->type, frame->stream, frame->task, frame->data, frame->len);
}

static void on_stage_problem (void *ctx, const char *text)
{
    put (ctx, WIRE_STAGE_FAIL, 0, 0, text, strlen (text));
}

/* Before the tasks: this rank is ready or cannot start, and joins to report either. */
static void on_staged (void *ctx, const struct error *err)
{
    struct member *m = ctx;
    if (uplink_started (m->up)) {
        put (m, WIRE_STAGED, 0, 0, NULL, 0);
        return;
    }
    if (err->code)
        m->problem = *err;
    uplink_start (m->up);
}

static const struct stage_events stage_events = { on_room, on_file, on_stage_problem,
                                                  on_staged };

/* Whether events->done will be called. */
static bool begin_staging (struct member *m)
{
    const char *name;
    int fd = tasks_cwd (m->tasks, &name);
    if (fd >= 0)
        stage_set_directory (m->stage, fd, name);
    if (m->problem.code || stage_check (m->stage, &m->problem) < 0
        || !stage_has_in (&m->agent->launch, m->agent->rank))
        return false;
    stage_in (m->stage);
    return true;
}

/* -- from above -- */

/* A node that is added to a malleable job. */
static void on_node (struct member *m, const struct frame *msg)
{
    struct launch *l = &m->agent->launch;
    struct launch_node node;
    struct error err;
    if (msg->task >= l->nodes_room)
        return;
    if (launch_read_node (msg->data, msg->len, &node, &err) < 0)
        agent_log (m->agent, "rank %u: %s", msg->task, err.text);
    else
        launch_put_node (l, msg->task, &node);
}

/* Local ranks share one directory, where rank 0 writes the file. */
static int write_hostfile (const struct member *m, struct error *err)
{
    const struct launch *l = &m->agent->launch;
    return sock_is_unix (l->listen) ? 0 : hostfile_write (l, err);
}

/* The number of nodes changes or has changed. */
static void on_size (struct member *m, const struct wire_resize *change)
{
    struct launch *l = &m->agent->launch;
    struct error err;
    if (change->to == 0 || change->to > MAX (l->nodes_room, l->nnodes)
        || !l->nodes[change->to - 1].name)
        return;
    if (change->state == WIRE_RESIZE_DONE)
        l->nnodes = change->to;
    m->has_size = true;
    if (change->state == WIRE_RESIZE_DONE && write_hostfile (m, &err) < 0)
        agent_log (m->agent, "%s", err.text);
    if (resizefile_write (l, m->agent->rank, change, &err) < 0)
        agent_log (m->agent, "%s", err.text);
}

static void start_tasks (struct member *m, const struct frame *msg)
{
    struct error err = { 0 };
    const struct launch *l = &m->agent->launch;
    uint32_t n = (uint32_t)l->nnodes;
    if (l->max_nodes > 0 && !m->has_size)
        on_size (m,
                 &(struct wire_resize){ .state = WIRE_RESIZE_DONE, .from = n, .to = n });
    m->credit = msg->task;
    if (tasks_start (m->tasks, wire_get_u64 (msg->data), &err) < 0)
        put (m, WIRE_FAIL, 0, 0, err.text, strlen (err.text));
}

/* The ranks below have been told already; the connections close from below. */
static void leave (struct member *m)
{
    const struct agent *agent = m->agent;
    m->ending = m->leaving = true;
    loop_timer_set (&m->agent->loop, &m->timer,
                    loop_now ()
                        + AGENT_LEAVE_GRACE * tree_height (&agent->tree, agent->rank));
}

/* Handles a message of rank 0 to this rank. False: the message is invalid. */
static bool on_message (struct member *m, const struct frame *msg)
{
    switch (msg->type) {
    case WIRE_START:
        if (msg->len == 8 && !m->ending)
            start_tasks (m, msg);
        break;
    case WIRE_CREDIT:
        m->credit += msg->task;
        if (m->credit > 0) {
            tasks_resume (m->tasks);
            stage_resume (m->stage);
        }
        break;
    case WIRE_SIGNAL:
        tasks_signal (m->tasks, (int)msg->task, (enum tasks_whom)msg->stream);
        break;
    case WIRE_LIMIT:
        if (msg->len == 8)
            tasks_set_end_time (m->tasks, wire_get_u64 (msg->data));
        break;
    case WIRE_NODE:
        on_node (m, msg);
        break;
    case WIRE_RESIZE:
        if (msg->len == WIRE_RESIZE_SIZE) {
            const struct wire_resize change = wire_get_resize (msg->data);
            on_size (m, &change);
        }
        break;
    case WIRE_END:
        m->ending = true;
        tasks_kill (m->tasks);
        break;
    case WIRE_STAGE:
        stage_out (m->stage);
        break;
    case WIRE_EXIT:
        leave (m);
        break;
    default:
        if (msg->type >= WIRE_STEP_START)
            stepd_message (m->stepd, msg);
        else if (msg->type >= WIRE_RUN_STARTED && m->listener)
            client_listener_message (m->listener, msg);
        else
            return false;
    }
    return true;
}

/* Messages of steps and of this rank's clients to rank 0. */
static void step_up (void *ctx, const struct frame *msg)
{
    struct member *m = ctx;
    if (!m->orphaned)
        put (m, msg->type, msg->stream, msg->task, msg->data, msg->len);
}

static bool from_above (void *ctx, const struct frame *msg)
{
    struct member *m = ctx;
    const struct agent *agent = m->agent;
    if (msg->rank == agent->rank)
        return on_message (m, msg);
    if (msg->rank == WIRE_ALL) {
        if (m->server)
            server_broadcast (m->server, msg);
        return on_message (m, msg);
    }
    if (tree_route (&agent->tree, agent->rank, msg->rank) == TREE_NONE)
        return false;
    if (m->server)
        server_send (m->server, msg->rank, msg);
    return true;
}

/* The connection to rank 0 is lost: ends all processes here and below. */
static void abandon (struct member *m)
{
    if (m->orphaned)
        return; /* already leaving */
    m->orphaned = true;
    if (m->server)
        server_broadcast (m->server, &(struct frame){ .type = WIRE_END });
    tasks_kill (m->tasks);
}

static void on_lost (void *ctx)
{
    struct member *m = ctx;
    if (m->leaving)
        loop_stop (&m->agent->loop, 0); /* everything was reported */
    else
        abandon (m);
}

static void on_gave_up (void *ctx)
{
    struct member *m = ctx;
    loop_stop (&m->agent->loop, 1);
}

/* After all children have joined, accepts no further connection and wipes the key. */
static void settle (struct member *m)
{
    struct agent *agent = m->agent;
    if (m->njoined < tree_nchildren (&agent->tree, agent->rank))
        return;
    if (m->listen) {
        server_shut (m->server);
        sock_unlink (m->listen);
        free (m->listen);
        m->listen = NULL;
    }
    if (uplink_joined (m->up))
        secret_wipe (agent->key, sizeof (agent->key));
}

static void on_joined (void *ctx)
{
    struct member *m = ctx;
    const char *name = m->agent->launch.nodes[m->agent->rank].name;
    put (m, WIRE_JOIN, 0,
         m->problem.code ? WIRE_JOIN_FAILS
         : m->fell_back  ? WIRE_JOIN_FELL_BACK
                         : WIRE_JOIN_READY,
         name, strlen (name));
    if (m->problem.code)
        put (m, WIRE_FAIL, 0, 0, m->problem.text, strlen (m->problem.text));
    settle (m);
}

static const struct uplink_events uplink_events = { on_joined, from_above, on_lost,
                                                    on_gave_up };

/* -- from below -- */

static bool child_join (void *ctx, uint32_t rank, const struct frame *msg,
                        const char **ret_why)
{
    struct member *m = ctx;
    return agent_is_node (m->agent, rank, msg, ret_why);
}

static bool child_message (void *ctx, uint32_t rank, const struct frame *msg)
{
    struct member *m = ctx;
    uplink_put (m->up, msg);
    if (msg->type == WIRE_JOIN && tree_parent (&m->agent->tree, rank) == m->agent->rank) {
        m->njoined++;
        settle (m);
    }
    return true;
}

static void child_closed (void *ctx, uint32_t rank, const char *why)
{
    struct member *m = ctx;
    if (m->leaving || m->orphaned)
        return; /* the child closes as expected */
    uplink_put (m->up, &(struct frame){ .type = WIRE_LOST,
                                        .rank = rank,
                                        .len = (uint32_t)strlen (why),
                                        .data = why });
}

static void child_request (void *ctx, struct conn *conn, const struct http_request *req)
{
    (void)ctx;
    (void)req;
    server_reply (conn, 404, "text/plain", "requests are for rank 0\n");
}

static void child_log (void *ctx, const char *text)
{
    struct member *m = ctx;
    agent_log (m->agent, "%s", text);
}

static const struct server_events server_events = { .join = child_join,
                                                    .message = child_message,
                                                    .closed = child_closed,
                                                    .request = child_request,
                                                    .log = child_log };

/* -- the agent's own events -- */

static void on_timer (struct loop_timer *timer)
{
    struct member *m = CONTAINER_OF (timer, struct member, timer);
    loop_stop (&m->agent->loop, 0);
}

static void on_child (void *arg)
{
    struct member *m = arg;
    tasks_reap (m->tasks);
}

static void on_end (void *arg, const char *why, bool guardian_died)
{
    struct member *m = arg;
    if (!uplink_joined (m->up)) {
        agent_log (m->agent, "ended before it joined: %s", why);
        loop_stop (&m->agent->loop, 1);
    } else if (guardian_died) {
        /* The parent reports us lost when we close the connection: once no process is
         * left here. */
        abandon (m);
    } else {
        put (m, WIRE_TERMINATE, 0, 0, why, strlen (why));
    }
}

static void on_round (void *arg)
{
    struct member *m = arg;
    uplink_flush (m->up);
    if (m->leaving && (!m->server || server_members (m->server) == 0))
        loop_stop (&m->agent->loop, 0);
}

static void destroy (struct member *m)
{
    server_destroy (m->server);
    if (m->listen)
        sock_unlink (m->listen);
    free (m->listen);
    uplink_destroy (m->up);
    if (!sock_is_unix (m->agent->launch.listen))
        hostfile_remove (&m->agent->launch);
    if (m->agent->launch.max_nodes > 0)
        resizefile_remove (&m->agent->launch, m->agent->rank);
    mpidir_remove (&m->agent->launch, m->agent->rank);
    loop_timer_clear (&m->agent->loop, &m->timer);
    client_listener_destroy (m->listener);
    stepd_destroy (m->stepd);
    stage_destroy (m->stage);
    tasks_destroy (m->tasks);
}

int member_run (struct agent *agent)
{
    static struct member m;
    struct error err = { 0 };
    int status = 1;
    m.agent = agent;
    m.timer.fire = on_timer;
    m.tasks = tasks_create (&agent->loop, &agent->launch, agent->rank, &task_events, &m);
    m.up = uplink_create (agent, tree_parent (&agent->tree, agent->rank), &uplink_events,
                          &m);
    m.stepd =
        stepd_create (&agent->loop, &agent->launch, m.tasks, agent->rank, step_up, &m);
    m.stage = stage_create (&agent->loop, &agent->launch, agent->rank, &stage_events, &m);
    if (m.tasks && m.up && m.stepd && m.stage) {
        if (tasks_enter_cwd (m.tasks, &m.fell_back, &m.problem) == 0)
            m.listener = client_listener_create (&agent->loop, &agent->launch,
                                                 agent->rank, step_up, &m, &m.problem);
        if (!m.problem.code)
            write_hostfile (&m, &m.problem);
        if (tree_nchildren (&agent->tree, agent->rank) > 0)
            m.server = agent_listen (agent, NULL, &server_events, &m, &m.listen, &err);
        if (err.code && !m.problem.code)
            m.problem = err; /* rank 0 shall report it */
        if (!begin_staging (&m))
            uplink_start (m.up);
        agent->on_child = on_child;
        agent->on_end = on_end;
        agent->arg = &m;
        agent->loop.round = on_round;
        agent->loop.round_arg = &m;
        status = loop_run (&agent->loop);
    } else {
        agent_log (agent, "no memory");
    }
    destroy (&m);
    return status;
}
