/* launch.h - the launch file: everything an agent needs to run its job
 *
 * Written by the executor, read by fluxq-shell; the same file for every rank (a rank's
 * number comes by argument or environment). libc only. Text of records
 * "NAME LENGTH\nBYTES\n", so any byte but NUL may stand in a value; unknown names are
 * refused, single ones that stand there twice too; order is free except that repeated
 * ones (arg, env, node, rlimit, stage_in, stage_out) keep theirs.
 *
 *     struct launch l;
 *     if (launch_parse (text, len, &l, &err) < 0) ...;
 *     for (size_t i = 0; i < l.nargs; i++) ... l.args[i]
 *     launch_release (&l);
 *
 * In rendezvous and listen %r is the number of the rank that is meant, and %% a %. Without
 * a %r in rendezvous only rank 0 can be found: all others connect to it, and fanout means
 * nothing.
 */
#ifndef FLUXQ_COMMON_LAUNCH_H
#define FLUXQ_COMMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/pattern.h"
#include "common/strbuf.h"

#define LAUNCH_MAX (8 * 1024 * 1024) /* bytes of a launch file */
#define LAUNCH_USER_ENV_MAX 120      /* seconds */
#define LAUNCH_STAGE_MAX 65536       /* stage_in, and stage_out */
#define LAUNCH_IDS_MAX 65536         /* cores, or GPUs, of one node */
#define LAUNCH_ALL_RANKS UINT32_MAX

struct launch_node {
    char *name;      /* node name, as in the node list (RFC 29) */
    uint32_t ntasks; /* tasks on this rank */
    char *cores;     /* idset of the cores given, may be "" */
    char *gpus;      /* idset, may be "" */
    char *gres;      /* generic resources, as "license:2,rdma/hca:1"; NULL: none */
};

/* A file that a rank copies before the tasks start (stage_in) or after all have ended
 * (stage_out). Names are patterns (pattern.h) without %J, %s and %t, relative to cwd. */
struct launch_stage {
    uint32_t rank; /* who does it; LAUNCH_ALL_RANKS */
    uint32_t mode; /* stage_in: permissions of the copy, 0: those of the file */
    bool send; /* stage_out: as FRAME_FILE to the spool, number: its place in the list;
                    * else the agent writes it to `to` */
    char *from, *to;
};

/* As in jobspec.h, which has its words. */
enum launch_on_full { LAUNCH_FULL_WAIT, LAUNCH_FULL_DROP, LAUNCH_FULL_END };

struct launch {
    uint64_t job_id; /* 1 <= id < 2^63 */
    /* A task of an array: the array's id (else 0), its number, and of all of them how many
     * there are, the least, the greatest and the distance of one to the next. */
    uint64_t array_job;
    uint32_t array_task, array_count, array_min, array_max, array_step;
    char *job_name;
    char *user;
    char *queue;
    char *cwd;         /* absolute; must exist where the tasks run, see cwd_fallback */
    char *submit_dir;  /* where the user submitted; NULL: cwd */
    bool cwd_fallback; /* use / when cwd is not there (a pod without the user's home) */
    bool batch;        /* script on rank 0 once; false: args once a task on every rank */
    char *script;      /* batch: path of the script file (executable) */
    char **args;       /* batch: arguments after the script; else argv. NULL-terminated */
    size_t nargs;
    char **env; /* NAME=VALUE from the submission (already filtered); NULL-terminated */
    size_t nenv;
    struct launch_node *nodes; /* index = rank */
    size_t nnodes;
    size_t nodes_room; /* of nodes, see launch_make_room(); 0: nnodes */
    /* A malleable job may get and lose nodes: so many it has at most (else 0), and it is told
     * by this signal. */
    uint32_t max_nodes, resize_signal;
    char *nodes_requested;       /* as the job asked for them: "4", "4-16"; NULL: none */
    bool cores_are_cpus;         /* numbers of cores are those of the machine's CPUs */
    uint32_t cores_per_task;     /* >= 1; of parts of CPUs rounded up */
    uint32_t cpu_milli_per_task; /* the same in thousandths; 0: whole cores */
    uint64_t mem_mib;            /* memory a node, 0: not asked */
    double time_limit;         /* seconds from READY, 0: none; kept to the millisecond */
    double grace;              /* seconds between SIGTERM and SIGKILL */
    uint32_t warn_signal;      /* sent before the time limit; 0: none */
    double warn_before;        /* ... by so many seconds */
    bool warn_batch;           /* ... to the batch script's shell alone */
    double join_timeout;       /* seconds for all ranks to join */
    char *rendezvous;          /* of a rank: "unix:/path-%r" or "tcp:HOST-%r:PORT" */
    char *listen;              /* on it: "unix:/path-%r" or "tcp:0.0.0.0:PORT" */
    uint32_t fanout;           /* most agents that connect to one; 0: the default, 16 */
    char *spool;               /* path of rank 0's spool file */
    uint64_t spool_max;        /* bytes not yet released past which tasks wait; 0: any */
    uint64_t spool_keep;       /* bytes that it may take, see cut.h; 0: any */
    bool serve_until_released; /* after FINISH stay until POST /v1/release (pods) */
    /* Never started again once it may have begun: the tasks start when READY is on disk, or,
     * with serve_until_released, when the broker has released it. */
    bool once;
    /* The agent of rank 0 is the initial program of a Flux instance, which its tasks are to
     * find: they have its FLUX_* variables instead of ours, and its PATH behind theirs. */
    bool flux;
    /* Output files written by rank 0's agent itself (local). NULL: nobody, spool only. */
    char *output; /* pattern (pattern.h), "" means none */
    char *error;  /* NULL: same file as output */
    bool append;  /* else truncate */
    uint32_t on_full; /* enum launch_on_full: their file system is full */
    char *input;  /* pattern: what the tasks read; each opens it. NULL: /dev/null */
    struct launch_stage *stage_in, *stage_out;
    size_t nstage_in, nstage_out;
    uint32_t umask; /* 0 to 0777 */
    uint32_t nice;  /* of the tasks' processes, 0 to 19 */
    char **rlimits; /* soft limits as rlimits.h writes them; NULL-terminated */
    size_t nrlimits;
    /* The environment of the user's login shell, below env: seconds that it may take, 0:
     * not wanted. */
    uint32_t user_env;
    bool user_env_login; /* as a login shell */
    char *home, *shell;  /* the user's; NULL: not known */
};

/* 0 or -EINVAL (-ENOMEM) with the record's name; strings are owned by l. Absent strings
 * are NULL, numbers 0 (cores_per_task 1, umask 022); args, env and rlimits are never NULL.
 * Required: job_id, an absolute cwd, a node, and script (batch) or an arg. After an error
 * l is released. */
int launch_parse (const char *text, size_t len, struct launch *l, struct error *err);
/* Append the text; -EINVAL when l lacks what launch_parse() requires or a number is out
 * of range, -E2BIG past LAUNCH_MAX or the strbuf's own ceiling. */
int launch_write (const struct launch *l, struct strbuf *sb);
void launch_release (struct launch *l);
/* Room for that many nodes; those behind nnodes are empty (no name) until launch_put_node().
 * 0 or -ENOMEM. */
int launch_make_room (struct launch *l, size_t nodes);
/* The node of a rank (< nodes_room), in place of the one before it; node is taken over. */
void launch_put_node (struct launch *l, uint32_t rank, struct launch_node *node);
/* One node as a text of its own, and back (the caller's); -EINVAL, -ENOMEM. */
int launch_write_node (const struct launch_node *node, struct strbuf *sb);
int launch_read_node (const char *text, size_t len, struct launch_node *ret,
                      struct error *err);
void launch_node_release (struct launch_node *node);
uint32_t launch_ntasks (const struct launch *l); /* over all nodes, at most 2^31 */
/* Global number of the first task of rank (block distribution). */
uint32_t launch_first_task (const struct launch *l, uint32_t rank);
/* Append one, names copied. 0 or -ENOMEM. */
int launch_add_stage (struct launch_stage **list, size_t *n,
                      const struct launch_stage *stage);
/* What file names are made of for a task (global number) of rank; borrowed from l. The
 * script of a batch job is no step, a command is the job's step 0. */
struct pattern_vars launch_pattern_vars (const struct launch *l, uint32_t rank,
                                         uint32_t task);

#endif
