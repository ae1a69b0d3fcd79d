/* constraint.h - which nodes a job may have (RFC 31)
 *
 *     struct constraint *c = constraint_compile (js->constraints, &err);
 *     if (constraint_allows_vertex (c, g, v, 0)) ...     // NULL allows everything
 *
 * {"and"|"or"|"not": [...]}, {"properties": [...]} with "^name" for "must not have",
 * {"hostlist": ["n[1-3]"]}, {"ranks": ["0-3"]}. Several operators in one object are
 * anded. Empty: {} {"and": []} {"or": []} {"properties": []} allow all, {"not": []} none;
 * an empty hostlist or ranks is an error. Limits, of the whole constraint:
 * 32 levels, 1,000 operators, 1,000 properties, JOBSPEC_HOSTS_MAX host names. A property is
 * had by its key, whatever its value; a host name is the name of a node or vertex; what has
 * no rank is in no ranks.
 *
 * Compiled it is immutable and of no graph; several threads may ask at once. An
 * answer costs about one look-up an operator, O(log) of the names or ranges it lists.
 */
#ifndef FLUXQ_MATCH_CONSTRAINT_H
#define FLUXQ_MATCH_CONSTRAINT_H

#include "common/json.h"
#include "common/strbuf.h"
#include "match/graph.h"

struct constraint;

/* NULL with a reason. */
struct constraint *constraint_compile (const json_t *o, struct error *err);
void constraint_destroy (struct constraint *c);
bool constraint_allows_vertex (const struct constraint *c, const struct graph *g,
                               uint32_t v, uint32_t unit);
/* Number i of the properties that everything it allows has: those in "properties", alone or
 * in an "and", that are not forbidden. Borrowed; NULL: no more, or c is NULL. */
const char *constraint_property (const struct constraint *c, size_t i);
/* For people, behind "its constraints allow none of the nodes": which term alone is why, as
 * ": none has the property ssd"; nothing where several together are. some() tells whether a
 * constraint allows any of the nodes in question. */
typedef bool constraint_some_f (const struct constraint *c, const void *arg);
void constraint_add_why (const struct constraint *c, constraint_some_f *some,
                         const void *arg, struct strbuf *sb);

#endif
