/* agentstream.h - a duplex stream of bytes to rank 0's agent (common/agent_api.h, /v1/client)
 *
 *     static const struct agentstream_events ev = { .opened = opened, .ready = ready };
 *     s = agentstream_open (loop, &where, key, &ev, arg, &err);
 *     // opened (NULL, arg): it is there
 *     while ((n = agentstream_read (s, buf, sizeof (buf))) > 0) ...
 *     agentstream_want (s, true, false);         // -EAGAIN: ready (arg) when there is more
 *     agentstream_close (s);
 *
 * The way is that of agentlink.h: a unix socket, or the API server's pod proxy, which passes
 * an upgrade of the connection on to the pod and then copies bytes. Nothing is kept here but
 * what is under way at the start, so who does not read lets the agent wait.
 */
#ifndef FLUXQ_EXEC_AGENTSTREAM_H
#define FLUXQ_EXEC_AGENTSTREAM_H

#include "exec/agentlink.h"

#include <stdbool.h>

struct agentstream;

struct agentstream_events {
    /* Once: the agent takes us as a client (err NULL), or why not; then only close is left.
     * err->code: ESRCH the job does not run (any more), EAGAIN the agent has too many
     * clients, ETIMEDOUT it has not answered for 15 s, else it could not be reached. */
    void (*opened) (const struct error *err, void *arg);
    /* What was wanted may be possible now. */
    void (*ready) (void *arg);
};

/* where is copied, as far as it is needed. Callbacks come on later turns of the loop. */
struct agentstream *agentstream_open (uv_loop_t *loop,
                                      const struct agentlink_where *where,
                                      const uint8_t key[AGENT_KEY_SIZE],
                                      const struct agentstream_events *ev, void *arg,
                                      struct error *err);
/* What ready() is to be called for, until said otherwise. */
void agentstream_want (struct agentstream *s, bool readable, bool writable);
/* Bytes (> 0); 0: the agent has ended it; -EAGAIN, -ECONNRESET. Read until -EAGAIN before
 * waiting. */
ssize_t agentstream_read (struct agentstream *s, void *buf, size_t len);
/* Bytes (> 0), -ECONNRESET; -EAGAIN: later, with the same buf and len. */
ssize_t agentstream_write (struct agentstream *s, const void *buf, size_t len);
/* No callback after this. NULL is fine. */
void agentstream_close (struct agentstream *s);

#endif
