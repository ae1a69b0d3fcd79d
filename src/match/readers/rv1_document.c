/* rv1_document.c - see rv1_document.h */
#include "match/readers/rv1_document.h"

#include "match/readers/reader.h"

/* -- entries of R_lite -- */

/* ids has at most GRAPH_UNITS_MAX of them. */
static int kind_fill (struct rv1_kind *k, const struct idset *ids)
{
    size_t alloc = 0;

    k->count = idset_count (ids);
    IDSET_FOREACH (ids, id)
    {
        if (k->nranges > 0 && k->ranges[k->nranges - 1].last + 1 == id) {
            k->ranges[k->nranges - 1].last = id;
            continue;
        }
        if (array_reserve (&k->ranges, &alloc, k->nranges + 1, sizeof (*k->ranges)) < 0)
            return -ENOMEM;
        k->ranges[k->nranges++] = (struct rv1_range){ id, id };
    }
    return 0;
}

static int kind_parse (struct rv1_kind *k, const char *type, const json_t *value,
                       struct error *err)
{
    k->type = type;
    if (!json_is_string (value)) {
        error_set (err, EINVAL, "expected a string of ids, got %s",
                   json_type_name (value));
        return error_prefix (err, "children.%.64s", type);
    }
    struct idset *ids = idset_decode (json_string_value (value), GRAPH_UNITS_MAX, err);
    if (!ids)
        return error_prefix (err, "children.%.64s", type);
    int rc = kind_fill (k, ids);
    if (rc < 0)
        rc = error_errno (err, ENOMEM, "children.%.64s", type);
    idset_destroy (ids);
    return rc;
}

static int entry_children (struct rv1_entry *e, json_t *children, struct error *err)
{
    const char *type;
    json_t *value;

    e->kinds = calloc (MAX (json_object_size (children), (size_t)1), sizeof (*e->kinds));
    if (!e->kinds)
        return error_errno (err, ENOMEM, "children");
    json_object_foreach (children, type, value) {
        int rc = kind_parse (&e->kinds[e->nkinds++], type, value, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int entry_parse (struct rv1_entry *e, json_t *o, struct error *err)
{
    const char *ranks;
    json_t *children = NULL;

    int rc = json_get_string (o, "rank", &ranks, JSON_REQUIRED, NULL, err);
    if (rc < 0)
        return rc;
    if (!(e->ranks = idset_decode (ranks, RV1_RANKS_MAX, err)))
        return error_prefix (err, "rank");
    rc = json_get_object (o, "children", &children, JSON_REQUIRED, NULL, err);
    return rc < 0 ? rc : entry_children (e, children, err);
}

/* Adds what the entry describes to the sums. */
static int entry_weigh (const struct rv1_entry *e, uint64_t *groups, uint64_t *units,
                        struct error *err)
{
    uint64_t ranks = idset_count (e->ranks);

    *groups += ranks;
    for (size_t i = 0; i < e->nkinds; i++) {
        *groups += ranks * e->kinds[i].nranges;
        *units += ranks * e->kinds[i].count;
        if (*groups > RV1_GROUPS_MAX || *units > RV1_UNITS_MAX)
            return error_set (err, E2BIG, "describes more than %u ranges or %u ids",
                              RV1_GROUPS_MAX, RV1_UNITS_MAX);
    }
    return 0;
}

static int entries_parse (struct rv1_document *d, json_t *lite, struct error *err)
{
    uint64_t groups = 0, units = 0;
    size_t n = json_array_size (lite);

    if (!(d->entries = calloc (MAX (n, (size_t)1), sizeof (*d->entries))))
        return error_errno (err, ENOMEM, "R_lite");
    while (d->nentries < n) {
        struct rv1_entry *e = &d->entries[d->nentries];
        json_t *o = json_array_get (lite, d->nentries++);
        int rc = json_is_object (o)
                     ? entry_parse (e, o, err)
                     : error_set (err, EINVAL, "expected an object, got %s",
                                  json_type_name (o));
        if (rc == 0)
            rc = entry_weigh (e, &groups, &units, err);
        if (rc < 0)
            return error_prefix (err, "R_lite[%zu]", d->nentries - 1);
    }
    return 0;
}

/* -- ranks and hosts -- */

static int ranks_list (struct rv1_document *d, struct error *err)
{
    uint64_t total = 0;

    for (size_t i = 0; i < d->nentries; i++)
        total += idset_count (d->entries[i].ranks);
    if (total > RV1_RANKS_MAX)
        return error_set (err, E2BIG, "R_lite: more than %d ranks", RV1_RANKS_MAX);
    if (!(d->ranks = calloc (MAX (total, (uint64_t)1), sizeof (*d->ranks))))
        return error_errno (err, ENOMEM, "R_lite");
    for (size_t i = 0; i < d->nentries; i++) {
        IDSET_FOREACH (d->entries[i].ranks, rank)
        d->ranks[d->nranks++] = rank;
    }
    qsort (d->ranks, d->nranks, sizeof (*d->ranks), compare_u32);
    for (size_t i = 1; i < d->nranks; i++) {
        if (d->ranks[i] == d->ranks[i - 1])
            return error_set (err, EINVAL, "R_lite: rank %u is there twice", d->ranks[i]);
    }
    return 0;
}

size_t rv1_rank_index (const struct rv1_document *d, uint32_t rank)
{
    size_t low = 0, high = d->nranks;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (d->ranks[mid] < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const char *rv1_host (const struct rv1_document *d, uint32_t rank)
{
    return d->hosts ? hostlist_nth (d->hosts, rv1_rank_index (d, rank)) : NULL;
}

/* One element of the nodelist. */
static int hosts_append (struct hostlist *hosts, const json_t *value, size_t limit,
                         struct error *err)
{
    if (!json_is_string (value))
        return error_set (err, EINVAL, "expected a string, got %s",
                          json_type_name (value));
    size_t left = limit - hostlist_count (hosts);
    struct hostlist *more = hostlist_decode (json_string_value (value), left, err);
    if (!more)
        return -err->code;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < hostlist_count (more); i++)
        rc = hostlist_append (hosts, hostlist_nth (more, i));
    hostlist_destroy (more);
    return rc < 0 ? error_errno (err, -rc, "'%.80s'", json_string_value (value)) : 0;
}

static int hosts_parse (struct rv1_document *d, json_t *list, struct error *err)
{
    if (!(d->hosts = hostlist_create ()))
        return error_errno (err, ENOMEM, "nodelist");
    for (size_t i = 0; i < json_array_size (list); i++) {
        int rc = hosts_append (d->hosts, json_array_get (list, i), d->nranks, err);
        if (rc < 0) {
            error_prefix (err, "nodelist[%zu]", i);
            return rc;
        }
    }
    if (hostlist_count (d->hosts) != d->nranks)
        return error_set (err, EINVAL, "nodelist: %zu names for %zu ranks of R_lite",
                          hostlist_count (d->hosts), d->nranks);
    return 0;
}

/* -- top level -- */

/* "scheduling" belongs to the program that wrote it; only a graph by Fluxion or without a
 * writer is readable here.
 */
static void find_graph (struct rv1_document *d)
{
    json_t *o = json_object_get (d->root, "scheduling");
    const json_t *writer = json_object_get (o, "writer");
    const char *name = writer ? json_string_value (writer) : "fluxion";

    if (!json_is_object (json_object_get (o, "graph")) || !name)
        return;
    if (!strcmp (name, "fluxion") || !strcmp (name, "fluxion:")
        || !strcmp (name, "fluxion:jgf"))
        d->graph_reader = "jgf";
    else if (!strcmp (name, "fluxion:jgf_shorthand"))
        d->graph_reader = "jgf_shorthand";
    if (d->graph_reader)
        d->graph = o;
}

static int execution_parse (struct rv1_document *d, json_t *o, struct error *err)
{
    json_t *lite = NULL, *list = NULL;

    int rc = json_get_array (o, "R_lite", &lite, JSON_REQUIRED, NULL, err);
    if (rc >= 0)
        rc = entries_parse (d, lite, err);
    if (rc >= 0)
        rc = ranks_list (d, err);
    if (rc >= 0)
        rc = json_get_array (o, "nodelist", &list, JSON_OPTIONAL_KEY, NULL, err);
    if (rc > 0)
        rc = hosts_parse (d, list, err);
    if (rc >= 0)
        rc = json_get_object (o, "properties", &d->properties, JSON_OPTIONAL_KEY, NULL,
                              err);
    if (rc < 0)
        error_prefix (err, "execution");
    return MIN (rc, 0);
}

static int document_parse (struct rv1_document *d, struct error *err)
{
    int64_t version;
    json_t *o = NULL;

    if (!json_is_object (d->root))
        return error_set (err, EINVAL, "expected an object, got %s",
                          json_type_name (d->root));
    int rc = json_get_int (d->root, "version", 1, 1, &version, JSON_REQUIRED, NULL, err);
    if (rc >= 0)
        rc = json_get_object (d->root, "execution", &o, JSON_REQUIRED, NULL, err);
    return rc < 0 ? rc : execution_parse (d, o, err);
}

int rv1_document_parse (struct rv1_document *d, const char *text, size_t len,
                        struct error *err)
{
    struct error own = { 0 };

    err = err ? err : &own;
    memset (d, 0, sizeof (*d));
    if (len > MATCH_READER_TEXT_MAX)
        return error_set (err, E2BIG, "R: longer than %u bytes", MATCH_READER_TEXT_MAX);
    if (!(d->root = json_parse (text, len, "R", err)))
        return -err->code;
    int rc = document_parse (d, err);
    if (rc < 0) {
        error_prefix (err, "R");
        return rc;
    }
    find_graph (d);
    return 0;
}

void rv1_document_release (struct rv1_document *d)
{
    for (size_t i = 0; i < d->nentries; i++) {
        struct rv1_entry *e = &d->entries[i];
        for (size_t k = 0; k < e->nkinds; k++)
            free (e->kinds[k].ranges);
        free (e->kinds);
        idset_destroy (e->ranks);
    }
    free (d->entries);
    free (d->ranks);
    hostlist_destroy (d->hosts);
    json_decref (d->root);
    memset (d, 0, sizeof (*d));
}
