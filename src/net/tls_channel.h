/* tls_channel.h - the name of a TLS connection, which only its two ends know
 *
 * Each end derives it from the connection's keys (RFC 9266, tls-exporter), so that a
 * credential can be bound to the connection: on another connection it has another value.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TLS_CHANNEL_SIZE 32 /* bytes */

struct tls_channel { /* a command's connection to a broker */
    uint8_t name[TLS_CHANNEL_SIZE];
    bool identified; /* by the user's certificate, so requests need no credential */
};
