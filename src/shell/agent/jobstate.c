/* jobstate.c - the states of a job on rank 0: events in, actions out */
#include "shell/agent/jobstate.h"

#include <signal.h>
#include <sys/wait.h>

#include "common/parse.h"
#include "protocol/agent_api.h"
#include "shell/io/wait_status.h"

int jobstate_init (struct jobstate *js, uint32_t nranks, uint32_t ntasks,
                   double join_timeout, double time_limit, double grace, double now)
{
    *js = (struct jobstate){ .nranks = nranks,
                             .nrunning = ntasks,
                             .join_timeout = join_timeout,
                             .deadline = now + join_timeout,
                             .time_limit = time_limit,
                             .grace = grace };
    js->ranks = calloc (nranks, 1);
    return js->ranks ? 0 : -ENOMEM;
}

void jobstate_release (struct jobstate *js)
{
    free (js->ranks);
    js->ranks = NULL;
}

/* Sets the reason; the first reason stands. */
static void decide (struct jobstate *js, const char *reason, const char *text)
{
    if (js->decided)
        return;
    js->decided = true;
    snprintf (js->finish.reason, sizeof (js->finish.reason), "%s", reason);
    snprintf (js->finish.text, sizeof (js->finish.text), "%s", text);
}

/* Wait status of a job whose tasks have none, because they never ran or cannot be
 * reached. */
static int status_floor (const char *reason)
{
    static const struct {
        const char *reason;
        int status;
    } floors[] = {
        { "startfail", 1 << 8 },  { "lost", SIGKILL },     { "oom", SIGKILL },
        { "cancelled", SIGTERM }, { "signaled", SIGTERM },
    };
    for (size_t i = 0; i < ARRAY_SIZE (floors); i++)
        if (strcmp (reason, floors[i].reason) == 0)
            return floors[i].status;
    return 0;
}

static unsigned enter_over (struct jobstate *js)
{
    decide (js, WIFSIGNALED (js->status) ? "signaled" : "exited", "");
    if (js->keeps_zero && js->status == 0 && js->nrunning == 0
        && strcmp (js->finish.reason, "signaled") == 0)
        snprintf (js->finish.reason, sizeof (js->finish.reason), "exited");
    js->finish.status = js->status ? js->status : status_floor (js->finish.reason);
    if (js->stage_text[0] && js->finish.status == 0
        && strcmp (js->finish.reason, "exited") == 0) {
        js->finish.status = 1 << 8;
        snprintf (js->finish.text, sizeof (js->finish.text), "%s", js->stage_text);
    }
    js->phase = JOB_OVER;
    js->deadline = 0;
    return JOB_DO_FINISH;
}

bool jobstate_ended_by_itself (const struct jobstate *js)
{
    return !js->decided || strcmp (js->finish.reason, "exited") == 0
           || strcmp (js->finish.reason, "signaled") == 0
           || strcmp (js->finish.reason, "oom") == 0;
}

/* The tasks are gone. Ranks without processes of the job stage out their files. */
static unsigned enter_stage (struct jobstate *js, double now)
{
    js->nstaging = 0;
    for (uint32_t rank = 0; rank < js->nranks; rank++)
        js->nstaging += js->ranks[rank] == RANK_DONE;
    if (!js->stages || js->nstaging == 0 || strcmp (js->finish.reason, "startfail") == 0)
        return enter_over (js);
    js->phase = JOB_STAGE;
    js->deadline = now + (jobstate_ended_by_itself (js) ? JOB_STAGE_SECONDS : AGENT_STAGE_SECONDS);
    return JOB_DO_STAGE;
}

static unsigned enter_kill (struct jobstate *js, double now)
{
    if (js->phase == JOB_JOIN)
        return enter_over (js); /* nothing has been started anywhere */
    js->phase = JOB_KILL;
    js->deadline = now + JOB_KILL_SECONDS;
    return JOB_DO_KILL;
}

/* The deadline is the warning or the limit itself. */
static void set_run_deadline (struct jobstate *js)
{
    js->deadline = js->time_limit > 0 ? js->started + js->time_limit : 0;
    if (js->deadline > 0 && js->warn_before > 0 && !js->warned)
        js->deadline = MAX (js->deadline - js->warn_before, js->started);
}

static unsigned enter_run (struct jobstate *js, double now)
{
    js->phase = JOB_RUN;
    js->started = now;
    set_run_deadline (js);
    return JOB_DO_START;
}

unsigned jobstate_joined (struct jobstate *js, uint32_t rank, double now)
{
    if (js->phase != JOB_JOIN || js->ranks[rank] != RANK_ABSENT)
        return 0;
    js->ranks[rank] = RANK_JOINED;
    if (++js->njoined < js->nranks)
        return 0;
    if (!js->confirms)
        return enter_run (js, now);
    js->reported = true;
    js->deadline = 0;
    return JOB_DO_REPORT;
}

unsigned jobstate_confirmed (struct jobstate *js, double now)
{
    return js->phase == JOB_JOIN && js->reported ? enter_run (js, now) : 0;
}

unsigned jobstate_task_exit (struct jobstate *js, uint32_t rank, uint32_t task,
                             const char *node, int status, double now)
{
    (void)rank;
    if (js->phase < JOB_RUN || js->phase > JOB_KILL || js->nrunning == 0)
        return 0;
    int worst = wait_status_worst (js->status, status);
    if (!js->decided && worst != js->status && worst != 0) {
        char what[80];
        wait_status_text (status, what, sizeof (what));
        snprintf (js->finish.text, sizeof (js->finish.text), "task %u on %s: %s", task,
                  node, what);
    }
    js->status = worst;
    if (--js->nrunning > 0 || js->phase == JOB_KILL)
        return 0;
    if (js->oom_text[0] && js->status != 0)
        decide (js, "oom", js->oom_text);
    if (!js->decided) {
        js->decided = true; /* with the text of the worst task */
        snprintf (js->finish.reason, sizeof (js->finish.reason), "%s",
                  WIFSIGNALED (js->status) ? "signaled" : "exited");
    }
    return enter_kill (js, now);
}

void jobstate_oom (struct jobstate *js, const char *text)
{
    if (!js->oom_text[0])
        snprintf (js->oom_text, sizeof (js->oom_text), "%s", text);
}

static unsigned rank_ended (struct jobstate *js, uint32_t rank, enum rank_state state,
                            double now)
{
    if (js->ranks[rank] == RANK_DONE || js->ranks[rank] == RANK_LOST)
        return 0;
    js->ranks[rank] = (uint8_t)state;
    js->nended++;
    if (js->phase == JOB_KILL && js->nended == js->nranks)
        return enter_stage (js, now);
    return 0;
}

int jobstate_make_room (struct jobstate *js, uint32_t ranks)
{
    uint8_t *list = ranks > js->nranks ? realloc (js->ranks, ranks) : js->ranks;

    if (!list)
        return -ENOMEM;
    for (uint32_t rank = js->nranks; rank < ranks; rank++)
        list[rank] = RANK_ABSENT;
    js->ranks = list;
    return 0;
}

void jobstate_candidate (struct jobstate *js, uint32_t rank, bool here)
{
    js->ranks[rank] = here ? RANK_JOINED : RANK_ABSENT;
}

unsigned jobstate_left (struct jobstate *js, uint32_t rank, double now)
{
    return js->phase < JOB_STAGE ? rank_ended (js, rank, RANK_DONE, now) : 0;
}

void jobstate_resize (struct jobstate *js, uint32_t nranks)
{
    for (uint32_t rank = nranks; rank < js->nranks; rank++) {
        js->nended -= js->ranks[rank] == RANK_DONE || js->ranks[rank] == RANK_LOST;
        js->ranks[rank] = RANK_ABSENT;
    }
    js->nranks = js->njoined = nranks;
}

unsigned jobstate_done (struct jobstate *js, uint32_t rank, double now)
{
    return js->phase == JOB_KILL ? rank_ended (js, rank, RANK_DONE, now) : 0;
}

static unsigned stage_ended (struct jobstate *js, uint32_t rank, enum rank_state state)
{
    if (js->phase != JOB_STAGE || js->ranks[rank] != RANK_DONE)
        return 0;
    js->ranks[rank] = (uint8_t)state;
    return --js->nstaging == 0 ? enter_over (js) : 0;
}

unsigned jobstate_staged (struct jobstate *js, uint32_t rank, double now)
{
    (void)now;
    return stage_ended (js, rank, RANK_STAGED);
}

void jobstate_stage_failed (struct jobstate *js, const char *text)
{
    if (!js->stage_text[0])
        snprintf (js->stage_text, sizeof (js->stage_text), "%s", text);
}

unsigned jobstate_lost (struct jobstate *js, uint32_t rank, const char *text, double now)
{
    if (js->phase == JOB_STAGE && js->ranks[rank] == RANK_DONE) {
        jobstate_stage_failed (js, text);
        return stage_ended (js, rank, RANK_LOST);
    }
    if (js->phase >= JOB_STAGE || js->ranks[rank] == RANK_DONE
        || js->ranks[rank] == RANK_LOST)
        return 0;
    decide (js, "lost", text);
    unsigned todo = rank_ended (js, rank, RANK_LOST, now);
    if (js->phase < JOB_KILL)
        todo |= enter_kill (js, now);
    if (js->phase == JOB_KILL && js->nended == js->nranks)
        todo |= enter_stage (js, now);
    return todo;
}

unsigned jobstate_fail (struct jobstate *js, const char *text, double now)
{
    return jobstate_kill (js, "startfail", text, now);
}

unsigned jobstate_kill (struct jobstate *js, const char *reason, const char *text,
                        double now)
{
    if (js->phase >= JOB_KILL)
        return 0;
    decide (js, reason, text);
    return enter_kill (js, now);
}

unsigned jobstate_terminate (struct jobstate *js, const char *reason, const char *text,
                             double grace, double now)
{
    if (js->phase == JOB_STAGE)
        js->deadline = MIN (js->deadline, now + MAX (grace, 0));
    if (js->phase >= JOB_KILL)
        return 0;
    decide (js, reason, text);
    if (js->phase == JOB_JOIN || grace <= 0)
        return enter_kill (js, now);
    if (js->phase == JOB_TERM) {
        js->deadline = MIN (js->deadline, now + grace);
        return 0;
    }
    js->phase = JOB_TERM;
    js->deadline = now + grace;
    return JOB_DO_TERM;
}

int jobstate_limit (struct jobstate *js, double time_limit, double now)
{
    if (js->phase > JOB_RUN)
        return -EALREADY;
    js->time_limit = time_limit;
    if (js->phase == JOB_JOIN)
        return 0;
    if (time_limit <= 0 || now < js->started + time_limit - js->warn_before)
        js->warned = false;
    set_run_deadline (js);
    return 0;
}

double jobstate_joining (const struct jobstate *js, double now)
{
    return now - (js->deadline - js->join_timeout);
}

static unsigned run_time (struct jobstate *js, double now)
{
    autostrbuf struct strbuf text = STRBUF_INIT (80);
    if (now < js->started + js->time_limit) {
        js->warned = true;
        set_run_deadline (js);
        return JOB_DO_WARN;
    }
    strbuf_adds (&text, "time limit of ");
    strbuf_add_duration (&text, js->time_limit + 0.5); /* rounded */
    strbuf_adds (&text, " reached");
    return jobstate_terminate (js, "timeout", text.buf, js->grace, now);
}

unsigned jobstate_time (struct jobstate *js, const char *join_text, double now)
{
    if (js->deadline <= 0 || now < js->deadline)
        return 0;
    switch (js->phase) {
    case JOB_JOIN:
        return jobstate_fail (js, join_text, now);
    case JOB_RUN:
        return run_time (js, now);
    case JOB_TERM:
        return enter_kill (js, now);
    case JOB_KILL: /* a node cannot end its processes: they hang in the kernel */
        return enter_stage (js, now);
    case JOB_STAGE:
        jobstate_stage_failed (js, "stage-out: there was no time for all files");
        return enter_over (js);
    case JOB_OVER:
        break;
    }
    return 0;
}
