/* output_limit.h - a spool that keeps the first and the newest frames of a job
 *
 *     0          at                          next             end
 *     | frames   | GAP |   given back        | frames         |
 *       max/16           (a hole)              the rest of max
 *
 * The writer calls output_limit_advance() when its file has grown. The call removes whole
 * frames in the middle and puts a GAP in their place. Offsets never change. A GAP has a
 * head of FRAME_HEAD bytes, of a type that frame_parse() refuses, and the offset of the
 * next frame, so no reader takes a GAP for a frame:
 *
 *     struct output_limit gap;
 *     output_limit_init (&gap, fd, max);
 *     output_limit_advance (&gap, fd, end);     // the file has whole frames to end
 *
 *     n = frame_parse (buf, avail, &f);
 *     if (n < 0 && output_gap_parse (buf, avail, &next) && next > offset)
 *         ...; // go on at next
 *
 * A reader that is overtaken by the writer finds in the bytes that it has read a hole, or
 * a frame that a hole cuts short. It calls output_limit_before_hole() after each read, and
 * output_limit_find() to learn where to go on. libc only (the agent links it).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/frame.h"

#define OUTPUT_GAP_SIZE (FRAME_HEAD + 8)
#define SPOOL_MAX_LEAST (1024 * 1024)

struct output_limit {
    uint64_t max;  /* largest size of the spool, >= SPOOL_MAX_LEAST; 0: no limit */
    uint64_t at;   /* offset of the GAP; 0: none */
    uint64_t next; /* offset of the first frame after the hole */
    bool durable;  /* the GAP is on disk before its bytes are given back */
};

/* If the file system cannot give back part of a file, the spool keeps all: max becomes
 * 0. */
void output_limit_init (struct output_limit *c, int fd, uint64_t max);
/* Removes frames if the spool has more than max bytes. fd: open for reading and writing;
 * its first `end` bytes are whole frames, except for the hole. 0, or a negative errno: no
 * bytes are given back. */
int output_limit_advance (struct output_limit *c, int fd, uint64_t end);

/* Whether there is a GAP at buf; *ret_next is the offset of the next frame. */
bool output_gap_parse (const void *buf, size_t avail, uint64_t *ret_next);
/* The number of bytes before the first hole, of n bytes that were read at offset; n if
 * there is no hole. Asks the file system only about blocks of zeros. */
size_t output_limit_before_hole (int fd, uint64_t offset, const void *buf, size_t n);
/* Read the file from its beginning to the GAP: 0, and *ret_next is the offset of the next
 * frame; -ENOENT: no GAP; -EBADMSG. */
int output_limit_find (int fd, uint64_t *ret_next);
