/* reap.h - the next dead child, with what it used
 *
 *     reap_init ();
 *     while ((pid = reap_next (&dead)) > 0) ...
 *
 * Processor time and memory are those of wait4(2): of the child and of those that it waited
 * for itself (of the memory: the largest process among them). Bytes read and written are
 * those by which our own, in /proc/self/io, grow when the child is waited for: the kernel adds
 * them there, with those of the children that it waited for. (Its own /proc/PID/io belongs to
 * root once it is dead.) Where the kernel keeps no such file they are unknown. Not for more
 * than one thread.
 */
#ifndef FLUXQ_SHELL_REAP_H
#define FLUXQ_SHELL_REAP_H

#include <stddef.h>
#include <sys/types.h>

#include "common/stepuse.h"

struct reaped {
    pid_t pid;
    pid_t session; /* 0: not known */
    int status;    /* wait status */
    struct use use;
};

/* Before there is a secret in the memory: it is made dumpable for a moment, and then is not. */
void reap_init (void);
/* > 0: its pid; 0: children live, none is dead; -ECHILD: there are none. */
pid_t reap_next (struct reaped *ret);
/* The figures of /proc/PID/io. */
void reap_parse_io (const char *text, struct use *use);

#endif
