/* environment.h - which of the user's variables a job gets: --export
 *
 *     rc = environment_check ("ALL,A=1", "--export", &err);
 *     rc = environment_select ("ALL,A=1", environ, &env, &err);  // {"A": "1", ...}
 *
 * The rules are in submit_options.h.
 */
#ifndef FLUXQ_JOBSPEC_ENVIRONMENT_H
#define FLUXQ_JOBSPEC_ENVIRONMENT_H

#include "common/json.h"

/* Whether spec is such a list; the error begins with where. */
int environment_check (const char *spec, const char *where, struct error *err);
/* *ret: a new object of strings. spec NULL: ALL; environ_list NULL: empty. */
int environment_select (const char *spec, char *const environ_list[], json_t **ret,
                        struct error *err);

#endif
