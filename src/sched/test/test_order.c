/* The ordered set compared with a sorted array. Fails if jobs are out of order or
 * lost, or if a rank is not the number of jobs before. */
#include "common/test/unit.h"

#include <stdio.h>

#include "match/test/build.h"
#include "sched/order.h"

#define LINKS 60

static void check (const struct order *o, const struct order_link *links, const bool *in)
{
    const struct order_link *first = NULL;
    for (size_t i = 0; i < LINKS; i++) {
        if (!in[i])
            continue;
        size_t before = 0;
        if (!first || order_compare (&links[i].key, &first->key) < 0)
            first = &links[i];
        for (size_t j = 0; j < LINKS; j++)
            before += in[j] && order_compare (&links[j].key, &links[i].key) < 0;
        assert_int_equal (order_rank (o, &links[i].key), before);
    }
    assert_ptr_equal (order_first (o), first);
}

static void test_random (void **state)
{
    (void)state;
    uint64_t random = build_seed ("order");
    for (int k = 0; k < 200; k++) {
        struct order o = { 0 };
        struct order_link links[LINKS] = { 0 };
        bool in[LINKS] = { false };
        for (int step = 0; step < 150; step++) {
            size_t i = build_random (&random) % LINKS;
            if (in[i]) {
                order_remove (&o, &links[i]);
            } else {
                links[i].key =
                    (struct order_key){ .priority = (int64_t)(build_random (&random) % 5),
                                        .turn = build_random (&random) % 3,
                                        .id = i };
                order_add (&o, &links[i]);
            }
            in[i] = !in[i];
            check (&o, links, in);
        }
    }
}

static size_t depth (const struct order_link *t)
{
    if (!t)
        return 0;
    size_t left = depth (t->left), right = depth (t->right);
    return 1 + (left > right ? left : right);
}

/* Ids are ascending in practice: the tree must not become a list. */
static void test_stays_flat (void **state)
{
    (void)state;
    const size_t n = 100000;
    struct order o = { 0 };
    struct order_link *links = calloc (n, sizeof (*links));
    for (size_t i = 0; i < n; i++) {
        links[i].key = (struct order_key){ 16, i + 1, i + 1 };
        order_add (&o, &links[i]);
    }
    assert_true (depth (o.root) < 60);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal (order_first (&o), &links[i]);
        order_remove (&o, &links[i]);
    }
    assert_null (order_first (&o));
    free (links);
}

static void test_order (void **state)
{
    (void)state;
    struct order_key a = { 5, 9, 9 }, b = { 4, 1, 1 }, c = { 4, 2, 2 }, d = { -3, 1, 1 };
    struct order_key late = { 4, 1, 2 }, later = { 4, 1, 3 }; /* one requeue to the end */
    assert_true (order_compare (&a, &b) < 0);
    assert_true (order_compare (&b, &c) < 0);
    assert_true (order_compare (&c, &d) < 0);
    assert_int_equal (order_compare (&a, &a), 0);
    assert_true (order_compare (&b, &late) < 0);
    assert_true (order_compare (&late, &c) < 0); /* in one turn the smaller id first */
    assert_true (order_compare (&c, &later) < 0);
    assert_true (order_compare (&later, &d) < 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_order),
        cmocka_unit_test (test_random),
        cmocka_unit_test (test_stays_flat),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
