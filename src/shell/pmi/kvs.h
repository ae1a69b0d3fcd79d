/* kvs.h - keys and values that the tasks of a step exchange
 *
 *     struct kvs *kvs = kvs_create (PMI_KVS_MAX);
 *     kvs_put (kvs, "card-3", 6, "10.0.0.7:4711", 13);
 *     kvs_pack (kvs, &changes);                     // pairs put here since the last call
 *     kvs_merge (kvs, all, len, &err);              // pairs that came from all ranks
 *     const struct kvs_pair *pair = kvs_get (kvs, "card-3", 6);
 *     kvs_destroy (kvs);
 *
 * A hash table with open addressing over an array of pairs, in the order in which their
 * keys came. All operations are O(1) amortized; no pair is ever removed. Keys and values
 * are bytes without NUL, stored with a NUL behind them. The store never exceeds its
 * bound. libc only, no input or output.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define KVS_KEY_MAX 64     /* bytes, without NUL; PMI2_MAX_KEYLEN */
#define KVS_VALUE_MAX 1024 /* bytes, without NUL; PMI2_MAX_VALLEN */
#define KVS_PAIR_COST 64   /* bytes that a pair counts besides its key and value */

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

/* max: bound in bytes for keys, values and KVS_PAIR_COST for each pair. NULL: no
 * memory. */
struct kvs *kvs_create (size_t max);
void kvs_destroy (struct kvs *kvs);

/* Sets or replaces the value of key, and marks the pair as changed. -ENAMETOOLONG: the
 * key is empty or longer than KVS_KEY_MAX; -EMSGSIZE: the value is longer than
 * KVS_VALUE_MAX; -EINVAL: the key or the value has a NUL; -ENOSPC: the bound is reached;
 * -ENOMEM. An error changes nothing. */
int kvs_put (struct kvs *kvs, const char *key, size_t key_len, const char *value,
             size_t value_len);

/* NULL: no such key. Valid until the next put or merge. */
const struct kvs_pair *kvs_get (const struct kvs *kvs, const char *key, size_t key_len);

/* The pair with this number, counted from 0 in the order in which the keys came; NULL:
 * there are fewer pairs. Valid until the next put or merge. */
const struct kvs_pair *kvs_at (const struct kvs *kvs, size_t index);

/* Appends the changed pairs to out and marks them as unchanged. Several packed texts may
 * be concatenated. -ENOMEM or -E2BIG (out's bound): the pairs stay marked. */
int kvs_pack (struct kvs *kvs, struct strbuf *out);

/* Puts all pairs of packed texts; of several pairs with one key the last wins. A pair
 * that was put here since kvs_pack() stays, as it is newer. -EPROTO: invalid data,
 * nothing was put; -ENOSPC, -ENOMEM: the pairs before the error were put. */
int kvs_merge (struct kvs *kvs, const char *data, size_t len, struct error *err);
