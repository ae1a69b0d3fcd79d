/* bcast.h - fluxq-bcast, also as sbcast: copies a file to all nodes of the job
 *
 *     fluxq-bcast FILE DEST    a step with one task on each node, which reads the file
 *                              and then its SHA-256 from standard input (bcast.c)
 *     fluxq-shell --receive    that task: writes beside DEST, checks, renames (receive.c)
 *
 * So the bytes go once through the tree of agents, at the speed of the slowest node.
 */
#pragma once

#include "common/error.h"
#include "protocol/step_client.h"

#define BCAST_PROGRAM BCAST_CLIENT
/* The name that srun --bcast gives to the program in a directory: of job, step and, after
 * this, the node. */
#define BCAST_NAME "slurm_bcast_%s.%s_"

/* name: BCAST_PROGRAM, or SBCAST_CLIENT with its options and words. */
int bcast_main (const char *name, int argc, char **argv);

struct run_options;

struct bcast_copy {
    const char *file;
    const char *dest; /* absolute; ends in '/': as in struct receive */
    bool force, preserve;
};

/* Opens the file, and fills in the step that copies it, with one task on each node. 0 or
 * negative errno; the caller releases *o in any case. */
int bcast_fill (struct run_options *o, const struct bcast_copy *copy, struct error *err);

struct receive {
    /* Absolute. A directory, if it ends in '/': the file gets a name of the step and the
     * node, BCAST_NAME. */
    const char *dest;
    uint64_t size;    /* bytes of the file */
    uint32_t mode;
    int64_t mtime; /* unix seconds, -1: now */
    bool force;    /* replace an existing file */
};

/* Reads the file from standard input. 0 or negative errno; DEST is complete or
 * unchanged. */
int receive_file (const struct receive *r, struct error *err);
