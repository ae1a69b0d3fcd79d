/* test_inside.c - requests and messages of commands inside a job */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <pthread.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "protocol/inside.h"

static struct inside_link a, b;

static int open_pair (void **state)
{
    int fds[2];

    (void)state;
    memset (&a, 0, sizeof (a));
    memset (&b, 0, sizeof (b));
    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -1;
    a.fd = fds[0];
    b.fd = fds[1];
    return 0;
}

static int close_pair (void **state)
{
    (void)state;
    close (a.fd);
    close (b.fd);
    return 0;
}

static void test_request (void **state)
{
    char *args[] = { "squeue", "-o", "%i\n%j", "", NULL };
    char *env[] = { "A=1", "B=two\nlines=", NULL };
    struct inside_request r = { .command = "squeue",
                                .cwd = "/home/x y",
                                .host = "pod-0",
                                .args = args,
                                .nargs = 4,
                                .env = env,
                                .nenv = 2,
                                .umask = 027,
                                .nice = 5 };
    struct inside_request got;
    struct error err = { 0 };
    autostrbuf struct strbuf sb = STRBUF_INIT (INSIDE_REQUEST_MAX + 1);

    (void)state;
    rlimits_add (&r.rlimits, "nofile=100", &err);
    rlimits_add (&r.rlimits, "core=unlimited", &err);
    assert_int_equal (inside_request_write (&r, &sb), 0);
    assert_int_equal (inside_request_read (sb.buf, sb.len, &got, &err), 0);
    assert_string_equal (got.command, "squeue");
    assert_string_equal (got.cwd, "/home/x y");
    assert_string_equal (got.host, "pod-0");
    assert_int_equal (got.nargs, 4);
    assert_string_equal (got.args[2], "%i\n%j");
    assert_string_equal (got.args[3], "");
    assert_null (got.args[4]);
    assert_int_equal (got.nenv, 2);
    assert_string_equal (got.env[1], "B=two\nlines=");
    assert_int_equal (got.umask, 027);
    assert_int_equal (got.nice, 5);
    assert_int_equal (got.rlimits.given, r.rlimits.given);
    assert_int_equal (got.rlimits.soft[rlimits_find ("nofile")], 100);
    inside_request_release (&got);
}

static void test_refused_requests (void **state)
{
    static const char *const texts[] = {
        "",
        "nonsense",
        "command 6\nsqueue\n",
        "command 6\nsqueue\ncwd 8\nrelative\nhost 1\nh\narg 6\nsqueue\n",
        "command 6\nsqueue\ncwd 1\n/\nhost 1\nh\n",
        "command 6\nsqueue\ncommand 6\nsbatch\ncwd 1\n/\nhost 1\nh\narg 1\nx\n",
        "command 6\nsqueue\ncwd 1\n/\nhost 1\nh\narg 1\nx\nenv 3\nabc\n",
        "command 6\nsqueue\ncwd 1\n/\nhost 1\nh\narg 1\nx\numask 4\n1000\n",
        "command 6\nsqueue\ncwd 1\n/\nhost 1\nh\narg 1\nx\nrlimit 8\nnofile=x\n",
        "command 6\nsqueue\ncwd 1\n/\nhost 1\nh\narg 1\nx\nother 1\nx\n",
        "command 99\nsqueue\n",
    };
    struct inside_request got;
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        err = (struct error){ 0 };
        assert_true (inside_request_read (texts[i], strlen (texts[i]), &got, &err) < 0);
        assert_true (err.text[0]);
        inside_request_release (&got);
    }
}

static void test_commands (void **state)
{
    static const char *const served[] = { "sacctmgr", "sprio", "squeue",  "sreport",
                                          "sshare",   "sstat", "strigger" };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (served); i++)
        assert_true (inside_is_served (served[i]));
    assert_false (inside_is_served ("srun")); /* the agent does this itself */
    assert_false (inside_is_served ("sbcast"));
    assert_false (inside_is_served (""));
    assert_false (inside_is_served ("../squeue"));
}

static void test_messages (void **state)
{
    struct frame msg;

    (void)state;
    assert_int_equal (inside_send (&a, INSIDE_OPEN, "file", 4), 0);
    assert_int_equal (inside_send (&a, INSIDE_DATA, "early", 5), 0);
    assert_int_equal (inside_send (&a, INSIDE_USED, "\1\0\0\0", 4), 0);
    assert_int_equal (inside_send (&a, INSIDE_END, "\7", 1), 0);
    assert_int_equal (inside_receive (&b, &msg), 0);
    assert_int_equal (msg.stream, INSIDE_OPEN);
    assert_memory_equal (msg.data, "file", 4);
    b.unread = INSIDE_WINDOW - INSIDE_PIECE + 1; /* too much by one byte, */
    assert_int_equal (inside_send (&a, INSIDE_USED, "\1\0\0\0", 4), 0);
    assert_int_equal (inside_flow (&b, INSIDE_OUTPUT, "x", 1),
                      0); /* ... which is taken */
    assert_int_equal (inside_receive (&b, &msg), 0);
    assert_int_equal (msg.stream, INSIDE_DATA);
    assert_memory_equal (msg.data, "early", 5);
    assert_int_equal (inside_receive (&b, &msg), 0);
    assert_int_equal (msg.stream, INSIDE_END);
    shutdown (a.fd, SHUT_WR);
    assert_int_equal (inside_receive (&b, &msg), -EPIPE);
}

static void test_no_message (void **state)
{
    static const uint8_t other[FRAME_HEAD] = { INSIDE_TYPE - 1 };
    uint8_t large[FRAME_HEAD] = { INSIDE_TYPE };
    struct frame msg;

    (void)state;
    assert_int_equal (send (a.fd, other, sizeof (other), 0), sizeof (other));
    assert_int_equal (inside_receive (&b, &msg), -EBADMSG);
    memset (large + 12, 0xff, 4);
    assert_int_equal (send (b.fd, large, sizeof (large), 0), sizeof (large));
    assert_int_equal (inside_receive (&a, &msg), -EBADMSG);
}

#define MANY ((size_t)3 << 20)

static void *take_all (void *arg)
{
    size_t *most = arg, under_way = 0, got = 0;
    struct frame msg;

    while (got < MANY && inside_receive (&b, &msg) == 0) {
        got += msg.len;
        under_way += msg.len;
        *most = MAX (*most, under_way);
        if (under_way + INSIDE_PIECE <= INSIDE_WINDOW && got < MANY)
            continue; /* takes nothing while the window has room */
        inside_took (&b, under_way);
        under_way = 0;
    }
    return NULL;
}

/* A sender waits for a reader that takes nothing. */
static void test_flow (void **state)
{
    char *data = calloc (1, MANY);
    pthread_t thread;
    size_t most = 0;

    (void)state;
    assert_non_null (data);
    assert_int_equal (pthread_create (&thread, NULL, take_all, &most), 0);
    assert_int_equal (inside_flow (&a, INSIDE_OUTPUT, data, MANY), 0);
    pthread_join (thread, NULL);
    assert_true (most <= INSIDE_WINDOW);
    free (data);
    inside_send (&b, INSIDE_GONE, NULL, 0);
    a.unread = 2 * MANY; /* more than all INSIDE_USED that are under way */
    assert_int_equal (inside_flow (&a, INSIDE_OUTPUT, "x", 1), -EPIPE);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_request),
        cmocka_unit_test (test_refused_requests),
        cmocka_unit_test (test_commands),
        cmocka_unit_test_setup_teardown (test_messages, open_pair, close_pair),
        cmocka_unit_test_setup_teardown (test_no_message, open_pair, close_pair),
        cmocka_unit_test_setup_teardown (test_flow, open_pair, close_pair),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
