/* object.h - objects as the API server writes them
 *
 *     json_t *o = kube_object_parse (text, len, "answer", &err);
 *
 * metadata.managedFields, who has set which field, is often half of an object and the most
 * tangled part of it. Nobody here reads it: where it stands as the API server writes it, it is
 * empty after this. Source: kubernetes.io, "Server-Side Apply".
 */
#ifndef FLUXQ_KUBE_OBJECT_H
#define FLUXQ_KUBE_OBJECT_H

#include <jansson.h>
#include <stddef.h>

#include "common/error.h"

/* One value of JSON of len bytes; otherwise as json_parse(). New reference or NULL. */
json_t *kube_object_parse (const char *text, size_t len, const char *what,
                           struct error *err);
/* Copies text without what stands in its managedFields; to has room for len bytes. Returns how
 * many it became. Text that is no JSON stays none. */
size_t kube_object_strip (const char *text, size_t len, char *to);

/* That label of it, borrowed; "": it has none. */
const char *kube_label (const json_t *object, const char *key);

#endif
