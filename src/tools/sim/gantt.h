/* gantt.h - which job had which cores of which nodes, when
 *
 *     struct gantt *g = gantt_create (machine);
 *     gantt_add (g, &start);                       // each job
 *     gantt_write (g, makespan, "title", "gantt.svg", &err);
 *     gantt_destroy (g);
 *
 * From above to below all cores of all nodes, from left to right time; what a job has side
 * by side is one box. There are at most GANTT_BOXES: the jobs from the first one on that
 * finds no more room are left out, and the drawing says so.
 */
#ifndef FLUXQ_TOOLS_SIM_GANTT_H
#define FLUXQ_TOOLS_SIM_GANTT_H

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

#endif
