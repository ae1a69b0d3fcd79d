/* test_follow.c - the output of a job, from the frames of its growing spool */
#include "broker/core/test/fake_http.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/io.h"
#include "common/userdir.h"
#include "protocol/frame.h"

#define USER 1000

static char dir[] = "/tmp/fluxq-follow-XXXXXX"; /* directory of the jobs' directories */

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

/* Job 1 runs, and its directory exists unless the job has vanished. */
static void start_one (struct small *s)
{
    small_use_dir (s, dir);
    small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
}

static struct small *begin (void)
{
    struct small *s = small_create (1);

    start_one (s);
    assert_string_equal (s->told, "start 1");
    return s;
}

/* Appends a frame to a spool of job 1, like the agent. */
static void put (unsigned attempt, enum frame_type type, uint8_t stream, uint32_t task,
                 const char *text)
{
    const struct frame f = { .type = (uint8_t)type,
                             .stream = stream,
                             .rank = task / 2,
                             .task = task,
                             .len = (uint32_t)strlen (text) };
    uint8_t head[FRAME_HEAD];
    char path[100];

    snprintf (path, sizeof (path), "%s/1/spool-%u", dir, attempt);
    int fd = open (path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) /* the job has vanished */
        return;
    frame_encode_head (&f, head);
    assert_int_equal (write (fd, head, FRAME_HEAD), FRAME_HEAD);
    assert_int_equal (write (fd, text, strlen (text)), strlen (text));
    assert_int_equal (fchown (fd, userdir_owner (USER), (gid_t)-1), 0);
    close (fd);
}

/* All output until the broker has nothing to do. Valid until the next call. */
static const char *read_all (struct small *s, struct client *c)
{
    static char text[4096];
    size_t len = 0;

    do {
        small_turn (s);
        len += (size_t)snprintf (text + len, sizeof (text) - len, "%s", c->text);
        assert_true (len < sizeof (text));
        bool more = c->text[0];
        client_take (c);
        if (!more)
            break;
    } while (true);
    return text;
}

static void ask (struct small *s, const char *query, const char *expected)
{
    char head[200];

    snprintf (head, sizeof (head), "GET /v1/jobs/1/output?%s", query);
    struct client *c = client_ask (s, USER, head, NULL);
    assert_string_equal (read_all (s, c), expected);
    assert_true (c->ended);
}

static void test_until_now (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    ask (s, "", ""); /* no spool yet */
    put (0, FRAME_READY, 0, 0, "");
    put (0, FRAME_OUTPUT, 1, 0, "one\nt");
    put (0, FRAME_OUTPUT, 2, 3, "error\n");
    put (0, FRAME_OUTPUT, 1, 0, "wo\n");
    put (0, FRAME_NOTE, 0, 0, "time limit reached");
    ask (s, "", "one\nterror\nwo\nfluxq: time limit reached\n");
    ask (s, "stream=stdout", "one\ntwo\n");
    ask (s, "stream=stderr", "error\nfluxq: time limit reached\n");
    ask (s, "task=3", "error\nfluxq: time limit reached\n");
    ask (s, "rank=1", "error\n");
    ask (s, "label=1", "0: one\n0: t\n3: error\n0: wo\nfluxq: time limit reached\n");
    small_destroy (s);
}

/* The text comes as the file grows; the last frame ends it. */
static void test_follow (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    struct client *c = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    assert_string_equal (read_all (s, c), "");
    put (0, FRAME_OUTPUT, 1, 0, "one\n");
    s->b->host.output (s->b, 1); /* the file is new */
    assert_string_equal (read_all (s, c), "one\n");
    put (0, FRAME_OUTPUT, 1, 0, "two\n"); /* inotify reports this */
    assert_string_equal (read_all (s, c), "two\n");
    assert_false (c->ended);
    put (0, FRAME_FINISH, 0, 0, "status=0 reason=exited text=");
    put (0, FRAME_OUTPUT, 1, 0, "not any more\n");
    assert_string_equal (read_all (s, c), "");
    assert_true (c->ended);
    small_destroy (s);
}

/* If a client reads nothing, the broker stops reading the spool. */
static void test_slow_client (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    put (0, FRAME_OUTPUT, 1, 0, "one\n");
    struct client *c = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    small_turn (s);
    put (0, FRAME_OUTPUT, 1, 0, "two\n");
    s->b->host.output (s->b, 1);
    small_turn (s);
    assert_string_equal (c->text, "one\n");
    assert_string_equal (read_all (s, c), "one\ntwo\n");
    small_destroy (s);
}

/* If the job ends without a last frame, the output ends where the file ends. */
static void test_job_ends (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    struct client *c = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    struct client *leaves = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    small_turn (s);
    client_leave (leaves);
    put (0, FRAME_OUTPUT, 1, 0, "one\n");
    small_finish (s, 1, "exited");
    assert_string_equal (read_all (s, c), "one\n");
    assert_true (c->ended);
    ask (s, "follow=1", "one\n");
    small_destroy (s);
}

static void test_job_vanishes (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    struct client *c = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    struct client *busy = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    small_turn (s);
    put (0, FRAME_OUTPUT, 1, 0, "one\n");
    s->b->host.output (s->b, 1); /* both clients read */
    client_leave (busy);
    entry_remove (s->b, entry_find (s->b, 1));
    assert_string_equal (read_all (s, c), "one\n");
    assert_true (c->ended);
    small_destroy (s);
}

/* The output continues with the spool of the next attempt. */
static void test_restarted (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    put (0, FRAME_OUTPUT, 1, 0, "first\n");
    struct client *c =
        client_ask (s, USER, "GET /v1/jobs/1/output?follow=1&positions=1", NULL);
    assert_string_equal (read_all (s, c), "0 22 0 0 6\nfirst\n");
    small_finish (s, 1, "lost");
    small_advance (s, 600);
    assert_int_equal (entry_job (entry_find (s->b, 1))->restarts, 1);
    small_ready (s, 1);
    put (1, FRAME_OUTPUT, 1, 0, "second\n");
    put (1, FRAME_FINISH, 0, 0, "status=0 reason=exited text=");
    s->b->host.output (s->b, 1);
    assert_string_equal (read_all (s, c), "1 67 0 0 7\nsecond\nend\n");
    assert_true (c->ended);
    small_destroy (s);
}

static void test_positions (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    put (0, FRAME_OUTPUT, 1, 2, "one");
    ask (s, "positions=1", "0 19 1 0 3\noneend\n");
    ask (s, "positions=1&label=1", "0 19 1 2 6\n2: oneend\n");
    put (0, FRAME_OUTPUT, 1, 2, "!\n");
    ask (s, "positions=1&label=1&from=0:19:1:2", "0 37 0 2 2\n!\nend\n");
    small_destroy (s);
}

static void refused (struct small *s, uid_t uid, const char *query, int status)
{
    char head[200];

    snprintf (head, sizeof (head), "GET /v1/jobs/%s", query);
    struct client *c = client_ask (s, uid, head, NULL);
    assert_int_equal (c->status, status);
    assert_true (c->ended);
}

static void test_refused (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    refused (s, USER, "1/output?stream=both", 400);
    refused (s, USER, "1/output?task=-1", 400);
    refused (s, USER, "1/output?rank=x", 400);
    refused (s, USER, "1/output?from=1:0:0:0", 400); /* there was one attempt */
    refused (s, USER, "1/output?from=0:0:0", 400);
    refused (s, USER, "2/output", 404);
    refused (s, 1001, "1/output", 403);
    small_destroy (s);
}

/* The user has replaced the spool by a link to another file. */
static void test_foreign_file (void **unused)
{
    struct small *s = begin ();
    char path[100];

    (void)unused;
    snprintf (path, sizeof (path), "%s/1/spool-0", dir);
    assert_int_equal (symlink ("/etc/passwd", path), 0);
    ask (s, "", "");
    assert_int_equal (unlink (path), 0); /* the next test writes a spool there */
    small_destroy (s);
}

/* -- faults -- */

/* A stream that ends normally, with "end", has all of the output. */
static void scenario (struct small *s)
{
    char text[200] = "";

    start_one (s);
    struct client *c =
        client_ask (s, USER, "GET /v1/jobs/1/output?follow=1&positions=1", NULL);
    struct client *leaves = client_ask (s, USER, "GET /v1/jobs/1/output?follow=1", NULL);
    put (0, FRAME_OUTPUT, 1, 0, "one\n");
    if (s->b->table.all)
        s->b->host.output (s->b, 1);
    small_turn (s);
    snprintf (text, sizeof (text), "%s", c->text);
    client_take (c);
    client_leave (leaves);
    put (0, FRAME_OUTPUT, 1, 0, "two\n");
    put (0, FRAME_FINISH, 0, 0, "status=0 reason=exited text=");
    small_finish (s, 1, "exited");
    strncat (text, read_all (s, c), 100);
    if (entry_find (s->b, 1) && c->status == 200 && strstr (text, "end\n"))
        assert_true (strstr (text, "one\n") && strstr (text, "two\n"));
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_until_now),    cmocka_unit_test (test_follow),
        cmocka_unit_test (test_slow_client),  cmocka_unit_test (test_job_ends),
        cmocka_unit_test (test_job_vanishes), cmocka_unit_test (test_restarted),
        cmocka_unit_test (test_positions),    cmocka_unit_test (test_refused),
        cmocka_unit_test (test_foreign_file), cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, make_dir, remove_dir);
}
