/* gantt.c - see gantt.h */
#include "tools/sim/gantt.h"

#include "tools/sim/svg.h"

#define WIDTH 1060
#define HEIGHT 700
#define LABELS_MAX 24
#define GOLDEN_ANGLE 137 /* degrees: gives neighbours different colours */

static const struct svg_frame frame = { 90, 50, 940, 600 };

struct box {
    uint64_t id, first, n; /* cores, numbered through all nodes */
    double start, end;
};

struct gantt {
    const struct machine *machine;
    uint64_t *offset; /* of a node's first core, by its index */
    uint64_t cores;
    struct box *boxes;
    size_t n;
    uint64_t left_out; /* jobs */
    double left_out_from;
};

static bool number_cores (struct gantt *g)
{
    struct machine_node_info info;
    size_t nodes = 0;

    for (int i = machine_node_next (g->machine, -1); i >= 0;
         i = machine_node_next (g->machine, i))
        nodes = MAX (nodes, (size_t)i + 1);
    if (!(g->offset = calloc (nodes + 1, sizeof (*g->offset))))
        return false;
    for (int i = machine_node_next (g->machine, -1); i >= 0;
         i = machine_node_next (g->machine, i)) {
        machine_node_info (g->machine, i, &info);
        g->offset[i] = g->cores;
        g->cores += info.cores;
    }
    return true;
}

struct gantt *gantt_create (const struct machine *machine)
{
    struct gantt *g = calloc (1, sizeof (*g));

    if (!g)
        return NULL;
    g->machine = machine;
    g->boxes = calloc (GANTT_BOXES, sizeof (*g->boxes));
    if (g->boxes && number_cores (g))
        return g;
    gantt_destroy (g);
    return NULL;
}

void gantt_destroy (struct gantt *g)
{
    if (!g)
        return;
    free (g->offset);
    free (g->boxes);
    free (g);
}

/* false: no room left. */
static bool add_core (struct gantt *g, size_t first_box, const struct sim_start *s,
                      uint64_t core)
{
    struct box *last = g->n > first_box ? &g->boxes[g->n - 1] : NULL;

    if (last && last->first + last->n == core) {
        last->n++;
        return true;
    }
    if (g->n == GANTT_BOXES)
        return false;
    g->boxes[g->n++] = (struct box){ s->id, core, 1, s->start, s->end };
    return true;
}

static bool add_job (struct gantt *g, const struct sim_start *s)
{
    size_t first_box = g->n;

    for (size_t i = 0; i < s->r->nranks; i++) {
        const struct rset_rank *rank = &s->r->ranks[i];
        for (uint32_t core = idset_first (rank->cores); core != IDSET_END;
             core = idset_next (rank->cores, core)) {
            if (!add_core (g, first_box, s, g->offset[rank->node_index] + core)) {
                g->n = first_box;
                return false;
            }
        }
    }
    return true;
}

void gantt_add (struct gantt *g, const struct sim_start *s)
{
    if (g->left_out == 0 && add_job (g, s))
        return;
    if (g->left_out++ == 0)
        g->left_out_from = s->start;
}

/* -- drawing -- */

static void add_nodes (const struct gantt *g, struct strbuf *sb)
{
    size_t nodes = machine_node_count (g->machine), i = 0;
    size_t step = (nodes + LABELS_MAX - 1) / LABELS_MAX;
    struct machine_node_info info;

    for (int k = machine_node_next (g->machine, -1); k >= 0;
         k = machine_node_next (g->machine, k), i++) {
        if (i % step != 0)
            continue;
        machine_node_info (g->machine, k, &info);
        double y = frame.y + frame.height * (double)g->offset[k] / (double)g->cores;
        svg_line (sb, frame.x - 4, y, frame.x, y);
        svg_text (sb, frame.x - 6, y + 11, SVG_RIGHT, "%s", info.name);
    }
}

static void add_box (const struct gantt *g, const struct box *b, double makespan,
                     struct strbuf *sb)
{
    double x = frame.width / makespan, y = frame.height / (double)g->cores;
    char fill[32];

    snprintf (fill, sizeof (fill), "hsl(%u,60%%,%u%%)",
              (unsigned)(b->id * GOLDEN_ANGLE % 360), (unsigned)(50 + b->id % 3 * 10));
    svg_box (sb, frame.x + b->start * x, frame.y + (double)b->first * y,
             (b->end - b->start) * x, (double)b->n * y, fill,
             "job %ju: %.10g s to %.10g s", (uintmax_t)b->id, b->start, b->end);
}

int gantt_write (const struct gantt *g, double makespan, const char *title,
                 const char *path, struct error *err)
{
    struct strbuf sb;

    svg_begin (&sb, WIDTH, HEIGHT, title);
    svg_text (&sb, WIDTH / 2.0, 22, SVG_MIDDLE, "%s", title);
    for (size_t i = 0; i < g->n && makespan > 0; i++)
        add_box (g, &g->boxes[i], makespan, &sb);
    add_nodes (g, &sb);
    svg_time_axis (&sb, &frame, makespan);
    if (g->left_out > 0)
        svg_text (&sb, WIDTH / 2.0, 40, SVG_MIDDLE,
                  "%ju jobs that start from %.10g s on are left out: more than %d boxes",
                  (uintmax_t)g->left_out, g->left_out_from, GANTT_BOXES);
    return svg_write (&sb, path, err);
}
