#include "common/test/unit.h"

#include "common/bitmap.h"
#include "common/macros.h"

/* All operations against an array of bool, for sizes about the 64-bit words. */
static void check_same (const struct bitmap *b, const bool *has, size_t size)
{
    ssize_t next = -1, next_clear = -1;
    size_t count = 0;

    for (size_t i = size; i-- > 0;) {
        if (has[i])
            next = (ssize_t)i;
        else
            next_clear = (ssize_t)i;
        count += has[i];
        assert_int_equal (bitmap_test (b, i), has[i]);
        assert_int_equal (bitmap_next (b, i), next);
        assert_int_equal (bitmap_next_clear (b, i), next_clear);
    }
    assert_int_equal (bitmap_count (b), count);
    assert_int_equal (bitmap_size (b), size);
    assert_int_equal (bitmap_next (b, size), -1);
    assert_int_equal (bitmap_next_clear (b, size), -1);
    assert_false (bitmap_test (b, size));
}

static void test_same_as_an_array (void **state)
{
    static const size_t sizes[] = { 1, 2, 63, 64, 65, 127, 128, 129, 200 };
    uint32_t seed = 4711;

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE (sizes); k++) {
        struct bitmap *b = bitmap_create (sizes[k]);
        bool has[200] = { false };
        check_same (b, has, sizes[k]);
        for (int step = 0; step < 1000; step++) {
            seed = seed * 1664525 + 1013904223;
            size_t x = (seed >> 8) % sizes[k], y = (seed >> 16) % sizes[k];
            size_t first = x < y ? x : y, last = x < y ? y : x;
            switch (seed >> 30) {
            case 0:
                bitmap_set (b, x);
                has[x] = true;
                break;
            case 1:
                bitmap_clear (b, x);
                has[x] = false;
                break;
            case 2:
                bitmap_set_range (b, first, last);
                for (size_t i = first; i <= last; i++)
                    has[i] = true;
                break;
            default:
                bitmap_clear_range (b, first, last);
                for (size_t i = first; i <= last; i++)
                    has[i] = false;
            }
            check_same (b, has, sizes[k]);
        }
        bitmap_destroy (b);
    }
}

static void test_sets (void **state)
{
    struct bitmap *a = bitmap_create (130), *b = bitmap_create (130);

    (void)state;
    bitmap_set_range (a, 10, 100);
    bitmap_set_range (b, 90, 129);
    assert_true (bitmap_intersects (a, b));
    struct bitmap *c = bitmap_copy (a);
    assert_true (bitmap_equal (a, c));
    bitmap_or (c, b);
    assert_int_equal (bitmap_count (c), 120);
    bitmap_andnot (c, b);
    assert_int_equal (bitmap_count (c), 80);
    assert_int_equal (bitmap_next_clear (c, 10), 90);
    assert_false (bitmap_intersects (c, b));
    assert_false (bitmap_equal (a, c));
    bitmap_clear_range (a, 90, 100);
    assert_true (bitmap_equal (a, c));
    bitmap_destroy (a);
    bitmap_destroy (b);
    bitmap_destroy (c);
}

static void test_empty (void **state)
{
    struct bitmap *b = bitmap_create (0);

    (void)state;
    assert_int_equal (bitmap_count (b), 0);
    assert_int_equal (bitmap_next (b, 0), -1);
    assert_int_equal (bitmap_next_clear (b, 0), -1);
    assert_false (bitmap_test (b, 0));
    struct bitmap *c = bitmap_copy (b);
    assert_true (bitmap_equal (b, c));
    bitmap_destroy (b);
    bitmap_destroy (c);
    bitmap_destroy (NULL);
    assert_null (bitmap_create (SIZE_MAX));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_same_as_an_array),
        cmocka_unit_test (test_sets),
        cmocka_unit_test (test_empty),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
