/* Fails if a resource of Kubernetes itself or the GPUs are offered twice, if the use of
 * a pod is misread, or if a wrong mapping is accepted. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "exec/kube/core/gres.h"

#define GPU "nvidia.com/gpu"

static void expect (const struct gres_list *l, const char *text)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 4096);
    strbuf_add_gres (&sb, l);
    assert_string_equal (sb.buf ? sb.buf : "", text);
}

static json_t *parse (const char *text)
{
    struct error err = { 0 };
    json_t *o = json_parse (text, strlen (text), "test", &err);

    if (!o)
        fail_msg ("%s", err.text);
    return o;
}

static void test_node (void **state)
{
    autojson json_t *o = parse (
        "{\"cpu\":\"8\",\"memory\":\"16Gi\",\"pods\":\"110\",\"ephemeral-storage\":"
        "\"95491281146\",\"hugepages-2Mi\":\"0\","
        "\"nvidia.com/gpu\":\"4\",\"rdma/hca\":\"2\",\"example.com/big\":\"5k\","
        "\"example.com/none\":\"0\",\"requests.example.com/x\":\"1\","
        "\"x.kubernetes.io/y\":\"3\",\"example.com/odd\":7,\"example.com/huge\":\"9E\"}");
    struct gres_list l = { 0 };

    (void)state;
    assert_int_equal (kube_gres_of_node (o, GPU, &l), 0);
    expect (&l,
            "example.com/big:5000,example.com/huge:2147483647,rdma/hca:2,tmp_disk:91067");
    gres_release (&l);
    assert_int_equal (kube_gres_of_node (NULL, GPU, &l), 0);
    expect (&l, "");
}

/* The maximum of the sum of all containers and of each init container. */
static void test_pod (void **state)
{
    autojson json_t *pod =
        parse ("{\"spec\":{\"containers\":["
               "{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"rdma/"
               "hca\":\"1\"}}},"
               "{\"name\":\"b\",\"resources\":{\"requests\":{\"rdma/hca\":\"2\","
               "\"nvidia.com/gpu\":\"1\"}}},{\"name\":\"c\"}],"
               "\"initContainers\":[{\"name\":\"i\",\"resources\":{\"requests\":{"
               "\"rdma/hca\":\"2\",\"example.com/fpga\":\"4\"}}}]}}");
    autojson json_t *stores =
        parse ("{\"spec\":{\"containers\":["
               "{\"resources\":{\"requests\":{\"ephemeral-storage\":\"1Gi\"}}},"
               "{\"resources\":{\"requests\":{\"ephemeral-storage\":\"1\"}}}]}}");
    autojson json_t *bare = parse ("{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}");
    struct gres_list l = { 0 };

    (void)state;
    assert_int_equal (kube_gres_of_pod (pod, GPU, &l), 0);
    expect (&l, "example.com/fpga:4,rdma/hca:3");
    gres_release (&l);
    assert_int_equal (kube_gres_of_pod (stores, GPU, &l), 0);
    expect (&l, "tmp_disk:1025");
    gres_release (&l);
    assert_int_equal (kube_gres_of_pod (bare, GPU, &l), 0);
    expect (&l, "");
}

static void test_names (void **state)
{
    autojson json_t *map =
        parse ("{\"hca\":\"rdma/hca\",\"gpu:v100\":\"nvidia.com/gpu\"}");

    (void)state;
    assert_string_equal (kube_gres_name (map, GPU, "hca"), "rdma/hca");
    assert_string_equal (kube_gres_name (map, GPU, GPU), "gpu");
    assert_string_equal (kube_gres_name (map, GPU, "gpu:v100"), "gpu");
    assert_null (kube_gres_name (map, GPU, "rdma/hca"));
    assert_null (kube_gres_name (map, GPU, "core"));
    assert_null (kube_gres_name (NULL, GPU, "hca"));
}

static void test_beyond (void **state)
{
    struct gres_list pod = { 0 }, given = { 0 }, more = { 0 };
    autojson json_t *amounts = parse ("{\"rdma/hca\":\"2\"}");

    (void)state;
    gres_set (&pod, "rdma/hca", 3);
    gres_set (&pod, "example.com/fpga", 1);
    gres_set (&given, "rdma/hca", 1);
    gres_set (&given, "license", 4);
    assert_int_equal (kube_gres_beyond (&pod, &given, &more), 0);
    expect (&more, "example.com/fpga:1,rdma/hca:2");
    assert_int_equal (kube_gres_raise (amounts, "rdma/hca", 1), 0);
    assert_string_equal (json_string_value (json_object_get (amounts, "rdma/hca")), "2");
    assert_int_equal (kube_gres_raise (amounts, "rdma/hca", 5), 0);
    assert_string_equal (json_string_value (json_object_get (amounts, "rdma/hca")), "5");
    gres_release (&pod);
    gres_release (&given);
    gres_release (&more);
}

/* The smallest amount of the ranks: one template serves all. */
static void test_least (void **state)
{
    struct rset *r = rset_create (2);
    struct jobspec_resource hca = { .type = (char *)"rdma/hca" };
    struct jobspec_resource node = { .type = (char *)"node", .with = &hca, .nwith = 1 };
    const struct jobspec named = { .resources = &node, .nresources = 1 };
    const struct jobspec none = { .resources = &node, .nresources = 0 };
    autojson json_t *requests = json_object (), *limits = json_object ();

    (void)state;
    gres_set (&r->ranks[0].gres, "rdma/hca", 3);
    gres_set (&r->ranks[0].gres, "example.com/fpga", 1);
    gres_set (&r->ranks[1].gres, "rdma/hca", 2);
    gres_set (&r->ranks[1].gres, "example.com/fpga", 1);
    assert_int_equal (kube_gres_ask_least (&none, r, requests, limits), 0);
    assert_int_equal (json_object_size (requests), 0);
    assert_int_equal (kube_gres_ask_least (&named, r, requests, limits), 0);
    autojson json_t *wanted = parse ("{\"rdma/hca\":\"2\"}");
    assert_true (json_equal (requests, wanted));
    assert_true (json_equal (limits, wanted));
    rset_destroy (r);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_node),  cmocka_unit_test (test_pod),
        cmocka_unit_test (test_names), cmocka_unit_test (test_beyond),
        cmocka_unit_test (test_least),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
