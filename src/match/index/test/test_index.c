/* test_index.c - the index compared with a linear search of an array. Fails if a
 * fitting node is not found, if a walk is out of order, or if a sum is wrong. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/macros.h"
#include "match/index/index_private.h"
#include "match/test/chance.h"

#define PLACES_MAX 6000

static struct index_key keys[PLACES_MAX]; /* the expected content of the index */
static size_t nkeys;
static unsigned ndims;
static int64_t most; /* the maximum amount */

/* -- the slow reference -- */

static const int64_t *amounts_of (const struct index_key *key,
                                  const struct index_need *need)
{
    if (need->ever)
        return key->ever;
    if (need->now)
        return key->free;
    return key->soonest <= need->at ? key->ever : key->free;
}

static bool fits (size_t place, const struct index_need *need)
{
    const int64_t *amounts = amounts_of (&keys[place], need);

    for (unsigned d = 0; d < ndims; d++)
        if (amounts[d] < need->dim[d])
            return false;
    return true;
}

static ptrdiff_t next_of (size_t from, const struct index_need *need)
{
    for (size_t i = from; i < nkeys; i++)
        if (fits (i, need))
            return (ptrdiff_t)i;
    return -1;
}

static ptrdiff_t prev_of (size_t from, const struct index_need *need)
{
    for (size_t i = from < nkeys ? from + 1 : nkeys; i-- > 0;)
        if (fits (i, need))
            return (ptrdiff_t)i;
    return -1;
}

/* -- random data -- */

static int64_t any_amount (void)
{
    return (int64_t)chance_below ((uint64_t)most + 1);
}

static void any_key (struct index_key *key)
{
    enum { NEVER, DOWN, IDLE, BOOKED, KINDS } kind = (unsigned)chance_below (KINDS);

    memset (key, 0, sizeof (*key));
    for (unsigned d = 0; d < ndims; d++) {
        key->ever[d] = kind == NEVER ? -1 : any_amount ();
        key->free[d] = kind < IDLE ? -1 : key->ever[d];
        if (kind == BOOKED)
            key->free[d] = (int64_t)chance_below ((uint64_t)key->ever[d] + 1);
    }
    key->soonest = chance_below (2) ? (int64_t)chance_below (20) : INT64_MAX;
    key->measure = (int64_t)chance_below (chance_below (2) ? 4 : 1000) - 2;
    if (chance_below (16) == 0)
        key->measure = chance_below (2) ? INT64_MIN : INT64_MAX;
}

static void any_need (struct index_need *need)
{
    memset (need, 0, sizeof (*need));
    for (unsigned d = 0; d < ndims; d++)
        if (chance_below (3) == 0)
            need->dim[d] = any_amount ();
    need->at = (int64_t)chance_below (22);
    need->now = chance_below (2);
    need->ever = chance_below (4) == 0;
}

static size_t any_place (void)
{
    return chance_below (nkeys);
}

/* -- one query of each kind -- */

static void check_next (const struct index *x)
{
    size_t from = chance_below (nkeys + 20);
    struct index_need need;

    any_need (&need);
    assert_int_equal (index_next (x, from, &need), next_of (from, &need));
    assert_int_equal (index_prev (x, from, &need), prev_of (from, &need));
}

static void check_whole (const struct index *x)
{
    for (unsigned d = 0; d < ndims; d++) {
        int64_t free_most = 0, ever_most = 0;
        uint64_t free_sum = 0, ever_sum = 0;
        for (size_t i = 0; i < nkeys; i++) {
            free_most = MAX (free_most, keys[i].free[d]);
            ever_most = MAX (ever_most, keys[i].ever[d]);
            free_sum += (uint64_t)MAX (keys[i].free[d], 0);
            ever_sum += (uint64_t)MAX (keys[i].ever[d], 0);
        }
        assert_int_equal (index_most_free (x, d), free_most);
        assert_int_equal (index_most_ever (x, d), ever_most);
        assert_int_equal (index_sum_free (x, d), free_sum);
        assert_int_equal (index_sum_ever (x, d), ever_sum);
    }
}

static int compare_measures (const void *a, const void *b)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;

    if (keys[i].measure != keys[j].measure)
        return keys[i].measure > keys[j].measure ? -1 : 1;
    return (i > j) - (i < j);
}

/* Walks all the way, or this number of steps. */
static void check_walk (const struct index *x, bool by_measure)
{
    static size_t expected[PLACES_MAX];
    size_t n = 0, steps = chance_below (2) ? SIZE_MAX : chance_below (20);
    struct index_need need;
    struct index_walk w;

    any_need (&need);
    need.by_measure = by_measure;
    for (size_t i = 0; i < nkeys; i++)
        if (fits (i, &need) && (!by_measure || keys[i].measure != INT64_MIN))
            expected[n++] = i;
    if (by_measure)
        qsort (expected, n, sizeof (*expected), compare_measures);
    index_walk_start (&w, x, &need);
    for (size_t k = 0; k < n && k < steps; k++)
        assert_int_equal (index_walk_next (&w), expected[k]);
    if (steps >= n)
        for (int again = 0; again < 2; again++)
            assert_int_equal (index_walk_next (&w), -1);
    assert_false (w.failed);
    index_walk_end (&w);
    assert_int_equal (index_walk_next (&w), -1);
}

static void check_get (const struct index *x)
{
    size_t place = any_place ();
    struct index_key key;

    index_get (x, place, &key);
    assert_memory_equal (&key, &keys[place], sizeof (key));
}

static void set_one (struct index *x)
{
    size_t place = any_place ();

    if (chance_below (4))
        any_key (&keys[place]);
    else if (keys[place].free[0] > 0)
        keys[place].free[0]--;
    index_set (x, place, &keys[place]);
}

static void set_vacant (struct index_key *key)
{
    *key = (struct index_key){ .soonest = INT64_MAX, .measure = INT64_MIN };
    for (unsigned d = 0; d < ndims; d++)
        key->free[d] = key->ever[d] = -1;
}

static void reserve_more (struct index *x)
{
    size_t more = MIN (nkeys + chance_below (chance_below (4) ? 3 : 100), PLACES_MAX);

    assert_int_equal (index_reserve (x, more), 0);
    for (; nkeys < more; nkeys++)
        set_vacant (&keys[nkeys]);
    assert_int_equal (x->places, nkeys);
}

static void set_several (struct index *x)
{
    size_t n = chance_below (chance_below (4) ? 10 : 400), first = any_place ();
    bool neighbours = chance_below (2);

    index_hold (x);
    for (size_t k = 0; k < n; k++) {
        size_t place = neighbours ? (first + k) % nkeys : any_place ();
        any_key (&keys[place]);
        index_set (x, place, &keys[place]);
    }
    if (chance_below (2))
        check_get (x);
    if (chance_below (32) == 0)
        reserve_more (x);
    index_settle (x);
}

static void move_one (struct index *x)
{
    size_t from = any_place (), to = any_place ();

    index_vacate (x, to);
    set_vacant (&keys[to]);
    if (from == to)
        return;
    index_move (x, from, to);
    keys[to] = keys[from];
    set_vacant (&keys[from]);
}

static void one_step (struct index *x)
{
    switch (chance_below (64)) {
    case 0:
        check_walk (x, false);
        break;
    case 1:
        check_walk (x, true);
        break;
    case 2:
        check_whole (x);
        break;
    case 3:
        set_several (x);
        break;
    case 4:
        if (chance_below (8) == 0)
            reserve_more (x);
        break;
    case 5:
    case 6:
        move_one (x);
        break;
    default:
        if (chance_below (2))
            set_one (x);
        else
            check_next (x);
        check_get (x);
    }
}

/* -- cases -- */

static void test_as_an_array (void **state)
{
    static const size_t sizes[] = { 1, 2, 7, 8, 9, 16, 63, 64, 65, 100, 200, 513, 600 };
    static const int64_t mosts[] = { 1, 4, 40, INT64_C (1) << 40 };
    size_t steps = 0;

    (void)state;
    chance_begin ("test_index");
    while (steps < 1000000) {
        ndims = 1 + (unsigned)chance_below (INDEX_DIMS);
        most = mosts[chance_below (ARRAY_SIZE (mosts))];
        struct index *x = index_create (ndims);
        assert_non_null (x);
        nkeys = 0;
        size_t size = sizes[chance_below (ARRAY_SIZE (sizes))];
        while (nkeys < size)
            reserve_more (x);
        for (int k = 0; k < 2000; k++, steps++)
            one_step (x);
        index_destroy (x);
    }
}

/* Many levels, and more open points than the initial room of a walk. */
static void test_large (void **state)
{
    (void)state;
    ndims = 3;
    most = 100;
    nkeys = 0;
    struct index *x = index_create (ndims);
    assert_int_equal (index_reserve (x, PLACES_MAX), 0);
    index_hold (x);
    for (nkeys = 0; nkeys < PLACES_MAX; nkeys++) {
        any_key (&keys[nkeys]);
        index_set (x, nkeys, &keys[nkeys]);
    }
    index_settle (x);
    for (int k = 0; k < 300; k++) {
        check_next (x);
        set_one (x);
    }
    for (int k = 0; k < 10; k++)
        check_walk (x, k % 2);
    check_whole (x);
    index_destroy (x);
}

static void test_empty (void **state)
{
    struct index_need need = { .now = true };
    struct index_walk w;

    (void)state;
    struct index *x = index_create (2);
    assert_int_equal (x->places, 0);
    assert_int_equal (index_next (x, 0, &need), -1);
    assert_int_equal (index_prev (x, 0, &need), -1);
    assert_int_equal (index_most_free (x, 1), 0);
    assert_int_equal (index_sum_ever (x, 1), 0);
    for (int k = 0; k < 2; k++) {
        need.by_measure = k;
        index_walk_start (&w, x, &need);
        assert_int_equal (index_walk_next (&w), -1);
        index_walk_end (&w);
    }
    index_hold (x);
    index_settle (x);
    index_destroy (x);
    assert_null (index_create (0));
    assert_null (index_create (INDEX_DIMS + 1));
}

/* The largest possible amounts: no sum and no difference overflows. */
static void test_extremes (void **state)
{
    static const struct index_key full = { .free = { INT64_MAX, INT64_MAX },
                                           .ever = { INT64_MAX, INT64_MAX },
                                           .soonest = 0,
                                           .measure = INT64_MAX };
    static const struct index_key odd = {
        .free = { 5, INT64_MIN }, .ever = { 3, -7 }, .soonest = -9, .measure = 0
    };
    struct index_need need = { .dim = { INT64_MAX, INT64_MAX }, .at = INT64_MAX };
    struct index_key key;

    (void)state;
    struct index *x = index_create (2);
    assert_int_equal (index_reserve (x, 20), 0);
    index_set (x, 3, &full);
    index_set (x, 19, &full);
    assert_int_equal (index_sum_free (x, 0), INT64_MAX);
    assert_int_equal (index_next (x, 4, &need), 19);
    need.at = INT64_MIN;
    assert_int_equal (index_prev (x, 18, &need), 3);
    index_set (x, 3, &odd);
    index_get (x, 3, &key);
    assert_int_equal (key.free[1], -1);
    assert_int_equal (key.ever[0], 5);
    assert_int_equal (key.ever[1], -1);
    assert_int_equal (key.soonest, 0);
    assert_int_equal (index_sum_free (x, 0), INT64_MAX);
    assert_int_equal (index_sum_free (x, 1), INT64_MAX);
    assert_int_equal (index_most_ever (x, 0), INT64_MAX);
    assert_int_equal (index_prev (x, 18, &need), -1);
    assert_int_equal (index_reserve (x, SIZE_MAX), -ENOMEM);
    assert_int_equal (index_reserve (x, (size_t)UINT32_MAX + 1), -ENOMEM);
    assert_int_equal (x->places, 20);
    assert_int_equal (index_next (x, 4, &need), 19);
    index_destroy (x);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_as_an_array),
        cmocka_unit_test (test_large),
        cmocka_unit_test (test_empty),
        cmocka_unit_test (test_extremes),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
