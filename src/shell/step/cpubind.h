/* cpubind.h - binds tasks of a step to cores of a node, as --cpu-bind of srun(1)
 *
 *     struct cpubind bind;
 *     if (cpubind_parse ("verbose,map_cpu:0,2", &bind, &err) < 0) ...
 *     struct cpubind_node node = { .cores = cores, .ntasks = 4, .cores_per_task = 2 };
 *     struct idset *set;
 *     if (cpubind_cores (&bind, &node, local, &set, &err) < 0) ...
 *     if (set && cpubind_apply (set, allowed) == 0) // no such cores: not bound
 *     idset_destroy (set);
 *     cpubind_release (&bind);
 *
 * Numbers are those of the node's cores, as in the job's allocation. cpubind.c computes
 * and has no input or output; cpubind_os.c works on the machine.
 *
 * Orders in which `cores` deals the cores: block gives each task the next ones; cyclic
 * starts on the next socket for each task and stays there if it can; fcyclic takes each
 * core from the next socket. If there are too few cores, every task gets all of them. A
 * node with unknown sockets counts as one socket.
 */
#pragma once

#include "common/idset.h"
#include "shell/step/layout.h"

#define CPUBIND_CORES_MAX 8192 /* core numbers are less than this */
#define CPUBIND_LIST_MAX 4096  /* elements of a list of cores or masks */

enum cpubind_kind {
    CPUBIND_AUTO, /* CORES if the tasks use all cores, else NONE */
    CPUBIND_NONE,
    CPUBIND_CORES,   /* as many cores as a task has */
    CPUBIND_SOCKETS, /* all of the job's cores on the sockets of those cores */
    CPUBIND_RANK,    /* the n-th core of the job for the n-th task on the node */
    CPUBIND_LIST,    /* map_cpu, mask_cpu */
};

struct cpubind_element {
    struct idset *cores; /* owned */
    uint32_t repeat;     /* number of consecutive tasks that it is for, >= 1 */
};

struct cpubind {
    enum cpubind_kind kind;
    bool verbose;
    struct cpubind_element *list; /* CPUBIND_LIST; starts again at its end */
    size_t n;
    uint32_t total; /* sum of all repeats */
};

/* Parses [quiet|verbose,]TYPE in any case, or quiet or verbose alone (CPUBIND_AUTO).
 * TYPE: none, cores, sockets, rank, map_cpu:LIST of core numbers (0x for hexadecimal),
 * mask_cpu:LIST of hexadecimal masks. An element of a list may end in *COUNT. 0; -EINVAL,
 * -ERANGE, -ENOMEM with "--cpu-bind" in the error. */
int cpubind_parse (const char *text, struct cpubind *ret, struct error *err);
void cpubind_release (struct cpubind *bind);

struct cpubind_node {
    const struct idset *cores; /* the job's cores, each less than CPUBIND_CORES_MAX */
    struct idset **sockets;    /* [nsockets] the node's cores by socket, if known */
    size_t nsockets;
    uint32_t ntasks; /* on this node, >= 1 */
    uint32_t cores_per_task;
    enum layout_order order;
};

/* Computes the cores of a task with the number local (< ntasks) on its node. 0 and *ret,
 * which the caller destroys; NULL: the task is not bound. -EINVAL: a list names a core
 * that is not the job's, or unknown sockets are needed; -ENOMEM. */
int cpubind_cores (const struct cpubind *bind, const struct cpubind_node *node,
                   uint32_t local, struct idset **ret, struct error *err);

/* The CPUs that this process may use now; NULL and err. Call before binding anything. */
struct idset *cpubind_allowed (struct error *err);

/* Binds this thread, and the processes that it starts, to the allowed ones of the cores.
 * Returns their number. 0: none is allowed (a simulated node, a container with CPUs of
 * its own), and the thread is not bound; negative errno of sched_setaffinity(). Allocates
 * nothing. */
int cpubind_apply (const struct idset *cores, const struct idset *allowed);

struct cpubind_sockets {
    struct idset **list;
    size_t n; /* 0: not known */
};

/* Reads the sockets of these cores from the kernel's directory dir,
 * "/sys/devices/system/cpu". 0 or -ENOMEM. n is 0 if a core has no socket there. */
int cpubind_read_sockets (const char *dir, const struct idset *cores,
                          struct cpubind_sockets *ret);
void cpubind_sockets_release (struct cpubind_sockets *s);
