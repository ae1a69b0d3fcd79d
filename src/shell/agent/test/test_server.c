/* An inner rank and a child with the key: messages up and down, and invalid
 * ones. The rank is 1 of 40 with a fan-out of 3; its children are 4, 5 and 6,
 * and below 4 are 13 to 15. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/sha256.h"
#include "shell/agent/server.h"
#include "shell/io/sock.h"

#define JOB 7
#define OWN 1

static struct {
    struct loop loop;
    struct tree tree;
    uint8_t key[AGENT_KEY_SIZE];
    char dir[64], address[128];
    struct server *server;
    struct loop_timer deadline;
    int client;
    uint32_t messages, last_type, last_rank; /* from events->message */
    uint32_t closed;                         /* rank, 0: none */
    bool timed_out;
    char log[256];
} t;

static bool on_join (void *ctx, uint32_t rank, const struct frame *msg,
                     const char **ret_why)
{
    (void)ctx;
    (void)rank;
    (void)msg;
    (void)ret_why;
    return true;
}

static bool on_message (void *ctx, uint32_t rank, const struct frame *msg)
{
    (void)ctx;
    t.messages++;
    t.last_type = msg->type;
    t.last_rank = rank;
    return true;
}

static void on_closed (void *ctx, uint32_t rank, const char *why)
{
    (void)ctx;
    (void)why;
    t.closed = rank;
}

static void on_request (void *ctx, struct conn *conn, const struct http_request *req)
{
    (void)ctx;
    (void)req;
    server_reply (conn, 404, NULL, NULL);
}

static void on_log (void *ctx, const char *text)
{
    (void)ctx;
    snprintf (t.log, sizeof (t.log), "%s", text);
}

static const struct server_events events = { .join = on_join,
                                             .message = on_message,
                                             .closed = on_closed,
                                             .request = on_request,
                                             .log = on_log };

static void on_deadline (struct loop_timer *timer)
{
    (void)timer;
    t.timed_out = true;
    loop_stop (&t.loop, 0);
}

/* Stops when the client can read (or is at the end) or the server has
 * reported something. */
static void on_round (void *arg)
{
    struct pollfd p = { .fd = t.client, .events = POLLIN };
    uint32_t *messages = arg;
    if (poll (&p, 1, 0) > 0 || t.messages > *messages || t.closed)
        loop_stop (&t.loop, 0);
}

static void run_server (void)
{
    uint32_t before = t.messages;
    t.loop.stopped = false;
    t.loop.round = on_round;
    t.loop.round_arg = &before;
    loop_timer_set (&t.loop, &t.deadline, loop_now () + 10);
    on_round (&before); /* the data may be there already */
    loop_run (&t.loop);
    loop_timer_clear (&t.loop, &t.deadline);
    assert_false (t.timed_out);
}

static int setup (void **state)
{
    struct error err = { 0 };
    (void)state;
    memset (&t, 0, sizeof (t));
    memset (t.key, 5, sizeof (t.key));
    snprintf (t.dir, sizeof (t.dir), "/tmp/test-server-XXXXXX");
    if (!mkdtemp (t.dir) || loop_init (&t.loop) < 0)
        return -1;
    snprintf (t.address, sizeof (t.address), "unix:%s/sock", t.dir);
    tree_init (&t.tree, 40, 3);
    struct server_config config = { .fd = sock_listen (t.address, &err),
                                    .key = t.key,
                                    .job_id = JOB,
                                    .tree = &t.tree,
                                    .rank = OWN };
    if (config.fd < 0)
        return -1;
    t.deadline.fire = on_deadline;
    t.server = server_create (&t.loop, &config, &events, NULL);
    t.client = -1;
    return t.server ? 0 : -1;
}

static int teardown (void **state)
{
    (void)state;
    server_destroy (t.server);
    sock_unlink (t.address);
    rmdir (t.dir);
    loop_release (&t.loop);
    if (t.client >= 0)
        close (t.client);
    return 0;
}

static void send_bytes (const void *data, size_t len)
{
    assert_int_equal (send (t.client, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void send_message (uint8_t type, uint32_t rank)
{
    struct outbuf out = { 0 };
    wire_put (&out, &(struct frame){ .type = type, .rank = rank });
    send_bytes (out.data, out.len);
    outbuf_release (&out);
}

/* The next message that comes down, except heartbeats. */
static struct frame receive_message (void)
{
    static char buf[FRAME_HEAD];
    struct frame msg;
    do {
        run_server ();
        assert_int_equal (recv (t.client, buf, sizeof (buf), 0), FRAME_HEAD);
        assert_int_equal (wire_parse (buf, sizeof (buf), &msg), FRAME_HEAD);
    } while (msg.type == WIRE_BEAT);
    return msg;
}

/* The server closes; until then only heartbeats come. */
static void assert_disconnected (void)
{
    char buf[FRAME_HEAD];
    ssize_t n;
    do {
        run_server ();
        n = recv (t.client, buf, sizeof (buf), MSG_DONTWAIT);
        assert_true (n == 0 || (n == FRAME_HEAD && buf[0] == WIRE_BEAT));
    } while (n > 0);
}

static void say_hello (uint32_t rank, uint8_t nonce[WIRE_NONCE])
{
    uint8_t hello[WIRE_HELLO_SIZE];
    struct error err = { 0 };
    t.client = sock_connect (t.address, NULL, 0, &err);
    assert_true (t.client >= 0);
    memset (nonce, 9, WIRE_NONCE);
    memcpy (hello, WIRE_MAGIC, 4);
    wire_put_u32 (hello + 4, rank);
    memcpy (hello + 8, nonce, WIRE_NONCE);
    send_bytes (hello, sizeof (hello));
}

/* Proves the identity as rank, and joins. */
static void join_as (uint32_t rank)
{
    uint8_t nonce[WIRE_NONCE], challenge[WIRE_CHALLENGE_SIZE], proof[WIRE_PROOF];
    say_hello (rank, nonce);
    run_server ();
    assert_int_equal (recv (t.client, challenge, sizeof (challenge), 0),
                      sizeof (challenge));
    wire_proof (t.key, WIRE_ROLE_ROOT, JOB, rank, nonce, challenge, proof);
    assert_true (secret_equal (proof, challenge + WIRE_NONCE, sizeof (proof)));
    wire_proof (t.key, WIRE_ROLE_MEMBER, JOB, rank, nonce, challenge, proof);
    send_bytes (proof, sizeof (proof));
    send_message (WIRE_JOIN, rank);
    run_server ();
    assert_int_equal (t.last_type, WIRE_JOIN);
    assert_int_equal (t.last_rank, rank);
    assert_int_equal (server_members (t.server), 1);
}

static void what_comes_from_below_keeps_its_rank (void **state)
{
    (void)state;
    join_as (4);
    const uint32_t below[] = { 4, 13, 14, 15 };
    for (size_t i = 0; i < 4; i++) {
        send_message (WIRE_DONE, below[i]);
        run_server ();
        assert_int_equal (t.last_type, WIRE_DONE);
        assert_int_equal (t.last_rank, below[i]);
    }
    send_message (WIRE_LOST, 15);
    run_server ();
    assert_int_equal (t.last_type, WIRE_LOST);
    assert_int_equal (t.last_rank, 15);
    assert_int_equal (t.closed, 0);
}

static void a_rank_of_another_branch_is_nonsense (void **state)
{
    static const uint32_t foreign[] = { 0, 1, 2, 5, 16, 40, WIRE_ALL };
    for (size_t i = 0; i < sizeof (foreign) / sizeof (foreign[0]); i++) {
        if (i > 0) {
            teardown (state);
            setup (state);
        }
        join_as (4);
        send_message (WIRE_DONE, foreign[i]);
        assert_disconnected ();
        assert_int_equal (t.closed, 4);
        assert_int_equal (t.messages, 1); /* the join */
        assert_non_null (strstr (t.log, "nonsense through rank 4"));
    }
}

static void what_goes_down_takes_the_right_child (void **state)
{
    struct frame msg;
    (void)state;
    join_as (4);
    server_send (t.server, 5, &(struct frame){ .type = WIRE_CREDIT });  /* not there */
    server_send (t.server, 16, &(struct frame){ .type = WIRE_CREDIT }); /* below 5 */
    server_send (t.server, 2, &(struct frame){ .type = WIRE_CREDIT });  /* not below it */
    server_send (t.server, 14, &(struct frame){ .type = WIRE_SIGNAL });
    msg = receive_message ();
    assert_int_equal (msg.type, WIRE_SIGNAL);
    assert_int_equal (msg.rank, 14);
    server_broadcast (t.server, &(struct frame){ .type = WIRE_END });
    msg = receive_message ();
    assert_int_equal (msg.type, WIRE_END);
    assert_int_equal (msg.rank, WIRE_ALL);
}

static void who_is_no_child_gets_no_challenge (void **state)
{
    static const uint32_t others[] = { 0, 1, 2, 3, 7, 13, 40, UINT32_MAX };
    uint8_t nonce[WIRE_NONCE];
    (void)state;
    for (size_t i = 0; i < sizeof (others) / sizeof (others[0]); i++) {
        say_hello (others[i], nonce);
        assert_disconnected ();
        close (t.client);
    }
    t.client = -1;
    assert_int_equal (server_members (t.server), 0);
}

static void once_shut_only_who_is_in_stays (void **state)
{
    struct error err = { 0 };
    struct frame msg;
    (void)state;
    join_as (4);
    int in = t.client;
    uint8_t nonce[WIRE_NONCE];
    say_hello (5, nonce);
    run_server (); /* the client has its challenge and could prove itself now */
    server_shut (t.server);
    char buf[WIRE_CHALLENGE_SIZE];
    assert_int_equal (recv (t.client, buf, sizeof (buf), 0), sizeof (buf));
    assert_int_equal (recv (t.client, buf, sizeof (buf), 0), 0);
    close (t.client);
    t.client = in;
    assert_true (sock_connect (t.address, NULL, 0, &err) < 0);
    server_broadcast (t.server, &(struct frame){ .type = WIRE_END });
    msg = receive_message ();
    assert_int_equal (msg.type, WIRE_END);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (what_comes_from_below_keeps_its_rank, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (a_rank_of_another_branch_is_nonsense, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (what_goes_down_takes_the_right_child, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (who_is_no_child_gets_no_challenge, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (once_shut_only_who_is_in_stays, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
