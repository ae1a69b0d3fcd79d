/* resizefile.c - writes the file that tells programs the size of a malleable job */
#include "shell/io/agent_file.h"
#include "shell/io/resizefile.h"

#include <fcntl.h>

#include "common/hostlist.h"
#include "common/io.h"

char *resizefile_path (const struct launch *launch, uint32_t rank)
{
    char name[32];
    snprintf (name, sizeof (name), "resize-%u", rank);
    return agent_file (launch, name);
}

/* Names of the first n nodes. */
static char *names (const struct launch *launch, uint32_t n)
{
    autohostlist struct hostlist *hl = hostlist_create ();
    int rc = hl ? 0 : -ENOMEM;
    for (uint32_t rank = 0; rank < n && rc == 0; rank++)
        rc = hostlist_append (hl, launch->nodes[rank].name);
    return rc == 0 ? hostlist_encode (hl) : NULL;
}

char *resizefile_text (const struct launch *launch, const struct wire_resize *r)
{
    autofree char *list = names (launch, r->to);
    const char *state = r->generation == 0                ? "started"
                        : r->state == WIRE_RESIZE_SHRINKS ? "shrinking"
                        : r->to > r->from                 ? "grown"
                                                          : "shrunk";
    char *text = NULL;
    if (!list
        || asprintf (&text,
                     "FLUXQ_RESIZE_GENERATION=%u\nFLUXQ_RESIZE_STATE=%s\n"
                     "FLUXQ_RESIZE_OLD_NNODES=%u\nFLUXQ_RESIZE_NNODES=%u\n"
                     "FLUXQ_RESIZE_NODELIST=%s\n",
                     r->generation, state, r->from, r->to, list)
               < 0)
        return NULL;
    return text;
}

static int replace (const char *path, const char *text)
{
    autofree char *beside = NULL;
    if (asprintf (&beside, "%s.new", path) < 0)
        return -ENOMEM;
    unlink (beside);
    autoclose int fd =
        open (beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : io_write_all (fd, text, strlen (text));
    if (rc == 0 && rename (beside, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink (beside);
    return rc;
}

int resizefile_write (const struct launch *launch, uint32_t rank,
                      const struct wire_resize *r, struct error *err)
{
    autofree char *path = resizefile_path (launch, rank);
    autofree char *text = resizefile_text (launch, r);
    if (!path || !text)
        return error_no_memory (err, NULL);
    int rc = replace (path, text);
    return rc < 0 ? error_errno (err, -rc, "cannot write %s", path) : 0;
}

void resizefile_remove (const struct launch *launch, uint32_t rank)
{
    autofree char *path = resizefile_path (launch, rank);
    if (path)
        unlink (path);
}
