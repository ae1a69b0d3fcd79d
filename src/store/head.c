/* head.c - see head.h */
#include "store/head.h"

#include <fcntl.h>
#include <inttypes.h>

#include "store/rowsum.h"

#define SIZE 256 /* fits one sector */
#define FORMAT                                                                           \
    "fluxq-head 1 seq %" PRId64 " total %016" PRIx64                \
    " last-id %" PRIu64 " reserved %" PRIu64
#define SCAN                                                                             \
    "fluxq-head 1 seq %" SCNd64 " total %" SCNx64 " last-id %" SCNu64   \
    " reserved %" SCNu64

static uint64_t check_of (const char *text, size_t len)
{
    return rowsum_text (ROWSUM_START, text, len);
}

static bool decode (char *text, struct journal_head *ret)
{
    char *check = strstr (text, " check ");
    uint64_t sum;

    return check && sscanf (check, " check %" SCNx64, &sum) == 1
           && sum == check_of (text, (size_t)(check - text))
           && sscanf (text, SCAN, &ret->seq, &ret->total, &ret->last_id,
                      &ret->reserved)
                  == 4;
}

int head_open (const char *path, struct journal_head *ret, bool *known, struct error *err)
{
    char text[SIZE + 1];
    int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    *ret = (struct journal_head){ 0 };
    *known = false;
    if (fd < 0)
        return error_errno (err, errno, "journal: %s", path);
    ssize_t n = pread (fd, text, SIZE, 0);
    if (n < 0) {
        int saved = errno;
        close (fd);
        return error_errno (err, saved, "journal: %s", path);
    }
    text[n] = '\0';
    *known = decode (text, ret);
    if (!*known)
        *ret = (struct journal_head){ 0 };
    return fd;
}

int head_write (int fd, const struct journal_head *h, bool sync)
{
    char text[SIZE + 1];
    int n = snprintf (text, sizeof (text), FORMAT, h->seq, h->total, h->last_id,
                      h->reserved);

    n += snprintf (text + n, sizeof (text) - (size_t)n, " check %016" PRIx64 "\n",
                   check_of (text, (size_t)n));
    memset (text + n, '\n', (size_t)(SIZE - n));
    errno = ENOSPC; /* for a short write */
    if (pwrite (fd, text, SIZE, 0) != SIZE || (sync && fdatasync (fd) < 0))
        return -errno;
    return 0;
}
