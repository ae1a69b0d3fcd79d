/* watch.h - waits for changes in the broker's stream
 *
 *     struct watch w;
 *     if (watch_start (&w, c, "/v1/watch?user=me") != CMD_OK) return c->status;
 *     while (watch_next (&w, 0.5, 0) == CMD_OK)
 *         ...                                    // something has changed
 *     watch_stop (&w);
 *
 * The client library blocks until bytes arrive, so a child process reads the stream and
 * writes a byte into a pipe for each piece. The command waits at the pipe with a time
 * limit, and ctrl-C ends the wait at once.
 */
#pragma once

#include <sys/types.h>

#include "cmd/client/command.h"

struct watch {
    struct cmd *c;
    char *target;
    pid_t pid;
    int fd;
    double last; /* clock_mono() of the latest return of watch_next() */
};

/* Call cmd_catch_interrupts() first. */
int watch_start (struct watch *w, struct cmd *c, const char *target);
/* Waits for a change, but returns at least `least` seconds after its last return, and at
 * most `most` seconds after it (0: no limit). CMD_OK, CMD_INTERRUPTED, or another status
 * after a message. Reopens a broken stream. */
int watch_next (struct watch *w, double least, double most);
void watch_stop (struct watch *w);
