/* tls_pump.h - carries bytes between a TLS connection and a plain socket, both ways
 *
 *     struct tls_pump *p = tls_pump_create (ssl, plain);      // after the handshake
 *     while ((wants = tls_pump_move (p)) > 0)
 *         ... wait until one of the wants is there: poll(2), or handles of a loop
 *
 * Each way has one buffer of 16 KiB, which is read again only when it is empty: so a slow
 * reader on one side stops the sender on the other. An end of data goes through: the peer's
 * close_notify becomes shutdown (plain, SHUT_WR), and the end of plain becomes a
 * close_notify; the other way goes on. Without a close_notify the peer's data has been cut
 * off; then no way goes on, and the owner closes plain, which the other end of plain can
 * tell from an end by its direction.
 *
 * The pump never blocks and never closes a descriptor; ssl (non-blocking) and plain are
 * borrowed. Thread: one at a time.
 */
#pragma once

#include <openssl/types.h>

#include "common/error.h"

#define TLS_PIECE 16384 /* bytes: the largest TLS record */

enum tls_want { /* events that tls_pump_move() needs */
                TLS_NET_IN = 1 << 0,
                TLS_NET_OUT = 1 << 1,
                TLS_PLAIN_IN = 1 << 2,
                TLS_PLAIN_OUT = 1 << 3,
};

struct tls_pump;

struct tls_pump *tls_pump_create (SSL *ssl, int plain); /* NULL: no memory */
void tls_pump_destroy (struct tls_pump *p);             /* NULL is allowed */
/* Moves what it can, up to a bound that keeps a loop fair. A set of enum tls_want; 0: both
 * ways have ended; -EPIPE: the connection broke, and what had arrived is delivered. */
int tls_pump_move (struct tls_pump *p);
/* Whether the last call moved a byte. */
bool tls_pump_moved (const struct tls_pump *p);
/* Whether plain's other end has been closed, so that nobody takes what the peer sends. */
bool tls_pump_is_deaf (const struct tls_pump *p);
/* Whether plain has ended; and whether its last bytes, or the close_notify, still wait for
 * the peer to read. */
bool tls_pump_has_ended (const struct tls_pump *p);
bool tls_pump_is_waiting (const struct tls_pump *p);
