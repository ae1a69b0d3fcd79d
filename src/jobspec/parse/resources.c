/* resources.c - the tree of resource vertices of a jobspec (RFC 14), by the rules for
 * users or by the general ones
 */
#include <errno.h>
#include <string.h>

#include "jobspec/attributes/text.h"
#include "jobspec/jobspec_private.h"

struct reader {
    bool general; /* see jobspec_parse_resources() */
    size_t nvertices;
    struct error *err;
};

/* -- vertices -- */

static int parse_vertex (struct reader *rd, const json_t *v, const struct place *at,
                         unsigned depth, bool in_slot, struct jobspec_resource *r);

/* "core", "rdma/hca", "gpu:a100" */
static bool is_type (const char *s)
{
    char plain[256];

    snprintf (plain, sizeof (plain), "%s", s);
    for (char *c = plain; (c = strchr (c, ':'));)
        *c = '_';
    return s[0] != ':' && text_is_name (plain) && strlen (s) < sizeof (plain);
}

/* Read the children. After an error *ret and the count have the children read so far. */
static int parse_list (struct reader *rd, const json_t *list, const struct place *at,
                       unsigned depth, bool in_slot, struct jobspec_resource **ret,
                       size_t *ret_count)
{
    size_t n = json_array_size (list);

    if (!json_is_array (list))
        return jobspec_fail (rd->err, at, "expected a list, got %s",
                             json_type_name (list));
    if (n == 0)
        return jobspec_fail (rd->err, at, "must have at least one resource");
    if (depth > JOBSPEC_DEPTH_MAX)
        return jobspec_fail (rd->err, at, "more than %d levels", JOBSPEC_DEPTH_MAX);
    rd->nvertices += n;
    if (rd->nvertices > JOBSPEC_VERTICES_MAX)
        return jobspec_fail (rd->err, at, "more than %d resources in all",
                             JOBSPEC_VERTICES_MAX);
    struct jobspec_resource *r = calloc (n, sizeof (*r));
    if (!r)
        return error_no_memory (rd->err, "jobspec");
    *ret = r;
    *ret_count = n;
    for (size_t i = 0; i < n; i++) {
        struct place here = { at, NULL, i };
        int rc =
            parse_vertex (rd, json_array_get (list, i), &here, depth, in_slot, &r[i]);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int take_string (struct reader *rd, const json_t *v, const struct place *at,
                        bool name, char **ret)
{
    const char *s = json_string_value (v);
    autofree char *number = NULL;

    /* In YAML a label can look like a number. */
    if (rd->general && json_is_number (v) && !name
        && !(s = number = json_dumps (v, JSON_ENCODE_ANY)))
        return error_no_memory (rd->err, "jobspec");
    if (!s)
        return jobspec_fail (rd->err, at, "expected a string, got %s",
                             json_type_name (v));
    if ((!number && strlen (s) != json_string_length (v))
        || !(name ? is_type (s) : text_is_line (s, 255)))
        return jobspec_fail (rd->err, at, "'%.64s' is not a %s", s,
                             name ? "name of a resource type"
                                  : "text of 1 to 255 bytes in a line");
    *ret = strdup (s);
    return *ret ? 0 : error_no_memory (rd->err, "jobspec");
}

static int take_exclusive (struct reader *rd, const json_t *v, const struct place *at,
                           enum jobspec_tristate *ret)
{
    const char *s = rd->general ? json_string_value (v) : NULL;

    if (!json_is_boolean (v) && !(s && (!strcmp (s, "true") || !strcmp (s, "false"))))
        return jobspec_fail (rd->err, at, "expected true or false, got %s",
                             json_type_name (v));
    *ret = json_is_true (v) || (s && s[0] == 't') ? JOBSPEC_TRUE : JOBSPEC_FALSE;
    return 0;
}

/* The matcher checks the contents of `requires`. */
static int take_requires (struct reader *rd, json_t *v, const struct place *at,
                          struct jobspec_resource *r)
{
    if (!json_is_object (v))
        return jobspec_fail (rd->err, at, "expected an object, got %s",
                             json_type_name (v));
    r->requires = v;
    return 0;
}

static int vertex_key (struct reader *rd, const char *key, json_t *value,
                       const struct place *at, struct jobspec_resource *r)
{
    struct place here = { at, key, 0 };

    if (!strcmp (key, "type"))
        return take_string (rd, value, &here, true, &r->type);
    if (!strcmp (key, "unit"))
        return take_string (rd, value, &here, false, &r->unit);
    if (!strcmp (key, "label"))
        return take_string (rd, value, &here, false, &r->label);
    if (!strcmp (key, "count"))
        return jobspec_parse_count (value, rd->general, &here, r, rd->err);
    if (!strcmp (key, "with"))
        return 0; /* read later, because the valid children depend on the type */
    if (!strcmp (key, "id"))
        return jobspec_fail (rd->err, &here,
                             "asking for resources by id is not supported by fluxq");
    if (!strcmp (key, "exclusive"))
        return take_exclusive (rd, value, &here, &r->exclusive);
    if (rd->general && !strcmp (key, "requires"))
        return take_requires (rd, value, &here, r);
    return jobspec_fail (rd->err, &here, "unknown key");
}

static int check_memory (struct reader *rd, const struct jobspec_resource *r,
                         const struct place *at)
{
    struct place unit = { at, "unit", 0 }, count = { at, "count", 0 };
    int64_t mib;

    switch (jobspec_memory_mib (r->unit, r->count.min, &mib)) {
    case 0:
        return 0;
    case -ERANGE:
        return jobspec_fail (rd->err, &count, "more memory than 2^40 MiB");
    default:
        return jobspec_fail (rd->err, &unit,
                             "'%.16s' is not a unit of memory (MiB, GiB, MB, ...)",
                             r->unit);
    }
}

/* Check a vertex; slot: it is a slot of any kind. The general rules allow empty slots,
 * slots in slots and any unit of memory. */
static int check_vertex (struct reader *rd, const struct jobspec_resource *r,
                         const struct place *at, bool slot, bool in_slot, bool with)
{
    if (!r->type || r->count.min == 0)
        return jobspec_fail (rd->err, at, "the key '%s' is missing",
                             r->type ? "count" : "type");
    if (rd->general)
        return slot && !r->label
                   ? jobspec_fail (rd->err, at, "a slot needs the key 'label'")
                   : 0;
    if (slot && in_slot)
        return jobspec_fail (rd->err, at, "a slot inside a slot");
    if (slot && (!r->label || !with))
        return jobspec_fail (rd->err, at, "a slot needs the key '%s'",
                             r->label ? "with" : "label");
    return !strcmp (r->type, "memory") ? check_memory (rd, r, at) : 0;
}

static bool is_slot (const struct reader *rd, const struct jobspec_resource *r)
{
    if (!r->type)
        return false;
    return !strcmp (r->type, "slot")
           || (rd->general
               && (!strcmp (r->type, "or_slot") || !strcmp (r->type, "xor_slot")));
}

static int parse_vertex (struct reader *rd, const json_t *v, const struct place *at,
                         unsigned depth, bool in_slot, struct jobspec_resource *r)
{
    struct place with_at = { at, "with", 0 };
    const json_t *with;
    const char *key;
    json_t *value;

    r->exclusive = JOBSPEC_UNSET;
    if (!json_is_object (v))
        return jobspec_fail (rd->err, at, "expected an object, got %s",
                             json_type_name (v));
    json_object_foreach ((json_t *)v, key, value) {
        int rc = vertex_key (rd, key, value, at, r);

        if (rc < 0)
            return rc;
    }
    with = json_object_get (v, "with");
    if (check_vertex (rd, r, at, is_slot (rd, r), in_slot, with != NULL) < 0)
        return -EINVAL;
    if (!with)
        return 0;
    return parse_list (rd, with, &with_at, depth + 1, in_slot || is_slot (rd, r),
                       &r->with, &r->nwith);
}

/* -- labels -- */

struct labels {
    const char *label[JOBSPEC_VERTICES_MAX];
    size_t n;
};

static void collect_labels (const struct jobspec_resource *r, size_t n, struct labels *l)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i].label)
            l->label[l->n++] = r[i].label;
        collect_labels (r[i].with, r[i].nwith, l);
    }
}

static int compare_labels (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static int check_labels (const struct jobspec_resource *r, size_t n, struct error *err)
{
    struct place at = { NULL, "resources", 0 };
    struct labels l = { .n = 0 };

    collect_labels (r, n, &l);
    qsort (l.label, l.n, sizeof (l.label[0]), compare_labels);
    for (size_t i = 1; i < l.n; i++) {
        if (!strcmp (l.label[i - 1], l.label[i]))
            return jobspec_fail (err, &at, "two have the label '%.64s'", l.label[i]);
    }
    return 0;
}

/* -- the tree -- */

int jobspec_parse_resources (const json_t *list, bool general,
                             struct jobspec_resource **ret, size_t *ret_n,
                             struct error *err)
{
    struct place at = { NULL, "resources", 0 };
    struct reader rd = { .general = general, .err = err };
    int rc = parse_list (&rd, list, &at, 1, false, ret, ret_n);

    return rc < 0 || general ? rc : check_labels (*ret, *ret_n, err);
}

void jobspec_release_resources (struct jobspec_resource *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        jobspec_release_resources (r[i].with, r[i].nwith);
        free (r[i].type);
        free (r[i].unit);
        free (r[i].label);
        idset_destroy (r[i].sizes);
    }
    free (r);
}

static const struct jobspec_resource *find_slot (const struct jobspec_resource *r,
                                                 size_t n, const char *label)
{
    for (size_t i = 0; i < n; i++) {
        const struct jobspec_resource *found;

        if (!strcmp (r[i].type, "slot") && !strcmp (r[i].label, label))
            return &r[i];
        found = find_slot (r[i].with, r[i].nwith, label);
        if (found)
            return found;
    }
    return NULL;
}

const struct jobspec_resource *jobspec_find_slot (const struct jobspec *js,
                                                  const char *label)
{
    return find_slot (js->resources, js->nresources, label);
}

/* -- other names -- */

static int rename_types (struct jobspec_resource *r, size_t n, json_t *list,
                         jobspec_name_f *name, void *arg)
{
    int changed = 0;

    for (size_t i = 0; i < n && changed >= 0; i++) {
        json_t *o = json_array_get (list, i);
        const char *other = name (r[i].type, arg);
        char *copy = other ? strdup (other) : NULL;
        if (other
            && (!copy || json_object_set_new (o, "type", json_string (other)) < 0)) {
            free (copy);
            return -ENOMEM;
        }
        if (copy) {
            free (r[i].type);
            r[i].type = copy;
            changed = 1;
        }
        int below =
            rename_types (r[i].with, r[i].nwith, json_object_get (o, "with"), name, arg);
        changed = below < 0 ? below : changed | below;
    }
    return changed;
}

int jobspec_rename (struct jobspec *js, jobspec_name_f *name, void *arg)
{
    return rename_types (js->resources, js->nresources,
                         json_object_get (js->root, "resources"), name, arg);
}
