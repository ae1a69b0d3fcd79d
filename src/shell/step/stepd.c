/* stepd.c - a rank's part of the job's steps: starts tasks, passes input and output */
#include "shell/step/stepd.h"

#include "shell/step/cgroup.h"
#include "shell/step/sample.h"
#include "shell/step/step_pmix.h"
#include "shell/step/stepd_private.h"
#include "shell/step/steps.h"

#define NO_NUMBER UINT32_MAX

void stepd_put (const struct rank_step *s, uint8_t type, uint8_t stream, uint32_t number,
                const void *data, size_t len)
{
    char buf[4 + FRAME_DATA_MAX];
    size_t head = number == NO_NUMBER ? 0 : 4;
    len = MIN (len, FRAME_DATA_MAX - head);
    wire_put_u32 ((uint8_t *)buf, number);
    if (len > 0)
        memcpy (buf + head, data, len);
    s->d->up (s->d->ctx, &(struct frame){ .type = type,
                                          .stream = stream,
                                          .rank = s->d->rank,
                                          .task = s->id,
                                          .len = (uint32_t)(head + len),
                                          .data = buf });
}

void stepd_free (struct rank_step *s)
{
    struct rank_step **at = &s->d->steps;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->set)
        taskset_destroy (s->set);
    if (s->cwd_fd >= 0)
        close (s->cwd_fd);
    idset_destroy (s->cores);
    multiprog_destroy (s->programs);
    steppmi_destroy (s->pmi);
    steppmix_release (s->pmix);
    outbuf_release (&s->held);
    stepbind_destroy (s->bind);
    strbuf_release (&s->text);
    step_spec_release (&s->spec);
    free (s->rank_of);
    free (s->ranks);
    free (s->own);
    loop_free_later (s->d->loop, s);
}

/* -- its tasks -- */

size_t stepd_room (const struct rank_step *s)
{
    return s->credit > 0 ? (size_t)MIN (s->credit, FRAME_DATA_MAX - 4) : 0;
}

static size_t on_room (void *ctx)
{
    return stepd_room (ctx);
}

void stepd_output (struct rank_step *s, uint32_t task, int stream, const char *data,
                   size_t len)
{
    s->credit -= (int64_t)len;
    for (size_t n; len > 0; data += n, len -= n) {
        n = MIN (len, FRAME_DATA_MAX - 4);
        stepd_put (s, WIRE_STEP_OUTPUT, (uint8_t)stream, task, data, n);
    }
}

static void on_output (void *ctx, uint32_t task, int stream, const char *data, size_t len)
{
    stepd_output (ctx, task, stream, data, len);
}

static struct step_task *find_own (struct rank_step *s, uint32_t task)
{
    for (uint32_t i = 0; i < s->nown; i++)
        if (s->own[i].id == task)
            return &s->own[i];
    return NULL;
}

bool stepd_reads (const struct rank_step *s, const struct step_task *t)
{
    if (s->spec.input == STEP_INPUT_ALL || s->spec.input == STEP_INPUT_EACH)
        return true;
    return s->spec.input == STEP_INPUT_ONE && t->id == s->spec.input_task;
}

/* Tells rank 0 how much input all reading tasks here have taken. */
static void tell_taken (struct rank_step *s)
{
    uint64_t least = UINT64_MAX;
    uint8_t data[4];
    for (uint32_t i = 0; i < s->nown; i++)
        if (stepd_reads (s, &s->own[i]) && !s->own[i].ended)
            least = MIN (least, s->own[i].taken);
    if (least == UINT64_MAX || least <= s->taken)
        return;
    wire_put_u32 (data, (uint32_t)(least - s->taken));
    s->taken = least;
    stepd_put (s, WIRE_STEP_TAKEN, 0, NO_NUMBER, data, sizeof (data));
}

static void on_taken (void *ctx, uint32_t task, size_t len)
{
    struct rank_step *s = ctx;
    struct step_task *t = find_own (s, task);
    uint8_t data[4];
    t->taken += len;
    if (s->spec.input != STEP_INPUT_EACH) {
        tell_taken (s);
    } else if (!t->ended) {
        wire_put_u32 (data, (uint32_t)len);
        stepd_put (s, WIRE_STEP_TAKEN, 0, task, data, sizeof (data));
    }
}

static void put_oom (const struct rank_step *s)
{
    uint8_t data[CGROUP_MEMORY_SIZE];
    struct cgroup_memory now = cgroup_memory_now ();
    cgroup_memory_put (data, &now);
    stepd_put (s, WIRE_OOM, 0, NO_NUMBER, data, sizeof (data));
}

void stepd_put_exit (struct rank_step *s, uint32_t task, int status, bool oom)
{
    uint8_t data[4];
    if (oom)
        put_oom (s);
    wire_put_u32 (data, (uint32_t)status);
    stepd_put (s, WIRE_STEP_EXIT, oom, task, data, sizeof (data));
}

static void put_usage (const struct rank_step *s)
{
    char text[USE_TEXT_MAX];
    struct use use = taskset_use (s->set);
    size_t len = use_encode (&use, text);
    stepd_put (s, WIRE_STEP_USAGE, 0, NO_NUMBER, text, len);
}

static void on_exited (void *ctx, uint32_t task, int status, bool oom)
{
    struct rank_step *s = ctx;
    struct step_task *t = find_own (s, task);
    bool last = s->started == s->nown && taskset_running (s->set) == 0;
    t->ended = true;
    if (s->spec.input != STEP_INPUT_EACH)
        tell_taken (s);
    if (s->pmi)
        steppmi_exited (s->pmi, (uint32_t)(t - s->own), status);
    if (s->pmix)
        steppmix_exited (s->pmix, (uint32_t)(t - s->own), status);
    if (last)
        put_usage (s);
    stepd_put_exit (s, task, status, oom);
    if (last)
        stepd_free (s);
}

const struct task_events stepd_task_events = { on_room, on_output, on_exited, NULL,
                                               on_taken };

/* -- messages -- */

static struct rank_step *find (struct stepd *d, uint32_t id)
{
    struct rank_step *s = d->steps;
    while (s && s->id != id)
        s = s->next;
    return s;
}

static void on_start (struct stepd *d, const struct frame *msg)
{
    struct rank_step *s = find (d, msg->task);
    if (!s) {
        s = calloc (1, sizeof (*s));
        if (!s)
            abort ();
        *s =
            (struct rank_step){ .next = d->steps, .d = d, .id = msg->task, .cwd_fd = -1 };
        strbuf_init (&s->text, STEP_SPEC_MAX);
        d->steps = s;
    }
    strbuf_add (&s->text, msg->data, msg->len);
    if (msg->stream == 1)
        stepd_start (s);
}

static void on_size (struct rank_step *s, const struct frame *msg)
{
    const struct task_pty size = { wire_get_u32 (msg->data),
                                   wire_get_u32 (msg->data + 4) };
    for (uint32_t i = 0; i < s->started; i++)
        if (!s->own[i].ended)
            taskset_resize (s->set, i, &size);
}

/* Input for one task, with the number of the task before the bytes. */
static void on_own_input (struct rank_step *s, const struct frame *msg)
{
    struct step_task *t = msg->len < 4 ? NULL : find_own (s, wire_get_u32 (msg->data));
    if (t && !t->ended)
        taskset_input (s->set, (uint32_t)(t - s->own), msg->data + 4, msg->len - 4);
}

static void on_input (struct rank_step *s, const struct frame *msg)
{
    if (s->spec.input == STEP_INPUT_EACH) {
        on_own_input (s, msg);
        return;
    }
    for (uint32_t i = 0; i < s->nown; i++)
        if (stepd_reads (s, &s->own[i]) && !s->own[i].ended)
            taskset_input (s->set, i, msg->data, msg->len);
}

static void put_sample (const struct stepd *d, uint32_t id, uint8_t round,
                        const struct use *use)
{
    char text[USE_TEXT_MAX];
    size_t len = use_encode (use, text);
    d->up (d->ctx, &(struct frame){ .type = WIRE_STEP_SAMPLED,
                                    .stream = round,
                                    .rank = d->rank,
                                    .task = id,
                                    .len = (uint32_t)len,
                                    .data = text });
}

/* Tells what all tasks here have used so far. */
static void on_sample (const struct stepd *d, uint8_t round)
{
    struct samples *all = samples_read ();
    const struct taskset *own = tasks_own (d->tasks);
    if (all && own && tasks_count (d->launch, d->rank) > 0) {
        struct use use = samples_use (all, own);
        put_sample (d, WIRE_STEP_OWN, round, &use);
    }
    for (const struct rank_step *s = d->steps; all && s; s = s->next) {
        if (!s->set)
            continue;
        struct use use = samples_use (all, s->set);
        put_sample (d, s->id, round, &use);
    }
    samples_destroy (all);
}

void stepd_message (struct stepd *d, const struct frame *msg)
{
    if (msg->type == WIRE_STEP_START) {
        on_start (d, msg);
        return;
    }
    if (msg->type == WIRE_STEP_SAMPLE) {
        on_sample (d, msg->stream);
        return;
    }
    struct rank_step *s = find (d, msg->task);
    if (!s || !s->set)
        return;
    if (s->waits) {
        wire_put (&s->held, msg);
        return;
    }
    if (msg->type == WIRE_STEP_INPUT) {
        on_input (s, msg);
    } else if (msg->type == WIRE_STEP_CREDIT && msg->len == 4) {
        s->credit += wire_get_u32 (msg->data);
        if (s->credit > 0) {
            taskset_resume (s->set);
            steppmix_resume (s->pmix);
        }
    } else if (msg->type == WIRE_STEP_KVS && s->pmi) {
        steppmi_message (s->pmi, msg);
    } else if ((msg->type == WIRE_STEP_KVS || msg->type == WIRE_STEP_SEND) && s->pmix) {
        steppmix_message (s->pmix, msg);
    } else if (msg->type == WIRE_STEP_SIGNAL && msg->len == 4) {
        taskset_signal (s->set, (int)wire_get_u32 (msg->data));
    } else if (msg->type == WIRE_STEP_SIZE && msg->len == 8) {
        on_size (s, msg);
    }
}

struct stepd *stepd_create (struct loop *loop, const struct launch *launch,
                            struct tasks *tasks, uint32_t rank, stepd_up_fn up, void *ctx)
{
    struct stepd *d = calloc (1, sizeof (*d));
    if (!d)
        return NULL;
    *d = (struct stepd){ .loop = loop,
                         .launch = launch,
                         .tasks = tasks,
                         .rank = rank,
                         .up = up,
                         .ctx = ctx,
                         .allowed = cpubind_allowed (NULL) };
    return d;
}

void stepd_destroy (struct stepd *d)
{
    while (d && d->steps)
        stepd_free (d->steps);
    if (d)
        steppmix_destroy_all (d);
    if (d)
        idset_destroy (d->allowed);
    free (d);
}
