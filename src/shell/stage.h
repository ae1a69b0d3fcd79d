/* stage.h - files brought to the job and back on one rank (--stage-in, --stage-out)
 *
 *     struct stage *stage = stage_create (&loop, launch, rank, &events, ctx);
 *     stage_set_directory (stage, fd, "/home/ann/run");
 *     stage_check (stage, &err);          // can be written what is to be at the end?
 *     stage_in (stage);                   // before the tasks; then events->done()
 *     stage_out (stage);                  // when all have ended; then events->done()
 *
 * A file is copied, piece by piece and one turn of the loop each, beside its destination
 * and then renamed, so that nobody sees a part of it and several ranks may write the same
 * one at once; or it is sent to rank 0 as FRAME_FILE (frame.h), as far as there is room for
 * it. Regular files only. A file that is its own destination stays as it is. The agent runs as
 * the user, so what may be read and written is the kernel's to say.
 */
#ifndef FLUXQ_SHELL_STAGE_H
#define FLUXQ_SHELL_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/frame.h"
#include "common/launch.h"
#include "shell/loop.h"

struct stage;

struct stage_events {
    /* Bytes that may be sent now; 0: none until stage_resume(). */
    size_t (*room) (void *ctx);
    /* A FRAME_FILE of this rank. */
    void (*send) (void *ctx, const struct frame *frame);
    /* Of stage_out(): this file is not brought, the others are. "stage-out: x: why". */
    void (*problem) (void *ctx, const char *text);
    /* It is over, on a later turn of the loop. Of stage_in() with the first error, after
     * which nothing more was copied. */
    void (*done) (void *ctx, const struct error *err);
};

/* Whether a rank has anything to do. */
bool stage_has_in (const struct launch *l, uint32_t rank);
bool stage_has_out (const struct launch *l, uint32_t rank);

/* launch and events must outlive it. NULL: no memory. */
struct stage *stage_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct stage_events *events, void *ctx);
/* What was under way is given up, and its part of a copy removed. */
void stage_destroy (struct stage *stage);
/* What relative names are below: a descriptor, which stays the caller's, and its name. */
void stage_set_directory (struct stage *stage, int fd, const char *name);
/* Whether the destinations that this rank will write to can be, as far as it shows now. */
int stage_check (const struct stage *stage, struct error *err);
void stage_in (struct stage *stage);
void stage_out (struct stage *stage);
void stage_resume (struct stage *stage);

#endif
