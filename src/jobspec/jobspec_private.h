/* jobspec_private.h - what the files of the jobspec parser share
 */
#pragma once

#include "jobspec/jobspec.h"

/* A place in the document, for errors: a linked list on the stack from the value up to
 * the root, written as text ("resources[0].with[1].count") only for an error. */
struct place {
    const struct place *up; /* NULL: below the root */
    const char *key;        /* NULL: a list's element */
    size_t index;
};

/* error_set (EINVAL) with "jobspec: PLACE: " before the text. at NULL: the root. */
int jobspec_fail (struct error *err, const struct place *at, const char *fmt, ...)
    PRINTF_LIKE (3, 4);

/* -EINVAL unless the document is an object with the keys version, resources, tasks and
 * attributes, and no others. */
int jobspec_check_keys (const json_t *root, struct error *err);
/* Read the resource tree from the document's list. *ret is NULL and *ret_n 0 before; the
 * caller releases the tree, also after an error. general: the rules of request.h; else
 * the rules for users (jobspec.h): labels are unique, slots have children and are not
 * nested. */
int jobspec_parse_resources (const json_t *list, bool general,
                             struct jobspec_resource **ret, size_t *ret_n,
                             struct error *err);
void jobspec_release_resources (struct jobspec_resource *r, size_t n);
/* Read r->count, and r->sizes if the count is a list. */
int jobspec_parse_count (const json_t *v, bool general, const struct place *at,
                         struct jobspec_resource *r, struct error *err);
/* The slot with this label, or NULL. */
const struct jobspec_resource *jobspec_find_slot (const struct jobspec *js,
                                                  const char *label);
/* -EINVAL if a malleable job has something that malleable jobs cannot have. */
int jobspec_check_malleable (const struct jobspec *js, struct error *err);
/* -EINVAL if the job has segments and another placement. */
int jobspec_check_segments (const struct jobspec *js, struct error *err);
/* Read the fields of js that come from attributes.system (attributes NULL: none). */
int jobspec_parse_attributes (struct jobspec *js, const json_t *attributes,
                              struct error *err);
/* Read js->components from the document. -EINVAL if a component, or a job with components,
 * has what such jobs cannot have. Call it last. */
int jobspec_parse_components (struct jobspec *js, struct error *err);
void jobspec_release_components (struct jobspec *js);
