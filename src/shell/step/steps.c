/* steps.c - rank 0's steps: places them, starts them and tells clients how they end */
#include "shell/step/steps.h"

#include <signal.h>

#include "common/clock.h"
#include "shell/io/wait_status.h"
#include "shell/step/multiprog.h"
#include "shell/step/steps_private.h"

#define KILL_AFTER_MIN 1.0 /* seconds */

uint32_t steps_credit (uint32_t nnodes)
{
    uint32_t share = STEP_CREDIT_ALL / MAX (nnodes, 1u);
    return MAX (MIN (share, STEP_CREDIT_MAX), STEP_CREDIT_MIN);
}

/* -- messages out -- */

void steps_to_client (const struct step *step, struct steps *steps, uint8_t type,
                      uint8_t stream, const void *data, size_t len)
{
    if (step->client_gone)
        return;
    steps->send (steps->ctx, step->client_rank,
                 &(struct frame){ .type = type,
                                  .stream = stream,
                                  .rank = step->client_rank,
                                  .task = step->client,
                                  .len = (uint32_t)len,
                                  .data = data });
}

void steps_to_node (const struct step *step, struct steps *steps, uint32_t node,
                    uint8_t type, const void *data, size_t len)
{
    uint32_t rank = step->nodes[node].rank;
    steps->send (steps->ctx, rank,
                 &(struct frame){ .type = type,
                                  .rank = rank,
                                  .task = step->spec.id,
                                  .len = (uint32_t)len,
                                  .data = data });
}

void steps_to_nodes (const struct step *step, struct steps *steps, uint8_t type,
                     const void *data, size_t len)
{
    for (uint32_t i = 0; i < step->nnodes; i++)
        if (step->nodes[i].left > 0)
            steps_to_node (step, steps, i, type, data, len);
}

struct pieces {
    struct step *step;
    struct steps *steps;
};

static void piece_to_all (void *ctx, const struct frame *msg)
{
    struct pieces *p = ctx;
    struct frame own = *msg;
    for (uint32_t i = 0; i < p->step->nnodes; i++) {
        own.rank = p->step->nodes[i].rank;
        p->steps->send (p->steps->ctx, own.rank, &own);
    }
}

static void piece_to_everybody (void *ctx, const struct frame *msg)
{
    struct pieces *p = ctx;
    p->steps->send (p->steps->ctx, WIRE_ALL, msg);
}

static void piece_to_client (void *ctx, const struct frame *msg)
{
    struct pieces *p = ctx;
    steps_to_client (p->step, p->steps, msg->type, msg->stream, msg->data, msg->len);
}

void steps_blob_to_nodes (struct step *step, struct steps *steps, uint8_t type,
                          const struct strbuf *text)
{
    struct pieces p = { step, steps };
    bool most = step->nnodes > 4 && step->nnodes * 2 > steps->launch->nnodes;
    wire_pieces (&(struct frame){ .type = type, .rank = WIRE_ALL, .task = step->spec.id },
                 text->buf, text->len, most ? piece_to_everybody : piece_to_all, &p);
}

/* -- the end -- */

static void free_step (struct steps *steps, struct step *step)
{
    struct step **at = &steps->first;
    while (*at != step)
        at = &(*at)->next;
    *at = step->next;
    steps->n--;
    for (uint32_t i = 0; i < step->nnodes; i++) {
        placement_give (steps, &step->nodes[i]);
        strbuf_release (&step->nodes[i].puts);
    }
    free (step->nodes);
    layout_release (&step->layout);
    stepuse_release (&step->use);
    stepuse_release (&step->sample.use);
    free (step->input.open);
    strbuf_release (&step->text);
    step_spec_release (&step->spec);
    free (step);
}

/* Fills in the start of the step's usage record. */
static void name_step (struct step *step)
{
    const struct step_spec *spec = &step->spec;
    const char *program = spec->multi_prog ? "multi-prog"
                          : spec->nargs    ? spec->args[0]
                                           : NULL;
    const char *slash = program ? strrchr (program, '/') : NULL;
    const char *name = spec->name ? spec->name : slash ? slash + 1 : program;

    step->use.begin_ms = (uint64_t)(clock_wall () * 1000.0);
    step->use.ntasks = step->layout.ntasks;
    step->use.nnodes = step->nbusy;
    snprintf (step->use.step, sizeof (step->use.step), "%u", spec->id);
    snprintf (step->use.name, sizeof (step->use.name), "%s", name ? name : "");
}

static void record (struct steps *steps, struct step *step)
{
    if (step->state != STEP_RUNNING || !steps->record || !step->use.step[0])
        return;
    step->use.end_ms = (uint64_t)(clock_wall () * 1000.0);
    step->use.status = step->status;
    steps->record (steps->ctx, &step->use);
}

void steps_record_rest (struct steps *steps)
{
    for (struct step *step = steps->first; step; step = step->next) {
        step->status = wait_status_worst (step->status, SIGKILL);
        record (steps, step);
    }
    steps->record = NULL;
}

void steps_end (struct steps *steps, struct step *step)
{
    record (steps, step);
    char data[4 + sizeof (step->why)];
    size_t len = strlen (step->why);
    wire_put_u32 ((uint8_t *)data, (uint32_t)step->status);
    memcpy (data + 4, step->why, len);
    steps_to_client (step, steps, WIRE_RUN_END, 0, data, 4 + len);
    free_step (steps, step);
    steps_start_waiting (steps);
    steps_set_timer (steps);
}

static void refuse (struct steps *steps, struct step *step, const char *why)
{
    snprintf (step->why, sizeof (step->why), "%.250s", why);
    step->status = 1 << 8;
    steps_end (steps, step);
}

static void signal_step (struct steps *steps, const struct step *step, int sig)
{
    uint8_t data[4];
    wire_put_u32 (data, (uint32_t)sig);
    steps_to_nodes (step, steps, WIRE_STEP_SIGNAL, data, sizeof (data));
}

/* Sends SIGTERM now, and SIGKILL after the job's grace. */
void steps_stop (struct steps *steps, struct step *step, const char *why)
{
    if (step->why[0] == '\0')
        snprintf (step->why, sizeof (step->why), "%.250s", why);
    if (step->kill_at > 0)
        return;
    step->kill_at = loop_now () + MAX (steps->launch->grace, KILL_AFTER_MIN);
    signal_step (steps, step, SIGCONT);
    if (step->spec.pty) /* a shell on a terminal ignores SIGTERM */
        signal_step (steps, step, SIGHUP);
    signal_step (steps, step, SIGTERM);
    steps_set_timer (steps);
}

static void kill_step (struct steps *steps, struct step *step)
{
    step->kill_at = loop_now () + KILL_AFTER_MIN; /* for processes forked meanwhile */
    signal_step (steps, step, SIGKILL);
}

static void on_timer (struct loop_timer *timer)
{
    struct steps *steps = CONTAINER_OF (timer, struct steps, timer);
    double now = loop_now ();
    keepalive_time (steps, now);
    for (struct step *step = steps->first, *next; step; step = next) {
        next = step->next;
        if (step->kill_at > 0 && now >= step->kill_at)
            kill_step (steps, step);
        else if (step->end_at > 0 && now >= step->end_at)
            steps_stop (steps, step,
                        "the time of --wait has passed since its first task ended");
    }
    steps_set_timer (steps);
}

void steps_set_timer (struct steps *steps)
{
    double when = steps->keepalive.over_at;
    for (const struct step *s = steps->first; s; s = s->next) {
        double at = s->kill_at > 0 ? s->kill_at : s->end_at;
        if (at > 0 && (when == 0 || at < when))
            when = at;
    }
    if (when > 0)
        loop_timer_set (steps->loop, &steps->timer, when);
    else
        loop_timer_clear (steps->loop, &steps->timer);
}

/* -- the start -- */

/* Leaves out what the client knows. */
static void shorten (struct step_spec *spec)
{
    spec->nenv = 0;
    spec->nargs = spec->multi_prog ? 0 : 1;
}

/* Sends the completed request to the client, without arg and env. */
static int tell_started (struct steps *steps, struct step *step)
{
    struct step_spec spec = step->spec;
    autofree struct step_spec *parts = calloc (spec.nparts + 1, sizeof (*parts));
    autostrbuf struct strbuf sb = STRBUF_INIT (STEP_SPEC_MAX);

    if (!parts)
        return -ENOMEM;
    for (size_t i = 0; i < spec.nparts; i++) {
        parts[i] = spec.parts[i];
        shorten (&parts[i]);
    }
    spec.parts = parts;
    shorten (&spec);
    int rc = step_spec_write (&spec, &sb);
    if (rc == 0)
        wire_pieces (&(struct frame){ .type = WIRE_RUN_STARTED }, sb.buf, sb.len,
                     piece_to_client, &(struct pieces){ step, steps });
    return rc;
}

static void start_step (struct steps *steps, struct step *step)
{
    struct strbuf sb = STRBUF_INIT (STEP_SPEC_MAX);
    step->state = STEP_RUNNING;
    step->spec.id = steps->next_id++;
    name_step (step);
    int rc = step_spec_write (&step->spec, &sb);
    if (rc == 0)
        rc = tell_started (steps, step);
    if (rc == 0)
        steps_blob_to_nodes (step, steps, WIRE_STEP_START, &sb);
    strbuf_release (&sb);
    if (rc < 0)
        refuse (steps, step, "its arguments and environment are too large");
}

static int check_programs (const char *text, uint32_t ntasks, struct error *err)
{
    struct multiprog *mp =
        text ? multiprog_parse (text, strlen (text), "--multi-prog", ntasks, err) : NULL;
    multiprog_destroy (mp);
    return mp || !text ? 0 : -EINVAL;
}

/* Checks that need the number of tasks. */
static int check_tasks (const struct step_spec *spec, struct error *err)
{
    uint32_t n = spec->ntasks; /* of the first part */
    int rc = stepinput_check (spec, err);
    for (size_t i = 0; i < spec->nparts && rc == 0; i++) {
        n -= spec->parts[i].ntasks;
        rc = check_programs (spec->parts[i].multi_prog, spec->parts[i].ntasks, err);
    }
    return rc == 0 ? check_programs (spec->multi_prog, n, err) : rc;
}

/* 1: the step runs; 0: no room now; negative: the step was refused and freed. */
static int try_start (struct steps *steps, struct step *step)
{
    struct error err = { 0 };
    int rc = placement_take (steps, step, &err);
    if (rc > 0 && check_tasks (&step->spec, &err) < 0)
        rc = -EINVAL;
    if (rc > 0)
        start_step (steps, step);
    else if (rc < 0)
        refuse (steps, step, err.text);
    return rc;
}

/* Starts waiting steps in the order in which they came. */
void steps_start_waiting (struct steps *steps)
{
    struct step *step = steps->first;
    while (step && step->state != STEP_WAITING)
        step = step->next;
    if (step && !steps->closed && try_start (steps, step) > 0)
        steps_start_waiting (steps);
}

static bool others_wait (const struct steps *steps, const struct step *but)
{
    for (const struct step *s = steps->first; s && s != but; s = s->next)
        if (s->state == STEP_WAITING)
            return true;
    return false;
}

static void begin (struct steps *steps, struct step *step)
{
    static const char note[] = "the step waits for cores that other steps use";
    struct error err = { 0 };
    int rc = step_spec_parse (step->text.buf, step->text.len, &step->spec, &err);
    strbuf_release (&step->text);
    step_spec_forget_places (&step->spec); /* a client must not set these */
    step->state = STEP_WAITING;
    if (rc < 0 || steps->closed) {
        refuse (steps, step, rc < 0 ? err.text : "the job ends");
        return;
    }
    steps_choose_mpi (steps, step);
    if (!others_wait (steps, step) && try_start (steps, step) != 0)
        return;
    if (step->spec.immediate)
        refuse (steps, step, "its cores are in use by other steps");
    else
        steps_to_client (step, steps, WIRE_RUN_NOTE, 0, note, sizeof (note) - 1);
}

/* -- messages of clients -- */

static struct step *find_client (struct steps *steps, uint32_t rank, uint32_t client)
{
    for (struct step *s = steps->first; s; s = s->next)
        if (s->client_rank == rank && s->client == client && !s->client_gone)
            return s;
    return NULL;
}

static struct step *create (struct steps *steps, uint32_t rank, uint32_t client)
{
    struct step *step = calloc (1, sizeof (*step));
    struct step **at = &steps->first;
    if (!step)
        abort ();
    step->client_rank = rank;
    step->client = client;
    strbuf_init (&step->text, STEP_SPEC_MAX);
    while (*at)
        at = &(*at)->next;
    *at = step;
    steps->n++;
    return step;
}

static void on_run (struct steps *steps, uint32_t rank, const struct frame *msg)
{
    struct step *step = find_client (steps, rank, msg->task);
    bool is_new = !step;
    if (is_new)
        step = create (steps, rank, msg->task);
    if (step->state != STEP_READING)
        return;
    if (strbuf_add (&step->text, msg->data, msg->len) < 0)
        refuse (steps, step, "its arguments and environment are too large");
    else if (is_new && steps->n > STEPS_MAX)
        refuse (steps, step, "too many steps at once");
    else if (msg->stream == 1)
        begin (steps, step);
}

static void on_gone (struct steps *steps, struct step *step)
{
    step->client_gone = true;
    if (step->state == STEP_RUNNING)
        steps_stop (steps, step, "fluxq-run is gone");
    else
        steps_end (steps, step);
}

static void on_used (struct steps *steps, struct step *step, const struct frame *msg)
{
    uint32_t node = wire_get_u32 (msg->data);
    if (node < step->nnodes && step->nodes[node].left > 0)
        steps_to_node (step, steps, node, WIRE_STEP_CREDIT, msg->data + 4, 4);
}

static void on_run_signal (struct steps *steps, struct step *step,
                           const struct frame *msg)
{
    uint32_t sig = wire_get_u32 (msg->data);
    if (step->state != STEP_RUNNING)
        refuse (steps, step, "interrupted");
    else if (sig > 0 && sig < NSIG)
        steps_to_nodes (step, steps, WIRE_STEP_SIGNAL, msg->data, 4);
}

static void on_input (struct steps *steps, struct step *step, const struct frame *msg)
{
    if (stepinput_pass (steps, step, msg) < 0)
        steps_stop (steps, step, "its client sends more input than the tasks can take");
}

/* Passes the terminal size on to the node of task 0. */
static void on_size (struct steps *steps, struct step *step, const struct frame *msg)
{
    if (step->spec.pty && step->nodes[step->layout.rank[0]].left > 0)
        steps_to_node (step, steps, step->layout.rank[0], WIRE_STEP_SIZE, msg->data,
                       msg->len);
}

/* Clients belong to the user: ignores messages that make no sense, instead of failing. */
static void client_message (struct steps *steps, uint32_t rank, const struct frame *msg)
{
    struct step *step;
    if (msg->type == WIRE_RUN) {
        on_run (steps, rank, msg);
        return;
    }
    if (msg->type == WIRE_RUN_KEEPALIVE)
        keepalive_message (steps, rank, msg);
    else if (msg->type == WIRE_RUN_GONE)
        keepalive_gone (steps, rank, msg->task);
    if (!(step = find_client (steps, rank, msg->task)))
        return;
    if (msg->type == WIRE_RUN_GONE)
        on_gone (steps, step);
    else if (msg->type == WIRE_RUN_SIGNAL && msg->len == 4)
        on_run_signal (steps, step, msg);
    else if (msg->type == WIRE_RUN_INPUT && step->state == STEP_RUNNING)
        on_input (steps, step, msg);
    else if (msg->type == WIRE_RUN_USED && msg->len == 8 && step->state == STEP_RUNNING)
        on_used (steps, step, msg);
    else if (msg->type == WIRE_RUN_SIZE && msg->len == 8 && step->state == STEP_RUNNING)
        on_size (steps, step, msg);
}

/* -- running steps -- */

static struct step *find_id (struct steps *steps, uint32_t id)
{
    for (struct step *s = steps->first; s; s = s->next)
        if (s->state == STEP_RUNNING && s->spec.id == id)
            return s;
    return NULL;
}

bool steps_run (const struct steps *steps)
{
    const struct step *s = steps->first;
    while (s && s->state != STEP_RUNNING)
        s = s->next;
    return s != NULL;
}

int steps_signal (struct steps *steps, uint32_t id, int sig)
{
    const struct step *step = find_id (steps, id);
    if (!step)
        return -ENOENT;
    signal_step (steps, step, sig);
    return 0;
}

int steps_cancel (struct steps *steps, uint32_t id)
{
    struct step *step = find_id (steps, id);
    if (!step)
        return -ENOENT;
    steps_stop (steps, step, "it was cancelled");
    return 0;
}

bool steps_message (struct steps *steps, uint32_t rank, const struct frame *msg)
{
    if (msg->type >= WIRE_RUN_KEEPALIVE && msg->type <= WIRE_RUN_GONE) {
        client_message (steps, rank, msg);
        return true;
    }
    if (msg->type == WIRE_STEP_SAMPLED && msg->task == WIRE_STEP_OWN)
        return steps_sampled (steps, &steps->own, rank, msg);
    struct step *step = find_id (steps, msg->task);
    if (!step)
        return msg->task < steps->next_id; /* the step has ended meanwhile */
    return steps_node_message (steps, step, rank, msg);
}

/* -- all -- */

struct steps *steps_create (struct loop *loop, const struct launch *launch,
                            steps_send_fn send, steps_record_fn record_fn, void *ctx)
{
    struct steps *steps = calloc (1, sizeof (*steps));
    if (!steps)
        return NULL;
    steps->loop = loop;
    steps->launch = launch;
    steps->send = send;
    steps->record = record_fn;
    steps->ctx = ctx;
    steps->timer.fire = on_timer;
    if (placement_create (steps) < 0) {
        steps_destroy (steps);
        return NULL;
    }
    return steps;
}

void steps_destroy (struct steps *steps)
{
    if (!steps)
        return;
    while (steps->first)
        free_step (steps, steps->first);
    loop_timer_clear (steps->loop, &steps->timer);
    stepuse_release (&steps->own.use);
    placement_destroy (steps);
    free (steps);
}

/* Whether the client that keeps the job also has a step, which informs it. */
static bool keeper_has_step (struct steps *steps)
{
    const struct keepalive_client *k = &steps->keepalive.keeper;
    return k->here && find_client (steps, k->rank, k->number);
}

void steps_close (struct steps *steps, const char *why)
{
    char note[300];
    int len = snprintf (note, sizeof (note), "the job ends: %s", why);
    bool tell = why[0] && !steps->closed;
    steps->closed = true;
    if (tell && !keeper_has_step (steps))
        keepalive_note (steps, note);
    for (struct step *step = steps->first, *next; step; step = next) {
        next = step->next;
        if (step->state != STEP_RUNNING)
            refuse (steps, step, "the job ends");
        else if (tell)
            steps_to_client (step, steps, WIRE_RUN_NOTE, 0, note, (size_t)len);
    }
}
