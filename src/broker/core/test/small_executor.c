/* small_executor.c - the executor of small.h: records what it is told */
#include "broker/core/test/small_inside.h"

#include "broker/core/test/fake_agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A signal that no agent has answered. */
struct signal_sent {
    void (*done) (int rc, void *arg);
    void *arg;
};

/* One at a time, as the broker is. */
static struct {
    struct signal_sent signals[64];
    size_t nsignals;
    exec_steps_fn *steps_done; /* of the request without an answer, or NULL */
    void *steps_arg;
} state;

static void tell (struct exec *x, const char *what, uint64_t id, const char *more)
{
    size_t before = x->small->told ? strlen (x->small->told) : 0;
    size_t size = before + strlen (what) + strlen (more) + 40;
    long countdown = small_spare ();
    char *text = realloc (x->small->told, size);

    small_resume (countdown);
    snprintf (text + before, size - before, "%s%s %ju%s%s", before ? ", " : "", what,
              (uintmax_t)id, *more ? " " : "", more);
    x->small->told = text;
}

static void exec_start (struct exec *x, struct exec_job *job)
{
    tell (x, "start", job->id, "");
}

static void exec_recover (struct exec *x, struct exec_job *job)
{
    tell (x, "recover", job->id, "");
}

static void exec_terminate (struct exec *x, struct exec_job *job, const char *reason,
                            double grace)
{
    (void)grace;
    tell (x, "terminate", job->id, reason);
}

static void exec_limit (struct exec *x, struct exec_job *job)
{
    tell (x, "limit", job->id, "");
}

static void exec_resize (struct exec *x, struct exec_job *job)
{
    char sizes[40];

    snprintf (sizes, sizeof (sizes), "from %u to %u", job->resize.from,
              job->resize.nodes);
    tell (x, "resize", job->id, sizes);
}

static int exec_signal (struct exec *x, struct exec_job *job, int signum,
                        enum exec_whom whom, int64_t step,
                        void (*done) (int rc, void *arg), void *arg, struct error *err)
{
    static const char *const whoms[] = { "tasks", "steps", "batch", "full" };
    char text[64];

    if (x->small->agents_away)
        return error_set (err, EBUSY, "its agent is not found again yet");
    assert_true (state.nsignals < ARRAY_SIZE (state.signals));
    state.signals[state.nsignals++] = (struct signal_sent){ done, arg };
    if (step == EXEC_NO_STEP)
        snprintf (text, sizeof (text), "%d %s", signum, whoms[whom]);
    else
        snprintf (text, sizeof (text), "%d step %jd", signum, (intmax_t)step);
    tell (x, "signal", job->id, text);
    return 0;
}

void small_answer_signals (int rc)
{
    size_t n = state.nsignals;

    state.nsignals = 0;
    for (size_t i = 0; i < n; i++)
        state.signals[i].done (rc, state.signals[i].arg);
}

void small_signalled (struct small *s, int rc)
{
    small_answer_signals (rc);
    small_turn (s);
}

static int exec_steps (struct exec *x, struct exec_job *job, bool fresh,
                       exec_steps_fn *done, void *arg, struct error *err)
{
    if (x->small->agents_away)
        return error_set (err, EBUSY, "its agent is not found again yet");
    assert_null (state.steps_done);
    state.steps_done = done;
    state.steps_arg = arg;
    tell (x, "steps", job->id, fresh ? "fresh" : "");
    return 0;
}

void small_steps (struct small *s, int rc, const char *text)
{
    exec_steps_fn *done = state.steps_done;

    state.steps_done = NULL;
    assert_non_null (done);
    done (rc, text, text ? strlen (text) : 0, state.steps_arg);
    small_turn (s);
}

static int exec_connect (struct exec *x, struct exec_job *job,
                         const struct agentstream_events *ev, void *arg,
                         struct agentstream **ret, struct error *err)
{
    if (x->small->agents_away)
        return error_set (err, EBUSY, "its agent is not found again yet");
    *ret = fake_agent_open (x->small, job->id, ev, arg, err);
    return *ret ? 0 : -ENOMEM;
}

static void exec_adopted (struct exec *x, const char *key, uint64_t id, bool again,
                          const char *text)
{
    char more[500];

    snprintf (more, sizeof (more), "%s%s%s%s", key, again ? " again" : "",
              *text ? ": " : "", text);
    tell (x, "adopted", id, more);
}

static void exec_foreign_state (struct exec *x, const struct exec_foreign_state *f)
{
    char more[500];

    snprintf (more, sizeof (more), "%s%s%s%s%s", f->state, *f->reason ? " " : "",
              f->reason, f->active ? " active" : "",
              f->cancelled ? " cancelled"
              : f->ended   ? " ended"
                           : "");
    tell (x, "state", f->id, more);
}

static void exec_cleanup (struct exec *x, struct exec_job *job)
{
    struct broker *b = x->small->b;
    uint64_t id = job->id;

    tell (x, "cleanup", id, "");
    b->host.released (b, id);
    b->host.cleaned (b, id);
}

static void no_sweep (struct exec *x, const uint64_t *live, size_t n)
{
    (void)x;
    (void)live;
    (void)n;
}

const struct exec_ops small_exec_ops = {
    .name = "small",
    .start = exec_start,
    .recover = exec_recover,
    .terminate = exec_terminate,
    .signal = exec_signal,
    .steps = exec_steps,
    .connect = exec_connect,
    .limit = exec_limit,
    .resize = exec_resize,
    .adopted = exec_adopted,
    .foreign_state = exec_foreign_state,
    .cleanup = exec_cleanup,
    .sweep = no_sweep,
};
