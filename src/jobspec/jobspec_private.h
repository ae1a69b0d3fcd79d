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

/* js->resources from the document's list; labels are unique, slots not nested. */
int jobspec_parse_resources (struct jobspec *js, const json_t *list, struct error *err);
void jobspec_release_resources (struct jobspec *js);
/* The slot of that label, or NULL. */
const struct jobspec_resource *jobspec_find_slot (const struct jobspec *js,
                                                  const char *label);
/* js's fields of attributes.system, from attributes (NULL: there are none). */
int jobspec_parse_attributes (struct jobspec *js, const json_t *attributes,
                              struct error *err);

#endif
