#include <errno.h>
#include <math.h>
#include <string.h>

#include "match/place.h"
#include "match/why.h"

#define VERDICTS 256 /* power of two */

struct booked { /* on one node */
    int node;
    struct idset *cores, *gpus;
    int64_t memory;
};

struct booking {
    uint64_t job;
    UT_hash_handle hh;
    size_t n;
    struct booked on[];
};

/* What satisfiability answered for a shape while the layout was this; never: why not,
 * or NULL when it can be satisfied. */
struct verdict {
    uint64_t shape, layout;
    char *never;
};

struct matcher {
    struct machine *g;
    struct booking *bookings;
    struct verdict verdicts[VERDICTS];
};

struct matcher *matcher_create (struct machine *g)
{
    struct matcher *m = calloc (1, sizeof (*m));
    if (m)
        m->g = g;
    return m;
}

static void booking_destroy (struct booking *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n; i++) {
        idset_destroy (b->on[i].cores);
        idset_destroy (b->on[i].gpus);
    }
    free (b);
}

void matcher_destroy (struct matcher *m)
{
    if (!m)
        return;
    struct booking *b, *next;
    HASH_ITER (hh, m->bookings, b, next) {
        HASH_DEL (m->bookings, b);
        booking_destroy (b);
    }
    for (size_t i = 0; i < VERDICTS; i++)
        free (m->verdicts[i].never);
    free (m);
}

static struct booking *booking_find (const struct matcher *m, uint64_t job)
{
    struct booking *b;
    HASH_FIND (hh, m->bookings, &job, sizeof (job), b);
    return b;
}

bool match_has (const struct matcher *m, uint64_t job)
{
    return booking_find (m, job) != NULL;
}

size_t match_job_count (const struct matcher *m)
{
    return HASH_COUNT (m->bookings);
}

uint64_t match_generation (const struct matcher *m)
{
    return m->g->generation;
}

bool match_nothing_free (const struct matcher *m)
{
    return m->g->totals.cores == 0 && m->g->totals.gpus == 0;
}

/* -- book -- */

/* A booking of r's units that is not in force yet: indexes are to be filled in. */
static struct booking *booking_create (uint64_t job, const struct rset *r)
{
    struct booking *b = calloc (1, sizeof (*b) + r->nranks * sizeof (b->on[0]));
    if (!b)
        return NULL;
    b->job = job;
    for (; b->n < r->nranks; b->n++) {
        struct booked *on = &b->on[b->n];
        on->node = r->ranks[b->n].node_index;
        on->memory = r->ranks[b->n].memory_mib;
        on->cores = idset_copy (r->ranks[b->n].cores);
        on->gpus = idset_copy (r->ranks[b->n].gpus);
        if (!on->cores || !on->gpus) {
            b->n++;
            booking_destroy (b);
            return NULL;
        }
    }
    return b;
}

static int booking_register (struct matcher *m, struct booking *b)
{
    HASH_ADD (hh, m->bookings, job, sizeof (b->job), b);
    return b->hh.tbl ? 0 : -ENOMEM;
}

static void unbook (struct matcher *m, const struct booking *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        machine_unbook (m->g, b->on[i].node, b->on[i].cores, b->on[i].gpus,
                        b->on[i].memory);
}

int match_cancel (struct matcher *m, uint64_t job)
{
    struct booking *b = booking_find (m, job);
    if (!b)
        return -ENOENT;
    HASH_DEL (m->bookings, b);
    unbook (m, b, b->n);
    booking_destroy (b);
    return 0;
}

/* -- allocate -- */

/* Add the n lowest ids below `limit` that are not in map. */
static int take_lowest (struct idset *ids, const struct bitmap *map, size_t limit,
                        int64_t n)
{
    size_t from = 0;
    while (n > 0) {
        ssize_t first = bitmap_next_clear (map, from);
        if (first < 0 || (size_t)first >= limit)
            return -ERANGE; /* the counts say that they are there */
        ssize_t set = bitmap_next (map, (size_t)first);
        size_t end = set < 0 ? limit : MIN ((size_t)set, limit);
        size_t last = MIN (end, (size_t)first + (size_t)n) - 1;
        int rc = idset_add_range (ids, (uint32_t)first, (uint32_t)last);
        if (rc < 0)
            return rc;
        n -= (int64_t)(last - (size_t)first + 1);
        from = last + 1;
    }
    return 0;
}

static int fill_rank (struct rset_rank *rank, const struct machine_node *n,
                      const struct pick *pick, const struct match_request *req,
                      const struct placement *p)
{
    struct room take =
        req->exclusive ? machine_room_now (n) : request_need (req, p->size, pick->slots);
    rank->node_index = n->index;
    rank->memory_mib = take.memory;
    rank->slots = pick->slots;
    rank->exclusive = req->exclusive;
    if (!(rank->node = strdup (n->name)))
        return -ENOMEM;
    int rc = take_lowest (rank->cores, n->core_map, n->cores, take.cores);
    return rc < 0 ? rc : take_lowest (rank->gpus, n->gpu_map, n->gpus, take.gpus);
}

static double microseconds (double t)
{
    return round (t * 1e6) / 1e6;
}

static int placement_to_rset (const struct machine *g, const struct match_request *req,
                              const struct placement *p, struct rset **ret)
{
    struct rset *r = rset_create (p->npicks);
    if (!r)
        return -ENOMEM;
    for (size_t i = 0; i < p->npicks; i++) {
        int rc =
            fill_rank (&r->ranks[i], g->nodes[p->picks[i].node], &p->picks[i], req, p);
        if (rc < 0) {
            rset_destroy (r);
            return rc;
        }
    }
    *ret = r;
    return 0;
}

static int find_place (struct matcher *m, const struct match_request *req, double now,
                       double duration, struct rset **ret, struct error *why)
{
    struct placement p = { 0 };
    int rc = -EBUSY;
    if (!why_short (m->g, req, why)) {
        rc = place (m->g, req, PLACE_NOW, &p);
        if (rc == -EBUSY)
            why_not_now (m->g, req, p.found, why);
        else if (rc == 0)
            rc = placement_to_rset (m->g, req, &p, ret);
    }
    placement_release (&p);
    if (rc == -EBUSY && match_satisfiability (m, req, NULL) == -ENOENT)
        return match_satisfiability (m, req, why);
    if (rc < 0)
        return rc == -EBUSY ? rc : error_set (why, -rc, "out of memory");
    (*ret)->starttime = microseconds (now);
    (*ret)->expiration = duration > 0 ? microseconds (now + duration) : 0;
    return 0;
}

int match_without_allocating (struct matcher *m, const struct match_request *req,
                              double now, double duration, struct rset **ret,
                              struct error *why)
{
    return find_place (m, req, now, duration, ret, why);
}

int match_allocate (struct matcher *m, uint64_t job, const struct match_request *req,
                    double now, double duration, struct rset **ret, struct error *why)
{
    if (booking_find (m, job))
        return error_set (why, EEXIST, "job %llu has resources already",
                          (unsigned long long)job);
    struct rset *r;
    int rc = find_place (m, req, now, duration, &r, why);
    if (rc < 0)
        return rc;
    struct booking *b = booking_create (job, r);
    if (!b || booking_register (m, b) < 0) {
        booking_destroy (b);
        rset_destroy (r);
        return error_set (why, ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < b->n; i++)
        machine_book (m->g, b->on[i].node, b->on[i].cores, b->on[i].gpus, b->on[i].memory,
                      r->ranks[i].exclusive);
    *ret = r;
    return 0;
}

/* -- satisfiability -- */

int match_satisfiability (struct matcher *m, const struct match_request *req,
                          struct error *why)
{
    struct verdict *v = &m->verdicts[req->shape & (VERDICTS - 1)];
    if (v->layout == m->g->layout && v->shape == req->shape)
        return v->never ? error_set (why, ENOENT, "%s", v->never) : 0;
    struct placement p = { 0 };
    struct error text = { 0 };
    int rc = place (m->g, req, PLACE_EVER, &p);
    if (rc == -EBUSY)
        rc = why_never (m->g, req, p.found, &text);
    placement_release (&p);
    char *never = rc == -ENOENT ? strdup (text.text) : NULL;
    if (rc == -ENOMEM || (rc < 0 && !never))
        return error_set (why, ENOMEM, "out of memory");
    free (v->never);
    *v = (struct verdict){ req->shape, m->g->layout, never };
    return never ? error_set (why, ENOENT, "%s", never) : 0;
}

/* -- update: what runs already -- */

static int ids_are_free (const struct idset *ids, const struct bitmap *map,
                         uint32_t there, const char *what, const char *node,
                         struct error *why)
{
    IDSET_FOREACH (ids, id)
    {
        if (id >= there)
            return error_set (why, ENOENT, "%s: %s %u is gone (it has %u)", node, what,
                              id, there);
        if (bitmap_test (map, id))
            return error_set (why, EBUSY, "%s: %s %u is taken", node, what, id);
    }
    return 0;
}

static int rank_is_free (const struct machine_node *n, const struct rset_rank *rank,
                         struct error *why)
{
    if (n->exclusive || (rank->exclusive && n->njobs > 0))
        return error_set (why, EBUSY, "%s: another job runs there", n->name);
    if (rank->memory_mib > n->memory)
        return error_set (why, ENOENT, "%s: %lld MiB of memory are gone (it has %lld)",
                          n->name, (long long)rank->memory_mib, (long long)n->memory);
    if (rank->memory_mib > n->memory - n->memory_used)
        return error_set (why, EBUSY, "%s: %lld MiB of memory are taken", n->name,
                          (long long)rank->memory_mib);
    int rc = ids_are_free (rank->cores, n->core_map, n->cores, "core", n->name, why);
    return rc < 0 ? rc
                  : ids_are_free (rank->gpus, n->gpu_map, n->gpus, "gpu", n->name, why);
}

static int book_rank (struct matcher *m, struct booked *on, const struct rset_rank *rank,
                      struct error *why)
{
    on->node = machine_node_find (m->g, rank->node);
    if (on->node < 0)
        return error_set (why, ENOENT, "node %s is not known", rank->node);
    int rc = rank_is_free (m->g->nodes[on->node], rank, why);
    if (rc < 0)
        return rc;
    machine_book (m->g, on->node, on->cores, on->gpus, on->memory, rank->exclusive);
    return 0;
}

int match_update (struct matcher *m, uint64_t job, const struct rset *r,
                  struct error *why)
{
    if (booking_find (m, job))
        return error_set (why, EEXIST, "job %llu has resources already",
                          (unsigned long long)job);
    struct booking *b = booking_create (job, r);
    if (!b)
        return error_set (why, ENOMEM, "out of memory");
    int rc = 0;
    size_t n = 0;
    while (n < r->nranks && (rc = book_rank (m, &b->on[n], &r->ranks[n], why)) == 0)
        n++;
    if (rc == 0 && (rc = booking_register (m, b)) < 0)
        error_set (why, ENOMEM, "out of memory");
    if (rc < 0) {
        unbook (m, b, n);
        booking_destroy (b);
    }
    return rc;
}
