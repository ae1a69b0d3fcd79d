/* gpubind.h - the option --gpu-bind of srun and fluxq-run: the GPUs of each task of a step
 *
 *     struct gpubind bind;
 *     bool missed;
 *     if (gpubind_parse ("verbose,map:0,0,2", &bind, &err) < 0) ...
 *     autoidset struct idset *own = gpubind_choose (&bind, gpus, local, &missed);
 *
 * The forms are those of srun(1). Lists have numbers within the step: 0 is the first GPU
 * that the step has on the node. No GPU is closer to a core than another: `closest` gives
 * each task all of them. libc only.
 */
#pragma once

#include <stdbool.h>

#include "common/error.h"
#include "common/idset.h"

#define GPUBIND_GPUS_MAX 1024    /* numbers in lists are less than this */
#define GPUBIND_TASKS_MAX 1000000 /* counts in lists, single and per_task */

enum gpubind_kind {
    GPUBIND_NONE,     /* all of the step; also closest */
    GPUBIND_SINGLE,   /* one, the same for n tasks */
    GPUBIND_PER_TASK, /* n for each task */
    GPUBIND_MAP,      /* one of a list */
    GPUBIND_MASK,     /* those of a mask of a list */
};

struct gpubind {
    enum gpubind_kind kind;
    bool verbose;
    uint32_t n;       /* SINGLE, PER_TASK: >= 1; lists: number of tasks until they repeat */
    const char *list; /* in the text that was parsed; or NULL */
};

/* Parses [verbose,]TYPE in any case; TYPE: none, closest, single:N, per_task:N,
 * map:LIST and map_gpu:LIST of numbers, mask:LIST and mask_gpu:LIST of hexadecimal masks.
 * An element of a list may end in *COUNT. 0; -EINVAL, -ERANGE with "--gpu-bind" in the
 * error. text must outlive *ret. */
int gpubind_parse (const char *text, struct gpubind *ret, struct error *err);
/* The value for GPUs in a value of --tres-bind, "gres/gpu:TYPE", as part of text; NULL with
 * the reason: it binds other resources. Does not check TYPE. */
const char *gpubind_of_tres (const char *text, struct error *err);
/* The GPUs of the task with the number local on its node, of those that the step has there;
 * the caller destroys the set. *ret_missed (may be NULL): none was there for this task,
 * which gets the first, as in Slurm. NULL: no memory. */
struct idset *gpubind_choose (const struct gpubind *bind, const struct idset *gpus,
                              uint32_t local, bool *ret_missed);
