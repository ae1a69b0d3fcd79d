/* placing.h - placement of a job's nodes among racks and zones (see placing.c) */
#pragma once

#include "broker/core/broker.h"

/* Makes the request and the placement from the jobspec; queue: its index. -EINVAL: the
 * jobspec is wrong, or names an unknown level; -ENOMEM. */
int placing_make (struct broker *b, struct entry *e, unsigned queue, struct error *err);
/* For jobs that wait for their placement without limit: whether the machine could ever
 * meet it. Returns as match_satisfiability(). */
int placing_check (struct broker *b, const struct entry *e, struct error *err);

/* The request to queue the job with now (or, for a forecast, to match it with). */
const struct match_request *placing_choose (struct broker *b, struct entry *e);
