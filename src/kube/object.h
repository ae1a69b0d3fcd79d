/* object.h - objects as the API server writes them
 *
 *     json_t *o = kube_object_parse (text, len, "answer", &err);
 *
 * metadata.managedFields, which says who has set which field, is often half of an object
 * and its most nested part. fluxq does not read it: the parser empties it where the API
 * server writes it. Source: kubernetes.io, "Server-Side Apply".
 */
#pragma once

#include <jansson.h>

#include "common/error.h"

/* Parses one value of JSON of len bytes; otherwise as json_parse(). New reference or
 * NULL. */
json_t *kube_object_parse (const char *text, size_t len, const char *what,
                           struct error *err);
/* Copies text without the content of its managedFields; to has room for len bytes.
 * Returns the new length. Text that is no JSON stays invalid. */
size_t kube_object_strip (const char *text, size_t len, char *to);

/* Returns that label of the object, borrowed; "": it has none. */
const char *kube_label (const json_t *object, const char *key);
/* Returns the condition of that type in a status, borrowed; NULL: there is none. */
const json_t *kube_condition (const json_t *status, const char *type);

/* Writes a unix time: "2026-01-31T12:00:00Z"; micro: "2026-01-31T12:00:00.000000Z". */
#define KUBE_TIME_MAX 40
void kube_time_write (double when, bool micro, char ret[KUBE_TIME_MAX]);
/* 0: the text is no time. Whole seconds. */
double kube_time_read (const char *text);
