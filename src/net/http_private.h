/* http_private.h - what the files http_*.c of the server share
 *
 * A request has up to three holders, and is freed when the last lets go:
 *
 *     MHD      from its first header to NOTIFY_COMPLETED          req->mhd != NULL
 *     owner    from the handler's call to reply, end or on_close   req->owned
 *     worker   while its credential is decoded                     req->working
 *
 *     HEAD --> AUTH (TCP) --> BODY --body is there--> OWNED --reply--> REPLY (response is set)
 *       |        |              |                       |-----begin--> REPLY, streaming
 *       |        |              |                       '---upgrade--> REPLY (101) --> UPGRADED
 *       '-----refused-----------'------------------------------------> REPLY   until it is closed
 *
 * Whenever MHD waits for us (AUTH, OWNED, a stream without data) its connection is
 * suspended; what wakes it sets listener->dirty, and the loop's prepare handle runs MHD
 * before the loop sleeps. MHD_run() is never called from inside MHD's own callbacks or a
 * handler.
 */
#ifndef FLUXQ_NET_HTTP_PRIVATE_H
#define FLUXQ_NET_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <uthash.h>

#include "common/strbuf.h"
#include "net/credential.h"
#include "net/http_server.h"

#define HTTP_IDLE_SECONDS 60 /* without a byte */
#define HTTP_POOL_SIZE ((size_t)32 * 1024) /* of a connection: head and buffers */
#define HTTP_CONNECTIONS_MAX 4096
#define HTTP_ADDRESS_MAX 2048 /* of one address: all users of a login node */
#define HTTP_PEER_REFUSALS 64 /* so many more are told 429, the others just closed */
#define HTTP_BODIES_MAX ((size_t)512 * 1024 * 1024) /* of all requests at a time */
#define HTTP_PEER_BODIES_MAX ((size_t)64 * 1024 * 1024)
#define HTTP_DISCARD_MAX ((size_t)64 * 1024 * 1024) /* of a body that is too large */

struct http_peer { /* a user's account */
    UT_hash_handle hh;
    uid_t uid; /* the owner of subordinate ones */
    unsigned connections; /* over TCP those whose last request was of this account */
    size_t body_bytes; /* that its requests hold */
    double tokens;     /* requests that it may make at once, */
    uint64_t filled;   /* ... as of then: ms of the loop */
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
    bool accepting;      /* acceptable and accept_again are */
    bool dirty;          /* MHD is to be run before the loop sleeps */
    bool again;          /* ... at the begin of the next turn */
    unsigned idle_turns; /* in a row, in which MHD asked to be called at once */
    int fd;              /* that listens, or -1 */
    char *host;    /* TCP, as it was given, else NULL */
    uint16_t port; /* TCP */
    char *path;    /* unix, else NULL */
    dev_t dev;     /* of the socket at path, to unlink no other's */
    ino_t ino;
};

struct http_server {
    uv_loop_t *loop;
    http_handler_f handler;
    void *arg;
    char *munge_socket;
    char *const *names; /* borrowed, or NULL */
    uv_prepare_t prepare;
    uv_idle_t again;
    uv_timer_t sweep;
    unsigned handles; /* that are not yet closed */
    struct http_limits limits;
    bool (*privileged) (uid_t uid, void *arg); /* or NULL */
    uid_t (*account) (uid_t uid, void *arg);   /* or NULL */
    struct http_conn *conns;                   /* DL */
    unsigned nconns, max_connections;
    int reserve_fd;         /* to close when no descriptor is left, or -1 */
    uint64_t turns, stalls; /* of MHD, for tests */
    struct http_listener *listeners;
    struct http_peer *peers;
    struct http_request *requests; /* DL: all that MHD holds */
    size_t body_bytes;             /* that they hold */
};

struct http_conn { /* MHD's socket context */
    struct http_conn *prev, *next;
    struct http_listener *listener;
    struct http_request *req; /* the one of now, or NULL */
    int fd;
    uint64_t since; /* when it came, or began or ended a request: ms of the loop */
    struct http_peer *peer; /* or NULL: a TCP connection before its first request */
    uid_t uid;              /* unix, else -1 */
    gid_t gid;
    bool refused; /* its peer has too many */
};

struct http_auth { /* whose request it is, over TCP */
    uv_work_t work;
    struct http_request *req;
    char *text;                   /* the credential, and ... */
    char *munge_socket;           /* ... who decodes it, on a worker thread; or NULL */
    struct credential credential; /* what it says */
    struct sha256 sum;            /* of the request as far as it was read */
    int rc;
    struct error err;
};

struct http_header { /* of a reply */
    struct http_header *next;
    const char *value;
    char name[]; /* and the value behind it */
};

struct http_param {
    const char *name, *value;
};

struct http_request {
    struct http_request *prev, *next;
    struct http_server *server; /* NULL after its end */
    struct http_listener *listener;
    struct MHD_Connection *mhd; /* NULL when MHD has done with it */
    struct http_conn *conn;     /* NULL with it */
    int fd;                     /* of the connection */
    bool owned, working;

    bool begun, complete, suspended;
    bool held; /* suspended before its body is read */
    struct http_auth *auth; /* TCP, else NULL */
    int refuse; /* status to answer when the body has been read and thrown away, or 0 */
    char method[16];
    char *target;
    char *path;
    char *query_text; /* decoded in place; params point into it */
    struct http_param *params;
    size_t nparams;
    struct strbuf body;
    size_t discarded;
    uid_t uid;
    gid_t gid;
    void *aux;
    void (*aux_free) (void *);

    struct MHD_Response *response; /* to be queued */
    int status;
    bool abort;                  /* close the connection instead of a reply */
    struct http_header *headers; /* of the reply to come */

    bool streaming, ended, broken, wrote;
    struct strbuf out;
    size_t sent; /* of out */
    void (*on_close) (struct http_request *req, void *arg);
    void (*on_drain) (struct http_request *req, void *arg);
    void *stream_arg;
    uv_poll_t *watch; /* for the client's going, while streaming */

    struct MHD_UpgradeResponseHandle *upgraded; /* while another protocol is spoken */
    http_upgraded_f on_upgraded;                /* until it was called */
    void *upgrade_arg;
};

/* http_server.c: let MHD work. Never from inside MHD's callbacks or a handler. */
void http_listener_run (struct http_listener *l);
/* http_accept.c */
void http_accept_init (struct http_server *s);
/* 0, or negative errno of libuv. Each counts two handles. */
int http_accept_start (struct http_listener *l);
void http_accept_stop (struct http_listener *l, uv_close_cb closed);
void http_connection_event (void *cls, struct MHD_Connection *mhd, void **context,
                            enum MHD_ConnectionNotificationCode what);
/* http_peer.c */
bool http_is_privileged (const struct http_server *s, uid_t uid);
/* The connection is of the user, and counts in the user's account instead of the one before;
 * conn->refused: the user has too many. */
void http_peer_join (struct http_conn *conn, uid_t uid);
void http_peer_leave (struct http_conn *conn);
/* One more request of the user req->uid: true, or refused already with 429. */
bool http_peer_admit (struct http_request *req);
/* Forget accounts without a connection whose bucket is full; all of them at the end. */
void http_peer_sweep (struct http_server *s, bool all);
/* http_request.c: MHD's callbacks */
void *http_request_create (void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result http_request_access (void *cls, struct MHD_Connection *mhd,
                                     const char *url, const char *method,
                                     const char *version, const char *upload_data,
                                     size_t *upload_size, void **context);
void http_request_completed (void *cls, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode why);
/* Free what nobody holds. */
void http_request_release (struct http_request *req);
/* Let MHD go on with a suspended connection soon. */
void http_request_resume (struct http_request *req);
/* Give MHD the response (NULL: no memory) with the headers that were set; ends nobody's
 * hold. */
void http_request_respond (struct http_request *req, int status, const char *content_type,
                           struct MHD_Response *response);
/* http_auth.c */
/* The head is there: find out whose request it is, before its body is read. Where that takes a
 * worker thread req->working is set, and the request is resumed. Who is not known (401) or has
 * too much (429) is answered. */
void http_request_identify (struct http_request *req);
/* All of it is there: call the handler, or answer 401 for a credential of another request. */
void http_request_dispatch (struct http_request *req);
void http_auth_destroy (struct http_auth *auth);
/* http_listen.c: a listening socket, or negative errno */
int http_listen_unix (const char *path, mode_t mode, dev_t *ret_dev, ino_t *ret_ino,
                      struct error *err);
int http_listen_tcp (const char *host, uint16_t port, uint16_t *ret_port,
                     struct error *err);
/* http_names.c: whether the credential names the broker that the request's connection is with. */
bool http_name_is_own (const struct http_request *req, const struct credential *c);
/* http_target.c */
/* Fill path and params from target; -EINVAL, -ENOMEM. */
int http_request_parse_target (struct http_request *req);
/* http_upgrade.c: nothing comes of it, if it was still to come. */
void http_upgrade_failed (struct http_request *req);
/* http_stream.c: MHD is done with a stream that has not been ended. */
void http_stream_unwatch (struct http_request *req);

#endif
