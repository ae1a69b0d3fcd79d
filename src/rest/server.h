/* server.h - the loop of slurmrestd: listeners, authentication, a child for each request
 *
 *     struct rest_server *s = rest_server_create (loop, &settings, &err);
 *     rest_server_listen (s, "unix:/run/fluxq/slurmrestd.sock", &err);
 *     uv_run (loop, UV_RUN_DEFAULT);
 *     rest_server_destroy (s);                    // ends the children
 *
 * A caller is known by a token (X-SLURM-USER-TOKEN, or Authorization: Bearer), which the
 * broker checks, or, on a unix socket, by being this process's own user. X-SLURM-USER-NAME,
 * if given, must be the name in the token.
 */
#pragma once

#include <uv.h>

#include "common/error.h"

#define REST_DEFAULT_PORT 6820 /* as slurmrestd has it */

struct rest_settings {
    int64_t children;   /* at once; further requests wait */
    mode_t socket_mode; /* of unix sockets */
    double seconds;     /* that a request may take */
    const char *certificate, *key; /* PEM files of TLS on TCP, borrowed; both or none */
    bool tls_off;                  /* TCP without them */
};

struct rest_server;

struct rest_server *rest_server_create (uv_loop_t *loop,
                                        const struct rest_settings *settings,
                                        struct error *err);
/* Reads certificate and key again, for later connections. On an error the earlier ones
 * stay. */
int rest_server_read_certificate (struct rest_server *s, struct error *err);
/* address: unix:PATH, HOST:PORT or :PORT. -EINVAL (also for TCP with neither a certificate
 * nor tls_off), or the errno of the socket. */
int rest_server_listen (struct rest_server *s, const char *address, struct error *err);
void rest_server_destroy (struct rest_server *s);
