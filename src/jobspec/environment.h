/* environment.h - which of the user's variables a job gets: --export
 *
 *     rc = environment_check ("ALL,A=1", "--export", &err);
 *     rc = environment_select ("ALL,A=1", environ, &env, &err);  // {"A": "1", ...}
 *
 *     rc = environment_add_file (env, "vars", &err);             // --export-file
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

/* Whether the job is to get the environment of a login shell with it, as sbatch does: all
 * but ALL and NIL. spec: checked, or NULL. */
bool environment_wants_login (const char *spec);
/* Set what the file has, NAME=VALUE each ended by a NUL (the last need not be): all of it or
 * nothing. -EINVAL names what is wrong and where. */
int environment_add_file (json_t *env, const char *path, struct error *err);

#endif
