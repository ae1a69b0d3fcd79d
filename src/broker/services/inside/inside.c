/* inside.c - Slurm's commands inside jobs: who may run what, and how many at once
 *
 *   FRAME_CALL --> exec_host call() --> slot.calls --room--> inside_server_start() (server.h)
 *                                           ^                        |
 *                                           +--the agent was not reached, a second later
 *
 * A command in a pod asks the agents, and rank 0 tells the broker. The broker starts a
 * server, which takes the client that has waited longest. When a server finds that nobody
 * waits, the other reports are old ones, which the broker has read again after a restart.
 *
 * The server's requests come over a connection that names the job's user (a guest of
 * net/http_server.h). They may do what `inside-jobs` in fluxq.yaml says, for that user
 * only, and nothing when the attempt of the job has ended.
 */
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/inside/server.h"
#include "protocol/inside.h"

#define SERVERS_MAX 128 /* at once */
#define SERVERS_USER_MAX 32
#define SERVERS_JOB_MAX 8
#define AGAIN 1.0 /* seconds */

/* -- what jobs may do -- */

enum right {
    RIGHT_READ = 1,
    RIGHT_SUBMIT = 2,
    RIGHT_CANCEL = 4,
    RIGHT_REQUEUE = 8,
    RIGHT_CHANGE = 16
};

static const struct right_name {
    const char *word;
    unsigned right;
} rights[] = {
    { "read", RIGHT_READ },       { "submit", RIGHT_SUBMIT }, { "cancel", RIGHT_CANCEL },
    { "requeue", RIGHT_REQUEUE }, { "change", RIGHT_CHANGE },
};

/* Other routes are not for commands inside jobs. */
static const struct {
    const char *pattern;
    enum right right;
} posts[] = {
    { "/v1/jobs", RIGHT_SUBMIT },
    { "/v1/cancel", RIGHT_CANCEL },
    { "/v1/jobs/{}/requeue", RIGHT_REQUEUE },
    { "/v1/jobs/{}/urgency", RIGHT_CHANGE },
    { "/v1/jobs/{}/limit", RIGHT_CHANGE },
    { "/v1/jobs/{}/resize", RIGHT_CHANGE },
};

struct settings {
    unsigned rights;
};

static int read_rights (const struct config_key *key, void *field, json_t *value,
                        const struct config_place *p)
{
    unsigned all = 0;

    (void)key;
    for (size_t i = 0; i < json_array_size (value); i++) {
        const char *word = json_string_value (json_array_get (value, i));
        unsigned before = all;
        for (size_t k = 0; word && k < ARRAY_SIZE (rights); k++)
            if (!strcmp (word, rights[k].word))
                all |= rights[k].right;
        if (all == before)
            return CONFIG_FAIL (
                p,
                "%s: expected a list of read, submit, cancel, requeue and "
                "change, each once",
                p->key);
    }
    if (!json_is_array (value))
        return CONFIG_FAIL (p,
                            "%s: expected a list of read, submit, cancel, requeue and "
                            "change",
                            p->key);
    *(unsigned *)field = all;
    return 0;
}

static const struct config_key keys[] = {
    { "inside-jobs", read_rights, CONFIG_FIELD (struct settings, rights), 0, 0, NULL },
    { 0 },
};
static const struct settings defaults = { .rights = RIGHT_READ | RIGHT_SUBMIT
                                                    | RIGHT_CANCEL | RIGHT_REQUEUE };

/* -- state -- */

struct call { /* a server */
    struct broker *b;
    uint64_t id, number;
    uint64_t reports; /* slot.reports when it started */
    uid_t uid;
    bool over; /* the attempt of the job has ended */
    struct inside_server *server;
    struct call *prev, *next;
};

struct slot {
    uint64_t id;
    uint64_t reports; /* of clients, so far */
    unsigned calls;   /* clients that may wait */
    unsigned servers; /* that run */
    bool listed;      /* in state.waiting */
    struct slot *prev, *next;
};

struct state {
    struct broker_timer timer; /* starts what waits */
    struct call *calls;
    size_t n;
    uint64_t last; /* number of a guest */
    struct slot *waiting;
};

static struct service_place place;
SERVICE_STATE_OF (struct state)
SERVICE_SLOT_OF (struct slot)
SERVICE_SETTINGS_OF (struct settings)

static void set_calls (struct state *state, struct slot *slot, unsigned calls)
{
    slot->calls = MIN (calls, (unsigned)INSIDE_WAITING_MAX);
    if ((slot->calls > 0) == slot->listed)
        return;
    slot->listed = slot->calls > 0;
    if (slot->listed)
        DL_APPEND (state->waiting, slot);
    else
        DL_DELETE (state->waiting, slot);
}

/* -- servers -- */

static bool has_room (const struct state *state, const struct slot *slot, uid_t uid)
{
    const struct call *c;
    size_t n = 0;

    DL_FOREACH (state->calls, c) {
        n += c->uid == uid;
    }
    return state->n < SERVERS_MAX && n < SERVERS_USER_MAX
           && slot->servers < SERVERS_JOB_MAX;
}

static void drop_call (struct call *c)
{
    struct state *state = state_of (c->b);

    DL_DELETE (state->calls, c);
    state->n--;
    free (c);
}

static void on_ended (void *arg, bool served, bool failed)
{
    struct call *c = arg;
    struct broker *b = c->b;
    struct state *state = state_of (b);
    struct entry *e = entry_find (b, c->id);
    struct slot *slot = e ? slot_of (e) : NULL;
    uint64_t newer = slot ? slot->reports - c->reports : 0;
    bool over = c->over;

    drop_call (c);
    if (slot)
        slot->servers--;
    if (slot && failed && !over)
        set_calls (state, slot, slot->calls + 1);
    else if (slot && !served) /* earlier reports are old ones */
        set_calls (state, slot, (unsigned)MIN (newer, (uint64_t)slot->calls));
    broker_timer_set (&state->timer, failed ? AGAIN : 0);
}

/* False: not now. */
static bool start_server (struct broker *b, struct entry *e)
{
    struct state *state = state_of (b);
    struct slot *slot = slot_of (e);
    struct call *c = calloc (1, sizeof (*c));

    if (!c)
        return false;
    c->b = b;
    c->id = entry_id (e);
    c->uid = entry_job (e)->userid;
    c->number = ++state->last;
    c->reports = slot->reports;
    c->server = inside_server_start (b, e, c->number, on_ended, c);
    if (!c->server) {
        free (c);
        return false;
    }
    DL_APPEND (state->calls, c);
    state->n++;
    slot->servers++;
    set_calls (state, slot, slot->calls - 1);
    return true;
}

static bool runs (const struct entry *e)
{
    return entry_exec_job (e) && entry_job (e)->started && !entry_job (e)->finished;
}

static void start_waiting (struct broker *b)
{
    struct state *state = state_of (b);
    struct slot *slot, *next;
    bool again = false;

    if (broker_is_stopping (b))
        return;
    DL_FOREACH_SAFE (state->waiting, slot, next)
    {
        struct entry *e = entry_find (b, slot->id);
        bool fine = e && slot_of (e) == slot && runs (e);
        while (fine && slot->calls > 0 && has_room (state, slot, entry_job (e)->userid))
            fine = start_server (b, e);
        again |= !fine; /* for this job; the others do not wait for it */
    }
    if (again)
        broker_timer_set (&state->timer, AGAIN);
}

/* -- from the executor -- */

static void host_call (void *arg, uint64_t id)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);

    if (!e || entry_job (e)->finished)
        return;
    struct slot *slot = slot_of (e);
    slot->id = id;
    slot->reports++;
    set_calls (state_of (b), slot, slot->calls + 1);
    broker_timer_set (&state_of (b)->timer, 0);
}

static bool host_is_own (void *arg, pid_t pid)
{
    (void)arg;
    return inside_server_has (pid);
}

static void host_init (struct broker *b, struct exec_host *host)
{
    (void)b;
    host->call = host_call;
    host->is_own = host_is_own;
}

/* -- the requests of servers -- */

static unsigned right_of (const struct api_route *route)
{
    if (!(route->roles & (ROLE_USER | ROLE_OWNER)))
        return 0;
    if (!strcmp (route->method, "GET"))
        return RIGHT_READ;
    for (size_t i = 0; !strcmp (route->method, "POST") && i < ARRAY_SIZE (posts); i++)
        if (!strcmp (route->pattern, posts[i].pattern))
            return posts[i].right;
    return 0;
}

static const char *word_of (unsigned right)
{
    for (size_t i = 0; i < ARRAY_SIZE (rights); i++)
        if (rights[i].right == right)
            return rights[i].word;
    return "";
}

static bool refuses (struct broker *b, struct http_request *req,
                     const struct api_route *route)
{
    uint64_t number = http_request_guest (req);
    const struct call *c = state_of (b)->calls;
    unsigned right = right_of (route);

    if (number == 0)
        return false;
    while (c && c->number != number)
        c = c->next;
    if (!c || c->over)
        http_reply_problem (req, 403, "job-ended", "the job of this command has ended");
    else if (right == 0)
        http_reply_problem (
            req, 403, "inside-job",
            "a command inside a job may not do this: run the command on the "
            "login node");
    else if (!(settings_of (b)->rights & right))
        http_reply_problem (req, 403, "inside-job",
                            "commands inside jobs may not do this here: inside-jobs in "
                            "fluxq.yaml does not have '%s'",
                            word_of (right));
    else
        return false;
    return true;
}

/* -- ends -- */

static void end_servers (struct broker *b, const uint64_t *id)
{
    struct call *c, *next;

    DL_FOREACH_SAFE (state_of (b)->calls, c, next)
    {
        if (id && c->id != *id)
            continue;
        inside_server_kill (c->server);
        drop_call (c);
    }
}

/* A request that ends the attempt (requeue) is answered after this. */
static void attempt_ends (struct broker *b, struct entry *e)
{
    struct call *c;

    set_calls (state_of (b), slot_of (e), 0);
    DL_FOREACH (state_of (b)->calls, c) {
        if (c->id != entry_id (e) || c->over)
            continue;
        c->over = true;
        inside_server_leave (c->server);
    }
}

static void forget (struct broker *b, struct entry *e)
{
    struct slot *slot = slot_of (e);
    uint64_t id = entry_id (e);

    set_calls (state_of (b), slot, 0);
    slot->servers = 0;
    end_servers (b, &id);
}

static void stop (struct broker *b)
{
    end_servers (b, NULL);
}

static void close_all (struct broker *b)
{
    end_servers (b, NULL);
    inside_servers_close ();
}

const struct broker_service service_inside = {
    .name = "inside",
    .place = &place,
    .state_size = sizeof (struct state),
    .slot_size = sizeof (struct slot),
    .timer = offsetof (struct state, timer),
    .on_timer = start_waiting,
    .settings = &settings,
    .host = host_init,
    .stop = stop,
    .close = close_all,
    .attempt_ends = attempt_ends,
    .goes = forget,
    .refuses = refuses,
};
