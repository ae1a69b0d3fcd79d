/* test_infile.c - tests of infile.h: the input of tasks with a named file, and without */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/io.h"
#include "common/macros.h"
#include "shell/io/infile.h"

static char dir[] = "/tmp/test_infile.XXXXXX";
static int cwd = -1;
static struct launch_node nodes[] = { { .name = (char *)"na", .ntasks = 2 },
                                      { .name = (char *)"nb", .ntasks = 2 } };
static struct launch launch = { .job_id = 12, .nodes = nodes, .nnodes = 2 };

static void put (const char *name, const char *text)
{
    int fd = openat (cwd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true (fd >= 0);
    assert_int_equal (io_write_all (fd, text, strlen (text)), 0);
    close (fd);
}

static int set_up (void **state)
{
    (void)state;
    memcpy (dir + sizeof (dir) - 7, "XXXXXX", 6);
    if (!mkdtemp (dir))
        return -1;
    cwd = open (dir, O_PATH | O_DIRECTORY);
    launch.input = NULL;
    return cwd < 0 ? -1 : 0;
}

static int tear_down (void **state)
{
    (void)state;
    close (cwd);
    return io_remove_tree (dir, NULL);
}

static void reads (uint32_t rank, uint32_t task, const char *text)
{
    struct error err = { 0 };
    char buf[64] = "";
    int fd = infile_open (&launch, rank, task, cwd, &err);

    assert_true (fd >= 0);
    assert_true (fcntl (fd, F_GETFD) & FD_CLOEXEC);
    assert_false (fcntl (fd, F_GETFL) & O_NONBLOCK);
    assert_int_equal (io_read_all (fd, buf, sizeof (buf) - 1), strlen (text));
    assert_string_equal (buf, text);
    close (fd);
}

static void nothing_unless_a_file_is_named (void **state)
{
    struct error err = { 0 };

    (void)state;
    reads (0, 0, "");
    launch.input = (char *)"";
    reads (1, 3, "");
    launch.input = (char *)"/dev/null";
    reads (0, 0, "");
    assert_int_equal (infile_check (&launch, 0, 0, 2, cwd, &err), 0);
}

static void each_reads_it_from_the_beginning (void **state)
{
    (void)state;
    put ("in-12", "text");
    launch.input = (char *)"in-%j";
    for (uint32_t task = 0; task < 4; task++)
        reads (task / 2, task, "text");
}

static void a_file_for_each (void **state)
{
    struct error err = { 0 };

    (void)state;
    put ("n0", "first");
    put ("n1", "second");
    launch.input = (char *)"n%n";
    reads (1, 2, "second");
    reads (1, 3, "second");
    launch.input = (char *)"n%t";
    reads (0, 1, "second");
    assert_int_equal (infile_check (&launch, 0, 0, 2, cwd, &err), 0);
    assert_int_equal (infile_check (&launch, 1, 2, 2, cwd, &err), -ENOENT);
    assert_non_null (strstr (err.text, "n2"));
    assert_int_equal (infile_check (&launch, 1, 2, 0, cwd, &err), 0); /* no such task */
}

/* Above all, no file that blocks the agent. */
static void what_is_no_file (void **state)
{
    static const struct {
        const char *name;
        int rc;
    } bad[] = { { "missing", -ENOENT },
                { "missing/x", -ENOENT },
                { ".", -EISDIR },
                { "fifo", -EINVAL } };
    struct error err = { 0 };

    (void)state;
    assert_int_equal (mkfifoat (cwd, "fifo", 0600), 0);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        launch.input = (char *)(uintptr_t)bad[i].name;
        assert_int_equal (infile_open (&launch, 0, 0, cwd, &err), bad[i].rc);
        assert_int_equal (infile_check (&launch, 0, 0, 1, cwd, &err), bad[i].rc);
        assert_non_null (strstr (err.text, "input file"));
        assert_non_null (strstr (err.text, bad[i].name));
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (nothing_unless_a_file_is_named, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (each_reads_it_from_the_beginning, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (a_file_for_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown (what_is_no_file, set_up, tear_down),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
