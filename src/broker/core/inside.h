/* inside.h - the broker's state and a job's; for core/ only
 *
 * All others use broker.h, jobs.h and the slots and state of their service (service.h).
 */
#pragma once

#include "broker/core/no_memory.h"

#include <uthash.h>

#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/operators.h"

/* A place in a list of jobs. */
struct entry_links {
    struct entry *prev, *next;
    bool listed;
};

/* The table of jobs, and lists of some of them. */
struct job_table {
    struct entry *all; /* by id */
    /* in the order in which they came; NULL where a job has gone */
    struct entry **order;
    size_t norder, aorder;
    uint64_t next_id;
    uint64_t removed; /* entries so far */
    size_t npending, nrunning, nfinished;
    struct entry *lists[ENTRIES_LISTS]; /* the first job of each; ENTRIES_ALL: unused */
    size_t nwhole; /* arrays in nrunning; their tasks are jobs themselves */
};

/* A job in the broker: its record, and the data of its present stage. */
struct entry {
    struct entry_head head;
    UT_hash_handle hh;
    size_t place;                        /* index in the table's order */
    unsigned queue;                      /* index in config */
    struct match_request *req;           /* while the job may be scheduled */
    double max_wait, time_min;           /* seconds, from the jobspec; 0: none */
    int64_t tasks_total, tasks_per_slot; /* from the jobspec; one of them is 0 */
    struct jobspec *js; /* only while fresh or running; otherwise read from the journal */
    struct rset *r;     /* the allocation, while there is one */
    struct rset *r_given_back; /* r after its release, while the executor has xjob */
    struct exec_job *xjob;     /* from start until cleaned */
    uint64_t turn;    /* serial of the last turn with outer actions for the job */
    size_t turn_slot; /* index of the job's actions in the list of that turn */
    bool starting;    /* between START and exec start: look-ups are under way */
    /* of the jobspec in the journal; 0: the record uses another job's */
    size_t spec_bytes;
    bool submitting; /* the first transaction is not on disk yet */
    /* found in RUN or CLEANUP at start-up: exec recover, not exec start */
    bool recovered;
    bool result_told;          /* the waiters have been answered */
    char *note;                /* the executor's latest note ("pulling image"), or NULL */
    struct entry_links links[ENTRIES_LISTS];
};

struct broker {
    struct broker_head head;
    uv_loop_t *loop;
    char *states;                /* of the services, see service.h */
    struct broker_timer *timers; /* of the services */
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
    uid_t uid;                   /* of the broker process */
    struct operators *operators; /* as the configuration names them */
    double started;              /* unix time */

    struct job_table table;
    struct {
        struct turn *current;     /* its events and what follows their commit, or NULL */
        struct journal_txn *into; /* see broker_emit_into() */
        uint64_t serial;
    } turns;
    size_t under_way; /* operations that end with a journal completion or a reply */
    struct handles *handles;  /* of the loop, see broker.c */
    struct topology topology; /* levels of the nodes' places (rack, zone) */
    bool plan_due;
    bool recovering; /* until the executor has listed its nodes */
    bool stopping;
    bool dead; /* broker_destroy() runs: callbacks only free */
};

/* Prepares the timers of all services. */
void broker_init_timers (struct broker *b);

/* PART (object, type, function, member): defines the function that gives this member of a
 * struct entry or struct broker to services; SET_PART, the function that sets it. */
#define PART(object, type, function, member)                                             \
    type function (const struct object *of)                                              \
    {                                                                                    \
        return of->member;                                                               \
    }
#define SET_PART(object, type, function, member)                                         \
    void function (struct object *of, type value)                                        \
    {                                                                                    \
        of->member = value;                                                              \
    }
