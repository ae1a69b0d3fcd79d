/* realm.h - some nodes for a time as a machine of their own, with a queue of their own
 *
 *     struct realm *x = realm_create (nodes, start, end, match_policy, queue_policy, depth);
 *     realm_queue_set (x, 0, true);
 *     realm_open (x, machine);                   // its nodes are known
 *     realm_mirror (x, machine, "node1");        // whenever that node changes
 *     sched_enqueue (realm_sched (x), &entry);   // planned for start and later
 *     realm_begin (x, machine);                  // its time has come: jobs start
 *     while (sched_next (realm_sched (x), now, 100, &d) == 1)
 *         realm_rename (d.r, machine);           // R as the whole machine has it
 *
 * What an advance reservation is inside. For the whole machine its nodes are one window
 * (match.h: match_window_book()); here they are all there is, and all but [start, end) is a
 * window. So order, backfill, elastic sizes, estimates and reasons are those of any queue.
 * A job's bookings are in one of the two matchers, never in both.
 *
 * Nodes are those of the whole machine, by name; those that it does not have are not here
 * either. Where a job of the whole machine still has something when
 * the time has come, the node is down here until that is over. No clock, no input or output.
 */
#ifndef FLUXQ_SCHED_REALM_H
#define FLUXQ_SCHED_REALM_H

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
/* Its nodes; the same names as in the whole machine, other indexes. */
const struct machine *realm_machine (const struct realm *x);
/* All nodes as `whole` has them; before that there are none. 0, -ENOMEM. */
int realm_open (struct realm *x, const struct machine *whole);
/* What `whole` says of the node holds here from now on; nothing when it is not one of the
 * realm's, or that is not open. 0, -ENOMEM. */
int realm_mirror (struct realm *x, const struct machine *whole, const char *name);
/* From now on its nodes are given. */
void realm_begin (struct realm *x, const struct machine *whole);
int realm_queue_set (struct realm *x, unsigned queue, bool started);
/* Ranks (node_index) of r as the whole machine has them. */
void realm_rename (struct rset *r, const struct machine *whole);

#endif
