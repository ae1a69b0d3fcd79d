/* tls_main.c - the program fluxq-tls: a command's end of a TLS connection; see tls_start.h
 *
 *     fluxq-tls HOST PORT        with a socket as descriptor 0
 *
 * Connects, checks whose broker answers, reports (tls_report.h), and carries bytes until
 * both ways have ended, or the command has.
 */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/io.h"
#include "net/tcp_connect.h"
#include "net/tls_policy.h"
#include "net/tls_pump.h"
#include "net/tls_report.h"
#include "net/tls_verify.h"

#define COMMAND 0      /* the descriptor */
#define LINGER_MS 5000 /* for the broker's last bytes when the command has ended */

/* The settings, the connection and the handshake; NULL with the reason. */
static SSL *open_channel (const char *host, const char *port, int *ret_net,
                          bool *ret_identified, struct error *err)
{
    struct client_settings set;
    char url[512];
    SSL *ssl = NULL;

    if (client_settings_read (&set, CLIENT_SETTINGS_OWN, err) < 0)
        return NULL;
    snprintf (url, sizeof (url), strchr (host, ':') ? "https://[%s]:%s" : "https://%s:%s",
              host, port);
    *ret_net = tcp_connect (host, port, url, err);
    if (*ret_net >= 0)
        ssl = tls_verify_connect (*ret_net, host, port, &set, ret_identified, err);
    client_settings_release (&set);
    return ssl;
}

static int report (SSL *ssl, bool identified, struct error *err)
{
    struct tls_report r = { .identified = identified };

    if (ssl && tls_policy_channel (ssl, r.channel) < 0)
        error_set (err, EPROTO,
                   "the server's TLS is too old to bind a credential to the connection: "
                   "it needs TLS 1.3, or TLS 1.2 with the extended master secret");
    r.status = err->code;
    memcpy (r.text, err->text, sizeof (r.text));
    return io_write_all (COMMAND, &r, sizeof (r)) < 0 || err->code ? -1 : 0;
}

static bool command_has_ended (void)
{
    struct pollfd p = { .fd = COMMAND };

    return poll (&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

/* Waits for one of the wants; false: nobody needs the connection any more. */
static bool wait_for (struct tls_pump *pump, int net, int wants)
{
    short net_events =
        (short)((wants & TLS_NET_IN ? POLLIN : 0) | (wants & TLS_NET_OUT ? POLLOUT : 0));
    short own_events = (short)((wants & TLS_PLAIN_IN ? POLLIN : 0)
                               | (wants & TLS_PLAIN_OUT ? POLLOUT : 0));
    /* without events, poll() would report a hang-up again and again */
    struct pollfd fds[2] = { { .fd = net_events ? net : -1, .events = net_events },
                             { .fd = own_events ? COMMAND : -1, .events = own_events } };
    int n = poll (fds, 2, tls_pump_has_ended (pump) ? LINGER_MS : -1);

    return n != 0 || !command_has_ended ();
}

static void carry (SSL *ssl, int net)
{
    struct tls_pump *pump = tls_pump_create (ssl, COMMAND);
    int wants = 0;

    while (pump && (wants = tls_pump_move (pump)) > 0 && wait_for (pump, net, wants))
        ;
    tls_pump_destroy (pump);
}

int main (int argc, char *argv[])
{
    struct error err = { 0 };
    struct stat st;
    bool identified = false;
    int net = -1;

    if (argc != 3 || fstat (COMMAND, &st) < 0 || !S_ISSOCK (st.st_mode)) {
        fprintf (stderr, "fluxq-tls: the commands of fluxq start this program: use them "
                         "with --broker https://HOST:PORT\n");
        return 2;
    }
    signal (SIGPIPE, SIG_IGN);
    SSL *ssl = open_channel (argv[1], argv[2], &net, &identified, &err);
    if (report (ssl, identified, &err) < 0)
        return 1;
    carry (ssl, net);
    SSL_free (ssl);
    close (net);
    return 0;
}
