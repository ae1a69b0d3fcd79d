/* http_auth.c - identifies the user of a request: peer of the socket, or MUNGE
 * credential */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "net/http_private.h"

static void refuse (struct http_request *req, const char *code, const char *reason)
{
    http_reply_header (req, "WWW-Authenticate", "MUNGE");
    http_reply_problem (req, MHD_HTTP_UNAUTHORIZED, code, "%s", reason);
}

/* The broker that the credential was made for may have passed it on. */
static void refuse_broker (struct http_request *req, const struct credential *c)
{
    const char *authority = c->authority;
    struct error why = { 0 };

    if (authority_is_loopback (authority))
        error_set (&why, EACCES,
                   "MUNGE: the credential is for the broker %s of the machine where the client "
                   "runs: name this broker's machine in FLUXQ_BROKER, or, for a tunnel, add %s "
                   "to listen-names in fluxq.yaml",
                   authority, authority);
    else if (*authority)
        error_set (&why, EACCES,
                   "MUNGE: the credential is for the broker %s, and this broker has no such "
                   "name: use a name of this one, or add %s to listen-names in fluxq.yaml",
                   authority, authority);
    else
        error_set (&why, EACCES,
                   "MUNGE: the credential does not say which broker it is for: the client "
                   "is older than this broker, update fluxq where the client runs");
    refuse (req, "wrong-broker", why.text);
}

void http_auth_destroy (struct http_auth *auth)
{
    if (!auth)
        return;
    free (auth->text);
    free (auth->munge_socket);
    free (auth);
}

static void on_worker (uv_work_t *work)
{
    struct http_auth *auth = work->data;

    auth->rc = credential_decode (auth->munge_socket, auth->text, &auth->credential,
                                  &auth->err);
}

static void admit (struct http_request *req, const struct credential *credential)
{
    req->uid = credential->uid;
    http_peer_join (req->conn, req->uid);
    if (http_peer_admit (req))
        http_request_resume (req);
}

static void after_worker (uv_work_t *work, int status)
{
    struct http_auth *auth = work->data;
    struct http_request *req = auth->req;

    req->working = false;
    if (!req->mhd || status < 0) /* the connection or the server has ended */
        http_request_release (req);
    else if (auth->rc == 0 && !http_name_is_own (req, &auth->credential))
        refuse_broker (req, &auth->credential);
    else if (auth->rc == 0)
        admit (req, &auth->credential);
    else if (auth->rc == -EACCES)
        refuse (req, "unauthenticated", auth->err.text);
    else
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE, "no-munge", "%s",
                            auth->err.text);
}

static int start_worker (struct http_request *req, const char *credential)
{
    const char *munge_socket = req->server->munge_socket;
    struct http_auth *auth = calloc (1, sizeof (*auth));
    int rc = -ENOMEM;

    if (!auth)
        return -ENOMEM;
    auth->req = req;
    auth->work.data = auth;
    auth->text = strdup (credential);
    auth->munge_socket = munge_socket ? strdup (munge_socket) : NULL;
    credential_begin (&auth->sum, req->method, req->target);
    if (auth->text && (auth->munge_socket || !munge_socket))
        rc = uv_queue_work (req->server->loop, &auth->work, on_worker, after_worker);
    if (rc < 0) {
        http_auth_destroy (auth);
        return rc;
    }
    req->auth = auth;
    req->working = true;
    return 0;
}

static const char *munge_credential (struct http_request *req)
{
    static const char scheme[] = "MUNGE ";
    const char *value = http_request_header (req, "Authorization");

    if (!value || strncasecmp (value, scheme, strlen (scheme)) != 0)
        return NULL;
    value += strlen (scheme);
    return *value ? value : NULL;
}

void http_request_identify (struct http_request *req)
{
    if (req->listener->path) { /* unix: known since the connection was accepted */
        if (req->uid == (uid_t)-1)
            refuse (req, "unauthenticated",
                    "the kernel does not report the user of this connection");
        else
            http_peer_admit (req);
        return;
    }
    const char *credential = munge_credential (req);
    if (!credential)
        refuse (req, "unauthenticated",
                "a request over TCP needs a MUNGE credential (Authorization: MUNGE ...)");
    else if (start_worker (req, credential) < 0)
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE, "no-memory",
                            "the broker is out of memory");
}

void http_request_dispatch (struct http_request *req)
{
    if (req->auth && !credential_fits (&req->auth->credential, &req->auth->sum)) {
        refuse (req, "unauthenticated",
                "MUNGE: the credential was made for another request");
        return;
    }
    req->owned = true;
    req->server->handler (req, req->server->arg);
}
