/* Usage by example, and compared with a slow recount: the integral of every allocation,
 * one by one. Fails if a job counts twice or not at all, if the half-life is wrong, if
 * a query changes anything, or if a restart loses usage. Linked with --wrap for malloc
 * and related functions: each allocation fails in turn. */
#include "common/test/unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/test/torture.h"
#include "match/test/build.h"
#include "sched/usage.h"

#define USERS 5
#define JOBS 400

static void assert_near (double value, double wanted)
{
    if (fabs (value - wanted) > 1e-6 * (1 + fabs (wanted)))
        fail_msg ("%.17g is not %.17g", value, wanted);
}

static void test_half_life (void **state)
{
    struct usage *u = usage_create (100);

    (void)state;
    assert_int_equal (usage_restore (u, 1, 800, 1000, 1000), 0);
    assert_near (usage_of (u, 1, 1000), 800);
    assert_near (usage_of (u, 1, 1100), 400);
    assert_near (usage_of (u, 1, 1300), 100);
    assert_near (usage_all (u, 1300), 100);
    assert_int_equal (usage_restore (u, 1, 800, 1200, 1300), 0);
    assert_near (usage_of (u, 1, 1300), 500);
    assert_int_equal (usage_restore (u, 1, -1, 1, 1), -EINVAL);
    assert_int_equal (usage_restore (u, 1, NAN, 1, 1), -EINVAL);
    assert_near (usage_of (u, 2, 1300), 0);
    usage_destroy (u);
}

static void test_without_decay (void **state)
{
    struct usage *u = usage_create (0);

    (void)state;
    usage_begin (u, 1, 4, 1000, 1000);
    assert_near (usage_of (u, 1, 1010), 40);
    assert_near (usage_past (u, 1, 1010), 0);
    usage_end (u, 1, 4, 1000, 1020);
    assert_near (usage_of (u, 1, 1e6), 80);
    assert_near (usage_past (u, 1, 1e6), 80);
    usage_destroy (u);
}

/* A job that runs forever approaches its cores times half-life / ln 2. */
static void test_running_counts (void **state)
{
    struct usage *u = usage_create (100);

    (void)state;
    usage_begin (u, 1, 8, 0, 0);
    assert_near (usage_of (u, 1, 100), 8 * 100 / M_LN2 / 2);
    assert_near (usage_of (u, 1, 1e5), 8 * 100 / M_LN2);
    assert_near (usage_of (u, 1, 100), 8 * 100 / M_LN2 / 2); /* a query changes nothing */
    usage_destroy (u);
}

static void test_fair_share (void **state)
{
    struct usage *u = usage_create (0);

    (void)state;
    assert_near (usage_fair_share (u, 1, 0), 1);
    usage_name (u, 1, "ann");
    usage_name (u, 2, "bob");
    assert_near (usage_share (u), 0.5);
    assert_near (usage_fair_share (u, 1, 0), 1);
    usage_restore (u, 1, 30, 0, 0);
    assert_near (usage_fair_share (u, 1, 0), 1); /* until the round is over */
    usage_round (u);
    assert_near (usage_fair_share (u, 1, 0), 0.25); /* all usage: twice the share */
    assert_near (usage_fair_share (u, 2, 0), 1);
    usage_restore (u, 2, 30, 0, 0);
    usage_round (u);
    assert_near (usage_fair_share (u, 1, 0), 0.5);
    assert_near (usage_fair_share (u, 2, 0), 0.5);
    usage_destroy (u);
}

static void count_uid (uint32_t uid, void *arg)
{
    *(uint32_t *)arg = *(uint32_t *)arg * 10 + uid;
}

static void test_drop_idle (void **state)
{
    struct usage *u = usage_create (10);
    uint32_t dropped = 0;
    size_t n;

    (void)state;
    usage_name (u, 1, "waits");
    usage_begin (u, 2, 1, 0, 0);
    usage_restore (u, 3, 1000, 0, 0);
    usage_name (u, 4, "idle");
    usage_round (u);
    usage_name (u, 1, NULL);
    usage_drop_idle (u, 5, count_uid, &dropped);
    assert_int_equal (dropped, 4);
    uint32_t *uids = usage_uids (u, &n);
    assert_int_equal (n, 3);
    assert_true (uids[0] == 1 && uids[1] == 2 && uids[2] == 3);
    free (uids);
    struct usage_user user;
    assert_true (usage_look (u, 1, 5, &user));
    assert_string_equal (user.name, "waits");
    assert_false (usage_look (u, 4, 5, &user));
    usage_end (u, 2, 1, 0, 5);
    dropped = 0;
    usage_round (u);
    usage_drop_idle (u, 500, count_uid, &dropped);
    assert_int_equal (usage_count (u), 0);
    assert_near (usage_all (u, 500), 0);
    usage_destroy (u);
}

static void test_clock_set_back (void **state)
{
    struct usage *u = usage_create (100);

    (void)state;
    usage_begin (u, 1, 2, 1000, 1000);
    double at = usage_of (u, 1, 1050);
    usage_name (u, 1, NULL);
    usage_begin (u, 1, 1, 1050, 1050);
    usage_end (u, 1, 1, 1050, 900);
    assert_near (usage_of (u, 1, 900), at);
    assert_near (usage_of (u, 1, 1050), at);
    usage_destroy (u);
}

static void test_half_life_changes (void **state)
{
    struct usage *u = usage_create (100);

    (void)state;
    usage_begin (u, 1, 1, 0, 0);
    double before = usage_of (u, 1, 200);
    usage_set_half_life (u, 50, 200);
    assert_near (usage_of (u, 1, 200), before);
    usage_end (u, 1, 1, 0, 200);
    assert_near (usage_of (u, 1, 200), before);
    assert_near (usage_of (u, 1, 250), before / 2);
    usage_destroy (u);
}

/* Without memory a user is unknown, or unchanged; successful updates count. */
static void test_no_memory (void **state)
{
    int failures = 0;

    (void)state;
    for (long n = 0; n == 0 || torture_countdown < 0; n++) {
        torture_countdown = n;
        struct usage *u = usage_create (100);
        double wanted = 0;
        for (uint32_t uid = 0; u && uid < 40; uid++) {
            int rc = usage_begin (u, uid, 2, 0, 0);
            assert_true (rc == 0 || rc == -ENOMEM);
            wanted += rc == 0 ? 2 : 0;
            failures += rc < 0;
            rc = usage_name (u, uid, "somebody");
            assert_true (rc == 0 || rc == -ENOMEM);
            failures += rc < 0;
        }
        size_t count;
        uint32_t *uids = u ? usage_uids (u, &count) : NULL;
        if (u) {
            usage_set_half_life (u, 0, 0);
            assert_near (usage_all (u, 1), wanted);
        }
        free (uids);
        usage_destroy (u);
    }
    torture_countdown = -1;
    assert_true (failures > 40);
}

/* -- compared with a recount -- */

struct held {
    uint32_t uid;
    int64_t cores;
    double from, to; /* to < 0: the job still runs */
};

/* The integral of cores times 2^-(age / half_life) over the time until now. */
static double recount (const struct held *list, size_t n, uint32_t uid, double half_life,
                       double now, bool ended_only)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i].uid != uid || (ended_only && list[i].to < 0))
            continue;
        double to = list[i].to < 0 ? now : list[i].to;
        sum +=
            (double)list[i].cores * half_life / M_LN2
            * (exp2 (-(now - to) / half_life) - exp2 (-(now - list[i].from) / half_life));
    }
    return sum;
}

static void check (const struct usage *u, const struct held *list, size_t n,
                   double half_life, double now)
{
    double all = 0;
    for (uint32_t uid = 0; uid < USERS; uid++) {
        double wanted = recount (list, n, uid, half_life, now, false);
        assert_near (usage_of (u, uid, now), wanted);
        assert_near (usage_past (u, uid, now),
                     recount (list, n, uid, half_life, now, true));
        all += wanted;
    }
    assert_near (usage_all (u, now), all);
}

/* As after a restart: the kept usage of ended jobs, and the running jobs. */
static struct usage *again (const struct usage *u, const struct held *list, size_t n,
                            double half_life, double saved, double now)
{
    struct usage *fresh = usage_create (half_life);
    for (uint32_t uid = 0; uid < USERS; uid++)
        usage_restore (fresh, uid, usage_past (u, uid, saved), saved, now);
    for (size_t i = 0; i < n; i++)
        if (list[i].to < 0)
            usage_begin (fresh, list[i].uid, list[i].cores, list[i].from, now);
    return fresh;
}

static void test_random_against_recount (void **state)
{
    uint64_t random = 5;

    (void)state;
    for (int stream = 0; stream < 20; stream++) {
        double half_life = 10 + (double)(build_random (&random) % 1000), now = 1e9;
        struct usage *u = usage_create (half_life);
        struct held list[JOBS];
        size_t n = 0;
        while (n < JOBS) {
            now += (double)(build_random (&random) % 1000) / 10;
            struct held *h = n > 0 ? &list[build_random (&random) % n] : NULL;
            if (h && h->to < 0) {
                h->to = now;
                usage_end (u, h->uid, h->cores, h->from, now);
            } else {
                list[n] =
                    (struct held){ (uint32_t)(build_random (&random) % USERS),
                                   (int64_t)(build_random (&random) % 64), now, -1 };
                usage_begin (u, list[n].uid, list[n].cores, now, now);
                n++;
            }
            if (n % 50 == 0)
                check (u, list, n, half_life,
                       now + (double)(build_random (&random) % 99));
            if (n % 133 == 0) {
                struct usage *fresh = again (u, list, n, half_life, now, now + 30);
                usage_destroy (u);
                u = fresh;
                now += 30;
                check (u, list, n, half_life, now);
            }
        }
        check (u, list, n, half_life, now);
        usage_destroy (u);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_half_life),
        cmocka_unit_test (test_without_decay),
        cmocka_unit_test (test_running_counts),
        cmocka_unit_test (test_fair_share),
        cmocka_unit_test (test_drop_idle),
        cmocka_unit_test (test_clock_set_back),
        cmocka_unit_test (test_half_life_changes),
        cmocka_unit_test (test_no_memory),
        cmocka_unit_test (test_random_against_recount),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
