/* placing.h - where a job's nodes are to be, among racks and zones (see placing.c) */
#ifndef FLUXQ_BROKER_PLACING_H
#define FLUXQ_BROKER_PLACING_H

#include "broker/broker.h"

/* Of a job that asked for something, or whose queue does. */
struct placing {
    struct entry *e;
    struct placement wish;       /* with its level; PLACEMENT_NONE */
    int64_t most;                /* places of `level` at most; 0: any number */
    const char *level;           /* the executor's */
    double wait;                 /* seconds for that; INFINITY */
    struct match_request *close; /* with that bound; or NULL */
    struct due due;              /* in broker.placings: the end of the wait */
};

/* Queues name levels that their executor has. -EINVAL with line and column. */
int placing_check_config (const struct config *c, struct error *err);
/* e->req and e->placing, from e->js; queue: its index. -EINVAL: the jobspec is wrong in itself,
 * or names a level that there is not; -ENOMEM. */
int placing_make (struct broker *b, struct entry *e, unsigned queue, struct error *err);
/* The same of a job that was accepted once: what cannot be kept of its placement any more is
 * left out. */
int placing_make_again (struct broker *b, struct entry *e, unsigned queue,
                        struct error *err);
/* Could the machine ever meet what is to be waited for for ever? As match_satisfiability(). */
int placing_check (struct broker *b, const struct entry *e, struct error *err);
/* A task is placed as its array. */
void placing_copy (struct entry *to, const struct entry *from);
/* It will not wait any more: what it asked for is kept for its record alone. */
void placing_done (struct broker *b, struct entry *e);
/* b: NULL if it never came to wait. */
void placing_drop (struct broker *b, struct entry *e);

/* The request by which it is queued now (also of a job that is only asked about). */
const struct match_request *placing_choose (struct broker *b, struct entry *e);
/* Before each pass: who has waited long enough is queued anew. */
void placing_pass (struct broker *b);
/* When the next one will have (unix time); 0: nobody waits so. */
double placing_wakeup (const struct broker *b);

/* "in at most 2 racks, waits 5:00 for that; packed into few racks, if it can be"; nothing where
 * nothing is asked for. */
void placing_add_asked (struct strbuf *sb, struct broker *b, const struct entry *e);
/* Key "places" of the event: "2 racks: a/r1, a/r2". 0 or -1. */
int placing_to_alloc (json_t *context, const struct broker *b, const struct entry *e);

#endif
