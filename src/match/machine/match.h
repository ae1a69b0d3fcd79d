/* match.h - place requests on the graph
 *
 * This folder holds what the broker asks of match: the machine with its nodes
 * (machine.h), and jobs on it (this header). Reports of executors and jobspecs come in
 * and become changes of the graph, requests and bookings; R comes out (rset.h). Nothing
 * else in match uses this folder.
 *
 *     struct match_request *req = match_request_create (js, &err);   // compiled once
 *     struct rset *r = NULL;
 *     int rc = match_allocate (m, job_id, req, now, duration, &r, &why);
 *     // 0: booked, the caller owns r;  -EBUSY: not now, why.text names what is short;
 *     // -ENOENT: never on this machine;  -EEXIST: the job has a booking;  -ENOMEM
 *     match_cancel (m, job_id);
 *
 * The matcher applies the search (search.h) and the planner (planner.h) to jobs on a
 * machine. Times are in seconds, and the resources of a job are given as R. Jobs share
 * nodes unless the node vertex of the request, or the policy, is exclusive. An exclusive
 * job shares no node with another job and gets all that foreign use
 * (machine_node_set_foreign()) leaves there. Slots without a node vertex fill nodes in
 * the order of the policy; slots below a node vertex are all present on each of distinct
 * nodes. Elastic counts get the largest allowed size that fits now, outermost count
 * first, and have equal sizes on all nodes of the job. Summaries reject a request that
 * cannot fit in O(1), and find the next node that fits in O(log nodes); see walk.h.
 */
#pragma once

#include "common/hostlist.h"
#include "jobspec/jobspec.h"
#include "match/machine/machine.h"
#include "match/machine/rset.h"
#include "match/policies/policy.h"

struct match_request;
struct matcher;

/* -- requests: immutable, independent of any machine -- */

/* Compiles a jobspec into a request. NULL with a reason: the jobspec is wrong, or no job
 * can run by it (err.code ENOTSUP). Accepts the requests of shape.h with exactly one
 * vertex "slot". The slot holds a core or gpu, or is one node with or without something
 * in it. A vertex outside the slot contains the slot or is beside it in a node. Nodes may
 * be exclusive, the vertices above nodes may not. Memory is in MiB, GiB, GB ... A machine
 * has places (machine.h), nodes, cores, gpus, memory and generic resources; a request for
 * another type is never satisfied (match_satisfiability()). The request keeps no
 * reference to js. */
struct match_request *match_request_create (const struct jobspec *js, struct error *err);
/* As match_request_create(), for a machine that divides CPUs: slots may ask for
 * thousandths of a CPU (GRES_CPU_MILLI, "cpu_milli") instead of cores, and cores are
 * booked in thousandths, too. */
struct match_request *match_request_create_divided (const struct jobspec *js,
                                                    struct error *err);
bool match_asks_for_parts (const struct jobspec *js);
/* Prefers nodes in as few places of p->level as possible, or evenly in all of them
 * (p->kind). most > 0 is a limit: the job does not fit in more places than that. Call it
 * before the request is shared or used. -ENOTSUP: the request asks for places itself. */
int match_request_place (struct match_request *req, const struct placement *p,
                         int64_t most, struct error *err);
/* Places the nodes in segments of n (> 0): all nodes of a segment are in one place of the
 * level, in as few places as possible. apart: each segment is in a place of its own. The
 * job does not fit in another way. As for match_request_place(); -ENOTSUP also: the
 * request asks for no nodes; -EINVAL: some number of nodes is no multiple of n. */
int match_request_segment (struct match_request *req, const char *level, int64_t n,
                           bool apart, struct error *err);
void match_request_destroy (struct match_request *req);
/* Adds a reference. Each holder calls match_request_destroy(). */
struct match_request *match_request_ref (struct match_request *req);
/* Requests with equal keys get the same verdict at the same time; a pass skips the
 * equals. */
uint64_t match_request_shape (const struct match_request *req);

/* -- the matcher: bookings over one machine (borrowed; it must outlive the matcher) -- */

/* The policy is copied. A machine has one matcher. */
struct matcher *matcher_create (struct machine *g, const struct match_policy *policy);
void matcher_destroy (struct matcher *m);
/* Replaces the policy. Bookings stay. */
void matcher_set_policy (struct matcher *m, const struct match_policy *policy);

/* Returns an equal request that is in use already, and destroys req; returns req if there
 * is none. So thousands of equal jobs share one request. Release the result with
 * match_request_destroy(). O(1). */
struct match_request *match_request_share (struct matcher *m, struct match_request *req);

/* Allocates resources from now on for `duration` seconds (0: no end). 0: *ret is the R,
 * owned by the caller. Errors as at the top of this file, with one sentence for the user
 * in why (or NULL). */
int match_allocate (struct matcher *m, uint64_t job, const struct match_request *req,
                    double now, double duration, struct rset **ret, struct error *why);
/* True if a count of the request allows several sizes. */
bool match_request_is_elastic (const struct match_request *req);
/* True if every elastic count has an upper bound. */
bool match_request_has_largest (const struct match_request *req);
/* As match_allocate(), but only with all counts at their largest. -EBUSY also if the
 * machine is too small for that. */
int match_allocate_largest (struct matcher *m, uint64_t job,
                            const struct match_request *req, double now, double duration,
                            struct rset **ret, struct error *why);
/* As match_allocate(), but books nothing. */
int match_without_allocating (struct matcher *m, const struct match_request *req,
                              double now, double duration, struct rset **ret,
                              struct error *why);
/* Reserves resources for the job at the earliest time at which they are free for the
 * whole duration, provided that all running jobs end by their limits. Elastic counts get
 * their least size. 0: *start is that time, and no other job gets the resources then.
 * match_cancel() ends the reservation; call it before the job is allocated. -EAGAIN: the
 * job fits now; -EBUSY: at no time with the present bookings and nodes (why); -ENOENT:
 * never; -EEXIST, -ENOMEM. A job without a limit is planned for a year. */
int match_reserve (struct matcher *m, uint64_t job, const struct match_request *req,
                   double now, double duration, double *start, struct error *why);
/* Searches in pieces: match_reserve() and match_resume() may return -EINPROGRESS from now
 * on. Nothing is decided then, and an equal call continues the search. See
 * search_in_pieces(), search_goes_on() and search_forget(). */
#define MATCH_SEARCH 200000 /* nodes: about 6 ms */
void match_search_in_pieces (struct matcher *m, size_t work);
bool match_search_goes_on (const struct matcher *m, uint64_t job, double now);
void match_search_forget (struct matcher *m, uint64_t job);
/* As match_reserve(), but books nothing. 0 with *start == now: the request fits now. *ret
 * (ret may be NULL) is the R that the job would get, owned by the caller. */
int match_earliest (struct matcher *m, const struct match_request *req, double now,
                    double duration, double *start, struct rset **ret, struct error *why);
/* A plan is a sequence of reservations; each was made with only the earlier ones in
 * place. After a change, all reservations are suspended and then resumed in their order.
 * A reservation that the change does not affect keeps its place; any other is planned
 * again:
 *
 *     match_suspend (m, job);                                   // the last one first
 *     rc = match_resume (m, job, req, now, duration, &start);   // the first one first
 *     match_plan_made (m);                                      // all have their place
 *
 * A suspended reservation blocks nothing at any time, and is otherwise unchanged. O(log
 * n). */
void match_suspend (struct matcher *m, uint64_t job);
/* Resumes a suspended reservation. 0: it keeps its place, and *start is unchanged:
 * nothing freed since the last match_plan_made() lets the job start sooner or on other
 * resources, and no other job has taken its resources. 1: the reservation was planned
 * again, and starts at *start. Errors end the reservation: -EAGAIN: the job fits now;
 * -EBUSY: at no time; -ENOENT: never. -ENOMEM leaves it suspended. For a job that had no
 * reservation: 0: there is still no time for it; -EBUSY: there may be one now. O(claims
 * on the nodes that became free + bookings made since the suspension), or a match. */
int match_resume (struct matcher *m, uint64_t job, const struct match_request *req,
                  double now, double duration, double *start);
/* Ends a round of resuming: forgets what became free up to now. */
void match_plan_made (struct matcher *m);
struct match_blocker {
    uint64_t job;
    double end;    /* unix time by which the job ends */
    size_t nodes;  /* nodes of the reservation on which the job has something */
    uint32_t last; /* the last such node; used by match_blockers() only */
};
/* Lists the running jobs that have something on the nodes reserved for the job: the last
 * to end first, at most `room` of them. Returns their number. */
size_t match_blockers (const struct matcher *m, uint64_t job, struct match_blocker *list,
                       size_t room);
/* Tells whether the request fits on the machine when the machine is empty and all its
 * nodes are up. 0; -ENOENT: never, and why names the resource, the number asked for and
 * the number present ("needs 9 gpus on a node, the largest has 8"). */
int match_satisfiability (struct matcher *m, const struct match_request *req,
                          struct error *why);
/* Books the resources of a running job by node names, after a restart. A unit that is
 * taken (-EBUSY) or does not exist (-ENOENT) is named in why, and nothing is booked. */
int match_update (struct matcher *m, uint64_t job, const struct rset *r,
                  struct error *why);
/* Changes the end of a running job (unix time; 0: no end). -ENOENT: the job has no
 * booking; -EBUSY: its resources are reserved for another job by then, and why names that
 * job. Errors change nothing. */
int match_extend (struct matcher *m, uint64_t job, double end, struct error *why);
/* Frees everything that the job has, also a reservation. -ENOENT: the job has nothing. */
int match_cancel (struct matcher *m, uint64_t job);
bool match_has (const struct matcher *m, uint64_t job); /* allocated, not reserved */
/* Grows whenever something becomes free, is added or changes, except when other jobs take
 * resources. While it is unchanged, a request that did not fit need not be tried
 * again. */
uint64_t match_generation (const struct matcher *m);
/* Grows when nodes are added, removed, or change size, places or properties. */
uint64_t match_layout (const struct matcher *m);
/* True if no core and no gpu is free, so that no request fits. Once a request for parts
 * of a CPU was shared, no part of a CPU may be free either. O(1). */
bool match_nothing_free (const struct matcher *m);

/* -- windows: whole nodes that no job gets from start to end -- */

/* Ids of windows are MATCH_WINDOW_FIRST and greater; ids of jobs are less. */
#define MATCH_WINDOW_FIRST (UINT64_C (1) << 62)
/* Tells whether the node is unused from start to end, provided that all running jobs end
 * by their limits; with start <= now, any running job counts as a user. 0: unused;
 * -EBUSY: why names the job or window that uses the node, and *ret_job (ret_job may be
 * NULL) is its id; -ENOENT: no such node. */
int match_window_check (const struct matcher *m, const char *node, double start,
                        double end, double now, uint64_t *ret_job, struct error *why);
/* Appends n nodes that are up and unused from start to end to *ret, in the order of their
 * indexes. -EBUSY: there are fewer, and why says how many; nothing is appended then. */
int match_window_choose (const struct matcher *m, size_t n, double start, double end,
                         double now, struct hostlist *ret, struct error *why);
/* Books a window: no job gets these nodes for a time that overlaps [start, end). Jobs
 * that run there keep their resources until they are cancelled. Nodes that are not on the
 * machine, or leave it, are skipped (0 even if none is left). name is used in sentences
 * for users and copied; with NULL the window is not mentioned. The caller has called
 * match_window_check(), and no job has a reservation there. match_cancel() ends the
 * window. -EEXIST, -ENOMEM. O(nodes). */
int match_window_book (struct matcher *m, uint64_t id, const char *name,
                       const struct hostlist *nodes, double start, double end);
/* A node that takes no new jobs; strings are borrowed until the machine changes. */
struct match_drained {
    const char *name, *reason; /* reason: may be NULL */
};
/* Lists the drained nodes that the request could use if they were up, in the order in
 * which they were drained, at most `room` of them. O(drained nodes) */
size_t match_drained (const struct matcher *m, const struct match_request *req,
                      struct match_drained *list, size_t room);

struct match_window {
    uint64_t id;
    const char *name, *nodes; /* RFC 29; borrowed until the window is cancelled */
    size_t nnodes;            /* nodes of the window that are on the machine */
    double start, end;
};
/* Lists the windows with a name that overlap [from, until), the earliest start first, at
 * most `room` of them. O(windows) */
size_t match_windows_between (const struct matcher *m, double from, double until,
                              struct match_window *list, size_t room);
/* Returns the first start of a window after t; INFINITY: there is none. O(windows) */
double match_window_next (const struct matcher *m, double t);
