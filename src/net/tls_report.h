/* tls_report.h - the first bytes that fluxq-tls sends to the command that started it
 *
 * fluxq-tls HOST PORT has its socket to the command as descriptor 0. After this record, if
 * its status is 0, the socket carries the bytes of the TLS connection, both ways.
 */
#pragma once

#include "common/error.h"
#include "net/tls_channel.h"

struct tls_report {
    int32_t status; /* 0, or an errno (> 0): there is no connection */
    uint8_t channel[TLS_CHANNEL_SIZE];
    uint8_t identified;        /* 1: the broker has the user's certificate */
    char text[ERROR_TEXT_MAX]; /* of an error: one line */
};
