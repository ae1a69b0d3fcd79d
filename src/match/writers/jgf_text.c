/* jgf_text.c - see jgf_text.h. One walk writes the vertices, one the edges; the path of
 * the present vertex grows and shrinks with the walk.
 */
#include "match/writers/jgf_text.h"

#include <inttypes.h>

#include "match/graph/graph_private.h" /* paths of a vertex */
#include "match/writers/order.h"

#define CONTAINMENT "containment"
#define PATH_MAX_BYTES ((size_t)GRAPH_DEPTH_MAX * ORDER_NAME_SIZE)

struct jgf {
    struct strbuf *sb;
    const struct graph *g;
    const struct match_writer_options *opt;
    bool brief;
    bool comma;                        /* the next element needs a comma before it */
    bool left_out;                     /* something was left out */
    struct strbuf path;                /* of the present vertex, in the main tree */
    size_t above[GRAPH_DEPTH_MAX + 1]; /* length of path without the last name, by
                                        * depth */
};

/* -- the members of a vertex -- */

static void add_member (struct jgf *j, const char *key, const char *value)
{
    strbuf_addf (j->sb, ", \"%s\": ", key);
    strbuf_add_json (j->sb, value, SIZE_MAX);
}

static void add_names (struct jgf *j, const struct pick *p, uint32_t unit, int64_t id)
{
    const struct graph *g = j->g;
    const char *type = graph_type_name (g, graph_vertex (g, p->v)->type);
    const char *basename = graph_basename (g, p->v);
    char name[ORDER_NAME_SIZE], usual[ORDER_NAME_SIZE + 24];

    strbuf_adds (j->sb, "\"type\": ");
    strbuf_add_json (j->sb, type, SIZE_MAX);
    if (strcmp (basename, type))
        add_member (j, "basename", basename);
    if (graph_vertex (g, p->v)->n > 1)
        return; /* units of a group have their usual names */
    graph_name (g, p->v, unit, name, sizeof (name));
    snprintf (usual, sizeof (usual), "%s%" PRId64, basename, id);
    if (strcmp (name, usual))
        add_member (j, "name", name);
}

static void add_properties (struct jgf *j, const struct pick *p, uint32_t unit)
{
    const char *key, *value;
    size_t i = 0;

    for (; graph_property_at (j->g, p->v, unit, i, &key, &value); i++) {
        strbuf_adds (j->sb, i == 0 ? ", \"properties\": {" : ", ");
        strbuf_add_json (j->sb, key, SIZE_MAX);
        strbuf_adds (j->sb, ": ");
        strbuf_add_json (j->sb, value, SIZE_MAX);
    }
    if (i > 0)
        strbuf_addch (j->sb, '}');
}

static void add_path (struct jgf *j, const char *subsystem, const char *path, bool first)
{
    strbuf_adds (j->sb, first ? ", \"paths\": {" : ", ");
    strbuf_add_json (j->sb, subsystem, SIZE_MAX);
    strbuf_adds (j->sb, ": ");
    strbuf_add_json (j->sb, path, SIZE_MAX);
}

/* Containment first, then the main tree, then all other known subsystems. */
static void add_paths (struct jgf *j, const struct pick *p, uint32_t unit)
{
    const char *main = graph_subsystem (j->g), *known;
    const struct own *own = own_find (j->g, p->v);
    bool first = true;

    if (strcmp (main, CONTAINMENT)
        && (known = graph_path_in (j->g, p->v, unit, CONTAINMENT))) {
        add_path (j, CONTAINMENT, known, first);
        first = false;
    }
    known = graph_path_in (j->g, p->v, unit, main);
    add_path (j, main, known ? known : j->path.buf, first);
    for (size_t i = 0; own && i < own->npaths; i++) {
        const char *other = text_of (j->g->p, own->paths[i].subsystem);
        if (own->paths[i].unit == unit && strcmp (other, main)
            && strcmp (other, CONTAINMENT))
            add_path (j, other, own->paths[i].path, false);
    }
    strbuf_addch (j->sb, '}');
}

static int dump_to_strbuf (const char *text, size_t len, void *arg)
{
    return strbuf_add (arg, text, len) < 0 ? -1 : 0;
}

/* Takes over o; appends nothing for NULL or an empty object. */
static void add_object (struct jgf *j, const char *key, json_t *o)
{
    if (json_object_size (o) > 0) {
        strbuf_addf (j->sb, ", \"%s\": ", key);
        if (json_dump_callback (o, dump_to_strbuf, j->sb, JSON_SORT_KEYS) < 0
            && !j->sb->err)
            j->sb->err = -ENOMEM;
    }
    json_decref (o);
}

static const char *label_of (const struct jgf *j, const struct pick *p)
{
    const struct shape *shape = j->opt->shape;
    bool known = shape && p->label > 0 && p->label <= shape->nv;

    return known ? shape->v[p->label - 1].label : NULL;
}

static void add_ephemeral (struct jgf *j, const struct pick *p, uint32_t unit)
{
    const char *label = label_of (j, p);
    json_t *o = j->opt->about ? j->opt->about (p, unit, j->opt->arg) : NULL;

    if (label && !o && !(o = json_object ()))
        j->sb->err = -ENOMEM;
    if (label && o && json_object_set_new (o, "label", json_string (label)) < 0)
        j->sb->err = -ENOMEM;
    add_object (j, "ephemeral", o);
}

static void add_vertex (struct jgf *j, const struct pick *p, uint32_t unit)
{
    const struct graph_vertex *v = graph_vertex (j->g, p->v);
    int64_t id = v->id < 0 ? -1 : (int64_t)v->id + unit;
    const char *measure = graph_unit_name (j->g, p->v);

    strbuf_addf (j->sb, "%s{\"id\": \"%" PRId64 "\", \"metadata\": {",
                 j->comma ? ", " : "", v->uniq + unit);
    j->comma = true;
    add_names (j, p, unit, id);
    strbuf_addf (j->sb, ", \"id\": %" PRId64 ", \"rank\": %" PRId32, id, v->rank);
    add_properties (j, p, unit);
    if (measure[0])
        add_member (j, "unit", measure);
    if (p->exclusive)
        strbuf_adds (j->sb, ", \"exclusive\": true");
    if (p->amount != 1)
        strbuf_addf (j->sb, ", \"size\": %" PRId64, p->amount);
    add_paths (j, p, unit);
    add_ephemeral (j, p, unit);
    if (j->opt->counts)
        add_object (j, "agfilter", j->opt->counts (p, unit, j->opt->arg));
    strbuf_adds (j->sb, "}}");
}

/* -- the walks -- */

static void path_cut (struct strbuf *path, size_t len)
{
    if (path->len > len) {
        path->len = len;
        path->buf[len] = '\0';
    }
}

/* Sets the path of v without its last name: the path in the tree, by whatever way the
 * walk came. */
static void path_restart (struct jgf *j, uint32_t v)
{
    uint32_t parent = graph_vertex (j->g, v)->parent;

    path_cut (&j->path, 0);
    if (parent != GRAPH_NONE && graph_path (j->g, parent, 0, &j->path) < 0
        && !j->path.err)
        j->path.err = -ENOMEM;
}

/* Appends the unit's name to the path at that depth. */
static void path_set (struct jgf *j, unsigned depth, const struct pick *p, uint32_t unit)
{
    char name[ORDER_NAME_SIZE];

    path_cut (&j->path, j->above[depth]);
    strbuf_addch (&j->path, '/');
    strbuf_adds (&j->path, graph_name (j->g, p->v, unit, name, sizeof (name)));
}

static void add_vertices (struct jgf *j, const struct selection *s)
{
    struct order o;
    struct order_step at;

    order_begin (&o, s);
    while (!j->sb->err && order_next (&o, &at)) {
        const struct pick *p = at.pick;
        if (j->brief && at.covered) {
            j->left_out = true;
            continue;
        }
        if (!at.leave) {
            if (selection_is_further (s, j->g, p))
                path_restart (j, p->v);
            j->above[at.depth] = j->path.len;
            path_set (j, at.depth, p, p->unit);
            continue;
        }
        for (uint32_t k = 0; k < p->count && !j->sb->err; k++) {
            if (k > 0)
                path_set (j, at.depth, p, p->unit + k);
            add_vertex (j, p, p->unit + k);
        }
        path_cut (&j->path, j->above[at.depth]);
        if (selection_is_further (s, j->g, p)) {
            const struct pick *up = &s->picks[p->parent];
            path_restart (j, up->v);
            path_set (j, at.depth - 1, up, up->unit);
        }
        if (j->path.err)
            j->sb->err = j->path.err;
    }
}

static void add_edge (struct jgf *j, int64_t source, int64_t target)
{
    strbuf_addf (j->sb, "%s{\"source\": \"%" PRId64 "\", \"target\": \"%" PRId64 "\"",
                 j->comma ? ", " : "", source, target);
    j->comma = true;
    if (strcmp (graph_subsystem (j->g), CONTAINMENT)) {
        strbuf_adds (j->sb, ", \"metadata\": {\"subsystem\": ");
        strbuf_add_json (j->sb, graph_subsystem (j->g), SIZE_MAX);
        strbuf_addch (j->sb, '}');
    }
    strbuf_addch (j->sb, '}');
}

static void add_edges (struct jgf *j, const struct selection *s)
{
    struct order o;
    struct order_step at;

    j->comma = false;
    order_begin (&o, s);
    while (!j->sb->err && order_next (&o, &at)) {
        const struct pick *p = at.pick;
        if (!at.leave || at.depth == 0 || (j->brief && at.covered))
            continue;
        const struct pick *parent = &s->picks[p->parent];
        int64_t source = graph_vertex (j->g, parent->v)->uniq + parent->unit;
        int64_t target = graph_vertex (j->g, p->v)->uniq + p->unit;
        for (uint32_t k = 0; k < p->count && !j->sb->err; k++)
            add_edge (j, source, target + k);
    }
}

int jgf_text_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, bool brief)
{
    struct jgf j = { .sb = sb, .g = g, .opt = opt, .brief = brief };

    if (s->n == 0)
        return 0;
    strbuf_init (&j.path, PATH_MAX_BYTES);
    strbuf_adds (sb, "{\"graph\": {\"nodes\": [");
    add_vertices (&j, s);
    strbuf_adds (sb, "], \"edges\": [");
    add_edges (&j, s);
    strbuf_adds (sb, "]}");
    if (j.left_out)
        strbuf_adds (sb, ", \"writer\": \"fluxion:jgf_shorthand\"");
    strbuf_addch (sb, '}');
    strbuf_release (&j.path);
    return sb->err;
}
