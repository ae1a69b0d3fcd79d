/* agentmap.c - the ConfigMap that carries the agent into the pods: made when a job needs
 * it, removed when no job has needed it for a while; one for each namespace (see
 * spaces.h)
 *
 * While the ConfigMap exists, a watch of its name alone watches it: somebody may delete
 * it, and kubelets wait for it with every pod that starts then. So it is made again where
 * jobs have pods. If the whole namespace was deleted, nobody may make it: jobs that have
 * lost their pods do not count.
 */
#include "exec/kube/make/objects.h"
#include "exec/kube/namespaces/spaces.h"

#include "common/clock.h"
#include "common/io.h"
#include "common/log.h"
#include "common/sha256.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

#define AGENT_MAX (700 << 10) /* a ConfigMap holds 1 MiB, in base64 */
#define IDLE_SECONDS 30.0
#define HASH_DIGITS 10
#define LOST_WAIT 2.0  /* until a deleted one is made again */
#define LOST_AGAIN 5.0 /* seconds between two tries to make a deleted one */

int agentmap_load (struct exec *x, struct error *err)
{
    struct sha256 ctx;
    uint8_t hash[SHA256_SIZE];

    strbuf_init (&x->agent, AGENT_MAX + 1);
    int rc = io_read_file (x->host.shell_path, &x->agent, AGENT_MAX, err);
    if (rc < 0)
        return error_prefix (err, "the agent");
    sha256_init (&ctx);
    sha256_update (&ctx, x->agent.buf, x->agent.len);
    sha256_final (&ctx, hash);
    hex_encode (hash, sizeof (hash), x->agent_digest);
    snprintf (x->agent_name, sizeof (x->agent_name), "fluxq-agent-%s-%.*s",
              x->host.cluster_id, HASH_DIGITS, x->agent_digest);
    return 0;
}

struct kube_request *agentmap_delete (struct kspace *s, kube_done_f *done)
{
    char path[512];

    snprintf (path, sizeof (path), PATH_CORE "%s/configmaps/%s", s->name,
              s->x->agent_name);
    agentmap_unwatch (s);
    return kube_send (s->x->kube, "DELETE", path, NULL, done, s);
}

/* -- as the watch tells -- */

static void lost (struct kspace *s)
{
    if (s->agent_state != AGENTMAP_THERE)
        return;
    s->agent_state = AGENTMAP_UNKNOWN;
    s->agent_lost = s->njobs > 0;
    s->agent_again = clock_mono () + LOST_WAIT;
    if (s->agent_lost)
        log_warning ("kube: the agent's ConfigMap %s/%s was deleted, not by fluxq",
                     s->name, s->x->agent_name);
}

static void on_changed (json_t *object, bool is_new, void *arg)
{
    struct kspace *s = arg;

    (void)object;
    (void)is_new;
    s->agent_seen = true;
}

static void on_deleted (const char *ns, const char *name, json_t *object, void *arg)
{
    struct kspace *s = arg;

    (void)ns;
    (void)name;
    (void)object;
    s->agent_seen = false;
    lost (s);
}

static void on_listed (void *arg)
{
    struct kspace *s = arg;

    if (!s->agent_seen)
        lost (s);
}

static const struct kube_watch_events events = { .changed = on_changed,
                                                 .deleted = on_deleted,
                                                 .listed = on_listed };

void agentmap_there (struct kspace *s)
{
    char path[512], query[OBJECT_NAME_MAX + 64];

    s->agent_state = AGENTMAP_THERE;
    s->agent_lost = false;
    if (s->agent_watch)
        return;
    snprintf (path, sizeof (path), "/api/v1/namespaces/%s/configmaps", s->name);
    snprintf (query, sizeof (query), "fieldSelector=metadata.name%%3D%s",
              s->x->agent_name);
    s->agent_seen = false;
    s->agent_watch = kube_watch_start (s->x->kube, path, query, &events, s, NULL);
}

void agentmap_unwatch (struct kspace *s)
{
    kube_watch_stop (s->agent_watch);
    s->agent_watch = NULL;
}

/* -- made and removed -- */

static void on_made (const struct kube_result *res, void *arg)
{
    struct kspace *s = arg;

    s->agent_req = NULL;
    if (res->status == 201 || res->status == 200 || res->status == 409)
        agentmap_there (s); /* its name is the hash of its content */
    else {
        s->agent_state = AGENTMAP_UNKNOWN;
        s->agent_err = res->err;
        error_prefix (&s->agent_err, "the agent's ConfigMap");
        log_error ("kube: %s", s->agent_err.text);
        space_doubt (s, res);
    }
    space_poke_jobs (s);
}

bool agentmap_ensure (struct kspace *s, bool always)
{
    struct exec *x = s->x;
    char path[512];
    json_t *object;

    if (s->agent_state == AGENTMAP_THERE || (x->cfg.agent_image && !always))
        return true;
    if (s->agent_state != AGENTMAP_UNKNOWN || s->agent_err.code)
        return false;
    object = object_agent (x->host.cluster_id, s->name, x->agent_name, x->agent.buf,
                           x->agent.len);
    snprintf (path, sizeof (path), "/api/v1/namespaces/%s/configmaps", s->name);
    if (object)
        s->agent_req = kube_send (x->kube, "POST", path, object, on_made, s);
    if (s->agent_req)
        s->agent_state = AGENTMAP_ASKED;
    else
        error_set (&s->agent_err, ENOMEM, "out of memory");
    return false;
}

static void on_removed (const struct kube_result *res, void *arg)
{
    struct kspace *s = arg;

    s->agent_req = NULL;
    s->agent_state = AGENTMAP_UNKNOWN;
    if (res->status != 404 && (res->status < 200 || res->status > 299)) {
        log_warning ("kube: the agent's ConfigMap cannot be removed: %s", res->err.text);
        agentmap_there (s);
        s->agent_idle_since = 0;
        space_doubt (s, res); /* it has gone with its namespace */
    }
    space_poke_jobs (s);
}

/* Whether a job there has pods, or will have some in a moment. */
static bool is_missed (const struct kspace *s)
{
    const struct kjob *k, *tmp;

    HASH_ITER (hh, s->x->jobs, k, tmp) {
        if (k->space == s && !k->told && !k->have_fin && k->parts[0].uid[0]
            && k->phase >= K_CREATE && k->phase <= K_RUN)
            return true;
    }
    return false;
}

static void find_again (struct kspace *s, double now)
{
    bool missed = is_missed (s);

    if (missed && s->agent_state == AGENTMAP_UNKNOWN && now >= s->agent_again) {
        s->agent_again = now + LOST_AGAIN;
        agentmap_ensure (s, true);
    } else if (!missed && s->agent_state == AGENTMAP_ASKED) {
        kube_cancel (s->agent_req);
        s->agent_req = NULL;
        s->agent_state = AGENTMAP_UNKNOWN;
        s->agent_lost = false;
    }
}

static void tick_of (struct kspace *s, double now)
{
    s->agent_err.code = 0; /* the next job tries again */
    if (s->agent_lost)
        find_again (s, now);
    if (s->njobs > 0 || s->agent_state != AGENTMAP_THERE) {
        s->agent_idle_since = 0;
        return;
    }
    if (s->agent_idle_since == 0)
        s->agent_idle_since = now;
    if (now - s->agent_idle_since < IDLE_SECONDS)
        return;
    if ((s->agent_req = agentmap_delete (s, on_removed)))
        s->agent_state = AGENTMAP_LEAVING;
}

void agentmap_tick (struct exec *x, double now)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        tick_of (s, now);
    }
}
