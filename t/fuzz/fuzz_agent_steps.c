/* fuzz_agent_steps.c - messages of hostile clients and ranks to rank 0, which runs steps: the
 * step protocol as a state machine
 *
 * Parser: shell/step/steps.c shell/step/placement.c shell/step/steps_nodes.c
 * Parser: shell/step/steps_resize.c shell/step/steps_sample.c shell/step/keepalive.c
 * Parser: shell/io/wire.c shell/step/step_pmi.c
 * The input is frames; the rank of a frame says who sends it (0 to 2). What rank 0 sends has a
 * type of the protocol and a receiver that exists; the whole is the same for messages in pieces
 * as the connection would read them.
 */
#include "fuzz_frames.h"

#include "shell/io/wire.h"
#include "shell/step/steps.h"

#define RANKS 3

static struct launch_node nodes[RANKS] = {
    { .name = "n0", .cores = "0-3", .gpus = "0-1", .ntasks = 1 },
    { .name = "n1", .cores = "0-3", .gpus = "", .ntasks = 1 },
    { .name = "n2", .cores = "0,2", .gpus = "0", .ntasks = 1 },
};

struct seen {
    unsigned sent, ends, records;
};

static void send_down (void *ctx, uint32_t rank, const struct frame *msg)
{
    struct seen *s = ctx;

    assert (rank < RANKS || rank == WIRE_ALL);
    assert (msg->type > FRAME_TYPES && msg->type <= WIRE_STEP_LAST);
    assert (msg->len <= FRAME_DATA_MAX && (msg->len == 0 || msg->data));
    s->sent++;
    s->ends += msg->type == WIRE_RUN_END;
}

static void record (void *ctx, struct stepuse *use)
{
    struct seen *s = ctx;

    assert (use->step[0]);
    s->records++;
}

static void look (const struct steps *steps)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 20);

    steps_describe (steps, NULL, "0-2", &sb);
    assert (sb.err || !strncmp (sb.buf, "waiting ", 8));
    steps_run (steps);
    steps_use (steps, 1);
    steps_held (steps);
}

/* Does one of the things that broker and user can do at any time; the frame's task is an
 * argument. */
static void act (struct steps *steps, const struct frame *f)
{
    switch (f->stream % 6) {
    case 0:
        steps_signal (steps, f->task, 10);
        break;
    case 1:
        steps_cancel (steps, f->task);
        break;
    case 2:
        steps_sample (steps, f->task % (RANKS + 1));
        break;
    case 3:
        steps_take_back (steps, 1 + f->task % (RANKS - 1));
        break;
    case 4:
        steps_lose (steps, f->task % RANKS);
        break;
    default:
        look (steps);
    }
}

static void run (struct steps *steps, const uint8_t *data, size_t size)
{
    struct frame msg;
    ssize_t n;

    for (; (n = wire_parse (data, size, &msg)) > 0; data += n, size -= (size_t)n) {
        assert ((size_t)n == FRAME_HEAD + msg.len && (size_t)n <= size);
        if (msg.type < FRAME_TYPES)
            act (steps, &msg);
        else if (!steps_message (steps, msg.rank % RANKS, &msg))
            return; /* the rank cannot be trusted: the job ends */
    }
    assert (n == 0 || n == -EBADMSG);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct launch launch = { .job_id = 1,
                             .nodes = nodes,
                             .nnodes = RANKS,
                             .cores_per_task = 1,
                             .batch = true,
                             .cwd = "/" };
    struct seen seen = { 0 };
    struct loop loop;

    assert (loop_init (&loop) == 0);
    struct steps *steps = steps_create (&loop, &launch, send_down, record, &seen);
    assert (steps);
    run (steps, data, size);
    look (steps);
    steps_close (steps, "the job ends");
    steps_record_rest (steps);
    steps_destroy (steps);
    loop_release (&loop);
    return 0;
}
