/* realm.h - some nodes for a time as a machine of their own, with a queue of their own
 *
 *     struct realm *x = realm_create (nodes, start, end, match_policy, queue_policy, depth);
 *     realm_queue_set (x, 0, true);
 *     realm_open (x, machine);                   // its nodes are known
 *     realm_mirror (x, machine, "node1");        // whenever that node changes
 *     sched_enqueue (realm_sched (x), &entry);   // planned for start and later
 *     realm_begin (x, machine);                  // its time has come: jobs start
 *     while (sched_next (realm_sched (x), now, 100, &d) == 1)
 *         realm_rename (d.r, machine);           // R as in the whole machine
 *
 * A realm implements an advance reservation. In the whole machine the nodes of the
 * reservation are one window (match.h: match_window_book()). In the realm these nodes are
 * the whole machine, and all time outside [start, end) is a window. So order, backfill,
 * elastic sizes, estimates and reasons are those of any queue. The bookings of a job are
 * in one of the two matchers, never in both.
 *
 * The realm finds its nodes in the whole machine by name; nodes that the whole machine
 * lacks are not in the realm either. If a job of the whole machine still has something on
 * a node when the realm begins, the node is down in the realm until that job ends. No
 * clock, no input or output.
 */
#pragma once

#include "common/hostlist.h"
#include "sched/sched.h"

struct realm;

/* nodes: copied; times in unix seconds, start < end. NULL: no memory. */
struct realm *realm_create (const struct hostlist *nodes, double start, double end,
                            const struct match_policy *match,
                            const struct queue_policy *queue, unsigned depth);
void realm_destroy (struct realm *x);
struct sched *realm_sched (struct realm *x);
struct matcher *realm_matcher (struct realm *x);
/* Nodes of the realm: the names are those of the whole machine, the indexes are not. */
const struct machine *realm_machine (const struct realm *x);
/* Adds all nodes as they are in `whole`; before that the realm has none. 0, -ENOMEM. */
int realm_open (struct realm *x, const struct machine *whole);
/* Copies the state of a node from `whole`. Does nothing if the node is not in the realm,
 * or the realm is not open. 0, -ENOMEM. */
int realm_mirror (struct realm *x, const struct machine *whole, const char *name);
/* From now on jobs get the nodes of the realm. */
void realm_begin (struct realm *x, const struct machine *whole);
int realm_queue_set (struct realm *x, unsigned queue, bool started);
/* Sets the ranks (node_index) in r to those of the whole machine. */
void realm_rename (struct rset *r, const struct machine *whole);
