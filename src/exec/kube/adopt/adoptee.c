/* adoptee.c - the record of each object of others, and the requests for it (see
 * adopt.h) */
#include "exec/kube/adopt/adopt.h"

#include <stdlib.h>
#include <string.h>

/* -- the table -- */

/* A group's token is its key followed by a uid. */
static size_t key_length (const char *key)
{
    const char *colon = strchr (key, ':');
    const char *end =
        colon && strncmp (key, "group:", 6) == 0 ? strchr (colon + 1, ':') : NULL;

    return end ? (size_t)(end - key) : strlen (key);
}

struct adoptee *adopt_find (const struct exec *x, const char *key)
{
    struct adoptee *a = NULL;

    if (x->adopt)
        HASH_FIND (hh, x->adopt->all, key, key_length (key), a);
    return a;
}

static struct adoptspace *space_of (const struct adopt *d, const char *name)
{
    for (size_t i = 0; i < d->nspaces; i++)
        if (strcmp (d->spaces[i].name, name) == 0)
            return &d->spaces[i];
    return NULL;
}

struct adoptee *adopt_get (struct exec *x, const char *key, const char *name)
{
    struct adoptee *a = adopt_find (x, key);
    const char *blank = strchr (name, ' '), *slash = strchr (name, '/');

    if (a || !blank || !slash || slash < blank || key_length (key) >= ADOPT_KEY_MAX
        || strlen (key) >= ADOPT_TOKEN_MAX)
        return a;
    if (!(a = calloc (1, sizeof (*a))))
        return NULL;
    snprintf (a->key, sizeof (a->key), "%.*s", (int)key_length (key), key);
    snprintf (a->token, sizeof (a->token), "%s", key);
    a->group = strncmp (key, "group:", 6) == 0;
    a->x = x;
    a->refused_gen = -1;
    a->namespace_ = strndup (blank + 1, (size_t)(slash - blank - 1));
    a->name = strdup (slash + 1);
    if (!a->namespace_ || !a->name) {
        free (a->namespace_);
        free (a->name);
        free (a);
        return NULL;
    }
    a->space = space_of (x->adopt, a->namespace_);
    HASH_ADD_KEYPTR (hh, x->adopt->all, a->key, strlen (a->key), a);
    adopt_take_pods (a);
    return a;
}

static void calls_cancel_all (struct adoptee *a)
{
    struct acall *c, *tmp;

    DL_FOREACH_SAFE (a->calls, c, tmp)
    {
        kube_cancel (c->req);
        DL_DELETE (a->calls, c);
        free (c);
    }
}

void adoptee_free (struct adoptee *a)
{
    struct adopt *d = a->x->adopt;

    calls_cancel_all (a);
    adopt_drop_pods (a);
    HASH_DEL (d->all, a);
    if (a->poked)
        LL_DELETE2 (d->poked, a, next_poked);
    json_decref (a->object);
    json_decref (a->tolerations);
    free (a->namespace_);
    free (a->name);
    free (a);
}

/* Frees the adoptee if nobody needs it any more. */
void adoptee_try_free (struct adoptee *a)
{
    bool over = a->id == 0 || a->ended;

    if (!a->seen && !a->job && !a->asked && over && !a->calls)
        adoptee_free (a);
}

void adopt_poke (struct adoptee *a)
{
    if (a->poked)
        return;
    a->poked = true;
    LL_PREPEND2 (a->x->adopt->poked, a, next_poked);
    exec_soon (a->x);
}

/* -- requests -- */

void adopt_path (const struct adoptee *a, char *path, size_t size)
{
    const struct adoptpod *ap = a->group ? adoptgroup_speaker (a) : NULL;

    if (a->group)
        snprintf (path, size, PATH_CORE "%s/pods/%s", a->namespace_,
                  ap ? ap->p->name : "");
    else
        snprintf (path, size, PATH_BATCH "%s/jobs/%s", a->namespace_, a->name);
}

bool adopt_is_calling (const struct adoptee *a, enum adopt_call kind)
{
    const struct acall *c;

    DL_FOREACH (a->calls, c) {
        if (c->kind == kind)
            return true;
    }
    return false;
}

static void on_answer (const struct kube_result *res, void *arg)
{
    struct acall *c = arg;
    struct adoptee *a = c->a;

    DL_DELETE (a->calls, c);
    adopt_call_answered (a, c, res);
    free (c);
    adopt_poke (a);
}

bool adopt_send (struct adoptee *a, enum adopt_call kind, const char *method,
                 const char *path, json_t *body, const char *pod)
{
    struct acall *c = calloc (1, sizeof (*c));

    if (!c || !body) {
        free (c);
        json_decref (body);
        return false;
    }
    c->a = a;
    c->kind = kind;
    snprintf (c->pod, sizeof (c->pod), "%s", pod ? pod : "");
    c->req = kube_send_as (a->x->kube, KUBE_BRIEF, method, path, body, on_answer, c);
    if (!c->req) {
        free (c);
        return false;
    }
    DL_APPEND (a->calls, c);
    return true;
}

const char *adopt_uid (const struct adoptee *a)
{
    const struct adoptpod *ap = a->group ? adoptgroup_speaker (a) : NULL;

    if (a->group)
        return ap ? ap->uid : "";
    return strchr (a->key, ':') + 1;
}

bool adopt_patch (struct adoptee *a, enum adopt_call kind, json_t *patch)
{
    json_t *meta = json_object_get (patch, "metadata");
    char path[512];

    if (patch && !meta) {
        json_object_set_new (patch, "metadata", json_object ());
        meta = json_object_get (patch, "metadata");
    }
    json_object_set_new (meta, "uid", json_string (adopt_uid (a)));
    adopt_path (a, path, sizeof (path));
    if (kind == ADOPT_CALL_RESET) {
        size_t n = strlen (path);

        snprintf (path + n, sizeof (path) - n, "/status");
    }
    return adopt_send (a, kind, "PATCH", path, patch, NULL);
}

void adopt_suspend (struct adoptee *a)
{
    if (a->group) {
        adoptgroup_remove (a, false);
        return;
    }
    if (a->view.suspended || a->view.over || !a->seen || a->view.deleting
        || adopt_is_calling (a, ADOPT_CALL_SUSPEND)
        || adopt_is_calling (a, ADOPT_CALL_RELEASE))
        return;
    adopt_patch (a, ADOPT_CALL_SUSPEND, json_pack ("{s:{s:b}}", "spec", "suspend", 1));
}
