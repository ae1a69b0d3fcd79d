/* Agents' reports on NUMA zones: objects that anybody could write, fingerprints of
 * pods, and the parts that count. Fails if an object ends the broker or counts although
 * it is nonsense, if a fingerprint differs from the agents', or if a pod counts as
 * reported too early or never. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "exec/kube/topology/zonerule.h"

#define GPU "nvidia.com/gpu"

/* -- fingerprints -- */

static void test_xxh64 (void **state)
{
    static const char ishmael[] =
        "Call me Ishmael. Some years ago--never mind how long precisely-";

    (void)state; /* published values */
    assert_true (podprint_xxh64 ("", 0, 0) == UINT64_C (0xef46db3751d8e999));
    assert_true (podprint_xxh64 ("xxhash", 6, 0) == UINT64_C (0x32dd38952c4bc720));
    assert_true (podprint_xxh64 ("xxhash", 6, 20141025) == UINT64_C (0xb559b98d844e0635));
    assert_true (podprint_xxh64 (ishmael, 63, 0) == UINT64_C (0x02a2e85470d6fd96));
}

static void test_print (void **state)
{
    uint64_t a = podprint_of ("ns", "a"), b = podprint_of ("ns", "b"), none = 0;
    uint64_t ab[] = { a, b }, ba[] = { b, a };
    char one[PODPRINT_SIZE], other[PODPRINT_SIZE];

    (void)state;
    assert_true (a == podprint_xxh64 ("a", 1, podprint_xxh64 ("ns", 2, 0)));
    podprint_sign (ab, 2, one);
    podprint_sign (ba, 2, other);
    assert_string_equal (one, other);
    podprint_sign (&none, 0, one);
    assert_string_equal (one, "pfp0v001ef46db3751d8e999");
}

/* -- objects -- */

static int read_text (const char *text, struct zoneobject *z, struct error *err)
{
    json_t *o = json_loads (text, 0, NULL);

    assert_non_null (o);
    int rc = zoneobject_read (o, GPU, z, err);
    json_decref (o);
    return rc;
}

#define ZONE(name, cpu, left)                                                            \
    "{\"name\": \"" name "\", \"type\": \"Node\", \"resources\": [{\"name\": \"cpu\", "  \
    "\"capacity\": \"99\", \"allocatable\": " cpu ", \"available\": " left "}]}"

static void test_object (void **state)
{
    struct zoneobject z;

    (void)state;
    assert_int_equal (
        read_text (
            "{\"attributes\": [{\"name\": \"topologyManagerPolicy\", \"value\": "
            "\"single-numa-node\"}, {\"name\": \"topologyManagerScope\", "
            "\"value\": \"container\"}, "
            "{\"name\": \"nodeTopologyPodsFingerprint\", \"value\": "
            "\"pfp0v001e477a4e3b2fc0ec6\"}],"
            "\"zones\": [" ZONE (
                "node-1", "\"7900m\"",
                "\"7\"") ","
                         "{\"name\": \"socket-0\", \"type\": \"Socket\"},"
                         "{\"name\": \"node-0\", \"type\": \"Node\", \"costs\": "
                         "[{\"name\": "
                         "\"node-0\", \"value\": 10}], \"resources\": ["
                         "{\"name\": \"memory\", \"allocatable\": \"8Gi\", "
                         "\"available\": "
                         "\"4095Ki\", \"capacity\": \"9Gi\"},"
                         "{\"name\": \"" GPU "\", \"allocatable\": 2, \"available\": 1},"
                         "{\"name\": \"vendor/nic\", \"allocatable\": \"x\"},"
                         "{\"name\": \"cpu\", \"allocatable\": 8, \"available\": 9}]}]}",
            &z, NULL),
        0);
    assert_true (z.single);
    assert_int_equal (z.n, 2);
    assert_int_equal (z.size[0].id, 0);
    assert_int_equal (z.size[0].cores, 8);
    assert_int_equal (z.left[0].cores, 8); /* at most the existing cores */
    assert_int_equal (z.size[0].memory_mib, 8192);
    assert_int_equal (z.left[0].memory_mib, 3);
    assert_int_equal (z.size[0].gpus, 2);
    assert_int_equal (z.left[0].gpus, 1);
    assert_int_equal (z.size[1].id, 1);
    assert_int_equal (z.size[1].cores, 7);
    assert_int_equal (z.left[1].cores, 7);
    assert_true (z.has_cores && z.has_gpus && z.has_memory && z.has_devices);
    assert_string_equal (z.print, "pfp0v001e477a4e3b2fc0ec6");
    assert_false (z.only_exclusive);
}

static void test_policy (void **state)
{
    static const struct {
        const char *old, *policy;
        bool single;
    } cases[] = {
        { "SingleNUMANodePodLevel", NULL, true },
        { "SingleNUMANodeContainerLevel", NULL, true },
        { "SingleNUMANode", NULL, false },
        { "BestEffortPodLevel", NULL, false },
        { "SingleNUMANodePodLevel", "best-effort", false },
        { "BestEffort", "single-numa-node", true },
        { "SingleNUMANodePodLevel", "nonsense", true },
        { "None", "restricted", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct zoneobject z;
        json_t *o = json_pack ("{s:[s] s:[{s:s s:s}] s:[]}", "topologyPolicies",
                               cases[i].old, "attributes", "name",
                               cases[i].policy ? "topologyManagerPolicy" : "other",
                               "value", cases[i].policy ? cases[i].policy : "x", "zones");
        assert_int_equal (zoneobject_read (o, GPU, &z, NULL), 0);
        assert_int_equal (z.single, cases[i].single);
        json_decref (o);
    }
}

static void test_annotation (void **state)
{
    struct zoneobject z;

    (void)state;
    assert_int_equal (
        read_text ("{\"metadata\": {\"annotations\": "
                   "{\"topology.node.k8s.io/fingerprint\": \"pfp0v001aa\"}},"
                   "\"zones\": []}",
                   &z, NULL),
        0);
    assert_string_equal (z.print, "pfp0v001aa");
    assert_int_equal (
        read_text ("{\"attributes\": [{\"name\": \"nodeTopologyPodsFingerprint\", "
                   "\"value\": \"pfp0v001e477a4e3b2fc0ec6e477a4e3b2fc0ec6\"}, {\"name\": "
                   "\"nodeTopologyPodsFingerprintMethod\", \"value\": "
                   "\"with-exclusive-resources\"}], \"zones\": []}",
                   &z, NULL),
        0);
    assert_true (z.only_exclusive);
    assert_true (z.print[0] && strncmp (z.print, "pfp0", 4) != 0);
}

static void test_hostile (void **state)
{
    static const char *const wrong[] = {
        "{}",
        "{\"zones\": 1}",
        "[]",
        "{\"zones\": [" ZONE ("node-0", "1", "1") "," ZONE ("node-0", "1", "1") "]}",
        "{\"zones\": [" ZONE ("node-64", "1", "1") "]}",
        "{\"zones\": [" ZONE ("node--1", "1", "1") "]}",
        "{\"zones\": [" ZONE ("node-", "1", "1") "]}",
        "{\"zones\": [" ZONE ("node-1x", "1", "1") "]}",
        "{\"zones\": [" ZONE ("zone", "1", "1") "]}",
        "{\"zones\": [" ZONE ("node-0", "-1", "1") "]}",
        "{\"zones\": [" ZONE ("node-0", "\"many\"", "1") "]}",
        "{\"zones\": [" ZONE ("node-0", "1", "null") "]}",
        "{\"zones\": [" ZONE ("node-0", "1.5", "1") "]}",
    };
    static const char *const right[] = {
        "{\"zones\": [1, null, {}, {\"type\": 7}]}",
        "{\"zones\": [], \"attributes\": 4, \"topologyPolicies\": {}, \"metadata\": []}",
        "{\"zones\": [], \"attributes\": [1, {\"name\": 1}], \"topologyPolicies\": [7]}",
        "{\"zones\": [{\"name\": \"node-3\", \"type\": \"Node\", \"resources\": [1, "
        "{}]}]}",
        "{\"zones\": [" ZONE ("node-63", "\"9E\"", "\"9999999E\"") "]}",
    };
    struct zoneobject z;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        struct error err = { 0 };
        assert_int_equal (read_text (wrong[i], &z, &err), -EINVAL);
        assert_true (err.text[0]);
    }
    for (size_t i = 0; i < ARRAY_SIZE (right); i++)
        assert_int_equal (read_text (right[i], &z, NULL), 0);
    assert_int_equal (z.size[0].cores, 65536);
}

static void test_all_zones (void **state)
{
    json_t *o = json_pack ("{s:[]}", "zones");
    struct zoneobject z;

    (void)state;
    for (int i = MACHINE_ZONES_MAX; i-- > 0;) {
        char name[16];
        snprintf (name, sizeof (name), "node-%d", i * 5 % MACHINE_ZONES_MAX);
        json_array_append_new (json_object_get (o, "zones"),
                               json_pack ("{s:s s:s}", "name", name, "type", "Node"));
    }
    assert_int_equal (zoneobject_read (o, GPU, &z, NULL), 0);
    assert_int_equal (z.n, MACHINE_ZONES_MAX);
    for (int i = 0; i < MACHINE_ZONES_MAX; i++)
        assert_int_equal (z.size[i].id, i);
    json_decref (o);
}

/* -- the rule -- */

static struct zonepod pod (const char *name, uint64_t job, bool running)
{
    return (struct zonepod){ .print = podprint_of ("ns", name),
                             .job = job,
                             .size = { 2500, 3, 1 },
                             .running = running,
                             .exclusive = true };
}

/* Two zones of 8, with these free cores, reported for the first n of these pods; n < 0:
 * the report does not tell. */
static void object (struct zonerule *s, uint32_t left, const struct zonepod *pods, int n)
{
    struct zoneobject o = { .single = true, .n = 2, .has_cores = true };
    uint64_t print[8];

    for (int z = 0; z < 2; z++) {
        o.size[z] = (struct machine_zone){ z, 8, 2, 100 };
        o.left[z] = (struct machine_zone){ z, left, 2, 100 };
    }
    for (int i = 0; i < n; i++)
        print[i] = pods[i].print;
    if (n >= 0)
        podprint_sign (print, (size_t)n, o.print);
    zonerule_object (s, &o);
}

static uint32_t left_of (const struct zonerule *s, const struct zonepod *pods, size_t n)
{
    struct machine_zone left[MACHINE_ZONES_MAX];

    assert_int_equal (zonerule_left (s, pods, n, left), 2);
    assert_int_equal (left[0].cores, left[1].cores);
    return left[0].cores;
}

static void test_reported (void **state)
{
    struct zonerule s = { 0 };
    struct zonepod pods[] = { pod ("job", 7, false), pod ("other", 0, false) };

    (void)state;
    object (&s, 8, pods, 0);
    assert_int_equal (zonerule_look (&s, pods, 0), 0);
    assert_true (s.exact);
    assert_int_equal (zonerule_look (&s, pods, 1), 0); /* fluxq has added a pod */
    assert_false (pods[0].seen);
    assert_true (s.exact); /* except for fluxq's pods */
    assert_int_equal (left_of (&s, pods, 1), 8);
    pods[0].running = true;
    assert_int_equal (zonerule_look (&s, pods, 1), 0);
    assert_false (pods[0].seen);
    assert_false (s.exact);
    object (&s, 5, pods, 1); /* and the pod is reported */
    assert_int_equal (zonerule_look (&s, pods, 1), 0);
    assert_true (pods[0].seen);
    assert_true (s.exact);
    assert_int_equal (left_of (&s, pods, 1), 5);
    assert_int_equal (zonerule_look (&s, pods, 2), 0); /* a foreign pod, zone unknown */
    assert_false (pods[1].seen);
    assert_false (s.exact);
    assert_int_equal (left_of (&s, pods, 2), 2);
    pods[1].exclusive = false; /* the pod shares processors with others */
    assert_int_equal (left_of (&s, pods, 2), 5);
    pods[1].exclusive = true;
    object (&s, 3, pods, 2); /* the pod is reported before it runs */
    assert_int_equal (zonerule_look (&s, pods, 2), 0);
    assert_true (pods[1].seen);
    assert_int_equal (left_of (&s, pods, 2), 3);
}

/* A report of pods other than the existing ones leaves the base unchanged. */
static void test_late_report (void **state)
{
    struct zonerule s = { 0 };
    struct zonepod pods[] = { pod ("a", 1, true), pod ("b", 2, true) };

    (void)state;
    object (&s, 8, pods, 0);
    assert_int_equal (zonerule_look (&s, pods, 0), 0);
    object (&s, 5, pods, 1);
    assert_int_equal (zonerule_look (&s, pods, 2), 0);
    assert_false (pods[0].seen || pods[1].seen || s.exact);
    assert_int_equal (left_of (&s, pods, 2), 8);
    object (&s, 3, pods, 2);
    assert_int_equal (zonerule_look (&s, pods, 2), 0);
    assert_true (pods[0].seen && pods[1].seen && s.exact);
    assert_int_equal (zonerule_look (&s, &pods[1], 1), 0); /* a is gone */
    assert_false (s.exact);
    assert_int_equal (left_of (&s, &pods[1], 1), 3);
}

/* The first object is accepted as it is, also if it has foreign pods; but not
 * for fluxq's jobs. */
static void test_first (void **state)
{
    struct zonerule s = { 0 };
    struct zonepod pods[] = { pod ("job", 1, true), pod ("other", 0, true) };

    (void)state;
    object (&s, 4, pods, 0);
    assert_int_equal (zonerule_look (&s, pods, 2), 0);
    assert_false (pods[0].seen);
    assert_true (pods[1].seen);
    assert_false (s.exact);
    assert_int_equal (left_of (&s, pods, 2), 4);
}

static void test_only_exclusive (void **state)
{
    struct zonerule s = { 0 };
    struct zonepod pods[] = { pod ("a", 1, true), pod ("b", 2, true) };

    (void)state;
    pods[1].exclusive = false;
    object (&s, 5, pods, 1);
    assert_int_equal (zonerule_look (&s, pods, 2), 0);
    assert_false (pods[0].seen);
    s.latest.only_exclusive = true;
    assert_int_equal (zonerule_look (&s, pods, 2), 0);
    assert_true (pods[0].seen && pods[1].seen);
}

static void test_without_print (void **state)
{
    struct zonerule s = { 0 };
    struct zonepod pods[] = { pod ("job", 1, false) };

    (void)state;
    object (&s, 8, NULL, -1);
    assert_int_equal (zonerule_look (&s, pods, 1), 0);
    object (&s, 8, NULL, -1);
    assert_int_equal (zonerule_look (&s, pods, 1), 0);
    assert_false (pods[0].seen); /* the pod does not run */
    pods[0].running = true;
    pods[0].run_at = s.version;
    assert_int_equal (zonerule_look (&s, pods, 1), 0);
    assert_false (pods[0].seen);
    object (&s, 5, NULL, -1);
    assert_int_equal (zonerule_look (&s, pods, 1), 0);
    assert_true (pods[0].seen);
    assert_false (s.exact);
    assert_int_equal (left_of (&s, pods, 1), 5);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_xxh64),          cmocka_unit_test (test_print),
        cmocka_unit_test (test_object),         cmocka_unit_test (test_policy),
        cmocka_unit_test (test_annotation),     cmocka_unit_test (test_hostile),
        cmocka_unit_test (test_all_zones),      cmocka_unit_test (test_reported),
        cmocka_unit_test (test_late_report),    cmocka_unit_test (test_first),
        cmocka_unit_test (test_only_exclusive), cmocka_unit_test (test_without_print),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
