/* submit_check.h - whether a new job is admitted: names, queue, limits, feasibility
 */
#pragma once

#include "broker/core/broker.h"

struct submit_terms {
    uid_t uid;
    bool by_operator;
    bool allow_infeasible;
    bool made_outside; /* the executor made the jobspec, no command of fluxq */
    /* of submit_check(): */
    char *queue;    /* by name: a reload may change its index; the caller frees it */
    bool completed; /* the queue's settings were added to the jobspec's JSON */
};

/* Checks the job's jobspec, completes it by its queue's settings, and makes the request.
 * A negative errno, and the code for the client: the job is refused. */
int submit_check (struct broker *b, struct entry *e, struct submit_terms *terms,
                  const char **code, struct error *err);
