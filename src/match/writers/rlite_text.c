/* rlite_text.c - see rlite_text.h. While the walk is in a node, the ids found there are
 * collected as ranges; when it leaves the node, they become its text, and the rank joins
 * the entry with that text.
 */
#include "match/writers/rlite_text.h"

#include <inttypes.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/hostlist.h"
#include "match/writers/order.h"

#define TEXT_MAX ((size_t)1 << 30)

struct ids { /* ranges, in the order of finding */
    struct range {
        int64_t first, last;
    } * r;
    size_t n, alloc;
};

/* Ranks with equal children, or a common property. */
struct entry {
    char *text;
    struct ids ranks;
    UT_hash_handle hh;
};

struct host {
    int32_t rank;
    uint32_t v, unit;
    size_t met; /* order of finding, for equals */
};

enum { KIND_CORE, KIND_GPU, KINDS };
static const char *const kind_names[KINDS] = { "core", "gpu" };

struct rlite {
    const struct graph *g;
    struct entry *by_children, *by_property; /* hashes */
    struct host *hosts;
    size_t nhosts, hosts_alloc;
    /* of the walk */
    struct ids found[KINDS];
    size_t before[GRAPH_DEPTH_MAX + 1][KINDS]; /* numbers of ids on entering, by depth */
    struct strbuf text;
};

/* -- ranges -- */

static int ids_push (struct ids *ids, int64_t first, int64_t last)
{
    if (array_reserve (&ids->r, &ids->alloc, ids->n + 1, sizeof (*ids->r)) < 0)
        return -ENOMEM;
    ids->r[ids->n++] = (struct range){ first, last };
    return 0;
}

static int compare_ranges (const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts and joins ranges; returns the number left. */
static size_t ranges_join (struct range *r, size_t n)
{
    size_t kept = 0;

    for (size_t i = 1; i < n; i++) {
        if (r[i].first < r[i - 1].first) {
            qsort (r, n, sizeof (*r), compare_ranges);
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && r[i].first <= r[kept - 1].last + 1)
            r[kept - 1].last = MAX (r[kept - 1].last, r[i].last);
        else
            r[kept++] = r[i];
    }
    return kept;
}

static void add_ranges (struct strbuf *sb, const struct range *r, size_t n)
{
    strbuf_addch (sb, '"');
    for (size_t i = 0; i < n; i++) {
        strbuf_addf (sb, "%s%" PRId64, i > 0 ? "," : "", r[i].first);
        if (r[i].last > r[i].first)
            strbuf_addf (sb, "-%" PRId64, r[i].last);
    }
    strbuf_addch (sb, '"');
}

/* -- collecting -- */

static void entries_free (struct entry *head)
{
    struct entry *e, *tmp;

    HASH_ITER (hh, head, e, tmp) {
        HASH_DEL (head, e);
        free (e->ranks.r);
        free (e->text);
        free (e);
    }
}

static struct entry *entry_add (struct entry **head, const char *text)
{
    struct entry *e = calloc (1, sizeof (*e));

    if (e && (e->text = strdup (text))) {
        HASH_ADD_KEYPTR (hh, *head, e->text, strlen (e->text), e);
        if (e->hh.tbl)
            return e;
        free (e->text);
    }
    free (e);
    return NULL;
}

/* Adds the rank to the entry with that text. */
static int entry_join (struct entry **head, const char *text, int32_t rank)
{
    struct entry *e;

    HASH_FIND_STR (*head, text, e);
    if (!e && !(e = entry_add (head, text)))
        return -ENOMEM;
    struct ids *ranks = &e->ranks;
    if (ranks->n > 0 && ranks->r[ranks->n - 1].last + 1 == rank) {
        ranks->r[ranks->n - 1].last = rank;
        return 0;
    }
    return ids_push (ranks, rank, rank);
}

static bool is_rank (const struct graph *g, uint32_t v)
{
    uint16_t type = graph_vertex (g, v)->type;

    return type == GRAPH_NODE || !strcmp (graph_type_name (g, type), "storage_node");
}

static int host_add (struct rlite *r, const struct pick *p)
{
    if (array_reserve (&r->hosts, &r->hosts_alloc, r->nhosts + 1, sizeof (*r->hosts)) < 0)
        return -ENOMEM;
    r->hosts[r->nhosts] =
        (struct host){ graph_vertex (r->g, p->v)->rank, p->v, p->unit, r->nhosts };
    r->nhosts++;
    return 0;
}

static int join_properties (struct rlite *r, const struct pick *p, int32_t rank)
{
    const char *key, *value;

    for (size_t i = 0; graph_property_at (r->g, p->v, p->unit, i, &key, &value); i++) {
        strbuf_reset (&r->text);
        strbuf_addf (&r->text, value[0] ? "%s=%s" : "%s", key, value);
        int rc =
            r->text.err ? r->text.err : entry_join (&r->by_property, r->text.buf, rank);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Adds the text of what was found below the rank, a JSON object; nothing if empty. */
static void add_children (struct rlite *r, const size_t *before)
{
    const char *comma = "{";

    for (int k = 0; k < KINDS; k++) {
        struct ids *ids = &r->found[k];
        size_t n = ids->n - before[k];
        if (n == 0)
            continue;
        n = ranges_join (ids->r + before[k], n);
        strbuf_addf (&r->text, "%s\"%s\": ", comma, kind_names[k]);
        add_ranges (&r->text, ids->r + before[k], n);
        ids->n = before[k];
        comma = ", ";
    }
    if (comma[0] == ',')
        strbuf_addch (&r->text, '}');
}

/* Called when the walk leaves a node: the ids found since entering are the node's. */
static int rank_leave (struct rlite *r, const struct order_step *at)
{
    const struct pick *p = at->pick;
    int32_t rank = graph_vertex (r->g, p->v)->rank;

    strbuf_reset (&r->text);
    add_children (r, r->before[at->depth]);
    if (r->text.err || r->text.len == 0)
        return r->text.err;
    if (rank < 0)
        return -EINVAL;
    int rc = entry_join (&r->by_children, r->text.buf, rank);
    if (rc == 0)
        rc = host_add (r, p);
    return rc < 0 ? rc : join_properties (r, p, rank);
}

static int kind_of (uint16_t type)
{
    return type == GRAPH_CORE ? KIND_CORE : type == GRAPH_GPU ? KIND_GPU : -1;
}

static int collect (struct rlite *r, const struct selection *s)
{
    struct order o;
    struct order_step at;
    unsigned ranks = 0; /* number of ranks that the walk is in */
    int rc = 0;

    order_begin (&o, s);
    while (rc == 0 && order_next (&o, &at)) {
        const struct graph_vertex *v = graph_vertex (r->g, at.pick->v);
        int kind = kind_of (v->type);
        if (is_rank (r->g, at.pick->v)) {
            ranks += at.leave ? -1u : 1u;
            if (at.leave)
                rc = rank_leave (r, &at);
            for (int k = 0; !at.leave && k < KINDS; k++)
                r->before[at.depth][k] = r->found[k].n;
        } else if (at.leave && kind >= 0 && ranks > 0) {
            int64_t first = (int64_t)v->id + at.pick->unit;
            rc = v->id < 0
                     ? -EINVAL
                     : ids_push (&r->found[kind], first, first + at.pick->count - 1);
        }
    }
    return rc;
}

static int compare_hosts (const void *a, const void *b)
{
    const struct host *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->met > y->met) - (x->met < y->met);
}

static int compare_entries (const struct entry *a, const struct entry *b)
{
    return strcmp (a->text, b->text);
}

static void entries_settle (struct entry **head)
{
    HASH_SRT (hh, *head, compare_entries);
    for (struct entry *e = *head; e; e = e->hh.next)
        e->ranks.n = ranges_join (e->ranks.r, e->ranks.n);
}

int rlite_collect (const struct graph *g, const struct selection *s, struct rlite **ret)
{
    struct rlite *r = calloc (1, sizeof (*r));

    if (!r)
        return -ENOMEM;
    r->g = g;
    strbuf_init (&r->text, TEXT_MAX);
    int rc = collect (r, s);
    if (rc < 0) {
        rlite_destroy (r);
        return rc;
    }
    entries_settle (&r->by_children);
    entries_settle (&r->by_property);
    if (r->nhosts > 0)
        qsort (r->hosts, r->nhosts, sizeof (*r->hosts), compare_hosts);
    *ret = r;
    return 0;
}

void rlite_destroy (struct rlite *r)
{
    if (!r)
        return;
    entries_free (r->by_children);
    entries_free (r->by_property);
    free (r->hosts);
    for (int k = 0; k < KINDS; k++)
        free (r->found[k].r);
    strbuf_release (&r->text);
    free (r);
}

bool rlite_is_empty (const struct rlite *r)
{
    return r->nhosts == 0;
}

/* -- as text -- */

int rlite_add_array (const struct rlite *r, struct strbuf *sb)
{
    strbuf_addch (sb, '[');
    for (const struct entry *e = r->by_children; e && !sb->err; e = e->hh.next) {
        strbuf_adds (sb, e == r->by_children ? "{\"rank\": " : ", {\"rank\": ");
        add_ranges (sb, e->ranks.r, e->ranks.n);
        strbuf_addf (sb, ", \"children\": %s}", e->text);
    }
    return strbuf_addch (sb, ']');
}

static int fill_hostlist (const struct rlite *r, struct hostlist *hl)
{
    char name[ORDER_NAME_SIZE];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->nhosts; i++) {
        const struct host *h = &r->hosts[i];
        rc = hostlist_append (hl, graph_name (r->g, h->v, h->unit, name, sizeof (name)));
    }
    return rc == -ERANGE ? -EINVAL : rc;
}

static int add_nodelist (const struct rlite *r, struct strbuf *sb)
{
    struct hostlist *hl = hostlist_create ();
    int rc = hl ? fill_hostlist (r, hl) : -ENOMEM;
    autofree char *text = rc == 0 ? hostlist_encode (hl) : NULL;

    hostlist_destroy (hl);
    if (!text)
        return rc < 0 ? rc : -ENOMEM;
    strbuf_adds (sb, ", \"nodelist\": [");
    strbuf_add_json (sb, text, SIZE_MAX);
    return strbuf_addch (sb, ']');
}

static void add_properties (const struct rlite *r, struct strbuf *sb)
{
    if (!r->by_property)
        return;
    strbuf_adds (sb, ", \"properties\": {");
    for (const struct entry *e = r->by_property; e && !sb->err; e = e->hh.next) {
        if (e != r->by_property)
            strbuf_adds (sb, ", ");
        strbuf_add_json (sb, e->text, SIZE_MAX);
        strbuf_adds (sb, ": ");
        add_ranges (sb, e->ranks.r, e->ranks.n);
    }
    strbuf_addch (sb, '}');
}

int rlite_add_execution (const struct rlite *r, const struct match_writer_options *opt,
                         struct strbuf *sb)
{
    strbuf_adds (sb, "{\"R_lite\": ");
    rlite_add_array (r, sb);
    int rc = add_nodelist (r, sb);
    if (rc < 0)
        return rc;
    add_properties (r, sb);
    return strbuf_addf (sb, ", \"starttime\": %" PRId64 ", \"expiration\": %" PRId64 "}",
                        opt->start, opt->end);
}
