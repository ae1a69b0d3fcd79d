/* spool_gap.h - a spool that keeps the first and the newest frames of a job
 *
 *     0          at                          next             end
 *     | frames   | CUT |   given back        | frames         |
 *       max/16           (a hole)              the rest of max
 *
 * The writer calls cut_advance() when its file has grown. The call removes whole frames
 * in the middle and puts a CUT in their place. Offsets never change. A CUT has a head of
 * FRAME_HEAD bytes, of a type that frame_parse() refuses, and the offset of the next
 * frame, so no reader takes a CUT for a frame:
 *
 *     struct cut c;
 *     cut_init (&c, fd, max);
 *     cut_advance (&c, fd, end);                     // the file has whole frames to end
 *
 *     n = frame_parse (buf, avail, &f);
 *     if (n < 0 && cut_parse (buf, avail, &next) && next > offset) ...; // go on at next
 *
 * A reader that is overtaken by the writer finds in the bytes that it has read a hole, or
 * a frame cut short by a hole. It calls cut_before_hole() after each read, and cut_find()
 * to learn where to go on. libc only (the agent links it).
 */
#ifndef FLUXQ_PROTOCOL_SPOOL_GAP_H
#define FLUXQ_PROTOCOL_SPOOL_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/frame.h"

#define CUT_SIZE (FRAME_HEAD + 8)
#define CUT_MAX_LEAST (1024 * 1024)

struct cut {
    uint64_t max;  /* largest size of the spool, >= CUT_MAX_LEAST; 0: no limit */
    uint64_t at;   /* offset of the CUT; 0: none */
    uint64_t next; /* offset of the first frame after the hole */
    bool durable;  /* the CUT is on disk before its bytes are given back */
};

/* If the file system cannot give back part of a file, the spool keeps all: max becomes
 * 0. */
void cut_init (struct cut *c, int fd, uint64_t max);
/* Cut if the spool has more than max bytes. fd: open for reading and writing; its first
 * `end` bytes are whole frames, except for the hole. 0, or a negative errno: no bytes
 * are given back. */
int cut_advance (struct cut *c, int fd, uint64_t end);

/* Whether there is a CUT at buf; *ret_next is the offset of the next frame. */
bool cut_parse (const void *buf, size_t avail, uint64_t *ret_next);
/* The number of bytes before the first hole, of n bytes that were read at offset; n if
 * there is no hole. Asks the file system only about blocks of zeros. */
size_t cut_before_hole (int fd, uint64_t offset, const void *buf, size_t n);
/* Read the file from its beginning to the CUT: 0, and *ret_next is the offset of the next
 * frame; -ENOENT: no CUT; -EBADMSG. */
int cut_find (int fd, uint64_t *ret_next);

#endif
