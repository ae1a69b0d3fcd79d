/* agentmap.c - the ConfigMap that carries the agent into the pods: made when a job needs
 * it, removed when none has been there for a while (see private.h)
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

char *agentmap_path (const struct exec *x)
{
    char *path = NULL;

    if (asprintf (&path, "/api/v1/namespaces/%s/configmaps/%s", x->namespace_,
                  x->agent_name)
        < 0)
        return NULL;
    return path;
}

static void poke_all (struct exec *x)
{
    struct kjob *k, *tmp;

    HASH_ITER (hh, x->jobs, k, tmp) {
        job_poke (k);
    }
}

static void on_made (const struct kube_result *res, void *arg)
{
    struct exec *x = arg;

    x->agent_req = NULL;
    if (res->status == 201 || res->status == 200 || res->status == 409)
        x->agent_state = AGENTMAP_THERE; /* its name is its content's hash */
    else {
        x->agent_state = AGENTMAP_UNKNOWN;
        x->agent_err = res->err;
        error_prefix (&x->agent_err, "the agent's ConfigMap");
        log_error ("kube: %s", x->agent_err.text);
    }
    poke_all (x);
}

bool agentmap_ensure (struct exec *x)
{
    char path[512];
    json_t *object;

    if (x->agent_state == AGENTMAP_THERE || x->cfg.agent_image)
        return true;
    if (x->agent_state != AGENTMAP_UNKNOWN || x->agent_err.code)
        return false;
    object = object_agent (x->host.cluster_id, x->namespace_, x->agent_name, x->agent.buf,
                           x->agent.len);
    snprintf (path, sizeof (path), "/api/v1/namespaces/%s/configmaps", x->namespace_);
    if (object)
        x->agent_req = kube_send (x->kube, "POST", path, object, on_made, x);
    if (x->agent_req)
        x->agent_state = AGENTMAP_ASKED;
    else
        error_set (&x->agent_err, ENOMEM, "out of memory");
    return false;
}

static void on_removed (const struct kube_result *res, void *arg)
{
    struct exec *x = arg;

    x->agent_req = NULL;
    x->agent_state = AGENTMAP_UNKNOWN;
    if (res->status != 404 && (res->status < 200 || res->status > 299)) {
        log_warning ("kube: the agent's ConfigMap cannot be removed: %s", res->err.text);
        x->agent_state = AGENTMAP_THERE;
        x->agent_idle_since = 0;
    }
    poke_all (x);
}

void agentmap_tick (struct exec *x, double now)
{
    autofree char *path = NULL;

    x->agent_err.code = 0; /* another try for the next job */
    if (x->jobs || x->agent_state != AGENTMAP_THERE) {
        x->agent_idle_since = 0;
        return;
    }
    if (x->agent_idle_since == 0)
        x->agent_idle_since = now;
    if (now - x->agent_idle_since < IDLE_SECONDS)
        return;
    path = agentmap_path (x);
    x->agent_req = path ? kube_send (x->kube, "DELETE", path, NULL, on_removed, x) : NULL;
    if (x->agent_req)
        x->agent_state = AGENTMAP_LEAVING;
}
