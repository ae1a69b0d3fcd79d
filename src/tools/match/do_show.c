/* do_show.c - list, info, stat, cat, help, quit: the state of the session */
#include <inttypes.h>

#include "common/io.h"
#include "common/parse.h"
#include "jobspec/jobspec.h"
#include "tools/match/commands.h"

/* -- jobs -- */

static void print_job (const struct job_info *job)
{
    printf ("INFO: %" PRIu64 ", %s, %" PRId64 ", %s, %g\n", job->id,
            job_info_state_name (job->state), job->at, job->file, job->elapsed);
}

void do_list (struct session *s, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (struct job_info *job = jobs_first (s->jobs); job; job = jobs_next (job))
        print_job (job);
}

void do_info (struct session *s, int argc, char **argv)
{
    struct error err = { 0 };
    struct job_info *job;
    int64_t id;

    (void)argc;
    if (parse_int (argv[1], 0, INT64_MAX, &id, "job id", &err) < 0) {
        session_complain ("%s", err.text);
        return;
    }
    job = jobs_find (s->jobs, (uint64_t)id);
    if (job)
        print_job (job);
    else
        fprintf (stderr, "info: ERROR: nonexistent job %s\n", argv[1]);
}

/* -- figures -- */

static void print_sizes (const struct session *s)
{
    size_t claims = 0;
    struct planner_job job;

    for (uint64_t after = 0; planner_next (s->planner, after, &job); after = job.job)
        claims += job.nclaims;
    printf ("INFO: Bookings: %zu\n"
            "INFO: Booked Groups of Units: %zu\n"
            "INFO: Vertex Count: %" PRIu64 "\n"
            "INFO: Graph Memory: %zu\n"
            "INFO: Planner Memory: %zu\n",
            planner_count (s->planner), claims, graph_unit_count (s->graph),
            graph_memory (s->graph), planner_memory (s->planner));
}

void do_stat (struct session *s, int argc, char **argv)
{
    const struct job_times *t = jobs_times (s->jobs);

    (void)argc;
    (void)argv;
    printf ("INFO: Num. of Jobs Matched: %zu\n"
            "INFO: Num. of Matches: %" PRIu64 "\n"
            "INFO: Min. Match Time: %g\n"
            "INFO: Max. Match Time: %g\n"
            "INFO: Avg. Match Time: %g\n",
            jobs_count (s->jobs), t->n, t->least, t->most,
            t->n > 0 ? t->sum / (double)t->n : 0.0);
    print_sizes (s);
}

/* -- the rest -- */

void do_cat (struct session *s, int argc, char **argv)
{
    autostrbuf struct strbuf text = STRBUF_INIT (JOBSPEC_TEXT_MAX);
    struct error err = { 0 };

    (void)s;
    (void)argc;
    if (io_read_file (argv[1], &text, JOBSPEC_TEXT_MAX, &err) < 0) {
        session_complain ("can't open %s", err.text);
        return;
    }
    fwrite (text.buf, 1, text.len, stdout);
    if (text.len > 0 && text.buf[text.len - 1] != '\n')
        putchar ('\n');
    printf ("INFO: Jobspec in %s\n", argv[1]);
}

static void print_command (const struct match_command *c)
{
    printf ("INFO: %s (%s) %s%s-- %s\n", c->name, c->letter, c->usage,
            c->usage[0] ? " " : "", c->help);
}

void do_help (struct session *s, int argc, char **argv)
{
    (void)s;
    if (argc > 1 && !command_find_word (argv[1])) {
        session_complain ("%s: no such command; \"help\" lists them", argv[1]);
        return;
    }
    for (const struct match_command *c = match_commands; c->name; c++) {
        if (argc == 1 || c == command_find_word (argv[1]))
            print_command (c);
    }
}

void do_quit (struct session *s, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    s->over = true;
}
