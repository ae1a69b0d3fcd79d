/* json.h - helpers over jansson: checked reading with the place in the error
 *
 *     autojson json_t *o = json_parse (text, len, "jobspec", &err);
 *     const char *name;
 *     if (json_get_string (o, "name", &name, JSON_REQUIRED, "job", &err) < 0) ...
 *     // err.text: "job.name: expected a string, got an integer"
 *
 * Getters return 1 if the key exists and is valid, 0 if it is absent and not required
 * (*ret is unchanged), else a negative errno: -EINVAL (missing, or of another type; null
 * is a type of its own, not absence) or -ERANGE. Strings are borrowed from the object.
 * `where` can be NULL.
 */
#pragma once

#include <jansson.h>

#include "common/error.h"
#include "common/strbuf.h"

enum json_need { JSON_OPTIONAL_KEY, JSON_REQUIRED };

#define autojson __attribute__ ((cleanup (json_decrefp)))

/* Parse one value of len bytes; doubled keys, NUL in strings and keys, and trailing text
 * are refused. NULL on error: "WHAT: line L column C: reason". New reference. */
json_t *json_parse (const char *text, size_t len, const char *what, struct error *err);

/* The string of the key, borrowed; "" if the key is absent or no string. */
const char *json_text (const json_t *o, const char *key);

int json_get_string (const json_t *o, const char *key, const char **ret,
                     enum json_need need, const char *where, struct error *err);
int json_get_int (const json_t *o, const char *key, int64_t min, int64_t max,
                  int64_t *ret, enum json_need need, const char *where,
                  struct error *err);
int json_get_double (const json_t *o, const char *key, double min, double max,
                     double *ret, enum json_need need, const char *where,
                     struct error *err);
int json_get_bool (const json_t *o, const char *key, bool *ret, enum json_need need,
                   const char *where, struct error *err);
int json_get_object (const json_t *o, const char *key, json_t **ret, enum json_need need,
                     const char *where, struct error *err); /* borrowed */
int json_get_array (const json_t *o, const char *key, json_t **ret, enum json_need need,
                    const char *where, struct error *err); /* borrowed */
/* -EINVAL when o has a key that is not in the NULL-terminated list. */
int json_only_keys (const json_t *o, const char *const keys[], const char *where,
                    struct error *err);
const char *json_type_name (const json_t *v); /* "a string", "an integer", ... */
/* Append v in compact form. */
int strbuf_add_json_value (struct strbuf *sb, const json_t *v);
