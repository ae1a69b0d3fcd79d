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

/* 0, or at least key->min. */
static int set_bytes (const struct key *key, void *field, json_t *value,
                      const struct place *p)
{
    int64_t bytes = json_is_integer (value) ? json_integer_value (value) : -1;

    if (json_is_string (value)
        && parse_bytes (json_string_value (value), &bytes, p->key, NULL) < 0)
        bytes = -1;
    if (bytes != 0 && (bytes < key->min || bytes > key->max))
        return FAIL (p, "%s: expected 0 or an amount from %jd MiB on, such as 512Mi",
                     p->key, (intmax_t)key->min >> 20);
    *(uint64_t *)field = (uint64_t)bytes;
    return 0;
}

/* Names of the broker, each HOST or HOST:PORT. */
static int set_names (const struct key *key, void *field, json_t *value,
                      const struct place *p)
{
    char name[AUTHORITY_SIZE];
    struct error why = { 0 };
    int rc = value_strings (key, field, value, p);

    for (char **s = *(char ***)field; rc == 0 && *s; s++)
        if (authority_parse (*s, 1, name, p->key, &why) < 0)
            return FAIL (p, "%s", why.text);
    return rc;
}

/* "host:port"; an IPv6 host is in brackets. */
static int set_listen (const struct key *key, void *field, json_t *value,
                       const struct place *p)
{
    struct config *c = (struct config *)((char *)field - key->offset);
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

static int refuse_policy (const struct place *p)
{
    autostrbuf struct strbuf names;

    strbuf_init (&names, 400);
    for (size_t i = 0; match_policies[i]; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", match_policies[i]->name);
    return FAIL (p, "%s: expected one of %s", p->key, names.buf);
}

static int set_policy (const struct key *key, void *field, json_t *value,
                       const struct place *p)
{
    const struct match_policy *policy =
        json_is_string (value) ? match_policy_find (json_string_value (value)) : NULL;

    (void)key;
    if (!policy)
        return refuse_policy (p);
    *(const struct match_policy **)field = policy;
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

static int set_queue_policy (const struct key *key, void *field, json_t *value,
                             const struct place *p)
{
    const struct queue_policy *policy =
        json_is_string (value) ? queue_policy_find (json_string_value (value)) : NULL;

    (void)key;
    if (!policy)
        return refuse_queue_policy (p);
    *(const struct queue_policy **)field = policy;
    return 0;
}

static int set_requeue_order (const struct key *key, void *field, json_t *value,
                              const struct place *p)
{
    const char *text = json_string_value (value);

    (void)key;
    if (!text || (strcmp (text, "old") != 0 && strcmp (text, "end") != 0))
        return FAIL (p, "%s: expected old or end", p->key);
    *(bool *)field = !strcmp (text, "end");
    return 0;
}

static int set_level (const struct key *key, void *field, json_t *value,
                      const struct place *p)
{
    int level =
        json_is_string (value) ? log_level_from_name (json_string_value (value)) : -1;

    (void)key;
    if (level < 0)
        return FAIL (p, "log-level: expected error, warning, info or debug");
    *(enum log_level *)field = (enum log_level)level;
    return 0;
}

/* The mappings of settings. */
#define AT(field) KEY_FIELD (struct config_priority, field)
static const struct key priority_keys[] = {
    { "queue", value_int, AT (weights.queue), 0, PRIORITY_WEIGHT_MAX },
    { "age", value_int, AT (weights.age), 0, PRIORITY_WEIGHT_MAX },
    { "age-max", value_seconds, AT (weights.age_max), 1, YEARS_MAX },
    { "size", value_int, AT (weights.size), -PRIORITY_WEIGHT_MAX, PRIORITY_WEIGHT_MAX },
    { "fair-share", value_int, AT (weights.fair_share), 0, PRIORITY_WEIGHT_MAX },
    { "half-life", value_seconds, AT (half_life), 0, YEARS_MAX },
    { "interval", value_seconds, AT (interval), 1, 86400 },
};
#undef AT

static int set_priority (const struct key *key, void *field, json_t *value,
                         const struct place *p)
{
    (void)key;
    return config_read_mapping (field, priority_keys, ARRAY_SIZE (priority_keys), value,
                                p->key, p);
}

#define AT(field) KEY_FIELD (struct config_history, field)
static const struct key history_keys[] = {
    { "keep", value_seconds, AT (keep), 0, YEARS_MAX },
    { "jobs", value_int, AT (jobs), 0, INT64_C (1000000000) },
};
#undef AT

static int set_history (const struct key *key, void *field, json_t *value,
                        const struct place *p)
{
    (void)key;
    return config_read_mapping (field, history_keys, ARRAY_SIZE (history_keys), value,
                                p->key, p);
}

#define AT(field) KEY_FIELD (struct config_clients, field)
static const struct key clients_keys[] = {
    { "connections", value_int, AT (connections), 8, 4096 },
    { "reserve", value_int, AT (reserve), 0, 1024 },
    { "requests", value_int, AT (requests), 0, 1000000 },
    { "burst", value_int, AT (burst), 1, 10000000 },
};
#undef AT

static int set_clients (const struct key *key, void *field, json_t *value,
                        const struct place *p)
{
    (void)key;
    return config_read_mapping (field, clients_keys, ARRAY_SIZE (clients_keys), value,
                                p->key, p);
}
#define AT(field) KEY_FIELD (struct config, field)
static const struct key keys[] = {
    { "executor", value_string, AT (executor), 0, 0 },
    { "state-dir", value_string, AT (state_dir), 0, 0 },
    { "runtime-dir", value_string, AT (runtime_dir), 0, 0 },
    { "cluster-id", value_string, AT (cluster_id), 0, 0 },
    { "shell-path", value_string, AT (shell_path), 0, 0 },
    { "listen", set_listen, AT (listen_host), 0, 0 },
    { "listen-names", set_names, AT (listen_names), 0, 0 },
    { "munge-socket", value_string, AT (munge_socket), 0, 0 },
    { "operators", value_strings, AT (operators), 0, 0 },
    { "subuid-file", value_string, AT (subuid_file), 0, 0 },
    { "log-level", set_level, AT (log_level), 0, 0 },
    { "match-policy", set_policy, AT (match_policy), 0, 0 },
    { "queue-policy", set_queue_policy, AT (queue_policy), 0, 0 },
    { "reservation-depth", value_int, AT (reservation_depth), 1, QUEUE_DEPTH_MAX },
    { "start-backoff", value_duration, AT (start_backoff), 0, 0 },
    { "start-backoff-max", value_duration, AT (start_backoff_max), 0, 0 },
    { "start-retries", value_int, AT (start_retries), 0, 1000 },
    { "start-timeout", value_timeout, AT (timeouts.start), 0, 0 },
    { "place-timeout", value_timeout, AT (timeouts.place), 0, 0 },
    { "pull-timeout", value_timeout, AT (timeouts.pull), 0, 0 },
    { "start-serialize", value_int, AT (start_serialize), 0, SERIALIZE_MAX },
    { "drain-after-failures", value_int, AT (drain_after_failures), 0, 1000 },
    { "switches-wait", value_duration, AT (switches_wait), 0, 0 },
    { "propagate-nice", value_bool, AT (propagate_nice), 0, 0 },
    { "requeue", value_bool, AT (requeue), 0, 0 },
    { "requeue-order", set_requeue_order, AT (requeue_at_end), 0, 0 },
    { "grace", value_duration, AT (grace), 0, 0 },
    { "resize-grow", value_bool, AT (resize_grow), 0, 0 },
    { "resize-interval", value_duration, AT (resize_interval), 0, 0 },
    { "resize-grace", value_duration, AT (resize_grace), 0, 0 },
    { "prolog", value_program, AT (admin.prolog), 0, 0 },
    { "epilog", value_program, AT (admin.epilog), 0, 0 },
    { "prolog-timeout", value_timeout, AT (admin.timeout), 0, 0 },
    { "array-max", value_int, AT (array_max), 1, ARRAY_TASKS_MAX },
    { "keep-finished", value_int, AT (keep_finished), 0, 10000000 },
    { "user-jobs-max", value_int, AT (user_jobs_max), 0, 1000000000 },
    { "user-bytes-max", set_bytes, AT (user_bytes_max), INT64_C (1) << 20,
      INT64_C (1) << 50 },
    { "user-output-max", set_bytes, AT (user_output_max), INT64_C (1) << 20,
      INT64_C (1) << 60 },
    { "private", value_private, AT (private_parts), 0, 0 },
    { "disk-reserve", set_bytes, AT (disk_reserve), INT64_C (1) << 20,
      INT64_C (1) << 50 },
    { "output-max", set_bytes, AT (output_max), SPOOL_MAX_LEAST, INT64_C (1) << 50 },
    { "queues", config_read_queues, AT (queues), 0, 0 },
    { "priority", set_priority, AT (priority), 0, 0 },
    { "history", set_history, AT (history), 0, 0 },
    { "clients", set_clients, AT (clients), 0, 0 },
};
#undef AT

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
    const char *lack =
        ops && ops->no_admin ? ops->no_admin (json_object_get (root, c->executor)) : NULL;
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
        if (key->read (key, (char *)c + key->offset, value, &p) < 0)
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
    char *texts[] = { c->path,         c->executor,     c->state_dir,    c->runtime_dir,
                      c->cluster_id,   c->listen_host,  c->munge_socket, c->shell_path,
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
