/* files.c - opens files for the broker, as the user; see serve.h
 *
 * This process has become the user for good, so the kernel checks each access, and nothing
 * here has more rights than the user has.
 */
#include <poll.h>

#include "common/io.h"
#include "common/userdir.h"
#include "common/userfile.h"
#include "launch/pass.h"
#include "launch/serve.h"

#define IDLE_MS 60000

static bool is_terminated (const char text[PATH_MAX])
{
    return memchr (text, '\0', PATH_MAX) != NULL;
}

/* A descriptor, 0 or negative errno. */
static int answer (const struct files_request *q, int beside, struct error *err)
{
    int rc;

    if (!is_terminated (q->cwd) || !is_terminated (q->path))
        return error_set (err, EINVAL, "a path without an end");
    switch (q->op) {
    case FILES_OPEN:
        return userfile_open (
            q->cwd, q->path,
            q->mode == USERFILE_TRUNCATE ? USERFILE_TRUNCATE : USERFILE_APPEND, err);
    case FILES_CHECK:
        return userfile_check (q->cwd, q->path, err);
    case FILES_NAMED:
        rc = userdir_open_named (beside, q->path, q->mode);
        return rc < 0 ? error_errno (err, -rc, "%s", q->path) : rc;
    case FILES_MODE:
        return userfile_chmod (beside, (mode_t)q->mode & 0777);
    case FILES_REMOVE:
        /* The directory itself is the broker's, which removes it then. */
        io_remove_tree (q->path, NULL);
        return 0;
    default:
        return error_set (err, EINVAL, "not a request for files");
    }
}

/* False: nobody will ask again. */
static bool serve_one (int fd)
{
    static struct files_request q;
    struct files_reply r = { 0 };
    struct error err = { 0 };
    int beside, result;
    int rc = pass_receive (fd, &q, sizeof (q), &beside);

    if (rc <= 0)
        return false;
    result = answer (&q, beside, &err);
    if (beside >= 0)
        close (beside);
    r.rc = MIN (result, 0);
    if (result < 0)
        snprintf (r.text, sizeof (r.text), "%s", err.text);
    rc = pass_send (fd, &r, sizeof (r),
                    q.op == FILES_OPEN || q.op == FILES_NAMED ? result : -1);
    if (result > 0)
        close (result);
    return rc == 0;
}

void files_serve (int fd)
{
    struct pollfd p = { fd, POLLIN, 0 };

    while (poll (&p, 1, IDLE_MS) > 0 && serve_one (fd))
        continue;
}
