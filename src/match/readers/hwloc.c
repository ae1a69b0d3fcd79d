/* hwloc.c - format "hwloc": the topology of one machine, XML as written by lstopo
 *
 * The cluster contains the machine as a node (if the text has its HostName), and the node
 * contains what hwloc found, in its order: groups, NUMA nodes, packages (as "socket"),
 * caches, cores, PUs, gpus and block devices. A vertex that is not in the list of types
 * is left out, and what is below it moves up.
 *
 *     cluster0 --> corona116 --> socket0 --> core0..23, storage0, gpu0..3
 *
 * libhwloc makes the topology from the text alone: it does not look at this machine.
 */

#include <hwloc.h>
#include <libxml/xmlerror.h>

#include "common/parse.h"
#include "match/readers/hostname.h"
#include "match/readers/hwloc_xml.h"
#include "match/readers/reader.h"

#define KB_PER_GB 1000000

/* -- the text -- */

static int topology_configure (hwloc_topology_t topo)
{
    int rc = hwloc_topology_set_io_types_filter (topo, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);

    if (rc == 0)
        rc = hwloc_topology_set_cache_types_filter (topo,
                                                    HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    if (rc == 0)
        rc = hwloc_topology_set_icache_types_filter (topo,
                                                     HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    return rc;
}

PRINTF_LIKE (2, 3) static void ignore (void *ctx, const char *fmt, ...)
{
    (void)ctx;
    (void)fmt;
}

/* libxml2 reports some errors by a global function, too, which prints to standard error
 * by default. libhwloc sets one of a plugin, which it unloads with the topology. */
static void topology_release (hwloc_topology_t topo)
{
    hwloc_topology_destroy (topo);
    xmlSetGenericErrorFunc (NULL, ignore);
}

/* The caller destroys the topology. */
static int topology_load (const struct strbuf *xml, hwloc_topology_t *ret,
                          struct error *err)
{
    hwloc_topology_t topo;

    if (hwloc_topology_init (&topo) < 0)
        return error_errno (err, ENOMEM, "topology");
    if (topology_configure (topo) < 0
        || hwloc_topology_set_xmlbuffer (topo, xml->buf, (int)xml->len) < 0
        || hwloc_topology_load (topo) < 0) {
        topology_release (topo);
        return error_set (err, EINVAL,
                          "libhwloc %x does not accept the topology: was it written by "
                          "lstopo?",
                          hwloc_get_api_version ());
    }
    *ret = topo;
    return 0;
}

/* -- from objects to vertices -- */

struct load {
    struct graph *g;
    hwloc_topology_t topo;
    const struct match_reader_options *opt;
    struct idset *gpus; /* ids in use */
    uint32_t next_gpu;  /* all ids below it are in use */
    struct error *err;
};

/* The vertex that an object becomes. */
struct found {
    const char *type, *basename, *name;
    int64_t id, size;
    const char *device; /* of storage, or NULL */
    char base[HOSTNAME_BASE_SIZE];
};

static const struct plain {
    hwloc_obj_type_t object;
    const char *allow; /* its name in the list of types */
    const char *type, *basename;
    bool cache; /* size in KiB */
} plains[] = {
    { HWLOC_OBJ_GROUP, "group", "group", "group", false },
    { HWLOC_OBJ_NUMANODE, "numanode", "numanode", "numanode", false },
    { HWLOC_OBJ_PACKAGE, "socket", "socket", "socket", false },
    { HWLOC_OBJ_L1CACHE, "L1cache", "cache", "L1cache", true },
    { HWLOC_OBJ_L2CACHE, "L2cache", "cache", "L2cache", true },
    { HWLOC_OBJ_L3CACHE, "L3cache", "cache", "L3cache", true },
    { HWLOC_OBJ_CORE, "core", "core", "core", false },
    { HWLOC_OBJ_PU, "pu", "pu", "pu", false },
};

static bool is_wanted (const struct load *l, const char *type)
{
    const char *const *t = l->opt ? l->opt->types : NULL;

    if (!t || !*t)
        return true;
    for (; *t; t++) {
        if (!strcmp (*t, type))
            return true;
    }
    return false;
}

/* 1: the object becomes a vertex; 0: not; negative errno. */
static int look_at_machine (struct load *l, hwloc_obj_t obj, struct found *f)
{
    f->name = hwloc_obj_get_info_by_name (obj, "HostName");
    if (!f->name || !is_wanted (l, "node"))
        return 0;
    f->type = "node";
    f->basename = f->base;
    int rc = hostname_split (f->name, f->base, &f->id, l->err);
    return rc < 0 ? rc : 1;
}

static int look_at_plain (const struct load *l, hwloc_obj_t obj, struct found *f)
{
    for (size_t i = 0; i < ARRAY_SIZE (plains); i++) {
        const struct plain *p = &plains[i];
        if (p->object != obj->type || !is_wanted (l, p->allow))
            continue;
        f->type = p->type;
        f->basename = p->basename;
        if (p->cache && obj->attr)
            f->size = (int64_t)(obj->attr->cache.size / 1024);
        return 1;
    }
    return 0;
}

/* True for a device that drivers run programs on: "cuda0", "rsmi1", "opencl0d2". */
static bool is_gpu (hwloc_obj_t obj)
{
    return obj->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC
           || (obj->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU && obj->name
               && !strncmp (obj->name, "rsmi", 4));
}

/* Several drivers may know one PCI device; the first one counts. */
static bool is_told_before (hwloc_obj_t obj)
{
    if (!obj->parent || obj->parent->type != HWLOC_OBJ_PCI_DEVICE)
        return false;
    for (hwloc_obj_t o = obj->prev_sibling; o; o = o->prev_sibling) {
        if (o->type == HWLOC_OBJ_OS_DEVICE && o->attr && is_gpu (o))
            return true;
    }
    return false;
}

/* The number in the driver's name of it; else hwloc's own. */
static int64_t gpu_number (hwloc_obj_t obj)
{
    static const char *const drivers[] = { "cuda", "rsmi" };
    const char *digits = NULL;
    int64_t n;

    for (size_t i = 0; obj->name && i < ARRAY_SIZE (drivers); i++) {
        if (!strncmp (obj->name, drivers[i], strlen (drivers[i])))
            digits = obj->name + strlen (drivers[i]);
    }
    if (obj->name && !strncmp (obj->name, "opencl", 6)) { /* platform, "d", device */
        digits = strchr (obj->name + 6, 'd');
        digits = digits ? digits + 1 : NULL;
    }
    if (digits && parse_int (digits, 0, INT32_MAX, &n, "gpu", NULL) == 0)
        return n;
    return (int64_t)obj->logical_index;
}

/* Ids of gpus are consecutive in a node, as R lists them by node. */
static int look_at_gpu (struct load *l, hwloc_obj_t obj, struct found *f)
{
    if (!is_wanted (l, "gpu") || is_told_before (obj))
        return 0;
    uint32_t id = (uint32_t)gpu_number (obj);
    if (idset_has (l->gpus, id)) {
        while (idset_has (l->gpus, l->next_gpu))
            l->next_gpu++;
        id = l->next_gpu;
    }
    if (idset_add (l->gpus, id) < 0)
        return error_errno (l->err, ENOMEM, "gpu%u", id);
    f->type = f->basename = "gpu";
    f->id = id;
    return 1;
}

/* Size in GB. A device without a known size is left out. */
static int look_at_storage (const struct load *l, hwloc_obj_t obj, struct found *f)
{
    const char *kb = hwloc_obj_get_info_by_name (obj, "Size");
    int64_t n;

    if (!is_wanted (l, "storage") || !kb
        || parse_int (kb, KB_PER_GB, GRAPH_SIZE_MAX, &n, "Size", NULL) < 0)
        return 0;
    f->type = f->basename = "storage";
    f->size = n / KB_PER_GB;
    f->device = hwloc_obj_get_info_by_name (obj, "LinuxDeviceID");
    f->device = f->device ? f->device : "-1";
    return 1;
}

static int look_at (struct load *l, hwloc_obj_t obj, struct found *f)
{
    *f = (struct found){ .id = (int64_t)obj->logical_index, .size = 1 };
    if (obj->type == HWLOC_OBJ_MACHINE)
        return look_at_machine (l, obj, f);
    if (obj->type != HWLOC_OBJ_OS_DEVICE)
        return look_at_plain (l, obj, f);
    if (!obj->attr)
        return 0;
    if (is_gpu (obj))
        return look_at_gpu (l, obj, f);
    if (obj->attr->osdev.type == HWLOC_OBJ_OSDEV_BLOCK)
        return look_at_storage (l, obj, f);
    return 0;
}

/* -- the walk -- */

static uint32_t add_found (struct load *l, const struct found *f, uint32_t parent,
                           bool leaf)
{
    const char *const properties[] = { "LinuxDeviceID", f->device, NULL };
    struct graph_spec spec = { .type = f->type,
                               .basename = f->basename,
                               .name = f->name,
                               .id = f->id,
                               .size = f->size,
                               .uniq = -1,
                               .rank = f->name ? 0 : -1,
                               .leaf = leaf,
                               .properties = f->device ? properties : NULL };

    return graph_add (l->g, parent, &spec, l->err);
}

/* True if nothing below it becomes a vertex: then there can only be PUs, below a core. */
static bool is_leaf (const struct load *l, hwloc_obj_t obj)
{
    return obj->type == HWLOC_OBJ_PU || obj->type == HWLOC_OBJ_OS_DEVICE
           || (obj->type == HWLOC_OBJ_CORE && !is_wanted (l, "pu")
               && obj->memory_arity + obj->io_arity + obj->misc_arity == 0);
}

static int load_object (struct load *l, hwloc_obj_t obj, uint32_t parent)
{
    struct found f;
    int rc = look_at (l, obj, &f);

    if (rc < 0)
        return rc;
    if (rc > 0) {
        parent = add_found (l, &f, parent, is_leaf (l, obj));
        if (parent == GRAPH_NONE)
            return l->err->code ? -l->err->code : -EINVAL;
    }
    rc = 0;
    for (hwloc_obj_t c = NULL;
         rc == 0 && (c = hwloc_get_next_child (l->topo, obj, c)) != NULL;)
        rc = load_object (l, c, parent);
    return rc;
}

static int load_topology (struct load *l)
{
    struct graph_spec cluster = { .type = "cluster", .uniq = -1, .rank = -1 };
    uint32_t root = graph_add (l->g, GRAPH_NONE, &cluster, l->err);

    if (root == GRAPH_NONE)
        return l->err->code ? -l->err->code : -EINVAL;
    if (!(l->gpus = idset_create ()))
        return error_errno (l->err, ENOMEM, "topology");
    int rc = load_object (l, hwloc_get_root_obj (l->topo), root);
    idset_destroy (l->gpus);
    return rc;
}

static int hwloc_read (struct graph *g, const char *text, size_t len,
                       const struct match_reader_options *opt, struct error *err)
{
    struct error own = { 0 };
    struct load l = { .g = g, .opt = opt, .err = err ? err : &own };
    autostrbuf struct strbuf xml = STRBUF_INIT (HWLOC_XML_MAX);

    xmlSetGenericErrorFunc (NULL, ignore);
    int rc = hwloc_xml_clean (text, len, &xml, l.err);
    if (rc == 0)
        rc = topology_load (&xml, &l.topo, l.err);
    if (rc == 0) {
        rc = load_topology (&l);
        topology_release (l.topo);
    }
    if (rc < 0)
        error_prefix (l.err, "hwloc");
    return rc;
}

const struct match_reader match_reader_hwloc = {
    .name = "hwloc",
    .summary = "the topology of one machine, XML as lstopo writes it",
    .read = hwloc_read,
};
