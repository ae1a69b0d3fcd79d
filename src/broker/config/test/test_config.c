/* test_config.c - fluxq.yaml: valid settings, and the errors for wrong files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/config/keys.h"
#include "broker/core/service.h"
#include "common/io.h"

static char path[] = "/tmp/fluxq-test-config-XXXXXX";

static int make_file (void **state)
{
    int fd = mkstemp (path);
    (void)state;
    if (fd < 0)
        return -1;
    close (fd);
    return 0;
}

static int drop_file (void **state)
{
    (void)state;
    return unlink (path);
}

static struct config *load (const char *text, struct error *err)
{
    assert_int_equal (io_write_file_atomic (path, text, strlen (text), 0600, err), 0);
    return config_load (path, services_settings (), err);
}

static void test_defaults (void **state)
{
    struct error err = { 0 };
    struct config *c = load ("", &err);

    (void)state;
    assert_non_null (c);
    assert_string_equal (c->executor, "local");
    assert_int_equal (c->nqueues, 1);
    assert_string_equal (config_default_queue (c)->name, "batch");
    assert_true (config_default_queue (c)->started);
    assert_string_equal (c->match_policy->name, "lonode");
    assert_string_equal (c->queue_policy->name, "easy");
    assert_null (config_executor_section (c, "local"));
    assert_true (c->requeue && !c->requeue_at_end && c->start_retries == 5);
    struct config_timeouts t = config_timeouts_of (c, 0, 0);
    assert_true (t.start == 300 && t.place == 300 && t.pull == 1800);
    config_destroy (c);
}

static void test_prolog_of_queues (void **state)
{
    struct error err = { 0 };
    struct config *c = load ("prolog: /bin/true\n"
                             "epilog: /bin/false\n"
                             "queues:\n"
                             "  all: {default: true}\n"
                             "  own: {prolog: /bin/sh, prolog-timeout: 5s}\n"
                             "  bare: {prolog: none, epilog: none}\n",
                             &err);

    (void)state;
    assert_non_null (c);
    struct config_admin all = config_admin_of (c, 0), own = config_admin_of (c, 1),
                        bare = config_admin_of (c, 2);
    assert_string_equal (all.prolog, "/bin/true");
    assert_string_equal (all.epilog, "/bin/false");
    assert_true (all.timeout == 60 && own.timeout == 5);
    assert_string_equal (own.prolog, "/bin/sh");
    assert_string_equal (own.epilog, "/bin/false");
    assert_true (!bare.prolog && !bare.epilog);
    config_destroy (c);
    /* An executor for pods needs an image. */
    assert_null (load ("executor: kube\nprolog: /bin/true\nkube: {}\n", &err));
    assert_non_null (strstr (err.text, "admin-image"));
    c = load ("executor: kube\nprolog: /bin/true\nkube: {admin-image: x}\n", &err);
    assert_non_null (c);
    config_destroy (c);
}

static void test_all_keys (void **state)
{
    struct error err = { 0 };
    struct config *c =
        load ("executor: kube\n"
              "state-dir: /s\n"
              "listen: '[::1]:7718'\n"
              "operators: [ann, bob]\n"
              "log-level: debug\n"
              "match-policy: bestfit\n"
              "start-backoff: 5s\n"
              "start-backoff-max: 1m\n"
              "start-retries: 2\n"
              "start-timeout: 2m\n"
              "pull-timeout: 1h\n"
              "start-serialize: 64\n"
              "drain-after-failures: 0\n"
              "requeue: false\n"
              "requeue-order: end\n"
              "grace: 1.5\n"
              "keep-finished: 7\n"
              "output-max: 64Mi\n"
              "clients: {connections: 20, reserve: 5, requests: 7, burst: 9}\n"
              "subuid-file: /x/subuid\n"
              "priority: {queue: 2, age: 3, age-max: 1d, size: -4,\n"
              "  fair-share: 5, half-life: infinity, interval: 90}\n"
              "queues:\n"
              "  short: {max-time: 30m, max-nodes: 4, priority: 10,\n"
              "    start-timeout: 30, place-timeout: 10s}\n"
              "  long: {default: true, default-time: 1h, started: false,\n"
              "    mounts: [{path: /home, volume: {emptyDir: {}}}]}\n"
              "kube: {image: 'busybox:1'}\n",
              &err);

    (void)state;
    assert_non_null (c);
    assert_string_equal (c->executor, "kube");
    assert_string_equal (c->listen_host, "::1");
    assert_int_equal (c->listen_port, 7718);
    assert_string_equal (c->operators[1], "bob");
    assert_null (c->operators[2]);
    assert_int_equal (c->clients.connections, 20);
    assert_int_equal (c->clients.reserve, 5);
    assert_int_equal (c->clients.requests, 7);
    assert_int_equal (c->clients.burst, 9);
    assert_string_equal (c->subuid_file, "/x/subuid");
    assert_int_equal (c->log_level, LOG_LEVEL_DEBUG);
    assert_string_equal (c->match_policy->name, "bestfit");
    assert_true (c->start_backoff == 5 && c->start_backoff_max == 60 && c->grace == 1.5);
    assert_int_equal (c->start_retries, 2);
    assert_true (!c->requeue && c->requeue_at_end);
    assert_int_equal (c->keep_finished, 7);
    assert_int_equal (c->output_max, 64 << 20);
    assert_string_equal (config_default_queue (c)->name, "long");
    assert_false (config_default_queue (c)->started);
    assert_int_equal (json_array_size (config_default_queue (c)->mounts), 1);
    const struct config_queue *q = config_find_queue (c, "short");
    assert_non_null (q);
    assert_true (q->max_time == 1800 && q->max_nodes == 4 && q->priority == 10);
    /* limits of the job, of its queue, of all jobs */
    struct config_timeouts t = config_timeouts_of (c, 0, 0);
    assert_true (t.start == 30 && t.place == 10 && t.pull == 3600);
    t = config_timeouts_of (c, 1, 0);
    assert_true (t.start == 120 && t.place == 120 && t.pull == 3600);
    t = config_timeouts_of (c, 1, 900);
    assert_true (t.start == 900 && t.place == 900 && t.pull == 3600);
    assert_null (config_find_queue (c, "shor"));
    assert_non_null (config_executor_section (c, "kube"));
    config_destroy (c);
}

/* The settings of two services: each key sets its own field, the others keep theirs. */
struct one {
    char *text, **names;
    double wait;
};
struct two {
    bool flag;
    struct inner {
        int32_t small;
        int64_t large;
        uint64_t bytes;
    } inner;
};

#define ONE(field) CONFIG_FIELD (struct one, field)
#define INNER(field) CONFIG_FIELD (struct inner, field)
static const struct config_key one_keys[] = {
    { "text", value_string, ONE (text), 0, 0, NULL },
    { "names", value_strings, ONE (names), 0, 0, NULL },
    { "wait", value_seconds, ONE (wait), 1, 60, NULL },
    { 0 },
};
static const struct config_key inner_keys[] = {
    { "small", value_int, INNER (small), -1, 5, NULL },
    { "large", value_int, INNER (large), 0, INT64_MAX, NULL },
    { "bytes", value_bytes, INNER (bytes), 1 << 20, INT64_MAX, NULL },
    { 0 },
};
static const struct config_key two_keys[] = {
    { "flag", value_bool, CONFIG_FIELD (struct two, flag), 0, 0, NULL },
    { "inner", value_mapping, CONFIG_FIELD (struct two, inner), 0, 0, inner_keys },
    { 0 },
};
static const struct one one_defaults = { .wait = 7 };
static const struct two two_defaults = { .flag = true, .inner = { 1, 2, 3 } };
static const struct config_part one = { one_keys, sizeof (struct one), &one_defaults };
static const struct config_part two = { two_keys, sizeof (struct two), &two_defaults };
static const struct config_part *const both[] = { &one, &two };
static const size_t both_at[] = { 0, 64 };
static const struct config_layout layout = { both, both_at, 2, 64 + sizeof (struct two) };

static void test_settings_of_services (void **state)
{
    struct error err = { 0 };
    struct config *c = config_default (&layout);

    (void)state;
    assert_non_null (c);
    const struct one *x = (const void *)c->settings;
    const struct two *y = (const void *)(c->settings + 64);
    assert_true (!x->text && !x->names && x->wait == 7);
    assert_true (y->flag && y->inner.small == 1 && y->inner.large == 2);
    config_destroy (c);

    const char *text =
        "text: a\nnames: [b, c]\ninner: {small: -1, bytes: 2Mi}\ngrace: 3\n";
    assert_int_equal (io_write_file_atomic (path, text, strlen (text), 0600, &err), 0);
    assert_non_null (c = config_load (path, &layout, &err));
    x = (const void *)c->settings;
    y = (const void *)(c->settings + 64);
    assert_string_equal (x->text, "a");
    assert_string_equal (x->names[1], "c");
    assert_true (x->wait == 7 && c->grace == 3 && y->flag);
    assert_true (y->inner.small == -1 && y->inner.large == 2);
    assert_int_equal (y->inner.bytes, 2 << 20);

    json_t *bad = json_string ("6");
    struct config_place p = { c->doc, yaml_root (c->doc), "inner", &err };
    assert_int_equal (config_set (c, "inner", bad, &p), -EINVAL);
    assert_non_null (strstr (err.text, "inner: expected a mapping"));
    assert_int_equal (config_set (c, "small", bad, &p), -EINVAL);
    assert_non_null (strstr (err.text, "unknown key 'small'"));
    json_decref (bad);
    config_destroy (c);
}

/* Each file is refused, and the text names the place and the key. */
static void test_refusals (void **state)
{
    static const struct {
        const char *text, *place, *thing;
    } cases[] = {
        { "exekutor: local\n", ":1:1: ", "unknown key 'exekutor'" },
        { "log-level: info\nlog-level: info\n", ":2:", "log-level" },
        { "log-level: loud\n", ":1:", "error, warning, info or debug" },
        { "match-policy: lowest\n", ":1:", "high, hinode" },
        { "match-policy: [low]\n", ":1:", "expected one of" },
        { "queue-policy: fair\n", ":1:", "conservative, easy, fcfs, hybrid" },
        { "queue-policy: 3\n", ":1:", "expected one of" },
        { "queue-policy: easy\nreservation-depth: 5\n", ":2:", "easy has its own" },
        { "queue-policy: hybrid\nreservation-depth: 0\n", ":2:", "from 1 to 10000" },
        { "listen: 7718\n", ":1:", "HOST:PORT" },
        { "listen: host:99999\n", ":1:", "HOST:PORT" },
        { "grace: soon\n", ":1:", "duration" },
        { "grace: -1\n", ":1:", "duration" },
        { "start-retries: 1.5\n", ":1:", "integer from 0" },
        { "requeue: 'true'\n", ":1:1: ", "requeue: expected true or false" },
        { "grace: 1s\nrequeue-order: last\n", ":2:1: ", "expected old or end" },
        { "requeue-order: 1\n", ":1:1: ", "expected old or end" },
        { "start-timeout: 0\n", ":1:1: ", "from 1s to 24h" },
        { "pull-timeout: infinity\n", ":1:1: ", "from 1s to 24h" },
        { "place-timeout: soon\n", ":1:1: ", "expected a duration" },
        { "queues:\n  a: {start-timeout: 2d}\n", ":2:", "from 1s to 24h" },
        { "start-serialize: -1\n", ":1:1: ", "expected an integer from 0" },
        { "drain-after-failures: 1001\n", ":1:1: ", "from 0 to 1000" },
        { "listen-names: [a b]\nlisten: 'a:1'\n", ":1:", "listen-names" },
        { "user-bytes-max: 5\n", ":1:1: ", "expected 0 or an amount from 1 MiB" },
        { "resize-grow: 1\n", ":1:1: ", "true or false" },
        { "history: {keep: x}\n", ":1:11: ", "keep: expected a duration" },
        { "operators: ann\n", ":1:", "list" },
        { "clients: {connections: 0}\n", ":1:", "from 8" },
        { "clients: {nosuch: 1}\n", ":1:", "unknown key 'nosuch'" },
        { "operators: [ann, [bob]]\n", ":1:", "entry 2" },
        { "queues: [a]\n", ":1:", "mapping" },
        { "queues: {}\n", ":1:", "queues" },
        { "queues:\n  a:\n    max-tim: 1h\n", ":3:5: ", "unknown key 'max-tim'" },
        { "queues:\n  'a b': {}\n", ":2:", "'a b' is not a queue name" },
        { "queues:\n  a: {default: true}\n  b: {default: true}\n", ":1:", "only one" },
        { "queues:\n  a: {max-nodes: 0}\n", ":2:", "max-nodes" },
        { "queues:\n  a: {default-time: 2h, max-time: 1h}\n",
          ":2:", "more than max-time" },
        { "start-backoff: 2h\n", ":", "start-backoff-max" },
        { "cluster-id: Not_A_Label\n", ":1:", "DNS label" },
        { "local: 4\n", ":1:", "mapping" },
        { "priority: 4\n", ":1:1: ", "priority: expected a mapping" },
        { "priority: {aged: 4}\n", ":1:12: ", "unknown key 'aged'" },
        { "priority:\n  age: -1\n", ":2:3: ", "age: expected an integer from 0" },
        { "priority:\n  size: 1000001\n", ":2:3: ", "from -1000000 to 1000000" },
        { "priority:\n  queue: 1.5\n", ":2:3: ", "queue: expected an integer" },
        { "priority:\n  age-max: 0\n", ":2:3: ", "age-max: expected a duration from 1" },
        { "priority:\n  half-life: never\n", ":2:3: ", "half-life: expected a duration" },
        { "priority:\n  interval: 2d\n", ":2:3: ", "from 1 to 86400 seconds" },
        { "- a\n", ":1:1: ", "mapping" },
        { "a: [\n", ":", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        struct error err = { 0 };
        struct config *c = load (cases[i].text, &err);
        if (c || !strstr (err.text, cases[i].place) || !strstr (err.text, cases[i].thing)
            || strncmp (err.text, path, strlen (path)) != 0)
            fail_msg ("%s was %s: %s", cases[i].text, c ? "accepted" : "refused",
                      err.text);
    }
}

static void test_missing_file (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_null (config_load ("/nonexistent/fluxq.yaml", NULL, &err));
    assert_non_null (strstr (err.text, "/nonexistent/fluxq.yaml"));
}

/* An option overrides the file, and needs no file. */
static void test_executor_option (void **state)
{
    struct error err = { 0 };
    struct config *with = load ("local: {nodes: 2, cores: 3}\n", &err);
    struct config *without = config_default (NULL);

    (void)state;
    assert_int_equal (config_set_executor (with, "local", "nodes", json_integer (4)), 0);
    assert_int_equal (config_set_executor (without, "local", "nodes", json_integer (5)),
                      0);
    json_t *a = config_executor_section (with, "local");
    json_t *b = config_executor_section (without, "local");
    assert_int_equal (json_integer_value (json_object_get (a, "nodes")), 4);
    assert_int_equal (json_integer_value (json_object_get (a, "cores")), 3);
    assert_int_equal (json_integer_value (json_object_get (b, "nodes")), 5);
    config_destroy (with);
    config_destroy (without);
}

/* fluxqd --local 4 --config FILE: a reload must keep the options. */
static void test_options_outlive_reload (void **state)
{
    struct error err = { 0 };
    struct config *old = load ("executor: kube\nlocal: {cores: 2}\n", &err);
    struct config *new = load ("executor: kube\nlocal: {cores: 2}\n", &err);

    (void)state;
    assert_int_equal (config_set_executor (old, "local", "nodes", json_integer (4)), 0);
    assert_int_equal (config_keep_options (new, old), 0);
    assert_string_equal (new->executor, "local");
    assert_true (json_equal (config_executor_section (new, "local"),
                             config_executor_section (old, "local")));
    config_destroy (old);
    config_destroy (new);

    old = config_default (NULL);
    new = config_default (NULL);
    assert_int_equal (config_set_executor (old, "kube", NULL, NULL), 0);
    assert_int_equal (config_keep_options (new, old), 0);
    assert_string_equal (new->executor, "kube");
    config_destroy (old);
    config_destroy (new);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_defaults),
        cmocka_unit_test (test_prolog_of_queues),
        cmocka_unit_test (test_all_keys),
        cmocka_unit_test (test_settings_of_services),
        cmocka_unit_test (test_refusals),
        cmocka_unit_test (test_missing_file),
        cmocka_unit_test (test_executor_option),
        cmocka_unit_test (test_options_outlive_reload),
    };
    return cmocka_run_group_tests (tests, make_file, drop_file);
}
