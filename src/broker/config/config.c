/* config.c - reads fluxq.yaml into struct config: a table of keys, one loop
 */
#include "broker/config/config.h"
#include "broker/config/config_private.h"

#include "common/parse.h"
#include "exec/exec.h"
#include "net/authority.h"
#include "protocol/output_limit.h"

/* "host:port"; an IPv6 host is in brackets. */
static int set_listen (const struct config_key *key, void *field, json_t *value,
                       const struct config_place *p)
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

static int set_policy (const struct config_key *key, void *field, json_t *value,
                       const struct config_place *p)
{
    const char *name = json_string_value (value);
    const struct match_policy *policy = name ? match_policy_find (name) : NULL;
    autostrbuf struct strbuf names = STRBUF_INIT (400);

    (void)key;
    for (size_t i = 0; !policy && match_policies[i]; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", match_policies[i]->name);
    if (!policy)
        return FAIL (p, "%s: expected one of %s", p->key, names.buf);
    *(const struct match_policy **)field = policy;
    return 0;
}

static int set_queue_policy (const struct config_key *key, void *field, json_t *value,
                             const struct config_place *p)
{
    const char *name = json_string_value (value);
    const struct queue_policy *policy = name ? queue_policy_find (name) : NULL;
    autostrbuf struct strbuf names = STRBUF_INIT (400);

    (void)key;
    for (size_t i = 0; !policy && queue_policies[i]; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", queue_policies[i]->name);
    if (!policy)
        return FAIL (p, "%s: expected one of %s", p->key, names.buf);
    *(const struct queue_policy **)field = policy;
    return 0;
}

static int set_requeue_order (const struct config_key *key, void *field, json_t *value,
                              const struct config_place *p)
{
    const char *text = json_string_value (value);

    (void)key;
    if (!text || (strcmp (text, "old") != 0 && strcmp (text, "end") != 0))
        return FAIL (p, "%s: expected old or end", p->key);
    *(bool *)field = !strcmp (text, "end");
    return 0;
}

static int set_level (const struct config_key *key, void *field, json_t *value,
                      const struct config_place *p)
{
    int level =
        json_is_string (value) ? log_level_from_name (json_string_value (value)) : -1;

    (void)key;
    if (level < 0)
        return FAIL (p, "log-level: expected error, warning, info or debug");
    *(enum log_level *)field = (enum log_level)level;
    return 0;
}

#define AT(field) CONFIG_FIELD (struct config_clients, field)
static const struct config_key clients_keys[] = {
    { "connections", value_int, AT (connections), 8, 4096, NULL },
    { "reserve", value_int, AT (reserve), 0, 1024, NULL },
    { "requests", value_int, AT (requests), 0, 1000000, NULL },
    { "burst", value_int, AT (burst), 1, 10000000, NULL },
    { 0 },
};
#undef AT

#define AT(field) CONFIG_FIELD (struct config, field)
static const struct config_key keys[] = {
    { "executor", value_string, AT (executor), 0, 0, NULL },
    { "state-dir", value_string, AT (state_dir), 0, 0, NULL },
    { "runtime-dir", value_string, AT (runtime_dir), 0, 0, NULL },
    { "cluster-id", value_string, AT (cluster_id), 0, 0, NULL },
    { "shell-path", value_string, AT (shell_path), 0, 0, NULL },
    { "listen", set_listen, AT (listen_host), 0, 0, NULL },
    { "listen-names", value_strings, AT (listen_names), 0, 0, NULL },
    { "munge-socket", value_string, AT (munge_socket), 0, 0, NULL },
    { "user", value_string, AT (user), 0, 0, NULL },
    { "min-uid", value_int, AT (min_uid), 1, INT32_MAX, NULL },
    { "operators", value_strings, AT (operators), 0, 0, NULL },
    { "subuid-file", value_string, AT (subuid_file), 0, 0, NULL },
    { "log-level", set_level, AT (log_level), 0, 0, NULL },
    { "match-policy", set_policy, AT (match_policy), 0, 0, NULL },
    { "queue-policy", set_queue_policy, AT (queue_policy), 0, 0, NULL },
    { "reservation-depth", value_int, AT (reservation_depth), 1, QUEUE_DEPTH_MAX, NULL },
    { "start-backoff", value_duration, AT (start_backoff), 0, 0, NULL },
    { "start-backoff-max", value_duration, AT (start_backoff_max), 0, 0, NULL },
    { "start-retries", value_int, AT (start_retries), 0, 1000, NULL },
    { "start-timeout", value_timeout, AT (timeouts.start), 0, 0, NULL },
    { "place-timeout", value_timeout, AT (timeouts.place), 0, 0, NULL },
    { "pull-timeout", value_timeout, AT (timeouts.pull), 0, 0, NULL },
    { "propagate-nice", value_bool, AT (propagate_nice), 0, 0, NULL },
    { "requeue", value_bool, AT (requeue), 0, 0, NULL },
    { "requeue-order", set_requeue_order, AT (requeue_at_end), 0, 0, NULL },
    { "grace", value_duration, AT (grace), 0, 0, NULL },
    { "prolog", value_program, AT (admin.prolog), 0, 0, NULL },
    { "epilog", value_program, AT (admin.epilog), 0, 0, NULL },
    { "prolog-timeout", value_timeout, AT (admin.timeout), 0, 0, NULL },
    { "keep-finished", value_int, AT (keep_finished), 0, 10000000, NULL },
    { "private", value_private, AT (private_parts), 0, 0, NULL },
    { "disk-reserve", value_bytes, AT (disk_reserve), INT64_C (1) << 20,
      INT64_C (1) << 50, NULL },
    { "output-max", value_bytes, AT (output_max), SPOOL_MAX_LEAST, INT64_C (1) << 50,
      NULL },
    { "queues", config_read_queues, AT (queues), 0, 0, NULL },
    { "clients", value_mapping, AT (clients), 0, 0, clients_keys },
    { 0 },
};

struct config *config_default (const struct config_layout *layout)
{
    struct config *c = calloc (1, sizeof (*c) + (layout ? layout->size : 0));
    if (!c || !(c->queues = calloc (1, sizeof (*c->queues)))) {
        free (c);
        return NULL;
    }
    c->layout = layout;
    for (size_t i = 0; layout && i < layout->n; i++)
        memcpy (c->settings + layout->offsets[i], layout->parts[i]->defaults,
                layout->parts[i]->size);
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
    c->admin.timeout = 60;
    c->requeue = true;
    c->grace = 30;
    c->min_uid = 1000;
    c->keep_finished = 10000;
    c->disk_reserve = UINT64_C (64) << 20;
    c->output_max = UINT64_C (1) << 30;
    c->clients = (struct config_clients){
        .connections = 512, .reserve = 64, .requests = 2000, .burst = 10000
    };
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
    char name[AUTHORITY_SIZE];
    struct error why = { 0 };
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
    for (char **s = c->listen_names; s && *s; s++)
        if (authority_parse (*s, 1, name, "listen-names", &why) < 0)
            return yaml_error (c->doc, root, "listen-names", err, "%s", why.text);
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

/* Finds the key of the name, and what it is in: NULL: there is none. */
static const struct config_key *find_key (struct config *c, const char *name, void **ret)
{
    const struct config_layout *l = c->layout;
    const struct config_key *key = config_find_key (keys, name);

    *ret = c;
    for (size_t i = 0; !key && l && i < l->n; i++) {
        key = config_find_key (l->parts[i]->keys, name);
        *ret = c->settings + l->offsets[i];
    }
    return key;
}

int config_set (struct config *c, const char *name, json_t *value,
                const struct config_place *p)
{
    void *body;
    const struct config_key *key = find_key (c, name, &body);

    if (key)
        return key->read (key, (char *)body + key->offset, value, p);
    if (!exec_find (name))
        return FAIL (p, "unknown key '%s' (see fluxq.yaml(5))", name);
    /* the mapping of an executor, which reads it */
    return json_is_object (value) || json_is_null (value)
               ? 0
               : FAIL (p, "%s: expected a mapping", name);
}

/* Reads the whole file; an empty one has the defaults. */
static int read_file (struct config *c, struct error *err)
{
    json_t *value, *root;
    const char *name;

    if (!(c->doc = yaml_load_file (c->path, err)))
        return -EINVAL;
    root = yaml_root (c->doc);
    if (json_is_null (root))
        return 0;
    if (!json_is_object (root))
        return error_set (err, EINVAL, "%s:1:1: expected a mapping of settings", c->path);
    json_object_foreach (root, name, value) {
        struct config_place p = { c->doc, root, name, err };

        if (config_set (c, name, value, &p) < 0)
            return -EINVAL;
    }
    return check_whole (c, err);
}

struct config *config_load (const char *path, const struct config_layout *layout,
                            struct error *err)
{
    struct config *c = config_default (layout);

    if (!c || !(c->path = strdup (path)))
        error_set (err, ENOMEM, "out of memory");
    else if (read_file (c, err) == 0)
        return c;
    config_destroy (c);
    return NULL;
}

void config_destroy (struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->layout && i < c->layout->n; i++)
        config_release (c->settings + c->layout->offsets[i], c->layout->parts[i]->keys);
    config_release (c, keys);
    config_release_queues (c);
    free (c->path);
    free (c->listen_host);
    yaml_destroy (c->doc);
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

/* Without such a mapping in the file, the options are the mapping. */
json_t *config_executor_section (const struct config *c, const char *name)
{
    json_t *section = c->doc ? json_object_get (yaml_root (c->doc), name) : NULL;

    if (json_is_object (section))
        return section;
    section = json_object_get (c->options, name);
    return json_object_size (section) > 0 ? section : NULL;
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
    if (!key)
        return 0;
    json_t *section = config_executor_section (c, name);
    return json_object_set_new (section, key, value) < 0 ? -ENOMEM : 0;
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
