/* do_match.c - match and multi-match: from a jobspec's text to resources
 *
 *     run_text     parse -> decide -> write, with the time of each
 *      answer      the message for the user: not found, never, found, booked
 *
 * Every attempt that the planner has decided takes a job id, even a failed one;
 * satisfiability and without_allocating take none, nor does a jobspec that is rejected.
 */
#include <inttypes.h>
#include <math.h>

#include "common/clock.h"
#include "common/io.h"
#include "jobspec/parse/request.h"
#include "tools/match/commands.h"
#include "tools/match/output.h"

const char *const match_ops[] = {
    [SEARCH_ALLOCATE] = "allocate",
    [SEARCH_ALLOCATE_WITH_SATISFIABILITY] = "allocate_with_satisfiability",
    [SEARCH_ALLOCATE_ORELSE_RESERVE] = "allocate_orelse_reserve",
    [SEARCH_SATISFIABILITY] = "satisfiability",
    [SEARCH_WITHOUT_ALLOCATING] = "without_allocating",
    [SEARCH_WITHOUT_ALLOCATING_FUTURE] = "without_allocating_future",
    NULL,
};

struct match {
    struct session *s;
    enum search_op op;
    const char *file;
    uint64_t job;
    struct shape *shape;
    int64_t duration;
    struct selection *found;
    struct strbuf text; /* the result, in the session's format */
    struct match_times t;
};

static bool parse_op (const char *name, enum search_op *ret)
{
    for (int i = 0; match_ops[i]; i++) {
        if (!strcmp (match_ops[i], name)) {
            *ret = (enum search_op)i;
            return true;
        }
    }
    session_complain ("unknown subcmd %s", name);
    return false;
}

static bool books (enum search_op op)
{
    return op == SEARCH_ALLOCATE || op == SEARCH_ALLOCATE_WITH_SATISFIABILITY
           || op == SEARCH_ALLOCATE_ORELSE_RESERVE;
}

/* -- parse -- */

/* Whole seconds, rounded up. */
static int set_duration (struct match *m, double seconds, struct error *err)
{
    if (seconds > (double)m->s->end)
        return error_set (err, EINVAL,
                          "attributes.system.duration: %g s is longer than the graph "
                          "lasts (%" PRId64 " s)",
                          seconds, m->s->end);
    m->duration = seconds > 0 ? (int64_t)ceil (seconds) : PLANNER_FOREVER;
    return 0;
}

/* "flexible" enables or_slot and xor_slot. */
static int check_traverser (const struct match *m, struct error *err)
{
    if (m->s->opt->flexible)
        return 0;
    for (size_t i = 0; i < m->shape->nv; i++) {
        if (m->shape->v[i].kind == SHAPE_OR_SLOT || m->shape->other)
            return error_set (err, EINVAL,
                              "slots of which one or the other serves need -T flexible");
    }
    return 0;
}

static int parse_text (struct match *m, const struct strbuf *text, struct error *err)
{
    autorequest struct jobspec_request *q = NULL;
    int rc = jobspec_resources_parse (text->buf, text->len, m->file, &q, err);

    if (rc < 0)
        return rc;
    m->shape = shape_compile (q->resources, q->nresources, q->constraints,
                              m->s->opt->flexible ? SHAPE_OR_SLOTS : 0, err);
    if (!m->shape)
        return -EINVAL;
    rc = check_traverser (m, err);
    return rc < 0 ? rc : set_duration (m, q->duration, err);
}

/* -- decide, write -- */

static int decide (struct match *m, struct error *why)
{
    return search_match (m->s->planner, m->op, m->job, m->shape, 0, m->duration,
                         &m->found, why);
}

static int write_found (struct match *m, struct error *err)
{
    return m->found ? output_encode (m->s, m->found, m->shape, NULL, &m->text, err) : 0;
}

/* -- answer -- */

static void answer (struct match *m, enum match_verdict verdict)
{
    fwrite (m->text.buf, 1, m->text.len, m->s->out);
    if (m->op == SEARCH_SATISFIABILITY)
        output_satisfiability (m->s, verdict != MATCH_NEVER, &m->t);
    else
        output_match (m->s, m->job, verdict, m->found ? m->found->start : 0, &m->t);
}

/* rc: of search_match(). The user gets the reason if nothing was found. */
static enum match_verdict verdict_of (const struct match *m, int rc,
                                      const struct error *why)
{
    bool usual = rc == -EBUSY || rc == -ENODEV;

    if (rc == 0)
        return books (m->op) ? MATCH_BOOKED : MATCH_FOUND;
    fprintf (stderr, "match_allocate: %sjob %" PRIu64 ": %s\n",
             usual ? "" : "ERROR: ", m->job, why->text);
    return rc == -ENODEV ? MATCH_NEVER : MATCH_NONE;
}

/* 0 if something was found. */
static int run_text (struct match *m, const struct strbuf *text)
{
    struct error err = { 0 };
    double began = clock_mono (), parsed, decided;
    enum match_verdict verdict = MATCH_NONE;
    int rc = parse_text (m, text, &err);

    if (rc < 0) {
        fprintf (stderr, "match_allocate: ERROR: Jobspec error for %" PRIu64 ": %s\n",
                 m->job, err.text);
        answer (m, MATCH_NONE);
        return rc;
    }
    parsed = clock_mono ();
    rc = decide (m, &err);
    decided = clock_mono ();
    verdict = verdict_of (m, rc, &err);
    if (write_found (m, &err) < 0)
        fprintf (stderr, "match_allocate: ERROR: %s\n", err.text);
    m->t = (struct match_times){ .parse = parsed - began,
                                 .decide = decided - parsed,
                                 .write = clock_mono () - decided };
    jobs_note_time (m->s->jobs, match_times_sum (&m->t));
    answer (m, verdict);
    if (verdict == MATCH_BOOKED)
        session_list_job (m->s, m->job, m->file, m->found->start, match_times_sum (&m->t),
                          &m->found);
    if (books (m->op))
        m->s->next_job++;
    return rc;
}

/* Returns the next id that update has not used. */
static uint64_t next_job (struct session *s)
{
    struct planner_job job;

    while (planner_find (s->planner, s->next_job, &job))
        s->next_job++;
    return s->next_job;
}

static int run_one (struct session *s, enum search_op op, const char *file)
{
    struct match m = { .s = s, .op = op, .file = file, .job = next_job (s) };
    autostrbuf struct strbuf text = STRBUF_INIT (JOBSPEC_TEXT_MAX);
    struct error err = { 0 };
    int rc = io_read_file (file, &text, JOBSPEC_TEXT_MAX, &err);

    if (rc < 0) {
        session_complain ("can't open %s", err.text);
        return rc;
    }
    strbuf_init (&m.text, OUTPUT_MAX);
    rc = run_text (&m, &text);
    strbuf_release (&m.text);
    selection_destroy (m.found);
    shape_destroy (m.shape);
    return rc;
}

void do_match (struct session *s, int argc, char **argv)
{
    enum search_op op;

    (void)argc;
    if (parse_op (argv[1], &op))
        run_one (s, op, argv[2]);
}

void do_multi_match (struct session *s, int argc, char **argv)
{
    enum search_op op;

    if (!parse_op (argv[1], &op))
        return;
    for (int i = 2; i < argc; i++) {
        if (run_one (s, op, argv[i]) < 0)
            return;
    }
}
