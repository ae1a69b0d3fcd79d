/* loop.h - the agent's event loop: descriptors and timers, one thread (epoll(7))
 *
 *     struct loop loop;
 *     loop_init (&loop);
 *     struct loop_io io = { .fd = fd, .ready = on_ready };
 *     loop_watch (&loop, &io, EPOLLIN);            // level-triggered
 *     struct loop_timer t = { .fire = on_time };
 *     loop_timer_set (&loop, &t, loop_now () + 0.2);
 *     int status = loop_run (&loop);               // until loop_stop (&loop, status)
 *
 * The caller owns io and timers and usually embeds them in a struct of its own
 * (CONTAINER_OF). Free memory that holds a watched io or timer with loop_free_later(),
 * because events of the same round may still point to it. A descriptor that is not
 * watched is not registered at all, since with a mask of 0 epoll would report EPOLLHUP
 * forever.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop_io {
    int fd;
    uint32_t events; /* events watched now; 0: not registered */
    void (*ready) (struct loop_io *io, uint32_t events);
};

struct loop_timer {
    void (*fire) (struct loop_timer *timer);
    double when;
    bool armed;
    struct loop_timer *next;
};

struct loop {
    int epfd;
    int status;
    bool stopped;
    struct loop_timer *timers;
    void **garbage;
    size_t ngarbage;
    size_t garbage_max;
    void (*round) (void *arg); /* called after each round of events, or NULL */
    void *round_arg;
};

/* 0 or negative errno. */
int loop_init (struct loop *loop);
void loop_release (struct loop *loop);
/* Watches io->fd for events (EPOLLIN, EPOLLOUT); 0 stops watching. Unwatch a descriptor
 * before closing it. */
void loop_watch (struct loop *loop, struct loop_io *io, uint32_t events);
void loop_timer_set (struct loop *loop, struct loop_timer *timer, double when);
void loop_timer_clear (struct loop *loop, struct loop_timer *timer);
void loop_free_later (struct loop *loop, void *p);
/* Runs until loop_stop() and returns its status. While a timer fires, its `when` still
 * holds the time at which it was due. */
int loop_run (struct loop *loop);
void loop_stop (struct loop *loop, int status);
/* Monotonic seconds. */
double loop_now (void);
