/* agentstream.h - a duplex stream of bytes to rank 0's agent (protocol/agent_api.h,
 * /v1/client)
 *
 *     static const struct agentstream_events ev = { .opened = opened, .ready = ready };
 *     s = agentstream_open (loop, &where, key, &ev, arg, &err);
 *     // opened (NULL, arg): the stream is open
 *     while ((n = agentstream_read (s, buf, sizeof (buf))) > 0) ...
 *     agentstream_want (s, true, false);         // -EAGAIN: ready (arg) when there is more
 *     agentstream_close (s);
 *
 * The path is that of agentlink.h: a unix socket, or the API server's pod proxy, which
 * passes an upgrade of the connection on to the pod and then copies bytes. The stream
 * buffers nothing beyond its opening, so a caller that does not read makes the agent
 * wait.
 */
#pragma once

#include "exec/agentlink.h"

#include <stdbool.h>

struct agentstream;

struct agentstream_events {
    /* Called once: the agent accepts us as a client (err NULL), or the reason; then only
     * close remains. err->code: ESRCH the job does not run (any more), EAGAIN the agent
     * has too many clients, ETIMEDOUT no answer for 15 s, ENOMEM, others: the agent was not
     * reached. */
    void (*opened) (const struct error *err, void *arg);
    /* A wanted operation may be possible now. */
    void (*ready) (void *arg);
};

/* Copies the needed parts of where. Callbacks come on later turns of the loop. */
struct agentstream *agentstream_open (uv_loop_t *loop,
                                      const struct agentlink_where *where,
                                      const uint8_t key[AGENT_KEY_SIZE],
                                      const struct agentstream_events *ev, void *arg,
                                      struct error *err);
/* Sets the events that ready() is called for. */
void agentstream_want (struct agentstream *s, bool readable, bool writable);
/* Bytes (> 0); 0: the agent has closed the stream; -EAGAIN, -ECONNRESET. Read until
 * -EAGAIN before waiting. */
ssize_t agentstream_read (struct agentstream *s, void *buf, size_t len);
/* Bytes (> 0), -ECONNRESET; -EAGAIN: call again later, with the same buf and len. */
ssize_t agentstream_write (struct agentstream *s, const void *buf, size_t len);
/* No callback after this. NULL is fine. */
void agentstream_close (struct agentstream *s);
