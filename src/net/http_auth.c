/* http_auth.c - identifies the user of a request: peer of the socket, MUNGE credential or
 * token */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "net/http_private.h"

/* NULL: the connection is not over TLS. */
static const struct http_secure *secure_of (const struct http_request *req)
{
    return req->conn ? req->conn->secure : NULL;
}

static void refuse (struct http_request *req, const char *code, const char *reason)
{
    http_reply_header (req, "WWW-Authenticate",
                       req->server->tokens.key || req->server->review ? "MUNGE, Bearer"
                                                                      : "MUNGE");
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

/* Somebody between client and broker may have passed the credential on. */
static void refuse_channel (struct http_request *req, const struct credential *c)
{
    const struct http_secure *secure = secure_of (req);

    refuse (
        req, "wrong-channel",
        secure && !secure->has_channel
            ? "MUNGE: the connection has no name to which a credential could be bound: "
              "use TLS 1.3, or TLS 1.2 with the extended master secret"
        : !c->channel[0]
            ? "MUNGE: the credential is for a connection without TLS: use https:// in "
              "FLUXQ_BROKER, without a proxy that adds TLS"
            : "MUNGE: the credential is for another TLS connection: something between "
              "the client and this broker ends the TLS; use a token, or connect "
              "without it");
}

void http_auth_destroy (struct http_auth *auth)
{
    if (!auth)
        return;
    if (auth->text)
        secret_wipe (auth->text, strlen (auth->text));
    free (auth->text);
    token_key_release (auth->key);
    free (auth->munge_socket);
    free (auth);
}

static int read_token (struct http_auth *auth)
{
    int rc = token_read (auth->key, auth->text, (int64_t)clock_wall (), &auth->token,
                         &auth->err);

    if (rc == 0 && (rc = auth->uid_of (auth->token.user, &auth->uid)) == -ENOENT)
        return error_set (&auth->err, EACCES, "the token's user %s does not exist here",
                          auth->token.user);
    if (rc < 0 && !auth->err.code)
        error_errno (&auth->err, -rc, "look-up of the token's user");
    return rc;
}

static void on_worker (uv_work_t *work)
{
    struct http_auth *auth = work->data;

    auth->rc = auth->key ? read_token (auth)
                         : credential_decode (auth->munge_socket, auth->text,
                                              &auth->credential, &auth->err);
}

static void admit (struct http_request *req, uid_t uid)
{
    req->uid = uid;
    http_peer_join (req->conn, req->uid);
    if (http_peer_admit (req))
        http_request_resume (req);
}

static void admit_token (struct http_request *req)
{
    const struct http_server *s = req->server;
    const struct http_auth *auth = req->auth;

    if (auth->key != s->tokens.key
        || s->tokens.is_revoked (auth->uid, auth->token.issued, s->arg))
        refuse (req, "unauthenticated",
                "the token has been revoked: make a new one with \"scontrol token\"");
    else
        admit (req, auth->uid);
}

static bool is_of_channel (const struct http_request *req, const struct credential *c)
{
    const struct http_secure *secure = secure_of (req);

    return !(secure && !secure->has_channel)
           && credential_is_of (c, secure ? secure->channel : NULL);
}

static void after_worker (uv_work_t *work, int status)
{
    struct http_auth *auth = work->data;
    struct http_request *req = auth->req;

    req->working = false;
    if (!req->mhd || status < 0) /* the connection or the server has ended */
        http_request_release (req);
    else if (auth->rc == 0 && auth->key)
        admit_token (req);
    else if (auth->rc == 0 && !http_name_is_own (req, &auth->credential))
        refuse_broker (req, &auth->credential);
    else if (auth->rc == 0 && !is_of_channel (req, &auth->credential))
        refuse_channel (req, &auth->credential);
    else if (auth->rc == 0)
        admit (req, auth->credential.uid);
    else if (auth->rc == -EACCES)
        refuse (req, "unauthenticated", auth->err.text);
    else
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE,
                            auth->key ? "busy" : "no-munge", "%s", auth->err.text);
}

/* key NULL: a MUNGE credential. */
static int start_worker (struct http_request *req, const char *credential,
                         struct token_key *key)
{
    const char *munge_socket = req->server->munge_socket;
    struct http_auth *auth = calloc (1, sizeof (*auth));
    int rc = -ENOMEM;

    if (!auth)
        return -ENOMEM;
    auth->req = req;
    auth->work.data = auth;
    auth->text = strdup (credential);
    auth->key = token_key_keep (key);
    auth->uid_of = req->server->tokens.uid_of;
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

/* -- tokens that others check -- */

/* The request is without a reply, and no longer in the hands of a review. false: the
 * connection has gone, and so has the request. */
static bool end_review (struct http_request *req)
{
    req->working = false;
    if (req->mhd)
        return true;
    http_request_release (req);
    return false;
}

void http_request_known (struct http_request *req, uid_t uid, const char *by)
{
    if (!end_review (req))
        return;
    if ((req->account = strdup (by))) {
        req->by = req->account;
        admit (req, uid);
    } else {
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE, "no-memory",
                            "the broker is out of memory");
    }
}

void http_request_unknown (struct http_request *req, int rc, const char *why)
{
    if (!end_review (req))
        return;
    if (rc == -EACCES)
        refuse (req, "unauthenticated", why);
    else
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE, "busy", "%s", why);
}

/* Whether a review identifies the caller: the token has not the claims of the site's. */
static bool is_for_review (const struct http_request *req, const char *token)
{
    struct token claims;

    return req->server->review
           && (!req->server->tokens.key || token_claims (token, &claims) < 0);
}

static void start_review (struct http_request *req, const char *token)
{
    if (strlen (token) > TOKEN_MAX) {
        refuse (req, "unauthenticated", "the token is too long");
    } else {
        req->working = true;
        req->server->review (req, token, req->server->arg);
    }
}

/* -- what the request brings -- */

/* The text after the scheme ("MUNGE ") in the header Authorization; NULL: none. A guest is
 * the user of its connection, whatever it sends. */
static const char *credential_of (struct http_request *req, const char *scheme)
{
    const char *value = req->guest ? NULL : http_request_header (req, "Authorization");

    if (!value || strncasecmp (value, scheme, strlen (scheme)) != 0)
        return NULL;
    value += strlen (scheme);
    return *value ? value : NULL;
}

bool http_request_is_local (struct http_request *req)
{
    return req->server->open || req->guest
           || (req->listener->path && !credential_of (req, "Bearer "));
}

bool http_request_has_token (const struct http_request *req)
{
    return req->account || (req->auth && req->auth->key);
}

/* Whether the bytes of the connection are encrypted, or stay on this machine. */
static bool is_private (const struct http_request *req)
{
    struct sockaddr_storage peer = { 0 };
    socklen_t len = sizeof (peer);

    if (req->listener->path || req->conn->secure)
        return true;
    if (getpeername (req->fd, (struct sockaddr *)&peer, &len) < 0)
        return false;
    if (peer.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK (&((struct sockaddr_in6 *)&peer)->sin6_addr);
    return peer.ss_family == AF_INET
           && ntohl (((struct sockaddr_in *)&peer)->sin_addr.s_addr) >> 24 == 127;
}

static void identify_local (struct http_request *req)
{
    if (req->uid == (uid_t)-1 && !req->server->open) {
        refuse (req, "unauthenticated",
                "the kernel does not report the user of this connection");
        return;
    }
    http_peer_join (req->conn, req->uid); /* an earlier request may have had a token */
    http_peer_admit (req);
}

/* The handshake has checked the certificate and looked up its user. */
static void identify_certificate (struct http_request *req,
                                  const struct http_secure *secure)
{
    struct error why = { 0 };

    if (secure->user_rc == 0) {
        req->uid = secure->uid;
        http_peer_join (req->conn, req->uid);
        http_peer_admit (req);
        return;
    }
    if (secure->user[0] && secure->user_rc != -ENOENT) {
        http_reply_header (req, "Connection", "close");
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE, "busy",
                            "look-up of the certificate's user: %s",
                            strerror (-secure->user_rc));
        return;
    }
    if (secure->user[0])
        error_set (&why, EACCES, "the client certificate's user %s does not exist here",
                   secure->user);
    else
        error_set (&why, EACCES,
                   "the client certificate does not name one user: as the only CN of its "
                   "subject, or in one URI fluxq:user:NAME");
    refuse (req, "unauthenticated", why.text);
}

void http_request_identify (struct http_request *req)
{
    const struct http_secure *secure = secure_of (req);
    struct token_key *key = req->server->tokens.key;
    const char *token = credential_of (req, "Bearer ");
    const char *credential = token ? token : credential_of (req, "MUNGE ");

    req->by = req->guest                          ? "guest"
              : token                             ? "token"
              : req->listener->path               ? "socket"
              : credential                        ? "munge"
              : secure && secure->has_certificate ? "certificate"
                                                  : NULL;
    if (req->server->open)
        identify_local (req);
    else if (token && !key && !req->server->review)
        refuse (req, "no-tokens",
                "this broker takes no tokens (token-key: in fluxq.yaml)");
    else if (token && !is_private (req))
        refuse (
            req, "unauthenticated",
            "a token is taken only over TLS, on the unix socket and from this machine: "
            "others on the network could read it");
    else if (token && is_for_review (req, token))
        start_review (req, token);
    else if (req->listener->path && !token)
        identify_local (req);
    else if (!credential && secure && secure->has_certificate)
        identify_certificate (req, secure);
    else if (!credential)
        refuse (req, "unauthenticated",
                "a request over TCP needs a MUNGE credential (Authorization: MUNGE ...)");
    else if (start_worker (req, credential, token ? key : NULL) < 0)
        http_reply_problem (req, MHD_HTTP_SERVICE_UNAVAILABLE, "no-memory",
                            "the broker is out of memory");
}

void http_request_dispatch (struct http_request *req)
{
    if (req->auth && !req->auth->key
        && !credential_fits (&req->auth->credential, &req->auth->sum)) {
        refuse (req, "unauthenticated",
                "MUNGE: the credential was made for another request");
        return;
    }
    req->owned = true;
    req->server->handler (req, req->server->arg);
}
