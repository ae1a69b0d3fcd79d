/* stage.h - files that are copied to a job and back: --stage-in, --stage-out
 *
 *     struct stage_list in = { 0 };
 *     stage_list_add_text (&in, "data/input.dat:in.dat", "--stage-in", &err);
 *     in.v[0].from, in.v[0].to                       // "data/input.dat", "in.dat"
 *     json_t *list = stage_list_to_json (&in);       // [{"from": ..., "to": ...}]
 *     stage_list_release (&in);
 *
 * Both names are patterns (pattern.h) without %J, %s and %t. The first ':' of a text
 * separates them; without one `to` is the base name of `from`. For stage-in, `from` is a
 * file where the user submitted and `to` a file of the job; for stage-out it is the other
 * way round. Each entry of a list has a different `to`.
 */
#pragma once

#include "common/json.h"

#define STAGE_MAX 64        /* entries of a list */
#define STAGE_NAME_MAX 4095 /* bytes of a name */

struct stage_entry {
    char *from, *to;
};

struct stage_list {
    struct stage_entry *v;
    size_t n;
};

/* Add FILE[:DEST], checked. -EINVAL (the error begins with where), -ENOMEM. */
int stage_list_add_text (struct stage_list *list, const char *text, const char *where,
                         struct error *err);
/* Add an entry; to can be NULL. Errors as above. */
int stage_list_add (struct stage_list *list, const char *from, const char *to,
                    const char *where, struct error *err);
/* Read an array of {"from", "to"} (to is optional) into an empty list. The caller
 * releases the list, also after an error. */
int stage_list_from_json (struct stage_list *list, const json_t *array, const char *where,
                          struct error *err);
/* The array, a new reference; NULL: no memory. */
json_t *stage_list_to_json (const struct stage_list *list);
void stage_list_release (struct stage_list *list);
