/* watch.h - the broker's stream of changes, as something to wait for
 *
 *     struct watch w;
 *     if (watch_start (&w, c, "/v1/watch?user=me") != CMD_OK) return c->status;
 *     while (watch_next (&w, 0.5, 0) == CMD_OK)
 *         ...                                    // something has changed
 *     watch_stop (&w);
 *
 * The client library blocks until bytes come, so a child process reads the stream and
 * writes a byte into a pipe for each piece; the command waits with a time limit, and
 * ctrl-C ends that at once.
 */
#ifndef FLUXQ_CMD_WATCH_H
#define FLUXQ_CMD_WATCH_H

#include <sys/types.h>

#include "cmd/command.h"

struct watch {
    struct cmd *c;
    char *target;
    pid_t pid;
    int fd;
    double last; /* clock_mono() of the latest return of watch_next() */
};

/* Interrupts must be caught (cmd_catch_interrupts). */
int watch_start (struct watch *w, struct cmd *c, const char *target);
/* Wait for a change, but return at the earliest `least` seconds after the last time,
 * and after `most` seconds (0: no limit) in any case. CMD_OK, CMD_INTERRUPTED or
 * another status after a message. A stream that breaks is opened again. */
int watch_next (struct watch *w, double least, double most);
void watch_stop (struct watch *w);

#endif
