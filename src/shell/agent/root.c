/* root.c - the course of the job on rank 0: joins jobstate, server, tasks, spool and
 * output */
#include "shell/agent/root.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/macros.h"
#include "common/rlimits.h"
#include "shell/io/hostfile.h"
#include "shell/io/sock.h"
#include "shell/step/cgroup.h"

#define STREAM_GRACE 5.0    /* seconds for readers before the agent exits */
#define STRAGGLER_GRACE 2.0 /* seconds for members that join after an early end */
#define FULL_GRACE 600.0 /* seconds for output without room after all tasks have ended */
#define ROOM_AGAIN 0.5   /* seconds between attempts while the spool's disk is full */
#define RELEASE_MAX (24 * 3600.0)

const char *root_node (const struct root *root, uint32_t rank)
{
    return root->agent->launch.nodes[rank].name;
}

/* -- the spool and the user's files -- */

/* A file cannot be written: ends the job with this reason, once. */
static void io_failed (struct root *root, const char *text)
{
    if (root->io_failed)
        return;
    root->io_failed = true;
    agent_log (root->agent, "%s", text);
    if (root->js.stages)
        jobstate_stage_failed (&root->js, text);
    root->js.keeps_zero = true;
    root_terminate (root, "signaled", text, root->agent->launch.grace);
}

static void spool_failed (struct root *root, int rc)
{
    struct error err;
    if (root->io_failed)
        return;
    error_errno (&err, -rc, "cannot write spool %s", root->agent->launch.spool);
    io_failed (root, err.text);
}

void root_append (struct root *root, const struct frame *frame)
{
    if (root->js.phase == JOB_OVER && root->spool.finished)
        return; /* FRAME_FINISH is the last frame */
    int rc = spool_append (&root->spool, frame);
    if (rc < 0)
        spool_failed (root, rc);
}

/* -- output that waits for room in the spool -- */

static bool try_spool (struct root *root, const struct frame *frame)
{
    int rc = spool_append (&root->spool, frame);
    if (rc < 0 && !root->spool.err)
        return false;
    if (rc < 0)
        spool_failed (root, rc);
    return true;
}

/* Writers stop while is_full(), so unspooled holds only output that was under way. */
static void spool_output (struct root *root, const struct frame *frame)
{
    if (root->js.phase == JOB_OVER && root->spool.finished)
        return;
    if (root->unspooled.len == 0) {
        if (try_spool (root, frame))
            return;
        agent_log (root->agent, "output waits: no space for spool %s",
                   root->agent->launch.spool);
        loop_timer_set (&root->agent->loop, &root->room, loop_now () + ROOM_AGAIN);
    }
    wire_put (&root->unspooled, frame);
}

/* Counts the unspooled output as lost. */
static void give_up_spool (struct root *root)
{
    root->nospool += root->unspooled.len;
    outbuf_release (&root->unspooled);
}

static bool output_waits (const struct root *root)
{
    return root->unspooled.len > 0 || (root->files && outfiles_full (root->files));
}

static void give_up_output (struct root *root)
{
    give_up_spool (root);
    if (root->files)
        outfiles_give_up (root->files);
}

void root_append_text (struct root *root, enum frame_type type, uint32_t rank,
                       const char *text)
{
    root_append (root, &(struct frame){ .type = (uint8_t)type,
                                        .rank = rank,
                                        .len = (uint32_t)strlen (text),
                                        .data = text });
}

void root_note (struct root *root, uint32_t rank, const char *text)
{
    root_append_text (root, FRAME_NOTE, rank, text);
}

void root_append_output (struct root *root, uint32_t rank, uint32_t task, int stream,
                         const char *data, size_t len)
{
    struct error err = { 0 };
    spool_output (root, &(struct frame){ .type = FRAME_OUTPUT,
                                         .stream = (uint8_t)stream,
                                         .rank = rank,
                                         .task = task,
                                         .len = (uint32_t)len,
                                         .data = data });
    if (outfiles_write (root->files, task, stream, data, len, &err) < 0)
        io_failed (root, err.text);
}

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

static bool is_full (const struct root *root)
{
    return spool_full (&root->spool) || root->unspooled.len > 0
           || outfiles_blocked (root->files);
}

static void give_credit (struct root *root, uint32_t rank, uint32_t least)
{
    struct root_member *m = &root->members[rank];
    if (m->consumed < MAX (least, 1u))
        return;
    server_send (root->server, rank,
                 &(struct frame){ .type = WIRE_CREDIT, .task = m->consumed });
    m->consumed = 0;
}

/* There may be room again: resumes the writers that wait. */
static void on_room (void *ctx)
{
    struct root *root = ctx;
    if (!root->was_full || is_full (root))
        return;
    root->was_full = false;
    tasks_resume (root->tasks);
    stage_resume (root->stage);
    for (uint32_t rank = 1; rank < root->js.nranks; rank++)
        give_credit (root, rank, 1);
}

static void on_room_timer (struct loop_timer *timer)
{
    struct root *root = CONTAINER_OF (timer, struct root, room);
    struct outbuf *out = &root->unspooled;
    struct frame frame;
    ssize_t n;
    while (out->len > 0 && (n = frame_parse (out->data + out->off, out->len, &frame)) > 0) {
        if (!try_spool (root, &frame)) {
            loop_timer_set (&root->agent->loop, timer, loop_now () + ROOM_AGAIN);
            return;
        }
        out->off += (size_t)n;
        out->len -= (size_t)n;
    }
    outbuf_release (out);
    on_room (root);
}

/* -- this rank's own tasks -- */

size_t root_room (struct root *root)
{
    if (!is_full (root))
        return FRAME_DATA_MAX;
    root->was_full = true;
    return 0;
}

static size_t own_room (void *ctx)
{
    return root_room (ctx);
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

static const struct task_events own_events = { own_room, own_output, own_exited,
                                               own_killed, NULL };

/* -- actions of jobstate.h -- */

/* "directory /x is not there on node[1-3]: the tasks start in /" */
static void note_fallback (struct root *root)
{
    struct hostlist *hl = hostlist_create ();
    char text[512];
    for (uint32_t rank = 0; hl && rank < root->js.nranks; rank++)
        if (root->members[rank].fell_back)
            hostlist_append (hl, root_node (root, rank));
    autofree char *names = hl && hostlist_count (hl) > 0 ? hostlist_encode (hl) : NULL;
    hostlist_destroy (hl);
    if (!names)
        return;
    snprintf (text, sizeof (text),
              "directory %.200s is not there on %.200s: tasks start in /",
              root->agent->launch.cwd, names);
    root_note (root, 0, text);
}

/* Notes the limits that tasks on this node cannot get in full. Other nodes may differ. */
static void note_rlimits (struct root *root)
{
    const struct launch *l = &root->agent->launch;
    struct rlimits set = { 0 };
    char cut[300], text[400];
    for (size_t i = 0; i < l->nrlimits; i++)
        rlimits_add (&set, l->rlimits[i], NULL);
    rlimits_describe_cut (&set, cut, sizeof (cut));
    if (!cut[0])
        return;
    snprintf (text, sizeof (text), "limits are lower on node %.60s: %s",
              root_node (root, 0), cut);
    root_note (root, 0, text);
}

/* Unix time at which the time limit is reached, 0: none. */
static uint64_t end_of_time (const struct root *root)
{
    double limit = root->js.time_limit;
    return limit > 0 ? (uint64_t)root->started_at + (uint64_t)(limit + 0.5) : 0;
}

/* Writes FRAME_READY to the file before any instruction of the user runs. The broker uses
 * it to tell a job that may have started from one that has not. */
static unsigned report (struct root *root)
{
    const struct launch *l = &root->agent->launch;
    struct error err;
    int rc = spool_append (&root->spool, &(struct frame){ .type = FRAME_READY });
    if (rc == 0)
        rc = spool_flush (&root->spool);
    if (rc == 0 && l->once && !l->serve_until_released)
        rc = spool_sync (&root->spool, l->spool);
    root->ready_end = root->spool.written;
    if (rc == 0)
        return 0;
    error_errno (&err, -rc, "cannot write spool %s", l->spool);
    return jobstate_fail (&root->js, err.text, loop_now ());
}

static unsigned start (struct root *root)
{
    uint8_t data[8];
    struct error err = { 0 };
    root->started_at = time (NULL);
    uint64_t end_time = end_of_time (root);
    unsigned failed = root->js.confirms ? 0 : report (root);
    if (failed)
        return failed;
    root_begin_use (root);
    note_fallback (root);
    note_rlimits (root);
    if (root->agent->user_env_problem[0])
        root_note (root, 0, root->agent->user_env_problem);
    wire_put_u64 (data, end_time);
    server_broadcast (root->server, &(struct frame){ .type = WIRE_START,
                                                     .task = root->window,
                                                     .len = sizeof (data),
                                                     .data = (char *)data });
    if (root->js.phase != JOB_RUN)
        return 0; /* a member was lost during the broadcast */
    if (tasks_start (root->tasks, end_time, &err) == 0)
        return 0;
    error_prefix (&err, "node %s", root_node (root, 0));
    return jobstate_fail (&root->js, err.text, loop_now ());
}

/* Notes lost output in the result, so that users of a successful job know what its files
 * lack. */
static void tell_lost_output (struct root *root)
{
    const char *why;
    uint64_t lost = outfiles_lost (root->files, &why);
    char *text = root->js.finish.text;
    size_t size = sizeof (root->js.finish.text), len = strnlen (text, size);
    if (lost == 0 || strstr (text, why))
        return;
    root_note (root, 0, why);
    snprintf (text + len, size - len, "%soutput is lost (%" PRIu64 " bytes): %s",
              len ? "; " : "", lost, why);
}

static void tell_unspooled (struct root *root)
{
    char *text = root->js.finish.text;
    size_t size = sizeof (root->js.finish.text), len = strnlen (text, size);
    if (root->nospool > 0)
        snprintf (text + len, size - len,
                  "%s%" PRIu64 " bytes of output had no room in spool %.150s",
                  len ? "; " : "", root->nospool, root->agent->launch.spool);
}

static void finish (struct root *root)
{
    char data[512];
    if (root->files)
        tell_lost_output (root);
    tell_unspooled (root);
    root_append_uses (root);
    int len = frame_finish_encode (&root->js.finish, data, sizeof (data));
    int rc = spool_append (&root->spool, &(struct frame){ .type = FRAME_FINISH,
                                                          .len = (uint32_t)MAX (len, 0),
                                                          .data = data });
    root->reported = spool_flush (&root->spool) == 0 && rc == 0;
    spool_trim (&root->spool);
    root->finished_at = loop_now ();
}

/* Arms the timer for the next time at which the agent must act. */
static void set_timer (struct root *root)
{
    const struct launch *l = &root->agent->launch;
    double when = root->finish_by > 0 ? root->finish_by : root->js.deadline;
    if (root->leaving)
        when = root->leave_by;
    else if (root->finished_at > 0 && l->serve_until_released)
        when = root->finished_at + RELEASE_MAX;
    else if (root->finished_at > 0)
        when = root->finished_at
               + (root->njoined + 1 < root->js.nranks ? STRAGGLER_GRACE : STREAM_GRACE);
    if (root->finished_at > 0)
        when = MAX (when, loop_now () + 0.05);
    if (when > 0)
        loop_timer_set (&root->agent->loop, &root->timer, when);
    else
        loop_timer_clear (&root->agent->loop, &root->timer);
}

static void signal_all (struct root *root, int sig, enum tasks_whom whom)
{
    server_broadcast (root->server, &(struct frame){ .type = WIRE_SIGNAL,
                                                     .stream = (uint8_t)whom,
                                                     .task = (uint32_t)sig });
    tasks_signal (root->tasks, sig, whom);
}

/* Carries out the actions in the order of their values. An action may cause the next one
 * and so call this function recursively; each action still happens once. */
void root_carry_out (struct root *root, unsigned todo)
{
    if (todo & JOB_DO_REPORT)
        todo |= report (root);
    if (todo & JOB_DO_START)
        todo |= start (root);
    if (todo & (JOB_DO_TERM | JOB_DO_KILL))
        steps_close (root->steps, root->js.finish.text);
    if (todo & JOB_DO_TERM) {
        signal_all (root, SIGTERM, TASKS_ALL);
        signal_all (root, SIGCONT, TASKS_ALL); /* a stopped process gets no SIGTERM */
    }
    if (todo & JOB_DO_KILL) {
        if (!jobstate_ended_by_itself (&root->js))
            give_up_output (root); /* the last output of the tasks waits behind it */
        server_broadcast (root->server, &(struct frame){ .type = WIRE_END });
        tasks_kill (root->tasks);
    }
    if (todo & JOB_DO_STAGE)
        root_stage_out (root);
    if (todo & JOB_DO_FINISH && output_waits (root)) {
        bool itself = jobstate_ended_by_itself (&root->js);
        root->finish_by = loop_now () + (itself ? FULL_GRACE : STREAM_GRACE);
    } else if (todo & JOB_DO_FINISH)
        finish (root);
    if (todo & JOB_DO_WARN) {
        const struct launch *l = &root->agent->launch;
        root_signal (root, (int)l->warn_signal,
                     l->warn_batch ? TASKS_BATCH : TASKS_STEPS);
    }
    set_timer (root);
}

int root_signal (struct root *root, int sig, enum tasks_whom whom)
{
    bool batch = root->agent->launch.batch;
    if (whom == TASKS_BATCH && !batch)
        return -ENOENT;
    if (whom == TASKS_STEPS && (!batch || !steps_run (root->steps)))
        whom = TASKS_ALL;
    signal_all (root, sig, whom);
    return 0;
}

int root_limit (struct root *root, double time_limit)
{
    uint8_t data[8];
    int rc = jobstate_limit (&root->js, time_limit, loop_now ());
    if (rc < 0 || root->js.phase != JOB_RUN)
        return rc;
    wire_put_u64 (data, end_of_time (root));
    server_broadcast (root->server, &(struct frame){ .type = WIRE_LIMIT,
                                                     .len = sizeof (data),
                                                     .data = (char *)data });
    tasks_set_end_time (root->tasks, end_of_time (root));
    set_timer (root);
    return 0;
}

/* The running job is ended from outside: writes the reason to the output for the user. */
static void note_end (struct root *root, enum job_phase before, unsigned todo)
{
    if (before == JOB_RUN && todo)
        root_note (root, 0, root->js.finish.text);
    root_carry_out (root, todo);
}

void root_terminate (struct root *root, const char *reason, const char *text,
                     double grace)
{
    enum job_phase before = root->js.phase;
    if (root->finish_by > 0)
        root->finish_by = MIN (root->finish_by, loop_now () + STREAM_GRACE);
    note_end (root, before,
              jobstate_terminate (&root->js, reason, text, grace, loop_now ()));
}

void root_confirm (struct root *root)
{
    root_carry_out (root, jobstate_confirmed (&root->js, loop_now ()));
}

int root_release (struct root *root, uint64_t offset)
{
    int rc = spool_release_until (&root->spool, offset);
    if (rc < 0)
        return rc;
    on_room (root);
    if (root->js.reported && offset >= root->ready_end)
        root_confirm (root);
    return 0;
}

int root_stop_joining (struct root *root)
{
    char text[256];
    if (root->js.phase != JOB_JOIN || root->js.reported)
        return -EALREADY;
    root_say_missing (root, text, sizeof (text));
    note_end (root, JOB_JOIN, jobstate_fail (&root->js, text, loop_now ()));
    return 0;
}

/* The tasks have ended and no output waits: carries out the delayed JOB_DO_FINISH. */
static void finish_now (struct root *root)
{
    root->finish_by = 0;
    give_up_output (root);
    root_carry_out (root, JOB_DO_FINISH);
}

static void on_timer (struct loop_timer *timer)
{
    struct root *root = CONTAINER_OF (timer, struct root, timer);
    char text[256] = "";
    if (root->finish_by > 0) {
        if (loop_now () >= root->finish_by)
            finish_now (root);
        return;
    }
    if (root->js.phase == JOB_JOIN)
        root_say_missing (root, text, sizeof (text));
    if (root->js.phase == JOB_KILL) {
        for (uint32_t rank = 0; rank < root->js.nranks; rank++) {
            if (root->js.ranks[rank] != RANK_JOINED)
                continue;
            snprintf (text, sizeof (text), "node %s: processes of the job do not die",
                      root_node (root, rank));
            root_note (root, rank, text);
            if (stage_has_out (&root->agent->launch, rank))
                jobstate_stage_failed (&root->js, text);
        }
    }
    if (root->js.phase == JOB_STAGE)
        root_note (root, 0, "stage-out: there was no time for all files");
    enum job_phase before = root->js.phase;
    note_end (root, before, jobstate_time (&root->js, text, loop_now ()));
}

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

void root_took (struct root *root, uint32_t rank, uint32_t len)
{
    root->members[rank].consumed += len;
    if (is_full (root))
        root->was_full = true;
    else
        give_credit (root, rank, root->window / 4);
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
static void lose_rank (struct root *root, uint32_t rank, const char *why)
{
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
        lose_rank (root, rank, text);
        return true;
    default:
        return msg->type >= WIRE_RUN_KEEPALIVE && steps_message (root->steps, rank, msg);
    }
}

static void on_closed (void *ctx, uint32_t rank, const char *why)
{
    lose_rank (ctx, rank, why);
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
                                                    .closed = on_closed,
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
    set_timer (root);
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
        finish_now (root);
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
        return root->spool.released >= root->spool.len || since >= RELEASE_MAX;
    if (root->njoined + 1 < root->js.nranks && since < STRAGGLER_GRACE)
        return false;
    bool waiting = server_streams (root->server) > 0 || outfiles_blocked (root->files);
    return !waiting || since >= STREAM_GRACE;
}

/* Runs after each round of the loop. */
static void on_round (void *arg)
{
    struct root *root = arg;
    root_deliver_to_self (root);
    double now = loop_now ();
    if (root->finish_by > 0 && !output_waits (root))
        finish_now (root);
    spool_flush (&root->spool);
    if (root->spool.err)
        spool_failed (root, -root->spool.err);
    root_resize_round (root);
    server_pump (root->server);
    if (root->finished_at > 0 && may_leave (root, now))
        leave (root);
    if (root->leaving && (server_members (root->server) == 0 || now >= root->leave_by))
        loop_stop (&root->agent->loop, root->reported ? 0 : 1);
}

/* -- start -- */

static int listen_to_all (struct root *root, struct error *err)
{
    struct agent *agent = root->agent;
    struct server_config config = { .key = agent->key,
                                    .job_id = agent->launch.job_id,
                                    .tree = &agent->tree,
                                    .spool = &root->spool };
    root->listen = sock_of_rank (agent->launch.listen, 0);
    if (!root->listen)
        return error_set (err, ENOMEM, "no memory");
    config.fd = sock_listen (root->listen, err);
    if (config.fd < 0)
        return config.fd;
    root->server = server_create (&agent->loop, &config, &server_events, root);
    if (root->server)
        return 0;
    close (config.fd);
    return error_set (err, ENOMEM, "no memory");
}

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
        return error_set (err, ENOMEM, "no memory");
    root->js.warn_before = l->warn_signal > 0 ? l->warn_before : 0;
    root->js.confirms = l->once && l->serve_until_released;
    if (root_stage_create (root) < 0)
        return error_set (err, ENOMEM, "no memory");
    int rc = listen_to_all (root, err);
    return rc < 0 ? rc : root_create_steps (root, err);
}

/* Checks the conditions for the start. A failure here ends the job with "startfail". */
static void prepare (struct root *root)
{
    struct agent *agent = root->agent;
    struct error err = { 0 };
    static const struct launch no_output = { 0 };
    root->files = outfiles_open (&agent->launch, &agent->loop, on_room, root, &err);
    if (!root->files)
        root->files = outfiles_open (&no_output, &agent->loop, on_room, root, NULL);
    if (!root->files)
        abort ();
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
    loop_timer_clear (&root->agent->loop, &root->room);
    outbuf_release (&root->unspooled);
    hostfile_remove (&root->agent->launch);
    root_resize_destroy (root);
    client_listener_destroy (root->listener);
    stepd_destroy (root->stepd);
    steps_destroy (root->steps);
    outbuf_release (&root->to_self);
    stage_destroy (root->stage);
    tasks_destroy (root->tasks);
    outfiles_close (root->files);
    api_nonces_destroy (root->nonces);
    jobstate_release (&root->js);
    for (size_t i = 0; i < ARRAY_SIZE (root->used); i++)
        stepuse_release (&root->used[i]);
    strbuf_release (&root->kept);
    spool_close (&root->spool);
    free (root->members);
}

int root_run (struct agent *agent)
{
    static struct root root;
    struct error err = { 0 };
    root.agent = agent;
    root.timer.fire = on_timer;
    root.room.fire = on_room_timer;
    strbuf_init (&root.kept, ROOT_KEPT_BYTES);
    int rc =
        spool_create (&root.spool, agent->launch.spool, agent->launch.spool_max, &err);
    if (rc < 0) {
        agent_log (agent, "%s", err.text);
        return rc == -EEXIST ? AGENT_EXIT_ALREADY : 1;
    }
    spool_keep (&root.spool, agent->launch.spool_keep);
    rc = create_parts (&root, &err);
    if (rc < 0) {
        /* No member or client can connect: only the spool has the result. */
        agent_log (agent, "%s", err.text);
        root.js.finish = (struct frame_finish){ .status = 1 << 8, .reason = "startfail" };
        snprintf (root.js.finish.text, sizeof (root.js.finish.text), "node %s: %.200s",
                  agent->launch.nodes[0].name, err.text);
        finish (&root);
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
