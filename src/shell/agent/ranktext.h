/* ranktext.h - the number of a rank, as the executor writes it
 *
 *     rank_parse ("3", &rank, err);      // 3
 *     rank_parse ("2+1", &rank, err);    // 3
 *
 * The second form is for a pod of one of several Jobs: the first rank of that Job, and
 * the index of the pod in it, which only Kubernetes knows when the template is written.
 */
#pragma once

#include "common/error.h"

#include <stdint.h>

/* 0 and the rank, 0 to INT32_MAX; -EINVAL or -ERANGE, and the error names --rank. */
int rank_parse (const char *text, int64_t *rank, struct error *err);
