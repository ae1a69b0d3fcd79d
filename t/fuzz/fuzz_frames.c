/* fuzz_frames.c - a spool of a hostile agent: its frames, its end, its gap, the text that
 * users see of it, and the tokens of sessions
 *
 * Parser: protocol/frame.c protocol/output_limit.c protocol/session.c
 * Parser: broker/services/stream/output_text.c
 */
#include "fuzz_frames.h"

#include <sys/mman.h>
#include <unistd.h>

#include "broker/services/stream/output_text.h"
#include "protocol/output_limit.h"
#include "protocol/session.h"
#include "protocol/stepuse.h"

static void check_frame (const uint8_t *data, size_t left, const struct frame *f,
                         size_t n)
{
    uint8_t head[FRAME_HEAD];

    assert (n == FRAME_HEAD + f->len && n <= left && f->len <= FRAME_DATA_MAX);
    assert (f->type > 0 && f->type < FRAME_TYPES && frame_size (data) == (ssize_t)n);
    assert (f->data == (const char *)data + FRAME_HEAD);
    frame_encode_head (f, head);
    assert (!memcmp (head, data, FRAME_HEAD));
    struct frame part;
    assert (frame_parse (data, n - 1, &part) == 0); /* incomplete */
}

static void check_finish (const struct frame *f)
{
    struct frame_finish fin, again;
    char buf[320];

    if (frame_finish_decode (f->data, f->len, &fin) < 0)
        return;
    assert (fin.status >= 0 && fin.status <= 65535 && fin.reason[0]);
    int n = frame_finish_encode (&fin, buf, sizeof (buf));
    assert (n > 0 && buf[n] == '\0');
    assert (frame_finish_decode (buf, (size_t)n, &again) == 0);
    assert (again.status == fin.status && !strcmp (again.reason, fin.reason));
}

static void check_use (const struct frame *f)
{
    struct use use, again;
    char text[USE_TEXT_MAX];

    if (use_decode (f->data, f->len, &use) < 0)
        return;
    size_t n = use_encode (&use, text);
    assert (use_decode (text, n, &again) == 0 && again.known == use.known);
    use_add (&again, &use);
    use_join (&again, &use);
    use_overrule (&again, &use);
}

static void check_session (const struct frame *f)
{
    autofree char *text = fuzz_text (f->data, f->len);
    uint8_t token[SESSION_TOKEN], msg[SESSION_MESSAGE_MAX];
    struct frame back;

    if (!session_parse (text, token))
        return;
    size_t n = session_encode (SESSION_NEW, token, 30, 4, msg);
    assert (frame_parse_type (msg, n, SESSION_TYPE, &back) == (ssize_t)n);
    assert (back.stream == SESSION_NEW && !memcmp (back.data, token, SESSION_TOKEN));
}

/* The text of all output, and of one task alone, which is no longer. */
static void check_text (const uint8_t *data, size_t size)
{
    struct output_text all = { .rank = -1, .task = -1 },
                       one = { .rank = 0, .task = 1, .stream = 1 },
                       labelled = { .rank = -1, .task = -1, .label = true };
    struct frame f;
    ssize_t n;

    strbuf_init (&all.text, 1 << 20);
    strbuf_init (&one.text, 1 << 20);
    strbuf_init (&labelled.text, 1 << 24);
    for (size_t at = 0; (n = frame_parse (data + at, size - at, &f)) > 0;
         at += (size_t)n) {
        output_text_add (&all, &f);
        output_text_add (&one, &f);
        output_text_add (&labelled, &f);
    }
    assert (one.text.len <= all.text.len && all.text.len <= labelled.text.len);
    output_text_add_line (&all, "end", 3);
    assert (strstr (all.text.buf + all.text.len - 4, "end"));
    strbuf_release (&all.text);
    strbuf_release (&one.text);
    strbuf_release (&labelled.text);
}

/* A spool file with these bytes; the writer may not remove more than there is. */
static void check_file (const uint8_t *data, size_t size, size_t whole)
{
    int fd = memfd_create ("spool", MFD_CLOEXEC);
    struct output_limit limit;
    uint64_t next;

    assert (fd >= 0 && write (fd, data, size) == (ssize_t)size);
    int rc = output_limit_find (fd, &next);
    assert (rc == 0 || rc == -ENOENT || rc == -EBADMSG);
    assert (output_limit_before_hole (fd, 0, data, size) <= size);
    output_gap_parse (data, size, &next);
    output_limit_init (&limit, fd, SPOOL_MAX_LEAST);
    assert (output_limit_advance (&limit, fd, whole) == 0 && limit.at == 0);
    close (fd);
}

/* The frames again and again: the writer removes whole frames in the middle. */
static void check_long (const uint8_t *data, size_t whole)
{
    int fd = memfd_create ("spool", MFD_CLOEXEC);
    struct output_limit limit;
    char head[OUTPUT_GAP_SIZE];
    uint64_t end = 0, next, found;

    assert (fd >= 0);
    output_limit_init (&limit, fd, SPOOL_MAX_LEAST);
    while (end < 2 * SPOOL_MAX_LEAST) {
        assert (write (fd, data, whole) == (ssize_t)whole);
        end += whole;
    }
    assert (output_limit_advance (&limit, fd, end) == 0);
    if (limit.at > 0) {
        assert (limit.next > limit.at && limit.next <= end);
        assert (pread (fd, head, sizeof (head), (off_t)limit.at) == sizeof (head));
        assert (output_gap_parse (head, sizeof (head), &next) && next == limit.next);
        assert (output_limit_find (fd, &found) == 0 && found == limit.next);
        assert (output_limit_before_hole (fd, limit.at, head, sizeof (head)) > 0);
    }
    close (fd);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    size_t at = 0;
    struct frame f;
    ssize_t n;

    while ((n = frame_parse (data + at, size - at, &f)) > 0) {
        check_frame (data + at, size - at, &f, (size_t)n);
        check_finish (&f);
        check_use (&f);
        check_session (&f);
        at += (size_t)n;
    }
    assert (n == 0 || n == -EBADMSG);
    check_text (data, size);
    check_file (data, size, at);
    if (at >= 1000
        || (at > 0 && data[1] == 7)) /* not each time: it takes a millisecond */
        check_long (data, at);
    return 0;
}
