/* joblog.c - see joblog.h */
#include "tools/sim/joblog.h"

#include <inttypes.h>

FILE *joblog_open (const char *path, struct error *err)
{
    FILE *f = fopen (path, "we");

    if (!f)
        error_errno (err, errno, "%s", path);
    return f;
}

void joblog_add (FILE *f, const struct sim_start *s)
{
    autofree char *nodes = rset_nodelist (s->r);

    fprintf (f,
             "{\"id\":%" PRIu64 ",\"line\":%" PRIu64
             ",\"submit\":%.15g,\"start\":%.15g,\"end\":%.15g,\"nodes\":%zu,"
             "\"slots\":%" PRIu32 ",\"cores\":%" PRIu64
             ",\"killed\":%s,\"nodelist\":\"%s\"}\n",
             s->id, s->job->line, s->submit, s->start, s->end, s->r->nranks, s->slots,
             s->cores, s->killed ? "true" : "false", nodes ? nodes : "");
}

int joblog_close (FILE *f, const char *path, struct error *err)
{
    int failed = ferror (f);

    errno = 0;
    if (fclose (f) == 0 && !failed)
        return 0;
    return error_errno (err, errno ? errno : EIO, "%s", path);
}
