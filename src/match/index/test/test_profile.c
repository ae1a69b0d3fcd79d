/* test_profile.c - the profile compared with a table of the sums at each tick. Fails
 * if a reservation is at a time with too few resources, or later than necessary. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/macros.h"
#include "match/index/profile.h"
#include "match/test/chance.h"

#define TICKS_MAX 1000
#define ADDS_MAX 400

static int64_t sums[TICKS_MAX + 1][INDEX_DIMS]; /* at tick i; the last: from then on */
static size_t nticks;
static unsigned ndims;
static int64_t origin, scale; /* the time of tick i is origin + i * scale */

static struct add {
    size_t start, end; /* ticks; nticks + 1: forever */
    int64_t amount[INDEX_DIMS];
} adds[ADDS_MAX]; /* not removed yet */
static size_t nadds;

/* -- the slow reference -- */

static int64_t time_of (size_t tick)
{
    return tick > nticks ? INT64_MAX : origin + (int64_t)tick * scale;
}

static bool is_point (size_t tick)
{
    static const int64_t zero[INDEX_DIMS];
    const int64_t *before = tick ? sums[tick - 1] : zero;

    return memcmp (sums[tick], before, sizeof (zero)) != 0;
}

static bool suffices (size_t tick, const int64_t *need)
{
    for (unsigned d = 0; d < ndims; d++)
        if (need[d] > 0 && sums[tick][d] < need[d])
            return false;
    return true;
}

static bool suffices_for (size_t tick, int64_t time, int64_t duration,
                          const int64_t *need)
{
    for (size_t i = tick; i <= nticks; i++) {
        if (i > tick && time_of (i) - time >= duration)
            return true;
        if (!suffices (i, need))
            return false;
    }
    return true;
}

/* `from` is at the tick or between it and the next. */
static int64_t first_of (size_t tick, int64_t from, int64_t duration, const int64_t *need)
{
    if (suffices_for (tick, from, duration, need))
        return from;
    for (size_t i = tick + 1; i <= nticks; i++)
        if (is_point (i) && suffices_for (i, time_of (i), duration, need))
            return time_of (i);
    return -1;
}

/* The last of the starts that follow the first without a gap. */
static int64_t until_of (int64_t first, int64_t duration, const int64_t *need)
{
    for (size_t i = 0; i <= nticks; i++)
        for (unsigned d = 0; d < ndims; d++)
            if (time_of (i) > first && need[d] > 0 && sums[i][d] < need[d])
                return time_of (i) - duration;
    return INT64_MAX;
}

static void add_to_table (const struct add *a, int sign)
{
    for (size_t i = a->start; i < a->end && i <= nticks; i++)
        for (unsigned d = 0; d < ndims; d++)
            sums[i][d] += sign * a->amount[d];
}

/* -- steps -- */

static void add (struct profile *f, const struct add *a, int sign)
{
    assert_int_equal (
        profile_add (f, time_of (a->start), time_of (a->end), a->amount, sign), 0);
    add_to_table (a, sign);
}

static void add_one (struct profile *f)
{
    struct add *a = &adds[nadds++];

    memset (a, 0, sizeof (*a));
    a->start = chance_below (nticks + 1);
    a->end = a->start + chance_below (chance_below (4) ? 10 : nticks);
    if (a->end > nticks || chance_below (32) == 0)
        a->end = nticks + 1;
    for (unsigned d = 0; d < ndims; d++)
        a->amount[d] = (int64_t)chance_below (chance_below (2) ? 3 : 12) - 1;
    add (f, a, -1);
}

static void take_back (struct profile *f)
{
    size_t k = chance_below (nadds);

    add (f, &adds[k], 1);
    adds[k] = adds[--nadds];
}

static void check_first (const struct profile *f)
{
    size_t tick = chance_below (nticks + 1);
    int64_t from = time_of (tick) + (int64_t)chance_below ((uint64_t)scale);
    uint64_t longest = (chance_below (2) ? 6 : nticks) * (uint64_t)scale;
    int64_t need[INDEX_DIMS] = { 0 }, duration = 1 + (int64_t)chance_below (longest);
    int64_t first, until;

    if (chance_below (16) == 0)
        duration = INT64_MAX - (int64_t)chance_below (3);
    else if (chance_below (2))
        duration += scale - duration % scale;
    for (unsigned d = 0; d < ndims; d++)
        if (chance_below (2))
            need[d] = (int64_t)chance_below (24);
    first = profile_first (f, from, duration, need, &until);
    assert_int_equal (first, first_of (tick, from, duration, need));
    if (first >= 0)
        assert_int_equal (until, until_of (first, duration, need));
}

static void check_at (const struct profile *f)
{
    size_t tick = chance_below (nticks + 1);
    int64_t between = (int64_t)chance_below ((uint64_t)scale), got[INDEX_DIMS];

    profile_at (f, time_of (tick) + between, got);
    for (unsigned d = 0; d < ndims; d++)
        assert_int_equal (got[d], sums[tick][d]);
}

static void check_points (const struct profile *f)
{
    int64_t t = INT64_MIN;
    size_t n = 0;

    for (size_t i = 0; i <= nticks; i++) {
        if (!is_point (i))
            continue;
        t = profile_next_point (f, t);
        assert_int_equal (t, time_of (i));
        n++;
    }
    assert_int_equal (profile_next_point (f, t), INT64_MAX);
    assert_int_equal (profile_points (f), n);
}

static void one_step (struct profile *f, size_t busy)
{
    if (chance_below (2)) {
        if (nadds < busy || (nadds < ADDS_MAX && chance_below (8) == 0))
            add_one (f);
        else
            take_back (f);
    }
    check_first (f);
    if (chance_below (4) == 0)
        check_at (f);
    if (chance_below (64) == 0)
        check_points (f);
}

/* -- cases -- */

static void test_as_a_table (void **state)
{
    static const size_t lengths[] = { 1, 5, 30, 200, TICKS_MAX };
    static const int64_t scales[] = { 1, 7, 1000000 };

    (void)state;
    chance_begin ("test_profile");
    for (size_t steps = 0; steps < 300000;) {
        ndims = 1 + (unsigned)chance_below (INDEX_DIMS);
        nticks = lengths[chance_below (ARRAY_SIZE (lengths))];
        scale = scales[chance_below (ARRAY_SIZE (scales))];
        origin = (int64_t)chance_below (3) * scale;
        size_t busy = 1 + chance_below (chance_below (2) ? 10 : ADDS_MAX);
        struct profile *f = profile_create (ndims);
        assert_non_null (f);
        memset (sums, 0, sizeof (sums));
        struct add whole = { .start = 0, .end = nticks + 1 };
        for (unsigned d = 0; d < ndims; d++)
            whole.amount[d] = 1 + (int64_t)chance_below (40);
        add (f, &whole, 1);
        for (int k = 0; k < 3000; k++, steps++)
            one_step (f, busy);
        while (nadds)
            take_back (f);
        check_points (f);
        add (f, &whole, -1);
        assert_int_equal (profile_points (f), 0);
        profile_destroy (f);
    }
}

enum order { FORWARDS, BACKWARDS, FROM_BOTH_ENDS, ORDERS };

static int64_t number (enum order order, int64_t i, int64_t n)
{
    if (order == FROM_BOTH_ENDS)
        return i % 2 ? n - 1 - i / 2 : i / 2;
    return order == BACKWARDS ? n - 1 - i : i;
}

/* Orders that must not turn the tree into a list. */
static void test_in_order (void **state)
{
    const int64_t n = 100000, one = 1, need = 1;

    (void)state;
    for (enum order order = FORWARDS; order < ORDERS; order++) {
        struct profile *f = profile_create (1);
        for (int64_t i = 0; i < n; i++) {
            int64_t t = number (order, i, n);
            assert_int_equal (profile_add (f, 2 * t, 2 * t + 1, &one, 1), 0);
        }
        assert_int_equal (profile_points (f), 2 * n);
        assert_int_equal (profile_first (f, n + 1, 1, &need, NULL), n + 2);
        assert_int_equal (profile_first (f, n, 2, &need, NULL), -1);
        for (int64_t t = 0; t < n; t++)
            assert_int_equal (profile_add (f, 2 * t, 2 * t + 1, &one, -1), 0);
        assert_int_equal (profile_points (f), 0);
        assert_int_equal (profile_first (f, 0, 1, &need, NULL), -1);
        profile_destroy (f);
    }
}

static void test_edges (void **state)
{
    const int64_t amount[] = { 5, -2 }, none[] = { 0, 0 };
    int64_t got[2];

    (void)state;
    struct profile *f = profile_create (2);
    assert_int_equal (profile_next_point (f, INT64_MIN), INT64_MAX);
    assert_int_equal (profile_first (f, 7, INT64_MAX, none, NULL), 7);
    assert_int_equal (profile_first (f, 7, 1, amount, NULL), -1);
    assert_int_equal (profile_add (f, 3, 3, amount, 1), 0);
    assert_int_equal (profile_add (f, 4, 3, amount, 1), 0);
    assert_int_equal (profile_add (f, 0, 9, none, 1), 0);
    assert_int_equal (profile_points (f), 0);
    assert_int_equal (profile_add (f, INT64_MIN, 10, amount, 1), 0);
    assert_int_equal (profile_add (f, 10, INT64_MAX, amount, 1), 0);
    assert_int_equal (profile_points (f), 1); /* there is no change at 10 any more */
    profile_at (f, INT64_MIN, got);
    assert_int_equal (got[1], -2);
    /* A sum below 0 does not matter to a request without this resource. */
    assert_int_equal (profile_first (f, 0, INT64_MAX, (int64_t[]){ 5, 0 }, NULL), 0);
    assert_int_equal (profile_reserve (f, SIZE_MAX), -ENOMEM);
    assert_int_equal (profile_reserve (f, UINT32_MAX), -ENOMEM);
    assert_int_equal (profile_reserve (f, 1000), 0);
    assert_true (profile_memory (f) > 1000 * 2 * sizeof (int64_t));
    assert_int_equal (profile_points (f), 1);
    profile_destroy (f);
    assert_null (profile_create (0));
    assert_null (profile_create (INDEX_DIMS + 1));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_as_a_table),
        cmocka_unit_test (test_in_order),
        cmocka_unit_test (test_edges),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
