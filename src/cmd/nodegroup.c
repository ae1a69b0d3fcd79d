/* nodegroup.c - see nodegroup.h */
#include "cmd/nodegroup.h"

void node_group_add (struct node_group *g, const json_t *node)
{
    g->n++;
    g->cores[0] +=
        answer_number (node, "cores_used") + answer_number (node, "cores_foreign");
    g->cores[1] += answer_number (node, "cores_free");
    g->cores[2] += answer_number (node, "cores");
    g->memory[0] +=
        answer_number (node, "memory_used") + answer_number (node, "memory_foreign");
    g->memory[1] += answer_number (node, "memory_mib");
    g->gpus[0] +=
        answer_number (node, "gpus_used") + answer_number (node, "gpus_foreign");
    g->gpus[1] += answer_number (node, "gpus");
    if (g->names)
        hostlist_append (g->names, answer_text (node, "name"));
}

void node_group_cells (struct grid *grid, const struct node_group *g)
{
    struct strbuf sb;

    strbuf_init (&sb, 256);
    grid_add (grid, "%.0f/%.0f/%.0f", g->cores[0], g->cores[1], g->cores[2]);
    add_memory (&sb, g->memory[0]);
    strbuf_adds (&sb, " / ");
    add_memory (&sb, g->memory[1]);
    grid_add (grid, "%s", sb.buf);
    if (g->gpus[1] > 0)
        grid_add (grid, "%.0f/%.0f", g->gpus[0], g->gpus[1]);
    else
        grid_add (grid, "-");
    strbuf_release (&sb);
}
