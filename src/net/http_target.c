/* http_target.c - the path and the query parameters of a request target (RFC 3986) */
#include <errno.h>
#include <string.h>

#include "net/http_private.h"

static int hex_digit (char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX (and '+' as a blank in a query) in place; a NUL or a malformed escape is
 * -EINVAL. */
static int decode (char *s, bool query)
{
    char *out = s;

    for (; *s; s++) {
        if (*s == '+' && query) {
            *out++ = ' ';
        } else if (*s != '%') {
            *out++ = *s;
        } else {
            int high = hex_digit (s[1]);
            int low = high >= 0 ? hex_digit (s[2]) : -1;
            if (low < 0 || high + low == 0)
                return -EINVAL;
            *out++ = (char)(high * 16 + low);
            s += 2;
        }
    }
    *out = '\0';
    return 0;
}

static int parse_query (struct http_request *req)
{
    size_t n = 1;
    char *rest = req->query_text;

    for (const char *p = rest; *p; p++)
        n += *p == '&';
    req->params = calloc (n, sizeof (*req->params));
    if (!req->params)
        return -ENOMEM;
    while (rest) {
        char *name = strsep (&rest, "&");
        char *value = name;
        if (*name == '\0')
            continue;
        strsep (&value, "=");
        if (decode (name, true) < 0 || (value && decode (value, true) < 0))
            return -EINVAL;
        req->params[req->nparams].name = name;
        req->params[req->nparams++].value = value ? value : "";
    }
    return 0;
}

int http_request_parse_target (struct http_request *req)
{
    if (req->target[0] != '/')
        return -EINVAL;
    req->path = strdup (req->target);
    if (!req->path)
        return -ENOMEM;
    char *query = strchr (req->path, '?');
    if (query) {
        *query++ = '\0';
        req->query_text = strdup (query);
        if (!req->query_text)
            return -ENOMEM;
        int rc = parse_query (req);
        if (rc < 0)
            return rc;
    }
    return decode (req->path, false);
}

const char *http_request_query (const struct http_request *req, const char *name)
{
    for (size_t i = 0; i < req->nparams; i++) {
        if (strcmp (req->params[i].name, name) == 0)
            return req->params[i].value;
    }
    return NULL;
}

const char *http_request_query_name (const struct http_request *req, size_t n)
{
    return n < req->nparams ? req->params[n].name : NULL;
}
