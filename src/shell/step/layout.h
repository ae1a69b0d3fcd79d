/* layout.h - assigns the tasks of a step to ranks
 *
 * distribution.h parses the option.
 *
 *     struct layout_option opt;
 *     if (layout_option_parse ("cyclic:block", &opt, &err) < 0) ...
 *     struct layout_request req = { .nranks = 3, .room = room, .ntasks = 8,
 *                                   .kind = opt.kind, .plane = opt.plane };
 *     struct layout l;
 *     if (layout_make (&req, &l, &err) < 0) ...  // "8 tasks need room on 3 nodes, ..."
 *     l.rank[5];                                 // where task 5 goes
 *     layout_release (&l);
 *
 * Block, cyclic and plane give each rank the same number of tasks: one task to each rank
 * in turn, as long as the rank has room (-N3 -n8 with room for 4 each: 3, 3, 2). The
 * kinds differ in which tasks a rank gets, as in srun(1): block, consecutive tasks;
 * cyclic, tasks in turn; plane, blocks of a given size in turn. Packed block gives every
 * rank one task and then fills rank after rank.
 *
 * Pure: no input or output. Time and memory grow with tasks and ranks only.
 */
#pragma once

#include "common/hostlist.h"
#include "protocol/distribution.h"
#include "protocol/taskmap.h"

struct layout_request {
    uint32_t nranks;      /* from 1 to TASKMAP_RANKS_MAX */
    const uint32_t *room; /* [nranks] number of tasks that fit on the cores of the rank */
    uint32_t ntasks;      /* from 1 to TASKMAP_TASKS_MAX */
    uint32_t per_rank;    /* most tasks on a rank, even with overcommit; 0: any */
    enum layout_kind kind;
    bool pack;
    uint32_t plane;            /* LAYOUT_PLANE: >= 1 */
    const uint32_t *arbitrary; /* LAYOUT_ARBITRARY: [ntasks] the rank of each task */
    const char *taskmap;       /* LAYOUT_MAP: any form that taskmap_decode() accepts */
    bool overcommit;           /* without room, go on with one task a rank */
};

struct layout {
    uint32_t ntasks;
    uint32_t *rank;  /* [ntasks] */
    uint32_t *count; /* [nranks] tasks of each rank */
};

/* 0; -ENOSPC: not enough room; -EINVAL: impossible numbers, a rank that does not exist,
 * or a task map that does not fit; -ERANGE and -ENOMEM. Fills l only on success. */
int layout_make (const struct layout_request *req, struct layout *l, struct error *err);
void layout_release (struct layout *l);

/* Reads the text of a host file (SLURM_HOSTFILE) for LAYOUT_ARBITRARY: names and host
 * lists (RFC 29) separated by newlines or commas, one name for each task in order; '#'
 * starts a comment. nodes: the names of the ranks. *ret gets ntasks ranks; the caller
 * frees it. Further names in the file are ignored. 0; -EINVAL: an invalid list, a name
 * that is not in nodes (the error has the line), or fewer than ntasks names; -ENOMEM. */
int layout_read_hosts (const char *text, const struct hostlist *nodes, uint32_t ntasks,
                       uint32_t **ret, struct error *err);
