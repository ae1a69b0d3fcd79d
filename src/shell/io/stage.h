/* stage.h - copies files to the job and back on one rank (--stage-in, --stage-out)
 *
 *     struct stage *stage = stage_create (&loop, launch, rank, &events, ctx);
 *     stage_set_directory (stage, fd, "/home/ann/run");
 *     stage_check (stage, &err);          // can the destinations be written?
 *     stage_in (stage);                   // before the tasks; then events->done()
 *     stage_out (stage);                  // after all tasks; then events->done()
 *
 * A file is copied piece by piece, one piece a turn of the loop, to a file beside its
 * destination, which is then renamed. So no reader sees a part of the file, and several
 * ranks may write the same file at once. Other files are sent to rank 0 as FRAME_FILE
 * (frame.h), as far as there is room. Regular files only. A file that is its own
 * destination stays as it is. The agent runs as the user, so the kernel checks access to
 * the files.
 */
#pragma once

#include "common/error.h"
#include "protocol/frame.h"
#include "protocol/launch.h"
#include "shell/io/loop.h"

struct stage;

struct stage_events {
    /* Returns the bytes that may be sent now; 0: none until stage_resume(). */
    size_t (*room) (void *ctx);
    /* Sends a FRAME_FILE of this rank. */
    void (*send) (void *ctx, const struct frame *frame);
    /* stage_out() cannot send this file; it goes on with the others. text: "stage-out: x:
     * why". */
    void (*problem) (void *ctx, const char *text);
    /* Staging has ended; called in a later turn of the loop. err is the first error of
     * stage_in(), which copies nothing after it. */
    void (*done) (void *ctx, const struct error *err);
};

/* Whether the rank has files to stage. */
bool stage_has_in (const struct launch *l, uint32_t rank);
bool stage_has_out (const struct launch *l, uint32_t rank);

/* launch and events must outlive the result. NULL: no memory. */
struct stage *stage_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct stage_events *events, void *ctx);
/* Gives up the file under way and removes its partial copy. */
void stage_destroy (struct stage *stage);
/* Sets the directory for relative names: a descriptor, owned by the caller, and its
 * name. */
void stage_set_directory (struct stage *stage, int fd, const char *name);
/* Checks, as far as possible now, that this rank can write its destinations. */
int stage_check (const struct stage *stage, struct error *err);
void stage_in (struct stage *stage);
void stage_out (struct stage *stage);
void stage_resume (struct stage *stage);
