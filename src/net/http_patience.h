/* http_patience.h - how long a client waits for a broker that is away (for http_client.c)
 *
 *     struct http_wait w;
 *     http_wait_init (&w, &patience, interrupt);
 *     while ((rc = try ()) < 0 && may_succeed_soon (rc))
 *         if (http_wait (&w, 0, err.text) < 0)    // sleeps
 *             break;
 *
 * The pauses double from 50 ms to 1 s. The user gets one message for each wait, after
 * HTTP_TELL_SECONDS.
 */
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "net/http_client.h"

#define HTTP_TELL_SECONDS 2.0

struct http_wait {
    const struct http_patience *patience;
    const volatile sig_atomic_t *interrupt; /* or NULL */
    double began;                           /* clock_mono(); 0: no failure yet */
    double pause;
    bool told;
};

void http_wait_init (struct http_wait *w, const struct http_patience *patience,
                     const volatile sig_atomic_t *interrupt);
/* Sleeps until the next attempt, at least `least` seconds: 0, -ETIMEDOUT when the time is
 * over, -EINTR when *interrupt is set. why: the failure, for the user. */
int http_wait (struct http_wait *w, double least, const char *why);
/* poll(2) of one descriptor (fd -1: only waits). With `interrupt`, signals are blocked
 * except during the wait, so that none arrives between the check of the flag and the
 * wait; -1 and EINTR when the flag is set. */
int http_poll (struct pollfd *p, int timeout_ms, const volatile sig_atomic_t *interrupt);
