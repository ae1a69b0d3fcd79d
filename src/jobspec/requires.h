/* requires.h - which nodes a job may have, as users write it, to RFC 31's constraint
 *
 *     json_t *c = requires_parse ("fast&(a100|h100)", "--constraint", &err);
 *
 *     fast                    has this property
 *     host:node[1-4]          is one of these; rank:0-3: by number
 *     not slow, -slow, ^slow  is or has it not
 *     a&b, a and b, a b       both;   a|b, a or b: one of them;   (...)
 *
 * As in RFC 35; what there is of it in sbatch(1), "constraint", means the same. `not` binds
 * before `and`, which binds before `or`. Names with blanks or any of ()|&"' are quoted.
 */
#ifndef FLUXQ_JOBSPEC_REQUIRES_H
#define FLUXQ_JOBSPEC_REQUIRES_H

#include "common/error.h"
#include "common/json.h"

#define REQUIRES_MAX 4096 /* bytes of the text */

/* A new object; NULL: -EINVAL with where, the text and what is wrong, or -ENOMEM. */
json_t *requires_parse (const char *text, const char *where, struct error *err);
/* {"hostlist": [hosts]}; checked by hostlist_decode(). ret_n: how many these are. */
json_t *requires_hosts (const char *hosts, const char *where, uint32_t *ret_n,
                        struct error *err);

#endif
