/* rv1_selection.c - see rv1_selection.h. One walk below each rank's vertex compares a
 * group of units with the ranges that R lists for its type.
 */
#include "match/readers/rv1_selection.h"

#include "match/readers/reader.h"
#include "match/readers/rv1_document.h"

#define NAME_SIZE 1024

struct met { /* ids found */
    uint32_t first, last;
    uint16_t kind; /* of the entry */
};

struct pickup {
    const struct graph *g;
    struct selection *s;
    struct error *err;
    const struct rv1_entry *entry;
    int *kind_of; /* by number of a type: index of the entry's kind or -1 */
    uint32_t rank;
    struct met *met; /* of the present rank */
    size_t nmet, met_alloc;
    uint64_t leaves, leaves_met; /* units without children, of the present rank */
};

/* -- below one rank -- */

static int met_push (struct pickup *p, struct met met)
{
    if (array_reserve (&p->met, &p->met_alloc, p->nmet + 1, sizeof (*p->met)) < 0)
        return -ENOMEM;
    p->met[p->nmet++] = met;
    return 0;
}

/* Returns the first range that ends at or after id. */
static size_t range_find (const struct rv1_kind *kind, uint32_t id)
{
    size_t low = 0, high = kind->nranges;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (kind->ranges[mid].last < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Adds picks of the listed units of v; covered: v is below a listed vertex. Returns their
 * number, or negative errno. */
static int64_t pick_units (struct pickup *p, uint32_t v, bool covered)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int k = p->kind_of[x->type];
    int64_t n = 0;

    if (k < 0 || x->id < 0)
        return 0;
    const struct rv1_kind *kind = &p->entry->kinds[k];
    uint32_t begin = (uint32_t)x->id, end = begin + x->n - 1;
    for (size_t i = range_find (kind, begin);
         i < kind->nranges && kind->ranges[i].first <= end; i++) {
        uint32_t first = MAX (begin, kind->ranges[i].first);
        uint32_t last = MIN (end, kind->ranges[i].last);
        struct pick *pick =
            selection_add (p->s, p->g, v, first - begin, last - first + 1, GRAPH_NONE);
        if (!pick || met_push (p, (struct met){ first, last, (uint16_t)k }) < 0)
            return -ENOMEM;
        pick->exclusive = true;
        pick->claimed = !covered;
        n += last - first + 1;
    }
    return n;
}

static int pick_below (struct pickup *p, uint32_t v, bool covered)
{
    int rc = 0;

    GRAPH_CHILDREN (p->g, v, c)
    {
        int64_t n = pick_units (p, c, covered);
        if (n < 0)
            return error_errno (p->err, ENOMEM, "rank %u", p->rank);
        if (graph_vertex (p->g, c)->first != GRAPH_NONE) {
            rc = pick_below (p, c, covered || n > 0);
        } else {
            p->leaves += graph_vertex (p->g, c)->n;
            p->leaves_met += (uint64_t)n;
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_met (const void *a, const void *b)
{
    const struct met *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Checks that all ids of the kind were found once; the error names the first that was
 * not. m: those of the kind, ascending. */
static int check_kind (struct pickup *p, const struct rv1_kind *kind, const struct met *m,
                       size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < kind->nranges; i++) {
        uint32_t next = kind->ranges[i].first;
        while (next <= kind->ranges[i].last) {
            if (at < n && m[at].first < next)
                return error_set (p->err, EINVAL,
                                  "rank %u has %s%u in several places: use the graph's "
                                  "paths (JGF)",
                                  p->rank, kind->type, m[at].first);
            if (at == n || m[at].first > next)
                return error_set (p->err, ENOENT, "rank %u has no %s%u", p->rank,
                                  kind->type, next);
            next = m[at++].last + 1;
        }
    }
    if (at < n)
        return error_set (p->err, EINVAL,
                          "rank %u has %s%u in several places: use the graph's paths "
                          "(JGF)",
                          p->rank, kind->type, m[at].first);
    return 0;
}

static int check_met (struct pickup *p)
{
    size_t at = 0;
    int rc = 0;

    if (p->nmet > 0)
        qsort (p->met, p->nmet, sizeof (*p->met), compare_met);
    for (size_t k = 0; rc == 0 && k < p->entry->nkinds; k++) {
        size_t n = 0;
        while (at + n < p->nmet && p->met[at + n].kind == k)
            n++;
        rc = check_kind (p, &p->entry->kinds[k], p->met + at, n);
        at += n;
    }
    return rc;
}

/* -- a rank -- */

/* True if the vertex has a pick already. For vertices with children. */
static bool is_listed (const struct pickup *p, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int k = p->kind_of[x->type];

    if (k < 0 || x->id < 0)
        return false;
    const struct rv1_kind *kind = &p->entry->kinds[k];
    size_t i = range_find (kind, (uint32_t)x->id);
    return i < kind->nranges && kind->ranges[i].first <= (uint32_t)x->id;
}

/* Adds all vertices with children below v as parts of the claim on v. */
static int cover_inner (struct pickup *p, uint32_t v)
{
    int rc = 0;

    GRAPH_CHILDREN (p->g, v, c)
    {
        if (graph_vertex (p->g, c)->first == GRAPH_NONE)
            continue;
        if (!is_listed (p, c)) {
            struct pick *pick = selection_add (p->s, p->g, c, 0, 1, GRAPH_NONE);
            if (!pick)
                return error_errno (p->err, ENOMEM, "rank %u", p->rank);
            pick->exclusive = true;
        }
        if ((rc = cover_inner (p, c)) < 0)
            return rc;
    }
    return 0;
}

/* Adds the vertex itself: as a whole if everything below it is listed. first: its first
 * pick. */
static int pick_rank (struct pickup *p, uint32_t v, size_t first)
{
    struct pick *pick = selection_add (p->s, p->g, v, 0, 1, GRAPH_NONE);

    if (!pick)
        return error_errno (p->err, ENOMEM, "rank %u", p->rank);
    if (p->leaves_met < p->leaves)
        return 0;
    pick->exclusive = pick->claimed = true;
    for (size_t i = first; i + 1 < p->s->n; i++)
        p->s->picks[i].claimed = false;
    return cover_inner (p, v);
}

static int check_host (struct pickup *p, uint32_t v, const char *host)
{
    char name[NAME_SIZE];

    graph_name (p->g, v, 0, name, sizeof (name));
    if (!host || !strcmp (name, host))
        return 0;
    return error_set (p->err, ENOENT, "rank %u is %.80s here, not %.80s", p->rank, name,
                      host);
}

static int select_rank (struct pickup *p, const struct rv1_document *d)
{
    uint32_t v = graph_find_rank (p->g, (int32_t)p->rank);
    size_t first = p->s->n;

    if (v == GRAPH_NONE)
        return error_set (p->err, ENOENT, "rank %u is not in the graph", p->rank);
    p->nmet = 0;
    p->leaves = p->leaves_met = 0;
    int rc = check_host (p, v, rv1_host (d, p->rank));
    if (rc == 0)
        rc = pick_below (p, v, false);
    if (rc == 0)
        rc = check_met (p);
    return rc < 0 ? rc : pick_rank (p, v, first);
}

/* -- top level -- */

/* kind_of has room for all types of the graph, and is all -1 before and after. */
static void kinds_enter (struct pickup *p, bool on)
{
    for (size_t k = 0; k < p->entry->nkinds; k++) {
        int type = graph_type_find (p->g, p->entry->kinds[k].type);
        if (type >= 0)
            p->kind_of[type] = on ? (int)k : -1;
    }
}

static int select_entry (struct pickup *p, const struct rv1_document *d)
{
    int rc = 0;

    if (p->entry->nkinds > GRAPH_TYPES_MAX)
        return error_set (p->err, E2BIG, "children: more than %d types", GRAPH_TYPES_MAX);
    kinds_enter (p, true);
    for (p->rank = idset_first (p->entry->ranks); rc == 0 && p->rank != IDSET_END;
         p->rank = idset_next (p->entry->ranks, p->rank))
        rc = select_rank (p, d);
    kinds_enter (p, false);
    return rc;
}

static int select_entries (struct pickup *p, const struct rv1_document *d)
{
    for (size_t i = 0; i < d->nentries; i++) {
        p->entry = &d->entries[i];
        int rc = select_entry (p, d);
        if (rc < 0) {
            error_prefix (p->err, "R: execution.R_lite[%zu]", i);
            return rc;
        }
    }
    if (p->s->n == 0)
        return error_set (p->err, EINVAL, "R: execution.R_lite: has no ranks");
    int rc = selection_complete (p->s, p->g);
    return rc < 0 ? error_errno (p->err, -rc, "R") : 0;
}

static int select_execution (const struct graph *g, const struct rv1_document *d,
                             struct selection **ret, struct error *err)
{
    struct pickup p = { .g = g, .err = err };

    p.s = selection_create ();
    p.kind_of = malloc (GRAPH_TYPES_MAX * sizeof (*p.kind_of));
    int rc = p.s && p.kind_of ? 0 : error_errno (err, ENOMEM, "R");
    if (rc == 0) {
        for (size_t i = 0; i < GRAPH_TYPES_MAX; i++)
            p.kind_of[i] = -1;
        rc = select_entries (&p, d);
    }
    if (rc == 0)
        *ret = p.s;
    else
        selection_destroy (p.s);
    free (p.kind_of);
    free (p.met);
    return rc;
}

/* Selects by the graph in R. */
static int select_graph (const struct graph *g, const struct rv1_document *d,
                         struct selection **ret, struct error *err)
{
    const struct match_reader *reader = match_reader_find (d->graph_reader);
    autofree char *text = json_dumps (d->graph, JSON_COMPACT);

    if (!text)
        return error_errno (err, ENOMEM, "R: scheduling");
    int rc = reader->read_selection (g, text, strlen (text), ret, err);
    if (rc < 0)
        error_prefix (err, "R: scheduling");
    return rc;
}

int rv1_selection_read (const struct graph *g, const char *text, size_t len,
                        bool with_graph, struct selection **ret, struct error *err)
{
    autorv1 struct rv1_document d;
    struct error own = { 0 };

    err = err ? err : &own;
    int rc = rv1_document_parse (&d, text, len, err);
    if (rc == 0 && with_graph && d.graph) {
        rc = select_graph (g, &d, ret, err);
        if (rc != -ENOENT)
            return rc;
        *err = (struct error){ 0 };
        rc = 0;
    }
    return rc < 0 ? rc : select_execution (g, &d, ret, err);
}
