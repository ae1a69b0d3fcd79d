/* The connection to rank 0, against the real agent on a unix socket. */
#include "exec/agentlink.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/io.h"
#include "common/sha256.h"
#include "exec/agentstream.h"
#include "protocol/launch.h"

extern char **environ;

static char dir[64], program[512], socket_path[128];
static uint8_t key[AGENT_KEY_SIZE];
static uv_loop_t loop;
static struct httpc *http;

struct seen {
    struct agentlink *l;
    unsigned ready, output_frames, finish, troubles, refusals;
    int refuse; /* the number of pieces to refuse */
    int rc, answers;
    uint64_t next; /* offset expected */
    char out[4096];
    struct frame_finish fin;
    bool kill_at_ready;
};

static int on_bytes (uint64_t offset, const void *data, size_t len, void *arg)
{
    struct seen *s = arg;

    (void)data;
    assert_int_equal (offset, s->next); /* neither a gap nor a byte twice */
    if (s->refuse > 0) {
        s->refuse--;
        s->refusals++;
        return -EBUSY;
    }
    s->next += len;
    return 0;
}

static void on_answer (int rc, void *arg)
{
    struct seen *s = arg;

    s->answers++;
    s->rc = rc;
}

static void on_frame (const struct frame *f, void *arg)
{
    struct seen *s = arg;

    if (f->type == FRAME_READY) {
        s->ready++;
        if (s->kill_at_ready)
            agentlink_terminate (s->l, "cancelled", 5.0);
    }
    if (f->type == FRAME_OUTPUT) {
        s->output_frames++;
        strncat (s->out, f->data, MIN (f->len, sizeof (s->out) - strlen (s->out) - 1));
    }
}

static void on_trouble (unsigned n, const struct error *err, void *arg)
{
    struct seen *s = arg;

    (void)n;
    (void)err;
    s->troubles++;
}

static void on_finish (const struct frame_finish *fin, void *arg)
{
    struct seen *s = arg;

    s->finish++;
    s->fin = *fin;
}

static const struct agentlink_events with_bytes = { .on_bytes = on_bytes,
                                                    .on_frame = on_frame,
                                                    .on_trouble = on_trouble,
                                                    .on_finish = on_finish };
static const struct agentlink_events without_bytes = { .on_frame = on_frame,
                                                       .on_trouble = on_trouble,
                                                       .on_finish = on_finish };

static void write_file (const char *name, const char *text, size_t len, mode_t mode)
{
    char path[160];

    snprintf (path, sizeof (path), "%s/%s", dir, name);
    assert_int_equal (io_write_file_atomic (path, text, len, mode, NULL), 0);
}

static bool once; /* a job that may have begun is never started again */

/* Starts rank 0 (the only rank), which runs this shell script. */
static pid_t start_agent (const char *script)
{
    char listen[160], spool[128], path[3][128], hex[2 * AGENT_KEY_SIZE + 1];
    char *args[] = { "sh", "-c", (char *)script, NULL };
    char *env[] = { "PATH=/usr/bin:/bin", NULL };
    struct launch_node node = { .name = "n1", .ntasks = 1, .cores = "", .gpus = "" };
    struct launch l = { .job_id = 1,
                        .job_name = "t",
                        .user = "u",
                        .queue = "q",
                        .cwd = dir,
                        .args = args,
                        .nargs = 3,
                        .env = env,
                        .nenv = 1,
                        .nodes = &node,
                        .nnodes = 1,
                        .cores_per_task = 1,
                        .grace = 1,
                        .join_timeout = 20,
                        .rendezvous = listen,
                        .listen = listen,
                        .spool = spool,
                        .serve_until_released = true,
                        .once = once,
                        .umask = 022 };
    char *argv[] = {
        program, "--launch", path[0], "--key", path[1], "--rank", "0", NULL
    };
    struct strbuf sb;
    pid_t pid;

    snprintf (listen, sizeof (listen), "unix:%s", socket_path);
    snprintf (spool, sizeof (spool), "%s/spool", dir);
    snprintf (path[0], sizeof (path[0]), "%s/launch", dir);
    snprintf (path[1], sizeof (path[1]), "%s/key", dir);
    unlink (spool);
    strbuf_init (&sb, 65536);
    assert_int_equal (launch_write (&l, &sb), 0);
    write_file ("launch", sb.buf, sb.len, 0644);
    strbuf_release (&sb);
    assert_int_equal (secret_random (key, sizeof (key)), 0);
    hex_encode (key, sizeof (key), hex);
    write_file ("key", hex, strlen (hex), 0400);
    assert_int_equal (posix_spawn (&pid, program, NULL, NULL, argv, environ), 0);
    return pid;
}

static uid_t peer; /* the expected owner of socket_path */

static void open_link (struct seen *s, const struct agentlink_events *ev)
{
    struct agentlink_where where = { .unix_socket = socket_path,
                                     .peer = peer,
                                     .url_prefix = "http://agent" };
    struct error err = { 0 };

    s->l = agentlink_open (http, &loop, &where, key, 0, ev, s, &err);
    assert_non_null (s->l);
}

static void run_until (const unsigned *n)
{
    for (int i = 0; i < 4000 && *n == 0; i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (5000);
    }
    assert_int_equal (*n, 1);
}

static int end_agent (struct seen *s, pid_t pid)
{
    int status = -1;

    agentlink_release (s->l, s->next);
    for (int i = 0; i < 4000 && waitpid (pid, &status, WNOHANG) == 0; i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (5000);
    }
    agentlink_close (s->l);
    return status;
}

static int setup (void **state)
{
    const char *build = getenv ("FLUXQ_BUILD_DIR");
    struct error err = { 0 };

    (void)state;
    snprintf (program, sizeof (program), "%s/src/shell/fluxq-shell", build ? build : ".");
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-link.XXXXXX");
    if (!mkdtemp (dir) || uv_loop_init (&loop) < 0)
        return -1;
    peer = geteuid ();
    snprintf (socket_path, sizeof (socket_path), "%s/socket", dir);
    http = httpc_create (&loop, &err);
    return http ? 0 : -1;
}

static int teardown (void **state)
{
    (void)state;
    httpc_destroy (http);
    uv_run (&loop, UV_RUN_DEFAULT);
    if (uv_loop_close (&loop) != 0)
        return -1; /* a handle was left open */
    return io_remove_tree (dir, NULL);
}

static void test_stream (void **state)
{
    struct seen s = { 0 };
    pid_t pid;

    (void)state;
    pid = start_agent ("echo one; echo two; exit 3");
    open_link (&s, &with_bytes); /* before the agent listens: the link retries */
    run_until (&s.finish);
    assert_int_equal (s.ready, 1);
    assert_string_equal (s.out, "one\ntwo\n");
    assert_int_equal (WEXITSTATUS (s.fin.status), 3);
    assert_string_equal (s.fin.reason, "exited");
    assert_int_equal (end_agent (&s, pid), 0);
}

static void test_without_output (void **state)
{
    struct seen s = { 0 };
    pid_t pid = start_agent ("echo one; sleep 0.2; echo two");

    (void)state;
    open_link (&s, &without_bytes);
    run_until (&s.finish);
    assert_int_equal (s.output_frames, 0);
    assert_int_equal (s.ready, 1);
    agentlink_close (s.l);
    kill (pid, SIGTERM);
    waitpid (pid, NULL, 0);
}

static void test_refused_bytes (void **state)
{
    struct seen s = { .refuse = 2 };
    pid_t pid = start_agent ("echo one; sleep 0.3; echo two");

    (void)state;
    open_link (&s, &with_bytes);
    for (int i = 0; i < 4000 && s.finish == 0; i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        agentlink_resume (s.l);
        usleep (5000);
    }
    assert_int_equal (s.refusals, 2);
    assert_string_equal (s.out, "one\ntwo\n");
    assert_int_equal (end_agent (&s, pid), 0);
}

static void test_terminate (void **state)
{
    struct seen s = { .kill_at_ready = true };
    pid_t pid = start_agent ("sleep 100");

    (void)state;
    open_link (&s, &with_bytes);
    run_until (&s.finish);
    assert_string_equal (s.fin.reason, "cancelled");
    assert_int_equal (end_agent (&s, pid), 0);
}

static void test_signal (void **state)
{
    struct seen s = { 0 }, t = { 0 };
    pid_t pid = start_agent (
        "trap 'echo got; exit 7' USR1; echo set; while :; do sleep 0.05; done");

    (void)state;
    open_link (&s, &with_bytes);
    for (int i = 0; i < 4000 && !strstr (s.out, "set"); i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (5000);
    }
    agentlink_signal (s.l, SIGUSR1, EXEC_WHOM_FULL, EXEC_NO_STEP, on_answer, &t);
    assert_int_equal (t.answers, 0); /* never inside the call */
    run_until (&s.finish);
    assert_int_equal (t.rc, 0);
    assert_int_equal (t.answers, 1);
    assert_int_equal (WEXITSTATUS (s.fin.status), 7);
    assert_int_equal (end_agent (&s, pid), 0);
}

static void test_wrong_key (void **state)
{
    struct seen s = { 0 }, t = { 0 };
    pid_t pid = start_agent ("sleep 100");

    (void)state;
    key[0] ^= 1;
    open_link (&s, &with_bytes);
    agentlink_signal (s.l, SIGTERM, EXEC_WHOM_TASKS, EXEC_NO_STEP, on_answer, &t);
    for (int i = 0; i < 4000 && t.answers == 0; i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (5000);
    }
    assert_int_equal (t.rc, -EACCES);
    assert_int_equal (s.ready, 0); /* and no output of the job either */
    agentlink_close (s.l);
    kill (pid, SIGKILL); /* the whole job ends with its guardian */
    waitpid (pid, NULL, 0);
}

/* -- streams -- */

#define AGENT_CLIENTS 256 /* agent_api.h */

struct end {
    struct agentstream *s;
    unsigned opened;
    int code; /* the code of the refusal */
};

static void on_opened (const struct error *err, void *arg)
{
    struct end *e = arg;

    e->opened++;
    e->code = err ? err->code : 0;
}

static void on_ready (void *arg)
{
    (void)arg;
}

static const struct agentstream_events stream_events = { .opened = on_opened,
                                                         .ready = on_ready };

/* The result of the connection. */
static int connect_end (struct seen *s, struct end *e)
{
    *e = (struct end){ 0 };
    e->s = agentlink_connect (s->l, &stream_events, e, NULL);
    assert_non_null (e->s);
    run_until (&e->opened);
    return e->code;
}

/* Waits for data; returns 0 if the agent has closed the connection. */
static ssize_t read_end (struct end *e, char *buf, size_t len)
{
    ssize_t n = -EAGAIN;

    for (int i = 0; i < 4000 && n == -EAGAIN; i++) {
        n = agentstream_read (e->s, buf, len);
        uv_run (&loop, UV_RUN_NOWAIT);
        if (n == -EAGAIN)
            usleep (5000);
    }
    return n;
}

/* Fails if a client is kept forever, if too many are accepted at once, or if data
 * behind the upgrade is lost. */
static void test_clients (void **state)
{
    struct seen s = { 0 };
    static struct end ends[AGENT_CLIENTS + 1];
    static const char nonsense[16] = "no frame";
    char buf[16];
    pid_t pid = start_agent ("sleep 100");

    (void)state;
    open_link (&s, &with_bytes);
    run_until (&s.ready);
    for (size_t i = 0; i < AGENT_CLIENTS; i++)
        assert_int_equal (connect_end (&s, &ends[i]), 0);
    assert_int_equal (connect_end (&s, &ends[AGENT_CLIENTS]), EAGAIN);
    agentstream_close (ends[AGENT_CLIENTS].s);
    assert_int_equal (agentstream_write (ends[0].s, nonsense, sizeof (nonsense)),
                      sizeof (nonsense));
    assert_true (read_end (&ends[0], buf, sizeof (buf)) <= 0); /* disconnected */
    assert_int_equal (connect_end (&s, &ends[AGENT_CLIENTS]), 0);
    agentlink_terminate (s.l, "cancelled", 1.0);
    run_until (&s.finish);
    for (size_t i = 0; i <= AGENT_CLIENTS; i++)
        agentstream_close (ends[i].s);
    assert_int_equal (connect_end (&s, &ends[0]), ESRCH); /* over, but not released */
    agentstream_close (ends[0].s);
    assert_int_equal (end_agent (&s, pid), 0);
}

/* Fails if a process that replaces the agent's socket gets a connection of the broker
 * meant for another user, or if a stream that is given up while it opens calls back. */
static void test_clients_peer (void **state)
{
    struct seen s = { 0 };
    struct end e, given_up = { 0 };
    pid_t pid = start_agent ("sleep 100");

    (void)state;
    peer = geteuid () + 1;
    open_link (&s, &with_bytes);
    run_until (&s.ready);
    assert_int_equal (connect_end (&s, &e), EIO);
    agentstream_close (e.s);
    given_up.s = agentlink_connect (s.l, &stream_events, &given_up, NULL);
    agentstream_close (given_up.s);
    agentlink_terminate (s.l, "cancelled", 1.0);
    run_until (&s.finish);
    assert_int_equal (given_up.opened, 0);
    assert_int_equal (end_agent (&s, pid), 0);
}

/* The later of two pending limits applies, also if the agent starts last. */
static void run_for_a_while (void)
{
    for (int i = 0; i < 20; i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (5000);
    }
}

/* If the job started earlier, an agent that dies now could not be distinguished from
 * one that had begun. */
static void test_once (void **state)
{
    struct seen s = { 0 };

    (void)state;
    once = true;
    pid_t pid = start_agent ("echo one");
    open_link (&s, &with_bytes);
    run_until (&s.ready);
    agentlink_release (s.l, s.next - 1);
    run_for_a_while ();
    assert_int_equal (s.finish + s.output_frames, 0);
    agentlink_release (s.l, s.next);
    run_until (&s.finish);
    assert_string_equal (s.out, "one\n");
    assert_int_equal (end_agent (&s, pid), 0);
    once = false;
}

static void test_once_terminated (void **state)
{
    struct seen s = { 0 };

    (void)state;
    once = true;
    pid_t pid = start_agent ("echo one");
    open_link (&s, &with_bytes);
    run_until (&s.ready);
    agentlink_terminate (s.l, "cancelled", 60.0);
    run_until (&s.finish);
    assert_int_equal (s.output_frames, 0);
    assert_string_equal (s.fin.reason, "cancelled");
    assert_int_equal (end_agent (&s, pid), 0);
    once = false;
}

static void test_limit (void **state)
{
    struct seen s = { 0 };
    pid_t pid = start_agent ("sleep 100");

    (void)state;
    open_link (&s, &with_bytes);
    agentlink_limit (s.l, 1000);
    agentlink_limit (s.l, 0.2);
    run_until (&s.finish);
    assert_string_equal (s.fin.reason, "timeout");
    assert_int_equal (end_agent (&s, pid), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_stream, setup, teardown),
        cmocka_unit_test_setup_teardown (test_without_output, setup, teardown),
        cmocka_unit_test_setup_teardown (test_refused_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown (test_terminate, setup, teardown),
        cmocka_unit_test_setup_teardown (test_signal, setup, teardown),
        cmocka_unit_test_setup_teardown (test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown (test_once, setup, teardown),
        cmocka_unit_test_setup_teardown (test_once_terminated, setup, teardown),
        cmocka_unit_test_setup_teardown (test_wrong_key, setup, teardown),
        cmocka_unit_test_setup_teardown (test_clients, setup, teardown),
        cmocka_unit_test_setup_teardown (test_clients_peer, setup, teardown),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
