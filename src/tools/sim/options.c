/* options.c - see options.h */
#include "tools/sim/options.h"

#include "common/parse.h"
#include "tools/sim/trace.h"
#include "tools/tool.h"

enum {
    OPT_CLUSTER = 1,
    OPT_TRACE,
    OPT_POLICY,
    OPT_DEPTH,
    OPT_MATCH_POLICY,
    OPT_ELASTIC,
    OPT_MALLEABLE,
    OPT_SPEEDUP,
    OPT_SEED,
    OPT_ON_ERROR,
    OPT_JSON,
    OPT_PLOT,
    OPT_GANTT,
    OPT_JOBS,
};

static const struct option_desc options[] = {
    { "cluster", 'c', "SPEC", "the cluster, such as 4096x32c/4g/256Gi/r16 (see below)",
      OPT_CLUSTER, false, NULL },
    { "trace", 't', "TRACE", "the jobs: a file, or builtin:NAME (required)", OPT_TRACE,
      false, NULL },
    { "policy", 'p', "NAME", "queue policy [easy]", OPT_POLICY, false, NULL },
    { "depth", 'd', "N", "how many waiting jobs get a reservation [the policy's own]",
      OPT_DEPTH, false, NULL },
    { "match-policy", 'P', "POLICY",
      "match policy: which of several fitting nodes to take [lonode]", OPT_MATCH_POLICY,
      false, NULL },
    { "elastic", 'e', "PERCENT",
      "make fixed-size jobs elastic: they also run on PERCENT of their nodes",
      OPT_ELASTIC, false, NULL },
    { "malleable", 'm', NULL,
      "jobs with several numbers of nodes get and lose nodes while they run",
      OPT_MALLEABLE, false, NULL },
    { "speedup", 0, "MODEL",
      "linear: an elastic job on half of its nodes runs twice as long; none: as long as "
      "on all [linear]",
      OPT_SPEEDUP, false, NULL },
    { "seed", 's', "N", "seed of the built-in traces [1]", OPT_SEED, false, NULL },
    { "on-error", 0, "WHAT", "on an invalid line: stop, or skip it [stop]", OPT_ON_ERROR,
      false, NULL },
    { "json", 'j', NULL, "print the figures as a JSON object", OPT_JSON, false, NULL },
    { "plot", 0, "FILE", "draw utilization and queue over time (SVG)", OPT_PLOT, false,
      NULL },
    { "gantt", 0, "FILE", "draw the cores of each job over time (SVG)", OPT_GANTT, false,
      NULL },
    { "jobs", 0, "FILE", "write times and nodes of each job (a JSON object per line)",
      OPT_JOBS, false, NULL },
    TOOL_OPTIONS,
};

/* -- help -- */

static void print_help (void)
{
    puts ("Usage: fluxq-sim -t TRACE [-c SPEC] [OPTION]...\nRun the jobs of a trace "
          "through fluxq's queue and matcher in virtual time, and report\nhow long they "
          "waited and how well the cluster was used.\n\nOptions:");
    option_print_help (stdout, options);
    puts ("\nTraces:");
    for (const struct trace_format *const *f = trace_formats; *f; f++)
        printf ("  FILE.%-11s %s\n", (*f)->name, (*f)->summary);
    for (const struct trace_builtin *b = trace_builtins; b->name; b++)
        printf ("  builtin:%-8s %s [%s]\n", b->name, b->summary, b->cluster);
    puts ("\nSPEC: groups of nodes, joined by \"+\". A group is NODESxCORESc, with "
          "optional parts, each\nafter a slash: GPUSg (per node), memory (256Gi, per "
          "node), rNODES (nodes per rack).\n\nQueue policies:");
    for (const struct queue_policy *const *p = queue_policies; *p; p++)
        printf ("  %-16s %s\n", (*p)->name, (*p)->summary);
    puts ("\nMatch policies:");
    for (const struct match_policy *const *p = match_policies; *p; p++)
        printf ("  %-16s %s\n", (*p)->name, (*p)->summary);
}

/* -- values -- */

static int set_number (const char *value, int64_t min, int64_t max, int64_t *ret,
                       struct error *err)
{
    return parse_int (value, min, max, ret, "the value", err);
}

static int set_policy (struct options *o, const char *value, struct error *err)
{
    o->policy = queue_policy_find (value);
    return o->policy ? 0 : error_set (err, EINVAL, "no such policy; --help lists them");
}

static int apply (void *arg, const struct option_match *m, struct error *err)
{
    struct options *o = arg;
    int64_t n = 0;
    int rc = 0;

    switch (m->desc->id) {
    case OPT_CLUSTER:
        o->cluster = m->value;
        return 0;
    case OPT_TRACE:
        o->trace = m->value;
        return 0;
    case OPT_POLICY:
        return set_policy (o, m->value, err);
    case OPT_DEPTH:
        rc = set_number (m->value, 1, QUEUE_DEPTH_MAX, &n, err);
        o->depth = (unsigned)n;
        return rc;
    case OPT_MATCH_POLICY:
        return match_policy_parse (m->value, &o->match_policy, err);
    case OPT_ELASTIC:
        rc = set_number (m->value, 1, 99, &n, err);
        o->elastic = (unsigned)n;
        return rc;
    case OPT_MALLEABLE:
        o->malleable = true;
        return 0;
    case OPT_SPEEDUP:
        return tool_choice (m->value, "linear", "none", &o->linear, err);
    case OPT_SEED:
        rc = set_number (m->value, 0, INT64_MAX, &n, err);
        o->seed = (uint64_t)n;
        return rc;
    case OPT_ON_ERROR:
        return tool_choice (m->value, "skip", "stop", &o->skip, err);
    case OPT_JSON:
        o->json = true;
        return 0;
    case OPT_PLOT:
        o->plot = m->value;
        return 0;
    case OPT_GANTT:
        o->gantt = m->value;
        return 0;
    default: /* OPT_JOBS */
        o->jobs = m->value;
        return 0;
    }
}

/* -- top level -- */

static const struct tool tool = { "fluxq-sim", options, print_help, apply };

/* Handles options that depend on each other. */
static int complete (struct options *o)
{
    if (!o->trace)
        return tool_usage (&tool, "--trace is missing: the jobs");
    if (!o->cluster)
        o->cluster = trace_cluster (o->trace);
    if (!o->cluster && !strncmp (o->trace, TRACE_BUILTIN, strlen (TRACE_BUILTIN)))
        return tool_usage (&tool, "--trace '%s': no such trace", o->trace);
    if (!o->cluster)
        return tool_usage (&tool,
                           "--cluster is missing: the machine for the jobs of '%s'",
                           o->trace);
    if (o->depth > 0 && !o->policy->takes_depth)
        return tool_usage (&tool, "--depth: policy %s has no other depth than its own",
                           o->policy->name);
    return TOOL_GO;
}

int options_parse (struct options *o, int argc, char **argv)
{
    struct error err = { 0 };

    *o = (struct options){ .seed = 1, .linear = true };
    if (set_policy (o, "easy", &err) < 0
        || match_policy_parse ("lonode", &o->match_policy, &err) < 0)
        return tool_usage (&tool, "%s", err.text);
    int rc = tool_options (&tool, o, argc, argv);
    return rc == TOOL_GO ? complete (o) : rc;
}
