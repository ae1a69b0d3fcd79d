/* rv1_text.h - R version 1 (RFC 20) on one line: shared by the formats rv1* */
#pragma once

#include "match/writers/writer.h"

enum rv1_scheduling { RV1_NONE, RV1_JGF, RV1_JGF_BRIEF }; /* the content of
                                                           * "scheduling" */

/* Appends nothing if no rank has a chosen core or gpu, as such an R would be empty.
 * Errors as rlite_collect(); sb is unchanged then. */
int rv1_text_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, enum rv1_scheduling with);
