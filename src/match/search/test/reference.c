/* reference.c - see reference.h: the machine, the bookings, times */
#include <stdlib.h>
#include <string.h>

#include "match/search/test/reference_private.h"

void *ref_grow (void *p, size_t n)
{
    if (!(p = realloc (p, n)))
        abort ();
    return p;
}

/* -- the machine -- */

static void load (struct ref *ref, const struct graph *g, uint32_t v, int parent)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    int here = ref->nv;

    for (uint32_t unit = 0; unit < x->n; unit++) {
        ref->v[ref->nv++] = (struct ref_vertex){
            .type = graph_type_name (g, x->type),
            .id = x->id + (int64_t)unit,
            .size = x->size,
            .parent = parent,
            .leaf = x->first == GRAPH_NONE,
            .node = x->type == GRAPH_NODE,
            .divisible = (x->flags & GRAPH_DIVISIBLE) != 0,
            .up = graph_is_up (g, v, unit),
            .leaving = graph_is_leaving (g, v)
                       || !(graph_ever_word (g, v, unit / 64) >> unit % 64 & 1),
            .withheld = x->flags & GRAPH_DIVISIBLE ? graph_withheld (g, v) : 0,
            .fast = graph_property (g, v, unit, REF_PROPERTY) != NULL,
            .v = v,
            .unit = unit,
        };
    }
    GRAPH_CHILDREN (g, v, c)
    {
        load (ref, g, c, here);
    }
}

int ref_find (const struct ref *ref, uint32_t v, uint32_t unit)
{
    for (int i = 0; i < ref->nv; i++)
        if (ref->v[i].v == v && ref->v[i].unit == unit)
            return i;
    return -1;
}

void ref_load (struct ref *ref, const struct graph *g)
{
    struct ref_vertex *old = ref->v;
    int nold = ref->nv;

    ref->v = ref_grow (NULL, (graph_unit_count (g) + 1) * sizeof (*ref->v));
    ref->nv = 0;
    if (g->root != GRAPH_NONE)
        load (ref, g, g->root, -1);
    for (int i = 0; i < nold; i++) {
        int at = ref_find (ref, old[i].v, old[i].unit);
        if (at >= 0)
            ref->v[at].seen = old[i].seen;
    }
    for (int j = 0; j < REF_JOBS; j++) {
        struct ref_booking *b = &ref->jobs[j];
        for (int i = 0; i < b->nclaims; i++) {
            const struct ref_vertex *was = &old[b->claims[i].v];
            b->claims[i].v = ref_find (ref, was->v, was->unit);
            if (b->claims[i].v < 0)
                abort ();
        }
    }
    free (old);
}

/* -- the tree -- */

bool ref_is (const struct ref *ref, int v, const char *type)
{
    return !strcmp (ref->v[v].type, type);
}

int ref_child (const struct ref *ref, int v, int after)
{
    for (int c = after + 1; c < ref->nv; c++)
        if (ref->v[c].parent == v)
            return c;
    return -1;
}

bool ref_inside (const struct ref *ref, int v, int above)
{
    for (; v >= 0; v = ref->v[v].parent)
        if (v == above)
            return true;
    return false;
}

bool ref_is_above (const struct ref *ref, int v)
{
    for (int c = v + 1; c < ref->nv; c++)
        if (ref->v[c].node && ref_inside (ref, c, v))
            return true;
    return false;
}

/* -- the bookings -- */

struct ref_booking *ref_booking (struct ref *ref, uint64_t job)
{
    for (int j = 0; j < REF_JOBS; j++)
        if (ref->jobs[j].job == job)
            return &ref->jobs[j];
    return NULL;
}

struct ref_booking *ref_book (struct ref *ref, uint64_t job, int64_t start, int64_t end,
                              bool reserved, struct ref_claim *claims, int n)
{
    struct ref_booking *b = ref_booking (ref, 0);

    if (!b)
        abort ();
    *b = (struct ref_booking){
        .job = job,
        .start = start,
        .end = end,
        .reserved = reserved,
        .claims = claims,
        .nclaims = n,
    };
    return b;
}

void ref_name (struct ref_booking *b, uint32_t node, int64_t cores, bool whole)
{
    b->named = ref_grow (b->named, (size_t)(b->nnamed + 1) * sizeof (*b->named));
    b->named[b->nnamed++] = (struct ref_named){ node, cores, whole };
}

void ref_cancel (struct ref *ref, uint64_t job)
{
    struct ref_booking *b = ref_booking (ref, job);

    free (b->claims);
    free (b->named);
    *b = (struct ref_booking){ 0 };
}

void ref_release (struct ref *ref)
{
    for (int j = 0; j < REF_JOBS; j++)
        if (ref->jobs[j].job != 0)
            ref_cancel (ref, ref->jobs[j].job);
    free (ref->v);
    *ref = (struct ref){ 0 };
}

bool ref_has (const struct ref *ref, const struct ref_booking *b, int v, int64_t *ret)
{
    for (int i = 0; i < b->nclaims; i++) {
        int c = b->claims[i].v;
        if (c != v && (ref->v[c].leaf || !ref_inside (ref, v, c)))
            continue;
        *ret = c == v ? b->claims[i].amount : ref->v[v].size;
        return true;
    }
    return false;
}

/* -- now or later -- */

/* The next end of a booking after t; a late booking ends in the next tick. */
static int64_t next_end (const struct ref *ref, int64_t now, int64_t t)
{
    int64_t next = INT64_MAX;

    for (int j = 0; j < REF_JOBS; j++) {
        int64_t end = ref->jobs[j].end <= now ? now + 1 : ref->jobs[j].end;
        if (ref->jobs[j].job != 0 && end > t && end < next)
            next = end;
    }
    return next;
}

int ref_earliest (struct ref *ref, const struct ref_request *req, int64_t now,
                  int64_t duration, struct ref_claim **ret, int64_t *ret_start)
{
    struct ref_window w = { .at = now, .end = now + duration, .now = true };
    int n = ref_match (ref, req, &w, ret);

    while (n < 0 && (w.at = next_end (ref, now, w.at)) < INT64_MAX) {
        w.end = w.at + duration;
        w.now = false;
        n = ref_match (ref, req, &w, ret);
    }
    *ret_start = w.at;
    return n;
}
