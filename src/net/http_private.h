/* http_private.h - declarations shared by the http_*.c files of the server
 *
 * A request has up to three holders, and is freed when the last one lets go:
 *
 *     MHD      from its first header to NOTIFY_COMPLETED          req->mhd != NULL
 *     owner    from the handler's call to reply, end or on_close   req->owned
 *     worker   while its credential is decoded                     req->working
 *
 *     HEAD --> AUTH (TCP) --> BODY --complete--> OWNED --reply-> REPLY (response is set)
 *       |        |              |                  |----begin--> REPLY, streaming
 *       |        |              |                  '--upgrade--> REPLY (101) --> UPGRADED
 *       '-----refused-----------'------------------------------> REPLY   until closed
 *
 * While MHD waits for the server (AUTH, OWNED, a stream without data) the connection is
 * suspended. The code that resumes it sets listener->dirty, and the loop's prepare handle
 * runs MHD before the loop sleeps. The socket of a connection over TLS is one end of a
 * socket pair (http_tls.c); conn->secure has its addresses. MHD_run() is never called from MHD's own callbacks or
 * a handler.
 */
#pragma once

#include <microhttpd.h>
#include <uthash.h>

#include "common/strbuf.h"
#include "net/credential.h"
#include "net/http_server.h"
#include "net/tls_channel.h"
#include "net/tls_user.h"
#include "net/token.h"

#define HTTP_IDLE_SECONDS 60 /* without a byte */
#define HTTP_POOL_SIZE ((size_t)32 * 1024) /* of a connection: head and buffers */
#define HTTP_CONNECTIONS_MAX 4096
#define HTTP_ADDRESS_MAX 2048 /* connections of one address: all users of a login node */
/* connections over the limit that get 429; further ones are just closed */
#define HTTP_PEER_REFUSALS 64
#define HTTP_BODIES_MAX ((size_t)512 * 1024 * 1024) /* of all requests together */
#define HTTP_PEER_BODIES_MAX ((size_t)64 * 1024 * 1024)
#define HTTP_DISCARD_MAX ((size_t)64 * 1024 * 1024) /* of a body that is too large */

struct http_peer { /* a user's account */
    UT_hash_handle hh;
    uid_t uid; /* the owner, for subordinate uids */
    unsigned connections; /* on TCP, those whose last request was of this account */
    size_t body_bytes; /* held by its requests */
    double tokens;     /* requests that it may make at once, */
    uint64_t filled;   /* ... at this time: ms of the loop */
};

struct http_listener {
    struct http_listener *next;
    struct http_server *server;
    struct MHD_Daemon *daemon;
    uv_poll_t poll; /* MHD's epoll descriptor */
    uv_timer_t timer;
    uv_poll_t acceptable; /* fd */
    uv_timer_t accept_again;
    bool watched;        /* poll and timer are open */
    bool accepting;      /* acceptable and accept_again are open */
    bool dirty;          /* run MHD before the loop sleeps */
    bool again;          /* ... at the beginning of the next turn */
    unsigned idle_turns; /* consecutive turns in which MHD asked to be called at once */
    int fd;              /* the listening socket, or -1 */
    char *host;    /* TCP: as given; else NULL */
    uint16_t port; /* TCP */
    char *path;    /* unix, else NULL */
    dev_t dev;     /* of the socket at path, so that only this one is unlinked */
    ino_t ino;
};

struct http_secure {               /* a connection over TLS */
    struct sockaddr_storage local; /* the address at which it came in */
    uint8_t channel[TLS_CHANNEL_SIZE];
    bool has_channel;
    bool has_certificate; /* of the client, checked */
    int user_rc;          /* of its name and the look-up: 0 or a negative errno */
    char user[TLS_USER_SIZE];
    uid_t uid;
};

struct http_tls {
    SSL_CTX *context; /* for new connections; NULL: TCP without TLS */
    int (*uid_of) (const char *name, uid_t *ret);
    struct http_link *handshakes; /* DL, the oldest first */
    struct http_link *queue;      /* DL of those that wait for a worker thread */
    struct http_link *open;       /* DL */
    unsigned nhandshakes, nlinks, working;
    struct http_secure *secure; /* of the connection that is being added to MHD */
};

struct http_server {
    uv_loop_t *loop;
    http_handler_f handler;
    void *arg;
    http_answered_f observer; /* or NULL */
    char *munge_socket;
    char *const *names; /* borrowed, or NULL */
    bool open;          /* the handler authenticates */
    struct http_tokens tokens; /* key NULL: tokens are refused */
    http_review_f review;      /* of other tokens; or NULL */
    struct http_tls tls;
    uv_prepare_t prepare;
    uv_idle_t again;
    uv_timer_t sweep;
    unsigned handles; /* not closed yet */
    struct http_limits limits;
    bool (*privileged) (uid_t uid, void *arg); /* or NULL */
    uid_t (*account) (uid_t uid, void *arg);   /* or NULL */
    struct http_conn *conns;                   /* DL */
    unsigned nconns, max_connections;
    unsigned max_descriptors; /* of connections: with TLS, one has three */
    int reserve_fd;         /* closed when no descriptor is left; or -1 */
    struct {                /* the connection that http_server_admit() adds */
        int fd;             /* -1: none */
        uid_t uid;
        uint64_t number;
        char *from; /* until the connection has it */
    } guest;
    uint64_t turns, stalls; /* of MHD, for tests */
    struct http_listener *listeners;
    struct http_peer *peers;
    struct http_request *requests; /* DL: those that MHD holds */
    size_t body_bytes;             /* held by them */
};

struct http_conn { /* MHD's socket context */
    struct http_conn *prev, *next;
    struct http_listener *listener;
    struct http_request *req; /* the current one, or NULL */
    int fd;
    uint64_t since; /* ms of the loop: connected, or a request began or ended */
    struct http_peer *peer; /* NULL: a TCP connection before its first request */
    uid_t uid;              /* unix, else -1 */
    uint64_t guest;         /* of http_server_admit(), else 0 */
    char *from;             /* a guest's; may be NULL */
    pid_t pid;              /* unix; 0: unknown */
    struct sockaddr_storage address; /* TCP */
    struct http_secure *secure;      /* TLS, else NULL */
    bool refused; /* the account has too many connections */
};

struct http_auth { /* authentication of a request by a credential or a token */
    uv_work_t work;
    struct http_request *req;
    char *text;                   /* the credential */
    char *munge_socket;           /* munged's socket, for the worker thread; or NULL */
    struct credential credential; /* the decoded credential */
    struct token_key *key;        /* of a token; NULL: the text is a MUNGE credential */
    int (*uid_of) (const char *name, uid_t *ret);
    struct token token;           /* the token's contents, */
    uid_t uid;                    /* ... and the uid of its user */
    struct sha256 sum;            /* of the request, as far as it has been read */
    int rc;
    struct error err;
};

struct http_header { /* of a reply */
    struct http_header *next;
    const char *value;
    char name[]; /* followed by the value */
};

struct http_param {
    const char *name, *value;
};

struct http_request {
    struct http_request *prev, *next;
    struct http_server *server; /* NULL after its end */
    struct http_listener *listener;
    struct MHD_Connection *mhd; /* NULL when MHD has finished */
    struct http_conn *conn;     /* NULL together with mhd */
    int fd;                     /* of the connection */
    bool owned, working;

    bool begun, complete, suspended;
    bool held; /* suspended before its body is read */
    struct http_auth *auth; /* of a credential or a token, else NULL */
    int refuse; /* status to send after the body has been discarded, or 0 */
    char method[16];
    char *target;
    char *path;
    char *query_text; /* decoded in place; params point into it */
    struct http_param *params;
    size_t nparams;
    struct strbuf body;
    size_t discarded;
    uid_t uid;
    uint64_t guest; /* of the connection */
    const char *by; /* NULL: the request says nothing */
    char *account;  /* `by` of a caller whom a review has identified; or NULL */
    char *from;     /* when the connection has gone */
    http_answered_f observer; /* NULL: none, or it has been called */
    void *observer_arg;
    void *note; /* for the observer */
    void *aux;
    void (*aux_free) (void *);

    struct MHD_Response *response; /* to queue */
    int status;
    bool abort;                  /* close the connection, without a reply */
    struct http_header *headers; /* of the coming reply */

    bool streaming, ended, broken, wrote;
    struct strbuf out;
    size_t sent; /* of out */
    void (*on_close) (struct http_request *req, void *arg);
    void (*on_drain) (struct http_request *req, void *arg);
    void *stream_arg;
    uv_poll_t *watch; /* while streaming: notices that the client has gone */

    struct MHD_UpgradeResponseHandle *upgraded; /* while another protocol is in use */
    http_upgraded_f on_upgraded;                /* until called */
    void *upgrade_arg;
};

/* http_server.c: lets MHD work. Never call it from MHD's callbacks or a handler. */
void http_listener_run (struct http_listener *l);
/* Drops a handle or a connection that the server waits for; frees the server with the
 * last. */
void http_server_unref (struct http_server *s);
/* http_tls.c */
/* Begins a TLS connection; takes over fd. */
void http_tls_accept (struct http_listener *l, int fd, const struct sockaddr *address,
                      socklen_t len);
void http_tls_sweep (struct http_server *s); /* ends those that are late */
void http_tls_stop (struct http_server *s);  /* ends all, and frees the context */
/* http_accept.c */
void http_accept_init (struct http_server *s);
/* 0, or a negative errno of libuv. Adds two handles to the server's count. */
int http_accept_start (struct http_listener *l);
void http_accept_stop (struct http_listener *l, uv_close_cb closed);
void http_connection_event (void *cls, struct MHD_Connection *mhd, void **context,
                            enum MHD_ConnectionNotificationCode what);
/* http_peer.c */
bool http_is_privileged (const struct http_server *s, uid_t uid);
/* The connection is the user's from now on, and counts in the user's account instead of
 * its earlier one. Sets conn->refused when the account has too many. */
void http_peer_join (struct http_conn *conn, uid_t uid);
void http_peer_leave (struct http_conn *conn);
/* Counts a request of req->uid. false: it has been refused with 429. */
bool http_peer_admit (struct http_request *req);
/* Frees accounts without connections and with a full bucket; all accounts if `all`. */
void http_peer_sweep (struct http_server *s, bool all);
/* http_request.c: MHD's callbacks */
void *http_request_create (void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result http_request_access (void *cls, struct MHD_Connection *mhd,
                                     const char *url, const char *method,
                                     const char *version, const char *upload_data,
                                     size_t *upload_size, void **context);
void http_request_completed (void *cls, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode why);
/* Frees the request when it has no holder. */
void http_request_release (struct http_request *req);
/* Resumes a suspended connection soon. */
void http_request_resume (struct http_request *req);
/* Gives MHD the response (NULL: no memory) with the headers set so far. No holder lets
 * go. */
void http_request_respond (struct http_request *req, int status, const char *content_type,
                           struct MHD_Response *response);
/* http_observe.c */
/* Takes the observer of the server. */
void http_request_observe (struct http_request *req);
/* The answer is decided: calls the observer, once. */
void http_request_answered (struct http_request *req, int status, const char *code);
/* The connection is about to go; the request remembers where it came from. */
void http_request_keep_from (struct http_request *req);
/* Notes where the connection comes from, apart from the process. */
void http_conn_note_address (struct http_conn *conn, struct MHD_Connection *mhd);
/* http_auth.c */
/* The head has arrived: identifies the caller before the body is read. If that needs a
 * worker thread, req->working is set and the request is resumed later. Unknown callers
 * get 401, callers over their limits 429. */
void http_request_identify (struct http_request *req);
/* Whether the kernel knows the caller, so that no worker thread is needed. */
bool http_request_is_local (struct http_request *req);
/* The whole request has arrived: calls the handler, or replies 401 if the credential was
 * made for another request. */
void http_request_dispatch (struct http_request *req);
void http_auth_destroy (struct http_auth *auth);
/* http_listen.c: returns a listening socket, or a negative errno. */
int http_listen_unix (const char *path, mode_t mode, dev_t *ret_dev, ino_t *ret_ino,
                      struct error *err);
int http_listen_tcp (const char *host, uint16_t port, uint16_t *ret_port,
                     struct error *err);
/* http_names.c: whether the credential names this broker, as the request's connection
 * reaches it. */
bool http_name_is_own (const struct http_request *req, const struct credential *c);
/* http_target.c */
/* Fills path and params from target; -EINVAL, -ENOMEM. */
int http_request_parse_target (struct http_request *req);
/* http_upgrade.c */
/* Detects that the machine of the client has vanished, after two minutes. */
void http_keep_alive (int fd);
/* A pending upgrade cannot happen any more. */
void http_upgrade_failed (struct http_request *req);
/* http_stream.c: MHD has finished with a stream that has not ended. */
void http_stream_unwatch (struct http_request *req);
