/* test_small.c - the small core itself: a job is whole, or there is none */
#include "broker/core/test/small.h"

#include <string.h>

/* As after a real submit: a job that lacks an event was refused. */
static void submit (struct small *s)
{
    struct entry *e = small_submit (s, "duration: 60");
    enum job_state state = e ? entry_job (e)->state : JOB_NEW;

    if (e) {
        assert_true (state == JOB_SCHED || state == JOB_DEPEND);
        assert_ptr_equal (entry_find (s->b, 1), e);
        assert_true (!strncmp (small_events (s, 1), "submit validate", 15));
    } else {
        assert_null (entry_find (s->b, 1));
        assert_string_equal (small_events (s, 0), "");
    }
}

static void test_submit (void **unused)
{
    (void)unused;
    small_torture (1, submit);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_submit),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
