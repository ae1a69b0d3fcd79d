/* nodegroups.h - nodes that an autoscaler could make (see nodegroups.c)
 */
#pragma once

#include "broker/core/broker.h"

/* As match_satisfiability() of the broker's matcher, but counts nodes that could be made,
 * too. */
int nodegroups_could_run (struct broker *b, const struct match_request *req,
                          struct error *err);
/* Appends the reason of a job that waits for nodes to be made; false: it does not. */
bool nodegroups_add_reason (struct broker *b, const struct entry *e, struct strbuf *sb);
/* The unix time before which these nodes cannot exist; 0: the job waits for none. */
double nodegroups_not_before (struct broker *b, const struct entry *e);
/* For a forecast: why is the reason for which the job never starts on the existing nodes;
 * replaced if nodes could be made for the job. */
void nodegroups_foresee (struct broker *b, const struct entry *e,
                         const struct match_request *req, struct error *why);
