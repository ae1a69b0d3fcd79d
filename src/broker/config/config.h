/* config.h - the checked contents of fluxq.yaml
 *
 *     struct config *c = config_load ("/etc/fluxq/fluxq.yaml", services_settings (), &err);
 *     // or: struct config *c = config_default (services_settings ());
 *     const struct config_queue *q = config_find_queue (c, "debug");
 *     config_destroy (c);
 *
 * fluxq.yaml(5) lists every key. Errors for unknown keys and wrong values name file, line
 * and column. Executors check their own mapping ("local:", "kube:") when they are
 * created.
 */
#pragma once

#include "common/log.h"
#include "common/yaml.h"
#include "jobspec/attributes/placement.h"
#include "match/policies/policy.h"
#include "sched/policy.h"

struct config_layout;
struct config_place;

/* The parts of other users' jobs that `private:` can hide (api/privacy.h). */
enum private_part {
    PRIVATE_JOBS = 1 << 0,
    PRIVATE_ARGUMENTS = 1 << 1,
    PRIVATE_USAGE = 1 << 2,
};

/* The time that a start may take, in seconds; 0: not set here. */
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
    bool started;  /* as configured; fluxq-ctl can stop and start the queue */
    bool operated; /* fluxq-ctl has set `started`, which survives restarts and reloads */
    double default_time; /* seconds, 0: unlimited */
    double max_time;     /* seconds, 0: unlimited */
    struct config_timeouts timeouts;
    int64_t max_nodes;          /* 0: unlimited */
    struct placement placement; /* default for jobs without a placement */
    int priority;               /* added to each job's priority, 0..1000 */
    char *image;                /* for jobs without --image, or NULL */
    json_t *mounts;             /* for its pods, see exec/mounts.h, or NULL */
    json_t *pods;               /* settings of its pods, see exec/podset.h, or NULL */
    struct config_admin admin;
    unsigned private_parts; /* in addition to the site's */
    char **users, **groups; /* names of those who may submit; both NULL: everybody */
    char **operators;       /* names of its operators, users and "@group"; or NULL */
};

/* The mapping "clients:": limits, of one user unless stated otherwise. */
struct config_clients {
    int64_t connections; /* at a time */
    int64_t reserve;     /* connections kept for root and operators, in all */
    int64_t requests;    /* a second; 0: unlimited */
    int64_t burst;       /* requests at once */
};

struct config {
    char *path; /* NULL: built in */
    struct yaml_doc *doc;
    json_t *options;   /* {executor: {key: value}} of the options, or NULL */
    char *executor;    /* name of its struct exec_ops */
    char *state_dir;   /* journal and job directories; NULL: the default, see main.c */
    char *runtime_dir; /* sockets */
    char *cluster_id;  /* DNS label */
    char *shell_path;  /* fluxq-shell, or NULL: the installed one */
    char *listen_host; /* TCP, or NULL */
    uint16_t listen_port;
    char **listen_names; /* HOST or HOST:PORT, NULL-terminated, or NULL */
    char *munge_socket;  /* NULL: munge's default */
    char *user;          /* the broker becomes this user; NULL: it stays who it is */
    int64_t min_uid;     /* the least uid that fluxq-launch runs jobs of */
    char **operators;    /* names of administrators, users and "@group"; or NULL */
    char *subuid_file;   /* format: subuid(5) */
    enum log_level log_level;
    const struct match_policy *match_policy;
    const struct queue_policy *queue_policy;
    unsigned reservation_depth; /* 0: the policy's own */
    double start_backoff;       /* seconds before the second try of a start */
    double start_backoff_max;   /* the delay doubles up to this */
    unsigned start_retries;
    struct config_timeouts timeouts; /* start and pull are set */
    bool propagate_nice; /* tasks get the nice value of the submitting process */
    bool requeue; /* jobs that lose a node are requeued, unless the jobspec decides */
    bool requeue_at_end;       /* at the end of the order, else at the old place */
    double grace;              /* seconds between SIGTERM and SIGKILL */
    struct config_admin admin; /* default of the queues; timeout is set */
    size_t keep_finished;      /* finished jobs kept in memory for listings */
    unsigned private_parts;    /* bits of enum private_part */
    /* submits are refused when the state directory's disk has fewer bytes left; 0:
     * never */
    uint64_t disk_reserve;
    uint64_t output_max; /* bytes of a job's output kept for fluxq-logs; 0: all */
    struct config_clients clients;
    struct config_queue *queues;
    size_t nqueues;
    const struct config_layout *layout;
    _Alignas(max_align_t) char settings[]; /* of services, as layout says */
};

/* layout: the keys of services (keys.h), borrowed; NULL: there are none. */
struct config *config_default (const struct config_layout *layout);
struct config *config_load (const char *path, const struct config_layout *layout,
                            struct error *err);
/* Reads one value, as of a file; p: its place. -EINVAL, -ENOMEM. */
int config_set (struct config *c, const char *name, json_t *value,
                const struct config_place *p);
void config_destroy (struct config *c);
const struct config_queue *config_find_queue (const struct config *c, const char *name);
const struct config_queue *config_default_queue (const struct config *c);
/* The timeouts of a job in the queue (an index), all > 0. own: the job's own start
 * timeout, or 0. */
struct config_timeouts config_timeouts_of (const struct config *c, unsigned queue,
                                           double own);
/* The programs for a job in the queue (an index): borrowed, NULL: none. */
struct config_admin config_admin_of (const struct config *c, unsigned queue);
/* Index in queues, or -ENOENT. */
int config_queue_index (const struct config *c, const char *name);
/* The pod settings of each queue, {"batch": {...}}: a new reference; NULL: no memory. */
json_t *config_pods (const struct config *c);
/* An option on the command line: sets the executor, and (key not NULL) a value in its
 * mapping. Overrides the file. Takes value. */
int config_set_executor (struct config *c, const char *name, const char *key,
                         json_t *value);
/* Applies the options of `old` to a file that was read again. */
int config_keep_options (struct config *c, const struct config *old);
/* The mapping of the executor, borrowed, or NULL. */
json_t *config_executor_section (const struct config *c, const char *name);
