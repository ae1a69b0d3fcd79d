/* agent_api.h - how fluxqd and fluxq-shell talk
 *
 * Rank 0's agent listens on launch.listen (with 0 for %r) for two kinds of callers, told
 * apart by the first bytes:
 *
 * 1. Other ranks (binary, magic "FQJ1"): mutual challenge-response with the job's key
 *    (HMAC-SHA256), then frames (frame.h) upwards and control messages downwards; src/shell only.
 *    The agents are a tree: other ranks listen, too, but for their children alone.
 * 2. The broker (HTTP/1.1, directly on the unix socket, or through the API server's pod proxy):
 *      GET  /v1/stream?offset=N&output=1   the spool's bytes from offset N on, as they come; ends
 *                                          after FRAME_FINISH. output=0: the OUTPUT and FILE frames are left out.
 *      GET  /v1/status                     {"ranks":2,"joined":2,"running":3,"finished":false}
 *      POST /v1/signal?signal=15&whom=WORD to all processes of the job (whom=full, the default); to
 *                                          the tasks of its steps, or where none runs to all
 *                                          (tasks); to the batch script's shell alone (batch); with
 *                                          step=N instead: to the tasks of that step
 *      POST /v1/limit?seconds=N            the time limit is N seconds from the start, 0: none
 *      POST /v1/node?rank=N&name=NAME&ntasks=N&cores=LIST&gpus=LIST&gres=LIST   of a malleable job: what
 *                                          the node of a rank is that is to come; 409 while it comes, or is there
 *      POST /v1/resize?generation=G&nodes=N&grace=S   it is to have the ranks 0 to N - 1: new ones are to join
 *                                          within S seconds; others are taken, S seconds after it was told so.
 *                                          FRAME_RESIZED with G says that it is so, once more
 *                                          when the last G comes again; 409 while another change is under way
 *      POST /v1/cancel?step=N              ends that step: SIGTERM, after the job's grace SIGKILL
 *      POST /v1/terminate?reason=WORD&grace=S   SIGTERM, after S seconds SIGKILL to everything, then
 *                                          FINISH with that reason ("cancelled", "timeout", ...).
 *                                          "startfail": those that have not joined are missing, and
 *                                          the start ends; 409 when all have
 *      POST /v1/release?offset=N           the broker has the first N bytes on disk: they may go. When
 *                                          that includes FINISH the agents of all ranks exit.
 *      GET  /v1/client                     with "Connection: Upgrade" and "Upgrade: fluxq": 101, and from
 *                                          then on the connection is a client of the job's steps, as one of
 *                                          rank 0's door is: messages WIRE_RUN... of src/shell/wire.h, both
 *                                          ways. Only while the job's tasks run (else 409), 256 at once (503).
 *                                          Its closing ends its step.
 *    Each request carries `X-Fluxq-Auth: NONCE:MAC`, see agent_auth_make(). Replies: 200 (body), 204, 400,
 *    401 (bad MAC or a nonce seen before), 404, 409, 503; bodies of errors are one line of text.
 *
 * The key is 32 random bytes, as 64 hex digits in a file (mode 0400, --key FILE), never
 * in argv or environment.
 *
 * Command line: fluxq-shell --launch FILE --key FILE --rank N [--uid U --gid G --groups
 * G,G,...] Exit status: 0 the job is over and all is reported (whatever its result); 1
 * the agent failed (reason on stderr); 2 usage; 3 the job had been started before (spool
 * exists): nothing was done. libc only.
 */
#ifndef FLUXQ_COMMON_AGENT_API_H
#define FLUXQ_COMMON_AGENT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_KEY_SIZE 32
#define AGENT_PORT 7717 /* in pods */
#define AGENT_AUTH_HEADER "X-Fluxq-Auth"
#define AGENT_AUTH_MAX 128
#define AGENT_NODE_VARIABLE                                                              \
    "FLUXQ_AGENT_NODE" /* in pods of malleable jobs: the node's name */
#define AGENT_EXIT_ALREADY 3
#define AGENT_PROTOCOL "fluxq" /* that a connection can be upgraded to */

/* Seconds for the files of --stage-out when the job was ended (cancelled, time limit). */
#define AGENT_STAGE_SECONDS 600.0

/* "fluxq-shell admin-run", see shell/adminrun.h, and its status when the program failed. */
#define ADMINRUN_COMMAND "admin-run"
#define ADMINRUN_FAILED 4

/* "fluxq-shell install", see shell/install.h, and its status when it is another version. */
#define INSTALL_COMMAND "install"
#define INSTALL_REFUSED 5

/* "NONCE:MAC" for one request: NONCE 16 random bytes in hex, MAC = HMAC-SHA256 (key,
 * METHOD " " TARGET "\n" NONCE-hex) in hex; target = path with query as the agent sees
 * it. 0 or -errno. */
int agent_auth_make (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                     const char *target, char ret[AGENT_AUTH_MAX]);
/* Whether the header value is right; ret_nonce (33 bytes) gets the nonce for replay
 * checks. */
bool agent_auth_check (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                       const char *target, const char *value, char ret_nonce[33]);
/* The text of a key file. 0, or -EINVAL. */
int agent_key_parse (const char *text, size_t len, uint8_t ret[AGENT_KEY_SIZE]);
/* Read a key file: the agent, which runs as the user. (The broker: exec/agentkey.h.)
 * 0 or negative errno. */
int agent_key_read (const char *path, uint8_t ret[AGENT_KEY_SIZE]);

#endif
