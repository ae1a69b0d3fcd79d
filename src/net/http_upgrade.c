/* http_upgrade.c - from HTTP to another protocol on the same connection
 *
 * MHD sends the 101, gives the socket away (on_switched) and ignores it until
 * http_upgraded_close(); then MHD closes it. MHD holds the request for as long.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "net/http_private.h"

#define KEEPALIVE_IDLE 60 /* seconds; then a probe every 15 s, four of them */
#define KEEPALIVE_EVERY 15
#define KEEPALIVE_PROBES 4

/* Whether the comma-separated list has the token. */
static bool list_has (const char *list, const char *token)
{
    while (*list) {
        list += strspn (list, ", \t");
        size_t len = strcspn (list, ", \t");
        if (len == strlen (token) && strncasecmp (list, token, len) == 0)
            return true;
        list += len;
    }
    return false;
}

bool http_request_wants_upgrade (const struct http_request *req, const char *protocol)
{
    const char *connection = http_request_header (req, "Connection");
    const char *upgrade = http_request_header (req, "Upgrade");

    return connection && upgrade && list_has (connection, "Upgrade")
           && strcasecmp (upgrade, protocol) == 0;
}

/* An interactive program may be silent for days, and its machine may vanish meanwhile. On
 * a unix socket these options have no effect. */
void http_keep_alive (int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE },
        { IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY },
        { IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES },
        { IPPROTO_TCP, TCP_NODELAY, 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE (options); i++)
        setsockopt (fd, options[i].level, options[i].name, &options[i].value,
                    sizeof (options[i].value));
}

static void on_switched (void *cls, struct MHD_Connection *mhd, void *context,
                         const char *data, size_t len, MHD_socket fd,
                         struct MHD_UpgradeResponseHandle *handle)
{
    struct http_request *req = cls;
    http_upgraded_f fn = req->on_upgraded;

    (void)mhd;
    (void)context;
    http_keep_alive (fd);
    req->upgraded = handle;
    req->on_upgraded = NULL;
    fn (req, fd, data, len, req->upgrade_arg);
}

void http_upgrade_failed (struct http_request *req)
{
    http_upgraded_f fn = req->on_upgraded;

    req->on_upgraded = NULL;
    if (fn)
        fn (NULL, -1, NULL, 0, req->upgrade_arg);
}

void http_upgrade (struct http_request *req, const char *protocol, http_upgraded_f fn,
                   void *arg)
{
    struct MHD_Response *response = NULL;

    http_request_answered (req, MHD_HTTP_SWITCHING_PROTOCOLS, NULL);
    req->owned = false;
    req->on_upgraded = fn;
    req->upgrade_arg = arg;
    if (!req->mhd) {
        http_upgrade_failed (req);
        http_request_release (req);
        return;
    }
    response = MHD_create_response_for_upgrade (on_switched, req);
    if (response && MHD_add_response_header (response, "Upgrade", protocol) != MHD_YES) {
        MHD_destroy_response (response);
        response = NULL;
    }
    req->abort = !response;
    req->response = response;
    req->status = MHD_HTTP_SWITCHING_PROTOCOLS;
    http_request_resume (req);
}

void http_upgraded_close (struct http_request *req)
{
    req->listener->dirty = true;
    shutdown (req->fd, SHUT_RDWR);
    MHD_upgrade_action (req->upgraded, MHD_UPGRADE_ACTION_CLOSE);
    req->upgraded = NULL;
}
