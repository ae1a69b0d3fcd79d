/* A user's template: allowed fields; every other field is refused with its path; a
 * hostile template is only refused. */
#include "jobspec/attributes/podtemplate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/macros.h"

static const char good[] =
    "apiVersion: v1\n"
    "kind: Pod\n"
    "metadata:\n"
    "  labels: {example.org/team: hpc}\n"
    "  annotations: {example.org/note: 'a b', a.example.org/x: ''}\n"
    "spec:\n"
    "  dnsConfig: {searches: [lab.example.org], options: [{name: ndots, value: '2'}]}\n"
    "  volumes:\n"
    "  - {name: scratch, emptyDir: {sizeLimit: 1Gi}}\n"
    "  - {name: conf, configMap: {name: conf, items: [{key: a, path: b, mode: 292}]}}\n"
    "  - {name: pass, secret: {secretName: pass, optional: true, defaultMode: 256}}\n"
    "  - {name: both, projected: {sources: [{secret: {name: a}}, {configMap: {name: "
    "b}}]}}\n"
    "  containers:\n"
    "  - name: job\n"
    "    volumeMounts:\n"
    "    - {name: scratch, mountPath: /scratch}\n"
    "    - {name: conf, mountPath: /conf, readOnly: true}\n";

static char path[64];

static json_t *read_text (const char *text, struct error *err)
{
    FILE *f = fopen (path, "w");

    assert_non_null (f);
    fputs (text, f);
    fclose (f);
    return podtemplate_read (path, "--pod-template", err);
}

static int setup (void **state)
{
    int fd;

    (void)state;
    snprintf (path, sizeof (path), "/tmp/test_podtemplate.XXXXXX");
    fd = mkstemp (path);
    close (fd);
    return fd < 0 ? -1 : 0;
}

static int teardown (void **state)
{
    (void)state;
    return unlink (path);
}

static void test_good (void **state)
{
    static const char *const expected =
        "[{\"path\":\"/scratch\",\"volume\":{\"emptyDir\":{\"sizeLimit\":\"1Gi\"}},"
        "\"read-only\":false},{\"path\":\"/conf\",\"volume\":{\"configMap\":{\"name\":"
        "\"conf\",\"items\":[{\"key\":\"a\",\"path\":\"b\",\"mode\":292}]}},"
        "\"read-only\":true}]";
    autojson json_t *t = read_text (good, NULL), *mounts = podtemplate_mounts (t);
    autojson json_t *wanted = json_loads (expected, 0, NULL);

    (void)state;
    assert_non_null (t);
    assert_null (json_object_get (t, "kind"));
    assert_true (json_equal (mounts, wanted));
    for (const char *const *f = podtemplate_fields; *f; f++)
        assert_true (podtemplate_sets (t, *f));
    assert_int_equal (podtemplate_check (t, "x", NULL), 0);
}

static void test_forms (void **state)
{
    static const char *const texts[] = {
        "{\"metadata\": {\"labels\": {\"example.org/a\": \"b\"}}}",
        "kind: PodTemplate\ntemplate: {metadata: {labels: {example.org/a: b}}}",
        "template: {metadata: {labels: {example.org/a: b}}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        autojson json_t *t = read_text (texts[i], NULL);

        assert_non_null (t);
        assert_true (podtemplate_sets (t, "metadata.labels"));
        assert_false (podtemplate_sets (t, "metadata.annotations"));
        assert_false (podtemplate_sets (t, "spec.volumes.secret"));
    }
}

/* Each field that would break the gang or the rules, and the message. */
static const struct {
    const char *text, *path, *why;
} refusals[] = {
    { "spec: {nodeName: n1}", "spec.nodeName", "--constraint" },
    { "spec: {nodeSelector: {a: b}}", "spec.nodeSelector", "--constraint" },
    { "spec: {affinity: {}}", "spec.affinity", "--constraint" },
    { "spec: {tolerations: []}", "spec.tolerations", "queue" },
    { "spec: {topologySpreadConstraints: []}", "spec.topologySpreadConstraints",
      "--placement" },
    { "spec: {schedulerName: x}", "spec.schedulerName", "chooses the nodes" },
    { "spec: {schedulingGates: []}", "spec.schedulingGates", "chooses the nodes" },
    { "spec: {restartPolicy: Always}", "spec.restartPolicy", "--requeue" },
    { "spec: {activeDeadlineSeconds: 5}", "spec.activeDeadlineSeconds", "--time" },
    { "spec: {terminationGracePeriodSeconds: 5}", "spec.terminationGracePeriodSeconds",
      "--signal" },
    { "spec: {serviceAccountName: a}", "spec.serviceAccountName", "--service-account" },
    { "spec: {priorityClassName: a}", "spec.priorityClassName", "--priority-class" },
    { "spec: {priority: 5}", "spec.priority", "--priority-class" },
    { "spec: {runtimeClassName: a}", "spec.runtimeClassName", "--runtime-class" },
    { "spec: {hostNetwork: true}", "spec.hostNetwork", "--host-network" },
    { "spec: {hostPID: true}", "spec.hostPID", "administrator" },
    { "spec: {hostIPC: true}", "spec.hostIPC", "administrator" },
    { "spec: {securityContext: {runAsUser: 0}}", "spec.securityContext", "as you" },
    { "spec: {subdomain: x}", "spec.subdomain", "names the pods" },
    { "spec: {initContainers: []}", "spec.initContainers", "ending together" },
    { "spec: {dnsPolicy: None}", "spec.dnsPolicy", "by name" },
    { "spec: {dnsConfig: {nameservers: [1.1.1.1]}}", "spec.dnsConfig.nameservers",
      "by name" },
    { "spec: {dnsConfig: {searches: [[a]]}}", "spec.dnsConfig.searches[0]", "mapping" },
    { "spec: {what: 1}", "spec.what", "may not have this field" },
    { "spec: {containers: [{name: job, image: a}]}", "spec.containers[0].image",
      "--image" },
    { "spec: {containers: [{name: job, command: [a]}]}", "spec.containers[0].command",
      "agent" },
    { "spec: {containers: [{name: job, args: [a]}]}", "spec.containers[0].args",
      "agent" },
    { "spec: {containers: [{name: job, env: []}]}", "spec.containers[0].env",
      "--export" },
    { "spec: {containers: [{name: job, resources: {}}]}", "spec.containers[0].resources",
      "-c, --mem" },
    { "spec: {containers: [{name: job, securityContext: {privileged: true}}]}",
      "spec.containers[0].securityContext", "as you" },
    { "spec: {containers: [{name: job, lifecycle: {}}]}", "spec.containers[0].lifecycle",
      "together" },
    { "spec: {containers: [{name: mine}]}", "spec.containers[0].name", "expected 'job'" },
    { "spec: {containers: [{name: job}, {name: job}]}", "spec.containers", "once" },
    { "spec: {containers: {}}", "spec.containers", "list" },
    { "spec: {volumes: [{name: a, hostPath: {path: /}}]}", "spec.volumes[0].hostPath",
      "--volume" },
    { "spec: {volumes: [{name: a, persistentVolumeClaim: {}}]}",
      "spec.volumes[0].persistentVolumeClaim", "--volume" },
    { "spec: {volumes: [{name: a, emptyDir: {medium: Memory}}]}",
      "spec.volumes[0].emptyDir.medium", "--shm-size" },
    { "spec: {volumes: [{name: a, secret: {secretName: fluxq-c-1-0}}]}",
      "spec.volumes[0].secret.secretName", "objects of jobs" },
    { "spec: {volumes: [{name: a, configMap: {name: fluxq-c-1-0}}]}",
      "spec.volumes[0].configMap.name", "objects of jobs" },
    { "spec: {volumes: [{name: a, projected: {sources: [{secret: {name: "
      "fluxq-x}}]}}]}",
      "spec.volumes[0].projected.sources[0].secret.name", "objects of jobs" },
    { "spec: {volumes: [{name: a, projected: {sources: [{serviceAccountToken: "
      "{}}]}}]}",
      "spec.volumes[0].projected.sources[0].serviceAccountToken", "as you" },
    { "spec: {volumes: [{name: a, emptyDir: {}, secret: {secretName: a}}]}",
      "spec.volumes[0]", "one source" },
    { "spec: {volumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]}",
      "spec.volumes[1]", "twice" },
    { "spec: {volumes: [{name: a, emptyDir: {sizeLimit: [1]}}]}",
      "spec.volumes[0].emptyDir.sizeLimit", "expected a text" },
    { "spec: {containers: [{name: job, volumeMounts: [{name: a, mountPath: /a}]}]}",
      "spec.containers[0].volumeMounts[0]", "no volume" },
    { "metadata: {name: a}", "metadata.name", "names the pods" },
    { "metadata: {namespace: a}", "metadata.namespace", "queue" },
    { "metadata: {ownerReferences: []}", "metadata.ownerReferences", "belong" },
    { "metadata: {finalizers: [a]}", "metadata.finalizers", "nodes" },
    { "metadata: {labels: {app: a}}", "metadata.labels.app", "prefix of your own" },
    { "metadata: {labels: {fluxq.io/job-id: '1'}}", "metadata.labels.fluxq.io/job-id",
      "prefix of your own" },
    { "metadata: {labels: {x.fluxq.io/y: '1'}}", "metadata.labels.x.fluxq.io/y", "own" },
    { "metadata: {labels: {batch.kubernetes.io/job-name: x}}",
      "metadata.labels.batch.kubernetes.io/job-name", "own" },
    { "metadata: {annotations: {container.seccomp.k8s.io/a: x}}",
      "metadata.annotations.container.seccomp.k8s.io/a", "own" },
    { "metadata: {labels: {example.org/a: 1}}", "metadata.labels.example.org/a",
      "in quotes" },
    { "status: {}", "status", "not part" },
    { "kind: Deployment", "kind", "may not have" },
};

static void test_refused (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (refusals); i++) {
        struct error err = { 0 };
        char start[160];
        json_t *t = read_text (refusals[i].text, &err);

        snprintf (start, sizeof (start), "--pod-template: %s: ", refusals[i].path);
        if (t || strncmp (err.text, start, strlen (start)) != 0
            || !strstr (err.text, refusals[i].why))
            fail_msg ("%s: %s", refusals[i].text, t ? "accepted" : err.text);
    }
}

static void test_file (void **state)
{
    struct error err = { 0 };
    autofree char *large = malloc (PODTEMPLATE_MAX + 200);

    (void)state;
    memset (large, ' ', PODTEMPLATE_MAX + 100);
    large[PODTEMPLATE_MAX + 100] = '\0';
    assert_null (read_text (large, &err));
    assert_non_null (strstr (err.text, "64 KiB"));
    assert_null (read_text ("", &err));
    assert_null (read_text ("[1]", &err));
    assert_null (read_text ("a: [", &err));
    assert_non_null (strstr (err.text, path)); /* line and column */
    assert_null (podtemplate_read ("/nowhere/pod.yaml", "--pod-template", &err));
    assert_null (podtemplate_read ("/tmp", "--pod-template", &err));
    unlink (path);
    assert_int_equal (mkfifo (path, 0600), 0); /* no writer: the read must not hang */
    assert_null (podtemplate_read (path, "--pod-template", &err));
    assert_non_null (strstr (err.text, "not a file"));
}

/* Values that no file could have: a jobspec may contain anything there. */
static void test_hostile (void **state)
{
    autojson json_t *deep = json_object (), *many = json_object ();
    json_t *at = deep;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        json_t *next = json_object ();

        json_object_set_new (at, "spec", next);
        at = next;
    }
    assert_true (podtemplate_check (deep, "x", NULL) < 0);
    for (int i = 0; i < 1000; i++) {
        char key[32];

        snprintf (key, sizeof (key), "example.org/%d", i);
        json_object_set_new (many, key, json_string ("x"));
    }
    autojson json_t *labels = json_pack ("{s:{s:O}}", "metadata", "labels", many);
    assert_true (podtemplate_check (labels, "x", NULL) < 0);
    assert_true (podtemplate_check (NULL, "x", NULL) < 0);
    autojson json_t *wrong = json_pack ("{s:[i]}", "spec", 1);
    assert_true (podtemplate_check (wrong, "x", NULL) < 0);
    autojson json_t *long_text = json_pack ("{s:{s:{s:o}}}", "metadata", "annotations",
                                            "example.org/a", json_stringn ("", 0));
    autofree char *big = malloc (PODTEMPLATE_MAX + 1);
    memset (big, 'x', PODTEMPLATE_MAX);
    big[PODTEMPLATE_MAX] = '\0';
    json_object_set_new (
        json_object_get (json_object_get (long_text, "metadata"), "annotations"),
        "example.org/a", json_string (big));
    assert_true (podtemplate_check (long_text, "x", NULL) < 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_good, setup, teardown),
        cmocka_unit_test_setup_teardown (test_forms, setup, teardown),
        cmocka_unit_test_setup_teardown (test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown (test_file, setup, teardown),
        cmocka_unit_test (test_hostile),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
