/* bitmap.c - see bitmap.h. Bits past the size are always clear. */
#include "common/bitmap.h"

#include <stdlib.h>
#include <string.h>

#define BITS 64

struct bitmap {
    size_t size, count;
    size_t nwords;
    uint64_t words[];
};

static size_t bytes_of (size_t nwords)
{
    return sizeof (struct bitmap) + nwords * sizeof (uint64_t);
}

struct bitmap *bitmap_create (size_t size)
{
    size_t nwords = size / BITS + (size % BITS != 0);
    struct bitmap *b = NULL;

    if (size <= SIZE_MAX / 2)
        b = calloc (1, bytes_of (nwords));
    if (b) {
        b->size = size;
        b->nwords = nwords;
    }
    return b;
}

void bitmap_destroy (struct bitmap *b)
{
    free (b);
}

struct bitmap *bitmap_copy (const struct bitmap *b)
{
    struct bitmap *copy = malloc (bytes_of (b->nwords));

    if (copy)
        memcpy (copy, b, bytes_of (b->nwords));
    return copy;
}

size_t bitmap_size (const struct bitmap *b)
{
    return b->size;
}

size_t bitmap_count (const struct bitmap *b)
{
    return b->count;
}

static uint64_t bit (size_t i)
{
    return UINT64_C (1) << (i % BITS);
}

static size_t ones (uint64_t word)
{
    return (size_t)__builtin_popcountll (word);
}

bool bitmap_test (const struct bitmap *b, size_t i)
{
    return i < b->size && (b->words[i / BITS] & bit (i)) != 0;
}

void bitmap_set (struct bitmap *b, size_t i)
{
    b->count += (b->words[i / BITS] & bit (i)) == 0;
    b->words[i / BITS] |= bit (i);
}

void bitmap_clear (struct bitmap *b, size_t i)
{
    b->count -= (b->words[i / BITS] & bit (i)) != 0;
    b->words[i / BITS] &= ~bit (i);
}

/* The part of word w that first..last covers. */
static uint64_t range_mask (size_t w, size_t first, size_t last)
{
    uint64_t mask = UINT64_MAX;

    if (w == first / BITS)
        mask &= UINT64_MAX << (first % BITS);
    if (w == last / BITS)
        mask &= UINT64_MAX >> (BITS - 1 - last % BITS);
    return mask;
}

void bitmap_set_range (struct bitmap *b, size_t first, size_t last)
{
    for (size_t w = first / BITS; w <= last / BITS; w++) {
        uint64_t mask = range_mask (w, first, last);
        b->count += ones (mask & ~b->words[w]);
        b->words[w] |= mask;
    }
}

void bitmap_clear_range (struct bitmap *b, size_t first, size_t last)
{
    for (size_t w = first / BITS; w <= last / BITS; w++) {
        uint64_t mask = range_mask (w, first, last);
        b->count -= ones (mask & b->words[w]);
        b->words[w] &= ~mask;
    }
}

/* The first i >= from whose bit, seen through flip, is 1. */
static ssize_t next_one (const struct bitmap *b, size_t from, uint64_t flip)
{
    if (from >= b->size)
        return -1;
    size_t w = from / BITS;
    uint64_t word = (b->words[w] ^ flip) & (UINT64_MAX << (from % BITS));
    while (word == 0) {
        if (++w == b->nwords)
            return -1;
        word = b->words[w] ^ flip;
    }
    size_t i = w * BITS + (size_t)__builtin_ctzll (word);
    return i < b->size ? (ssize_t)i : -1;
}

ssize_t bitmap_next (const struct bitmap *b, size_t from)
{
    return next_one (b, from, 0);
}

ssize_t bitmap_next_clear (const struct bitmap *b, size_t from)
{
    return next_one (b, from, UINT64_MAX);
}

static void recount (struct bitmap *b)
{
    b->count = 0;
    for (size_t w = 0; w < b->nwords; w++)
        b->count += ones (b->words[w]);
}

void bitmap_or (struct bitmap *a, const struct bitmap *b)
{
    for (size_t w = 0; w < a->nwords; w++)
        a->words[w] |= b->words[w];
    recount (a);
}

void bitmap_andnot (struct bitmap *a, const struct bitmap *b)
{
    for (size_t w = 0; w < a->nwords; w++)
        a->words[w] &= ~b->words[w];
    recount (a);
}

bool bitmap_intersects (const struct bitmap *a, const struct bitmap *b)
{
    for (size_t w = 0; w < a->nwords; w++) {
        if (a->words[w] & b->words[w])
            return true;
    }
    return false;
}

bool bitmap_equal (const struct bitmap *a, const struct bitmap *b)
{
    return a->size == b->size && a->count == b->count
           && !memcmp (a->words, b->words, a->nwords * sizeof (a->words[0]));
}
