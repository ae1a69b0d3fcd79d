/* queue.c - the mapping queues of fluxq.yaml; see config_private.h
 */
#include "broker/config/config.h"
#include "broker/config/config_private.h"

#include <errno.h>
#include <string.h>

#include "exec/mounts.h"
#include "exec/podset.h"
#include "sched/priority.h"

#define QUEUES_MAX 256

static int set_placement (const struct config_key *key, void *field, json_t *value,
                          const struct config_place *p)
{
    struct error why = { 0 };
    const char *text = json_string_value (value);

    (void)key;
    return placement_parse (text ? text : "", field, "placement", &why) < 0
               ? FAIL (p, "%s", why.text)
               : 0;
}

static int set_mounts (const struct config_key *key, void *field, json_t *value,
                       const struct config_place *p)
{
    json_t **mounts = field;
    struct error why = { 0 };

    (void)key;
    if (mounts_check (value, &why) < 0)
        return FAIL (p, "mounts: %s", why.text);
    *mounts = json_deep_copy (value);
    return *mounts ? 0 : error_set (p->err, ENOMEM, "out of memory");
}

static int set_pods (const struct config_key *key, void *field, json_t *value,
                     const struct config_place *p)
{
    struct config_queue *q = (struct config_queue *)((char *)field - key->offset);
    char where[128];

    if (!json_is_object (value))
        return FAIL (p, "pods: expected a mapping of settings");
    snprintf (where, sizeof (where), "queue %s: pods", q->name);
    if (podset_check (p->doc, value, where, p->err) < 0)
        return -EINVAL;
    q->pods = json_deep_copy (value);
    return q->pods ? 0 : error_set (p->err, ENOMEM, "out of memory");
}

#define AT(field) CONFIG_FIELD (struct config_queue, field)
static const struct config_key queue_keys[] = {
    { "default", value_bool, AT (is_default), 0, 0, NULL },
    { "started", value_bool, AT (started), 0, 0, NULL },
    { "default-time", value_duration, AT (default_time), 0, 0, NULL },
    { "max-time", value_duration, AT (max_time), 0, 0, NULL },
    { "start-timeout", value_timeout, AT (timeouts.start), 0, 0, NULL },
    { "place-timeout", value_timeout, AT (timeouts.place), 0, 0, NULL },
    { "pull-timeout", value_timeout, AT (timeouts.pull), 0, 0, NULL },
    { "max-nodes", value_int, AT (max_nodes), 1, INT32_MAX, NULL },
    { "placement", set_placement, AT (placement), 0, 0, NULL },
    { "priority", value_int, AT (priority), 0, PRIORITY_QUEUE_MAX, NULL },
    { "image", value_string, AT (image), 0, 0, NULL },
    { "mounts", set_mounts, AT (mounts), 0, 0, NULL },
    { "pods", set_pods, AT (pods), 0, 0, NULL },
    { "private", value_private, AT (private_parts), 0, 0, NULL },
    { "users", value_strings, AT (users), 0, 0, NULL },
    { "groups", value_strings, AT (groups), 0, 0, NULL },
    { "operators", value_strings, AT (operators), 0, 0, NULL },
    { "prolog", value_program, AT (admin.prolog), 0, 0, NULL },
    { "epilog", value_program, AT (admin.epilog), 0, 0, NULL },
    { "prolog-timeout", value_timeout, AT (admin.timeout), 0, 0, NULL },
    { 0 },
};

static bool name_is_good (const char *name)
{
    size_t len = strlen (name);
    return len > 0 && len <= 63
           && strspn (name,
                      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
                  == len;
}

static int read_queue (struct config_queue *q, const char *name, json_t *body,
                       const struct config_place *p)
{
    char what[80];

    q->started = true;
    if (!name_is_good (name))
        return FAIL (
            p, "queues: '%s' is not a queue name (letters, digits, - _ ., at most 63)",
            name);
    if (!(q->name = strdup (name)))
        return error_set (p->err, ENOMEM, "out of memory");
    if (json_is_null (body))
        return 0;
    snprintf (what, sizeof (what), "queue %s", name);
    return config_read_mapping (q, queue_keys, body, what, p);
}

static void queue_release (struct config_queue *q)
{
    config_release (q, queue_keys);
    free (q->name);
    json_decref (q->mounts);
    json_decref (q->pods);
}

void config_release_queues (struct config *c)
{
    for (size_t i = 0; i < c->nqueues; i++)
        queue_release (&c->queues[i]);
    free (c->queues);
    c->queues = NULL;
    c->nqueues = 0;
}

int config_read_queues (const struct config_key *key, void *field, json_t *value,
                        const struct config_place *p)
{
    struct config *c = (struct config *)((char *)field - key->offset);
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
        struct config_place at = { p->doc, value, name, p->err };
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
