/* config.h - fluxq.yaml, checked
 *
 *     struct config *c = config_load ("/etc/fluxq/fluxq.yaml", &err);   // or config_default ()
 *     const struct config_queue *q = config_find_queue (c, "debug");
 *     config_destroy (c);
 *
 * Every key is in fluxq.yaml(5). Unknown keys and wrong values are refused with file,
 * line and column. Executors check their own mapping ("local:", "kube:") when they are
 * created.
 */
#ifndef FLUXQ_BROKER_CONFIG_H
#define FLUXQ_BROKER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log.h"
#include "common/yaml.h"
#include "jobspec/array.h"
#include "jobspec/placement.h"
#include "match/policy.h"
#include "sched/policy.h"
#include "sched/priority.h"

/* How long a start may take, in seconds; 0: not set here. */
struct config_timeouts {
    double start, place, pull;
};

/* The administrator's programs around each rank of a job. NULL: not set here. */
struct config_admin {
    char *prolog, *epilog; /* absolute paths, or "none" */
    double timeout;        /* seconds; 0: not set here */
};

struct config_queue {
    char *name;
    bool is_default;
    bool started;        /* as configured; fluxq-ctl may stop and start it */
    bool operated;       /* it did: what it said outlives restarts and reloads */
    double default_time; /* seconds, 0: unlimited */
    double max_time;     /* seconds, 0: no bound */
    struct config_timeouts timeouts;
    int64_t max_nodes;          /* 0: no bound */
    struct placement placement; /* of jobs that say nothing of it */
    int priority;               /* added to each job's priority, 0..1000 */
    char *image;                /* for jobs without --image, or NULL */
    json_t *mounts;             /* of its pods, see exec/mounts.h, or NULL */
    json_t *pods;               /* how they are, see exec/podset.h, or NULL */
    struct config_admin admin;
    unsigned private_parts; /* besides the site's */
    char **users, **groups; /* who may submit to it, by names; both NULL: everybody */
};

/* The mapping "history:": of jobs that have ended, how long the journal has them. */
struct config_history {
    double keep;  /* seconds, 0: for ever */
    int64_t jobs; /* at most so many, 0: all */
};

/* The mapping "clients:": of each user, unless it says otherwise. */
struct config_clients {
    int64_t connections; /* at a time */
    int64_t reserve;     /* connections of all that are kept for root and operators */
    int64_t requests;    /* a second; 0: any number */
    int64_t burst;       /* requests at once */
};

/* The mapping "priority:". */
struct config_priority {
    struct priority_weights weights;
    double half_life; /* of usage, seconds; 0: it never fades */
    double interval;  /* seconds between two computations, >= 1 */
};

struct config {
    char *path; /* or NULL: built in */
    struct yaml_doc *doc;
    json_t *overrides; /* executor sections that options made, or NULL */
    json_t *options;   /* what options said: {executor: {key: value}}, or NULL */
    char *executor;    /* "local" or "kube" */
    char *state_dir;   /* journal and job directories; NULL: by default, see main.c */
    char *runtime_dir; /* sockets */
    char *cluster_id;  /* DNS label */
    char *shell_path;  /* fluxq-shell, or NULL: the installed one */
    char *listen_host; /* TCP, or NULL */
    uint16_t listen_port;
    char **listen_names; /* HOST or HOST:PORT, NULL-terminated, or NULL */
    char *munge_socket; /* or NULL: munge's default */
    char **operators;   /* user names, NULL-terminated */
    char *subuid_file;  /* as subuid(5) */
    enum log_level log_level;
    const struct match_policy *match_policy;
    const struct queue_policy *queue_policy;
    unsigned reservation_depth; /* 0: the policy's own */
    double start_backoff;       /* seconds before the second try of a start */
    double start_backoff_max;   /* it doubles up to this */
    unsigned start_retries;
    struct config_timeouts timeouts; /* start and pull are set */
    size_t start_serialize; /* ranks from which on starts are one at a time; 0: none is */
    unsigned drain_after_failures; /* jobs that failed to start on a node; 0: never */
    double switches_wait;      /* seconds that --switches waits, where it does not say */
    bool propagate_nice;       /* tasks are as nice as the process that submitted */
    bool requeue;              /* who loses a node, unless its jobspec says */
    bool requeue_at_end;       /* else at its old place in the order */
    double grace;              /* seconds between SIGTERM and SIGKILL */
    bool resize_grow;          /* malleable jobs are offered nodes that nobody wants, */
    double resize_interval;    /* ... so many seconds after their last change */
    double resize_grace;       /* ... between what a malleable job is told and them */
    unsigned array_max;        /* tasks of an array */
    struct config_admin admin; /* of queues that say nothing else; timeout is set */
    size_t keep_finished;      /* finished jobs kept in memory for listings */
    /* of one user, 0: any: jobs that wait, bytes of their jobspecs, bytes of kept output */
    uint64_t user_jobs_max, user_bytes_max, user_output_max;
    unsigned private_parts; /* bits of enum private_part */
    uint64_t disk_reserve; /* bytes of the state directory's disk, with less of which submits
                            * are refused; 0: none */
    uint64_t output_max;       /* bytes of a job's output for fluxq-logs; 0: all */
    struct config_priority priority;
    struct config_history history;
    struct config_clients clients;
    struct config_queue *queues;
    size_t nqueues;
};

struct config *config_default (void);
struct config *config_load (const char *path, struct error *err);
void config_destroy (struct config *c);
const struct config_queue *config_find_queue (const struct config *c, const char *name);
const struct config_queue *config_default_queue (const struct config *c);
/* Those of a job in the queue (an index), all > 0. own: its own start timeout, or 0. */
struct config_timeouts config_timeouts_of (const struct config *c, unsigned queue,
                                           double own);
/* Those of a job in the queue (an index): borrowed, NULL for none. */
struct config_admin config_admin_of (const struct config *c, unsigned queue);
/* Index in queues, or -ENOENT. */
int config_queue_index (const struct config *c, const char *name);
/* How the pods of each queue are, {"batch": {...}}: a new reference, NULL without memory. */
json_t *config_pods (const struct config *c);
/* An option: this executor, and (key not NULL) a value in its mapping, over what the file
 * says. Takes value. */
int config_set_executor (struct config *c, const char *name, const char *key,
                         json_t *value);
/* The same options for a file that was read again. */
int config_keep_options (struct config *c, const struct config *old);
/* The executor's own mapping, borrowed, or NULL. */
json_t *config_executor_section (const struct config *c, const char *name);

#endif
