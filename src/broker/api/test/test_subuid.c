/* test_subuid.c - subordinate uids belong to their owners */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "broker/api/subuid.h"
#include "common/io.h"

static struct subuids *read_text (const char *text, struct error *err)
{
    char path[] = "/tmp/fluxq-subuid.XXXXXX";
    int fd = mkstemp (path);

    assert_true (fd >= 0);
    assert_int_equal (io_write_all (fd, text, strlen (text)), 0);
    close (fd);
    struct subuids *t = subuids_read (path, err);
    unlink (path);
    return t;
}

/* Fails if a uid of a range counts as a user of its own, or a uid beside the
 * range as its owner. */
static void test_ranges (void **state)
{
    struct error err = { 0 };
    struct subuids *t = read_text ("2000:300000:1000\n1000:100000:65536\n", &err);

    (void)state;
    assert_non_null (t);
    assert_int_equal (subuids_count (t), 2);
    assert_int_equal (subuids_owner (t, 99999), 99999);
    assert_int_equal (subuids_owner (t, 100000), 1000);
    assert_int_equal (subuids_owner (t, 165535), 1000);
    assert_int_equal (subuids_owner (t, 165536), 165536);
    assert_int_equal (subuids_owner (t, 300999), 2000);
    assert_int_equal (subuids_owner (t, 301000), 301000);
    assert_int_equal (subuids_owner (t, 1000), 1000);
    subuids_destroy (t);
    assert_int_equal (subuids_owner (NULL, 7), 7);
}

/* Fails if a file gives uid 0 to a user, if users of a container become root, or if a
 * bad line invalidates the good ones. */
static void test_lines_that_count_for_nothing (void **state)
{
    struct error err = { 0 };
    struct subuids *t = read_text ("# comment\n\n1000:0:10\nroot:100000:65536\n0:200000:10\n"
                                   "1000:4294967290:10\n1000:x:5\n1000:5\nno-such-user:400000:5\n"
                                   "1000:300000:5\n1000:500000:0\nnobody:600000:1",
                                   &err);

    (void)state;
    assert_non_null (t);
    assert_int_equal (subuids_count (t), 2);
    assert_int_equal (subuids_owner (t, 0), 0);
    assert_int_equal (subuids_owner (t, 300004), 1000);
    assert_int_equal (subuids_owner (t, 100000), 100000);
    assert_int_not_equal (subuids_owner (t, 600000), 600000);
    subuids_destroy (t);
}

static void test_no_file (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_null (subuids_read ("/nowhere/subuid", &err));
    assert_int_equal (err.code, ENOENT);
    struct subuids *t = read_text ("", &err);
    assert_non_null (t);
    assert_int_equal (subuids_count (t), 0);
    subuids_destroy (t);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_ranges),
        cmocka_unit_test (test_lines_that_count_for_nothing),
        cmocka_unit_test (test_no_file),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
