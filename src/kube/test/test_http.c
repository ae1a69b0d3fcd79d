/* The HTTP client against a small server that runs in threads of this program. */
#include "kube/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static int tcp_port;
static char unix_path[64];

/* -- the server: the request's path selects the answer -- */

static bool read_request (int fd, char *buf, size_t size)
{
    size_t have = 0;

    while (have < size - 1) {
        ssize_t n = read (fd, buf + have, size - 1 - have);
        char *end, *len;

        if (n <= 0)
            return false;
        have += (size_t)n;
        buf[have] = 0;
        end = strstr (buf, "\r\n\r\n");
        if (!end)
            continue;
        len = strstr (buf, "Content-Length: ");
        if (!len || len > end
            || have >= (size_t)(end + 4 - buf) + strtoul (len + 16, NULL, 10))
            return true;
    }
    return false;
}

static void put (int fd, const char *text)
{
    if (write (fd, text, strlen (text)) < 0)
        return;
}

static void answer (int fd, const char *req)
{
    char reply[8192];
    const char *body = strstr (req, "\r\n\r\n") + 4;

    if (strncmp (req, "GET /hello ", 11) == 0)
        put (fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    else if (strncmp (req, "POST /echo ", 11) == 0
             || strncmp (req, "DELETE /echo ", 13) == 0) {
        snprintf (reply, sizeof (reply),
                  "HTTP/1.1 201 Created\r\nContent-Length: %zu\r\n\r\n%.6s|%s",
                  7 + strlen (body), req, body);
        put (fd, reply);
    } else if (strncmp (req, "GET /busy ", 10) == 0)
        put (fd,
             "HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy");
    else if (strncmp (req, "GET /pieces ", 12) == 0) {
        put (fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        usleep (20000);
        put (fd, "3\r\ndef\r\n0\r\n\r\n");
    } else if (strncmp (req, "GET /silent ", 12) == 0) {
        put (fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
        while (read (fd, reply, sizeof (reply)) > 0)
            ;
    } else if (strncmp (req, "GET /cut ", 9) == 0) {
        put (fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
        shutdown (fd, SHUT_RDWR);
    } else
        put (fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
}

static void *serve_connection (void *arg)
{
    int fd = (int)(intptr_t)arg;
    char req[4096];

    while (read_request (fd, req, sizeof (req)))
        answer (fd, req);
    close (fd);
    return NULL;
}

static void *serve (void *arg)
{
    int fd;
    pthread_t t;

    while ((fd = accept ((int)(intptr_t)arg, NULL, NULL)) >= 0) {
        if (pthread_create (&t, NULL, serve_connection, (void *)(intptr_t)fd) == 0)
            pthread_detach (t);
    }
    return NULL;
}

static int setup (void **state)
{
    struct sockaddr_in in = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    socklen_t len = sizeof (in);
    int a = socket (AF_INET, SOCK_STREAM, 0), b = socket (AF_UNIX, SOCK_STREAM, 0);
    pthread_t t;

    (void)state;
    snprintf (unix_path, sizeof (unix_path), "/tmp/fluxq-test-http.%d", (int)getpid ());
    snprintf (un.sun_path, sizeof (un.sun_path), "%s", unix_path);
    if (bind (a, (struct sockaddr *)&in, sizeof (in)) < 0 || listen (a, 16) < 0
        || getsockname (a, (struct sockaddr *)&in, &len) < 0
        || bind (b, (struct sockaddr *)&un, sizeof (un)) < 0 || listen (b, 16) < 0)
        return -1;
    tcp_port = ntohs (in.sin_port);
    return pthread_create (&t, NULL, serve, (void *)(intptr_t)a) != 0
           || pthread_create (&t, NULL, serve, (void *)(intptr_t)b) != 0;
}

static int teardown (void **state)
{
    (void)state;
    return unlink (unix_path);
}

/* -- the client's side -- */

struct answer {
    int calls, status, code;
    char body[256];
    char data[256];
    double retry_after;
    int stop_after; /* pieces, 0: all */
    int pieces;
    struct httpc *h;           /* destroy it in on_done, if set */
    struct httpc_request *req; /* cancel it in on_data, if set */
};

static void on_done (const struct httpc_response *resp, void *arg)
{
    struct answer *a = arg;

    a->calls++;
    a->status = resp->status;
    a->code = resp->err.code;
    a->retry_after = resp->retry_after;
    snprintf (a->body, sizeof (a->body), "%s", resp->body);
    if (a->h)
        httpc_destroy (a->h);
}

static int on_data (const char *data, size_t len, void *arg)
{
    struct answer *a = arg;

    snprintf (a->data + strlen (a->data), sizeof (a->data) - strlen (a->data), "%.*s",
              (int)len, data);
    a->pieces++;
    httpc_cancel (a->req);
    a->req = NULL;
    return a->stop_after && a->pieces >= a->stop_after;
}

static uv_loop_t loop;

static struct httpc_request *ask (struct httpc *h, const char *method, const char *path,
                                  const char *body, struct answer *a)
{
    char url[128];
    struct error err = { 0 };

    snprintf (url, sizeof (url), "http://127.0.0.1:%d%s", tcp_port, path);
    return httpc_send (h,
                       &(struct httpc_options){ .method = method,
                                                .url = url,
                                                .body = body,
                                                .body_len = body ? strlen (body) : 0,
                                                .timeout = 5,
                                                .on_done = on_done,
                                                .arg = a },
                       &err);
}

static struct httpc *begin (void)
{
    struct error err = { 0 };
    struct httpc *h;

    assert_int_equal (uv_loop_init (&loop), 0);
    h = httpc_create (&loop, &err);
    assert_non_null (h);
    return h;
}

static void run_until (const int *calls, int n)
{
    for (int i = 0; i < 2000 && *calls < n; i++) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (2000);
    }
    assert_int_equal (*calls, n);
}

static void end (struct httpc *h)
{
    httpc_destroy (h);
    uv_run (&loop, UV_RUN_DEFAULT);
    assert_int_equal (uv_loop_close (&loop), 0); /* fails if a handle was left open */
}

static void test_answers (void **state)
{
    struct httpc *h = begin ();
    struct answer a[5] = { 0 };

    (void)state;
    ask (h, "GET", "/hello", NULL, &a[0]);
    ask (h, "POST", "/echo", "ping", &a[1]);
    ask (h, "DELETE", "/echo", "{}", &a[2]);
    ask (h, "GET", "/busy", NULL, &a[3]);
    ask (h, "POST", "/echo", NULL, &a[4]);
    assert_int_equal (a[0].calls, 0); /* never inside httpc_send() */
    for (int i = 0; i < 5; i++)
        run_until (&a[i].calls, 1);
    assert_int_equal (a[0].status, 200);
    assert_string_equal (a[0].body, "hello");
    assert_int_equal (a[1].status, 201);
    assert_string_equal (a[1].body, "POST /|ping");
    assert_string_equal (a[2].body, "DELETE|{}");
    assert_int_equal (a[3].status, 429);
    assert_true (a[3].retry_after == 7);
    assert_string_equal (a[4].body, "POST /|");
    end (h);
}

static void test_unix_socket (void **state)
{
    struct httpc *h = begin ();
    struct answer a = { 0 };
    struct error err = { 0 };

    (void)state;
    assert_non_null (httpc_send (h,
                                 &(struct httpc_options){ .method = "GET",
                                                          .url = "http://agent/hello",
                                                          .unix_socket = unix_path,
                                                          .on_done = on_done,
                                                          .arg = &a },
                                 &err));
    run_until (&a.calls, 1);
    assert_string_equal (a.body, "hello");
    end (h);
}

static void stream (struct httpc *h, const char *path, struct answer *a, double idle,
                    size_t max)
{
    char url[128];
    struct error err = { 0 };

    snprintf (url, sizeof (url), "http://127.0.0.1:%d%s", tcp_port, path);
    a->req = NULL;
    assert_non_null (httpc_send (h,
                                 &(struct httpc_options){ .method = "GET",
                                                          .url = url,
                                                          .idle_timeout = idle,
                                                          .max_body = max,
                                                          .on_data = max ? NULL : on_data,
                                                          .on_done = on_done,
                                                          .arg = a },
                                 &err));
}

static void test_stream (void **state)
{
    struct httpc *h = begin ();
    struct answer a = { 0 }, b = { .stop_after = 1 }, c = { 0 };

    (void)state;
    stream (h, "/pieces", &a, 0, 0);
    stream (h, "/pieces", &b, 0, 0);
    stream (h, "/missing", &c, 0, 0);
    run_until (&a.calls, 1);
    run_until (&b.calls, 1);
    run_until (&c.calls, 1);
    assert_string_equal (a.data, "abcdef");
    assert_string_equal (a.body, "");
    assert_int_equal (a.status, 200);
    assert_int_equal (b.status, 0); /* ended by on_data */
    assert_int_equal (b.code, ECANCELED);
    assert_string_equal (c.data, ""); /* an error's body is not data of the stream */
    assert_string_equal (c.body, "no");
    end (h);
}

static void test_trouble (void **state)
{
    struct httpc *h = begin ();
    struct answer silent = { 0 }, cut = { 0 }, large = { 0 }, refused = { 0 };
    struct error err = { 0 };

    (void)state;
    stream (h, "/silent", &silent, 1, 0);
    stream (h, "/cut", &cut, 0, 0);
    stream (h, "/hello", &large, 0, 4);
    assert_non_null (httpc_send (h,
                                 &(struct httpc_options){ .method = "GET",
                                                          .url = "http://127.0.0.1:1/",
                                                          .on_done = on_done,
                                                          .arg = &refused },
                                 &err));
    run_until (&cut.calls, 1);
    assert_int_equal (cut.status,
                      0); /* a truncated answer is an error, for any status line */
    run_until (&large.calls, 1);
    assert_int_equal (large.code, EFBIG);
    run_until (&refused.calls, 1);
    assert_int_equal (refused.code, ECONNREFUSED);
    run_until (&silent.calls, 1);
    assert_int_equal (silent.code, ETIMEDOUT);
    end (h);
}

static void test_cancel (void **state)
{
    struct httpc *h = begin ();
    struct answer before = { 0 }, within = { 0 }, other = { 0 };

    (void)state;
    httpc_cancel (ask (h, "GET", "/hello", NULL, &before));
    stream (h, "/pieces", &within, 0, 0);
    within.req =
        ask (h, "GET", "/silent", NULL, &other); /* cancelled inside a callback */
    run_until (&within.calls, 1);
    assert_int_equal (before.calls, 0);
    assert_int_equal (other.calls, 0);
    end (h);
}

static void test_destroy_within_callback (void **state)
{
    struct httpc *h = begin ();
    struct answer a = { .h = h }, b = { 0 };

    (void)state;
    ask (h, "GET", "/hello", NULL, &a);
    stream (h, "/silent", &b, 0, 0);
    uv_run (&loop, UV_RUN_DEFAULT); /* ends only when all handles are closed */
    assert_int_equal (a.calls, 1);
    assert_int_equal (b.calls, 0);
    assert_int_equal (uv_loop_close (&loop), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_answers), cmocka_unit_test (test_unix_socket),
        cmocka_unit_test (test_stream),  cmocka_unit_test (test_trouble),
        cmocka_unit_test (test_cancel),  cmocka_unit_test (test_destroy_within_callback),
    };

    return cmocka_run_group_tests (tests, setup, teardown);
}
