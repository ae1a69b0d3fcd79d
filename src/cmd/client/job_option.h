/* job_option.h - options of the command line become options of a job, or of a component
 *
 *     struct submit_options *so = &first;
 *     while (!operands && cmd_next (c, &m) > 0) {
 *         if (m.desc)
 *             submit_set_option (c, so, &m);
 *         else if (!submit_next_component (c, &m, &so))
 *             operands = c->parser.argv + m.index;
 *     }
 */
#pragma once

#include "cmd/client/command.h"
#include "jobspec/options/submit_options.h"

/* Sets an option of slurm_options.h, or of attributes.h. CMD_OK, or the status after a
 * message. */
int submit_set_option (struct cmd *c, struct submit_options *so,
                       const struct option_match *m);
/* Whether the operand is ":", behind which the options of the next component of a
 * heterogeneous job follow: *so is then that component. True also after an error. */
bool submit_next_component (struct cmd *c, const struct option_match *m,
                            struct submit_options **so);
