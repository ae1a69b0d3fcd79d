/* layout.h - which rank gets which task of a step
 *
 *     struct layout_option opt;
 *     if (layout_option_parse ("cyclic:block", &opt, &err) < 0) ...
 *     struct layout_request req = { .nranks = 3, .room = room, .ntasks = 8,
 *                                   .kind = opt.kind, .plane = opt.plane };
 *     struct layout l;
 *     if (layout_make (&req, &l, &err) < 0) ...  // "8 tasks need room on 3 nodes, ..."
 *     l.rank[5]; l.local[5];                     // where task 5 goes
 *     layout_release (&l);
 *
 * How many tasks a rank gets is the same for block, cyclic and plane: they are dealt one a
 * rank in turn, as long as a rank has room (-N3 -n8 with room for 4 each: 3, 3, 2). The
 * kinds differ in which tasks these are, as in srun(1): block, consecutive ones; cyclic,
 * as they were dealt; plane, blocks of a size in turn. Packed, block gives every rank one
 * and then fills rank by rank.
 *
 * Pure: no input or output. Time and memory grow with tasks and ranks only.
 */
#ifndef FLUXQ_SHELL_LAYOUT_H
#define FLUXQ_SHELL_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/hostlist.h"
#include "common/taskmap.h"

#define LAYOUT_PLANE_MAX TASKMAP_TASKS_MAX

enum layout_kind {
    LAYOUT_DEFAULT, /* block for more tasks than ranks, else cyclic */
    LAYOUT_BLOCK,
    LAYOUT_CYCLIC,
    LAYOUT_PLANE,
    LAYOUT_ARBITRARY, /* the rank of each task is given */
    LAYOUT_MAP,       /* so it is, as a task map (RFC 34) */
};

/* How the cores of a rank are given to its tasks, see cpubind.h. */
enum layout_order {
    LAYOUT_ORDER_DEFAULT, /* cyclic */
    LAYOUT_ORDER_BLOCK,
    LAYOUT_ORDER_CYCLIC,
    LAYOUT_ORDER_FCYCLIC,
};

struct layout_option {
    enum layout_kind kind; /* never LAYOUT_MAP */
    uint32_t plane;        /* of LAYOUT_PLANE, from 1 to LAYOUT_PLANE_MAX, else 0 */
    enum layout_order order;
    bool pack; /* with LAYOUT_BLOCK only */
};

/* The value of -m, --distribution: NODES[:SOCKETS[:CORES]][,Pack|NoPack] with any case;
 * NODES is *, block, cyclic, plane=SIZE or arbitrary, SOCKETS is *, block, cyclic or
 * fcyclic. CORES would tell threads of a core apart, but tasks get whole cores: refused
 * unless it is * or says what SOCKETS says. 0 or -EINVAL, -ERANGE (a plane's size) with
 * "--distribution" in the error. */
int layout_option_parse (const char *text, struct layout_option *ret, struct error *err);

struct layout_request {
    uint32_t nranks;      /* from 1 to TASKMAP_RANKS_MAX */
    const uint32_t *room; /* [nranks] tasks that a rank has cores for */
    uint32_t ntasks;      /* from 1 to TASKMAP_TASKS_MAX */
    uint32_t per_rank;    /* most tasks of a rank, also with overcommit; 0: any */
    enum layout_kind kind;
    bool pack;
    uint32_t plane;            /* LAYOUT_PLANE: >= 1 */
    const uint32_t *arbitrary; /* LAYOUT_ARBITRARY: [ntasks] the rank of each task */
    const char *taskmap;       /* LAYOUT_MAP: any form that taskmap_decode() knows */
    bool overcommit;           /* when all room is taken, go on in turn */
};

struct layout {
    uint32_t ntasks;
    uint32_t *rank;             /* [ntasks] */
    uint32_t *local;            /* [ntasks] number of the task on its rank */
    struct taskmap_index index; /* tasks of each rank */
};

/* 0; -ENOSPC: not enough room; -EINVAL: numbers that are not possible, a rank that is not
 * there, a task map that does not fit; -ERANGE and -ENOMEM. l is filled with 0 only. */
int layout_make (const struct layout_request *req, struct layout *l, struct error *err);
void layout_release (struct layout *l);
/* How many tasks a rank has. */
uint32_t layout_count (const struct layout *l, uint32_t rank);

/* The text of a host file (SLURM_HOSTFILE), for LAYOUT_ARBITRARY: names and host lists
 * (RFC 29) by lines or commas, one a task in order, '#' begins a comment. nodes: the
 * names of the ranks. *ret gets ntasks ranks, for the caller to free; what is left over in
 * the file is not used. 0; -EINVAL: a name that is not of nodes or no list (the line is in
 * the error), less than ntasks names; -ENOMEM. */
int layout_read_hosts (const char *text, const struct hostlist *nodes, uint32_t ntasks,
                       uint32_t **ret, struct error *err);

#endif
