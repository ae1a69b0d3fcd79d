/* taskmap.h - the rank of each task of a step, as text and back (RFC 34)
 *
 *     uint32_t *ranks, ntasks;
 *     if (taskmap_decode ("[[0,4,1,4]]", 4, &ranks, &ntasks, &err) < 0) ...
 *     // ntasks == 16, ranks[5] == 1: cyclic over four nodes
 *     strbuf_add_taskmap (&sb, ranks, ntasks); // "[[0,4,1,4]]"
 *     free (ranks);
 *
 * In memory a map is an array with the rank of each task. As text it has one of three
 * forms: an array of blocks [nodeid,nnodes,ppn,repeat], each `ppn` tasks on each of
 * `nnodes` nodes from `nodeid` on, `repeat` times; that array in {"version":1,"map":...};
 * or the raw form, the tasks of each node as idsets (RFC 22, without brackets),
 * "0,2;1,3", with an empty idset for a node without tasks. libc only; time and memory
 * grow with the number of tasks.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define TASKMAP_TASKS_MAX (UINT32_C (1) << 22)
#define TASKMAP_RANKS_MAX (UINT32_C (1) << 20)

/* Parse any of the three forms; JSON can have blanks between its tokens. nranks: from 1
 * to TASKMAP_RANKS_MAX. 0: *ret_ranks has *ret_ntasks >= 1 elements, each less than
 * nranks; the caller frees it. -EINVAL: syntax (the error has the byte), or a task is
 * missing or comes twice; -ERANGE: a rank is too large, or there are too many tasks;
 * -ENOMEM. */
int taskmap_decode (const char *text, uint32_t nranks, uint32_t **ret_ranks,
                    uint32_t *ret_ntasks, struct error *err);

/* Append the map as an array of blocks, merged as in the RFC: runs of tasks on one node,
 * then neighbouring nodes with equal runs, then equal blocks. 0 or the strbuf's error.
 * ntasks: >= 1. */
int strbuf_add_taskmap (struct strbuf *sb, const uint32_t *ranks, uint32_t ntasks);

/* The map by rank: the tasks of a rank, in order, are tasks[first[rank]] up to, but not
 * including, tasks[first[rank + 1]]. */
struct taskmap_index {
    uint32_t nranks;
    uint32_t *first; /* [nranks + 1] */
    uint32_t *tasks; /* [ntasks] */
};

/* 0 or -ENOMEM. Every ranks[i] is less than nranks; ntasks: >= 1. O(ntasks + nranks). */
int taskmap_index (struct taskmap_index *x, const uint32_t *ranks, uint32_t ntasks,
                   uint32_t nranks);
void taskmap_index_release (struct taskmap_index *x);
