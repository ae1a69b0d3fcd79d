/* test_http_tls.c - TLS connections of the server: handshakes that are late, too many, or
 * under way when the server ends */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/clock.h"
#include "net/http_private.h"
#include "net/tcp_connect.h"
#include "net/test/certificate.h"
#include "net/tls_policy.h"

#define DEADLINE 60.0 /* seconds; a wait that takes longer has failed */
#define OF_ADDRESS 256

static uv_loop_t loop;
static struct http_server *server;
static SSL_CTX *client_ctx;

static void handler (struct http_request *req, void *arg)
{
    (void)arg;
    http_reply (req, 200, "text/plain", "hello", 5);
}

static SSL_CTX *server_context (void)
{
    SSL_CTX *ctx = SSL_CTX_new (TLS_server_method ());
    struct test_certificate c = test_certificate_create (NULL, 0, 2000000000);

    test_add_name (c.cert, "a", -1);
    test_sign (&c);
    assert_int_equal (tls_policy_apply (ctx), 0);
    assert_int_equal (SSL_CTX_use_certificate (ctx, c.cert), 1);
    assert_int_equal (SSL_CTX_use_PrivateKey (ctx, c.key), 1);
    test_certificate_free (&c);
    return ctx;
}

static int start (void **state)
{
    SSL_CTX *ctx = server_context ();

    (void)state;
    assert_int_equal (uv_loop_init (&loop), 0);
    server = http_server_create (&loop, handler, NULL, NULL);
    assert_non_null (server);
    http_server_set_open (server);
    assert_int_equal (http_server_listen_tcp (server, "127.0.0.1", 0, NULL), 0);
    http_server_set_tls (server, ctx, NULL);
    SSL_CTX_free (ctx); /* the server has a reference */
    client_ctx = SSL_CTX_new (TLS_client_method ());
    assert_int_equal (tls_policy_apply (client_ctx), 0);
    return 0;
}

static int stop (void **state)
{
    (void)state;
    http_server_destroy (server);
    uv_run (&loop, UV_RUN_DEFAULT);
    assert_int_equal (uv_loop_close (&loop), 0); /* no handle is left */
    SSL_CTX_free (client_ctx);
    return 0;
}

static int connect_server (void)
{
    char port[8];

    snprintf (port, sizeof (port), "%u", (unsigned)http_server_port (server));
    int fd = tcp_connect ("127.0.0.1", port, "the server", NULL);
    assert_true (fd >= 0);
    return fd;
}

static bool is_closed (int fd)
{
    char byte;
    ssize_t n = recv (fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

    return n == 0 || (n < 0 && errno != EAGAIN);
}

/* Runs the loop until the count of handshakes is n. */
static void await_handshakes (unsigned n)
{
    double until = clock_mono () + DEADLINE;

    while (server->tls.nhandshakes != n && clock_mono () < until) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (1000);
    }
    assert_int_equal (server->tls.nhandshakes, n);
}

static void await_close (int fd)
{
    double until = clock_mono () + DEADLINE;

    while (!is_closed (fd) && clock_mono () < until) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (1000);
    }
    assert_true (is_closed (fd));
}

/* Shakes hands, while the server's loop runs. */
static SSL *shake_hands (int fd)
{
    SSL *ssl = SSL_new (client_ctx);
    double until = clock_mono () + DEADLINE;
    int done = 0;

    assert_int_equal (SSL_set_fd (ssl, fd), 1);
    while ((done = SSL_connect (ssl)) != 1 && clock_mono () < until) {
        assert_int_equal (SSL_get_error (ssl, done), SSL_ERROR_WANT_READ);
        uv_run (&loop, UV_RUN_NOWAIT);
    }
    assert_int_equal (done, 1);
    return ssl;
}

static void ask (SSL *ssl, const char *text, char *answer, int size)
{
    double until = clock_mono () + DEADLINE;
    int n = -1;

    assert_int_equal (SSL_write (ssl, text, (int)strlen (text)), (int)strlen (text));
    while ((n = SSL_read (ssl, answer, size - 1)) <= 0 && clock_mono () < until)
        uv_run (&loop, UV_RUN_NOWAIT);
    assert_true (n > 0);
    answer[n] = '\0';
}

static void test_request (void **state)
{
    int fd = connect_server ();
    SSL *ssl = shake_hands (fd);
    char answer[1000];

    (void)state;
    for (int i = 0; i < 3; i++) {
        ask (ssl, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", answer, sizeof (answer));
        assert_non_null (strstr (answer, "200 OK"));
    }
    assert_int_equal (server->tls.nlinks, 1);
    assert_int_equal (server->tls.nhandshakes, 0);
    SSL_free (ssl);
    close (fd);
}

static void test_late_handshake (void **state)
{
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    int silent = connect_server (), begun = connect_server ();

    (void)state;
    limits.head_seconds = 1;
    http_server_set_limits (server, &limits);
    assert_int_equal (send (begun, "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
    await_handshakes (2);
    await_close (silent);
    await_close (begun);
    assert_int_equal (server->tls.nlinks, 0);
    close (silent);
    close (begun);
}

static void test_oldest_is_pushed_out (void **state)
{
    int fds[OF_ADDRESS + 2];

    (void)state;
    server->max_connections = 4 * OF_ADDRESS; /* whatever the limit of descriptors */
    server->max_descriptors = 16 * OF_ADDRESS;
    for (size_t i = 0; i < ARRAY_SIZE (fds); i++) {
        fds[i] = connect_server ();
        if (i < OF_ADDRESS)
            await_handshakes ((unsigned)i + 1);
    }
    await_close (fds[0]);
    await_close (fds[1]);
    assert_int_equal (server->tls.nhandshakes, OF_ADDRESS);
    assert_false (is_closed (fds[2]));
    SSL *ssl = shake_hands (fds[OF_ADDRESS + 1]);
    await_handshakes (OF_ADDRESS - 1);
    SSL_free (ssl);
    for (size_t i = 0; i < ARRAY_SIZE (fds); i++)
        close (fds[i]);
}

/* stop() fails if a handle or a worker's connection is left. */
static void test_end_under_way (void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        int fd = connect_server ();
        SSL *ssl = SSL_new (client_ctx);
        assert_int_equal (SSL_set_fd (ssl, fd), 1);
        SSL_connect (ssl); /* the hello */
        if (i % 4 == 0)
            uv_run (&loop, UV_RUN_NOWAIT);
        SSL_free (ssl);
        close (fd);
    }
}

int main (void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_request, start, stop),
        cmocka_unit_test_setup_teardown (test_late_handshake, start, stop),
        cmocka_unit_test_setup_teardown (test_oldest_is_pushed_out, start, stop),
        cmocka_unit_test_setup_teardown (test_end_under_way, start, stop),
    };

    signal (SIGPIPE, SIG_IGN); /* as fluxqd does */
    return cmocka_run_group_tests (tests, NULL, NULL);
}
