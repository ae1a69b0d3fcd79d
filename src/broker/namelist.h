/* namelist.h - a comma list of names, which is asked for each of many jobs
 *
 *     struct namelist w = { 0 };
 *     namelist_parse (&w, "ann,bob", "user", &err);
 *     namelist_has (&w, "bob");                  // true
 *     namelist_release (&w);
 *
 * Sorted once, so that a request with a long list costs no more for each job than one with a
 * short list does: O(log of the names).
 */
#ifndef FLUXQ_BROKER_NAMELIST_H
#define FLUXQ_BROKER_NAMELIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define NAMELIST_MAX 10000

struct namelist {
    char *text; /* NULL: no list was given */
    char **v;
    size_t n;
};

/* Copies the text; "" is a list without names. -ERANGE: more than NAMELIST_MAX; -ENOMEM. */
int namelist_parse (struct namelist *w, const char *text, const char *what, struct error *err);
bool namelist_has (const struct namelist *w, const char *word);
void namelist_release (struct namelist *w);

#endif
