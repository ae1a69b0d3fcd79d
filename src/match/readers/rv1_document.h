/* rv1_document.h - a text in R version 1 (RFC 20), checked
 *
 *     struct rv1_document d;
 *     if (rv1_document_parse (&d, text, len, &err) < 0) ...
 *     // err.text: "R: execution.R_lite[2].rank: idset '-1': ..."
 *     for (size_t i = 0; i < d.nentries; i++) ...
 *     rv1_document_release (&d);
 *
 * "version", "execution" and its "R_lite" are required. Each rank occurs once; a nodelist
 * has a name for each rank. "properties" may name ranks that are not in R. Times are
 * ignored. A few bytes of R can describe very many resources, so their number is limited
 * as well.
 */
#pragma once

#include "common/hostlist.h"
#include "common/json.h"
#include "match/graph/graph.h"

#define RV1_RANKS_MAX 1000000
#define RV1_GROUPS_MAX (1u << 22) /* ranges of ids, over all ranks */
#define RV1_UNITS_MAX (1u << 28)  /* ids, over all ranks */

struct rv1_range {
    uint32_t first, last;
};

struct rv1_kind { /* "core": "0-3,7" */
    const char *type;
    struct rv1_range *ranges; /* ascending, disjoint */
    size_t nranges;
    uint32_t count; /* number of ids */
};

struct rv1_entry { /* of R_lite */
    struct idset *ranks;
    struct rv1_kind *kinds; /* in the order of the text */
    size_t nkinds;
};

struct rv1_document {
    json_t *root;
    struct rv1_entry *entries;
    size_t nentries;
    uint32_t *ranks; /* of all entries, ascending */
    size_t nranks;
    struct hostlist *hosts;   /* hosts[i] belongs to ranks[i]; NULL: no nodelist */
    json_t *properties;       /* borrowed, or NULL */
    json_t *graph;            /* "scheduling" if it is a graph in a known format, or
                               * NULL */
    const char *graph_reader; /* the reader for that graph: "jgf", "jgf_shorthand" */
};

/* 0, -EINVAL, -ERANGE, -E2BIG, -ENOMEM. The caller releases d in any case. */
int rv1_document_parse (struct rv1_document *d, const char *text, size_t len,
                        struct error *err);
void rv1_document_release (struct rv1_document *d);
/* Returns the index of the rank in d->ranks, or of the next greater one. */
size_t rv1_rank_index (const struct rv1_document *d, uint32_t rank);
/* NULL: no nodelist. */
const char *rv1_host (const struct rv1_document *d, uint32_t rank);

#define autorv1 __attribute__ ((cleanup (rv1_document_release)))
