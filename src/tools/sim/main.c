/* main.c - fluxq-sim: a trace through the queue, in virtual time
 *
 *     options -> machine, trace -> run (outputs observe it) -> figures, drawings
 */
#include <errno.h>
#include <stdio.h>

#include "tools/sim/gantt.h"
#include "tools/sim/joblog.h"
#include "tools/sim/plot.h"
#include "tools/sim/report.h"
#include "tools/tool.h"

struct outputs {
    struct tally tally;
    struct series *series; /* NULL: not requested; the same for the others */
    struct gantt *gantt;
    FILE *joblog;
};

static int fail (const struct error *err)
{
    fprintf (stderr, "fluxq-sim: %s\n", err->text);
    return 1;
}

static void warn (const char *text)
{
    fprintf (stderr, "fluxq-sim: %s\n", text);
}

/* -- while it runs -- */

static void on_start (void *arg, const struct sim_start *s)
{
    struct outputs *out = arg;

    tally_start (&out->tally, s);
    if (out->gantt)
        gantt_add (out->gantt, s);
    if (out->joblog)
        joblog_add (out->joblog, s);
}

static void on_now (void *arg, double now, size_t pending, uint64_t cores_used)
{
    struct outputs *out = arg;

    if (out->series)
        series_set (out->series, now, (double)cores_used, (double)pending);
}

static int outputs_open (struct outputs *out, const struct options *o,
                         const struct cluster *c, struct error *err)
{
    if (o->plot && !(out->series = calloc (1, sizeof (*out->series))))
        return error_set (err, ENOMEM, "out of memory");
    if (o->gantt && !(out->gantt = gantt_create (c->machine)))
        return error_set (err, ENOMEM, "out of memory");
    if (o->jobs && !(out->joblog = joblog_open (o->jobs, err)))
        return -EIO;
    return 0;
}

static void outputs_release (struct outputs *out)
{
    tally_release (&out->tally);
    free (out->series);
    gantt_destroy (out->gantt);
    if (out->joblog)
        fclose (out->joblog);
}

/* -- after it -- */

static int write_files (struct outputs *out, const struct report *r, struct error *err)
{
    const struct options *o = r->opt;
    char title[256];
    int rc = 0;

    snprintf (title, sizeof (title), "%.100s on %.60s, %s", o->trace, o->cluster,
              o->policy->name);
    if (out->series) {
        series_end (out->series, r->figures.makespan);
        rc = plot_write (out->series, (double)r->cluster->cores, title, o->plot, err);
    }
    if (rc == 0 && out->gantt)
        rc = gantt_write (out->gantt, r->figures.makespan, title, o->gantt, err);
    if (rc == 0 && out->joblog) {
        rc = joblog_close (out->joblog, o->jobs, err);
        out->joblog = NULL;
    }
    return rc;
}

static int print_report (const struct report *r, struct error *err)
{
    int rc = 0;

    if (r->opt->json)
        rc = report_print_json (r);
    else
        report_print_text (r);
    if (rc == 0 && (fflush (stdout) == EOF || ferror (stdout)))
        rc = -EIO;
    return rc < 0 ? error_errno (err, -rc, "the figures could not be printed") : 0;
}

static int finish (struct outputs *out, struct report *r, struct error *err)
{
    if (out->tally.no_memory)
        return error_set (err, ENOMEM, "out of memory");
    tally_figures (&out->tally, r->cluster, &r->figures);
    int rc = write_files (out, r, err);
    return rc == 0 ? print_report (r, err) : rc;
}

/* -- top level -- */

static int run (const struct options *o, struct cluster *c, struct trace *t,
                struct error *err)
{
    struct outputs out = { 0 };
    struct report r = { .opt = o, .cluster = c, .tally = &out.tally };
    const struct sim_observer observer = { &out, on_start, on_now };
    const struct sim_setup setup = { .cluster = c,
                                     .match_policy = &o->match_policy,
                                     .policy = o->policy,
                                     .depth = o->depth,
                                     .linear = o->linear,
                                     .elastic = o->elastic,
                                     .malleable = o->malleable };
    int rc = outputs_open (&out, o, c, err);

    r.trace = trace_counts (t);
    if (rc == 0)
        rc = sim_run (&setup, t, &observer, &r.counts, err);
    if (rc == 0)
        rc = finish (&out, &r, err);
    outputs_release (&out);
    return rc;
}

int main (int argc, char **argv)
{
    struct options o;
    struct error err = { 0 };
    struct cluster c;
    int status = options_parse (&o, argc, argv);

    if (status != TOOL_GO)
        return status;
    if (cluster_build (o.cluster, &c, &err) < 0) {
        error_prefix (&err, "--cluster '%.100s'", o.cluster);
        fail (&err);
        return 2;
    }
    const struct trace_options how = { .skip = o.skip, .seed = o.seed, .warn = warn };
    struct trace *t = trace_open (o.trace, &how, &err);
    status = t && run (&o, &c, t, &err) == 0 ? 0 : fail (&err);
    trace_close (t);
    cluster_release (&c);
    return status;
}
