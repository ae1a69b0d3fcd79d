/* sample.h - what the tasks of this rank have used so far, while they run
 *
 *     struct samples *all = samples_read ();           // walks /proc once
 *     struct use use = samples_use (all, set);         // for each set of tasks
 *     samples_destroy (all);
 *
 * A process belongs to the task that leads its session. A process that has begun a session
 * of its own counts only when it is dead (task.h).
 */
#pragma once

#include "shell/step/task.h"

struct samples;

/* NULL: no memory, or there is no /proc. */
struct samples *samples_read (void);
void samples_destroy (struct samples *s);
/* The dead and the living processes of the set; the peak is the sum of theirs. */
struct use samples_use (const struct samples *s, const struct taskset *set);
