/* needmake.c - makes the objects that ask for nodes (see needs.h) */
#include "exec/kube/needs/needs_private.h"

#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kspace.h"

/* -- calls -- */

void need_call_free (struct need_call *c)
{
    DL_DELETE (c->x->needs->calls, c);
    free (c->name);
    free (c);
}

/* body: taken over. 0 or -ENOMEM. */
int need_call_send (struct need_call like, const char *method, const char *path,
                    json_t *body, kube_done_f *done)
{
    struct need_call *c = malloc (sizeof (*c));

    if (!c) {
        json_decref (body);
        return -ENOMEM;
    }
    *c = like;
    DL_APPEND (c->x->needs->calls, c);
    if (c->need)
        c->need->calls++;
    c->req = kube_send (c->x->kube, method, path, body, done, c);
    if (c->req)
        return 0;
    if (c->need)
        c->need->calls--;
    need_call_free (c);
    return -ENOMEM;
}

bool need_call_is_fine (const struct kube_result *res)
{
    return (res->status >= 200 && res->status <= 299) || res->status == 409;
}

/* Handles the end of a call; *ret: its need, if that continues. */
static bool answered (struct need_call *c, const struct kube_result *res,
                      struct kneed **ret)
{
    struct kneed *n = c->need;
    bool fine = need_call_is_fine (res);

    n->calls--;
    if (!n->dropped && n->phase == MAKING && !fine)
        needs_retry_later (n, "cannot be asked for", res->err.text);
    *ret = n;
    return fine && !n->dropped && n->phase == MAKING;
}

static void made (struct kneed *n)
{
    if (n->dropped) {
        uint64_t job = n->job;
        struct exec *x = n->x;
        needs_free_if_done (n);
        needs_poke (x, job);
        return;
    }
    if (n->phase != MAKING || n->calls > 0)
        return;
    struct need_source src = needs_source (n);
    char name[NEED_NAME_MAX], key[SEEN_NAME_MAX];
    need_name (name, &src);
    const struct seen *s = needs_seen (n->x, false, name, key);
    n->phase = WAITING;
    n->asked = s && s->created > 0 ? s->created : clock_wall ();
    if (s) {
        n->count = s->count;
        needs_apply (n, s);
    }
    log_info ("kube: job %ju: %u nodes of group %s are asked for", (uintmax_t)n->job,
              n->count, n->group->name);
}

/* -- objects to create -- */

static void on_last_made (const struct kube_result *res, void *arg)
{
    struct need_call *c = arg;
    struct kneed *n;

    answered (c, res, &n);
    need_call_free (c);
    made (n);
}

static void on_pod_made (const struct kube_result *res, void *arg)
{
    struct need_call *c = arg;
    struct kneed *n;
    char name[NEED_NAME_MAX], path[512];

    if (answered (c, res, &n)) {
        struct need_source src = needs_source (n);
        need_name (name, &src);
        snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s-%u/status",
                  c->x->space->name, name, c->i);
        need_call_send ((struct need_call){ .x = c->x, .need = n }, "PATCH", path,
                        need_unschedulable (clock_wall ()), on_last_made);
    }
    need_call_free (c);
    made (n);
}

static void on_template_made (const struct kube_result *res, void *arg)
{
    struct need_call *c = arg;
    struct kneed *n;
    char path[512];

    if (answered (c, res, &n)) {
        struct need_source src = needs_source (n);
        snprintf (path, sizeof (path), PATH_REQUESTS "%s/provisioningrequests",
                  c->x->space->name);
        if (need_call_send ((struct need_call){ .x = c->x, .need = n }, "POST", path,
                            need_request (&src), on_last_made)
            < 0)
            needs_retry_later (n, "cannot be asked for", "out of memory");
    }
    need_call_free (c);
    made (n);
}

static void make_request (struct kneed *n)
{
    struct need_source src = needs_source (n);
    char path[512];

    snprintf (path, sizeof (path), PATH_CORE "%s/podtemplates", n->x->space->name);
    if (need_call_send ((struct need_call){ .x = n->x, .need = n }, "POST", path,
                        need_template (&src), on_template_made)
        < 0)
        needs_retry_later (n, "cannot be asked for", "out of memory");
}

static void make_pods (struct kneed *n)
{
    struct need_source src = needs_source (n);
    char path[512];
    int rc = 0;

    snprintf (path, sizeof (path), PATH_CORE "%s/pods", n->x->space->name);
    for (uint32_t i = 0; i < n->count && rc == 0; i++)
        rc = need_call_send ((struct need_call){ .x = n->x, .need = n, .i = i }, "POST",
                             path, need_pod (&src, i), on_pod_made);
    if (rc < 0)
        needs_retry_later (n, "cannot be asked for", "out of memory");
}

void needs_make (struct kneed *n)
{
    if (n->group->provision == PROVISION_NONE || n->nodes == 0)
        return;
    if (n->group->provision == PROVISION_REQUEST && !n->x->needs->listed) {
        snprintf (n->text, sizeof (n->text),
                  "ProvisioningRequests cannot be listed yet (does the cluster have "
                  "them, and may the broker watch them?)");
        return;
    }
    n->count = n->nodes;
    n->phase = MAKING;
    if (n->failures == 0)
        n->text[0] = 0;
    if (n->group->provision == PROVISION_REQUEST)
        make_request (n);
    else
        make_pods (n);
}
