/* distribution.h - the option --distribution of srun and fluxq-run: how the tasks of a step
 * are assigned to its nodes
 *
 *     struct layout_option opt;
 *     if (layout_option_parse ("cyclic:block", &opt, &err) < 0) ...
 *
 * shell/step/layout.h assigns the tasks. The forms are those of srun(1); libc only.
 */
#pragma once

#include "common/error.h"
#include "protocol/taskmap.h"

#define LAYOUT_PLANE_MAX TASKMAP_TASKS_MAX

enum layout_kind {
    LAYOUT_DEFAULT, /* block if there are more tasks than ranks, else cyclic */
    LAYOUT_BLOCK,
    LAYOUT_CYCLIC,
    LAYOUT_PLANE,
    LAYOUT_ARBITRARY, /* the rank of each task is given */
    LAYOUT_MAP,       /* the same, as a task map (RFC 34) */
};

/* How the tasks of a rank get its cores, see cpubind.h. */
enum layout_order {
    LAYOUT_ORDER_DEFAULT, /* cyclic */
    LAYOUT_ORDER_BLOCK,
    LAYOUT_ORDER_CYCLIC,
    LAYOUT_ORDER_FCYCLIC,
};

struct layout_option {
    enum layout_kind kind; /* never LAYOUT_MAP */
    uint32_t plane;        /* LAYOUT_PLANE: from 1 to LAYOUT_PLANE_MAX, else 0 */
    enum layout_order order;
    bool pack; /* with LAYOUT_BLOCK only */
};

/* Parses the value of -m, --distribution: NODES[:SOCKETS[:CORES]][,Pack|NoPack] in any
 * case. NODES is *, block, cyclic, plane=SIZE or arbitrary; SOCKETS is *, block, cyclic
 * or fcyclic. CORES would distinguish the threads of a core, but tasks get whole cores,
 * so CORES must be * or equal to SOCKETS. 0 or -EINVAL, -ERANGE (a plane's size) with
 * "--distribution" in the error. */
int layout_option_parse (const char *text, struct layout_option *ret, struct error *err);
