/* root_actions.c - rank 0: carries out what jobstate.h decides: start, signals, the end */
#include <signal.h>

#include "common/hostlist.h"
#include "common/rlimits.h"
#include "shell/agent/root.h"

#define FULL_GRACE 600.0 /* seconds for output without room after all tasks have ended */

/* -- start -- */

/* "directory /x is not there on node[1-3]: the tasks start in /" */
static void note_fallback (struct root *root)
{
    autohostlist struct hostlist *hl = hostlist_create ();
    char text[512];
    for (uint32_t rank = 0; hl && rank < root->js.nranks; rank++)
        if (root->members[rank].fell_back)
            hostlist_append (hl, root_node (root, rank));
    autofree char *names = hl && hostlist_count (hl) > 0 ? hostlist_encode (hl) : NULL;
    if (!names)
        return;
    snprintf (text, sizeof (text),
              "directory %.200s does not exist on %.200s: tasks start in /",
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

/* -- end -- */

void root_finish (struct root *root)
{
    char data[512];
    root_output_result (root);
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
void root_set_timer (struct root *root)
{
    const struct launch *l = &root->agent->launch;
    double when = root->finish_by > 0 ? root->finish_by : root->js.deadline;
    if (root->leaving)
        when = root->leave_by;
    else if (root->finished_at > 0 && l->serve_until_released)
        when = root->finished_at + ROOT_RELEASE_MAX;
    else if (root->finished_at > 0)
        when = root->finished_at
               + (root->njoined + 1 < root->js.nranks ? ROOT_STRAGGLER_GRACE : ROOT_STREAM_GRACE);
    if (root->finished_at > 0)
        when = MAX (when, loop_now () + 0.05);
    if (when > 0)
        loop_timer_set (&root->agent->loop, &root->timer, when);
    else
        loop_timer_clear (&root->agent->loop, &root->timer);
}

static void stage_files_out (struct root *root)
{
    server_broadcast (root->server, &(struct frame){ .type = WIRE_STAGE });
    stage_out (root->stage);
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
    todo |= root->due;
    root->due = 0;
    root->is_due = false;
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
            root_output_give_up (root); /* the last output of the tasks waits behind it */
        server_broadcast (root->server, &(struct frame){ .type = WIRE_END });
        tasks_kill (root->tasks);
    }
    if (todo & JOB_DO_STAGE)
        stage_files_out (root);
    if (todo & JOB_DO_FINISH && root_output_waits (root)) {
        bool itself = jobstate_ended_by_itself (&root->js);
        root->finish_by = loop_now () + (itself ? FULL_GRACE : ROOT_STREAM_GRACE);
    } else if (todo & JOB_DO_FINISH)
        root_finish (root);
    if (todo & JOB_DO_WARN) {
        const struct launch *l = &root->agent->launch;
        root_signal (root, (int)l->warn_signal,
                     l->warn_batch   ? TASKS_BATCH
                     : l->warn_steps ? TASKS_ONLY_STEPS
                                     : TASKS_STEPS);
    }
    root_set_timer (root);
}

/* -- requests and timers -- */

int root_signal (struct root *root, int sig, enum tasks_whom whom)
{
    bool batch = root->agent->launch.batch;
    if (whom == TASKS_BATCH && !batch)
        return -ENOENT;
    if (whom == TASKS_ONLY_STEPS && batch)
        whom = TASKS_STEPS;
    else if (whom == TASKS_ONLY_STEPS
             || (whom == TASKS_STEPS && (!batch || !steps_run (root->steps))))
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
    root_set_timer (root);
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
    root_carry_out (root, root_decide_end (root, reason, text, grace));
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
    root_output_resume (root);
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
void root_finish_now (struct root *root)
{
    root->finish_by = 0;
    root_output_give_up (root);
    root_carry_out (root, JOB_DO_FINISH);
}

void root_on_timer (struct loop_timer *timer)
{
    struct root *root = CONTAINER_OF (timer, struct root, timer);
    char text[256] = "";
    if (root->finish_by > 0) {
        if (loop_now () >= root->finish_by)
            root_finish_now (root);
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
