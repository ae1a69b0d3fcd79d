/* jobspec_private.h - what the files of the jobspec parser share
 */
#ifndef FLUXQ_JOBSPEC_JOBSPEC_PRIVATE_H
#define FLUXQ_JOBSPEC_JOBSPEC_PRIVATE_H

#include "jobspec/jobspec.h"

/* A place in the document, for errors: a list on the stack from the value up to the root,
 * turned into text ("resources[0].with[1].count") only when something is wrong. */
struct place {
    const struct place *up; /* NULL: below the root */
    const char *key;        /* NULL: a list's element */
    size_t index;
};

/* error_set (EINVAL) with "jobspec: PLACE: " before the text. at NULL: the root. */
int jobspec_fail (struct error *err, const struct place *at, const char *fmt, ...)
    PRINTF_LIKE (3, 4);

/* The document is an object with version, resources, tasks, attributes, and no others. */
int jobspec_check_keys (const json_t *root, struct error *err);
/* The tree from the document's list, the caller's to release also on failure (*ret NULL
 * and *ret_n 0 before). The rules for users (jobspec.h): labels are unique, slots hold
 * something and are not nested. The general ones are those of request.h. */
int jobspec_parse_resources (const json_t *list, bool general,
                             struct jobspec_resource **ret, size_t *ret_n,
                             struct error *err);
void jobspec_release_resources (struct jobspec_resource *r, size_t n);
/* r->count, and in general r->sizes. */
int jobspec_parse_count (const json_t *v, bool general, const struct place *at,
                         struct jobspec_resource *r, struct error *err);
/* The slot of that label, or NULL. */
const struct jobspec_resource *jobspec_find_slot (const struct jobspec *js,
                                                  const char *label);
/* What a malleable job cannot have. -EINVAL. */
int jobspec_check_malleable (const struct jobspec *js, struct error *err);
/* js's fields of attributes.system, from attributes (NULL: there are none). */
int jobspec_parse_attributes (struct jobspec *js, const json_t *attributes,
                              struct error *err);

#endif
