/* test_http_listen.c - a listener for which there is no memory leaves nothing behind */
#include "common/test/unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io.h"
#include "common/test/torture.h"
#include "net/http_server.h"

static char dir[] = "/tmp/fluxq-listen-XXXXXX";

static int make_dir (void **unused)
{
    (void)unused;
    return mkdtemp (dir) ? 0 : -1;
}

static int remove_dir (void **unused)
{
    (void)unused;
    return io_remove_tree (dir, NULL);
}

static void handle (struct http_request *req, void *arg)
{
    (void)arg;
    http_reply_problem (req, 404, "unknown", "nothing is here");
}

static size_t open_files (void)
{
    DIR *d = opendir ("/proc/self/fd");
    size_t n = 0;

    assert_non_null (d);
    while (readdir (d))
        n++;
    closedir (d);
    return n;
}

static int listen_unix (struct http_server *s, struct error *err)
{
    char path[100];
    struct stat st;

    snprintf (path, sizeof (path), "%s/socket", dir);
    int rc = http_server_listen_unix (s, path, 0600, err);
    torture_stop ();
    assert_int_equal (stat (path, &st), rc < 0 ? -1 : 0);
    return rc;
}

static int listen_tcp (struct http_server *s, struct error *err)
{
    int rc = http_server_listen_tcp (s, "127.0.0.1", 0, err);

    torture_stop ();
    assert_int_equal (http_server_port (s) != 0, rc == 0);
    return rc;
}

static void suffer (int (*listen_at) (struct http_server *s, struct error *err))
{
    uv_loop_t loop;

    assert_int_equal (uv_loop_init (&loop), 0);
    TORTURE (n)
    {
        struct error err = { 0 };
        torture_stop ();
        struct http_server *s = http_server_create (&loop, handle, NULL, &err);
        assert_non_null (s);
        size_t before = open_files ();
        torture_countdown = n;
        int rc = listen_at (s, &err);
        assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
        assert_int_equal (err.code, -rc);
        if (rc < 0)
            assert_int_equal (open_files (), before);
        http_server_destroy (s);
        uv_run (&loop, UV_RUN_DEFAULT);
    }
    assert_int_equal (uv_loop_close (&loop), 0);
}

static void test_unix (void **unused)
{
    (void)unused;
    suffer (listen_unix);
}

static void test_tcp (void **unused)
{
    (void)unused;
    suffer (listen_tcp);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_unix),
        cmocka_unit_test (test_tcp),
    };
    return cmocka_run_group_tests (tests, make_dir, remove_dir);
}
