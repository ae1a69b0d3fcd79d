/* nodegroups.h - nodes that do not exist, but could be made by an autoscaler (see nodegroups.c)
 */
#ifndef FLUXQ_BROKER_NODEGROUPS_H
#define FLUXQ_BROKER_NODEGROUPS_H

#include "broker/broker.h"

int nodegroups_init (struct broker *b, struct error *err);
void nodegroups_host_init (struct broker *b);
void nodegroups_release (struct broker *b);
/* After a pass: who lacks nodes that could be made? Soon, and seldom more than once a second. */
void nodegroups_due (struct broker *b);
/* As match_satisfiability() of b->matcher, but nodes that could be made count as well. */
int nodegroups_could_run (struct broker *b, const struct match_request *req,
                          struct error *err);
/* Why it waits, if that is for nodes to be made; false: it is not. */
bool nodegroups_add_reason (struct broker *b, const struct entry *e, struct strbuf *sb);
/* The unix time before which they will not be there; 0: it does not wait for any. */
double nodegroups_not_before (struct broker *b, const struct entry *e);
/* why: what is to be said of a job that is only asked about, and never starts on what there is;
 * changed if nodes could be made for it. */
void nodegroups_foresee (struct broker *b, const struct entry *e,
                         const struct match_request *req, struct error *why);

#endif
