/* reference.h - a slow, obvious matcher to compare the walk with
 *
 * Every unit is an object, every question a loop over all bookings, every candidate is
 * gathered and all are sorted. No index, no groups, no bounds. It knows the policies
 * first, low and high, the rules of doc/matcher.md, and nothing else.
 */
#ifndef FLUXQ_MATCH_TEST_REFERENCE_H
#define FLUXQ_MATCH_TEST_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REF_MAX 2048 /* vertices */
#define REF_REQS 16  /* of a request */
#define REF_JOBS 256

enum ref_policy { REF_FIRST, REF_LOW, REF_HIGH };

struct ref_vertex {
    char type[12];
    int id, parent, order;
    int64_t size;
    bool up;
};

struct ref_req {
    char type[12]; /* "slot" */
    int64_t min, max;
    bool exclusive;
    int parent; /* -1: outermost */
};

struct ref_claim {
    int v;
    bool with_below; /* a vertex with children, taken */
};

struct ref_booking {
    uint64_t job;
    int64_t start, end;
    bool reserved, used;
    struct ref_claim *claims;
    size_t nclaims;
};

struct ref {
    enum ref_policy policy;
    struct ref_vertex v[REF_MAX];
    int nv;
    struct ref_booking jobs[REF_JOBS];
    size_t njobs;
};

struct ref_request {
    struct ref_req r[REF_REQS];
    int n;
};

/* Vertices that would be claimed for the window, ascending in *ret (caller frees), their
 * number; -1: does not fit. now: allocated bookings count whatever their end. */
int ref_match (struct ref *ref, const struct ref_request *req, int64_t at, int64_t end,
               bool now, bool ever, int **ret);
/* Earliest start: now, else a later end of a booking; -1: none. */
int64_t ref_earliest (struct ref *ref, const struct ref_request *req, int64_t now,
                      int64_t duration, int **ret, int *ret_n);
void ref_book (struct ref *ref, uint64_t job, int64_t start, int64_t end, bool reserved,
               const int *claimed, int n);
bool ref_cancel (struct ref *ref, uint64_t job);
bool ref_is_leaf (const struct ref *ref, int v);

#endif
