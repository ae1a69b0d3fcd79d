/* output.c - see output.h */
#include "tools/match/output.h"

#include <inttypes.h>

#include "tools/match/counts.h"

static json_t *counts_of (const struct pick *p, uint32_t unit, void *arg)
{
    (void)unit;
    return counts_to_json (arg, p->v);
}

int output_encode (const struct session *s, const struct selection *selection,
                   const struct shape *shape, const struct counts *counts,
                   struct strbuf *sb, struct error *err)
{
    const struct match_writer *writer = s->opt->writer;
    const struct match_writer_options wopt = {
        .shape = shape,
        .start = selection->start,
        .end = MIN (selection->end, s->end),
        .counts = counts ? counts_of : NULL,
        .arg = (void *)(uintptr_t)counts,
    };

    if (selection->n == 0)
        return 0;
    int rc = writer->write (s->graph, selection, &wopt, sb);
    return rc < 0 ? error_set (err, -rc, "match writer emit: %s: %s", writer->name,
                               strerror (-rc))
                  : 0;
}

void output_line (FILE *out)
{
    fputs ("INFO: =============================\n", out);
}

/* Prints the times: the total to `out`, details to stdout. */
static void output_times (const struct session *s, const struct match_times *t, FILE *out)
{
    if (!s->opt->times)
        return;
    fprintf (out, "INFO: ELAPSE=%f\n", match_times_sum (t));
    printf ("INFO: PARSE=%.9f DECIDE=%.9f WRITE=%.9f\n", t->parse, t->decide, t->write);
}

void output_match (struct session *s, uint64_t job, enum match_verdict verdict,
                   int64_t at, const struct match_times *t)
{
    output_line (s->out);
    if (verdict < MATCH_FOUND) {
        fputs ("INFO: No matching resources found\n", s->out);
        if (verdict == MATCH_NEVER)
            fputs ("INFO: Unsatisfiable request\n", s->out);
        fprintf (s->out, "INFO: JOBID=%" PRIu64 "\n", job);
        output_times (s, t, s->out);
    } else {
        const char *how = at == 0 ? "ALLOCATED" : "RESERVED";
        fprintf (s->out, "INFO: JOBID=%" PRIu64 "\nINFO: RESOURCES=%s\n", job,
                 verdict == MATCH_FOUND ? "MATCHED" : how);
        if (at == 0)
            fputs ("INFO: SCHEDULED AT=Now\n", s->out);
        else
            fprintf (s->out, "INFO: SCHEDULED AT=%" PRId64 "\n", at);
        output_times (s, t, stdout);
    }
    output_line (s->out);
}

void output_satisfiability (struct session *s, bool satisfiable,
                            const struct match_times *t)
{
    output_line (s->out);
    fprintf (s->out, "INFO: %s request\n", satisfiable ? "Satisfiable" : "Unsatisfiable");
    output_line (s->out);
    output_times (s, t, stdout);
}
