/* kvs.c - a hash table of keys and values, see kvs.h
 *
 * A packed pair is the lengths of key and value, 32 bits each (wire_put_u32), then key
 * and value. */
#include "shell/pmi/kvs.h"

#include "shell/io/wire.h"

#define SLOTS_FIRST 64
#define HEAD 8

struct kvs {
    struct kvs_pair *pairs;
    size_t npairs;
    size_t alloc;
    uint32_t *slots; /* number of a pair + 1, or 0: free; nslots is a power of two */
    size_t nslots;
    size_t used; /* bytes, at most max */
    size_t max;
    size_t nchanged;
};

struct kvs *kvs_create (size_t max)
{
    struct kvs *kvs = calloc (1, sizeof (*kvs));

    if (kvs)
        kvs->max = max;
    return kvs;
}

void kvs_destroy (struct kvs *kvs)
{
    if (!kvs)
        return;
    for (size_t i = 0; i < kvs->npairs; i++)
        free (kvs->pairs[i].key);
    free (kvs->pairs);
    free (kvs->slots);
    free (kvs);
}

/* FNV-1a. */
static uint32_t hash_of (const char *key, size_t len)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)key[i]) * 16777619u;
    return h;
}

/* Finds the slot of the key, or the free slot where it belongs. At most half of the slots
 * are taken, so there is one. */
static size_t find_slot (const struct kvs *kvs, const char *key, size_t len,
                         uint32_t hash)
{
    size_t mask = kvs->nslots - 1;
    size_t at = hash & mask;

    for (; kvs->slots[at] != 0; at = (at + 1) & mask) {
        const struct kvs_pair *pair = &kvs->pairs[kvs->slots[at] - 1];
        if (pair->hash == hash && pair->key_len == len
            && memcmp (pair->key, key, len) == 0)
            break;
    }
    return at;
}

static int grow_slots (struct kvs *kvs)
{
    size_t n = kvs->nslots ? kvs->nslots * 2 : SLOTS_FIRST;
    uint32_t *slots = calloc (n, sizeof (*slots));

    if (!slots)
        return -ENOMEM;
    free (kvs->slots);
    kvs->slots = slots;
    kvs->nslots = n;
    for (size_t i = 0; i < kvs->npairs; i++) {
        const struct kvs_pair *pair = &kvs->pairs[i];
        slots[find_slot (kvs, pair->key, pair->key_len, pair->hash)] = (uint32_t)i + 1;
    }
    return 0;
}

/* Makes room for one more pair. */
static int grow (struct kvs *kvs)
{
    if (array_reserve (&kvs->pairs, &kvs->alloc, kvs->npairs + 1, sizeof (*kvs->pairs))
        < 0)
        return -ENOMEM;
    return kvs->npairs * 2 >= kvs->nslots ? grow_slots (kvs) : 0;
}

static int check (const char *key, size_t key_len, const char *value, size_t value_len)
{
    if (key_len == 0 || key_len > KVS_KEY_MAX)
        return -ENAMETOOLONG;
    if (value_len > KVS_VALUE_MAX)
        return -EMSGSIZE;
    if (memchr (key, '\0', key_len) || (value_len && memchr (value, '\0', value_len)))
        return -EINVAL;
    return 0;
}

static char *join (const char *key, size_t key_len, const char *value, size_t value_len)
{
    char *text = malloc (key_len + value_len + 2);

    if (!text)
        return NULL;
    memcpy (text, key, key_len);
    text[key_len] = '\0';
    if (value_len)
        memcpy (text + key_len + 1, value, value_len);
    text[key_len + 1 + value_len] = '\0';
    return text;
}

static int replace (struct kvs *kvs, struct kvs_pair *pair, const char *value, size_t len)
{
    if (kvs->used - pair->value_len + len > kvs->max)
        return -ENOSPC;
    char *text = join (pair->key, pair->key_len, value, len);
    if (!text)
        return -ENOMEM;
    free (pair->key);
    pair->key = text;
    kvs->used += len - pair->value_len;
    pair->value_len = (uint32_t)len;
    return 0;
}

static int add (struct kvs *kvs, const char *key, size_t key_len, const char *value,
                size_t value_len)
{
    size_t cost = key_len + value_len + KVS_PAIR_COST;

    if (cost > kvs->max - kvs->used)
        return -ENOSPC;
    if (grow (kvs) < 0)
        return -ENOMEM;
    struct kvs_pair pair = {
        .key = join (key, key_len, value, value_len),
        .key_len = (uint32_t)key_len,
        .value_len = (uint32_t)value_len,
        .hash = hash_of (key, key_len),
    };
    if (!pair.key)
        return -ENOMEM;
    kvs->slots[find_slot (kvs, key, key_len, pair.hash)] = (uint32_t)kvs->npairs + 1;
    kvs->pairs[kvs->npairs++] = pair;
    kvs->used += cost;
    return 0;
}

static struct kvs_pair *find (const struct kvs *kvs, const char *key, size_t len)
{
    if (kvs->nslots == 0)
        return NULL;
    uint32_t n = kvs->slots[find_slot (kvs, key, len, hash_of (key, len))];
    return n ? &kvs->pairs[n - 1] : NULL;
}

/* Sets a pair and returns it; or NULL and *ret_rc. */
static struct kvs_pair *set (struct kvs *kvs, const char *key, size_t key_len,
                             const char *value, size_t value_len, int *ret_rc)
{
    struct kvs_pair *pair = find (kvs, key, key_len);

    *ret_rc = pair ? replace (kvs, pair, value, value_len)
                   : add (kvs, key, key_len, value, value_len);
    if (*ret_rc < 0)
        return NULL;
    return pair ? pair : &kvs->pairs[kvs->npairs - 1];
}

int kvs_put (struct kvs *kvs, const char *key, size_t key_len, const char *value,
             size_t value_len)
{
    int rc = check (key, key_len, value, value_len);

    if (rc < 0)
        return rc;
    struct kvs_pair *pair = set (kvs, key, key_len, value, value_len, &rc);
    if (!pair)
        return rc;
    kvs->nchanged += !pair->changed;
    pair->changed = true;
    return 0;
}

const struct kvs_pair *kvs_get (const struct kvs *kvs, const char *key, size_t key_len)
{
    return find (kvs, key, key_len);
}

const struct kvs_pair *kvs_at (const struct kvs *kvs, size_t index)
{
    return index < kvs->npairs ? &kvs->pairs[index] : NULL;
}

int kvs_pack (struct kvs *kvs, struct strbuf *out)
{
    if (kvs->nchanged == 0)
        return 0;
    for (size_t i = 0; i < kvs->npairs && !out->err; i++) {
        const struct kvs_pair *pair = &kvs->pairs[i];
        uint8_t head[HEAD];
        if (!pair->changed)
            continue;
        wire_put_u32 (head, pair->key_len);
        wire_put_u32 (head + 4, pair->value_len);
        strbuf_add (out, head, HEAD);
        strbuf_add (out, pair->key, pair->key_len);
        strbuf_add (out, kvs_value (pair), pair->value_len);
    }
    if (out->err)
        return out->err;
    for (size_t i = 0; i < kvs->npairs; i++)
        kvs->pairs[i].changed = false;
    kvs->nchanged = 0;
    return 0;
}

struct packed {
    const char *key;
    const char *value;
    size_t key_len;
    size_t value_len;
};

/* Unpacks the pair at data. Returns its size, or -EPROTO. */
static ssize_t unpack (const char *data, size_t avail, struct packed *ret)
{
    if (avail < HEAD)
        return -EPROTO;
    ret->key_len = wire_get_u32 (data);
    ret->value_len = wire_get_u32 (data + 4);
    if (ret->key_len > KVS_KEY_MAX || ret->value_len > KVS_VALUE_MAX
        || ret->key_len + ret->value_len > avail - HEAD)
        return -EPROTO;
    ret->key = data + HEAD;
    ret->value = ret->key + ret->key_len;
    if (check (ret->key, ret->key_len, ret->value, ret->value_len) < 0)
        return -EPROTO;
    return (ssize_t)(HEAD + ret->key_len + ret->value_len);
}

static int check_packed (const char *data, size_t len, struct error *err)
{
    struct packed p;
    ssize_t n;

    for (size_t at = 0; at < len; at += (size_t)n) {
        n = unpack (data + at, len - at, &p);
        if (n < 0)
            return error_set (err, EPROTO,
                              "the data that the ranks exchanged in a fence is not a "
                              "list of keys and values at byte %zu of %zu",
                              at, len);
    }
    return 0;
}

int kvs_merge (struct kvs *kvs, const char *data, size_t len, struct error *err)
{
    int rc = check_packed (data, len, err);
    struct packed p;

    for (size_t at = 0; at < len && rc == 0;) {
        at += (size_t)unpack (data + at, len - at, &p);
        const struct kvs_pair *pair = find (kvs, p.key, p.key_len);
        if (pair && pair->changed)
            continue;
        if (!set (kvs, p.key, p.key_len, p.value, p.value_len, &rc))
            error_errno (err, -rc, "what the tasks put (at most %zu MiB a step)",
                         kvs->max >> 20);
    }
    return rc;
}
