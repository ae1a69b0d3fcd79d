/* inside.h - fluxq-inside: runs one of Slurm's commands for a job, on the broker's host
 *
 *     main ("fluxq-inside")  -->  inside_main ()   // started by the broker only
 *
 * The command runs in this process, as it does on the login node. Its standard input,
 * output and error, the files that it names, its environment and directory are those of
 * the client in the job (protocol/inside.h): no file of this host is read or written for
 * it. Its requests go over the connection that the broker gave this process.
 */
#pragma once

#include <stdbool.h>

/* The arguments: none, or the uid and gid that the process is to have. Returns the exit
 * status of the process. */
int inside_main (int argc, char **argv);
/* Whether this process is such a server; then the directory, the host and the niceness of
 * the client. */
bool inside_is_on (void);
const char *inside_directory (void);
const char *inside_host (void);
int inside_nice (void);
