/* kvs.h - keys and values that the tasks of a step tell each other
 *
 *     struct kvs *kvs = kvs_create (PMI_KVS_MAX);
 *     kvs_put (kvs, "card-3", 6, "10.0.0.7:4711", 13);
 *     kvs_pack (kvs, &changes);                     // what was put here since the last time,
 *     kvs_merge (kvs, all, len, &err);              // and what came from every rank
 *     const struct kvs_pair *pair = kvs_get (kvs, "card-3", 6);
 *     kvs_destroy (kvs);
 *
 * A hash table with open addressing over an array of pairs in the order in which their keys
 * came: all is O(1) amortized, nothing is ever removed. Keys and values are bytes without NUL,
 * kept with a NUL behind them. Never holds more than its bound. libc only, no input or output.
 */
#ifndef FLUXQ_SHELL_KVS_H
#define FLUXQ_SHELL_KVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

#define KVS_KEY_MAX 64     /* bytes, without NUL; PMI2_MAX_KEYLEN */
#define KVS_VALUE_MAX 1024 /* bytes, without NUL; PMI2_MAX_VALLEN */
#define KVS_PAIR_COST 64   /* what a pair counts besides its key and value */

struct kvs_pair {
    char *key; /* key, NUL, value, NUL: one piece of memory */
    uint32_t key_len;
    uint32_t value_len;
    uint32_t hash;
    bool changed; /* put here since the last kvs_pack() */
};

static inline const char *kvs_value (const struct kvs_pair *pair)
{
    return pair->key + pair->key_len + 1;
}

/* max: the most bytes that keys, values and KVS_PAIR_COST for each pair may take. NULL: no
 * memory. */
struct kvs *kvs_create (size_t max);
void kvs_destroy (struct kvs *kvs);

/* Set, or replace, what key has, and mark it as changed. -ENAMETOOLONG: the key is empty or
 * longer than KVS_KEY_MAX; -EMSGSIZE: the value is longer than KVS_VALUE_MAX; -EINVAL: a NUL in
 * one of them; -ENOSPC: past the bound; -ENOMEM. After an error all is as before. */
int kvs_put (struct kvs *kvs, const char *key, size_t key_len, const char *value,
             size_t value_len);

/* NULL: no such key. Valid until the next put or merge. */
const struct kvs_pair *kvs_get (const struct kvs *kvs, const char *key, size_t key_len);

/* The pair with that number, counted from 0 in the order in which the keys came; NULL: there are
 * no so many. Valid until the next put or merge. */
const struct kvs_pair *kvs_at (const struct kvs *kvs, size_t index);

/* Append the changed pairs to out and mark them as not changed. Any number of such texts may be
 * put one behind the other. -ENOMEM or -E2BIG (out's bound): they remain marked. */
int kvs_pack (struct kvs *kvs, struct strbuf *out);

/* Put all pairs of packed texts, the last of several with the same key; but what was put here
 * since kvs_pack() stays, as it is newer. -EPROTO: not such a text, nothing was put; -ENOSPC,
 * -ENOMEM: what came before was put. */
int kvs_merge (struct kvs *kvs, const char *data, size_t len, struct error *err);

#endif
