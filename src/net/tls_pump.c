/* tls_pump.c - see tls_pump.h */
#include "net/tls_pump.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#define ROUNDS 8 /* of both buffers in one call */

struct half {
    size_t at, len; /* the rest of data */
    bool eof;       /* no more comes */
    bool done;      /* ... and the receiver knows */
    int wants;      /* events that its side of the TLS connection needs */
    char data[TLS_PIECE];
};

struct tls_pump {
    SSL *ssl;
    int plain;
    bool broken; /* the TLS connection */
    bool deaf;   /* plain takes nothing more */
    bool moved;
    struct half in;  /* from the peer to plain */
    struct half out; /* from plain to the peer */
};

struct tls_pump *tls_pump_create (SSL *ssl, int plain)
{
    struct tls_pump *p = calloc (1, sizeof (*p));

    if (!p)
        return NULL;
    p->ssl = ssl;
    p->plain = plain;
    p->in.wants = TLS_NET_IN;
    p->out.wants = TLS_NET_OUT;
    return p;
}

void tls_pump_destroy (struct tls_pump *p)
{
    free (p);
}

/* -- the TLS side -- */

/* Notes the meaning of a result <= 0 of a call for this half. */
static void note (struct tls_pump *p, struct half *h, int rc)
{
    int error = SSL_get_error (p->ssl, rc);

    if (error == SSL_ERROR_WANT_READ)
        h->wants = TLS_NET_IN;
    else if (error == SSL_ERROR_WANT_WRITE)
        h->wants = TLS_NET_OUT;
    else if (error == SSL_ERROR_ZERO_RETURN && h == &p->in)
        h->eof = true;
    else
        p->broken = true;
    ERR_clear_error ();
}

static bool read_peer (struct tls_pump *p)
{
    struct half *in = &p->in;

    if (in->len > 0 || in->eof || p->broken)
        return false;
    ERR_clear_error ();
    int n = SSL_read (p->ssl, in->data, sizeof (in->data));
    if (n <= 0) {
        note (p, in, n);
        return in->eof || p->broken;
    }
    in->at = 0;
    in->len = (size_t)n;
    return true;
}

static bool write_peer (struct tls_pump *p)
{
    struct half *out = &p->out;

    if (p->broken || out->done || (out->len == 0 && !out->eof))
        return false;
    ERR_clear_error ();
    int n = out->len > 0 ? SSL_write (p->ssl, out->data + out->at, (int)out->len)
                         : SSL_shutdown (p->ssl);
    if (n < 0 || (n == 0 && out->len > 0)) {
        note (p, out, n);
        return p->broken;
    }
    if (out->len == 0) { /* 0: sent, and the peer's has not come yet */
        out->done = true;
        return true;
    }
    out->wants = TLS_NET_OUT;
    out->at += (size_t)n;
    out->len -= (size_t)n;
    return true;
}

/* -- the plain side -- */

static bool read_plain (struct tls_pump *p)
{
    struct half *out = &p->out;

    if (p->broken) /* into the void, or the writer might wait and not take the rest of in */
        out->len = 0;
    if (out->len > 0 || out->eof)
        return false;
    ssize_t n = recv (p->plain, out->data, sizeof (out->data), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    out->at = 0;
    out->len = n > 0 ? (size_t)n : 0;
    out->eof = n <= 0;
    return true;
}

static bool write_plain (struct tls_pump *p)
{
    struct half *in = &p->in;

    if (in->done || (in->len == 0 && !in->eof))
        return false;
    if (in->len == 0) {
        shutdown (p->plain, SHUT_WR);
        in->done = true;
        return true;
    }
    ssize_t n = send (p->plain, in->data + in->at, in->len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0) {
        p->deaf = in->eof = in->done = true;
        in->len = 0;
        return true;
    }
    in->at += (size_t)n;
    in->len -= (size_t)n;
    return true;
}

/* -- both -- */

/* The result of tls_pump_move(). */
static int wants (const struct tls_pump *p)
{
    int events = 0;

    if (p->broken)
        return p->in.len == 0 ? -EPIPE : TLS_PLAIN_OUT | (p->out.eof ? 0 : TLS_PLAIN_IN);
    if (p->in.len > 0 || (!p->in.eof && SSL_pending (p->ssl) > 0))
        events |= TLS_PLAIN_OUT;
    else if (!p->in.eof)
        events |= p->in.wants;
    if (p->out.len > 0 || (p->out.eof && !p->out.done))
        events |= p->out.wants;
    else if (!p->out.eof)
        events |= TLS_PLAIN_IN;
    return events;
}

int tls_pump_move (struct tls_pump *p)
{
    bool moves = true;

    p->moved = false;
    for (int i = 0; i < ROUNDS && moves; i++) {
        moves = read_peer (p);
        moves |= write_plain (p);
        moves |= read_plain (p);
        moves |= write_peer (p);
        p->moved |= moves;
    }
    return wants (p);
}

bool tls_pump_moved (const struct tls_pump *p)
{
    return p->moved;
}

bool tls_pump_is_deaf (const struct tls_pump *p)
{
    return p->deaf;
}

bool tls_pump_has_ended (const struct tls_pump *p)
{
    return p->out.eof;
}

bool tls_pump_is_waiting (const struct tls_pump *p)
{
    return p->out.len > 0 || (p->out.eof && !p->out.done);
}
