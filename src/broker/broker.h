/* broker.h - the state of fluxqd; one loop, one thread owns it all
 *
 *   request --> api*.c --> submit.c / cancel.c --\
 *                                                  lifecycle.c: broker_emit()
 *   executor --> start.c -------------------------/     |  job_apply(), journal
 *   plan.c (sched_next) -------------------------/      v
 *                              inner actions at once; outer ones (start, clean up, answer) after commit
 *
 * The rule that keeps the broker's word: an event is applied to the record at once, and
 * written with the transaction of this turn of the loop; whatever the outside can see of
 * it (a reply, a started or removed process) happens only after that transaction is on
 * disk.
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

/* One job as the broker has it: the record, and what belongs to its present stage. */
struct entry {
    UT_hash_handle hh;
    uint64_t id;
    struct job *job;
    unsigned queue;            /* index in config */
    struct match_request *req; /* while it may be scheduled */
    /* the same without the nodes of job->avoid; or NULL */
    struct match_request *avoiding;
    bool avoids;               /* that is what is in the queue */
    double max_wait, time_min; /* seconds, of the jobspec; 0: none */
    int64_t tasks_total, tasks_per_slot; /* of the jobspec; one of them is 0 */
    struct jobspec *js;        /* only when fresh or running; else in the journal */
    struct rset *r;            /* while allocated */
    struct rset *r_given_back; /* ... and then, while the executor has xjob */
    struct rset **retired; /* ... of which it held another part before; see resize.c */
    size_t nretired;
    struct exec_job *xjob; /* between start and cleaned */
    uint64_t turn;         /* serial of the last turn that has outer actions for it */
    size_t turn_slot;      /* ... and where they stand there */
    bool starting;         /* between START and exec start: look-ups are under way */
    bool start_again;      /* a look-up failed; tried again by broker.retry */
    size_t spec_bytes;     /* of its jobspec in the journal; 0: it has another job's */
    bool examined; /* its failed start waits for pause_examine() */
    bool submitting;       /* its first transaction is not on disk yet */
    bool fresh;            /* in broker.fresh: js is kept until the pass after submit */
    struct entry *fresh_prev, *fresh_next;
    bool recovered;   /* RUN or CLEANUP was found at start-up: exec recover, not start */
    bool result_told; /* waiters have been answered */
    json_t *steps;    /* what steps of this attempt have used, see jobuse.c; or NULL */
    uint64_t steps_not_kept;
    char *note;                 /* the executor's last word ("pulling image"), or NULL */
    struct waiter *waiters;     /* GET …/wait */
    struct follower *followers; /* GET …/output?follow=1 */
    struct entry *done_prev, *done_next; /* list of finished ones, oldest first */
    bool listed_active;
    struct entry *active_prev, *active_next; /* in RUN or CLEANUP */
    bool listed_waiting;
    struct entry *waiting_prev, *waiting_next; /* before RUN */
    struct dependencies depend;                /* until deps.h has it */
    bool keep_invalid;         /* it is not cancelled when that can never be met */
    uint64_t *needs;           /* ids in its list of dependencies */
    size_t nneeds;
    struct antecedents *found; /* of depend, what is not in memory; or NULL */
    bool listed_lookup;
    struct entry *lookup_prev, *lookup_next;
    /* of an array: its next task, under which the scheduler has it; or 0 */
    uint64_t head;
    UT_hash_handle head_hh;
    struct correspondence *corr; /* of an array, see correspond.c */
    bool corr_unknown; /* after a restart: what it has to wait for is looked up */
    struct idset *ready;
    bool listed_array;
    struct entry *array_prev, *array_next;
    struct adopted *adopted; /* others made it, see adopt.c; or NULL */
    char *reservation;       /* that it may run in, and nowhere else; or NULL */
    struct realm *realm; /* of it, where it is queued or booked; NULL: see reserve.h */
    struct placing *placing; /* where it is to be, see placing.h; or NULL */
    struct due deadline;     /* in broker.deadlines while it waits: the latest start */
};

/* A malleable job that gives back so many nodes. */
#define GIVERS_MAX 8
struct giver {
    uint64_t job;
    uint32_t nodes;
};

struct broker {
    uv_loop_t *loop;
    struct config *config;
    struct config *first; /* as of the start, once a reload replaced it */
    struct journal *journal;
    struct http_server *http;
    struct machine *graph;
    struct matcher *matcher;
    struct sched *sched;
    struct users *users;
    const struct exec_ops *ops;
    struct exec *exec;
    struct exec_host host;
    struct moves *moves; /* nodes that come and go while the matchers are prepared */
    double moves_since;  /* the first of them waits since then */
    bool moving;         /* now they come and go */
    char *socket_path, *jobs_dir;
    uid_t uid;        /* of the broker */
    uid_t *operators; /* config's names, looked up */
    size_t noperators;
    struct {
        struct subuids *subuids; /* or NULL */
        uint64_t readings;       /* that were begun */
    } callers;
    double started; /* wall */

    struct entry *jobs; /* by id */
    uint64_t next_id;
    size_t npending, nrunning, nfinished;
    struct entry *active; /* the nrunning ones */
    /* the npending ones, in the order in which they came to wait */
    struct entry *waiting;
    struct entry *arrays; /* in memory, also those that have ended */
    struct entry *heads;  /* those of which a task is in the queue, by its number */
    size_t nwhole;        /* of the nrunning: arrays, whose tasks are jobs themselves */
    struct entry *done_first, *done_last;
    uint64_t *gone; /* whose directories are to be removed */
    size_t ngone, gone_alloc;
    bool removing;

    struct journal_txn *submit_txn; /* see broker_emit_into() */
    struct turn *turn; /* events of this turn and what follows their commit, or NULL */
    uint64_t turn_serial;
    size_t under_way; /* that end with a completion of the journal's, or a reply */
    struct entry *fresh;

    uv_prepare_t end_of_turn; /* plan, then commit */
    uv_idle_t again;          /* active while a pass was cut short */
    uv_async_t wake;          /* from the journal's threads */
    uv_timer_t wakeup;        /* sched_wakeup() */
    uv_timer_t sweep;
    uv_timer_t retry;    /* starts that could not look something up */
    struct userlimits *userlimits; /* see userlimits.h */
    struct pause *pause; /* why starts wait, see pause.h */
    uv_timer_t farewell; /* between broker_stop() and the end of the loop */
    double stop_by;      /* mono */
    uv_signal_t sigint, sigterm, sighup;
    uv_timer_t priorities; /* the next round of priority.c, or its next slice */
    struct {
        bool under_way, counted; /* counted: the nodes are */
        int node;                /* the last that was */
        int64_t cores, nodes;    /* so far */
        struct entry *at;        /* the next to be ranked */
    } round;
    struct {
        uv_timer_t timer;
        bool busy, full; /* a look is under way; there are more */
        bool compact;    /* then give back what is free */
        uint64_t after, removed;
    } history;
    struct usage *usage;
    int64_t all_cores, all_nodes; /* as of the last round */
    struct deps *deps;            /* who waits for whom */
    uv_timer_t deps_timer;
    struct entry *lookups; /* whose antecedents are to be found in the journal */
    uint64_t looking_up;   /* the first of them, 0: none now */
    uv_timer_t lookup_timer;
    struct reservation *reservations; /* by name */
    uint64_t windows;                 /* that were made, for their ids */
    uint64_t last_reservation;        /* N of the last name resv-N */
    uv_timer_t reserve_timer;         /* the next start or end of one */
    struct due_heap deadlines;
    struct due_heap placings; /* ends of waits for a place, see placing.c */
    uv_timer_t deadline_timer;
    struct topology topology;  /* levels of the nodes' places */
    struct nodegroups *groups; /* nodes that could be made, see nodegroups.h */
    uv_timer_t groups_timer;   /* a look at who lacks some */
    struct {
        uv_timer_t timer; /* the next round of malleable.c */
        double next;      /* mono, before which there is none */
        uint64_t waiting; /* for whom nodes were asked back, 0: nobody; by: */
        struct giver list[GIVERS_MAX];
        size_t n;
    } giver;
    bool plan_due;
    bool recovering;    /* until the executor has listed its nodes */
    bool queues_select; /* nodes say whose they are, see queuenodes.c */
    bool stopping;
    bool dead;                /* being destroyed: what comes back only frees */
    struct drain *drains;     /* nodes drained by operators, see nodes.c */
    struct adopted *adopted;  /* jobs that others made, by key */
    uv_timer_t adopt_timer;   /* reasons of those that wait */
    struct suspect *suspects; /* nodes on which starts failed, see suspects.c */
    size_t navoiding;         /* entries with a request `avoiding` */
    bool avoid_due;           /* nodes have changed: are theirs still the right ones? */
    struct submission *submissions; /* with an Idempotency-Key and not yet on disk */
    struct submission *unjudged;    /* that wait until the matchers are prepared */
    struct watcher *watchers;       /* GET /v1/watch */
    struct relay *relays;           /* POST /v1/jobs/ID/connect */
    struct cancelling *cancelling;  /* POST /v1/cancel that waits for agents */
    size_t nrelays;
};

/* All handles of struct broker, to set and close alike. */
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
struct entry *entry_create (uint64_t id); /* not in the table; NULL: no memory */
/* One that is not in the table, as its events tell it; NULL: no memory. */
struct entry *entry_replay (const struct journal_record *rec);
void entry_destroy (struct entry *e);
void entry_insert (struct broker *b, struct entry *e);
void entry_remove (struct broker *b, struct entry *e);        /* and destroy */
int entry_cmp (const struct entry *a, const struct entry *b); /* by id */
/* Its queue by name, which may have gone from the configuration: it goes on in the default
 * one. */
void entry_find_queue (struct broker *b, struct entry *e);
void entry_count (struct broker *b, struct entry *e); /* once, when it is inserted */
/* Counters after the state changed from `before`. */
void entry_moved (struct broker *b, struct entry *e, enum job_state before);
/* Keep at most config.keep_finished ended jobs. */
void entry_retire (struct broker *b, struct entry *e);
/* At the start: directories that a broker that died did not get to. */
void jobs_remove_leftovers (struct broker *b);
/* The greatest id that has a directory; 0: none. */
uint64_t jobs_last_dir (const struct broker *b);
void entry_set_note (struct entry *e, const char *text);
void entry_drop_spec (struct entry *e);
/* What its jobspec says of other jobs, or of a reservation, becomes the entry's. */
void entry_take_depend (struct entry *e);
void entry_take_reservation (struct entry *e);

/* -- sizes.c: how large a job is, as asked and as granted -- */
/* What its jobspec says of them becomes the entry's. */
void entry_take_sizes (struct entry *e);
int64_t entry_ntasks (const struct entry *e, const struct rset *r);
/* "4-16 nodes, 8 tasks a node", "8 nodes, 64 tasks, 64 cores" */
void sizes_add_asked (struct strbuf *sb, const struct jobspec *js);
void sizes_add_granted (struct strbuf *sb, const struct job *job);
/* -EINVAL: it names numbers of nodes of which the queue allows only some. */
int sizes_check_most (const struct jobspec *js, const struct config_queue *q,
                      struct error *err);
/* Into the contexts of submit and alloc (e->r is there). 0, or -1: no memory. */
int sizes_to_submit (json_t *context, const struct jobspec *js);
int sizes_to_alloc (json_t *context, const struct entry *e,
                    const struct sched_size *size);

/* -- lifecycle.c -- */
/* Apply an event and put it into this turn's transaction. context is taken over. -EPROTO:
 * not in this state (nothing happened). */
int broker_emit (struct broker *b, struct entry *e, const char *name, json_t *context);
/* Do what `actions` asks for: the inner part now, the rest after the commit. */
#define BROKER_ACT_RESULT (1U << 16) /* outer: the result is final, tell those who wait */
void broker_act (struct broker *b, struct entry *e, unsigned actions);
/* Exception of severity 0. type "cancel", "timeout", ...; note may be NULL. */
int broker_exception (struct broker *b, struct entry *e, const char *type,
                      uint32_t userid, const char *note);
/* Events from here on go into the caller's own transaction (a submit, which may fail),
 * until called with NULL. Outer actions are the caller's then. */
void broker_emit_into (struct broker *b, struct journal_txn *txn);
/* What this turn writes. */
struct journal_txn *broker_transaction (struct broker *b);
/* Call fn when all that was emitted so far is on disk. */
void broker_after_commit (struct broker *b, void (*fn) (void *arg), void *arg);
/* Hand this turn's transaction to the journal. */
void broker_flush (struct broker *b);
/* text for an event: texts of executors hold what programs and files are called, in any
 * bytes; an event is UTF-8, and must not be lost for a word. */
json_t *broker_text (const char *text);

/* -- start.c: from allocation to the executor and back -- */
void broker_start (struct broker *b, struct entry *e);
void broker_cleanup (struct broker *b, struct entry *e);
void broker_kill (struct broker *b, struct entry *e);
void exec_host_init (struct broker *b);
void exec_job_free (struct exec_job *x);

/* broker.retry looks for entries with start_again now: some start may have waited for what has
 * just come to pass. */
void broker_starts_due (struct broker *b);

/* -- jobuse.c: what a job's steps have used -- */
void jobuse_host_init (struct broker *b);
/* Context of the event "usage", as far as it is known; NULL: nothing is. */
json_t *jobuse_json (const struct entry *e);
/* The attempt is over: emit it, and forget it. */
void jobuse_emit (struct broker *b, struct entry *e);
void jobuse_drop (struct entry *e);

/* -- serialize.c: large starts, one at a time -- */
/* It is not to be handed to the executor now; broker_starts_due() asks again. */
bool broker_start_waits (struct broker *b, struct entry *e);

/* -- queuenodes.c: which nodes a queue has -- */
/* Do they select any? Before a request is made. 0 or -ENOMEM. */
int broker_queues_init (struct broker *b);
/* To the executor; the same. */
int broker_tell_queues (struct broker *b, const struct config *c);
/* May this configuration take the place of ours? 0 or -EINVAL. */
int broker_check_queues (const struct broker *b, const struct config *c,
                         struct error *err);
/* Why nobody gets parts of a CPU; NULL: who asks for them does. */
const char *broker_no_parts (const struct broker *b);
/* What a job of the queue (a name, or NULL) asks of the matcher; more: another constraint, or
 * NULL. As match_request_create(). */
struct match_request *broker_request (struct broker *b, const struct jobspec *js,
                                      const char *queue, const json_t *more,
                                      struct error *err);
/* By a node's properties: is it one of this queue's, and whose is it (a new reference)? */
bool broker_node_is_of (const struct broker *b, const char *const *properties,
                        const char *queue);
json_t *broker_node_queues (const struct broker *b, const char *const *properties);

/* -- avoid.c: nodes on which a job failed to start -- */
/* What the job avoids from now on: these nodes (hostlist, or NULL) and those from before;
 * NULL: none. The caller's. */
char *broker_avoid_more (const struct job *job, const char *nodes);
/* Make its request without those nodes anew from its jobspec (e->js), or drop it; while it
 * is not in the queue. */
void broker_avoid_prepare (struct broker *b, struct entry *e);
/* The request by which it is queued: without them if it can run so, as things are. */
const struct match_request *broker_avoid_choose (struct broker *b, struct entry *e);
/* Before each pass: whose choice has changed is queued anew. */
void broker_avoid_recheck (struct broker *b);

/* -- suspects.c: nodes on which several jobs failed to start are drained -- */
void suspects_failed (struct broker *b, const struct entry *e, const char *nodes,
                      const char *text);
/* All its ranks are ready; while job->avoid is still known. */
void suspects_started (struct broker *b, const struct entry *e);
/* Drain a node that is up, for good reason, as an operator would. */
void suspects_drain (struct broker *b, const char *node, const char *why);
void suspects_forget (struct broker *b, const char *node);
void suspects_release (struct broker *b);

/* -- priority.c -- */
/* At the start, before jobs are read: usage as the journal has it. */
int broker_load_usage (struct broker *b, struct error *err);
/* What a waiting job's priority is now; ret may be NULL. */
int64_t broker_priority (const struct broker *b, const struct entry *e,
                         struct priority *ret);
/* Points that putting it behind all others of its queue and urgency costs it. */
int64_t broker_setback (const struct broker *b, const struct entry *e);
/* Set job->priority to what the queue orders by. */
void broker_rank (const struct broker *b, struct entry *e);
/* After each event: cores that its user holds from now on, or no more. held: what the job had
 * before, NULL: nothing; t: the event's transaction. */
struct held {
    int64_t cores;
    double since; /* unix time */
};
void broker_account (struct broker *b, const struct entry *e, const struct held *held,
                     double now, struct journal_txn *t);
void broker_list_waiting (struct broker *b, struct entry *e, bool is);
/* All priorities are computed anew, a slice at a time, and then at the interval. */
void broker_priorities_due (struct broker *b);
void broker_priority_reconfigured (struct broker *b);

/* -- callers.c: users of the HTTP server -- */
/* Once there is a server; and again when config or operators have changed. */
void broker_callers_init (struct broker *b);
void broker_callers_configure (struct broker *b);

/* -- history.c: jobs that have ended leave the journal -- */
void broker_history_start (struct broker *b);
/* Now, and then the journal gives back what is free. */
void broker_history_compact (struct broker *b);

/* -- depend.c: jobs that wait for others -- */
struct antecedents;
/* rc 0: found has those of the list that are not in memory, for the callee to free();
 * unknown: one that there is nowhere, or 0. -EAGAIN, ...: try later. */
typedef void (*broker_antecedents_f) (int rc, struct antecedents *found, uint64_t unknown,
                                      void *arg);
/* Takes found (of an earlier time, or NULL); calls done, now or later. viewer: jobs that this
 * user does not see are nowhere; NULL: all are seen. */
void broker_find_antecedents (struct broker *b, const struct dependencies *list,
                              struct antecedents *found, const uid_t *viewer,
                              broker_antecedents_f done, void *arg);
/* What became of its tasks so far, in memory or as found; NULL: it is not known, or no
 * array. */
const struct job_array *broker_known_array (const struct broker *b,
                                            const struct antecedents *found, uint64_t id);
void broker_antecedents_free (struct antecedents *a);
/* Tasks of arrays get their own numbers, from what is in memory or was found. -ENOENT: there
 * is no such task (it is never met). */
int broker_resolve_tasks (const struct broker *b, const struct antecedents *found,
                          struct dependencies *list, struct error *err);
/* Whether n conditions more can be kept. */
bool broker_depend_has_room (const struct broker *b, size_t n);
/* For JOB_ACT_DEPEND: it goes on, or begins to wait. */
void broker_depend (struct broker *b, struct entry *e);
/* A job that is in the table from now on; in order of their ids. */
void broker_depend_add (struct broker *b, const struct entry *e);
/* After each event. */
void broker_depend_event (struct broker *b, const struct entry *e, const char *name);
/* These tasks of an array never start; those that others wait for are known to deps.h. */
void broker_depend_tasks (struct broker *b, const struct entry *e,
                          const struct idset *tasks);
void broker_depend_forget (struct broker *b, struct entry *e);
/* "Dependency", "DependencyNeverSatisfied", or NULL: it waits for no others. */
const char *broker_depend_reason (const struct broker *b, const struct entry *e);

/* -- array.c -- */
/* Whenever the job's record may have become one, and before the entry goes. */
void broker_list_array (struct broker *b, struct entry *e, bool is);
/* Its next task is the one to be in the queue from now on: its number, or 0: none may start
 * now. The caller gives that to the scheduler. */
uint64_t broker_array_enqueue (struct broker *b, struct entry *e);
void broker_array_dequeue (struct broker *b, struct entry *e);
/* The array of which a task has, or will have, that number. O(arrays). */
struct entry *broker_array_of (const struct broker *b, uint64_t id, uint32_t *ret_task);
/* It stands for tasks that are jobs of their own, all of them. */
bool broker_array_is_whole (const struct entry *e);
/* Why none of its tasks is in the queue, a word and a sentence; NULL: it is no such array. */
const char *broker_array_reason (const struct broker *b, const struct entry *e,
                                 char *text, size_t size);
/* The task that was placed becomes a job; NULL: there is none of that number. */
struct entry *broker_array_start (struct broker *b, uint64_t head);
void broker_array_task_ended (struct broker *b, const struct entry *e);
/* These tasks, all of which wait. */
int broker_array_cancel (struct broker *b, struct entry *e, const struct idset *tasks,
                         uint32_t userid, const char *note);

/* -- correspond.c -- */
/* Tasks of an array that wait and may start; borrowed. NULL: that is not known yet. */
const struct idset *broker_array_ready (const struct entry *e);
/* An array begins to wait, or does again: aftercorr of other arrays moves out of its list. */
void broker_correspond (struct broker *b, struct entry *e, struct dependencies *list,
                        const struct antecedents *found);
/* That task of the array has ended; IDSET_END: some never start. */
void broker_correspond_event (struct broker *b, const struct entry *of, uint32_t task);
/* After a restart, of one that waits in the queue. */
void broker_correspond_again (struct broker *b, struct entry *e);
void broker_correspond_release (struct entry *e);

/* -- deadline.c -- */
/* Whether a new job can end by its deadline. -EINVAL and the reason. */
int broker_check_deadline (const struct jobspec *js, double now, struct error *err);
/* The time limit (seconds, 0: none) with which a job that starts now, and would have `limit`,
 * ends by its deadline: less, if it has --time-min, but not less than that. */
double broker_time_by_deadline (const struct entry *e, double now, double limit);
/* Whenever its state changed, and before it is freed. */
void broker_watch_deadline (struct broker *b, struct entry *e, bool waits);

/* -- limit.c -- */
/* Its agent is to hear of its new time limit. */
void broker_limit_changed (struct broker *b, struct entry *e);
/* -- adopt.c: jobs that others made where the executor's nodes are -- */
void adopt_host_init (struct broker *b);
/* It is in the table from now on: if others made it, it is known as such. */
void adopt_insert (struct broker *b, struct entry *e);
void adopt_remove (struct broker *b, struct entry *e);
/* How it stands, to the executor; nothing for jobs of ours. */
void adopt_tell (struct broker *b, struct entry *e);
/* After a start, before the first sweep: all of them. */
void adopt_tell_all (struct broker *b);

/* -- submit.c -- */
/* A job that no client submits: checked, numbered and written like one of the uid's. done comes
 * once, now or later, with its id; or 0, the status that a client would get, and why. */
struct submit_foreign {
    uid_t uid;
    int urgency;
    char *jobspec;          /* text, taken over */
    const char *name, *key; /* see exec_foreign; copied */
    void (*done) (uint64_t id, int status, const char *text, void *arg);
    void *arg;
};
void broker_submit_foreign (struct broker *b, struct submit_foreign *f);
/* The next one that waited until the matchers are prepared goes on; false: there is none. */
bool broker_submit_later (struct broker *b);

/* -- plan.c -- */
void broker_plan_due (struct broker *b);
void broker_plan (struct broker *b);
void broker_enqueue (struct broker *b, struct entry *e);
void broker_dequeue (struct broker *b, struct entry *e);
/* Under which number the scheduler has it. */
uint64_t broker_queued_id (const struct entry *e);
void broker_forget_fresh (struct broker *b, struct entry *e);

/* -- reserve.c: advance reservations, see reserve.h -- */
int broker_reserve_init (struct broker *b, struct error *err);
void broker_reserve_release (struct broker *b);
/* After a start, when the nodes are known: before the jobs that run are booked, each of them
 * (true: it is, inside), and after. */
void broker_reserve_nodes (struct broker *b);
bool broker_reserve_book (struct broker *b, struct entry *e);
void broker_reserve_booked (struct broker *b);
/* Where it is queued; NULL: nowhere, its reservation is not there, or not for it. */
struct sched *broker_sched_of (struct broker *b, const struct entry *e);
/* Where it is to be queued now; NULL as above. */
struct sched *broker_sched_for (struct broker *b, struct entry *e);
/* Where it is booked, or would be. */
struct matcher *broker_matcher_of (struct broker *b, const struct entry *e);
/* It, or under another id something of it, is in no queue any more. */
void broker_sched_dequeue (struct broker *b, const struct entry *e, uint64_t id);
/* Wherever the id is booked. */
void broker_unbook (struct broker *b, uint64_t id);
/* A piece of what the matchers have to bring up to date when nodes have changed; -EAGAIN: there
 * is more, and until it is done who can wait does not ask them for a match. */
int broker_prepare (struct broker *b);
bool broker_is_prepared (const struct broker *b);
/* They are about to, and begin from the start when a node comes or goes. */
bool broker_is_preparing (const struct broker *b);
/* sched_next() and sched_wakeup() of all of them. */
int broker_sched_next (struct broker *b, double now, unsigned tries,
                       struct sched_decision *ret);
double broker_sched_wakeup (const struct broker *b);
void broker_sched_queue_set (struct broker *b, unsigned queue, bool started);
/* The configuration is another one than the old. */
void broker_sched_set_policy (struct broker *b, const struct config *old);
/* The node's state or size is another one; it came or goes. */
void broker_reserve_node_changed (struct broker *b, const char *node);
void broker_reserve_node_moved (struct broker *b, const char *node);
/* What it was given is free now. */
void broker_reserve_freed (struct broker *b, const struct entry *e);

/* -- reserve_job.c: jobs that name a reservation -- */
/* Whether a new job of that user could run in the one that it names. -EINVAL, -ENOENT, with a
 * code for the client. */
int broker_reserve_check (struct broker *b, const struct entry *e, uid_t uid,
                          bool allow_infeasible, const char **code, struct error *err);
/* Of who waits: as sched_reason_name() and sched_reason() have it, of any job. NULL, false: it
 * is in no queue. text is appended. */
const char *broker_sched_reason_name (struct broker *b, const struct entry *e);
bool broker_sched_reason_text (struct broker *b, const struct entry *e,
                               struct strbuf *text);

/* -- foresee.c -- */
/* {"start", "now", "nodelist", ..., "pending"} of a job that was checked and is in no table;
 * "reason" where nobody can tell a start. NULL: no memory. */
json_t *broker_foresee (struct broker *b, struct entry *e);

/* -- recover.c: before the loop runs -- */
int broker_recover (struct broker *b, struct error *err);
/* What it has is booked where all is that is in no reservation. */
int broker_book (struct broker *b, struct entry *e);
void broker_recovered_nodes (
    struct broker *b); /* the node list is complete: book and resume */

/* -- nodes.c -- */
int nodes_init (struct broker *b, struct error *err);
void nodes_host_init (struct broker *b);
void nodes_release (struct broker *b);
/* What waited until the matchers were prepared comes and goes, until `has_time` says no more;
 * false: there is more. */
bool nodes_move (struct broker *b, bool (*has_time) (double begin), double begin);
/* The matchers are prepared, and it was made use of; done: for a whole pass. */
void nodes_may_move (struct broker *b, bool done);
/* Both change the plan at once and give the transaction that makes it last; the caller
 * commits it. */
int nodes_drain (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err);
int nodes_resume (struct broker *b, const char *name, struct journal_txn **ret,
                  struct error *err);

/* -- watch.c: those who wait for something -- */
void watch_event (struct broker *b, const struct entry *e, const char *name);
void watch_result (struct broker *b,
                   struct entry *e); /* it is final: answer GET …/wait */
void watch_wait (struct broker *b, struct entry *e, struct http_request *req);
json_t *watch_result_json (const struct broker *b, struct http_request *req,
                           const struct entry *e);
void watch_close (struct broker *b);
/* 200 with value (taken), after the commit. */
void broker_reply_after_commit (struct broker *b, struct http_request *req,
                                json_t *value);

/* -- follow.c: a job's output as it comes -- */
void watch_output (struct broker *b,
                   struct entry *e); /* the spool is there, or the job is over */
void watch_follow (struct broker *b, struct entry *e, struct http_request *req);

/* -- relay.c: clients of jobs' agents -- */
/* The agents of this attempt are no more. */
void relay_job_over (struct broker *b, uint64_t id);
void relay_close_all (struct broker *b);

/* -- cancel.c -- */

/* Who waits for agents is answered. */
void broker_cancels_close (struct broker *b);

/* -- api.c -- */
void api_handle (struct http_request *req, void *arg); /* arg: struct broker */
bool api_is_operator (const struct broker *b, struct http_request *req);
bool broker_is_operator (const struct broker *b, uid_t uid);

/* -- broker.c -- */
struct broker *broker_create (uv_loop_t *loop, struct config *config, struct error *err);
/* Names in `operators:` to uids, for the caller to free; blocks, so only at start and reload. */
int broker_find_operators (const struct config *c, uid_t **ret, size_t *ret_n,
                           struct error *err);
void broker_stop (struct broker *b);
void broker_destroy (struct broker *b);
/* For --check: what the executor says of its section; nothing is started. */
int exec_check_config (const struct config *c, struct error *err);

/* -- reload.c -- */
/* Read the configuration file again; the names of keys that changed are added to applied. On
 * error all stays as it was. */
int broker_reload (struct broker *b, json_t *applied, struct error *err);

#endif
