/* agentmap.c - the ConfigMap that carries the agent into the pods: made when a job needs
 * it, removed when none has been there for a while; one for each
 * namespace (see private.h)
 */
#include "exec/kube/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/io.h"
#include "common/log.h"
#include "common/sha256.h"

#define AGENT_MAX (700 << 10) /* a ConfigMap holds 1 MiB, in base64 */
#define IDLE_SECONDS 30.0
#define HASH_DIGITS 10

int agentmap_load (struct exec *x, struct error *err)
{
    struct sha256 ctx;
    uint8_t hash[SHA256_SIZE];
    int rc;

    strbuf_init (&x->agent, AGENT_MAX + 1);
    rc = io_read_file (x->host.shell_path, &x->agent, AGENT_MAX, err);
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

char *agentmap_path (const struct kspace *s)
{
    char *path = NULL;

    if (asprintf (&path, "/api/v1/namespaces/%s/configmaps/%s", s->name, s->x->agent_name)
        < 0)
        return NULL;
    return path;
}

static void on_made (const struct kube_result *res, void *arg)
{
    struct kspace *s = arg;

    s->agent_req = NULL;
    if (res->status == 201 || res->status == 200 || res->status == 409)
        s->agent_state = AGENTMAP_THERE; /* its name is its content's hash */
    else {
        s->agent_state = AGENTMAP_UNKNOWN;
        s->agent_err = res->err;
        error_prefix (&s->agent_err, "the agent's ConfigMap");
        log_error ("kube: %s", s->agent_err.text);
        space_doubt (s, res);
    }
    spaces_poke (s);
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
        s->agent_state = AGENTMAP_THERE;
        s->agent_idle_since = 0;
        space_doubt (s, res); /* with its namespace it has gone */
    }
    spaces_poke (s);
}

static void tick_of (struct kspace *s, double now)
{
    autofree char *path = NULL;

    s->agent_err.code = 0; /* another try for the next job */
    if (s->njobs > 0 || s->agent_state != AGENTMAP_THERE) {
        s->agent_idle_since = 0;
        return;
    }
    if (s->agent_idle_since == 0)
        s->agent_idle_since = now;
    if (now - s->agent_idle_since < IDLE_SECONDS)
        return;
    path = agentmap_path (s);
    s->agent_req =
        path ? kube_send (s->x->kube, "DELETE", path, NULL, on_removed, s) : NULL;
    if (s->agent_req)
        s->agent_state = AGENTMAP_LEAVING;
}

void agentmap_tick (struct exec *x, double now)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        tick_of (s, now);
    }
}
