/* fluxrun.h - the script that starts a command's tasks in a Flux instance
 *
 *     text = fluxrun_script (&launch, gpus_per_task);
 *     // #!/bin/sh
 *     // exec flux run -N2 -n4 -c1 './solve' 'in.dat'
 *
 * Nodes and tasks are those of the allocation, not of the request: an elastic job that
 * starts with fewer nodes than its largest size has fewer tasks. Each word of the
 * command is quoted, so that the shell changes none.
 * Source: flux-run(1).
 */
#pragma once

#include "protocol/launch.h"

/* l: nodes with their tasks, args, cores_per_task. The caller frees. NULL: no memory. */
char *fluxrun_script (const struct launch *l, uint32_t gpus_per_task);
