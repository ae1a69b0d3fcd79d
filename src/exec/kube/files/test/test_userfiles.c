/* The user's names in the pods: the passwd and group lines are only the user's. */
#include "exec/kube/files/userfiles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static gid_t groups[] = { 60, 100, 4711 };
static char *names[] = { (char *)"games", (char *)"users", NULL };

static struct exec_user games (void)
{
    return (struct exec_user){ .uid = 5,
                               .gid = 60,
                               .groups = groups,
                               .ngroups = 3,
                               .group_names = names,
                               .name = (char *)"games",
                               .home = (char *)"/usr/games",
                               .shell = (char *)"/usr/sbin/nologin" };
}

static void assert_passwd (const struct exec_user *user, const char *expected)
{
    autostrbuf struct strbuf text;

    strbuf_init (&text, 8192);
    assert_int_equal (userfiles_passwd (user, &text), 0);
    assert_string_equal (text.buf, expected);
}

static void assert_group (const struct exec_user *user, const char *expected)
{
    autostrbuf struct strbuf text;

    strbuf_init (&text, 8192);
    assert_int_equal (userfiles_group (user, &text), 0);
    assert_string_equal (text.buf, expected);
}

static void test_ordinary (void **state)
{
    struct exec_user u = games ();

    (void)state;
    assert_passwd (&u, "root:x:0:0:root:/root:/bin/sh\n"
                       "games:x:5:60::/usr/games:/bin/sh\n"
                       "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n");
    assert_group (&u, "games:x:60:\nusers:x:100:games\nroot:x:0:\nnogroup:x:65534:\n");
}

/* One line for each number, also for root's and nobody's; and for a number without a
 * name. */
static void test_known_numbers (void **state)
{
    struct exec_user root = { .name = (char *)"root", .home = (char *)"/root" };
    struct exec_user nobody = {
        .uid = 65534, .gid = 65534, .name = (char *)"nobody", .home = (char *)"/none"
    };

    (void)state;
    assert_passwd (&root, "root:x:0:0::/root:/bin/sh\n"
                          "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n");
    assert_group (&root, "0:x:0:\nnogroup:x:65534:\n");
    assert_passwd (&nobody, "root:x:0:0:root:/root:/bin/sh\n"
                            "nobody:x:65534:65534::/none:/bin/sh\n");
    assert_group (&nobody, "65534:x:65534:\nroot:x:0:\n");
}

/* A directory service may return any text: no entry becomes two lines, and no
 * user becomes root. */
static void test_hostile (void **state)
{
    struct exec_user u = games ();

    (void)state;
    u.name = (char *)"x:x:0:0::/:/bin/sh\nroot";
    u.home = (char *)"/home/a:b";
    u.ngroups = 0;
    assert_passwd (&u, "root:x:0:0:root:/root:/bin/sh\n5:x:5:60::/:/bin/sh\n"
                       "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n");
    u.name = (char *)"root";
    u.home = (char *)"/r";
    assert_passwd (&u, "root:x:0:0:root:/root:/bin/sh\n5:x:5:60::/r:/bin/sh\n"
                       "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n");
}

static size_t count_places (const char *mounted)
{
    struct exec_job job = { .user = games (),
                            .mounts =
                                mounted ? json_pack ("[{s:s}]", "path", mounted) : NULL };
    json_t *data = json_object (), *items = json_array (), *places = json_array ();
    size_t n;

    assert_int_equal (userfiles_add_data (&job, data), 0);
    assert_int_equal (userfiles_add_items (&job, items), 0);
    assert_int_equal (userfiles_add_places (&job, places), 0);
    n = json_array_size (places);
    assert_int_equal (json_object_size (data), n);
    assert_int_equal (json_array_size (items), n);
    json_decref (data);
    json_decref (items);
    json_decref (places);
    json_decref (job.mounts);
    return n;
}

static void test_queue_mounts_its_own (void **state)
{
    (void)state;
    assert_int_equal (count_places (NULL), 2);
    assert_int_equal (count_places ("/home"), 2);
    assert_int_equal (count_places ("/etc"), 0);
    assert_int_equal (count_places ("/etc/passwd"), 1);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_ordinary),
        cmocka_unit_test (test_known_numbers),
        cmocka_unit_test (test_hostile),
        cmocka_unit_test (test_queue_mounts_its_own),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
