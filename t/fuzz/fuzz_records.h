/* fuzz_records.h - a mutator for texts of protocol/record.h: "NAME LENGTH\nBYTES\n" ...
 *
 * A target that includes this file gets LLVMFuzzerCustomMutator. Most mutations change the
 * value of one record and write its length anew, or repeat, drop or move a record; all other
 * ones are libFuzzer's own.
 */
#pragma once

#include <stdio.h>

#include "fuzz.h"

#define FUZZ_RECORDS_MAX 128

size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned seed);

struct fuzz_record {
    const char *name, *value;
    size_t name_len, len;
};

/* The records from the front of the text. */
static inline size_t fuzz_records_split (const char *text, size_t size,
                                         struct fuzz_record r[FUZZ_RECORDS_MAX])
{
    size_t n = 0, at = 0;

    while (n < FUZZ_RECORDS_MAX) {
        const char *blank = memchr (text + at, ' ', size - at), *end;
        size_t len = 0;
        if (!blank)
            break;
        for (end = blank + 1; end < text + size && *end >= '0' && *end <= '9'; end++)
            len = MIN (len * 10 + (size_t)(*end - '0'), size);
        if (end == text + size || *end != '\n' || len + 2 > (size_t)(text + size - end))
            break;
        r[n++] = (struct fuzz_record){ .name = text + at,
                                       .name_len = (size_t)(blank - text) - at,
                                       .value = end + 1,
                                       .len = len };
        at = (size_t)(end + 1 - text) + len + 1;
    }
    return n;
}

static inline size_t fuzz_records_join (const struct fuzz_record *r, size_t n, char *to,
                                        size_t max)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        if (len + r[i].name_len + r[i].len + 24 > max)
            break;
        len += (size_t)snprintf (to + len, max - len, "%.*s %zu\n", (int)r[i].name_len,
                                 r[i].name, r[i].len);
        memcpy (to + len, r[i].value, r[i].len);
        len += r[i].len;
        to[len++] = '\n';
    }
    return len;
}

static inline size_t fuzz_records_change (struct fuzz_record *r, size_t n, char *value,
                                          size_t room, unsigned seed)
{
    size_t i = seed / 16 % n, j = seed / 4096 % n;
    struct fuzz_record one = r[i];

    switch (seed % 16) {
    case 0: /* drop */
        memmove (r + i, r + i + 1, (n - i - 1) * sizeof (*r));
        return n - 1;
    case 1: /* exchange */
        r[i] = r[j];
        r[j] = one;
        return n;
    case 2: /* repeat */
        if (n == FUZZ_RECORDS_MAX)
            return n;
        r[n] = one;
        return n + 1;
    case 3: /* the value of another one */
        r[i].value = r[j].value;
        r[i].len = r[j].len;
        return n;
    default:
        one.len = MIN (one.len, room);
        memcpy (value, one.value, one.len);
        r[i].len = LLVMFuzzerMutate ((uint8_t *)value, one.len, room);
        r[i].value = value;
        return n;
    }
}

size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned seed)
{
    struct fuzz_record r[FUZZ_RECORDS_MAX];
    char value[512];
    size_t n = fuzz_records_split ((const char *)data, size, r);

    if (n == 0 || seed % 8 == 7)
        return LLVMFuzzerMutate (data, size, max_size);
    char *to = malloc (max_size + 1);
    assert (to);
    n = fuzz_records_change (r, n, value, sizeof (value), seed / 8);
    size_t len = fuzz_records_join (r, n, to, max_size);
    if (len > 0)
        memcpy (data, to, len);
    else
        len = LLVMFuzzerMutate (data, size, max_size);
    free (to);
    return len;
}
