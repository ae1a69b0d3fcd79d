/* jgf_document.c - see jgf_document.h */
#include "match/readers/jgf_document.h"

#include <inttypes.h>

#include "common/parse.h"
#include "match/readers/reader.h"

#define UNIQ_MAX (INT64_C (1) << 62)
#define PATH_LENGTH_MAX (64 * 1024)
#define WHERE_SIZE 64

/* -- words -- */

/* Texts become names and paths for people: no control characters. */
static int check_word (const char *word, size_t max, const char *where, const char *key,
                       struct error *err)
{
    size_t len = strlen (word);

    if (len == 0)
        return error_set (err, EINVAL, "%s.%s: is empty", where, key);
    if (len > max)
        return error_set (err, EINVAL, "%s.%s: has %zu bytes, more than %zu", where, key,
                          len, max);
    for (const unsigned char *c = (const unsigned char *)word; *c; c++) {
        if (*c < ' ' || *c == 0x7f)
            return error_set (err, EINVAL, "%s.%s: byte 0x%02x is a control character",
                              where, key, *c);
    }
    return 0;
}

static int check_name (const char *name, const char *where, const char *key,
                       struct error *err)
{
    int rc = check_word (name, JGF_NAME_MAX, where, key, err);

    if (rc == 0 && strchr (name, '/'))
        return error_set (err, EINVAL, "%s.%s: '%s' has a '/', which parts paths", where,
                          key, name);
    return rc;
}

static int get_name (const json_t *o, const char *key, const char **ret,
                     enum json_need need, const char *where, struct error *err)
{
    int rc = json_get_string (o, key, ret, need, where, err);

    return rc > 0 ? check_name (*ret, where, key, err) : rc;
}

/* -- a vertex -- */

static int get_paths (const json_t *metadata, const char *where, const json_t **ret,
                      struct error *err)
{
    char place[WHERE_SIZE + 16];
    json_t *paths, *path;
    const char *subsystem;
    int rc = json_get_object (metadata, "paths", &paths, JSON_REQUIRED, where, err);

    if (rc < 0)
        return rc;
    snprintf (place, sizeof (place), "%s.paths", where);
    json_object_foreach (paths, subsystem, path) {
        const char *text = json_string_value (path);
        rc = check_name (subsystem, place, "key", err);
        if (rc < 0)
            return rc;
        if (!text)
            return error_set (err, EINVAL, "%s.%s: expected a string, got %s", place,
                              subsystem, json_type_name (path));
        rc = check_word (text, PATH_LENGTH_MAX, place, subsystem, err);
        if (rc < 0)
            return rc;
        if (text[0] != '/')
            return error_set (err, EINVAL, "%s.%s: '%s' does not begin with '/'", place,
                              subsystem, text);
    }
    *ret = paths;
    return 0;
}

static int get_properties (const json_t *metadata, const char *where, const json_t **ret,
                           struct error *err)
{
    char place[WHERE_SIZE + 16];
    json_t *properties = NULL, *value;
    const char *key;
    int rc = json_get_object (metadata, "properties", &properties, JSON_OPTIONAL_KEY,
                              where, err);

    if (rc <= 0)
        return rc;
    snprintf (place, sizeof (place), "%s.properties", where);
    json_object_foreach (properties, key, value) {
        rc = check_word (key, PATH_LENGTH_MAX, place, "key", err);
        if (rc < 0)
            return rc;
        if (!json_is_string (value))
            return error_set (err, EINVAL, "%s.%s: expected a string, got %s", place, key,
                              json_type_name (value));
    }
    *ret = json_object_size (properties) > 0 ? properties : NULL;
    return 0;
}

static int get_uniq (struct jgf_vertex *v, const json_t *metadata, const char *where,
                     struct error *err)
{
    int rc = json_get_int (metadata, "uniq_id", 0, UNIQ_MAX, &v->uniq, JSON_OPTIONAL_KEY,
                           where, err);

    if (rc != 0)
        return rc;
    if (parse_int (v->id, 0, UNIQ_MAX, &v->uniq, where, NULL) == 0)
        return 0;
    return error_set (err, EINVAL,
                      "%s.uniq_id: required, as the vertex's id '%s' is not "
                      "a number",
                      where, v->id);
}

/* "fluke12": 12. */
static bool number_at_end (const char *name, int64_t *ret)
{
    size_t len = strlen (name), at = len;

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (at == len)
        return false;
    while (at + 1 < len && name[at] == '0')
        at++;
    return parse_int (name + at, 0, INT32_MAX, ret, "id", NULL) == 0;
}

static int get_number (struct jgf_vertex *v, const json_t *metadata, const char *where,
                       struct error *err)
{
    int rc = json_get_int (metadata, "id", -1, INT32_MAX, &v->number, JSON_OPTIONAL_KEY,
                           where, err);

    if (rc != 0)
        return rc;
    if (v->name && !strcmp (v->type, "node") && number_at_end (v->name, &v->number))
        return 0;
    v->number = v->uniq;
    if (v->uniq <= INT32_MAX)
        return 0;
    return error_set (err, ERANGE,
                      "%s.id: required, as the uniq_id %" PRId64
                      " is too large to stand in for it",
                      where, v->uniq);
}

/* A name equal to the default is not kept. */
static void settle_name (struct jgf_vertex *v)
{
    char usual[JGF_NAME_MAX + 24];
    const char *name = v->name;

    if (!name)
        return;
    v->name = NULL;
    if (strcmp (name, jgf_name (v, usual, sizeof (usual))) != 0)
        v->name = name;
}

static int get_names (struct jgf_vertex *v, const json_t *metadata, const char *where,
                      struct error *err)
{
    const char *unit;
    int rc = get_name (metadata, "type", &v->type, JSON_REQUIRED, where, err);

    v->basename = v->type;
    if (rc >= 0)
        rc = get_name (metadata, "basename", &v->basename, JSON_OPTIONAL_KEY, where, err);
    if (rc >= 0)
        rc = get_name (metadata, "name", &v->name, JSON_OPTIONAL_KEY, where, err);
    if (rc >= 0)
        rc = json_get_string (metadata, "unit", &unit, JSON_OPTIONAL_KEY, where, err);
    return rc;
}

static int get_numbers (struct jgf_vertex *v, const json_t *metadata, const char *where,
                        struct error *err)
{
    int64_t rank = -1, status = 0;
    int rc = get_uniq (v, metadata, where, err);

    v->size = 1;
    if (rc >= 0)
        rc = get_number (v, metadata, where, err);
    if (rc >= 0)
        rc = json_get_int (metadata, "size", 1, JGF_SIZE_MAX, &v->size, JSON_OPTIONAL_KEY,
                           where, err);
    if (rc >= 0)
        rc = json_get_int (metadata, "rank", -1, INT32_MAX, &rank, JSON_OPTIONAL_KEY,
                           where, err);
    if (rc >= 0)
        rc = json_get_int (metadata, "status", 0, 1, &status, JSON_OPTIONAL_KEY, where,
                           err);
    if (rc >= 0)
        rc = json_get_bool (metadata, "exclusive", &v->exclusive, JSON_OPTIONAL_KEY,
                            where, err);
    v->rank = (int32_t)rank;
    v->down = status != 0;
    return rc;
}

static int get_vertex (struct jgf_vertex *v, const json_t *o, size_t i, struct error *err)
{
    char where[WHERE_SIZE];
    json_t *metadata = NULL;

    snprintf (where, sizeof (where), "jgf: graph.nodes[%zu]", i);
    int rc = json_get_string (o, "id", &v->id, JSON_REQUIRED, where, err);
    if (rc >= 0)
        rc = check_word (v->id, JGF_NAME_MAX, where, "id", err);
    if (rc >= 0)
        rc = json_get_object (o, "metadata", &metadata, JSON_REQUIRED, where, err);
    if (rc < 0)
        return rc;
    snprintf (where, sizeof (where), "jgf: graph.nodes[%zu].metadata", i);
    rc = get_names (v, metadata, where, err);
    if (rc >= 0)
        rc = get_numbers (v, metadata, where, err);
    if (rc >= 0)
        rc = get_paths (metadata, where, &v->paths, err);
    if (rc >= 0)
        rc = get_properties (metadata, where, &v->properties, err);
    if (rc >= 0)
        settle_name (v);
    return rc < 0 ? rc : 0;
}

/* -- all vertices -- */

/* Stores the index under the key; -EEXIST: the key exists, with index *ret_other. */
static int remember (json_t *map, const char *key, size_t i, size_t *ret_other)
{
    json_t *other = json_object_get (map, key);

    if (other) {
        *ret_other = (size_t)json_integer_value (other);
        return -EEXIST;
    }
    return json_object_set_new_nocheck (map, key, json_integer ((json_int_t)i)) < 0
               ? -ENOMEM
               : 0;
}

/* Different ids rarely have equal numbers: only numbers that differ from their ids are
 * checked. */
static int check_uniq (const struct jgf_document *d, json_t *odd, size_t i,
                       struct error *err)
{
    char text[24];
    size_t other;

    snprintf (text, sizeof (text), "%" PRId64, d->v[i].uniq);
    if (!strcmp (text, d->v[i].id))
        return 0;
    int rc = remember (odd, text, i, &other);
    if (rc == -ENOMEM)
        return error_no_memory (err, "jgf");
    if (rc == 0) {
        json_t *same = json_object_get (d->by_id, text);
        other = same ? (size_t)json_integer_value (same) : i;
        if (d->v[other].uniq != d->v[i].uniq || other == i)
            return 0;
    }
    return error_set (err, EINVAL,
                      "jgf: graph.nodes[%zu].metadata.uniq_id: %s is also "
                      "that of graph.nodes[%zu]",
                      i, text, other);
}

static int check_uniqs (const struct jgf_document *d, struct error *err)
{
    autojson json_t *odd = json_object ();

    if (!odd)
        return error_no_memory (err, "jgf");
    for (size_t i = 0; i < d->nv; i++) {
        int rc = check_uniq (d, odd, i, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int get_vertices (struct jgf_document *d, const json_t *nodes, struct error *err)
{
    size_t n = json_array_size (nodes), other = 0;

    d->v = calloc (n + 1, sizeof (*d->v));
    d->by_id = json_object ();
    if (!d->v || !d->by_id)
        return error_no_memory (err, "jgf");
    for (size_t i = 0; i < n; i++) {
        int rc = get_vertex (&d->v[i], json_array_get (nodes, i), i, err);
        if (rc < 0)
            return rc;
        rc = remember (d->by_id, d->v[i].id, i, &other);
        if (rc == -EEXIST)
            return error_set (err, EINVAL,
                              "jgf: graph.nodes[%zu].id: '%s' is also that of "
                              "graph.nodes[%zu]",
                              i, d->v[i].id, other);
        if (rc < 0)
            return error_no_memory (err, "jgf");
        d->nv = i + 1;
    }
    return check_uniqs (d, err);
}

/* -- edges -- */

static int get_end (const struct jgf_document *d, const json_t *o, const char *key,
                    const char *where, uint32_t *ret, struct error *err)
{
    const char *id;
    int rc = json_get_string (o, key, &id, JSON_REQUIRED, where, err);

    if (rc < 0)
        return rc;
    const json_t *index = json_object_get (d->by_id, id);
    if (!index)
        return error_set (err, EINVAL, "%s.%s: there is no vertex with the id '%s'",
                          where, key, id);
    *ret = (uint32_t)json_integer_value (index);
    return 0;
}

static int get_edge (const struct jgf_document *d, const json_t *o, size_t i,
                     struct jgf_edge *e, struct error *err)
{
    char where[WHERE_SIZE];
    json_t *metadata;

    snprintf (where, sizeof (where), "jgf: graph.edges[%zu]", i);
    e->subsystem = "containment";
    int rc = get_end (d, o, "source", where, &e->source, err);
    if (rc >= 0)
        rc = get_end (d, o, "target", where, &e->target, err);
    if (rc >= 0)
        rc = json_get_object (o, "metadata", &metadata, JSON_OPTIONAL_KEY, where, err);
    if (rc <= 0)
        return rc;
    snprintf (where, sizeof (where), "jgf: graph.edges[%zu].metadata", i);
    rc = get_name (metadata, "subsystem", &e->subsystem, JSON_OPTIONAL_KEY, where, err);
    if (rc >= 0)
        rc = get_name (metadata, "relationship", &e->type, JSON_OPTIONAL_KEY, where, err);
    return rc < 0 ? rc : 0;
}

static int get_edges (struct jgf_document *d, const json_t *edges, struct error *err)
{
    size_t n = json_array_size (edges);

    d->e = calloc (n + 1, sizeof (*d->e));
    if (!d->e)
        return error_no_memory (err, "jgf");
    for (size_t i = 0; i < n; i++) {
        int rc = get_edge (d, json_array_get (edges, i), i, &d->e[i], err);
        if (rc < 0)
            return rc;
        d->ne = i + 1;
    }
    return 0;
}

/* -- all of it -- */

static int get_freed (struct jgf_document *d, struct error *err)
{
    const char *ranks;
    int rc =
        json_get_string (d->root, "free_ranks", &ranks, JSON_OPTIONAL_KEY, "jgf", err);

    if (rc <= 0)
        return rc;
    d->freed = idset_decode (ranks, GRAPH_VERTICES_MAX, err);
    return d->freed ? 0 : error_prefix (err, "jgf.free_ranks");
}

static int get_all (struct jgf_document *d, struct error *err)
{
    json_t *graph, *nodes, *edges;
    int rc = json_get_object (d->root, "graph", &graph, JSON_REQUIRED, "jgf", err);

    if (rc >= 0)
        rc = json_get_array (graph, "nodes", &nodes, JSON_REQUIRED, "jgf: graph", err);
    if (rc >= 0)
        rc = json_get_array (graph, "edges", &edges, JSON_REQUIRED, "jgf: graph", err);
    if (rc >= 0)
        rc = get_freed (d, err);
    if (rc >= 0)
        rc = get_vertices (d, nodes, err);
    return rc < 0 ? rc : get_edges (d, edges, err);
}

int jgf_document_parse (struct jgf_document *d, const char *text, size_t len,
                        struct error *err)
{
    struct error unread = { 0 };

    memset (d, 0, sizeof (*d));
    err = err ? err : &unread; /* error_prefix() needs one */
    if (len > MATCH_READER_TEXT_MAX)
        return error_set (err, E2BIG, "jgf: the text has %zu bytes, more than %u", len,
                          MATCH_READER_TEXT_MAX);
    d->root = json_parse (text, len, "jgf", err);
    if (!d->root)
        return -EINVAL;
    int rc = get_all (d, err);
    if (rc < 0)
        jgf_document_release (d);
    return rc;
}

void jgf_document_release (struct jgf_document *d)
{
    free (d->v);
    free (d->e);
    idset_destroy (d->freed);
    json_decref (d->by_id);
    json_decref (d->root);
    memset (d, 0, sizeof (*d));
}

const char *jgf_path (const struct jgf_vertex *v, const char *subsystem)
{
    return json_string_value (json_object_get (v->paths, subsystem));
}

const char *jgf_name (const struct jgf_vertex *v, char *buf, size_t size)
{
    if (v->name)
        snprintf (buf, size, "%s", v->name);
    else if (v->number < 0)
        snprintf (buf, size, "%s", v->basename);
    else
        snprintf (buf, size, "%s%" PRId64, v->basename, v->number);
    return buf;
}
