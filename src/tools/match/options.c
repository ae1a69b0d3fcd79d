/* options.c - see options.h */
#include "tools/match/options.h"

#include <strings.h>

#include "common/parse.h"
#include "tools/tool.h"

#define SIZE_HINT_MAX 2000000

enum {
    OPT_LOAD_FILE = 1,
    OPT_LOAD_FORMAT,
    OPT_TYPES,
    OPT_SUBSYSTEMS,
    OPT_POLICY,
    OPT_TRAVERSER,
    OPT_MATCH_FORMAT,
    OPT_FILTERS,
    OPT_RESULT_FILE,
    OPT_SIZE_HINT,
    OPT_TIMES,
    OPT_NO_PROMPT,
    OPT_DUMP_BASE,
    OPT_DUMP_FORMAT,
};

static const struct option_desc options[] = {
    { "load-file", 'L', "FILE", "the graph (required)", OPT_LOAD_FILE, false, NULL },
    { "load-format", 'f', "NAME", "format of the graph [grug]", OPT_LOAD_FORMAT, false,
      NULL },
    { "load-allowlist", 'W', "TYPE,...",
      "load only vertices of these types and the cluster (hwloc)", OPT_TYPES, false,
      NULL },
    { "match-subsystems", 'S', "NAME", "subsystems of the graph to match on [CA]",
      OPT_SUBSYSTEMS, false, NULL },
    { "match-policy", 'P', "POLICY",
      "match policy: which of several fitting vertices to take [first]", OPT_POLICY,
      false, NULL },
    { "traverser-policy", 'T', "NAME",
      "simple, or flexible: requests may have or_slot and xor_slot [simple]",
      OPT_TRAVERSER, false, NULL },
    { "match-format", 'F', "NAME", "format of the selection [simple]", OPT_MATCH_FORMAT,
      false, NULL },
    { "prune-filters", 'p', "AT:TYPE,...",
      "keep the free amount of TYPE at each vertex of type AT (or ALL) [ALL:core]",
      OPT_FILTERS, false, NULL },
    { "test-output", 't', "FILE", "write results to FILE [standard output]",
      OPT_RESULT_FILE, false, NULL },
    { "reserve-vtx-vec", 'r', "N",
      "approximate number of vertices in the graph (not needed)", OPT_SIZE_HINT, false,
      NULL },
    { "elapse-time", 'e', NULL, "print how long loading and each match took", OPT_TIMES,
      false, NULL },
    { "disable-prompt", 'd', NULL, "do not print a prompt", OPT_NO_PROMPT, false, NULL },
    { "graph-output", 'o', "BASE",
      "write the graph to BASE.dot or BASE.graphml at the end", OPT_DUMP_BASE, false,
      NULL },
    { "graph-format", 'g', "NAME", "dot or graphml [dot]", OPT_DUMP_FORMAT, false, NULL },
    TOOL_OPTIONS,
};

/* The subsystems that a name stands for; matches use the tree of the first. */
static const struct {
    const char *name;
    const char *subsystems[OPTIONS_SUBSYSTEMS_MAX + 1];
} matchers[] = {
    { "CA", { "containment" } },
    { "PA", { "power" } },
    { "C+PA", { "containment", "power" } },
    { "IBA", { "ibnet" } },
    { "C+IBA", { "containment", "ibnet" } },
    { "IBBA", { "ibnetbw" } },
    { "C+IBBA", { "containment", "ibnetbw" } },
    { "IB+IBBA", { "ibnet", "ibnetbw" } },
    { "PFS1BA", { "pfs1bw" } },
    { "C+PFS1BA", { "containment", "pfs1bw" } },
    { "C+P+IBA", { "containment", "power", "ibnet" } },
    { "VA", { "virtual1" } },
    { "V+PFS1BA", { "virtual1", "pfs1bw" } },
    { "ALL", { "containment", "ibnet", "ibnetbw", "pfs1bw", "power" } },
};

/* -- help -- */

static void print_help (void)
{
    puts ("Usage: fluxq-match -L FILE [OPTION]...\nLoad a graph of resources and read "
          "commands line by line: match jobspecs, book,\ncancel, find. The command "
          "\"help\" lists them.\n\nOptions:");
    option_print_help (stdout, options);
    puts ("\nLoad formats:");
    for (const struct match_reader *const *r = match_readers; *r; r++)
        printf ("  %-16s %s\n", (*r)->name, (*r)->summary);
    puts ("\nMatch formats:");
    for (const struct match_writer *const *w = match_writers; *w; w++)
        printf ("  %-16s %s\n", (*w)->name, (*w)->summary);
    puts ("\nPolicies:");
    for (const struct match_policy *const *p = match_policies; *p; p++)
        printf ("  %-16s %s\n", (*p)->name, (*p)->summary);
    puts ("  \"policy=NAME [node_centric=true] [node_exclusive=true] "
          "[stop_on_1_matches=true]\n   [order=PROPERTY]\" changes one of these.\n"
          "\nSubsystems:");
    for (size_t i = 0; i < ARRAY_SIZE (matchers); i++) {
        printf ("  %-16s", matchers[i].name);
        for (const char *const *s = matchers[i].subsystems; *s; s++)
            printf (" %s", *s);
        putchar ('\n');
    }
}

/* -- values -- */

static int set_subsystems (struct options *o, const char *value, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (matchers); i++) {
        if (strcasecmp (matchers[i].name, value) != 0)
            continue;
        memcpy (o->subsystems, matchers[i].subsystems, sizeof (o->subsystems));
        return 0;
    }
    return error_set (err, EINVAL, "no such subsystems");
}

/* Adds a copy of each of the words between commas. */
static int set_types (struct options *o, const char *value, struct error *err)
{
    for (const char *at = value; *at;) {
        size_t len = strcspn (at, ",");
        if (len > 0) {
            if (o->ntypes == OPTIONS_TYPES_MAX)
                return error_set (err, E2BIG, "more than %d types", OPTIONS_TYPES_MAX);
            o->types[o->ntypes] = strndup (at, len);
            if (!o->types[o->ntypes])
                return error_set (err, ENOMEM, "no memory");
            o->ntypes++;
        }
        at += len + (at[len] == ',');
    }
    return 0;
}

static int add_filter (struct options *o, const char *text, size_t len, struct error *err)
{
    const char *colon = memchr (text, ':', len);
    struct filter *f = &o->filters[o->nfilters];

    if (!colon || colon == text || colon + 1 == text + len
        || memchr (colon + 1, ':', (size_t)(text + len - colon - 1)))
        return error_set (err, EINVAL, "%.*s: expected AT:TYPE", (int)MIN (len, 64),
                          text);
    if (o->nfilters == OPTIONS_FILTERS_MAX)
        return error_set (err, E2BIG, "more than %d filters", OPTIONS_FILTERS_MAX);
    f->at = strndup (text, (size_t)(colon - text));
    f->type = strndup (colon + 1, (size_t)(text + len - colon - 1));
    o->nfilters++;
    return f->at && f->type ? 0 : error_set (err, ENOMEM, "no memory");
}

static int set_filters (struct options *o, const char *value, struct error *err)
{
    for (const char *at = value; *at;) {
        size_t len = strcspn (at, ",");
        if (add_filter (o, at, len, err) < 0)
            return -EINVAL;
        at += len;
        if (*at == ',' && !*++at)
            return error_set (err, EINVAL, "ends in a comma");
    }
    return 0;
}

/* The graph grows as needed; a size hint is only checked. */
static int check_size_hint (const char *value, struct error *err)
{
    int64_t n;
    int rc = parse_int (value, 0, SIZE_HINT_MAX, &n, "size", err);

    if (rc != -ERANGE)
        return rc;
    fprintf (stderr, "fluxq-match: warning: --reserve-vtx-vec: %s\n", err->text);
    return 0;
}

static int set_reader (struct options *o, const char *value, struct error *err)
{
    o->reader = match_reader_find (value);
    return o->reader && o->reader->read ? 0
                                        : error_set (err, EINVAL, "no such load format");
}

static int set_writer (struct options *o, const char *value, struct error *err)
{
    o->writer = match_writer_find (value);
    return o->writer ? 0 : error_set (err, EINVAL, "no such match format");
}

static int apply (void *arg, const struct option_match *m, struct error *err)
{
    struct options *o = arg;
    bool first;
    int rc;

    switch (m->desc->id) {
    case OPT_LOAD_FILE:
        o->load_file = m->value;
        return 0;
    case OPT_LOAD_FORMAT:
        return set_reader (o, m->value, err);
    case OPT_TYPES:
        return set_types (o, m->value, err);
    case OPT_SUBSYSTEMS:
        return set_subsystems (o, m->value, err);
    case OPT_POLICY:
        return match_policy_parse (m->value, &o->policy, err);
    case OPT_TRAVERSER:
        rc = tool_choice (m->value, "simple", "flexible", &first, err);
        o->flexible = !first;
        return rc;
    case OPT_MATCH_FORMAT:
        return set_writer (o, m->value, err);
    case OPT_FILTERS:
        return set_filters (o, m->value, err);
    case OPT_RESULT_FILE:
        o->result_file = m->value;
        return 0;
    case OPT_SIZE_HINT:
        return check_size_hint (m->value, err);
    case OPT_TIMES:
        o->times = true;
        return 0;
    case OPT_NO_PROMPT:
        o->no_prompt = true;
        return 0;
    case OPT_DUMP_BASE:
        o->dump_base = m->value;
        return 0;
    default: /* OPT_DUMP_FORMAT */
        rc = tool_choice (m->value, "dot", "graphml", &first, err);
        o->dump_format = first ? DUMP_DOT : DUMP_GRAPHML;
        return rc;
    }
}

/* -- top level -- */

static const struct tool tool = { "fluxq-match", options, print_help, apply };

static int set_defaults (struct options *o, struct error *err)
{
    *o = (struct options){ .dump_format = DUMP_DOT };
    int rc = set_reader (o, "grug", err);
    if (rc == 0)
        rc = set_writer (o, "simple", err);
    if (rc == 0)
        rc = match_policy_parse ("first", &o->policy, err);
    if (rc == 0)
        rc = set_subsystems (o, "CA", err);
    return rc;
}

int options_parse (struct options *o, int argc, char **argv)
{
    struct error err = { 0 };

    if (set_defaults (o, &err) < 0)
        return tool_usage (&tool, "%s", err.text);
    int rc = tool_options (&tool, o, argc, argv);
    if (rc != TOOL_GO)
        return rc;
    if (!o->load_file)
        return tool_usage (&tool, "--load-file is missing: the graph to match on");
    if (o->ntypes > 0 && set_types (o, "cluster", &err) < 0)
        return tool_usage (&tool, "%s", err.text);
    if (o->nfilters == 0 && set_filters (o, "ALL:core", &err) < 0)
        return tool_usage (&tool, "%s", err.text);
    return TOOL_GO;
}

void options_release (struct options *o)
{
    for (size_t i = 0; i < o->ntypes; i++)
        free (o->types[i]);
    for (size_t i = 0; i < o->nfilters; i++) {
        free (o->filters[i].at);
        free (o->filters[i].type);
    }
    o->ntypes = o->nfilters = 0;
}
