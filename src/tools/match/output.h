/* output.h - the answers of commands: resources, and blocks of INFO lines
 *
 * Resources and blocks go to the session's results; -e adds lines about time, which go to
 * stdout.
 */
#pragma once

#include "match/request/shape.h"
#include "tools/match/session.h"

#define OUTPUT_MAX ((size_t)1 << 32) /* bytes of one answer */

/* Writes a selection as text in the session's format; nothing for an empty one. shape or
 * counts may be NULL; counts: see counts.h. 0 or -errno with the reason. */
struct counts;
int output_encode (const struct session *s, const struct selection *selection,
                   const struct shape *shape, const struct counts *counts,
                   struct strbuf *sb, struct error *err);

void output_line (FILE *out); /* INFO: ==== */

struct match_times { /* seconds */
    double parse, decide, write;
};
static inline double match_times_sum (const struct match_times *t)
{
    return t->parse + t->decide + t->write;
}

enum match_verdict { MATCH_NONE, MATCH_NEVER, MATCH_FOUND, MATCH_BOOKED };
/* Prints the block after a match. at: start, seconds. */
void output_match (struct session *s, uint64_t job, enum match_verdict verdict,
                   int64_t at, const struct match_times *t);
void output_satisfiability (struct session *s, bool satisfiable,
                            const struct match_times *t);
