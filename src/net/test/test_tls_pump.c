/* test_tls_pump.c - the pump between TLS and a plain socket: every byte, every end, and a
 * slow reader
 *
 *     near[0] -- near[1] = pump = net[0] ~~ TLS ~~ net[1] = pump = far[1] -- far[0]
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "net/test/certificate.h"
#include "net/tls_policy.h"
#include "net/tls_pump.h"

#define LARGE ((size_t)3 * 1000 * 1000)

struct line {
    int near[2], far[2], net[2];
    SSL *ssl[2];
    struct tls_pump *pump[2];
    int result[2]; /* of the last tls_pump_move() */
};

static void make_pair (int fds[2])
{
    assert_int_equal (
        socketpair (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
}

static SSL *create_ssl (int fd, bool is_server)
{
    SSL_CTX *ctx = SSL_CTX_new (is_server ? TLS_server_method () : TLS_client_method ());
    struct test_certificate c = test_certificate_create (NULL, 0, 2000000000);

    assert_int_equal (tls_policy_apply (ctx), 0);
    test_add_name (c.cert, "a", -1);
    test_sign (&c);
    if (is_server) {
        assert_int_equal (SSL_CTX_use_certificate (ctx, c.cert), 1);
        assert_int_equal (SSL_CTX_use_PrivateKey (ctx, c.key), 1);
    }
    SSL *ssl = SSL_new (ctx);
    assert_int_equal (SSL_set_fd (ssl, fd), 1);
    if (is_server)
        SSL_set_accept_state (ssl);
    else
        SSL_set_connect_state (ssl);
    SSL_CTX_free (ctx);
    test_certificate_free (&c);
    return ssl;
}

static int line_start (void **state)
{
    struct line *l = calloc (1, sizeof (*l));
    int done[2] = { 0 };

    signal (SIGPIPE, SIG_IGN);
    make_pair (l->near);
    make_pair (l->far);
    make_pair (l->net);
    for (int i = 0; i < 2; i++)
        l->ssl[i] = create_ssl (l->net[i], i == 0);
    for (int i = 0; i < 20 && (done[0] != 1 || done[1] != 1); i++)
        done[i % 2] = SSL_do_handshake (l->ssl[i % 2]);
    assert_int_equal (done[0] & done[1], 1);
    l->pump[0] = tls_pump_create (l->ssl[0], l->near[1]);
    l->pump[1] = tls_pump_create (l->ssl[1], l->far[1]);
    assert_non_null (l->pump[0]);
    assert_non_null (l->pump[1]);
    *state = l;
    return 0;
}

static void close_once (int *fd)
{
    if (*fd >= 0)
        close (*fd);
    *fd = -1;
}

static int line_stop (void **state)
{
    struct line *l = *state;

    for (int i = 0; i < 2; i++) {
        tls_pump_destroy (l->pump[i]);
        SSL_free (l->ssl[i]);
        close_once (&l->near[i]);
        close_once (&l->far[i]);
        close_once (&l->net[i]);
    }
    free (l);
    return 0;
}

/* Lets both pumps work until none moves a byte. */
static void settle (struct line *l)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (int i = 0; i < 2; i++) {
            l->result[i] = tls_pump_move (l->pump[i]);
            moved |= tls_pump_moved (l->pump[i]);
        }
    }
}

static char at (size_t i)
{
    return (char)(i * 31 + i / 257);
}

/* Sends from `sent` on until the socket is full. */
static size_t send_some (int fd, size_t sent, size_t total)
{
    char data[5000];
    size_t n = MIN (sizeof (data), total - sent);

    for (size_t i = 0; i < n; i++)
        data[i] = at (sent + i);
    ssize_t rc = n > 0 ? send (fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    return sent + (rc > 0 ? (size_t)rc : 0);
}

/* Receives the bytes from `got` on; *ended: no more come. */
static size_t receive_some (int fd, size_t got, bool *ended)
{
    char data[7001];
    ssize_t n = recv (fd, data, sizeof (data), MSG_DONTWAIT);

    *ended = n == 0;
    for (ssize_t i = 0; i < n; i++)
        assert_int_equal (data[i], at (got + (size_t)i));
    return got + (n > 0 ? (size_t)n : 0);
}

/* Carries `total` bytes from one socket to the other, then its end. */
static void carry (struct line *l, int from, int to, size_t total)
{
    size_t sent = 0, got = 0;
    bool ended = false, shut = false;

    for (int i = 0; !ended && i < 100000; i++) {
        sent = send_some (from, sent, total);
        if (sent == total && !shut)
            shut = shutdown (from, SHUT_WR) == 0;
        settle (l);
        got = receive_some (to, got, &ended);
    }
    assert_true (ended);
    assert_int_equal (got, total);
}

static void test_both_ways_and_half_closes (void **state)
{
    struct line *l = *state;

    carry (l, l->near[0], l->far[0], LARGE);
    assert_true (l->result[0] > 0 && l->result[1] > 0);
    carry (l, l->far[0], l->near[0], LARGE); /* the other way is open still */
    settle (l);
    assert_int_equal (l->result[0], 0);
    assert_int_equal (l->result[1], 0);
}

static void test_slow_reader_stops_the_sender (void **state)
{
    struct line *l = *state;
    size_t sent = 0, got = 0;
    bool ended;

    for (int i = 0; i < 2000; i++) {
        sent = send_some (l->near[0], sent, 2 * LARGE);
        settle (l);
    }
    assert_true (sent > TLS_PIECE
                 && sent < LARGE); /* three socket buffers, four pieces */
    assert_true (tls_pump_is_waiting (l->pump[0]));
    for (int i = 0; got < sent && i < 100000; i++) {
        settle (l);
        got = receive_some (l->far[0], got, &ended);
        assert_false (ended);
    }
    assert_int_equal (got, sent);
    assert_false (tls_pump_is_waiting (l->pump[0]));
}

static void test_events_are_enough (void **state)
{
    struct line *l = *state;

    settle (l);
    assert_int_equal (l->result[0], TLS_NET_IN | TLS_PLAIN_IN);
    assert_int_equal (l->result[1], TLS_NET_IN | TLS_PLAIN_IN);
    for (size_t sent = 0, i = 0; i < 2000; i++) {
        sent = send_some (l->near[0], sent, 2 * LARGE);
        settle (l);
    }
    assert_int_equal (l->result[0], TLS_NET_IN | TLS_NET_OUT);
    assert_int_equal (l->result[1], TLS_PLAIN_OUT | TLS_PLAIN_IN);
}

static void test_cut_connection (void **state)
{
    struct line *l = *state;
    bool ended;

    assert_int_equal (send_some (l->near[0], 0, 100), 100);
    tls_pump_move (l->pump[0]);
    close_once (&l->net[0]); /* no close_notify */
    l->result[1] = tls_pump_move (l->pump[1]);
    assert_int_equal (l->result[1], -EPIPE);
    assert_int_equal (receive_some (l->far[0], 0, &ended), 100);
    /* an end would be told by its direction alone */
    assert_int_equal (receive_some (l->far[0], 100, &ended), 100);
    assert_false (ended);
}

/* The receiver takes the rest only when its own bytes have gone. */
static void test_cut_connection_both_full (void **state)
{
    struct line *l = *state;
    size_t sent = 0, got = 0;
    bool ended = false;

    for (int i = 0; i < 2000; i++) { /* towards the receiver, which is full then */
        sent = send_some (l->near[0], sent, 2 * LARGE);
        settle (l);
    }
    close_once (&l->net[0]);
    for (int i = 0; l->result[1] != -EPIPE && i < 100000; i++) {
        size_t more = send_some (l->far[0], 0, 5000);
        l->result[1] = tls_pump_move (l->pump[1]);
        if (more == 0 || i % 2)
            got = receive_some (l->far[0], got, &ended);
    }
    assert_int_equal (l->result[1], -EPIPE);
    while (recv (l->far[0], &(char){ 0 }, 1, MSG_DONTWAIT | MSG_PEEK) > 0)
        got = receive_some (l->far[0], got, &ended);
    assert_true (got > TLS_PIECE && got <= sent);
}

static void test_closed_receiver (void **state)
{
    struct line *l = *state;

    close_once (&l->far[0]);
    assert_int_equal (send_some (l->near[0], 0, 100), 100);
    settle (l);
    assert_true (tls_pump_is_deaf (l->pump[1]));
    assert_true (tls_pump_has_ended (l->pump[1]));
    assert_int_equal (l->result[1], 0);
    assert_int_equal (l->result[0], TLS_PLAIN_IN); /* has seen the close_notify */
}

static void test_garbage (void **state)
{
    struct line *l = *state;
    static const char garbage[] =
        "\x17\x03\x03\x00\x20 is no record of this connection at all";

    assert_int_equal (send (l->net[0], garbage, sizeof (garbage), 0), sizeof (garbage));
    l->result[1] = tls_pump_move (l->pump[1]);
    assert_int_equal (l->result[1], -EPIPE);
}

int main (void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_both_ways_and_half_closes, line_start,
                                         line_stop),
        cmocka_unit_test_setup_teardown (test_slow_reader_stops_the_sender, line_start,
                                         line_stop),
        cmocka_unit_test_setup_teardown (test_events_are_enough, line_start, line_stop),
        cmocka_unit_test_setup_teardown (test_cut_connection, line_start, line_stop),
        cmocka_unit_test_setup_teardown (test_cut_connection_both_full, line_start,
                                         line_stop),
        cmocka_unit_test_setup_teardown (test_closed_receiver, line_start, line_stop),
        cmocka_unit_test_setup_teardown (test_garbage, line_start, line_stop),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
