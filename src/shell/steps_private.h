/* steps_private.h - a step as rank 0 has it: steps.c (its course), places.c (its cores),
 * stepinput.c (its standard input), hold.c (an allocation that a client holds), stepsresize.c
 * (nodes that come and go) */
#ifndef FLUXQ_SHELL_STEPS_PRIVATE_H
#define FLUXQ_SHELL_STEPS_PRIVATE_H

#include "common/idset.h"
#include "common/stepuse.h"
#include "shell/layout.h"
#include "shell/steps.h"
#include "shell/stepspec.h"

enum step_state { STEP_READING, STEP_WAITING, STEP_RUNNING };

struct step_node {
    uint32_t rank;       /* of the job */
    uint32_t left;       /* tasks that have not ended */
    struct idset *cores; /* that its tasks may use */
    uint64_t taken;      /* bytes of input */
    struct strbuf puts;  /* for the KVS, in this exchange */
    bool has_put;
    bool has_told; /* what it used */
};

struct step_flow {  /* of standard input */
    uint64_t fed;   /* bytes from the client */
    uint64_t taken; /* of them told to be taken */
    uint32_t *open; /* STEP_INPUT_EACH: [ntasks] bytes that the task has not taken */
};

struct step {
    struct step *next;
    enum step_state state;
    uint32_t client_rank, client;
    bool client_gone;
    struct strbuf text; /* READING */
    struct step_spec spec;
    struct layout layout;
    struct step_node *nodes;
    uint32_t nnodes, nbusy; /* nbusy: with tasks */
    bool holds;             /* its nodes' cores are its own */
    uint32_t left;          /* tasks */
    int status;             /* worst wait status */
    struct stepuse use;     /* from its start on */
    char why[256];          /* it ended early */
    struct step_flow input;
    uint32_t nputs;
    bool put_lacks; /* some node can never put */
    double end_at;  /* --wait is over, 0: never */
    double kill_at; /* SIGTERM did not do, 0: it was not sent */
};

struct place { /* a rank of the job */
    struct idset *cores, *free;
    uint32_t ncores, nfree;
};

struct hold_client {
    bool here;
    uint32_t rank, number;
};

struct hold {
    struct hold_client keeper; /* on the login node */
    struct hold_client waiter; /* the job's own task, which ends when all is over */
    bool over;
    uint32_t grace; /* seconds that it outlives the keeper's connection */
    double over_at; /* 0: the keeper is here, or nobody waits */
    int status;     /* when over; of wait */
    const char *why;
};

struct steps {
    struct loop *loop;
    const struct launch *launch;
    steps_send_fn send;
    steps_record_fn record; /* or NULL */
    void *ctx;
    struct step *first; /* in the order of their coming */
    uint32_t n;
    uint32_t next_id;
    bool closed;
    struct place *places; /* by rank; */
    uint32_t nplaces;     /* of a malleable job as many as it may have */
    struct loop_timer timer;
    struct hold hold;
};

/* -- places.c -- */

/* The cores of each rank. 0 or -ENOMEM. */
int places_create (struct steps *steps);
void places_destroy (struct steps *steps);
/* The rank's node is another one now, all of it free. 0 or -ENOMEM. */
int places_renew (struct steps *steps, uint32_t rank);
/* Choose nodes and cores and take them: 1; 0: not now; -EINVAL, -ENOSPC, ...: never, with
 * the reason. The spec's ranks, taskmap and cores are set. */
int places_take (struct steps *steps, struct step *step, struct error *err);
/* A node's tasks have ended. */
void places_give (struct steps *steps, struct step *step, struct step_node *node);

/* -- stepinput.c -- */

/* Whether the tasks that are to read are there; -EINVAL. */
int stepinput_check (const struct step_spec *spec, struct error *err);
/* A WIRE_RUN_INPUT on its way to the tasks. -ENOBUFS: more than was taken. */
int stepinput_pass (struct steps *steps, struct step *step, const struct frame *msg);
/* A WIRE_STEP_TAKEN of a node; false: nonsense. */
bool stepinput_taken (struct steps *steps, struct step *step, struct step_node *node,
                      const struct frame *msg);
/* All tasks of a node have ended, so it reads no more. */
void stepinput_node_ended (struct steps *steps, struct step *step);
void stepinput_release (struct step_flow *flow);

/* -- hold.c -- */

/* A WIRE_RUN_HOLD; a client that is gone; the time. */
void hold_message (struct steps *steps, uint32_t rank, const struct frame *msg);
void hold_gone (struct steps *steps, uint32_t rank, uint32_t number);
void hold_time (struct steps *steps, double now);
/* A line for the user of the allocation. */
void hold_note (struct steps *steps, const char *text);

/* -- steps.c -- */

/* SIGTERM now, SIGKILL after the job's grace. */
void steps_stop (struct steps *steps, struct step *step, const char *why);
/* All its tasks have ended: the record, and the end. */
void steps_end (struct steps *steps, struct step *step);
/* Those that wait begin, as far as there is room. */
void steps_start_waiting (struct steps *steps);

void steps_to_client (const struct step *step, struct steps *steps, uint8_t type,
                      uint8_t stream, const void *data, size_t len);
/* node: its number among the step's. */
void steps_to_node (const struct step *step, struct steps *steps, uint32_t node,
                    uint8_t type, const void *data, size_t len);
/* To the nodes on which tasks still run. */
void steps_to_nodes (const struct step *step, struct steps *steps, uint8_t type,
                     const void *data, size_t len);
/* The task is one of the node's. */
bool step_has_task (const struct step *step, const struct step_node *node, uint32_t task);
/* Of all that waits for a time. */
void steps_set_timer (struct steps *steps);

#endif
