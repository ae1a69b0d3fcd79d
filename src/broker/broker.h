/* broker.h - the state of fluxqd; one thread, the loop's, owns all of it
 *
 *   request --> api*.c --> submit.c / cancel.c --\
 *                                                  lifecycle.c: broker_emit()
 *   executor --> start.c -------------------------/     |  job_apply(), journal
 *   plan.c (sched_next) -------------------------/      v
 *                          inner actions at once; outer ones (start, clean up,
 *                          answer) after the commit
 *
 * The commit rule: broker_emit() applies an event to the record at once and adds it to
 * the transaction of this turn of the loop. All effects that the outside can see (a
 * reply, a process started or removed) follow when that transaction is on disk.
 */
#ifndef FLUXQ_BROKER_BROKER_H
#define FLUXQ_BROKER_BROKER_H

#include <uthash.h>
#include <uv.h>

#include "broker/config.h"
#include "broker/users.h"
#include "exec/exec.h"
#include "job/deps.h"
#include "job/deps_due.h"
#include "job/job.h"
#include "jobspec/jobspec.h"
#include "match/match.h"
#include "net/http_server.h"
#include "sched/sched.h"
#include "sched/usage.h"
#include "store/journal.h"

struct broker;

/* A job in the broker: its record, and the data of its present stage. */
struct entry {
    UT_hash_handle hh;
    uint64_t id;
    struct job *job;
    unsigned queue;            /* index in config */
    struct match_request *req; /* while the job may be scheduled */
    /* req without the nodes of job->avoid, or NULL */
    struct match_request *avoiding;
    bool avoids;               /* the job is queued with `avoiding` */
    double max_wait, time_min; /* seconds, from the jobspec; 0: none */
    int64_t tasks_total, tasks_per_slot; /* from the jobspec; one of them is 0 */
    struct jobspec *js; /* only while fresh or running; otherwise read from the journal */
    struct rset *r;            /* the allocation, while there is one */
    struct rset *r_given_back; /* r after its release, while the executor has xjob */
    struct rset **retired; /* earlier values of r, before resizes; see resize.c */
    size_t nretired;
    struct exec_job *xjob; /* from start until cleaned */
    uint64_t turn;         /* serial of the last turn with outer actions for the job */
    size_t turn_slot;      /* index of the job's actions in the list of that turn */
    bool starting;         /* between START and exec start: look-ups are under way */
    bool start_again;      /* the start is held back; broker.retry tries it again */
    /* of the jobspec in the journal; 0: the record uses another job's */
    size_t spec_bytes;
    bool examined; /* the failed start waits for pause_examine() */
    bool submitting;       /* the first transaction is not on disk yet */
    bool fresh; /* in broker.fresh: js is kept until the first pass after the submit */
    struct entry *fresh_prev, *fresh_next;
    /* found in RUN or CLEANUP at start-up: exec recover, not exec start */
    bool recovered;
    bool result_told; /* the waiters have been answered */
    json_t *steps;    /* usage of this attempt's steps, see jobuse.c; or NULL */
    uint64_t steps_not_kept;
    char *note; /* the executor's latest note ("pulling image"), or NULL */
    struct waiter *waiters;     /* GET …/wait */
    struct follower *followers; /* GET …/output?follow=1 */
    struct entry *done_prev, *done_next; /* list of finished jobs, oldest first */
    bool listed_active;
    struct entry *active_prev, *active_next; /* list of jobs in RUN or CLEANUP */
    bool listed_waiting;
    struct entry *waiting_prev, *waiting_next; /* list of jobs before RUN */
    struct dependencies depend;                /* until deps.h takes it over */
    bool keep_invalid; /* do not cancel the job when `depend` can never be satisfied */
    uint64_t *needs;           /* ids of the jobs that `depend` names */
    size_t nneeds;
    /* antecedents of `depend` that are not in memory; or NULL */
    struct antecedents *found;
    bool listed_lookup;
    struct entry *lookup_prev, *lookup_next;
    /* of an array: the id of its next task, which the scheduler knows; or 0 */
    uint64_t head;
    UT_hash_handle head_hh;
    struct correspondence *corr; /* of an array, see correspond.c */
    bool corr_unknown; /* after a restart: the look-up of its antecedents is under way */
    struct idset *ready;
    bool listed_array;
    struct entry *array_prev, *array_next;
    struct adopted *adopted; /* made outside fluxq, see adopt.c; or NULL */
    char *reservation; /* name of the reservation that the job must run in; or NULL */
    /* the realm that has the job queued or booked; NULL: see reserve.h */
    struct realm *realm;
    struct placing *placing; /* wanted places of the nodes, see placing.h; or NULL */
    struct due deadline; /* in broker.deadlines while the job waits: its latest start */
};

/* A malleable job, and the number of nodes that it gives back. */
#define GIVERS_MAX 8
struct giver {
    uint64_t job;
    uint32_t nodes;
};

struct broker {
    uv_loop_t *loop;
    struct config *config;
    struct config *first; /* the configuration of the start, after a reload replaced it */
    struct journal *journal;
    struct http_server *http;
    struct machine *graph;
    struct matcher *matcher;
    struct sched *sched;
    struct users *users;
    const struct exec_ops *ops;
    struct exec *exec;
    struct exec_host host;
    struct moves *moves; /* node changes that wait for the matchers to be prepared */
    double moves_since;  /* since when the first of them waits, mono */
    bool moving;         /* nodes_move() applies them now */
    char *socket_path, *jobs_dir;
    uid_t uid;        /* of the broker process */
    uid_t *operators; /* uids of config->operators */
    size_t noperators;
    struct {
        struct subuids *subuids; /* or NULL */
        uint64_t readings;       /* of the subuid file, begun so far */
    } callers;
    double started; /* unix time */

    struct entry *jobs; /* by id */
    uint64_t next_id;
    size_t npending, nrunning, nfinished;
    struct entry *active; /* list of the nrunning jobs */
    /* list of the npending jobs, in the order in which they began to wait */
    struct entry *waiting;
    struct entry *arrays; /* list of all arrays in memory, ended ones too */
    struct entry *heads;  /* arrays with a queued task, by that task's id */
    size_t nwhole; /* arrays in nrunning; their tasks are jobs themselves */
    struct entry *done_first, *done_last;
    uint64_t *gone; /* jobs with directories to remove, by id */
    size_t ngone, gone_alloc;
    bool removing;

    struct journal_txn *submit_txn; /* see broker_emit_into() */
    struct turn *turn; /* this turn's events and what follows their commit, or NULL */
    uint64_t turn_serial;
    size_t under_way; /* operations that end with a journal completion or a reply */
    struct entry *fresh;

    uv_prepare_t end_of_turn; /* plans, then commits */
    uv_idle_t again;          /* active while a pass is unfinished */
    uv_async_t wake;          /* sent by the journal's threads */
    uv_timer_t wakeup;        /* sched_wakeup() */
    uv_timer_t sweep;
    uv_timer_t retry;    /* tries starts with start_again again */
    struct userlimits *userlimits; /* see userlimits.h */
    struct pause *pause; /* whether and why starts are paused, see pause.h */
    uv_timer_t farewell; /* runs from broker_stop() to the end of the loop */
    double stop_by;      /* mono */
    uv_signal_t sigint, sigterm, sighup;
    uv_timer_t priorities; /* the next round or slice of priority.c */
    struct {
        bool under_way, counted; /* counted: all nodes have been counted */
        int node;                /* the node counted last */
        int64_t cores, nodes;    /* totals so far */
        struct entry *at;        /* the next job to rank */
    } round;
    struct {
        uv_timer_t timer;
        bool busy, full; /* a look at the journal is under way; more old jobs follow */
        bool compact;    /* shrink the journal afterwards */
        uint64_t after, removed;
    } history;
    struct usage *usage;
    int64_t all_cores, all_nodes; /* as of the last round of priority.c */
    struct deps *deps;            /* dependencies between jobs */
    uv_timer_t deps_timer;
    struct entry *lookups; /* jobs whose antecedents are looked up in the journal */
    uint64_t looking_up;   /* id of the first of them; 0: no look-up is under way */
    uv_timer_t lookup_timer;
    struct reservation *reservations; /* by name */
    uint64_t windows;                 /* number of windows made so far, for their ids */
    uint64_t last_reservation;        /* N of the last name resv-N */
    uv_timer_t reserve_timer;         /* the next start or end of a reservation */
    struct due_heap deadlines;
    struct due_heap placings; /* ends of waits for a placement, see placing.c */
    uv_timer_t deadline_timer;
    struct topology topology;  /* levels of the nodes' places (rack, zone) */
    struct nodegroups *groups; /* groups of nodes that can be made, see nodegroups.h */
    uv_timer_t groups_timer;   /* checks for jobs that need such nodes */
    struct {
        uv_timer_t timer; /* the next round of malleable.c */
        double next;      /* mono, earliest time of that round */
        /* id of the job for which nodes were asked back, 0: none; asked of: */
        uint64_t waiting;
        struct giver list[GIVERS_MAX];
        size_t n;
    } giver;
    bool plan_due;
    bool recovering;    /* until the executor has listed its nodes */
    bool queues_select; /* queues select their nodes by properties, see queuenodes.c */
    bool stopping;
    bool dead;                /* broker_destroy() runs: callbacks only free */
    struct drain *drains;     /* nodes drained by operators, see nodes.c */
    struct adopted *adopted;  /* jobs made outside fluxq, by key */
    uv_timer_t adopt_timer;   /* tells the executor why adopted jobs wait */
    struct suspect *suspects; /* nodes on which starts failed, see suspects.c */
    size_t navoiding;         /* entries with `avoiding` */
    bool avoid_due;           /* nodes have changed: avoid.c checks its choices again */
    struct submission *submissions; /* with an Idempotency-Key, and not on disk yet */
    struct submission *unjudged;    /* waiting for the matchers to be prepared */
    struct watcher *watchers;       /* GET /v1/watch */
    struct relay *relays;           /* POST /v1/jobs/ID/connect */
    struct cancelling *cancelling;  /* POST /v1/cancel requests that wait for agents */
    size_t nrelays;
};

/* All handles of struct broker, for loops that set or close them. */
#define BROKER_HANDLES(b)                                                                \
    {                                                                                    \
        (uv_handle_t *)&(b)->end_of_turn, (uv_handle_t *)&(b)->again,                    \
            (uv_handle_t *)&(b)->wake, (uv_handle_t *)&(b)->wakeup,                      \
            (uv_handle_t *)&(b)->sweep, (uv_handle_t *)&(b)->retry,                      \
            (uv_handle_t *)&(b)->farewell, (uv_handle_t *)&(b)->priorities,              \
            (uv_handle_t *)&(b)->deps_timer, (uv_handle_t *)&(b)->lookup_timer,          \
            (uv_handle_t *)&(b)->deadline_timer, (uv_handle_t *)&(b)->reserve_timer,     \
            (uv_handle_t *)&(b)->groups_timer, (uv_handle_t *)&(b)->adopt_timer,         \
            (uv_handle_t *)&(b)->giver.timer, (uv_handle_t *)&(b)->history.timer,            \
            (uv_handle_t *)&(b)->sigint,               \
            (uv_handle_t *)&(b)->sigterm, (uv_handle_t *)&(b)->sighup                    \
    }

/* -- jobs.c: the table of jobs -- */
struct entry *entry_find (struct broker *b, uint64_t id);
struct entry *entry_create (uint64_t id); /* not put into the table; NULL: no memory */
/* An entry outside the table, made by replaying rec's events; NULL: no memory. */
struct entry *entry_replay (const struct journal_record *rec);
void entry_destroy (struct entry *e);
void entry_insert (struct broker *b, struct entry *e);
void entry_remove (struct broker *b, struct entry *e);        /* also destroys e */
int entry_cmp (const struct entry *a, const struct entry *b); /* by id */
/* Sets e->queue from the queue's name. A name that the configuration does not have any
 * more becomes the default queue. */
void entry_find_queue (struct broker *b, struct entry *e);
void entry_count (struct broker *b, struct entry *e); /* call once, at insertion */
/* Updates the counters after the job's state changed from `before`. */
void entry_moved (struct broker *b, struct entry *e, enum job_state before);
/* Appends e to the finished jobs, and removes the oldest beyond config.keep_finished. */
void entry_retire (struct broker *b, struct entry *e);
/* At start-up: removes job directories that an earlier broker left behind. */
void jobs_remove_leftovers (struct broker *b);
/* The greatest job id that has a directory; 0: none. */
uint64_t jobs_last_dir (const struct broker *b);
void entry_set_note (struct entry *e, const char *text);
void entry_drop_spec (struct entry *e);
/* Move the dependencies, or the reservation's name, from the jobspec to the entry. */
void entry_take_depend (struct entry *e);
void entry_take_reservation (struct entry *e);

/* -- sizes.c: how large a job is, as asked and as granted -- */
/* Copies the sizes in the jobspec to the entry. */
void entry_take_sizes (struct entry *e);
int64_t entry_ntasks (const struct entry *e, const struct rset *r);
/* "4-16 nodes, 8 tasks a node", "8 nodes, 64 tasks, 64 cores" */
void sizes_add_asked (struct strbuf *sb, const struct jobspec *js);
void sizes_add_granted (struct strbuf *sb, const struct job *job);
/* -EINVAL: the jobspec names several node counts, and some exceed the queue's maximum. */
int sizes_check_most (const struct jobspec *js, const struct config_queue *q,
                      struct error *err);
/* Add the sizes to the contexts of submit and alloc (e->r is set). 0, or -1: no
 * memory. */
int sizes_to_submit (json_t *context, const struct jobspec *js);
int sizes_to_alloc (json_t *context, const struct entry *e,
                    const struct sched_size *size);

/* -- lifecycle.c -- */
/* Applies an event and puts it into this turn's transaction. Takes context over. -EPROTO:
 * the job's state does not allow the event, and nothing happened. */
int broker_emit (struct broker *b, struct entry *e, const char *name, json_t *context);
/* Performs `actions`: the inner ones now, the outer ones after the commit. */
#define BROKER_ACT_RESULT (1U << 16) /* outer: the result is final, answer the waiters */
void broker_act (struct broker *b, struct entry *e, unsigned actions);
/* Emits an exception of severity 0. type: "cancel", "timeout", ...; note may be NULL. */
int broker_exception (struct broker *b, struct entry *e, const char *type,
                      uint32_t userid, const char *note);
/* Directs later events into the caller's own transaction (of a submit, which may fail),
 * until called with NULL. Meanwhile outer actions are up to the caller. */
void broker_emit_into (struct broker *b, struct journal_txn *txn);
/* The transaction of this turn. */
struct journal_txn *broker_transaction (struct broker *b);
/* Calls fn when all events emitted so far are on disk. */
void broker_after_commit (struct broker *b, void (*fn) (void *arg), void *arg);
/* Hands this turn's transaction to the journal. */
void broker_flush (struct broker *b);
/* A JSON string for an event. Texts of executors contain names of programs and files, in
 * any bytes; events are UTF-8, so other bytes are replaced rather than the event lost. */
json_t *broker_text (const char *text);

/* -- start.c: from allocation to the executor and back -- */
void broker_start (struct broker *b, struct entry *e);
void broker_cleanup (struct broker *b, struct entry *e);
void broker_kill (struct broker *b, struct entry *e);
void exec_host_init (struct broker *b);
void exec_job_free (struct exec_job *x);

/* Makes broker.retry look for entries with start_again at once, as their reason to wait
 * may be over. */
void broker_starts_due (struct broker *b);

/* -- jobuse.c: what a job's steps have used -- */
void jobuse_host_init (struct broker *b);
/* The context of the event "usage", with what is known so far; NULL: nothing is. */
json_t *jobuse_json (const struct entry *e);
/* Emits the usage of an attempt that is over, and drops it. */
void jobuse_emit (struct broker *b, struct entry *e);
void jobuse_drop (struct entry *e);

/* -- serialize.c: large starts, one at a time -- */
/* Whether the job may not go to the executor yet. broker_starts_due() asks again. */
bool broker_start_waits (struct broker *b, struct entry *e);

/* -- queuenodes.c: which nodes a queue has -- */
/* Finds out whether queues select nodes; call before any request is made. 0 or
 * -ENOMEM. */
int broker_queues_init (struct broker *b);
/* Tells the executor which nodes each queue selects. 0 or -ENOMEM. */
int broker_tell_queues (struct broker *b, const struct config *c);
/* Whether configuration c can replace the current one. 0 or -EINVAL. */
int broker_check_queues (const struct broker *b, const struct config *c,
                         struct error *err);
/* Why jobs cannot get fractions of a CPU; NULL: they can. */
const char *broker_no_parts (const struct broker *b);
/* The match request for a job of the queue (a name, or NULL); more: another constraint,
 * or NULL. Returns and fails as match_request_create() does. */
struct match_request *broker_request (struct broker *b, const struct jobspec *js,
                                      const char *queue, const json_t *more,
                                      struct error *err);
/* By a node's properties: whether the queue has the node, and the names of all queues
 * that have it (a new reference). */
bool broker_node_is_of (const struct broker *b, const char *const *properties,
                        const char *queue);
json_t *broker_node_queues (const struct broker *b, const char *const *properties);

/* -- avoid.c: nodes on which a job failed to start -- */
/* The nodes that the job avoids from now on: its earlier ones and `nodes` (hostlist, or
 * NULL). NULL: none. The caller frees. */
char *broker_avoid_more (const struct job *job, const char *nodes);
/* Makes e->avoiding anew from e->js, or drops it. The job must not be queued. */
void broker_avoid_prepare (struct broker *b, struct entry *e);
/* The request to queue the job with: e->avoiding where the job can run without those
 * nodes as things are, otherwise its usual one. */
const struct match_request *broker_avoid_choose (struct broker *b, struct entry *e);
/* Before each pass: queues jobs again if their choice has changed. */
void broker_avoid_recheck (struct broker *b);

/* -- suspects.c: nodes on which several jobs failed to start are drained -- */
void suspects_failed (struct broker *b, const struct entry *e, const char *nodes,
                      const char *text);
/* All ranks are ready. Call while job->avoid is still set. */
void suspects_started (struct broker *b, const struct entry *e);
/* Drains a node that is up, as an operator would; why: the reason. */
void suspects_drain (struct broker *b, const char *node, const char *why);
void suspects_forget (struct broker *b, const char *node);
void suspects_release (struct broker *b);

/* -- priority.c -- */
/* At start-up, before jobs are read: loads the users' usage from the journal. */
int broker_load_usage (struct broker *b, struct error *err);
/* The present priority of a waiting job; ret may be NULL. */
int64_t broker_priority (const struct broker *b, const struct entry *e,
                         struct priority *ret);
/* The points to subtract so that the job goes behind all others of its queue and
 * urgency. */
int64_t broker_setback (const struct broker *b, const struct entry *e);
/* Sets job->priority to the rank by which the queue is ordered. */
void broker_rank (const struct broker *b, struct entry *e);
/* After each event: counts the cores that the job's user holds from now on. held: what
 * the job held before, NULL: nothing; t: the transaction of the event. */
struct held {
    int64_t cores;
    double since; /* unix time */
};
void broker_account (struct broker *b, const struct entry *e, const struct held *held,
                     double now, struct journal_txn *t);
void broker_list_waiting (struct broker *b, struct entry *e, bool is);
/* Starts a round that computes all priorities anew, in slices; later rounds follow at the
 * configured interval. */
void broker_priorities_due (struct broker *b);
void broker_priority_reconfigured (struct broker *b);

/* -- callers.c: users of the HTTP server -- */
/* init: once the server exists; configure: when the configuration or operators
 * changed. */
void broker_callers_init (struct broker *b);
void broker_callers_configure (struct broker *b);

/* -- history.c: jobs that have ended leave the journal -- */
void broker_history_start (struct broker *b);
/* Starts a round now; after it the journal returns its free space to the file system. */
void broker_history_compact (struct broker *b);

/* -- depend.c: jobs that wait for others -- */
struct antecedents;
/* rc 0: found has the antecedents that are not in memory, and the callee frees it;
 * unknown: the id of one that does not exist, or 0. -EAGAIN, ...: try later. */
typedef void (*broker_antecedents_f) (int rc, struct antecedents *found, uint64_t unknown,
                                      void *arg);
/* Takes found (of an earlier search, or NULL). Calls done, now or later. viewer: jobs
 * that this user may not see count as unknown; NULL: all jobs are visible. */
void broker_find_antecedents (struct broker *b, const struct dependencies *list,
                              struct antecedents *found, const uid_t *viewer,
                              broker_antecedents_f done, void *arg);
/* The state of the array's tasks, from memory or found; NULL: not known, or not an
 * array. */
const struct job_array *broker_known_array (const struct broker *b,
                                            const struct antecedents *found, uint64_t id);
void broker_antecedents_free (struct antecedents *a);
/* Replaces tasks of arrays in the list by their own job ids, from memory or found.
 * -ENOENT: a task does not exist (the dependency can never be satisfied). */
int broker_resolve_tasks (const struct broker *b, const struct antecedents *found,
                          struct dependencies *list, struct error *err);
/* Whether there is room for n more conditions. */
bool broker_depend_has_room (const struct broker *b, size_t n);
/* Performs JOB_ACT_DEPEND: the job goes on, or begins to wait. */
void broker_depend (struct broker *b, struct entry *e);
/* Tells deps.h of a job new in the table. Call in the order of ids. */
void broker_depend_add (struct broker *b, const struct entry *e);
/* Call after each event. */
void broker_depend_event (struct broker *b, const struct entry *e, const char *name);
/* Tells deps.h that these tasks of an array never start. */
void broker_depend_tasks (struct broker *b, const struct entry *e,
                          const struct idset *tasks);
void broker_depend_forget (struct broker *b, struct entry *e);
/* "Dependency", "DependencyNeverSatisfied", or NULL: the job waits for no other. */
const char *broker_depend_reason (const struct broker *b, const struct entry *e);

/* -- array.c -- */
/* Call when the job's record may have become an array's, and before the entry goes. */
void broker_list_array (struct broker *b, struct entry *e, bool is);
/* Makes the array's next task the one to queue. Returns its job id, which the caller
 * gives to the scheduler, or 0: no task may start now. */
uint64_t broker_array_enqueue (struct broker *b, struct entry *e);
void broker_array_dequeue (struct broker *b, struct entry *e);
/* The array that has kept this job id for one of its tasks. O(arrays). */
struct entry *broker_array_of (const struct broker *b, uint64_t id, uint32_t *ret_task);
/* Whether all tasks of the array have become jobs of their own. */
bool broker_array_is_whole (const struct entry *e);
/* Why none of the array's tasks is queued: a word, and a sentence in text. NULL: does not
 * apply. */
const char *broker_array_reason (const struct broker *b, const struct entry *e,
                                 char *text, size_t size);
/* Makes a job of the task that was placed; NULL: no array has queued that id. */
struct entry *broker_array_start (struct broker *b, uint64_t head);
void broker_array_task_ended (struct broker *b, const struct entry *e);
/* Cancels these tasks, all of which wait. */
int broker_array_cancel (struct broker *b, struct entry *e, const struct idset *tasks,
                         uint32_t userid, const char *note);

/* -- correspond.c -- */
/* The waiting tasks of an array that may start; borrowed. NULL: not known yet. */
const struct idset *broker_array_ready (const struct entry *e);
/* An array begins to wait, or waits again: takes its aftercorr dependencies on other
 * arrays out of the list. */
void broker_correspond (struct broker *b, struct entry *e, struct dependencies *list,
                        const struct antecedents *found);
/* The task of array `of` has ended; IDSET_END: some of its tasks will never start. */
void broker_correspond_event (struct broker *b, const struct entry *of, uint32_t task);
/* After a restart, for a job in the queue. */
void broker_correspond_again (struct broker *b, struct entry *e);
void broker_correspond_release (struct entry *e);

/* -- deadline.c -- */
/* Whether a new job can end by its deadline. -EINVAL and the reason. */
int broker_check_deadline (const struct jobspec *js, double now, struct error *err);
/* The time limit (seconds, 0: none) of a job that starts now: `limit`, or with --time-min
 * a shorter one that ends by the deadline, but at least --time-min. */
double broker_time_by_deadline (const struct entry *e, double now, double limit);
/* Call whenever the job's state changed, and before the entry is freed. */
void broker_watch_deadline (struct broker *b, struct entry *e, bool waits);

/* -- limit.c -- */
/* Tells the agent of the new time limit. */
void broker_limit_changed (struct broker *b, struct entry *e);
/* -- adopt.c: jobs that others made where the executor's nodes are -- */
void adopt_host_init (struct broker *b);
/* e is in the table from now on: enters it among the adopted jobs, if it is one. */
void adopt_insert (struct broker *b, struct entry *e);
void adopt_remove (struct broker *b, struct entry *e);
/* Tells the executor the state of an adopted job; other jobs: does nothing. */
void adopt_tell (struct broker *b, struct entry *e);
/* After start-up, before the first sweep: adopt_tell() for all. */
void adopt_tell_all (struct broker *b);

/* -- submit.c -- */
/* A job that no client submits. It is checked, numbered and written like a job of the
 * uid. done is called once, now or later, with the job's id, or with 0, the status that a
 * client would get, and the reason. */
struct submit_foreign {
    uid_t uid;
    int urgency;
    char *jobspec;          /* text, taken over */
    const char *name, *key; /* see exec_foreign; copied */
    void (*done) (uint64_t id, int status, const char *text, void *arg);
    void *arg;
};
void broker_submit_foreign (struct broker *b, struct submit_foreign *f);
/* Continues the next submit that waited for the matchers to be prepared; false: none. */
bool broker_submit_later (struct broker *b);

/* -- plan.c -- */
void broker_plan_due (struct broker *b);
void broker_plan (struct broker *b);
void broker_enqueue (struct broker *b, struct entry *e);
void broker_dequeue (struct broker *b, struct entry *e);
/* The id by which the scheduler knows the job. */
uint64_t broker_queued_id (const struct entry *e);
void broker_forget_fresh (struct broker *b, struct entry *e);

/* -- reserve.c: advance reservations, see reserve.h -- */
int broker_reserve_init (struct broker *b, struct error *err);
void broker_reserve_release (struct broker *b);
/* At start-up, when the nodes are known: reserve_nodes before the running jobs are
 * booked, reserve_book for each of them (true: booked in its reservation), reserve_booked
 * after. */
void broker_reserve_nodes (struct broker *b);
bool broker_reserve_book (struct broker *b, struct entry *e);
void broker_reserve_booked (struct broker *b);
/* The scheduler that has the job queued; NULL: none, as its reservation does not exist or
 * does not admit the job. */
struct sched *broker_sched_of (struct broker *b, const struct entry *e);
/* The scheduler to queue the job in now; NULL as above. */
struct sched *broker_sched_for (struct broker *b, struct entry *e);
/* The matcher that has the job booked, or would book it. */
struct matcher *broker_matcher_of (struct broker *b, const struct entry *e);
/* Takes id (of the job, or of a task of it) out of the queue. */
void broker_sched_dequeue (struct broker *b, const struct entry *e, uint64_t id);
/* Cancels the booking of the id, in any matcher. */
void broker_unbook (struct broker *b, uint64_t id);
/* One slice of preparing the matchers after nodes have changed. -EAGAIN: more slices
 * follow; until then callers that can wait do not ask the matchers. */
int broker_prepare (struct broker *b);
bool broker_is_prepared (const struct broker *b);
/* The preparation is under way; it starts over when a node comes or goes. */
bool broker_is_preparing (const struct broker *b);
/* sched_next() and sched_wakeup() over all schedulers. */
int broker_sched_next (struct broker *b, double now, unsigned tries,
                       struct sched_decision *ret);
double broker_sched_wakeup (const struct broker *b);
void broker_sched_queue_set (struct broker *b, unsigned queue, bool started);
/* The configuration has replaced `old`. */
void broker_sched_set_policy (struct broker *b, const struct config *old);
/* changed: the node's state or size is different; moved: it came or went. */
void broker_reserve_node_changed (struct broker *b, const char *node);
void broker_reserve_node_moved (struct broker *b, const char *node);
/* The job's resources are free now. */
void broker_reserve_freed (struct broker *b, const struct entry *e);

/* -- reserve_job.c: jobs that name a reservation -- */
/* Whether a new job of the user could run in the reservation that it names. -EINVAL,
 * -ENOENT, with a code for the client. */
int broker_reserve_check (struct broker *b, const struct entry *e, uid_t uid,
                          bool allow_infeasible, const char **code, struct error *err);
/* For any waiting job, as sched_reason_name() and sched_reason(). NULL, false: the job is
 * not queued. The text is appended. */
const char *broker_sched_reason_name (struct broker *b, const struct entry *e);
bool broker_sched_reason_text (struct broker *b, const struct entry *e,
                               struct strbuf *text);

/* -- foresee.c -- */
/* {"start", "now", "nodelist", ..., "pending"} for a job that was checked and is not in
 * the table; "reason" where no start can be predicted. NULL: no memory. */
json_t *broker_foresee (struct broker *b, struct entry *e);

/* -- recover.c: before the loop runs -- */
int broker_recover (struct broker *b, struct error *err);
/* Books the job's allocation in the matcher for nodes outside reservations. */
int broker_book (struct broker *b, struct entry *e);
void broker_recovered_nodes (
    struct broker *b); /* the node list is complete: books jobs and resumes them */

/* -- nodes.c -- */
int nodes_init (struct broker *b, struct error *err);
void nodes_host_init (struct broker *b);
void nodes_release (struct broker *b);
/* Applies the node changes that waited for the matchers, until `has_time` returns false.
 * false: some are left. */
bool nodes_move (struct broker *b, bool (*has_time) (double begin), double begin);
/* The matchers are prepared and have been used (done: for a whole pass), so waiting node
 * changes may be applied. */
void nodes_may_move (struct broker *b, bool done);
/* Both change the plan at once and return the transaction that makes the change
 * permanent; the caller commits it. */
int nodes_drain (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err);
int nodes_resume (struct broker *b, const char *name, struct journal_txn **ret,
                  struct error *err);

/* -- watch.c: those who wait for something -- */
void watch_event (struct broker *b, const struct entry *e, const char *name);
void watch_result (struct broker *b,
                   struct entry *e); /* the result is final: answers GET …/wait */
void watch_wait (struct broker *b, struct entry *e, struct http_request *req);
json_t *watch_result_json (const struct broker *b, struct http_request *req,
                           const struct entry *e);
void watch_close (struct broker *b);
/* Replies 200 with value (taken over) after the commit. */
void broker_reply_after_commit (struct broker *b, struct http_request *req,
                                json_t *value);

/* -- follow.c: a job's output as it comes -- */
void watch_output (struct broker *b,
                   struct entry *e); /* the spool exists, or the job is over */
void watch_follow (struct broker *b, struct entry *e, struct http_request *req);

/* -- relay.c: clients of jobs' agents -- */
/* The agents of this attempt are gone. */
void relay_job_over (struct broker *b, uint64_t id);
void relay_close_all (struct broker *b);

/* -- cancel.c -- */

/* Answers the requests that wait for agents. */
void broker_cancels_close (struct broker *b);

/* -- api.c -- */
void api_handle (struct http_request *req, void *arg); /* arg: struct broker */
bool api_is_operator (const struct broker *b, struct http_request *req);
bool broker_is_operator (const struct broker *b, uid_t uid);

/* -- broker.c -- */
struct broker *broker_create (uv_loop_t *loop, struct config *config, struct error *err);
/* Looks up the uids of the names in `operators:`; the caller frees. Blocks, so only at
 * start and reload. */
int broker_find_operators (const struct config *c, uid_t **ret, size_t *ret_n,
                           struct error *err);
void broker_stop (struct broker *b);
void broker_destroy (struct broker *b);
/* For --check: lets the executor check its section; starts nothing. */
int exec_check_config (const struct config *c, struct error *err);

/* -- reload.c -- */
/* Reads the configuration file again and appends the names of changed keys to applied. On
 * error nothing changes. */
int broker_reload (struct broker *b, json_t *applied, struct error *err);

#endif
