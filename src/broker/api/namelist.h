/* namelist.h - a comma-separated list of names, for look-ups of many jobs
 *
 *     struct namelist w = { 0 };
 *     namelist_parse (&w, "ann,bob", "user", &err);
 *     namelist_has (&w, "bob");                  // true
 *     namelist_release (&w);
 *
 * The list is sorted once, so a look-up takes O(log names) and a long list in a request
 * costs hardly more for each job than a short one.
 */
#pragma once

#include "common/error.h"

#define NAMELIST_MAX 10000

struct namelist {
    char *text; /* NULL: no list */
    char **v;
    size_t n;
};

/* Copies the text; "" is a list without names. -ERANGE: over NAMELIST_MAX; -ENOMEM. */
int namelist_parse (struct namelist *w, const char *text, const char *what, struct error *err);
bool namelist_has (const struct namelist *w, const char *word);
void namelist_release (struct namelist *w);
