/* hwloc_xml.c - see hwloc_xml.h */
#include "match/readers/hwloc_xml.h"

#include <hwloc.h>
#include <libxml/xmlreader.h>

#include "common/parse.h"

/* -- types and attributes of hwloc -- */

enum kind { KIND_ROOT, KIND_NORMAL, KIND_PU, KIND_MEMORY, KIND_IO, KIND_MISC };

static const struct type {
    const char *name;
    enum kind kind;
    bool cache;
} types[] = {
    { "Machine", KIND_ROOT, false },   { "System", KIND_ROOT, false },
    { "Package", KIND_NORMAL, false }, { "Socket", KIND_NORMAL, false },
    { "Die", KIND_NORMAL, false },     { "Tile", KIND_NORMAL, false },
    { "Module", KIND_NORMAL, false },  { "Group", KIND_NORMAL, false },
    { "Core", KIND_NORMAL, false },    { "PU", KIND_PU, false },
    { "Cache", KIND_NORMAL, true },    { "L1Cache", KIND_NORMAL, true },
    { "L2Cache", KIND_NORMAL, true },  { "L3Cache", KIND_NORMAL, true },
    { "L4Cache", KIND_NORMAL, true },  { "L5Cache", KIND_NORMAL, true },
    { "L1iCache", KIND_NORMAL, true }, { "L2iCache", KIND_NORMAL, true },
    { "L3iCache", KIND_NORMAL, true }, { "NUMANode", KIND_MEMORY, false },
    { "Bridge", KIND_IO, false },      { "PCIDev", KIND_IO, false },
    { "OSDev", KIND_IO, false },       { "Misc", KIND_MISC, false },
};

/* Attributes of objects that are kept, in the order of writing. */
enum attribute {
    ATTR_OS_INDEX,
    ATTR_CPUSET,
    ATTR_COMPLETE_CPUSET,
    ATTR_ALLOWED_CPUSET,
    ATTR_NODESET,
    ATTR_COMPLETE_NODESET,
    ATTR_ALLOWED_NODESET,
    ATTR_NAME,
    ATTR_SUBTYPE,
    ATTR_CACHE_SIZE,
    ATTR_DEPTH,
    ATTR_CACHE_TYPE,
    ATTR_KIND,
    ATTR_SUBKIND,
    ATTR_DONT_MERGE,
    ATTR_PCI_BUSID,
    ATTR_PCI_TYPE,
    ATTR_BRIDGE_TYPE,
    ATTR_BRIDGE_PCI,
    ATTR_OSDEV_TYPE,
    ATTRS
};

enum syntax { A_NUMBER, A_SET, A_TEXT };

static const struct {
    const char *name;
    enum syntax syntax;
} attributes[ATTRS] = {
    [ATTR_OS_INDEX] = { "os_index", A_NUMBER },
    [ATTR_CPUSET] = { "cpuset", A_SET },
    [ATTR_COMPLETE_CPUSET] = { "complete_cpuset", A_SET },
    [ATTR_ALLOWED_CPUSET] = { "allowed_cpuset", A_SET },
    [ATTR_NODESET] = { "nodeset", A_SET },
    [ATTR_COMPLETE_NODESET] = { "complete_nodeset", A_SET },
    [ATTR_ALLOWED_NODESET] = { "allowed_nodeset", A_SET },
    [ATTR_NAME] = { "name", A_TEXT },
    [ATTR_SUBTYPE] = { "subtype", A_TEXT },
    [ATTR_CACHE_SIZE] = { "cache_size", A_NUMBER },
    [ATTR_DEPTH] = { "depth", A_NUMBER },
    [ATTR_CACHE_TYPE] = { "cache_type", A_NUMBER },
    [ATTR_KIND] = { "kind", A_NUMBER },
    [ATTR_SUBKIND] = { "subkind", A_NUMBER },
    [ATTR_DONT_MERGE] = { "dont_merge", A_NUMBER },
    [ATTR_PCI_BUSID] = { "pci_busid", A_TEXT },
    [ATTR_PCI_TYPE] = { "pci_type", A_TEXT },
    [ATTR_BRIDGE_TYPE] = { "bridge_type", A_TEXT },
    [ATTR_BRIDGE_PCI] = { "bridge_pci", A_TEXT },
    [ATTR_OSDEV_TYPE] = { "osdev_type", A_NUMBER },
};

/* The sets of an object; "complete" sets also have what is offline. */
enum set { SET_CPUS, SET_COMPLETE_CPUS, SET_NODES, SET_COMPLETE_NODES, SETS };
static const enum attribute set_attributes[SETS] = {
    [SET_CPUS] = ATTR_CPUSET,
    [SET_COMPLETE_CPUS] = ATTR_COMPLETE_CPUSET,
    [SET_NODES] = ATTR_NODESET,
    [SET_COMPLETE_NODES] = ATTR_COMPLETE_NODESET,
};

struct object {
    const struct type *type;
    char *attr[ATTRS];         /* owned, or NULL */
    hwloc_bitmap_t sets[SETS]; /* owned, or NULL */
    uint32_t children;
};

struct cleaning {
    xmlTextReader *xml;
    struct strbuf *sb;
    struct error *err;
    struct object open[HWLOC_XML_DEPTH_MAX]; /* enclosing objects */
    unsigned depth;                          /* number of them */
    uint32_t objects;
    hwloc_bitmap_t allowed_cpus, allowed_nodes; /* owned, or NULL: all */
    bool cpu, node, nodes; /* a usable one was found; nodes are mentioned */
    bool topology;         /* its element was found */
    bool version2;
};

static int refuse (const struct cleaning *c, const char *thing, const char *problem)
{
    return error_set (c->err, EINVAL, "line %d: %.32s: %s",
                      xmlTextReaderGetParserLineNumber (c->xml), thing, problem);
}

/* -- writing -- */

static void add_attribute (struct strbuf *sb, const char *name, const char *value)
{
    static const char *const names[] = {
        ['"'] = "&quot;", ['<'] = "&lt;",   ['>'] = "&gt;",  ['&'] = "&amp;",
        ['\n'] = "&#10;", ['\r'] = "&#13;", ['\t'] = "&#9;",
    };

    strbuf_addf (sb, " %s=\"", name);
    for (; *value; value++) {
        unsigned char ch = (unsigned char)*value;
        if (ch < ARRAY_SIZE (names) && names[ch])
            strbuf_adds (sb, names[ch]);
        else
            strbuf_addch (sb, *value);
    }
    strbuf_addch (sb, '"');
}

static void object_write (struct strbuf *sb, const struct object *o)
{
    strbuf_adds (sb, "<object");
    add_attribute (sb, "type", o->type->name);
    for (int i = 0; i < ATTRS; i++) {
        if (o->attr[i])
            add_attribute (sb, attributes[i].name, o->attr[i]);
    }
    strbuf_adds (sb, ">\n");
}

/* -- one object -- */

static void object_release (struct object *o)
{
    for (int i = 0; i < ATTRS; i++)
        free (o->attr[i]);
    for (int i = 0; i < SETS; i++)
        hwloc_bitmap_free (o->sets[i]);
    memset (o, 0, sizeof (*o));
}

/* "0x00000001", "0xff,,0x0", "0xf...f,0x0": words of 32 bits, greatest first, empty for 0
 * inside; "0xf...f" at the start sets all higher bits. */
static bool is_set (const char *p)
{
    bool first = true;

    if (!strncmp (p, "0xf...f", 7)) {
        p += 7;
        if (!*p)
            return true;
        if (*p++ != ',')
            return false;
    }
    for (unsigned words = 0; words <= HWLOC_XML_INDEX_MAX / 32; words++) {
        size_t digits = 0;
        if (!strncmp (p, "0x", 2)) {
            digits = strspn (p + 2, "0123456789abcdefABCDEF");
            p += 2 + digits;
        }
        if (digits > 8 || (digits == 0 && (first || *p != ',')))
            return false;
        if (!*p)
            return true;
        if (*p++ != ',')
            return false;
        first = false;
    }
    return false;
}

static bool syntax_holds (enum syntax syntax, const char *value)
{
    size_t len = strlen (value);

    if (syntax == A_NUMBER)
        return len > 0 && len < 20 && strspn (value, "0123456789") == len;
    return syntax == A_TEXT || is_set (value);
}

static const struct type *type_find (const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE (types); i++) {
        if (!strcmp (types[i].name, name))
            return &types[i];
    }
    return NULL;
}

static int object_attribute (struct cleaning *c, struct object *o, const char *name,
                             const char *value)
{
    if (!strcmp (name, "type")) {
        o->type = type_find (value);
        return o->type ? 0 : refuse (c, value, "not a type of hwloc's");
    }
    for (int i = 0; i < ATTRS; i++) {
        if (strcmp (attributes[i].name, name))
            continue;
        if (!syntax_holds (attributes[i].syntax, value))
            return refuse (c, name, "not a value of hwloc's");
        if (!(o->attr[i] = strdup (value)))
            return error_errno (c->err, ENOMEM, "topology");
    }
    return 0;
}

/* Reads the attributes of the present element; skips those that hwloc does not need. */
static int object_read (struct cleaning *c, struct object *o)
{
    int rc = 0;

    while (rc == 0 && xmlTextReaderMoveToNextAttribute (c->xml) == 1) {
        const char *name = (const char *)xmlTextReaderConstName (c->xml);
        const char *value = (const char *)xmlTextReaderConstValue (c->xml);
        rc = object_attribute (c, o, name, value ? value : "");
    }
    xmlTextReaderMoveToElement (c->xml);
    if (rc == 0 && !o->type)
        rc = refuse (c, "object", "type: required but missing");
    return rc;
}

/* Reads the set in the attribute; *ret stays NULL if there is none. */
static int set_read (struct cleaning *c, const struct object *o, enum attribute a,
                     hwloc_bitmap_t *ret)
{
    if (!o->attr[a])
        return 0;
    if (!(*ret = hwloc_bitmap_alloc ()))
        return error_errno (c->err, ENOMEM, "topology");
    return hwloc_bitmap_sscanf (*ret, o->attr[a]) < 0
               ? refuse (c, attributes[a].name, "not a set")
               : 0;
}

static int sets_read (struct cleaning *c, struct object *o)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < SETS; i++)
        rc = set_read (c, o, set_attributes[i], &o->sets[i]);
    if (rc == 0 && c->depth == 0)
        rc = set_read (c, o, ATTR_ALLOWED_CPUSET, &c->allowed_cpus);
    if (rc == 0 && c->depth == 0)
        rc = set_read (c, o, ATTR_ALLOWED_NODESET, &c->allowed_nodes);
    return rc;
}

/* -- assumptions of libhwloc -- */

/* Sets come in pairs: what is usable and what is complete. */
static int check_pairs (struct cleaning *c, const struct object *o)
{
    const char *name = o->type->name;
    bool cpus = o->sets[SET_CPUS], nodes = o->sets[SET_NODES];

    if (cpus != !!o->sets[SET_COMPLETE_CPUS])
        return refuse (c, name, "needs both cpuset and complete_cpuset, or none");
    if (nodes != !!o->sets[SET_COMPLETE_NODES])
        return refuse (c, name, "needs both nodeset and complete_nodeset, or none");
    if (o->type->kind == KIND_IO || o->type->kind == KIND_MISC)
        return cpus || nodes ? refuse (c, name, "a device has no cpuset") : 0;
    if (!cpus)
        return refuse (c, name, "cpuset: required but missing");
    if (!nodes && (c->version2 || o->type->kind == KIND_MEMORY))
        return refuse (c, name, "nodeset: required but missing");
    return 0;
}

/* The sets of an object must be subsets of those of its parent. */
static int check_inclusion (struct cleaning *c, const struct object *o)
{
    const struct object *parent = c->depth > 0 ? &c->open[c->depth - 1] : NULL;

    for (int i = 0; i < SETS; i++) {
        hwloc_bitmap_t set = o->sets[i], around = parent ? parent->sets[i] : NULL;
        if (set && parent && (!around || !hwloc_bitmap_isincluded (set, around)))
            return refuse (c, attributes[set_attributes[i]].name,
                           "not in that of the object around it");
    }
    for (int i = 0; i < SETS; i += 2) {
        if (o->sets[i] && !hwloc_bitmap_isincluded (o->sets[i], o->sets[i + 1]))
            return refuse (c, attributes[set_attributes[i]].name,
                           "not in the complete one");
    }
    return 0;
}

static bool is_only (hwloc_const_bitmap_t set, int index)
{
    return hwloc_bitmap_weight (set) == 1 && hwloc_bitmap_first (set) == index;
}

/* A PU has one bit of cpusets, a NUMA node one of nodesets. */
static int check_index (struct cleaning *c, const struct object *o)
{
    bool pu = o->type->kind == KIND_PU;
    hwloc_const_bitmap_t set = o->sets[pu ? SET_CPUS : SET_NODES];
    hwloc_const_bitmap_t complete = o->sets[pu ? SET_COMPLETE_CPUS : SET_COMPLETE_NODES];
    hwloc_const_bitmap_t allowed = pu ? c->allowed_cpus : c->allowed_nodes;
    int64_t index;

    if (!pu && o->type->kind != KIND_MEMORY)
        return 0;
    if (!o->attr[ATTR_OS_INDEX]
        || parse_int (o->attr[ATTR_OS_INDEX], 0, HWLOC_XML_INDEX_MAX, &index, "os_index",
                      NULL)
               < 0)
        return refuse (c, o->type->name, "os_index: not from 0 to 65535");
    if (!is_only (complete, (int)index))
        return refuse (c, o->type->name, "its set is not its os_index alone");
    if (!hwloc_bitmap_iszero (set)
        && (!allowed || hwloc_bitmap_isset (allowed, (unsigned)index)))
        *(pu ? &c->cpu : &c->node) = true;
    return 0;
}

static int check_cache (struct cleaning *c, const struct object *o)
{
    const char *depth = o->attr[ATTR_DEPTH], *type = o->attr[ATTR_CACHE_TYPE];

    if (!o->type->cache)
        return 0;
    if (!depth || strlen (depth) != 1 || depth[0] < '1' || depth[0] > '5')
        return refuse (c, o->type->name, "depth: not from 1 to 5");
    if (type && (strlen (type) != 1 || type[0] > (depth[0] > '3' ? '1' : '2')))
        return refuse (c, o->type->name, "cache_type: no such cache");
    return 0;
}

static int check_place (struct cleaning *c, const struct object *o)
{
    enum kind kind = o->type->kind, above;

    if (c->depth == 0)
        return kind == KIND_ROOT ? 0 : refuse (c, o->type->name, "not the outermost");
    struct object *parent = &c->open[c->depth - 1];
    above = parent->type->kind;
    if (kind == KIND_ROOT || (above == KIND_MISC && kind != KIND_MISC)
        || (above == KIND_PU && kind != KIND_MISC)
        || (above == KIND_IO && kind != KIND_IO && kind != KIND_MISC)
        || (above == KIND_MEMORY && c->version2 && kind != KIND_MISC))
        return refuse (c, o->type->name, "does not belong there");
    if (++parent->children > HWLOC_XML_CHILDREN_MAX)
        return refuse (c, parent->type->name, "too many objects in it");
    return 0;
}

static int object_check (struct cleaning *c, const struct object *o)
{
    int rc = check_place (c, o);

    if (rc == 0)
        rc = check_pairs (c, o);
    if (rc == 0)
        rc = check_inclusion (c, o);
    if (rc == 0)
        rc = check_index (c, o);
    return rc < 0 ? rc : check_cache (c, o);
}

/* -- elements -- */

static void object_leave (struct cleaning *c)
{
    strbuf_adds (c->sb, "</object>\n");
    object_release (&c->open[--c->depth]);
}

static int object_enter (struct cleaning *c)
{
    if (c->depth == HWLOC_XML_DEPTH_MAX)
        return refuse (c, "object", "too deep");
    if (++c->objects > HWLOC_XML_OBJECTS_MAX)
        return refuse (c, "object", "too many of them");
    if (c->depth == 0 && c->objects > 1)
        return refuse (c, "object", "a second outermost one");
    struct object *o = &c->open[c->depth];
    int rc = object_read (c, o);
    if (rc == 0)
        rc = sets_read (c, o);
    if (rc == 0)
        rc = object_check (c, o);
    if (rc < 0) {
        object_release (o);
        return rc;
    }
    c->nodes = c->nodes || o->sets[SET_NODES];
    object_write (c->sb, o);
    c->depth++;
    if (xmlTextReaderIsEmptyElement (c->xml))
        object_leave (c);
    return 0;
}

/* Returns an attribute of the present element; the caller frees it. */
static char *attribute_get (struct cleaning *c, const char *name)
{
    return (char *)xmlTextReaderGetAttribute (c->xml, BAD_CAST name);
}

static int info_enter (struct cleaning *c)
{
    char *name = attribute_get (c, "name"), *value = attribute_get (c, "value");

    if (name && value && c->depth > 0) {
        strbuf_adds (c->sb, "<info");
        add_attribute (c->sb, "name", name);
        add_attribute (c->sb, "value", value);
        strbuf_adds (c->sb, "/>\n");
    }
    xmlFree (name);
    xmlFree (value);
    return 0;
}

static int topology_enter (struct cleaning *c)
{
    char *version = attribute_get (c, "version");
    int rc = 0;

    if (version && strcmp (version, "2.0"))
        rc = refuse (c, version, "a version of the format that is not known");
    c->topology = true;
    c->version2 = version != NULL;
    strbuf_adds (c->sb, version ? "<topology version=\"2.0\">\n" : "<topology>\n");
    xmlFree (version);
    return rc;
}

/* 1: skip the element, with its contents. */
static int element_enter (struct cleaning *c)
{
    const char *name = (const char *)xmlTextReaderConstName (c->xml);

    if (!c->topology)
        return strcmp (name, "topology")
                   ? refuse (c, name, "expected <topology>, as lstopo writes it")
                   : topology_enter (c);
    if (!strcmp (name, "object"))
        return object_enter (c);
    if (!strcmp (name, "info"))
        info_enter (c);
    return 1;
}

/* Handles the present node and goes to the next: as xmlTextReaderRead(). */
static int step (struct cleaning *c, int *ret)
{
    int node = xmlTextReaderNodeType (c->xml), rc = 0;

    if (node == XML_READER_TYPE_ELEMENT)
        rc = element_enter (c);
    else if (node == XML_READER_TYPE_END_ELEMENT && c->depth > 0)
        object_leave (c); /* all other elements are skipped */
    *ret = rc > 0 ? xmlTextReaderNext (c->xml) : xmlTextReaderRead (c->xml);
    return MIN (rc, 0);
}

static int not_xml (struct cleaning *c)
{
    const xmlError *e = xmlGetLastError ();
    const char *what = e && e->message ? e->message : "not XML";

    return error_set (c->err, EINVAL, "line %d: %.*s",
                      e ? e->line : xmlTextReaderGetParserLineNumber (c->xml),
                      (int)strcspn (what, "\n"), what);
}

static int clean (struct cleaning *c)
{
    int more = xmlTextReaderRead (c->xml), rc = 0;

    while (rc == 0 && more == 1 && !c->sb->err)
        rc = step (c, &more);
    if (rc < 0)
        return rc;
    if (c->sb->err)
        return error_errno (c->err, -c->sb->err, "topology");
    if (more < 0)
        return not_xml (c);
    if (!c->cpu || (c->nodes && !c->node))
        return error_set (c->err, EINVAL, "the topology has no %s that may be used",
                          c->cpu ? "NUMA node" : "PU");
    strbuf_adds (c->sb, "</topology>\n");
    return c->sb->err ? error_errno (c->err, -c->sb->err, "topology") : 0;
}

int hwloc_xml_clean (const char *text, size_t len, struct strbuf *sb, struct error *err)
{
    struct cleaning c = { .sb = sb, .err = err };

    if (len > HWLOC_XML_MAX)
        return error_set (err, E2BIG, "longer than %d bytes", HWLOC_XML_MAX);
    c.xml =
        xmlReaderForMemory (text, (int)len, NULL, NULL,
                            XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (!c.xml)
        return error_errno (err, ENOMEM, "XML");
    int rc = clean (&c);
    while (c.depth > 0)
        object_release (&c.open[--c.depth]);
    hwloc_bitmap_free (c.allowed_cpus);
    hwloc_bitmap_free (c.allowed_nodes);
    xmlFreeTextReader (c.xml);
    return rc;
}
