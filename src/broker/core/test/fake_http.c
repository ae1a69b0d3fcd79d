/* fake_http.c - see fake_http.h */
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "broker/api/api.h"
#include "common/strbuf.h"

#define ANSWER_MAX (16 << 20)

enum phase { ASKED, STREAMING, SWITCHING, UPGRADED, ANSWERED };

struct http_request {
    struct client client; /* the first member */
    enum phase phase;
    bool gone; /* the client has closed */
    uid_t uid;
    char *method, *path, *body;
    json_t *query, *headers;
    struct strbuf answer;
    size_t unsent;
    int fd;          /* the broker's end */
    void *aux, *arg; /* for the handler; for the functions below */
    struct broker *b;
    http_answered_f observer;
    void *note;
    void (*free_aux) (void *);
    void (*on_close) (struct http_request *req, void *arg);
    void (*on_drain) (struct http_request *req, void *arg);
    http_upgraded_f on_switched;
    struct http_request *next;
};

static struct http_request *requests;
static http_answered_f observer; /* of later requests; or NULL */

static void expect (const struct http_request *r, enum phase phase, const char *call)
{
    if (r->phase != phase)
        fail_msg ("%s %s: %s() in phase %d", r->method, r->path, call, (int)r->phase);
}

/* -- the client's side -- */

static json_t *parse_query (char *text)
{
    json_t *o = json_object ();
    char *word;

    while (text && (word = strsep (&text, "&"))) {
        const char *name = strsep (&word, "=");
        json_object_set_new (o, name, json_string (word ? word : ""));
    }
    return o;
}

static json_t *parse_headers (char *text)
{
    json_t *o = json_object ();
    char *line;

    while (text && (line = strsep (&text, "\n"))) {
        const char *name = strsep (&line, ":");
        json_object_set_new (o, name, json_string (line ? line + 1 : ""));
    }
    return o;
}

static void show_answer (struct http_request *r)
{
    r->client.text = r->answer.buf ? r->answer.buf : "";
}

struct client *client_ask (struct small *s, uid_t uid, const char *head, const char *body)
{
    long countdown = small_spare ();
    struct http_request *r = calloc (1, sizeof (*r));
    char *copy = strdup (head), *rest = copy;

    assert_true (r && copy);
    char *target = strsep (&rest, "\n");
    r->method = strdup (strsep (&target, " "));
    r->path = strdup (strsep (&target, "?"));
    r->query = parse_query (target);
    r->headers = parse_headers (rest);
    r->body = strdup (body ? body : "");
    free (copy);
    r->uid = uid;
    r->b = s->b;
    r->observer = observer;
    r->fd = r->client.fd = -1;
    strbuf_init (&r->answer, ANSWER_MAX);
    show_answer (r);
    LL_APPEND (requests, r);
    small_resume (countdown);
    api_handle (r, s->b);
    return &r->client;
}

struct client *client_call (struct small *s, uid_t uid, const char *head,
                            const char *body)
{
    struct client *c = client_ask (s, uid, head, body);

    small_turn (s);
    return c;
}

void client_take (struct client *c)
{
    struct http_request *r = (struct http_request *)c;
    bool drained = r->unsent > 0;

    strbuf_reset (&r->answer);
    show_answer (r);
    r->unsent = 0;
    if (drained && r->phase == STREAMING && r->on_drain)
        r->on_drain (r, r->arg);
}

void client_switch (struct client *c, const char *early)
{
    struct http_request *r = (struct http_request *)c;
    int fds[2];

    expect (r, SWITCHING, __func__);
    assert_int_equal (
        socketpair (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    r->phase = UPGRADED;
    r->client.status = 101;
    r->client.fd = fds[0];
    r->fd = fds[1];
    r->on_switched (r, r->fd, early, strlen (early), r->arg);
}

static void answered (struct http_request *r, int status)
{
    r->client.status = status;
    r->client.ended = true;
    r->phase = ANSWERED;
    if (r->free_aux)
        r->free_aux (r->aux);
}

void client_leave (struct client *c)
{
    struct http_request *r = (struct http_request *)c;
    enum phase phase = r->phase;

    r->gone = true;
    if (phase == ASKED || phase == UPGRADED || phase == ANSWERED)
        return;
    answered (r, r->client.status);
    if (phase == STREAMING)
        r->on_close (r, r->arg);
    else
        r->on_switched (NULL, -1, NULL, 0, r->arg);
}

void fake_http_stop (void)
{
    struct http_request *r;

    LL_FOREACH (requests, r) {
        client_leave (&r->client);
    }
}

void fake_http_end (void)
{
    struct http_request *r, *next;

    LL_FOREACH_SAFE (requests, r, next)
    {
        if (r->phase != ANSWERED)
            fail_msg ("%s %s: no answer", r->method, r->path);
        json_decref (r->query);
        json_decref (r->headers);
        strbuf_release (&r->answer);
        if (r->client.fd >= 0)
            close (r->client.fd);
        free (r->method);
        free (r->path);
        free (r->body);
        free (r->note);
        free (r);
    }
    requests = NULL;
    observer = NULL;
}

/* -- replacements of the server's functions for the linker -- */

void __wrap_http_server_set_observer (struct http_server *s, http_answered_f fn);
bool __wrap_http_request_is_observed (const struct http_request *r);
void __wrap_http_request_set_note (struct http_request *r, void *note);
void *__wrap_http_request_note (const struct http_request *r);
const char *__wrap_http_request_by (const struct http_request *r);
const char *__wrap_http_request_from (const struct http_request *r,
                                      char buf[HTTP_FROM_SIZE]);
const char *__wrap_http_request_method (const struct http_request *r);
const char *__wrap_http_request_path (const struct http_request *r);
const char *__wrap_http_request_query (const struct http_request *r, const char *name);
const char *__wrap_http_request_header (const struct http_request *r, const char *name);
const char *__wrap_http_request_body (const struct http_request *r, size_t *ret_len);
uid_t __wrap_http_request_uid (const struct http_request *r);
void __wrap_http_request_set_aux (struct http_request *r, void *aux,
                                  void (*free_fn) (void *));
void __wrap_http_reply (struct http_request *r, int status, const char *content_type,
                        const char *body, size_t len);
void __wrap_http_reply_take (struct http_request *r, int status, const char *content_type,
                             char *body, size_t len);
void __wrap_http_reply_problem (struct http_request *r, int status, const char *code,
                                const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));
void __wrap_http_reply_header (struct http_request *r, const char *name,
                               const char *value);
void __wrap_http_stream_begin (struct http_request *r, const char *content_type,
                               void (*on_close) (struct http_request *req, void *arg),
                               void *arg);
int __wrap_http_stream_write (struct http_request *r, const void *data, size_t len);
size_t __wrap_http_stream_unsent (const struct http_request *r);
void __wrap_http_stream_on_drain (struct http_request *r,
                                  void (*on_drain) (struct http_request *req, void *arg));
void __wrap_http_stream_end (struct http_request *r);
bool __wrap_http_request_wants_upgrade (const struct http_request *r,
                                        const char *protocol);
void __wrap_http_upgrade (struct http_request *r, const char *protocol,
                          http_upgraded_f fn, void *arg);
void __wrap_http_upgraded_close (struct http_request *r);

void __wrap_http_server_set_observer (struct http_server *s, http_answered_f fn)
{
    (void)s;
    observer = fn;
}

bool __wrap_http_request_is_observed (const struct http_request *r)
{
    return r->observer;
}

void __wrap_http_request_set_note (struct http_request *r, void *note)
{
    free (r->note);
    r->note = note;
}

void *__wrap_http_request_note (const struct http_request *r)
{
    return r->note;
}

const char *__wrap_http_request_by (const struct http_request *r)
{
    const char *by = json_string_value (json_object_get (r->headers, "By"));

    return by ? by : "socket";
}

const char *__wrap_http_request_from (const struct http_request *r,
                                      char buf[HTTP_FROM_SIZE])
{
    (void)r;
    snprintf (buf, HTTP_FROM_SIZE, "pid 7");
    return buf;
}

static void observe (struct http_request *r, int status, const char *code)
{
    if (r->observer)
        r->observer (r, status, code, r->b);
    r->observer = NULL;
}

const char *__wrap_http_request_method (const struct http_request *r)
{
    return r->method;
}

const char *__wrap_http_request_path (const struct http_request *r)
{
    return r->path;
}

const char *__wrap_http_request_query (const struct http_request *r, const char *name)
{
    return json_string_value (json_object_get (r->query, name));
}

const char *__wrap_http_request_header (const struct http_request *r, const char *name)
{
    return r->gone ? NULL : json_string_value (json_object_get (r->headers, name));
}

const char *__wrap_http_request_body (const struct http_request *r, size_t *ret_len)
{
    *ret_len = strlen (r->body);
    return r->body;
}

uid_t __wrap_http_request_uid (const struct http_request *r)
{
    assert_int_not_equal (r->phase, ANSWERED);
    return r->uid;
}

void __wrap_http_request_set_aux (struct http_request *r, void *aux,
                                  void (*free_fn) (void *))
{
    expect (r, ASKED, __func__);
    r->aux = aux;
    r->free_aux = free_fn;
}

static void add (struct http_request *r, const char *data, size_t len)
{
    long countdown = small_spare ();

    strbuf_add (&r->answer, data, len);
    assert_int_equal (r->answer.err, 0);
    show_answer (r);
    small_resume (countdown);
}

void __wrap_http_reply (struct http_request *r, int status, const char *content_type,
                        const char *body, size_t len)
{
    (void)content_type;
    expect (r, ASKED, __func__);
    observe (r, status, NULL);
    add (r, body, len);
    answered (r, status);
}

void __wrap_http_reply_take (struct http_request *r, int status, const char *content_type,
                             char *body, size_t len)
{
    __wrap_http_reply (r, status, content_type, body, len);
    free (body);
}

void __wrap_http_reply_problem (struct http_request *r, int status, const char *code,
                                const char *fmt, ...)
{
    char text[2000];
    va_list ap;

    snprintf (text, sizeof (text), "%s: ", code);
    size_t len = strlen (text);
    va_start (ap, fmt);
    vsnprintf (text + len, sizeof (text) - len, fmt, ap);
    va_end (ap);
    observe (r, status, code);
    __wrap_http_reply (r, status, NULL, text, strlen (text));
}

void __wrap_http_reply_header (struct http_request *r, const char *name,
                               const char *value)
{
    expect (r, ASKED, __func__);
    snprintf (r->client.header, sizeof (r->client.header), "%s: %s", name, value);
}

void __wrap_http_stream_begin (struct http_request *r, const char *content_type,
                               void (*on_close) (struct http_request *req, void *arg),
                               void *arg)
{
    (void)content_type;
    expect (r, ASKED, __func__);
    observe (r, 200, NULL);
    r->phase = STREAMING;
    r->client.status = 200;
    r->on_close = on_close;
    r->arg = arg;
}

int __wrap_http_stream_write (struct http_request *r, const void *data, size_t len)
{
    expect (r, STREAMING, __func__);
    add (r, data, len);
    r->unsent += len;
    return 0;
}

size_t __wrap_http_stream_unsent (const struct http_request *r)
{
    return r->unsent;
}

void __wrap_http_stream_on_drain (struct http_request *r,
                                  void (*on_drain) (struct http_request *req, void *arg))
{
    expect (r, STREAMING, __func__);
    r->on_drain = on_drain;
}

void __wrap_http_stream_end (struct http_request *r)
{
    expect (r, STREAMING, __func__);
    answered (r, 200);
}

bool __wrap_http_request_wants_upgrade (const struct http_request *r,
                                        const char *protocol)
{
    const char *wanted = __wrap_http_request_header (r, "Upgrade");

    return wanted && !strcmp (wanted, protocol);
}

void __wrap_http_upgrade (struct http_request *r, const char *protocol,
                          http_upgraded_f fn, void *arg)
{
    (void)protocol;
    expect (r, ASKED, __func__);
    observe (r, 101, NULL);
    r->phase = SWITCHING;
    r->on_switched = fn;
    r->arg = arg;
    if (r->gone)
        client_leave (&r->client);
}

void __wrap_http_upgraded_close (struct http_request *r)
{
    expect (r, UPGRADED, __func__);
    close (r->fd);
    answered (r, 101);
}
