/* hostnames.h - scontrol show hostnames: the names in a list of hosts, one a line
 *
 *     scontrol show hostnames              the nodes of the job: $SLURM_JOB_NODELIST
 *     scontrol show hostnames n[1-3],m7
 *
 * The agent answers this itself, because many scripts ask for it before anything else, and
 * nothing but the list is needed. The words are those of src/cmd/slurm/control.
 */
#pragma once

#include <stdbool.h>

#define SCONTROL_CLIENT "scontrol"

/* Whether the words are "show hostnames" with at most one list. */
bool hostnames_asked (int argc, char **argv);
/* Prints the names. Returns the exit status. */
int hostnames_main (int argc, char **argv);
