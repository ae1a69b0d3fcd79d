/* constraint.h - which nodes a job may have (RFC 31)
 *
 *     struct constraint *c = constraint_compile (js->constraints, &err);
 *     if (constraint_allows_vertex (c, g, v, 0)) ...     // NULL allows everything
 *
 * {"and"|"or"|"not": [...]}, {"properties": [...]} with "^name" for "must not have",
 * {"hostlist": ["n[1-3]"]}, {"ranks": ["0-3"]}. Several operators in one object are
 * combined with "and". {} {"and": []} {"or": []} {"properties": []} allow all nodes,
 * {"not": []} allows none; an empty hostlist or ranks is an error. Limits of a whole
 * constraint: 32 levels, 1,000 operators, 1,000 properties, JOBSPEC_HOSTS_MAX host names.
 * A property matches by its key, whatever its value; a host name is the name of a node or
 * vertex; a vertex without a rank is in no ranks.
 *
 * A compiled constraint is immutable and independent of any graph; several threads may
 * use it at once. A query costs about one look-up for each operator, O(log) of the names
 * or ranges that it lists.
 */
#pragma once

#include "common/json.h"
#include "match/graph/graph.h"

struct constraint;

/* Compiles a constraint; NULL with a reason. */
struct constraint *constraint_compile (const json_t *o, struct error *err);
void constraint_destroy (struct constraint *c);
bool constraint_allows_vertex (const struct constraint *c, const struct graph *g,
                               uint32_t v, uint32_t unit);
/* Returns property number i of those that all allowed vertices have: the names in
 * "properties", alone or in an "and", without "^". Borrowed; NULL: no more, or c is
 * NULL. */
const char *constraint_property (const struct constraint *c, size_t i);
/* Appends, after "its constraints allow none of the nodes", the single term that is the
 * reason, such as ": none has the property ssd"; appends nothing if several terms
 * together are. some() tells whether a constraint allows any of the nodes in question. */
typedef bool constraint_some_f (const struct constraint *c, const void *arg);
void constraint_add_why (const struct constraint *c, constraint_some_f *some,
                         const void *arg, struct strbuf *sb);
