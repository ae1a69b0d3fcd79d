/* wire.c - messages between ranks: framing, proof of the key, queues of slow sockets */
#include "shell/io/wire.h"

#include <sys/socket.h>

#include "common/macros.h"
#include "common/sha256.h"

void wire_put_u32 (uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

uint32_t wire_get_u32 (const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16
           | (uint32_t)b[3] << 24;
}

void wire_put_u64 (uint8_t *p, uint64_t v)
{
    wire_put_u32 (p, (uint32_t)v);
    wire_put_u32 (p + 4, (uint32_t)(v >> 32));
}

uint64_t wire_get_u64 (const void *p)
{
    return wire_get_u32 (p) | (uint64_t)wire_get_u32 ((const uint8_t *)p + 4) << 32;
}

/* Makes room for len more bytes behind the waiting ones. */
static void outbuf_reserve (struct outbuf *out, size_t len)
{
    if (out->off + out->len + len <= out->cap)
        return;
    if (out->off > 0) {
        memmove (out->data, out->data + out->off, out->len);
        out->off = 0;
    }
    if (out->len + len <= out->cap)
        return;
    out->cap = MAX (out->cap * 2, out->len + len + 1024);
    out->data = realloc (out->data, out->cap);
    if (!out->data)
        abort ();
}

void outbuf_add (struct outbuf *out, const void *data, size_t len)
{
    if (len == 0)
        return;
    outbuf_reserve (out, len);
    memcpy (out->data + out->off + out->len, data, len);
    out->len += len;
}

static int send_all (struct outbuf *out, int fd, bool is_pipe)
{
    while (out->len > 0) {
        const char *data = out->data + out->off;
        ssize_t n = is_pipe ? write (fd, data, out->len)
                            : send (fd, data, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        out->off += (size_t)n;
        out->len -= (size_t)n;
    }
    out->off = 0;
    return 1;
}

int outbuf_flush (struct outbuf *out, int fd)
{
    return send_all (out, fd, false);
}

int outbuf_write (struct outbuf *out, int fd)
{
    return send_all (out, fd, true);
}

void outbuf_release (struct outbuf *out)
{
    free (out->data);
    *out = (struct outbuf){ 0 };
}

void wire_put (struct outbuf *out, const struct frame *msg)
{
    uint8_t head[FRAME_HEAD];
    frame_encode_head (msg, head);
    outbuf_reserve (out, sizeof (head) + msg->len);
    outbuf_add (out, head, sizeof (head));
    outbuf_add (out, msg->data, msg->len);
}

void wire_pieces (const struct frame *head, const char *data, size_t len,
                  void (*put) (void *ctx, const struct frame *msg), void *ctx)
{
    struct frame msg = *head;
    do {
        msg.data = data;
        msg.len = (uint32_t)MIN (len, (size_t)FRAME_DATA_MAX);
        data += msg.len;
        len -= msg.len;
        msg.stream = len == 0;
        put (ctx, &msg);
    } while (len > 0);
}

ssize_t wire_parse (const void *buf, size_t avail, struct frame *ret)
{
    const uint8_t *p = buf;
    if (avail < FRAME_HEAD)
        return 0;
    *ret = (struct frame){ .type = p[0],
                           .stream = p[1],
                           .rank = wire_get_u32 (p + 4),
                           .task = wire_get_u32 (p + 8),
                           .len = wire_get_u32 (p + 12),
                           .data = (const char *)p + FRAME_HEAD };
    bool known = (ret->type >= FRAME_OUTPUT && ret->type <= FRAME_FINISH)
                 || ret->type == FRAME_FILE
                 || (ret->type >= WIRE_JOIN && ret->type <= WIRE_STAGED)
                 || ret->type == WIRE_NODE || ret->type == WIRE_RESIZE
                 || (ret->type >= WIRE_USAGE && ret->type <= WIRE_OOM)
                 || (ret->type >= WIRE_RUN_KEEPALIVE && ret->type <= WIRE_RUN_LAST)
                 || (ret->type >= WIRE_STEP_START && ret->type <= WIRE_STEP_LAST);
    if (!known || p[2] || p[3] || ret->len > FRAME_DATA_MAX)
        return -EBADMSG;
    return avail - FRAME_HEAD < ret->len ? 0 : (ssize_t)(FRAME_HEAD + ret->len);
}

void wire_proof (const uint8_t key[AGENT_KEY_SIZE], enum wire_role role, uint64_t job_id,
                 uint32_t rank, const uint8_t member_nonce[WIRE_NONCE],
                 const uint8_t root_nonce[WIRE_NONCE], uint8_t ret[WIRE_PROOF])
{
    /* The MAC of a request (agent_auth_make) starts with its method and a blank; this
     * text never does. */
    uint8_t text[16 + 8 + 4 + 2 * WIRE_NONCE] = { 0 };
    const char *who = role == WIRE_ROLE_ROOT ? "FQJ1/root" : "FQJ1/member";
    memcpy (text, who, strlen (who));
    wire_put_u64 (text + 16, job_id);
    wire_put_u32 (text + 24, rank);
    memcpy (text + 28, member_nonce, WIRE_NONCE);
    memcpy (text + 28 + WIRE_NONCE, root_nonce, WIRE_NONCE);
    hmac_sha256 (key, AGENT_KEY_SIZE, text, sizeof (text), ret);
}

uint32_t wire_window (uint64_t spool_max, size_t nranks)
{
    uint64_t all = spool_max ? MIN (spool_max / 4, (uint64_t)WIRE_WINDOWS) : WIRE_WINDOWS;
    uint64_t share = all / MAX (nranks, 1);
    return (uint32_t)MAX (MIN (share, (uint64_t)WIRE_WINDOW_MAX),
                          (uint64_t)WIRE_WINDOW_MIN);
}

uint32_t wire_input_share (uint32_t ntasks)
{
    return MIN (MAX (WIRE_INPUT_SHARES / MAX (ntasks, 1u), WIRE_INPUT_SHARE_MIN),
                WIRE_INPUT_SHARE_MAX);
}

void wire_put_resize (uint8_t data[WIRE_RESIZE_SIZE], const struct wire_resize *r)
{
    wire_put_u32 (data, r->generation);
    wire_put_u32 (data + 4, r->state);
    wire_put_u32 (data + 8, r->from);
    wire_put_u32 (data + 12, r->to);
}

struct wire_resize wire_get_resize (const void *data)
{
    const uint8_t *p = data;
    return (struct wire_resize){ wire_get_u32 (p), wire_get_u32 (p + 4),
                                 wire_get_u32 (p + 8), wire_get_u32 (p + 12) };
}
