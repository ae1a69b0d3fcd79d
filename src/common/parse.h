/* parse.h - numbers, sizes, durations and times from text, one helper each, with a range
 *
 *     int64_t n;
 *     if (parse_int (arg, 1, 1 << 20, &n, "--nodes", &err) < 0) ...
 *     // err.text: "--nodes: 'abc' is not an integer from 1 to 1048576"
 *
 * All take the whole text (no trailing garbage, no leading blank), return 0 or -EINVAL
 * (not such a text) or -ERANGE (outside the range), and name `what` first in the error.
 */
#ifndef FLUXQ_COMMON_PARSE_H
#define FLUXQ_COMMON_PARSE_H

#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

int parse_int (const char *text, int64_t min, int64_t max, int64_t *ret, const char *what,
               struct error *err);

/* "4" or "4-16" (min-max); *ret_max == *ret_min for one number. min > max: -EINVAL. */
int parse_count_range (const char *text, int64_t min, int64_t max, int64_t *ret_min,
                       int64_t *ret_max, const char *what, struct error *err);

/* A memory size in Slurm's way: a number with K, M, G, T or P (and optional "i", "B"),
 * 1024-based, without a suffix MiB. Result in MiB, rounded up, 0 <= MiB <= 2^40. */
int parse_memory_mib (const char *text, int64_t *ret_mib, const char *what,
                      struct error *err);

/* A bare byte count with Kubernetes-style suffix (Ki Mi Gi Ti, k M G T, none = bytes), as
 * in quantities and our configuration ("64Mi"). Result in bytes. */
int parse_bytes (const char *text, int64_t *ret, const char *what, struct error *err);

/* A time limit in Slurm's form: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S, UNLIMITED/INFINITE.
 * Result in seconds; unlimited = 0. Fields after the first must be in range (M, S < 60;
 * H < 24 when days are given). At most 10 years. */
int parse_timelimit (const char *text, double *ret_seconds, const char *what,
                     struct error *err);

/* Flux Standard Duration (RFC 23): N[ms|s|m|h|d], decimal fraction allowed,
 * "infinity"/"inf" = 0 here (unlimited). Bare number = seconds. Result in seconds >= 0,
 * at most 100 years. */
int parse_fsd (const char *text, double *ret_seconds, const char *what,
               struct error *err);

/* Print seconds: "1-02:03:04", "2:03:04", "3:04", "0:07" (Slurm's short form). */
int strbuf_add_duration (struct strbuf *sb, double seconds);

/* Print unix time t in the local zone as 2026-11-20T12:19:18. */
int strbuf_add_time (struct strbuf *sb, double t);

/* A list of job ids and ranges, "1,4-7", and of tasks of arrays, "12_3", "12_1-3",
 * "12_[1-3,7]" or "12_[1-3,7%2]": calls fn for each. At most 10,000 of them. The whole text is checked before
 * the first call, but for what stands behind the '_'. Ends at, and returns, the first
 * non-zero value of fn. 1 <= id < 2^63. */
struct id_range {
    uint64_t first, last;
    /* behind the '_', without brackets and %N, in text; NULL: no such */
    const char *tasks;
    size_t tasks_len;
};
int parse_id_ranges (const char *text, int (*fn) (const struct id_range *r, void *arg),
                     void *arg, const char *what, struct error *err);

/* Signals: "TERM", "sigterm", "15" -> 15; numbers from 1 to 64. */
int parse_signal (const char *text, int *ret, const char *what, struct error *err);
/* 15 -> "TERM"; NULL for a number that has no name (real-time signals too). */
const char *signal_name (int sig);

#endif
