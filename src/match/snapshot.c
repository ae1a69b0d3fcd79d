/* snapshot.c - all bookings as bytes, and back
 *
 *     magic and version    8 bytes
 *     vertices             n, then each: its parent's number + 1 (0: it is the root), its
 *                          name (length * 2, + 1: and its rank behind it, which tells nodes
 *                          of one name apart); parents come first
 *     jobs                 n, then each, by id: how much the id is more than the last one's,
 *                          flags, start, end - start, claims
 *     claims               n, then each: vertex, unit * 4 + flags, units, amount
 *     SHA-256              of all before it
 *
 * Numbers have 7 bits in each byte, the lowest first. What is usual (the amount is the
 * unit's size, no end) is told by a flag and takes no room. A unit is found by the name of
 * its group's first one and how far it is behind it: the groups themselves may be cut in
 * another way in the graph where it is read.
 *
 * Reading trusts nothing: each number has a bound, and what is read is booked by the way
 * that looks first.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/parse.h"
#include "common/sha256.h"
#include "match/planner_private.h"

#define MAGIC "fxqbook1"
#define MAGIC_SIZE 8
#define NAME_MAX_BYTES 512
#define PATH_BYTES (GRAPH_DEPTH_MAX * (NAME_MAX_BYTES + 1))

enum job_flags { JOB_RESERVED = 1, JOB_FOREVER = 2, JOB_FLAGS = 4 };
enum claim_flags { CLAIM_EXCLUSIVE = 1, CLAIM_AMOUNT = 2, CLAIM_FLAGS = 4 };

/* -- writing -- */

struct writer {
    const struct planner *p;
    struct strbuf *sb;
    uint32_t *number; /* by handle: its number in the table + 1, or 0 */
    uint32_t *table;
    uint32_t n, alloc;
};

static void put_number (struct strbuf *sb, uint64_t n)
{
    char bytes[10];
    size_t len = 0;

    do {
        bytes[len++] = (char)((n & 127) | (n > 127 ? 128 : 0));
        n >>= 7;
    } while (n);
    strbuf_add (sb, bytes, len);
}

/* v and the way to it, into the table. */
static int enter_vertex (struct writer *w, uint32_t v)
{
    uint32_t parent = graph_vertex (w->p->g, v)->parent, *table;
    int rc = 0;

    if (w->number[v])
        return 0;
    if (parent != GRAPH_NONE && (rc = enter_vertex (w, parent)) < 0)
        return rc;
    if (w->n == w->alloc) {
        uint32_t alloc = w->alloc * 2 + 64;
        if (!(table = realloc (w->table, alloc * sizeof (*table))))
            return -ENOMEM;
        w->table = table;
        w->alloc = alloc;
    }
    w->table[w->n++] = v;
    w->number[v] = w->n;
    return 0;
}

static int enter_vertices (struct writer *w)
{
    const struct ordered *ids = &w->p->ids;

    for (struct ordered_link *l = ordered_first (ids); l;
         l = ordered_above (ids, l->key)) {
        const struct booking *b = CONTAINER_OF (l, struct booking, by_id);
        CLAIMS_OF_JOB (w->p, b, c)
        {
            if (enter_vertex (w, w->p->claims[c].v) < 0)
                return -ENOMEM;
        }
    }
    return 0;
}

static void put_vertex (struct writer *w, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (w->p->g, v);
    bool rank = x->type == GRAPH_NODE && x->rank >= 0;
    char name[NAME_MAX_BYTES];
    size_t len;

    graph_name (w->p->g, v, 0, name, sizeof (name));
    len = strlen (name);
    put_number (w->sb, x->parent == GRAPH_NONE ? 0 : w->number[x->parent]);
    put_number (w->sb, 2 * len + rank);
    strbuf_add (w->sb, name, len);
    if (rank)
        put_number (w->sb, (uint64_t)x->rank);
}

static void put_claim (struct writer *w, const struct claim *c)
{
    bool amount = c->amount != graph_vertex (w->p->g, c->v)->size;

    put_number (w->sb, w->number[c->v] - 1);
    put_number (w->sb, (uint64_t)c->unit * CLAIM_FLAGS
                           + (c->exclusive ? CLAIM_EXCLUSIVE : 0)
                           + (amount ? CLAIM_AMOUNT : 0));
    put_number (w->sb, c->count);
    if (amount)
        put_number (w->sb, (uint64_t)c->amount);
}

static void put_job (struct writer *w, const struct booking *b, uint64_t before)
{
    bool forever = b->end == PLANNER_FOREVER;

    put_number (w->sb, b->job - before);
    put_number (w->sb, (b->reserved ? JOB_RESERVED : 0) + (forever ? JOB_FOREVER : 0));
    put_number (w->sb, (uint64_t)b->start);
    if (!forever)
        put_number (w->sb, (uint64_t)(b->end - b->start));
    put_number (w->sb, b->nclaims);
    CLAIMS_OF_JOB (w->p, b, c)
    {
        put_claim (w, &w->p->claims[c]);
    }
}

static void put_sum (struct strbuf *sb, size_t from)
{
    struct sha256 sha;
    uint8_t sum[SHA256_SIZE];

    sha256_init (&sha);
    sha256_update (&sha, sb->buf + from, sb->len - from);
    sha256_final (&sha, sum);
    strbuf_add (sb, sum, sizeof (sum));
}

int planner_snapshot (const struct planner *p, struct strbuf *sb)
{
    autofree uint32_t *number = calloc (p->g->nv + 1u, sizeof (*number));
    struct writer w = { .p = p, .sb = sb, .number = number };
    size_t from = sb->len;
    uint64_t before = 0;

    if (!number || enter_vertices (&w) < 0) {
        free (w.table);
        return -ENOMEM;
    }
    strbuf_add (sb, MAGIC, MAGIC_SIZE);
    put_number (sb, w.n);
    for (uint32_t i = 0; i < w.n; i++)
        put_vertex (&w, w.table[i]);
    free (w.table);
    put_number (sb, p->ids.n);
    for (struct ordered_link *l = ordered_first (&p->ids); l;
         l = ordered_above (&p->ids, l->key)) {
        put_job (&w, CONTAINER_OF (l, struct booking, by_id), before);
        before = l->key;
    }
    if (!sb->err)
        put_sum (sb, from);
    return sb->err;
}

/* -- reading -- */

struct place { /* where the first unit of a vertex of the snapshot is now */
    uint32_t v, unit;
};

struct reader {
    struct planner *p;
    const unsigned char *at, *end;
    struct place *table;
    size_t n;
    struct error *err;
};

static int refuse (const struct reader *r, const char *what)
{
    return error_set (r->err, EINVAL, "not a snapshot of bookings: %s", what);
}

/* 0 .. max. */
static int get_number (struct reader *r, uint64_t max, uint64_t *ret)
{
    uint64_t n = 0;

    for (unsigned shift = 0; r->at < r->end; shift += 7) {
        uint64_t byte = *r->at++;
        if (shift > 63 || (shift == 63 && byte > 1))
            break;
        n |= (byte & 127) << shift;
        if (byte & 128)
            continue;
        if (n > max)
            break;
        *ret = n;
        return 0;
    }
    return refuse (r, "a number is cut short or too great");
}

static int check_frame (struct reader *r, const char *bytes, size_t len)
{
    struct sha256 sha;
    uint8_t sum[SHA256_SIZE];

    if (len < MAGIC_SIZE + SHA256_SIZE || memcmp (bytes, MAGIC, MAGIC_SIZE) != 0)
        return refuse (r, "it does not begin as one");
    sha256_init (&sha);
    sha256_update (&sha, bytes, len - SHA256_SIZE);
    sha256_final (&sha, sum);
    if (memcmp (sum, bytes + len - SHA256_SIZE, SHA256_SIZE) != 0)
        return refuse (r, "its checksum is wrong: it was cut short or changed");
    r->at = (const unsigned char *)bytes + MAGIC_SIZE;
    r->end = (const unsigned char *)bytes + len - SHA256_SIZE;
    return 0;
}

/* -- vertices by name -- */

/* The unit of v that is called that. */
static bool has_name (const struct graph *g, uint32_t v, const char *name,
                      uint32_t *ret_unit)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    const char *base = graph_basename (g, v);
    char own[NAME_MAX_BYTES];
    int64_t id;

    *ret_unit = 0;
    if (x->n == 1)
        return strcmp (graph_name (g, v, 0, own, sizeof (own)), name) == 0;
    if (strncmp (name, base, strlen (base)) != 0
        || parse_int (name + strlen (base), x->id, (int64_t)x->id + x->n - 1, &id, "",
                      NULL)
               < 0)
        return false;
    *ret_unit = (uint32_t)(id - x->id);
    return strcmp (graph_name (g, v, *ret_unit, own, sizeof (own)), name) == 0;
}

static bool find_among (const struct graph *g, uint32_t parent, const char *name,
                        struct place *ret)
{
    GRAPH_CHILDREN (g, parent, child)
    {
        ret->v = child;
        if (has_name (g, child, name, &ret->unit))
            return true;
    }
    return false;
}

static bool find_rank (const struct graph *g, uint32_t parent, const char *name,
                       int32_t rank, struct place *ret)
{
    *ret = (struct place){ .v = rank < 0 ? GRAPH_NONE : graph_find_rank (g, rank) };
    return ret->v != GRAPH_NONE && graph_vertex (g, ret->v)->parent == parent
           && has_name (g, ret->v, name, &ret->unit);
}

/* The child of that name (parent NULL: the root), of several that of the rank. Several may
 * have one path, so what the path leads to may be another's. */
static int find_child (struct reader *r, const struct place *parent, const char *name,
                       int32_t rank, struct place *ret)
{
    const struct graph *g = r->p->g;
    uint32_t up = parent ? parent->v : GRAPH_NONE;
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, PATH_BYTES);
    if (find_rank (g, up, name, rank, ret))
        return 0;
    if (parent)
        graph_path (g, up, parent->unit, &sb);
    strbuf_addch (&sb, '/');
    if (strbuf_adds (&sb, name) == -ENOMEM)
        return error_set (r->err, ENOMEM, "no memory");
    if (sb.err || graph_find_path (g, sb.buf, &ret->v, &ret->unit) < 0)
        return error_set (r->err, ENOENT, "%s is not there", sb.buf);
    if (graph_vertex (g, ret->v)->parent != up && !find_among (g, up, name, ret))
        return error_set (r->err, ENOENT, "%s is not there", sb.buf);
    return 0;
}

static int get_vertex (struct reader *r)
{
    char name[NAME_MAX_BYTES];
    uint64_t parent = 0, len = 0, rank = 0;
    bool ranked;

    if (get_number (r, r->n, &parent) < 0
        || get_number (r, 2 * NAME_MAX_BYTES - 1, &len) < 0)
        return -EINVAL;
    ranked = len % 2;
    len /= 2;
    if (len == 0 || len > (size_t)(r->end - r->at) || memchr (r->at, 0, len)
        || memchr (r->at, '/', len))
        return refuse (r, "a name is none");
    memcpy (name, r->at, len);
    name[len] = '\0';
    r->at += len;
    if (ranked && get_number (r, INT32_MAX, &rank) < 0)
        return -EINVAL;
    int rc = find_child (r, parent ? &r->table[parent - 1] : NULL, name,
                         ranked ? (int32_t)rank : -1, &r->table[r->n]);
    r->n += rc == 0;
    return rc;
}

static int get_vertices (struct reader *r)
{
    uint64_t n = 0;
    int rc = get_number (r, (uint64_t)(r->end - r->at) / 3, &n);

    if (rc < 0)
        return rc;
    r->table = malloc ((n + 1) * sizeof (*r->table));
    if (!r->table)
        return error_set (r->err, ENOMEM, "no memory");
    while (rc == 0 && r->n < n)
        rc = get_vertex (r);
    return rc;
}

/* The unit that is so far behind the first one of that name. */
static int find_unit (struct reader *r, struct place first, uint64_t behind,
                      struct place *ret)
{
    const struct graph *g = r->p->g;
    const struct graph_vertex *x = graph_vertex (g, first.v);
    char name[NAME_MAX_BYTES + 32];

    *ret = first;
    if (behind < x->n - first.unit) {
        ret->unit += (uint32_t)behind;
        return 0;
    }
    snprintf (name, sizeof (name), "%s%" PRIu64, graph_basename (g, first.v),
              (uint64_t)x->id + first.unit + behind);
    if (x->id < 0 || x->parent == GRAPH_NONE)
        return error_set (r->err, ENOENT, "%s is not there", name);
    struct place parent = { .v = x->parent };
    return find_child (r, &parent, name, -1, ret);
}

static int add_pick (struct reader *r, struct selection *s, const struct place *at,
                     uint32_t count, bool exclusive, int64_t amount)
{
    struct pick *pick = selection_add (s, r->p->g, at->v, at->unit, count, GRAPH_NONE);

    if (!pick)
        return error_set (r->err, ENOMEM, "no memory");
    pick->claimed = true;
    pick->exclusive = exclusive;
    if (amount > 0)
        pick->amount = amount;
    return 0;
}

static int get_claim (struct reader *r, struct selection *s)
{
    uint64_t vertex, unit, count, amount = 0, flags;
    struct place at;
    int rc = 0;

    if (r->n == 0)
        return refuse (r, "a claim on nothing");
    if (get_number (r, r->n - 1, &vertex) < 0
        || get_number (r, (uint64_t)GRAPH_UNITS_MAX * CLAIM_FLAGS, &unit) < 0
        || get_number (r, GRAPH_UNITS_MAX, &count) < 0)
        return -EINVAL;
    flags = unit % CLAIM_FLAGS;
    unit /= CLAIM_FLAGS;
    if ((flags & CLAIM_AMOUNT) && get_number (r, GRAPH_SIZE_MAX, &amount) < 0)
        return -EINVAL;
    if (count == 0 || ((flags & CLAIM_AMOUNT) && amount == 0))
        return refuse (r, "a claim on nothing");
    while (count > 0 && rc == 0) {
        rc = find_unit (r, r->table[vertex], unit, &at);
        if (rc < 0)
            break;
        uint64_t here = MIN (count, graph_vertex (r->p->g, at.v)->n - at.unit);
        rc = add_pick (r, s, &at, (uint32_t)here, flags & CLAIM_EXCLUSIVE,
                       (int64_t)amount);
        count -= here;
        unit += here;
    }
    return rc;
}

static int get_times (struct reader *r, uint64_t flags, struct selection *s)
{
    uint64_t start, length = 0;

    if (get_number (r, INT64_MAX - 1, &start) < 0)
        return -EINVAL;
    s->start = (int64_t)start;
    s->end = PLANNER_FOREVER;
    if (flags & JOB_FOREVER)
        return 0;
    if (get_number (r, (uint64_t)(INT64_MAX - 1 - s->start), &length) < 0)
        return -EINVAL;
    s->end = s->start + (int64_t)length;
    return 0;
}

static int get_job (struct reader *r, uint64_t *job, bool first)
{
    autoselection struct selection *s = selection_create ();
    uint64_t more, flags, n;
    int rc;

    if (!s)
        return error_set (r->err, ENOMEM, "no memory");
    if (get_number (r, UINT64_MAX - *job, &more) < 0
        || get_number (r, JOB_FLAGS - 1, &flags) < 0)
        return -EINVAL;
    if (more == 0 && !first)
        return refuse (r, "a job comes twice");
    *job += more;
    if ((rc = get_times (r, flags, s)) < 0
        || (rc = get_number (r, (uint64_t)(r->end - r->at) / 3, &n)) < 0)
        return rc;
    for (uint64_t i = 0; i < n && rc == 0; i++)
        rc = get_claim (r, s);
    if (rc < 0)
        return rc;
    rc = planner_update (r->p, *job, s, flags & JOB_RESERVED, r->err);
    return rc == -EBUSY ? error_set (r->err, EINVAL,
                                     "job %" PRIu64 ": units that another "
                                     "has at the time",
                                     *job)
                        : rc;
}

static int get_jobs (struct reader *r)
{
    uint64_t n, job = 0;
    int rc = get_number (r, (uint64_t)(r->end - r->at) / 4, &n);

    for (uint64_t i = 0; rc == 0 && i < n; i++)
        rc = get_job (r, &job, i == 0);
    if (rc == 0 && r->at != r->end)
        return refuse (r, "there is more behind its end");
    return rc;
}

int planner_restore (struct planner *p, const char *bytes, size_t len, struct error *err)
{
    struct reader r = { .p = p, .err = err };
    int rc;

    if (p->by_job)
        return error_set (err, EINVAL,
                          "there are bookings: a snapshot is read before any "
                          "is made");
    rc = check_frame (&r, bytes, len);
    if (rc == 0)
        rc = get_vertices (&r);
    if (rc == 0)
        rc = get_jobs (&r);
    free (r.table);
    while (rc < 0 && p->by_job)
        booking_drop (p, p->by_job);
    return rc;
}
