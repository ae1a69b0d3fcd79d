/* fuzz_agent_session.c - messages of a hostile client over a session that loses its connection
 * and comes back
 *
 * Parser: shell/io/resumable.c protocol/session.c protocol/keepalive.c
 * The first byte sets where the connection breaks. A peer that claims bytes which were never
 * sent is refused, and no message comes twice.
 */
#define FUZZ_FRAMES_AT 1
#include "fuzz_frames.h"

#include <fcntl.h>
#include <unistd.h>

#include "protocol/keepalive.h"
#include "shell/io/resumable.h"

static void put (struct resumable *r, const char *text)
{
    resumable_put (r, &(struct frame){ .type = WIRE_RUN_NOTE,
                                       .len = (uint32_t)strlen (text),
                                       .data = text });
}

static void receive (struct resumable *r, const uint8_t *data, size_t size)
{
    struct frame msg;
    ssize_t n;

    for (; (n = wire_parse (data, size, &msg)) > 0; data += n, size -= (size_t)n) {
        uint64_t acked = r->acked, received = r->received;
        bool open = r->open, own = resumable_received (r, &msg, (size_t)n);
        assert (r->acked >= acked && r->sent <= r->out.len);
        assert (!own || msg.type == WIRE_RUN_SESSION);
        assert (r->received == received || r->received == received + (size_t)n);
        assert (msg.type == WIRE_RUN_SESSION || !open || r->received > received);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct resumable r = { 0 };
    uint8_t msg[KEEPALIVE_SIZE];
    size_t at;

    if (size < 1)
        return 0;
    int fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
    assert (fd >= 0);
    at = MIN ((size_t)data[0] * 4, size - 1);
    keepalive_encode (data[0] % 3, data[0], msg);
    put (&r, "before");
    resumable_open (&r);
    put (&r, "one");
    resumable_flush (&r, fd);
    receive (&r, data + 1, at);
    resumable_lost (&r);
    put (&r, "two");
    uint64_t end = r.acked + r.out.len;
    assert (resumable_resume (&r, end + 1) == -EBADMSG);
    int rc = resumable_resume (&r, data[0]);
    assert (rc == 0 || rc == -EBADMSG);
    assert (rc < 0 || (data[0] <= end && r.acked == data[0]));
    if (rc == 0) {
        resumable_flush (&r, fd);
        receive (&r, data + 1 + at, size - 1 - at);
        resumable_is_done (&r);
    }
    resumable_release (&r);
    close (fd);
    return 0;
}
