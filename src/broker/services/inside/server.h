/* server.h - a command that runs on the broker's host for a job: its process, and its
 * messages with the client in the job (protocol/inside.h)
 *
 *   client --agents--> agentstream <--server.c--> socket --> fluxq-inside --HTTP--> broker
 *
 *   ASKING --the agent accepts--> RUNNING --one side ends, or time is over--> DYING --> gone
 *     +--it does not: ended (false)          + ended (true)
 *
 *     s = inside_server_start (b, e, number, ended, arg);
 *     inside_server_kill (s);                     // the job is over: no call of ended
 *
 * The process runs as the job's user where the broker is root, else as the broker's own
 * user. Its requests are the user's: the broker gives it a connection that says so.
 */
#pragma once

#include "broker/core/jobs.h"

#define INSIDE_SECONDS 600 /* that a command may run */

struct inside_server;

/* served: a client was there. failed: the agent was not reached; try again later. */
typedef void (*inside_ended_fn) (void *arg, bool served, bool failed);

/* number: the guest of its requests, see http_server_admit(). NULL: no memory, or the
 * job's agent cannot be reached now. */
struct inside_server *inside_server_start (struct broker *b, struct entry *e,
                                           uint64_t number, inside_ended_fn ended,
                                           void *arg);
/* The attempt of the job is over: the command has a moment for its answer, such as that to
 * the request that ended the attempt. */
void inside_server_leave (struct inside_server *s);
/* Ends it; the memory is freed when the process has ended. */
void inside_server_kill (struct inside_server *s);
/* Frees what is left, without waiting for processes; the loop runs once more. */
void inside_servers_close (void);
/* Whether the process is a server's. */
bool inside_server_has (pid_t pid);
