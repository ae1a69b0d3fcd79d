/* stepd.h - a rank's part of the job's steps: starts their tasks, passes input and output
 *
 *     struct stepd *d = stepd_create (&loop, &launch, tasks, rank, up, ctx);
 *     stepd_message (d, &msg);        // WIRE_STEP_... from rank 0
 *
 * Messages to rank 0 go through up(). A step exists here from its WIRE_STEP_START until
 * the last of its tasks on this rank has been reported; later messages for it are
 * ignored.
 */
#pragma once

#include "protocol/launch.h"
#include "shell/io/loop.h"
#include "shell/io/wire.h"
#include "shell/step/task.h"

struct stepd;

typedef void (*stepd_up_fn) (void *ctx, const struct frame *msg);

/* NULL: no memory. launch and tasks must outlive the result. */
struct stepd *stepd_create (struct loop *loop, const struct launch *launch,
                            struct tasks *tasks, uint32_t rank, stepd_up_fn up,
                            void *ctx);
void stepd_destroy (struct stepd *d);
void stepd_message (struct stepd *d, const struct frame *msg);
