/* pmi.h - the process management interface of MPI programs (PMI-1 and PMI-2), server side
 *
 * The folder pmi/ has the two versions of the protocol and the store of keys and values
 * behind them. The folder may use io/wire.h for numbers. Bytes of tasks come in; replies
 * and the pairs to exchange go out through struct pmi_events.
 *
 *     struct pmi *pmi = pmi_create (&config, &events, agent, &err); // for tasks here
 *     pmi_environment (&config, local, fd, set_variable, list);     // PMI_FD=...
 *     if (pmi_receive (pmi, local, bytes, n, &err) < 0)             // from its socket
 *         ... log err, close the socket ...
 *     pmi_exchanged (pmi, all, len, &err);                          // what all ranks put
 *     pmi_destroy (pmi);
 *
 * A task inherits one end of a stream socket; PMI_FD holds its number. From the other end
 * the task learns its rank. It puts the address at which it can be reached into a store
 * of keys and values (KVS), enters a fence with all tasks of the step, and gets the
 * addresses of the other tasks.
 *
 *     task            this module, on each rank         the agent
 *     put       -->   kept, marked as changed
 *     fence     -->   ... until all tasks here are in
 *                     exchange (what changed)     -->   concatenates what all ranks gave,
 *                     pmi_exchanged (all)         <--   the same everywhere, to all ranks
 *     reply     <--   all put in order
 *
 * Pure: no input or output, no clock; it calls the functions of struct pmi_events. These
 * must not call back, except that exchange() may call pmi_exchanged() at once. The bytes
 * of a task may arrive in pieces of any size and are not trusted: a command has at most
 * PMI_COMMAND_MAX bytes, the KVS of a step at most PMI_KVS_MAX. PMI-1 and PMI-2 tasks may
 * share one step and its KVS. A request that cannot be served gets an error reply. The
 * caller closes the connection if even a reply is impossible (bad framing, an unknown
 * PMI-1 command, a second fence within a fence). A task may send many requests without
 * reading the replies: the caller stops reading from a task while replies to it wait.
 *
 * Not served: publishing names, spawning and joining jobs (error replies); PMI-1.2
 * (groups in barriers): the server announces 1.1; Slurm's "ring".
 *
 * Memory: each rank of a step holds its whole KVS and one incomplete command for each
 * task. Time: O(1) amortized for a command; a fence takes time for the bytes that it
 * carries and for the number of pairs. One thread.
 *
 * Sources: MPICH, doc/wiki/design/PMI_v2_Wire_Protocol.md, src/pmi/maint/pmi-1.1.txt and
 * pmi-2.0.txt, src/util/mpir_nodemap.h of 4.0.2 (meaning of PMI_process_mapping),
 * src/pm/util/pmiserv.c (getbyidx, create_kvs); flux-core,
 * src/common/libpmi/simple_server.c, and Flux RFC 13 (PMI-1); Slurm, src/plugins/mpi/pmi2
 * and contribs/pmi2 (PMI-2 and its client).
 */
#pragma once

#include "common/error.h"

#define PMI_NAME_MAX 63 /* bytes of a job's id, which names the KVS */
#define PMI_KVS_MAX (64 << 20)      /* bytes that all tasks of a step may put */
#define PMI_ATTRS_MAX (1024 * 1024) /* bytes of all node attributes, on each rank */
#define PMI_LINE_MAX 4096           /* bytes of a line, PMI-1, with its newline */
#define PMI_COMMAND_MAX (64 * 1024) /* bytes of a command, PMI-2, without its length */
#define PMI_WAITS_MAX 64            /* node attributes that one task may wait for */
#define PMI_MAPPING_MAX 800    /* bytes of PMI_process_mapping: fits in MPICH's line */
#define PMI_ABORT_TEXT_MAX 256 /* bytes of the text of an abort, with NUL */

struct pmi_config {
    const char *jobid;       /* name of the KVS, "12.0": letters, digits, '.', '_', '-' */
    uint32_t ntasks;         /* tasks of the step on all ranks; > 0 */
    uint32_t nlocal;         /* tasks on this rank; > 0, others take no part */
    const uint32_t *global;  /* [nlocal] number of each in the step, < ntasks */
    const uint32_t *node_of; /* [ntasks] node on which each task runs, < nnodes */
    uint32_t nnodes;
};

struct pmi_events {
    /* Sends these bytes to a task. They are valid only during the call. */
    void (*send) (void *ctx, uint32_t local, const char *data, size_t len);
    /* All tasks of this rank are in the fence. data: the pairs that they put since the
     * last fence, possibly none. The caller concatenates the data of all ranks that have
     * tasks of the step, in one order, and gives the result to pmi_exchanged() on all of
     * them. */
    void (*exchange) (void *ctx, const char *data, size_t len);
    /* The task asks to end the step with this exit status (1 to 255); text is for people
     * and has no control characters. Also called when the agent has no memory for a
     * fence. At most once for each task. */
    void (*aborted) (void *ctx, uint32_t local, int status, const char *text);
};

struct pmi;

/* Copies what it needs of config and events. NULL and err: EINVAL, config is wrong, and
 * how; ENOMEM. */
struct pmi *pmi_create (const struct pmi_config *config, const struct pmi_events *events,
                        void *ctx, struct error *err);
void pmi_destroy (struct pmi *pmi);

/* Handles bytes from the socket of the task with the number local, < nlocal. -EPROTO: the
 * task does not speak PMI, err says what it sent; -ENOMEM; -EPIPE: already closed. After
 * an error the task counts as closed, as by pmi_closed(), and the caller closes its
 * socket. */
int pmi_receive (struct pmi *pmi, uint32_t local, const char *data, size_t len,
                 struct error *err);

/* Completes the fence with the concatenated data of exchange() of all ranks. After an
 * error the tasks of this rank have been told that the fence failed. -EPROTO: invalid
 * data, or no fence waits for it; -ENOSPC: more than PMI_KVS_MAX; -ENOMEM. */
int pmi_exchanged (struct pmi *pmi, const char *data, size_t len, struct error *err);

/* The socket is at its end. A fence that the task has not entered cannot complete any
 * more: tasks that are in it or enter it get an error. */
void pmi_closed (struct pmi *pmi, uint32_t local);

/* The task has initialised and not finalized, even if it is closed. If it exits now, it
 * has failed whatever its exit status. */
bool pmi_is_unfinished (const struct pmi *pmi, uint32_t local);
/* The task has never initialised. Once it exits, other tasks that initialise would wait
 * for it forever. */
bool pmi_is_new (const struct pmi *pmi, uint32_t local);

/* Calls set() with the name and value of each environment variable that clients of both
 * versions need. fd: number of the task's end of the socket, in the task. Stops at the
 * first value of set() that is not 0, and returns it. */
int pmi_environment (const struct pmi_config *config, uint32_t local, int fd,
                     int (*set) (void *ctx, const char *name, const char *value),
                     void *ctx);
