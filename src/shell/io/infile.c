/* infile.c - opens a task's standard input */
#include "shell/io/infile.h"

#include <fcntl.h>
#include <sys/stat.h>

#define NAME_MAX_BYTES 4096

/* Refuses a FIFO, which would delay the start until a process writes to it. */
static int check_kind (int fd, const char *path, struct error *err)
{
    struct stat st;
    int flags = fcntl (fd, F_GETFL);

    if (fstat (fd, &st) < 0 || flags < 0 || fcntl (fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return error_errno (err, errno, "input file: %s", path);
    if (S_ISDIR (st.st_mode))
        return error_set (err, EISDIR, "input file: %s is a directory, not a file", path);
    if (!S_ISREG (st.st_mode) && !S_ISCHR (st.st_mode))
        return error_set (err, EINVAL,
                          "input file: %s is not a regular file (redirect the input in "
                          "the script)",
                          path);
    return 0;
}

static int open_path (const char *path, int cwd, struct error *err)
{
    int fd = openat (cwd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return error_errno (err, errno, "input file: %s", path);
    int rc = check_kind (fd, path, err);
    if (rc < 0)
        close (fd);
    return rc < 0 ? rc : fd;
}

int infile_open (const struct launch *l, uint32_t rank, uint32_t task, int cwd,
                 struct error *err)
{
    const struct pattern_vars vars = launch_pattern_vars (l, rank, task);
    struct strbuf path = STRBUF_INIT (NAME_MAX_BYTES);

    if (!l->input || !*l->input)
        return open_path ("/dev/null", cwd, err);
    int rc = pattern_expand (l->input, &vars, &path, err);
    rc = rc < 0 ? error_prefix (err, "input file") : open_path (path.buf, cwd, err);
    strbuf_release (&path);
    return rc;
}

int infile_check (const struct launch *l, uint32_t rank, uint32_t first, uint32_t ntasks,
                  int cwd, struct error *err)
{
    if (!l->input || !*l->input)
        return 0;
    if (!pattern_is_per_task (l->input))
        ntasks = MIN (ntasks, 1u);
    for (uint32_t i = 0; i < ntasks; i++) {
        int fd = infile_open (l, rank, first + i, cwd, err);
        if (fd < 0)
            return fd;
        close (fd);
    }
    return 0;
}
