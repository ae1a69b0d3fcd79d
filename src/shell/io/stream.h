/* stream.h - the next bytes of the spool for one reader
 *
 *     struct stream s = { .pos = offset, .output = true, .chunked = true };
 *     switch (stream_fill (&s, &spool, &out)) ...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shell/io/spool.h"
#include "shell/io/wire.h"

struct stream {
    uint64_t pos; /* offset in the spool */
    bool output;  /* false: skip FRAME_OUTPUT and FRAME_FILE; pos is at a frame's head */
    bool chunked; /* HTTP/1.1 chunks */
    bool ended;
};

/* Appends up to 64 KiB from the spool to out. 1: call again (possibly nothing was
 * appended, if much output was skipped); 0: no more bytes now; 2: end of the job.
 * -EBADMSG, -ESTALE (released or cut out meanwhile) or another negative errno: close the
 * stream. Without output, parts that the spool has cut out are skipped. */
int stream_fill (struct stream *stream, const struct spool *spool, struct outbuf *out);
