/* root.c - rank 0 of a job: messages of the other ranks, the agent's own events, start and
 * exit */
#include "shell/agent/root.h"

#include "shell/io/hostfile.h"
#include "shell/io/mpidir.h"
#include "shell/io/sock.h"

/* -- this rank's own tasks -- */

static void append_exit (struct root *root, uint32_t rank, uint32_t task, int status)
{
    uint8_t data[4];
    wire_put_u32 (data, (uint32_t)status);
    root_append (root, &(struct frame){ .type = FRAME_EXIT,
                                        .rank = rank,
                                        .task = task,
                                        .len = sizeof (data),
                                        .data = (char *)data });
    root_own_ended (root);
    root_carry_out (root,
                    jobstate_task_exit (&root->js, rank, task, root_node (root, rank),
                                        status, loop_now ()));
}

static void own_output (void *ctx, uint32_t task, int stream, const char *data,
                        size_t len)
{
    root_append_output (ctx, 0, task, stream, data, len);
}

static void own_exited (void *ctx, uint32_t task, int status, bool oom)
{
    if (oom) {
        struct cgroup_memory now = cgroup_memory_now ();
        root_note_oom (ctx, 0, &now);
    }
    append_exit (ctx, 0, task, status);
}

static void own_killed (void *ctx)
{
    struct root *root = ctx;
    struct use own = tasks_own_use (root->tasks), all = tasks_use (root->tasks);
    root_take_use (root, 0, 0, &own);
    root_take_use (root, 0, 1, &all);
    root_carry_out (root, jobstate_done (&root->js, 0, loop_now ()));
}

static const struct task_events own_events = { root_room, own_output, own_exited,
                                               own_killed, NULL };

/* -- actions of jobstate.h -- */

/* -- members -- */

static bool on_join (void *ctx, uint32_t rank, const struct frame *msg,
                     const char **ret_why)
{
    struct root *root = ctx;
    if (root_resize_expects (root, rank))
        return agent_is_node (root->agent, rank, msg, ret_why);
    *ret_why = "the job has no such rank (any more, or yet)";
    return false;
}

static bool own_task (const struct root *root, uint32_t rank, uint32_t task)
{
    const struct launch *l = &root->agent->launch;
    uint32_t first = launch_first_task (l, rank);
    return task >= first && task - first < tasks_count (l, rank);
}

static bool on_output (struct root *root, uint32_t rank, const struct frame *msg)
{
    if (!own_task (root, rank, msg->task) || (msg->stream != 1 && msg->stream != 2))
        return false;
    root_append_output (root, rank, msg->task, msg->stream, msg->data, msg->len);
    root_took (root, rank, msg->len);
    return true;
}

static void on_fail (struct root *root, uint32_t rank, const struct frame *msg)
{
    char text[256];
    snprintf (text, sizeof (text), "node %s: %.*s", root_node (root, rank),
              (int)MIN (msg->len, 200u), msg->data);
    if (rank >= root->js.nranks) {
        root_resize_failed (root, rank, text);
        return;
    }
    root_carry_out (root, jobstate_fail (&root->js, text, loop_now ()));
}

/* The agent of rank is lost, and with it the connection to all ranks below it: agents
 * there notice the loss too and end. Only the first lost rank is named. */
static void on_lost (void *ctx, uint32_t rank, const char *why)
{
    struct root *root = ctx;
    char text[256];
    unsigned todo = 0;
    bool named = false;
    if (root->agent->launch.max_nodes > 0 && root_resize_lost (root, rank, why))
        return;
    snprintf (text, sizeof (text), "node %s: its agent was lost (%s)",
              root_node (root, rank), why);
    for (uint32_t r = rank; r < root->js.nranks && root->js.phase != JOB_OVER; r++) {
        uint8_t state = root->js.ranks[r];
        if ((state == RANK_DONE && root->js.phase != JOB_STAGE) || state == RANK_STAGED
            || state == RANK_LOST || !tree_holds (&root->agent->tree, rank, r))
            continue;
        if (!named)
            root_append_text (root, FRAME_LOST, rank, text);
        named = true;
        todo |= jobstate_lost (&root->js, r, text, loop_now ());
    }
    root_carry_out (root, todo);
}

static bool on_message (void *ctx, uint32_t rank, const struct frame *msg)
{
    struct root *root = ctx;
    char text[256];
    switch (msg->type) {
    case WIRE_JOIN:
        if (root->js.ranks[rank] != RANK_ABSENT)
            return false;
        root->members[rank].fell_back = msg->task == WIRE_JOIN_FELL_BACK;
        root->njoined++;
        if (msg->task == WIRE_JOIN_FAILS)
            return true; /* WIRE_FAIL with the reason follows */
        if (rank >= root->js.nranks) {
            root_resize_joined (root, rank);
            return true;
        }
        root_carry_out (root, jobstate_joined (&root->js, rank, loop_now ()));
        return true;
    case FRAME_OUTPUT:
        return on_output (root, rank, msg);
    case FRAME_EXIT:
        if (msg->len != 4 || !own_task (root, rank, msg->task))
            return false;
        append_exit (root, rank, msg->task, (int)wire_get_u32 (msg->data));
        return true;
    case WIRE_FAIL:
        on_fail (root, rank, msg);
        return true;
    case WIRE_OOM:
        return root_on_oom (root, rank, msg);
    case WIRE_USAGE:
        return root_on_usage (root, rank, msg);
    case FRAME_FILE:
    case WIRE_STAGE_FAIL:
    case WIRE_STAGED:
        return root_stage_message (root, rank, msg);
    case WIRE_DONE:
        if (!root_resize_done (root, rank))
            root_carry_out (root, jobstate_done (&root->js, rank, loop_now ()));
        return true;
    case WIRE_TERMINATE:
        if (root_resize_terminated (root, rank))
            return true;
        snprintf (text, sizeof (text), "node %s: the agent was told to end (%.*s)",
                  root_node (root, rank), (int)MIN (msg->len, 60u), msg->data);
        root_terminate (root, "cancelled", text, root->agent->launch.grace);
        return true;
    case WIRE_LOST:
        snprintf (text, sizeof (text), "%.*s", (int)MIN (msg->len, 120u), msg->data);
        on_lost (root, rank, text);
        return true;
    default:
        return msg->type >= WIRE_RUN_KEEPALIVE && root_step_message (root, rank, msg);
    }
}

static void on_log (void *ctx, const char *text)
{
    struct root *root = ctx;
    agent_log (root->agent, "%s", text);
}

/* A client from outside the job (api.c): treats it like the clients of this rank's
 * listener. */
static void on_upgraded (void *ctx, int fd, struct outbuf *out, const char *data,
                         size_t len)
{
    struct root *root = ctx;
    client_listener_adopt (root->listener, fd, out, data, len);
}

static const struct server_events server_events = { .join = on_join,
                                                    .message = on_message,
                                                    .closed = on_lost,
                                                    .request = api_request,
                                                    .upgraded = on_upgraded,
                                                    .log = on_log };

/* -- the agent's own events -- */

/* Lets the members exit. This agent exits when they have closed. */
static void leave (struct root *root)
{
    if (root->leaving)
        return;
    root->leaving = true;
    root->leave_by =
        loop_now () + AGENT_LEAVE_GRACE * tree_height (&root->agent->tree, 0);
    server_broadcast (root->server, &(struct frame){ .type = WIRE_EXIT });
    root_set_timer (root);
}

static void on_child (void *arg)
{
    struct root *root = arg;
    tasks_reap (root->tasks);
}

static void on_end (void *arg, const char *why, bool guardian_died)
{
    struct root *root = arg;
    char text[256];
    if (root->finished_at > 0) {
        leave (root); /* a second request to end: do not wait for readers */
        return;
    }
    if (guardian_died && root->finish_by > 0) {
        root->abandoned = true;
        root_finish_now (root);
        return;
    }
    if (guardian_died) {
        root->abandoned = true;
        root->js.stages = false;
        snprintf (text, sizeof (text), "node %s: %s", root_node (root, 0), why);
        root_append_text (root, FRAME_LOST, 0, text);
        root_carry_out (root, jobstate_kill (&root->js, "lost", text, loop_now ()));
        return;
    }
    snprintf (text, sizeof (text), "the agent was told to end (%s)", why);
    root_terminate (root, "cancelled", text, root->agent->launch.grace);
}

/* Whether all readers and members know the end of the job. */
static bool may_leave (const struct root *root, double now)
{
    double since = now - root->finished_at;
    if (root->abandoned)
        return true;
    if (root->agent->launch.serve_until_released)
        return root->spool.released >= root->spool.len || since >= ROOT_RELEASE_MAX;
    if (root->njoined + 1 < root->js.nranks && since < ROOT_STRAGGLER_GRACE)
        return false;
    bool waiting = server_streams (root->server) > 0 || outfiles_blocked (root->files);
    return !waiting || since >= ROOT_STREAM_GRACE;
}

/* Runs after each round of the loop. */
static void on_round (void *arg)
{
    struct root *root = arg;
    root_deliver_to_self (root);
    if (root->is_due)
        root_carry_out (root, 0);
    double now = loop_now ();
    if (root->finish_by > 0 && !root_output_waits (root))
        root_finish_now (root);
    spool_flush (&root->spool);
    if (root->spool.err)
        root_spool_failed (root, -root->spool.err);
    if (root->is_due)
        root_carry_out (root, 0);
    root_resize_round (root);
    server_pump (root->server);
    if (root->finished_at > 0 && may_leave (root, now))
        leave (root);
    if (root->leaving && (server_members (root->server) == 0 || now >= root->leave_by))
        loop_stop (&root->agent->loop, root->reported ? 0 : 1);
}

/* -- start -- */

static int create_parts (struct root *root, struct error *err)
{
    struct agent *agent = root->agent;
    const struct launch *l = &agent->launch;
    uint32_t nranks = (uint32_t)l->nnodes;
    uint32_t ntasks = l->batch ? 1 : launch_ntasks (l);
    root->window = wire_window (l->spool_max, agent->tree.nranks);
    root->members = calloc (agent->tree.nranks, sizeof (*root->members));
    root->tasks = tasks_create (&agent->loop, l, 0, &own_events, root);
    if (!root->members || !root->tasks
        || jobstate_init (&root->js, nranks, ntasks, l->join_timeout, l->time_limit,
                          l->grace, loop_now ())
               < 0
        || root_resize_create (root) < 0)
        return error_no_memory (err, NULL);
    root->js.warn_before = l->warn_signal > 0 ? l->warn_before : 0;
    root->js.confirms = l->once && l->serve_until_released;
    if (root_stage_create (root) < 0)
        return error_no_memory (err, NULL);
    root->server =
        agent_listen (agent, &root->spool, &server_events, root, &root->listen, err);
    return root->server ? root_create_steps (root, err) : -EIO;
}

/* Checks the conditions for the start. A failure here ends the job with "startfail". */
static void prepare (struct root *root)
{
    struct error err = { 0 };
    root_output_open (root, &err);
    int staging = 0;
    if (!err.code
        && (tasks_enter_cwd (root->tasks, &root->members[0].fell_back, &err) < 0
            || (staging = root_stage_in (root, &err)) < 0))
        error_prefix (&err, "node %s", root_node (root, 0));
    if (err.code)
        root_carry_out (root, jobstate_fail (&root->js, err.text, loop_now ()));
    else if (!staging)
        root_carry_out (root, jobstate_joined (&root->js, 0, loop_now ()));
}

static void destroy (struct root *root)
{
    if (root->server)
        sock_unlink (root->listen);
    server_destroy (root->server);
    free (root->listen);
    loop_timer_clear (&root->agent->loop, &root->timer);
    hostfile_remove (&root->agent->launch);
    mpidir_remove (&root->agent->launch, 0);
    root_resize_destroy (root);
    client_listener_destroy (root->listener);
    stepd_destroy (root->stepd);
    steps_destroy (root->steps);
    calls_destroy (root->calls);
    outbuf_release (&root->to_self);
    stage_destroy (root->stage);
    tasks_destroy (root->tasks);
    api_nonces_destroy (root->nonces);
    jobstate_release (&root->js);
    for (size_t i = 0; i < ARRAY_SIZE (root->used); i++)
        stepuse_release (&root->used[i]);
    strbuf_release (&root->kept);
    root_output_destroy (root);
    free (root->members);
}

int root_run (struct agent *agent)
{
    static struct root root;
    struct error err = { 0 };
    root.agent = agent;
    root.timer.fire = root_on_timer;
    strbuf_init (&root.kept, ROOT_KEPT_BYTES);
    int rc = root_output_create (&root, &err);
    if (rc < 0) {
        agent_log (agent, "%s", err.text);
        return rc == -EEXIST ? AGENT_EXIT_ALREADY : 1;
    }
    rc = create_parts (&root, &err);
    if (rc < 0) {
        /* No member or client can connect: only the spool has the result. */
        agent_log (agent, "%s", err.text);
        root.js.finish = (struct frame_finish){ .status = 1 << 8, .reason = "startfail" };
        snprintf (root.js.finish.text, sizeof (root.js.finish.text), "node %s: %.200s",
                  agent->launch.nodes[0].name, err.text);
        root_finish (&root);
        destroy (&root);
        return 1;
    }
    agent->on_child = on_child;
    agent->on_end = on_end;
    agent->arg = &root;
    agent->loop.round = on_round;
    agent->loop.round_arg = &root;
    prepare (&root);
    int status = loop_run (&agent->loop);
    destroy (&root);
    return status;
}
