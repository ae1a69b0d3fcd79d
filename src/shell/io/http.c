/* http.c - a strict parser for the head of an HTTP request */
#include "shell/io/http.h"

#include <ctype.h>
#include <strings.h>

#include "common/macros.h"

static bool is_token (const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum ((unsigned char)s[i]) && !memchr ("!#$%&'*+-.^_`|~", s[i], 15))
            return false;
    return len > 0;
}

/* Whether s has only visible ASCII and, in the value of a header, blanks. */
static bool is_clean (const char *s, size_t len, bool blanks)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x7f || c < 0x20 ? !(blanks && (c == '\t' || c >= 0x80))
                                  : c == ' ' && !blanks)
            return false;
    }
    return true;
}

static int copy_text (char *to, size_t size, const char *from, size_t len)
{
    if (len >= size)
        return -E2BIG;
    memcpy (to, from, len);
    to[len] = '\0';
    return 0;
}

static int parse_request_line (const char *line, size_t len, struct http_request *req)
{
    const char *end = line + len;
    const char *blank = memchr (line, ' ', len);
    if (!blank || !is_token (line, (size_t)(blank - line)))
        return -EBADMSG;
    size_t method_len = (size_t)(blank - line);
    const char *target = blank + 1;
    blank = memchr (target, ' ', (size_t)(end - target));
    if (!blank)
        return -EBADMSG;
    size_t target_len = (size_t)(blank - target);
    const char *version = blank + 1;
    if (target_len == 0 || target[0] != '/' || !is_clean (target, target_len, false))
        return -EBADMSG;
    if (end - version != 8 || memcmp (version, "HTTP/1.", 7) != 0
        || (version[7] != '0' && version[7] != '1'))
        return -EBADMSG;
    req->minor = version[7] - '0';
    if (copy_text (req->method, sizeof (req->method), line, method_len) < 0)
        return -EBADMSG;
    if (copy_text (req->target, sizeof (req->target), target, target_len) < 0)
        return -E2BIG;
    req->path_len = strcspn (req->target, "?");
    return 0;
}

/* Whether a list of tokens (RFC 9110, 5.6.1) contains the word, in any case. */
static bool list_has (const char *list, size_t len, const char *word)
{
    size_t pos = 0;
    while (pos < len) {
        while (pos < len && strchr (" \t,", list[pos]))
            pos++;
        size_t start = pos;
        while (pos < len && !strchr (" \t,", list[pos]))
            pos++;
        if (pos - start == strlen (word)
            && strncasecmp (list + start, word, pos - start) == 0)
            return true;
    }
    return false;
}

/* The two headers that a request for another protocol needs. */
struct upgrade {
    bool connection, protocol;
};

static void note_upgrade (struct upgrade *u, const char *name, size_t name_len,
                          const char *value, size_t len)
{
    if (name_len == 10 && strncasecmp (name, "Connection", 10) == 0)
        u->connection = u->connection || list_has (value, len, "Upgrade");
    else if (name_len == 7 && strncasecmp (name, "Upgrade", 7) == 0)
        u->protocol = len == strlen (AGENT_PROTOCOL)
                      && strncasecmp (value, AGENT_PROTOCOL, len) == 0;
}

static int parse_header (const char *line, size_t len, struct http_request *req,
                         struct upgrade *upgrade)
{
    const char *colon = memchr (line, ':', len);
    if (!colon || !is_token (line, (size_t)(colon - line)))
        return -EBADMSG;
    size_t name_len = (size_t)(colon - line);
    const char *value = colon + 1;
    size_t value_len = len - name_len - 1;
    if (!is_clean (value, value_len, true))
        return -EBADMSG;
    while (value_len > 0 && (*value == ' ' || *value == '\t'))
        value++, value_len--;
    while (value_len > 0 && (value[value_len - 1] == ' ' || value[value_len - 1] == '\t'))
        value_len--;
    if (name_len == strlen (AGENT_AUTH_HEADER)
        && strncasecmp (line, AGENT_AUTH_HEADER, name_len) == 0) {
        if (req->auth[0] || value_len == 0)
            return -EBADMSG;
        return copy_text (req->auth, sizeof (req->auth), value, value_len);
    }
    note_upgrade (upgrade, line, name_len, value, value_len);
    if (name_len == 14 && strncasecmp (line, "Content-Length", 14) == 0)
        return value_len == 1 && *value == '0' ? 0 : -EBADMSG;
    if (name_len == 17 && strncasecmp (line, "Transfer-Encoding", 17) == 0)
        return -EBADMSG;
    return 0;
}

ssize_t http_parse (const char *buf, size_t len, struct http_request *ret)
{
    size_t pos = 0;
    struct upgrade upgrade = { 0 };
    *ret = (struct http_request){ 0 };
    for (bool first = true;; first = false) {
        const char *line = buf + pos;
        size_t avail = MIN (len, (size_t)HTTP_HEAD_MAX) - pos;
        const char *lf = memchr (line, '\n', avail);
        if (!lf)
            return memchr (line, '\0', avail) ? -EBADMSG
                   : len >= HTTP_HEAD_MAX     ? -E2BIG
                                              : 0;
        if (lf == line || lf[-1] != '\r')
            return -EBADMSG;
        size_t line_len = (size_t)(lf - line) - 1;
        pos += line_len + 2;
        if (line_len == 0) {
            ret->upgrade = ret->minor > 0 && upgrade.connection && upgrade.protocol;
            return first ? -EBADMSG : (ssize_t)pos;
        }
        int rc = first ? parse_request_line (line, line_len, ret)
                       : parse_header (line, line_len, ret, &upgrade);
        if (rc < 0)
            return rc;
    }
}

bool http_is (const struct http_request *req, const char *method, const char *path)
{
    return strcmp (req->method, method) == 0 && strlen (path) == req->path_len
           && memcmp (req->target, path, req->path_len) == 0;
}

int http_query (const struct http_request *req, const char *name, char *value,
                size_t size)
{
    size_t name_len = strlen (name);
    bool found = false;
    const char *p = req->target + req->path_len;
    while (*p) {
        p++; /* '?' or '&' */
        size_t len = strcspn (p, "&");
        if (len > name_len && p[name_len] == '=' && memcmp (p, name, name_len) == 0) {
            size_t value_len = len - name_len - 1;
            if (found || value_len == 0
                || copy_text (value, size, p + name_len + 1, value_len) < 0)
                return -EINVAL;
            found = true;
        }
        p += len;
    }
    return found;
}

static const char *reason_phrase (int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {
        { 200, "OK" },
        { 204, "No Content" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 404, "Not Found" },
        { 409, "Conflict" },
        { 503, "Service Unavailable" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Error";
}

void http_reply (struct outbuf *out, int status, const char *type, const char *body)
{
    char head[256];
    int n = snprintf (head, sizeof (head), "HTTP/1.1 %d %s\r\nConnection: close\r\n",
                      status, reason_phrase (status));
    outbuf_add (out, head, (size_t)n);
    if (body) {
        n = snprintf (head, sizeof (head), "Content-Type: %s\r\nContent-Length: %zu\r\n",
                      type, strlen (body));
        outbuf_add (out, head, (size_t)n);
    }
    outbuf_add (out, "\r\n", 2);
    if (body)
        outbuf_add (out, body, strlen (body));
}

void http_reply_stream (struct outbuf *out, bool chunked)
{
    const char *head = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
                       "Content-Type: application/octet-stream\r\n";
    outbuf_add (out, head, strlen (head));
    if (chunked)
        outbuf_add (out, "Transfer-Encoding: chunked\r\n", 28);
    outbuf_add (out, "\r\n", 2);
}

void http_reply_upgrade (struct outbuf *out)
{
    static const char head[] = "HTTP/1.1 101 Switching Protocols\r\n"
                               "Connection: Upgrade\r\n"
                               "Upgrade: " AGENT_PROTOCOL "\r\n\r\n";
    outbuf_add (out, head, sizeof (head) - 1);
}
