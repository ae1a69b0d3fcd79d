/* components.h - the options of the components of a heterogeneous job
 *
 * The first component's options are a struct submit_options as that of any job; those of
 * each further component are one more, in `further` of the first:
 *
 *     struct submit_options *second = submit_component_add (&so, &err);
 *     submit_options_set (second, SUBMIT_FROM_COMMAND, "nodes", "4",
 *                         "component 1: --nodes", &err);
 *
 * submit_options_jobspec() of the first makes the jobspec of all. There a component has
 * its own number of nodes, tasks, cores, GPUs and memory, its own nodes (--nodelist,
 * --exclude, --constraint, --exclusive) and its own name. As in Slurm, --mem, --exclude
 * and --job-name hold also for later components that do not give them; the others do not.
 * All other options are those of the job: a further component can repeat the value of the
 * first one, and not give another. Its files (--output) and its mail are not used, as in
 * Slurm.
 */
#pragma once

#include "jobspec/options/attributes.h"
#include "jobspec/options/submit_options.h"

/* A further component without options; NULL: out of memory, or there are too many. */
struct submit_options *submit_component_add (struct submit_options *first,
                                             struct error *err);
/* The component of a script with that index, which is at most nfurther + 1. A new one has
 * the options that the last component has from the command line and the environment. */
struct submit_options *submit_component_of_script (struct submit_options *first,
                                                   size_t index, struct error *err);
/* Notes that the option was set: -ENOMEM. */
int submit_components_note (struct submit_options *so, enum submit_source source,
                            const struct attribute *a, const char *name,
                            const char *value, const char *where, struct error *err);
/* Gives the further components what they take from those before them, and checks that the
 * options go together. -EINVAL, -ENOMEM. */
int submit_components_complete (const struct submit_options *first, struct error *err);
/* Whether an option has no effect in a further component. */
bool submit_component_ignores (const struct attribute *a);
void submit_components_release (struct submit_options *so);
