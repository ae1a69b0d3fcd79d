/* resumable.h - messages to a peer that outlive the connection (protocol/session.h)
 *
 *     resumable_put (&r, &msg);                // kept until the peer has it
 *     rc = resumable_flush (&r, fd);           // 1: all is written, 0: later, -errno
 *     n = wire_parse (buf, len, &msg);
 *     if (!resumable_received (&r, &msg, n)) ...   // else it was an acknowledgement
 *
 *     resumable_open (&r);                     // starts numbering: can be resumed
 *     resumable_lost (&r);                     // the connection broke
 *     resumable_resume (&r, theirs);           // a new one; the peer has `theirs` bytes
 *
 * Before resumable_open() it is a plain buffer. Both ends of a session use it:
 * client_listener.c, run_link.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/session.h"
#include "shell/io/wire.h"

#define RESUMABLE_ACK_EVERY (32 * 1024) /* bytes */

struct resumable {
    bool open;
    bool held;               /* sends only hello until the peer reports its position */
    struct outbuf hello;     /* messages at the start of this connection */
    struct outbuf out;       /* numbered bytes from `acked` on */
    size_t sent;             /* bytes of out sent on this connection */
    uint64_t acked;          /* the peer has all bytes before this number */
    uint64_t received, told; /* bytes from the peer; number acknowledged */
};

void resumable_put (struct resumable *r, const struct frame *msg);
/* Call at the start of a connection or of the session; see session_encode(). */
void resumable_hello (struct resumable *r, enum session_kind kind, const uint8_t *token,
                      uint64_t number, unsigned bytes);
int resumable_flush (struct resumable *r, int fd);
/* Handles a message of size bytes, including its head. True: it was for the session
 * only. */
bool resumable_received (struct resumable *r, const struct frame *msg, size_t size);
void resumable_open (struct resumable *r);
void resumable_lost (struct resumable *r);
/* 0 or -EBADMSG: theirs is outside of the bytes that can be sent again. */
int resumable_resume (struct resumable *r, uint64_t theirs);
/* Whether the peer has all messages. */
bool resumable_is_done (const struct resumable *r);
void resumable_release (struct resumable *r);
