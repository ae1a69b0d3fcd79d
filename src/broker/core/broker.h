/* broker.h - the state of fluxqd; one thread, the loop's, owns all of it
 *
 *   request --> api*.c --> submit.c / cancel.c --\
 *                                                  turn.c     : broker_emit()
 *   executor --> start.c -------------------------/     |  job_apply(), journal
 *   plan.c (sched_next) -------------------------/      v
 *                          inner actions at once; outer ones (start, clean up,
 *                          answer) after the commit
 *
 * The commit rule: broker_emit() applies an event to the record at once and adds it to
 * the transaction of this turn of the loop. All effects that the outside can see (a
 * reply, a process started or removed) follow when that transaction is on disk.
 */
#ifndef FLUXQ_BROKER_CORE_BROKER_H
#define FLUXQ_BROKER_CORE_BROKER_H

#include <uthash.h>
#include <uv.h>

#include "broker/config/config.h"
#include "broker/core/users.h"
#include "exec/exec.h"
#include "job/deps_due.h"
#include "job/job.h"
#include "jobspec/jobspec.h"
#include "match/machine/match.h"
#include "net/http_server.h"
#include "sched/sched.h"
#include "store/journal.h"

struct broker;

/* A job in the broker: its record, and the data of its present stage. */
struct entry {
    UT_hash_handle hh;
    uint64_t id;
    struct job *job;
    unsigned queue;            /* index in config */
    struct match_request *req; /* while the job may be scheduled */
    double max_wait, time_min; /* seconds, from the jobspec; 0: none */
    int64_t tasks_total, tasks_per_slot; /* from the jobspec; one of them is 0 */
    struct jobspec *js; /* only while fresh or running; otherwise read from the journal */
    struct rset *r;            /* the allocation, while there is one */
    struct rset *r_given_back; /* r after its release, while the executor has xjob */
    struct exec_job *xjob; /* from start until cleaned */
    uint64_t turn;         /* serial of the last turn with outer actions for the job */
    size_t turn_slot;      /* index of the job's actions in the list of that turn */
    bool starting;         /* between START and exec start: look-ups are under way */
    bool start_again;      /* the start is held back; broker.retry tries it again */
    /* of the jobspec in the journal; 0: the record uses another job's */
    size_t spec_bytes;
    bool examined; /* the failed start waits for pause_examine() */
    bool submitting;       /* the first transaction is not on disk yet */
    /* found in RUN or CLEANUP at start-up: exec recover, not exec start */
    bool recovered;
    bool result_told; /* the waiters have been answered */
    char *note; /* the executor's latest note ("pulling image"), or NULL */
    struct entry *done_prev, *done_next; /* list of finished jobs, oldest first */
    bool listed_active;
    struct entry *active_prev, *active_next; /* list of jobs in RUN or CLEANUP */
    bool listed_waiting;
    struct entry *waiting_prev, *waiting_next; /* list of jobs before RUN */
    bool listed_array;
    struct entry *array_prev, *array_next;
};

struct broker {
    uv_loop_t *loop;
    char *states;                /* of the services, see service.h */
    struct broker_timer *timers; /* of the services */
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
    char *socket_path, *jobs_dir;
    uid_t uid;        /* of the broker process */
    uid_t *operators; /* uids of config->operators */
    size_t noperators;
    double started; /* unix time */

    struct entry *jobs; /* by id */
    uint64_t next_id;
    size_t npending, nrunning, nfinished;
    struct entry *active; /* list of the nrunning jobs */
    /* list of the npending jobs, in the order in which they began to wait */
    struct entry *waiting;
    struct entry *arrays; /* list of all arrays in memory, ended ones too */
    size_t nwhole; /* arrays in nrunning; their tasks are jobs themselves */
    struct entry *done_first, *done_last;
    uint64_t *gone; /* jobs with directories to remove, by id */
    size_t ngone, gone_alloc;
    bool removing;

    struct journal_txn *submit_txn; /* see broker_emit_into() */
    struct turn *turn; /* this turn's events and what follows their commit, or NULL */
    uint64_t turn_serial;
    size_t under_way; /* operations that end with a journal completion or a reply */
    uv_prepare_t end_of_turn; /* plans, then commits */
    uv_async_t wake;          /* sent by the journal's threads */
    uv_timer_t sweep;
    uv_timer_t retry;    /* tries starts with start_again again */
    struct pause *pause; /* whether and why starts are paused, see pause.h */
    uv_timer_t farewell; /* runs from broker_stop() to the end of the loop */
    double stop_by;      /* mono */
    uv_signal_t sigint, sigterm, sighup;
    struct topology topology;  /* levels of the nodes' places (rack, zone) */
    bool plan_due;
    bool recovering;    /* until the executor has listed its nodes */
    bool stopping;
    bool dead;                /* broker_destroy() runs: callbacks only free */
};

/* All handles of struct broker, for loops that set or close them. */
#define BROKER_HANDLES(b)                                                                \
    {                                                                                    \
        (uv_handle_t *)&(b)->end_of_turn, (uv_handle_t *)&(b)->wake,                     \
            (uv_handle_t *)&(b)->sweep, (uv_handle_t *)&(b)->retry,                      \
            (uv_handle_t *)&(b)->farewell, (uv_handle_t *)&(b)->sigint,                  \
            (uv_handle_t *)&(b)->sigterm, (uv_handle_t *)&(b)->sighup                    \
    }

/* handle answers the HTTP requests (api_handle()). Takes config over, also on failure. */
struct broker *broker_create (uv_loop_t *loop, struct config *config,
                              http_handler_f handle, struct error *err);
/* Root, the broker's own user, and the users of `operators:`. */
bool broker_is_operator (const struct broker *b, uid_t uid);
/* Looks up the uids of the names in `operators:`; the caller frees. Blocks, so only at
 * start and reload. */
int broker_find_operators (const struct config *c, uid_t **ret, size_t *ret_n,
                           struct error *err);
void broker_stop (struct broker *b);
void broker_destroy (struct broker *b);
/* For --check: lets the executor check its section; starts nothing. */
int exec_check_config (const struct config *c, struct error *err);

#endif
