/* step_spec.h - the request of fluxq-run for a step, as one text (record.h)
 *
 * The client writes the request. Rank 0 completes it (the last fields) and sends it to
 * all ranks of the step.
 *
 * A step of a heterogeneous job runs on nodes of one component, or has a part for each of
 * several components: its tasks are numbered part by part. The request itself is the first
 * part; each further part is a request of its own, in a record "part".
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define STEP_SPEC_MAX (8 * 1024 * 1024) /* bytes of the text */
#define STEP_TASKS_MAX (UINT32_C (1) << 22)
#define STEP_PARTS_MAX 63 /* further parts */

/* The tasks that read standard input; EACH: every task reads a file of its own. */
enum step_input { STEP_INPUT_NONE, STEP_INPUT_ALL, STEP_INPUT_ONE, STEP_INPUT_EACH };

struct step_spec {
    uint32_t component; /* of the job: the tasks run on its nodes ... */
    bool any_component; /* ... or on any nodes */
    /* The further parts, in the order of their components, without parts of their own.
     * They have their command, directory, nodes, numbers, distribution, binding and
     * sharing; all else is that of the step, also env if a part has none. */
    struct step_spec *parts;
    size_t nparts;
    char **args; /* the command, NULL-terminated; empty with multi_prog */
    size_t nargs;
    char **env; /* the client's environment: NAME=VALUE, NULL-terminated */
    size_t nenv;
    char *cwd;      /* absolute */
    char *name;     /* NULL: the program's name */
    char *hosts;    /* names of nodes to use, or NULL */
    char *exclude;  /* names of nodes not to use, or NULL */
    char *hostfile; /* text of a host file, one name for each task, or NULL */
    uint32_t relative;                 /* number of the first node, of the component's */
    uint32_t nnodes, ntasks, per_node; /* 0: not given */
    uint32_t cores_per_task;           /* 0: not given */
    uint32_t gpus;                     /* in all; 0: not given */
    uint32_t gpus_per_node;            /* 0: not given */
    char *gpu_type; /* the GPUs must be of it, as gpu_type_read() writes it; or NULL */
    bool no_gpus;                      /* the step gets none */
    uint32_t gpus_per_task;            /* each task sees its own; 0: not given */
    bool exact, overlap, overcommit, immediate;
    bool kill_on_bad_exit;
    bool node_program; /* the name of the program ends in that of its node */
    bool remote_shell; /* of --rsh: a daemon of an MPI launcher, say */
    double wait; /* seconds that tasks may run on after the first has ended; 0: any */
    char *distribution; /* --distribution, or NULL */
    char *taskmap_asked;
    char *cpu_bind;   /* --cpu-bind, or NULL */
    char *gpu_bind;   /* --gpu-bind, or NULL */
    char *mpi;        /* "none", "pmi1", "pmi2", "pmix"; NULL: both PMI versions */
    char *multi_prog; /* text of the file, or NULL */
    uint32_t input;   /* enum step_input */
    uint32_t input_task;
    uint32_t umask;
    char *client_address;        /* of the client's machine, as text; NULL: not known */
    bool pty;                    /* task 0 gets a terminal ... */
    uint32_t pty_rows, pty_cols; /* ... of this size; 0: not known */
    /* set by rank 0 */
    uint32_t id;
    /* idset of the job's ranks; numbers the nodes of the step in this order */
    char *ranks;
    char *taskmap; /* task map over the step's nodes (taskmap.h) */
    char *cores;   /* cores on each of its nodes: idsets, separated by ';' */
    char *gpu_ids; /* GPUs, in the same form */
};

/* The part of the step for nodes of that component; spec itself if there is no other. */
const struct step_spec *step_spec_of (const struct step_spec *spec, uint32_t component);
/* The environment of its tasks, borrowed. */
char *const *step_spec_env (const struct step_spec *spec, uint32_t component,
                            size_t *ret_n);
/* Whether the step has tasks on nodes of that component. */
bool step_spec_uses (const struct step_spec *spec, uint32_t component);
/* 0 or -EINVAL, -ENOMEM with the record's name. Releases ret after an error. */
int step_spec_parse (const char *text, size_t len, struct step_spec *ret,
                     struct error *err);
/* Appends the text; -E2BIG: more than STEP_SPEC_MAX. */
int step_spec_write (const struct step_spec *spec, struct strbuf *sb);
void step_spec_release (struct step_spec *spec);
/* Whether the tasks use the directory of their node for MPI (mpidir.h). */
bool step_spec_has_mpidir (const struct step_spec *spec);
/* Clears the fields that rank 0 sets. */
void step_spec_forget_places (struct step_spec *spec);
/* The part of cores or gpu_ids (or NULL) for a node of the step; the caller frees it.
 * NULL: the node has none, or no memory. */
char *step_spec_part (const char *text, uint32_t node);
