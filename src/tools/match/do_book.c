/* do_book.c - update, cancel, partial-cancel: bookings changed without a match */
#include "common/clock.h"
#include "common/io.h"
#include "common/json.h"
#include "common/parse.h"
#include "tools/match/commands.h"
#include "tools/match/output.h"

static bool parse_job (const char *text, uint64_t *ret)
{
    struct error err = { 0 };
    int64_t id;

    if (parse_int (text, 0, INT64_MAX - 1, &id, "job id", &err) < 0) {
        session_complain ("%s", err.text);
        return false;
    }
    *ret = (uint64_t)id;
    return true;
}

/* Finds a reader; the command decides where which one is allowed. */
static const struct match_reader *find_reader (const char *name,
                                               const char *const *allowed)
{
    const struct match_reader *reader = NULL;

    for (; *allowed; allowed++) {
        if (!strcmp (*allowed, name))
            reader = match_reader_find (name);
    }
    if (!reader || !reader->read_selection) {
        session_complain ("unsupported reader %s", name);
        return NULL;
    }
    return reader;
}

/* True if a graph in JGF has edges of the session's tree. */
static bool tells_tree (const struct session *s, const struct strbuf *text)
{
    autojson json_t *root = json_parse (text->buf, text->len, "R", NULL);
    const json_t *edges = json_object_get (json_object_get (root, "graph"), "edges");
    json_t *edge;
    size_t i;

    json_array_foreach ((json_t *)edges, i, edge) {
        const json_t *meta = json_object_get (edge, "metadata");
        const char *name = json_string_value (json_object_get (meta, "subsystem"));
        if (!strcmp (name ? name : "containment", graph_subsystem (s->graph)))
            return true;
    }
    return json_array_size (edges) == 0;
}

/* Reads the job's resources from FILE, in terms of the graph; NULL after a message. */
static struct selection *read_selection (const struct session *s,
                                         const struct match_reader *reader,
                                         const char *file, bool *ret_tells_tree)
{
    struct selection *selection = NULL;
    autostrbuf struct strbuf text = STRBUF_INIT (MATCH_READER_TEXT_MAX);
    struct error err = { 0 };

    if (io_read_file (file, &text, MATCH_READER_TEXT_MAX, &err) < 0) {
        session_complain ("can't open %s", err.text);
        return NULL;
    }
    if (reader->read_selection (s->graph, text.buf, text.len, &selection, &err) < 0) {
        session_complain ("%s: %s", file, err.text);
        return NULL;
    }
    *ret_tells_tree = tells_tree (s, &text);
    return selection;
}

/* -- update -- */

struct update {
    uint64_t job;
    int64_t at, duration;
    const char *file;
    const struct match_reader *reader;
    struct selection *selection;
    struct match_times t;
};

static bool parse_update (struct session *s, char **argv, struct update *ret)
{
    static const char *const readers[] = { "jgf", "jgf_shorthand", "rv1exec", NULL };
    struct error err = { 0 };
    struct planner_job other;

    if (strcmp (argv[1], "allocate") != 0 && strcmp (argv[1], "reserve") != 0) {
        session_complain ("unknown subcmd %s", argv[1]);
        return false;
    }
    ret->reader = find_reader (argv[2], readers);
    ret->file = argv[3];
    if (!ret->reader || !parse_job (argv[4], &ret->job))
        return false;
    if (planner_find (s->planner, ret->job, &other)) {
        session_complain ("existing Jobid %s", argv[4]);
        return false;
    }
    if (parse_int (argv[5], 0, s->end - 1, &ret->at, "start", &err) < 0
        || parse_int (argv[6], 1, INT64_MAX, &ret->duration, "duration", &err) < 0) {
        session_complain ("invalid time: %s", err.text);
        return false;
    }
    return true;
}

/* Books the selection: 0, or -errno after a message. */
static int book (struct session *s, struct update *u)
{
    struct error err = { 0 };

    u->selection->start = u->at;
    u->selection->end = u->duration < s->end - u->at ? u->at + u->duration : s->end;
    int rc = planner_update (s->planner, u->job, u->selection, u->at > 0, &err);
    if (rc < 0)
        session_complain ("%s: %s", u->file, err.text);
    return rc;
}

static void show (struct session *s, const struct update *u)
{
    autostrbuf struct strbuf text = STRBUF_INIT (OUTPUT_MAX);
    struct error err = { 0 };

    if (output_encode (s, u->selection, NULL, NULL, &text, &err) < 0)
        session_complain ("%s", err.text);
    fwrite (text.buf, 1, text.len, s->out);
}

/* A text about another tree over the same vertices is booked, but nothing of it can be
 * shown in the tree of this session. */
static enum match_verdict update (struct session *s, struct update *u)
{
    double began = clock_mono (), parsed, booked;
    bool tells_tree;

    u->selection = read_selection (s, u->reader, u->file, &tells_tree);
    parsed = clock_mono ();
    int rc = u->selection ? book (s, u) : -EINVAL;
    booked = clock_mono ();
    if (rc == 0 && tells_tree)
        show (s, u);
    u->t = (struct match_times){ .parse = parsed - began,
                                 .decide = booked - parsed,
                                 .write = clock_mono () - booked };
    return rc < 0 ? MATCH_NONE : MATCH_BOOKED;
}

void do_update (struct session *s, int argc, char **argv)
{
    struct update u = { .at = 0 };

    (void)argc;
    if (!parse_update (s, argv, &u))
        return;
    enum match_verdict verdict = update (s, &u);
    jobs_note_time (s->jobs, match_times_sum (&u.t));
    output_match (s, u.job, verdict, u.at, &u.t);
    s->next_job = u.job + 1;
    if (verdict == MATCH_BOOKED)
        session_list_job (s, u.job, u.file, u.at, match_times_sum (&u.t), &u.selection);
    selection_destroy (u.selection);
}

/* -- cancel -- */

static void note_canceled (struct session *s, uint64_t id)
{
    struct job_info *job = jobs_find (s->jobs, id);

    if (job)
        job_info_cancel (job);
}

/* Prints the claims before and after: how many groups of units were given back. */
static void print_released (struct session *s, const char *what, size_t claims)
{
    output_line (s->out);
    fprintf (s->out, "INFO: %s RELEASED=\"%zu\"\n", what, claims);
    output_line (s->out);
}

void do_cancel (struct session *s, int argc, char **argv)
{
    struct planner_job job;
    uint64_t id;

    if (!parse_job (argv[1], &id))
        return;
    if (!planner_find (s->planner, id, &job)) {
        fprintf (stderr, "cancel: ERROR: nonexistent job %s\n", argv[1]);
        return;
    }
    planner_cancel (s->planner, id);
    note_canceled (s, id);
    if (argc > 2 && !strcmp (argv[2], "stats"))
        print_released (s, "CANCEL", job.nclaims);
}

/* Marks the vertices to give back: those named without a named vertex below them,
 * exclusive or not. */
static void mark_ends (struct selection *part)
{
    for (size_t i = 0; i < part->n; i++) {
        bool end = i + 1 == part->n || part->picks[i + 1].parent != i;
        part->picks[i].claimed = part->picks[i].claimed || end;
    }
}

void do_partial_cancel (struct session *s, int argc, char **argv)
{
    static const char *const readers[] = { "jgf", "rv1exec", NULL };
    autoselection struct selection *part = NULL;
    const struct match_reader *reader = find_reader (argv[2], readers);
    struct planner_job job, after = { .nclaims = 0 };
    bool empty = false, tells_tree;
    uint64_t id;

    if (!reader || !parse_job (argv[1], &id))
        return;
    if (!planner_find (s->planner, id, &job)) {
        session_complain ("nonexistent job %s", argv[1]);
        return;
    }
    if (job.reserved) {
        session_complain ("reservations not currently supported by partial cancel");
        return;
    }
    part = read_selection (s, reader, argv[3], &tells_tree);
    if (part)
        mark_ends (part);
    if (!part || planner_cancel_part (s->planner, id, part, &empty) < 0) {
        session_complain ("error encountered while removing job %s", argv[1]);
        return;
    }
    if (empty)
        note_canceled (s, id);
    planner_find (s->planner, id, &after);
    if (argc > 4 && !strcmp (argv[4], "stats"))
        print_released (s, "PARTIAL CANCEL",
                        job.nclaims - MIN (job.nclaims, after.nclaims));
}
