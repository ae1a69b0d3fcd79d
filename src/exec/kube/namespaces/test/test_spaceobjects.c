/* The objects of a queue's namespace, and namespaces that a job may not use. */
#include "exec/kube/namespaces/spaceobjects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"

static struct space_source source (const json_t *set)
{
    return (struct space_source){ .cluster = "c",
                                  .name = "jobs-ann",
                                  .set = set,
                                  .restricted = true,
                                  .is_users = true,
                                  .uid = 1000,
                                  .user = "Ann",
                                  .subject = "fluxq" };
}

static void same (const json_t *got, const char *wanted)
{
    autojson json_t *w = json_loads (wanted, JSON_DECODE_ANY, NULL);
    autofree char *text =
        json_dumps (got, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

    assert_non_null (w);
    if (!json_equal (got, w))
        fail_msg ("got %s, not %s", text, wanted);
}

static void test_namespace (void **state)
{
    autojson json_t *set =
        json_loads ("{\"namespace-labels\":{\"team\":\"hpc\","
                    "\"pod-security.kubernetes.io/enforce\":\"privileged\"}}",
                    0, NULL);
    struct space_source src = source (NULL);
    autojson json_t *plain = space_namespace (&src);

    (void)state;
    same (plain, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                 "\"jobs-ann\","
                 "\"annotations\":{\"fluxq.io/user\":\"Ann\"},\"labels\":{"
                 "\"app.kubernetes.io/managed-by\":\"fluxq\",\"fluxq.io/cluster\":\"c\","
                 "\"fluxq.io/uid\":\"1000\",\"pod-security.kubernetes.io/"
                 "enforce\":\"restricted\"}}}");
    src = source (set);
    src.is_users = false;
    autojson json_t *labelled = space_namespace (&src);
    same (labelled,
          "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"jobs-"
          "ann\","
          "\"labels\":{\"app.kubernetes.io/managed-by\":\"fluxq\",\"fluxq.io/"
          "cluster\":\"c\","
          "\"team\":\"hpc\",\"pod-security.kubernetes.io/enforce\":\"privileged\"}}}");
}

static void test_objects (void **state)
{
    autojson json_t *set = json_loads (
        "{\"quota\":{\"hard\":{\"pods\":3}},\"limits\":[{\"type\":\"Pod\"}],"
        "\"network-policy\":[{\"podSelector\":{}},{\"podSelector\":{\"a\":1}}],"
        "\"namespace-role\":\"fluxq-runner\"}",
        0, NULL);
    struct space_source src = source (set);
    autojson json_t *list = space_objects (&src);
    static const char *const kinds[] = { "ResourceQuota", "LimitRange", "NetworkPolicy",
                                         "NetworkPolicy", "RoleBinding" };

    (void)state;
    assert_int_equal (json_array_size (list), 5);
    for (size_t i = 0; i < 5; i++) {
        json_t *one = json_array_get (list, i), *o = json_object_get (one, "object");

        assert_string_equal (json_string_value (json_object_get (o, "kind")), kinds[i]);
        assert_non_null (strstr (json_string_value (json_object_get (one, "path")),
                                 "/namespaces/jobs-ann/"));
    }
    same (json_array_get (list, 0),
          "{\"path\":\"/api/v1/namespaces/jobs-ann/resourcequotas\",\"object\":{"
          "\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":"
          "\"fluxq\","
          "\"namespace\":\"jobs-ann\",\"labels\":{\"app.kubernetes.io/"
          "managed-by\":\"fluxq\","
          "\"fluxq.io/cluster\":\"c\"}},\"spec\":{\"hard\":{\"pods\":3}}}}");
    same (json_object_get (json_object_get (json_array_get (list, 4), "object"),
                           "subjects"),
          "[{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"User\",\"name\":"
          "\"fluxq\"}]");
}

/* By default only the port of agents is open. */
static void test_policy (void **state)
{
    struct space_source src = source (NULL);
    autojson json_t *list = space_objects (&src);
    autojson json_t *none = json_loads ("{\"network-policy\":false}", 0, NULL);

    (void)state;
    assert_int_equal (json_array_size (list), 1);
    same (
        json_object_get (json_object_get (json_array_get (list, 0), "object"), "spec"),
        "{\"podSelector\":{\"matchLabels\":{\"app.kubernetes.io/managed-by\":\"fluxq\"},"
        "\"matchExpressions\":[{\"key\":\"fluxq.io/job-id\",\"operator\":\"Exists\"}]},"
        "\"policyTypes\":[\"Ingress\"],\"ingress\":["
        "{\"from\":[{\"ipBlock\":{\"cidr\":\"0.0.0.0/0\"}},{\"ipBlock\":{\"cidr\":\"::/"
        "0\"}}],"
        "\"ports\":[{\"protocol\":\"TCP\",\"port\":7717}]}]}");
    src = source (none);
    autojson json_t *without = space_objects (&src);
    assert_int_equal (json_array_size (without), 0);
}

static void test_refusal (void **state)
{
    struct space_source ann = source (NULL), bob = source (NULL), all = source (NULL);
    autojson json_t *anns = space_namespace (&ann);
    autojson json_t *foreign = json_loads (
        "{\"metadata\":{\"labels\":{\"app.kubernetes.io/managed-by\":\"helm\"}}}", 0,
        NULL);
    autojson json_t *going = json_deep_copy (anns);

    (void)state;
    bob.uid = 1001;
    all.is_users = false;
    autojson json_t *everybodys = space_namespace (&all);
    json_object_set_new (json_object_get (going, "metadata"), "deletionTimestamp",
                         json_string ("now"));
    assert_null (space_refusal (&ann, anns, false));
    assert_null (space_refusal (&all, everybodys, false));
    assert_non_null (strstr (space_refusal (&bob, anns, false), "another user"));
    assert_non_null (strstr (space_refusal (&all, anns, false), "another user"));
    assert_non_null (strstr (space_refusal (&ann, everybodys, false), "names no user"));
    assert_non_null (strstr (space_refusal (&ann, foreign, false), "not for fluxq"));
    assert_null (space_refusal (&ann, foreign, true));
    assert_non_null (strstr (space_refusal (&ann, going, false), "deleted"));
    assert_non_null (strstr (space_refusal (&ann, going, true), "deleted"));
    assert_true (space_is_ours ("c", anns));
    assert_false (space_is_ours ("d", anns));
    assert_false (space_is_ours ("c", foreign));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_namespace),
        cmocka_unit_test (test_objects),
        cmocka_unit_test (test_policy),
        cmocka_unit_test (test_refusal),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
