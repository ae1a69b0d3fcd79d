/* uplink.h - a member's connection to its parent in the tree of agents
 *
 *     up = uplink_create (agent, tree_parent (&agent->tree, agent->rank), &events, ctx);
 *     uplink_start (up);
 *     uplink_put (up, &msg);                       // also before it is joined
 *     uplink_flush (up);                           // once a round
 *
 *     TRY --resolved--> CONNECT --connected--> CHALLENGE --it proves itself--> JOINED
 *      ^                   |                       |                             |
 *      +--back-off---------+-----------------------+                  lost: LOST, for good
 *
 * Until join_timeout is over every failure is tried again: names resolve late, the
 * parent's process starts late, and what answers under its name may not be it yet. Once
 * joined there is no second try.
 */
#ifndef FLUXQ_SHELL_UPLINK_H
#define FLUXQ_SHELL_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/frame.h"
#include "shell/agent.h"

struct uplink;

struct uplink_events {
    /* The parent has proven itself: WIRE_JOIN is due, as the first uplink_put(). The key
     * is not needed for the uplink any more. */
    void (*joined) (void *ctx);
    /* From above; not heartbeats. False: nonsense, the parent is given up. */
    bool (*message) (void *ctx, const struct frame *msg);
    /* Nobody is left to report to; said once, and logged. */
    void (*lost) (void *ctx);
    /* The join timeout is over; logged. */
    void (*gave_up) (void *ctx);
};

/* The agent's launch and key, and events, must outlive it. NULL: no memory. */
struct uplink *uplink_create (struct agent *agent, uint32_t parent,
                              const struct uplink_events *events, void *ctx);
void uplink_destroy (struct uplink *up);
/* Begin to connect, in the loop's next round. The join timeout counts from here. */
void uplink_start (struct uplink *up);
bool uplink_started (const struct uplink *up);
bool uplink_joined (const struct uplink *up);
/* What is put before it is joined waits; what is put when it is lost is dropped. */
void uplink_put (struct uplink *up, const struct frame *msg);
void uplink_flush (struct uplink *up);

#endif
