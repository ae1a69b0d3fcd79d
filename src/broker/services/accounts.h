/* accounts.h - the accounts and QOS that exist: `accounts` and `qos` of fluxq.yaml
 *
 *     rc = accounts_check (b, js, &code, &err);        // at submit
 *
 * A job may name one of them; what an account or a QOS allows is not decided here. Without
 * the key, any name is accepted. Names are compared without regard to case, as in Slurm.
 */
#pragma once

#include "jobspec/jobspec.h"

struct broker;

/* -ENOENT: the job names one that does not exist; *code is for the reply. */
int accounts_check (struct broker *b, const struct jobspec *js, const char **code,
                    struct error *err);
