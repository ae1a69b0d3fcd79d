/* spool.c - reads the spool of a local job: once, on a worker thread */
#include <fcntl.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/userdir.h"
#include "launch/launcher.h"
#include "exec/local/private.h"
#include "protocol/output_limit.h"

#define CHUNK (256 * 1024)

void local_blame (struct local_job *l, uint32_t rank)
{
    if (l->ready_told || l->ready_seen || rank >= l->job->r->nranks)
        return;
    if (!l->blamed)
        l->blamed = hostlist_create ();
    if (l->blamed && hostlist_find (l->blamed, l->job->r->ranks[rank].node) < 0)
        hostlist_append (l->blamed, l->job->r->ranks[rank].node);
}

void local_note_lost (struct local_job *l, const struct frame *f)
{
    snprintf (l->lost, sizeof (l->lost), "%.*s", (int)MIN (f->len, 250), f->data);
    local_blame (l, f->rank);
}

static void note_frame (struct local_job *l, const struct frame *f)
{
    if (f->type == FRAME_READY)
        l->ready_seen = true;
    else if (f->type == FRAME_LOST)
        local_note_lost (l, f);
    else if (f->type == FRAME_USAGE)
        frame_keep (f, &l->usage);
    else if (f->type == FRAME_FINISH
             && frame_finish_decode (f->data, f->len, &l->finish) == 0)
        l->finish_seen = true;
}

/* Opens the user's regular file in the job's directory; nothing else of that name. */
static int open_spool (struct local_job *l)
{
    struct error err = { 0 };
    int fd = local_open_dir (l, &err);

    if (fd == 0)
        fd = userdir_open_file (l->dir_fd, strrchr (l->job->spool, '/') + 1, O_RDONLY,
                                launcher_is_on () ? l->job->user.uid
                                                  : userdir_owner (l->job->user.uid),
                                &err);
    if (fd < 0 && fd != -ENOENT)
        log_warning ("job %ju: its spool cannot be read: %s", (uintmax_t)l->job->id,
                     err.text);
    return fd;
}

void local_read_spool (struct local_job *l)
{
    autofree char *buf = malloc (CHUNK);
    autoclose int fd = open_spool (l);
    uint64_t offset = 0;
    struct frame f;

    l->spool_errno = fd < 0 ? error_shortage (-fd) : buf ? 0 : ENOMEM;

    while (buf && fd >= 0 && !l->finish_seen) {
        ssize_t got = pread (fd, buf, CHUNK, (off_t)offset);
        if (got < 0)
            l->spool_errno = error_shortage (errno);
        size_t used = 0;
        ssize_t n = 0;
        uint64_t next;
        while (got > 0 && !l->finish_seen
               && (n = frame_parse (buf + used, (size_t)got - used, &f)) > 0) {
            note_frame (l, &f);
            used += (size_t)n;
        }
        offset += used;
        if (n < 0 && output_gap_parse (buf + used, (size_t)got - used, &next) && next > offset)
            offset = next;
        else if (used == 0)
            return; /* end of the spool, or a cut frame */
    }
}
