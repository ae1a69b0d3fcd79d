#include <errno.h>
#include <string.h>

#include "match/place.h"

struct search {
    const struct machine *g;
    const struct match_request *req;
    enum place_when when;
    const struct machine_rack *rack; /* look only there, or NULL */
    struct placement *out;
    bool no_memory;
};

void placement_release (struct placement *p)
{
    free (p->picks);
    *p = (struct placement){ 0 };
}

static bool push (struct search *s, int node, int64_t slots)
{
    struct placement *p = s->out;
    if (p->npicks == p->alloc) {
        size_t more = p->alloc ? 2 * p->alloc : 4;
        struct pick *picks = realloc (p->picks, more * sizeof (*picks));
        if (!picks) {
            s->no_memory = true;
            return false;
        }
        p->picks = picks;
        p->alloc = more;
    }
    p->picks[p->npicks++] = (struct pick){ (uint32_t)node, (uint32_t)slots };
    return true;
}

/* -- candidates: nodes that have `need`, in index order -- */

static struct room room_of (const struct search *s, const struct machine_node *n)
{
    if (s->when == PLACE_EVER)
        return machine_room_ever (n);
    if (s->req->exclusive && n->njobs > 0)
        return (struct room){ -1, 0, 0 };
    return machine_room_now (n);
}

static bool node_fits (const struct search *s, const struct machine_node *n,
                       const struct room *need)
{
    struct room room = room_of (s, n);
    return room.cores >= need->cores && room.gpus >= need->gpus
           && room.memory >= need->memory
           && constraint_allows_node (s->req->constraint, n);
}

/* The summary leads to the next node that fits, on the whole machine. */
static int next_by_summary (const struct search *s, size_t *cursor,
                            const struct room *need)
{
    struct summary_key key = { need->cores, s->req->exclusive ? need->cores : -1,
                               need->gpus, need->memory };
    for (;;) {
        int i = summary_next (s->g->summary, *cursor, &key);
        if (i < 0)
            return -1;
        *cursor = (size_t)i + 1;
        if (constraint_allows_node (s->req->constraint, s->g->nodes[i]))
            return i;
    }
}

/* First candidate at *cursor or after it, -1 when there is none; moves the cursor. */
static int next_node (const struct search *s, size_t *cursor, const struct room *need)
{
    if (s->when == PLACE_NOW && !s->rack)
        return next_by_summary (s, cursor, need);
    size_t end = s->rack ? s->rack->nnodes : s->g->size;
    while (*cursor < end) {
        size_t i = s->rack ? s->rack->nodes[*cursor] : *cursor;
        (*cursor)++;
        if (s->g->nodes[i] && node_fits (s, s->g->nodes[i], need))
            return (int)i;
    }
    return -1;
}

/* -- scans: take up to `want` units, return how many there were -- */

static int64_t scan_nodes (struct search *s, int64_t want)
{
    int64_t slots = s->out->size[DIM_SLOT], n = 0;
    struct room need = request_need (s->req, s->out->size, slots);
    size_t cursor = 0;
    int i;
    while (n < want && (i = next_node (s, &cursor, &need)) >= 0 && push (s, i, slots))
        n++;
    return n;
}

/* How many slots fit into a room that has at least one. */
static int64_t slots_in (const struct search *s, const struct room *room, int64_t limit)
{
    const int64_t *size = s->out->size;
    int64_t memory = size[DIM_MEMORY];
    if (size[DIM_CORE] > 0)
        limit = MIN (limit, room->cores / size[DIM_CORE]);
    if (size[DIM_GPU] > 0)
        limit = MIN (limit, room->gpus / size[DIM_GPU]);
    if (memory > 0)
        limit = MIN (limit, room->memory / memory);
    return limit;
}

static int64_t scan_slots (struct search *s, int64_t want)
{
    struct room need = request_need (s->req, s->out->size, 1);
    int64_t n = 0;
    size_t cursor = 0;
    int i;
    while (n < want && (i = next_node (s, &cursor, &need)) >= 0) {
        struct room room = room_of (s, s->g->nodes[i]);
        int64_t k = slots_in (s, &room, want - n);
        if (!push (s, i, k))
            break;
        n += k;
    }
    return n;
}

static int64_t scan_racks (struct search *s, int64_t want)
{
    const int64_t *size = s->out->size;
    int64_t n = 0;
    for (size_t i = 0; n < want && i < s->g->nracks; i++) {
        size_t mark = s->out->npicks;
        s->rack = s->g->racks[i];
        bool complete = size[DIM_NODE] > 0
                            ? scan_nodes (s, size[DIM_NODE]) >= size[DIM_NODE]
                            : scan_slots (s, size[DIM_SLOT]) >= size[DIM_SLOT];
        if (complete)
            n++;
        else
            s->out->npicks = mark;
    }
    s->rack = NULL;
    return n;
}

static int64_t scan (struct search *s, int64_t want)
{
    s->out->npicks = 0;
    switch (s->req->unit) {
    case DIM_RACK:
        return scan_racks (s, want);
    case DIM_NODE:
        return scan_nodes (s, want);
    default:
        return scan_slots (s, want);
    }
}

/* -- elastic counts -- */

/* No allowed size above this fits anywhere. */
static int64_t size_limit (const struct search *s, enum dim d)
{
    const struct summary_key *most = summary_root (s->g->summary);
    switch (d) {
    case DIM_NODE:
        return (int64_t)s->g->count;
    case DIM_SLOT:
        return s->rack || s->req->unit == DIM_RACK
                   ? s->g->totals.cores + s->g->totals.gpus
                   : most->cores + most->gpus;
    case DIM_CORE:
        return most->cores;
    case DIM_GPU:
        return most->gpus;
    default:
        return most->memory;
    }
}

/* The largest size of inner count d with which all units are still found. */
static void grow (struct search *s, enum dim d)
{
    const struct jobspec_count *count = &s->req->count[d];
    int64_t *size = &s->out->size[d], units = s->out->size[s->req->unit];
    int64_t best = *size, low = best, high = MIN (count->max, size_limit (s, d));
    while (low < high && !s->no_memory) {
        int64_t middle = low + (high - low + 1) / 2;
        *size = jobspec_count_fit (count, middle);
        if (*size <= best) {
            low = middle;
        } else if (scan (s, units) >= units) {
            best = *size;
            low = middle;
        } else {
            high = *size - 1;
        }
    }
    *size = best;
}

/* All units are known to fit: size the rest, and pick. */
static int place_units (struct search *s, int64_t units)
{
    bool again = s->out->found > units;
    s->out->size[s->req->unit] = units;
    for (enum dim d = s->req->unit + 1; d < DIM_COUNT && s->when == PLACE_NOW; d++) {
        if (s->req->count[d].max > s->req->count[d].min) {
            grow (s, d);
            again = true;
        }
    }
    if (again)
        scan (s, units);
    return s->no_memory ? -ENOMEM : 0;
}

int place (const struct machine *g, const struct match_request *req, enum place_when when,
           struct placement *ret)
{
    struct search s = { .g = g, .req = req, .when = when, .out = ret };
    const struct jobspec_count *units = &req->count[req->unit];
    for (size_t d = 0; d < DIM_COUNT; d++)
        ret->size[d] = req->count[d].min;
    ret->found = scan (&s, when == PLACE_NOW ? units->max : units->min);
    if (s.no_memory)
        return -ENOMEM;
    int64_t fit = jobspec_count_fit (units, ret->found);
    return fit < units->min ? -EBUSY : place_units (&s, fit);
}
