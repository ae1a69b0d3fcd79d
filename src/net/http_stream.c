/* http_stream.c - replies of unknown length: MHD pulls, the owner pushes, via a buffer
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/http_private.h"

#define COMPACT_AT ((size_t)64 * 1024)
#define OUT_MAX (HTTP_BODY_MAX + 3 * HTTP_STREAM_UNSENT_MAX + 2 * COMPACT_AT)

static size_t unsent (const struct http_request *req)
{
    return req->out.len - req->sent;
}

static void give (struct http_request *req, char *buf, size_t n)
{
    memcpy (buf, req->out.buf + req->sent, n);
    req->sent += n;
    if (unsent (req) == 0) {
        strbuf_reset (&req->out);
        req->sent = 0;
    } else if (req->sent >= COMPACT_AT && req->sent >= req->out.len / 2) {
        strbuf_consume (&req->out, req->sent);
        req->sent = 0;
    }
}

/* MHD asks for more: all earlier data is in the socket. */
static ssize_t on_read (void *cls, uint64_t pos, char *buf, size_t max)
{
    struct http_request *req = cls;

    (void)pos;
    if (unsent (req) == 0 && req->wrote && !req->ended && !req->broken) {
        req->wrote = false;
        if (req->on_drain)
            req->on_drain (req, req->stream_arg);
    }
    if (req->broken)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t n = MIN (unsent (req), max);
    if (n > 0) {
        req->listener->idle_turns = 0; /* a stream that flows is no busy waiting */
        give (req, buf, n);
        return (ssize_t)n;
    }
    if (req->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    req->suspended = true;
    MHD_suspend_connection (req->mhd);
    return 0;
}

/* -- the client's going: MHD does not look at a suspended connection -- */

static void watch_closed (uv_handle_t *handle)
{
    free (handle);
}

void http_stream_unwatch (struct http_request *req)
{
    if (!req->watch)
        return;
    uv_poll_stop (req->watch);
    uv_close ((uv_handle_t *)req->watch, watch_closed);
    req->watch = NULL;
}

/* Ends the connection; MHD notices and completes the request. */
static void http_stream_break (struct http_request *req)
{
    http_stream_unwatch (req);
    if (req->broken)
        return;
    req->broken = true;
    shutdown (req->fd, SHUT_RDWR); /* wakes MHD if it waits to send */
    http_request_resume (req);
}

static void on_gone (uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    http_stream_break (handle->data);
}

static int watch (struct http_request *req)
{
    req->watch = calloc (1, sizeof (*req->watch));
    if (!req->watch)
        return -ENOMEM;
    if (uv_poll_init (req->server->loop, req->watch, req->fd) < 0) {
        free (req->watch);
        req->watch = NULL;
        return -EIO;
    }
    req->watch->data = req;
    return uv_poll_start (req->watch, UV_DISCONNECT, on_gone);
}

/* -- the owner's side -- */

void http_stream_begin (struct http_request *req, const char *content_type,
                        void (*on_close) (struct http_request *req, void *arg), void *arg)
{
    struct MHD_Response *response = NULL;

    http_request_answered (req, MHD_HTTP_OK, NULL);
    req->streaming = true;
    req->on_close = on_close;
    req->stream_arg = arg;
    strbuf_init (&req->out, OUT_MAX);
    if (!req->mhd) /* the server has ended: the owner must end req, too */
        return;
    MHD_set_connection_option (req->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
    if (watch (req) == 0)
        response = MHD_create_response_from_callback (MHD_SIZE_UNKNOWN, 4096, on_read,
                                                      req, NULL);
    http_request_respond (req, MHD_HTTP_OK, content_type, response);
}

size_t http_stream_unsent (const struct http_request *req)
{
    return unsent (req);
}

void http_stream_on_drain (struct http_request *req,
                           void (*on_drain) (struct http_request *req, void *arg))
{
    req->on_drain = on_drain;
}

int http_stream_write (struct http_request *req, const void *data, size_t len)
{
    if (!req->mhd || req->broken || req->abort)
        return -EPIPE;
    if (len > HTTP_BODY_MAX)
        return -E2BIG;
    if (len == 0)
        return 0;
    if (unsent (req) > HTTP_STREAM_UNSENT_MAX) {
        http_stream_break (req);
        return -EPIPE;
    }
    if (strbuf_add (&req->out, data, len) < 0) {
        http_stream_break (req);
        return -ENOMEM;
    }
    req->wrote = true;
    if (req->suspended)
        http_request_resume (req);
    return 0;
}

void http_stream_end (struct http_request *req)
{
    req->owned = false;
    req->ended = true;
    if (!req->mhd) {
        http_request_release (req);
        return;
    }
    http_stream_unwatch (req);
    MHD_set_connection_option (req->mhd, MHD_CONNECTION_OPTION_TIMEOUT,
                               (unsigned)HTTP_IDLE_SECONDS);
    http_request_resume (req);
}
