/* relay.c - POST /v1/jobs/ID/connect: a program becomes a client of a job's agents
 *
 *   client <--socket--> relay <--agentstream--> agent of rank 0    bytes, both ways
 *
 *   ASKING --agent agrees--> SWITCHING --101 sent--> OPEN --one ends-> LINGERING --> gone
 *     +--refuses: refused        +--the client has gone: gone
 *
 *   OPEN --the client of a session ends--> TELLING --> gone
 *
 * An agent keeps the client of a session (protocol/session.h) when its connection ends, as
 * the broker may have ended. So when the client goes while the broker is there, the relay
 * tells the agent, over a connection of its own.
 *
 * Each direction has one buffer, and nothing is read from one side until the other has
 * taken everything read before: a slow client makes the agent wait and does not make the
 * broker grow. When the client ends, also by half, the relay ends at once; the agent has
 * got what the client sent, as far as the agent accepted it. When the agent ends, the
 * client still gets what is under way.
 */
#include <strings.h>
#include <sys/socket.h>
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/stream/carry.h"
#include "exec/agentstream.h"
#include "protocol/session.h"

#define RELAYS_MAX 1024
#define RELAYS_USER_MAX 128
#define LINGER_MS 2000

enum relay_state {
    RELAY_ASKING,
    RELAY_SWITCHING,
    RELAY_OPEN,
    RELAY_LINGERING,
    RELAY_TELLING
};

struct relay {
    struct broker *b;
    uint64_t id; /* of the job */
    uid_t uid;
    enum relay_state state;
    struct http_request *req;  /* NULL: the client has gone */
    struct agentstream *agent; /* NULL: the agent has ended */
    int fd;
    uv_poll_t *poll; /* of fd, from OPEN on */
    bool reading;    /* poll waits for data of the client */
    uv_timer_t linger;
    struct carry_way up, down; /* to the agent, to the client */
    bool job_gone;       /* what the agent has sent is here; nothing more comes */
    bool is_session;
    uint8_t token[SESSION_TOKEN];
    struct relay *prev, *next;
};

struct state {
    struct relay *relays;
    size_t n;
};

static struct service_place place;
SERVICE_STATE_OF (struct state)

/* -- life -- */

static void on_timer_closed (uv_handle_t *handle)
{
    struct relay *r = handle->data;

    free (r->up.buf);
    free (r->down.buf);
    free (r);
}

static void on_poll_closed (uv_handle_t *handle)
{
    free (handle);
}

static void leave_client (struct relay *r)
{
    if (r->poll) {
        uv_poll_stop (r->poll);
        uv_close ((uv_handle_t *)r->poll, on_poll_closed);
        r->poll = NULL;
    }
    if (r->req && r->state >= RELAY_OPEN)
        http_upgraded_close (r->req);
    r->req = NULL;
}

/* In SWITCHING the relay waits for on_switched(). */
static void relay_end (struct relay *r)
{
    struct state *state = state_of (r->b);

    agentstream_close (r->agent);
    r->agent = NULL;
    if (r->state == RELAY_SWITCHING)
        return;
    leave_client (r);
    DL_DELETE (state->relays, r);
    state->n--;
    uv_timer_stop (&r->linger);
    uv_close ((uv_handle_t *)&r->linger, on_timer_closed);
}

static struct relay *relay_create (struct broker *b, const struct entry *e,
                                   struct http_request *req)
{
    struct relay *r = calloc (1, sizeof (*r));

    if (r) {
        r->up.buf = malloc (CARRY_BUFFER);
        r->down.buf = malloc (CARRY_BUFFER);
    }
    if (!r || !r->up.buf || !r->down.buf) {
        if (r) {
            free (r->up.buf);
            free (r->down.buf);
        }
        free (r);
        return NULL;
    }
    r->b = b;
    r->id = entry_id (e);
    r->uid = http_request_uid (req);
    r->req = req;
    r->fd = -1;
    const char *session = http_request_query (req, "session");
    r->is_session = session && session_parse (session, r->token);
    uv_timer_init (broker_loop (b), &r->linger);
    r->linger.data = r;
    DL_APPEND (state_of (b)->relays, r);
    state_of (b)->n++;
    return r;
}

/* -- carrying -- */

static ssize_t take_client (void *arg, char *buf, size_t len)
{
    struct relay *r = arg;
    ssize_t n = recv (r->fd, buf, len, MSG_DONTWAIT);

    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? -EAGAIN : -ECONNRESET;
    return n;
}

static ssize_t give_client (void *arg, const char *buf, size_t len)
{
    struct relay *r = arg;
    ssize_t n = send (r->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? -EAGAIN : -ECONNRESET;
    return n;
}

static ssize_t take_agent (void *arg, char *buf, size_t len)
{
    struct relay *r = arg;
    ssize_t n = r->agent ? agentstream_read (r->agent, buf, len) : 0;

    return n == -EAGAIN && r->job_gone ? 0 : n;
}

static ssize_t give_agent (void *arg, const char *buf, size_t len)
{
    struct relay *r = arg;
    return r->agent ? agentstream_write (r->agent, buf, len) : -ECONNRESET;
}

/* -- clients that have gone -- */

static void tell (struct relay *r)
{
    ssize_t n = -EAGAIN;

    while (r->up.len > 0
           && (n = agentstream_write (r->agent, r->up.buf + r->up.off, r->up.len)) > 0) {
        r->up.off += (size_t)n;
        r->up.len -= (size_t)n;
    }
    if (r->up.len > 0 && n == -EAGAIN)
        agentstream_want (r->agent, false, true);
    else
        relay_end (r);
}

static void on_tell_opened (const struct error *err, void *arg)
{
    if (err) /* the job is ending: nobody to tell */
        relay_end (arg);
    else
        tell (arg);
}

static void on_tell_ready (void *arg)
{
    tell (arg);
}

/* The client ended first. */
static void client_is_gone (struct relay *r)
{
    static const struct agentstream_events events = { .opened = on_tell_opened,
                                                      .ready = on_tell_ready };
    struct entry *e = r->is_session ? entry_find (r->b, r->id) : NULL;
    struct error err = { 0 };

    if (r->state != RELAY_OPEN || !e || !entry_exec_job (e)) {
        relay_end (r);
        return;
    }
    agentstream_close (r->agent);
    r->agent = NULL;
    leave_client (r);
    r->state = RELAY_TELLING;
    r->up.off = 0;
    r->up.len = session_encode (SESSION_GONE, r->token, 0, 0, (uint8_t *)r->up.buf);
    if (broker_ops (r->b)->connect (broker_exec (r->b), entry_exec_job (e), &events, r,
                                    &r->agent, &err)
        < 0)
        relay_end (r);
}

/* -- carrying on -- */

static void on_client (uv_poll_t *poll, int status, int events);

static void want (struct relay *r, enum carried up, enum carried down)
{
    r->reading = up == CARRY_WANT_TAKE;
    uv_poll_start (r->poll,
                   UV_DISCONNECT | (r->reading ? UV_READABLE : 0)
                       | (down == CARRY_WANT_GIVE ? UV_WRITABLE : 0),
                   on_client);
    if (r->agent)
        agentstream_want (r->agent, down == CARRY_WANT_TAKE, up == CARRY_WANT_GIVE);
}

static void on_linger (uv_timer_t *timer)
{
    relay_end (timer->data);
}

/* The client has everything and should close: closing a socket with unread input could
 * discard data that the client has not read. */
static void linger (struct relay *r)
{
    r->state = RELAY_LINGERING;
    agentstream_close (r->agent);
    r->agent = NULL;
    r->reading = true;
    shutdown (r->fd, SHUT_WR);
    uv_poll_start (r->poll, UV_READABLE, on_client);
    uv_timer_start (&r->linger, on_linger, LINGER_MS, 0);
}

/* The client has closed its socket. Messages that it sent before still count, such as
 * the end of an allocation, and must reach the agents before the report. */
static void client_closed (struct relay *r)
{
    if (r->state == RELAY_OPEN && !r->up.ended)
        carry (r, &r->up, take_client, give_agent);
    client_is_gone (r);
}

static void pump (struct relay *r)
{
    enum carried up = CARRY_ENDED, down;

    if (!r->up.ended) {
        up = carry (r, &r->up, take_client, give_agent);
        if (up == CARRY_ENDED || r->up.ended) { /* the client has ended */
            client_is_gone (r);
            return;
        }
        if (up == CARRY_BROKEN) { /* the agent has ended; it may have sent the reason */
            r->up.ended = true;
            r->up.len = 0;
        }
    }
    down = carry (r, &r->down, take_agent, give_client);
    if (down == CARRY_BROKEN)
        client_closed (r);
    else if (down == CARRY_ENDED)
        linger (r);
    else
        want (r, up, down);
}

static void discard (struct relay *r)
{
    ssize_t n = take_client (r, r->up.buf, CARRY_BUFFER);

    if (n <= 0 && n != -EAGAIN)
        relay_end (r);
}

static void on_client (uv_poll_t *poll, int status, int events)
{
    struct relay *r = poll->data;

    if (r->state == RELAY_LINGERING)
        discard (r);
    else if (status < 0 || (events & UV_DISCONNECT && !r->reading))
        client_closed (r);
    else
        pump (r);
}

static void on_agent_ready (void *arg)
{
    pump (arg);
}

/* -- from request to stream -- */

static int start_poll (struct relay *r)
{
    r->poll = calloc (1, sizeof (*r->poll));
    if (!r->poll || uv_poll_init (broker_loop (r->b), r->poll, r->fd) < 0) {
        free (r->poll);
        r->poll = NULL;
        return -ENOMEM;
    }
    r->poll->data = r;
    return uv_poll_start (r->poll, UV_WRITABLE, on_client);
}

static void on_switched (struct http_request *req, int fd, const char *data, size_t len,
                         void *arg)
{
    struct relay *r = arg;

    r->req = req;
    r->fd = fd;
    r->state = RELAY_OPEN;
    if (!req || !r->agent || len > CARRY_BUFFER || start_poll (r) < 0) {
        relay_end (r);
        return;
    }
    memcpy (r->up.buf, data, len);
    r->up.len = len;
}

static const struct {
    int errnum, status;
    const char *code;
} refusals[] = {
    { ESRCH, 409, "job-ended" },     { EAGAIN, 429, "too-many-connections" },
    { EBUSY, 503, "busy" },          { EOPNOTSUPP, 501, "no-agent" },
    { ENOMEM, 503, "busy" },         { ETIMEDOUT, 504, "agent-unreachable" },
    { 0, 502, "agent-unreachable" },
};

static void refuse (struct relay *r, const struct error *err)
{
    struct http_request *req = r->req;
    uintmax_t id = r->id;
    size_t i = 0;

    while (refusals[i].errnum && refusals[i].errnum != err->code)
        i++;
    r->req = NULL;
    relay_end (r);
    if (refusals[i].status == 429 || refusals[i].status == 503)
        http_reply_header (req, "Retry-After", "1");
    http_reply_problem (req, refusals[i].status, refusals[i].code, "job %ju: %s", id,
                        err->text);
}

static void on_opened (const struct error *err, void *arg)
{
    struct relay *r = arg;
    struct http_request *req = r->req;

    if (err) {
        refuse (r, err);
        return;
    }
    log_debug ("job %ju: a client of uid %u", (uintmax_t)r->id, (unsigned)r->uid);
    r->state = RELAY_SWITCHING;
    r->req = NULL;
    http_upgrade (req, AGENT_PROTOCOL, on_switched, r);
}

/* -- whether it may be -- */

static bool has_room (const struct broker *b, uid_t uid)
{
    const struct state *state = state_of (b);
    const struct relay *r;
    size_t n = 0;

    DL_FOREACH (state->relays, r) {
        n += r->uid == uid;
    }
    return state->n < RELAYS_MAX && n < RELAYS_USER_MAX;
}

/* Whether the job runs and its executor has it; false after an answer with its state. */
static bool runs (struct http_request *req, const struct broker *b, const struct entry *e,
                  const char *name)
{
    const struct job *job = entry_job (e);

    if (job->array)
        http_reply_problem (
            req, 409, "wrong-state",
            strchr (name, '_') ? "task %s has not started"
                               : "job %s is an array: name one of its tasks, as in %s_%u",
            name, name, idset_first (job->array->spec.tasks));
    else if (job->state == JOB_INACTIVE || (job->finished && !job->requeue))
        http_reply_problem (req, 409, "job-ended", "job %ju has ended: %s",
                            (uintmax_t)entry_id (e),
                            job_phase_name (job_result_phase (job)));
    else if (!job->started || job->finished)
        http_reply_problem (req, 409, "job-pending", "job %ju does not run yet: %s",
                            (uintmax_t)entry_id (e), job_phase_name (job_phase (job)));
    else if (!entry_exec_job (e) || broker_is_stopping (b)) {
        http_reply_header (req, "Retry-After", "1");
        http_reply_problem (req, 503, "busy", "the broker %s: try again",
                            broker_is_stopping (b) ? "stops" : "is starting");
    } else
        return true;
    return false;
}

/* The job to connect to, or NULL after an answer. */
static struct entry *admit (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    uint64_t id = 0;
    struct entry *e = api_entry (b, req, path, &id);

    if (!e) {
        if (id)
            http_reply_problem (req, 404, "unknown-job",
                                "job %ju is unknown, or ended long ago", (uintmax_t)id);
        return NULL;
    }
    if (!entry_job (e)->array && !api_require (b, req, path, e))
        return NULL;
    if (!http_request_wants_upgrade (req, AGENT_PROTOCOL)) {
        http_reply_header (req, "Upgrade", AGENT_PROTOCOL);
        http_reply_problem (req, 426, "upgrade-required",
                            "this needs the headers Connection: Upgrade and "
                            "Upgrade: " AGENT_PROTOCOL);
        return NULL;
    }
    if (!runs (req, b, e, path->arg))
        return NULL;
    if (has_room (b, http_request_uid (req)))
        return e;
    http_reply_header (req, "Retry-After", "1");
    http_reply_problem (req, 429, "too-many-connections",
                        "at most %d connections to jobs per user and %d in all: try "
                        "again when some have ended",
                        RELAYS_USER_MAX, RELAYS_MAX);
    return NULL;
}

static void api_job_connect (struct broker *b, struct http_request *req,
                             const struct api_path *path)
{
    static const struct agentstream_events events = { .opened = on_opened,
                                                      .ready = on_agent_ready };
    struct entry *e = admit (b, req, path);
    struct relay *r = e ? relay_create (b, e, req) : NULL;
    struct error err = { 0 };

    if (!e)
        return;
    if (!r)
        http_reply_problem (req, 503, "busy", "out of memory");
    else if (broker_ops (b)->connect (broker_exec (b), entry_exec_job (e), &events, r,
                                      &r->agent, &err)
             < 0)
        refuse (r, &err);
    else if (r->uid != entry_job (e)->userid)
        log_info ("job %ju of %s: uid %u connects to its agent", (uintmax_t)entry_id (e),
                  entry_job (e)->user, (unsigned)r->uid);
}

/* -- ends that come from elsewhere -- */

static void agent_is_gone (struct relay *r)
{
    struct error err = { 0 };

    error_set (&err, ESRCH, "it has ended");
    if (r->state == RELAY_ASKING) {
        refuse (r, &err);
        return;
    }
    if (r->state == RELAY_TELLING) {
        relay_end (r);
        return;
    }
    r->job_gone = true;
    if (r->state == RELAY_OPEN)
        pump (r); /* carries what is under way, then the end */
}

static void cleaned (struct broker *b, uint64_t id)
{
    struct relay *r, *next;

    DL_FOREACH_SAFE (state_of (b)->relays, r, next)
    {
        if (r->id == id && r->state != RELAY_LINGERING)
            agent_is_gone (r);
    }
}

static void stop (struct broker *b)
{
    struct error err = { 0 };
    struct relay *r, *next;

    error_set (&err, EIO, "the broker stops");
    DL_FOREACH_SAFE (state_of (b)->relays, r, next)
    {
        if (r->state == RELAY_ASKING)
            refuse (r, &err);
        else
            relay_end (r);
    }
}

static const struct api_route routes[] = {
    { "POST", "/v1/jobs/{}/connect", api_job_connect, ROLE_OWNER, "connect" },
    { 0 },
};

const struct broker_service service_relay = {
    .name = "relay",
    .place = &place,
    .state_size = sizeof (struct state),
    .stop = stop,
    .cleaned = cleaned,
    .routes = routes,
};
