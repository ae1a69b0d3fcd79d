/* agent.h - the worker process of every rank and its two roles
 *
 * The folder agent/ has the processes of a rank: the guardian, the worker in its two
 * roles, the tree of agents, and small programs of the same executable (install.h,
 * adminrun.h). The folder may use step/ and io/. Requests of the broker and messages of
 * other ranks come in; jobstate.h decides; starts and signals go down to step/; output
 * and exits come back, go up the tree, and end in the spool of rank 0.
 *
 * main.c reads the command line and changes to the user; guardian.c keeps the process id
 * and watches the worker; worker.c (agent_work) reads the launch file and the key and
 * then runs one of
 *
 *     root_run (&agent)     rank 0: root.c, with server.c (connections), api.c (requests)
 *     member_run (&agent)   the other ranks: member.c, with uplink.c (to its parent) and
 *                           server.c (its children)
 *
 * Both use loop.h and task.h and return the agent's exit status (agent_api.h).
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "protocol/agent_api.h"
#include "protocol/frame.h"
#include "protocol/launch.h"
#include "shell/agent/tree.h"
#include "shell/io/loop.h"

#define AGENT_LAUNCH_MAX (64u << 20) /* bytes of a launch file */
/* Seconds that an agent waits for its children to close before it exits, for each level
 * of agents below it. */
#define AGENT_LEAVE_GRACE 1.0

struct server;
struct server_events;
struct spool;

struct agent_options {
    const char *launch_path;
    const char *key_path;
    uint32_t rank;
};

struct agent {
    struct launch launch;
    uint8_t key[AGENT_KEY_SIZE];
    uint32_t rank;
    char user_env_problem[256]; /* why its tasks have no login environment, or "" */
    struct tree tree;           /* parents and children of all ranks */
    struct loop loop;
    /* Callbacks from worker.c; arg belongs to the role. */
    void (*on_child) (void *arg); /* SIGCHLD */
    void (*on_end) (void *arg, const char *why, bool guardian_died);
    void *arg;
};

/* The worker process, from start to exit status. guardian_fd reports end of file when the
 * guardian is dead. */
int agent_work (const struct agent_options *options, int guardian_fd);

int root_run (struct agent *agent);
int member_run (struct agent *agent);

/* Creates the server of this rank at its address of launch.listen, which the caller
 * frees; spool can be NULL. NULL with the reason. */
struct server *agent_listen (struct agent *agent, const struct spool *spool,
                             const struct server_events *events, void *ctx,
                             char **ret_address, struct error *err);

/* Whether a child's WIRE_JOIN comes from the node in the launch file. False: *ret_why
 * gets the reason for the refusal. */
bool agent_is_node (const struct agent *agent, uint32_t rank, const struct frame *join,
                    const char **ret_why);

/* Writes one line to stderr: "fluxq-shell: rank 3: ...". */
void agent_log (const struct agent *agent, const char *fmt, ...) PRINTF_LIKE (2, 3);
