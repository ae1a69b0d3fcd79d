/* exec_job.h - the executor's part of a job (exec/exec.h), made from the job's entry
 */
#pragma once

#include "broker/core/broker.h"

/* For this attempt of the job; it borrows the entry's jobspec and allocation. NULL: no
 * memory. */
struct exec_job *exec_job_make (struct broker *b, struct entry *e,
                                const struct exec_user *user);
/* NULL: does nothing. */
void exec_job_free (struct exec_job *x);
/* Whether a job that has begun may begin again: the jobspec decides, else the
 * configuration. */
bool exec_job_may_run_again (const struct broker *b, const struct jobspec *js);
