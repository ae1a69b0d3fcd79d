/* resumable.h - messages to one other side that outlive the connection (common/session.h)
 *
 *     resumable_put (&r, &msg);                // kept until the other side has it
 *     rc = resumable_flush (&r, fd);           // 1: all is written, 0: later, -errno
 *     n = wire_parse (buf, len, &msg);
 *     if (!resumable_received (&r, &msg, n)) ...   // else it was an acknowledgement
 *
 *     resumable_open (&r);                     // from here on it is numbered and can be resumed
 *     resumable_lost (&r);                     // the connection broke
 *     resumable_resume (&r, theirs);           // another one; the other side has so many bytes
 *
 * Before resumable_open() it is a plain buffer. Both ends of a session use it: door.c, run.c.
 */
#ifndef FLUXQ_SHELL_RESUMABLE_H
#define FLUXQ_SHELL_RESUMABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/session.h"
#include "shell/wire.h"

#define RESUMABLE_ACK_EVERY (32 * 1024) /* bytes */

struct resumable {
    bool open;
    bool held;               /* only hello is sent until the other side says where it is */
    struct outbuf hello;     /* what begins this connection */
    struct outbuf out;       /* numbered bytes from `acked` on */
    size_t sent;             /* of them, on this connection */
    uint64_t acked;          /* the other side has all before */
    uint64_t received, told; /* of the other side; acknowledged */
};

void resumable_put (struct resumable *r, const struct frame *msg);
/* At the begin of a connection, or of the session; see session_encode(). */
void resumable_hello (struct resumable *r, enum session_kind kind, const uint8_t *token,
                      uint64_t number, unsigned bytes);
int resumable_flush (struct resumable *r, int fd);
/* A message of size bytes (its head, too) that came. True: it was for the session alone. */
bool resumable_received (struct resumable *r, const struct frame *msg, size_t size);
void resumable_open (struct resumable *r);
void resumable_lost (struct resumable *r);
/* 0 or -EBADMSG: that is no place between what it has said and what there is. */
int resumable_resume (struct resumable *r, uint64_t theirs);
/* The other side has all. */
bool resumable_is_done (const struct resumable *r);
void resumable_release (struct resumable *r);

#endif
