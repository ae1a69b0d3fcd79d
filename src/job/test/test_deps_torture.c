/* test_deps_torture.c - each allocation fails in turn: a refused call has changed
 * nothing, and no verdict is lost.
 *
 * Linked with --wrap, so that the allocations of src/ go through this file.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "common/test/torture.h"
#include "job/deps.h"

static int past (uint64_t id, struct deps_past *ret, void *arg)
{
    (void)arg;
    *ret = (struct deps_past){ 50, true };
    return id == 5 ? 0 : -ENOENT;
}

/* Repeats the call with memory if it failed for lack of memory. */
static void add (struct deps *d, uint64_t id, const char *name)
{
    int rc = deps_add (d, id, 7, name);

    if (rc == -ENOMEM) {
        torture_countdown = -1;
        rc = deps_add (d, id, 7, name);
    }
    assert_int_equal (rc, 0);
}

static void wait_for (struct deps *d, uint64_t id, const struct dependencies *list)
{
    size_t before = deps_conditions (d);
    int rc = deps_wait (d, id, list, past, NULL);

    if (rc == -ENOMEM) {
        assert_int_equal (deps_conditions (d), before);
        assert_int_equal (deps_verdict (d, id), DEPS_NONE);
        torture_countdown = -1;
        rc = deps_wait (d, id, list, past, NULL);
    }
    assert_int_equal (rc, 0);
}

/* Many delays, so that the heap grows more than once. */
static void one_life (void)
{
    enum { N = 40 };
    struct dependency all[] = {
        { .kind = DEPENDENCY_AFTER, .id = 5, .delay = 60 },
        { .kind = DEPENDENCY_AFTER, .id = 10, .delay = 60 },
        { .kind = DEPENDENCY_AFTEROK, .id = 10 },
        { .kind = DEPENDENCY_SINGLETON },
    };
    const struct dependencies list = { .list = all, .n = 4 };
    struct deps *d = deps_create ();
    enum deps_verdict v;
    unsigned told = 0;
    uint64_t id;

    if (!d)
        return;
    add (d, 10, "a");
    for (uint64_t i = 20; i < 20 + N; i++) {
        add (d, i, "w");
        wait_for (d, i, &list);
    }
    deps_started (d, 10, 100);
    assert_int_equal (deps_next (d, 100, 1000, &id, &v), 0);
    deps_ended (d, 10, true);
    for (uint64_t i = 20; i < 20 + N; i++) {
        for (int rc; (rc = deps_next (d, 200, 1000, &id, &v)) != 0; told++) {
            assert_int_equal (rc, 1);
            assert_int_equal (v, DEPS_MET);
            assert_int_equal (id, i);
        }
        deps_ended (d, i, true);
    }
    assert_int_equal (told, N);
    deps_destroy (d);
}

static void test_deps (void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        torture_has_failed = false;
        torture_countdown = n;
        one_life ();
        torture_countdown = -1;
        if (!torture_has_failed)
            break;
        assert_true (n < 10000);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_deps) };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
