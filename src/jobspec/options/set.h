/* set.h - functions that set the value of an option, for the table in attributes.c
 *
 * Each function checks the text and stores the value if it wins: no source of higher
 * precedence has set the option. -EINVAL, -ERANGE, -ENOMEM.
 */
#pragma once

#include "jobspec/options/attributes.h"
#include "jobspec/options/submit_options.h"

struct option_value {
    struct submit_options *so;
    enum submit_source source;
    const struct attribute *attribute;
    const char *text;  /* NULL: a flag, or an optional value that is not given */
    const char *where; /* begins the error */
};

/* Whether the value can be stored; then it counts as stored. */
bool option_wins (const struct option_value *v);
/* Whether the present value comes from the same source, so that values add up. */
bool option_adds (const struct option_value *v);
/* Set the value as the row says. */
int option_set (const struct option_value *v, struct error *err);

/* Note that the value in force of the row was written as where, which is copied. */
void submit_written_note (struct submit_options *so, const struct attribute *a,
                          const char *where);
/* Tells so->explain() what becomes of the value that was set. again: the source had set
 * the option before. */
void submit_written_explain (const struct submit_options *so,
                             const struct option_value *v, bool again);
void submit_written_release (struct submit_options *so);
/* The functions of rows (set.c). */
typedef int option_set_f (const struct option_value *v, struct error *err);
extern option_set_f option_set_cpus, option_set_dependency, option_set_gpus,
    option_set_gres, option_set_kill, option_set_memory, option_set_nodefile,
    option_set_nodes_per, option_set_on_full, option_set_open_mode, option_set_pattern,
    option_set_placement, option_set_pod, option_set_priority, option_set_propagate,
    option_set_requeue, option_set_resize_signal, option_set_signal, option_set_sizes,
    option_set_stage, option_set_switches, option_set_time, option_set_user_env;
