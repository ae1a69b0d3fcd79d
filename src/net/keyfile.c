/* keyfile.c - see keyfile.h */
#include "net/keyfile.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/sha256.h"

/* Bits of the mode that make the file unsafe. */
static mode_t forbidden_bits (const struct stat *st, enum keyfile_kind kind)
{
    if (kind == KEYFILE_PUBLIC)
        return 022;
    return kind == KEYFILE_SHARED && st->st_uid == 0 ? 027 : 077;
}

static int check_file (int fd, const char *path, enum keyfile_kind kind,
                       struct error *err)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return error_errno (err, errno, "%s", path);
    if (!S_ISREG (st.st_mode))
        return error_set (err, EINVAL, "%s: not a regular file", path);
    if (st.st_uid != 0 && st.st_uid != geteuid ())
        return error_set (err, EPERM,
                          "%s: belongs to uid %u: it must belong to root or to uid %u",
                          path, (unsigned)st.st_uid, (unsigned)geteuid ());
    if (st.st_mode & forbidden_bits (&st, kind))
        return error_set (err, EPERM, "%s: mode %04o lets others %s it: use chmod %s",
                          path, st.st_mode & 07777U,
                          kind == KEYFILE_PUBLIC ? "write" : "read",
                          kind == KEYFILE_PUBLIC ? "0644" : "0600");
    return 0;
}

int keyfile_read (struct strbuf *sb, const char *path, enum keyfile_kind kind,
                  struct error *err)
{
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return error_errno (err, errno, "%s", path);
    int rc = check_file (fd, path, kind, err);
    if (rc == 0 && (rc = io_read_fd (fd, sb, sb->max - 1)) < 0)
        return error_errno (err, -rc, "%s", path);
    return rc < 0 ? rc : 0;
}

void keyfile_wipe (struct strbuf *sb)
{
    if (sb->buf && sb->len > 0)
        secret_wipe (sb->buf, sb->len);
    strbuf_release (sb);
}
