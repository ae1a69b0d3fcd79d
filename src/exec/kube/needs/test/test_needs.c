/* Node groups in the configuration, and the objects that request their nodes. Fails if
 * an error is accepted or refused without its place, if foreign objects count as
 * fluxq's, or if foreign texts reach a terminal unchanged. */
#include "exec/kube/needs/needobject.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/kube/core/podsize.h"

#define GROUP "name: spot, max: 20, labels: {pool: spot}, cpu: 16, memory: 64Gi"

static int read_groups (const char *text, struct groupconfigs *g, struct error *err)
{
    struct yaml_doc *doc = yaml_load (text, strlen (text), "f.yaml", err);

    assert_non_null (doc);
    int rc = groupconfig_read (doc, yaml_root (doc), "nvidia.com/gpu", g, err);
    yaml_destroy (doc);
    return rc;
}

static void refused (const char *group, const char *why)
{
    struct groupconfigs g;
    struct error err = { 0 };
    char text[1024];

    snprintf (text, sizeof (text), "node-groups:\n- {%s}\n", group);
    assert_int_equal (read_groups (text, &g, &err), -EINVAL);
    if (!strstr (err.text, why))
        print_error ("%s\n", err.text);
    assert_non_null (strstr (err.text, why));
    assert_true (strncmp (err.text, "f.yaml:", 7) == 0);
    groupconfig_release (&g);
}

static void test_values (void **state)
{
    struct groupconfigs g;
    struct error err = { 0 };

    (void)state;
    assert_int_equal (
        read_groups ("node-groups:\n- {" GROUP "}\n"
                     "- {name: b, max: 10000, min: 10000, labels: {a: b, c: \"\"}, "
                     "cpu: 1500m, memory: 1, gpus: 4, delay: 90s, provision: request, "
                     "taints: [{key: k, effect: NoSchedule}]}\n",
                     &g, &err),
        0);
    assert_int_equal (g.n, 2);
    assert_int_equal (g.list[0].provision, PROVISION_NONE);
    assert_true (g.list[0].delay == 180 && g.list[0].min == 0 && g.list[0].max == 20);
    assert_null (g.list[0].provision_class);
    assert_int_equal (g.list[1].provision, PROVISION_REQUEST);
    assert_true (g.list[1].delay == 90 && g.list[1].min == 10000);
    assert_non_null (strstr (g.list[1].provision_class, "atomic"));
    groupconfig_release (&g);
}

static void test_none (void **state)
{
    struct groupconfigs g;
    struct error err = { 0 };

    (void)state;
    assert_int_equal (read_groups ("a: b\n", &g, &err), 0);
    assert_int_equal (g.n, 0);
    assert_int_equal (groupconfig_find (&g, NULL), -1);
    groupconfig_release (&g);
    assert_int_equal (read_groups ("node-groups: []\n", &g, &err), 0);
    groupconfig_release (&g);
}

static void test_refused (void **state)
{
    static const struct {
        const char *group, *why;
    } wrong[] = {
        { "name: Spot, max: 1", "name: expected" },
        { "name: -a, max: 1", "name: expected" },
        { "name: a.b, max: 1", "name: expected" },
        { "name: a123456789b123456789c123456789d, max: 1", "name: expected" },
        { "name: [a], max: 1", "name: expected" },
        { "max: 1", "name: expected" },
        { "name: a", "max: expected" },
        { "name: a, max: 0", "max: expected" },
        { "name: a, max: 10001", "max: expected" },
        { "name: a, max: 1.5", "max: expected" },
        { "name: a, max: 99999999999999999", "max: expected" },
        { "name: a, max: 2, min: 3", "min: expected a whole number from 0 to 2" },
        { "name: a, max: 2, min: -1", "min: expected" },
        { "name: a, max: 2", "labels: expected" },
        { "name: a, max: 2, labels: {}", "labels: expected" },
        { "name: a, max: 2, labels: {a: true}", "labels: a: expected a text" },
        { "name: a, max: 2, labels: {a: b}, taints: {}", "taints: expected" },
        { "name: a, max: 2, labels: {a: b}, taints: [{key: k}]", "entry 1: expected" },
        { "name: a, max: 2, labels: {a: b}, taints: [{key: k, effect: Never}]",
          "entry 1: expected" },
        { "name: a, max: 2, labels: {a: b}", "cpu: expected" },
        { "name: a, max: 2, labels: {a: b}, cpu: 0", "cpu: expected" },
        { "name: a, max: 2, labels: {a: b}, cpu: -1", "cpu: expected" },
        { "name: a, max: 2, labels: {a: b}, cpu: 2", "memory: expected" },
        { "name: a, max: 2, labels: {a: b}, cpu: 2, memory: 1Zi", "memory: expected" },
        { GROUP ", gpus: 1025", "gpus: expected" },
        { GROUP ", delay: soon", "delay: expected" },
        { GROUP ", delay: 0", "delay: must be" },
        { GROUP ", delay: 25h", "delay: must be" },
        { GROUP ", provision: now", "provision: expected" },
        { GROUP ", provisioning-class: x", "needs provision: request" },
        { GROUP ", provision: request, priority-class: x", "needs provision: pods" },
        { GROUP ", provision: pods, priority-class: X", "expected a name" },
        { GROUP ", size: 3", "size: unknown key" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++)
        refused (wrong[i].group, wrong[i].why);
}

static void test_two_of_a_name (void **state)
{
    struct groupconfigs g;
    struct error err = { 0 };

    (void)state;
    assert_int_equal (
        read_groups ("node-groups:\n- {" GROUP "}\n- {" GROUP "}\n", &g, &err), -EINVAL);
    assert_string_equal (err.text,
                         "f.yaml:3:4: kube.node-groups: name: there are two groups spot");
    groupconfig_release (&g);
}

/* -- a group, and objects for it -- */

struct fixture {
    struct groupconfigs g;
    struct need_source src;
};

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));
    struct error err;

    assert_int_equal (read_groups ("node-groups:\n- {" GROUP
                                   ", provision: request, gpus: 2, taints: "
                                   "[{key: k, value: v, effect: NoExecute}]}\n",
                                   &f->g, &err),
                      0);
    f->src = (struct need_source){ .group = &f->g.list[0],
                                   .cluster = "c",
                                   .namespace_ = "ns",
                                   .gpu_resource = "nvidia.com/gpu",
                                   .image = "i",
                                   .job = 17,
                                   .attempt = 3,
                                   .nodes = 5,
                                   .cores = 4,
                                   .gpus = 1,
                                   .memory_mib = 100 };
    *state = f;
    return 0;
}

static int teardown (void **state)
{
    struct fixture *f = *state;

    groupconfig_release (&f->g);
    free (f);
    return 0;
}

static json_t *at (json_t *o, const char *path)
{
    char copy[256], *rest = copy, *key;

    snprintf (copy, sizeof (copy), "%s", path);
    while ((key = strsep (&rest, " ")))
        o = json_is_array (o) ? json_array_get (o, (size_t)strtoul (key, NULL, 10))
                              : json_object_get (o, key);
    return o;
}

static void assert_text (json_t *o, const char *path, const char *expected)
{
    json_t *v = at (o, path);

    assert_true (json_is_string (v));
    assert_string_equal (json_string_value (v), expected);
}

static void test_find (void **state)
{
    struct fixture *f = *state;
    autojson json_t *has = json_pack ("{s:s s:s}", "pool", "spot", "a", "b");
    autojson json_t *other = json_pack ("{s:s}", "pool", "sp");

    assert_int_equal (groupconfig_find (&f->g, has), 0);
    assert_int_equal (groupconfig_find (&f->g, other), -1);
    assert_int_equal (groupconfig_find (&f->g, NULL), -1);
}

static void test_request (void **state)
{
    struct fixture *f = *state;
    autojson json_t *r = need_request (&f->src), *t = need_template (&f->src);

    assert_text (r, "metadata name", "fluxq-need-c-17-spot-3");
    assert_text (r, "spec podSets 0 podTemplateRef name", "fluxq-need-c-17-spot-3");
    assert_int_equal (need_count (r), 5);
    assert_text (t, "metadata name", "fluxq-need-c-17-spot-3");
    assert_null (at (r, "metadata ownerReferences"));
    assert_text (t, "template spec nodeSelector pool", "spot");
    assert_text (t, "template spec tolerations 0 key", "k");
    assert_text (t, "template spec containers 0 resources requests cpu", "4");
    assert_text (t, "template spec containers 0 resources requests memory", "100Mi");
    assert_text (t, "template spec containers 0 resources limits nvidia.com/gpu", "1");
}

/* Autoscalers count the requested amounts. */
static void test_pod (void **state)
{
    struct fixture *f = *state;
    autojson json_t *p = need_pod (&f->src, 4), *s = need_unschedulable (0);
    struct podsize size = podsize_of (p, "nvidia.com/gpu");

    assert_text (p, "metadata name", "fluxq-need-c-17-spot-3-4");
    assert_text (p, "spec schedulerName", "fluxq");
    assert_null (at (p, "spec nodeName"));
    assert_null (at (p, "spec schedulingGates"));
    assert_null (at (p, "metadata labels fluxq.io/attempt"));
    assert_true (size.cpu_milli == 4000 && size.memory == 100 << 20 && size.gpus == 1);
    assert_text (s, "status conditions 0 reason", "Unschedulable");
    assert_text (s, "status conditions 0 status", "False");
    assert_text (s, "status conditions 0 lastTransitionTime", "1970-01-01T00:00:00Z");
}

/* The longest accepted name is still a valid name and label. */
static void test_longest (void **state)
{
    struct fixture *f = *state;
    char name[NEED_NAME_MAX];

    f->src.cluster = "abcdefghijklmnopqrst";
    f->src.job = INT64_MAX;
    f->src.attempt = UINT32_MAX;
    free (f->g.list[0].name);
    f->g.list[0].name = strdup ("a123456789b123456789c123456789");
    need_name (name, &f->src);
    assert_string_equal (name, "fluxq-need-abcdefghijklmnopqrst-9223372036854775807-"
                               "a123456789b123456789c123456789-4294967295");
    autojson json_t *p = need_pod (&f->src, UINT32_MAX);
    json_t *v;
    const char *key;
    json_object_foreach (at (p, "metadata labels"), key, v) {
        assert_true (json_string_length (v) <= 63);
    }
    assert_true (json_string_length (at (p, "metadata name")) <= 253);
}

static int owner_of (json_t *object, const char *cluster)
{
    char group[GROUP_NAME_MAX + 1];
    uint64_t job = 0;
    unsigned attempt = 0;
    int rc = need_owner (at (object, "metadata"), cluster, &job, group, &attempt);

    if (rc == 0) {
        assert_int_equal (job, 17);
        assert_int_equal (attempt, 3);
        assert_string_equal (group, "spot");
    }
    return rc;
}

static void test_owner (void **state)
{
    struct fixture *f = *state;
    autojson json_t *r = need_request (&f->src), *p = need_pod (&f->src, 4);

    assert_int_equal (owner_of (r, "c"), 0);
    assert_int_equal (owner_of (p, "c"), 0);
    assert_int_equal (owner_of (r, "d"), -EINVAL);
}

/* Anybody can write labels. */
static void test_look_alikes (void **state)
{
    static const struct {
        const char *path, *key, *value;
    } lies[] = {
        { "metadata", "name", "somebodys" },
        { "metadata", "name", "fluxq-need-c-17-spot-3-x" },
        { "metadata", "name", "fluxq-need-c-17-spot-3-" },
        { "metadata", "name", "fluxq-need-c-17-spot-31" },
        { "metadata labels", "fluxq.io/job-id", "18" },
        { "metadata labels", "fluxq.io/job-id", "0" },
        { "metadata labels", "fluxq.io/job-id", "99999999999999999999" },
        { "metadata labels", "fluxq.io/try", "-1" },
        { "metadata labels", "fluxq.io/node-group", "" },
        { "metadata labels", "fluxq.io/node-group", "a123456789b123456789c1234567890" },
        { "metadata labels", "app.kubernetes.io/managed-by", "helm" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE (lies); i++) {
        autojson json_t *r = need_request (&f->src);
        json_object_set_new (at (r, lies[i].path), lies[i].key,
                             json_string (lies[i].value));
        assert_int_equal (owner_of (r, "c"), -EINVAL);
    }
    autojson json_t *none = json_object ();
    assert_int_equal (owner_of (none, "c"), -EINVAL);
}

/* -- answers -- */

static enum need_phase conditions (const char *text, char told[EXEC_NEED_TEXT])
{
    autojson json_t *r = json_loads (text, 0, NULL);

    assert_non_null (r);
    return need_conditions (r, told);
}

#define COND(type, status, message)                                                      \
    "{\"type\":\"" type "\",\"status\":\"" status "\",\"message\":\"" message "\"}"
#define STATUS(list) "{\"status\":{\"conditions\":[" list "]}}"

static void test_conditions (void **state)
{
    char text[EXEC_NEED_TEXT];

    (void)state;
    assert_int_equal (conditions ("{}", text), NEED_ASKED);
    assert_string_equal (text, "");
    assert_int_equal (conditions (STATUS (COND ("Accepted", "True", "")), text),
                      NEED_ASKED);
    assert_string_equal (text, "the autoscaler has accepted it");
    assert_int_equal (conditions (STATUS (COND ("Accepted", "True", "a") "," COND (
                                      "Provisioned", "True", "b")),
                                  text),
                      NEED_PROVISIONED);
    assert_string_equal (text, "the autoscaler has made them: b");
    assert_int_equal (conditions (STATUS (COND ("Provisioned", "True", "b") "," COND (
                                      "BookingExpired", "True", "late")),
                                  text),
                      NEED_REFUSED);
    assert_int_equal (conditions (STATUS (COND ("Failed", "False", "x")), text),
                      NEED_ASKED);
    assert_string_equal (text, "");
}

static void test_hostile_conditions (void **state)
{
    static const char *const odd[] = {
        "{\"status\":[]}",
        "{\"status\":{\"conditions\":{}}}",
        STATUS ("null,1,[],{}"),
        STATUS ("{\"type\":{},\"status\":\"True\"}"),
        STATUS ("{\"type\":\"Failed\",\"status\":true}"),
    };
    char text[EXEC_NEED_TEXT], many[5000], message[4096];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (odd); i++)
        assert_int_equal (conditions (odd[i], text), NEED_ASKED);
    assert_int_equal (
        conditions (STATUS (COND ("Failed", "True", "a\\nb\\u001b[31m\\u00e9\\u0007")),
                    text),
        NEED_REFUSED);
    for (const char *p = text; *p; p++)
        assert_true (*p >= ' ' && *p < 0x7f);
    memset (message, 'm', sizeof (message) - 1);
    message[sizeof (message) - 1] = 0;
    snprintf (many, sizeof (many), STATUS (COND ("Failed", "True", "%s")), message);
    assert_int_equal (conditions (many, text), NEED_REFUSED);
    assert_true (strlen (text) < EXEC_NEED_TEXT);
}

static void test_count (void **state)
{
    static const struct {
        const char *sets;
        uint32_t count;
    } cases[] = {
        { "[]", 0 },
        { "{}", 0 },
        { "[{}]", 0 },
        { "[{\"count\":-1}]", 0 },
        { "[{\"count\":\"3\"}]", 0 },
        { "[{\"count\":3000000000}]", 0 },
        { "[{\"count\":2147483647}]", INT32_MAX },
        { "[{\"count\":1},{\"count\":1}]", 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        char text[200];
        snprintf (text, sizeof (text), "{\"spec\":{\"podSets\":%s}}", cases[i].sets);
        autojson json_t *r = json_loads (text, 0, NULL);
        assert_int_equal (need_count (r), cases[i].count);
    }
}

static void test_backoff (void **state)
{
    (void)state;
    assert_true (need_backoff (1, 1) == 5);
    assert_true (need_backoff (60, 1) == 60);
    assert_true (need_backoff (60, 3) == 240);
    assert_true (need_backoff (60, 7) == 3600);
    assert_true (need_backoff (60, UINT32_MAX) == 3600);
    assert_true (need_backoff (86400, 1) == 3600);
}

int main (void)
{
#define CASE(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_values),
        cmocka_unit_test (test_none),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_two_of_a_name),
        CASE (test_find),
        CASE (test_request),
        CASE (test_pod),
        CASE (test_longest),
        CASE (test_owner),
        CASE (test_look_alikes),
        cmocka_unit_test (test_conditions),
        cmocka_unit_test (test_hostile_conditions),
        cmocka_unit_test (test_count),
        cmocka_unit_test (test_backoff),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
