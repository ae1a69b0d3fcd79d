/* fuzz_http_target.c - any text as the target of a request: its path and its query
 *
 * Parser: net/http_target.c
 * Nothing grows by decoding, no part has a NUL inside, and each parameter is found by its name.
 */
#include "fuzz.h"

#include "net/http_private.h"

static void check (const struct http_request *req, size_t size)
{
    size_t total = strlen (req->path);

    for (size_t i = 0; i < req->nparams; i++) {
        const char *name = http_request_query_name (req, i);
        assert (name == req->params[i].name && http_request_query (req, name));
        total += strlen (name) + strlen (req->params[i].value);
    }
    assert (total <= size && !http_request_query_name (req, req->nparams));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct http_request req = { .target = fuzz_text (data, size) };

    int rc = http_request_parse_target (&req);
    assert (rc == 0 || rc == -EINVAL);
    if (rc == 0)
        check (&req, size);
    free (req.target);
    free (req.path);
    free (req.query_text);
    free (req.params);
    return 0;
}
