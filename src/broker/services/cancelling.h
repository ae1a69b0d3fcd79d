/* cancelling.h - a POST /v1/cancel under way, for cancel.c and cancel_targets.c
 */
#pragma once

#include "broker/api/api.h"
#include "broker/core/broker.h"

struct telling;

/* A cancel of many jobs takes many turns: it collects the ids first, then works them
 * off. */
struct cancelling {
    struct broker *b;
    struct cancelling *prev, *next; /* in state.signalling */
    double until;                   /* mono: the end of that wait; 0: it does not wait */
    struct telling *tellings;
    struct http_request *req;
    unsigned roles; /* of the route */
    char *note;
    int64_t signum; /* 0: cancel */
    enum exec_whom whom;
    int64_t step; /* or EXEC_NO_STEP */
    struct target {
        uint64_t id;
        bool named; /* given by id: failures are reported */
    } * list;
    size_t n, alloc, at;
    size_t nsaid; /* tasks reported as impossible to cancel */
    json_t *done, *failed;
};

/* Collects jobs given by id; of ranges only existing jobs. Waiting tasks of arrays, given
 * by number, are cancelled at once. -ENOMEM. */
int cancelling_collect (struct cancelling *c, const struct api_filter *f);
/* Notes for the answer why this job was not cancelled. */
void cancelling_failed (struct cancelling *c, uint64_t id, const char *code,
                        const char *fmt, ...) PRINTF_LIKE (4, 5);
