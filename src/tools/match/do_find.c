/* do_find.c - find: the vertices that satisfy an expression */
#include <errno.h>
#include <string.h>

#include "match/search/find.h"
#include "tools/match/commands.h"
#include "tools/match/counts.h"
#include "tools/match/output.h"

#define EXPRESSION_MAX (1 << 20)

const char *const find_terms[] = { "status=up",
                                   "status=down",
                                   "sched-now=allocated",
                                   "sched-now=free",
                                   "sched-future=reserved",
                                   "sched-future=free",
                                   "agfilter=true",
                                   "agfilter=false",
                                   "names=",
                                   "property=",
                                   "jobid-alloc=",
                                   "jobid-span=",
                                   "jobid-tag=",
                                   "jobid-reserved=",
                                   "and",
                                   "or",
                                   NULL };

static int encode (struct session *s, const struct find *f, const struct selection *found,
                   struct strbuf *sb, struct error *err)
{
    struct counts *counts = NULL;
    uint64_t job;

    if (find_wants_counts (f, &job)) {
        counts = counts_create (s, job);
        if (!counts)
            return error_set (err, ENOMEM, "no memory");
    }
    int rc = output_encode (s, found, NULL, counts, sb, err);
    counts_destroy (counts);
    return rc;
}

static int find (struct session *s, const char *expression, struct strbuf *sb,
                 struct error *err)
{
    struct find *f = find_compile (expression, err);
    autoselection struct selection *found = NULL;

    if (!f) {
        error_prefix (err, "invalid criteria");
        return -EINVAL;
    }
    int rc = find_run (f, s->planner, &found);
    if (rc < 0)
        error_set (err, -rc, "%s", strerror (-rc));
    else
        rc = encode (s, f, found, sb, err);
    find_destroy (f);
    return rc;
}

void do_find (struct session *s, int argc, char **argv)
{
    autostrbuf struct strbuf expression = STRBUF_INIT (EXPRESSION_MAX);
    autostrbuf struct strbuf result = STRBUF_INIT (OUTPUT_MAX);
    struct error err = { 0 };

    for (int i = 1; i < argc; i++)
        strbuf_addf (&expression, "%s%s", i > 1 ? " " : "", argv[i]);
    if (find (s, expression.buf, &result, &err) < 0) {
        session_complain ("find: %s", err.text);
        return;
    }
    fwrite (result.buf, 1, result.len, s->out);
    output_line (s->out);
    fprintf (s->out, "INFO: EXPRESSION=\"%s\"\n", expression.buf);
    output_line (s->out);
}
