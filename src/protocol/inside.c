/* inside.c - the names of Slurm's commands inside a job, see inside.h */
#include "protocol/inside.h"

#include <stddef.h>

const char *const inside_clients[] = { "scontrol", "srun", NULL };
