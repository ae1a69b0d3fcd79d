/* test_http.c - server and client over a real unix socket */
#include "net/test/server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "net/http_client.h"

static struct test_server server;

static int start (void **state)
{
    (void)state;
    test_server_start (&server, NULL);
    return 0;
}

static int open_at_end = -1; /* a connection to be closed after the server */

static int stop (void **state)
{
    (void)state;
    test_server_stop (&server);
    if (open_at_end >= 0)
        close (open_at_end);
    open_at_end = -1;
    return 0;
}

static struct http_client *connect_client (void)
{
    struct error err = { 0 };
    struct http_client *c = http_client_open (server.url, &err);

    if (!c)
        fail_msg ("%s", err.text);
    return c;
}

/* The answer's body, for the caller to free. */
static char *request (struct http_client *c, const char *method, const char *target,
                      const char *body, int want_status)
{
    struct http_response r = { 0 };
    struct error err = { 0 };

    if (http_client_request (c, method, target, body, body ? strlen (body) : 0, NULL, &r,
                             &err)
        < 0)
        fail_msg ("%s %s: %s", method, target, err.text);
    assert_int_equal (r.status, want_status);
    assert_int_equal (strlen (r.body), r.len);
    return r.body;
}

static void expect (struct http_client *c, const char *method, const char *target,
                    const char *body, const char *want)
{
    char *got = request (c, method, target, body, 200);

    assert_string_equal (got, want);
    free (got);
}

/* Waits until /counts contains the text. */
static void wait_for_count (const char *want)
{
    struct http_client *c = connect_client ();
    double end = clock_mono () + DEADLINE;
    bool seen = false;

    while (!seen) {
        char *text = request (c, "GET", "/counts", NULL, 200);
        seen = strstr (text, want) != NULL;
        if (!seen && clock_mono () > end)
            fail_msg ("wanted %s: %s", want, text);
        free (text);
        if (!seen)
            poll (NULL, 0, 5);
    }
    http_client_close (c);
}

static int raw_connect (void)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true (fd >= 0);
    memcpy (addr.sun_path, server.path, strlen (server.path) + 1);
    assert_int_equal (connect (fd, (struct sockaddr *)&addr, sizeof (addr)), 0);
    return fd;
}

static void raw_send (int fd, const char *text)
{
    assert_int_equal (send (fd, text, strlen (text), MSG_NOSIGNAL),
                      (ssize_t)strlen (text));
}

/* The first n bytes of the answer, or the bytes until its end. */
static size_t raw_receive (int fd, char *buf, size_t n)
{
    size_t got = 0;

    while (got < n) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        assert_int_equal (poll (&p, 1, (int)(DEADLINE * 1000)), 1);
        ssize_t r = recv (fd, buf + got, n - got, 0);
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    return got;
}

static void test_basic (void **state)
{
    struct http_client *c = connect_client ();
    struct http_response r = { 0 };
    struct error err = { 0 };
    char want[256];
    unsigned uid = (unsigned)geteuid ();

    (void)state;
    assert_string_equal (http_client_url (c), server.url);
    snprintf (want, sizeof (want), "GET /echo uid=%u q=- body=", uid);
    expect (c, "GET", "/echo", NULL, want);
    snprintf (want, sizeof (want), "POST /echo/a b uid=%u q=x&y=z body={}", uid);
    expect (c, "POST", "/echo/a%20b?p=1&q=x%26y%3dz&q=2", "{}", want);
    snprintf (want, sizeof (want), "DELETE /later uid=%u q=a b body=zz", uid);
    expect (c, "DELETE", "/later?ms=3&q=a+b", "zz", want);
    snprintf (want, sizeof (want), "GET /echo uid=%u q= body=", uid);
    expect (c, "GET", "/echo?&&q&q=1", NULL, want);
    assert_int_equal (http_client_request (c, "HEAD", "/echo", NULL, 0, NULL, &r, &err),
                      0);
    assert_int_equal (r.status, 200);
    assert_int_equal (r.len, 0);
    http_response_release (&r);
    assert_int_equal (http_client_request (c, "GET", "/none?x", NULL, 0, NULL, &r, &err),
                      0);
    assert_int_equal (r.status, 404);
    assert_int_equal (r.retry_after, 7);
    assert_string_equal (r.content_type, "application/problem+json");
    assert_int_equal (http_response_error (&r, &err), -ENOENT);
    assert_string_equal (err.text, "there is no \"/none\" here?");
    http_response_release (&r);
    free (request (c, "GET", "/release", NULL, 204));
    http_client_close (c);
}

/* Fails if a text from a user becomes a second request or header. */
static void test_injection (void **state)
{
    struct http_client *c = connect_client ();
    struct http_response r = { 0 };
    const char *good[] = { "X-One: 1", "Idempotency-Key: k", NULL };
    const char *evil[] = { "X: 1\r\nY: 2", NULL };

    (void)state;
    assert_int_equal (http_client_request (c, "GET", "/echo HTTP/1.1\r\n\r\nGET /x", NULL,
                                           0, NULL, &r, NULL),
                      -EINVAL);
    assert_int_equal (http_client_request (c, "GET", "echo", NULL, 0, NULL, &r, NULL),
                      -EINVAL);
    assert_int_equal (http_client_request (c, "GET", "/echo", NULL, 0, evil, &r, NULL),
                      -EINVAL);
    assert_int_equal (http_client_request (c, "GET", "/echo", NULL, 0, good, &r, NULL),
                      0);
    http_response_release (&r);
    free (request (c, "GET", "/echo/%00", NULL, 400));
    free (request (c, "GET", "/echo/%4", NULL, 400));
    free (request (c, "GET", "/echo?a=%zz", NULL, 400));
    free (request (c, "GET", "/echo", NULL, 200));
    http_client_close (c);
}

/* Fails if an answer goes to a wrong request, or if a connection does not last. */
static void test_many_on_one (void **state)
{
    struct http_client *c = connect_client ();
    char target[64], want[64];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf (target, sizeof (target), i % 10 ? "/echo?q=%d" : "/later?q=%d", i);
        snprintf (want, sizeof (want), "q=%d body=%s", i, i % 3 ? "x" : "");
        char *got = request (c, i % 3 ? "POST" : "GET", target, i % 3 ? "x" : NULL, 200);
        assert_non_null (strstr (got, want));
        free (got);
    }
    http_client_close (c);
}

/* Fails if waiting requests delay each other. */
static void test_many_at_once (void **state)
{
    enum { N = 300 };
    int fds[N];
    char buf[20], text[128];

    (void)state;
    for (int i = 0; i < N; i++) {
        fds[i] = raw_connect ();
        snprintf (text, sizeof (text), "GET /later?ms=%d HTTP/1.1\r\nHost: x\r\n\r\n",
                  i % 50);
        raw_send (fds[i], text);
    }
    for (int i = N - 1; i >= 0; i--) {
        assert_int_equal (raw_receive (fds[i], buf, 12), 12);
        assert_memory_equal (buf, "HTTP/1.1 200", 12);
        close (fds[i]);
    }
}

/* Fails if one user's connections keep all others out, or if a refusal has no answer. */
static void test_too_many_of_one_user (void **state)
{
    enum { LIMIT = 512, MORE = 100 };
    static int fds[LIMIT + MORE];
    char buf[512] = "";

    (void)state;
    for (int i = 0; i < LIMIT + MORE; i++)
        fds[i] = raw_connect ();
    raw_send (fds[0], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal (raw_receive (fds[0], buf, 12), 12);
    assert_memory_equal (buf, "HTTP/1.1 200", 12);
    raw_send (fds[LIMIT + 1], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    size_t n = raw_receive (fds[LIMIT + 1], buf, sizeof (buf) - 1); /* to the end */
    buf[n] = '\0';
    assert_memory_equal (buf, "HTTP/1.1 429", 12);
    assert_non_null (strstr (buf, "Retry-After: 1"));
    assert_int_equal (raw_receive (fds[LIMIT + MORE - 1], buf, 1), 0);
    for (int i = 0; i < LIMIT + MORE; i++)
        close (fds[i]);
    /* The places become free again. */
    double end = clock_mono () + DEADLINE;
    int status = 0;
    while (status != 200 && clock_mono () < end) {
        struct http_client *c = http_client_open (server.url, NULL);
        struct http_response r = { 0 };
        if (c && http_client_request (c, "GET", "/echo", NULL, 0, NULL, &r, NULL) == 0)
            status = r.status;
        http_response_release (&r);
        http_client_close (c);
    }
    assert_int_equal (status, 200);
}

static int post_size (struct http_client *c, size_t size)
{
    struct http_response r = { 0 };
    struct error err = { 0 };
    char *body = malloc (size);

    assert_non_null (body);
    memset (body, 'b', size);
    if (http_client_request (c, "POST", "/echo", body, size, NULL, &r, &err) < 0)
        fail_msg ("%zu bytes: %s", size, err.text);
    int status = r.status;
    if (status == 200)
        assert_true (r.len > size);
    else
        assert_int_equal (http_response_error (&r, NULL), -EINVAL);
    http_response_release (&r);
    free (body);
    return status;
}

static void test_large_bodies (void **state)
{
    struct http_client *c = connect_client ();
    char buf[20];

    (void)state;
    assert_int_equal (post_size (c, 100000), 200);
    assert_int_equal (post_size (c, HTTP_BODY_MAX), 200);
    assert_int_equal (post_size (c, HTTP_BODY_MAX + 1), 413);
    assert_int_equal (post_size (c, 30 * 1024 * 1024), 413);
    assert_int_equal (post_size (c, 100 * 1024 * 1024), 413);
    assert_int_equal (post_size (c, 10), 200);
    int fd = raw_connect (); /* without waiting for the body */
    raw_send (fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n"
                  "Expect: 100-continue\r\n\r\n");
    assert_int_equal (raw_receive (fd, buf, 12), 12);
    assert_memory_equal (buf, "HTTP/1.1 413", 12);
    close (fd);
    http_client_close (c);
}

/* Fails if a chunked body is read, on which libmicrohttpd may loop busily. */
static void test_chunked_bodies (void **state)
{
    static const char *const kinds[] = { "chunked", "gzip, chunked", "identity", "" };
    char head[128], buf[512], extension[33000];

    (void)state;
    memset (extension, 'x', sizeof (extension));
    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++) {
        int fd = raw_connect ();
        snprintf (head, sizeof (head),
                  "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: %s\r\n\r\n2;",
                  kinds[i]);
        raw_send (fd, head);
        size_t n = raw_receive (fd, buf, sizeof (buf) - 1); /* to the end */
        buf[n] = '\0';
        assert_memory_equal (buf, "HTTP/1.1 411", 12);
        assert_non_null (strstr (buf, "length-required"));
        (void)!send (fd, extension, sizeof (extension), MSG_NOSIGNAL);
        close (fd);
    }
    /* All requests at once, and then the client closes. */
    int fd = raw_connect ();
    raw_send (fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;");
    (void)!send (fd, extension, sizeof (extension), MSG_NOSIGNAL);
    shutdown (fd, SHUT_WR);
    while (recv (fd, buf, sizeof (buf), 0) > 0)
        ;
    close (fd);
    struct http_client *c = connect_client ();
    assert_int_equal (post_size (c, 10), 200);
    char *counts = request (c, "GET", "/counts", NULL, 200);
    assert_non_null (strstr (counts, " stalls=0"));
    free (counts);
    http_client_close (c);
}

/* Fails if a client that sends a byte now and then keeps a connection forever. */
static void test_slow_requests (void **state)
{
    static const char *const parts[] = {
        "GET /echo HTTP/1.1\r\nHost: x\r\nX: ",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
    };
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    double end = clock_mono () + DEADLINE;

    (void)state;
    limits.head_seconds = limits.body_seconds = 1;
    http_server_set_limits (server.http, &limits);
    for (size_t i = 0; i < ARRAY_SIZE (parts); i++) {
        int fd = raw_connect ();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        raw_send (fd, parts[i]);
        while (poll (&p, 1, 50) == 0 && clock_mono () < end)
            (void)!send (fd, "y", 1, MSG_NOSIGNAL);
        assert_true (clock_mono () < end);
        close (fd);
    }
}

/* Fails if bytes that are not HTTP stop the broker. */
static void test_garbage (void **state)
{
    static const char *const garbage[] = {
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02",
        ": : :\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: zz\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
        "GET http://elsewhere/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        "AVERYLONGMETHODINDEEDTHATISNONE / HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    char noise[4096];
    char buf[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (garbage) + 50; i++) {
        int fd = raw_connect ();
        if (i < ARRAY_SIZE (garbage)) {
            raw_send (fd, garbage[i]);
        } else {
            assert_int_equal (getrandom (noise, sizeof (noise), 0), sizeof (noise));
            (void)!send (fd, noise, sizeof (noise), MSG_NOSIGNAL);
        }
        /* Some requests wait for more data, which is right; all answers are HTTP. */
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll (&p, 1, 10) == 1 && raw_receive (fd, buf, 12) == 12)
            assert_memory_equal (buf, "HTTP/1.", 7);
        close (fd);
    }
    int fd = raw_connect (); /* a head without end */
    for (int i = 0; i < 100 && send (fd, noise, 4000, MSG_NOSIGNAL) > 0; i++)
        memset (noise, 'h', sizeof (noise));
    close (fd);
    struct http_client *c = connect_client ();
    free (request (c, "GET", "/echo", NULL, 200));
    http_client_close (c);
}

/* Fails if the broker crashes when a user presses control-C at the wrong moment. */
static void test_client_gone (void **state)
{
    struct http_client *c = connect_client ();
    int fd;

    (void)state;
    for (int i = 0; i < 200; i++) {
        fd = raw_connect ();
        raw_send (
            fd, i % 2 ? "GET /later?ms=2 HTTP/1.1\r\nHost: x\r\n\r\n"
                      : "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
        close (fd);
    }
    fd = raw_connect ();
    raw_send (fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    double end = clock_mono () + DEADLINE;
    char *counts = NULL;
    int requests = -1;
    do { /* all complete requests have arrived, with the held one */
        free (counts);
        counts = request (c, "GET", "/counts", NULL, 200);
        int now = (int)strtol (counts + strlen ("requests="), NULL, 10);
        if (now == requests + 1)
            break;
        requests = now;
        poll (NULL, 0, 30);
    } while (clock_mono () < end);
    free (counts);
    close (fd);
    free (request (c, "GET", "/release", NULL, 204));
    free (request (c, "GET", "/echo", NULL, 200));
    fd = raw_connect (); /* stays held until the server ends */
    raw_send (fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    free (request (c, "GET", "/echo", NULL, 200));
    close (fd);
    http_client_close (c);
}

struct pieces {
    size_t len;
    int calls, stop_after;
    struct http_client *ticker; /* /tick for each piece */
};

static int on_piece (const char *data, size_t len, void *arg)
{
    struct pieces *p = arg;

    assert_non_null (data);
    p->len += len;
    p->calls++;
    if (p->stop_after && p->calls == p->stop_after)
        return 42;
    if (p->ticker)
        free (request (p->ticker, "POST", "/tick", NULL, 204));
    return 0;
}

static void test_streams (void **state)
{
    static const struct {
        const char *target;
        size_t len;
    } cases[] = {
        { "/stream?n=0", 0 },
        { "/stream?n=1&size=1", 1 },
        { "/stream?n=3&size=100000", 300000 },
        { "/stream?n=1&size=4194304", 4194304 },
        { "/stream?n=100&size=7", 700 },
        { "/drain?n=20", 20 * 300000 + 1 },
    };
    struct http_client *c = connect_client ();
    struct http_response r = { 0 };
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct pieces p = { 0 };
        if (http_client_stream (c, "GET", cases[i].target, on_piece, &p, &r, &err) != 0)
            fail_msg ("%s: %s", cases[i].target, err.text);
        assert_int_equal (r.status, 200);
        assert_int_equal (p.len, cases[i].len);
        assert_int_equal (r.len, 0);
        http_response_release (&r);
    }
    wait_for_count ("closes=0 drains=21 freed=1");
    struct pieces none = { 0 };
    assert_int_equal (http_client_stream (c, "GET", "/none", on_piece, &none, &r, &err),
                      0);
    assert_int_equal (r.status, 404);
    assert_int_equal (none.calls, 0);
    assert_int_equal (http_response_error (&r, &err), -ENOENT);
    http_response_release (&r);
    http_client_close (c);
}

/* Fails if data for an idle stream waits, or if a client that has closed is served
 * forever. */
static void test_follow (void **state)
{
    struct http_client *c = connect_client ();
    struct http_client *ticker = connect_client ();
    struct pieces p = { .stop_after = 50, .ticker = ticker };
    struct http_response r = { 0 };
    struct error err = { 0 };

    (void)state;
    pid_t pid = fork (); /* gives the first tick, as soon as there is a follower */
    assert_true (pid >= 0);
    if (pid == 0) {
        struct http_client *first = http_client_open (server.url, NULL);
        while (
            first
            && (http_client_request (first, "POST", "/tick", NULL, 0, NULL, &r, NULL) < 0
                || r.status != 204)) {
            http_response_release (&r);
            poll (NULL, 0, 1);
        }
        _exit (0);
    }
    assert_int_equal (http_client_stream (c, "GET", "/follow", on_piece, &p, &r, &err),
                      42);
    assert_int_equal (p.calls, 50);
    assert_int_equal (r.status, 200);
    http_response_release (&r);
    assert_int_equal (waitpid (pid, NULL, 0), pid);
    wait_for_count ("closes=1"); /* without a write since then */
    wait_for_count ("follower=0");
    http_client_close (c);
    int fd = raw_connect ();
    raw_send (fd, "GET /follow HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for_count ("follower=1");
    close (fd);
    wait_for_count ("closes=2");
    fd = raw_connect (); /* still open when the server ends */
    raw_send (fd, "GET /follow HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for_count ("follower=1");
    close (fd);
    http_client_close (ticker);
}

/* Fails if a stopped terminal makes the broker grow, or blocks the broker. */
static void test_slow_reader (void **state)
{
    static char buf[1 << 20];
    int fd = raw_connect ();
    size_t total = 0, n;

    (void)state;
    raw_send (fd, "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for_count ("closes=1 drains=0 freed=0 slow=1");
    while ((n = raw_receive (fd, buf, sizeof (buf))) > 0)
        total += n; /* then the end of the stream */
    assert_in_range (total, 1, 4 * HTTP_STREAM_UNSENT_MAX);
    close (fd);
}

static volatile sig_atomic_t interrupted;

static void on_alarm (int sig)
{
    (void)sig;
    interrupted = 1;
}

/* Fails if control-C in the console ends the console, or does nothing. */
static void test_interrupt (void **state)
{
    struct sigaction sa = { .sa_handler = on_alarm };
    struct http_client *c = connect_client ();
    struct http_response r = { 0 };
    struct pieces p = { 0 };
    sigset_t set;

    (void)state;
    assert_int_equal (sigaction (SIGALRM, &sa, NULL), 0);
    sigemptyset (&set);
    sigaddset (&set, SIGALRM);
    pthread_sigmask (SIG_UNBLOCK, &set, NULL);
    http_client_set_interrupt (c, &interrupted);
    struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
    assert_int_equal (setitimer (ITIMER_REAL, &soon, NULL), 0);
    assert_int_equal (http_client_stream (c, "GET", "/follow", on_piece, &p, &r, NULL),
                      -EINTR);
    interrupted = 0;
    free (request (c, "GET", "/echo", NULL, 200));
    http_client_close (c);
}

static int listen_again (const char *path, struct error *err)
{
    uv_loop_t loop;

    assert_int_equal (uv_loop_init (&loop), 0);
    struct http_server *s = http_server_create (&loop, test_handler, NULL, err);
    int rc = http_server_listen_unix (s, path, 0600, err);
    http_server_destroy (s);
    assert_int_equal (uv_run (&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal (uv_loop_close (&loop), 0);
    return rc;
}

/* Fails if a second broker takes the socket of the first, or if a crash leaves a socket
 * that blocks the next start. */
/* Fails if bytes are lost at the upgrade, if the socket has unexpected flags, or if the
 * client cannot send requests afterwards. */
static void test_upgrade_both_ways (void **state)
{
    struct http_client *c = connect_client ();
    struct error err = { 0 };
    char buf[16], want[64];
    int fd = -1, other = -1;

    (void)state;
    snprintf (want, sizeof (want), "GET /echo uid=%u q=- body=", (unsigned)getuid ());
    expect (c, "GET", "/echo", NULL, want);
    assert_int_equal (http_client_upgrade (c, "/upgrade", &fd, &err), 0);
    assert_int_equal (fcntl (fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal (fcntl (fd, F_GETFD), FD_CLOEXEC);
    raw_send (fd, "hello");
    assert_int_equal (raw_receive (fd, buf, 5), 5);
    assert_memory_equal (buf, "hello", 5);
    expect (c, "GET", "/echo", NULL, want);
    assert_int_equal (http_client_upgrade (c, "/upgrade", &other, &err), 0);
    close (other); /* the client ends one, the server the other */
    raw_send (fd, "q");
    assert_int_equal (raw_receive (fd, buf, 2), 1);
    close (fd);
    wait_for_count ("upgrades=2 lost=0 open=0");
    http_client_close (c);
}

/* Fails if a request that is not an upgrade is treated as one, or if the reason of a
 * refusal is not reported. */
static void test_upgrade_refused (void **state)
{
    struct http_client *c = connect_client ();
    struct error err = { 0 };
    int fd = -1;

    (void)state;
    assert_int_equal (http_client_upgrade (c, "/nowhere", &fd, &err), -ENOENT);
    assert_non_null (strstr (err.text, "there is no \"/nowhere\" here"));
    assert_int_equal (http_client_upgrade (c, "/echo", &fd, &err), -EPROTO);
    assert_int_equal (fd, -1);
    free (request (c, "POST", "/upgrade", NULL, 426));
    http_client_close (c);
}

/* Fails if bytes behind the request are lost, or if a server that ends with open
 * connections leaves something behind (test_server_stop() checks this). */
static void test_upgrade_early_bytes (void **state)
{
    static const char *const half[] = { "Connection: Upgrade", "Upgrade: fluxq",
                                        "Connection: close\r\nUpgrade: fluxq",
                                        "Connection: Upgrade\r\nUpgrade: h2c" };
    char buf[4096], text[256];

    (void)state;
    int fd = raw_connect ();
    raw_send (fd, "POST /upgrade HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
                  "Connection: keep-alive, upgrade\r\nUpgrade: fluxq\r\n\r\nearly");
    memset (buf, 0, sizeof (buf));
    for (size_t n = 0; !strstr (buf, "\r\n\r\nearly") && n < sizeof (buf) - 1; n++)
        assert_int_equal (raw_receive (fd, buf + n, 1), 1);
    assert_memory_equal (buf, "HTTP/1.1 101 ", 13);
    for (size_t i = 0; i < ARRAY_SIZE (half); i++) {
        int other = raw_connect ();
        snprintf (text, sizeof (text),
                  "POST /upgrade HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n%s\r\n\r\n",
                  half[i]);
        raw_send (other, text);
        assert_int_equal (raw_receive (other, buf, 13), 13);
        assert_memory_equal (buf, "HTTP/1.1 426 ", 13);
        close (other);
    }
    close (fd);
    fd = raw_connect (); /* this one is open when the server ends */
    raw_send (fd, "POST /upgrade HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
                  "Connection: Upgrade\r\nUpgrade: fluxq\r\n\r\n");
    wait_for_count ("upgrades=2 lost=0 open=1");
    open_at_end = fd;
}

static void test_listening (void **state)
{
    struct error err = { 0 };
    char path[256];
    struct stat st;

    (void)state;
    assert_int_equal (listen_again (server.path, &err), -EADDRINUSE);
    assert_non_null (strstr (err.text, server.path));
    assert_int_equal (stat (server.path, &st), 0);
    assert_int_equal (st.st_mode & 0777, 0666);
    struct http_client *c = connect_client ();
    free (request (c, "GET", "/echo", NULL, 200));
    http_client_close (c);

    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    snprintf (path, sizeof (path), "%s/stale", server.dir);
    memcpy (addr.sun_path, path, strlen (path) + 1);
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal (bind (fd, (struct sockaddr *)&addr, sizeof (addr)), 0);
    close (fd);
    assert_int_equal (listen_again (path, &err), 0);
    assert_int_equal (stat (path, &st), -1);

    snprintf (path, sizeof (path), "%s/file", server.dir);
    assert_int_equal (io_write_file_atomic (path, "x", 1, 0600, &err), 0);
    assert_int_equal (listen_again (path, &err), -EEXIST);
    snprintf (path, sizeof (path), "%s/none/sock", server.dir);
    assert_int_equal (listen_again (path, &err), -ENOENT);
    memset (path, 'p', sizeof (path));
    path[0] = '/';
    path[sizeof (path) - 1] = '\0';
    assert_int_equal (listen_again (path, &err), -ENAMETOOLONG);
}

/* A connection that the server made itself is its guest's, never its own user's. */
static void test_guests (void **state)
{
    (void)state;
    struct http_client *c = connect_client (), *guest;
    struct http_response r = { 0 };
    struct error err = { 0 };
    char want[64], url[32];
    char *fd = request (c, "GET", "/admit", NULL, 200);

    snprintf (url, sizeof (url), "fd:%s", fd);
    free (fd);
    guest = http_client_open (url, &err);
    assert_non_null (guest);
    for (int i = 0; i < 3; i++)
        expect (guest, "GET", "/guest", NULL, "uid 12345 guest 77");
    snprintf (want, sizeof (want), "uid %u guest 0", (unsigned)getuid ());
    expect (c, "GET", "/guest", NULL, want);
    http_client_close (guest);

    /* Such a connection can be used once. */
    assert_null (http_client_open ("fd:nonsense", &err));
    assert_null (http_client_open ("fd:2", &err)); /* a standard stream */
    fd = request (c, "GET", "/admit", NULL, 200);
    snprintf (url, sizeof (url), "fd:%s", fd);
    guest = http_client_open (url, &err);
    assert_non_null (guest);
    shutdown ((int)strtol (fd, NULL, 10), SHUT_RDWR);
    free (fd);
    assert_true (http_client_request (guest, "GET", "/guest", NULL, 0, NULL, &r, &err)
                 < 0);
    assert_int_equal (
        http_client_request (guest, "GET", "/guest", NULL, 0, NULL, &r, &err), -ENOTCONN);
    http_client_close (guest);
    http_client_close (c);
}

static void expect_answer (const char *answers, const char *fmt, ...) PRINTF_LIKE (2, 3);
static void expect_answer (const char *answers, const char *fmt, ...)
{
    char line[200];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (line, sizeof (line), fmt, ap);
    va_end (ap);
    const char *found = strstr (answers, line);
    if (!found || strstr (found + 1, line))
        fail_msg ("wanted once: %sgot: %s", line, answers);
}

/* Fails if an answer passes the observer: a reply, a problem, a stream, an upgrade, a
 * guest's, or the reply to a client who has gone; or if one is told twice. */
static void test_observer (void **state)
{
    struct http_client *c = connect_client (), *guest;
    struct error err = { 0 };
    int fd, pid = (int)getpid ();
    char url[32], *text;

    (void)state;
    free (request (c, "GET", "/echo", NULL, 200));
    free (request (c, "POST", "/nowhere", "x", 404));
    free (request (c, "GET", "/stream?n=2&size=3", NULL, 200));
    assert_int_equal (http_client_upgrade (c, "/upgrade", &fd, &err), 0);
    close (fd);
    text = request (c, "GET", "/admit", NULL, 200);
    snprintf (url, sizeof (url), "fd:%s", text);
    free (text);
    guest = http_client_open (url, &err);
    assert_non_null (guest);
    free (request (guest, "GET", "/guest", NULL, 200));
    http_client_close (guest);
    fd = raw_connect ();
    raw_send (fd, "GET /hold?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for_count ("held=1");
    close (fd);
    free (request (c, "GET", "/release", NULL, 204));
    text = request (c, "GET", "/answers", NULL, 200);
    expect_answer (text, "GET /echo 200 - by socket from pid %d note -\n", pid);
    expect_answer (text, "POST /nowhere 404 no-such-path by socket from pid %d note -\n",
                   pid);
    expect_answer (text, "GET /stream 200 - by socket from pid %d note -\n", pid);
    expect_answer (text, "/upgrade 101 - by socket from pid %d note -\n", pid);
    expect_answer (text, "GET /guest 200 - by guest from afar note -\n");
    expect_answer (text, "GET /hold 200 - by socket from pid %d note held\n", pid);
    free (text);
    http_client_close (c);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_basic, start, stop),
        cmocka_unit_test_setup_teardown (test_injection, start, stop),
        cmocka_unit_test_setup_teardown (test_many_on_one, start, stop),
        cmocka_unit_test_setup_teardown (test_many_at_once, start, stop),
        cmocka_unit_test_setup_teardown (test_too_many_of_one_user, start, stop),
        cmocka_unit_test_setup_teardown (test_large_bodies, start, stop),
        cmocka_unit_test_setup_teardown (test_chunked_bodies, start, stop),
        cmocka_unit_test_setup_teardown (test_slow_requests, start, stop),
        cmocka_unit_test_setup_teardown (test_garbage, start, stop),
        cmocka_unit_test_setup_teardown (test_client_gone, start, stop),
        cmocka_unit_test_setup_teardown (test_streams, start, stop),
        cmocka_unit_test_setup_teardown (test_follow, start, stop),
        cmocka_unit_test_setup_teardown (test_slow_reader, start, stop),
        cmocka_unit_test_setup_teardown (test_interrupt, start, stop),
        cmocka_unit_test_setup_teardown (test_upgrade_both_ways, start, stop),
        cmocka_unit_test_setup_teardown (test_upgrade_refused, start, stop),
        cmocka_unit_test_setup_teardown (test_upgrade_early_bytes, start, stop),
        cmocka_unit_test_setup_teardown (test_guests, start, stop),
        cmocka_unit_test_setup_teardown (test_observer, start, stop),
        cmocka_unit_test_setup_teardown (test_listening, start, stop),
    };

    /* One process is client and server of many connections. */
    struct rlimit lim;
    if (getrlimit (RLIMIT_NOFILE, &lim) == 0) {
        lim.rlim_cur = MIN (lim.rlim_max, 4096);
        setrlimit (RLIMIT_NOFILE, &lim);
    }
    return cmocka_run_group_tests_name ("http", tests, NULL, NULL);
}
