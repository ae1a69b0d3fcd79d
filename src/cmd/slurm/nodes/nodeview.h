/* nodeview.h - a node and a queue of the broker's answers in Slurm's words
 *
 *     unsigned state = nodeview_state (node);            // of GET /v1/nodes
 *     nodeview_add_state (&sb, state, STATE_COMPACT);    // "DRNG"
 *     nodeview_add_gres (&sb, node);                     // "gpu:2,license:4"
 *
 * sinfo and scontrol print them alike. Nothing is kept; texts from outside are printable.
 */
#pragma once

#include "common/hostlist.h"
#include "common/json.h"

/* A node's state: a base and flags, with Slurm's numbers, because sinfo sorts by them. */
enum node_bits {
    NODE_DOWN = 1,
    NODE_IDLE = 2,
    NODE_ALLOCATED = 3,
    NODE_MIXED = 5,
    NODE_BASE = 0xf,
    NODE_RESERVED = 0x20,
    NODE_DRAIN = 0x200,
    NODE_NOT_RESPONDING = 0x800,
    NODE_MAINT = 0x8000,
};

enum state_form {
    STATE_COMPACT,  /* DRNG */
    STATE_LONG,     /* DRAINING */
    STATE_COMPLETE, /* MIXED+DRAIN */
};

/* A node that is down is one that does not respond: the executor calls it not ready. */
unsigned nodeview_state (const json_t *node);
/* Whether jobs use the node. */
bool nodeview_is_used (unsigned state);
/* Whether both have the same compact and long word. */
bool nodeview_states_alike (unsigned a, unsigned b);
/* Appends capitals, with a mark at the end: '*' not responding, '$' maintenance. */
void nodeview_add_state (struct strbuf *sb, unsigned state, enum state_form form);

/* Append "gpu:2,license:4" or "(null)"; used: what jobs and others use of each. */
void nodeview_add_gres (struct strbuf *sb, const json_t *node);
/* The size of the temporary disk in MiB. */
double nodeview_tmp_disk (const json_t *node);
void nodeview_add_gres_used (struct strbuf *sb, const json_t *node);
/* The name of the reservation that has the node now, or "". */
const char *nodeview_reservation (const json_t *node);

/* Whether jobs of the queue may use the node. */
bool nodeview_has_queue (const json_t *node, const char *queue);
/* Appends "a,b" for the groups that may use a queue of GET /v1/queues, or none. */
void queueview_add_groups (struct strbuf *sb, const json_t *queue, const char *none);
/* Adds the sums over the queue's nodes (of GET /v1/nodes) to the queue: nodelist, nnodes,
 * cpus, memory in MiB, gpus. */
void queueview_sum (json_t *queue, const json_t *nodes);
/* Adds the cores of its nodes, cpus, to a reservation of GET /v1/reservations. */
void reservationview_sum (json_t *reservation, const json_t *nodes);

/* A new list in natural order, n2 before n10, that the caller destroys; NULL: no memory. */
struct hostlist *nodeview_sort (const struct hostlist *hl);
