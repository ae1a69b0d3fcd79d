/* root_resize.c - rank 0: nodes of a malleable job are added and removed
 *
 *            +--all new ranks have joined------------------------------> done
 *    JOIN ---+
 *            +--a rank is lost, timeout, or the change is cancelled----> not done
 *
 *    GRACE --timeout--> STOP --timeout--> LEAVE --all removed ranks have left--> done
 *      +----no step uses the removed ranks--^
 *
 * The job's size (launch.nnodes) is the number of nodes that its steps may use. A growing
 * job keeps the old size until the last new rank has joined; a shrinking job has the new
 * size from the start. For jobstate.h the ranks of the job are those that it cannot lose.
 * A new rank is not one of them until the change is done. A removed rank is one of them
 * until it has left, as it may still have processes. If the job ends during a change, it
 * ends as usual, with all connected ranks.
 */

#include "common/hostlist.h"
#include "shell/agent/root.h"
#include "shell/agent/root_resize.h"
#include "shell/io/hostfile.h"
#include "shell/io/resizefile.h"

#define STOP_SLACK 5.0 /* seconds beyond the job's grace for the tasks of steps to end */
#define LEAVE_MAX 30.0 /* ... for a rank to end its processes */

static struct launch *launch_of (struct root *root)
{
    return &root->agent->launch;
}

/* Delivers the messages that wait for this rank first: members get a step before a change
 * that follows the step, and rank 0 checks the nodes of a step against the size. */
static void set_size (struct root *root, uint32_t nodes)
{
    root_deliver_to_self (root);
    launch_of (root)->nnodes = nodes;
}

static void enter (struct root *root, enum resize_phase phase, double seconds)
{
    struct root_resize *x = &root->resize;
    x->phase = phase;
    if (phase == RESIZE_NONE)
        loop_timer_clear (&root->agent->loop, &x->timer);
    else
        loop_timer_set (&root->agent->loop, &x->timer, loop_now () + seconds);
}

/* -- messages to the job, its members and the broker -- */

static struct wire_resize change_of (const struct root_resize *x,
                                     enum wire_resize_state state)
{
    return (struct wire_resize){ x->generation, state, x->from, x->target };
}

static void write_files (struct root *root, const struct wire_resize *change)
{
    struct error err = { 0 };
    if (resizefile_write (launch_of (root), 0, change, &err) < 0
        || (change->state == WIRE_RESIZE_DONE
            && hostfile_write (launch_of (root), &err) < 0))
        root_note (root, 0, err.text);
}

static void tell_members (struct root *root, const struct wire_resize *change)
{
    uint8_t data[WIRE_RESIZE_SIZE];
    wire_put_resize (data, change);
    server_broadcast (root->server, &(struct frame){ .type = WIRE_RESIZE,
                                                     .len = sizeof (data),
                                                     .data = (char *)data });
}

/* Sends all node descriptions: a new member knows at most its own. */
static void tell_nodes (struct root *root, uint32_t from, uint32_t to)
{
    for (uint32_t rank = from; rank < to; rank++) {
        autostrbuf struct strbuf sb = STRBUF_INIT (FRAME_DATA_MAX);
        if (launch_write_node (&launch_of (root)->nodes[rank], &sb) == 0 && !sb.err)
            server_broadcast (root->server, &(struct frame){ .type = WIRE_NODE,
                                                             .task = rank,
                                                             .len = (uint32_t)sb.len,
                                                             .data = sb.buf });
    }
}

/* Writes the file first, as the program reads it when it gets the signal. */
static void tell_program (struct root *root, enum wire_resize_state state)
{
    const struct wire_resize change = change_of (&root->resize, state);
    int sig = (int)launch_of (root)->resize_signal;
    write_files (root, &change);
    tell_members (root, &change);
    if (sig > 0) {
        server_broadcast (root->server, &(struct frame){ .type = WIRE_SIGNAL,
                                                         .stream = TASKS_STEPS,
                                                         .task = (uint32_t)sig });
        tasks_signal (root->tasks, sig, TASKS_STEPS);
        if (!steps_held (root->steps))
            tasks_signal (root->tasks, sig, TASKS_BATCH);
    }
    root_resize_hook (root, &change);
}

/* Repeats the report on request: a broker that died may have read it without acting on
 * it. */
static void repeat_report (struct root *root)
{
    struct root_resize *x = &root->resize;
    root_append (root, &(struct frame){ .type = FRAME_RESIZED,
                                        .stream = !x->done,
                                        .rank = (uint32_t)launch_of (root)->nnodes,
                                        .task = x->generation,
                                        .len = (uint32_t)strlen (x->why),
                                        .data = x->why });
}

static void report (struct root *root, bool done, const char *text)
{
    struct root_resize *x = &root->resize;
    x->done = done;
    snprintf (x->why, sizeof (x->why), "%s", text);
    repeat_report (root);
    enter (root, RESIZE_NONE, 0);
}

static void note_size (struct root *root)
{
    char text[160];
    const struct root_resize *x = &root->resize;
    snprintf (text, sizeof (text), "the job has %u node%s now, it had %u", x->target,
              x->target == 1 ? "" : "s", x->from);
    root_note (root, 0, text);
}

/* -- it grows -- */

static bool is_candidate (const struct root *root, uint32_t rank)
{
    const struct root_resize *x = &root->resize;
    return x->phase == RESIZE_JOIN && rank >= x->from && rank < x->target;
}

/* Sends the joined candidates away. */
static void dismiss (struct root *root)
{
    struct root_resize *x = &root->resize;
    for (uint32_t rank = x->from; rank < x->target; rank++)
        if (root->js.ranks[rank] == RANK_JOINED)
            server_send (root->server, rank, &(struct frame){ .type = WIRE_EXIT });
}

static void fail (struct root *root, const char *text)
{
    root_note (root, 0, text);
    dismiss (root);
    report (root, false, text);
}

static void start_members (struct root *root)
{
    uint8_t data[8];
    wire_put_u64 (data, tasks_end_time (root->tasks));
    for (uint32_t rank = root->resize.from; rank < root->resize.target; rank++) {
        root->members[rank] = (struct root_member){ 0 };
        server_send (root->server, rank,
                     &(struct frame){ .type = WIRE_START,
                                      .task = root->window,
                                      .len = sizeof (data),
                                      .data = (char *)data });
    }
}

static void grown (struct root *root)
{
    struct root_resize *x = &root->resize;
    jobstate_resize (&root->js, x->target);
    set_size (root, x->target);
    tell_nodes (root, 0, x->target);
    start_members (root);
    note_size (root);
    tell_program (root, WIRE_RESIZE_DONE);
    report (root, true, "");
    if (steps_grown (root->steps, x->from) < 0)
        root_terminate (root, "signaled", "no memory for its new nodes", 0);
}

bool root_resize_expects (const struct root *root, uint32_t rank)
{
    return rank < root->js.nranks || is_candidate (root, rank);
}

void root_resize_joined (struct root *root, uint32_t rank)
{
    struct root_resize *x = &root->resize;
    jobstate_candidate (&root->js, rank, true);
    if (root->js.phase != JOB_RUN)
        return;
    for (uint32_t r = x->from; r < x->target; r++)
        if (root->js.ranks[r] != RANK_JOINED)
            return;
    grown (root);
}

void root_resize_failed (struct root *root, uint32_t rank, const char *text)
{
    if (is_candidate (root, rank))
        fail (root, text);
}

static void join_is_over (struct root *root)
{
    struct root_resize *x = &root->resize;
    autohostlist struct hostlist *hl = hostlist_create ();
    char text[256];
    for (uint32_t rank = x->from; hl && rank < x->target; rank++)
        if (root->js.ranks[rank] != RANK_JOINED)
            hostlist_append (hl, root_node (root, rank));
    autofree char *missing = hl ? hostlist_encode (hl) : NULL;
    snprintf (text, sizeof (text), "new nodes did not join in time: %.200s",
              missing ? missing : "");
    fail (root, text);
}

/* -- it shrinks -- */

static void shrunk (struct root *root)
{
    struct root_resize *x = &root->resize;
    jobstate_resize (&root->js, x->target);
    for (uint32_t rank = x->target; rank < x->from; rank++)
        root->members[rank] = (struct root_member){ 0 };
    note_size (root);
    const struct wire_resize change = change_of (x, WIRE_RESIZE_DONE);
    write_files (root, &change);
    tell_members (root, &change);
    report (root, true, "");
}

static void shrunk_if_all_left (struct root *root)
{
    struct root_resize *x = &root->resize;
    for (uint32_t rank = x->target; rank < x->from; rank++)
        if (root->js.ranks[rank] == RANK_JOINED)
            return;
    shrunk (root);
}

static void let_go (struct root *root)
{
    struct root_resize *x = &root->resize;
    enter (root, RESIZE_LEAVE, LEAVE_MAX);
    for (uint32_t rank = x->target; rank < x->from; rank++)
        server_send (root->server, rank, &(struct frame){ .type = WIRE_END });
    shrunk_if_all_left (root);
}

static bool goes (const struct root *root, uint32_t rank)
{
    const struct root_resize *x = &root->resize;
    return x->phase >= RESIZE_GRACE && rank >= x->target && rank < x->from;
}

bool root_resize_done (struct root *root, uint32_t rank)
{
    if (rank >= root->js.nranks)
        return true; /* a new rank, on which nothing ran */
    if (root->js.phase != JOB_RUN || root->resize.phase != RESIZE_LEAVE
        || !goes (root, rank))
        return false;
    root_carry_out (root, jobstate_left (&root->js, rank, loop_now ()));
    server_send (root->server, rank, &(struct frame){ .type = WIRE_EXIT });
    shrunk_if_all_left (root);
    return true;
}

bool root_resize_terminated (struct root *root, uint32_t rank)
{
    char text[256];
    if (rank >= root->js.nranks) {
        snprintf (text, sizeof (text), "node %s: its agent was told to end",
                  root_node (root, rank));
        server_send (root->server, rank, &(struct frame){ .type = WIRE_EXIT });
        root_resize_failed (root, rank, text);
        return true;
    }
    return root->js.phase == JOB_RUN && goes (root, rank);
}

bool root_resize_lost (struct root *root, uint32_t rank, const char *why)
{
    char text[256];
    uint8_t state = root->js.ranks[rank];
    server_forget (root->server, rank);
    if (rank >= root->js.nranks) { /* it has left, or never was a rank of the job */
        jobstate_candidate (&root->js, rank, false);
        snprintf (text, sizeof (text), "node %s: its agent was lost (%s)",
                  root->agent->launch.nodes[rank].name ? root_node (root, rank) : "?",
                  why);
        if (state == RANK_JOINED)
            root_resize_failed (root, rank, text);
        return true;
    }
    if (root->js.phase != JOB_RUN || !goes (root, rank) || state != RANK_JOINED)
        return false;
    snprintf (text, sizeof (text), "node %s, which was to go, was lost (%s)",
              root_node (root, rank), why);
    root_note (root, rank, text);
    root_carry_out (root, jobstate_left (&root->js, rank, loop_now ()));
    steps_lose (root->steps, rank);
    if (root->resize.phase == RESIZE_LEAVE)
        shrunk_if_all_left (root);
    return true;
}

void root_resize_round (struct root *root)
{
    struct root_resize *x = &root->resize;
    if (root->js.phase == JOB_RUN && (x->phase == RESIZE_GRACE || x->phase == RESIZE_STOP)
        && !steps_use (root->steps, x->target))
        let_go (root);
}

/* -- time -- */

static void on_timer (struct loop_timer *timer)
{
    struct root *root = CONTAINER_OF (timer, struct root, resize.timer);
    struct root_resize *x = &root->resize;
    if (root->js.phase != JOB_RUN)
        return; /* the job ends, with all its ranks */
    if (x->phase == RESIZE_JOIN) {
        join_is_over (root);
    } else if (x->phase == RESIZE_GRACE) {
        steps_take_back (root->steps, x->target);
        enter (root, RESIZE_STOP, launch_of (root)->grace + STOP_SLACK);
    } else if (x->phase == RESIZE_STOP) {
        let_go (root);
    } else if (x->phase == RESIZE_LEAVE) {
        root_terminate (root, "lost", "processes on nodes that it gives back do not die",
                        launch_of (root)->grace);
    }
}

/* -- requests -- */

int root_resize_node (struct root *root, uint32_t rank, struct launch_node *node,
                      struct error *err)
{
    const struct launch *l = launch_of (root);
    if (rank >= l->max_nodes)
        return error_set (err, EINVAL, "rank: the job has %u nodes at most",
                          l->max_nodes);
    if (rank < MAX (root->js.nranks, l->nnodes) || is_candidate (root, rank)) {
        bool same = l->nodes[rank].name && !strcmp (l->nodes[rank].name, node->name);
        return same ? 0 : error_set (err, EBUSY, "rank %u is there already", rank);
    }
    launch_put_node (launch_of (root), rank, node);
    return 0;
}

static int grow (struct root *root, double seconds, struct error *err)
{
    struct root_resize *x = &root->resize;
    for (uint32_t rank = x->from; rank < x->target; rank++)
        if (!launch_of (root)->nodes[rank].name)
            return error_set (err, EINVAL, "nodes: the nodes of the request lack rank %u",
                              rank);
    enter (root, RESIZE_JOIN, seconds);
    return 0;
}

static int shrink (struct root *root, double seconds)
{
    set_size (root, root->resize.target);
    enter (root, RESIZE_GRACE, seconds);
    tell_program (root, WIRE_RESIZE_SHRINKS);
    return 0;
}

int root_resize (struct root *root, uint32_t generation, uint32_t nodes, double seconds,
                 struct error *err)
{
    struct root_resize *x = &root->resize;
    const struct launch *l = launch_of (root);
    if (generation == x->generation && x->phase == RESIZE_NONE)
        repeat_report (root);
    if (generation <= x->generation)
        return 0;
    if (l->max_nodes == 0 || nodes > l->max_nodes)
        return error_set (err, EINVAL, "nodes: the job has %zu, and %u at most",
                          l->nnodes, MAX ((uint32_t)l->nnodes, l->max_nodes));
    if (root->js.phase != JOB_RUN)
        return error_set (err, EBUSY, "its tasks do not run");
    if (x->phase >= RESIZE_GRACE || (x->phase == RESIZE_JOIN && nodes > x->from))
        return error_set (err, EBUSY, "another change is under way");
    if (x->phase == RESIZE_JOIN)
        dismiss (root);
    struct root_resize before = *x;
    x->timer.fire = on_timer;
    x->generation = generation;
    x->from = (uint32_t)l->nnodes;
    x->target = nodes;
    enter (root, RESIZE_NONE, 0);
    if (nodes == x->from) {
        report (root, true, "");
        return 0;
    }
    int rc = nodes > x->from ? grow (root, seconds, err) : shrink (root, seconds);
    if (rc < 0)
        x->generation = before.generation;
    return rc;
}

/* -- start and end -- */

int root_resize_create (struct root *root)
{
    const struct launch *l = launch_of (root);
    const struct wire_resize begin = { .state = WIRE_RESIZE_DONE,
                                       .from = (uint32_t)l->nnodes,
                                       .to = (uint32_t)l->nnodes };
    struct error err = { 0 };
    if (l->max_nodes == 0)
        return 0;
    if (resizefile_write (l, 0, &begin, &err) < 0)
        agent_log (root->agent, "%s", err.text);
    return jobstate_make_room (&root->js, MAX ((uint32_t)l->nnodes, l->max_nodes));
}

void root_resize_destroy (struct root *root)
{
    loop_timer_clear (&root->agent->loop, &root->resize.timer);
    root_resize_end_hook (root);
    if (root->agent->launch.max_nodes > 0)
        resizefile_remove (&root->agent->launch, 0);
}
