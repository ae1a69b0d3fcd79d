/* test_http_parser.c - answers of a broken or hostile broker */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "net/http_parser.h"

struct result {
    int rc; /* 0: done, or a negative errno */
    int status, retry_after;
    bool close;
    char type[64];
    char body[256];
    size_t len;    /* of the whole body */
    size_t unused; /* bytes after the response */
};

static int on_body (const char *data, size_t len, void *arg)
{
    struct result *r = arg;

    if (r->len + len < sizeof (r->body)) {
        memcpy (r->body + r->len, data, len);
        r->body[r->len + len] = '\0';
    }
    r->len += len;
    return len == 4 && memcmp (data, "STOP", 4) == 0 ? 5 : 0;
}

/* Parses text in steps of `step` bytes, and then the end of file. */
static struct result parse_steps (const char *text, size_t len, size_t step, bool head)
{
    struct result r = { 0 };
    struct http_parser p;
    struct error err = { 0 };

    http_parser_init (&p, head, on_body, &r);
    for (size_t at = 0; at < len && r.rc == 0 && !http_parser_done (&p); at += step) {
        size_t n = MIN (step, len - at);
        ssize_t used = http_parser_feed (&p, text + at, n, &err);
        if (used < 0)
            r.rc = (int)used;
        else if (used < (ssize_t)n)
            r.unused = len - at - (size_t)used;
        if (used < 0)
            assert_true (err.text[0] != '\0');
    }
    if (r.rc == 0)
        r.rc = http_parser_eof (&p, &err);
    r.status = p.status;
    r.close = p.close;
    r.retry_after = p.retry_after;
    memcpy (r.type, p.content_type, sizeof (r.type));
    http_parser_release (&p);
    return r;
}

/* The result is the same for any division of the bytes. */
static struct result parse (const char *text)
{
    struct result whole = parse_steps (text, strlen (text), strlen (text) + 1, false);

    for (size_t step = 1; step < 9; step++) {
        struct result r = parse_steps (text, strlen (text), step, false);
        assert_int_equal (r.rc, whole.rc);
        if (r.rc == 0) {
            assert_int_equal (r.status, whole.status);
            assert_string_equal (r.body, whole.body);
        }
    }
    return whole;
}

#define OK "HTTP/1.1 200 OK\r\n"

static void test_good (void **state)
{
    (void)state;
    struct result r =
        parse (OK "Content-Length: 5\r\ncontent-TYPE:  text/plain \r\n\r\nhello");
    assert_int_equal (r.rc, 0);
    assert_int_equal (r.status, 200);
    assert_string_equal (r.body, "hello");
    assert_string_equal (r.type, "text/plain");
    assert_false (r.close);
    r = parse ("HTTP/1.1 429\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal (r.rc, 0);
    assert_int_equal (r.status, 429);
    assert_int_equal (r.retry_after, 3);
    r = parse (
        OK
        "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\nT: "
        "v\r\n\r\n");
    assert_int_equal (r.rc, 0);
    assert_string_equal (r.body, "abc0123456789");
    r = parse (OK "\r\nuntil the end");
    assert_int_equal (r.rc, 0);
    assert_true (r.close);
    assert_string_equal (r.body, "until the end");
    r = parse (
        "HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\nHTTP/1.1 102 x\r\n\r\n" OK
        "Content-Length: 1\r\n\r\nx");
    assert_int_equal (r.rc, 0);
    assert_int_equal (r.status, 200);
    assert_string_equal (r.body, "x");
    r = parse ("HTTP/1.1 204 No\r\nConnection: Keep-Alive, Close\r\n\r\n");
    assert_int_equal (r.rc, 0);
    assert_true (r.close);
    r = parse ("HTTP/1.0 200 OK\nContent-Length: 2\n\nab");
    assert_int_equal (r.rc, 0);
    assert_true (r.close);
    r = parse (OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab");
    assert_int_equal (r.rc, 0);
}

/* Fails if a command accepts an answer that another reader would parse differently, or
 * half of an answer. */
static void test_bad (void **state)
{
    static const char *const bad[] = {
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2xx OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 2000\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "SSH-2.0-OpenSSH_9\r\n\r\n",
        "\r\n" OK "\r\n",
        OK "no colon\r\n\r\n",
        OK ": empty name\r\n\r\n",
        OK "Name : v\r\n\r\n",
        OK "A: b\r\n folded\r\n\r\n",
        OK "A: b\rc\r\n\r\n",
        OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        OK "Content-Length: -1\r\n\r\n",
        OK "Content-Length: +5\r\n\r\nhello",
        OK "Content-Length: 5, 5\r\n\r\nhello",
        OK "Content-Length: 0x5\r\n\r\nhello",
        OK "Content-Length: 9999999999999999999\r\n\r\nhello",
        OK "Content-Length:\r\n\r\nhello",
        OK "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc",
        OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n3 4\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    };
    static const char *const cut[] = {
        "",
        "HTTP/1.1 200",
        OK,
        OK "Content-Length: 5\r\n\r\nhell",
        OK "Content-Length: 5\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        if (parse (bad[i]).rc != -EPROTO)
            fail_msg ("accepted: %s", bad[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE (cut); i++) {
        if (parse (cut[i]).rc != -ECONNRESET)
            fail_msg ("truncation not detected: %s", cut[i]);
    }
}

/* Fails if NUL bytes hide the rest of a header. */
static void test_nul (void **state)
{
    static const char text[] = OK "X: a\0\r\nContent-Length: 1\r\n\r\nx";
    static const char body[] = OK "Content-Length: 3\r\n\r\na\0b";

    (void)state;
    assert_int_equal (parse_steps (text, sizeof (text) - 1, 7, false).rc, -EPROTO);
    struct result r = parse_steps (body, sizeof (body) - 1, 7, false);
    assert_int_equal (r.rc, 0);
    assert_memory_equal (r.body, "a\0b", 3);
}

/* Fails if a peer that never ends its head, its interim responses or its trailers
 * fills the memory. */
static void test_bounds (void **state)
{
    static const struct {
        const char *start, *repeat;
    } endless[] = {
        { "HTTP/1.1 200 ", "x" },
        { OK, "A: b\r\n" },
        { OK "A: ", "b" },
        { "", "HTTP/1.1 100 Continue\r\n\r\n" },
        { OK "Transfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n" },
        { OK "Transfer-Encoding: chunked\r\n\r\n0", "0" },
        { OK "Transfer-Encoding: chunked\r\n\r\n1;", "x" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (endless); i++) {
        struct result r = { 0 };
        struct http_parser p;
        http_parser_init (&p, false, on_body, &r);
        ssize_t rc =
            http_parser_feed (&p, endless[i].start, strlen (endless[i].start), NULL);
        for (size_t fed = 0; rc >= 0 && fed < 100000; fed += strlen (endless[i].repeat))
            rc = http_parser_feed (&p, endless[i].repeat, strlen (endless[i].repeat),
                                   NULL);
        assert_int_equal (rc, -EPROTO);
        http_parser_release (&p);
    }
}

static void test_head_stop_rest (void **state)
{
    static const char two[] = OK "Content-Length: 1\r\n\r\nxHTTP/1.1";
    static const char head[] = OK "Content-Length: 500\r\n\r\n";
    static const char stop[] = OK "\r\nSTOP";

    (void)state;
    struct result r = parse_steps (two, strlen (two), 1000, false);
    assert_int_equal (r.rc, 0);
    assert_int_equal (r.unused,
                      8); /* not part of the body: the connection is not reused */
    r = parse_steps (head, strlen (head), 1000, true);
    assert_int_equal (r.rc, 0);
    assert_int_equal (r.len, 0);
    r = parse_steps (stop, strlen (stop), 1000, false);
    assert_int_equal (r.rc, -ECANCELED);
}

/* Fails if bytes of another protocol are parsed as HTTP, for any division. */
static void test_upgrade (void **state)
{
    static const char text[] =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\nHTTP/1.1 200";
    size_t head = sizeof (text) - 1 - strlen ("HTTP/1.1 200");

    (void)state;
    for (size_t cut = 0; cut < sizeof (text) - 1; cut++) {
        struct result r = { 0 };
        struct http_parser p;
        http_parser_init (&p, false, on_body, &r);
        p.upgrade = true;
        ssize_t used = http_parser_feed (&p, text, cut, NULL);
        assert_int_equal (used, MIN (cut, head));
        used +=
            http_parser_feed (&p, text + used, sizeof (text) - 1 - (size_t)used, NULL);
        assert_int_equal (used, head);
        assert_true (http_parser_done (&p));
        assert_int_equal (p.status, 101);
        assert_int_equal (r.len, 0);
        http_parser_release (&p);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_good),
        cmocka_unit_test (test_bad),
        cmocka_unit_test (test_nul),
        cmocka_unit_test (test_bounds),
        cmocka_unit_test (test_head_stop_rest),
        cmocka_unit_test (test_upgrade),
    };

    return cmocka_run_group_tests_name ("http_parser", tests, NULL, NULL);
}
