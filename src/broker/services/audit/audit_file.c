/* audit_file.c - see audit_file.h
 */
#include "broker/services/audit/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/services/audit/audit_line.h"
#include "common/clock.h"

#define ROTATE_AGAIN 10.0 /* seconds after a failure */
#define LINE_BEGIN "{\"time\":"

struct audit_file {
    char *path;
    int fd; /* -1: the file could not be opened again */
    uint64_t most;
    unsigned keep;
    bool torn;          /* the file ends with a part of a line that cannot be removed */
    double stuck_until; /* clock_mono(): when to try to rotate again */
    struct error stuck; /* why it could not be rotated */
};

/* -- opening -- */

/* A process that is killed during a write may leave the beginning of a line. Anything else
 * without a newline stays. */
static void mend (struct audit_file *f, off_t size)
{
    char tail[AUDIT_LINE_MAX + 1];
    size_t len = MIN ((size_t)size, sizeof (tail));

    if (len == 0 || pread (f->fd, tail, len, size - (off_t)len) != (ssize_t)len
        || tail[len - 1] == '\n')
        return;
    const char *newline = memrchr (tail, '\n', len);
    size_t begin = newline ? (size_t)(newline - tail) + 1 : 0;
    size_t n = MIN (len - begin, sizeof (LINE_BEGIN) - 1);

    f->torn = (!newline && len == sizeof (tail))
              || memcmp (tail + begin, LINE_BEGIN, n) != 0
              || ftruncate (f->fd, size - (off_t)(len - begin)) < 0;
}

static int open_file (struct audit_file *f, struct error *err)
{
    struct stat st;

    f->torn = false;
    f->fd = open (f->path,
                  O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
                      | O_CLOEXEC,
                  0600);
    if (f->fd < 0)
        return error_errno (err, errno, "%s", f->path);
    if (fstat (f->fd, &st) == 0 && S_ISREG (st.st_mode)) {
        mend (f, st.st_size);
        return 0;
    }
    close (f->fd);
    f->fd = -1;
    return error_set (err, EINVAL, "%s: not a regular file", f->path);
}

struct audit_file *audit_file_open (const char *path, uint64_t most, unsigned keep,
                                    struct error *err)
{
    struct audit_file *f = calloc (1, sizeof (*f));

    if (f) {
        f->fd = -1;
        f->most = most;
        f->keep = keep;
    }
    if (!f || !(f->path = strdup (path)))
        error_set (err, ENOMEM, "out of memory");
    else if (open_file (f, err) == 0)
        return f;
    audit_file_close (f);
    return NULL;
}

void audit_file_close (struct audit_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close (f->fd);
    free (f->path);
    free (f);
}

const char *audit_file_path (const struct audit_file *f)
{
    return f->path;
}

const char *audit_file_trouble (const struct audit_file *f)
{
    return f->stuck.code ? f->stuck.text : NULL;
}

/* -- rotation -- */

static int move (const struct audit_file *f, unsigned from, unsigned to,
                 struct error *err)
{
    char a[PATH_MAX], b[PATH_MAX];
    int na = from ? snprintf (a, sizeof (a), "%s.%u", f->path, from)
                  : snprintf (a, sizeof (a), "%s", f->path);
    int nb = snprintf (b, sizeof (b), "%s.%u", f->path, to);

    if (na >= PATH_MAX || nb >= PATH_MAX)
        return error_errno (err, ENAMETOOLONG, "%s", f->path);
    if (rename (a, b) < 0 && (errno != ENOENT || from == 0))
        return error_errno (err, errno, "%s cannot be renamed to %s", a, b);
    return 0;
}

/* Moves the file away; 0: the next one is to be opened. On failure the file goes on. */
static int rotate (struct audit_file *f)
{
    int rc = 0;

    if (clock_mono () < f->stuck_until)
        return -EAGAIN;
    f->stuck = (struct error){ 0 };
    for (unsigned i = f->keep - 1; i > 0 && rc == 0; i--)
        rc = move (f, i, i + 1, &f->stuck);
    if (rc == 0)
        rc = move (f, 0, 1, &f->stuck);
    f->stuck_until = rc < 0 ? clock_mono () + ROTATE_AGAIN : 0;
    return rc;
}

/* Prepares for a line of this length. */
static int settle (struct audit_file *f, size_t len, off_t *ret_size, struct error *err)
{
    struct stat at, st = { 0 };
    bool same = f->fd >= 0 && lstat (f->path, &at) == 0 && fstat (f->fd, &st) == 0
                && at.st_dev == st.st_dev && at.st_ino == st.st_ino;

    if (same && f->most > 0 && st.st_size > 0 && (uint64_t)st.st_size + len > f->most)
        same = rotate (f) < 0;
    if (!same) {
        if (f->fd >= 0)
            close (f->fd);
        if (open_file (f, err) < 0)
            return -err->code;
        if (fstat (f->fd, &st) < 0)
            return error_errno (err, errno, "%s", f->path);
    }
    *ret_size = st.st_size;
    return 0;
}

/* -- writing -- */

/* The number of bytes written, less than len with errno. */
static size_t write_all (int fd, const char *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = write (fd, data + done, len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    return done;
}

int audit_file_write (struct audit_file *f, const char *line, size_t len,
                      struct error *err)
{
    off_t size = 0;
    int rc = settle (f, len, &size, err);

    if (rc < 0)
        return rc;
    if (f->torn && write_all (f->fd, "\n", 1) < 1)
        return error_errno (err, errno, "%s", f->path);
    size += f->torn;
    f->torn = false;
    size_t done = write_all (f->fd, line, len);
    if (done == len)
        return 0;
    rc = error_errno (err, errno, "%s", f->path);
    if (done > 0)
        f->torn = ftruncate (f->fd, size) < 0;
    return rc;
}
