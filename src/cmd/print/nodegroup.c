/* nodegroup.c - see nodegroup.h */
#include "cmd/print/nodegroup.h"

/* Adds `more` to the number at key of `to`. */
static void add_number (json_t *to, const char *key, double more)
{
    json_object_set_new (to, key,
                         json_integer ((json_int_t)(answer_number (to, key) + more)));
}

static void add_gres (struct node_group *g, const json_t *node)
{
    const char *name;
    json_t *o;

    json_object_foreach (g->gres ? json_object_get (node, "gres") : NULL, name, o) {
        json_t *sum = json_object_get (g->gres, name);
        if (!sum)
            json_object_set_new (g->gres, name, sum = json_object ());
        add_number (sum, "used",
                    answer_number (o, "used") + answer_number (o, "foreign"));
        add_number (sum, "count", answer_number (o, "count"));
    }
}

bool nodes_have_gres (const json_t *nodes)
{
    for (size_t i = 0; i < json_array_size (nodes); i++)
        if (json_object_size (json_object_get (json_array_get (nodes, i), "gres")) > 0)
            return true;
    return false;
}

void node_group_gres (struct grid *grid, const struct node_group *g)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    const char *name;
    json_t *o;

    json_object_foreach (g->gres, name, o) {
        strbuf_addf (&sb, "%s%s %.0f/%.0f", sb.len ? ", " : "", name,
                     answer_number (o, "used"), answer_number (o, "count"));
    }
    grid_add (grid, "%s", sb.len ? sb.buf : "-");
}

void node_group_add (struct node_group *g, const json_t *node)
{
    add_gres (g, node);
    g->n++;
    /* free cores are whole ones: two halves on different cores do not count */
    g->cores[0] += answer_number (node, "cpu_milli_used") / 1000
                   + answer_number (node, "cores_foreign");
    g->cores[1] += answer_number (node, "cores_free");
    g->cores[2] += answer_number (node, "cores");
    g->memory[0] +=
        answer_number (node, "memory_used") + answer_number (node, "memory_foreign");
    g->memory[1] += answer_number (node, "memory_mib");
    g->gpus[0] +=
        answer_number (node, "gpus_used") + answer_number (node, "gpus_foreign");
    g->gpus[1] += answer_number (node, "gpus");
    if (g->names)
        hostlist_append (g->names, json_text (node, "name"));
}

void node_group_cells (struct grid *grid, const struct node_group *g)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (256);

    grid_add (grid, "%.10g/%.0f/%.0f", g->cores[0], g->cores[1], g->cores[2]);
    add_memory (&sb, g->memory[0]);
    strbuf_adds (&sb, " / ");
    add_memory (&sb, g->memory[1]);
    grid_add (grid, "%s", sb.buf);
    if (g->gpus[1] > 0)
        grid_add (grid, "%.0f/%.0f", g->gpus[0], g->gpus[1]);
    else
        grid_add (grid, "-");
}
