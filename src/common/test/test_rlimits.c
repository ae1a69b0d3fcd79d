/* Fails if a limit differs from the user's named or current limit, or if a limit above
 * the process's maximum fails completely. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/rlimits.h"

#define NOFILE_BIT (UINT32_C (1) << rlimits_find ("nofile"))

static void test_select (void **state)
{
    struct rlimits set;
    struct error err = { 0 };

    (void)state;
    assert_int_equal (rlimits_select ("all", &set, "--propagate", &err), 0);
    assert_int_equal (set.given, (1u << RLIMITS_COUNT) - 1);
    assert_int_equal (rlimits_select ("NONE", &set, "--propagate", &err), 0);
    assert_int_equal (set.given, 0);
    assert_int_equal (rlimits_select ("NOFILE,core", &set, "--propagate", &err), 0);
    assert_int_equal (set.given, NOFILE_BIT | 1u << rlimits_find ("core"));
    static const char *const bad[] = { "", "NOFILES", "NOFILE,", "ALL,CORE",
                                       "CORE,NONE" };
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal (rlimits_select (bad[i], &set, "--propagate", &err), -EINVAL);
        assert_int_equal (strncmp (err.text, "--propagate: ", 13), 0);
    }
}

static void test_text (void **state)
{
    struct rlimits set = { 0 }, again = { 0 };
    struct error err = { 0 };
    char text[RLIMITS_TEXT_MAX];

    (void)state;
    assert_int_equal (rlimits_add (&set, "core=unlimited", &err), 0);
    assert_int_equal (rlimits_add (&set, "nofile=77", &err), 0);
    for (size_t i = 0; i < RLIMITS_COUNT; i++) {
        if (!(set.given >> i & 1))
            continue;
        rlimits_format (&set, i, text, sizeof (text));
        assert_int_equal (rlimits_add (&again, text, &err), 0);
    }
    assert_int_equal (again.given, set.given);
    assert_true (again.soft[rlimits_find ("core")] == RLIM_INFINITY);
    assert_true (again.soft[rlimits_find ("nofile")] == 77);
    assert_int_equal (rlimits_add (&set, "nofile", &err), -EINVAL);
    assert_int_equal (rlimits_add (&set, "files=1", &err), -EINVAL);
    assert_int_equal (rlimits_add (&set, "nofile=-1", &err), -EINVAL);
}

/* Runs in a process of its own; returns 0 if everything is right. */
static int apply_here (void)
{
    struct rlimit r = { 40, 50 };
    struct rlimits set = { 0 }, seen = { .given = NOFILE_BIT };
    char cut[100];

    if (setrlimit (RLIMIT_NOFILE, &r) < 0 || rlimits_add (&set, "nofile=45", NULL) < 0)
        return 1;
    rlimits_apply (&set);
    rlimits_read (&seen);
    rlimits_describe_cut (&set, cut, sizeof (cut));
    if (seen.soft[rlimits_find ("nofile")] != 45 || cut[0])
        return 2;
    rlimits_add (&set, "nofile=100", NULL);
    rlimits_apply (&set);
    rlimits_read (&seen);
    rlimits_describe_cut (&set, cut, sizeof (cut));
    if (seen.soft[rlimits_find ("nofile")] != 50)
        return 3;
    return strcmp (cut, "nofile=100 (at most 50)") == 0 ? 0 : 4;
}

static void test_apply (void **state)
{
    int status = -1;
    pid_t pid = fork ();

    (void)state;
    if (pid == 0)
        _exit (apply_here ());
    assert_true (pid > 0 && waitpid (pid, &status, 0) == pid);
    assert_int_equal (status, 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_select),
        cmocka_unit_test (test_text),
        cmocka_unit_test (test_apply),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
