/* stepspec.h - what fluxq-run asks for, as one text (record.h)
 *
 * The client writes it, rank 0 completes it (the fields at the end) and sends the whole to
 * all ranks of the step.
 */
#ifndef FLUXQ_SHELL_STEPSPEC_H
#define FLUXQ_SHELL_STEPSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

#define STEP_SPEC_MAX (8 * 1024 * 1024) /* bytes of the text */
#define STEP_TASKS_MAX (UINT32_C (1) << 22)

/* Who reads standard input; EACH: every task a file of its own. */
enum step_input { STEP_INPUT_NONE, STEP_INPUT_ALL, STEP_INPUT_ONE, STEP_INPUT_EACH };

struct step_spec {
    char **args; /* the command, NULL-terminated; empty with multi_prog */
    size_t nargs;
    char **env; /* of the client, NAME=VALUE, NULL-terminated */
    size_t nenv;
    char *cwd;      /* absolute */
    char *name;     /* NULL: the program's */
    char *hosts;    /* names of nodes to run on, or NULL */
    char *exclude;  /* and not to run on */
    char *hostfile; /* text of a host file: one name for each task, or NULL */
    uint32_t nnodes, ntasks, per_node; /* 0: not said */
    uint32_t cores_per_task;           /* 0: not said */
    uint32_t gpus;                     /* in all; 0: not said */
    bool exact, overlap, overcommit, immediate;
    bool kill_on_bad_exit;
    double wait; /* seconds that tasks may go on after the first has ended; 0: any */
    char *distribution; /* --distribution, or NULL */
    char *taskmap_asked;
    char *cpu_bind;   /* --cpu-bind, or NULL */
    char *mpi;        /* "none", "pmi1", "pmi2"; NULL: as both */
    char *multi_prog; /* text of the file, or NULL */
    uint32_t input;   /* enum step_input */
    uint32_t input_task;
    uint32_t umask;
    bool pty;                    /* task 0 gets a terminal, */
    uint32_t pty_rows, pty_cols; /* of that size; 0: not known */
    /* by rank 0 */
    uint32_t id;
    /* idset of the job's ranks; the step's nodes are numbered in that order */
    char *ranks;
    char *taskmap; /* of the step's nodes (taskmap.h) */
    char *cores;   /* those of each of its nodes, idsets with ';' between */
    char *gpu_ids; /* likewise */
};

/* 0 or -EINVAL, -ENOMEM with the record's name; after an error it is released. */
int step_spec_parse (const char *text, size_t len, struct step_spec *ret,
                     struct error *err);
/* Append the text; -E2BIG past STEP_SPEC_MAX. */
int step_spec_write (const struct step_spec *spec, struct strbuf *sb);
void step_spec_release (struct step_spec *spec);
/* The fields that rank 0 sets are absent again. */
void step_spec_forget_places (struct step_spec *spec);
/* Of cores or gpu_ids (or NULL) the part for a node of the step; the caller frees. NULL: it
 * has none, or no memory. */
char *step_spec_part (const char *text, uint32_t node);

#endif
