/* Requests and labels of others' Jobs: hostile and odd Jobs, and jobspecs that
 * the broker accepts. */
#include "exec/kube/adopt/adoptspec.h"
#include "exec/kube/adopt/adoptview.h"
#include "exec/kube/core/adoptconfig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"
#include "common/macros.h"
#include "jobspec/jobspec.h"

static json_t *json (const char *text)
{
    json_error_t err;
    json_t *o = json_loads (text, JSON_DECODE_ANY, &err);

    if (!o)
        fail_msg ("%s: %s", err.text, text);
    return o;
}

#define POD(extra)                                                                       \
    "{\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"busybox:1\",\"command\":["   \
    "\"sleep\",\"9\"],\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":"        \
    "\"1Gi\"}}}]" extra "}}"

/* spec: members of the Job's spec; pod: members of its pods' spec; notes: annotations. */
static json_t *job_of (const char *spec, const char *pod, const char *notes)
{
    char *text;

    assert_true (
        asprintf (&text,
                  "{\"metadata\":{\"name\":\"train\",\"namespace\":\"team-a\","
                  "\"uid\":\"u1\",\"labels\":{\"fluxq.io/queue\":\"batch\"},"
                  "\"annotations\":{%s}},\"spec\":{\"suspend\":true%s,\"template\":" POD (
                      "%s") "}}",
                  notes, spec, pod)
        > 0);
    json_t *o = json (text);
    free (text);
    return o;
}

static const struct adoptspec_how how = { .gpu_resource = "nvidia.com/gpu",
                                          .fractional_cpu = true };

/* The jobspec as the broker reads it. */
static struct jobspec *spec_of (const char *spec, const char *pod, const char *notes)
{
    autojson json_t *job = job_of (spec, pod, notes);
    struct error err = { 0 };
    autojson json_t *o = adoptspec_of_job (job, &how, &err);

    if (!o)
        fail_msg ("%s", err.text);
    struct jobspec *js = jobspec_from_json (o, &err);
    if (!js)
        fail_msg ("%s", err.text);
    return js;
}

static void refused (const char *spec, const char *pod, const char *notes,
                     const char *why)
{
    autojson json_t *job = job_of (spec, pod, notes);
    struct error err = { 0 };

    assert_null (adoptspec_of_job (job, &how, &err));
    if (!strstr (err.text, why))
        fail_msg ("'%s' is not in '%s'", why, err.text);
}

static void test_sizes (void **state)
{
    static const struct {
        const char *spec, *notes;
        int64_t min, max;
    } cases[] = {
        { "", "", 1, 1 },
        { ",\"parallelism\":4,\"completions\":4", "", 4, 4 },
        { ",\"parallelism\":4", "", 4, 4 },
        { ",\"parallelism\":4,\"completions\":10", "", 4, 4 },
        { ",\"parallelism\":10,\"completions\":3", "", 3, 3 },
        { ",\"parallelism\":8,\"completions\":8", "\"fluxq.io/min-parallelism\":\"2\"", 2,
          8 },
        { ",\"parallelism\":8", "\"fluxq.io/min-parallelism\":\"8\"", 8, 8 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        autojobspec struct jobspec *js = spec_of (cases[i].spec, "", cases[i].notes);
        struct jobspec_sizes s;

        jobspec_get_sizes (js, &s);
        assert_int_equal (s.min_slots, cases[i].min);
        assert_int_equal (s.max_slots, cases[i].max);
    }
}

static void test_content (void **state)
{
    autojobspec struct jobspec *js =
        spec_of (",\"activeDeadlineSeconds\":600",
                 ",\"nodeSelector\":{\"disk\":\"ssd\",\"example.org/pool\":\"a\"}", "");
    struct jobspec_sizes s;
    json_t *constraint;

    (void)state;
    jobspec_get_sizes (js, &s);
    assert_int_equal (s.cpu_milli_per_slot, 1500);
    assert_string_equal (js->name, "team-a/train");
    assert_string_equal (js->queue, "batch");
    assert_string_equal (js->image, "busybox:1");
    assert_string_equal (js->command[0], "sleep");
    assert_true (js->has_duration && js->duration == 600);
    constraint = json ("{\"properties\":[\"disk=ssd\",\"example.org/pool=a\"]}");
    assert_true (json_equal (js->constraints, constraint));
    json_decref (constraint);
}

static void test_whole_cpus (void **state)
{
    const struct adoptspec_how whole = { .gpu_resource = "nvidia.com/gpu" };
    autojson json_t *job = job_of ("", "", "");
    autojson json_t *o = adoptspec_of_job (job, &whole, NULL);
    autojobspec struct jobspec *js = jobspec_from_json (o, NULL);
    struct jobspec_sizes s;

    (void)state;
    jobspec_get_sizes (js, &s);
    assert_int_equal (s.cores_per_slot, 2);
}

static void test_one_per_node (void **state)
{
    autojobspec struct jobspec *js =
        spec_of (",\"parallelism\":4", "", "\"fluxq.io/one-pod-per-node\":\"true\"");
    struct jobspec_sizes s;

    (void)state;
    jobspec_get_sizes (js, &s);
    assert_int_equal (s.min_nodes, 4);
    assert_int_equal (s.min_slots, 4);
}

static void test_refusals (void **state)
{
    (void)state;
    refused (",\"parallelism\":0", "", "", "no pods");
    refused (",\"parallelism\":2,\"completions\":0", "", "", "no pods");
    refused (",\"parallelism\":2000000000", "", "", "2000000000 pods");
    refused (",\"managedBy\":\"kueue.x-k8s.io/multikueue\"", "", "", "multikueue");
    refused (",\"parallelism\":4", "", "\"fluxq.io/min-parallelism\":\"5\"", "min-para");
    refused (",\"parallelism\":4", "", "\"fluxq.io/min-parallelism\":\"-1\"", "min-para");
    refused (",\"parallelism\":4", "", "\"fluxq.io/min-parallelism\":\"x\"", "min-para");
    refused ("", "", "\"fluxq.io/one-pod-per-node\":\"maybe\"", "maybe");
    refused ("", ",\"nodeName\":\"n1\"", "", "nodeName");
    refused ("", ",\"schedulingGates\":[{\"name\":\"x.io/y\"}]", "", "x.io/y");
    refused ("",
             ",\"affinity\":{\"podAntiAffinity\":{"
             "\"requiredDuringSchedulingIgnoredDuringExecution\":[{}]}}",
             "", "podAntiAffinity");
    refused (
        "",
        ",\"affinity\":{\"nodeAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
        "}]}}}",
        "", "nodeAffinity");
    refused ("",
             ",\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"DoNotSchedule\"}]",
             "", "topologySpread");
    refused ("",
             ",\"schedulerName\":\"fluxq\",\"volumes\":[{\"name\":\"v\","
             "\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]",
             "", "claim of v");
    refused ("", ",\"schedulerName\":\"fluxq\",\"resourceClaims\":[{\"name\":\"r\"}]", "",
             "resourceClaims");
    refused ("",
             ",\"overhead\":{\"memory\":\"8Ei\"},\"resources\":{\"requests\":{\"cpu\":"
             "\"9e18\"}}",
             "", "more than any node");
}

/* The worst result for any content of such an object is a refusal. */
static void test_hostile (void **state)
{
    static const char *const odd[] = {
        "null",
        "[]",
        "{}",
        "\"x\"",
        "{\"metadata\":[],\"spec\":7,\"status\":\"x\"}",
        "{\"spec\":{\"template\":[]}}",
        "{\"spec\":{\"template\":{\"spec\":{\"containers\":{}}}}}",
        "{\"spec\":{\"template\":{\"spec\":{\"containers\":[1,null,{}]}}}}",
        "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"command\":{},\"args\":[1,"
        "null,\"\"],\"resources\":[]}],\"nodeSelector\":[1],\"volumes\":[0],"
        "\"schedulingGates\":[3],\"affinity\":[],\"topologySpreadConstraints\":[0]}}}}",
        "{\"metadata\":{\"annotations\":{\"fluxq.io/min-parallelism\":3}},\"spec\":{"
        "\"parallelism\":-9223372036854775808,\"completions\":9223372036854775807}}",
        "{\"status\":{\"conditions\":[null,{\"type\":3,\"status\":true}],\"startTime\":7,"
        "\"succeeded\":-4}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (odd); i++) {
        autojson json_t *job = json (odd[i]);
        struct error err = { 0 }, pods_err = { 0 };
        struct adoptview v;
        autojson json_t *o = adoptspec_of_job (job, &how, &err);
        autojson json_t *p = adoptspec_of_pods (job, "ns", "g", 2, &how, &pods_err);

        adoptview_read (job, &v);
        assert_false (v.over);
        assert_true (v.succeeded == 0 && v.parallelism >= 0);
        if (!o)
            assert_true (err.code != 0 && err.text[0]);
        if (!p)
            assert_true (pods_err.code != 0 && pods_err.text[0]);
    }
}

static struct adoptview view_of (const char *text)
{
    autojson json_t *job = json (text);
    struct adoptview v;

    adoptview_read (job, &v);
    return v;
}

static void test_view (void **state)
{
    struct adoptview v =
        view_of ("{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"suspend\":true,"
                 "\"parallelism\":3,\"completions\":5,\"template\":{\"spec\":{"
                 "\"schedulerName\":\"fluxq\",\"schedulingGates\":[{\"name\":"
                 "\"fluxq.io/queue\"}]}}},\"status\":{\"succeeded\":4,\"conditions\":[{"
                 "\"type\":\"Suspended\",\"status\":\"True\"}]}}");

    (void)state;
    assert_true (v.suspended && v.at_rest && v.binds && v.gated && !v.over);
    assert_int_equal (adoptview_wanted (&v, 3, v.succeeded), 1);
    assert_int_equal (adoptview_wanted (&v, 3, 0), 3);
    /* The Job controller has not yet seen that the Job may run. */
    v = view_of (
        "{\"spec\":{\"suspend\":false},\"status\":{\"startTime\":\"2026-01-01T00:"
        "00:01Z\",\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\"}]}}");
    assert_true (!v.at_rest && v.started == 1767225601);
    assert_int_equal (adoptview_wanted (&v, 4, 1), 0); /* one success is enough */
    v = view_of ("{\"status\":{\"conditions\":[{\"type\":\"FailureTarget\",\"status\":"
                 "\"True\"}]}}");
    assert_false (v.over); /* its pods may still run */
    v = view_of ("{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\","
                 "\"reason\":\"DeadlineExceeded\",\"message\":\"too long\"}]}}");
    assert_true (v.over && v.failed && v.deadline);
    assert_string_equal (v.text, "DeadlineExceeded: too long");
    v = view_of ("{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":"
                 "\"False\"}]}}");
    assert_false (v.over);
}

/* Pods that the Job controller still has to count, and the broker whose status the
 * annotations have. */
static void test_view_counts (void **state)
{
    struct adoptview v = view_of (
        "{\"metadata\":{\"uid\":\"a\",\"annotations\":{\"fluxq.io/status\":"
        "\"COMPLETED\",\"fluxq.io/status-of\":\"a\"}},\"status\":{\"active\":2,"
        "\"terminating\":1,\"uncountedTerminatedPods\":{\"failed\":[\"x\"]},"
        "\"conditions\":[{\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"}]}}");

    (void)state;
    assert_true (v.active == 2 && v.terminating == 1 && v.counting && v.ending && !v.over);
    assert_string_equal (v.status, "COMPLETED");
    v = view_of ("{\"metadata\":{\"uid\":\"b\",\"annotations\":{\"fluxq.io/status\":"
                 "\"COMPLETED\",\"fluxq.io/status-of\":\"a\"}},\"status\":{"
                 "\"uncountedTerminatedPods\":{}}}");
    assert_true (v.active == 0 && v.terminating == 0 && !v.counting && !v.ending);
    assert_string_equal (v.status, "");
}

static void test_ends (void **state)
{
    (void)state;
    assert_true (adoptview_is_end ("COMPLETED"));
    assert_true (adoptview_is_end ("FAILED (x)"));
    assert_false (adoptview_is_end ("COMPLETING"));
    assert_false (adoptview_is_end ("PENDING (Resources)"));
    assert_false (adoptview_is_end ("REFUSED"));
    assert_false (adoptview_is_end (""));
}

static int config_of (const char *text, struct adoptconfig *ret, struct error *err)
{
    struct yaml_doc *doc = yaml_load (text, strlen (text), "fluxq.yaml", err);

    assert_non_null (doc);
    int rc = adoptconfig_read (doc, yaml_root (doc), ret, err);
    yaml_destroy (doc);
    return rc;
}

static void test_config (void **state)
{
    static const char *const bad[] = {
        "{\"adopt\":true}",
        "{\"adopt\":{}}",
        "{\"adopt\":{\"namespaces\":[\"a\"]}}",
        "{\"adopt\":{\"namespaces\":{}}}",
        "{\"adopt\":{\"namespaces\":{\"A_b\":\"ann\"}}}",
        "{\"adopt\":{\"namespaces\":{\"jobs-%u\":\"ann\"}}}",
        "{\"adopt\":{\"namespaces\":{\"a\":7}}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann bob\"}}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann\"},\"on-cancel\":\"kill\"}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann\"},\"priority-classes\":[]}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann\"},\"priority-classes\":{\"h\":0}}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann\"},\"priority-classes\":{\"h\":32}}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann\"},\"owner-policy\":\"../x\"}}",
        "{\"adopt\":{\"namespaces\":{\"a\":\"ann\"},\"owner\":\"x\"}}",
    };
    static const char good[] = "{\"adopt\":{\"namespaces\":{\"a\":\"ann\",\"b\":null},"
                               "\"on-cancel\":\"delete\",\"owner-policy\":\"p\","
                               "\"priority-classes\":{\"high\":24}}}";
    struct adoptconfig a = { 0 };
    struct error err = { 0 };

    (void)state;
    assert_int_equal (config_of (good, &a, &err), 0);
    assert_string_equal (adoptconfig_owner (&a, "a"), "ann");
    assert_string_equal (adoptconfig_owner (&a, "b"), "");
    assert_string_equal (adoptconfig_owner (&a, "c"), "");
    assert_true (a.delete_cancelled);
    assert_string_equal (a.owner_policy, "p");
    assert_int_equal (adoptconfig_urgency (&a, "high"), 24);
    assert_int_equal (adoptconfig_urgency (&a, "other"), 16);
    assert_int_equal (adoptconfig_urgency (&a, ""), 16);
    adoptconfig_release (&a);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        if (config_of (bad[i], &a, &err) == 0)
            fail_msg ("taken: %s", bad[i]);
        assert_non_null (strstr (err.text, "kube.adopt"));
        adoptconfig_release (&a);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_sizes),      cmocka_unit_test (test_content),
        cmocka_unit_test (test_whole_cpus), cmocka_unit_test (test_one_per_node),
        cmocka_unit_test (test_refusals),   cmocka_unit_test (test_hostile),
        cmocka_unit_test (test_view), cmocka_unit_test (test_view_counts),       cmocka_unit_test (test_ends),
        cmocka_unit_test (test_config),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
