/* test_stepuse.c - tests of stepuse.h: the usage of steps, summed, written and read */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/macros.h"
#include "protocol/stepuse.h"

static struct use make (uint64_t user, uint64_t peak)
{
    struct use use = { 0 };
    use_set (&use, USE_USER, user);
    use_set (&use, USE_PEAK, peak);
    return use;
}

static void test_sums (void **state)
{
    struct use a = make (10, 100), b = make (5, 300), c = a;

    (void)state;
    use_set (&b, USE_READ, 7);
    use_add (&a, &b);
    assert_int_equal (a.v[USE_USER], 15);
    assert_int_equal (a.v[USE_PEAK], 400);
    assert_int_equal (a.v[USE_READ], 7);
    use_join (&c, &b);
    assert_int_equal (c.v[USE_USER], 15);
    assert_int_equal (c.v[USE_PEAK], 300);
    b = make (UINT64_MAX, 0);
    use_add (&a, &b); /* no overflow */
    assert_true (a.v[USE_USER] == UINT64_MAX);
    b = (struct use){ 0 };
    use_set (&b, USE_PEAK, 9);
    use_overrule (&a, &b);
    assert_int_equal (a.v[USE_PEAK], 9);
    assert_int_equal (a.v[USE_READ], 7);
}

static void test_figures_as_text (void **state)
{
    char text[USE_TEXT_MAX];
    struct use in = make (12, UINT64_C (1) << 40), out;

    (void)state;
    size_t len = use_encode (&in, text);
    assert_int_equal (len, strlen (text));
    assert_int_equal (use_decode (text, len, &out), 0);
    assert_int_equal (out.known, in.known);
    assert_true (out.v[USE_PEAK] == UINT64_C (1) << 40);
    assert_int_equal (use_decode ("", 0, &out), 0); /* no usage could be measured */
    assert_int_equal (out.known, 0);
    assert_int_equal (use_decode ("user 1 later 2", 14, &out), 0);
    assert_int_equal (out.known, 1U << USE_USER);
    for (unsigned f = 0; f < USE_FIGURES; f++)
        use_set (&in, (enum use_figure)f, UINT64_MAX / 10);
    len = use_encode (&in, text);
    assert_true (len < USE_TEXT_MAX);
    assert_int_equal (use_decode (text, len, &out), 0);
    assert_memory_equal (&in, &out, sizeof (in));
}

static void test_bad_figures (void **state)
{
    static const char *const bad[] = {
        "user",       "user x", "user -1", "user 1.5", "user 99999999999999999999",
        "user 1 peak"
    };
    char long_text[USE_TEXT_MAX + 1];
    struct use use;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_int_equal (use_decode (bad[i], strlen (bad[i]), &use), -EBADMSG);
    memset (long_text, ' ', sizeof (long_text));
    assert_int_equal (use_decode (long_text, sizeof (long_text), &use), -EBADMSG);
}

static struct stepuse make_step (uint32_t nranks)
{
    struct stepuse s = { .step = "12",
                         .name = "a b\nc",
                         .begin_ms = 1700000000123,
                         .end_ms = 1700000001456,
                         .ntasks = 9,
                         .status = 0x0300 };

    s.nnodes = nranks;
    for (uint32_t r = 0; r < nranks; r++) {
        struct use use = make (r + 1, 1000 - r);
        stepuse_add (&s, r + 5, &use);
    }
    return s;
}

static void test_step_round_trip (void **state)
{
    struct stepuse in = make_step (3), out;
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 65536);
    stepuse_encode (&in, &sb);
    assert_int_equal (stepuse_decode (sb.buf, sb.len, &out), 0);
    assert_string_equal (out.step, "12");
    assert_string_equal (out.name, "a b c");
    assert_true (out.begin_ms == in.begin_ms && out.end_ms == in.end_ms);
    assert_int_equal (out.ntasks, 9);
    assert_int_equal (out.nnodes, 3);
    assert_int_equal (out.status, 0x0300);
    assert_int_equal (out.nreported, 3);
    const struct use_spread *user = &out.spread[USE_USER];
    assert_int_equal (user->n, 3);
    assert_int_equal (user->sum, 6);
    assert_int_equal (user->min, 1);
    assert_int_equal (user->min_rank, 5);
    assert_int_equal (user->max, 3);
    assert_int_equal (user->max_rank, 7);
    assert_int_equal (out.spread[USE_PEAK].max_rank, 5);
    assert_int_equal (out.spread[USE_READ].n, 0);
    assert_int_equal (out.ranks[2].rank, 7);
    assert_int_equal (out.ranks[2].use.v[USE_PEAK], 998);
    stepuse_release (&out);
    stepuse_release (&in);
    strbuf_release (&sb);
}

/* For many ranks there are only sums: one text always fits a frame. */
static void test_many_ranks (void **state)
{
    struct stepuse in = make_step (STEPUSE_RANKS_MAX), out;
    struct use most = { 0 };
    struct strbuf sb;

    (void)state;
    for (unsigned f = 0; f < USE_FIGURES; f++)
        use_set (&most, (enum use_figure)f, UINT64_MAX / 10);
    for (uint32_t i = 0; i < STEPUSE_RANKS_MAX; i++)
        in.ranks[i].use = most;
    strbuf_init (&sb, 32768);
    stepuse_encode (&in, &sb);
    assert_int_equal (sb.err, 0);
    assert_int_equal (stepuse_decode (sb.buf, sb.len, &out), 0);
    assert_non_null (out.ranks);
    stepuse_release (&out);
    stepuse_add (&in, 9999, &most);
    strbuf_reset (&sb);
    stepuse_encode (&in, &sb);
    assert_int_equal (stepuse_decode (sb.buf, sb.len, &out), 0);
    assert_null (out.ranks);
    assert_int_equal (out.nreported, STEPUSE_RANKS_MAX + 1);
    assert_int_equal (out.spread[USE_PEAK].max_rank, 9999);
    stepuse_release (&out);
    stepuse_release (&in);
    strbuf_release (&sb);
}

static void test_ranks_are_in_order (void **state)
{
    static const uint32_t come[] = { 4, 0, 9, 2, 1 }, want[] = { 0, 1, 2, 4, 9 };
    struct stepuse s = { .step = "0" };
    struct use use = make (1, 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (come); i++)
        stepuse_add (&s, come[i], &use);
    for (size_t i = 0; i < ARRAY_SIZE (want); i++)
        assert_int_equal (s.ranks[i].rank, want[i]);
    stepuse_release (&s);
}

static void test_bad_steps (void **state)
{
    static const char *const bad[] = {
        "",
        "name x\n",
        "step ../x\n",
        "step \n",
        "step 12345678901234567\n",
        "step 0\ntime 1\n",
        "step 0\nsize 1 4294967296\n",
        "step 0\nstatus 65536\n",
        "step 0\nspread user 1 0 0 0 0 0\n",
        "step 0\nspread user 1 1\n",
        "step 0\nreported 2\nrank 0 user 1\n",
        "step 0\nreported 1\nrank x\n",
    };
    struct stepuse s;
    char text[4096] = "step 0\n";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_int_equal (stepuse_decode (bad[i], strlen (bad[i]), &s), -EBADMSG);
    memset (text + 7, 'x', 2000);
    assert_int_equal (stepuse_decode (text, 2007, &s), -EBADMSG);
    assert_int_equal (stepuse_decode ("step 0\nlater x\n", 15, &s), 0);
    stepuse_release (&s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_sums),        cmocka_unit_test (test_figures_as_text),
        cmocka_unit_test (test_bad_figures), cmocka_unit_test (test_step_round_trip),
        cmocka_unit_test (test_many_ranks),  cmocka_unit_test (test_ranks_are_in_order),
        cmocka_unit_test (test_bad_steps),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
