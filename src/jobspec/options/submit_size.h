/* submit_size.h - numbers of nodes or tasks, fixed or of several sizes (-N 4-16)
 *
 *     if (!size_divide (&so->nodes, 4, &racks))
 *         error_set (err, EINVAL, "-N %s does not divide", size_text (&so->nodes).s);
 */
#pragma once

#include "jobspec/options/submit_options.h"

bool size_is_elastic (const struct submit_size *z);
/* Whether it has no greatest size: 4+ */
bool size_is_open (const struct submit_size *z);
/* Whether each number from the least to the greatest is a size. */
bool size_is_plain (const struct submit_size *z);
void size_set_fixed (struct submit_size *z, int64_t n);
void size_set_range (struct submit_size *z, int64_t min, int64_t max);
/* Copy to *to, which has no list. 0 or -ENOMEM. */
int size_copy (const struct submit_size *from, struct submit_size *to, struct error *err);
/* Divide each size into *to, whose list the caller destroys; false: not all sizes divide.
 * In a range of all numbers, only each by-th number stays. */
bool size_divide (const struct submit_size *from, int64_t by, struct submit_size *to);

struct size_text {
    char s[80];
};
/* The sizes as in the option: "4-16" */
struct size_text size_text (const struct submit_size *z);
