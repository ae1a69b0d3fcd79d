/* spaces.c - the namespaces of jobs (see spaces.h)
 *
 * A job's namespace is that of its queue at the time of its allocation, which stores it.
 * The names are those of exec/namespaces.h.
 */
#include "exec/kube/namespaces/spaces.h"

#include "exec/kube/core/kspace.h"
#include "exec/kube/make/rights.h"
#include "exec/namespaces.h"

struct kspace *spaces_get (struct exec *x, const char *name)
{
    struct kspace *s;

    HASH_FIND_STR (x->spaces, name, s);
    if (s)
        return s;
    s = calloc (1, sizeof (*s));
    if (!s || !(s->name = strdup (name))) {
        free (s);
        return NULL;
    }
    s->x = x;
    HASH_ADD_KEYPTR (hh, x->spaces, s->name, strlen (s->name), s);
    return s;
}

struct kspace *spaces_of_job (struct exec *x, const struct exec_job *job,
                              struct error *err)
{
    char name[NAMESPACE_SIZE];
    struct kspace *s;

    if (!job->namespace_)
        return x->space;
    if (namespace_check (job->namespace_, err) < 0
        || namespace_expand (job->namespace_, job->queue, job->user.name, job->user.uid,
                             name, err)
               < 0)
        return NULL;
    if (!(s = spaces_get (x, name)))
        error_set (err, ENOMEM, "out of memory");
    return s;
}

static const char *of_set (const json_t *set)
{
    return json_string_value (json_object_get (set, "namespace"));
}

bool spaces_may_have (const struct exec *x, const char *name, size_t len)
{
    char text[NAMESPACE_SIZE];
    const struct kspace *s;
    const char *queue;
    json_t *set;

    if (len >= sizeof (text))
        return false;
    memcpy (text, name, len);
    text[len] = '\0';
    HASH_FIND_STR (x->spaces, text, s);
    if (s)
        return true;
    json_object_foreach (x->sets, queue, set) {
        if (of_set (set) && namespace_fits (of_set (set), text))
            return true;
    }
    return false;
}

bool spaces_are_listed (const struct exec *x)
{
    const char *queue;
    json_t *set;

    json_object_foreach (x->sets, queue, set) {
        if (of_set (set) && namespace_is_template (of_set (set)))
            return true;
    }
    return false;
}

static void space_free (struct kspace *s)
{
    space_cancel (s);
    rights_cancel (s->rights.call);
    HASH_DEL (s->x->spaces, s);
    free (s->name);
    free (s);
}

void spaces_free (struct exec *x)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        space_free (s);
    }
    x->space = NULL;
}
