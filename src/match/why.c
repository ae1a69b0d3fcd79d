#include <errno.h>
#include <string.h>

#include "common/strbuf.h"
#include "match/why.h"

static const char *plural (int64_t n)
{
    return n == 1 ? "" : "s";
}

static const char *are (int64_t n)
{
    return n == 1 ? "is" : "are";
}

/* "none", "1", "2", ... */
static const char *number (int64_t n, char buf[24])
{
    if (n == 0)
        return "none";
    snprintf (buf, 24, "%lld", (long long)n);
    return buf;
}

/* "8 cores, 1 gpu and 100 MiB of memory"; nothing for nothing. */
static void add_amounts (struct strbuf *sb, const struct room *need)
{
    const struct {
        int64_t n;
        const char *one, *many;
    } parts[] = {
        { need->cores, "core", "cores" },
        { need->gpus, "gpu", "gpus" },
        { need->memory, "MiB of memory", "MiB of memory" },
    };
    int left = (need->cores > 0) + (need->gpus > 0) + (need->memory > 0);
    bool first = true;
    for (size_t i = 0; i < ARRAY_SIZE (parts); i++) {
        if (parts[i].n <= 0)
            continue;
        strbuf_addf (sb, "%s%lld %s",
                     first       ? ""
                     : left == 1 ? " and "
                                 : ", ",
                     (long long)parts[i].n,
                     parts[i].n == 1 ? parts[i].one : parts[i].many);
        first = false;
        left--;
    }
}

static void sizes_least (const struct match_request *req, int64_t size[DIM_COUNT])
{
    for (size_t d = 0; d < DIM_COUNT; d++)
        size[d] = req->count[d].min;
}

/* What one node must have: all its slots, or where slots may go anywhere, one. */
static struct room need_on_node (const struct match_request *req)
{
    int64_t size[DIM_COUNT];
    sizes_least (req, size);
    return request_need (req, size, size[DIM_NODE] > 0 ? size[DIM_SLOT] : 1);
}

static bool slot_is_core (const struct match_request *req, const struct room *need)
{
    return req->count[DIM_CORE].min == 1 && need->gpus == 0 && need->memory == 0;
}

/* "4 nodes with 8 cores each", "1 whole node" */
static void add_nodes (struct strbuf *sb, const struct match_request *req)
{
    int64_t n = req->count[DIM_NODE].min;
    struct room need = need_on_node (req);
    if (req->exclusive && need.cores <= 1)
        need.cores = 0;
    strbuf_addf (sb, "%lld %snode%s", (long long)n, req->exclusive ? "whole " : "",
                 plural (n));
    if (need.cores > 0 || need.gpus > 0 || need.memory > 0) {
        strbuf_adds (sb, " with ");
        add_amounts (sb, &need);
        strbuf_adds (sb, n > 1 ? " each" : "");
    }
}

/* "8 slots of 2 cores", "8 cores", "2 cores on a node" */
static void add_slots (struct strbuf *sb, const struct match_request *req)
{
    int64_t n = req->count[DIM_SLOT].min;
    struct room need = need_on_node (req);
    if (slot_is_core (req, &need)) {
        strbuf_addf (sb, "%lld core%s", (long long)n, plural (n));
        return;
    }
    if (n > 1)
        strbuf_addf (sb, "%lld slots of ", (long long)n);
    add_amounts (sb, &need);
    if (n == 1)
        strbuf_adds (sb, " on a node");
}

static void add_request (struct strbuf *sb, const struct match_request *req)
{
    int64_t racks = req->count[DIM_RACK].min;
    if (req->count[req->unit].max > req->count[req->unit].min)
        strbuf_adds (sb, "at least ");
    if (req->unit == DIM_RACK)
        strbuf_addf (sb, "%lld rack%s, in %s ", (long long)racks, plural (racks),
                     racks == 1 ? "it" : "each");
    if (req->count[DIM_NODE].min > 0)
        add_nodes (sb, req);
    else
        add_slots (sb, req);
}

/* " (of 16 up)", " (of 3 up that its constraints allow)" */
static void add_up (struct strbuf *sb, const struct machine *g,
                    const struct match_request *req)
{
    int64_t up = g->totals.up;
    if (req->constraint) {
        up = 0;
        for (size_t i = 0; i < g->size; i++) {
            const struct machine_node *n = g->nodes[i];
            up += n && !n->leaving && n->state == MACHINE_NODE_UP
                  && constraint_allows_node (req->constraint, n);
        }
    }
    if (req->unit == DIM_NODE)
        strbuf_addf (sb, " (of %lld up", (long long)up);
    else
        strbuf_addf (sb, " (on %lld node%s up", (long long)up, plural (up));
    strbuf_adds (sb, req->constraint ? " that its constraints allow)" : ")");
}

/* -- not now, by the sums alone -- */

struct whole {     /* the least of the whole request */
    int64_t nodes; /* distinct ones; at least 1 */
    struct room sum;
};

static struct whole whole_request (const struct match_request *req)
{
    int64_t size[DIM_COUNT];
    sizes_least (req, size);
    int64_t racks = MAX (size[DIM_RACK], 1);
    int64_t nodes = request_times (racks, MAX (size[DIM_NODE], 1));
    struct room one = request_need (req, size, size[DIM_SLOT]);
    return (struct whole){
        .nodes = nodes,
        .sum = { request_times (nodes, one.cores), request_times (nodes, one.gpus),
                 request_times (nodes, one.memory) },
    };
}

static bool sum_short (struct error *why, int64_t need, int64_t free_now,
                       const char *what, int64_t up)
{
    if (need <= free_now)
        return false;
    char n[24];
    if (why)
        error_set (why, EBUSY, "needs %lld %s in all, %s %s free now (on %lld node%s up)",
                   (long long)need, what, number (free_now, n), are (free_now),
                   (long long)up, plural (up));
    return true;
}

static bool node_short (struct error *why, int64_t need, int64_t most, const char *what)
{
    if (need <= MAX (most, 0))
        return false;
    char n[24];
    if (why)
        error_set (why, EBUSY,
                   "needs %lld %s on a node, the most that is free on one now is %s",
                   (long long)need, what, number (MAX (most, 0), n));
    return true;
}

bool why_short (const struct machine *g, const struct match_request *req,
                struct error *why)
{
    const struct machine_totals *t = &g->totals;
    const struct summary_key *most = summary_root (g->summary);
    struct whole whole = whole_request (req);
    struct room need = need_on_node (req);
    char n[24];
    if (whole.nodes > t->up) {
        if (why)
            error_set (why, EBUSY, "needs %lld node%s, %s %s up", (long long)whole.nodes,
                       plural (whole.nodes), number (t->up, n), are (t->up));
        return true;
    }
    if (req->exclusive && whole.nodes > t->idle) {
        if (why)
            error_set (why, EBUSY, "needs %lld whole node%s, %s %s free now (of %lld up)",
                       (long long)whole.nodes, plural (whole.nodes), number (t->idle, n),
                       are (t->idle), (long long)t->up);
        return true;
    }
    return sum_short (why, whole.sum.cores, t->cores, "cores", t->up)
           || sum_short (why, whole.sum.gpus, t->gpus, "gpus", t->up)
           || sum_short (why, whole.sum.memory, t->memory, "MiB of memory", t->up)
           || node_short (why, need.cores,
                          req->exclusive ? most->idle_cores : most->cores, "cores")
           || node_short (why, need.gpus, most->gpus, "gpus")
           || node_short (why, need.memory, most->memory, "MiB of memory");
}

/* -- not now, not ever, after a search -- */

int why_not_now (const struct machine *g, const struct match_request *req, int64_t found,
                 struct error *why)
{
    if (!why)
        return -EBUSY;
    autostrbuf struct strbuf sb;
    strbuf_init (&sb, ERROR_TEXT_MAX);
    char n[24];
    struct room need = need_on_node (req);
    strbuf_adds (&sb, "needs ");
    add_request (&sb, req);
    if (req->unit != DIM_SLOT || slot_is_core (req, &need))
        strbuf_addf (&sb, ", %s %s free now", number (found, n), are (found));
    else if (req->count[DIM_SLOT].min == 1)
        strbuf_adds (&sb, ", no node has that free now");
    else
        strbuf_addf (&sb, ", there is room for %s now", number (found, n));
    add_up (&sb, g, req);
    return error_set (why, EBUSY, "%s", sb.buf);
}

struct largest {
    int64_t nodes;
    struct room room;
};

static struct largest largest_nodes (const struct machine *g,
                                     const struct match_request *req)
{
    struct largest max = { 0, { 0, 0, 0 } };
    for (size_t i = 0; i < g->size; i++) {
        const struct machine_node *n = g->nodes[i];
        if (!n || n->leaving || !constraint_allows_node (req->constraint, n))
            continue;
        struct room room = machine_room_ever (n);
        max.nodes++;
        max.room.cores = MAX (max.room.cores, room.cores);
        max.room.gpus = MAX (max.room.gpus, room.gpus);
        max.room.memory = MAX (max.room.memory, room.memory);
    }
    return max;
}

static bool node_too_small (struct error *why, int64_t need, int64_t largest,
                            const char *one, const char *many, const char *allowed)
{
    if (need <= largest)
        return false;
    char n[24];
    error_set (why, ENOENT, "needs %lld %s on a node, the largest%s has %s",
               (long long)need, need == 1 ? one : many, allowed, number (largest, n));
    return true;
}

int why_never (const struct machine *g, const struct match_request *req, int64_t found,
               struct error *why)
{
    if (!why)
        return -ENOENT;
    struct largest max = largest_nodes (g, req);
    struct room need = need_on_node (req);
    const char *allowed = req->constraint ? " that its constraints allow" : "";
    if (g->count == 0)
        return error_set (why, ENOENT, "the machine has no nodes");
    if (max.nodes == 0)
        return error_set (why, ENOENT, "its constraints allow none of the %zu nodes",
                          g->count);
    if (node_too_small (why, need.cores, max.room.cores, "core", "cores", allowed)
        || node_too_small (why, need.gpus, max.room.gpus, "gpu", "gpus", allowed)
        || node_too_small (why, need.memory, max.room.memory, "MiB of memory",
                           "MiB of memory", allowed))
        return -ENOENT;
    autostrbuf struct strbuf sb;
    strbuf_init (&sb, ERROR_TEXT_MAX);
    char n[24];
    strbuf_adds (&sb, "needs ");
    add_request (&sb, req);
    if (req->unit == DIM_SLOT && req->count[DIM_SLOT].min == 1)
        strbuf_adds (&sb, ", there is no such node");
    else if (req->unit == DIM_SLOT && !slot_is_core (req, &need))
        strbuf_addf (&sb, ", the machine has room for %s", number (found, n));
    else
        strbuf_addf (&sb, ", there %s %s", are (found), number (found, n));
    return error_set (why, ENOENT, "%s%s", sb.buf, allowed);
}
