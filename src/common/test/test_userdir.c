/* Files in a directory that its user can write: whatever the user puts in place of a
 * file, the functions never block, follow a link, or trust the file. */
#include "common/userdir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/io.h"

#define OTHER 65534

static char top[64], path[96];
static int dir;

static int setup (void **state)
{
    struct error err = { 0 };

    (void)state;
    snprintf (top, sizeof (top), "/tmp/fluxq-test-userdir.XXXXXX");
    if (!mkdtemp (top))
        return -1;
    snprintf (path, sizeof (path), "%s/7", top);
    mkdir (path, 0700);
    dir = userdir_open (path, geteuid (), &err);
    return dir < 0 ? -1 : 0;
}

static int teardown (void **state)
{
    (void)state;
    close (dir);
    return io_remove_tree (top, NULL);
}

static int read_it (const char *name, struct error *err)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 100);
    return userdir_read (dir, name, geteuid (), &sb, 10, err);
}

static void put (const char *name, const char *text)
{
    struct error err = { 0 };

    assert_int_equal (userdir_write (dir, name, text, strlen (text), 0600, geteuid (),
                                     getegid (), 0, &err),
                      0);
}

static void expect (const char *name, int rc, const char *why)
{
    struct error err = { 0 };

    assert_int_equal (read_it (name, &err), rc);
    if (why)
        assert_non_null (strstr (err.text, why));
}

static void test_what_stands_in_the_place_of_a_file (void **state)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    autoclose int sock = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    put ("file", "text");
    expect ("file", 0, NULL);
    expect ("none", -ENOENT, NULL);
    assert_int_equal (mkfifoat (dir, "fifo", 0666), 0);
    expect ("fifo", -EPERM, "not a regular file");
    assert_int_equal (symlinkat ("file", dir, "link"), 0);
    expect ("link", -EPERM, "is a link");
    assert_int_equal (symlinkat ("/dev/zero", dir, "zero"), 0);
    expect ("zero", -EPERM, "is a link");
    assert_int_equal (mkdirat (dir, "dir", 0700), 0);
    expect ("dir", -EPERM, "not a regular file");
    snprintf (sa.sun_path, sizeof (sa.sun_path), "%s/sock", path);
    assert_int_equal (bind (sock, (struct sockaddr *)&sa, sizeof (sa)), 0);
    expect ("sock", -ENXIO, NULL);
    put ("two", "text");
    assert_int_equal (linkat (dir, "two", dir, "names", 0), 0);
    expect ("two", -EPERM, "second name");
    put ("long", "more than ten bytes");
    expect ("long", -EFBIG, "larger than 10 bytes");
    expect ("../7/file", -EINVAL, "not the name of a file");
    expect ("..", -EINVAL, "not the name of a file");
}

static void test_a_new_file_takes_the_place_of_anything (void **state)
{
    char outside[96];
    struct stat st;

    (void)state;
    snprintf (outside, sizeof (outside), "%s/outside", top);
    autoclose int fd = open (outside, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true (fd >= 0);
    assert_int_equal (mkfifoat (dir, "one", 0666), 0);
    assert_int_equal (symlinkat (outside, dir, "two"), 0);
    put ("one", "1");
    put ("two", "2");
    expect ("one", 0, NULL);
    expect ("two", 0, NULL);
    assert_int_equal (fstat (fd, &st), 0);
    assert_int_equal (st.st_size, 0);
    assert_true (userdir_has (dir, "two"));
    assert_int_equal (userdir_remove (dir, "two"), 0);
    assert_int_equal (userdir_remove (dir, "two"), 0);
    assert_false (userdir_has (dir, "two"));
}

static void test_files_of_others (void **state)
{
    struct error err = { 0 };
    char link[96];

    (void)state;
    snprintf (link, sizeof (link), "%s/8", top);
    assert_int_equal (symlink (path, link), 0);
    assert_true (userdir_open (link, geteuid (), &err) < 0);
    if (geteuid () != 0)
        skip ();
    put ("theirs", "x");
    assert_int_equal (fchownat (dir, "theirs", OTHER, OTHER, 0), 0);
    expect ("theirs", -EPERM, "belongs to uid 65534");
    assert_int_equal (chown (path, OTHER, OTHER), 0);
    assert_int_equal (userdir_open (path, 0, &err), -EPERM);
    /* Files must belong to the user: a file that root left there is not trusted. */
    put ("left", "x");
    autoclose int theirs = userdir_open (path, OTHER, &err);
    assert_true (theirs >= 0);
    assert_int_equal (userdir_open_file (theirs, "left", O_RDONLY, OTHER, &err), -EPERM);
    assert_int_equal (
        userdir_write (theirs, "left", "y", 1, 0400, OTHER, OTHER, 0, &err), 0);
    autoclose int fd = userdir_open_file (theirs, "left", O_RDONLY, OTHER, &err);
    assert_true (fd >= 0);
}

/* A user may mount over a file or directory; a server that does not answer would block
 * any process that enters the mount. */
static void test_a_mount (void **state)
{
    struct error err = { 0 };

    (void)state;
    if (geteuid () != 0 || unshare (CLONE_NEWNS) < 0
        || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        skip ();
    close (dir); /* the descriptor belongs to the earlier mounts */
    dir = userdir_open (path, geteuid (), &err);
    assert_true (dir >= 0);
    put ("file", "text");
    char file[128];
    snprintf (file, sizeof (file), "%s/file", path);
    assert_int_equal (mount ("/proc/self/status", file, NULL, MS_BIND, NULL), 0);
    expect ("file", -EXDEV, NULL);
    assert_int_equal (umount (file), 0);
    expect ("file", 0, NULL);
    assert_int_equal (mount ("none", path, "tmpfs", 0, NULL), 0);
    assert_int_equal (userdir_open (path, 0, &err), -EXDEV);
    expect ("file", 0, NULL); /* through the earlier descriptor */
    assert_int_equal (umount (path), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_what_stands_in_the_place_of_a_file, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (test_a_new_file_takes_the_place_of_anything,
                                         setup, teardown),
        cmocka_unit_test_setup_teardown (test_files_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown (test_a_mount, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
