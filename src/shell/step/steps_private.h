/* steps_private.h - a step on rank 0: steps.c (its course), placement.c (its cores),
 * steps_nodes.c (reports of its nodes), step_input.c (its standard input), keepalive.c (an
 * allocation that a client keeps), steps_resize.c (nodes added and removed) */
#pragma once

#include "common/idset.h"
#include "protocol/stepuse.h"
#include "shell/step/layout.h"
#include "shell/step/step_spec.h"
#include "shell/step/steps.h"

enum step_state { STEP_READING, STEP_WAITING, STEP_RUNNING };

struct step_node {
    uint32_t rank;       /* rank in the job */
    uint32_t left;       /* tasks that have not ended */
    struct idset *cores; /* cores that its tasks may use */
    bool holds;          /* no other step may use these cores */
    uint64_t taken;      /* bytes of input that the node has taken */
    struct strbuf puts;  /* pairs for the KVS, in this exchange */
    bool has_put;
    bool was_asked; /* other nodes have sent it WIRE_STEP_SEND */
    bool has_told; /* the node has reported what its tasks used */
};

struct step_flow {  /* flow of standard input */
    uint64_t fed;   /* bytes received from the client */
    uint64_t taken; /* bytes reported to the client as taken */
    uint32_t *open; /* STEP_INPUT_EACH: [ntasks] bytes that the task has not taken yet */
};

struct step_sample { /* of the last round, see steps_sample.c */
    struct stepuse use;
    uint32_t expected, reported; /* ranks */
};

struct step {
    struct step *next;
    enum step_state state;
    uint32_t client_rank, client;
    bool client_gone;
    struct strbuf text; /* request text so far, in STEP_READING */
    struct step_spec spec;
    struct layout layout;
    struct step_node *nodes;
    uint32_t nnodes, nbusy; /* nbusy: nodes with running tasks */
    uint32_t left;          /* tasks that have not ended */
    int status;             /* worst wait status */
    struct stepuse use;     /* counted from its start */
    struct step_sample sample;
    char why[256];          /* why it ended early */
    struct step_flow input;
    uint32_t nputs;
    bool put_lacks; /* a task has ended without MPI_Init: no exchange can complete */
    double end_at;  /* time at which --wait ends, 0: never */
    double kill_at; /* time of the next SIGKILL, 0: not being stopped */
};

struct place { /* cores of one rank of the job */
    struct idset *cores, *free;
    uint32_t ncores, nfree;
};

struct keepalive_client {
    bool here;
    uint32_t rank, number;
};

struct keepalive {
    struct keepalive_client keeper; /* on the login node */
    struct keepalive_client waiter; /* the job's own task */
    bool over;
    uint32_t grace; /* seconds that the job outlives the keeper's connection */
    double over_at; /* time at which the job ends; 0: not set */
    int status;     /* wait status, when over */
    const char *why;
};

struct steps {
    struct loop *loop;
    const struct launch *launch;
    steps_send_fn send;
    steps_record_fn record; /* or NULL */
    void *ctx;
    struct step *first; /* in the order of their requests */
    uint32_t n;
    uint32_t next_id;
    bool closed;
    struct place *places; /* [nplaces] by rank */
    uint32_t nplaces;     /* in a malleable job: for the most nodes that it may have */
    struct loop_timer timer;
    struct keepalive keepalive;
    struct step_sample own; /* of the job's own tasks */
    uint8_t round;          /* of samples */
    double sampled_at;      /* time at which the round began, 0: never */
};

/* -- placement.c -- */

/* Sets up the cores of each rank. 0 or -ENOMEM. */
int placement_create (struct steps *steps);
void placement_destroy (struct steps *steps);
/* The rank has another node now, and all of it is free. 0 or -ENOMEM. */
int placement_renew (struct steps *steps, uint32_t rank);
/* Chooses nodes and cores for the step and takes them. Sets ranks, taskmap and cores of
 * the spec. 1: taken; 0: no room now; -EINVAL, -ENOSPC, ...: never possible, with the
 * reason. */
int placement_take (struct steps *steps, struct step *step, struct error *err);
/* Frees the cores of a node whose tasks have ended. */
void placement_give (struct steps *steps, struct step_node *node);

/* -- step_input.c -- */

/* Checks that the task that reads standard input exists; -EINVAL. */
int stepinput_check (const struct step_spec *spec, struct error *err);
/* Passes a WIRE_RUN_INPUT on to the tasks. -ENOBUFS: more bytes than the window
 * allows. */
int stepinput_pass (struct steps *steps, struct step *step, const struct frame *msg);
/* Handles a WIRE_STEP_TAKEN of a node. False: the message is invalid. */
bool stepinput_taken (struct steps *steps, struct step *step, struct step_node *node,
                      const struct frame *msg);
/* All tasks of a node have ended, so the node reads no more input. */
void stepinput_node_ended (struct steps *steps, struct step *step);

/* -- keepalive.c -- */

/* Handle a WIRE_RUN_KEEPALIVE, a client whose connection is gone, and the passing of
 * time. */
void keepalive_message (struct steps *steps, uint32_t rank, const struct frame *msg);
void keepalive_gone (struct steps *steps, uint32_t rank, uint32_t number);
void keepalive_time (struct steps *steps, double now);
/* Sends a line for the user to the client that keeps the allocation. */
void keepalive_note (struct steps *steps, const char *text);

/* -- steps_sample.c -- */

/* Handles a WIRE_STEP_SAMPLED of a rank. False: the message is invalid. */
bool steps_sampled (const struct steps *steps, struct step_sample *sample, uint32_t rank,
                    const struct frame *msg);

/* -- mpi_kind.c -- */

/* Without --mpi: a program that finds its other tasks by PMIx gets PMIx, or the client a
 * note that this is not possible. */
void steps_choose_mpi (struct steps *steps, struct step *step);

/* -- steps_nodes.c -- */

/* Handles a message of a rank about a running step. False: the message is invalid. The
 * step may be freed. */
bool steps_node_message (struct steps *steps, struct step *step, uint32_t rank,
                         const struct frame *msg);
/* The tasks of a node (left > 0) end without a report, with this wait status: stops the
 * tasks on other nodes. The step may be freed. */
void steps_lose_node (struct steps *steps, struct step *step, struct step_node *node,
                      int status, const char *why);
/* Whether the task runs on this node. */
bool step_has_task (const struct step *step, const struct step_node *node, uint32_t task);

/* -- steps.c -- */

/* Sends SIGTERM now, and SIGKILL after the job's grace. */
void steps_stop (struct steps *steps, struct step *step, const char *why);
/* All tasks of the step have ended: writes its record and removes the step. */
void steps_end (struct steps *steps, struct step *step);
/* Starts waiting steps as far as there is room. */
void steps_start_waiting (struct steps *steps);

void steps_to_client (const struct step *step, struct steps *steps, uint8_t type,
                      uint8_t stream, const void *data, size_t len);
/* node: the number of the node in the step. */
void steps_to_node (const struct step *step, struct steps *steps, uint32_t node,
                    uint8_t type, const void *data, size_t len);
/* Sends to the nodes on which tasks still run. */
void steps_to_nodes (const struct step *step, struct steps *steps, uint8_t type,
                     const void *data, size_t len);
/* Sends once down the tree if most ranks are concerned, else to each node. */
void steps_blob_to_nodes (struct step *step, struct steps *steps, uint8_t type,
                          const struct strbuf *text);
/* Arms the timer for the earliest time that a step or the hold waits for. */
void steps_set_timer (struct steps *steps);
