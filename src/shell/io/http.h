/* http.h - the part of HTTP/1.1 (RFC 9112) that an agent serves
 *
 *     struct http_request req;
 *     ssize_t n = http_parse (buf, len, &req);   // > 0: size of the head; 0: incomplete
 *     if (http_query (&req, "offset", value, sizeof (value)) == 1) ...
 *     http_reply (&out, 200, "application/json", "{}\n");
 *
 * One request for each connection, no body, a head of at most 8 KiB. Input that a proxy
 * in front might read differently (bare CR or LF, folded lines, blanks before the colon,
 * bodies, a second authentication header) is refused, not repaired. No input or output
 * here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "protocol/agent_api.h"
#include "shell/io/wire.h"

#define HTTP_HEAD_MAX 8192
#define HTTP_TARGET_MAX 4096

struct http_request {
    char method[8];
    char target[HTTP_TARGET_MAX]; /* as sent: path and query */
    size_t path_len;              /* of target, without the query */
    int minor;                    /* HTTP/1.minor, 0 or 1 */
    char auth[AGENT_AUTH_MAX];    /* value of AGENT_AUTH_HEADER, "" if absent */
    bool upgrade; /* HTTP/1.1, "Connection: Upgrade" and "Upgrade: " AGENT_PROTOCOL */
};

/* Parses the head of a request. > 0: its size; 0: incomplete; -EBADMSG: not an acceptable
 * request; -E2BIG: beyond the bounds above. */
ssize_t http_parse (const char *buf, size_t len, struct http_request *ret);
bool http_is (const struct http_request *req, const char *method, const char *path);
/* Copies the value of a query parameter literally (no parameter needs percent codes). 1;
 * 0: absent; -EINVAL: empty, repeated, or longer than size. */
int http_query (const struct http_request *req, const char *name, char *value,
                size_t size);
/* Appends a whole reply with `Connection: close`; body NULL: none. */
void http_reply (struct outbuf *out, int status, const char *type, const char *body);
/* Appends the head of a streamed reply: chunks (HTTP/1.1), or bytes until the connection
 * closes. */
void http_reply_stream (struct outbuf *out, bool chunked);
/* Appends the answer to an upgrade; after it the connection speaks AGENT_PROTOCOL. */
void http_reply_upgrade (struct outbuf *out);
