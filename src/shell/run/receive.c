/* receive.c - a task of fluxq-bcast: writes its standard input to a file and checks the
 * digest */
#include <fcntl.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/sha256.h"
#include "shell/run/bcast.h"

#define PIECE (64 * 1024)

/* Copies the file's bytes from standard input to fd. */
static int copy (int fd, const char *path, uint64_t size, struct sha256 *sum,
                 struct error *err)
{
    char buf[PIECE];
    while (size > 0) {
        ssize_t n = read (STDIN_FILENO, buf, MIN (size, sizeof (buf)));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno (err, errno, "standard input");
        if (n == 0)
            return error_set (err, EPIPE, "%s: the file ended %ju bytes too early", path,
                              (uintmax_t)size);
        sha256_update (sum, buf, (size_t)n);
        int rc = io_write_all (fd, buf, (size_t)n);
        if (rc < 0)
            return error_errno (err, -rc, "%s", path);
        size -= (uint64_t)n;
    }
    return 0;
}

static int check (const char *path, struct sha256 *sum, uint8_t ours[SHA256_SIZE],
                  struct error *err)
{
    uint8_t theirs[SHA256_SIZE];
    ssize_t n = io_read_all (STDIN_FILENO, theirs, sizeof (theirs));
    sha256_final (sum, ours);
    if (n != (ssize_t)sizeof (theirs) || memcmp (ours, theirs, sizeof (theirs)) != 0)
        return error_set (err, EBADMSG,
                          "%s: the received data differs from the sent "
                          "data",
                          path);
    return 0;
}

/* Whether the file has this digest: on a shared directory, the task of another node may
 * have written it. */
static bool has_digest (const char *path, const uint8_t digest[SHA256_SIZE])
{
    autoclose int fd = open (path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    uint8_t theirs[SHA256_SIZE];
    struct sha256 sum;
    char buf[PIECE];
    ssize_t n = -1;
    sha256_init (&sum);
    while (fd >= 0 && (n = read (fd, buf, sizeof (buf))) > 0)
        sha256_update (&sum, buf, (size_t)n);
    sha256_final (&sum, theirs);
    return n == 0 && memcmp (digest, theirs, sizeof (theirs)) == 0;
}

/* Without --force an existing file is not replaced, even one that was created
 * meanwhile. */
static int give_name (const struct receive *r, const char *temporary,
                      const uint8_t digest[SHA256_SIZE], struct error *err)
{
    if (r->force)
        return rename (temporary, r->dest) == 0 ? 0
                                                : error_errno (err, errno, "%s", r->dest);
    if (link (temporary, r->dest) == 0
        || (errno == EEXIST && has_digest (r->dest, digest)))
        return 0;
    if (errno == EEXIST)
        return error_set (err, EEXIST, "%s already exists (--force replaces it)",
                          r->dest);
    return error_errno (err, errno, "%s", r->dest);
}

static int write_file (const struct receive *r, int fd, const char *temporary,
                       struct error *err)
{
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = r->mtime } };
    uint8_t digest[SHA256_SIZE];
    struct sha256 sum;
    sha256_init (&sum);
    int rc = copy (fd, r->dest, r->size, &sum, err);
    if (rc == 0)
        rc = check (r->dest, &sum, digest, err);
    if (rc == 0
        && (fchmod (fd, r->mode & 0777) < 0
            || (r->mtime >= 0 && futimens (fd, times) < 0)))
        rc = error_errno (err, errno, "%s", r->dest);
    return rc < 0 ? rc : give_name (r, temporary, digest, err);
}

/* The file in the directory `dest` that srun --bcast has named. NULL: no memory. */
static char *name_in (const char *dest)
{
    const char *job = getenv ("FLUXQ_JOB_ID"), *step = getenv ("FLUXQ_STEP_ID");
    const char *node = getenv ("FLUXQ_NODENAME");
    char *path;

    return asprintf (&path, "%s" BCAST_NAME "%s", dest, job ? job : "", step ? step : "",
                     node ? node : "")
                   < 0
               ? NULL
               : path;
}

int receive_file (const struct receive *r, struct error *err)
{
    size_t len = strlen (r->dest);
    autofree char *path =
        len > 0 && r->dest[len - 1] == '/' ? name_in (r->dest) : strdup (r->dest);
    struct receive own = *r;
    autofree char *temporary = NULL;

    own.dest = path;
    if (!path || asprintf (&temporary, "%s.XXXXXX", path) < 0)
        return error_no_memory (err, NULL);
    autoclose int fd = mkostemp (temporary, O_CLOEXEC);
    if (fd < 0)
        return error_errno (err, errno, "cannot write %s", path);
    int rc = write_file (&own, fd, temporary, err);
    unlink (temporary); /* fails after a rename: fine */
    return rc;
}
