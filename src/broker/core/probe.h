/* probe.h - whether this machine has what a start of a job needs
 *
 * Thread: any; the broker calls it on a worker thread, as it writes to disks.
 */
#pragma once

#define PROBE_INODES 64 /* that a file system must have for users */

/* Takes file descriptors, a thread, memory, and room in both directories, and gives all
 * back. 0, or the errno (> 0) of what is short. */
int probe_start (const char *state_dir, const char *jobs_dir);
