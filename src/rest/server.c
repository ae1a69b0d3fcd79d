/* server.c - see server.h */
#include "rest/server.h"

#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/io.h"
#include "common/log.h"
#include "common/sha256.h"
#include "net/authority.h"
#include "net/http_client.h"
#include "net/tls_context.h"
#include "net/token.h"
#include "rest/child.h"

#define WAITING_MAX 1000 /* requests that wait for a child */

/* A request until its answer. */
struct job {
    struct job *prev, *next;
    struct rest_server *server;
    struct rest_call call;
    char *token; /* or NULL */
    pid_t pid;   /* 0: waits */
    int fd;
    uv_poll_t poll;
    struct strbuf answer;
};

struct rest_server {
    uv_loop_t *loop;
    struct http_server *http;
    struct rest_settings settings;
    char user[TOKEN_USER_SIZE]; /* name of this process's user; "": it has none */
    struct job *jobs;           /* DL, in the order of their coming */
    int64_t running, waiting;
};

/* -- the end of a request -- */

static void free_job (struct job *job)
{
    rest_call_release (&job->call);
    if (job->token)
        secret_wipe (job->token, strlen (job->token));
    free (job->token);
    strbuf_release (&job->answer);
    free (job);
}

static void reply_errors (struct rest_call *call)
{
    char *text = rest_answer (call, NULL);

    if (text)
        http_reply_take (call->req, call->status, NULL, text, strlen (text));
    else
        http_reply_problem (call->req, 503, "busy", "out of memory");
}

/* Sends "STATUS\nTEXT", the answer of a child. */
static void reply_answer (struct job *job)
{
    struct rest_call *call = &job->call;
    const char *text = job->answer.buf, *line = strchr (text, '\n');
    long status = strtol (text, NULL, 10);

    if (!line || status < 200 || status > 599) {
        rest_error (call, REST_TIMEOUT,
                    "the request took too long, or its process has failed");
        reply_errors (call);
        return;
    }
    http_reply (call->req, (int)status, NULL, line + 1,
                job->answer.len - (size_t)(line + 1 - text));
}

static void start_waiting (struct rest_server *s);

static void closed (uv_handle_t *handle)
{
    free_job (handle->data);
}

/* kill_child: the server ends. */
static void end_child (struct job *job, bool kill_child)
{
    if (kill_child)
        kill (job->pid, SIGKILL);
    uv_poll_stop (&job->poll);
    close (job->fd);
    waitpid (job->pid, NULL,
             0); /* its end of the pipe is closed: it has ended, or will */
    job->server->running--;
    DL_DELETE (job->server->jobs, job);
    uv_close ((uv_handle_t *)&job->poll, closed);
}

static void readable (uv_poll_t *poll, int status, int events)
{
    struct job *job = poll->data;
    struct rest_server *s = job->server;
    char buffer[65536];
    ssize_t n = read (job->fd, buffer, sizeof (buffer));

    (void)status;
    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0 && strbuf_add (&job->answer, buffer, (size_t)n) == 0)
        return;
    if (n != 0)
        strbuf_reset (&job->answer);
    reply_answer (job);
    end_child (job, n != 0);
    start_waiting (s);
}

/* -- its beginning -- */

static void start (struct job *job)
{
    struct rest_server *s = job->server;
    pid_t pid = rest_child_start (&job->call, job->token, s->settings.seconds, &job->fd);

    if (pid > 0 && uv_poll_init (s->loop, &job->poll, job->fd) == 0) {
        job->poll.data = job;
        job->pid = pid;
        s->running++;
        uv_poll_start (&job->poll, UV_READABLE, readable);
        return;
    }
    if (pid > 0) {
        kill (pid, SIGKILL);
        waitpid (pid, NULL, 0);
        close (job->fd);
    }
    http_reply_header (job->call.req, "Retry-After", "1");
    http_reply_problem (job->call.req, 503, "busy", "no process for the request");
    DL_DELETE (s->jobs, job);
    free_job (job);
}

static void start_waiting (struct rest_server *s)
{
    struct job *job, *next;

    DL_FOREACH_SAFE (s->jobs, job, next)
    {
        if (s->running >= s->settings.children)
            return;
        if (job->pid == 0) {
            s->waiting--;
            start (job);
        }
    }
}

/* The token of the request, or NULL. */
static const char *token_of (struct http_request *req)
{
    const char *token = http_request_header (req, "X-SLURM-USER-TOKEN");
    const char *value = http_request_header (req, "Authorization");

    if (token && *token)
        return token;
    return value && !strncasecmp (value, "Bearer ", 7) ? value + 7 : NULL;
}

/* Whether the caller may go on; else after rest_error(). The broker checks the token. */
static bool authenticate (const struct rest_server *s, struct rest_call *call,
                          const char *token)
{
    const char *name = http_request_header (call->req, "X-SLURM-USER-NAME");
    struct token claims;

    bool own = http_request_uid (call->req) == geteuid ();

    if (!token && own && (!name || !*name || !strcmp (name, s->user)))
        return true;
    if (!token && own)
        rest_error (call, REST_AUTHENTICATION,
                    "X-SLURM-USER-NAME is another user: that needs a token");
    else if (!token)
        rest_error (call, REST_AUTHENTICATION,
                    "the request needs a token in X-SLURM-USER-TOKEN (scontrol token)");
    else if (token_claims (token, &claims) < 0)
        rest_error (call, REST_AUTHENTICATION, "the token is not a JSON web token");
    else if (name && *name && strcmp (name, claims.user) != 0)
        rest_error (call, REST_AUTHENTICATION,
                    "the token is not of the user in X-SLURM-USER-NAME");
    else
        return true;
    return false;
}

static void handle (struct http_request *req, void *arg)
{
    struct rest_server *s = arg;
    struct job *job = calloc (1, sizeof (*job));
    const char *token = token_of (req);

    if (job)
        strbuf_init (&job->answer, REST_ANSWER_MAX);
    if (!job || rest_call_init (&job->call, req) < 0
        || (token && !(job->token = strdup (token)))) {
        http_reply_problem (req, 503, "busy", "out of memory");
        if (job)
            free_job (job);
        return;
    }
    job->server = s;
    if (!authenticate (s, &job->call, job->token) || !rest_find_route (&job->call)) {
        reply_errors (&job->call);
        free_job (job);
        return;
    }
    if (s->waiting >= WAITING_MAX) {
        http_reply_header (req, "Retry-After", "1");
        http_reply_problem (req, 503, "busy", "too many requests: try again in a second");
        free_job (job);
        return;
    }
    DL_APPEND (s->jobs, job);
    s->waiting++;
    start_waiting (s);
}

/* -- the server -- */

struct rest_server *rest_server_create (uv_loop_t *loop,
                                        const struct rest_settings *settings,
                                        struct error *err)
{
    struct rest_server *s = calloc (1, sizeof (*s));

    if (s)
        s->http = http_server_create (loop, handle, s, err);
    if (!s || !s->http) {
        error_set (err, ENOMEM, "out of memory");
        free (s);
        return NULL;
    }
    const struct passwd *pw = getpwuid (geteuid ());
    snprintf (s->user, sizeof (s->user), "%s", pw ? pw->pw_name : "");
    s->loop = loop;
    s->settings = *settings;
    http_server_set_open (s->http);
    return s;
}

int rest_server_read_certificate (struct rest_server *s, struct error *err)
{
    const struct tls_files files = { s->settings.certificate, s->settings.key, NULL };
    struct error remark = { 0 };

    if (!files.certificate)
        return 0;
    SSL_CTX *context = tls_context_load (&files, NULL, err);
    if (!context)
        return -EINVAL;
    if (tls_context_remark (context, (int64_t)clock_wall (), &remark))
        log_warning ("%s: %s", files.certificate, remark.text);
    http_server_set_tls (s->http, context, NULL);
    tls_context_release (context);
    return 0;
}

static int listen_tcp (struct rest_server *s, const char *address, struct error *err)
{
    char name[AUTHORITY_SIZE];
    autofree char *host = NULL;
    int64_t port;
    autofree char *local = NULL;
    int rc = -ENOMEM;

    if (*address == ':' && asprintf (&local, "localhost%s", address) < 0)
        return error_set (err, ENOMEM, "out of memory");
    rc = authority_parse (local ? local : address, REST_DEFAULT_PORT, name, "address",
                          err);

    if (rc < 0)
        return rc;
    if (!s->settings.certificate && !s->settings.tls_off)
        return error_set (err, EINVAL,
                          "%s: needs --tls-certificate and --tls-key, or unix:PATH; or "
                          "--tls=off, if nobody else can read the tokens or change what "
                          "goes over this address",
                          name);
    const char *colon = strrchr (name, ':');
    bool bracket = name[0] == '[';
    host = strndup (name + bracket, (size_t)(colon - name) - 2 * bracket);
    port = strtol (colon + 1, NULL, 10);
    if (!host)
        return error_set (err, ENOMEM, "out of memory");
    rc = http_server_listen_tcp (s->http, host, (uint16_t)port, err);
    if (rc == 0)
        log_info ("listening on %s", name);
    return rc;
}

int rest_server_listen (struct rest_server *s, const char *address, struct error *err)
{
    if (strncmp (address, "unix:", 5) != 0)
        return listen_tcp (s, address, err);
    const char *path = address + 5;
    while (path[0] == '/' && path[1] == '/') /* unix:///run/... */
        path++;
    int rc = http_server_listen_unix (s->http, path, s->settings.socket_mode, err);
    if (rc == 0)
        log_info ("listening on %s", path);
    return rc;
}

void rest_server_destroy (struct rest_server *s)
{
    struct job *job, *next;

    if (!s)
        return;
    DL_FOREACH_SAFE (s->jobs, job, next)
    {
        http_reply_problem (job->call.req, 503, "stopping", "slurmrestd stops");
        if (job->pid > 0) {
            end_child (job, true);
        } else {
            DL_DELETE (s->jobs, job);
            free_job (job);
        }
    }
    http_server_destroy (s->http);
    uv_run (s->loop, UV_RUN_DEFAULT);
    free (s);
}
