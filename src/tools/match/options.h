/* options.h - the command line of fluxq-match
 *
 *     struct options o;
 *     rc = options_parse (&o, argc, argv);        // TOOL_GO, or exit with it
 *
 * One table makes the parsing and the help. Names and letters are those of Fluxion's
 * resource-query, so that scripts for it work here.
 */
#pragma once

#include <stdbool.h>

#include "match/policies/policy.h"
#include "match/readers/reader.h"
#include "match/writers/writer.h"

#define OPTIONS_FILTERS_MAX 64
#define OPTIONS_TYPES_MAX 64
#define OPTIONS_SUBSYSTEMS_MAX 5

/* -p HL:LL: vertices of type `at` ("ALL": all) know how much of `type` is free below
 * them. */
struct filter {
    char *at, *type;
};

enum dump_format { DUMP_DOT, DUMP_GRAPHML };

struct options {
    const char *load_file;
    const struct match_reader *reader;
    const struct match_writer *writer;
    struct match_policy policy;
    const char *subsystems[OPTIONS_SUBSYSTEMS_MAX + 1]; /* the first is the main tree */
    bool flexible;
    char *types[OPTIONS_TYPES_MAX + 1]; /* to load; types[0] NULL: all */
    size_t ntypes;
    struct filter filters[OPTIONS_FILTERS_MAX];
    size_t nfilters;
    const char *result_file; /* NULL: stdout */
    const char *dump_base;   /* or NULL */
    enum dump_format dump_format;
    bool times;     /* -e */
    bool no_prompt; /* -d */
};

/* TOOL_GO, or the exit status after help or a message. */
int options_parse (struct options *o, int argc, char **argv);
void options_release (struct options *o);
