/* fuzz_http_client.c - the answer of a hostile broker to the client's parser.
 *
 * Parser: net/http_parser.c
 *
 * The first byte sets the division of the rest: the result must equal that of the
 * undivided text. The parser needs only src/common, so its source is simply included.
 */
#include "net/http_parser.c"

struct result {
    int rc, status;
    size_t len;
    unsigned sum;
};

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static int on_body (const char *data, size_t len, void *arg)
{
    struct result *r = arg;

    for (size_t i = 0; i < len; i++)
        r->sum = r->sum * 31 + (unsigned char)data[i];
    r->len += len;
    return 0;
}

static struct result parse (const char *data, size_t size, size_t step, bool head)
{
    struct result r = { 0 };
    struct http_parser p;
    struct error err = { 0 };

    http_parser_init (&p, head, on_body, &r);
    for (size_t at = 0; at < size && r.rc == 0 && !http_parser_done (&p); at += step) {
        ssize_t n = http_parser_feed (&p, data + at, MIN (step, size - at), &err);
        r.rc = n < 0 ? (int)n : 0;
    }
    if (r.rc == 0)
        r.rc = http_parser_eof (&p, &err);
    r.status = p.status;
    if (r.rc < 0 && err.text[0] == '\0')
        abort ();
    http_parser_release (&p);
    return r;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *text = (const char *)data + 1;
    bool head = data[0] & 0x80;
    struct result whole = parse (text, size - 1, size, head);
    struct result steps = parse (text, size - 1, 1 + (data[0] & 0x7f), head);
    if (whole.rc != steps.rc)
        abort ();
    if (whole.rc == 0
        && (whole.status != steps.status || whole.len != steps.len
            || whole.sum != steps.sum))
        abort ();
    return 0;
}
