/* agent_api.h - the protocol between fluxqd and fluxq-shell
 *
 * The folder protocol/ has what the broker, the commands and the agent say to each other
 * and therefore must understand alike: the launch file (launch.h), requests to the agent
 * (this file), the spool that goes back (frame.h, output_limit.h), connections of step
 * clients (step_client.h, session.h, keepalive.h), and texts within these (record.h,
 * stepuse.h, taskmap.h, pattern.h). Places where one program finds another are here too
 * (run_dir.h, agent_path.h). The folder uses only common/ and, but for those two files,
 * nothing but libc, because the agent links it statically.
 *
 * Rank 0's agent listens on launch.listen (with 0 for %r) for two kinds of callers, which
 * it tells apart by the first bytes:
 *
 * 1. Other ranks (binary, magic "FQJ1"): mutual challenge-response with the job's key
 *    (HMAC-SHA256), then frames (frame.h) upwards and control messages downwards; only in
 *    src/shell. The agents form a tree: other ranks listen only for their children.
 * 2. The broker (HTTP/1.1, on the unix socket or through the API server's pod proxy):
 *      GET  /v1/stream?offset=N&output=1
 *           sends the bytes of the spool from offset N on, also new ones; ends after
 *           FRAME_FINISH. output=0: without OUTPUT and FILE frames.
 *      GET  /v1/status
 *           {"ranks":2,"joined":2,"running":3,"finished":false}
 *      GET  /v1/steps?fresh=1
 *           the steps that run now, with what they have used so far. The first line is
 *           "waiting N"; behind an empty line follow for each step "ranks IDSET" and the
 *           text of stepuse.h, with end 0. fresh=1: asks all ranks for new figures first,
 *           at most once a second; N of their answers are still to come. Ask again
 *           without fresh until N is 0.
 *      POST /v1/signal?signal=15&whom=WORD
 *           sends a signal. whom=full (default): to all processes of the job; tasks: to
 *           the tasks of its steps, or to all processes if no step runs; steps: to those of
 *           its steps only, if it has a batch script; batch: to the script's shell. step=N instead of whom: to the tasks of that step.
 *      POST /v1/limit?seconds=N
 *           sets the time limit to N seconds from the start, 0: none.
 *      POST /v1/node?rank=N&name=NAME&ntasks=N&cores=LIST&gpus=LIST&gres=LIST
 *           describes the node of a rank that a malleable job will get. 409: that rank is
 *           joining, or has joined.
 *      POST /v1/resize?generation=G&nodes=N&grace=S
 *           resizes the job to the ranks 0 to N - 1. New ranks have S seconds to join;
 *           other ranks are removed S seconds after the job was told. FRAME_RESIZED with
 *           G reports the end, again if the last G is repeated. 409: another change is
 *           under way.
 *      POST /v1/cancel?step=N
 *           ends that step: SIGTERM, after the job's grace SIGKILL.
 *      POST /v1/terminate?reason=WORD&grace=S
 *           SIGTERM, after S seconds SIGKILL to everything, then FINISH with that reason
 *           ("cancelled", "timeout", ...). "startfail": the start ends, and ranks that
 *           have not joined count as missing; 409 if all have joined.
 *      POST /v1/release?offset=N
 *           the broker has the first N bytes on disk, so the agent can drop them. If they
 *           include FINISH, the agents of all ranks exit.
 *      GET  /v1/client
 *           with "Connection: Upgrade" and "Upgrade: fluxq": 101, and the connection
 *           becomes a client of the job's steps, like a connection to rank 0's own socket
 *           for clients (src/shell/agent/client_listener.h): messages WIRE_RUN... of
 *           src/shell/io/wire.h in both directions. 409: the job's tasks do not run; 503:
 *           256 clients are connected. Closing the connection ends its step.
 *    Each request has a header `X-Fluxq-Auth: NONCE:MAC`, see agent_auth_make(). Replies:
 *    200 (body), 204, 400, 401 (bad MAC or repeated nonce), 404, 409, 503; the body of an
 *    error is one line of text.
 *
 * The key is 32 random bytes, as 64 hex digits in a file (mode 0400, --key FILE), never
 * in argv or environment.
 *
 * Command line: fluxq-shell --launch FILE --key FILE --rank N [--uid U --gid G
 * --groups G,G,...]
 * Exit status: 0 the job is over and everything is reported (whatever its result); 1 the
 * agent failed (reason on stderr); 2 usage; 3 the job was started before (the spool
 * exists): nothing was done. libc only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_KEY_SIZE 32
#define AGENT_PORT 7717 /* in pods */
#define AGENT_AUTH_HEADER "X-Fluxq-Auth"
#define AGENT_AUTH_MAX 128
/* In pods of malleable jobs: the name of the node. */
#define AGENT_NODE_VARIABLE "FLUXQ_AGENT_NODE"
#define AGENT_EXIT_ALREADY 3
#define AGENT_PROTOCOL "fluxq" /* for the Upgrade header */

/* Seconds for the files of --stage-out when the job was cancelled or reached its
 * limit. */
#define AGENT_STAGE_SECONDS 600.0

/* "fluxq-shell admin-run", see adminrun.h of the agent; exit status if the program
 * failed. */
#define ADMINRUN_COMMAND "admin-run"
#define ADMINRUN_FAILED 4

/* "fluxq-shell install", see shell/agent/install.h; exit status if the version is another
 * one. */
#define INSTALL_COMMAND "install"
#define INSTALL_REFUSED 5

/* "NONCE:MAC" for one request: NONCE 16 random bytes in hex, MAC = HMAC-SHA256 (key,
 * METHOD " " TARGET "\n" NONCE-hex) in hex; target = path with query as the agent sees
 * it. 0 or -errno. */
int agent_auth_make (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                     const char *target, char ret[AGENT_AUTH_MAX]);
/* Whether the header value is valid; ret_nonce (33 bytes) gets the nonce, for checks
 * against replay. */
bool agent_auth_check (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                       const char *target, const char *value, char ret_nonce[33]);
/* Parse the text of a key file. 0, or -EINVAL. */
int agent_key_parse (const char *text, size_t len, uint8_t ret[AGENT_KEY_SIZE]);
/* Read a key file, for the agent, which runs as the user. (The broker uses
 * exec/agentkey.h.) 0 or negative errno. */
int agent_key_read (const char *path, uint8_t ret[AGENT_KEY_SIZE]);
