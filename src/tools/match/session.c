/* session.c - see session.h */
#include "tools/match/session.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/io.h"

void session_complain (const char *fmt, ...)
{
    va_list ap;

    fflush (stdout);
    va_start (ap, fmt);
    fputs ("ERROR: ", stderr);
    vfprintf (stderr, fmt, ap);
    fputc ('\n', stderr);
    va_end (ap);
}

void session_list_job (struct session *s, uint64_t id, const char *file, int64_t at,
                       double elapsed, struct selection **given)
{
    struct job_info *job = jobs_add (s->jobs, id, file, given);

    if (!job) {
        session_complain ("no memory to list job %" PRIu64, id);
        return;
    }
    job->state = at == 0 ? JOB_ALLOCATED : JOB_RESERVED;
    job->at = at;
    job->elapsed = elapsed;
}

/* -- the graph's life -- */

/* The end of the resources by R (RFC 20); 0 or absent: forever. */
static int64_t end_of_r (const char *text, size_t len)
{
    autojson json_t *root = json_parse (text, len, "R", NULL);
    const json_t *execution = json_object_get (root, "execution");
    double end = json_number_value (json_object_get (execution, "expiration"));

    return end > 0 && end < (double)SESSION_GRAPH_LIFE ? (int64_t)end
                                                       : SESSION_GRAPH_LIFE;
}

/* -- opening -- */

static int load (struct session *s, struct error *err)
{
    const struct match_reader_options ropt = {
        .subsystem = s->opt->subsystems[0],
        .types = s->opt->ntypes > 0 ? (const char *const *)s->opt->types : NULL,
    };
    const struct match_reader *reader = s->opt->reader;
    autostrbuf struct strbuf text = STRBUF_INIT (MATCH_READER_TEXT_MAX);
    double began = clock_mono ();
    int rc = io_read_file (s->opt->load_file, &text, MATCH_READER_TEXT_MAX, err);

    if (rc < 0)
        return rc;
    s->graph = graph_create ();
    if (!s->graph)
        return error_set (err, ENOMEM, "no memory");
    rc = reader->read (s->graph, text.buf, text.len, &ropt, err);
    if (rc < 0) {
        error_prefix (err, "%s", s->opt->load_file);
        return rc;
    }
    s->end = SESSION_GRAPH_LIFE;
    if (!strncmp (reader->name, "rv1", 3))
        s->end = end_of_r (text.buf, text.len);
    s->load_time = clock_mono () - began;
    return 0;
}

/* Checks that every subsystem for matches was read. */
static int check_subsystems (const struct session *s, struct error *err)
{
    struct graph_edge edge;

    for (const char *const *name = s->opt->subsystems + 1; *name; name++) {
        if (!graph_edge_at (s->graph, *name, 0, &edge))
            return error_set (err, ENOENT, "%s: has no subsystem %s", s->opt->load_file,
                              *name);
    }
    return 0;
}

static int plan (struct session *s, struct error *err)
{
    const struct planner_options popt = { .end = s->end, .together_slots = true };
    int rc = 0;

    s->planner = planner_create (s->graph, &s->opt->policy, &popt);
    s->jobs = jobs_create ();
    if (!s->planner || !s->jobs)
        return error_set (err, ENOMEM, "no memory");
    for (size_t i = 0; i < s->opt->nfilters && rc == 0; i++)
        rc = planner_track (s->planner, s->opt->filters[i].type);
    return rc < 0 ? error_set (err, ENOMEM, "no memory") : 0;
}

static int open_results (struct session *s, struct error *err)
{
    s->out = stdout;
    if (!s->opt->result_file)
        return 0;
    s->out = fopen (s->opt->result_file, "we");
    return s->out ? 0 : error_errno (err, errno, "%s", s->opt->result_file);
}

int session_open (struct session *s, const struct options *opt, struct error *err)
{
    *s = (struct session){ .opt = opt, .next_job = 1 };
    int rc = load (s, err);
    if (rc == 0)
        rc = check_subsystems (s, err);
    if (rc == 0)
        rc = plan (s, err);
    if (rc == 0)
        rc = open_results (s, err);
    if (rc < 0)
        session_close (s, NULL);
    return rc;
}

int session_close (struct session *s, struct error *err)
{
    int rc = 0;

    if (s->out && (fflush (s->out) != 0 || ferror (s->out)))
        rc = error_errno (err, errno, "%s",
                          s->opt->result_file ? s->opt->result_file : "stdout");
    if (s->out && s->out != stdout && fclose (s->out) != 0 && rc == 0)
        rc = error_errno (err, errno, "%s", s->opt->result_file);
    s->out = NULL;
    jobs_destroy (s->jobs);
    planner_destroy (s->planner);
    graph_destroy (s->graph);
    return rc;
}
