/* fake_agent.h - agents without processes, for unit tests of services that connect to them
 *
 *     struct agent *a = agent_at (0);            // the first stream to a job's agent
 *     agent_accept (a);                          // or agent_refuse (a, ESRCH, "...")
 *     write (a->fd, "text", 4);                  // the agent's end of a socket pair
 *     small_turn (s);
 *
 * The executor of small.h opens a stream for each connect(); the linker gives functions
 * instead of those of exec/agentstream.h (SMALL_FLAGS). The rules of that header are
 * checked: no use before opened() and after close, a write that got -EAGAIN is repeated
 * with the same bytes, and nobody waits for data before a read got -EAGAIN. Streams live
 * until small_destroy(), which finds each closed by the broker.
 */
#pragma once

#include "broker/core/test/small.h"

#include "exec/agentstream.h"

struct agent {
    uint64_t job;
    int fd;      /* the agent's end, not blocking. A test that closes it sets it to -1 */
    bool closed; /* the broker has closed its end */
};

/* The n-th stream, from 0; NULL: the broker has opened fewer. */
struct agent *agent_at (size_t n);
/* The agent takes the broker as a client, or does not (code: see agentstream.h). */
void agent_accept (struct agent *a);
void agent_refuse (struct agent *a, int code, const char *text);

/* Opens a stream, as the executor's connect() does. NULL: no memory. */
struct agentstream *fake_agent_open (struct small *s, uint64_t job,
                                     const struct agentstream_events *ev, void *arg,
                                     struct error *err);
/* Frees all streams; the loop has run since they were closed. */
void fake_agent_end (void);
