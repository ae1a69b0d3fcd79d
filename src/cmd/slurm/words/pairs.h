/* pairs.h - "Key=value" words of scontrol, read by a table of keys
 *
 *     static const struct pair_key keys[] = {
 *         { "JobId", 3, JOB, NULL },
 *         { "Partition", 2, 0, "a job keeps its queue: cancel it and submit it again" },
 *         { 0 },
 *     };
 *     rc = pairs_next (&p, keys, &pair, &err);     // 1: pair is set; 0: the end
 *
 * A key may be written in any case and shortened to its first `min` characters; the first
 * row that matches counts, as in Slurm. "Key value" without '=' is the same as "Key=value".
 */
#pragma once

#include "common/error.h"

struct pair_key {
    const char *name; /* NULL ends the table */
    size_t min;
    int id;
    const char *refused; /* why fluxq does not have the key, or NULL */
    bool bare;           /* has no value when there is no '=' */
};

struct pairs {
    char **word;
    int n, next;
};

struct pair {
    const struct pair_key *key;
    const char *value; /* "" for a bare key */
    char sign;         /* '+' or '-' of "Key+=value", else 0 */
};

enum { PAIR_MALFORMED = -1, PAIR_UNKNOWN = -2, PAIR_REFUSED = -3 };

/* 1 and *ret; 0: no word is left; negative: the error, which names the word. */
int pairs_next (struct pairs *p, const struct pair_key *keys, struct pair *ret,
                struct error *err);
/* The table's row for the first word that has one; NULL: none has. */
const struct pair_key *pairs_find (const struct pairs *p, const struct pair_key *keys);
