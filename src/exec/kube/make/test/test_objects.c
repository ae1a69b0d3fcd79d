/* The objects of a job: names, owners, security, sizes, and the settings that affect
 * them. */
#include "exec/kube/make/endpointslice.h"
#include "exec/kube/make/objects.h"

#include "exec/kube/make/jobstatus.h"
#include "exec/kube/make/podobject.h"
#include "exec/kube/make/rankname.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct exec_job job;
static struct kube_config cfg;
static struct object_source src;

/* "a.b.0.c" of an object; NULL if it does not exist. */
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

static struct rset *make_rset (size_t n, const uint32_t *cores, int64_t mib)
{
    struct rset *r = calloc (1, sizeof (*r));

    r->ranks = calloc (n, sizeof (r->ranks[0]));
    r->nranks = n;
    for (size_t i = 0; i < n; i++) {
        r->ranks[i].node = strdup ("n");
        r->ranks[i].cores = idset_create ();
        r->ranks[i].gpus = idset_create ();
        idset_add_range (r->ranks[i].cores, 0, cores[i] - 1);
        r->ranks[i].memory_mib = mib;
        r->ranks[i].slots = 1;
    }
    return r;
}

static int setup (void **state)
{
    static const char spec[] = "{\"version\":1,\"resources\":[{\"type\":\"slot\","
                               "\"count\":1,\"label\":\"t\",\"with\":[{\"type\":"
                               "\"core\",\"count\":1}]}],\"tasks\":[{\"command\":["
                               "\"true\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
                               "\"attributes\":{\"system\":{\"duration\":0,\"fluxq\":{"
                               "\"image\":\"busybox:1\"}}}}";
    static gid_t groups[] = { 100, 200 };
    struct error err = { 0 };

    (void)state;
    job = (struct exec_job){ .id = 12,
                             .attempt = 1,
                             .t_submit = 1795467000.25,
                             .name = "hello",
                             .time_limit = 90,
                             .grace = 10,
                             .user = { .uid = 1000,
                                       .gid = 100,
                                       .groups = groups,
                                       .ngroups = 2,
                                       .name = (char *)"-ann@site-" } };
    job.js = jobspec_parse (spec, strlen (spec), &err);
    if (!job.js || kube_config_read (NULL, NULL, &cfg, &err) < 0)
        return -1;
    src = (struct object_source){ .cfg = &cfg,
                                  .job = &job,
                                  .cluster = "c1",
                                  .namespace_ = "ns",
                                  .name = "fluxq-c1-12-1",
                                  .agent = "fluxq-agent-c1-abc" };
    job.r = make_rset (2, (uint32_t[]){ 4, 4 }, 512);
    return 0;
}

static int teardown (void **state)
{
    (void)state;
    rset_destroy ((struct rset *)job.r);
    jobspec_destroy ((struct jobspec *)job.js);
    kube_config_release (&cfg);
    return 0;
}

/* The script has permissions of its own, and each file is in the pod's volume. */
static void test_input (void **state)
{
    struct inputfile v[] = { { .name = "input-0", .data = (char *)"abc", .len = 3 },
                             { .name = "input-1" } };
    const struct inputfiles inputs = { .v = v, .n = 2 };

    (void)state;
    src.inputs = &inputs;
    job.mounts = json_pack ("[{s:s s:{s:{}}}]", "path", "/home", "volume", "emptyDir");
    json_t *job_object = object_job (&src);
    json_t *map = object_configmap (&src, "u", "l", 1);
    json_t *items = at (job_object, "spec|template|spec|volumes|1|configMap|items");
    assert_int_equal (json_array_size (items), 6); /* with passwd and group */
    assert_string_equal (text_at (items, "2|path"), "input-0");
    assert_int_equal (json_integer_value (at (items, "2|mode")), 0444);
    assert_string_equal (text_at (map, "binaryData|input-0"), "YWJj");
    assert_string_equal (text_at (map, "binaryData|input-1"), "");
    assert_string_equal (text_at (job_object, "spec|template|spec|volumes|4|name"),
                         "mount-0");
    assert_string_equal (
        text_at (job_object, "spec|template|spec|containers|0|volumeMounts|4|mountPath"),
        "/home");
    assert_null (
        at (job_object, "spec|template|spec|volumes|5")); /* no directory of its own */
    json_decref (job_object);
    src.directory = "/scratch/run";
    job_object = object_job (&src);
    assert_non_null (at (job_object, "spec|template|spec|volumes|5|emptyDir"));
    assert_string_equal (
        text_at (job_object, "spec|template|spec|containers|0|volumeMounts|5|mountPath"),
        "/scratch/run");
    json_decref (job_object);
    json_decref (map);
    json_decref (job.mounts);
    job.mounts = NULL;
    src.directory = NULL;
    src.inputs = NULL;
}

/* Fails if, after the state directory was restored or made again, a job uses objects of
 * an earlier job with the same id. */
static void test_submitted (void **state)
{
    struct exec_job other = job;
    char text[OBJECT_SUBMITTED_MAX];
    json_t *o = object_job (&src);
    const char *label = text_at (o, "metadata|labels|fluxq.io/submitted");

    (void)state;
    assert_string_equal (label, "1795467000.250000");
    assert_string_equal (text_at (o, "spec|template|metadata|labels|fluxq.io/submitted"),
                         label);
    assert_false (object_is_anothers (&job, label));
    assert_false (object_is_anothers (&job, "")); /* from an older broker */
    other.t_submit = 1795467000.25001;
    assert_true (object_is_anothers (&other, label));
    other.t_submit = 1e12; /* a wrong clock */
    object_submitted (&other, text);
    assert_false (object_is_anothers (&other, text));
    json_decref (o);
}

static void test_job (void **state)
{
    json_t *o = object_job (&src);
    json_t *pod = at (o, "spec|template|spec");
    json_t *c = at (pod, "containers|0");

    (void)state;
    assert_non_null (o);
    assert_string_equal (text_at (o, "metadata|name"), "fluxq-c1-12-1");
    assert_string_equal (text_at (o, "metadata|labels|fluxq.io/job-id"), "12");
    assert_string_equal (text_at (o, "spec|template|metadata|labels|fluxq.io/attempt"),
                         "1");
    assert_string_equal (text_at (o, "metadata|labels|fluxq.io/user"), "ann_site");
    assert_string_equal (text_at (o, "spec|completionMode"), "Indexed");
    assert_int_equal (json_integer_value (at (o, "spec|completions")), 2);
    assert_int_equal (json_integer_value (at (o, "spec|parallelism")), 2);
    assert_int_equal (json_integer_value (at (o, "spec|backoffLimit")), 0);
    assert_string_equal (
        text_at (o, "spec|podFailurePolicy|rules|0|onPodConditions|0|type"),
        "DisruptionTarget");
    /* The clock of Kubernetes does not know an extended limit, so it must not end the
     * job. */
    assert_null (at (o, "spec|activeDeadlineSeconds"));
    assert_string_equal (text_at (pod, "schedulerName"), "fluxq");
    assert_string_equal (text_at (pod, "subdomain"), "fluxq-c1-12-1");
    assert_true (json_is_false (at (pod, "automountServiceAccountToken")));
    assert_int_equal (json_integer_value (at (pod, "securityContext|runAsUser")), 1000);
    assert_int_equal (
        json_integer_value (at (pod, "securityContext|supplementalGroups|1")), 200);
    assert_true (json_is_true (at (pod, "securityContext|runAsNonRoot")));
    assert_string_equal (text_at (c, "securityContext|capabilities|drop|0"), "ALL");
    assert_true (json_is_false (at (c, "securityContext|allowPrivilegeEscalation")));
    assert_string_equal (text_at (c, "resources|requests|cpu"), "4");
    assert_string_equal (text_at (c, "resources|limits|memory"), "512Mi");
    assert_null (at (c, "resources|limits|cpu"));
    assert_string_equal (text_at (c, "image"), "busybox:1");
    json_decref (o);
}

/* With the administrator's image and program, as the job's user, and without data of
 * the job. */
static void test_prolog_and_epilog (void **state)
{
    struct strbuf prolog = { .buf = (char *)"#!/bin/sh\n", .len = 10 };
    char admin_image[] = "admin:1";
    json_t *o = object_job (&src);

    (void)state;
    assert_null (at (o, "spec|template|spec|initContainers"));
    int grace = (int)json_integer_value (
        at (o, "spec|template|spec|terminationGracePeriodSeconds"));
    json_decref (o);
    job.prolog = "/etc/prolog";
    job.epilog = "/etc/epilog";
    job.admin_timeout = 60;
    cfg.admin_image = admin_image;
    o = object_job (&src);
    json_t *spec = at (o, "spec|template|spec");
    assert_int_equal (json_array_size (at (spec, "initContainers")), 2);
    assert_string_equal (text_at (spec, "initContainers|0|name"), "epilog");
    assert_string_equal (text_at (spec, "initContainers|0|restartPolicy"), "Always");
    assert_string_equal (text_at (spec, "initContainers|1|name"), "prolog");
    assert_string_equal (text_at (spec, "initContainers|1|restartPolicy"), "");
    assert_string_equal (text_at (spec, "initContainers|1|image"), "admin:1");
    assert_string_equal (text_at (spec, "initContainers|1|command|1"), "admin-run");
    assert_string_equal (text_at (spec, "initContainers|1|command|3"), POD_JOB "/prolog");
    assert_true (json_is_false (
        at (spec, "initContainers|1|securityContext|allowPrivilegeEscalation")));
    assert_int_equal (json_array_size (at (spec, "initContainers|1|volumeMounts")), 2);
    assert_int_equal (json_integer_value (at (spec, "terminationGracePeriodSeconds")),
                      grace + 60);
    assert_string_equal (text_at (spec, "volumes|1|configMap|items|2|path"), "prolog");
    assert_string_equal (text_at (spec, "volumes|1|configMap|items|3|path"), "epilog");
    json_decref (o);
    src.prolog = &prolog;
    o = object_configmap (&src, "u", "l", 1);
    assert_string_equal (text_at (o, "binaryData|prolog"), "IyEvYmluL3NoCg==");
    assert_null (at (o, "binaryData|epilog"));
    json_decref (o);
    src.prolog = NULL;
    job.prolog = job.epilog = NULL;
    cfg.admin_image = NULL;
}

/* The agent from an image: its container runs before the administrator's, and only
 * it may write there. */
static void test_agent_image (void **state)
{
    char image[] = "fluxq:1", policy[] = "Never";

    (void)state;
    cfg.agent_image = image;
    cfg.pull_policy = policy;
    src.agent_digest = "0123abcd";
    job.prolog = "/etc/prolog";
    job.epilog = "/etc/epilog";
    json_t *o = object_job (&src);
    json_t *spec = at (o, "spec|template|spec");
    assert_int_equal (json_array_size (at (spec, "initContainers")), 3);
    assert_string_equal (text_at (spec, "initContainers|0|name"), "agent");
    assert_string_equal (text_at (spec, "initContainers|0|image"), "fluxq:1");
    assert_string_equal (text_at (spec, "initContainers|0|imagePullPolicy"), "Never");
    assert_string_equal (text_at (spec, "initContainers|0|command|0"), IMAGE_AGENT);
    assert_string_equal (text_at (spec, "initContainers|0|command|2"), POD_BIN);
    assert_string_equal (text_at (spec, "initContainers|0|command|3"), "0123abcd");
    assert_true (json_is_false (
        at (spec, "initContainers|0|securityContext|allowPrivilegeEscalation")));
    assert_string_equal (text_at (spec, "initContainers|0|command|4"), POD_JOB "/script");
    assert_string_equal (text_at (spec, "initContainers|0|command|6"), POD_JOB "/epilog");
    assert_null (at (spec, "initContainers|0|volumeMounts|0|readOnly"));
    assert_string_equal (text_at (spec, "initContainers|1|name"), "epilog");
    assert_string_equal (text_at (spec, "volumes|0|name"), "bin");
    assert_true (json_is_object (at (spec, "volumes|0|emptyDir")));
    assert_null (at (spec, "volumes|0|configMap"));
    assert_string_equal (text_at (spec, "initContainers|1|command|3"), POD_BIN "/epilog");
    for (int i = 0; i < 4; i++) { /* no file of a ConfigMap may be executable */
        char path[64];

        snprintf (path, sizeof (path), "volumes|1|configMap|items|%d|mode", i);
        assert_int_equal (json_integer_value (at (spec, path)), 0444);
    }
    assert_true (json_is_true (at (spec, "containers|0|volumeMounts|0|readOnly")));
    json_decref (o);
    job.prolog = job.epilog = NULL;
    cfg.agent_image = cfg.pull_policy = NULL;
}

static void test_root_and_baseline (void **state)
{
    json_t *o;

    (void)state;
    cfg.restricted = false;
    job.user.uid = 0;
    job.time_limit = 0;
    o = object_job (&src);
    assert_null (at (o, "spec|template|spec|securityContext|runAsNonRoot"));
    assert_null (at (o, "spec|template|spec|containers|0|securityContext"));
    json_decref (o);
    cfg.restricted = true;
    job.user.uid = 1000;
    job.time_limit = 90;
}

/* One template serves all ranks: more than the smallest share might not fit where a
 * rank is bound. */
static void test_request (void **state)
{
    struct rset *r = make_rset (3, (uint32_t[]){ 4, 2, 8 }, 0);
    struct pod_request q = podrequest_least (r);

    (void)state;
    assert_int_equal (q.cpu_milli, 2000);
    assert_int_equal (q.memory_mib, 0);
    rset_destroy (r);
}

/* Fractional CPUs are requested as such, and completely; nothing is rounded or
 * requested under fluxq's own name for them. */
static void test_parts (void **state)
{
    static struct jobspec_resource parts = { .type = (char *)GRES_CPU_MILLI };
    static struct jobspec js = { .resources = &parts, .nresources = 1 };
    const struct rset *two = job.r;
    const struct jobspec *js_was = job.js;
    struct rset *own = make_rset (2, (uint32_t[]){ 1, 1 }, 512);
    char text[PODREQUEST_CPU_MAX];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        idset_destroy (own->ranks[i].cores);
        own->ranks[i].cores = idset_create ();
        gres_set (&own->ranks[i].gres, GRES_CPU_MILLI, i ? 2000 : 500);
    }
    job.r = own;
    job.js = &js;
    src.managed_by = "fluxq.io/broker";
    json_t *o = object_job (&src);
    json_t *t = at (o, "spec|template|spec|containers|0|resources");
    struct pod_request ask = podrequest_of_rank (own, 1);
    json_t *pod = podobject_make (o, "uid-1", "fluxq-c1-12-1-1", "n1", 1, "node7", &ask,
                                  "nvidia.com/gpu");
    json_t *c = at (pod, "spec|containers|0|resources");

    assert_string_equal (text_at (t, "requests|cpu"), "500m");
    assert_string_equal (text_at (t, "limits|cpu"), "500m");
    assert_null (at (t, "requests|" GRES_CPU_MILLI));
    assert_string_equal (text_at (c, "requests|cpu"), "2");
    assert_string_equal (text_at (c, "limits|cpu"), "2");
    assert_null (at (c, "limits|" GRES_CPU_MILLI));
    assert_string_equal (podrequest_cpu (1250, text), "1250m");
    json_decref (pod);
    json_decref (o);
    job.r = two;
    job.js = js_was;
    src.managed_by = NULL;
    rset_destroy (own);
}

/* Temporary disk is requested, the template's smallest amount and in a pod that of its rank,
 * without a limit; a whole node's is not, unless the job names it. */
static void test_tmp_disk (void **state)
{
    static struct jobspec_resource disk = { .type = (char *)GRES_TMP_DISK };
    static struct jobspec js = { .resources = &disk, .nresources = 1 }, none;
    const struct rset *two = job.r;
    const struct jobspec *js_was = job.js;
    struct rset *own = make_rset (2, (uint32_t[]){ 1, 1 }, 512);

    (void)state;
    gres_set (&own->ranks[0].gres, GRES_TMP_DISK, 1024);
    gres_set (&own->ranks[1].gres, GRES_TMP_DISK, 3000);
    job.r = own;
    src.managed_by = "fluxq.io/broker";
    for (int named = 0; named < 2; named++) {
        job.js = named ? &js : &none;
        json_t *o = object_job (&src);
        json_t *t = at (o, "spec|template|spec|containers|0|resources");
        struct pod_request ask = podrequest_of_rank (own, 1);
        json_t *pod = podobject_make (o, "uid-1", "pod-1", "n1", 1, "node7", &ask,
                                      "nvidia.com/gpu");
        json_t *c = at (pod, "spec|containers|0|resources");

        if (named) {
            assert_string_equal (text_at (t, "requests|ephemeral-storage"), "1024Mi");
            assert_string_equal (text_at (c, "requests|ephemeral-storage"), "3000Mi");
        } else {
            assert_null (at (t, "requests|ephemeral-storage"));
            assert_null (at (c, "requests|ephemeral-storage"));
        }
        assert_null (at (t, "limits|ephemeral-storage"));
        assert_null (at (c, "limits|ephemeral-storage"));
        assert_null (at (c, "requests|" GRES_TMP_DISK));
        json_decref (pod);
        json_decref (o);
    }
    job.r = two;
    job.js = js_was;
    src.managed_by = NULL;
    rset_destroy (own);
}

/* A pod that the broker makes has the content that the Job controller would make from
 * the template, its node, and the resources of its own rank. */
static void test_pod (void **state)
{
    const struct rset *two = job.r;
    struct rset *own = make_rset (2, (uint32_t[]){ 2, 6 }, 512);

    (void)state;
    own->ranks[1].memory_mib = 700;
    job.r = own;
    src.managed_by = "fluxq.io/broker";
    json_t *o = object_job (&src);
    struct pod_request ask = podrequest_of_rank (own, 1);
    json_t *pod = podobject_make (o, "uid-1", "fluxq-c1-12-1-1", "n1", 1, "node7", &ask,
                                  "nvidia.com/gpu");
    json_t *c = at (pod, "spec|containers|0");

    assert_string_equal (text_at (o, "spec|managedBy"), "fluxq.io/broker");
    assert_string_equal (text_at (pod, "metadata|name"), "fluxq-c1-12-1-1");
    assert_string_equal (text_at (pod, "metadata|namespace"), "ns");
    assert_string_equal (text_at (pod, "spec|hostname"), "n1");
    assert_string_equal (text_at (pod, "spec|subdomain"), "fluxq-c1-12-1");
    assert_string_equal (text_at (pod, "spec|nodeName"), "node7");
    assert_string_equal (text_at (pod, "spec|restartPolicy"), "Never");
    assert_string_equal (text_at (pod, "metadata|labels|fluxq.io/job-id"), "12");
    assert_string_equal (text_at (pod, "metadata|labels|job-name"), "fluxq-c1-12-1");
    assert_string_equal (text_at (pod, "metadata|labels|controller-uid"), "uid-1");
    assert_string_equal (text_at (pod, "metadata|labels|batch.kubernetes.io/job-name"),
                         "fluxq-c1-12-1");
    assert_string_equal (
        text_at (pod, "metadata|labels|batch.kubernetes.io/controller-uid"), "uid-1");
    assert_string_equal (
        text_at (pod, "metadata|labels|batch.kubernetes.io/job-completion-index"), "1");
    assert_string_equal (
        text_at (pod, "metadata|annotations|batch.kubernetes.io/job-completion-index"),
        "1");
    assert_string_equal (text_at (pod, "metadata|ownerReferences|0|uid"), "uid-1");
    assert_true (json_is_true (at (pod, "metadata|ownerReferences|0|controller")));
    assert_true (
        json_is_true (at (pod, "metadata|ownerReferences|0|blockOwnerDeletion")));
    assert_null (at (pod, "metadata|finalizers"));
    assert_string_equal (text_at (c, "env|0|name"), "JOB_COMPLETION_INDEX");
    assert_string_equal (text_at (c, "env|0|value"), "1");
    assert_string_equal (text_at (c, "resources|requests|cpu"), "6");
    assert_string_equal (text_at (c, "resources|limits|memory"), "700Mi");
    /* and the template, which users may read, still has the smallest resources. */
    assert_string_equal (
        text_at (o, "spec|template|spec|containers|0|resources|requests|cpu"), "2");
    json_decref (pod);
    json_decref (o);
    src.managed_by = NULL;
    job.r = two;
    rset_destroy (own);
}

/* The conditions of the API server's checks of the status, see jobstatus.h. */
static void test_status (void **state)
{
    struct jobstatus_end end_of = {
        .ranks = 3, .made = 3, .reason = "exited", .text = ""
    };
    json_t *o = jobstatus_running ("2026-01-01T00:00:00Z", 3);

    (void)state;
    assert_int_equal (json_integer_value (at (o, "active")), 3);
    assert_int_equal (json_integer_value (at (o, "ready")), 3);
    assert_string_equal (text_at (o, "startTime"), "2026-01-01T00:00:00Z");
    json_decref (o);
    o = jobstatus_ended ("2026-01-01T00:00:00Z", 1767225605, &end_of);
    assert_string_equal (text_at (o, "conditions|0|type"), "SuccessCriteriaMet");
    assert_string_equal (text_at (o, "conditions|1|type"), "Complete");
    assert_string_equal (text_at (o, "completionTime"), "2026-01-01T00:00:05Z");
    assert_string_equal (text_at (o, "completedIndexes"), "0-2");
    assert_int_equal (json_integer_value (at (o, "succeeded")), 3);
    assert_int_equal (json_integer_value (at (o, "active")), 0);
    json_decref (o);
    end_of.ranks = end_of.made = 2; /* this clock is behind the server's */
    o = jobstatus_ended ("2026-01-01T00:00:09Z", 1767225605, &end_of);
    assert_string_equal (text_at (o, "completionTime"), "2026-01-01T00:00:09Z");
    assert_string_equal (text_at (o, "completedIndexes"), "0,1");
    json_decref (o);
    end_of.status = 3 << 8;
    o = jobstatus_ended ("2026-01-01T00:00:00Z", 1767225605, &end_of);
    assert_string_equal (text_at (o, "conditions|0|type"), "FailureTarget");
    assert_string_equal (text_at (o, "conditions|1|type"), "Failed");
    assert_string_equal (text_at (o, "conditions|1|reason"), "NonZeroExit");
    assert_string_equal (text_at (o, "conditions|1|message"), "exit status 3");
    assert_int_equal (json_integer_value (at (o, "failed")), 2);
    assert_null (at (o, "completionTime"));
    assert_null (at (o, "completedIndexes"));
    json_decref (o);
    end_of = (struct jobstatus_end){
        .ranks = 2, .made = 1, .start_failed = true, .reason = "", .text = "rank 1: no"
    };
    o = jobstatus_ended ("2026-01-01T00:00:00Z", 1767225605, &end_of);
    assert_string_equal (text_at (o, "conditions|1|reason"), "StartFailed");
    assert_string_equal (text_at (o, "conditions|1|message"), "rank 1: no");
    assert_int_equal (json_integer_value (at (o, "failed")), 1);
    json_decref (o);
}

static void test_owned (void **state)
{
    static const uint8_t key[AGENT_KEY_SIZE] = { 0xab };
    json_t *o = object_configmap (&src, "uid-1", "\xff\n", 2);

    (void)state;
    assert_string_equal (text_at (o, "metadata|ownerReferences|0|uid"), "uid-1");
    assert_true (json_is_true (at (o, "immutable")));
    assert_string_equal (text_at (o, "binaryData|launch"),
                         "/wo="); /* any byte survives */
    json_decref (o);
    o = object_secret (&src, "uid-1", key);
    assert_string_equal (text_at (o, "metadata|ownerReferences|0|kind"), "Job");
    assert_int_equal (strncmp (text_at (o, "data|key"), "YWIwMD", 6), 0); /* "ab00..." */
    json_decref (o);
    o = object_service (&src, "uid-1");
    assert_string_equal (text_at (o, "spec|clusterIP"), "None");
    assert_null (at (o, "spec|selector")); /* or controllers would write, too */
    json_decref (o);
    o = object_binding ("ns", "pod", "node7");
    assert_string_equal (text_at (o, "target|name"), "node7");
    json_decref (o);
}

static void test_endpointslice (void **state)
{
    enum { RANKS = 1002 };
    static struct endpoint all[RANKS];
    char pods[RANKS][16], name[ENDPOINTSLICE_NAME_MAX];
    json_t *o;

    (void)state;
    for (uint32_t r = 0; r < RANKS; r++) {
        snprintf (pods[r], sizeof (pods[r]), "pod-%u", r);
        all[r] = (struct endpoint){ r < ENDPOINTSLICE_MAX ? "10.0.0.1" : "fd00::7",
                                    pods[r], "node7" };
    }
    assert_int_equal (endpointslice_parts (1), 0);
    assert_int_equal (endpointslice_parts (2), 1);
    assert_int_equal (endpointslice_parts (1000), 1);
    assert_int_equal (endpointslice_parts (RANKS), 2);
    o = endpointslice_make (&src, "uid-1", 0, all, RANKS);
    assert_string_equal (text_at (o, "metadata|name"), src.name);
    assert_string_equal (text_at (o, "metadata|labels|kubernetes.io/service-name"),
                         src.name);
    assert_string_equal (text_at (o, "metadata|ownerReferences|0|uid"), "uid-1");
    assert_string_equal (text_at (o, "addressType"), "IPv4");
    assert_int_equal (json_array_size (at (o, "endpoints")), ENDPOINTSLICE_MAX);
    assert_string_equal (text_at (o, "endpoints|2|addresses|0"), "10.0.0.1");
    assert_string_equal (text_at (o, "endpoints|2|targetRef|name"), "pod-2");
    snprintf (name, sizeof (name), "%s-2", src.name);
    assert_string_equal (text_at (o, "endpoints|2|hostname"), name);
    json_decref (o);
    o = endpointslice_make (&src, "uid-1", 1, all, RANKS);
    snprintf (name, sizeof (name), "%s-1", src.name);
    assert_string_equal (text_at (o, "metadata|name"), name);
    assert_string_equal (text_at (o, "addressType"), "IPv6");
    assert_int_equal (json_array_size (at (o, "endpoints")), 2);
    snprintf (name, sizeof (name), "%s-1001", src.name);
    assert_string_equal (text_at (o, "endpoints|1|hostname"), name);
    json_decref (o);
}

/* The maker of the pods chooses the label. The whole name is the host name where the
 * kernel takes it, for each rank. */
static void test_rank_names (void **state)
{
    struct exec_job own = job;
    struct object_source s = src;
    char label[RANKNAME_LABEL_MAX], space[64];

    (void)state;
    s.job = &own;
    assert_true (rankname_wanted (&own));
    autofree char *controllers = rankname_pattern (&s);
    assert_string_equal (controllers,
                         "fluxq-c1-12-1-%r.fluxq-c1-12-1.ns.svc.cluster.local.");
    rankname_label (&s, 7, label);
    assert_string_equal (label, "fluxq-c1-12-1-7");
    assert_true (rankname_fits (&s));
    s.component = 1;
    assert_false (rankname_fits (&s));
    autojson json_t *old = object_job (&s);
    assert_false (rankname_is_short (old));
    s.short_names = true;
    autojson json_t *new = object_job (&s);
    assert_true (rankname_is_short (new));
    assert_true (rankname_fits (&s));
    autofree char *brokers = rankname_pattern (&s);
    assert_string_equal (brokers, "n%r.fluxq-c1-12-1.ns.svc.cluster.local.");
    rankname_label (&s, 7, label);
    assert_string_equal (label, "n7");
    /* "n1.fluxq-c1-12-1." and ".svc.cluster.local" have 35 characters. */
    snprintf (space, sizeof (space), "%029d", 0);
    s.namespace_ = space;
    assert_true (rankname_fits (&s));
    snprintf (space, sizeof (space), "%030d", 0);
    assert_false (rankname_fits (&s));
    own.r = make_rset (1, (uint32_t[]){ 4 }, 512);
    assert_false (rankname_wanted (&own));
    assert_false (rankname_fits (&s));
    rankname_label (&s, 0, label);
    assert_string_equal (label, "fluxq-c1-12-1-0");
    rset_destroy ((struct rset *)own.r);
}

static void test_host_name (void **state)
{
    struct object_source s = src;
    autojson json_t *pods = json_pack ("{s:b}", "host-network", 1);

    (void)state;
    s.short_names = true;
    json_t *o = object_template (&s);
    assert_true (json_is_true (at (o, "spec|setHostnameAsFQDN")));
    json_decref (o);
    s.namespace_ = "a-namespace-with-a-name-of-many-characters";
    o = object_template (&s);
    assert_null (at (o, "spec|setHostnameAsFQDN"));
    json_decref (o);
    s.namespace_ = "ns";
    s.pods = pods;
    o = object_template (&s);
    assert_true (json_is_true (at (o, "spec|hostNetwork")));
    assert_null (at (o, "spec|setHostnameAsFQDN"));
    json_decref (o);
}

/* -- settings -- */

static int read_config (const char *text, struct error *err)
{
    struct yaml_doc *doc = yaml_load (text, strlen (text), "test.yaml", err);
    struct kube_config c;
    int rc;

    assert_non_null (doc);
    rc = kube_config_read (doc, json_object_get (yaml_root (doc), "kube"), &c, err);
    if (rc == 0)
        kube_config_release (&c);
    yaml_destroy (doc);
    return rc;
}

static void test_config_refused (void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        { "kube:\n  imagee: x\n", "test.yaml:2:3: kube.imagee: unknown key" },
        { "kube: [1]\n", "expected a mapping" },
        { "kube: {security: none}\n", "restricted|baseline" },
        { "kube: {security: restrict}\n", "restricted|baseline" },
        { "kube: {grace: soon}\n", "duration" },
        { "kube: {grace: 0}\n", "from 1s" },
        { "kube: {start-timeout: 5m}\n", "outside of kube" },
        { "kube: {allow-root: 1}\n", "true or false" },
        { "kube: {tolerations: {a: b}}\n", "expected a list" },
        { "kube: {tolerations: [a]}\n", "kube.tolerations: entry 1" },
        { "kube: {node-selector: {a: 1}}\n", "node-selector.a" },
        { "kube: {image: ''}\n", "expected a string" },
        { "kube: {agent-delivery: ftp}\n", "configmap|image" },
        { "kube: {agent-delivery: image}\n", "needs kube.agent-image" },
        { "kube: {agent-image: 'fluxq:1'}\n", "needs agent-delivery: image" },
        { "kube: {agent-delivery: configmap, agent-image: a}\n",
          "1:35: kube.agent-image" },
        { "kube: {pods: me}\n", "kube.pods: 'me' is not one of auto|broker|controller" },
        { "kube: {request-rate: 0}\n", "kube.request-rate: expected a whole number" },
        { "kube:\n  request-burst: 1.5\n", "test.yaml:2:3: kube.request-burst" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        struct error err = { 0 };

        assert_true (read_config (cases[i].text, &err) < 0);
        assert_non_null (strstr (err.text, cases[i].word));
    }
    assert_int_equal (read_config ("kube:\n", NULL), 0);
    assert_int_equal (
        read_config ("kube: {agent-delivery: image, agent-image: 'fluxq:1'}\n", NULL), 0);
    assert_int_equal (read_config ("kube: {agent-delivery: configmap}\n", NULL), 0);
    assert_int_equal (read_config ("kube: {grace: 1m, security: baseline}\n", NULL), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_submitted),     cmocka_unit_test (test_job),
        cmocka_unit_test (test_input),         cmocka_unit_test (test_prolog_and_epilog),
        cmocka_unit_test (test_agent_image),   cmocka_unit_test (test_root_and_baseline),
        cmocka_unit_test (test_request),       cmocka_unit_test (test_parts),
        cmocka_unit_test (test_tmp_disk),      cmocka_unit_test (test_pod),
        cmocka_unit_test (test_status),        cmocka_unit_test (test_owned),
        cmocka_unit_test (test_endpointslice), cmocka_unit_test (test_rank_names),
        cmocka_unit_test (test_host_name),     cmocka_unit_test (test_config_refused),
    };

    return cmocka_run_group_tests (tests, setup, teardown);
}
