/* http_parser.h - a push parser for HTTP/1.1 responses (RFC 9112)
 *
 *     struct http_parser p;
 *     http_parser_init (&p, is_head, on_body, arg);
 *     while (!http_parser_done (&p) && (n = read (...)) > 0)
 *         if (http_parser_feed (&p, buf, n, &err) < 0) ...
 *     if (n == 0)
 *         rc = http_parser_eof (&p, &err);
 *     http_parser_release (&p);
 *
 * The parser is strict where two readers could disagree about the end of a body:
 * conflicting lengths, both kinds of length, folded headers and unknown codings are
 * -EPROTO. Bounds: 32 KiB for all heads and trailers together and for each chunk's line,
 * 16 interim (1xx) responses. No input or output.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "common/strbuf.h"

#define HTTP_HEAD_MAX ((size_t)32 * 1024)

struct http_parser {
    enum http_parser_state {
        HTTP_STATUS_LINE,
        HTTP_HEADERS,
        HTTP_BODY_LENGTH,
        HTTP_BODY_TO_EOF,
        HTTP_CHUNK_SIZE,
        HTTP_CHUNK_DATA,
        HTTP_CHUNK_END,
        HTTP_TRAILERS,
        HTTP_DONE,
    } state;
    struct strbuf line; /* the part of the current line received so far */
    size_t head_bytes;
    unsigned interim;
    bool head_request;
    /* set after init: 101 ends the response, the following bytes are not HTTP */
    bool upgrade;
    int (*on_body) (const char *data, size_t len, void *arg);
    void *arg;
    uint64_t left; /* bytes left of the body or chunk */

    /* -- results -- */
    bool started; /* a byte has been received */
    int status;   /* valid in and after HTTP_BODY_ and HTTP_CHUNK_ states */
    bool chunked, has_length, close;
    uint64_t length;
    char content_type[64];
    int retry_after; /* seconds; 0: none */
    int stopped;     /* the result of on_body, when not 0 */
};

/* head_request: the response to HEAD has no body. on_body: gets each piece; a non-zero
 * result ends the response. */
void http_parser_init (struct http_parser *p, bool head_request,
                       int (*on_body) (const char *data, size_t len, void *arg),
                       void *arg);
void http_parser_release (struct http_parser *p);
/* Returns the number of bytes that belong to this response (less than len only at its
 * end), -EPROTO, or -ECANCELED when on_body ended it (p->stopped). */
ssize_t http_parser_feed (struct http_parser *p, const char *data, size_t len,
                          struct error *err);
/* The connection has ended: 0 when that completes the response, else -ECONNRESET. */
int http_parser_eof (struct http_parser *p, struct error *err);
bool http_parser_done (const struct http_parser *p);
