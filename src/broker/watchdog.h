/* watchdog.h - systemd notifications: the broker is ready, its loop runs
 *
 *     watchdog_init ();      // first of all: $NOTIFY_SOCKET, and no job inherits it
 *     watchdog_begin (loop); // READY=1, then WATCHDOG=1 three times in $WATCHDOG_USEC
 *     uv_run (loop, UV_RUN_DEFAULT);
 *     watchdog_end ();       // STOPPING=1
 *
 * The loop itself sends the messages, so systemd restarts a broker whose loop hangs
 * (fluxqd.service sets the time). Without $NOTIFY_SOCKET nothing happens. The protocol is
 * that of sd_notify(3).
 */
#pragma once

#include <uv.h>

void watchdog_init (void);
void watchdog_begin (uv_loop_t *loop);
void watchdog_end (void);
