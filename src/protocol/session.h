/* session.h - sessions: a client of a job's agents survives a broken connection
 *
 * A client that connects through the broker (POST /v1/jobs/ID/connect?session=TOKEN)
 * loses its connection when the broker is restarted, while client and agents live on. So
 * the client identifies itself by a random token, and rank 0's listener for clients
 * (client_listener.h of the agent) keeps the session for some seconds without a
 * connection:
 *
 *     client                                  listener of rank 0
 *     SESSION_NEW token, u32 seconds  ----->
 *                                     <-----  SESSION_HERE u64 0
 *     messages                        <---->  messages, SESSION_ACK u64
 *     (the connection breaks; a new one)
 *     SESSION_AGAIN token, u64        ----->
 *                                     <-----  SESSION_HERE u64, or SESSION_UNKNOWN
 *     messages from there on          <---->  messages from there on
 *
 * The u64 numbers count the bytes of all whole messages that came from the other side
 * after SESSION_NEW, without the messages that begin a connection. Both sides keep
 * messages until they are acknowledged, and send the rest again on a new connection, so
 * each message arrives once. When a client has ended for good, the broker reports it on a
 * connection of its own: SESSION_GONE token. Messages are frames as in frame.h, of type
 * SESSION_TYPE, with the kind as their stream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/frame.h"

#define SESSION_TYPE 107 /* WIRE_RUN_SESSION of the agents */
#define SESSION_TOKEN 16
#define SESSION_TEXT (2 * SESSION_TOKEN + 1)
#define SESSION_MESSAGE_MAX (FRAME_HEAD + SESSION_TOKEN + 8)

enum session_kind {
    SESSION_NEW,     /* token, u32: seconds that the session outlives a connection */
    SESSION_AGAIN,   /* token, u64: bytes that the client has */
    SESSION_HERE,    /* u64: bytes that the listener has */
    SESSION_UNKNOWN, /* the session does not exist, or no longer */
    SESSION_ACK,     /* u64: bytes that the sender has */
    SESSION_SYNC,    /* acknowledge now */
    SESSION_GONE,    /* token */
};

/* Make a random token as hexadecimal digits; false: no random bytes. */
bool session_make (char text[static SESSION_TEXT]);
/* Parse the text of a token; false: it is no token. */
bool session_parse (const char *text, uint8_t token[static SESSION_TOKEN]);
/* Write a message with a token (NULL: none) and a number of `bytes` bytes (0, 4 or 8);
 * returns its size. */
size_t session_encode (enum session_kind kind, const uint8_t *token, uint64_t number,
                       unsigned bytes, uint8_t ret[static SESSION_MESSAGE_MAX]);
