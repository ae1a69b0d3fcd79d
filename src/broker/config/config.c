/* config.c - reads fluxq.yaml into struct config: a table of keys, one loop
 */
#include "broker/config/config.h"
#include "broker/config/config_private.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/parse.h"
#include "exec/exec.h"
#include "net/authority.h"
#include "protocol/spool_gap.h"

#define SERIALIZE_MAX 1000000
#define YEARS_MAX (INT64_C (10) * 365 * 86400)

#define AT(field) KEY_FIELD (struct config, field)
static const struct key keys[] = {
    { "executor", KIND_STRING, AT (executor), 0, 0 },
    { "state-dir", KIND_STRING, AT (state_dir), 0, 0 },
    { "runtime-dir", KIND_STRING, AT (runtime_dir), 0, 0 },
    { "cluster-id", KIND_STRING, AT (cluster_id), 0, 0 },
    { "shell-path", KIND_STRING, AT (shell_path), 0, 0 },
    { "listen", KIND_LISTEN, AT (listen_host), 0, 0 },
    { "listen-names", KIND_NAMES, AT (listen_names), 0, 0 },
    { "munge-socket", KIND_STRING, AT (munge_socket), 0, 0 },
    { "operators", KIND_STRINGS, AT (operators), 0, 0 },
    { "subuid-file", KIND_STRING, AT (subuid_file), 0, 0 },
    { "log-level", KIND_LEVEL, AT (log_level), 0, 0 },
    { "match-policy", KIND_POLICY, AT (match_policy), 0, 0 },
    { "queue-policy", KIND_QUEUE_POLICY, AT (queue_policy), 0, 0 },
    { "reservation-depth", KIND_INT, AT (reservation_depth), 1, QUEUE_DEPTH_MAX },
    { "start-backoff", KIND_DURATION, AT (start_backoff), 0, 0 },
    { "start-backoff-max", KIND_DURATION, AT (start_backoff_max), 0, 0 },
    { "start-retries", KIND_INT, AT (start_retries), 0, 1000 },
    { "start-timeout", KIND_TIMEOUT, AT (timeouts.start), 0, 0 },
    { "place-timeout", KIND_TIMEOUT, AT (timeouts.place), 0, 0 },
    { "pull-timeout", KIND_TIMEOUT, AT (timeouts.pull), 0, 0 },
    { "start-serialize", KIND_INT, AT (start_serialize), 0, SERIALIZE_MAX },
    { "drain-after-failures", KIND_INT, AT (drain_after_failures), 0, 1000 },
    { "switches-wait", KIND_DURATION, AT (switches_wait), 0, 0 },
    { "propagate-nice", KIND_BOOL, AT (propagate_nice), 0, 0 },
    { "requeue", KIND_BOOL, AT (requeue), 0, 0 },
    { "requeue-order", KIND_REQUEUE_ORDER, AT (requeue_at_end), 0, 0 },
    { "grace", KIND_DURATION, AT (grace), 0, 0 },
    { "resize-grow", KIND_BOOL, AT (resize_grow), 0, 0 },
    { "resize-interval", KIND_DURATION, AT (resize_interval), 0, 0 },
    { "resize-grace", KIND_DURATION, AT (resize_grace), 0, 0 },
    { "prolog", KIND_PROGRAM, AT (admin.prolog), 0, 0 },
    { "epilog", KIND_PROGRAM, AT (admin.epilog), 0, 0 },
    { "prolog-timeout", KIND_TIMEOUT, AT (admin.timeout), 0, 0 },
    { "array-max", KIND_INT, AT (array_max), 1, ARRAY_TASKS_MAX },
    { "keep-finished", KIND_INT, AT (keep_finished), 0, 10000000 },
    { "user-jobs-max", KIND_INT, AT (user_jobs_max), 0, 1000000000 },
    { "user-bytes-max", KIND_BYTES, AT (user_bytes_max), INT64_C (1) << 20, INT64_C (1) << 50 },
    { "user-output-max", KIND_BYTES, AT (user_output_max), INT64_C (1) << 20,
      INT64_C (1) << 60 },
    { "private", KIND_PRIVATE, AT (private_parts), 0, 0 },
    { "disk-reserve", KIND_BYTES, AT (disk_reserve), INT64_C (1) << 20, INT64_C (1) << 50 },
    { "output-max", KIND_BYTES, AT (output_max), SPOOL_MAX_LEAST, INT64_C (1) << 50 },
    { "queues", KIND_QUEUES, AT (queues), 0, 0 },
    { "priority", KIND_PRIORITY, AT (priority), 0, 0 },
    { "history", KIND_HISTORY, AT (history), 0, 0 },
    { "clients", KIND_CLIENTS, AT (clients), 0, 0 },
};
#undef AT

#define AT(field) KEY_FIELD (struct config_priority, field)
static const struct key priority_keys[] = {
    { "queue", KIND_INT, AT (weights.queue), 0, PRIORITY_WEIGHT_MAX },
    { "age", KIND_INT, AT (weights.age), 0, PRIORITY_WEIGHT_MAX },
    { "age-max", KIND_DURATION, AT (weights.age_max), 1, YEARS_MAX },
    { "size", KIND_INT, AT (weights.size), -PRIORITY_WEIGHT_MAX, PRIORITY_WEIGHT_MAX },
    { "fair-share", KIND_INT, AT (weights.fair_share), 0, PRIORITY_WEIGHT_MAX },
    { "half-life", KIND_DURATION, AT (half_life), 0, YEARS_MAX },
    { "interval", KIND_DURATION, AT (interval), 1, 86400 },
};
#undef AT

#define AT(field) KEY_FIELD (struct config_history, field)
static const struct key history_keys[] = {
    { "keep", KIND_DURATION, AT (keep), 0, YEARS_MAX },
    { "jobs", KIND_INT, AT (jobs), 0, INT64_C (1000000000) },
};
#undef AT

#define AT(field) KEY_FIELD (struct config_clients, field)
static const struct key clients_keys[] = {
    { "connections", KIND_INT, AT (connections), 8, 4096 },
    { "reserve", KIND_INT, AT (reserve), 0, 1024 },
    { "requests", KIND_INT, AT (requests), 0, 1000000 },
    { "burst", KIND_INT, AT (burst), 1, 10000000 },
};
#undef AT

/* 0, or at least key->min. */
static int set_bytes (const struct key *key, uint64_t *field, const json_t *value,
                      const struct place *p)
{
    int64_t bytes = json_is_integer (value) ? json_integer_value (value) : -1;

    if (json_is_string (value)
        && parse_bytes (json_string_value (value), &bytes, p->key, NULL) < 0)
        bytes = -1;
    if (bytes != 0 && (bytes < key->min || bytes > key->max))
        return FAIL (p, "%s: expected 0 or an amount from %jd MiB on, such as 512Mi",
                     p->key, (intmax_t)key->min >> 20);
    *field = (uint64_t)bytes;
    return 0;
}

int value_strings (char ***field, const json_t *value, const struct place *p)
{
    if (!json_is_array (value) || json_array_size (value) > 10000)
        return FAIL (p, "%s: expected a list of names", p->key);
    size_t n = json_array_size (value);
    char **list = calloc (n + 1, sizeof (*list));
    if (!list)
        return error_set (p->err, ENOMEM, "out of memory");
    *field = list; /* config_destroy() frees it, even if incomplete */
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value (json_array_get (value, i));
        if (!text)
            return FAIL (p, "%s: entry %zu is not a name", p->key, i + 1);
        if (!(list[i] = strdup (text)))
            return error_set (p->err, ENOMEM, "out of memory");
    }
    return 0;
}

/* Names of the broker, each HOST or HOST:PORT. */
static int set_names (char ***field, const json_t *value, const struct place *p)
{
    char name[AUTHORITY_SIZE];
    struct error why = { 0 };
    int rc = value_strings (field, value, p);

    for (char **s = *field; rc == 0 && *s; s++)
        if (authority_parse (*s, 1, name, p->key, &why) < 0)
            return FAIL (p, "%s", why.text);
    return rc;
}

/* "host:port"; an IPv6 host is in brackets. */
static int set_listen (struct config *c, const json_t *value, const struct place *p)
{
    const char *text = json_string_value (value);
    const char *colon = text ? strrchr (text, ':') : NULL;
    int64_t port;
    if (!colon || colon == text
        || parse_int (colon + 1, 1, 65535, &port, "port", NULL) < 0)
        return FAIL (p, "listen: expected HOST:PORT, such as 10.0.0.5:7718");
    bool bracket = text[0] == '[' && colon[-1] == ']';
    free (c->listen_host);
    c->listen_host = bracket ? strndup (text + 1, (size_t)(colon - text) - 2)
                             : strndup (text, (size_t)(colon - text));
    c->listen_port = (uint16_t)port;
    return c->listen_host ? 0 : error_set (p->err, ENOMEM, "out of memory");
}

/* Reads a mapping of numbers and of durations with bounds. */
static int read_settings (void *c, const struct key *table, size_t n, json_t *body,
                          const struct place *p)
{
    const char *name;
    json_t *value;

    if (!json_is_object (body))
        return FAIL (p, "%s: expected a mapping of settings", p->key);
    json_object_foreach (body, name, value) {
        struct place at = { p->doc, body, name, p->err };
        const struct key *k = config_find_key (table, n, name);
        void *field = k ? (char *)c + k->offset : NULL;
        double *seconds = field;
        if (!k)
            return FAIL (&at, "%s: unknown key '%s' (see fluxq.yaml(5))", p->key,
                         name);
        if (k->kind == KIND_INT) {
            if (value_int (k, field, value, &at) < 0)
                return -EINVAL;
        } else if (value_duration (seconds, value, &at) < 0) {
            return -EINVAL;
        } else if (*seconds < (double)k->min || *seconds > (double)k->max) {
            return FAIL (&at, "%s: expected a duration from %jd to %jd seconds", name,
                         (intmax_t)k->min, (intmax_t)k->max);
        }
    }
    return 0;
}

static int refuse_policy (const struct place *p)
{
    autostrbuf struct strbuf names;

    strbuf_init (&names, 400);
    for (size_t i = 0; match_policies[i]; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", match_policies[i]->name);
    return FAIL (p, "%s: expected one of %s", p->key, names.buf);
}

static int set_policy (const struct match_policy **field, json_t *value,
                       const struct place *p)
{
    const struct match_policy *policy =
        json_is_string (value) ? match_policy_find (json_string_value (value)) : NULL;

    if (!policy)
        return refuse_policy (p);
    *field = policy;
    return 0;
}

static int refuse_queue_policy (const struct place *p)
{
    autostrbuf struct strbuf names;

    strbuf_init (&names, 400);
    for (size_t i = 0; queue_policies[i]; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", queue_policies[i]->name);
    return FAIL (p, "%s: expected one of %s", p->key, names.buf);
}

static int set_queue_policy (const struct queue_policy **field, json_t *value,
                             const struct place *p)
{
    const struct queue_policy *policy =
        json_is_string (value) ? queue_policy_find (json_string_value (value)) : NULL;

    if (!policy)
        return refuse_queue_policy (p);
    *field = policy;
    return 0;
}

static int set_requeue_order (bool *at_end, const json_t *value, const struct place *p)
{
    const char *text = json_string_value (value);

    if (!text || (strcmp (text, "old") != 0 && strcmp (text, "end") != 0))
        return FAIL (p, "%s: expected old or end", p->key);
    *at_end = !strcmp (text, "end");
    return 0;
}

static int set_value (struct config *c, const struct key *key, json_t *value,
                      const struct place *p)
{
    void *field = (char *)c + key->offset;

    switch (key->kind) {
    case KIND_STRING:
        return value_string (field, value, p);
    case KIND_DURATION:
        return value_duration (field, value, p);
    case KIND_TIMEOUT:
        return value_timeout (field, value, p);
    case KIND_BYTES:
        return set_bytes (key, field, value, p);
    case KIND_PROGRAM:
        return value_program (field, value, p);
    case KIND_PRIVATE:
        return value_private (field, value, p);
    case KIND_STRINGS:
        return value_strings (field, value, p);
    case KIND_NAMES:
        return set_names (field, value, p);
    case KIND_LISTEN:
        return set_listen (c, value, p);
    case KIND_QUEUES:
        return config_read_queues (c, value, p);
    case KIND_PRIORITY:
        return read_settings (&c->priority, priority_keys, ARRAY_SIZE (priority_keys),
                              value, p);
    case KIND_HISTORY:
        return read_settings (&c->history, history_keys, ARRAY_SIZE (history_keys), value,
                              p);
    case KIND_CLIENTS:
        return read_settings (&c->clients, clients_keys, ARRAY_SIZE (clients_keys), value, p);
    case KIND_POLICY:
        return set_policy (field, value, p);
    case KIND_QUEUE_POLICY:
        return set_queue_policy (field, value, p);
    case KIND_BOOL:
        return value_bool (field, value, p);
    case KIND_REQUEUE_ORDER:
        return set_requeue_order (field, value, p);
    case KIND_LEVEL: {
        int level =
            json_is_string (value) ? log_level_from_name (json_string_value (value)) : -1;
        if (level < 0)
            return FAIL (p, "log-level: expected error, warning, info or debug");
        c->log_level = (enum log_level)level;
        return 0;
    }
    case KIND_INT:
        return value_int (key, field, value, p);
    case KIND_MOUNTS:
    case KIND_PODS:
    case KIND_PLACEMENT:
        break; /* keys of queues */
    }
    return FAIL (p, "%s: not a key of the site", p->key);
}

struct config *config_default (void)
{
    struct config *c = calloc (1, sizeof (*c));
    if (!c || !(c->queues = calloc (1, sizeof (*c->queues)))) {
        free (c);
        return NULL;
    }
    c->nqueues = 1;
    c->queues[0].name = strdup ("batch");
    c->queues[0].is_default = true;
    c->queues[0].started = true;
    c->executor = strdup (exec_default ()->name);
    c->cluster_id = strdup ("fluxq");
    c->subuid_file = strdup ("/etc/subuid");
    c->log_level = LOG_LEVEL_INFO;
    c->match_policy = match_policy_find ("lonode");
    c->queue_policy = queue_policy_find ("easy");
    c->start_backoff = 60;
    c->start_backoff_max = 3600;
    c->start_retries = 5;
    c->timeouts = (struct config_timeouts){ .start = 300, .pull = 1800 };
    c->drain_after_failures = 3;
    c->switches_wait = 300;
    c->admin.timeout = 60;
    c->requeue = true;
    c->grace = 30;
    c->resize_grow = true;
    c->resize_interval = 60;
    c->resize_grace = 30;
    c->array_max = 100000;
    c->keep_finished = 10000;
    c->user_jobs_max = 100000;
    c->user_bytes_max = UINT64_C (256) << 20;
    c->user_output_max = UINT64_C (64) << 30;
    c->disk_reserve = UINT64_C (64) << 20;
    c->output_max = UINT64_C (1) << 30;
    c->priority = (struct config_priority){ .weights = PRIORITY_WEIGHTS_DEFAULT,
                                            .half_life = 7 * 86400.0,
                                            .interval = 60 };
    c->clients = (struct config_clients){
        .connections = 512, .reserve = 64, .requests = 2000, .burst = 10000
    };
    c->history = (struct config_history){ .keep = 90 * 86400.0, .jobs = 100000 };
    if (!c->queues[0].name || !c->executor || !c->cluster_id || !c->subuid_file) {
        config_destroy (c);
        return NULL;
    }
    return c;
}

static int check_whole (const struct config *c, struct error *err)
{
    json_t *root = yaml_root (c->doc);
    const struct exec_ops *ops = exec_find (c->executor);
    const char *lack = ops && ops->no_admin
                           ? ops->no_admin (json_object_get (root, c->executor))
                           : NULL;
    size_t len = strlen (c->cluster_id);
    if (len > 20 || strspn (c->cluster_id, "abcdefghijklmnopqrstuvwxyz0123456789-") != len
        || c->cluster_id[0] == '-' || c->cluster_id[len - 1] == '-')
        return yaml_error (c->doc, root, "cluster-id", err,
                           "cluster-id: '%s' is not a DNS label of at most 20 characters",
                           c->cluster_id);
    for (unsigned i = 0; i < c->nqueues && lack; i++) {
        const struct config_admin admin = config_admin_of (c, i);

        if (admin.prolog || admin.epilog)
            return yaml_error (c->doc, root, c->executor, err,
                               "queue %s has a prolog or epilog: %s", c->queues[i].name,
                               lack);
    }
    if (c->listen_names && !c->listen_host)
        return yaml_error (c->doc, root, "listen-names", err,
                           "listen-names needs an address in listen, which is not set");
    if (c->start_backoff_max < c->start_backoff)
        return yaml_error (c->doc, root, "start-backoff-max", err,
                           "start-backoff-max is less than start-backoff");
    if (c->reservation_depth > 0 && !c->queue_policy->takes_depth)
        return yaml_error (
            c->doc, root, "reservation-depth", err,
            "reservation-depth is for queue-policy hybrid and conservative; "
            "%s has its own",
            c->queue_policy->name);
    return 0;
}

struct config *config_load (const char *path, struct error *err)
{
    const char *name;
    json_t *value;
    struct config *c = config_default ();

    if (!c || !(c->path = strdup (path))) {
        error_set (err, ENOMEM, "out of memory");
        goto fail;
    }
    if (!(c->doc = yaml_load_file (path, err)))
        goto fail;
    json_t *root = yaml_root (c->doc);
    if (json_is_null (root))
        return c; /* an empty file: defaults */
    if (!json_is_object (root)) {
        error_set (err, EINVAL, "%s:1:1: expected a mapping of settings", path);
        goto fail;
    }
    json_object_foreach (root, name, value) {
        struct place p = { c->doc, root, name, err };
        const struct key *key = config_find_key (keys, ARRAY_SIZE (keys), name);
        if (!key && exec_find (name)) { /* the mapping of an executor, which reads it */
            if (json_is_object (value) || json_is_null (value))
                continue;
            FAIL (&p, "%s: expected a mapping", name);
            goto fail;
        }
        if (!key) {
            FAIL (&p, "unknown key '%s' (see fluxq.yaml(5))", name);
            goto fail;
        }
        if (set_value (c, key, value, &p) < 0)
            goto fail;
    }
    if (check_whole (c, err) < 0)
        goto fail;
    return c;
fail:
    config_destroy (c);
    return NULL;
}

void config_destroy (struct config *c)
{
    if (!c)
        return;
    config_release_queues (c);
    for (char **s = c->operators; s && *s; s++)
        free (*s);
    for (char **s = c->listen_names; s && *s; s++)
        free (*s);
    char *texts[] = { c->path,         c->executor,    c->state_dir,    c->runtime_dir,
                      c->cluster_id,   c->listen_host, c->munge_socket, c->shell_path,
                      c->admin.prolog, c->admin.epilog, c->subuid_file };
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        free (texts[i]);
    free (c->operators);
    free (c->listen_names);
    yaml_destroy (c->doc);
    json_decref (c->overrides);
    json_decref (c->options);
    free (c);
}

const struct config_queue *config_find_queue (const struct config *c, const char *name)
{
    int i = config_queue_index (c, name);
    return i < 0 ? NULL : &c->queues[i];
}

int config_queue_index (const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->nqueues; i++)
        if (!strcmp (c->queues[i].name, name))
            return (int)i;
    return -ENOENT;
}

static double first_of (double a, double b, double c)
{
    return a > 0 ? a : b > 0 ? b : c;
}

struct config_timeouts config_timeouts_of (const struct config *c, unsigned queue,
                                           double own)
{
    const struct config_timeouts *q = &c->queues[queue].timeouts, *all = &c->timeouts;
    struct config_timeouts t = { .start = first_of (own, q->start, all->start),
                                 .pull = first_of (q->pull, all->pull, 0) };

    t.place = first_of (q->place, all->place, t.start);
    return t;
}

/* A queue can disable the site's program. */
static char *program_of (char *own, char *all)
{
    char *path = own ? own : all;

    return path && strcmp (path, CONFIG_NO_PROGRAM) != 0 ? path : NULL;
}

struct config_admin config_admin_of (const struct config *c, unsigned queue)
{
    const struct config_admin *q = &c->queues[queue].admin, *all = &c->admin;

    return (struct config_admin){ .prolog = program_of (q->prolog, all->prolog),
                                  .epilog = program_of (q->epilog, all->epilog),
                                  .timeout = first_of (q->timeout, all->timeout, 0) };
}

const struct config_queue *config_default_queue (const struct config *c)
{
    for (size_t i = 0; i < c->nqueues; i++)
        if (c->queues[i].is_default)
            return &c->queues[i];
    return &c->queues[0];
}

json_t *config_executor_section (const struct config *c, const char *name)
{
    json_t *section = c->overrides ? json_object_get (c->overrides, name) : NULL;
    if (!section && c->doc)
        section = json_object_get (yaml_root (c->doc), name);
    return json_is_object (section) ? section : NULL;
}

static int set_in_section (struct config *c, const char *name, const char *key,
                           json_t *value)
{
    json_t *section = config_executor_section (c, name);

    if (section)
        return json_object_set_new (section, key, value);
    if (!c->overrides && !(c->overrides = json_object ())) {
        json_decref (value);
        return -ENOMEM;
    }
    section = json_pack ("{s:o}", key, value);
    return section ? json_object_set_new (c->overrides, name, section) : -ENOMEM;
}

/* options.NAME, made if missing; borrowed. */
static json_t *options_of (struct config *c, const char *name)
{
    if (!c->options)
        c->options = json_object ();
    if (c->options && !json_object_get (c->options, name))
        json_object_set_new (c->options, name, json_object ());
    return json_object_get (c->options, name);
}

int config_set_executor (struct config *c, const char *name, const char *key,
                         json_t *value)
{
    json_t *options = options_of (c, name);
    char *executor = strdup (name);

    if (!executor || !options || (key && json_object_set (options, key, value) < 0)) {
        free (executor);
        json_decref (value);
        return -ENOMEM;
    }
    free (c->executor);
    c->executor = executor;
    return key && set_in_section (c, name, key, value) < 0 ? -ENOMEM : 0;
}

int config_keep_options (struct config *c, const struct config *old)
{
    const char *name, *key;
    json_t *section, *value;

    json_object_foreach (old->options, name, section) {
        if (config_set_executor (c, name, NULL, NULL) < 0)
            return -ENOMEM;
        json_object_foreach (section, key, value) {
            if (config_set_executor (c, name, key, json_incref (value)) < 0)
                return -ENOMEM;
        }
    }
    return 0;
}
