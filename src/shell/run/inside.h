/* inside.h - a command of Slurm's that the broker runs for its job
 *
 *     squeue --me      in a pod: the broker runs squeue as the job's user; what the command
 *                      writes, and its exit status, are those of this program
 *
 * The messages are those of protocol/inside.h. Files that the command names are read here,
 * and standard input only when the command asks for it.
 */
#pragma once

/* name: of the command. Returns its exit status. */
int inside_client_main (const char *name, int argc, char **argv);
