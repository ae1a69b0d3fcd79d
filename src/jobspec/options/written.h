/* written.h - how the user wrote the options, for submit_options_explain()
 */
#ifndef FLUXQ_JOBSPEC_OPTIONS_WRITTEN_H
#define FLUXQ_JOBSPEC_OPTIONS_WRITTEN_H

#include "jobspec/options/attributes.h"
#include "jobspec/options/submit_options.h"

/* Note that the value in force of the row was written as where, which is copied. */
void submit_written_note (struct submit_options *so, const struct attribute *a,
                          const char *where);
void submit_written_release (struct submit_options *so);

#endif
