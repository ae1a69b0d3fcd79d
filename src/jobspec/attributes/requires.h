/* requires.h - converts a user's constraint on nodes to an RFC 31 constraint
 *
 *     json_t *c = requires_parse ("fast&(a100|h100)", "--constraint", &err);
 *
 *     fast                    the node has this property
 *     host:node[1-4]          the node is one of these; rank:0-3: the same, by rank
 *     not slow, -slow, ^slow  negation
 *     a&b, a and b, a b       both;   a|b, a or b: at least one;   (...)
 *
 * The syntax is that of RFC 35. The parts that sbatch(1), "constraint", also has mean the
 * same. `not` binds before `and`, which binds before `or`. Names with blanks or any of
 * ()|&"' are quoted.
 */
#pragma once

#include "common/json.h"

#define REQUIRES_MAX 4096 /* bytes of the text */
#define JOBSPEC_HOSTS_MAX 65536 /* names in all hostlists of the constraints */

/* A new object; NULL: -EINVAL with where, the text and the reason, or -ENOMEM. */
json_t *requires_parse (const char *text, const char *where, struct error *err);
/* {"hostlist": [hosts]}; checked by hostlist_decode(). *ret_n: the number of hosts. */
json_t *requires_hosts (const char *hosts, const char *where, uint32_t *ret_n,
                        struct error *err);
