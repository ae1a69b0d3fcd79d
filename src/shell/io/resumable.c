/* resumable.c - keeps messages over several connections until the peer has them */
#include "shell/io/resumable.h"

#include <sys/socket.h>

#include "common/macros.h"

void resumable_put (struct resumable *r, const struct frame *msg)
{
    wire_put (&r->out, msg);
}

void resumable_hello (struct resumable *r, enum session_kind kind, const uint8_t *token,
                      uint64_t number, unsigned bytes)
{
    uint8_t msg[SESSION_MESSAGE_MAX];
    outbuf_add (&r->hello, msg, session_encode (kind, token, number, bytes, msg));
}

/* Drops the first n bytes, which the peer has. */
static void drop (struct resumable *r, size_t n)
{
    r->out.off += n;
    r->out.len -= n;
    r->sent -= MIN (n, r->sent);
    r->acked += n;
    if (r->out.len == 0)
        r->out.off = 0;
}

int resumable_flush (struct resumable *r, int fd)
{
    int rc = outbuf_flush (&r->hello, fd);
    if (rc <= 0)
        return rc;
    while (!r->held && r->sent < r->out.len) {
        ssize_t n = send (fd, r->out.data + r->out.off + r->sent, r->out.len - r->sent,
                          MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        r->sent += (size_t)n;
        if (!r->open)
            drop (r, (size_t)n);
    }
    return 1;
}

static void put_ack (struct resumable *r)
{
    uint8_t data[8];
    wire_put_u64 (data, r->received);
    r->told = r->received;
    resumable_put (r, &(struct frame){ .type = WIRE_RUN_SESSION,
                                       .stream = SESSION_ACK,
                                       .len = sizeof (data),
                                       .data = (const char *)data });
}

static void on_ack (struct resumable *r, const struct frame *msg)
{
    uint64_t theirs = msg->len == 8 ? wire_get_u64 (msg->data) : 0;
    if (theirs > r->acked && theirs - r->acked <= r->sent)
        drop (r, (size_t)(theirs - r->acked));
}

bool resumable_received (struct resumable *r, const struct frame *msg, size_t size)
{
    bool own = msg->type == WIRE_RUN_SESSION
               && (msg->stream == SESSION_ACK || msg->stream == SESSION_SYNC);
    if (!r->open || (msg->type == WIRE_RUN_SESSION && !own))
        return false;
    r->received += size;
    if (own && msg->stream == SESSION_ACK)
        on_ack (r, msg);
    if ((own && msg->stream == SESSION_SYNC)
        || r->received - r->told >= RESUMABLE_ACK_EVERY)
        put_ack (r);
    return own;
}

/* Messages put before go out first and are not numbered. */
void resumable_open (struct resumable *r)
{
    outbuf_add (&r->hello, r->out.data + r->out.off, r->out.len);
    outbuf_release (&r->out);
    r->sent = 0;
    r->acked = 0;
    r->open = true;
}

void resumable_lost (struct resumable *r)
{
    outbuf_release (&r->hello);
    r->sent = 0;
    r->held = true;
}

int resumable_resume (struct resumable *r, uint64_t theirs)
{
    if (theirs < r->acked || theirs - r->acked > r->out.len)
        return -EBADMSG;
    drop (r, (size_t)(theirs - r->acked));
    r->sent = 0;
    r->held = false;
    return 0;
}

bool resumable_is_done (const struct resumable *r)
{
    return r->hello.len == 0 && r->out.len == 0;
}

void resumable_release (struct resumable *r)
{
    outbuf_release (&r->hello);
    outbuf_release (&r->out);
}
