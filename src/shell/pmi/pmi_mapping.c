/* pmi_mapping.c - the mapping of a step's tasks to nodes, in the notation of MPI
 *
 *     (vector,(FIRST,NODES,TASKS),...)   TASKS tasks on each of NODES nodes from FIRST on
 *
 * Tasks are counted through the blocks in order. If tasks remain after the last block,
 * the blocks are repeated from the first one that starts with node 0. So a cyclic
 * distribution can be written once. As many clients accept only short lines, the short
 * form is used when the full one is too long. */
#include "shell/pmi/pmi_private.h"

#include <errno.h>
#include <inttypes.h>

/* Number of tasks from `from` on, before end, that run on the same node. */
static uint32_t run_length (const uint32_t *node_of, uint32_t from, uint32_t end)
{
    uint32_t n = 1;

    while (from + n < end && node_of[from + n] == node_of[from])
        n++;
    return n;
}

static int add_blocks (const uint32_t *node_of, uint32_t ntasks, struct strbuf *out)
{
    strbuf_adds (out, "(vector");
    for (uint32_t at = 0; at < ntasks && !out->err;) {
        uint32_t first = node_of[at];
        uint32_t tasks = run_length (node_of, at, ntasks);
        uint32_t nodes = 0;
        do {
            nodes++;
            at += tasks;
        } while (at < ntasks && node_of[at] == first + nodes
                 && run_length (node_of, at, ntasks) == tasks);
        strbuf_addf (out, ",(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", first, nodes, tasks);
    }
    return strbuf_adds (out, ")");
}

/* Number of tasks after which the mapping repeats, from node 0 on; ntasks: never. */
static uint32_t period_of (const uint32_t *node_of, uint32_t ntasks)
{
    uint32_t period = run_length (node_of, 0, ntasks);

    while (period < ntasks && node_of[period] != node_of[0])
        period++;
    if (node_of[0] != 0)
        return ntasks;
    for (uint32_t i = period; i < ntasks; i++)
        if (node_of[i] != node_of[i - period])
            return ntasks;
    return period;
}

int pmi_mapping (const uint32_t *node_of, uint32_t ntasks, struct strbuf *out)
{
    int rc = add_blocks (node_of, ntasks, out);

    if (rc == -E2BIG) {
        strbuf_reset (out);
        rc = add_blocks (node_of, period_of (node_of, ntasks), out);
    }
    if (rc == -E2BIG) {
        strbuf_reset (out);
        return 0;
    }
    return rc < 0 ? rc : 1;
}
