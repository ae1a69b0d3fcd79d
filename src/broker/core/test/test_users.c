/* test_users.c - look-ups of users: what is known, what is looked up again, and when */
#include "common/test/unit.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "broker/core/users.h"
#include "common/clock.h"

#define NO_USER ((uid_t)4000000000)

static double now = 1000;
static int begun; /* look-ups */

double __wrap_clock_mono (void);
double __wrap_clock_mono (void)
{
    return now;
}

int __real_uv_queue_work (uv_loop_t *loop, uv_work_t *req, uv_work_cb work,
                          uv_after_work_cb after);
int __wrap_uv_queue_work (uv_loop_t *loop, uv_work_t *req, uv_work_cb work,
                          uv_after_work_cb after);
int __wrap_uv_queue_work (uv_loop_t *loop, uv_work_t *req, uv_work_cb work,
                          uv_after_work_cb after)
{
    begun++;
    return __real_uv_queue_work (loop, req, work, after);
}

static bool away; /* the directory of users does not answer */

int __real_getpwuid_r (uid_t uid, struct passwd *pw, char *buf, size_t size,
                       struct passwd **ret);
int __wrap_getpwuid_r (uid_t uid, struct passwd *pw, char *buf, size_t size,
                       struct passwd **ret);
int __wrap_getpwuid_r (uid_t uid, struct passwd *pw, char *buf, size_t size,
                       struct passwd **ret)
{
    *ret = NULL;
    return away ? EIO : __real_getpwuid_r (uid, pw, buf, size, ret);
}

static void found (int rc, const struct exec_user *user, void *arg)
{
    (void)user;
    *(int *)arg = rc;
}

static int find (struct users *u, uv_loop_t *loop, uid_t uid)
{
    int rc = 1;

    users_find (u, uid, found, &rc);
    uv_run (loop, UV_RUN_DEFAULT);
    return rc;
}

/* Rights of a group are those of the last look-up; the next one begins when that is old. */
static void test_groups (void **unused)
{
    const gid_t of_root[] = { 4242424, 0 }, others[] = { 4242424 };
    uv_loop_t loop;

    (void)unused;
    uv_loop_init (&loop);
    struct users *u = users_create (&loop);
    assert_false (users_in_groups (u, 0, of_root, 2));
    assert_false (users_is_fresh (u, 0));
    assert_int_equal (find (u, &loop, 0), 0);
    assert_int_equal (find (u, &loop, NO_USER), -ENOENT);
    assert_true (users_is_fresh (u, 0));
    assert_true (users_in_groups (u, 0, of_root, 2));
    assert_false (users_in_groups (u, 0, others, 1));
    assert_false (users_in_groups (u, NO_USER, of_root, 2));
    int before = begun;
    now += 61;
    assert_false (users_is_fresh (u, 0));
    assert_true (users_in_groups (u, 0, of_root, 2));
    assert_int_equal (begun, before + 1);
    uv_run (&loop, UV_RUN_DEFAULT);
    assert_true (users_is_fresh (u, 0));
    users_destroy (u);
    assert_int_equal (uv_loop_close (&loop), 0);
}

/* While the directory fails, old groups count, and not every request waits for the directory. */
static void test_directory_away (void **unused)
{
    const gid_t of_root[] = { 0 };
    uv_loop_t loop;

    (void)unused;
    uv_loop_init (&loop);
    struct users *u = users_create (&loop);
    away = true;
    assert_int_equal (find (u, &loop, 0), -EIO);
    assert_false (users_is_fresh (u, 0));
    assert_false (users_in_groups (u, 0, of_root, 1));
    away = false;
    assert_int_equal (find (u, &loop, 0), 0);
    away = true;
    now += 61;
    assert_false (users_is_fresh (u, 0));
    assert_int_equal (find (u, &loop, 0), 0);
    int before = begun;
    assert_true (users_is_fresh (u, 0));
    assert_int_equal (find (u, &loop, 0), 0);
    assert_int_equal (begun, before);
    now += 6;
    assert_false (users_is_fresh (u, 0));
    assert_int_equal (find (u, &loop, 0), 0);
    assert_int_equal (begun, before + 1);
    away = false;
    users_destroy (u);
    assert_int_equal (uv_loop_close (&loop), 0);
}

/* Fails if the name is forgotten when it is old, if it is then not looked up again, or if
 * each question begins a look-up. */
static void test_recall (void **unused)
{
    const char *name = getpwuid (0)->pw_name;
    uv_loop_t loop;

    (void)unused;
    begun = 0;
    uv_loop_init (&loop);
    struct users *u = users_create (&loop);
    assert_null (users_recall (u, 0));
    assert_int_equal (begun, 0);
    assert_int_equal (find (u, &loop, 0), 0);
    assert_int_equal (find (u, &loop, NO_USER), -ENOENT);
    assert_int_equal (begun, 2);
    assert_string_equal (users_recall (u, 0), name);
    assert_string_equal (users_recall (u, NO_USER), "");
    assert_int_equal (begun, 2);
    now += 61;
    for (int i = 0; i < 3; i++)
        assert_string_equal (users_recall (u, 0), name);
    assert_int_equal (begun, 3);
    uv_run (&loop, UV_RUN_DEFAULT);
    assert_string_equal (users_recall (u, 0), name);
    assert_int_equal (find (u, &loop, 0), 0);
    assert_int_equal (begun, 3);
    users_destroy (u);
    assert_int_equal (uv_loop_close (&loop), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_groups),
        cmocka_unit_test (test_directory_away),
        cmocka_unit_test (test_recall),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
