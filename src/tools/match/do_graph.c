/* do_graph.c - attach, remove, properties and status: changes of the graph itself */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/idset.h"
#include "common/io.h"
#include "tools/match/commands.h"

/* -- attach -- */

void do_attach (struct session *s, int argc, char **argv)
{
    const struct match_reader_options ropt = { .subsystem = s->opt->subsystems[0] };
    const struct match_reader *reader = match_reader_find ("jgf");
    autostrbuf struct strbuf text;
    struct error err = { 0 };

    (void)argc;
    strbuf_init (&text, MATCH_READER_TEXT_MAX);
    if (io_read_file (argv[1], &text, MATCH_READER_TEXT_MAX, &err) < 0) {
        session_complain ("can't open %s", err.text);
        return;
    }
    if (reader->attach (s->graph, text.buf, text.len, &ropt, &err) < 0)
        session_complain ("can't attach %s: %s", argv[1], err.text);
    planner_changed (s->planner, GRAPH_NONE);
}

/* -- remove -- */

/* What lies in `part` is given back, whoever has it. */
static int release (struct session *s, const struct selection *part)
{
    for (struct job_info *job = jobs_first (s->jobs); job; job = jobs_next (job)) {
        bool empty = false;
        int rc = job->state == JOB_CANCELED
                     ? 0
                     : planner_cancel_part (s->planner, job->id, part, &empty);
        if (rc < 0)
            return rc;
        if (empty)
            job_info_cancel (job);
    }
    return 0;
}

static int add_whole (const struct graph *g, struct selection *part, uint32_t v)
{
    struct pick *pick = selection_add (part, g, v, 0, graph_vertex (g, v)->n, GRAPH_NONE);

    if (!pick)
        return -ENOMEM;
    pick->exclusive = pick->claimed = true;
    GRAPH_CHILDREN (g, v, child)
    {
        if (add_whole (g, part, child) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* What jobs have there, they lose. */
static int remove_booked (struct session *s, uint32_t v, struct error *err)
{
    autoselection struct selection *part = selection_create ();
    int rc = part ? add_whole (s->graph, part, v) : -ENOMEM;

    if (rc == 0)
        rc = selection_complete (part, s->graph);
    if (rc == 0)
        rc = release (s, part);
    if (rc < 0)
        return error_set (err, -rc, "%s", strerror (-rc));
    return graph_remove (s->graph, v, err);
}

static int remove_path (struct session *s, const char *path, struct error *err)
{
    uint32_t v, unit;

    if (graph_find_path (s->graph, path, &v, &unit) < 0)
        return error_set (err, ENOENT, "%s: no such path", path);
    return remove_booked (s, v, err);
}

/* All ranks must be there before the first goes. */
static int remove_ranks (struct session *s, const char *text, struct error *err)
{
    struct idset *ranks = idset_decode (text, err);
    int rc = 0;

    if (!ranks)
        return -EINVAL;
    IDSET_FOREACH (ranks, rank)
    {
        if (graph_find_rank (s->graph, (int32_t)rank) == GRAPH_NONE)
            rc = error_set (err, ENOENT, "no vertex has rank %u", rank);
    }
    IDSET_FOREACH (ranks, rank)
    {
        if (rc == 0)
            rc = remove_booked (s, graph_find_rank (s->graph, (int32_t)rank), err);
    }
    idset_destroy (ranks);
    return rc;
}

void do_remove (struct session *s, int argc, char **argv)
{
    struct error err = { 0 };
    int rc;

    (void)argc;
    if (!strcmp (argv[2], "true")) {
        rc = remove_path (s, argv[1], &err);
    } else if (!strcmp (argv[2], "false")) {
        rc = remove_ranks (s, argv[1], &err);
    } else {
        session_complain ("%s: expected true (a path) or false (ranks)", argv[2]);
        return;
    }
    if (rc < 0)
        session_complain ("can't remove subgraph: %s", err.text);
    planner_changed (s->planner, GRAPH_NONE);
}

/* -- properties -- */

void do_set_property (struct session *s, int argc, char **argv)
{
    char *equals = strchr (argv[2], '=');
    uint32_t v, unit;

    (void)argc;
    if (!equals || equals == argv[2] || !equals[1]) {
        fputs ("Incorrect input format. \n"
               "Please use `set-property <resource> PROPERTY=VALUE`.\n",
               s->out);
        return;
    }
    if (graph_find_path (s->graph, argv[1], &v, &unit) < 0) {
        fprintf (s->out, "Couldn't find path %s in resource graph.\n", argv[1]);
        return;
    }
    *equals = '\0';
    int rc = graph_set_property (s->graph, v, unit, argv[2], equals + 1);
    if (rc < 0)
        session_complain ("%s: %s", argv[2], strerror (-rc));
    planner_changed (s->planner, v);
}

/* 0, or -ENOENT after a line. */
static int find_path (const struct session *s, const char *path, uint32_t *v,
                      uint32_t *unit)
{
    int rc = graph_find_path (s->graph, path, v, unit);

    if (rc < 0)
        fprintf (s->out, "Could not find path %s in resource graph.\n", path);
    return rc;
}

void do_get_property (struct session *s, int argc, char **argv)
{
    const char *key, *value;
    uint32_t v, unit;
    size_t n = 0;

    (void)argc;
    if (find_path (s, argv[1], &v, &unit) < 0)
        return;
    for (; graph_property_at (s->graph, v, unit, n, &key, &value); n++)
        fprintf (s->out, "%s=%s\n", key, value);
    if (n == 0)
        fprintf (s->out, "No properties were found for %s (vtx's uniq_id=%" PRId64 ").\n",
                 argv[1], graph_vertex (s->graph, v)->uniq + unit);
}

/* -- status -- */

void do_set_status (struct session *s, int argc, char **argv)
{
    bool down = !strcmp (argv[2], "down");
    uint32_t v, unit;

    (void)argc;
    if (find_path (s, argv[1], &v, &unit) < 0)
        return;
    if (!down && strcmp (argv[2], "up") != 0) {
        session_complain ("unrecognized status");
        return;
    }
    int rc = graph_set_flag (s->graph, v, unit, GRAPH_DOWN, down);
    if (rc < 0)
        session_complain ("%s: %s", argv[1], strerror (-rc));
    planner_changed (s->planner, v);
}

void do_get_status (struct session *s, int argc, char **argv)
{
    uint32_t v, unit;

    (void)argc;
    if (find_path (s, argv[1], &v, &unit) == 0)
        fprintf (s->out, "%s is %s\n", argv[1],
                 graph_is_up (s->graph, v, unit) ? "up" : "down");
}
