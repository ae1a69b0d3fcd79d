/* rv1exec.c - formats "rv1exec" and "rv1exec_force": R version 1 (RFC 20)
 *
 * R_lite becomes a cluster with a node for each rank, named after its entry in the
 * nodelist, and below the node its cores, gpus and other listed resources:
 *
 *     cluster0 --> node3 (rank 3) --> core0..35, gpu0..3
 *
 * If R has a graph under "scheduling", "rv1exec" reads that, as it says more, and
 * "rv1exec_force" ignores it.
 */
#include <errno.h>
#include <string.h>

#include "match/readers/hostname.h"
#include "match/readers/reader.h"
#include "match/readers/rv1_document.h"
#include "match/readers/rv1_selection.h"

#define TAGS_MAX (1u << 24) /* pairs of a rank and a property */

/* -- properties: "arm": "0-3,7" -- */

struct tag {
    uint32_t index; /* of the rank, in rv1_document.ranks */
    const char *key;
};

struct tags {
    struct tag *t; /* ascending by index once complete */
    size_t n, alloc;
};

static int tags_push (struct tags *tags, size_t index, const char *key, struct error *err)
{
    if (tags->n == TAGS_MAX)
        return error_set (err, E2BIG, "more than %u ranks in all", TAGS_MAX);
    if (array_reserve (&tags->t, &tags->alloc, tags->n + 1, sizeof (*tags->t)) < 0)
        return error_errno (err, ENOMEM, "properties");
    tags->t[tags->n++] = (struct tag){ (uint32_t)index, key };
    return 0;
}

/* Adds a tag for each rank of R that is in the set, which may be much larger. */
static int tags_of_set (struct tags *tags, const struct rv1_document *d, const char *key,
                        const struct idset *set, struct error *err)
{
    uint32_t next = idset_first (set);
    size_t i = 0;
    int rc = 0;

    while (rc == 0 && next != IDSET_END && (i = rv1_rank_index (d, next)) < d->nranks) {
        for (; rc == 0 && i < d->nranks && idset_has (set, d->ranks[i]); i++)
            rc = tags_push (tags, i, key, err);
        next = i < d->nranks ? idset_next (set, d->ranks[i]) : IDSET_END;
    }
    return rc;
}

static int tags_of_value (struct tags *tags, const struct rv1_document *d,
                          const char *key, const json_t *value, struct error *err)
{
    if (!json_is_string (value))
        return error_set (err, EINVAL, "expected a string of ranks, got %s",
                          json_type_name (value));
    struct idset *set = idset_decode (json_string_value (value), RV1_RANKS_MAX, err);
    if (!set)
        return err->code ? -err->code : -EINVAL;
    int rc = tags_of_set (tags, d, key, set, err);
    idset_destroy (set);
    return rc;
}

static int compare_tags (const void *a, const void *b)
{
    const struct tag *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static int tags_collect (struct tags *tags, const struct rv1_document *d,
                         struct error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach (d->properties, key, value) {
        int rc = tags_of_value (tags, d, key, value, err);
        if (rc < 0) {
            error_prefix (err, "R: execution.properties.%.64s", key);
            return rc;
        }
    }
    if (tags->n > 0)
        qsort (tags->t, tags->n, sizeof (*tags->t), compare_tags);
    return 0;
}

/* -- the graph -- */

struct build {
    struct graph *g;
    const struct rv1_document *d;
    uint32_t root;
    struct tags tags;
    const char **properties; /* of the present node: key, "", ..., NULL */
    size_t properties_alloc;
    struct error *err;
};

/* The properties of the rank with that index; b->properties is NULL if it has none. */
static int properties_of (struct build *b, size_t index)
{
    size_t low = 0, high = b->tags.n, n = 0;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (b->tags.t[mid].index < index)
            low = mid + 1;
        else
            high = mid;
    }
    while (low + n < b->tags.n && b->tags.t[low + n].index == index)
        n++;
    if (2 * n + 1 > b->properties_alloc) {
        const char **p = realloc (b->properties, (2 * n + 1) * sizeof (*p));
        if (!p)
            return error_errno (b->err, ENOMEM, "properties");
        b->properties = p;
        b->properties_alloc = 2 * n + 1;
    }
    for (size_t i = 0; i < n; i++) {
        b->properties[2 * i] = b->tags.t[low + i].key;
        b->properties[2 * i + 1] = "";
    }
    b->properties[2 * n] = NULL;
    return 0;
}

/* The error code of a failed graph_add(). */
static int failed (const struct build *b)
{
    return b->err->code ? -b->err->code : -EINVAL;
}

static int add_kind (struct build *b, uint32_t node, const struct rv1_kind *kind,
                     uint32_t rank)
{
    for (size_t i = 0; i < kind->nranges; i++) {
        const struct rv1_range *r = &kind->ranges[i];
        struct graph_spec spec = { .type = kind->type,
                                   .id = r->first,
                                   .count = r->last - r->first + 1,
                                   .uniq = -1,
                                   .rank = (int32_t)rank,
                                   .leaf = true };
        if (graph_add (b->g, node, &spec, b->err) == GRAPH_NONE)
            return failed (b);
    }
    return 0;
}

static int add_rank (struct build *b, const struct rv1_entry *e, uint32_t rank)
{
    char base[HOSTNAME_BASE_SIZE];
    size_t index = rv1_rank_index (b->d, rank);
    struct graph_spec spec = { .type = "node",
                               .basename = base,
                               .name = hostlist_nth (b->d->hosts, index),
                               .uniq = -1,
                               .rank = (int32_t)rank };

    int rc = hostname_split (spec.name, base, &spec.id, b->err);
    if (rc == 0)
        rc = properties_of (b, index);
    if (rc < 0)
        return rc;
    spec.properties = b->properties;
    uint32_t node = graph_add (b->g, b->root, &spec, b->err);
    if (node == GRAPH_NONE)
        return failed (b);
    for (size_t i = 0; rc == 0 && i < e->nkinds; i++)
        rc = add_kind (b, node, &e->kinds[i], rank);
    return rc;
}

static int add_entry (struct build *b, const struct rv1_entry *e)
{
    IDSET_FOREACH (e->ranks, rank)
    {
        int rc = add_rank (b, e, rank);
        if (rc < 0) {
            error_prefix (b->err, "rank %u", rank);
            return rc;
        }
    }
    return 0;
}

static int build (struct build *b)
{
    struct graph_spec cluster = { .type = "cluster", .uniq = -1, .rank = -1 };

    if (!b->d->hosts)
        return error_set (b->err, EINVAL, "R: execution.nodelist: required but missing");
    int rc = tags_collect (&b->tags, b->d, b->err);
    if (rc < 0)
        return rc;
    if ((b->root = graph_add (b->g, GRAPH_NONE, &cluster, b->err)) == GRAPH_NONE)
        return failed (b);
    for (size_t i = 0; i < b->d->nentries; i++) {
        rc = add_entry (b, &b->d->entries[i]);
        if (rc < 0) {
            error_prefix (b->err, "R: execution.R_lite[%zu]", i);
            return rc;
        }
    }
    return 0;
}

static int read_execution (struct graph *g, const struct rv1_document *d,
                           struct error *err)
{
    struct build b = { .g = g, .d = d, .err = err };
    int rc = build (&b);

    free (b.tags.t);
    free (b.properties);
    return rc;
}

/* -- the readers -- */

static int rv1exec_force_read (struct graph *g, const char *text, size_t len,
                               const struct match_reader_options *opt, struct error *err)
{
    autorv1 struct rv1_document d;
    struct error own = { 0 };

    (void)opt;
    err = err ? err : &own;
    int rc = rv1_document_parse (&d, text, len, err);
    return rc < 0 ? rc : read_execution (g, &d, err);
}

static int rv1exec_read (struct graph *g, const char *text, size_t len,
                         const struct match_reader_options *opt, struct error *err)
{
    autorv1 struct rv1_document d;
    struct error own = { 0 };

    err = err ? err : &own;
    int rc = rv1_document_parse (&d, text, len, err);
    if (rc < 0)
        return rc;
    if (!d.graph)
        return read_execution (g, &d, err);
    const struct match_reader *reader = match_reader_find (d.graph_reader);
    autofree char *graph = json_dumps (d.graph, JSON_COMPACT);
    rv1_document_release (&d);
    if (!graph)
        return error_errno (err, ENOMEM, "R: scheduling");
    rc = reader->read (g, graph, strlen (graph), opt, err);
    if (rc < 0)
        error_prefix (err, "R: scheduling");
    return rc;
}

static int force_read_selection (const struct graph *g, const char *text, size_t len,
                                 struct selection **ret, struct error *err)
{
    return rv1_selection_read (g, text, len, false, ret, err);
}

static int rv1exec_read_selection (const struct graph *g, const char *text, size_t len,
                                   struct selection **ret, struct error *err)
{
    return rv1_selection_read (g, text, len, true, ret, err);
}

const struct match_reader match_reader_rv1exec = {
    .name = "rv1exec",
    .summary = "R version 1 (RFC 20), with its graph if it has one",
    .read = rv1exec_read,
    .read_selection = rv1exec_read_selection,
};

const struct match_reader match_reader_rv1exec_force = {
    .name = "rv1exec_force",
    .summary = "R version 1 (RFC 20), only the execution part",
    .read = rv1exec_force_read,
    .read_selection = force_read_selection,
};
