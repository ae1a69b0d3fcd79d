/* output_limit.c - see output_limit.h */
#include "protocol/output_limit.h"

#include <fcntl.h>

#include "common/macros.h"

#define TYPE_GAP 0xcc
#define BLOCK 4096u
#define PARTS 16 /* the first one stays; the file grows by one between two changes */
#define WINDOW (16 * 1024)

/* Reads heads of frames, a piece of the file at a time. */
struct walker {
    int fd;
    uint64_t base;
    size_t len;
    uint8_t buf[WINDOW];
};

/* The bytes at pos. *ret_avail: at least OUTPUT_GAP_SIZE, unless the file ends before. */
static const uint8_t *look_at (struct walker *w, uint64_t pos, size_t *ret_avail)
{
    if (pos < w->base || pos + OUTPUT_GAP_SIZE > w->base + w->len) {
        ssize_t n;
        do {
            n = pread (w->fd, w->buf, sizeof (w->buf), (off_t)pos);
        } while (n < 0 && errno == EINTR);
        w->base = pos;
        w->len = (size_t)MAX (n, 0);
    }
    *ret_avail = w->base + w->len - pos;
    return w->buf + (pos - w->base);
}

/* Find the first frame at `least` or later, beginning at the frame at `from`. */
static int find_frame (int fd, uint64_t from, uint64_t least, uint64_t *ret)
{
    struct walker w = { .fd = fd };
    size_t avail;

    while (from < least) {
        const uint8_t *head = look_at (&w, from, &avail);
        ssize_t size = avail < FRAME_HEAD ? -EBADMSG : frame_size (head);

        if (size < 0)
            return (int)size;
        from += (uint64_t)size;
    }
    *ret = from;
    return 0;
}

static void encode_gap (uint8_t buf[OUTPUT_GAP_SIZE], uint64_t next)
{
    memset (buf, 0, OUTPUT_GAP_SIZE);
    buf[0] = TYPE_GAP;
    for (int i = 0; i < 8; i++)
        buf[FRAME_HEAD + i] = (uint8_t)(next >> (8 * i));
}

bool output_gap_parse (const void *buf, size_t avail, uint64_t *ret_next)
{
    static const uint8_t head[FRAME_HEAD] = { TYPE_GAP };
    const uint8_t *p = buf;

    if (avail < OUTPUT_GAP_SIZE || memcmp (p, head, sizeof (head)) != 0)
        return false;
    *ret_next = 0;
    for (int i = 7; i >= 0; i--)
        *ret_next = *ret_next << 8 | p[FRAME_HEAD + i];
    return *ret_next <= INT64_MAX;
}

int output_limit_find (int fd, uint64_t *ret_next)
{
    struct walker w = { .fd = fd };
    uint64_t pos = 0;
    size_t avail;

    for (;;) {
        const uint8_t *head = look_at (&w, pos, &avail);

        if (output_gap_parse (head, avail, ret_next))
            return *ret_next > pos ? 0 : -EBADMSG;
        if (avail < FRAME_HEAD)
            return -ENOENT;
        ssize_t size = frame_size (head);
        if (size < 0)
            return (int)size;
        pos += (uint64_t)size;
    }
}

static bool is_zero (const uint8_t *p, size_t n)
{
    return p[0] == 0 && memcmp (p, p + 1, n - 1) == 0;
}

size_t output_limit_before_hole (int fd, uint64_t offset, const void *buf, size_t n)
{
    const uint8_t *p = buf;
    size_t first = (size_t)(-offset % BLOCK);

    for (size_t at = first; at < n; at += BLOCK) {
        off_t pos = (off_t)(offset + at);

        if (is_zero (p + at, MIN (n - at, BLOCK)) && lseek (fd, pos, SEEK_DATA) != pos)
            return at;
    }
    return n;
}

static int punch (int fd, uint64_t from, uint64_t to)
{
    return fallocate (fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                      (off_t)(to - from))
                   < 0
               ? -errno
               : 0;
}

void output_limit_init (struct output_limit *c, int fd, uint64_t max)
{
    *c = (struct output_limit){ .max = max };
    if (max && punch (fd, (uint64_t)1 << 40, ((uint64_t)1 << 40) + BLOCK) < 0)
        c->max = 0;
}

/* Give back the blocks from the end of the last hole on, which can be within a block. */
static int give_back (const struct output_limit *c, int fd, uint64_t from)
{
    uint64_t least = (c->at + OUTPUT_GAP_SIZE + BLOCK - 1) / BLOCK * BLOCK;
    uint64_t first = MAX (from / BLOCK * BLOCK, least);
    uint64_t last = c->next / BLOCK * BLOCK;

    return last > first ? punch (fd, first, last) : 0;
}

static int write_gap (const struct output_limit *c, int fd)
{
    uint8_t buf[OUTPUT_GAP_SIZE];

    encode_gap (buf, c->next);
    ssize_t n = pwrite (fd, buf, sizeof (buf), (off_t)c->at);
    if (n < 0 || (c->durable && fdatasync (fd) < 0))
        return -errno;
    return n == sizeof (buf) ? 0 : -EIO;
}

int output_limit_advance (struct output_limit *c, int fd, uint64_t end)
{
    uint64_t part = c->max / PARTS;
    struct output_limit then = *c;
    int rc = 0;

    /* Nothing to do while the first part and the newest frames are less than max. */
    if (!c->max || end <= c->max || (c->at && c->at + (end - c->next) < c->max))
        return 0;
    if (!c->at)
        rc = find_frame (fd, 0, part, &then.at);
    uint64_t from = c->at ? c->next : then.at;
    uint64_t newest = MAX (end - (c->max - 2 * part), then.at + OUTPUT_GAP_SIZE);
    if (rc == 0)
        rc = find_frame (fd, from, newest, &then.next);
    if (rc == 0)
        rc = write_gap (&then, fd);
    if (rc < 0)
        return rc;
    *c = then;
    return give_back (c, fd, from);
}
