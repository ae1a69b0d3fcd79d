/* parse.h - parsers for numbers, sizes, durations and times, each with a range
 *
 *     int64_t n;
 *     if (parse_int (arg, 1, 1 << 20, &n, "--nodes", &err) < 0) ...
 *     // err.text: "--nodes: 'abc' is not an integer from 1 to 1048576"
 *
 * All parse the whole text (no trailing garbage, no leading blank) and return 0, -EINVAL
 * (syntax) or -ERANGE (outside the range). The error begins with `what`.
 */
#pragma once

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

/* A byte count with a suffix of Kubernetes (Ki Mi Gi Ti, k M G T, none = bytes), as in
 * quantities and in fluxq's configuration ("64Mi"). Result in bytes. */
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
 * "12_[1-3,7]" or "12_[1-3,7%2]", at most 10,000 items: calls fn for each. The whole
 * text, except the parts after a '_', is checked before the first call. Stops at the
 * first non-zero value of fn and returns it. 1 <= id < 2^63. */
struct id_range {
    uint64_t first, last;
    /* text after the '_', without brackets and %N, in the parsed text; NULL: no '_' */
    const char *tasks;
    size_t tasks_len;
};
int parse_id_ranges (const char *text, int (*fn) (const struct id_range *r, void *arg),
                     void *arg, const char *what, struct error *err);

/* Signals: "TERM", "sigterm", "15" -> 15; numbers from 1 to 64. */
int parse_signal (const char *text, int *ret, const char *what, struct error *err);
/* 15 -> "TERM"; NULL for a number without a name, such as a real-time signal. */
const char *signal_name (int sig);
/* Whether the value is one of the words, which have a '|' between them. */
bool parse_is_word_of (const char *value, const char *words);
