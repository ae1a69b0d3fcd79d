/* topology.c - see topology.h */
#include "exec/topology.h"

#define NODES_MAX 1000000
#define LABEL_MAX 317 /* limit of Kubernetes: prefix, '/' and name */

struct reading {
    const struct yaml_doc *doc;
    const char *section;
    enum topology_kind kind;
    struct error *err;
};

static const char *teller (const struct reading *r)
{
    return r->kind == TOPOLOGY_LABELS ? "label" : "nodes";
}

static int check_keys (const struct reading *r, json_t *entry)
{
    const char *key;
    json_t *v;

    json_object_foreach (entry, key, v) {
        if (strcmp (key, "level") != 0 && strcmp (key, teller (r)) != 0)
            return yaml_error (r->doc, entry, key, r->err,
                               "%s.topology: unknown key '%s' (level and %s are known)",
                               r->section, key, teller (r));
    }
    return 0;
}

static int read_name (const struct reading *r, json_t *entry, const struct topology *t,
                      struct topology_level *level)
{
    const char *name = json_string_value (json_object_get (entry, "level"));

    if (!name || !machine_level_is_valid (name))
        return yaml_error (r->doc, entry, "level", r->err,
                           "%s.topology: level: expected a name such as zone or rack, of "
                           "letters, digits, - and _, that means nothing else (as node, "
                           "core or slot do)",
                           r->section);
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp (t->level[i].name, name))
            return yaml_error (r->doc, entry, "level", r->err,
                               "%s.topology: level %s is listed twice", r->section, name);
    level->name = strdup (name);
    return level->name ? 0 : error_set (r->err, ENOMEM, "out of memory");
}

static int read_label (const struct reading *r, json_t *entry,
                       struct topology_level *level)
{
    const char *label = json_string_value (json_object_get (entry, "label"));

    if (!label || !*label || strlen (label) > LABEL_MAX)
        return yaml_error (
            r->doc, entry, "label", r->err,
            "%s.topology: label: expected the node label that names the %s", r->section,
            level->name);
    level->label = strdup (label);
    return level->label ? 0 : error_set (r->err, ENOMEM, "out of memory");
}

static int read_nodes (const struct reading *r, json_t *entry,
                       struct topology_level *level)
{
    json_t *v = json_object_get (entry, "nodes");

    level->nodes = json_integer_value (v);
    if (!json_is_integer (v) || level->nodes < 1 || level->nodes > NODES_MAX)
        return yaml_error (r->doc, entry, "nodes", r->err,
                           "%s.topology: nodes: expected how many are in one %s, from 1 "
                           "to %d",
                           r->section, level->name, NODES_MAX);
    return 0;
}

static int read_level (const struct reading *r, json_t *entry, struct topology *t)
{
    struct topology_level *level = &t->level[t->n];

    if (!json_is_object (entry))
        return yaml_error (r->doc, entry, NULL, r->err,
                           "%s.topology: expected a list of {level: NAME, %s: ...}",
                           r->section, teller (r));
    int rc = check_keys (r, entry);
    if (rc == 0)
        rc = read_name (r, entry, t, level);
    if (rc < 0)
        return rc;
    t->n++;
    return r->kind == TOPOLOGY_LABELS ? read_label (r, entry, level)
                                      : read_nodes (r, entry, level);
}

int topology_read (const struct yaml_doc *doc, json_t *config, const char *section,
                   enum topology_kind kind, struct topology *ret, struct error *err)
{
    const struct reading r = { doc, section, kind, err };
    json_t *list = json_object_get (config, "topology"), *entry;
    size_t i;

    *ret = (struct topology){ 0 };
    if (!list)
        return 0;
    if (!json_is_array (list) || json_array_size (list) > MACHINE_LEVELS_MAX)
        return yaml_error (doc, config, "topology", err,
                           "%s.topology: expected a list of at most %d levels, the "
                           "outermost first",
                           section, MACHINE_LEVELS_MAX);
    json_array_foreach (list, i, entry) {
        int rc = read_level (&r, entry, ret);
        if (rc < 0)
            return rc;
    }
    return 0;
}

void topology_release (struct topology *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free (t->level[i].name);
        free (t->level[i].label);
    }
    *t = (struct topology){ 0 };
}
