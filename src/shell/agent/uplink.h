/* uplink.h - a member's connection to its parent in the tree of agents
 *
 *     up = uplink_create (agent, tree_parent (&agent->tree, agent->rank), &events, ctx);
 *     uplink_start (up);
 *     uplink_put (up, &msg);                       // also before it is joined
 *     uplink_flush (up);                           // once a round
 *
 *     TRY --resolved--> CONNECT --connected--> CHALLENGE --it proves itself--> JOINED
 *      ^                   |                       |                             |
 *      +--back-off---------+-----------------------+                 lost: LOST, for good
 *
 * Until join_timeout every failure is tried again: names resolve late, the parent's
 * process starts late, and another process may answer at its address first. A connection
 * that is lost after it has joined is not tried again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/frame.h"
#include "shell/agent/agent.h"

struct uplink;

struct uplink_events {
    /* The parent has proven that it has the key: the first uplink_put() must be
     * WIRE_JOIN. The uplink does not need the key any more. */
    void (*joined) (void *ctx);
    /* A message from above, no heartbeat. False: the message is invalid, give up the
     * parent. */
    bool (*message) (void *ctx, const struct frame *msg);
    /* The connection is lost; called once, and logged. */
    void (*lost) (void *ctx);
    /* The join timeout has passed; logged. */
    void (*gave_up) (void *ctx);
};

/* The agent's launch and key, and events, must outlive the uplink. NULL: no memory. */
struct uplink *uplink_create (struct agent *agent, uint32_t parent,
                              const struct uplink_events *events, void *ctx);
void uplink_destroy (struct uplink *up);
/* Starts to connect, in the next round of the loop. The join timeout counts from here. */
void uplink_start (struct uplink *up);
bool uplink_started (const struct uplink *up);
bool uplink_joined (const struct uplink *up);
/* Messages wait until the uplink has joined, and are dropped once it is lost. */
void uplink_put (struct uplink *up, const struct frame *msg);
void uplink_flush (struct uplink *up);
