/* step_input.c - standard input of a step on rank 0: from its client to the reading tasks
 *
 * One stream serves all tasks, or one task: the client may send WIRE_INPUT_WINDOW bytes
 * more than the slowest reader has taken. With one file for each task there is one stream
 * for each, with a share of its own (wire_input_share()).
 */

#include "common/macros.h"
#include "shell/step/steps_private.h"

int stepinput_check (const struct step_spec *spec, struct error *err)
{
    if (spec->input == STEP_INPUT_ONE && spec->input_task >= spec->ntasks)
        return error_set (err, EINVAL, "--input: there is no task %u, tasks are 0 to %u",
                          spec->input_task, spec->ntasks - 1);
    return 0;
}

/* -- a stream for each task -- */

static uint32_t *open_of (struct step *step, uint32_t task)
{
    struct step_flow *flow = &step->input;
    if (!flow->open)
        flow->open = calloc (step->layout.ntasks, sizeof (*flow->open));
    if (!flow->open)
        abort ();
    return &flow->open[task];
}

static int pass_each (struct steps *steps, struct step *step, const struct frame *msg)
{
    uint32_t ntasks = step->layout.ntasks;
    uint32_t task = msg->len >= 4 ? wire_get_u32 (msg->data) : UINT32_MAX;
    if (task >= ntasks)
        return 0;
    uint32_t *open = open_of (step, task), node = step->layout.rank[task];
    if (step->nodes[node].left == 0)
        return 0;
    *open += msg->len - 4;
    if (*open > wire_input_share (ntasks))
        return -ENOBUFS;
    steps_to_node (step, steps, node, WIRE_STEP_INPUT, msg->data, msg->len);
    return 0;
}

static bool taken_each (struct steps *steps, struct step *step,
                        const struct step_node *node, const struct frame *msg)
{
    uint32_t task = msg->len == 8 ? wire_get_u32 (msg->data) : UINT32_MAX;
    if (!step_has_task (step, node, task))
        return false;
    uint32_t *open = open_of (step, task), n = wire_get_u32 (msg->data + 4);
    if (n > *open)
        return false;
    *open -= n;
    steps_to_client (step, steps, WIRE_RUN_TAKEN, 0, msg->data, msg->len);
    return true;
}

/* -- one stream -- */

static bool is_taker (const struct step *step, uint32_t node)
{
    if (step->nodes[node].left == 0)
        return false;
    return step->spec.input != STEP_INPUT_ONE
           || step->layout.rank[step->spec.input_task] == node;
}

/* The client may send again as many bytes as the slowest reader has taken. */
static void tell_taken (struct steps *steps, struct step *step)
{
    struct step_flow *flow = &step->input;
    uint64_t least = UINT64_MAX;
    uint8_t data[4];
    for (uint32_t i = 0; i < step->nnodes; i++)
        if (is_taker (step, i))
            least = MIN (least, step->nodes[i].taken);
    if (least == UINT64_MAX)
        least = flow->taken + UINT32_MAX; /* no task reads: all input may come */
    if (least <= flow->taken)
        return;
    wire_put_u32 (data, (uint32_t)(least - flow->taken));
    flow->taken = least;
    steps_to_client (step, steps, WIRE_RUN_TAKEN, 0, data, sizeof (data));
}

static int pass_one (struct steps *steps, struct step *step, const struct frame *msg)
{
    struct step_flow *flow = &step->input;
    flow->fed += msg->len;
    if (flow->fed > flow->taken + WIRE_INPUT_WINDOW + WIRE_INPUT_DIGEST)
        return -ENOBUFS;
    steps_to_nodes (step, steps, WIRE_STEP_INPUT, msg->data, msg->len);
    return 0;
}

int stepinput_pass (struct steps *steps, struct step *step, const struct frame *msg)
{
    if (step->spec.input == STEP_INPUT_EACH)
        return pass_each (steps, step, msg);
    return pass_one (steps, step, msg);
}

bool stepinput_taken (struct steps *steps, struct step *step, struct step_node *node,
                      const struct frame *msg)
{
    if (step->spec.input == STEP_INPUT_EACH)
        return taken_each (steps, step, node, msg);
    if (msg->len != 4)
        return false;
    node->taken += wire_get_u32 (msg->data);
    tell_taken (steps, step);
    return true;
}

void stepinput_node_ended (struct steps *steps, struct step *step)
{
    if (step->spec.input != STEP_INPUT_EACH)
        tell_taken (steps, step);
}
