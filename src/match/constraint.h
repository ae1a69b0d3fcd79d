/* constraint.h - which nodes a job may have (RFC 31)
 *
 *     struct constraint *c = constraint_compile (js->constraints, &err);
 *     if (constraint_allows (c, node)) ...           // NULL allows every node
 *
 * {"and"|"or"|"not": [...]}, {"properties": [...]} with "^name" for "must not have",
 * {"hostlist": ["n[1-3]"]}, {"ranks": ["0-3"]}. Several operators in one object are
 * anded. Empty: {} {"and": []} {"or": []} {"properties": []} allow all, {"not": []} none;
 * an empty hostlist or ranks is an error. Limits: 32 levels, 1,000 operators, 65,536
 * hosts.
 */
#ifndef FLUXQ_MATCH_CONSTRAINT_H
#define FLUXQ_MATCH_CONSTRAINT_H

#include "common/json.h"
#include "match/machine_private.h"

struct constraint;

/* NULL with a reason. */
struct constraint *constraint_compile (const json_t *o, struct error *err);
void constraint_destroy (struct constraint *c);
bool constraint_allows (const struct constraint *c, const struct machine_node *n);
size_t constraint_memory (const struct constraint *c); /* bytes, about */

#endif
