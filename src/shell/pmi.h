/* pmi.h - what MPI programs ask of who started them: PMI-1 and PMI-2, the server's side
 *
 *     struct pmi *pmi = pmi_create (&config, &events, agent, &err);   // for the tasks here
 *     pmi_environment (&config, local, fd, set_variable, list);       // PMI_FD=..., PMI_RANK=...
 *     if (pmi_receive (pmi, local, bytes, n, &err) < 0)               // from that task's socket
 *         ... log err, close the socket ...
 *     pmi_exchanged (pmi, all, len, &err);                            // what all ranks put
 *     pmi_destroy (pmi);
 *
 * A task inherits one end of a stream socket, by the number in PMI_FD. It learns from the other
 * end who it is, puts the address at which it can be reached into a store of keys and values
 * (KVS), enters a fence with all tasks of the step, and gets the addresses of the others.
 *
 *     task            this module, on each rank          the agent
 *     put       -->   kept, marked as changed
 *     fence     -->   ... until all tasks here are in
 *                     exchange (what changed)      -->   concatenates what all ranks gave,
 *                     pmi_exchanged (all)          <--   the same everywhere, to all ranks
 *     reply     <--   all put in order
 *
 * Pure: no input or output, no clock; it calls the struct pmi_events. Those must not call back,
 * but for exchange(), which may call pmi_exchanged() at once. A task's bytes may come in any
 * pieces; all of them are hostile: a command is at most PMI_COMMAND_MAX long, the KVS of a step
 * PMI_KVS_MAX. Tasks that speak PMI-1 and PMI-2 may be in one step, with one KVS. Everything that
 * cannot be served is answered with an error; for what cannot even be answered (no such framing,
 * an unknown PMI-1 command, a second fence within a fence) the connection is to be closed. A task
 * may have many requests answered without reading one: the caller reads no more from a task
 * while replies to it wait.
 *
 * Not served: publishing names, spawning, joining jobs (error replies); PMI-1.2 (groups in
 * barriers): 1.1 is said to be spoken; Slurm's "ring".
 *
 * Memory: a step's KVS is held by each rank of it, and a task's incomplete command. Time: O(1)
 * amortized a command; a fence what it carries and the number of pairs. One thread.
 *
 * Sources: MPICH, doc/wiki/design/PMI_v2_Wire_Protocol.md, src/pmi/maint/pmi-1.1.txt and
 * pmi-2.0.txt, src/util/mpir_nodemap.h of 4.0.2 (what PMI_process_mapping means),
 * src/pm/util/pmiserv.c (getbyidx, create_kvs); flux-core, src/common/libpmi/simple_server.c, and
 * Flux RFC 13 (PMI-1); Slurm, src/plugins/mpi/pmi2 and contribs/pmi2 (PMI-2 and its client).
 */
#ifndef FLUXQ_SHELL_PMI_H
#define FLUXQ_SHELL_PMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define PMI_NAME_MAX 63 /* bytes of a job's id, that is of the KVS's name */
#define PMI_KVS_MAX                                                                      \
    (64 * 1024 * 1024)              /* bytes of all that the tasks of a step have put */
#define PMI_ATTRS_MAX (1024 * 1024) /* bytes of all node attributes, on each rank */
#define PMI_LINE_MAX 4096           /* bytes of a line, PMI-1, with its newline */
#define PMI_COMMAND_MAX (64 * 1024) /* bytes of a command, PMI-2, without its length */
#define PMI_WAITS_MAX 64            /* node attributes that a task may wait for */
#define PMI_MAPPING_MAX 800    /* bytes of PMI_process_mapping: fits in MPICH's line */
#define PMI_ABORT_TEXT_MAX 256 /* bytes of the text of an abort, with NUL */

struct pmi_config {
    const char *jobid;       /* name of the KVS, "12.0": letters, digits, '.', '_', '-' */
    uint32_t ntasks;         /* of the step, all ranks; > 0 */
    uint32_t nlocal;         /* tasks here; > 0: a rank without tasks takes no part */
    const uint32_t *global;  /* [nlocal] number of each in the step, < ntasks */
    const uint32_t *node_of; /* [ntasks] rank (node) on which each task runs, < nnodes */
    uint32_t nnodes;
};

struct pmi_events {
    /* Send these bytes to a task. They are the callee's only during the call. */
    void (*send) (void *ctx, uint32_t local, const char *data, size_t len);
    /* All tasks here are in the fence; this is what they put since the last one, maybe nothing.
     * To be concatenated with what all the other ranks that have tasks of the step gave, in one
     * order, and to be given to pmi_exchanged() on all. */
    void (*exchange) (void *ctx, const char *data, size_t len);
    /* The task asks to end the step with that exit status (1 to 255) and, for people, this text,
     * which has no control characters; or the agent has no memory for a fence. At most once a
     * task. */
    void (*aborted) (void *ctx, uint32_t local, int status, const char *text);
};

struct pmi;

/* Copies what it needs of config and events. NULL and err: EINVAL, what is wrong with config;
 * ENOMEM. */
struct pmi *pmi_create (const struct pmi_config *config, const struct pmi_events *events,
                        void *ctx, struct error *err);
void pmi_destroy (struct pmi *pmi);

/* Bytes from the socket of the task with that number here, < nlocal. -EPROTO: it does not speak
 * PMI, err says what came; -ENOMEM; -EPIPE: it was closed before. After an error the task is
 * taken for closed, as by pmi_closed(), and its socket is to be closed. */
int pmi_receive (struct pmi *pmi, uint32_t local, const char *data, size_t len,
                 struct error *err);

/* What exchange() of all ranks gave, one behind the other. Completes the fence. After an error
 * the tasks here were told that the fence failed: -EPROTO, that is no such data, or no fence
 * waits for any; -ENOSPC: more than PMI_KVS_MAX; -ENOMEM. */
int pmi_exchanged (struct pmi *pmi, const char *data, size_t len, struct error *err);

/* The socket is at its end. A fence that the task is not in cannot be completed any more: those
 * who are in it or enter it get an error. */
void pmi_closed (struct pmi *pmi, uint32_t local);

/* It has initialised and not finalised (also when it is closed): if it exits now it ended badly,
 * whatever its exit status. */
bool pmi_is_unfinished (const struct pmi *pmi, uint32_t local);
/* It has never initialised: others who do would wait for it for ever once it has exited. */
bool pmi_is_new (const struct pmi *pmi, uint32_t local);

/* Calls set() with the name and value of each variable that clients of both versions want in
 * their environment; fd: number that the task's end of the socket has in the task. Stops at, and
 * returns, the first value of set() that is not 0. */
int pmi_environment (const struct pmi_config *config, uint32_t local, int fd,
                     int (*set) (void *ctx, const char *name, const char *value),
                     void *ctx);

#endif
