/* match.h - place requests on the graph
 *
 *     struct match_request *req = match_request_create (js, &err);   // compiled once
 *     struct rset *r = NULL;
 *     int rc = match_allocate (m, job_id, req, now, duration, &r, &why);
 *     // 0: booked, r is the caller's;  -EBUSY: not now, why.text says what is short;
 *     // -ENOENT: never on this machine;  -EEXIST: that job has a booking;  -ENOMEM
 *     match_cancel (m, job_id);
 *
 * This is the planner (planner.h) for jobs on a machine (machine.h): times in seconds, what
 * a job is given as R (rset.h). Shared nodes unless the request's node vertex, or the
 * policy, is exclusive; an exclusive job shares no node with another job and gets all that
 * strangers (machine_node_set_foreign) leave there. Slots without a node vertex fill nodes
 * in the order of the policy; slots below a node vertex are all on each of distinct nodes.
 * Elastic counts get the largest allowed size that fits now, outermost first, and the same
 * on every node of the job. Summaries reject what cannot fit in O(1), and lead to the next
 * node that fits in O(log nodes); see walk.h.
 */
#ifndef FLUXQ_MATCH_MATCH_H
#define FLUXQ_MATCH_MATCH_H

#include "common/hostlist.h"
#include "jobspec/jobspec.h"
#include "match/machine.h"
#include "match/policy.h"
#include "match/rset.h"

struct match_request;
struct matcher;

/* -- requests: immutable, independent of any machine -- */

/* NULL with a reason when the request is not one that a job can run by (err.code ENOTSUP),
 * or is wrong. Accepted is what shape.h takes, when there is one vertex "slot" in it, which
 * holds a core or gpu, or is one node with or without something in it; what stands
 * outside of the slot has it in it or is beside it in a node; nodes may be exclusive, what
 * is above them not. Memory is in MiB, GiB, GB ...; a machine has places (machine.h), nodes, cores,
 * gpus, memory and generic resources, and other types never (match_satisfiability()). Nothing of js is kept. */
struct match_request *match_request_create (const struct jobspec *js, struct error *err);
/* The same for a machine that divides CPUs: slots may have thousandths of them (GRES_CPU_MILLI, "cpu_milli") in
 * place of cores, and who has cores takes these from there, too. */
struct match_request *match_request_create_divided (const struct jobspec *js,
                                                    struct error *err);
bool match_asks_for_parts (const struct jobspec *js);
/* The job's nodes are to be in few places of p->level (named), or evenly in all of them
 * (p->kind), if that can be; most > 0: in no more than so many, or it does not fit. Before the
 * request is shared or used. -ENOTSUP: it asks for places itself. */
int match_request_place (struct match_request *req, const struct placement *p,
                         int64_t most, struct error *err);
void match_request_destroy (struct match_request *req);
/* One more holder of it; each destroys it. */
struct match_request *match_request_ref (struct match_request *req);
/* Equal keys mean: the same verdict at the same time (used to skip equals in one
 * pass). */
uint64_t match_request_shape (const struct match_request *req);

/* -- the matcher: bookings over one machine (borrowed; it must outlive the matcher) -- */

/* policy: copied. One matcher a machine. */
struct matcher *matcher_create (struct machine *g, const struct match_policy *policy);
void matcher_destroy (struct matcher *m);
/* Another one from now on; what is booked stays. */
void matcher_set_policy (struct matcher *m, const struct match_policy *policy);

/* One like req that is in use already, and req is gone; else req. Thousands of equal jobs
 * so have one request. Each is given back by match_request_destroy(). O(1). */
struct match_request *match_request_share (struct matcher *m, struct match_request *req);

/* 0 and *ret, the caller's, which starts now and lasts duration seconds (0: no end);
 * errors as above, with why (may be NULL) one sentence for its user. */
int match_allocate (struct matcher *m, uint64_t job, const struct match_request *req,
                    double now, double duration, struct rset **ret, struct error *why);
/* Some count of it may have several sizes. */
bool match_request_is_elastic (const struct match_request *req);
/* None of these sizes is without an end. */
bool match_request_has_largest (const struct match_request *req);
/* As allocate, but only with all counts at their largest; -EBUSY also where the machine has
 * not so much. */
int match_allocate_largest (struct matcher *m, uint64_t job,
                            const struct match_request *req, double now, double duration,
                            struct rset **ret, struct error *why);
/* As allocate, but nothing is booked. */
int match_without_allocating (struct matcher *m, const struct match_request *req,
                              double now, double duration, struct rset **ret,
                              struct error *why);
/* Reserve for the job what it needs (of what is elastic the least) from the earliest time on
 * at which that is free for so long, if all that runs ends by its limit: 0, *start, and
 * nobody else gets it then. match_cancel() ends it, and must before it is allocated.
 * -EAGAIN: it fits now; -EBUSY: at no time, as things are (why); -ENOENT: never; -EEXIST,
 * -ENOMEM. Who has no limit is planned for a year. */
int match_reserve (struct matcher *m, uint64_t job, const struct match_request *req,
                   double now, double duration, double *start, struct error *why);
/* From now on match_reserve() and match_resume() may return -EINPROGRESS: nothing is decided,
 * and the same call goes on; as planner_search_in_pieces(), planner_search_goes_on() and
 * planner_search_forget(). */
#define MATCH_SEARCH 200000 /* nodes: about 6 ms */
void match_search_in_pieces (struct matcher *m, size_t work);
bool match_search_goes_on (const struct matcher *m, uint64_t job, double now);
void match_search_forget (struct matcher *m, uint64_t job);
/* As reserve, but nothing is booked; 0 with *start == now: it fits now. *ret, the caller's:
 * what it would be given; ret may be NULL. */
int match_earliest (struct matcher *m, const struct match_request *req, double now,
                    double duration, double *start, struct rset **ret, struct error *why);
/* A plan is made of reservations one behind the other, and each found its place with those
 * before it alone. When something has changed, all are suspended, and then in their order
 * resumed, where they were or, if the change concerns them, where they would be made now:
 *
 *     match_suspend (m, job);                                   // the last one first
 *     rc = match_resume (m, job, req, now, duration, &start);   // the first one first
 *     match_plan_made (m);                                      // all have their place
 *
 * Suspended, it counts at no time; nothing else of it changes. O(log n). */
void match_suspend (struct matcher *m, uint64_t job);
/* 0: nothing that became free since the last match_plan_made() lets it begin sooner or take
 * other parts, and nobody has taken any of them: it counts again; *start stays. 1: it was
 * looked for, and counts again from *start on. Errors: it is gone; -EAGAIN: it fits now;
 * -EBUSY: at no time, -ENOENT: never; but -ENOMEM: it is suspended. Of a job that had no
 * reservation: 0: there is no time for it, as before; -EBUSY: there may be. O(claims on the
 * nodes that became free + bookings made since it was suspended), or a match. */
int match_resume (struct matcher *m, uint64_t job, const struct match_request *req,
                  double now, double duration, double *start);
/* What became free up to now is forgotten. */
void match_plan_made (struct matcher *m);
struct match_blocker {
    uint64_t job;
    double end;    /* unix time by which it ends */
    size_t nodes;  /* on so many nodes of the reservation it has something */
    uint32_t last; /* the last such; for match_blockers() alone */
};
/* Running jobs that have something on the nodes that are reserved for the job: the last to
 * end first, at most `room`. */
size_t match_blockers (const struct matcher *m, uint64_t job, struct match_blocker *list,
                       size_t room);
/* Could it run on the machine when it is empty and all its nodes are up? 0, -ENOENT
 * with which resource, how many asked, how many there ("needs 9 gpus on a node, the
 * largest has 8"). */
int match_satisfiability (struct matcher *m, const struct match_request *req,
                          struct error *why);
/* Book what is already running, by node names, after a restart; units that are taken
 * or gone are an error (-EBUSY, -ENOENT) that names them, and nothing is booked. */
int match_update (struct matcher *m, uint64_t job, const struct rset *r,
                  struct error *why);
/* A job that runs ends at another time (unix; 0: no end). -ENOENT: it has nothing; -EBUSY: what
 * it has is reserved for another then, who is named; nothing changes. */
int match_extend (struct matcher *m, uint64_t job, double end, struct error *why);
/* Give everything back, also a reservation. -ENOENT when it has nothing. */
int match_cancel (struct matcher *m, uint64_t job);
bool match_has (const struct matcher *m, uint64_t job); /* allocated; no reservation */
/* Bumped whenever something becomes free, is added or changes, but for what others take: a
 * request that did not fit need not be tried again while it stands still. */
uint64_t match_generation (const struct matcher *m);
/* Bumped when nodes come, go or change size, places or properties. */
uint64_t match_layout (const struct matcher *m);
/* What a match brings up to date first when nodes have changed, piece by piece: as
 * planner_prepare(). */
#define MATCH_PREPARE 4096 /* vertices: a millisecond at most */
int match_prepare (struct matcher *m, size_t work);
bool match_is_prepared (const struct matcher *m);
bool match_is_preparing (const struct matcher *m);
/* No core and no gpu is free, nor, once a request for that was shared, a part of a CPU: no
 * request fits. O(1). */
bool match_nothing_free (const struct matcher *m);

/* -- windows: whole nodes that no job gets from start to end -- */

/* Ids of windows are MATCH_WINDOW_FIRST and more, those of jobs less. */
#define MATCH_WINDOW_FIRST (UINT64_C (1) << 62)
/* Who has something on the node in that time, if all that runs ends by its limit (when start
 * is not after now: whatever runs there): 0; -EBUSY names the job, or the window, and *ret_job
 * (may be NULL) is the job's id, or the window's; -ENOENT: no such node. */
int match_window_check (const struct matcher *m, const char *node, double start,
                        double end, double now, uint64_t *ret_job, struct error *why);
/* n nodes that are up and have nobody in that time, appended to *ret in the order of their
 * indexes. -EBUSY with how many there are; then nothing is appended. */
int match_window_choose (const struct matcher *m, size_t n, double start, double end,
                         double now, struct hostlist *ret, struct error *why);
/* From now on no job is given these nodes for a time that overlaps [start, end). What runs
 * there keeps what it has until it is cancelled. Nodes that are not on the machine, or leave
 * it, are left out (none at all: still 0). name: for sentences, copied; NULL: it is not spoken of. The
 * caller has looked with match_window_check() and no job has a reservation there.
 * match_cancel() ends it. -EEXIST, -ENOMEM. O(nodes). */
int match_window_book (struct matcher *m, uint64_t id, const char *name,
                       const struct hostlist *nodes, double start, double end);
/* A node that takes no new jobs; strings are borrowed until the machine changes. */
struct match_drained {
    const char *name, *reason; /* reason: or NULL */
};
/* Those among which the request could choose were they up: the first to be drained first, at
 * most `room`. O(drained nodes) */
size_t match_drained (const struct matcher *m, const struct match_request *req,
                      struct match_drained *list, size_t room);

struct match_window {
    uint64_t id;
    const char *name, *nodes; /* RFC 29; borrowed until it is cancelled */
    size_t nnodes;            /* that are on the machine */
    double start, end;
};
/* Those with a name that overlap [from, until): the first to begin first, at most `room`.
 * O(windows) */
size_t match_windows_between (const struct matcher *m, double from, double until,
                              struct match_window *list, size_t room);
/* The first start of a window after t; INFINITY. O(windows) */
double match_window_next (const struct matcher *m, double t);

#endif
