/* session.h - how a client of a job's agents is known again after its connection broke
 *
 * A client that comes over the broker (POST /v1/jobs/ID/connect?session=TOKEN) loses its
 * connection when the broker is restarted, while it and the agents live on. So it names itself by
 * a random token, and the agent's door keeps it for some seconds without a connection:
 *
 *     client                                  door of rank 0
 *     SESSION_NEW token, u32 seconds  ----->
 *                                     <-----  SESSION_HERE u64 0
 *     messages                        <---->  messages, SESSION_ACK u64
 *     (the connection breaks; a new one)
 *     SESSION_AGAIN token, u64        ----->
 *                                     <-----  SESSION_HERE u64, or SESSION_UNKNOWN
 *     messages from there on          <---->  messages from there on
 *
 * The numbers count the bytes of all whole messages that came from the other side behind
 * SESSION_NEW, without those that begin a connection: both sides keep what is not acknowledged
 * and send it again from there, so each message arrives once. A client that is not coming
 * back is told of by the broker, which saw its end: SESSION_GONE token, on a connection of its
 * own. Frames as in frame.h, of type SESSION_TYPE, the kind as their stream.
 */
#ifndef FLUXQ_COMMON_SESSION_H
#define FLUXQ_COMMON_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/frame.h"

#define SESSION_TYPE 107 /* WIRE_RUN_SESSION of the agents */
#define SESSION_TOKEN 16
#define SESSION_TEXT (2 * SESSION_TOKEN + 1)
#define SESSION_MESSAGE_MAX (FRAME_HEAD + SESSION_TOKEN + 8)

enum session_kind {
    SESSION_NEW,     /* token, u32: seconds that it outlives a connection */
    SESSION_AGAIN,   /* token, u64: bytes that the client has */
    SESSION_HERE,    /* u64: bytes that the door has */
    SESSION_UNKNOWN, /* there is no such session (any more) */
    SESSION_ACK,     /* u64: bytes that the sender has */
    SESSION_SYNC,    /* acknowledge now */
    SESSION_GONE,    /* token */
};

/* A random token as hexadecimal digits; false: there are no random bytes. */
bool session_make (char text[static SESSION_TEXT]);
/* Such a text back; false: it is none. */
bool session_parse (const char *text, uint8_t token[static SESSION_TOKEN]);
/* A message with a token (NULL: without) and a number of `bytes` bytes (0, 4 or 8); its size. */
size_t session_encode (enum session_kind kind, const uint8_t *token, uint64_t number,
                       unsigned bytes, uint8_t ret[static SESSION_MESSAGE_MAX]);

#endif
