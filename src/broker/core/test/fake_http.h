/* fake_http.h - requests of the HTTP API without a server, for unit tests of services
 *
 *     struct client *c = client_ask (s, 1000, "POST /v1/jobs?urgency=3\nIdempotency-Key: a",
 *                                    "{...}");
 *     small_turn (s);
 *     assert_int_equal (c->status, 201);
 *     assert_string_equal (c->text, "{\"id\":1}");
 *
 * The linker gives these functions instead of those of net/http_server.h (SMALL_FLAGS).
 * The rules of that header are checked: a request gets one answer, and is not used after
 * the answer; small_destroy() finds none without an answer. Requests live until then.
 */
#pragma once

#include "broker/core/test/small.h"

/* The client of a request, with the answer that it has received. */
struct client {
    int status;       /* 0: no answer yet; 200 for a stream */
    bool ended;       /* nothing follows */
    const char *text; /* the body so far; for a problem "CODE: DETAIL" */
    char header[80];  /* the last one of the answer: "Retry-After: 1" */
    int fd;           /* after a 101: the client's end of the connection; else -1.
                      * A test that closes it sets it to -1 */
};

/* Hands a request to the broker. head: its first line, and header lines; body may be
 * NULL. A line "By: munge" says how the caller is known, in place of the socket. */
struct client *client_ask (struct small *s, uid_t uid, const char *head,
                           const char *body);
/* client_ask(), and then a turn of the loop. */
struct client *client_call (struct small *s, uid_t uid, const char *head,
                            const char *body);
/* The client reads everything that was written to its stream: the text is empty again. */
void client_take (struct client *c);
/* The answer 101 has been sent: the connection has another protocol now. early: bytes that
 * the client has sent with its request. */
void client_switch (struct client *c, const char *early);
/* The client goes; of an upgraded connection it closes fd instead. */
void client_leave (struct client *c);

/* The server ends: streams are closed. */
void fake_http_stop (void);
/* Frees all requests. */
void fake_http_end (void);
