/* test_http.c - tests of http.h: valid requests, and refused requests */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/macros.h"
#include "protocol/agent_api.h"
#include "shell/io/http.h"

static ssize_t parse (const char *text, struct http_request *req)
{
    return http_parse (text, strlen (text), req);
}

static void a_request_is_understood (void **state)
{
    (void)state;
    struct http_request req;
    const char *text = "GET /v1/stream?offset=12&output=1 HTTP/1.1\r\nHost: x\r\n"
                       "x-fluxq-auth: \t abc:def \r\nContent-Length: 0\r\n\r\nrest";
    char value[16];
    assert_int_equal (parse (text, &req), (ssize_t)strlen (text) - 4);
    assert_true (http_is (&req, "GET", "/v1/stream"));
    assert_false (http_is (&req, "POST", "/v1/stream"));
    assert_false (http_is (&req, "GET", "/v1/strea"));
    assert_false (http_is (&req, "GET", "/v1/stream?"));
    assert_string_equal (req.auth, "abc:def");
    assert_int_equal (req.minor, 1);
    assert_int_equal (http_query (&req, "offset", value, sizeof (value)), 1);
    assert_string_equal (value, "12");
    assert_int_equal (http_query (&req, "output", value, sizeof (value)), 1);
    assert_int_equal (http_query (&req, "offse", value, sizeof (value)), 0);
    assert_int_equal (http_query (&req, "utput", value, sizeof (value)), 0);
}

static void a_part_is_never_taken_for_a_whole (void **state)
{
    (void)state;
    struct http_request req;
    const char *text = "POST /v1/signal?signal=15 HTTP/1.0\r\nX-Fluxq-Auth: a\r\n\r\n";
    for (size_t len = 0; len < strlen (text); len++)
        assert_int_equal (http_parse (text, len, &req), 0);
    assert_int_equal (parse (text, &req), (ssize_t)strlen (text));
    assert_int_equal (req.minor, 0);
}

static void what_a_proxy_could_read_in_another_way_is_refused (void **state)
{
    (void)state;
    static const char *const hostile[] = {
        "\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.11\r\n\r\n",
        "GET / http/1.1\r\n\r\n",
        "GET http://x/ HTTP/1.1\r\n\r\n",
        "GET * HTTP/1.1\r\n\r\n",
        "G(T / HTTP/1.1\r\n\r\n",
        "VERYLONGMETHOD / HTTP/1.1\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\n\r\n",
        "GET /\xc3\xa4 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\r\nA: b\n\r\n",
        "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\n: b\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nA: \x07\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 00\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nX-Fluxq-Auth: a\r\nX-Fluxq-Auth: b\r\n\r\n",
        "GET / HTTP/1.1\r\nX-Fluxq-Auth:\r\n\r\n",
    };
    struct http_request req;
    for (size_t i = 0; i < ARRAY_SIZE (hostile); i++)
        if (parse (hostile[i], &req) != -EBADMSG)
            fail_msg ("taken: %s", hostile[i]);
    assert_int_equal (http_parse ("GET /\0 HTTP/1.1\r\n\r\n", 20, &req), -EBADMSG);
    assert_int_equal (http_parse ("\0\0\0\0", 4, &req), -EBADMSG);
}

static void nothing_is_longer_than_its_bound (void **state)
{
    (void)state;
    struct http_request req;
    static char big[3 * HTTP_HEAD_MAX];
    memset (big, 'a', sizeof (big));
    assert_int_equal (http_parse (big, sizeof (big), &req), -E2BIG);
    assert_int_equal (http_parse (big, HTTP_HEAD_MAX, &req), -E2BIG);
    assert_int_equal (http_parse (big, HTTP_HEAD_MAX - 1, &req), 0);
    memcpy (big, "GET /", 5);
    memcpy (big + HTTP_TARGET_MAX + 10, " HTTP/1.1\r\n\r\n", 13);
    assert_int_equal (http_parse (big, HTTP_HEAD_MAX, &req), -E2BIG);
    memset (big, 'a', sizeof (big));
    memcpy (big, "GET / HTTP/1.1\r\nX-Fluxq-Auth: ", 30);
    memcpy (big + 30 + AGENT_AUTH_MAX, "\r\n\r\n", 4);
    assert_int_equal (http_parse (big, 1024, &req), -E2BIG);
    /* A head that would end just beyond the limit. */
    memset (big, 'a', sizeof (big));
    memcpy (big, "GET / HTTP/1.1\r\nA: ", 19);
    memcpy (big + HTTP_HEAD_MAX - 2, "\r\n\r\n", 4);
    assert_int_equal (http_parse (big, sizeof (big), &req), -E2BIG);
}

static void random_bytes_do_no_harm (void **state)
{
    (void)state;
    static const char alphabet[] = "GET /?&=:\r\n \tHTP1.0a\0\xff";
    struct http_request req;
    uint32_t x = 12345;
    for (int round = 0; round < 20000; round++) {
        size_t len = 1 + (size_t)round % 97;
        char *text = test_malloc (len); /* exact length: ASan detects a read beyond it */
        for (size_t i = 0; i < len; i++) {
            x = x * 1664525 + 1013904223;
            text[i] = alphabet[(x >> 16) % (sizeof (alphabet) - 1)];
        }
        ssize_t n = http_parse (text, len, &req);
        assert_true (n <= (ssize_t)len);
        test_free (text);
    }
}

static void doubled_and_empty_parameters_are_refused (void **state)
{
    (void)state;
    struct http_request req;
    char value[4];
    assert_true (parse ("GET /a?x=1&x=2&y=&z=12345&=3&&w HTTP/1.1\r\n\r\n", &req) > 0);
    assert_int_equal (http_query (&req, "x", value, sizeof (value)), -EINVAL);
    assert_int_equal (http_query (&req, "y", value, sizeof (value)), -EINVAL);
    assert_int_equal (http_query (&req, "z", value, sizeof (value)), -EINVAL);
    assert_int_equal (http_query (&req, "w", value, sizeof (value)), 0);
}

static void a_signature_fits_one_request_only (void **state)
{
    (void)state;
    uint8_t key[AGENT_KEY_SIZE] = { 1, 2, 3 }, other[AGENT_KEY_SIZE] = { 1, 2, 4 };
    char auth[AGENT_AUTH_MAX], again[AGENT_AUTH_MAX], nonce[33];
    assert_int_equal (agent_auth_make (key, "GET", "/v1/status", auth), 0);
    assert_int_equal (agent_auth_make (key, "GET", "/v1/status", again), 0);
    assert_string_not_equal (auth, again);
    assert_true (agent_auth_check (key, "GET", "/v1/status", auth, nonce));
    assert_memory_equal (nonce, auth, 32);
    assert_false (agent_auth_check (other, "GET", "/v1/status", auth, nonce));
    assert_false (agent_auth_check (key, "POST", "/v1/status", auth, nonce));
    assert_false (agent_auth_check (key, "GET", "/v1/status?", auth, nonce));
    for (size_t i = 0; auth[i]; i++) {
        memcpy (again, auth, sizeof (auth));
        again[i] = again[i] == '0' ? '1' : '0';
        assert_false (agent_auth_check (key, "GET", "/v1/status", again, nonce));
        again[i] = '\0'; /* truncated */
        assert_false (agent_auth_check (key, "GET", "/v1/status", again, nonce));
    }
    for (size_t i = 0; i < 32; i++) {
        memcpy (again, auth, sizeof (auth));
        if (again[i] >= 'a') { /* another notation is not another nonce */
            again[i] = (char)(again[i] - 'a' + 'A');
            assert_false (agent_auth_check (key, "GET", "/v1/status", again, nonce));
        }
    }
}

static void only_a_whole_upgrade_is_one (void **state)
{
    (void)state;
    struct http_request req;
    static const struct {
        const char *headers;
        bool upgrade;
    } cases[] = {
        { " HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: fluxq\r\n\r\n", true },
        { " HTTP/1.1\r\nupgrade: FLUXQ\r\nX: y\r\nconnection: keep-alive, "
          "upgrade\r\n\r\n",
          true },
        { " HTTP/1.1\r\nConnection: keep-alive\r\nConnection: upgrade\r\n"
          "Upgrade: fluxq\r\n\r\n",
          true },
        { " HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: fluxq\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection: Upgrade\r\n\r\n", false },
        { " HTTP/1.1\r\nUpgrade: fluxq\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection: Upgrades\r\nUpgrade: fluxq\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: fluxq2\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: flux\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade:\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection:\r\nUpgrade: fluxq\r\n\r\n", false },
        { " HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: fluxq\r\nUpgrade: h2c\r\n\r\n",
          false },
    };
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        char text[256];
        snprintf (text, sizeof (text), "GET /v1/client%s", cases[i].headers);
        assert_int_equal (parse (text, &req), (ssize_t)strlen (text));
        assert_int_equal (req.upgrade, cases[i].upgrade);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_request_is_understood),
        cmocka_unit_test (a_part_is_never_taken_for_a_whole),
        cmocka_unit_test (what_a_proxy_could_read_in_another_way_is_refused),
        cmocka_unit_test (nothing_is_longer_than_its_bound),
        cmocka_unit_test (random_bytes_do_no_harm),
        cmocka_unit_test (doubled_and_empty_parameters_are_refused),
        cmocka_unit_test (a_signature_fits_one_request_only),
        cmocka_unit_test (only_a_whole_upgrade_is_one),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
