/* grug_recipe.c - see grug_recipe.h. libxml2 makes a tree of the text; the attributes are
 * one table.
 */
#include "match/readers/grug_recipe.h"

#include <inttypes.h>
#include <libxml/parser.h>

#include "common/parse.h"

#define NAME_MAX_BYTES 255
#define KEYS_MAX 64

enum owner { OF_NODE, OF_EDGE };

/* Allowed attributes of nodes and edges: a number from min to max, or (text) a word. */
static const struct attribute {
    const char *name;
    enum owner owner;
    size_t offset;
    const char *text; /* default of a word, else NULL */
    int64_t number;   /* default of a number */
    int64_t min, max;
} attributes[] = {
    { "root", OF_NODE, offsetof (struct grug_node, root), NULL, 0, 0, 1 },
    { "type", OF_NODE, offsetof (struct grug_node, type), "", 0, 0, 0 },
    { "basename", OF_NODE, offsetof (struct grug_node, basename), "", 0, 0, 0 },
    { "size", OF_NODE, offsetof (struct grug_node, size), NULL, 1, 1, GRUG_SIZE_MAX },
    { "unit", OF_NODE, offsetof (struct grug_node, unit), "", 0, 0, 0 },
    { "subsystem", OF_NODE, offsetof (struct grug_node, subsystem), "containment", 0, 0,
      0 },
    { "e_subsystem", OF_EDGE, offsetof (struct grug_edge, subsystem), "containment", 0, 0,
      0 },
    { "relation", OF_EDGE, offsetof (struct grug_edge, relation), "contains", 0, 0, 0 },
    { "rrelation", OF_EDGE, offsetof (struct grug_edge, reverse), "in", 0, 0, 0 },
    { "gen_method", OF_EDGE, offsetof (struct grug_edge, method_name), "MULTIPLY", 0, 0,
      0 },
    { "multi_scale", OF_EDGE, offsetof (struct grug_edge, scale), NULL, 1, 0, INT32_MAX },
    { "id_scope", OF_EDGE, offsetof (struct grug_edge, id_scope), NULL, 0, -1,
      INT32_MAX },
    { "id_start", OF_EDGE, offsetof (struct grug_edge, id_start), NULL, 0, INT32_MIN,
      INT32_MAX },
    { "id_stride", OF_EDGE, offsetof (struct grug_edge, id_stride), NULL, 1, INT32_MIN,
      INT32_MAX },
    { "as_tgt_subsystem", OF_EDGE, offsetof (struct grug_edge, at_subsystem),
      "containment", 0, 0, 0 },
    { "as_tgt_uplvl", OF_EDGE, offsetof (struct grug_edge, up_of_target), NULL, 1, 0,
      INT32_MAX },
    { "as_src_uplvl", OF_EDGE, offsetof (struct grug_edge, up_of_source), NULL, 1, 0,
      INT32_MAX },
};

static const struct {
    const char *name;
    enum grug_method method;
} methods[] = {
    { "MULTIPLY", GRUG_MULTIPLY },
    { "ASSOCIATE_IN", GRUG_ASSOCIATE },
    { "ASSOCIATE_BY_PATH_IN", GRUG_ASSOCIATE_BY_PATH },
};

/* A key element: data elements refer to an attribute by its id. */
struct key {
    char *id;
    const struct attribute *a;
    char *preset; /* default, or NULL */
};

struct parse {
    struct grug_recipe *r;
    struct key keys[KEYS_MAX];
    size_t nkeys;
    struct error *err;
};

/* -- XML -- */

static bool is_element (const xmlNode *x, const char *name)
{
    return x->type == XML_ELEMENT_NODE && !strcmp ((const char *)x->name, name);
}

static char *copy_and_free (xmlChar *s)
{
    char *copy = s ? strdup ((const char *)s) : NULL;

    xmlFree (s);
    return copy;
}

/* *ret is NULL if there is no such attribute. */
static int get_xml_attribute (struct parse *p, const xmlNode *x, const char *name,
                              char **ret)
{
    xmlChar *value = xmlGetNoNsProp (x, (const xmlChar *)name);

    *ret = NULL;
    if (!value)
        return 0;
    *ret = copy_and_free (value);
    return *ret ? 0 : error_no_memory (p->err, "grug");
}

static int need_xml_attribute (struct parse *p, const xmlNode *x, const char *name,
                               char **ret)
{
    int rc = get_xml_attribute (p, x, name, ret);

    if (rc < 0 || *ret)
        return rc;
    error_set (p->err, EINVAL, "grug: line %ld: %s: has no attribute '%s'",
               xmlGetLineNo (x), (const char *)x->name, name);
    return -EINVAL;
}

/* Returns the text of an element without surrounding blanks; NULL: no memory. */
static char *get_text (const xmlNode *x)
{
    static const char blank[] = " \t\r\n";
    char *text = copy_and_free (xmlNodeGetContent (x));
    size_t from, len;

    if (!text)
        return NULL;
    from = strspn (text, blank);
    len = strlen (text + from);
    while (len > 0 && strchr (blank, text[from + len - 1]))
        len--;
    memmove (text, text + from, len);
    text[len] = '\0';
    return text;
}

/* -- attributes -- */

static const struct attribute *find_attribute (const char *name, enum owner owner)
{
    for (size_t i = 0; i < ARRAY_SIZE (attributes); i++) {
        if (attributes[i].owner == owner && !strcmp (attributes[i].name, name))
            return &attributes[i];
    }
    return NULL;
}

/* For names, which people read and which become parts of paths. */
static int check_word (const char *text, struct error *err)
{
    size_t len = strlen (text);

    if (len > NAME_MAX_BYTES)
        return error_set (err, EINVAL, "has %zu bytes, more than %d", len,
                          NAME_MAX_BYTES);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < ' ' || *c == 0x7f || *c == '/')
            return error_set (err, EINVAL, "byte 0x%02x cannot be part of a name", *c);
    }
    return 0;
}

static int set_attribute (const struct attribute *a, void *item, const char *text,
                          struct error *err)
{
    void *field = (char *)item + a->offset;

    if (!a->text)
        return parse_int (text, a->min, a->max, field, a->name, err);
    int rc = check_word (text, err);
    if (rc < 0)
        return error_prefix (err, "%s", a->name);
    char *copy = strdup (text);
    if (!copy)
        return error_set (err, ENOMEM, "out of memory");
    free (*(char **)field);
    *(char **)field = copy;
    return 0;
}

static int set_preset (const struct attribute *a, void *item, struct error *err)
{
    if (a->text)
        return set_attribute (a, item, a->text, err);
    *(int64_t *)(void *)((char *)item + a->offset) = a->number;
    return 0;
}

/* Sets defaults: those of the keys, else built-in ones. */
static int set_presets (struct parse *p, enum owner owner, void *item)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (attributes) && rc == 0; i++) {
        if (attributes[i].owner == owner)
            rc = set_preset (&attributes[i], item, p->err);
    }
    for (size_t i = 0; i < p->nkeys && rc == 0; i++) {
        const struct key *key = &p->keys[i];
        if (key->a && key->a->owner == owner && key->preset)
            rc = set_attribute (key->a, item, key->preset, p->err);
    }
    return rc;
}

static const struct key *find_key (const struct parse *p, const char *id,
                                   enum owner owner)
{
    for (size_t i = 0; i < p->nkeys; i++) {
        if (p->keys[i].a->owner == owner && !strcmp (p->keys[i].id, id))
            return &p->keys[i];
    }
    return NULL;
}

static int take_datum (struct parse *p, const xmlNode *x, enum owner owner, void *item)
{
    autofree char *id = NULL, *text = get_text (x);
    const struct key *key;
    int rc = text ? need_xml_attribute (p, x, "key", &id)
                  : error_no_memory (p->err, "grug");

    if (rc < 0)
        return rc;
    key = find_key (p, id, owner);
    if (!key)
        return error_set (p->err, EINVAL, "grug: line %ld: data: no key has the id '%s'",
                          xmlGetLineNo (x), id);
    if (set_attribute (key->a, item, text, p->err) < 0)
        rc = error_prefix (p->err, "grug: line %ld", xmlGetLineNo (x));
    return rc;
}

static int take_data (struct parse *p, const xmlNode *x, enum owner owner, void *item)
{
    int rc = set_presets (p, owner, item);

    for (const xmlNode *child = x->children; child && rc == 0; child = child->next) {
        if (is_element (child, "data"))
            rc = take_datum (p, child, owner, item);
        else if (child->type == XML_ELEMENT_NODE && !is_element (child, "desc"))
            rc = error_set (p->err, EINVAL,
                            "grug: line %ld: '%s' has no meaning in a recipe",
                            xmlGetLineNo (child), (const char *)child->name);
    }
    return rc;
}

/* -- keys -- */

static int take_default (struct parse *p, const xmlNode *x, struct key *key)
{
    union {
        struct grug_node node;
        struct grug_edge edge;
    } scratch = { .edge = { 0 } };
    int rc = 0;

    for (const xmlNode *child = x->children; child && rc == 0; child = child->next) {
        if (!is_element (child, "default") || key->preset)
            continue;
        key->preset = get_text (child);
        if (!key->preset)
            rc = error_no_memory (p->err, "grug");
        else if (set_attribute (key->a, &scratch, key->preset, p->err) < 0)
            rc = error_prefix (p->err, "grug: line %ld", xmlGetLineNo (child));
        if (rc == 0 && key->a->text)
            free (*(char **)(void *)((char *)&scratch + key->a->offset));
    }
    return rc;
}

static int take_key (struct parse *p, const xmlNode *x)
{
    autofree char *id = NULL, *name = NULL, *what = NULL;
    struct key *key;
    int rc = need_xml_attribute (p, x, "id", &id);

    if (rc == 0)
        rc = need_xml_attribute (p, x, "for", &what);
    if (rc == 0)
        rc = need_xml_attribute (p, x, "attr.name", &name);
    if (rc < 0)
        return rc;
    enum owner owner = !strcmp (what, "edge") ? OF_EDGE : OF_NODE;
    if (p->nkeys == KEYS_MAX || find_key (p, id, owner))
        return error_set (p->err, EINVAL, "grug: line %ld: key '%s': %s",
                          xmlGetLineNo (x), id,
                          p->nkeys == KEYS_MAX ? "there are too many keys"
                                               : "there is such a key already");
    key = &p->keys[p->nkeys];
    key->a = strcmp (what, "edge") && strcmp (what, "node")
                 ? NULL
                 : find_attribute (name, owner);
    if (!key->a)
        return error_set (
            p->err, EINVAL,
            "grug: line %ld: key '%s': a recipe has no attribute '%s' of %s",
            xmlGetLineNo (x), id, name, what);
    key->id = id;
    id = NULL;
    p->nkeys++;
    return take_default (p, x, key);
}

/* -- nodes and edges -- */

static int find_node (const struct parse *p, const char *id, uint32_t *ret)
{
    for (size_t i = 0; i < p->r->nnodes; i++) {
        if (!strcmp (p->r->nodes[i].id, id)) {
            *ret = (uint32_t)i;
            return 0;
        }
    }
    return -ENOENT;
}

static int too_many (struct parse *p, const xmlNode *x)
{
    return error_set (p->err, E2BIG, "grug: line %ld: more than %d of %s",
                      xmlGetLineNo (x), GRUG_ITEMS_MAX, (const char *)x->name);
}

static int check_node (struct parse *p, struct grug_node *node)
{
    if (node->type[0] == '\0')
        return error_set (p->err, EINVAL, "grug: line %ld: node '%s': has no type",
                          node->line, node->id);
    if (node->basename[0] != '\0')
        return 0;
    free (node->basename);
    node->basename = strdup (node->type);
    return node->basename ? 0 : error_no_memory (p->err, "grug");
}

static int take_node (struct parse *p, const xmlNode *x)
{
    struct grug_node *node = &p->r->nodes[p->r->nnodes];
    autofree char *id = NULL;
    uint32_t other;

    if (p->r->nnodes == GRUG_ITEMS_MAX)
        return too_many (p, x);
    int rc = need_xml_attribute (p, x, "id", &id);
    if (rc < 0)
        return rc;
    if (find_node (p, id, &other) == 0)
        return error_set (p->err, EINVAL,
                          "grug: line %ld: node '%s': there is one already, on line %ld",
                          xmlGetLineNo (x), id, p->r->nodes[other].line);
    node->line = xmlGetLineNo (x);
    node->id = id;
    id = NULL;
    p->r->nnodes++;
    rc = take_data (p, x, OF_NODE, node);
    return rc < 0 ? rc : check_node (p, node);
}

static int take_end (struct parse *p, const xmlNode *x, const char *which, uint32_t *ret)
{
    autofree char *id = NULL;
    int rc = need_xml_attribute (p, x, which, &id);

    if (rc < 0)
        return rc;
    if (find_node (p, id, ret) < 0)
        return error_set (p->err, EINVAL,
                          "grug: line %ld: edge: %s: there is no node '%s'",
                          xmlGetLineNo (x), which, id);
    return 0;
}

static int check_method (struct parse *p, struct grug_edge *edge)
{
    for (size_t i = 0; i < ARRAY_SIZE (methods); i++) {
        if (!strcmp (edge->method_name, methods[i].name)) {
            edge->method = methods[i].method;
            return 0;
        }
    }
    return error_set (
        p->err, EINVAL,
        "grug: line %ld: edge '%s': gen_method: '%s' is not one of MULTIPLY, "
        "ASSOCIATE_IN, ASSOCIATE_BY_PATH_IN",
        edge->line, edge->id, edge->method_name);
}

static int check_directed (struct parse *p, const xmlNode *x, const char *name,
                           const char *undirected)
{
    autofree char *value = NULL;
    int rc = get_xml_attribute (p, x, name, &value);

    if (rc < 0 || !value || strcmp (value, undirected) != 0)
        return rc;
    return error_set (p->err, EINVAL, "grug: line %ld: %s: %s: edges have a direction",
                      xmlGetLineNo (x), (const char *)x->name, name);
}

static int take_edge (struct parse *p, const xmlNode *x)
{
    struct grug_edge *edge = &p->r->edges[p->r->nedges];

    if (p->r->nedges == GRUG_ITEMS_MAX)
        return too_many (p, x);
    p->r->nedges++;
    edge->line = xmlGetLineNo (x);
    int rc = get_xml_attribute (p, x, "id", &edge->id);
    if (rc == 0 && !edge->id && !(edge->id = strdup ("")))
        rc = error_no_memory (p->err, "grug");
    if (rc == 0)
        rc = check_directed (p, x, "directed", "false");
    if (rc == 0)
        rc = take_end (p, x, "source", &edge->source);
    if (rc == 0)
        rc = take_end (p, x, "target", &edge->target);
    if (rc == 0)
        rc = take_data (p, x, OF_EDGE, edge);
    return rc < 0 ? rc : check_method (p, edge);
}

/* Edges may precede their nodes. */
static int take_graph (struct parse *p, const xmlNode *graph)
{
    int rc = check_directed (p, graph, "edgedefault", "undirected");

    p->r->nodes = calloc (GRUG_ITEMS_MAX + 1, sizeof (*p->r->nodes));
    p->r->edges = calloc (GRUG_ITEMS_MAX + 1, sizeof (*p->r->edges));
    if (rc == 0 && (!p->r->nodes || !p->r->edges))
        rc = error_no_memory (p->err, "grug");
    for (const xmlNode *x = graph->children; x && rc == 0; x = x->next) {
        if (is_element (x, "node"))
            rc = take_node (p, x);
        else if (x->type == XML_ELEMENT_NODE && !is_element (x, "edge")
                 && !is_element (x, "data") && !is_element (x, "desc"))
            rc = error_set (p->err, EINVAL,
                            "grug: line %ld: '%s' has no meaning in a recipe",
                            xmlGetLineNo (x), (const char *)x->name);
    }
    for (const xmlNode *x = graph->children; x && rc == 0; x = x->next) {
        if (is_element (x, "edge"))
            rc = take_edge (p, x);
    }
    return rc;
}

/* -- the document -- */

static int take_document (struct parse *p, const xmlNode *root)
{
    const xmlNode *graph = NULL;
    int rc = 0;

    if (!root || !is_element (root, "graphml"))
        return error_set (p->err, EINVAL, "grug: the outermost element is not 'graphml'");
    for (const xmlNode *x = root->children; x && rc == 0; x = x->next) {
        if (is_element (x, "key"))
            rc = take_key (p, x);
        else if (is_element (x, "graph") && graph)
            rc = error_set (p->err, EINVAL, "grug: line %ld: a second graph",
                            xmlGetLineNo (x));
        else if (is_element (x, "graph"))
            graph = x;
    }
    if (rc < 0)
        return rc;
    if (!graph)
        return error_set (p->err, EINVAL, "grug: there is no graph in it");
    return take_graph (p, graph);
}

/* Called at "<!DOCTYPE", which would allow entities, defaults and external files. */
static void refuse_doctype (void *ctx, const xmlChar *name, const xmlChar *external,
                            const xmlChar *system)
{
    xmlParserCtxt *parser = ctx;

    (void)name, (void)external, (void)system;
    *(bool *)parser->_private = true;
    xmlStopParser (parser);
}

static int fail_parser (struct parse *p, xmlParserCtxt *parser, bool doctype)
{
    const xmlError *e = xmlCtxtGetLastError (parser);
    const char *text = e && e->message ? e->message : "not XML";

    if (doctype)
        return error_set (p->err, EINVAL,
                          "grug: it has a document type (<!DOCTYPE ...>): leave it out");
    if (e && e->code == XML_ERR_NO_MEMORY)
        return error_no_memory (p->err, "grug");
    return error_set (p->err, EINVAL, "grug: line %d: %.*s", e ? e->line : 1,
                      (int)strcspn (text, "\n"), text);
}

static int take_text (struct parse *p, xmlParserCtxt *parser, const char *text,
                      size_t len)
{
    static const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING
                               | XML_PARSE_NOCDATA | XML_PARSE_COMPACT;
    bool doctype = false;
    int rc;

    parser->_private = &doctype;
    parser->sax->internalSubset = refuse_doctype;
    xmlDoc *doc = xmlCtxtReadMemory (parser, text, (int)len, NULL, NULL, options);
    if (!doc || doctype || parser->errNo == XML_ERR_NO_MEMORY)
        rc = fail_parser (p, parser, doctype);
    else
        rc = take_document (p, xmlDocGetRootElement (doc));
    xmlFreeDoc (doc);
    return rc;
}

int grug_recipe_parse (struct grug_recipe *r, const char *text, size_t len,
                       struct error *err)
{
    struct parse p = { .r = r, .err = err };

    memset (r, 0, sizeof (*r));
    if (len > GRUG_TEXT_MAX)
        return error_set (err, E2BIG, "grug: the text has %zu bytes, more than %u", len,
                          GRUG_TEXT_MAX);
    xmlParserCtxt *parser = xmlNewParserCtxt ();
    int rc = parser ? take_text (&p, parser, text, len) : error_no_memory (p.err, "grug");
    xmlFreeParserCtxt (parser);
    for (size_t i = 0; i < p.nkeys; i++) {
        free (p.keys[i].id);
        free (p.keys[i].preset);
    }
    if (rc < 0)
        grug_recipe_release (r);
    return rc;
}

static void release_words (enum owner owner, void *item)
{
    for (size_t i = 0; i < ARRAY_SIZE (attributes); i++) {
        if (attributes[i].owner == owner && attributes[i].text)
            free (*(char **)(void *)((char *)item + attributes[i].offset));
    }
}

void grug_recipe_release (struct grug_recipe *r)
{
    for (size_t i = 0; i < r->nnodes; i++) {
        free (r->nodes[i].id);
        release_words (OF_NODE, &r->nodes[i]);
    }
    for (size_t i = 0; i < r->nedges; i++) {
        free (r->edges[i].id);
        release_words (OF_EDGE, &r->edges[i]);
    }
    free (r->nodes);
    free (r->edges);
    memset (r, 0, sizeof (*r));
}
