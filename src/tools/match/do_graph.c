/* do_graph.c - attach, remove, properties and status: changes of the graph itself */
#include <inttypes.h>

#include "common/idset.h"
#include "common/io.h"
#include "tools/match/commands.h"
#include "tools/match/paths.h"

/* -- attach -- */

void do_attach (struct session *s, int argc, char **argv)
{
    const struct match_reader_options ropt = { .subsystem = s->opt->subsystems[0] };
    const struct match_reader *reader = match_reader_find ("jgf");
    autostrbuf struct strbuf text = STRBUF_INIT (MATCH_READER_TEXT_MAX);
    struct error err = { 0 };

    (void)argc;
    if (io_read_file (argv[1], &text, MATCH_READER_TEXT_MAX, &err) < 0) {
        session_complain ("can't open %s", err.text);
        return;
    }
    if (reader->attach (s->graph, text.buf, text.len, &ropt, &err) < 0)
        session_complain ("can't attach %s: %s", argv[1], err.text);
    planner_changed (s->planner, GRAPH_NONE);
}

/* -- remove -- */

/* Gives back what is in `part`, whichever job has it. */
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

/* Adds the vertex (one unit, or all with GRAPH_NONE) and all below it. */
static int add_whole (const struct graph *g, struct selection *part, uint32_t v,
                      uint32_t unit)
{
    bool all = unit == GRAPH_NONE;
    struct pick *pick = selection_add (part, g, v, all ? 0 : unit,
                                       all ? graph_vertex (g, v)->n : 1, GRAPH_NONE);

    if (!pick)
        return -ENOMEM;
    pick->exclusive = pick->claimed = true;
    GRAPH_CHILDREN (g, v, child)
    {
        if (add_whole (g, part, child, GRAPH_NONE) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Takes away what jobs have there. */
static int remove_booked (struct session *s, uint32_t v, uint32_t unit, struct error *err)
{
    autoselection struct selection *part = selection_create ();
    int rc = part ? add_whole (s->graph, part, v, unit) : -ENOMEM;

    if (rc == 0)
        rc = selection_complete (part, s->graph);
    if (rc == 0)
        rc = release (s, part);
    if (rc < 0)
        return error_set (err, -rc, "%s", strerror (-rc));
    return unit == GRAPH_NONE ? graph_remove (s->graph, v, err)
                              : graph_remove_unit (s->graph, v, unit, err);
}

static int remove_path (struct session *s, const char *path, struct error *err)
{
    uint32_t v, unit;

    if (graph_find_path (s->graph, path, &v, &unit) < 0)
        return error_set (err, ENOENT, "%s: no such path", path);
    return remove_booked (s, v, unit, err);
}

/* Checks that all ranks exist before the first one is removed. */
static int remove_ranks (struct session *s, const char *text, struct error *err)
{
    struct idset *ranks = idset_decode (text, GRAPH_VERTICES_MAX, err);
    int rc = 0;

    if (!ranks)
        return -EINVAL;
    uint32_t rank = idset_first (ranks);
    for (; rc == 0 && rank != IDSET_END; rank = idset_next (ranks, rank))
        if (graph_find_rank (s->graph, (int32_t)rank) == GRAPH_NONE)
            rc = error_set (err, ENOENT, "no vertex has rank %u", rank);
    for (rank = idset_first (ranks); rc == 0 && rank != IDSET_END;
         rank = idset_next (ranks, rank))
        rc = remove_booked (s, graph_find_rank (s->graph, (int32_t)rank), GRAPH_NONE,
                            err);
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

/* 0, or -ENOENT or -ENOMEM after a message. missing: the subject of "%s in resource
 * graph". */
static int find_paths (const struct session *s, const char *path, const char *missing,
                       struct paths *ret)
{
    int rc = paths_find (ret, s->graph, path);

    if (rc == -ENOENT)
        fprintf (s->out, "%s find path %s in resource graph.\n", missing, path);
    else if (rc < 0)
        session_complain ("%s: %s", path, strerror (-rc));
    return rc;
}

void do_set_property (struct session *s, int argc, char **argv)
{
    char *equals = strchr (argv[2], '=');
    struct paths at;

    (void)argc;
    if (!equals || equals == argv[2] || !equals[1]) {
        fputs ("Incorrect input format. \n"
               "Please use `set-property <resource> PROPERTY=VALUE`.\n",
               s->out);
        return;
    }
    if (find_paths (s, argv[1], "Couldn't", &at) < 0)
        return;
    *equals = '\0';
    for (size_t i = 0; i < at.n; i++) {
        const struct path_place *p = &at.found[i];
        int rc = graph_set_property (s->graph, p->v, p->unit, argv[2], equals + 1);
        if (rc < 0)
            session_complain ("%s: %s: %s", argv[1], argv[2], strerror (-rc));
        planner_changed (s->planner, p->v);
    }
    paths_release (&at);
}

static void print_properties (const struct session *s, const char *path, uint32_t v,
                              uint32_t unit)
{
    const char *key, *value;
    size_t n = 0;

    for (; graph_property_at (s->graph, v, unit, n, &key, &value); n++)
        fprintf (s->out, "%s=%s\n", key, value);
    if (n == 0)
        fprintf (s->out, "No properties were found for %s (vtx's uniq_id=%" PRId64 ").\n",
                 path, graph_vertex (s->graph, v)->uniq + unit);
}

void do_get_property (struct session *s, int argc, char **argv)
{
    struct paths at;

    (void)argc;
    if (find_paths (s, argv[1], "Could not", &at) < 0)
        return;
    for (size_t i = 0; i < at.n; i++)
        print_properties (s, argv[1], at.found[i].v, at.found[i].unit);
    paths_release (&at);
}

/* -- status -- */

void do_set_status (struct session *s, int argc, char **argv)
{
    bool down = !strcmp (argv[2], "down"), known = down || !strcmp (argv[2], "up");
    struct paths at;

    (void)argc;
    if (find_paths (s, argv[1], "Could not", &at) < 0)
        return;
    if (!known)
        session_complain ("unrecognized status");
    for (size_t i = 0; known && i < at.n; i++) {
        const struct path_place *p = &at.found[i];
        int rc = graph_set_flag (s->graph, p->v, p->unit, GRAPH_DOWN, down);
        if (rc < 0)
            session_complain ("%s: %s", argv[1], strerror (-rc));
        planner_changed (s->planner, p->v);
    }
    paths_release (&at);
}

void do_get_status (struct session *s, int argc, char **argv)
{
    struct paths at;

    (void)argc;
    if (find_paths (s, argv[1], "Could not", &at) < 0)
        return;
    for (size_t i = 0; i < at.n; i++)
        fprintf (s->out, "%s is %s\n", argv[1],
                 graph_is_up (s->graph, at.found[i].v, at.found[i].unit) ? "up" : "down");
    paths_release (&at);
}
