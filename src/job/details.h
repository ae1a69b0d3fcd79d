/* details.h - values of a job's request that listings show, packed into one text
 *
 *     char *packed;                                  // {"cwd": "/home/ann", "gpus": "2"}
 *     rc = details_pack (json_object_get (context, "details"), &packed);
 *     details_get (packed, "cwd");                   // "/home/ann"
 *     free (packed);
 *
 * A job in memory has no jobspec, so the submit event names the values that a listing of
 * many jobs needs. Most jobs have a few of them; a packed text takes a third of the memory
 * of an object. Keys and values are strings; others are left out.
 */
#pragma once

#include "common/json.h"

/* 0 and *ret, which the caller frees; NULL: there is nothing to pack (o may be NULL).
 * -ENOMEM. */
int details_pack (const json_t *o, char **ret);
/* The value of the key, borrowed; NULL: none, or packed is NULL. O(size). */
const char *details_get (const char *packed, const char *key);
/* The values as a new object; NULL: no memory, or packed is NULL. */
json_t *details_to_json (const char *packed);
