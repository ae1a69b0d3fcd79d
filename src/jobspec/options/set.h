/* set.h - functions that set the value of an option, for the table in attributes.c
 *
 * Each function checks the text and stores the value if it wins: no source of higher
 * precedence has set the option. -EINVAL, -ERANGE, -ENOMEM.
 */
#ifndef FLUXQ_JOBSPEC_OPTIONS_SET_H
#define FLUXQ_JOBSPEC_OPTIONS_SET_H

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

/* -- of rows (set.c) -- */
int option_set_cpus (const struct option_value *v, struct error *err);
int option_set_dependency (const struct option_value *v, struct error *err);
int option_set_gres (const struct option_value *v, struct error *err);
int option_set_kill (const struct option_value *v, struct error *err);
int option_set_memory (const struct option_value *v, struct error *err);
int option_set_nodes_per (const struct option_value *v, struct error *err);
int option_set_nodes_per_rack (const struct option_value *v, struct error *err);
int option_set_on_full (const struct option_value *v, struct error *err);
int option_set_open_mode (const struct option_value *v, struct error *err);
int option_set_pattern (const struct option_value *v, struct error *err);
int option_set_placement (const struct option_value *v, struct error *err);
int option_set_pod (const struct option_value *v, struct error *err);
int option_set_propagate (const struct option_value *v, struct error *err);
int option_set_requeue (const struct option_value *v, struct error *err);
int option_set_resize_signal (const struct option_value *v, struct error *err);
int option_set_signal (const struct option_value *v, struct error *err);
int option_set_sizes (const struct option_value *v, struct error *err);
int option_set_stage (const struct option_value *v, struct error *err);
int option_set_switches (const struct option_value *v, struct error *err);
int option_set_time (const struct option_value *v, struct error *err);
int option_set_user_env (const struct option_value *v, struct error *err);

#endif
