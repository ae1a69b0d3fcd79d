/* topology.h - the setting "topology:" of an executor: the levels of its nodes' places
 *
 *     topology:                                                   # the outermost first
 *       - {level: zone, label: topology.kubernetes.io/zone}
 *       - {level: rack, label: example.org/rack}
 *
 *     rc = topology_read (doc, section, name, TOPOLOGY_LABELS, &t, &err);
 *     t.level[0].name                       // "zone"
 *     topology_release (&t);
 *
 * The executor finds a node's place at a level: by a node label, or by counting nodes.
 */
#pragma once

#include "common/yaml.h"
#include "match/machine/machine.h"

enum topology_kind {
    TOPOLOGY_LABELS, /* {level: NAME, label: TEXT} */
    /* {level: NAME, nodes: COUNT}: consecutive nodes of each place, 1 to 1,000,000 */
    TOPOLOGY_NODES,
};

struct topology {
    struct topology_level {
        char *name, *label; /* label: or NULL */
        int64_t nodes;      /* or 0 */
    } level[MACHINE_LEVELS_MAX];
    size_t n;
};

/* Reads the key "topology" of the mapping `config` (or NULL) of that section. 0 (*ret is
 * empty without the key), -EINVAL with line and column, -ENOMEM; release *ret in any
 * case. */
int topology_read (const struct yaml_doc *doc, json_t *config, const char *section,
                   enum topology_kind kind, struct topology *ret, struct error *err);
void topology_release (struct topology *t);
