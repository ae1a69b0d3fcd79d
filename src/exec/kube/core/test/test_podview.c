/* From a pod's status to its meaning: a lost race must be tried again, a wrong image
 * must not. */
#include "exec/kube/core/podview.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/macros.h"

static struct podview view_of_json (json_t *pod)
{
    struct podview v;

    assert_non_null (pod);
    podview_read (pod, &v);
    json_decref (pod);
    return v;
}

static struct podview view_of (const char *text)
{
    return view_of_json (json_loads (text, 0, NULL));
}

/* The row of a container that waits for this reason. */
static enum pod_trouble trouble_of (const char *reason, const char *message)
{
    return view_of_json (json_pack ("{s:{s:[{s:{s:{s:s s:s}}}]}}", "status",
                                    "containerStatuses", "state", "waiting", "reason",
                                    reason, "message", message))
        .trouble;
}

static void test_reasons (void **state)
{
    static const struct {
        const char *reason, *message;
        enum pod_trouble trouble;
    } cases[] = {
        { "OutOfcpu", "", POD_RETRY },
        { "OutOfmemory", "", POD_RETRY },
        { "OutOfnvidia.com/gpu", "", POD_RETRY },
        { "NodeAffinity", "", POD_RETRY },
        { "UnexpectedAdmissionError", "", POD_RETRY },
        { "InvalidImageName", "", POD_FATAL },
        { "ErrImageNeverPull", "", POD_FATAL },
        { "ErrImagePull", "docker.io/library/x:1: not found", POD_FATAL },
        { "ErrImagePull", "pull access denied, repository does not exist", POD_FATAL },
        { "ImagePullBackOff", "unexpected status: 401 Unauthorized", POD_FATAL },
        { "ErrImagePull", "dial tcp: lookup reg: no such host", POD_WAITING },
        { "ErrImagePull", "dial tcp 1.2.3.4:443: i/o timeout", POD_WAITING },
        { "ErrImagePull", "lookup reg: no such host: not found", POD_WAITING },
        { "ErrImagePull", "r/x:v401: status 429 Too Many Requests", POD_WAITING },
        { "ErrImagePull", "r/x@sha256:5401fe: 503 Service Unavailable", POD_WAITING },
        { "ImagePullBackOff", "Back-off pulling image", POD_WAITING },
        { "CreateContainerConfigError", "secret not found", POD_WAITING },
        { "ContainerCreating", "", POD_FINE },
        { "PodInitializing", "", POD_FINE },
        { "", "", POD_FINE },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
        assert_int_equal (trouble_of (cases[i].reason, cases[i].message),
                          cases[i].trouble);
}

#define META(index)                                                                      \
    "\"metadata\":{\"name\":\"p\",\"labels\":{\"batch.kubernetes.io/"                    \
    "job-completion-index\":\"" index "\"}}"
#define STATE(phase, state)                                                              \
    "\"status\":{\"phase\":\"" phase "\",\"containerStatuses\":[{\"state\":" state "}]}"

static void test_views (void **state)
{
    struct podview v;

    (void)state;
    v = view_of ("{" META ("3") "," STATE ("Running", "{\"running\":{}}") "}");
    assert_int_equal (v.index, 3);
    assert_true (v.started && !v.terminal);
    assert_int_equal (v.trouble, POD_FINE);

    v = view_of ("{" META ("0") ",\"status\":{\"phase\":\"Failed\",\"reason\":"
                                "\"OutOfcpu\",\"message\":\"a\\nb\"}}");
    assert_true (v.terminal && !v.started);
    assert_int_equal (v.trouble, POD_RETRY);
    assert_int_equal (v.blame, POD_BLAME_NOBODY); /* nothing is wrong with the node */
    assert_null (strchr (v.text, '\n'));          /* one line for the user */

    v = view_of ("{" META ("0") "," STATE (
        "Failed", "{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\"}}") "}");
    assert_true (v.oom && v.terminal);
    assert_int_equal (v.blame, POD_BLAME_NOBODY); /* memory is the job's own fault */
    assert_int_equal (v.exit_code, 137);

    /* Ends that the job's owner can cause: the end of the agent, or an image
     * that cannot start. */
    v = view_of ("{" META ("0") "," STATE (
        "Failed", "{\"terminated\":{\"exitCode\":137,\"reason\":\"Error\"}}") "}");
    assert_true (v.trouble == POD_RETRY && v.blame == POD_BLAME_CHANCE);
    v = view_of ("{" META ("0") "," STATE (
        "Failed", "{\"terminated\":{\"exitCode\":128,\"reason\":\"StartError\","
                  "\"message\":\"no mount at /home/a/transport\"}}") "}");
    assert_true (v.trouble == POD_RETRY && v.blame == POD_BLAME_CHANCE);

    v = view_of ("{" META ("0") "," STATE (
        "Succeeded", "{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\"}}") "}");
    assert_true (v.terminal);
    assert_int_equal (v.trouble, POD_FINE);

    v = view_of ("{" META ("0") "," STATE (
        "Pending", "{\"waiting\":{\"reason\":\"ErrImagePull\",\"message\":\"x\"}}") "}");
    assert_true (v.pull_trouble && !v.started && !v.creating);
    assert_int_equal (v.trouble, POD_WAITING);
    assert_int_equal (v.blame,
                      POD_BLAME_NOBODY); /* a node is not at fault for an image */

    v = view_of ("{" META ("0") "," STATE (
        "Pending", "{\"waiting\":{\"reason\":\"ContainerCreating\"}}") "}");
    assert_true (v.creating && !v.pull_trouble && !v.started && !v.text[0]);
    assert_int_equal (v.blame, POD_BLAME_NODE); /* if the state stays */
    v = view_of ("{" META ("0") ",\"status\":{\"phase\":\"Pending\"}}");
    assert_true (!v.creating && v.blame == POD_BLAME_NODE);
}

#define INIT(name, state)                                                                \
    "\"status\":{\"phase\":\"Failed\",\"initContainerStatuses\":[{\"name\":\"" name      \
    "\",\"state\":" state "}],\"containerStatuses\":[{\"state\":{\"waiting\":{"          \
    "\"reason\":\"PodInitializing\"}}}]}"

/* In a Flux operator's pod the init container is not the administrator's, and the main
 * container has another name. */
static void test_other_containers (void **state)
{
    struct podview v;

    (void)state;
    v = view_of (
        "{" META ("0") "," INIT ("flux-view", "{\"terminated\":{\"exitCode\":4}}") "}");
    assert_true (!v.epilog_failed && !v.prolog_failed && v.trouble == POD_RETRY);
    assert_string_equal (v.text, "its init container flux-view ended with status 4");
    v = view_of ("{" META ("0") "," INIT ("flux-view", "{\"running\":{}}") "}");
    assert_true (!v.started && v.exit_code == -1);
    v = view_of ("{" META ("0") "," INIT (
        "flux-view",
        "{\"waiting\":{\"reason\":\"ErrImagePull\",\"message\":\"x: not found\"}}") "}");
    assert_true (v.trouble == POD_FATAL && v.pull_trouble);
}

/* The administrator's containers end because of the program that they watch, or in
 * another way, which is no fault of the node. */
static void test_prolog_and_epilog (void **state)
{
    struct podview v;

    (void)state;
    v = view_of ("{" META ("0") "," INIT (
        "prolog",
        "{\"terminated\":{\"exitCode\":4,\"message\":\"exit status 3: a\\nb\"}}") "}");
    assert_true (v.prolog_failed && !v.epilog_failed && !v.started);
    assert_string_equal (v.admin_text, "exit status 3: a b");
    assert_int_equal (v.exit_code, -1);

    v = view_of (
        "{" META ("0") "," INIT ("epilog", "{\"terminated\":{\"exitCode\":4}}") "}");
    assert_true (v.epilog_failed && !v.prolog_failed && v.admin_text[0]);

    v = view_of ("{" META ("0") "," INIT (
        "prolog", "{\"terminated\":{\"exitCode\":137,\"message\":\"x\"}}") "}");
    assert_true (!v.prolog_failed && v.trouble == POD_RETRY);

    v = view_of (
        "{" META ("0") "," INIT ("epilog", "{\"terminated\":{\"exitCode\":137}}") "}");
    assert_true (!v.epilog_failed);

    v = view_of ("{" META ("0") "," INIT (
        "prolog",
        "{\"waiting\":{\"reason\":\"InvalidImageName\",\"message\":\"x\"}}") "}");
    assert_true (v.trouble == POD_FATAL && v.pull_trouble);

    v = view_of ("{" META ("0") "," INIT ("prolog", "{\"running\":{}}") "}");
    assert_true (!v.started && !v.prolog_failed);
}

/* The container with the agent: a wrong image is wrong on all nodes, a full disk is the
 * fault of one node. */
static void test_installer (void **state)
{
    struct podview v;

    (void)state;
    v = view_of ("{" META ("0") "," INIT (
        "agent",
        "{\"terminated\":{\"exitCode\":5,\"message\":\"of another version\"}}") "}");
    assert_true (v.trouble == POD_FATAL && v.blame == POD_BLAME_NOBODY && !v.started);
    assert_non_null (strstr (v.text, "of another version"));

    v = view_of ("{" META ("0") "," INIT (
        "agent", "{\"terminated\":{\"exitCode\":1,\"message\":\"no space\"}}") "}");
    assert_true (v.trouble == POD_RETRY && v.blame == POD_BLAME_NODE);

    v = view_of ("{" META ("0") "," INIT (
        "agent", "{\"terminated\":{\"exitCode\":128,\"reason\":\"StartError\"}}") "}");
    assert_int_equal (v.trouble, POD_FATAL);
    v = view_of ("{" META ("0") "," INIT (
        "agent", "{\"terminated\":{\"exitCode\":128,\"reason\":\"StartError\","
                 "\"message\":\"failed to create shim task: context canceled\"}}") "}");
    assert_true (v.trouble == POD_RETRY && v.blame == POD_BLAME_NODE);

    v = view_of ("{" META ("0") "," INIT (
        "agent",
        "{\"waiting\":{\"reason\":\"InvalidImageName\",\"message\":\"x\"}}") "}");
    assert_true (v.trouble == POD_FATAL && v.pull_trouble);

    v = view_of (
        "{" META ("0") "," INIT ("agent", "{\"terminated\":{\"exitCode\":0}}") "}");
    assert_true (!v.started && !v.prolog_failed && !v.epilog_failed);
    assert_string_equal (v.text, "the pod failed");
}

static void test_hostile (void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"metadata\":[],\"status\":7}",
        "{" META ("-1") ",\"status\":{\"containerStatuses\":{}}}",
        "{" META ("99999999999999") ",\"status\":{\"containerStatuses\":[7,null,{"
                                    "\"state\":[]}]}}",
        ("{\"metadata\":{\"annotations\":{\"batch.kubernetes.io/"
         "job-completion-index\":5}}}"),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        struct podview v = view_of (texts[i]);

        assert_int_equal (v.index, -1);
        assert_int_equal (v.trouble, POD_FINE);
    }
}

#define TARGET(reason)                                                                   \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":"                \
    "\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"" reason                      \
    "\",\"message\":\"so\\nso\"}]"

/* An eviction differs from the program's own end, whoever evicts; and during the start
 * it is no failure of the node. */
static void test_evicted (void **state)
{
    struct podview v;

    (void)state;
    v = view_of ("{" META ("0") ",\"status\":{\"phase\":\"Running\"," TARGET (
        "EvictionByEvictionAPI") "}}");
    assert_string_equal (v.evicted, "EvictionByEvictionAPI: so so");
    assert_int_equal (v.trouble, POD_RETRY);
    assert_int_equal (v.blame, POD_BLAME_NOBODY);
    assert_string_equal (v.text, "its pod was evicted: EvictionByEvictionAPI: so so");
    v = view_of ("{" META ("0") ",\"status\":{\"phase\":\"Pending\"," TARGET (
        "DeletionByTaintManager") "}}");
    assert_int_equal (v.blame, POD_BLAME_CHANCE);
    /* the kubelet gives more detail than the condition */
    v = view_of ("{" META (
        "0") ",\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\","
             "\"message\":\"low on memory\"," TARGET ("TerminationByKubelet") "}}");
    assert_string_equal (v.evicted, "Evicted: low on memory");
    v = view_of ("{" META ("0") ",\"status\":{\"phase\":\"Running\",\"conditions\":[{"
                                "\"type\":\"DisruptionTarget\",\"status\":\"False\"}]}}");
    assert_string_equal (v.evicted, "");
    assert_int_equal (v.trouble, POD_FINE);
}

/* Another scheduler's message is reported at the time limit; a pod behind a
 * gate is nobody's fault. */
static void test_scheduler (void **state)
{
    struct podview v = view_of (
        "{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
        "\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"0/3 "
        "nodes\"}]}}");

    (void)state;
    assert_int_equal (v.trouble, POD_WAITING);
    assert_string_equal (v.text, "its scheduler: 0/3 nodes");
    v = view_of (
        "{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
        "\"status\":\"False\",\"reason\":\"SchedulingGated\",\"message\":\"gates\"}]}}");
    assert_int_equal (v.trouble, POD_FINE);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_reasons),
        cmocka_unit_test (test_views),
        cmocka_unit_test (test_evicted),
        cmocka_unit_test (test_prolog_and_epilog),
        cmocka_unit_test (test_other_containers),
        cmocka_unit_test (test_installer),
        cmocka_unit_test (test_scheduler),
        cmocka_unit_test (test_hostile),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
