/* The tree's arithmetic compared with a walk along the parents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shell/agent/tree.h"

/* True if rank is at or below top, one parent after another. */
static bool climbs_to (const struct tree *tree, uint32_t top, uint32_t rank)
{
    while (rank != top && rank != 0)
        rank = tree_parent (tree, rank);
    return rank == top;
}

static void check_rank (const struct tree *tree, uint32_t top)
{
    uint32_t children = 0, height = 0;
    for (uint32_t rank = 0; rank < tree->nranks; rank++) {
        bool below = climbs_to (tree, top, rank);
        uint32_t up = 0, via = TREE_NONE;
        assert_int_equal (tree_holds (tree, top, rank), below);
        for (uint32_t r = rank; below && r != top; r = tree_parent (tree, r)) {
            via = r;
            up++;
        }
        assert_int_equal (tree_route (tree, top, rank), via);
        height = up > height ? up : height;
        if (rank > 0 && tree_parent (tree, rank) == top) {
            assert_int_equal (rank, tree_first_child (tree, top) + children);
            children++;
        }
    }
    assert_int_equal (tree_nchildren (tree, top), children);
    assert_int_equal (tree_height (tree, top), height);
}

static void every_rank_of_small_trees (void **state)
{
    (void)state;
    for (uint32_t fanout = 1; fanout <= 5; fanout++) {
        for (uint32_t nranks = 1; nranks <= 42; nranks++) {
            struct tree tree;
            tree_init (&tree, nranks, fanout);
            for (uint32_t top = 0; top < nranks; top++)
                check_rank (&tree, top);
        }
    }
}

static void the_default_is_sixteen_and_deep_as_a_logarithm (void **state)
{
    (void)state;
    struct tree tree;
    tree_init (&tree, 512, 0);
    assert_int_equal (tree.fanout, TREE_FANOUT);
    assert_int_equal (tree_nchildren (&tree, 0), 16);
    assert_int_equal (tree_height (&tree, 0), 3);
    check_rank (&tree, 0);
    check_rank (&tree, 15);
    tree_init (&tree, 1 + 16 + 256 + 4096, 0);
    assert_int_equal (tree_height (&tree, 0), 3);
}

static void with_a_fan_out_of_all_it_is_a_star (void **state)
{
    (void)state;
    struct tree tree;
    tree_init (&tree, 100, UINT32_MAX);
    assert_int_equal (tree_nchildren (&tree, 0), 99);
    assert_int_equal (tree_height (&tree, 0), 1);
    for (uint32_t rank = 1; rank < 100; rank++) {
        assert_int_equal (tree_parent (&tree, rank), 0);
        assert_int_equal (tree_nchildren (&tree, rank), 0);
        assert_int_equal (tree_route (&tree, 0, rank), rank);
    }
}

static void what_is_no_rank_is_nowhere (void **state)
{
    (void)state;
    struct tree tree;
    tree_init (&tree, 10, 3);
    assert_int_equal (tree_parent (&tree, 0), TREE_NONE);
    assert_false (tree_holds (&tree, 0, 10));
    assert_false (tree_holds (&tree, 0, UINT32_MAX));
    assert_int_equal (tree_route (&tree, 0, 10), TREE_NONE);
    assert_int_equal (tree_route (&tree, 0, UINT32_MAX), TREE_NONE);
    assert_int_equal (tree_route (&tree, 4, 4), TREE_NONE);
    /* The largest possible job: nothing overflows. */
    tree_init (&tree, UINT32_MAX - 1, 0);
    assert_int_equal (tree_nchildren (&tree, UINT32_MAX - 2), 0);
    assert_int_equal (tree_height (&tree, 0), 8);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (every_rank_of_small_trees),
        cmocka_unit_test (the_default_is_sixteen_and_deep_as_a_logarithm),
        cmocka_unit_test (with_a_fan_out_of_all_it_is_a_star),
        cmocka_unit_test (what_is_no_rank_is_nowhere),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
