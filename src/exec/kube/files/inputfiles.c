/* inputfiles.c - see inputfiles.h */
#include "exec/kube/files/inputfiles.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "common/io.h"
#include "common/userfile.h"

#define NAME "input"
#define PATH_TEXT_MAX 4096

bool inputfiles_wanted (const char *pattern)
{
    return pattern && *pattern && strcmp (pattern, "/dev/null") != 0;
}

char *inputfiles_place (const char *dir, const char *pattern)
{
    const char *unit = pattern_is_per_task (pattern)   ? "-%t"
                       : pattern_is_per_node (pattern) ? "-%n"
                                                       : "";
    char *path;

    return asprintf (&path, "%s/" NAME "%s", dir, unit) < 0 ? NULL : path;
}

/* Opens the file; a relative name is below the user's cwd. */
static int open_file (const char *cwd, const char *name, struct stat *ret_st,
                      struct error *err)
{
    struct statfs fs;
    autoclose int dir = userfile_open_named (-1, cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0 && name[0] != '/')
        return error_errno (err, -dir, "%s/%s", cwd, name);
    int fd =
        userfile_open_named (dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return error_errno (err, -fd, "%s", name);
    /* Files in /proc tell about the broker. */
    if (fstat (fd, ret_st) == 0 && S_ISREG (ret_st->st_mode) && fstatfs (fd, &fs) == 0
        && fs.f_type != PROC_SUPER_MAGIC)
        return fd;
    close (fd);
    return error_set (err, EINVAL, "%s is not a regular file", name);
}

/* -EFBIG: it is longer than max, and *ret_size has its size. */
static int read_file (struct inputfile *file, const char *cwd, const char *name,
                      size_t max, uint64_t *ret_size, struct error *err)
{
    struct strbuf data = STRBUF_INIT (max + 1);
    struct stat st;
    autoclose int fd = open_file (cwd, name, &st, err);

    if (fd < 0)
        return fd;
    *ret_size = (uint64_t)st.st_size;
    file->mode = st.st_mode & 0777;
    file->record = SIZE_MAX;
    int rc = io_read_fd (fd, &data, max);
    if (rc < 0)
        error_errno (err, -rc, "%s", name);
    file->len = data.len;
    if (rc == 0 && data.len > 0)
        file->data = strbuf_detach (&data);
    strbuf_release (&data);
    return rc;
}

int inputfiles_read_staged (struct inputfile *file, const char *cwd, const char *name,
                            size_t max, struct error *err)
{
    uint64_t size = 0;
    int rc = read_file (file, cwd, name, max, &size, err);

    if (rc != -EFBIG)
        return rc;
    return error_set (
        err, EFBIG,
        "%.200s has %ju bytes; of the %d that can be sent to the pods, with "
        "script and environment, %zu are left: use a queue with mounts, or "
        "fluxq-bcast in the job",
        name, (uintmax_t)size, CONFIGMAP_MAX, max);
}

/* Reads the file of the unit (task, rank, or 0) of this task of this rank. */
static int read_unit (struct inputfiles *in, const struct launch *l, const char *pattern,
                      uint32_t rank, uint32_t task, size_t *max, struct error *err)
{
    const struct pattern_vars vars = launch_pattern_vars (l, rank, task);
    struct inputfile *file = &in->v[in->n];
    autostrbuf struct strbuf name = STRBUF_INIT (PATH_TEXT_MAX);
    uint64_t size;
    int rc = pattern_expand (pattern, &vars, &name, err);

    if (rc < 0)
        return error_prefix (err, "input file");
    if (pattern_is_per_task (pattern))
        snprintf (file->name, sizeof (file->name), NAME "-%u", task);
    else if (pattern_is_per_node (pattern))
        snprintf (file->name, sizeof (file->name), NAME "-%u", rank);
    else
        snprintf (file->name, sizeof (file->name), NAME);
    rc = read_file (file, l->cwd, name.buf, *max, &size, err);
    if (rc == -EFBIG)
        error_set (err, EFBIG,
                   "%s: the pods do not see this file, and at most %zu bytes can be "
                   "sent; read it in the script, from a directory that the pods see",
                   name.buf, *max);
    if (rc < 0)
        return error_prefix (err, "input file");
    *max -= file->len;
    in->n++;
    return 0;
}

static size_t count_units (const struct launch *l, const char *pattern)
{
    if (l->batch)
        return 1;
    if (pattern_is_per_task (pattern))
        return launch_ntasks (l);
    return pattern_is_per_node (pattern) ? l->nnodes : 1;
}

/* Reads each unit once: for all tasks, for the first task of each rank, or for the first
 * of all. */
static int read_units (struct inputfiles *in, const struct launch *l, const char *pattern,
                       size_t max, struct error *err)
{
    bool per_task = pattern_is_per_task (pattern);
    bool per_node = pattern_is_per_node (pattern);
    int rc = 0;

    if (l->batch)
        return read_unit (in, l, pattern, 0, 0, &max, err);
    for (uint32_t rank = 0, task = 0; rank < l->nnodes && rc == 0; rank++) {
        for (uint32_t i = 0; i < l->nodes[rank].ntasks && rc == 0; i++, task++) {
            if (per_task || (per_node && i == 0) || task == 0)
                rc = read_unit (in, l, pattern, rank, task, &max, err);
        }
    }
    return rc;
}

int inputfiles_read (struct inputfiles *in, const struct launch *l, const char *pattern,
                     size_t max, struct error *err)
{
    size_t units = count_units (l, pattern);

    *in = (struct inputfiles){ 0 };
    if (units > INPUTFILES_MAX)
        return error_set (
            err, E2BIG,
            "input file: '%.200s' stands for %zu files, more than %d can be "
            "sent to the pods",
            pattern, units, INPUTFILES_MAX);
    in->v = calloc (units, sizeof (in->v[0]));
    int rc = in->v ? read_units (in, l, pattern, max, err)
                   : error_set (err, ENOMEM, "out of memory");
    if (rc < 0)
        inputfiles_release (in);
    return rc;
}

void inputfiles_release (struct inputfiles *in)
{
    for (size_t i = 0; i < in->n; i++)
        free (in->v[i].data);
    free (in->v);
    *in = (struct inputfiles){ 0 };
}
