/* test_pmi_torture.c - each allocation of a step's PMI fails in turn. Fails on a crash,
 * on a leak (ASan), if a task gets success for a lost put, or if a task waits forever.
 *
 * Linked with --wrap for malloc and related functions, so that only allocations of src/
 * fail. The test's own buffers are made while none fails.
 */
#include "common/test/unit.h"

#include <errno.h>

#include "common/test/torture.h"
#include "shell/pmi/test/pmi_step.h"

/* Includes the allocation that is to fail; the buffers of replies have room by then. */
static int say (struct step *step, uint32_t task, const char *text, long fail_at,
                long *ret_left)
{
    torture_countdown = fail_at;
    int rc = step_say (step, task, text);
    *ret_left = torture_countdown;
    torture_countdown = -1;
    return rc;
}

static struct step *make_step (uint32_t nranks, uint32_t ntasks)
{
    struct step *step = step_create (nranks, ntasks, STEP_BLOCKS);

    for (uint32_t i = 0; i < ntasks; i++)
        strbuf_reserve (&step->heard[i], 65536);
    for (uint32_t i = 0; i < nranks; i++)
        strbuf_reserve (&step->ranks[i].given, 65536);
    return step;
}

static void a_step_is_made_whole_or_not_at_all (void **state)
{
    static const struct pmi_events events = { step_on_send, step_on_exchange,
                                              step_on_abort };
    static const uint32_t global[] = { 0, 1 }, node_of[] = { 0, 0 };
    const struct pmi_config config = { "1", 2, 2, global, node_of, 1 };
    struct pmi *pmi = NULL;
    long n = 0;

    (void)state;
    for (; !pmi; n++) {
        struct error err = { 0 };
        torture_countdown = n;
        pmi = pmi_create (&config, &events, NULL, &err);
        torture_countdown = -1;
        assert_int_equal (err.code, pmi ? 0 : ENOMEM);
    }
    assert_true (n > 8);
    pmi_destroy (pmi);
}

/* A get finds exactly the puts that were reported as successful. */
static void a_put_is_done_or_refused (void **state)
{
    bool reached = true;
    long n = 0, left, refused = 0;

    (void)state;
    for (; reached; n++) {
        struct step *step = make_step (1, 1);
        step_say (step, 0, "cmd=init pmi_version=1\n");
        step_heard (step, 0);
        int rc = say (step, 0, "cmd=put key=k value=v\n", n, &left);
        reached = left < 0;
        bool done = strstr (step_heard (step, 0), "rc=0") != NULL;
        if (rc == 0) {
            step_say (step, 0, "cmd=get key=k\n");
            assert_int_equal (strstr (step_heard (step, 0), "value=v") != NULL, done);
            refused += !done;
        } else {
            assert_int_equal (rc, -ENOMEM);
            assert_false (done);
        }
        step_destroy (step);
    }
    assert_true (n > 3 && refused >= 3);
}

/* The fence succeeds for all, or fails for all and the agent knows; no task waits. */
static void a_fence_holds_or_fails (void **state)
{
    bool reached = true;
    long n = 0, left, failed = 0;

    (void)state;
    for (; reached; n++) {
        struct step *step = make_step (1, 2);
        for (uint32_t i = 0; i < 2; i++)
            step_say (step, i, "cmd=init pmi_version=1\n");
        step_say (step, 0, "cmd=put key=k value=v\n");
        step_say (step, 0, "cmd=barrier_in\n");
        step_heard (step, 0), step_heard (step, 1);
        int rc = say (step, 1, "cmd=barrier_in\n", n, &left);
        reached = left < 0;
        assert_true (rc == 0 || rc == -ENOMEM);
        const char *heard = step_heard (step, 0);
        assert_non_null (strstr (heard, "cmd=barrier_out rc="));
        if (rc == 0)
            assert_string_equal (step_heard (step, 1), heard);
        bool held = strstr (heard, "rc=0") != NULL;
        failed += !held;
        if (rc == 0)
            assert_int_equal (step->abort_status == 1 || step->exchanged == -ENOMEM,
                              !held);
        step_destroy (step);
    }
    assert_true (failed >= 2);
}

static void who_cannot_be_remembered_does_not_wait (void **state)
{
    bool reached = true;
    long left, refused = 0;

    (void)state;
    for (long n = 0; reached; n++) {
        struct step *step = make_step (1, 1);
        step_say (step, 0, "cmd=init pmi_version=2\n");
        step_say (step, 0, framed ("cmd=fullinit;"));
        step_heard (step, 0);
        int rc =
            say (step, 0, framed ("cmd=info-getnodeattr;key=k;wait=TRUE;"), n, &left);
        reached = left < 0;
        const char *heard = step_heard (step, 0);
        bool waits = rc == 0 && *heard == '\0';
        refused += rc == 0 && strstr (heard, ";rc=2;") != NULL;
        if (rc == 0)
            step_say (step, 0, framed ("cmd=info-putnodeattr;key=k;value=v;"));
        assert_int_equal (strstr (step_heard (step, 0), "found=TRUE") != NULL, waits);
        step_destroy (step);
    }
    assert_int_equal (refused, 1);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_step_is_made_whole_or_not_at_all),
        cmocka_unit_test (a_put_is_done_or_refused),
        cmocka_unit_test (a_fence_holds_or_fails),
        cmocka_unit_test (who_cannot_be_remembered_does_not_wait),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
