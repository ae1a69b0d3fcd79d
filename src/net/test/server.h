/* server.h - an HTTP server in a thread of its own, for the tests of src/net
 *
 * It serves: /echo (method, target, uid, body), /later?ms=N (the same from a timer),
 * /hold (answers when /release comes), /stream?n=N&size=S (N pieces), /follow (a stream
 * without end; one piece for each /tick), /flood (writes until the client is too slow),
 * /drain?n=N (one piece for each drain), /upgrade (another protocol: returns every byte,
 * until the client or a "q" ends it), /counts (counts of events so far), /admit (the number
 * of a descriptor: a guest's connection), /guest (the caller's uid and guest), /answers (a
 * line for each answer, as the server's observer has seen it).
 */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "common/clock.h"
#include "common/io.h"
#include "common/strbuf.h"
#include "net/http_private.h"

#define DEADLINE 30.0 /* seconds; a wait that takes longer has failed */

struct test_upgraded {
    struct test_server *s;
    struct http_request *req;
    int fd;
    uv_poll_t poll;
    struct test_upgraded *next;
};

struct test_server {
    char dir[64];
    char path[96];
    char url[128];
    char tcp[64]; /* "http://127.0.0.1:PORT" or "" */
    pthread_t thread;
    uv_loop_t loop;
    uv_async_t stop;
    struct http_server *http;
    struct http_request *held, *follower;
    size_t flooded;
    struct strbuf answers;
    struct test_upgraded *upgraded;
    int requests, closes, drains, freed, slow, upgrades, lost; /* counts */
};

static inline void test_echo (struct http_request *req)
{
    struct strbuf sb;
    size_t len;
    const char *body = http_request_body (req, &len);
    const char *q = http_request_query (req, "q");

    strbuf_init (&sb, 16 * 1024 * 1024);
    strbuf_addf (&sb, "%s %s uid=%u q=%s body=", http_request_method (req),
                 http_request_path (req), (unsigned)http_request_uid (req), q ? q : "-");
    strbuf_add (&sb, body, len);
    size_t n = sb.len;
    http_reply_header (req, "X-Test", "yes");
    http_reply_take (req, 200, "text/plain", strbuf_detach (&sb), n);
}

/* Answers "FD": the other end of a connection that the server has admitted for a guest of
 * the user 12345. */
static inline void test_admit (struct test_server *s, struct http_request *req)
{
    char text[32];
    int fds[2];

    assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal (http_server_admit (s->http, fds[0], 12345, 77, "afar"), 0);
    snprintf (text, sizeof (text), "%d", fds[1]);
    http_reply (req, 200, "text/plain", text, strlen (text));
}

static inline void test_guest (struct http_request *req)
{
    char text[64];

    snprintf (text, sizeof (text), "uid %u guest %ju", (unsigned)http_request_uid (req),
              (uintmax_t)http_request_guest (req));
    http_reply (req, 200, "text/plain", text, strlen (text));
}

static inline void test_timer_closed (uv_handle_t *handle)
{
    free (handle);
}

static inline void test_on_later (uv_timer_t *timer)
{
    test_echo (timer->data);
    uv_close ((uv_handle_t *)timer, test_timer_closed);
}

static inline uint64_t test_number (const struct http_request *req, const char *name)
{
    const char *text = http_request_query (req, name);

    return text ? strtoull (text, NULL, 10) : 0;
}

static inline void test_later (struct test_server *s, struct http_request *req)
{
    uv_timer_t *timer = calloc (1, sizeof (*timer));

    uv_timer_init (&s->loop, timer);
    timer->data = req;
    uv_timer_start (timer, test_on_later, test_number (req, "ms"), 0);
}

static inline void test_on_close (struct http_request *req, void *arg)
{
    struct test_server *s = arg;

    s->closes++;
    if (s->follower == req)
        s->follower = NULL;
}

static inline void test_stream (struct test_server *s, struct http_request *req)
{
    static char piece[4 * 1024 * 1024];
    size_t size = test_number (req, "size");

    memset (piece, 's', sizeof (piece));
    http_stream_begin (req, "application/x-ndjson", test_on_close, s);
    for (uint64_t n = test_number (req, "n"); n > 0; n--)
        http_stream_write (req, piece, MIN (size, sizeof (piece)));
    http_stream_end (req);
}

static inline void test_on_flood (uv_timer_t *timer)
{
    struct test_server *s = timer->loop->data;
    static const char piece[65536];
    int rc = http_stream_write (timer->data, piece, sizeof (piece));

    if (rc == 0)
        s->flooded += sizeof (piece);
    if (rc == -EPIPE) { /* on_close is called by itself */
        s->slow++;
        uv_close ((uv_handle_t *)timer, test_timer_closed);
    }
}

static inline void test_flood (struct test_server *s, struct http_request *req)
{
    uv_timer_t *timer = calloc (1, sizeof (*timer));

    uv_timer_init (&s->loop, timer);
    timer->data = req;
    http_stream_begin (req, NULL, test_on_close, s);
    uv_timer_start (timer, test_on_flood, 1, 1);
}

struct test_drain {
    struct test_server *s;
    uint64_t left;
};

static inline void test_on_drain (struct http_request *req, void *arg)
{
    static char piece[300000];
    struct test_server *s = arg;
    struct test_drain *d = req->aux;

    s->drains++;
    assert_int_equal (http_stream_unsent (req), 0);
    memset (piece, 'd', sizeof (piece));
    if (d->left-- > 0)
        http_stream_write (req, piece, sizeof (piece));
    else
        http_stream_end (req);
}

static inline void test_aux_free (void *aux)
{
    struct test_drain *d = aux;

    d->s->freed++;
    free (d);
}

static inline void test_drain (struct test_server *s, struct http_request *req)
{
    struct test_drain *d = calloc (1, sizeof (*d));

    d->s = s;
    d->left = test_number (req, "n");
    http_request_set_aux (req, d, test_aux_free);
    http_stream_begin (req, NULL, test_on_close, s);
    http_stream_on_drain (req, test_on_drain);
    http_stream_write (req, "x", 1);
}

static inline void test_upgraded_freed (uv_handle_t *handle)
{
    free (handle->data);
}

static inline void test_upgraded_end (struct test_upgraded *u)
{
    struct test_upgraded **at = &u->s->upgraded;

    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    uv_poll_stop (&u->poll);
    http_upgraded_close (u->req);
    uv_close ((uv_handle_t *)&u->poll, test_upgraded_freed);
}

static inline void test_on_upgraded_ready (uv_poll_t *poll, int status, int events)
{
    struct test_upgraded *u = poll->data;
    char buf[4096];
    ssize_t n = recv (u->fd, buf, sizeof (buf), 0);

    (void)status;
    (void)events;
    if (n > 0 && send (u->fd, buf, (size_t)n, MSG_NOSIGNAL) == n
        && !memchr (buf, 'q', (size_t)n))
        return;
    if (n >= 0 || errno != EAGAIN)
        test_upgraded_end (u);
}

static inline void test_on_upgraded (struct http_request *req, int fd, const char *data,
                                     size_t len, void *arg)
{
    struct test_server *s = arg;

    if (!req) {
        s->lost++;
        return;
    }
    struct test_upgraded *u = calloc (1, sizeof (*u));
    *u = (struct test_upgraded){ .s = s, .req = req, .fd = fd, .next = s->upgraded };
    s->upgraded = u;
    s->upgrades++;
    uv_poll_init (&s->loop, &u->poll, fd);
    u->poll.data = u;
    uv_poll_start (&u->poll, UV_READABLE, test_on_upgraded_ready);
    if (len > 0)
        assert_int_equal (send (fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

static inline void test_upgrade (struct test_server *s, struct http_request *req)
{
    if (http_request_wants_upgrade (req, "fluxq"))
        http_upgrade (req, "fluxq", test_on_upgraded, s);
    else
        http_reply_problem (req, 426, "upgrade-required", "no upgrade is asked for");
}

static inline void test_counts (struct test_server *s, struct http_request *req)
{
    struct strbuf sb;
    uint64_t turns, stalls;

    http_server_count (s->http, &turns, &stalls);
    strbuf_init (&sb, 4096);
    strbuf_addf (&sb,
                 "requests=%d closes=%d drains=%d freed=%d slow=%d follower=%d "
                 "upgrades=%d lost=%d open=%d held=%d stalls=%ju",
                 s->requests, s->closes, s->drains, s->freed, s->slow,
                 s->follower != NULL, s->upgrades, s->lost, s->upgraded != NULL,
                 s->held != NULL, (uintmax_t)stalls);
    http_reply (req, 200, NULL, sb.buf, sb.len);
    strbuf_release (&sb);
}

/* Notes the answer and what is known of the request; also of one whose client has gone. */
static inline void test_answered (struct http_request *req, int status, const char *code,
                                  void *arg)
{
    struct test_server *s = arg;
    char from[HTTP_FROM_SIZE];
    const char *by = http_request_by (req), *note = http_request_note (req);

    strbuf_addf (&s->answers, "%s %s %d %s by %s from %s note %s\n",
                 http_request_method (req), http_request_path (req), status,
                 code ? code : "-", by ? by : "-", http_request_from (req, from),
                 note ? note : "-");
}

static inline void test_handler (struct http_request *req, void *arg)
{
    struct test_server *s = arg;
    const char *path = http_request_path (req);

    s->requests++;
    assert_true (http_request_is_observed (req));
    if (strncmp (path, "/echo", 5) == 0) {
        test_echo (req);
    } else if (strcmp (path, "/later") == 0) {
        test_later (s, req);
    } else if (strcmp (path, "/stream") == 0) {
        test_stream (s, req);
    } else if (strcmp (path, "/flood") == 0) {
        test_flood (s, req);
    } else if (strcmp (path, "/drain") == 0) {
        test_drain (s, req);
    } else if (strcmp (path, "/upgrade") == 0) {
        test_upgrade (s, req);
    } else if (strcmp (path, "/admit") == 0) {
        test_admit (s, req);
    } else if (strcmp (path, "/guest") == 0) {
        test_guest (req);
    } else if (strcmp (path, "/counts") == 0) {
        test_counts (s, req);
    } else if (strcmp (path, "/hold") == 0) {
        s->held = req;
        http_request_set_note (req, strdup ("first"));
        http_request_set_note (req, strdup ("held"));
    } else if (strcmp (path, "/answers") == 0) {
        http_reply (req, 200, NULL, s->answers.buf, s->answers.len);
    } else if (strcmp (path, "/release") == 0) {
        if (s->held)
            test_echo (s->held);
        s->held = NULL;
        http_reply (req, 204, NULL, "", 0);
    } else if (strcmp (path, "/follow") == 0) {
        s->follower = req;
        http_stream_begin (req, NULL, test_on_close, s);
    } else if (strcmp (path, "/tick") == 0) {
        int rc = s->follower ? http_stream_write (s->follower, "tick\n", 5) : -ENOENT;
        http_reply (req, rc == 0 ? 204 : 409, NULL, "", 0);
    } else {
        http_reply_header (req, "Retry-After", "7");
        http_reply_problem (req, 404, "no-such-path", "there is no \"%s\" here\n", path);
    }
}

static inline void test_on_stop (uv_async_t *async)
{
    struct test_server *s = async->data;

    while (s->upgraded)
        test_upgraded_end (s->upgraded);
    http_server_destroy (s->http);
    if (s->held) /* the owner still has it: a reply without a client */
        test_echo (s->held);
    s->held = NULL;
    uv_close ((uv_handle_t *)async, NULL);
}

static inline void *test_thread (void *arg)
{
    struct test_server *s = arg;

    uv_run (&s->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* with_tcp: also on 127.0.0.1, with this munged's socket. */
static inline void test_server_start (struct test_server *s, const char *munge_socket)
{
    struct error err = { 0 };

    memset (s, 0, sizeof (*s));
    snprintf (s->dir, sizeof (s->dir), "/tmp/fluxq-test-http.XXXXXX");
    assert_non_null (mkdtemp (s->dir));
    assert_int_equal (chmod (s->dir, 0755), 0);
    snprintf (s->path, sizeof (s->path), "%s/fluxqd.sock", s->dir);
    snprintf (s->url, sizeof (s->url), "unix://%s", s->path);
    assert_int_equal (uv_loop_init (&s->loop), 0);
    s->loop.data = s;
    uv_async_init (&s->loop, &s->stop, test_on_stop);
    s->stop.data = s;
    s->http = http_server_create (&s->loop, test_handler, s, &err);
    assert_non_null (s->http);
    strbuf_init (&s->answers, 16 * 1024 * 1024);
    http_server_set_observer (s->http, test_answered);
    if (http_server_listen_unix (s->http, s->path, 0666, &err) < 0)
        fail_msg ("%s", err.text);
    if (munge_socket) {
        assert_int_equal (http_server_set_munge_socket (s->http, munge_socket), 0);
        if (http_server_listen_tcp (s->http, "127.0.0.1", 0, &err) < 0)
            fail_msg ("%s", err.text);
        snprintf (s->tcp, sizeof (s->tcp), "http://127.0.0.1:%u",
                  (unsigned)http_server_port (s->http));
    }
    assert_int_equal (pthread_create (&s->thread, NULL, test_thread, s), 0);
}

static inline void test_server_stop (struct test_server *s)
{
    struct stat st;

    uv_async_send (&s->stop);
    pthread_join (s->thread, NULL);
    strbuf_release (&s->answers);
    assert_int_equal (uv_loop_close (&s->loop), 0); /* no handle is left */
    assert_int_equal (stat (s->path, &st), -1);     /* the socket is unlinked */
    assert_int_equal (io_remove_tree (s->dir, NULL), 0);
}
