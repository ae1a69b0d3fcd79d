/* fuzz_json.h - a mutator for texts of JSON: changes values, not only bytes
 *
 * A target that includes this file gets LLVMFuzzerCustomMutator. Three of four mutations change
 * one value of the text: another value takes its place, or a member goes, comes twice or
 * moves. All other mutations, and those of a text that is no JSON, are libFuzzer's own. If the
 * target defines FUZZ_JSON_AFTER, a separator, the JSON is the text behind the first one.
 */
#pragma once

#include <jansson.h>

#include "fuzz.h"

size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned seed);

static inline unsigned fuzz_random (unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline size_t fuzz_json_count (const json_t *v)
{
    size_t n = 1, i;
    const char *key;
    json_t *child;

    json_object_foreach ((json_t *)v, key, child) {
        n += fuzz_json_count (child);
    }
    json_array_foreach (v, i, child) {
        n += fuzz_json_count (child);
    }
    return n;
}

/* The value number *at in depth-first order, borrowed. */
static inline json_t *fuzz_json_find (json_t *v, size_t *at)
{
    const char *key;
    json_t *child, *found;
    size_t i;

    if ((*at)-- == 0)
        return v;
    json_object_foreach (v, key, child) {
        if ((found = fuzz_json_find (child, at)))
            return found;
    }
    json_array_foreach (v, i, child) {
        if ((found = fuzz_json_find (child, at)))
            return found;
    }
    return NULL;
}

static inline json_t *fuzz_json_any (json_t *root, unsigned *state)
{
    size_t at = fuzz_random (state) % fuzz_json_count (root);

    return fuzz_json_find (root, &at);
}

static inline json_t *fuzz_json_text (const json_t *old, unsigned *state)
{
    static const char *const texts[] = {
        "",    "0",    "-1",     "1Gi",  "100m", "NaN",      "True",
        "a/b", "../x", "n[0-9]", "\x7f", "%s",   "\xc3\xa9", "2026-01-31T12:00:00Z"
    };
    char text[256] = "";

    if (!json_is_string (old) || fuzz_random (state) % 2)
        return json_string (texts[fuzz_random (state) % ARRAY_SIZE (texts)]);
    size_t len = MIN (json_string_length (old), sizeof (text) / 2);
    memcpy (text, json_string_value (old), len);
    len = LLVMFuzzerMutate ((uint8_t *)text, len, sizeof (text) - 1);
    return json_stringn_nocheck (text, len);
}

/* A value in place of the old one. */
static inline json_t *fuzz_json_other (json_t *root, const json_t *old, unsigned *state)
{
    static const int64_t numbers[] = { 0,         1,         -1,        2,
                                       255,       65536,     INT32_MAX, UINT32_MAX,
                                       INT64_MAX, INT64_MIN, 1000000,   -INT32_MAX };

    switch (fuzz_random (state) % 10) {
    case 0:
        return json_null ();
    case 1:
        return json_boolean (fuzz_random (state) % 2);
    case 2:
        return json_real (1e308);
    case 3:
        return json_array ();
    case 4:
        return json_object ();
    case 5:
        return json_pack ("[o]", json_deep_copy (fuzz_json_any (root, state)));
    case 6:
    case 7:
        return json_integer (numbers[fuzz_random (state) % ARRAY_SIZE (numbers)]);
    case 8:
        return json_deep_copy (fuzz_json_any (root, state));
    default:
        return fuzz_json_text (old, state);
    }
}

static inline void fuzz_json_change_object (json_t *root, json_t *o, unsigned *state)
{
    size_t at = fuzz_random (state) % json_object_size (o);
    void *iter = json_object_iter (o);

    while (at-- > 0)
        iter = json_object_iter_next (o, iter);
    if (fuzz_random (state) % 5 == 0)
        json_object_del (o, json_object_iter_key (iter));
    else
        json_object_iter_set_new (
            o, iter, fuzz_json_other (root, json_object_iter_value (iter), state));
}

static inline void fuzz_json_change_array (json_t *root, json_t *a, unsigned *state)
{
    size_t at = fuzz_random (state) % json_array_size (a);
    json_t *old = json_array_get (a, at);

    switch (fuzz_random (state) % 4) {
    case 0:
        json_array_remove (a, at);
        return;
    case 1:
        json_array_append_new (a, json_deep_copy (old));
        return;
    default:
        json_array_set_new (a, at, fuzz_json_other (root, old, state));
    }
}

/* Changes one member of an object or array; false: there is none. */
static inline bool fuzz_json_change (json_t *root, unsigned *state)
{
    for (int tries = 0; tries < 20; tries++) {
        json_t *v = fuzz_json_any (root, state);
        if (json_object_size (v) > 0)
            fuzz_json_change_object (root, v, state);
        else if (json_array_size (v) > 0)
            fuzz_json_change_array (root, v, state);
        else
            continue;
        return true;
    }
    return false;
}

/* The new size; 0: the text is no JSON, or the result has no room. */
static inline size_t fuzz_json_mutate (uint8_t *data, size_t size, size_t max,
                                       unsigned *state)
{
    json_t *root = json_loadb ((const char *)data, size, JSON_DECODE_ANY, NULL);
    size_t len = 0;

    if (!root)
        return 0;
    if (fuzz_json_change (root, state)) {
        char *text = json_dumps (root, JSON_COMPACT | JSON_ENCODE_ANY);
        len = text ? strlen (text) : 0;
        if (len > 0 && len <= max)
            memcpy (data, text, len);
        free (text);
    }
    json_decref (root);
    return len <= max ? len : 0;
}

size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned seed)
{
    size_t before = 0;
#ifdef FUZZ_JSON_AFTER
    const uint8_t *mark = memmem (data, size, FUZZ_JSON_AFTER, strlen (FUZZ_JSON_AFTER));
    before = mark ? (size_t)(mark - data) + strlen (FUZZ_JSON_AFTER) : size;
#endif
    if (seed % 4 && before < size) {
        size_t n =
            fuzz_json_mutate (data + before, size - before, max_size - before, &seed);
        if (n > 0)
            return before + n;
    }
    return LLVMFuzzerMutate (data, size, max_size);
}
