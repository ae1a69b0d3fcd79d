/* spool.h - the file on rank 0 that keeps the output and the result of the job
 *
 *     struct spool spool;
 *     if (spool_create (&spool, path, max, &err) == -EEXIST) ...   // was started before
 *     spool_append (&spool, &frame);           // kept in memory until
 *     spool_flush (&spool);                    // ... one write(2) a round of the loop
 *     ssize_t n = spool_read (&spool, offset, buf, size);
 *     spool_release_until (&spool, offset);    // the broker has it: free the blocks
 *
 * Invariants: the file holds whole frames only, up to `written`; offsets never change,
 * and released parts are holes. Blocks are allocated ahead (fallocate). So a full disk is
 * detected before a frame is written, and the last frames of the job (FRAME_EXIT,
 * FRAME_NOTE, FRAME_FINISH) have room even then. Except for spool_sync() there is no
 * fsync, as a job does not survive its machine.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "protocol/frame.h"
#include "protocol/output_limit.h"

#define SPOOL_BUFFER (256 * 1024)

struct spool {
    int fd;
    uint64_t len;      /* bytes, including those in buf */
    uint64_t written;  /* bytes in the file */
    uint64_t released; /* offset up to which the broker has released */
    uint64_t punched;  /* offset up to which blocks are freed */
    uint64_t max;      /* unreleased bytes at which output waits; 0: no limit */
    uint64_t alloc;    /* file space is allocated up to here */
    bool no_alloc;     /* the file system cannot allocate ahead */
    int err;           /* errno of the first failure; output is dropped from then on */
    bool finished;     /* has FRAME_FINISH */
    struct output_limit gap; /* parts cut out because the spool was too long */
    char *buf;
    size_t buflen;
};

/* -EEXIST: the file exists already, and is not changed. */
int spool_create (struct spool *spool, const char *path, uint64_t max, struct error *err);
/* Limits the bytes kept on disk (see output_limit.h), for a spool that no reader
 * releases. */
void spool_keep (struct spool *spool, uint64_t max);
/* 0, or a negative errno: this frame is lost. After the first failure (spool->err is set)
 * output is refused, but other frames are still tried. -ENOSPC and -EDQUOT without
 * spool->err: there is no room for this output now, but there may be later. */
int spool_append (struct spool *spool, const struct frame *frame);
/* 0, or a negative errno: the bytes that were not in the file yet are lost. */
int spool_flush (struct spool *spool);
/* Puts the flushed bytes and the file's name on disk. 0 or a negative errno. */
int spool_sync (struct spool *spool, const char *path);
bool spool_full (const struct spool *spool);
/* Reads up to size bytes at offset; 0 at the end. Negative errno. */
ssize_t spool_read (const struct spool *spool, uint64_t offset, void *buf, size_t size);
/* -EINVAL: beyond the end. */
int spool_release_until (struct spool *spool, uint64_t offset);
/* Frees the blocks allocated ahead: no more frames follow. */
void spool_trim (struct spool *spool);
/* Also trims. */
void spool_close (struct spool *spool);
