/* test_idset.c - tests of idset.h: texts to sets and back, and sets against an array */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/idset.h"

static void check_text (const struct idset *s, const char *want)
{
    autofree char *text = idset_encode (s);

    assert_string_equal (text, want);
}

static void test_decode_encode (void **state)
{
    static const struct {
        const char *in, *out;
        uint32_t count;
    } cases[] = {
        { "", "", 0 },
        { "[]", "", 0 },
        { "0", "0", 1 },
        { "1,2,3,5,6,42", "1-3,5-6,42", 6 },
        { "[1-3,5-6,42]", "1-3,5-6,42", 6 },
        { "0-1,2-3", "0-3", 4 },
        { "7-7", "7", 1 },
        { "2147483647", "2147483647", 1 },
        { "0-2147483647", "0-2147483647", 2147483648 },
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct idset *s = idset_decode (cases[i].in, SIZE_MAX, &err);
        assert_non_null (s);
        check_text (s, cases[i].out);
        assert_int_equal (idset_count (s), cases[i].count);
        idset_destroy (s);
    }
}

static void test_decode_refuses (void **state)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        { "1-0", EINVAL },
        { "1,,2", EINVAL },
        { ",", EINVAL },
        { "1,", EINVAL },
        { ",1", EINVAL },
        { "2,1", EINVAL },
        { "1,1", EINVAL },
        { "1-3,3", EINVAL },
        { "01", EINVAL },
        { "0-01", EINVAL },
        { "1-", EINVAL },
        { "-1", EINVAL },
        { "1-2-3", EINVAL },
        { "[1", EINVAL },
        { "1]", EINVAL },
        { "[", EINVAL },
        { "]", EINVAL },
        { "[[1]]", EINVAL },
        { "1 ", EINVAL },
        { " 1", EINVAL },
        { "a", EINVAL },
        { "+1", EINVAL },
        { "1\n", EINVAL },
        { "\xff", EINVAL },
        { "2147483648", ERANGE },
        { "0-4294967295", ERANGE },
        { "4294967296", ERANGE },
        { "18446744073709551616", ERANGE },
        { "99999999999999999999999999999999999999999", ERANGE },
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        err.code = 0;
        assert_null (idset_decode (cases[i].text, SIZE_MAX, &err));
        assert_int_equal (err.code, cases[i].code);
    }
}

/* Compares with a plain array: each operation at each position of a small set. */
static void test_same_as_an_array (void **state)
{
    enum { IDS = 40, STEPS = 20000 };
    struct idset *s = idset_create ();
    bool has[IDS + 1] = { false };
    uint32_t seed = 12345;

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t a = (seed >> 8) % IDS, b = (seed >> 16) % IDS;
        uint32_t count = 0, next = IDSET_END;
        if (seed >> 31) {
            assert_int_equal (idset_remove (s, a), 0);
            has[a] = false;
        } else {
            b = a + b % 4 < IDS ? a + b % 4 : a;
            assert_int_equal (idset_add_range (s, a, b), 0);
            for (uint32_t id = a; id <= b; id++)
                has[id] = true;
        }
        for (uint32_t id = IDS; id-- > 0;) {
            assert_int_equal (idset_has (s, id), has[id]);
            assert_int_equal (idset_next (s, id), next);
            count += has[id];
            if (has[id])
                next = id;
        }
        assert_int_equal (idset_first (s), next);
        assert_int_equal (idset_count (s), count);
    }
    autofree char *text = idset_encode (s);
    struct idset *again = idset_decode (text, SIZE_MAX, NULL);
    assert_true (
        idset_equal (s, again)); /* the ranges are merged: the text gives the same set */
    idset_destroy (again);
    idset_destroy (s);
}

static void test_edges (void **state)
{
    struct idset *s = idset_create ();

    (void)state;
    assert_int_equal (idset_first (s), IDSET_END);
    assert_int_equal (idset_next (s, 0), IDSET_END);
    assert_int_equal (idset_add (s, UINT32_C (1) << 31), -ERANGE);
    assert_int_equal (idset_add (s, UINT32_MAX), -ERANGE);
    assert_int_equal (idset_add_range (s, 5, 4), -ERANGE);
    assert_int_equal (idset_add_range (s, 0, INT32_MAX), 0);
    assert_int_equal (idset_add (s, 5), 0);
    assert_int_equal (idset_remove (s, 5), 0);
    assert_int_equal (idset_remove (s, 5), 0);
    assert_int_equal (idset_remove (s, UINT32_MAX), 0);
    assert_int_equal (idset_count (s), INT32_MAX);
    assert_int_equal (idset_next (s, 4), 6);
    assert_int_equal (idset_next (s, INT32_MAX - 1), INT32_MAX);
    assert_int_equal (idset_next (s, INT32_MAX), IDSET_END);
    assert_int_equal (idset_next (s, IDSET_END), IDSET_END);
    check_text (s, "0-4,6-2147483647");

    struct idset *copy = idset_copy (s);
    assert_true (idset_equal (s, copy));
    idset_add (copy, 5);
    assert_false (idset_equal (s, copy));
    idset_destroy (copy);
    idset_destroy (s);
    idset_destroy (NULL);

    struct idset *small = idset_decode ("3,5-6", SIZE_MAX, NULL);
    uint32_t sum = 0;
    IDSET_FOREACH (small, id)
    sum = sum * 10 + id;
    assert_int_equal (sum, 356);
    struct strbuf sb;
    strbuf_init (&sb, 4);
    assert_int_equal (strbuf_add_idset (&sb, small), -E2BIG);
    strbuf_release (&sb);
    idset_destroy (small);
}

/* Compares the union with single calls of idset_add(); the bits of the arguments
 * are members from 0. */
static void check_union (uint32_t a, uint32_t b)
{
    struct idset *left = idset_create (), *right = idset_create ();
    struct idset *want = idset_create ();

    for (uint32_t id = 0; id < 12; id++) {
        if (a >> id & 1)
            idset_add (left, id);
        if (b >> id & 1)
            idset_add (right, id);
        if ((a | b) >> id & 1)
            idset_add (want, id);
    }
    assert_int_equal (idset_add_all (left, right), 0);
    assert_true (idset_equal (left, want));
    assert_int_equal (idset_count (left), idset_count (want));
    idset_destroy (left);
    idset_destroy (right);
    idset_destroy (want);
}

static void test_union (void **state)
{
    uint32_t seed = 99;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        check_union (seed >> 4 & 0xfff, seed >> 16 & 0xfff);
    }
    struct idset *s = idset_decode ("0-5,2147483647", SIZE_MAX, NULL);
    struct idset *all = idset_decode ("0-2147483646", SIZE_MAX, NULL);
    assert_int_equal (idset_add_all (s, all), 0);
    check_text (s, "0-2147483647");
    assert_int_equal (idset_count (s), UINT32_C (1) << 31);
    assert_int_equal (idset_add_all (s, s), 0);
    check_text (s, "0-2147483647");
    idset_destroy (all);
    idset_destroy (s);
}

/* Compares with an array of flags: the remaining members, and the position of each. */
static void test_difference_and_rank (void **state)
{
    (void)state;
    uint32_t seed = 5;
    for (int round = 0; round < 300; round++) {
        struct idset *a = idset_create (), *b = idset_create ();
        bool in[64] = { 0 };
        uint32_t n = 0;
        for (uint32_t i = 0; i < 64; i++) {
            seed = seed * 1664525 + 1013904223;
            bool first = (seed >> 8) % 3 > 0, second = (seed >> 16) % 2 > 0;
            if (first)
                assert_int_equal (idset_add (a, i), 0);
            if (second)
                assert_int_equal (idset_add (b, i), 0);
            in[i] = first && !second;
        }
        assert_int_equal (idset_remove_all (a, b), 0);
        for (uint32_t i = 0; i < 64; i++) {
            assert_int_equal (idset_has (a, i), in[i]);
            assert_int_equal (idset_rank (a, i), n);
            if (in[i])
                assert_int_equal (idset_nth (a, n++), i);
        }
        assert_int_equal (idset_count (a), n);
        assert_int_equal (idset_nth (a, n), IDSET_END);
        idset_destroy (a);
        idset_destroy (b);
    }
}

static void test_limit (void **state)
{
    struct error err = { 0 };

    (void)state;
    struct idset *s = idset_decode ("0-3,7", 5, &err);
    assert_int_equal (idset_count (s), 5);
    idset_destroy (s);
    assert_null (idset_decode ("0-3,7", 4, &err));
    assert_int_equal (err.code, ERANGE);
    assert_non_null (strstr (err.text, "more than 4 ids"));
    assert_null (idset_decode ("0-2147483647", 2147483647, &err));
    assert_int_equal (err.code, ERANGE);
    s = idset_decode ("", 0, &err);
    assert_int_equal (idset_count (s), 0);
    idset_destroy (s);
    assert_null (idset_decode ("0", 0, &err));
}

/* The union of many sets that interleave and overlap. */
static void test_unite (void **state)
{
    enum { SETS = 37, IDS = 500 };
    struct idset *sets[SETS], *want = idset_create (), *all;
    uint32_t seed = 7;

    (void)state;
    for (size_t k = 0; k < SETS; k++) {
        sets[k] = idset_create ();
        for (uint32_t i = 0; i < IDS; i++) {
            seed = seed * 1664525 + 1013904223;
            if ((seed >> 16) % 29 > 0)
                continue;
            assert_int_equal (idset_add (sets[k], i), 0);
            assert_int_equal (idset_add (want, i), 0);
        }
    }
    for (size_t n = 0; n <= SETS; n += SETS) {
        all = idset_unite (sets, n);
        assert_int_equal (idset_equal (all, want), n == SETS);
        assert_int_equal (idset_count (all), n == SETS ? idset_count (want) : 0);
        idset_destroy (all);
    }
    for (size_t k = 0; k < SETS; k++)
        idset_destroy (sets[k]);
    idset_destroy (want);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_decode_encode),
        cmocka_unit_test (test_decode_refuses),
        cmocka_unit_test (test_same_as_an_array),
        cmocka_unit_test (test_edges),
        cmocka_unit_test (test_union),
        cmocka_unit_test (test_difference_and_rank),
        cmocka_unit_test (test_limit),
        cmocka_unit_test (test_unite),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
