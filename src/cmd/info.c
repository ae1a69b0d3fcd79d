/* info.c - fluxq-info: lists the nodes, with used and free resources
 */

#include "cmd/print/nodegroup.h"
#include "cmd/show/info_topology.h"
#include "cmd/show/show.h"

#include "common/json.h"

enum { LONG = 1, TOPOLOGY, LICENSES, NODES, QUEUE, JSON };

static const struct option_desc options[] = {
    { "long", 'N', NULL, "one line for each node", LONG, false, NULL },
    { "topology", 'T', NULL, "the tree of zones, racks, ... with the resources in each",
      TOPOLOGY, false, NULL },
    { "licenses", 'L', NULL, "the licenses of the site, in place of the nodes", LICENSES,
      false, NULL },
    { "nodes", 'n', "NAMES", "only these nodes: node[1-3]", NODES, false, NULL },
    { "queue", 'q', "NAME", "only nodes that jobs of this queue may use", QUEUE, false,
      NULL },
    { "json", 0, NULL, "the broker's answer in JSON", JSON, false, NULL },
    OPTION_END,
};

#define GROUPS_MAX 16

static void show_groups (const json_t *nodes)
{
    static const char *const headings[] = {
        "STATE", ">NODES",  ">CORES(used/free/all)", ">MEMORY(used/all)",
        ">GPUS", "NODELIST"
    };
    static const char *const with_gres[] = {
        "STATE", ">NODES",  ">CORES(used/free/all)", ">MEMORY(used/all)", ">GPUS",
        "GRES",  "NODELIST"
    };
    bool gres = nodes_have_gres (nodes);
    struct node_group groups[GROUPS_MAX] = { 0 };
    struct grid grid;
    size_t n = 0;

    for (size_t i = 0; i < json_array_size (nodes); i++) {
        const json_t *node = json_array_get (nodes, i);
        size_t k = 0;
        while (k < n && strcmp (groups[k].state, node_state (node)) != 0)
            k++;
        if (k == n && n < GROUPS_MAX)
            groups[n++] = (struct node_group){ .state = node_state (node),
                                               .names = hostlist_create (),
                                               .gres = json_object () };
        if (k < n)
            node_group_add (&groups[k], node);
    }
    grid_init (&grid, gres ? with_gres : headings,
               gres ? ARRAY_SIZE (with_gres) : ARRAY_SIZE (headings));
    for (size_t k = 0; k < n; k++) {
        autofree char *names = groups[k].names ? hostlist_encode (groups[k].names) : NULL;
        grid_add (&grid, "%s", groups[k].state);
        grid_add (&grid, "%zu", groups[k].n);
        node_group_cells (&grid, &groups[k]);
        if (gres)
            node_group_gres (&grid, &groups[k]);
        grid_add (&grid, "%s", names ? names : "?");
        hostlist_destroy (groups[k].names);
        json_decref (groups[k].gres);
    }
    grid_print (&grid, stdout);
    grid_release (&grid);
}

static void show_each (const json_t *nodes)
{
    static const char *const headings[] = {
        "NODE", "STATE", ">CORES(used/free/all)", ">MEMORY(used/all)", ">GPUS",
        "JOBS", "REASON"
    };
    static const char *const with_gres[] = {
        "NODE", "STATE", ">CORES(used/free/all)", ">MEMORY(used/all)", ">GPUS", "GRES",
        "JOBS", "REASON"
    };
    bool gres = nodes_have_gres (nodes);
    struct grid grid;
    autostrbuf struct strbuf jobs = STRBUF_INIT (1 << 20);

    grid_init (&grid, gres ? with_gres : headings,
               gres ? ARRAY_SIZE (with_gres) : ARRAY_SIZE (headings));
    for (size_t i = 0; i < json_array_size (nodes); i++) {
        const json_t *node = json_array_get (nodes, i);
        struct node_group one = { .names = NULL, .gres = json_object () };
        strbuf_reset (&jobs);
        if (json_object_get (node, "jobs"))
            answer_add_numbers (&jobs, json_object_get (node, "jobs"));
        else
            strbuf_addf (&jobs, "%.0f of them", answer_number (node, "njobs"));
        node_group_add (&one, node);
        grid_add (&grid, "%s", json_text (node, "name"));
        grid_add (&grid, "%s", node_state (node));
        node_group_cells (&grid, &one);
        if (gres)
            node_group_gres (&grid, &one);
        json_decref (one.gres);
        grid_add (&grid, "%s", jobs.len ? jobs.buf : "-");
        grid_add (&grid, "%s", json_text (node, "reason"));
    }
    grid_print (&grid, stdout);
    grid_release (&grid);
}

static void show_licenses (const json_t *licenses)
{
    static const char *const headings[] = { "LICENSE", ">TOTAL", ">USED", ">FREE" };
    const json_t *license;
    struct grid grid;
    size_t i;

    grid_init (&grid, headings, ARRAY_SIZE (headings));
    json_array_foreach (licenses, i, license) {
        grid_add (&grid, "%s", json_text (license, "name"));
        grid_add (&grid, "%.0f", answer_number (license, "total"));
        grid_add (&grid, "%.0f", answer_number (license, "used"));
        grid_add (&grid, "%.0f", answer_number (license, "free"));
    }
    grid_print (&grid, stdout);
    grid_release (&grid);
}

static int run (struct cmd *c)
{
    struct option_match m;
    bool each = false, json = false, tree = false, licenses = false;
    const char *names = NULL, *queue = NULL;
    autostrbuf struct strbuf target = STRBUF_INIT (1 << 20);
    json_t *o;

    while (cmd_next (c, &m) > 0) {
        switch (m.desc ? m.desc->id : CMD_OPERAND) {
        case LONG:
            each = true;
            break;
        case TOPOLOGY:
            tree = true;
            break;
        case LICENSES:
            licenses = true;
            break;
        case JSON:
            json = true;
            break;
        case NODES:
            names = m.value;
            break;
        case QUEUE:
            queue = m.value;
            break;
        default:
            cmd_usage (c, "'%s': unexpected argument", m.value);
        }
    }
    if (c->ended)
        return c->status;
    if (licenses && (names || queue || tree || each))
        return cmd_usage (c, "--licenses lists no nodes: it goes with --json only");
    strbuf_adds (&target, licenses ? "/v1/licenses" : "/v1/nodes");
    target_add (&target, "names", names);
    target_add (&target, "queue", queue);
    if (cmd_get (c, target.buf, &o) != CMD_OK)
        return c->status;
    if (json) {
        print_json (o);
    } else if (licenses) {
        show_licenses (json_object_get (o, "licenses"));
    } else if (tree) {
        show_topology (json_object_get (o, "nodes"));
    } else if (each) {
        show_each (json_object_get (o, "nodes"));
    } else {
        show_groups (json_object_get (o, "nodes"));
    }
    json_decref (o);
    return CMD_OK;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command command_info = {
    .name = "info",
    .summary = "List nodes, with their used and free resources",
    .usage = usage,
    .options = options,
    .notes = "States: idle, mixed (some cores free), allocated, draining (drained, but "
             "jobs still run),\ndrained, down, resv (idle, in a reservation), maint "
             "(idle, in maintenance).\n",
    .run = run,
};
