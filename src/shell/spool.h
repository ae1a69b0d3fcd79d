/* spool.h - the file on rank 0 that keeps what the job wrote and what became of it
 *
 *     struct spool spool;
 *     if (spool_create (&spool, path, max, &err) == -EEXIST) ...   // the job had been
 * started
 *     spool_append (&spool, &frame);           // kept in memory until
 *     spool_flush (&spool);                    // ... one write(2) a round of the loop
 *     ssize_t n = spool_read (&spool, offset, buf, size);
 *     spool_release_until (&spool, offset);    // the broker has it: give the blocks back
 *
 * Invariants: the file holds whole frames only, up to `written`; offsets never change,
 * released parts are holes. Blocks are allocated ahead (fallocate), so that a full disk
 * is seen before a frame is written and the last words of the job (FRAME_EXIT,
 * FRAME_NOTE, FRAME_FINISH) have room even then. Not on disk by fsync, as a job does not
 * survive its machine; but for spool_sync().
 */
#ifndef FLUXQ_SHELL_SPOOL_H
#define FLUXQ_SHELL_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cut.h"
#include "common/error.h"
#include "common/frame.h"

#define SPOOL_BUFFER (256 * 1024)

struct spool {
    int fd;
    uint64_t len;      /* with what is still in buf */
    uint64_t written;  /* in the file */
    uint64_t released; /* by the broker */
    uint64_t punched;  /* given back to the file system */
    uint64_t max;      /* most unreleased bytes before output waits; 0: none */
    uint64_t alloc;    /* file space is allocated up to here */
    bool no_alloc;     /* the file system cannot allocate ahead */
    int err;           /* first errno of a failure; output is dropped from then on */
    bool finished;     /* has FRAME_FINISH */
    struct cut cut;    /* what went because it was too much */
    char *buf;
    size_t buflen;
};

/* -EEXIST when the file is there already; nothing is changed then. */
int spool_create (struct spool *spool, const char *path, uint64_t max, struct error *err);
/* Keep no more than that on disk (see cut.h), of a spool that nobody releases. */
void spool_keep (struct spool *spool, uint64_t max);
/* 0, or a negative errno: this frame is lost. Output is refused from the first failure on
 * (then spool->err is set); other frames are still tried. -ENOSPC and -EDQUOT with no
 * spool->err: there is no room for this output now, but may be later. */
int spool_append (struct spool *spool, const struct frame *frame);
/* 0, or a negative errno: what was not in the file yet is lost. */
int spool_flush (struct spool *spool);
/* What was flushed, and the file's name, are on disk. 0 or a negative errno. */
int spool_sync (struct spool *spool, const char *path);
bool spool_full (const struct spool *spool);
/* Up to size bytes written at offset; 0 at the end. Negative errno. */
ssize_t spool_read (const struct spool *spool, uint64_t offset, void *buf, size_t size);
/* -EINVAL past the end. */
int spool_release_until (struct spool *spool, uint64_t offset);
/* Give back what was allocated ahead: nothing more will come. */
void spool_trim (struct spool *spool);
/* Trims, too. */
void spool_close (struct spool *spool);

#endif
