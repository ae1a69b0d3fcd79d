/* A queue's pods: the administrator's settings, a job's choices, and the
 * queues of a node. */
#include "exec/podset.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int check (const char *text, struct error *err)
{
    struct yaml_doc *doc = yaml_load (text, strlen (text), "q.yaml", err);
    int rc;

    assert_non_null (doc);
    rc = podset_check (doc, yaml_root (doc), "queue q: pods", err);
    yaml_destroy (doc);
    return rc;
}

static void test_good (void **state)
{
    static const char text[] =
        "node-selector: {pool: gpu, empty: ''}\n"
        "tolerations: [{key: gpu, operator: Exists, effect: NoSchedule},\n"
        "              {operator: Exists}, {key: a, value: b, tolerationSeconds: 5}]\n"
        "resources: {rdma/hca: 1}\n"
        "runtime-class: nvidia\n"
        "priority-class: batch\n"
        "service-account: jobs\n"
        "image-pull-secrets: [registry]\n"
        "shm-size: 2Gi\n"
        "host-network: true\n"
        "user-entry: false\n"
        "allow: {runtime-class: [gvisor], shm-size: 8Gi, host-network: true,\n"
        "  volumes: {scratch: {read-only: true, volume: {hostPath: {path: /s}}}}}\n";
    struct error err = { 0 };

    (void)state;
    assert_int_equal (check (text, &err), 0);
}

/* Each error is one line with its place. */
static void test_refused (void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        { "runtimeclass: a\n", "q.yaml:1:1: queue q: pods.runtimeclass: unknown key" },
        { "allow: {image: [a]}\n", "pods.allow.image: unknown key" },
        { "allow: [shm-size]\n", "pods.allow: expected a mapping" },
        { "runtime-class: [a]\n", "pods.runtime-class: expected the name" },
        { "priority-class: A\n", "pods.priority-class: expected the name" },
        { "image-pull-secrets: a\n", "expected a list" },
        { "image-pull-secrets: [a, 1]\n", "entry 2" },
        { "node-selector: {a: 1}\n", "pods.node-selector.a: expected a text" },
        { "tolerations: {key: a}\n", "expected a list of tolerations" },
        { "tolerations: [{keys: a}]\n", "entry 1: expected a mapping of key" },
        { "tolerations: [{key: a, operator: Is}]\n", "entry 1: operator" },
        { "tolerations: [{key: a, effect: No}]\n", "entry 1: effect" },
        { "tolerations: [{value: a}]\n", "entry 1: without a key" },
        { "resources: {cpu: 1}\n", "pods.resources.cpu: not an extended resource" },
        { "resources: {a/b: 0}\n", "from 1 to" },
        { "resources: {a/b: '1'}\n", "from 1 to" },
        { "shm-size: 1\n", "amount of memory" },
        { "host-network: maybe\n", "true or false" },
        { "executor: kube\n", "pods.executor: expected job or minicluster" },
        { "allow: {executor: job}\n", "pods.allow.executor: expected a list" },
        { "allow: {executor: [all]}\n", "entry 1: expected job or minicluster" },
        { "allow: {shm-size: all}\n", "pods.allow.shm-size: expected an amount" },
        { "allow: {service-account: any}\n", "list of names" },
        { "allow: {volumes: [a]}\n", "mapping of names" },
        { "allow: {volumes: {'a b': {volume: {emptyDir: {}}}}}\n",
          "'a b' is not a name" },
        { "allow: {volumes: {a: {path: /x, volume: {emptyDir: {}}}}}\n",
          "the path is the user's" },
        { "allow: {volumes: {a: {volume: {}}}}\n", "one volume source" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };

        assert_int_equal (check (cases[i].text, &err), -EINVAL);
        assert_non_null (strstr (err.text, cases[i].word));
        assert_non_null (strstr (err.text, "q.yaml:"));
    }
}

static json_t *json (const char *text)
{
    json_t *v = text ? json_loads (text, 0, NULL) : NULL;

    assert_true (!text || v);
    return v;
}

static const char allowing[] =
    "{\"allow\":{\"runtime-class\":[\"gvisor\",\"kata\"],\"shm-size\":\"1Gi\","
    "\"host-network\":true,\"volumes\":{\"scratch\":{\"volume\":{\"emptyDir\":{}}},"
    "\"models\":{\"read-only\":true,\"volume\":{\"nfs\":{}}}}}}";

static int admit (const char *set, const char *wishes, struct error *err)
{
    autojson json_t *s = json (set), *w = json (wishes);
    autojson json_t *mounts =
        json ("[{\"path\":\"/home\",\"volume\":{\"emptyDir\":{}}}]");

    return podset_admit (s, "q", w, mounts, err);
}

static void test_admit (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal (admit (NULL, NULL, &err), 0);
    assert_int_equal (admit ("{}", "{}", &err), 0);
    /* any value, unless there is a list; a job may name the queue's own value */
    assert_int_equal (admit ("{}", "{\"executor\":\"minicluster\"}", &err), 0);
    assert_int_equal (admit ("{\"executor\":\"minicluster\",\"allow\":{\"executor\":[]}}",
                             "{\"executor\":\"minicluster\"}", &err),
                      0);
    assert_int_equal (admit (allowing,
                             "{\"runtime-class\":\"kata\",\"shm-size\":1073741824,"
                             "\"host-network\":true,\"volumes\":[{\"name\":\"scratch\","
                             "\"path\":\"/s\"},{\"name\":\"models\",\"path\":\"/m\"}]}",
                             &err),
                      0);
}

static void test_not_admitted (void **state)
{
    static const struct {
        const char *set, *wishes, *word;
    } cases[] = {
        { "{}", "{\"runtime-class\":\"kata\"}",
          "--runtime-class: queue q does not allow its jobs to choose" },
        { NULL, "{\"host-network\":true}", "--host-network: queue q does not allow" },
        { allowing, "{\"runtime-class\":\"runc\"}",
          "--runtime-class: queue q does not have 'runc', but gvisor, kata" },
        { allowing, "{\"priority-class\":\"high\"}",
          "--priority-class: queue q does not" },
        { allowing, "{\"service-account\":\"admin\"}", "--service-account" },
        { "{\"allow\":{\"executor\":[\"job\"]}}", "{\"executor\":\"minicluster\"}",
          "--executor: queue q does not have 'minicluster', but job" },
        { "{\"executor\":\"minicluster\",\"allow\":{\"executor\":[]}}",
          "{\"executor\":\"job\"}", "--executor: queue q does not allow" },
        { allowing, "{\"shm-size\":1073741825}", "at most 1024 MiB" },
        { "{}", "{\"shm-size\":1048576}", "--shm-size: queue q does not allow" },
        { allowing, "{\"volumes\":[{\"name\":\"x\",\"path\":\"/s\"}]}",
          "--volume: queue q does not have 'x', but scratch, models" },
        { allowing, "{\"volumes\":[{\"name\":\"scratch\",\"path\":\"/home\"}]}",
          "--volume: path: /home is listed twice" },
        { allowing, "{\"volumes\":[{\"name\":\"scratch\",\"path\":\"/fluxq/bin\"}]}",
          "the agent's" },
        { allowing, "{\"volumes\":[{\"name\":\"scratch\",\"path\":\"/dev/shm\"}]}",
          "--volume: path: /dev/shm is the system's" },
        { allowing, "{\"volumes\":[{\"name\":\"scratch\",\"path\":\"/a/../etc\"}]}",
          "--volume: path" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };

        assert_int_equal (admit (cases[i].set, cases[i].wishes, &err), -EINVAL);
        assert_non_null (strstr (err.text, cases[i].word));
    }
}

#define SECRET_TEMPLATE                                                                  \
    "{\"pod-template\":{\"metadata\":{\"labels\":{\"a.b/c\":\"d\"}},\"spec\":{"          \
    "\"volumes\":[{\"name\":\"a\",\"secret\":{\"secretName\":\"s\"}}],\"containers\":["  \
    "{\"name\":\"job\",\"volumeMounts\":[{\"name\":\"a\",\"mountPath\":\"%s\"}]}]}}}"

/* A template is refused by the first field that the queue does not allow. */
static void test_template (void **state)
{
    static const struct {
        const char *allow, *path, *word; /* NULL: accepted */
    } cases[] = {
        { "{}", "/s", "--pod-template: queue q does not allow its jobs to have one" },
        { "{\"allow\":{\"pod-template\":false}}", "/s", "queue q does not allow" },
        { "{\"allow\":{\"pod-template\":true}}", "/s",
          "--pod-template: spec.volumes.secret: queue q does not allow this field" },
        { "{\"allow\":{\"pod-template\":[\"spec.volumes.secret\"]}}", "/s",
          "--pod-template: metadata.labels: queue q" },
        { "{\"allow\":{\"pod-template\":[\"spec.volumes.secret\",\"metadata.labels\"]}}",
          "/s", NULL },
        { "{\"allow\":{\"pod-template\":[\"spec.volumes.secret\",\"metadata.labels\"]}}",
          "/home", "--pod-template: path: /home is listed twice" },
        { "{\"allow\":{\"pod-template\":[\"spec.volumes.secret\",\"metadata.labels\"]}}",
          "/fluxq/key", "the agent's" },
        { "{\"allow\":{\"pod-template\":[\"spec.volumes.secret\",\"metadata.labels\"]}}",
          "/proc/1", "/proc/1 is the system's" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        char wishes[400];

        snprintf (wishes, sizeof (wishes), SECRET_TEMPLATE, cases[i].path);
        assert_int_equal (admit (cases[i].allow, wishes, &err) == 0, !cases[i].word);
        assert_non_null (strstr (err.text, cases[i].word ? cases[i].word : ""));
    }
}

/* A key is taken as a whole, from the last settings that have it. */
static void test_merge (void **state)
{
    autojson json_t *set =
        json ("{\"node-selector\":{\"a\":\"1\"},\"shm-size\":\"1Gi\"}");
    autojson json_t *over = json ("{\"node-selector\":{\"b\":\"2\"}}");
    autojson json_t *all = podset_merge (set, over), *none = podset_merge (NULL, NULL);
    autojson json_t *expected =
        json ("{\"node-selector\":{\"b\":\"2\"},\"shm-size\":\"1Gi\"}");

    (void)state;
    assert_true (json_equal (all, expected));
    assert_int_equal (json_object_size (none), 0);
    assert_non_null (json_object_get (json_object_get (set, "node-selector"), "a"));
}

static void test_mounts (void **state)
{
    autojson json_t *set = json (allowing);
    autojson json_t *wishes =
        json ("{\"volumes\":[{\"name\":\"models\",\"path\":\"/m\"},{\"name\":\"gone\","
              "\"path\":\"/g\"}]}");
    autojson json_t *list = podset_mounts (set, wishes, NULL);
    autojson json_t *expected =
        json ("[{\"path\":\"/m\",\"read-only\":true,\"volume\":{\"nfs\":{}}}]");

    (void)state;
    assert_true (json_equal (list, expected));
    assert_null (podset_mounts (set, NULL, NULL));
}

static bool tolerates (const char *tolerations, const char *taint)
{
    autojson json_t *set = json_pack ("{s:o}", "tolerations", json (tolerations));
    autojson json_t *t = json (taint);

    return podset_tolerates (set, t);
}

static void test_tolerations (void **state)
{
    static const char taint[] =
        "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}";

    (void)state;
    assert_true (tolerates ("[{\"key\":\"k\",\"value\":\"v\"}]", taint));
    assert_true (
        tolerates ("[{\"key\":\"x\"},{\"key\":\"k\",\"operator\":\"Exists\"}]", taint));
    assert_true (tolerates ("[{\"operator\":\"Exists\"}]", taint));
    assert_true (
        tolerates ("[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]", taint));
    assert_false (tolerates ("[{\"key\":\"k\",\"value\":\"w\"}]", taint));
    assert_false (
        tolerates ("[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}]", taint));
    assert_false (tolerates ("[{}]", taint)); /* an empty key needs Exists */
    assert_false (tolerates ("[]", taint));
}

static void test_selects (void **state)
{
    autojson json_t *no = json ("{\"a\":{},\"b\":{\"shm-size\":\"1Gi\"}}");
    autojson json_t *yes = json ("{\"a\":{},\"b\":{\"tolerations\":[]}}");

    (void)state;
    assert_false (podset_selects (no));
    assert_true (podset_selects (yes));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_good),     cmocka_unit_test (test_refused),
        cmocka_unit_test (test_admit),    cmocka_unit_test (test_not_admitted),
        cmocka_unit_test (test_template), cmocka_unit_test (test_merge),
        cmocka_unit_test (test_mounts),   cmocka_unit_test (test_tolerations),
        cmocka_unit_test (test_selects),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
