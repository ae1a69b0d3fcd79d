/* cpubind.h - which cores of its node a task of a step is bound to, as --cpu-bind of srun(1)
 *
 *     struct cpubind bind;
 *     if (cpubind_parse ("verbose,map_cpu:0,2", &bind, &err) < 0) ...
 *     struct cpubind_node node = { .cores = cores, .ntasks = 4, .cores_per_task = 2 };
 *     struct idset *set;
 *     if (cpubind_cores (&bind, &node, local, &set, &err) < 0) ...
 *     if (set && cpubind_apply (set, allowed) == 0) // nothing of it is there: not bound
 *     idset_destroy (set);
 *     cpubind_release (&bind);
 *
 * Numbers are those of the node's cores, as in the job's allocation. Two files: what is
 * worked out (cpubind.c) has no input or output; what touches the machine is cpubind_os.c.
 *
 * How `cores` deals them, unless there are too few, when every task gets all: block gives
 * each task the next ones; cyclic begins on the next socket for each task and stays there
 * if it can; fcyclic takes each core from the next socket. A node whose sockets are not
 * known counts as one.
 */
#ifndef FLUXQ_SHELL_CPUBIND_H
#define FLUXQ_SHELL_CPUBIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/idset.h"
#include "shell/layout.h"

#define CPUBIND_CORES_MAX 8192 /* numbers are less than this */
#define CPUBIND_LIST_MAX 4096  /* elements of a list of cores or masks */

enum cpubind_kind {
    CPUBIND_AUTO, /* cores if the tasks use up all of them, else none */
    CPUBIND_NONE,
    CPUBIND_CORES,   /* as many as a task has */
    CPUBIND_SOCKETS, /* all of the job's on the sockets of those */
    CPUBIND_RANK,    /* the n-th core of the job for the n-th task of the node */
    CPUBIND_LIST,    /* map_cpu, mask_cpu */
};

struct cpubind_element {
    struct idset *cores; /* owned */
    uint32_t repeat;     /* for so many tasks one after the other, >= 1 */
};

struct cpubind {
    enum cpubind_kind kind;
    bool verbose;
    struct cpubind_element *list; /* CPUBIND_LIST; begins again when it is used up */
    size_t n;
    uint32_t total; /* of all repeats */
};

/* [quiet|verbose,]TYPE, any case, or one of the two alone (CPUBIND_AUTO). TYPE: none, cores,
 * sockets, rank, map_cpu:LIST of core numbers (0x for hexadecimal), mask_cpu:LIST of
 * hexadecimal masks; an element of a list may end in *COUNT. 0; -EINVAL, -ERANGE, -ENOMEM
 * with "--cpu-bind" in the error. */
int cpubind_parse (const char *text, struct cpubind *ret, struct error *err);
void cpubind_release (struct cpubind *bind);

struct cpubind_node {
    const struct idset *cores; /* of the job, each less than CPUBIND_CORES_MAX */
    struct idset **sockets;    /* [nsockets] the node's cores by socket, if known */
    size_t nsockets;
    uint32_t ntasks; /* on this node, >= 1 */
    uint32_t cores_per_task;
    enum layout_order order;
};

/* The cores of the local-th task (less than ntasks): 0 and *ret, for the caller to destroy,
 * NULL when the task is not to be bound. -EINVAL: a list names a core that is not of the
 * job, or the sockets are wanted and not known; -ENOMEM. */
int cpubind_cores (const struct cpubind *bind, const struct cpubind_node *node,
                   uint32_t local, struct idset **ret, struct error *err);

/* The CPUs that this process may use now; NULL and err. Ask before anything is bound. */
struct idset *cpubind_allowed (struct error *err);

/* Bind this thread, and what it starts, to those of the cores that are allowed. How many
 * they are; 0: none is (a node of a simulation, a container with CPUs of its own), and
 * nothing is bound; negative errno of sched_setaffinity(). Allocates nothing. */
int cpubind_apply (const struct idset *cores, const struct idset *allowed);

struct cpubind_sockets {
    struct idset **list;
    size_t n; /* 0: not known */
};

/* The sockets of these cores, as the kernel tells them in dir, "/sys/devices/system/cpu".
 * 0, also when a core has none there (then n is 0), or -ENOMEM. */
int cpubind_read_sockets (const char *dir, const struct idset *cores,
                          struct cpubind_sockets *ret);
void cpubind_sockets_release (struct cpubind_sockets *s);

#endif
