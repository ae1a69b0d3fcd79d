/* reap.h - the next dead child, with what it used
 *
 *     while ((pid = reap_next (&status, &use)) > 0) ...
 *
 * Processor time and memory are those of wait4(2): of the child and of those that it waited
 * for itself (of the memory: the largest process among them). Bytes read and written come
 * from /proc/PID/io, looked at while the child is dead but still there; they hold what was
 * read and written by those that it waited for, too. Where the kernel keeps no such file, or
 * the child ran as somebody else, they are unknown.
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

/* > 0: its pid; 0: children live, none is dead; -ECHILD: there are none. */
pid_t reap_next (struct reaped *ret);
/* The figures of /proc/PID/io. */
void reap_parse_io (const char *text, struct use *use);

#endif
