/* reap.h - reaps the next dead child, with its resource usage
 *
 *     reap_init ();
 *     while ((pid = reap_next (&dead)) > 0) ...
 *
 * Processor time and memory come from wait4(2): they include the children that the child
 * itself waited for (memory: the largest process of them). Bytes read and written are the
 * growth of our own figures in /proc/self/io while we wait for the child: the kernel adds
 * the child's figures there, including those of the children that it waited for. (Its own
 * /proc/PID/io belongs to root once it is dead.) The figures are unknown where the kernel
 * has no such file. For a single thread only.
 */
#pragma once

#include <sys/types.h>

#include "protocol/stepuse.h"

struct reaped {
    pid_t pid;
    pid_t session; /* 0: not known */
    int status;    /* wait status */
    struct use use;
};

/* Call before a secret is in memory: makes the process dumpable for a moment, and then
 * not dumpable. */
void reap_init (void);
/* > 0: pid of the child; 0: there are children, but none is dead; -ECHILD: no
 * children. */
pid_t reap_next (struct reaped *ret);
/* Parses the figures of /proc/PID/io. */
void reap_parse_io (const char *text, struct use *use);
