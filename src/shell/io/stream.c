/* stream.c - fills a buffer with the next bytes of the spool for a reader */
#include "shell/io/stream.h"

#define PIECE (FRAME_HEAD + FRAME_DATA_MAX) /* the largest frame */
#define SCAN_MAX (1u << 20)                 /* bytes of spool scanned in one call */

static char piece[PIECE];

static void put_chunk (struct stream *stream, struct outbuf *out, const char *data,
                       size_t len)
{
    char head[24];
    if (!stream->chunked) {
        outbuf_add (out, data, len);
        return;
    }
    int n = snprintf (head, sizeof (head), "%zx\r\n", len);
    outbuf_add (out, head, (size_t)n);
    outbuf_add (out, data, len);
    outbuf_add (out, "\r\n", 2);
}

/* Like spool_read(), but skips the part cut out, or fails with -ESTALE within it. */
static ssize_t read_on (struct stream *stream, const struct spool *spool)
{
    const struct output_limit *gap = &spool->gap;
    size_t size = sizeof (piece);
    if (gap->at && stream->pos >= gap->at && stream->pos < gap->next) {
        if (stream->output)
            return -ESTALE;
        stream->pos = gap->next;
    }
    if (gap->at && stream->pos < gap->at)
        size = MIN (size, gap->at - stream->pos);
    return spool_read (spool, stream->pos, piece, size);
}

static int put_all (struct stream *stream, const struct spool *spool, struct outbuf *out)
{
    ssize_t n = read_on (stream, spool);
    if (n <= 0)
        return (int)n;
    put_chunk (stream, out, piece, (size_t)n);
    stream->pos += (uint64_t)n;
    return 1;
}

/* Appends frames other than output and files. Also returns 1 if the scan stopped before
 * it found one. */
static int put_events (struct stream *stream, const struct spool *spool,
                       struct outbuf *out)
{
    uint64_t end = stream->pos + SCAN_MAX;
    size_t kept = 0;
    while (kept == 0 && stream->pos < end) {
        ssize_t n = read_on (stream, spool);
        if (n <= 0)
            return (int)n;
        size_t at = 0;
        for (struct frame f; at < (size_t)n;) {
            ssize_t size = frame_parse (piece + at, (size_t)n - at, &f);
            if (size < 0)
                return -EBADMSG;
            if (size == 0)
                break;
            if (f.type != FRAME_OUTPUT && f.type != FRAME_FILE) {
                memmove (piece + kept, piece + at, (size_t)size);
                kept += (size_t)size;
            }
            at += (size_t)size;
        }
        if (at == 0)
            return -EBADMSG; /* frames are whole: pos was not at a head */
        stream->pos += at;
    }
    if (kept > 0)
        put_chunk (stream, out, piece, kept);
    return 1;
}

int stream_fill (struct stream *stream, const struct spool *spool, struct outbuf *out)
{
    if (stream->ended)
        return 2;
    if (stream->pos < spool->released && stream->pos < spool->written)
        return -ESTALE;
    int rc =
        stream->output ? put_all (stream, spool, out) : put_events (stream, spool, out);
    if (rc != 0)
        return rc;
    if (!spool->finished || stream->pos < spool->len)
        return 0;
    if (stream->chunked)
        outbuf_add (out, "0\r\n\r\n", 5);
    stream->ended = true;
    return 2;
}
