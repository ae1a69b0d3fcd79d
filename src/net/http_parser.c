/* http_parser.c - see http_parser.h
 *
 *     STATUS_LINE --> HEADERS --1xx--> STATUS_LINE
 *                        |--no body------------------------------> DONE
 *                        |--Content-Length--> BODY_LENGTH -------> DONE
 *                        |--neither---------> BODY_TO_EOF --eof--> DONE
 *                        '--chunked--> CHUNK_SIZE --0--> TRAILERS -> DONE
 *                                        ^     '--> CHUNK_DATA
 *                                        |              v
 *                                        '-------- CHUNK_END
 */
#include "net/http_parser.h"

#include <strings.h>

#define INTERIM_MAX 16

void http_parser_init (struct http_parser *p, bool head_request,
                       int (*on_body) (const char *data, size_t len, void *arg),
                       void *arg)
{
    memset (p, 0, sizeof (*p));
    strbuf_init (&p->line, HTTP_HEAD_MAX);
    p->head_request = head_request;
    p->on_body = on_body;
    p->arg = arg;
}

void http_parser_release (struct http_parser *p)
{
    strbuf_release (&p->line);
}

bool http_parser_done (const struct http_parser *p)
{
    return p->state == HTTP_DONE;
}

static int bad (struct error *err, const char *what)
{
    return error_set (err, EPROTO, "the broker's answer is not HTTP: %s", what);
}

static bool is_digit (char c)
{
    return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200 OK" */
static int status_line (struct http_parser *p, const char *line, struct error *err)
{
    if (strncmp (line, "HTTP/1.", 7) != 0 || !is_digit (line[7]) || line[8] != ' ')
        return bad (err, "no status line");
    for (int i = 9; i < 12; i++) {
        if (!is_digit (line[i]))
            return bad (err, "no status in the status line");
    }
    if (line[12] != ' ' && line[12] != '\0')
        return bad (err, "no status in the status line");
    p->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
    if (p->status < 100)
        return bad (err, "status below 100");
    p->close = line[7] == '0';
    p->state = HTTP_HEADERS;
    return 0;
}

/* Decimal digits only, below 10^18. */
static int parse_length (const char *value, uint64_t *ret)
{
    uint64_t n = 0;
    size_t len = strlen (value);

    if (len == 0 || len > 18)
        return -EINVAL;
    for (; *value; value++) {
        if (!is_digit (*value))
            return -EINVAL;
        n = n * 10 + (uint64_t)(*value - '0');
    }
    *ret = n;
    return 0;
}

static int header (struct http_parser *p, const char *name, const char *value,
                   struct error *err)
{
    uint64_t n;

    if (strcasecmp (name, "Content-Length") == 0) {
        if (parse_length (value, &n) < 0 || (p->has_length && n != p->length))
            return bad (err, "bad Content-Length");
        p->has_length = true;
        p->length = n;
    } else if (strcasecmp (name, "Transfer-Encoding") == 0) {
        if (strcasecmp (value, "chunked") != 0 || p->chunked)
            return bad (err, "unknown Transfer-Encoding");
        p->chunked = true;
    } else if (strcasecmp (name, "Connection") == 0) {
        p->close = p->close || strcasestr (value, "close") != NULL;
    } else if (strcasecmp (name, "Content-Type") == 0) {
        snprintf (p->content_type, sizeof (p->content_type), "%s", value);
    } else if (strcasecmp (name, "Retry-After") == 0) {
        p->retry_after = parse_length (value, &n) < 0 ? 0 : (int)MIN (n, 86400U);
    }
    return 0;
}

static int header_line (struct http_parser *p, char *line, struct error *err)
{
    char *colon = strchr (line, ':');

    if (!colon || colon == line)
        return bad (err, "a header without a name");
    for (const char *s = line; s < colon; s++) {
        if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f)
            return bad (err, "a header's name with a blank in it");
    }
    *colon = '\0';
    char *value = colon + 1 + strspn (colon + 1, " \t");
    size_t len = strlen (value);
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        value[--len] = '\0';
    return header (p, line, value, err);
}

static int end_of_headers (struct http_parser *p, struct error *err)
{
    if (p->status == 101 && p->upgrade) {
        p->state = HTTP_DONE;
        return 0;
    }
    if (p->status < 200) {
        if (p->status == 101 || ++p->interim > INTERIM_MAX)
            return bad (err, "interim responses without end");
        p->state = HTTP_STATUS_LINE;
        p->chunked = p->has_length = p->close = false;
        p->content_type[0] = '\0';
        p->retry_after = 0;
        return 0;
    }
    if (p->chunked && p->has_length)
        return bad (err, "two kinds of length");
    p->left = p->length;
    if (p->head_request || p->status == 204 || p->status == 304)
        p->state = HTTP_DONE;
    else if (p->chunked)
        p->state = HTTP_CHUNK_SIZE;
    else if (!p->has_length)
        p->state = HTTP_BODY_TO_EOF;
    else
        p->state = p->length > 0 ? HTTP_BODY_LENGTH : HTTP_DONE;
    if (p->state == HTTP_BODY_TO_EOF)
        p->close = true;
    return 0;
}

/* Hexadecimal, at most 15 digits, perhaps an extension after ';'. */
static int chunk_size (struct http_parser *p, const char *line, struct error *err)
{
    uint64_t n = 0;
    size_t digits = strspn (line, "0123456789abcdefABCDEF");
    const char *rest = line + digits + strspn (line + digits, " \t");

    if (digits == 0 || digits > 15 || (*rest != '\0' && *rest != ';'))
        return bad (err, "bad chunk size");
    for (size_t i = 0; i < digits; i++) {
        char c = line[i];
        n = n * 16 + (uint64_t)(is_digit (c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    p->left = n;
    p->state = n > 0 ? HTTP_CHUNK_DATA : HTTP_TRAILERS;
    return 0;
}

static int whole_line (struct http_parser *p, char *line, struct error *err)
{
    switch (p->state) {
    case HTTP_STATUS_LINE:
        return status_line (p, line, err);
    case HTTP_HEADERS:
        return *line ? header_line (p, line, err) : end_of_headers (p, err);
    case HTTP_CHUNK_SIZE:
        return chunk_size (p, line, err);
    case HTTP_CHUNK_END:
        p->state = HTTP_CHUNK_SIZE;
        return *line ? bad (err, "a chunk longer than its size") : 0;
    case HTTP_TRAILERS:
        if (*line == '\0')
            p->state = HTTP_DONE;
        return 0;
    default:
        return bad (err, "internal state");
    }
}

/* Takes bytes up to the end of the line; returns their number, or -EPROTO. */
static ssize_t feed_line (struct http_parser *p, const char *data, size_t len,
                          struct error *err)
{
    const char *end = memchr (data, '\n', len);
    size_t n = end ? (size_t)(end - data) + 1 : len;
    bool in_head = p->state != HTTP_CHUNK_SIZE && p->state != HTTP_CHUNK_END;

    if (in_head)
        p->head_bytes += n;
    if (p->head_bytes > HTTP_HEAD_MAX || p->line.len + n > HTTP_HEAD_MAX)
        return bad (err, "its head is larger than 32 KiB");
    if (strbuf_add (&p->line, data, n) < 0)
        return error_set (err, ENOMEM, "out of memory");
    if (!end)
        return (ssize_t)n;
    size_t size = p->line.len - 1;
    if (size > 0 && p->line.buf[size - 1] == '\r')
        size--;
    p->line.buf[size] = '\0';
    if (memchr (p->line.buf, '\0', size) || memchr (p->line.buf, '\r', size))
        return bad (err, "control characters in its head");
    int rc = whole_line (p, p->line.buf, err);
    strbuf_reset (&p->line);
    return rc < 0 ? rc : (ssize_t)n;
}

static ssize_t feed_body (struct http_parser *p, const char *data, size_t len,
                          struct error *err)
{
    size_t n = p->state == HTTP_BODY_TO_EOF ? len : (size_t)MIN (p->left, (uint64_t)len);

    p->stopped = p->on_body (data, n, p->arg);
    if (p->stopped)
        return error_set (err, ECANCELED, "stopped");
    if (p->state == HTTP_BODY_TO_EOF)
        return (ssize_t)n;
    p->left -= n;
    if (p->left == 0)
        p->state = p->state == HTTP_CHUNK_DATA ? HTTP_CHUNK_END : HTTP_DONE;
    return (ssize_t)n;
}

ssize_t http_parser_feed (struct http_parser *p, const char *data, size_t len,
                          struct error *err)
{
    size_t used = 0;

    p->started = p->started || len > 0;
    while (used < len && p->state != HTTP_DONE) {
        bool body = p->state == HTTP_BODY_LENGTH || p->state == HTTP_BODY_TO_EOF
                    || p->state == HTTP_CHUNK_DATA;
        ssize_t n = body ? feed_body (p, data + used, len - used, err)
                         : feed_line (p, data + used, len - used, err);
        if (n < 0)
            return n;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

int http_parser_eof (struct http_parser *p, struct error *err)
{
    if (p->state == HTTP_BODY_TO_EOF)
        p->state = HTTP_DONE;
    if (p->state == HTTP_DONE)
        return 0;
    return error_set (err, ECONNRESET, "the broker closed the connection %s",
                      p->started ? "in the middle of its answer" : "before it answered");
}
