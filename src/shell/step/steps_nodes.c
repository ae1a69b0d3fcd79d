/* steps_nodes.c - what the nodes of a step report: output, exits, KVS pairs, failures */
#include "shell/step/steps_private.h"

#include "common/macros.h"
#include "shell/io/wait_status.h"

/* Finds the node of a rank in the step. Nodes are sorted by rank. */
static struct step_node *find_node (const struct step *step, uint32_t rank)
{
    uint32_t lo = 0, hi = step->nnodes;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (step->nodes[mid].rank == rank)
            return &step->nodes[mid];
        if (step->nodes[mid].rank < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

bool step_has_task (const struct step *step, const struct step_node *node, uint32_t task)
{
    return task < step->layout.ntasks
           && step->layout.rank[task] == (uint32_t)(node - step->nodes);
}

/* The tasks of the node have ended, so its PMIx helper answers no more. */
static void tell_senders (struct steps *steps, struct step *step,
                          const struct step_node *node)
{
    uint8_t from[4];

    wire_put_u32 (from, (uint32_t)(node - step->nodes));
    if (node->was_asked)
        steps_to_nodes (step, steps, WIRE_STEP_SEND, from, sizeof (from));
}

static void on_task_exit (struct steps *steps, struct step *step, struct step_node *node,
                          const struct frame *msg)
{
    int status = (int)(wire_get_u32 (msg->data + 4) & 0xffff);
    steps_to_client (step, steps, WIRE_RUN_EXIT, msg->stream, msg->data, msg->len);
    /* With --kill-on-bad-exit the first failure counts, as our signal ends the other
     * tasks. */
    if (step->status == 0 || !step->spec.kill_on_bad_exit)
        step->status = wait_status_worst (step->status, status);
    step->left--;
    if (--node->left == 0)
        placement_give (steps, node);
    if (step->left == 0) {
        steps_end (steps, step);
        return;
    }
    if (node->left == 0) {
        tell_senders (steps, step, node);
        stepinput_node_ended (steps, step);
        steps_start_waiting (steps);
    }
    if (status != 0 && step->spec.kill_on_bad_exit)
        steps_stop (steps, step, "a task failed, and --kill-on-bad-exit ends the others");
    if (step->spec.wait > 0 && step->end_at == 0) {
        step->end_at = loop_now () + step->spec.wait;
        steps_set_timer (steps);
    }
}

void steps_lose_node (struct steps *steps, struct step *step, struct step_node *node,
                      int status, const char *why)
{
    step->left -= node->left;
    step->status = wait_status_worst (step->status, status);
    node->left = 0;
    placement_give (steps, node);
    steps_stop (steps, step, why);
    if (step->left == 0)
        steps_end (steps, step);
}

static void send_puts (struct steps *steps, struct step *step)
{
    autostrbuf struct strbuf all = STRBUF_INIT (STEP_PUTS_MAX);
    for (uint32_t i = 0; i < step->nnodes; i++) {
        struct step_node *n = &step->nodes[i];
        if (n->puts.err)
            all.err = n->puts.err;
        strbuf_add (&all, n->puts.buf, n->puts.len);
        strbuf_reset (&n->puts);
        n->has_put = false;
    }
    step->nputs = 0;
    if (all.err)
        steps_stop (steps, step, "its tasks put more than 64 MiB into the KVS at once");
    else
        steps_blob_to_nodes (step, steps, WIRE_STEP_KVS, &all);
}

static void on_put (struct steps *steps, struct step *step, struct step_node *node,
                    const struct frame *msg)
{
    static const char lacks[] =
        "a task has ended without MPI_Init, and others wait for it there";
    strbuf_add (&node->puts, msg->data, msg->len);
    if (msg->stream == 0)
        return;
    if (msg->stream == 2) {
        step->put_lacks = true;
    } else if (!node->has_put) {
        node->has_put = true;
        step->nputs++;
    }
    if (step->nputs > 0 && step->put_lacks)
        steps_stop (steps, step, lacks);
    else if (step->nputs == step->nbusy)
        send_puts (steps, step);
}

/* Passes a message of one node on to another. */
static bool on_send (struct steps *steps, struct step *step, const struct step_node *node,
                     const struct frame *msg)
{
    char data[FRAME_DATA_MAX];
    uint32_t to = msg->len > 4 ? wire_get_u32 (msg->data) : UINT32_MAX;

    if (to >= step->nnodes)
        return false;
    wire_put_u32 ((uint8_t *)data, (uint32_t)(node - step->nodes));
    memcpy (data + 4, msg->data + 4, msg->len - 4);
    step->nodes[to].was_asked = true;
    if (step->nodes[to].left > 0) {
        steps_to_node (step, steps, to, WIRE_STEP_SEND, data, msg->len);
    } else if (node->left > 0) {
        wire_put_u32 ((uint8_t *)data, to);
        steps_to_node (step, steps, (uint32_t)(node - step->nodes), WIRE_STEP_SEND, data,
                       4);
    }
    return true;
}

static void name_node (char why[256], const struct steps *steps,
                       const struct step_node *node, const char *text, size_t len)
{
    snprintf (why, 256, "node %.80s: %.*s", steps->launch->nodes[node->rank].name,
              (int)MIN (len, 150u), text);
}

static void on_fail (struct steps *steps, struct step *step, struct step_node *node,
                     const struct frame *msg)
{
    char why[256];
    name_node (why, steps, node, msg->data, msg->len);
    if (msg->stream == 1 && node->left > 0)
        steps_lose_node (steps, step, node, 1 << 8, why);
    else
        steps_stop (steps, step, why);
}

static bool on_usage (struct step *step, struct step_node *node, const struct frame *msg)
{
    struct use use;

    if (node->left == 0 || use_decode (msg->data, msg->len, &use) < 0)
        return false;
    if (!node->has_told)
        stepuse_add (&step->use, node->rank, &use);
    node->has_told = true;
    return true;
}

static void on_abort (struct steps *steps, struct step *step,
                      const struct step_node *node, const struct frame *msg)
{
    char why[256];
    step->status =
        wait_status_worst (step->status, (int)(wire_get_u32 (msg->data) & 0xffff));
    name_node (why, steps, node, msg->data + 4, msg->len - 4);
    steps_stop (steps, step, why);
}

static bool node_message (struct steps *steps, struct step *step, struct step_node *node,
                          const struct frame *msg)
{
    switch (msg->type) {
    case WIRE_STEP_OUTPUT:
        if (msg->len < 4 || !step_has_task (step, node, wire_get_u32 (msg->data)))
            return false;
        steps_to_client (step, steps, WIRE_RUN_OUTPUT, msg->stream, msg->data, msg->len);
        if (step->client_gone) { /* no client returns the credit */
            uint8_t used[4];
            wire_put_u32 (used, msg->len - 4);
            steps_to_node (step, steps, (uint32_t)(node - step->nodes), WIRE_STEP_CREDIT,
                           used, sizeof (used));
        }
        return true;
    case WIRE_STEP_EXIT:
        if (msg->len != 8 || node->left == 0
            || !step_has_task (step, node, wire_get_u32 (msg->data)))
            return false;
        on_task_exit (steps, step, node, msg);
        return true;
    case WIRE_STEP_FAIL:
        on_fail (steps, step, node, msg);
        return true;
    case WIRE_STEP_TAKEN:
        return stepinput_taken (steps, step, node, msg);
    case WIRE_STEP_PUT:
        on_put (steps, step, node, msg);
        return true;
    case WIRE_STEP_ABORT:
        if (msg->len < 4)
            return false;
        on_abort (steps, step, node, msg);
        return true;
    case WIRE_STEP_SEND:
        return on_send (steps, step, node, msg);
    case WIRE_STEP_USAGE:
        return on_usage (step, node, msg);
    case WIRE_STEP_SAMPLED:
        return steps_sampled (steps, &step->sample, node->rank, msg);
    default:
        return false;
    }
}

bool steps_node_message (struct steps *steps, struct step *step, uint32_t rank,
                         const struct frame *msg)
{
    struct step_node *node = find_node (step, rank);

    return node && node_message (steps, step, node, msg);
}
