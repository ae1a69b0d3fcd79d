/* bcast.h - fluxq-bcast: a file to all nodes of the job
 *
 *     fluxq-bcast FILE DEST    a step with one task on each node, whose standard input is the
 *                              file and, behind it, its SHA-256 (bcast.c)
 *     fluxq-shell --receive    that task: writes beside DEST, compares, renames (receive.c)
 *
 * So the bytes go once through the agents' tree, and as fast as the slowest node takes them.
 */
#ifndef FLUXQ_SHELL_BCAST_H
#define FLUXQ_SHELL_BCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/step_client.h"

#define BCAST_PROGRAM BCAST_CLIENT

int bcast_main (int argc, char **argv);

struct receive {
    const char *dest; /* absolute */
    uint64_t size;    /* bytes of the file */
    uint32_t mode;
    int64_t mtime; /* unix seconds, -1: now */
    bool force;    /* replace what is there */
};

/* From standard input. 0 or negative errno; DEST is whole, or as it was. */
int receive_file (const struct receive *r, struct error *err);

#endif
