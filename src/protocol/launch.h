/* launch.h - the launch file: everything an agent needs to run its job
 *
 * The executor writes the file, fluxq-shell reads it. All ranks have the same file; a
 * rank gets its number by argument or environment. libc only. The file has records
 * "NAME LENGTH\nBYTES\n", so a value can have any byte but NUL. Unknown records are
 * refused, and so are single records that come twice. The order is free, but repeated
 * records (arg, component, env, node, rlimit, stage_in, stage_out) keep theirs.
 *
 *     struct launch l;
 *     if (launch_parse (text, len, &l, &err) < 0) ...;
 *     for (size_t i = 0; i < l.nargs; i++) ... l.args[i]
 *     launch_release (&l);
 *
 * In rendezvous and listen, %r is the number of the addressed rank, and %% is a %. If
 * rendezvous has no %r, only rank 0 has an address: all other ranks connect to it, and
 * fanout is ignored.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"
#include "protocol/pattern.h"

#define LAUNCH_MAX (8 * 1024 * 1024) /* bytes of a launch file */
#define LAUNCH_USER_ENV_MAX 120      /* seconds */
#define LAUNCH_STAGE_MAX 65536       /* entries of stage_in, and of stage_out */
#define LAUNCH_IDS_MAX 65536         /* cores, or GPUs, of one node */
#define LAUNCH_ALL_RANKS UINT32_MAX

struct launch_node {
    char *name;      /* node name, as in the node list (RFC 29) */
    uint32_t ntasks; /* tasks on this rank */
    char *cores;     /* idset of the granted cores, can be "" */
    char *gpus;      /* idset, can be "" */
    char *gres;      /* generic resources, as "license:2,rdma/hca:1"; NULL: none */
    char *gpu_type;  /* of the GPUs (gputype.h); NULL: not known */
    uint32_t component; /* of a heterogeneous job, else 0; not in the text of a node */
};

/* The values that a component of a heterogeneous job has of its own; as in struct
 * launch. */
struct launch_component {
    uint32_t nnodes; /* >= 1; its nodes follow those of the component before */
    char *job_name;
    char *nodes_requested;
    uint32_t cores_per_task;
    uint32_t cpu_milli_per_task;
    uint32_t gpus_per_task;
    uint32_t gpu_share;
    uint64_t mem_mib;
    char **env; /* variables for tasks of steps, which override those of the job */
    size_t nenv;
};

/* A file that a rank copies before the tasks start (stage_in) or after all have ended
 * (stage_out). Names are patterns (pattern.h) without %J, %s and %t, relative to cwd. */
struct launch_stage {
    uint32_t rank; /* rank that copies, or LAUNCH_ALL_RANKS */
    uint32_t mode; /* stage_in: permissions of the copy, 0: those of the file */
    bool send; /* stage_out: send the file as FRAME_FILE to the spool, numbered by its
                    * index in the list; else the agent writes it to `to` */
    char *from, *to;
};

/* As enum jobspec_on_full in jobspec.h, which has the words. */
enum launch_on_full { LAUNCH_FULL_WAIT, LAUNCH_FULL_DROP, LAUNCH_FULL_END };

struct launch {
    uint64_t job_id; /* 1 <= id < 2^63 */
    /* For a task of an array: the array's id (else 0), the task's number, and the count,
     * smallest number, greatest number and step of all tasks of the array. */
    uint64_t array_job;
    uint32_t array_task, array_count, array_min, array_max, array_step;
    char *job_name;
    char *user;
    char *queue;
    char *cluster;     /* name of the cluster, or NULL */
    char *broker;      /* URL at which commands of the tasks reach the broker, or NULL */
    char *cwd;         /* absolute; must exist where the tasks run, see cwd_fallback */
    char *submit_dir;  /* directory of the submission; NULL: cwd */
    bool cwd_fallback; /* use / if cwd does not exist (a pod without the user's home) */
    bool batch;        /* script on rank 0 once; false: args once a task on every rank */
    char *script;      /* batch: path of the script file (executable) */
    char **args;       /* batch: arguments after the script; else argv. NULL-terminated */
    size_t nargs;
    char **env; /* NAME=VALUE from the submission (already filtered); NULL-terminated */
    size_t nenv;
    struct launch_node *nodes; /* index = rank */
    size_t nnodes;
    size_t nodes_room; /* elements of nodes, see launch_make_room(); 0: nnodes */
    /* The further components of a heterogeneous job; 0: it is none. The job's own script
     * or command runs in component 0, which struct launch itself describes. */
    struct launch_component *components;
    size_t ncomponents;
    /* For a malleable job: the most nodes it can have (else 0), and the signal that
     * announces a resize. */
    uint32_t max_nodes, resize_signal;
    char *nodes_requested;       /* as in the request: "4", "4-16"; NULL: none */
    bool cores_are_cpus;         /* core numbers are the CPU numbers of the machine */
    uint32_t cores_per_task;     /* >= 1; parts of CPUs are rounded up */
    uint32_t cpu_milli_per_task; /* in thousandths, if it has parts of CPUs; else 0 */
    uint32_t gpus_per_task;      /* each task gets so many of its node's GPUs; 0: all */
    uint32_t gpu_share; /* so many tasks, one after another, have the same GPUs; 0: one */
    uint64_t mem_mib;            /* memory a node, 0: not requested */
    double time_limit;         /* seconds from READY, 0: none; kept to the millisecond */
    double grace;              /* seconds between SIGTERM and SIGKILL */
    uint32_t warn_signal;      /* signal before the time limit; 0: none */
    double warn_before;        /* ... seconds before it */
    bool warn_batch;           /* ... only to the batch script's shell */
    bool warn_steps;           /* ... only to the steps of a batch job */
    double join_timeout;       /* seconds for all ranks to join */
    char *rendezvous;          /* rank's address: "unix:/path-%r", "tcp:HOST-%r:PORT" */
    char *listen;              /* where it listens: "unix:/path-%r", "tcp:0.0.0.0:PORT" */
    uint32_t fanout;           /* most agents that connect to one; 0: the default, 16 */
    char *spool;               /* path of rank 0's spool file */
    uint64_t spool_max;        /* unreleased bytes past which tasks wait; 0: no limit */
    uint64_t spool_keep;       /* largest size of the spool, see output_limit.h; 0: no limit */
    bool serve_until_released; /* after FINISH stay until POST /v1/release (pods) */
    /* The job never starts again once its tasks can have started: tasks start only when
     * READY is on disk or, with serve_until_released, when the broker has released
     * READY. */
    bool once;
    /* The agent of rank 0 is the initial program of a Flux instance. The tasks use that
     * instance: they get its FLUX_* variables instead of fluxq's, and its PATH after
     * theirs. */
    bool flux;
    /* Output files that rank 0's agent itself writes (local). NULL: spool only. */
    char *output; /* pattern (pattern.h), "" means none */
    char *error;  /* NULL: same file as output */
    bool append;  /* else truncate */
    /* Standard error of the tasks is their standard output: both are for one file, in the
     * order in which they are written. */
    bool one_stream;
    uint32_t on_full; /* enum launch_on_full: when their file system is full */
    char *input;  /* pattern: each task reads this file. NULL: /dev/null */
    struct launch_stage *stage_in, *stage_out;
    size_t nstage_in, nstage_out;
    uint32_t umask; /* 0 to 0777 */
    uint32_t nice;  /* of the tasks' processes, 0 to 19 */
    char **rlimits; /* soft limits in the format of rlimits.h; NULL-terminated */
    size_t nrlimits;
    /* Seconds allowed to get the environment of the user's shell, which env overrides; 0:
     * not wanted. */
    uint32_t user_env;
    bool user_env_login; /* as a login shell */
    char *home, *shell;  /* the user's; NULL: unknown */
};

/* 0 or -EINVAL (-ENOMEM) with the record's name; l owns the strings. Absent strings are
 * NULL, absent numbers 0 (cores_per_task 1, umask 022); args, env and rlimits are never
 * NULL. Required: job_id, an absolute cwd, a node, and script (batch) or an arg. After an
 * error l is released. */
int launch_parse (const char *text, size_t len, struct launch *l, struct error *err);
/* Append the text; -EINVAL if l lacks a record that launch_parse() requires or a number
 * is out of range, -E2BIG past LAUNCH_MAX or the strbuf's own ceiling. */
int launch_write (const struct launch *l, struct strbuf *sb);
void launch_release (struct launch *l);
/* Make room for so many nodes; those from nnodes on are empty (no name) until
 * launch_put_node(). 0 or -ENOMEM. */
int launch_make_room (struct launch *l, size_t nodes);
/* Replace the node of a rank (< nodes_room); l takes over the contents of node. */
void launch_put_node (struct launch *l, uint32_t rank, struct launch_node *node);
/* Write and read the text of one node; the caller releases *ret. -EINVAL, -ENOMEM. */
int launch_write_node (const struct launch_node *node, struct strbuf *sb);
int launch_read_node (const char *text, size_t len, struct launch_node *ret,
                      struct error *err);
void launch_node_release (struct launch_node *node);
/* Tasks of the job's own command, if it is no batch job: on a rank (none beyond component
 * 0), and over all nodes, at most 2^31. */
uint32_t launch_rank_tasks (const struct launch *l, uint32_t rank);
uint32_t launch_ntasks (const struct launch *l);
/* Global number of the first task of rank (block distribution). */
uint32_t launch_first_task (const struct launch *l, uint32_t rank);
/* The values of component c, 0 to ncomponents; the strings are those of l. */
struct launch_component launch_get_component (const struct launch *l, uint32_t c);
/* The rank of its first node. */
uint32_t launch_component_first (const struct launch *l, uint32_t c);
/* Append a component to l, which takes over its contents, also after -ENOMEM. */
int launch_add_component (struct launch *l, struct launch_component *component);
/* Append a copy of stage. 0 or -ENOMEM. */
int launch_add_stage (struct launch_stage **list, size_t *n,
                      const struct launch_stage *stage);
/* The variables for file name patterns of a task (global number) of rank; borrowed from
 * l. The script of a batch job is no step, a command is the job's step 0. */
struct pattern_vars launch_pattern_vars (const struct launch *l, uint32_t rank,
                                         uint32_t task);
