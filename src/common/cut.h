/* cut.h - a spool that keeps the first and the newest of what a job wrote
 *
 *     0          at                          next             end
 *     | frames   | CUT |   given back        | frames         |
 *       max/16           (a hole)              the rest of max
 *
 * The writer calls cut_advance() when its file has grown; then whole frames in the middle
 * go, and a CUT says so. Offsets never change. A CUT is FRAME_HEAD bytes of head, of a
 * type that frame_parse() refuses, and the offset of the next frame, so no reader takes
 * one for what it is not:
 *
 *     struct cut c;
 *     cut_init (&c, fd, max);
 *     cut_advance (&c, fd, end);                     // the file has whole frames to end
 *
 *     n = frame_parse (buf, avail, &f);
 *     if (n < 0 && cut_parse (buf, avail, &next) && next > offset) ...; // go on at next
 *
 * A reader that is overtaken finds a hole, or frames cut short by one, in what it has
 * read: it asks cut_before_hole() after each read, and cut_find() where to go on. libc
 * only (the agent links it).
 */
#ifndef FLUXQ_COMMON_CUT_H
#define FLUXQ_COMMON_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/frame.h"

#define CUT_SIZE (FRAME_HEAD + 8)
#define CUT_MAX_LEAST (1024 * 1024)

struct cut {
    uint64_t max;  /* bytes that the spool may take, CUT_MAX_LEAST at least; 0: any */
    uint64_t at;   /* of the CUT; 0: there is none */
    uint64_t next; /* the first frame behind it */
    bool durable;  /* the CUT is on disk before anything is given back */
};

/* A file system that cannot give back part of a file keeps all: max is 0 then. */
void cut_init (struct cut *c, int fd, uint64_t max);
/* Cut if more than max is there. fd: open for reading and writing; its first `end` bytes
 * are whole frames, but for the hole. 0, or a negative errno: what could be cut stays as
 * it is. */
int cut_advance (struct cut *c, int fd, uint64_t end);

/* Whether there is a CUT at buf, and the offset that it names. */
bool cut_parse (const void *buf, size_t avail, uint64_t *ret_next);
/* Of the n bytes that were read at offset those before the first hole; n when there is
 * none. Asks the file system only about blocks of zeros. */
size_t cut_before_hole (int fd, uint64_t offset, const void *buf, size_t n);
/* Go through the file from its beginning to the CUT: 0 and where to go on behind it,
 * -ENOENT: there is none; -EBADMSG. */
int cut_find (int fd, uint64_t *ret_next);

#endif
