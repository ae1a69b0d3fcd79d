/* fuzz_agent_http.c - any bytes as a request to an agent; a whole head is found wherever the
 * bytes are divided, and nothing is read beyond it
 *
 * Parser: shell/io/http.c protocol/agent_api.c
 */
#include "fuzz.h"

#include "shell/io/http.h"

static const uint8_t key[AGENT_KEY_SIZE] = "key of the job";

static void check_query (const struct http_request *req)
{
    static const char *const names[] = { "offset", "signal", "whom", "" };
    char value[16];

    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        int rc = http_query (req, names[i], value, sizeof (value));
        assert (rc == 0 || rc == 1 || rc == -EINVAL);
        if (rc == 1)
            assert (value[0] && strlen (value) < sizeof (value)
                    && strstr (req->target, value));
    }
}

static void check (const struct http_request *req)
{
    char own[AGENT_AUTH_MAX], nonce[33];

    assert (req->method[0] && req->target[0] == '/');
    assert (req->path_len <= strlen (req->target) && req->minor >= 0 && req->minor <= 1);
    assert (strlen (req->auth) < AGENT_AUTH_MAX && (!req->upgrade || req->minor == 1));
    check_query (req);
    http_is (req, "GET", "/v1/status");
    assert (!agent_auth_check (key, req->method, req->target, req->auth, nonce));
    if (agent_auth_make (key, req->method, req->target, own) < 0) {
        assert (strlen (req->target) > 1000); /* no request of the broker is so long */
        return;
    }
    assert (agent_auth_check (key, req->method, req->target, own, nonce));
    own[0] = own[0] == '0' ? '1' : '0';
    assert (!agent_auth_check (key, req->method, req->target, own, nonce));
}

static void check_replies (const char *text)
{
    struct outbuf out = { 0 };

    http_reply (&out, 400, "text/plain", text);
    http_reply_stream (&out, true);
    http_reply_upgrade (&out);
    outbuf_release (&out);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static struct http_request req, part;
    autofree char *text = fuzz_text (data, size), *copy = NULL;
    uint8_t parsed[AGENT_KEY_SIZE];

    agent_key_parse (text, size, parsed);
    ssize_t n = http_parse (text, size, &req);
    assert (n == -EBADMSG || n == -E2BIG || (n >= 0 && (size_t)n <= size));
    if (n <= 0)
        return 0;
    check (&req);
    for (ssize_t len = 0; len < n; len += 1 + len / 8)
        assert (http_parse (text, (size_t)len, &part) <= 0);
    copy = fuzz_text (data, (size_t)n); /* without what follows the head */
    assert (http_parse (copy, (size_t)n, &part) == n
            && !strcmp (req.target, part.target));
    check_replies (text);
    return 0;
}
