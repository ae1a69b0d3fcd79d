/* callers.c - users of the HTTP server: privileges, and accounts of subordinate uids
 */
#include "broker/api/subuid.h"
#include "broker/core/service.h"

struct callers {
    struct subuids *subuids; /* or NULL */
    uint64_t readings;       /* of the subuid file, begun so far */
};

static struct service_place place;
SERVICE_STATE_OF (struct callers)

static bool is_privileged (uid_t uid, void *arg)
{
    return broker_is_administrator (arg, uid);
}

static uid_t account_of (uid_t uid, void *arg)
{
    return subuids_owner (state_of (arg)->subuids, uid);
}

/* -- subordinate uids, read on a worker: names are looked up -- */

struct reading {
    uv_work_t work;
    struct broker *b;
    uint64_t number;
    char *path;
    struct subuids *subuids;
    struct error err;
};

static void on_worker (uv_work_t *work)
{
    struct reading *r = work->data;

    r->subuids = subuids_read (r->path, &r->err);
}

static void after_worker (uv_work_t *work, int status)
{
    struct reading *r = work->data;
    struct callers *c = state_of (r->b);

    (void)status;
    if (!broker_is_dead (r->b)
        && r->number == c->readings) { /* no later reading was begun */
        subuids_destroy (c->subuids);
        c->subuids = r->subuids;
        r->subuids = NULL;
        if (r->err.code && r->err.code != ENOENT)
            log_warning ("subordinate uids count as users of their own: %s", r->err.text);
        if (subuids_count (c->subuids) > 0)
            log_debug ("%zu ranges of subordinate uids in %s", subuids_count (c->subuids),
                       r->path);
    }
    subuids_destroy (r->subuids);
    free (r->path);
    free (r);
}

static void read_subuids (struct broker *b)
{
    struct reading *r = calloc (1, sizeof (*r));

    if (r && (r->path = strdup (broker_config (b)->subuid_file))) {
        r->b = b;
        r->work.data = r;
        r->number = ++state_of (b)->readings;
        if (uv_queue_work (broker_loop (b), &r->work, on_worker, after_worker) == 0)
            return;
        free (r->path);
    }
    free (r);
    log_warning ("subordinate uids could not be read: out of memory");
}

static void configure (struct broker *b)
{
    const struct config_clients *c = &broker_config (b)->clients;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;

    limits.connections = (unsigned)c->connections;
    limits.reserve = (unsigned)c->reserve;
    limits.requests = (unsigned)c->requests;
    limits.burst = (unsigned)c->burst;
    http_server_set_limits (broker_http (b), &limits);
    read_subuids (b);
}

static int begin (struct broker *b, struct error *err)
{
    (void)err;
    http_server_set_users (broker_http (b), is_privileged, account_of);
    configure (b);
    return 0;
}

static void reloaded (struct broker *b, const struct config *old)
{
    (void)old;
    configure (b);
}

static void release (struct broker *b)
{
    subuids_destroy (state_of (b)->subuids);
}

const struct broker_service service_callers = {
    .name = "callers",
    .place = &place,
    .state_size = sizeof (struct callers),
    .begin = begin,
    .reloaded = reloaded,
    .release = release,
};
