/* lease.c - see lease.h
 *
 *            404: create
 *   look ----------------------> take --granted--> renew --granted--> renew
 *    ^   free, expired: update    |                  |  409: somebody wrote: look
 *    +----------------------------+ 409              +--not ours, gone, or no answer for
 *                                                       LEASE_DEADLINE--> end
 *
 * One request at a time. A request without an answer after ANSWER_SECONDS is given up,
 * since its connection may be dead. The answer to the next request shows whether it was
 * carried out.
 */
#include "exec/kube/lease.h"

#include "common/clock.h"
#include "common/io.h"
#include "common/log.h"
#include "common/sha256.h"
#include "exec/kube/core/names.h"
#include "kube/client.h"
#include "kube/object.h"

#define TICK_MS 250
#define LOOK_SECONDS 1.0
#define ANSWER_SECONDS 3.0
#define RELEASE_SECONDS 2.0
#define REFUSED_SECONDS 30.0 /* an API server refuses all just after its start */
#define DURATION_MAX 3600    /* limit for the durations of others */
#define TEXT_MAX 256

struct lease {
    struct exec_claim claim; /* first */
    uv_loop_t *loop;
    struct httpc *http;
    struct kube *kube;
    uv_timer_t timer;
    char *namespace_;
    char name[OBJECT_NAME_MAX], list_path[512], path[512 + OBJECT_NAME_MAX];
    char me[TEXT_MAX], state[33];
    json_t *object; /* as last seen, or as we wrote it; NULL: none */
    struct kube_request *req;
    double asked;   /* clock_boot() when req was sent */
    double seen;    /* when this version of object was first seen */
    double refused; /* first refusal of an unbroken series; 0: none */
    bool held;
    bool acting;    /* since begin(): we may act */
    double renewed; /* when the last renewal was sent that was granted */
    char told[TEXT_MAX];
    bool late; /* the release has taken too long */
    bool trouble_told;
    int rc; /* why waiting is useless */
    struct error err;
};

static const char *holder_of (const json_t *lease)
{
    return json_text (json_object_get (lease, "spec"), "holderIdentity");
}

static const char *version_of (const json_t *lease)
{
    return json_text (json_object_get (lease, "metadata"), "resourceVersion");
}

static const char *state_of (const json_t *lease)
{
    const json_t *meta = json_object_get (lease, "metadata");

    return json_text (json_object_get (meta, "annotations"), LEASE_STATE);
}

enum lease_view lease_judge (const json_t *lease, const char *state, double unchanged)
{
    json_int_t duration = json_integer_value (
        json_object_get (json_object_get (lease, "spec"), "leaseDurationSeconds"));

    if (state_of (lease)[0] && strcmp (state_of (lease), state) != 0)
        return LEASE_FOREIGN;
    if (!holder_of (lease)[0])
        return LEASE_FREE;
    if (duration < LEASE_SECONDS)
        duration = LEASE_SECONDS;
    return unchanged > (double)MIN (duration, DURATION_MAX) ? LEASE_EXPIRED : LEASE_TAKEN;
}

/* -- writes -- */

/* Makes the new Lease; holder "": nobody. New reference. */
static json_t *make_object (const struct lease *l, const char *holder)
{
    const json_t *spec = json_object_get (l->object, "spec");
    json_int_t transitions =
        json_integer_value (json_object_get (spec, "leaseTransitions"));
    const char *acquired = json_text (spec, "acquireTime");
    bool ours = strcmp (holder_of (l->object), l->me) == 0;
    char now[KUBE_TIME_MAX];

    kube_time_write (clock_wall (), true, now);
    return json_pack (
        "{s:s s:s s:{s:s s:s s:s* s:{s:s s:s} s:{s:s}} s:{s:s s:i s:s s:s s:I}}",
        "apiVersion", "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name",
        l->name, "namespace", l->namespace_, "resourceVersion",
        l->object ? version_of (l->object) : NULL, "labels", LABEL_MANAGED, "fluxq",
        LABEL_CLUSTER, l->name + sizeof ("fluxq-") - 1, "annotations", LEASE_STATE,
        l->state, "spec", "holderIdentity", holder, "leaseDurationSeconds", LEASE_SECONDS,
        "acquireTime", ours && acquired[0] ? acquired : now, "renewTime", now,
        "leaseTransitions", transitions + (l->object && !ours ? 1 : 0));
}

/* -- asking -- */

static void ask (struct lease *l, const char *method, const char *path, json_t *body,
                 kube_done_f *done)
{
    l->asked = clock_boot ();
    l->req = kube_send (l->kube, method, path, body, done, l);
}

static void see (struct lease *l, json_t *object)
{
    if (!l->object || strcmp (version_of (object), version_of (l->object)) != 0)
        l->seen = clock_boot ();
    json_incref (object);
    json_decref (l->object);
    l->object = object;
}

static void fail (struct lease *l, int rc, const struct error *err, const char *more)
{
    l->rc = rc;
    error_set (&l->err, -rc, "%s%s", err->text, more);
    error_prefix (&l->err, "kube.lease: %s in namespace %s", l->name, l->namespace_);
}

/* Waiting is useless if the API server refuses us for longer than it needs to start. */
static void refused (struct lease *l, const struct kube_result *res)
{
    if (l->refused == 0) {
        l->refused = clock_boot ();
        log_warning ("kube: the lease %s: %s", l->name, res->err.text);
    }
    if (res->status != 401 && res->status != 403)
        fail (l, -EINVAL, &res->err, "");
    else if (clock_boot () - l->refused > REFUSED_SECONDS)
        fail (l, -EACCES, &res->err, " (etc/kubernetes/rbac.yaml has what is needed)");
}

static bool is_refusal (const struct kube_result *res)
{
    return res->status == 401 || res->status == 403 || res->status == 422
           || res->status == 400;
}

/* -- while it is ours -- */

static _Noreturn void end (const char *name, const char *why)
{
    log_error ("kube: the lease %s %s: another broker may act now, so this one ends",
               name, why);
    _exit (1);
}

static void check (struct exec_claim *c)
{
    struct lease *l = (struct lease *)c;
    char why[80];

    if (!l->acting || clock_boot () - l->renewed <= LEASE_DEADLINE)
        return;
    snprintf (why, sizeof (why), "could not be renewed for %.1f s",
              clock_boot () - l->renewed);
    end (l->name, why);
}

/* Reading the state may have taken longer than the Lease lasts. Unless another broker has
 * taken it, a renewal is enough: nothing was done meanwhile. */
static void begin (struct exec_claim *c)
{
    struct lease *l = (struct lease *)c;
    double fresh = clock_boot () - LEASE_RENEW;

    while (l->renewed < fresh) /* or the process ends in on_looked_again() */
        uv_run (l->loop, UV_RUN_ONCE);
    l->acting = true;
}

static void on_looked_again (const struct kube_result *res, void *arg)
{
    struct lease *l = arg;

    l->req = NULL;
    if (res->status == 404)
        end (l->name, "was deleted");
    if (res->status != 200)
        return;
    if (strcmp (holder_of (res->body), l->me) != 0)
        end (l->name, "was taken");
    see (l, res->body); /* somebody has annotated it, or an answer to us was lost */
}

static void on_renewed (const struct kube_result *res, void *arg)
{
    struct lease *l = arg;

    l->req = NULL;
    check (&l->claim);
    if (res->status == 200) {
        if (l->trouble_told)
            log_info ("kube: the lease %s is renewed again", l->name);
        l->trouble_told = false;
        l->renewed = l->asked;
        see (l, res->body);
    } else if (res->status == 409 || res->status == 404) {
        ask (l, "GET", l->path, NULL, on_looked_again);
    } else if (!l->trouble_told) {
        l->trouble_told = true;
        log_warning ("kube: the lease %s cannot be renewed: %s", l->name, res->err.text);
    }
}

/* -- until it is -- */

static void on_taken (const struct kube_result *res, void *arg)
{
    struct lease *l = arg;

    l->req = NULL;
    if (res->status == 200 || res->status == 201) {
        l->held = true;
        l->renewed = l->asked;
        see (l, res->body);
    } else if (is_refusal (res) || res->status == 404) {
        refused (l, res);
    }
}

static void tell (struct lease *l, const char *holder)
{
    if (strcmp (l->told, holder) == 0)
        return;
    snprintf (l->told, sizeof (l->told), "%s", holder);
    log_info ("kube: waiting: the broker %s has the lease %s in namespace %s", holder,
              l->name, l->namespace_);
}

static void on_looked (const struct kube_result *res, void *arg)
{
    struct lease *l = arg;
    struct error err = { 0 };

    l->req = NULL;
    if (res->status == 404) {
        json_decref (l->object);
        l->object = NULL;
        ask (l, "POST", l->list_path, make_object (l, l->me), on_taken);
    } else if (is_refusal (res)) {
        refused (l, res);
    } else if (res->status == 200) {
        l->refused = 0;
        see (l, res->body);
        switch (lease_judge (l->object, l->state, clock_boot () - l->seen)) {
        case LEASE_TAKEN:
            tell (l, holder_of (l->object));
            break;
        case LEASE_FOREIGN:
            error_set (&err, EEXIST,
                       "it belongs to a broker with another state (%s): use that state "
                       "directory or another cluster-id, or delete the lease if that "
                       "state is gone for good",
                       holder_of (l->object)[0] ? holder_of (l->object) : "not running");
            fail (l, -EEXIST, &err, "");
            break;
        default:
            ask (l, "PUT", l->path, make_object (l, l->me), on_taken);
        }
    }
}

static void on_tick (uv_timer_t *timer)
{
    struct lease *l = timer->data;
    double now = clock_boot ();

    check (&l->claim);
    if (l->req && now - l->asked > ANSWER_SECONDS) {
        kube_cancel (l->req);
        l->req = NULL;
    }
    if (l->req || l->rc < 0)
        return;
    if (l->held && now - l->renewed >= LEASE_RENEW)
        ask (l, "PUT", l->path, make_object (l, l->me), on_renewed);
    else if (!l->held && now - l->asked >= LOOK_SECONDS)
        ask (l, "GET", l->path, NULL, on_looked);
}

/* -- the end -- */

static void lease_free (struct lease *l)
{
    json_decref (l->object);
    free (l->namespace_);
    free (l);
}

static void on_timer_closed (uv_handle_t *handle)
{
    lease_free (handle->data);
}

/* Handles close on the loop's next turns. */
static void lease_destroy (struct lease *l)
{
    if (l->kube) {
        kube_cancel (l->req);
        kube_destroy (l->kube);
    }
    if (l->http)
        httpc_destroy (l->http);
    if (l->kube) /* it has the timer, too, which comes last */
        uv_close ((uv_handle_t *)&l->timer, on_timer_closed);
    else
        lease_free (l);
}

static void rest (struct exec_claim *c)
{
    struct lease *l = (struct lease *)c;

    uv_timer_stop (&l->timer);
    kube_cancel (l->req);
    l->req = NULL;
}

static void on_released (const struct kube_result *res, void *arg)
{
    struct lease *l = arg;

    (void)res;
    l->req = NULL;
}

static void on_release_late (uv_timer_t *timer)
{
    struct lease *l = timer->data;

    l->late = true;
}

/* If this request fails, the Lease expires. */
static void release (struct exec_claim *c)
{
    struct lease *l = (struct lease *)c;

    rest (c);
    if (l->held) {
        ask (l, "PUT", l->path, make_object (l, ""), on_released);
        uv_timer_start (&l->timer, on_release_late, (uint64_t)(RELEASE_SECONDS * 1000),
                        0);
        while (l->req && !l->late)
            uv_run (l->loop, UV_RUN_ONCE);
    }
    uv_loop_t *loop = l->loop;
    lease_destroy (l);
    uv_run (loop, UV_RUN_DEFAULT);
}

/* -- the beginning -- */

/* Reads the identity, made once for a state directory: 32 digits. */
static int read_identity (struct lease *l, const char *state_dir, struct error *err)
{
    autofree char *path = NULL;
    autostrbuf struct strbuf text = STRBUF_INIT (64);
    uint8_t number[16];
    int rc;

    if (asprintf (&path, "%s/identity", state_dir) < 0) {
        path = NULL;
        return error_set (err, ENOMEM, "out of memory");
    }
    if (access (path, F_OK) < 0 && errno == ENOENT) {
        rc = secret_random (number, sizeof (number));
        if (rc < 0)
            return error_errno (err, -rc, "no random numbers");
        hex_encode (number, sizeof (number), l->state);
        return io_write_file_atomic (path, l->state, strlen (l->state), 0600, err);
    }
    rc = io_read_file (path, &text, 63, err);
    if (rc < 0)
        return rc;
    if (text.len != 32 || strspn (text.buf, "0123456789abcdef") != 32)
        return error_set (err, EINVAL, "%s: there is no number in it", path);
    snprintf (l->state, sizeof (l->state), "%s", text.buf);
    return 0;
}

static int name_ourselves (struct lease *l, struct error *err)
{
    char host[128] = "";
    uint32_t chance;
    int rc = secret_random (&chance, sizeof (chance));

    if (rc < 0)
        return error_errno (err, -rc, "no random numbers");
    if (gethostname (host, sizeof (host) - 1) < 0)
        return error_errno (err, errno, "gethostname");
    snprintf (l->me, sizeof (l->me), "%s_%d_%08x", host, (int)getpid (), chance);
    return 0;
}

static int connect_server (struct lease *l, const struct kube_config *cfg,
                           const char *cluster, struct error *err)
{
    struct kubeconfig *kc = kubeconfig_load (cfg->kubeconfig, cfg->context, err);
    const char *ns = cfg->namespace_;

    if (!kc)
        return -EINVAL;
    if (!ns)
        ns = kc->namespace_ ? kc->namespace_ : "default";
    l->namespace_ = strdup (ns);
    l->http = httpc_create (l->loop, err);
    if (!l->http || !l->namespace_) {
        kubeconfig_destroy (kc);
        return error_set (err, ENOMEM, "out of memory");
    }
    snprintf (l->name, sizeof (l->name), "fluxq-%s", cluster);
    snprintf (l->list_path, sizeof (l->list_path),
              "/apis/coordination.k8s.io/v1/namespaces/%s/leases", l->namespace_);
    snprintf (l->path, sizeof (l->path), "%s/%s", l->list_path, l->name);
    l->kube = kube_create (l->http, l->loop, kc, err);
    if (!l->kube)
        return -ENOMEM;
    uv_timer_init (l->loop, &l->timer);
    l->timer.data = l;
    return 0;
}

int lease_claim (const struct exec_host *host, const struct kube_config *cfg,
                 struct exec_claim **ret, struct error *err)
{
    struct lease *l = calloc (1, sizeof (*l));
    int rc;

    if (!l)
        return error_set (err, ENOMEM, "out of memory");
    l->claim = (struct exec_claim){
        .begin = begin, .check = check, .rest = rest, .release = release
    };
    l->loop = host->loop;
    if ((rc = read_identity (l, host->state_dir, err)) < 0
        || (rc = name_ourselves (l, err)) < 0
        || (rc = connect_server (l, cfg, host->cluster_id, err)) < 0) {
        lease_destroy (l);
        return rc;
    }
    uv_timer_start (&l->timer, on_tick, 0, TICK_MS);
    while (!l->held && l->rc == 0)
        uv_run (l->loop, UV_RUN_ONCE);
    if (l->rc < 0) {
        rc = l->rc;
        *err = l->err;
        lease_destroy (l);
        return rc;
    }
    log_info ("kube: this broker has the lease %s as %s", l->name, l->me);
    *ret = &l->claim;
    return 0;
}
