/* queue.c - the mapping queues of fluxq.yaml; see config_private.h
 */
#include "broker/config/config.h"
#include "broker/config/config_private.h"

#include <errno.h>
#include <string.h>

#include "exec/mounts.h"
#include "exec/podset.h"

#define QUEUES_MAX 256

#define AT(field) KEY_FIELD (struct config_queue, field)
static const struct key queue_keys[] = {
    { "default", KIND_BOOL, AT (is_default), 0, 0 },
    { "started", KIND_BOOL, AT (started), 0, 0 },
    { "default-time", KIND_DURATION, AT (default_time), 0, 0 },
    { "max-time", KIND_DURATION, AT (max_time), 0, 0 },
    { "start-timeout", KIND_TIMEOUT, AT (timeouts.start), 0, 0 },
    { "place-timeout", KIND_TIMEOUT, AT (timeouts.place), 0, 0 },
    { "pull-timeout", KIND_TIMEOUT, AT (timeouts.pull), 0, 0 },
    { "max-nodes", KIND_INT, AT (max_nodes), 1, INT32_MAX },
    { "placement", KIND_PLACEMENT, AT (placement), 0, 0 },
    { "priority", KIND_INT, AT (priority), 0, PRIORITY_QUEUE_MAX },
    { "image", KIND_STRING, AT (image), 0, 0 },
    { "mounts", KIND_MOUNTS, AT (mounts), 0, 0 },
    { "pods", KIND_PODS, AT (pods), 0, 0 },
    { "private", KIND_PRIVATE, AT (private_parts), 0, 0 },
    { "users", KIND_STRINGS, AT (users), 0, 0 },
    { "groups", KIND_STRINGS, AT (groups), 0, 0 },
    { "prolog", KIND_PROGRAM, AT (admin.prolog), 0, 0 },
    { "epilog", KIND_PROGRAM, AT (admin.epilog), 0, 0 },
    { "prolog-timeout", KIND_TIMEOUT, AT (admin.timeout), 0, 0 },
};
#undef AT

static int set_placement (struct placement *field, const json_t *value,
                          const struct place *p)
{
    struct error why = { 0 };
    const char *text = json_string_value (value);

    return placement_parse (text ? text : "", field, "placement", &why) < 0
               ? FAIL (p, "%s", why.text)
               : 0;
}

static int set_mounts (json_t **field, json_t *value, const struct place *p)
{
    struct error why = { 0 };

    if (mounts_check (value, &why) < 0)
        return FAIL (p, "mounts: %s", why.text);
    *field = json_deep_copy (value);
    return *field ? 0 : error_set (p->err, ENOMEM, "out of memory");
}

static int set_pods (struct config_queue *q, json_t *value, const struct place *p)
{
    char where[128];

    if (!json_is_object (value))
        return FAIL (p, "pods: expected a mapping of settings");
    snprintf (where, sizeof (where), "queue %s: pods", q->name);
    if (podset_check (p->doc, value, where, p->err) < 0)
        return -EINVAL;
    q->pods = json_deep_copy (value);
    return q->pods ? 0 : error_set (p->err, ENOMEM, "out of memory");
}

static int set_queue_value (struct config_queue *q, const struct key *key, json_t *value,
                            const struct place *p)
{
    void *field = (char *)q + key->offset;

    switch (key->kind) {
    case KIND_STRING:
        return value_string (field, value, p);
    case KIND_DURATION:
        return value_duration (field, value, p);
    case KIND_TIMEOUT:
        return value_timeout (field, value, p);
    case KIND_PROGRAM:
        return value_program (field, value, p);
    case KIND_PRIVATE:
        return value_private (field, value, p);
    case KIND_STRINGS:
        return value_strings (field, value, p);
    case KIND_BOOL:
        return value_bool (field, value, p);
    case KIND_MOUNTS:
        return set_mounts (field, value, p);
    case KIND_PLACEMENT:
        return set_placement (field, value, p);
    case KIND_PODS:
        return set_pods (q, value, p);
    case KIND_INT:
        return value_int (key, field, value, p);
    default: /* keys of the site */
        return FAIL (p, "%s: not a key of queues", p->key);
    }
}

static bool name_is_good (const char *name)
{
    size_t len = strlen (name);
    return len > 0 && len <= 63
           && strspn (name,
                      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
                  == len;
}

static int read_queue (struct config_queue *q, const char *name, json_t *body,
                       const struct place *p)
{
    const char *key;
    json_t *value;

    q->started = true;
    if (!name_is_good (name))
        return FAIL (
            p, "queues: '%s' is not a queue name (letters, digits, - _ ., at most 63)",
            name);
    if (!(q->name = strdup (name)))
        return error_set (p->err, ENOMEM, "out of memory");
    if (json_is_null (body))
        return 0;
    if (!json_is_object (body))
        return FAIL (p, "queue %s: expected a mapping of settings", name);
    json_object_foreach (body, key, value) {
        struct place at = { p->doc, body, key, p->err };
        const struct key *k = config_find_key (queue_keys, ARRAY_SIZE (queue_keys), key);
        if (!k)
            return FAIL (&at, "queue %s: unknown key '%s' (see fluxq.yaml(5))", name,
                         key);
        if (set_queue_value (q, k, value, &at) < 0)
            return -EINVAL;
    }
    return 0;
}

static void queue_release (struct config_queue *q)
{
    char **lists[] = { q->users, q->groups };
    for (size_t i = 0; i < ARRAY_SIZE (lists); i++) {
        for (char **name = lists[i]; name && *name; name++)
            free (*name);
        free (lists[i]);
    }
    free (q->name);
    free (q->image);
    json_decref (q->mounts);
    json_decref (q->pods);
    free (q->admin.prolog);
    free (q->admin.epilog);
}

void config_release_queues (struct config *c)
{
    for (size_t i = 0; i < c->nqueues; i++)
        queue_release (&c->queues[i]);
    free (c->queues);
    c->queues = NULL;
    c->nqueues = 0;
}

int config_read_queues (struct config *c, json_t *value, const struct place *p)
{
    const char *name;
    json_t *body;
    size_t n = json_object_size (value);

    if (!json_is_object (value) || n == 0 || n > QUEUES_MAX)
        return FAIL (p, "queues: expected a mapping of 1 to %d queues", QUEUES_MAX);
    config_release_queues (c);
    if (!(c->queues = calloc (n, sizeof (*c->queues))))
        return error_set (p->err, ENOMEM, "out of memory");
    size_t defaults = 0;
    json_object_foreach (value, name, body) {
        struct place at = { p->doc, value, name, p->err };
        struct config_queue *q = &c->queues[c->nqueues++];
        if (read_queue (q, name, body, &at) < 0)
            return -EINVAL;
        defaults += q->is_default;
        if (q->max_time > 0 && q->default_time > q->max_time)
            return FAIL (&at, "queue %s: default-time is more than max-time", name);
    }
    if (defaults > 1)
        return FAIL (p, "queues: only one may have default: true");
    if (defaults == 0)
        c->queues[0].is_default = true;
    return 0;
}

/* NULL: no memory. */
static json_t *pods_of (const struct config *c, unsigned queue)
{
    const struct config_admin admin = config_admin_of (c, queue);
    const struct config_queue *q = &c->queues[queue];
    json_t *set = q->pods ? json_copy (q->pods) : json_object ();

    if ((admin.prolog || admin.epilog)
        && json_object_set_new (set, PODSET_ADMIN, json_true ()) < 0) {
        json_decref (set);
        return NULL;
    }
    return set;
}

json_t *config_pods (const struct config *c)
{
    json_t *all = json_object ();

    for (unsigned i = 0; all && i < c->nqueues; i++) {
        if (json_object_set_new (all, c->queues[i].name, pods_of (c, i)) < 0) {
            json_decref (all);
            return NULL;
        }
    }
    return all;
}
