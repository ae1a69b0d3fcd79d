/* The Jobs and pods of a heterogeneous job: one Job for each component, with its own
 * amounts; and the ranks of their pods. */
#include "exec/kube/core/kjob.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/objects.h"
#include "exec/kube/make/podobject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAME "fluxq-c1-12-1"
#define RESOURCES(nodes, with)                                                           \
    "\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":" nodes                   \
    ",\"with\":[{\"type\":\"slot\",\"count\":1,\"label\":\"t\",\"with\":[" with          \
    "]}]}],\"tasks\":[{\"command\":[\"true\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}" \
    "}]"
#define VERTEX(type, count) "{\"type\":\"" type "\",\"count\":" count "}"

static struct exec_job job;
static struct kube_config cfg;
static struct object_source src;

/* Ranks 0 and 1 have 4 CPUs each; ranks 2 to 4, of component 1, have 1 CPU each, memory and
 * a resource of their own. */
static int setup (void **state)
{
    static const char spec[] = "{" RESOURCES (
        "2", VERTEX ("core", "4")) ",\"attributes\":{\"system\":{"
                                   "\"duration\":0,\"fluxq\":{\"image\":\"busybox:1\","
                                   "\"components\":[{" RESOURCES (
                                       "3",
                                       VERTEX ("core", "1") "," VERTEX (
                                           "rdma/hca",
                                           "2")) ",\"attributes\":{"
                                                 "\"system\":{\"duration\":0}}}]}}}}";
    struct error err = { 0 };

    (void)state;
    job = (struct exec_job){ .id = 12,
                             .attempt = 1,
                             .user = { .uid = 1000, .gid = 100, .name = (char *)"ann" } };
    job.js = jobspec_parse (spec, strlen (spec), &err);
    if (!job.js)
        fail_msg ("%s", err.text);
    struct rset *r = rset_create (5);
    for (size_t i = 0; i < 5; i++) {
        r->ranks[i].node = strdup ("n");
        r->ranks[i].component = i >= 2;
        idset_add_range (r->ranks[i].cores, 0, i < 2 ? 3 : 0);
        r->ranks[i].memory_mib = i < 2 ? 0 : 256;
        if (i >= 2)
            gres_set (&r->ranks[i].gres, "rdma/hca", 2);
        r->ranks[i].slots = 1;
    }
    job.r = r;
    src = (struct object_source){ .cfg = &cfg,
                                  .job = &job,
                                  .cluster = "c1",
                                  .namespace_ = "ns",
                                  .name = NAME,
                                  .first_uid = "uid-0",
                                  .agent = "fluxq-agent-c1-abc" };
    return kube_config_read (NULL, NULL, &cfg, &err);
}

static int teardown (void **state)
{
    (void)state;
    rset_destroy ((struct rset *)job.r);
    jobspec_destroy ((struct jobspec *)job.js);
    kube_config_release (&cfg);
    return 0;
}

static const char *label (const json_t *meta, const char *name)
{
    return json_text (json_object_get (meta, "labels"), name);
}

static json_t *container_of (const json_t *job_object)
{
    json_t *t = json_object_get (json_object_get (job_object, "spec"), "template");

    return json_array_get (json_object_get (json_object_get (t, "spec"), "containers"),
                           0);
}

static const char *amount (const json_t *container, const char *list, const char *name)
{
    return json_text (json_object_get (json_object_get (container, "resources"), list),
                      name);
}

static const char *rank_of (const json_t *container)
{
    return json_string_value (json_array_get (json_object_get (container, "command"), 6));
}

static int count (const json_t *job_object, const char *key)
{
    return (int)json_integer_value (
        json_object_get (json_object_get (job_object, "spec"), key));
}

/* Fails if a pod of a small component asks for the amounts of a large one. */
static void test_jobs (void **state)
{
    json_t *first = object_job (&src), *c = container_of (first);
    json_t *meta = json_object_get (first, "metadata");

    (void)state;
    assert_string_equal (json_text (meta, "name"), NAME);
    assert_null (json_object_get (meta, "ownerReferences"));
    assert_string_equal (label (meta, "fluxq.io/component"), "0");
    assert_int_equal (count (first, "completions"), 2);
    assert_string_equal (rank_of (c), "$(JOB_COMPLETION_INDEX)");
    assert_string_equal (amount (c, "requests", "cpu"), "4");
    assert_string_equal (amount (c, "limits", "memory"), "");
    assert_string_equal (amount (c, "limits", "rdma/hca"), "");
    src.component = 1;
    json_t *second = object_job (&src);
    c = container_of (second);
    meta = json_object_get (second, "metadata");
    assert_string_equal (json_text (meta, "name"), NAME "-c1");
    assert_string_equal (label (meta, "fluxq.io/component"), "1");
    assert_string_equal (label (meta, "fluxq.io/job-id"), "12");
    assert_string_equal (json_text (object_owner_of (second), "name"), NAME);
    assert_string_equal (json_text (object_owner_of (second), "uid"), "uid-0");
    assert_int_equal (count (second, "completions"), 3);
    assert_int_equal (count (second, "parallelism"), 3);
    assert_string_equal (rank_of (c), "2+$(JOB_COMPLETION_INDEX)");
    assert_string_equal (json_text (c, "image"), "busybox:1");
    assert_string_equal (amount (c, "requests", "cpu"), "1");
    assert_string_equal (amount (c, "limits", "memory"), "256Mi");
    assert_string_equal (amount (c, "limits", "rdma/hca"), "2");
    json_decref (first);
    json_decref (second);
}

/* The objects that all components share are those of the first Job. */
static void test_pod (void **state)
{
    struct pod_request ask = podrequest_of_rank (job.r, 3);

    (void)state;
    src.component = 1;
    json_t *o = object_job (&src);
    json_t *pod = podobject_make (o, "uid-1", NAME "-3", "n3", 1, "node4", &ask, "gpu");
    const json_t *meta = json_object_get (pod, "metadata");
    const json_t *spec = json_object_get (pod, "spec");
    const json_t *volumes = json_object_get (spec, "volumes");

    assert_string_equal (json_text (meta, "name"), NAME "-3");
    assert_string_equal (json_text (spec, "hostname"), "n3");
    assert_string_equal (json_text (spec, "subdomain"), NAME);
    assert_string_equal (label (meta, "fluxq.io/component"), "1");
    assert_string_equal (label (meta, "batch.kubernetes.io/job-completion-index"), "1");
    assert_string_equal (label (meta, "batch.kubernetes.io/job-name"), NAME "-c1");
    assert_string_equal (json_text (object_owner_of (pod), "name"), NAME "-c1");
    assert_string_equal (json_text (object_owner_of (pod), "uid"), "uid-1");
    assert_string_equal (
        json_text (json_object_get (json_array_get (volumes, 1), "configMap"), "name"),
        NAME);
    json_decref (pod);
    json_decref (o);
}

static void test_names (void **state)
{
    static const char *const others[] = { "fluxq-c1-12",   NAME "1",    NAME "-c",
                                          NAME "-c1x",     NAME "-1",   NAME "-c1-0",
                                          "fluxq-c1-12-0", NAME "-c 1", "" };
    char name[OBJECT_NAME_MAX];

    (void)state;
    for (uint32_t i = 0; i < JOBSPEC_COMPONENTS_MAX; i++) {
        object_part_name (name, NAME, i);
        assert_true (object_is_part (name, NAME));
        assert_int_equal (strcmp (name, NAME) == 0, i == 0);
    }
    for (size_t i = 0; i < ARRAY_SIZE (others); i++)
        assert_false (object_is_part (others[i], NAME));
    /* even the longest name leaves room for the number */
    object_name (name, "c2345678901234567890", UINT64_MAX, UINT32_MAX);
    assert_true (strlen (name) + strlen ("-c63") < OBJECT_NAME_MAX);
}

/* The pod that a label, which anybody may write, and an index lead to. */
static void test_ranks (void **state)
{
    struct kpart parts[] = { { .first = 0 }, { .first = 2 } };
    struct kjob k = { .parts = parts, .nparts = 2, .room = 5, .launch = { .nnodes = 5 } };
    static const struct {
        int component, index, rank;
    } cases[] = {
        { 0, 0, 0 },  { 0, 1, 1 },          { 0, 2, -1 }, { 1, 0, 2 },   { 1, 2, 4 },
        { 1, 3, -1 }, { 1, INT32_MAX, -1 }, { 2, 0, -1 }, { -1, 0, -1 }, { 1, -1, -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        const struct kpod p = { .view = { .component = cases[i].component,
                                          .index = cases[i].index } };
        assert_int_equal (job_rank_of (&k, &p), cases[i].rank);
    }
    for (uint32_t r = 0; r < 5; r++)
        assert_int_equal (job_part_of (&k, r), r >= 2);
    assert_int_equal (job_part_ranks (&k, 0), 2);
    assert_int_equal (job_part_ranks (&k, 1), 3);
    assert_false (job_is_made (&k));
    parts[0].uid[0] = 'a';
    assert_false (job_is_made (&k));
    parts[1].uid[0] = 'b';
    assert_true (job_is_made (&k));
    k.room = 0; /* there was no memory for its ranks */
    k.launch.nnodes = 0;
    for (int c = 0; c < 2; c++) {
        const struct kpod p = { .view = { .component = c } };
        assert_int_equal (job_rank_of (&k, &p), -1);
    }
    assert_int_equal (job_part_ranks (&k, 1), 0);
}

static void test_component_label (void **state)
{
    static const struct {
        const char *label;
        int component;
    } cases[] = { { "1", 1 }, { "0", 0 }, { "-1", -1 }, { "x", -1 }, { "65536", -1 } };
    struct podview v;
    json_t *pod = json_pack ("{s:{s:{}}}", "metadata", "labels");
    json_t *labels = json_object_get (json_object_get (pod, "metadata"), "labels");

    (void)state;
    podview_read (pod, &v);
    assert_int_equal (v.component, 0); /* of a job without components */
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        json_object_set_new (labels, "fluxq.io/component", json_string (cases[i].label));
        podview_read (pod, &v);
        assert_int_equal (v.component, cases[i].component);
    }
    json_decref (pod);
}

/* The operator makes all pods alike. */
static void test_minicluster (void **state)
{
    json_t *set = json_pack ("{s:s}", "executor", "minicluster");
    struct error err = { 0 };

    (void)state;
    assert_int_equal (minicluster_check (set, job.js, NULL, &err), -EINVAL);
    assert_non_null (strstr (err.text, "heterogeneous"));
    assert_non_null (strstr (err.text, "--executor=job"));
    assert_int_equal (minicluster_check (set, jobspec_component (job.js, 1), NULL, &err),
                      0);
    json_decref (set);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_jobs, setup, teardown),
        cmocka_unit_test_setup_teardown (test_pod, setup, teardown),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_ranks),
        cmocka_unit_test (test_component_label),
        cmocka_unit_test_setup_teardown (test_minicluster, setup, teardown),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
