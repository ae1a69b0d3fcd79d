/* wal.c - see wal.h */
#include "store/wal.h"

#include "store/checkpoint.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MAGIC 0x377f0682U /* the lowest bit: checksums of big-endian words */
#define HEAD 32           /* bytes of the file's header */
#define FRAME_HEAD 24
#define PAGE_MAX 65536
#define GENERATIONS_MAX 65536 /* whose frames may be left in a file */

struct wal {
    int fd;
    bool big_endian;
    uint32_t page;    /* bytes */
    uint32_t frames;  /* number of whole frames */
    bool torn;        /* followed by a part of a frame */
    uint8_t salts[8]; /* of this generation */
    uint32_t sum[2];  /* running checksum */
    bool head_good;
};

static uint32_t word_at (const uint8_t *p)
{
    uint32_t word;

    memcpy (&word, p, sizeof (word));
    return be32toh (word);
}

static void put_word (uint8_t *p, uint32_t value)
{
    value = htobe32 (value);
    memcpy (p, &value, sizeof (value));
}

static void add (struct wal *w, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint32_t x[2];
        memcpy (x, p + i, sizeof (x));
        w->sum[0] += (w->big_endian ? be32toh (x[0]) : le32toh (x[0])) + w->sum[1];
        w->sum[1] += (w->big_endian ? be32toh (x[1]) : le32toh (x[1])) + w->sum[0];
    }
}

static bool sum_is (const struct wal *w, const uint8_t *p)
{
    return word_at (p) == w->sum[0] && word_at (p + 4) == w->sum[1];
}

int wal_rewrite (const char *path, struct error *err)
{
    char piece[65536];
    autoclose int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n, put = 0;
    off_t at;

    if (fd < 0)
        return errno == ENOENT ? 0 : error_errno (err, errno, "%s", path);
    checkpoint_drop_cache (fd);
    for (at = 0; (n = pread (fd, piece, sizeof (piece), at)) > 0; at += n)
        if ((put = pwrite (fd, piece, (size_t)n, at)) != n)
            break;
    if (n == 0 && fdatasync (fd) == 0)
        return at > 0;
    int why = put >= 0 && put < n ? ENOSPC : errno;
    return error_errno (err, why, "%s: it cannot be written to the disk", path);
}

static off_t place (const struct wal *w, uint32_t frame)
{
    return HEAD + (off_t)frame * (FRAME_HEAD + (off_t)w->page);
}

static ssize_t get (int fd, void *buf, size_t len, off_t at)
{
    ssize_t n = pread (fd, buf, len, at);

    return n < 0 ? -errno : n;
}

/* 1: the file has a log, 0: it has none. */
static int begin (struct wal *w, const char *path, int flags, struct error *err)
{
    uint8_t head[HEAD];
    struct stat st;

    memset (w, 0, sizeof (*w));
    w->fd = open (path, flags | O_CLOEXEC | O_NOFOLLOW);
    if (w->fd < 0)
        return errno == ENOENT ? 0 : error_errno (err, errno, "journal: %s", path);
    ssize_t n = get (w->fd, head, HEAD, 0);
    if (n < 0 || fstat (w->fd, &st) < 0)
        return error_errno (err, n < 0 ? (int)-n : errno, "journal: %s", path);
    if (n < HEAD)
        return 0;
    w->big_endian = word_at (head) & 1;
    w->page = word_at (head + 8);
    if (w->page < 512 || w->page > PAGE_MAX || (w->page & (w->page - 1)) != 0)
        w->page = 4096; /* damaged: take the size of all our files */
    off_t size = st.st_size - HEAD, frame = FRAME_HEAD + (off_t)w->page;
    w->frames = (uint32_t)(size / frame);
    w->torn = size % frame != 0;
    memcpy (w->salts, head + 16, sizeof (w->salts));
    add (w, head, HEAD - 8);
    w->head_good = (word_at (head) & ~1U) == MAGIC && sum_is (w, head + HEAD - 8);
    return 1;
}

/* Whether the frame is of a generation before: SQLite adds 1 to the first salt for each,
 * and draws the second. Damage that leads to both is next to impossible. */
static bool is_older (const struct wal *w, const uint8_t *head)
{
    uint32_t age = word_at (w->salts) - word_at (head + 8);

    return age >= 1 && age <= GENERATIONS_MAX
           && memcmp (head + 12, w->salts + 4, sizeof (w->salts) - 4) != 0;
}

/* Scans the rest by the headers of the frames alone. A power cut may take back any frames
 * of the last transaction, also the first, where older frames are then. */
static void scan_rest (struct wal *w, struct wal_state *ret)
{
    uint8_t head[FRAME_HEAD];
    bool committed = false;

    for (uint32_t i = ret->good; i < w->frames && !ret->later; i++) {
        if (get (w->fd, head, sizeof (head), place (w, i)) != sizeof (head))
            return;
        bool ours = !memcmp (head + 8, w->salts, sizeof (w->salts));
        ret->broken |= ours;
        ret->later |= committed && ours;
        /* The salts of the first frame itself may be the damage. */
        committed |=
            (ours || (i == ret->good && !is_older (w, head))) && word_at (head + 4) != 0;
    }
    if (w->torn && get (w->fd, head, sizeof (head), place (w, w->frames)) > 16)
        ret->broken |= !memcmp (head + 8, w->salts, sizeof (w->salts));
}

int wal_scan (const char *path, struct wal_state *ret, struct error *err)
{
    static uint8_t frame[FRAME_HEAD + PAGE_MAX];
    struct wal w;

    *ret = (struct wal_state){ 0 };
    int rc = begin (&w, path, O_RDONLY, err);
    while (rc == 1 && w.head_good && ret->good < w.frames) {
        size_t size = FRAME_HEAD + w.page;
        if (get (w.fd, frame, size, place (&w, ret->good)) != (ssize_t)size)
            break;
        add (&w, frame, 8);
        add (&w, frame + FRAME_HEAD, w.page);
        if (memcmp (frame + 8, w.salts, sizeof (w.salts)) != 0 || !sum_is (&w, frame + 16))
            break;
        ret->good++;
    }
    if (rc == 1) {
        ret->frames = w.frames;
        ret->broken = !w.head_good && w.frames > 0;
        if (w.head_good)
            scan_rest (&w, ret);
    }
    if (w.fd >= 0)
        close (w.fd);
    return rc < 0 ? rc : 0;
}

static int mend_frame (struct wal *w, uint8_t *frame, uint32_t i, struct error *err)
{
    size_t size = FRAME_HEAD + w->page;

    if (get (w->fd, frame, size, place (w, i)) != (ssize_t)size)
        return error_set (err, EIO, "journal: cannot read the log");
    memcpy (frame + 8, w->salts, sizeof (w->salts));
    add (w, frame, 8);
    add (w, frame + FRAME_HEAD, w->page);
    put_word (frame + 16, w->sum[0]);
    put_word (frame + 20, w->sum[1]);
    if (pwrite (w->fd, frame, FRAME_HEAD, place (w, i)) != FRAME_HEAD)
        return error_errno (err, errno, "journal: cannot write a copy of the log");
    return 0;
}

/* Most frames have the salts of the generation; the salts in the header may be
 * damaged. */
static void find_salts (struct wal *w)
{
    uint8_t a[FRAME_HEAD], b[FRAME_HEAD];

    if (w->frames > 1 && get (w->fd, a, sizeof (a), place (w, 0)) == sizeof (a)
        && get (w->fd, b, sizeof (b), place (w, 1)) == sizeof (b)
        && !memcmp (a + 8, b + 8, sizeof (w->salts)))
        memcpy (w->salts, a + 8, sizeof (w->salts));
}

static int mend_head (struct wal *w, struct error *err)
{
    uint8_t head[HEAD];

    if (w->head_good)
        return 0;
    if (get (w->fd, head, HEAD, 0) != HEAD)
        return error_set (err, EIO, "journal: cannot read the log");
    find_salts (w);
    put_word (head, MAGIC);
    put_word (head + 4, 3007000);
    put_word (head + 8, w->page);
    memcpy (head + 16, w->salts, sizeof (w->salts));
    w->big_endian = false;
    w->sum[0] = w->sum[1] = 0;
    add (w, head, HEAD - 8);
    put_word (head + 24, w->sum[0]);
    put_word (head + 28, w->sum[1]);
    if (pwrite (w->fd, head, HEAD, 0) != HEAD)
        return error_errno (err, errno, "journal: cannot write a copy of the log");
    return 0;
}

int wal_mend (const char *path, struct error *err)
{
    static uint8_t frame[FRAME_HEAD + PAGE_MAX];
    uint8_t next[FRAME_HEAD];
    struct wal w;
    int rc = begin (&w, path, O_RDWR, err);

    if (rc == 1)
        rc = mend_head (&w, err);
    for (uint32_t i = 0; rc == 0 && i < w.frames; i++) {
        bool ours = get (w.fd, next, sizeof (next), place (&w, i)) == sizeof (next)
                    && !memcmp (next + 8, w.salts, sizeof (w.salts));
        bool behind = i + 1 < w.frames
                      && get (w.fd, next, sizeof (next), place (&w, i + 1)) == sizeof (next)
                      && !memcmp (next + 8, w.salts, sizeof (w.salts));
        if (!ours && !behind)
            break; /* an older generation */
        rc = mend_frame (&w, frame, i, err);
    }
    if (w.fd >= 0)
        close (w.fd);
    return rc;
}
