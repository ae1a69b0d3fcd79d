/* rv1_text.h - R version 1 (RFC 20) on one line: what the formats rv1* share */
#ifndef FLUXQ_MATCH_WRITERS_RV1_TEXT_H
#define FLUXQ_MATCH_WRITERS_RV1_TEXT_H

#include "match/writer.h"

enum rv1_scheduling { RV1_NONE, RV1_JGF, RV1_JGF_BRIEF }; /* what stands there */

/* Nothing when no rank has a core or gpu of it: such an R would give nothing. Errors as
 * rlite_collect(); what was there before is kept then. */
int rv1_text_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, enum rv1_scheduling with);

#endif
