/* gantt.h - the cores of the nodes that each job had, over time
 *
 *     struct gantt *g = gantt_create (machine);
 *     gantt_add (g, &start);                       // each job
 *     gantt_write (g, makespan, "title", "gantt.svg", &err);
 *     gantt_destroy (g);
 *
 * The drawing has all cores of all nodes from top to bottom, and time from left to right;
 * adjacent cores of a job are one box. There are at most GANTT_BOXES boxes: the first job
 * without room for its boxes and all later ones are left out, and the drawing says so.
 */
#pragma once

#include "tools/sim/sim.h"

#define GANTT_BOXES 20000

struct gantt;

/* NULL: no memory. The machine is borrowed. */
struct gantt *gantt_create (const struct machine *machine);
void gantt_destroy (struct gantt *g);
void gantt_add (struct gantt *g, const struct sim_start *s);
/* 0 or -errno with the path. */
int gantt_write (const struct gantt *g, double makespan, const char *title,
                 const char *path, struct error *err);
