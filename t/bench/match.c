/* match.c - the costs of a decision of the matcher, separately: parse, decide and write
 *
 *     bench-match [--only TEXT] [--times N] [--policy NAME] [--scale] [--policies] [--stream JOBS] [--one GRAPH REQUEST]
 *
 * Prints a table with one line for each graph and request; see t/bench/match. --scale prints
 * the series over 2^8 .. 2^17 nodes for the plot. --one decides N times and prints nothing,
 * for counting instructions (of the function bench_decide()). Times are medians of --times
 * decisions; the booking is cancelled in between, outside the measured time.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jobspec/jobspec.h"
#include "match/search/search.h"
#include "match/writers/writer.h"
#include "measure.h"

#define HOUR 3600
#define RARE "big" /* the property of the last RARE_NODES nodes */
#define RARE_NODES 16

/* -- time and memory -- */

static double now_us (void)
{
    return measure_us (CLOCK_MONOTONIC);
}

static void die (const char *what, const char *why)
{
    fprintf (stderr, "bench-match: %s: %s\n", what, why);
    exit (1);
}

/* -- graphs -- */

struct machine_shape {
    const char *name;
    uint32_t racks; /* 0: nodes are directly below the cluster */
    uint32_t nodes; /* in total */
    uint32_t sockets;
    uint32_t cores, gpus; /* cores of a socket, or of a node; GPUs of a node */
};

static const struct machine_shape machines[] = {
    { "256", 0, 256, 0, 32, 0 },       { "4320", 240, 4320, 2, 22, 4 },
    { "4096", 256, 4096, 0, 32, 4 },   { "16384", 1024, 16384, 0, 32, 4 },
    { "100000", 0, 100000, 0, 36, 4 },
};

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int64_t id,
                     uint32_t count, int32_t rank, bool leaf)
{
    struct graph_spec spec = {
        .type = type, .id = id, .count = count, .uniq = -1, .rank = rank, .leaf = leaf
    };
    struct error err;
    uint32_t v = graph_add (g, parent, &spec, &err);
    if (v == GRAPH_NONE)
        die ("graph", err.text);
    return v;
}

static void add_node (struct graph *g, uint32_t parent, const struct machine_shape *m,
                      uint32_t i)
{
    uint32_t node = add (g, parent, "node", i, 1, (int32_t)i, false);

    for (uint32_t s = 0; s < m->sockets; s++) {
        uint32_t socket = add (g, node, "socket", s, 1, -1, false);
        add (g, socket, "core", s * m->cores, m->cores, -1, true);
    }
    if (m->nodes - i <= RARE_NODES)
        graph_set_property (g, node, 0, RARE, "");
    if (m->sockets == 0)
        add (g, node, "core", 0, m->cores, -1, true);
    if (m->gpus > 0)
        add (g, node, "gpu", 0, m->gpus, -1, true);
}

static struct graph *make_graph (const struct machine_shape *m)
{
    struct graph *g = graph_create ();
    uint32_t cluster = g ? add (g, GRAPH_NONE, "cluster", 0, 1, -1, false) : 0, rack = 0;

    if (!g)
        die ("graph", "no memory");
    for (uint32_t i = 0; i < m->nodes; i++) {
        if (m->racks > 0 && i % (m->nodes / m->racks) == 0)
            rack = add (g, cluster, "rack", i / (m->nodes / m->racks), 1, -1, false);
        add_node (g, m->racks > 0 ? rack : cluster, m, i);
    }
    return g;
}

/* -- requests -- */

struct request {
    const char *name, *resources;
    const char *property; /* property of the nodes, or NULL */
};

#define CORES(n) "{\"type\":\"core\",\"count\":" #n "}"
#define SLOT(n, with)                                                                    \
    "{\"type\":\"slot\",\"count\":" #n ",\"label\":\"task\",\"with\":[" with "]}"
#define NODES(n, with) "{\"type\":\"node\",\"count\":" #n ",\"with\":[" with "]}"
#define WHOLE(n)                                                                         \
    "{\"type\":\"node\",\"count\":" #n                                                   \
    ",\"exclusive\":true,\"with\":[" SLOT (1, CORES (1)) "]}"

static const struct request requests[] = {
    { "1 core", SLOT (1, CORES (1)), NULL },
    { "1 core in a node", NODES (1, SLOT (1, CORES (1))), NULL },
    { "1 node", WHOLE (1), NULL },
    { "64 nodes", WHOLE (64), NULL },
    { "1,024 nodes", WHOLE (1024), NULL },
    { "64 x (8c+1g)", SLOT (64, CORES (8) ",{\"type\":\"gpu\",\"count\":1}"), NULL },
    { "8 slots in a rack",
      "{\"type\":\"rack\",\"count\":1,\"with\":[" NODES (8, SLOT (1, CORES (4))) "]}",
      NULL },
    { "1 node, rare property", WHOLE (1), RARE },
};

static char *jobspec_text (const struct request *r)
{
    char constraints[128] = "", *text = NULL;

    if (r->property)
        snprintf (constraints, sizeof (constraints),
                  ",\"constraints\":{\"properties\":[\"%s\"]}", r->property);
    if (asprintf (
            &text,
            "{\"version\":1,\"resources\":[%s],\"tasks\":[{\"command\":[\"true\"],"
            "\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":"
            "{\"duration\":3600%s}}}",
            r->resources, constraints)
        < 0)
        die ("request", "no memory");
    return text;
}

static struct shape *parse (const char *text)
{
    struct error err;
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);
    struct shape *s =
        js ? shape_compile (js->resources, js->nresources, js->constraints, 0, &err)
           : NULL;
    if (!s)
        die ("request", err.text);
    jobspec_destroy (js);
    return s;
}

/* -- a decision -- */

__attribute__ ((noinline)) static int bench_decide (struct planner *p, enum search_op op,
                                                    uint64_t job, const struct shape *s,
                                                    int64_t duration,
                                                    struct selection **ret)
{
    struct error why;
    return search_match (p, op, job, s, 0, duration, ret, &why);
}

struct figures {
    double parse, decide, write;
    int rc;
};

static double timed_write (const struct graph *g, const struct selection *s,
                           const struct shape *shape)
{
    struct match_writer_options opt = { .shape = shape, .end = HOUR };
    struct strbuf sb;
    double t = now_us ();

    strbuf_init (&sb, 1 << 28);
    if (match_writer_find ("rv1_nosched")->write (g, s, &opt, &sb) < 0)
        die ("write", "failed");
    t = now_us () - t;
    strbuf_release (&sb);
    return t;
}

static struct figures measure (struct planner *p, const struct request *r, int times,
                               enum search_op op)
{
    double *d = calloc (3 * (size_t)times, sizeof (*d));
    double *w = d + times, *q = w + times;
    char *text = jobspec_text (r);
    struct figures f = { 0 };

    for (int i = 0; i < times; i++) {
        struct selection *sel = NULL;
        double t = now_us ();
        struct shape *s = parse (text);
        q[i] = now_us () - t;
        t = now_us ();
        f.rc = bench_decide (p, op, 1u << 30, s, HOUR, &sel);
        d[i] = now_us () - t;
        w[i] = sel ? timed_write (planner_graph (p), sel, s) : NAN;
        selection_destroy (sel);
        if (f.rc == 0)
            planner_cancel (p, 1u << 30);
        shape_destroy (s);
    }
    f.decide = measure_quantile (d, (size_t)times, 0.5);
    f.write = f.rc == 0 ? measure_quantile (w, (size_t)times, 0.5) : NAN;
    f.parse = measure_quantile (q, (size_t)times, 0.5);
    free (d);
    free (text);
    return f;
}

static const char *only;

static bool wanted (const char *graph, const char *request)
{
    char both[256];
    snprintf (both, sizeof (both), "%s: %s", graph, request);
    return !only || strstr (both, only);
}

static void print_figures (const char *graph, const char *request, const char *policy,
                           const struct figures *f)
{
    printf ("%-8s %-28s %-10s %9.2f %9.2f", graph, request, policy, f->parse, f->decide);
    if (f->rc == 0)
        printf (" %9.2f\n", f->write);
    else
        printf (" %9s\n", f->rc == -EBUSY    ? "busy"
                          : f->rc == -ENODEV ? "never"
                                             : "error");
    fflush (stdout);
}

static struct planner *new_planner (struct graph *g, const char *policy)
{
    const struct match_policy *m = match_policy_find (policy);
    struct planner *p = m ? planner_create (g, m, &(struct planner_options){ 0 }) : NULL;
    if (!p)
        die (policy, "no such policy");
    return p;
}

/* -- a full machine, and one with jobs on it -- */

static void book (struct planner *p, const struct request *r, int64_t duration,
                  uint64_t from, int most)
{
    char *text = jobspec_text (r);
    struct shape *s = parse (text);

    for (int i = 0; i < most; i++) {
        struct selection *sel = NULL;
        int rc = bench_decide (p, SEARCH_ALLOCATE, from + (uint64_t)i, s,
                               duration + 60 * (int64_t)(i % 1000), &sel);
        selection_destroy (sel);
        if (rc < 0)
            break;
    }
    shape_destroy (s);
    free (text);
}

static void full_machine (const struct machine_shape *m, struct graph *g,
                          const char *policy, int times)
{
    struct planner *p = new_planner (g, policy);
    struct figures f;
    char all[256];

    snprintf (all, sizeof (all),
              "{\"type\":\"node\",\"count\":%u,\"exclusive\":true,\"with\":["
              "{\"type\":\"slot\",\"count\":1,\"label\":\"task\",\"with\":["
              "{\"type\":\"core\",\"count\":1}]}]}",
              m->nodes / 1000 ? m->nodes / 1000 : 1);
    book (p, &(struct request){ .resources = all }, HOUR, 1, 2000);
    book (p, &requests[2], HOUR, 5000, (int)m->nodes);
    const struct request fails[] = { { "1 core, full machine", requests[0].resources,
                                       NULL },
                                     { "64 nodes, full machine", WHOLE (64), NULL } };
    for (size_t i = 0; i < 2; i++) {
        if (!wanted (m->name, fails[i].name))
            continue;
        f = measure (p, &fails[i], times, SEARCH_ALLOCATE);
        print_figures (m->name, fails[i].name, policy, &f);
    }
    const struct request later = { "64 nodes, earliest start", WHOLE (64), NULL };
    if (wanted (m->name, later.name)) {
        f = measure (p, &later, times, SEARCH_ALLOCATE_ORELSE_RESERVE);
        print_figures (m->name, later.name, policy, &f);
    }
    planner_destroy (p);
}

/* Jobs have all nodes with the property, and no others. */
static void rare_nodes (const struct machine_shape *m, struct graph *g,
                        const char *policy, int times)
{
    static const struct request none = { "1 node, rare, all busy", WHOLE (1), RARE },
                                later = { "8 nodes, rare, earliest", WHOLE (8), RARE },
                                one = { "", WHOLE (1), RARE };
    struct planner *p = new_planner (g, policy);
    struct figures f;

    book (p, &one, HOUR, 1, RARE_NODES);
    if (wanted (m->name, none.name)) {
        f = measure (p, &none, times, SEARCH_ALLOCATE);
        print_figures (m->name, none.name, policy, &f);
    }
    if (wanted (m->name, later.name)) {
        f = measure (p, &later, times, SEARCH_ALLOCATE_ORELSE_RESERVE);
        print_figures (m->name, later.name, policy, &f);
    }
    planner_destroy (p);
}

/* -- streams -- */

static uint32_t draw (uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(*seed >> 33);
}

static void stream (const struct machine_shape *m, struct graph *g, const char *policy,
                    int jobs)
{
    struct planner *p = new_planner (g, policy);
    double *d = calloc ((size_t)jobs, sizeof (*d)), sum = 0;
    struct shape *shapes[8];
    static const char *const mix[8] = { SLOT (1, CORES (1)),
                                        NODES (1, SLOT (4, CORES (4))),
                                        WHOLE (1),
                                        WHOLE (16),
                                        WHOLE (64),
                                        WHOLE (256),
                                        NODES (8, SLOT (1, CORES (32))),
                                        SLOT (16, CORES (2)) };
    uint64_t seed = 42;
    size_t failed = 0;

    for (int i = 0; i < 8; i++) {
        char *text = jobspec_text (&(struct request){ .resources = mix[i] });
        shapes[i] = parse (text);
        free (text);
    }
    bench_decide (p, SEARCH_SATISFIABILITY, 1, shapes[0], HOUR,
                  NULL); /* builds the indexes */
    for (int i = 0; i < jobs; i++) {
        struct selection *sel = NULL;
        struct shape *s = shapes[draw (&seed) % 8];
        int64_t duration = 600 + draw (&seed) % (12 * HOUR);
        double t = now_us ();
        int rc = bench_decide (p, SEARCH_ALLOCATE_ORELSE_RESERVE, (uint64_t)i + 1, s,
                               duration, &sel);
        d[i] = now_us () - t;
        sum += d[i];
        failed += rc < 0;
        selection_destroy (sel);
    }
    printf ("%-8s %d mixed jobs, reserved: %.1f ms in all, p50 %.1f us, p95 %.1f us, p99 "
            "%.1f us, max %.1f us; %zu not placed; %.1f MB\n",
            m->name, jobs, sum / 1e3, measure_quantile (d, (size_t)jobs, 0.5),
            measure_quantile (d, (size_t)jobs, 0.95),
            measure_quantile (d, (size_t)jobs, 0.99),
            measure_quantile (d, (size_t)jobs, 1.0), failed,
            (double)(graph_memory (g) + planner_memory (p)) / 1e6);
    fflush (stdout);
    for (int i = 0; i < 8; i++)
        shape_destroy (shapes[i]);
    free (d);
    planner_destroy (p);
}

/* 10,000 jobs wait; one running job ends, and all waiting jobs are planned again in
 * order. */
static void replan (const struct machine_shape *m, struct graph *g, const char *policy,
                    int jobs)
{
    struct planner *p = new_planner (g, policy);
    size_t started = 0;

    const struct request four = { .resources = WHOLE (4) };
    char *text = jobspec_text (&four);
    struct shape *s = parse (text);

    book (p, &four, HOUR, 1, (int)m->nodes);
    planner_cancel (p, 7);
    double t = now_us ();
    for (int i = 0; i < jobs; i++) {
        struct selection *sel = NULL;
        if (bench_decide (p, SEARCH_ALLOCATE, 100000 + (uint64_t)i, s, HOUR, &sel) == 0)
            started++;
        selection_destroy (sel);
    }
    t = now_us () - t;
    printf ("%-8s %d queued jobs tried again after one ended: %.2f ms in all, %.2f us a "
            "job; %zu started\n",
            m->name, jobs, t / 1e3, t / jobs, started);
    fflush (stdout);
    shape_destroy (s);
    free (text);
    planner_destroy (p);
}

/* -- all -- */

static void on_machine (const struct machine_shape *m, const char *policy, int times)
{
    double t = now_us ();
    struct graph *g = make_graph (m);
    double built = now_us () - t;
    struct planner *p = new_planner (g, policy);
    size_t memory = graph_memory (g);

    for (size_t i = 0; i < sizeof (requests) / sizeof (requests[0]); i++) {
        if (!wanted (m->name, requests[i].name))
            continue;
        struct figures f = measure (p, &requests[i], times, SEARCH_ALLOCATE);
        print_figures (m->name, requests[i].name, policy, &f);
    }
    memory += planner_memory (p);
    planner_destroy (p);
    full_machine (m, g, policy, times);
    rare_nodes (m, g, policy, times);
    if (wanted (m->name, "graph"))
        printf ("%-8s graph: built in %.1f ms, %" PRIu64 " vertices, %.1f MB (%.0f bytes "
                "each)\n",
                m->name, built / 1e3, graph_unit_count (g), (double)memory / 1e6,
                (double)memory / (double)graph_unit_count (g));
    if (m->racks == 256 && wanted (m->name, "mixed"))
        stream (m, g, policy, 1000);
    if (m->racks == 256 && wanted (m->name, "queued"))
        replan (m, g, policy, 10000);
    graph_destroy (g);
}

static void scale (const char *policy, int times)
{
    static const struct request rows[] = { { "1 core", SLOT (1, CORES (1)), NULL },
                                           { "1 node", WHOLE (1), NULL },
                                           { "64 nodes", WHOLE (64), NULL } };

    printf ("# nodes");
    for (size_t i = 0; i < 3; i++)
        printf ("\t%s", rows[i].name);
    printf ("\tus a decision\n");
    for (uint32_t nodes = 1 << 8; nodes <= 1 << 17; nodes *= 2) {
        struct machine_shape m = { "", nodes / 16, nodes, 0, 32, 4 };
        struct graph *g = make_graph (&m);
        struct planner *p = new_planner (g, policy);
        printf ("%u", nodes);
        for (size_t i = 0; i < 3; i++) {
            struct figures f = measure (p, &rows[i], times, SEARCH_ALLOCATE);
            printf ("\t%.2f", f.decide);
        }
        printf ("\n");
        fflush (stdout);
        planner_destroy (p);
        graph_destroy (g);
    }
}

static void one (const char *graph, const char *request, const char *policy, int times)
{
    for (size_t i = 0; i < sizeof (machines) / sizeof (machines[0]); i++) {
        if (strcmp (machines[i].name, graph) != 0)
            continue;
        struct graph *g = make_graph (&machines[i]);
        struct planner *p = new_planner (g, policy);
        for (size_t r = 0; r < sizeof (requests) / sizeof (requests[0]); r++)
            if (!strcmp (requests[r].name, request))
                measure (p, &requests[r], times, SEARCH_ALLOCATE);
        planner_destroy (p);
        graph_destroy (g);
    }
}

static void every_policy (int times)
{
    struct graph *g = make_graph (&machines[2]);

    for (size_t i = 0; match_policies[i]; i++) {
        struct planner *p = new_planner (g, match_policies[i]->name);
        for (size_t r = 0; r < sizeof (requests) / sizeof (requests[0]); r++) {
            struct figures f = measure (p, &requests[r], times, SEARCH_ALLOCATE);
            print_figures (machines[2].name, requests[r].name, match_policies[i]->name,
                           &f);
        }
        planner_destroy (p);
    }
    graph_destroy (g);
}

int main (int argc, char *argv[])
{
    const char *policy = "first";
    int times = 201;

    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp (argv[i], "--only") && more)
            only = argv[++i];
        else if (!strcmp (argv[i], "--times") && more)
            times = (int)strtol (argv[++i], NULL, 10);
        else if (!strcmp (argv[i], "--policy") && more)
            policy = argv[++i];
        else if (!strcmp (argv[i], "--policies")) {
            every_policy (times);
            return 0;
        } else if (!strcmp (argv[i], "--scale")) {
            scale (policy, times);
            return 0;
        } else if (!strcmp (argv[i], "--stream") && more) {
            struct graph *g = make_graph (&machines[2]);
            stream (&machines[2], g, policy, (int)strtol (argv[i + 1], NULL, 10));
            graph_destroy (g);
            return 0;
        } else if (!strcmp (argv[i], "--one") && i + 2 < argc) {
            one (argv[i + 1], argv[i + 2], policy, times);
            return 0;
        } else
            die (argv[i], "unknown argument; see the head of match.c");
    }
    printf ("%-8s %-28s %-10s %9s %9s %9s\n", "graph", "request", "policy", "parse us",
            "decide us", "write us");
    for (size_t i = 0; i < sizeof (machines) / sizeof (machines[0]); i++)
        on_machine (&machines[i], policy, times);
    return 0;
}
