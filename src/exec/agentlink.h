/* agentlink.h - the broker's end of the line to rank 0's agent (protocol/agent_api.h)
 *
 *     l = agentlink_open (httpc, loop, &where, key, offset, &ev, arg, &err);
 *     agentlink_signal (l, SIGUSR1, EXEC_WHOM_FULL, EXEC_NO_STEP, NULL, NULL);
 *     agentlink_terminate (l, "cancelled", 30.0);
 *     agentlink_close (l);
 *
 * Streams the spool's frames from `offset` on. While the link is open, it reconnects
 * after a failure (50 ms to 2 s back-off) and resumes at the offset where it stopped.
 * where: a unix socket (local), or a URL prefix through the API server's pod proxy with
 * TLS and headers (kube). Requests are sent as prefix + target and signed with the job's
 * key.
 */
#pragma once

#include "kube/http.h"

#include "exec/exec.h"
#include "protocol/agent_api.h"
#include "protocol/frame.h"

struct agentlink;

/* The link copies url_prefix and unix_socket. The caller keeps headers and tls; the link
 * reads them again for each request (a token may change). */
struct agentlink_where {
    const char *unix_socket; /* local, or NULL */
    uid_t peer;              /* the user who must listen there; for agentlink_connect() */
    const char *url_prefix;  /* "http://agent", ".../namespaces/N/pods/P:7717/proxy" */
    const char *const *headers;
    const struct httpc_tls *tls;
};

struct agentlink_events {
    /* Raw spool bytes (whole frames only) from the given offset on; NULL: the caller
     * wants none (stream with output=0). Non-zero: the caller did not take the bytes; the
     * stream stops until agentlink_resume(), which asks for them again. */
    int (*on_bytes) (uint64_t offset, const void *data, size_t len, void *arg);
    /* Each frame, also OUTPUT unless output=0. */
    void (*on_frame) (const struct frame *f, void *arg);
    /* Connection trouble, after n failed tries; err has the reason. The link keeps
     * trying. */
    void (*on_trouble) (unsigned n, const struct error *err, void *arg);
    /* FINISH was seen: no more frames come. */
    void (*on_finish) (const struct frame_finish *fin, void *arg);
};

struct agentlink *agentlink_open (struct httpc *h, uv_loop_t *loop,
                                  const struct agentlink_where *where,
                                  const uint8_t key[AGENT_KEY_SIZE], uint64_t offset,
                                  const struct agentlink_events *ev, void *arg,
                                  struct error *err);
/* Ends the link at once; none of its callbacks comes after this. May be called within
 * them. The done of each command under way is called before this function returns, or
 * before the callback returns within which it is called. */
void agentlink_close (struct agentlink *l);
/* Continues after on_bytes refused bytes; otherwise does nothing. */
void agentlink_resume (struct agentlink *l);
/* Sends a signal; tries again for 30 s on connection trouble. done (may be NULL) is
 * called once, later, with 0 or a negative errno: -ENOENT: no such step, batch script or
 * agent; -EACCES: the agent rejects our signature; -EINVAL: it refused; -ESRCH: the link
 * is closed. */
void agentlink_signal (struct agentlink *l, int signum, enum exec_whom whom, int64_t step,
                       void (*done) (int rc, void *arg), void *arg);
/* Asks which steps run now, with their figures (GET /v1/steps of agent_api.h); fresh: with
 * new ones. Tries again for 30 s on connection trouble. done is called once, later, with
 * 0 and the text, or a negative errno as of agentlink_signal() and NULL. */
void agentlink_steps (struct agentlink *l, bool fresh, exec_steps_fn *done, void *arg);
/* Sends the job's time limit, in seconds from its start, 0: none. The link tries as long
 * as it is open; a later limit replaces one under way. */
void agentlink_limit (struct agentlink *l, double seconds);
void agentlink_terminate (struct agentlink *l, const char *reason, double grace);
void agentlink_release (struct agentlink *l, uint64_t offset);

/* Sends a POST to that target; tries as long as the link is open. NULL: no memory, and
 * done was called. */
struct agentlink_command;
struct agentlink_command *agentlink_post (struct agentlink *l, const char *target,
                                          void (*done) (int rc, void *arg), void *arg);
/* Abandons the command: done is not called. NULL is fine. */
void agentlink_forget (struct agentlink_command *c);

struct agentstream;
struct agentstream_events;
/* Opens a stream of bytes to the same agent. The stream is independent of l and outlives
 * it. NULL with an error. */
struct agentstream *agentlink_connect (const struct agentlink *l,
                                       const struct agentstream_events *ev, void *arg,
                                       struct error *err);
