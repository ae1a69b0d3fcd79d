/* loop.c - the event loop over epoll(7) */
#include "shell/io/loop.h"

#include <sys/epoll.h>
#include <time.h>

#include "common/macros.h"

#define EVENTS_MAX 64

double loop_now (void)
{
    struct timespec ts;
    clock_gettime (CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int loop_init (struct loop *loop)
{
    *loop = (struct loop){ .epfd = epoll_create1 (EPOLL_CLOEXEC) };
    return loop->epfd < 0 ? -errno : 0;
}

static void collect_garbage (struct loop *loop)
{
    for (size_t i = 0; i < loop->ngarbage; i++)
        free (loop->garbage[i]);
    loop->ngarbage = 0;
}

void loop_release (struct loop *loop)
{
    collect_garbage (loop);
    free (loop->garbage);
    close (loop->epfd);
}

void loop_watch (struct loop *loop, struct loop_io *io, uint32_t events)
{
    struct epoll_event ev = { .events = events, .data.ptr = io };
    if (events == io->events)
        return;
    int op = !io->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (epoll_ctl (loop->epfd, op, io->fd, &ev) < 0)
        abort (); /* only after a programming error or without memory */
    io->events = events;
}

void loop_timer_clear (struct loop *loop, struct loop_timer *timer)
{
    if (!timer->armed)
        return;
    struct loop_timer **p = &loop->timers;
    while (*p != timer)
        p = &(*p)->next;
    *p = timer->next;
    timer->armed = false;
}

void loop_timer_set (struct loop *loop, struct loop_timer *timer, double when)
{
    loop_timer_clear (loop, timer);
    struct loop_timer **p = &loop->timers;
    while (*p && (*p)->when <= when)
        p = &(*p)->next;
    timer->when = when;
    timer->next = *p;
    timer->armed = true;
    *p = timer;
}

void loop_free_later (struct loop *loop, void *p)
{
    if (loop->ngarbage == loop->garbage_max) {
        loop->garbage_max = loop->garbage_max * 2 + 16;
        loop->garbage = realloc (loop->garbage, loop->garbage_max * sizeof (void *));
        if (!loop->garbage)
            abort ();
    }
    loop->garbage[loop->ngarbage++] = p;
}

static int milliseconds_to_wait (const struct loop *loop)
{
    if (!loop->timers)
        return -1;
    double left = loop->timers->when - loop_now ();
    if (left <= 0)
        return 0;
    return left > 3600 ? 3600 * 1000 : (int)(left * 1000) + 1;
}

static void fire_timers (struct loop *loop)
{
    double now = loop_now ();
    while (loop->timers && loop->timers->when <= now) {
        struct loop_timer *timer = loop->timers;
        loop_timer_clear (loop, timer);
        timer->fire (timer);
    }
}

int loop_run (struct loop *loop)
{
    struct epoll_event events[EVENTS_MAX];
    while (!loop->stopped) {
        int n = epoll_wait (loop->epfd, events, EVENTS_MAX, milliseconds_to_wait (loop));
        for (int i = 0; i < n; i++) {
            struct loop_io *io = events[i].data.ptr;
            if (io->events)
                io->ready (io, events[i].events);
        }
        fire_timers (loop);
        if (loop->round)
            loop->round (loop->round_arg);
        collect_garbage (loop);
    }
    return loop->status;
}

void loop_stop (struct loop *loop, int status)
{
    loop->stopped = true;
    loop->status = status;
}
