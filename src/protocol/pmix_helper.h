/* pmix_helper.h - the agent and its helper fluxq-pmix, which serves PMIx to the tasks of
 * a step on one node
 *
 * The agent is static and cannot load the PMIx library. With --mpi=pmix the agent starts
 *
 *     fluxq-pmix FD
 *
 * on each node of the step; FD is one end of a stream socket. Both sides send frames with
 * the head of frame.h and the types below:
 *
 *     agent                                    helper
 *     SETUP (pieces)                     -->
 *                                        <--   ENV for each variable of each task
 *                                        <--   READY, or FAILED
 *     (starts the tasks)
 *                                        <--   CONNECTED, FINALIZED, ABORT
 *                                        <--   FENCE (pieces): what the tasks here put
 *     FENCED (pieces): what all put      -->
 *     FROM: bytes of another helper      -->
 *                                        <--   TO: bytes for another helper
 *
 * The end of the socket ends the helper. A side that gets anything else gives up. Neither
 * side trusts the other with a size: a fence has at most PMIX_FENCE_MAX bytes.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define PMIX_HELPER "fluxq-pmix"
#define PMIX_SETUP_MAX (8 * 1024 * 1024) /* bytes */
#define PMIX_FENCE_MAX (64u << 20)
#define PMIX_ENV_MAX 65000 /* bytes of one variable, name and value */
#define PMIX_ENVS_MAX 256  /* variables of one task */

enum pmix_frame {
    PMIX_SETUP = 16, /* a piece of the text of struct pmix_setup; stream 1: the last */
    PMIX_ENV,        /* task: local number; NAME=VALUE */
    PMIX_READY,      /* all clients are registered */
    PMIX_FAILED,     /* why */
    PMIX_CONNECTED,  /* task: local number of a task that has called PMIx_Init */
    PMIX_FINALIZED,  /* ... and PMIx_Finalize */
    PMIX_ABORT,      /* task; u32 exit status, text */
    PMIX_FENCE,      /* a piece of what the tasks of this node put; stream 1: the last */
    PMIX_FENCED,     /* a piece of what the tasks of all nodes put; stream 1: the last */
    PMIX_TO,         /* rank: number of a node in the step; bytes for its helper */
    PMIX_FROM,       /* rank: number of the sending node; no bytes: the node has ended */
};

struct pmix_setup {
    char *nspace;    /* names the step: "fluxq.12.0" */
    char *nodes;     /* names of the step's nodes, separated by commas */
    char *procs;     /* the tasks of each node: "0,1;2,3" */
    uint32_t node;   /* number of this node in the step */
    uint32_t nnodes; /* > 0 */
    uint32_t ntasks; /* of the step, > 0 */
    char *directory; /* for files of the server */
};

/* 0; -EINVAL with the reason (then ret is released), -ENOMEM. */
int pmix_setup_parse (const char *text, size_t len, struct pmix_setup *ret,
                      struct error *err);
/* Appends the text; negative errno. */
int pmix_setup_write (const struct pmix_setup *setup, struct strbuf *sb);
void pmix_setup_release (struct pmix_setup *setup);
