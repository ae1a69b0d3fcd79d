/* The resources that a pod uses on its node: a wrong amount would bind jobs where
 * there is no room, or leave room empty. */
#include "exec/kube/core/podsize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MI ((int64_t)1 << 20)
#define C(cpu, mem)                                                                      \
    "{\"resources\":{\"requests\":{\"cpu\":\"" cpu "\",\"memory\":\"" mem "\"}}}"
#define SIDECAR(cpu, mem)                                                                \
    "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"" cpu          \
    "\",\"memory\":\"" mem "\"}}}"

static struct podsize size_of (const char *spec)
{
    json_error_t err;
    json_t *pod = json_pack ("{s:o}", "spec", json_loads (spec, 0, &err));
    struct podsize s;

    assert_non_null (pod);
    s = podsize_of (pod, "x.com/gpu");
    json_decref (pod);
    return s;
}

static void check (const char *spec, int64_t milli, int64_t mib, int64_t gpus)
{
    struct podsize s = size_of (spec);

    assert_int_equal (s.cpu_milli, milli);
    assert_int_equal (s.memory, mib * MI);
    assert_int_equal (s.gpus, gpus);
}

static void test_containers (void **state)
{
    (void)state;
    check ("{\"containers\":[" C ("100m", "10Mi") "," C ("2", "1Gi") "]}", 2100, 1034, 0);
    check ("{\"containers\":[{}]}", 0, 0, 0);
    check ("{}", 0, 0, 0);
    check ("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"?\",\"x.com/"
           "gpu\":\"2\"}}}]}",
           0, 0, 2);
}

/* Init containers run one after another, before the others: the largest counts, not the
 * sum. */
static void test_init (void **state)
{
    (void)state;
    check ("{\"initContainers\":[" C ("3", "10Mi") "," C (
               "1", "50Mi") "],\"containers\":[" C ("1", "20Mi") "]}",
           3000, 50, 0);
}

/* Sidecars stay: they are added, also to later init containers. */
static void test_sidecars (void **state)
{
    (void)state;
    check ("{\"initContainers\":[" SIDECAR ("500m", "5Mi") "," C (
               "2", "1Mi") "],\"containers\":[" C ("1", "20Mi") "]}",
           2500, 25, 0);
    check ("{\"initContainers\":[" C ("2", "1Mi") "," SIDECAR (
               "500m", "5Mi") "],\"containers\":[" C ("1", "20Mi") "]}",
           2000, 25, 0);
}

static void test_overhead_and_pod_level (void **state)
{
    (void)state;
    check ("{\"overhead\":{\"cpu\":\"250m\",\"memory\":\"8Mi\"},\"containers\":[" C (
               "1", "20Mi") "]}",
           1250, 28, 0);
    check ("{\"resources\":{\"requests\":{\"cpu\":\"4\"}},\"containers\":[" C (
               "1", "20Mi") "]}",
           4000, 20, 0);
}

/* An added pod can be removed again: nothing remains of pods with absurd requests. */
static void test_bounded (void **state)
{
    struct podsize s =
        size_of ("{\"containers\":[" C ("9e18", "8Ei") "," C ("9e18", "8Ei") "]}");
    struct podsize sum = { 0, 0, 0 };

    (void)state;
    assert_true (s.cpu_milli == PODSIZE_MAX && s.memory == PODSIZE_MAX);
    for (int i = 0; i < 8191; i++)
        sum = podsize_add (sum, s);
    for (int i = 0; i < 8191; i++)
        sum = podsize_sub (sum, s);
    assert_true (sum.cpu_milli == 0 && sum.memory == 0);
}

/* For a pod with one container "c" that requests 2 and 20Mi, with this status. */
static int64_t milli_with (const char *status)
{
    json_t *pod = json_pack ("{s:{s:[{s:s s:{s:{s:s s:s}}}]} s:o}", "spec", "containers",
                             "name", "c", "resources", "requests", "cpu", "2", "memory",
                             "20Mi", "status", json_loads (status, 0, NULL));
    struct podsize s;

    assert_non_null (pod);
    s = podsize_of (pod, NULL);
    json_decref (pod);
    return s.cpu_milli;
}

#define HAS(requests, allocated)                                                         \
    "\"containerStatuses\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"       \
    "\"" requests "\"}},\"allocatedResources\":{\"cpu\":\"" allocated "\"}}]"

static void test_resized (void **state)
{
    (void)state;
    assert_int_equal (milli_with ("{}"), 2000);
    assert_int_equal (milli_with ("{\"containerStatuses\":[{\"name\":\"c\"}]}"), 2000);
    assert_int_equal (milli_with ("{" HAS ("3500m", "3") "}"), 3500); /* shrinks */
    assert_int_equal (milli_with ("{" HAS ("1", "3") "}"), 3000);
    assert_int_equal (milli_with ("{" HAS ("1", "1") "}"), 2000); /* grows */
    assert_int_equal (
        milli_with ("{\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":"
                    "\"Infeasible\"}]," HAS ("1", "1500m") "}"),
        1500);
    assert_int_equal (
        milli_with ("{\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":"
                    "\"Deferred\"}]," HAS ("1", "1") "}"),
        2000);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_containers),
        cmocka_unit_test (test_init),
        cmocka_unit_test (test_sidecars),
        cmocka_unit_test (test_overhead_and_pod_level),
        cmocka_unit_test (test_bounded),
        cmocka_unit_test (test_resized),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
