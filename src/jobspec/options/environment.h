/* environment.h - selects the user's environment variables that a job gets: --export
 *
 *     rc = environment_check ("ALL,A=1", "--export", &err);
 *     rc = environment_select ("ALL,A=1", environ, &env, &err);  // {"A": "1", ...}
 *
 *     rc = environment_add_file (env, "vars", &err);             // --export-file
 *
 * The rules are in submit_options.h.
 */
#pragma once

#include "common/json.h"

/* 0 if spec is a valid --export list; the error begins with where. */
int environment_check (const char *spec, const char *where, struct error *err);
/* The selected variables: *ret is a new object of strings. spec NULL: ALL; environ_list
 * NULL: empty. */
int environment_select (const char *spec, char *const environ_list[], json_t **ret,
                        struct error *err);

/* Whether the job also gets the environment of a login shell, as in sbatch: true unless
 * spec has ALL or is NIL. spec: checked, or NULL. */
bool environment_wants_login (const char *spec);
/* Move the values that are not UTF-8, which JSON cannot hold, from env into *ret, a new
 * object of their base64 (RFC 4648); NULL: there are none. -ENOMEM. */
int environment_take_bytes (json_t *env, json_t **ret);
/* Set all variables of the file, or none after an error. The file has NAME=VALUE entries,
 * each ended by a NUL (optional after the last). -EINVAL names the reason and the
 * place. */
int environment_add_file (json_t *env, const char *path, struct error *err);
