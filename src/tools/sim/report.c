/* report.c - see report.h */
#include "tools/sim/report.h"

#include <math.h>

#include "common/parse.h"

#define REAL_DIGITS 15

static double decisions_per_second (const struct report *r)
{
    return r->counts.seconds > 0 ? (double)r->counts.started / r->counts.seconds : 0;
}

static unsigned depth (const struct report *r)
{
    return r->opt->depth ? r->opt->depth : r->opt->policy->depth;
}

/* -- for people -- */

static const char *duration (double seconds)
{
    static struct strbuf texts[4]; /* as many as one line needs */
    static size_t turn;
    struct strbuf *sb = &texts[turn++ % ARRAY_SIZE (texts)];

    if (sb->max == 0)
        strbuf_init (sb, 64);
    strbuf_reset (sb);
    strbuf_add_duration (sb, seconds);
    return sb->buf;
}

static void print_refused (const struct report *r)
{
    const struct sim_counts *c = &r->counts;

    if (c->refused == 0)
        return;
    printf ("Refused           %ju fit on no machine like this; the first, job %ju",
            (uintmax_t)c->refused, (uintmax_t)c->first_refused);
    if (c->first_refused_line > 0)
        printf (" (line %ju)", (uintmax_t)c->first_refused_line);
    printf (": %s\n", c->why);
}

void report_print_text (const struct report *r)
{
    const struct figures *f = &r->figures;

    printf ("Trace             %s: %ju jobs", r->opt->trace, (uintmax_t)r->counts.jobs);
    if (r->trace.left_out > 0)
        printf (", %ju left out", (uintmax_t)r->trace.left_out);
    if (r->trace.skipped > 0)
        printf (", %ju broken lines", (uintmax_t)r->trace.skipped);
    printf ("\nCluster           %s: %ju nodes, %ju cores\n", r->opt->cluster,
            (uintmax_t)r->cluster->nodes, (uintmax_t)r->cluster->cores);
    printf ("Policy            %s, depth %u; nodes by %s\n", r->opt->policy->name,
            depth (r), r->opt->match_policy.name);
    printf (
        "Started           %ju; %ju at less than their largest size, %ju ended by their "
        "limit\n",
        (uintmax_t)r->counts.started, (uintmax_t)r->tally->smaller,
        (uintmax_t)r->tally->killed);
    print_refused (r);
    printf ("Makespan          %s", duration (f->makespan));
    if (f->lower_bound > 0)
        printf (", %.3f times the lower bound (%s)", f->makespan / f->lower_bound,
                duration (f->lower_bound));
    printf ("\nUtilization       %.1f %%\n", 100 * f->utilization);
    printf ("Wait              mean %s, 95th percentile %s, longest %s\n",
            duration (f->wait_mean), duration (f->wait_p95), duration (f->wait_max));
    printf ("Bounded slowdown  %.2f\n", f->bounded_slowdown);
    printf ("Real time         %.2f s, %.0f decisions a second\n", r->counts.seconds,
            decisions_per_second (r));
}

/* -- for programs -- */

/* Rounds to a microsecond, so that sums of fractions do not show. */
static json_t *real (double x)
{
    return json_real (round (x * 1e6) / 1e6);
}

static json_t *count (uint64_t n)
{
    return json_integer ((json_int_t)n);
}

/* File names need not be UTF-8. */
static json_t *text (const char *s)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 20);

    strbuf_add_json (&sb, s, SIZE_MAX);
    return json_loadb (sb.buf, sb.len, JSON_DECODE_ANY, NULL);
}

int report_print_json (const struct report *r)
{
    const struct figures *f = &r->figures;
    const struct {
        const char *key;
        json_t *value;
    } keys[] = {
        { "trace", text (r->opt->trace) },
        { "cluster", text (r->opt->cluster) },
        { "policy", text (r->opt->policy->name) },
        { "depth", count (depth (r)) },
        { "match_policy", text (r->opt->match_policy.name) },
        { "seed", count (r->opt->seed) },
        { "jobs", count (r->counts.jobs) },
        { "started", count (r->counts.started) },
        { "elastic_starts", count (r->tally->smaller) },
        { "resizes", count (r->counts.resizes) },
        { "killed_by_limit", count (r->tally->killed) },
        { "refused", count (r->counts.refused) },
        { "left_out", count (r->trace.left_out) },
        { "broken_lines", count (r->trace.skipped) },
        { "makespan", real (f->makespan) },
        { "lower_bound", real (f->lower_bound) },
        { "utilization", real (f->utilization) },
        { "wait_mean", real (f->wait_mean) },
        { "wait_p95", real (f->wait_p95) },
        { "wait_max", real (f->wait_max) },
        { "bounded_slowdown", real (f->bounded_slowdown) },
        { "decisions_per_second", real (decisions_per_second (r)) },
    };
    autojson json_t *o = json_object ();
    bool whole = o;

    for (size_t i = 0; i < ARRAY_SIZE (keys); i++) /* takes over, and refuses NULL */
        whole &= json_object_set_new (o, keys[i].key, keys[i].value) == 0;
    if (whole)
        whole =
            json_dumpf (o, stdout, JSON_INDENT (2) | JSON_REAL_PRECISION (REAL_DIGITS))
            == 0;
    putchar ('\n');
    return whole ? 0 : -ENOMEM;
}
