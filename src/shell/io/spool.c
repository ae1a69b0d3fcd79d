/* spool.c - the file that keeps the output of a job: appends, limits, releases */
#include "shell/io/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "shell/io/shared.h"

#define BLOCK 4096u
#define RESERVE (64u * 1024)      /* for the last frames of the job on a full disk */
#define ALLOC_FIRST (256u * 1024) /* enough for most jobs */
#define ALLOC_MORE (4u << 20)
#define COPY_MAX 4096u /* longer frames are written at once, not copied */

/* Allocate file space ahead for len more bytes and the reserve. */
static int make_room (struct spool *spool, size_t len)
{
    if (spool->no_alloc || spool->len + len + RESERVE <= spool->alloc)
        return 0;
    uint64_t more = spool->alloc ? ALLOC_MORE : ALLOC_FIRST;
    int rc;
    do {
        rc = fallocate (spool->fd, FALLOC_FL_KEEP_SIZE, (off_t)spool->alloc, (off_t)more);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        spool->no_alloc = true;
        return 0;
    }
    if (rc < 0)
        return -errno;
    spool->alloc += more;
    return 0;
}

int spool_create (struct spool *spool, const char *path, uint64_t max, struct error *err)
{
    *spool = (struct spool){ .max = max };
    spool->fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (spool->fd < 0 || fchmod (spool->fd, 0600 | shared_bits (path)) < 0)
        return error_errno (err, errno, "spool %s", path);
    spool->buf = malloc (SPOOL_BUFFER);
    if (!spool->buf)
        return error_no_memory (err, NULL);
    int rc = make_room (spool, 0);
    if (rc < 0) {
        unlink (path); /* a later start must not take the job for a started one */
        return error_errno (err, -rc, "spool %s", path);
    }
    return 0;
}

/* Writes the whole vector; after a failure cuts the file back to whole frames. */
static int write_whole (struct spool *spool, struct iovec *iov, int niov)
{
    uint64_t end = spool->written;
    while (niov > 0) {
        if (iov->iov_len == 0) {
            iov++, niov--;
            continue;
        }
        ssize_t n = pwritev (spool->fd, iov, niov, (off_t)end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int errnum = n < 0 ? errno : EIO;
            if (ftruncate (spool->fd, (off_t)spool->written) < 0)
                spool->err = errno;
            return -errnum;
        }
        end += (uint64_t)n;
        for (size_t left = (size_t)n; left > 0;) {
            size_t part = MIN (left, iov->iov_len);
            iov->iov_base = (char *)iov->iov_base + part;
            iov->iov_len -= part;
            left -= part;
            if (iov->iov_len == 0)
                iov++, niov--;
        }
    }
    spool->written = end;
    return 0;
}

void spool_keep (struct spool *spool, uint64_t max)
{
    output_limit_init (&spool->gap, spool->fd, max);
}

/* Writes buf and then the frame, if there is one. */
static int write_out (struct spool *spool, const struct frame *frame)
{
    uint8_t head[FRAME_HEAD];
    struct iovec iov[3] = { { spool->buf, spool->buflen }, { NULL, 0 }, { NULL, 0 } };
    if (frame) {
        frame_encode_head (frame, head);
        iov[1] = (struct iovec){ head, sizeof (head) };
        iov[2] = (struct iovec){ (void *)(uintptr_t)frame->data, frame->len };
    }
    int rc = write_whole (spool, iov, 3);
    spool->buflen = 0;
    spool->len = spool->written;
    if (rc == 0 && output_limit_advance (&spool->gap, spool->fd, spool->written) < 0)
        spool->gap.max = 0; /* not what we wrote: cut no more */
    if (rc < 0 && !spool->err)
        spool->err = -rc;
    return rc;
}

int spool_append (struct spool *spool, const struct frame *frame)
{
    size_t size = FRAME_HEAD + frame->len;
    if (frame->type == FRAME_OUTPUT || frame->type == FRAME_FILE) {
        int rc = spool->err ? -spool->err : make_room (spool, size);
        if (rc < 0) {
            spool->err = rc == -ENOSPC || rc == -EDQUOT ? 0 : -rc;
            return rc;
        }
    } else {
        make_room (spool, size); /* on failure the reserve is used */
    }
    if (frame->type == FRAME_FINISH)
        spool->finished = true;
    if (frame->len > COPY_MAX || spool->buflen + size > SPOOL_BUFFER)
        return write_out (spool, frame);
    frame_encode_head (frame, (uint8_t *)spool->buf + spool->buflen);
    memcpy (spool->buf + spool->buflen + FRAME_HEAD, frame->len ? frame->data : "",
            frame->len);
    spool->buflen += size;
    spool->len += size;
    return 0;
}

int spool_flush (struct spool *spool)
{
    return spool->buflen > 0 ? write_out (spool, NULL) : 0;
}

int spool_sync (struct spool *spool, const char *path)
{
    const char *slash = strrchr (path, '/');
    autofree char *dir = slash ? strndup (path, (size_t)(slash - path) + 1) : strdup (".");
    autoclose int fd = dir ? open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    return fd < 0 || fdatasync (spool->fd) < 0 || fsync (fd) < 0 ? -errno : 0;
}

bool spool_full (const struct spool *spool)
{
    return spool->max > 0 && spool->len - spool->released >= spool->max;
}

ssize_t spool_read (const struct spool *spool, uint64_t offset, void *buf, size_t size)
{
    if (offset >= spool->written)
        return 0;
    size = MIN (size, spool->written - offset);
    ssize_t n;
    do {
        n = pread (spool->fd, buf, size, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int spool_release_until (struct spool *spool, uint64_t offset)
{
    if (offset > spool->written)
        return -EINVAL;
    if (offset <= spool->released)
        return 0;
    spool->released = offset;
    uint64_t whole = offset - offset % BLOCK;
    if (whole > spool->punched
        && fallocate (spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t)spool->punched, (off_t)(whole - spool->punched))
               == 0)
        spool->punched = whole;
    return 0;
}

void spool_trim (struct spool *spool)
{
    if (spool->alloc > spool->written)
        (void)!ftruncate (spool->fd, (off_t)spool->written);
    spool->alloc = spool->written;
}

void spool_close (struct spool *spool)
{
    if (spool->fd < 0)
        return;
    spool_trim (spool);
    close (spool->fd);
    free (spool->buf);
    spool->fd = -1;
}
