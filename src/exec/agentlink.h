/* agentlink.h - the broker's end of the line to rank 0's agent (common/agent_api.h)
 *
 *     l = agentlink_open (httpc, loop, &where, key, offset, &ev, arg, &err);
 *     agentlink_signal (l, SIGUSR1, EXEC_WHOM_FULL, EXEC_NO_STEP, NULL, NULL);
 *     agentlink_terminate (l, "cancelled", 30.0);
 *     agentlink_close (l);
 *
 * Streams the spool's frames from `offset` on, and connects again (50 ms to 2 s back-off,
 * from where it stopped) for as long as it is open. where: a unix socket (local), or a
 * URL prefix through the API server's pod proxy with TLS and headers (kube); requests are
 * sent as prefix + target and signed with the job's key.
 */
#ifndef FLUXQ_EXEC_AGENTLINK_H
#define FLUXQ_EXEC_AGENTLINK_H

#include "kube/http.h"

#include "common/agent_api.h"
#include "common/frame.h"
#include "exec/exec.h"

struct agentlink;

/* url_prefix and unix_socket are copied; headers and tls stay the caller's and are read
 * anew for each request (a token may change). */
struct agentlink_where {
    const char *unix_socket; /* local, or NULL */
    uid_t peer;              /* who is to listen there; for agentlink_connect() */
    const char *url_prefix;  /* "http://agent", ".../namespaces/N/pods/P:7717/proxy" */
    const char *const *headers;
    const struct httpc_tls *tls;
};

struct agentlink_events {
    /* Raw spool bytes (whole frames only) from the given offset on; NULL: not wanted
     * (stream with output=0). Non-zero: these bytes were not taken; the stream stops
     * until agentlink_resume(), which asks for them again. */
    int (*on_bytes) (uint64_t offset, const void *data, size_t len, void *arg);
    void (*on_frame) (const struct frame *f,
                      void *arg); /* each frame, also OUTPUT unless output=0 */
    /* Connection trouble: after the failed try number n; text is its reason. The link
     * goes on trying. */
    void (*on_trouble) (unsigned n, const struct error *err, void *arg);
    void (*on_finish) (const struct frame_finish *fin,
                       void *arg); /* FINISH frame seen; no more frames */
};

struct agentlink *agentlink_open (struct httpc *h, uv_loop_t *loop,
                                  const struct agentlink_where *where,
                                  const uint8_t key[AGENT_KEY_SIZE], uint64_t offset,
                                  const struct agentlink_events *ev, void *arg,
                                  struct error *err);
/* Ends all at once; none of its callbacks comes after this. May be called within them. done
 * of a command that is under way comes before it returns, or the callback that it is called
 * within does. */
void agentlink_close (struct agentlink *l);
/* Goes on after on_bytes refused bytes; else does nothing. */
void agentlink_resume (struct agentlink *l);
/* Sent once, tried again for 30 s on connection trouble; done (may be NULL) comes once, and
 * later, with 0 or negative errno: -ENOENT: there is no such step, or no batch script, or no
 * such agent; -EACCES: it does not believe us; -EINVAL: it refused; -ESRCH: the link is
 * closed. */
void agentlink_signal (struct agentlink *l, int signum, enum exec_whom whom, int64_t step,
                       void (*done) (int rc, void *arg), void *arg);
/* The job's time limit in seconds from its start, 0: none. Tried for as long as the link is
 * open; a later one takes the place of one that is under way. */
void agentlink_limit (struct agentlink *l, double seconds);
void agentlink_terminate (struct agentlink *l, const char *reason, double grace);
void agentlink_release (struct agentlink *l, uint64_t offset);

/* POST that target; tried for as long as the link is open. NULL: no memory, and done has come. */
struct agentlink_command;
struct agentlink_command *agentlink_post (struct agentlink *l, const char *target,
                                          void (*done) (int rc, void *arg), void *arg);
/* It is not wanted any more: done does not come. NULL: nothing happens. */
void agentlink_forget (struct agentlink_command *c);

struct agentstream;
struct agentstream_events;
/* A stream of bytes to the same agent; it is a thing of its own and outlives l. NULL with
 * the reason. */
struct agentstream *agentlink_connect (const struct agentlink *l,
                                       const struct agentstream_events *ev, void *arg,
                                       struct error *err);

#endif
