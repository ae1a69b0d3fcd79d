/* thousandths.h - numbers in thousandths, as Kubernetes writes CPUs: 0.5, 500m
 *
 *     int64_t milli;
 *     if (thousandths_parse ("1.5", INT32_MAX, &milli, "--cpus-per-task", &err) < 0) ...;
 *     // milli == 1500
 *     strbuf_add_thousandths (&sb, 500);             // "0.5"
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

/* Parse "N", "N.N", ".N" or "Nm" (thousandths), from 1 to max thousandths. -EINVAL, also
 * for fractions of a thousandth; -ERANGE; `what` begins the error. */
int thousandths_parse (const char *text, int64_t max, int64_t *ret, const char *what,
                       struct error *err);
/* Append n without trailing zeros: "2", "0.5", "0.125". n: not negative. */
void strbuf_add_thousandths (struct strbuf *sb, int64_t n);
/* n thousandths as a whole number, rounded up. n: not negative. */
static inline int64_t milli_whole (int64_t n)
{
    return n / 1000 + (n % 1000 != 0);
}
