/* stream.h - what one reader of the spool gets next
 *
 *     struct stream s = { .pos = offset, .output = true, .chunked = true };
 *     switch (stream_fill (&s, &spool, &out)) ...
 */
#ifndef FLUXQ_SHELL_STREAM_H
#define FLUXQ_SHELL_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "shell/spool.h"
#include "shell/wire.h"

struct stream {
    uint64_t pos; /* offset in the spool */
    bool output;  /* false: FRAME_OUTPUT and FRAME_FILE are left out; pos is at a frame's head then */
    bool chunked; /* HTTP/1.1 chunks */
    bool ended;
};

/* Append up to 64 KiB of what follows to out: 1 (nothing may have been appended when
 * there was much output to leave out: call again); 0: nothing more now; 2: that was the
 * end of the job. -EBADMSG, -ESTALE (released or cut out meanwhile) or another negative errno: break
 * off. What a spool has cut out is skipped when output is left out. */
int stream_fill (struct stream *stream, const struct spool *spool, struct outbuf *out);

#endif
