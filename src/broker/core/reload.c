/* reload.c - reads fluxq.yaml again: queues, operators and limits change at once
 *
 * A change that needs a restart is refused by name, and nothing changes.
 */
#include "broker/core/inside.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"

static bool same (const char *a, const char *b)
{
    return a && b ? !strcmp (a, b) : a == b;
}

static bool same_section (const struct config *a, const struct config *b,
                          const char *name)
{
    json_t *x = config_executor_section (a, name), *y = config_executor_section (b, name);
    return x && y ? json_equal (x, y) : !x && !y;
}

static int check_fixed (const struct config *old, const struct config *new,
                        struct error *err)
{
    const struct {
        const char *key;
        bool same;
    } fixed[] = {
        { "executor", same (old->executor, new->executor) },
        { "cluster-id", same (old->cluster_id, new->cluster_id) },
        { "listen", same (old->listen_host, new->listen_host)
                        && old->listen_port == new->listen_port },
        { "munge-socket", same (old->munge_socket, new->munge_socket) },
        { old->executor, same_section (old, new, old->executor) },
    };
    for (size_t i = 0; i < ARRAY_SIZE (fixed); i++)
        if (!fixed[i].same)
            return error_set (err, EINVAL,
                              "%s: a change of '%s' needs a restart of fluxqd", new->path,
                              fixed[i].key);
    return 0;
}

/* Queue states set by operators override the file, as after a restart. */
static void keep_queues (const struct config *old, struct config *new)
{
    for (size_t i = 0; i < new->nqueues; i++) {
        const struct config_queue *q = config_find_queue (old, new->queues[i].name);
        if (q && q->operated) {
            new->queues[i].operated = true;
            new->queues[i].started = q->started;
        }
    }
}

/* A queue with waiting or running jobs cannot be removed. */
static int check_queues (struct broker *b, const struct config *new, struct error *err)
{
    struct entry *e, *next;

    HASH_ITER (hh, b->table.all, e, next) {
        const char *name = broker_config (b)->queues[e->queue].name;
        if (entry_job (e)->state != JOB_INACTIVE && config_queue_index (new, name) < 0)
            return error_set (err, EBUSY, "%s: queue '%s' cannot go: job %ju is in it",
                              new->path, name, (uintmax_t)entry_id (e));
    }
    return 0;
}

/* -- changed keys: "grace", "queues.debug.max-time", "queues.new" -- */

static void list_difference (const char *prefix, json_t *old, json_t *new, int depth,
                             json_t *applied);

static void list_key (const char *prefix, const char *key, json_t *old, json_t *new,
                      int depth, json_t *applied)
{
    char name[256];

    if (json_equal (old, new) || (!old && !new))
        return;
    snprintf (name, sizeof (name), "%s%s%s", prefix, *prefix ? "." : "", key);
    if (depth > 0 && json_is_object (old) && json_is_object (new))
        list_difference (name, old, new, depth - 1, applied);
    else
        json_array_append_new (applied, json_string (name));
}

static void list_difference (const char *prefix, json_t *old, json_t *new, int depth,
                             json_t *applied)
{
    const char *key;
    json_t *value;

    json_object_foreach (new, key, value)
        list_key (prefix, key, json_object_get (old, key), value, depth, applied);
    json_object_foreach (old, key, value)
        if (!json_object_get (new, key))
            list_key (prefix, key, value, NULL, depth, applied);
}

/* queues > NAME > KEY are three levels. */
static void list_changes (const struct config *old, const struct config *new,
                          json_t *applied)
{
    list_difference ("", old->doc ? yaml_root (old->doc) : NULL,
                     new->doc ? yaml_root (new->doc) : NULL, 2, applied);
}

static void take_over (struct broker *b, struct config *new, json_t *applied)
{
    struct config *old = broker_config (b);
    struct entry *e, *next;

    /* Directories were set at the start, perhaps by options. */
    char **kept[][2] = { { &new->cluster_id, &old->cluster_id },
                         { &new->state_dir, &old->state_dir },
                         { &new->runtime_dir, &old->runtime_dir },
                         { &new->shell_path, &old->shell_path } };
    for (size_t i = 0; i < ARRAY_SIZE (kept); i++) {
        free (*kept[i][0]);
        *kept[i][0] = *kept[i][1];
        *kept[i][1] = NULL;
    }
    list_changes (old, new, applied);
    keep_queues (old, new);
    b->head.config = new;
    http_server_set_names (b->http, new->listen_names);
    log_set_level (new->log_level);
    services_call (reloaded, b, old);
    services_call (list_files, b, applied);
    HASH_ITER (hh, b->table.all, e, next) {
        entry_find_queue (b, e);
        if (entry_job (e)->state == JOB_SCHED)
            broker_act (b, e, JOB_ACT_ENQUEUE);
    }
    broker_plan_due (b);
    broker_starts_due (b);
    if (!b->first)
        b->first = old; /* the executor may use its YAML until the end */
    else
        config_destroy (old);
}

int broker_reload (struct broker *b, json_t *applied, struct error *err)
{
    struct config *new;
    struct operators *operators = NULL;

    if (!broker_config (b)->path)
        return error_set (err, ENOENT, "there is no configuration file to read again");
    if (!(new = config_load (broker_config (b)->path, services_settings (), err)))
        return -EINVAL;
    if (config_keep_options (new, broker_config (b)) < 0) {
        config_destroy (new);
        return error_set (err, ENOMEM, "out of memory");
    }
    if (check_fixed (broker_config (b), new, err) < 0
        || services_try (check_config, new, err) < 0 || check_queues (b, new, err) < 0
        || !(operators = operators_find (new, err))
        || services_try (check_reload, b, new, err) < 0) {
        operators_destroy (operators);
        config_destroy (new);
        return -EINVAL;
    }
    operators_destroy (b->operators);
    b->operators = operators;
    take_over (b, new, applied);
    return 0;
}
