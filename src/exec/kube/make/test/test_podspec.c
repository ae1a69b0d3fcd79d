/* A pod's spec from settings, and the queues of a node. */
#include "exec/kube/make/podspec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/kube/cluster/admit.h"

static json_t *json (const char *text)
{
    json_t *v = json_loads (text, 0, NULL);

    assert_non_null (v);
    return v;
}

static void assert_json (const json_t *v, const char *expected)
{
    autojson json_t *e = json (expected);

    if (!json_equal (v, e)) {
        char *text = json_dumps (v, JSON_SORT_KEYS);
        print_error ("%s\n", text);
        free (text);
    }
    assert_true (json_equal (v, e));
}

static void test_all_settings (void **state)
{
    autojson json_t *set = json (
        "{\"node-selector\":{\"a\":\"b\"},\"tolerations\":[{\"operator\":\"Exists\"}],"
        "\"runtime-class\":\"r\",\"priority-class\":\"p\",\"service-account\":\"s\","
        "\"image-pull-secrets\":[\"x\"],\"shm-size\":\"1Gi\",\"host-network\":true,"
        "\"resources\":{\"a/b\":2},\"allow\":{},\"user-entry\":false}");
    autojson json_t *spec = json ("{\"volumes\":[]}");
    autojson json_t *c = json ("{\"volumeMounts\":[],\"resources\":{\"requests\":{"
                               "\"cpu\":\"1\"},\"limits\":{}}}");

    (void)state;
    assert_int_equal (podspec_apply (set, spec, c), 0);
    assert_json (
        spec,
        "{\"nodeSelector\":{\"a\":\"b\"},\"tolerations\":[{\"operator\":\"Exists\"}],"
        "\"runtimeClassName\":\"r\",\"priorityClassName\":\"p\",\"serviceAccountName\":"
        "\"s\",\"imagePullSecrets\":[{\"name\":\"x\"}],\"hostNetwork\":true,"
        "\"dnsPolicy\":\"ClusterFirstWithHostNet\",\"volumes\":[{\"name\":\"shm\","
        "\"emptyDir\":{\"medium\":\"Memory\",\"sizeLimit\":\"1Gi\"}}]}");
    assert_json (c, "{\"volumeMounts\":[{\"name\":\"shm\",\"mountPath\":\"/dev/shm\"}],"
                    "\"resources\":{\"requests\":{\"cpu\":\"1\",\"a/b\":\"2\"},"
                    "\"limits\":{\"a/b\":\"2\"}}}");
}

/* fluxq's own settings stay unchanged. */
static void test_template (void **state)
{
    autojson json_t *set =
        json ("{\"pod-template\":{\"metadata\":{\"labels\":{\"a.b/"
              "c\":\"d\",\"ours\":\"theirs\"},"
              "\"annotations\":{\"a.b/"
              "e\":\"f\"}},\"spec\":{\"dnsConfig\":{\"searches\":[\"x\"]}}}}");
    autojson json_t *meta = json ("{\"labels\":{\"ours\":\"ours\"}}");
    autojson json_t *spec = json ("{\"volumes\":[]}");
    autojson json_t *c = json ("{\"volumeMounts\":[],\"resources\":{}}");

    (void)state;
    assert_int_equal (podspec_name (set, meta), 0);
    assert_json (meta, "{\"labels\":{\"ours\":\"ours\",\"a.b/c\":\"d\"},"
                       "\"annotations\":{\"a.b/e\":\"f\"}}");
    assert_int_equal (podspec_apply (set, spec, c), 0);
    assert_json (spec, "{\"volumes\":[],\"dnsConfig\":{\"searches\":[\"x\"]}}");
    assert_int_equal (podspec_name (NULL, meta), 0);
}

static void test_no_settings (void **state)
{
    autojson json_t *spec = json ("{\"volumes\":[]}");
    autojson json_t *c = json ("{\"volumeMounts\":[],\"resources\":{}}");

    (void)state;
    assert_int_equal (podspec_apply (NULL, spec, c), 0);
    assert_json (spec, "{\"volumes\":[]}");
    assert_json (c, "{\"volumeMounts\":[],\"resources\":{}}");
}

/* The gate is removed by the same patch that sets the node. */
static void test_other_scheduler (void **state)
{
    autojson json_t *set = json ("{\"scheduler\":\"default-scheduler\"}");
    autojson json_t *spec = json ("{\"schedulerName\":\"fluxq\",\"volumes\":[]}");
    autojson json_t *c = json ("{\"volumeMounts\":[],\"resources\":{}}");
    autojson json_t *patch = podspec_place ("node7");

    (void)state;
    assert_int_equal (podspec_apply (set, spec, c), 0);
    assert_json (spec, "{\"schedulerName\":\"default-scheduler\",\"schedulingGates\":[{"
                       "\"name\":\"fluxq.io/node\"}],\"volumes\":[]}");
    assert_json (patch,
                 "{\"spec\":{\"schedulingGates\":null,\"affinity\":{\"nodeAffinity\":{"
                 "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                 "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
                 "\"operator\":\"In\",\"values\":[\"node7\"]}]}]}}}}}");
    assert_true (podspec_is_placed_by_other (set));
    assert_false (podspec_is_placed_by_other (NULL));
}

static int check_host_network (const char *resources)
{
    char text[1024];
    struct error err = { 0 };
    autojson json_t *set = json ("{\"host-network\":true}");

    snprintf (text, sizeof (text),
              "{\"version\":1,\"resources\":[%s],\"tasks\":[{\"command\":[\"true\"],"
              "\"slot\":\"t\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{"
              "\"duration\":0}}}",
              resources);
    autojobspec struct jobspec *js = jobspec_parse (text, strlen (text), &err);
    assert_non_null (js);
    return podspec_check (set, js, &err);
}

#define SLOT                                                                             \
    "{\"type\":\"slot\",\"count\":1,\"label\":\"t\",\"with\":[{\"type\":\"core\","       \
    "\"count\":1}]}"

/* Two jobs with the agent's port on the host cannot share a node. */
static void test_host_network_needs_whole_nodes (void **state)
{
    (void)state;
    assert_true (check_host_network (SLOT) < 0);
    assert_true (
        check_host_network ("{\"type\":\"node\",\"count\":1,\"with\":[" SLOT "]}") < 0);
    assert_int_equal (
        check_host_network (
            "{\"type\":\"node\",\"count\":1,\"exclusive\":true,\"with\":[" SLOT "]}"),
        0);
}

static const char queues[] =
    "{\"all\":{},\"gpu\":{\"node-selector\":{\"pool\":\"gpu\"},\"tolerations\":[{"
    "\"key\":\"gpu\",\"operator\":\"Exists\"}]},\"hca\":{\"resources\":{\"x/hca\":2}},"
    "\"tough\":{\"tolerations\":[{\"operator\":\"Exists\"}]}}";

/* "drained memory-pressure: all gpu" */
static void assert_node (const char *node, const char *expected)
{
    static const char *const words[] = { "no", "drained", "yes" };
    autojson json_t *q = json (queues), *n = json (node), *part = admit_extract (n);
    char *names[8] = { NULL }, reason[ADMIT_REASON], text[256];
    enum admit it = admit_queues (q, NULL, part, names, reason);

    snprintf (text, sizeof (text), "%s %s:", words[it], reason);
    for (size_t i = 0; names[i]; i++) {
        size_t len = strlen (text);

        snprintf (text + len, sizeof (text) - len, " %s", names[i] + strlen ("queue:"));
        free (names[i]);
    }
    assert_string_equal (text, expected);
}

static void test_whose_node (void **state)
{
    (void)state;
    assert_node ("{}", "yes : all tough");
    assert_node ("{\"metadata\":{\"labels\":{\"pool\":\"gpu\"}}}", "yes : all gpu tough");
    assert_node ("{\"spec\":{\"taints\":[{\"key\":\"gpu\",\"effect\":\"NoSchedule\"}]}}",
                 "yes : tough");
    assert_node ("{\"metadata\":{\"labels\":{\"pool\":\"gpu\"}},\"spec\":{\"taints\":[{"
                 "\"key\":\"gpu\",\"effect\":\"NoSchedule\"}]}}",
                 "yes : gpu tough");
    assert_node ("{\"status\":{\"allocatable\":{\"x/hca\":\"2\"}}}",
                 "yes : all hca tough");
    assert_node ("{\"status\":{\"allocatable\":{\"x/hca\":\"1\"}}}", "yes : all tough");
    assert_node (
        "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"PreferNoSchedule\"}]}}",
        "yes : all tough");
}

/* A faulty node is drained, unless a queue tolerates the fault. */
static void test_condition (void **state)
{
    static const char ill[] =
        "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/memory-pressure\","
        "\"effect\":\"NoSchedule\"}]}}";
    autojson json_t *node = json (ill), *none = json ("{\"tolerations\":[]}");
    char reason[ADMIT_REASON];

    (void)state;
    assert_node (ill, "yes : tough");
    assert_int_equal (admit_node (none, NULL, node, reason), ADMIT_DRAINED);
    assert_string_equal (reason, "memory-pressure");
    assert_int_equal (admit_node (NULL, NULL, node, reason), ADMIT_DRAINED);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_all_settings),
        cmocka_unit_test (test_template),
        cmocka_unit_test (test_no_settings),
        cmocka_unit_test (test_other_scheduler),
        cmocka_unit_test (test_host_network_needs_whole_nodes),
        cmocka_unit_test (test_whose_node),
        cmocka_unit_test (test_condition),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
