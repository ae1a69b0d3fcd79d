/* main.c - fluxq-match: the matcher at a prompt and in a pipe
 *
 *     options -> session (the graph is loaded) -> commands, line by line -> dump
 */
#include <inttypes.h>
#include <stdio.h>

#include "tools/match/dump.h"
#include "tools/match/options.h"
#include "tools/match/prompt.h"
#include "tools/match/session.h"
#include "tools/tool.h"

static int fail (const struct error *err)
{
    fflush (stdout);
    fprintf (stderr, "fluxq-match: %s\n", err->text);
    return 1;
}

static uint64_t count_edges (const struct session *s)
{
    uint64_t n = graph_unit_count (s->graph);
    struct graph_edge edge;

    n -= n > 0;
    for (const char *const *name = s->opt->subsystems; *name; name++) {
        for (size_t i = 0; graph_edge_at (s->graph, *name, i, &edge); i++)
            n++;
    }
    return n;
}

static void print_loaded (const struct session *s)
{
    printf ("INFO: Graph Load Time: %g\n"
            "INFO: Vertex Count: %" PRIu64 "\n"
            "INFO: Edge Count: %" PRIu64 "\n"
            "INFO: Graph Memory: %zu\n",
            s->load_time, graph_unit_count (s->graph), count_edges (s),
            graph_memory (s->graph));
    fflush (stdout);
}

static int run (const struct options *o)
{
    struct error err = { 0 };
    struct session s;
    int status = 0;

    if (session_open (&s, o, &err) < 0)
        return fail (&err);
    if (o->times)
        print_loaded (&s);
    prompt_run (&s);
    if (o->dump_base) {
        puts ("INFO: Write the target graph of the matcher...");
        if (dump_graph (&s, &err) < 0)
            status = fail (&err);
    }
    if (session_close (&s, &err) < 0)
        status = fail (&err);
    return status;
}

int main (int argc, char **argv)
{
    struct options o;
    int status = options_parse (&o, argc, argv);

    if (status == TOOL_GO)
        status = run (&o);
    options_release (&o);
    return status;
}
