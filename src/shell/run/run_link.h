/* run_link.h - fluxq-run's connection to the agent, local or through the broker
 *
 *     struct run_link link = { .loop = &loop, .message = on_message, ... };
 *     rc = run_link_open (&link, &pid, &err);
 *     run_link_put (&link, WIRE_RUN_SIGNAL, data, 4);
 *     run_link_close (&link);
 *
 * Through the broker the connection is a session (protocol/session.h). When it breaks, as
 * when the broker restarts, the link starts fluxq-run of the login node to make a new
 * connection (protocol/step_client.h) and resumes the session. Messages put meanwhile are
 * kept.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "shell/io/loop.h"
#include "shell/io/resumable.h"

struct run_link {
    struct loop *loop;
    void (*message) (void *ctx, const struct frame *msg);
    void (*lost) (void *ctx, const char *why); /* for good; NULL: the user knows why */
    void (*done) (void *ctx);                  /* after run_link_finish() */
    void *ctx;
    /* -- private -- */
    struct loop_io agent;  /* fd -1: not connected */
    struct loop_io helper; /* the process that makes a new connection */
    pid_t helper_pid;
    bool is_session, finishing;
    uint8_t token[SESSION_TOKEN];
    struct resumable out;
    char *buf;
    size_t len;
};

/* 0 or negative errno. *ret_agent: the agent's process, if it runs on this node. */
int run_link_open (struct run_link *link, pid_t *ret_agent, struct error *err);
void run_link_put (struct run_link *link, uint8_t type, const void *data, size_t len);
void run_link_put_frame (struct run_link *link, const struct frame *msg);
/* Calls done() when the agent has all messages; on a plain connection, at once. */
void run_link_finish (struct run_link *link);
/* Whether there is a connection now. */
bool run_link_is_up (const struct run_link *link);
void run_link_close (struct run_link *link);
