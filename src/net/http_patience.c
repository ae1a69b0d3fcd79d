/* http_patience.c - see http_patience.h */
#include "net/http_patience.h"

#include <time.h>

#include "common/clock.h"
#include "common/parse.h"

#define PAUSE_FIRST 0.05
#define PAUSE_MAX 1.0

int http_poll (struct pollfd *p, int timeout_ms, const volatile sig_atomic_t *interrupt)
{
    const struct timespec timeout = { .tv_sec = timeout_ms / 1000,
                                      .tv_nsec = (long)(timeout_ms % 1000) * 1000000 };
    sigset_t all, before;

    if (!interrupt)
        return poll (p, 1, timeout_ms);
    sigfillset (&all);
    sigprocmask (SIG_BLOCK, &all, &before);
    int n = -1;
    if (*interrupt)
        errno = EINTR;
    else
        n = ppoll (p, 1, timeout_ms < 0 ? NULL : &timeout, &before);
    int saved = errno;
    sigprocmask (SIG_SETMASK, &before, NULL);
    errno = saved;
    return n;
}

void http_wait_init (struct http_wait *w, const struct http_patience *patience,
                     const volatile sig_atomic_t *interrupt)
{
    *w = (struct http_wait){ .patience = patience,
                             .interrupt = interrupt,
                             .pause = PAUSE_FIRST };
}

static void tell (struct http_wait *w, double left, const char *why)
{
    char text[ERROR_TEXT_MAX];
    struct strbuf until = STRBUF_INIT (64);

    w->told = true;
    if (!w->patience->tell)
        return;
    strbuf_add_time (&until, clock_wall () + left);
    snprintf (text, sizeof (text), "waiting for the broker until %s: %s", until.buf,
              why);
    strbuf_release (&until);
    w->patience->tell (text, w->patience->arg);
}

int http_wait (struct http_wait *w, double least, const char *why)
{
    struct pollfd nothing = { .fd = -1 };
    double now = clock_mono ();

    if (w->began == 0)
        w->began = now;
    double left = w->began + w->patience->seconds - now;
    double until_told = w->began + HTTP_TELL_SECONDS - now;
    if (left <= 0)
        return -ETIMEDOUT;
    if (!w->told && until_told <= 0)
        tell (w, left, why);
    double pause = MIN (MAX (w->pause, least), left);
    if (!w->told)
        pause = MIN (pause, until_told + 0.01);
    w->pause = MIN (w->pause * 2, PAUSE_MAX);
    if (http_poll (&nothing, (int)(pause * 1000) + 1, w->interrupt) < 0 && w->interrupt
        && *w->interrupt)
        return -EINTR;
    return 0;
}
