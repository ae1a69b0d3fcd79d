/* bitmap.h - a fixed-size set of small integers, for cores and ranks
 *
 *     struct bitmap *b = bitmap_create (128);     // all clear
 *     bitmap_set_range (b, 0, 31);
 *     ssize_t i = bitmap_next (b, 0);             // first member >= 0, or -1
 *
 * Members are 0 <= i < size. O(1) for one member, O(size / 64) for sets. The count of
 * members is kept, so bitmap_count() is O(1). Caller owns.
 */
#ifndef FLUXQ_COMMON_BITMAP_H
#define FLUXQ_COMMON_BITMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bitmap;

struct bitmap *bitmap_create (size_t size); /* NULL: no memory */
void bitmap_destroy (struct bitmap *b);
struct bitmap *bitmap_copy (const struct bitmap *b);
size_t bitmap_size (const struct bitmap *b);
size_t bitmap_count (const struct bitmap *b);
bool bitmap_test (const struct bitmap *b, size_t i); /* false outside the size */
void bitmap_set (struct bitmap *b, size_t i);        /* i < size */
void bitmap_clear (struct bitmap *b, size_t i);
void bitmap_set_range (struct bitmap *b, size_t first, size_t last); /* inclusive */
void bitmap_clear_range (struct bitmap *b, size_t first, size_t last);
/* The first set, the first clear one >= from; -1: none. */
ssize_t bitmap_next (const struct bitmap *b, size_t from);
ssize_t bitmap_next_clear (const struct bitmap *b, size_t from);
/* a |= b, a &= ~b, and whether they share a member; sizes must be equal. */
void bitmap_or (struct bitmap *a, const struct bitmap *b);
void bitmap_andnot (struct bitmap *a, const struct bitmap *b);
bool bitmap_intersects (const struct bitmap *a, const struct bitmap *b);
bool bitmap_equal (const struct bitmap *a, const struct bitmap *b);

#endif
