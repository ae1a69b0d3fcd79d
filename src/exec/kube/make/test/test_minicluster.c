/* A job as a MiniCluster: the object for the operator, the settings that it cannot
 * have, and the start of a command's tasks. */
#include "exec/kube/make/minicluster.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/kube/make/fluxrun.h"

static struct exec_job job;
static struct kube_config cfg;
static struct object_source src;
static struct rset_rank ranks[2];
static struct rset rset = { .ranks = ranks, .nranks = 2 };

/* "a|b|0|c" of an object; NULL if it does not exist. */
static json_t *at (json_t *o, const char *path)
{
    char part[64];

    while (o && *path) {
        size_t len = strcspn (path, "|");

        snprintf (part, sizeof (part), "%.*s", (int)len, path);
        path += len + (path[len] == '|');
        o = json_is_array (o) ? json_array_get (o, strtoul (part, NULL, 10))
                              : json_object_get (o, part);
    }
    return o;
}

static const char *text_at (json_t *o, const char *path)
{
    const char *s = json_string_value (at (o, path));

    return s ? s : "";
}

static json_int_t number_at (json_t *o, const char *path)
{
    assert_true (json_is_integer (at (o, path)));
    return json_integer_value (at (o, path));
}

static json_t *json (const char *text)
{
    json_t *o = json_loads (text, 0, NULL);

    assert_non_null (o);
    return o;
}

/* 2 to 8 nodes were requested, 2 were granted, with two tasks on each. */
static int setup (void **state)
{
    static const char spec[] =
        "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":{\"min\":2,\"max\":8,"
        "\"operator\":\"+\",\"operand\":1},\"with\":[{\"type\":\"slot\",\"count\":2,"
        "\"label\":\"t\",\"with\":[{\"type\":\"core\",\"count\":1}]}]}],\"tasks\":[{"
        "\"command\":[\"true\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
        "\"attributes\":{\"system\":{\"duration\":0,\"cwd\":\"/home/ann\",\"fluxq\":{"
        "\"image\":\"flux:1\"}}}}";
    struct error err = { 0 };

    (void)state;
    job = (struct exec_job){ .id = 12,
                             .name = "hello",
                             .user = { .uid = 1000, .gid = 100, .name = (char *)"ann" },
                             .r = &rset };
    job.js = jobspec_parse (spec, strlen (spec), &err);
    if (!job.js || kube_config_read (NULL, NULL, &cfg, &err) < 0)
        return -1;
    for (size_t i = 0; i < 2; i++) {
        ranks[i] = (struct rset_rank){ .node = strdup ("n"),
                                       .cores = idset_create (),
                                       .gpus = idset_create (),
                                       .memory_mib = 512,
                                       .slots = 2 };
        idset_add_range (ranks[i].cores, 0, 1);
    }
    src = (struct object_source){ .cfg = &cfg,
                                  .job = &job,
                                  .cluster = "c1",
                                  .namespace_ = "ns",
                                  .name = "fluxq-c1-12-0",
                                  .agent = "fluxq-agent-c1-abc",
                                  .owner = &object_owner_minicluster };
    return 0;
}

static int teardown (void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        free (ranks[i].node);
        idset_destroy (ranks[i].cores);
        idset_destroy (ranks[i].gpus);
    }
    jobspec_destroy ((struct jobspec *)job.js);
    kube_config_release (&cfg);
    return 0;
}

/* The quorum is the granted size, and Flux may count to the largest size. */
static void test_sizes (void **state)
{
    autojson json_t *o = minicluster_object (&src);

    (void)state;
    assert_string_equal (text_at (o, "apiVersion"), "flux-framework.org/v1alpha2");
    assert_string_equal (text_at (o, "kind"), "MiniCluster");
    assert_int_equal (number_at (o, "spec|size"), 2);
    assert_int_equal (number_at (o, "spec|minSize"), 2);
    assert_int_equal (number_at (o, "spec|maxSize"), 8);
    assert_int_equal (number_at (o, "spec|tasks"), 4);
    assert_int_equal (number_at (o, "spec|backoffLimit"), 1);
}

/* No setting that the operator would lose: pod.resources becomes overhead, of the pod's
 * security only fsGroup is kept, and a script would pass through a here-document. */
static void test_what_the_operator_keeps (void **state)
{
    autojson json_t *o = minicluster_object (&src);
    json_t *c = at (o, "spec|containers|0");

    (void)state;
    assert_null (at (o, "spec|pod|resources"));
    assert_string_equal (text_at (c, "resources|requests|cpu"), "2");
    assert_string_equal (text_at (c, "resources|limits|memory"), "512Mi");
    assert_int_equal (number_at (o, "spec|pod|securityContext|fsGroup"), 100);
    assert_int_equal (number_at (c, "securityContext|runAsUser"), 1000);
    assert_true (json_is_true (at (c, "securityContext|runAsNonRoot")));
    assert_string_equal (text_at (c, "securityContext|capabilities|drop|0"), "ALL");
    assert_true (json_equal (at (c, "securityContext"),
                             at (o, "spec|flux|container|securityContext")));
    assert_string_equal (text_at (o, "spec|pod|schedulerName"), "fluxq");
    assert_string_equal (text_at (o, "spec|pod|restartPolicy"), "Never");
    assert_string_equal (text_at (o, "spec|pod|labels|fluxq.io/job-id"), "12");
    assert_string_equal (text_at (o, "spec|jobLabels|fluxq.io/job-id"), "12");
    assert_true (*text_at (o, "spec|pod|labels|job-index"));
    assert_null (at (o, "spec|jobLabels|job-index"));
    assert_true (json_is_true (at (c, "launcher")));
    assert_null (at (c, "commands|script"));
}

/* The operator names a ConfigMap's volume after the ConfigMap, and the mount after the
 * key. */
static void test_volumes (void **state)
{
    autojson json_t *set = json ("{\"shm-size\":1048576}");
    json_t *v;

    (void)state;
    job.mounts = json ("[{\"path\":\"/home\",\"volume\":{\"persistentVolumeClaim\":{"
                       "\"claimName\":\"home\"}}},{\"path\":\"/etc/site\",\"read-only\":"
                       "true,\"volume\":{\"configMap\":{\"name\":\"site\"}}}]");
    src.pods = set;
    autojson json_t *o = minicluster_object (&src);
    v = at (o, "spec|containers|0|volumes");
    for (void *i = json_object_iter (v); i; i = json_object_iter_next (v, i)) {
        const char *map = text_at (json_object_iter_value (i), "configMapName");
        assert_true (!*map || !strcmp (map, json_object_iter_key (i)));
    }
    assert_string_equal (text_at (v, "fluxq-c1-12-0|items|script"), "script");
    assert_string_equal (text_at (v, "fluxq-agent-c1-abc|items|fluxq-shell"),
                         "fluxq-shell");
    assert_string_equal (text_at (v, "mount-0|claimName"), "home");
    assert_string_equal (text_at (v, "mount-0|path"), "/home");
    assert_null (at (v, "mount-0|readOnly"));
    assert_true (json_is_true (at (v, "site|readOnly")));
    assert_string_equal (text_at (v, "shm|emptyDirSizeLimit"), "1048576");
    json_decref (job.mounts);
    job.mounts = NULL;
    src.pods = NULL;
}

static void refused (const char *set, const char *mounts, const char *word)
{
    autojson json_t *s = json (set), *m = json (mounts);
    struct error err = { 0 };

    assert_int_equal (minicluster_check (s, job.js, m, &err), -EINVAL);
    if (!strstr (err.text, word))
        fail_msg ("'%s' does not contain '%s'", err.text, word);
}

static void test_refused (void **state)
{
    autojson json_t *fine =
        json ("{\"host-network\":false,\"image-pull-secrets\":[\"a\"],"
              "\"tolerations\":[{\"operator\":\"Exists\"}],\"shm-size\":\"1Gi\"}");

    (void)state;
    assert_int_equal (minicluster_check (fine, job.js, NULL, NULL), 0);
    refused ("{\"scheduler\":\"default-scheduler\"}", "[]", "another scheduler");
    refused ("{\"priority-class\":\"low\"}", "[]", "priority class");
    refused ("{\"admin-programs\":true}", "[]", "a prolog or epilog");
    refused ("{\"host-network\":true}", "[]", "network of the nodes");
    refused ("{\"image-pull-secrets\":[\"a\",\"b\"]}", "[]", "more than one secret");
    refused ("{\"tolerations\":[{\"operator\":\"Exists\",\"tolerationSeconds\":1}]}",
             "[]", "entry 1");
    refused ("{\"pod-template\":{\"spec\":{\"dnsConfig\":{}}}}", "[]", "dnsConfig");
    refused ("{}", "[{\"path\":\"/a\",\"volume\":{\"nfs\":{}}}]",
             "volume at /a: it mounts");
    refused ("{}", "[{\"path\":\"/a\",\"volume\":{\"emptyDir\":{}}}]", "volume at /a");
    refused ("{}",
             "[{\"path\":\"/mnt/flux\",\"volume\":{\"hostPath\":{\"path\":\"/b\"}}}]",
             "belongs to the Flux operator");
    refused ("{}",
             "[{\"path\":\"/a\",\"volume\":{\"hostPath\":{\"path\":\"/b\",\"type\":"
             "\"File\"}}}]",
             "only directories");
    refused ("{}",
             "[{\"path\":\"/a\",\"volume\":{\"configMap\":{\"name\":\"m\"}}},"
             "{\"path\":\"/b\",\"volume\":{\"configMap\":{\"name\":\"m\"}}}]",
             "at two places");
    refused ("{}",
             "[{\"path\":\"/a\",\"volume\":{\"secret\":{\"secretName\":\"s\","
             "\"defaultMode\":256}}}]",
             "usual modes");
}

/* -- tasks -- */

static struct launch_node nodes[3] = { { .ntasks = 2 },
                                       { .ntasks = 2 },
                                       { .ntasks = 1 } };

static void expect_script (const struct launch *l, uint32_t gpus, const char *expected)
{
    char *text = fluxrun_script (l, gpus);

    assert_non_null (text);
    assert_string_equal (text, expected);
    free (text);
}

static void test_tasks_follow_the_granted_size (void **state)
{
    char *args[] = { (char *)"./solve", (char *)"it's $HOME\n*", (char *)"", NULL };
    struct launch l = {
        .nodes = nodes, .nnodes = 3, .args = args, .nargs = 3, .cores_per_task = 4
    };

    (void)state;
    expect_script (
        &l, 0, "#!/bin/sh\nexec flux run -N3 -n5 -c4 './solve' 'it'\\''s $HOME\n*' ''\n");
    l.nnodes = 2;
    l.nargs = 1;
    expect_script (&l, 2, "#!/bin/sh\nexec flux run -N2 -n4 -c4 -g2 './solve'\n");
}

/* A command becomes a script that the agent runs once; a job's own script stays
 * unchanged. */
static void test_launch (void **state)
{
    struct error err = { 0 };
    struct launch l = { .nodes = nodes, .nnodes = 1, .nargs = 1, .cores_per_task = 1 };
    char *script = NULL;

    (void)state;
    l.args = calloc (2, sizeof (char *));
    l.args[0] = strdup ("true");
    assert_int_equal (minicluster_launch (&l, job.js, &script, &err), 0);
    assert_string_equal (script, "#!/bin/sh\nexec flux run -N1 -n2 -c1 'true'\n");
    assert_true (l.batch && l.flux && l.nargs == 0 && !l.args[0]);
    free (script);
    l.args[l.nargs++] = strdup ("argument");
    assert_int_equal (minicluster_launch (&l, job.js, &script, &err), 0);
    assert_null (script);
    assert_true (l.batch && l.nargs == 1);
    l.nodes = NULL;
    l.nnodes = 0;
    launch_release (&l);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown (test_what_the_operator_keeps, setup, teardown),
        cmocka_unit_test_setup_teardown (test_volumes, setup, teardown),
        cmocka_unit_test_setup_teardown (test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown (test_launch, setup, teardown),
        cmocka_unit_test (test_tasks_follow_the_granted_size),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
