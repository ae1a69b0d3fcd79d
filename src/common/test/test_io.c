/* test_io.c - tests of io.h: complete reads and writes, atomic replacement of
 * files, removal of trees */
#include "common/test/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/io.h"

static char dir[64];

static int make_dir (void **state)
{
    (void)state;
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-io-XXXXXX");
    return mkdtemp (dir) ? 0 : -1;
}

static int remove_dir (void **state)
{
    (void)state;
    return io_remove_tree (dir, NULL);
}

/* dir/NAME, in one of a few buffers that are used in turn. */
static const char *at (const char *name)
{
    static char paths[8][300];
    static unsigned int next;
    char *p = paths[next++ % 8];

    snprintf (p, sizeof (paths[0]), "%s/%s", dir, name);
    return p;
}

static void put (const char *name, const char *text)
{
    struct error err;

    assert_int_equal (io_write_file_atomic (at (name), text, strlen (text), 0644, &err),
                      0);
}

static void test_write_and_read_through_a_pipe (void **state)
{
    static char data[300000], back[300000];
    int fds[2];

    (void)state;
    for (size_t i = 0; i < sizeof (data); i++)
        data[i] = (char)(i * 31);
    assert_int_equal (pipe (fds), 0);
    io_set_nonblock (fds[0]); /* "all" also applies to non-blocking descriptors */
    io_set_nonblock (fds[1]);
    assert_true (fcntl (fds[1], F_GETFL) & O_NONBLOCK);
    pid_t pid = fork ();
    if (pid == 0) {
        close (fds[0]);
        _exit (io_write_all (fds[1], data, sizeof (data)) == 0 ? 0 : 1);
    }
    close (fds[1]);
    assert_int_equal (io_read_all (fds[0], back, 100), 100);
    assert_int_equal (io_read_all (fds[0], back + 100, sizeof (back)),
                      sizeof (back) - 100);
    assert_memory_equal (data, back, sizeof (data));
    close (fds[0]);
    assert_int_equal (io_write_all (-1, "x", 1), -EBADF);
    assert_int_equal (io_read_all (-1, back, 1), -EBADF);
}

static void test_file_round_trip (void **state)
{
    struct strbuf sb;
    struct error err;
    struct stat st;

    (void)state;
    umask (022);
    assert_int_equal (io_write_file_atomic (at ("f"), "one", 3, 0600, &err), 0);
    assert_int_equal (io_write_file_atomic (at ("f"), "second\0x", 8, 0755, &err), 0);
    assert_int_equal (stat (at ("f"), &st), 0);
    assert_int_equal (st.st_mode & 07777, 0755);
    strbuf_init (&sb, 1000);
    strbuf_adds (&sb, "before ");
    assert_int_equal (io_read_file (at ("f"), &sb, 8, &err), 0);
    assert_memory_equal (sb.buf, "before second\0x", 16);
    strbuf_release (&sb);
}

static void test_read_ceiling (void **state)
{
    struct strbuf sb;
    struct error err;

    (void)state;
    put ("ten", "0123456789");
    strbuf_init (&sb, 100);
    assert_int_equal (io_read_file (at ("ten"), &sb, 9, &err), -EFBIG);
    assert_non_null (strstr (err.text, "ten"));
    strbuf_reset (&sb);
    assert_int_equal (io_read_file (at ("ten"), &sb, 10, &err), 0);
    assert_int_equal (sb.len, 10);
    strbuf_release (&sb);
    strbuf_init (&sb, 10); /* the buffer's own ceiling also applies */
    assert_int_equal (io_read_file (at ("ten"), &sb, 100, &err), 0);
    strbuf_reset (&sb);
    strbuf_addch (&sb, 'x');
    assert_int_equal (io_read_file (at ("ten"), &sb, 100, &err), -EFBIG);
    strbuf_release (&sb);
    strbuf_init (&sb, 100);
    assert_int_equal (io_read_file ("/dev/zero", &sb, 50, &err), -EFBIG);
    assert_int_equal (io_read_file (at ("absent"), &sb, 50, &err), -ENOENT);
    assert_int_equal (io_read_file (dir, &sb, 50, &err), -EISDIR);
    strbuf_release (&sb);
}

static void test_failed_write_leaves_the_old_file (void **state)
{
    struct strbuf sb;
    struct error err;

    (void)state;
    put ("keep", "old");
    assert_int_equal (mkdir (at ("d"), 0755), 0);
    assert_int_equal (io_write_file_atomic (at ("d"), "x", 1, 0644, &err), -EISDIR);
    assert_int_equal (io_write_file_atomic (at ("no/f"), "x", 1, 0644, &err), -ENOENT);
    assert_int_equal (io_write_file_atomic (at ("keep/f"), "x", 1, 0644, &err), -ENOTDIR);
    strbuf_init (&sb, 100);
    assert_int_equal (io_read_file (at ("keep"), &sb, 50, &err), 0);
    assert_string_equal (sb.buf, "old");
    strbuf_release (&sb);
    /* no temporary file is left: rmdir would fail */
    assert_int_equal (rmdir (at ("d")), 0);
}

static void test_mkdir_p (void **state)
{
    struct error err;
    struct stat st;

    (void)state;
    umask (022);
    assert_int_equal (io_mkdir_p (at ("a/b//c/"), 0755, &err), 0);
    assert_int_equal (io_mkdir_p (at ("a/b/c"), 0755, &err), 0);
    assert_int_equal (stat (at ("a/b/c"), &st), 0);
    assert_int_equal (st.st_mode & 07777, 0755);
    put ("a/file", "x");
    assert_int_equal (io_mkdir_p (at ("a/file"), 0755, &err), -ENOTDIR);
    assert_int_equal (io_mkdir_p (at ("a/file/x"), 0755, &err), -ENOTDIR);
    assert_true (io_mkdir_p ("", 0755, &err) < 0);
    assert_int_equal (io_mkdir_p ("/", 0755, &err), 0);
}

static void test_remove_tree_spares_what_links_point_to (void **state)
{
    struct error err;

    (void)state;
    io_mkdir_p (at ("precious/sub"), 0755, &err);
    put ("precious/sub/f", "x");
    io_mkdir_p (at ("tree/d"), 0755, &err);
    put ("tree/d/f", "x");
    assert_int_equal (symlink (at ("precious"), at ("tree/link")), 0);
    assert_int_equal (symlink (at ("precious"), at ("link")), 0);
    assert_int_equal (io_remove_tree (at ("tree/"), &err), 0);
    assert_int_equal (access (at ("tree"), F_OK), -1);
    /* A link as the argument is removed itself, also with a final slash. */
    assert_int_equal (io_remove_tree (at ("link/"), &err), 0);
    assert_int_equal (access (at ("precious/sub/f"), F_OK), 0);
    assert_int_equal (io_remove_tree (at ("absent"), &err), 0);
    assert_int_equal (io_remove_tree (at ("absent/x"), &err), 0);
    assert_int_equal (io_remove_tree (at ("precious/sub/f"), &err), 0);
    assert_int_equal (io_remove_tree ("/", &err), -EINVAL);
    assert_int_equal (io_remove_tree ("", &err), -EINVAL);
}

static void test_remove_tree_that_is_deep_or_protected (void **state)
{
    struct error err;
    int fd = open (dir, O_RDONLY | O_DIRECTORY);

    (void)state;
    assert_int_equal (mkdirat (fd, "deep", 0755), 0);
    int top = openat (fd, "deep", O_RDONLY | O_DIRECTORY);
    /* A tree deeper than the number of descriptors and the length of a path. */
    for (int i = 0; i < 5000; i++) {
        assert_int_equal (mkdirat (top, "d", 0755), 0);
        int next = openat (top, "d", O_RDONLY | O_DIRECTORY);
        assert_true (next >= 0);
        close (top);
        top = next;
    }
    close (top);
    close (fd);
    assert_int_equal (io_remove_tree (at ("deep"), &err), 0);
    assert_int_equal (access (at ("deep"), F_OK), -1);

    io_mkdir_p (at ("protected/cache/x"), 0755, &err);
    put ("protected/cache/x/f", "x");
    chmod (at ("protected/cache/x"), 0555);
    chmod (at ("protected/cache"), 0);
    assert_int_equal (io_remove_tree (at ("protected"), &err), 0);
    assert_int_equal (access (at ("protected"), F_OK), -1);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_write_and_read_through_a_pipe),
        cmocka_unit_test (test_file_round_trip),
        cmocka_unit_test (test_read_ceiling),
        cmocka_unit_test (test_failed_write_leaves_the_old_file),
        cmocka_unit_test (test_mkdir_p),
        cmocka_unit_test (test_remove_tree_spares_what_links_point_to),
        cmocka_unit_test (test_remove_tree_that_is_deep_or_protected),
    };

    return cmocka_run_group_tests (tests, make_dir, remove_dir);
}
