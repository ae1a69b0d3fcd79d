/* fuzz_kube_objects.c - any JSON as each object that the executor for Kubernetes reads: pods,
 * nodes, Jobs of others, NUMA zones, requests for nodes, leases
 *
 * Parser: exec/kube/core/podview.c exec/kube/core/podsize.c exec/kube/core/gres.c
 * Parser: exec/kube/cluster/nodeinfo.c exec/kube/cluster/admit.c
 * Parser: exec/kube/adopt/adoptview.c exec/kube/adopt/adoptspec.c
 * Parser: exec/kube/topology/zoneobject.c exec/kube/topology/zonerule.c
 * Parser: exec/kube/topology/podprint.c
 */
#include "fuzz_json.h"

#include "common/json.h"
#include "exec/kube/adopt/adoptspec.h"
#include "exec/kube/adopt/adoptview.h"
#include "exec/kube/cluster/admit.h"
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/core/knode.h"
#include "exec/kube/core/podsize.h"
#include "exec/kube/core/podview.h"
#include "exec/kube/lease.h"
#include "exec/kube/needs/needobject.h"
#include "exec/kube/topology/zonerule.h"
#include "jobspec/jobspec.h"

#define GPU "nvidia.com/gpu"

static bool is_line (const char *text)
{
    return !strpbrk (text, "\n\r\033");
}

static void try_pod (const json_t *o)
{
    struct podview v;
    struct podsize s = podsize_of (o, GPU), twice = podsize_add (s, s);
    struct gres_list l = { 0 };

    podview_read (o, &v);
    assert (v.index >= -1 && v.component >= -1 && v.trouble <= POD_FATAL);
    assert (is_line (v.text) && is_line (v.evicted) && is_line (v.admin_text));
    assert (is_line (v.finalizer));
    assert (s.cpu_milli >= 0 && s.memory >= 0 && s.gpus >= 0);
    assert (s.cpu_milli <= PODSIZE_MAX && s.memory <= PODSIZE_MAX);
    assert (podsize_sub (twice, s).memory == s.memory);
    assert (kube_gres_of_pod (o, GPU, &l) == 0 && l.n <= GRES_LIST_MAX);
    gres_release (&l);
}

/* A queue with a selector and tolerations takes no more nodes than one without the selector. */
static void try_admit (const json_t *o, const json_t *notices)
{
    static json_t *set, *less;
    char one[ADMIT_REASON] = "", two[ADMIT_REASON] = "", *names[3] = { NULL };

    if (!set) {
        set = json_pack ("{s:{s:s} s:[{s:s s:s} {s:s s:s s:s}]}", "node-selector", "zone",
                         "z1", "tolerations", "key", "x", "operator", "Exists", "key",
                         "a", "value", "b", "effect", "NoSchedule");
        less = json_pack ("{s:O}", "tolerations", json_object_get (set, "tolerations"));
    }
    assert (admit_node (set, notices, o, one) <= admit_node (less, notices, o, two));
    json_t *queues = json_pack ("{s:O s:O}", "a", set, "b", less);
    admit_queues (queues, notices, o, names, one);
    assert (is_line (one));
    for (char **n = names; *n; n++)
        free (*n);
    json_decref (queues);
}

static void try_node (const json_t *o)
{
    static struct exec x = { .cfg = { .gpu_resource = (char *)GPU } };
    struct knode n = { 0 };

    if (!x.cfg.gpu_type_labels) {
        x.cfg.gpu_type_labels = json_pack ("[s]", "nvidia.com/gpu.product");
        x.cfg.notice_taints = json_pack ("[s]", "autoscaler/going");
    }
    assert (node_read (&x, &n, o) == 0);
    assert (n.cores <= 65536 && n.gpus <= 1024 && n.memory_mib >= 0);
    assert (n.properties && is_line (n.reason) && n.gres.n <= GRES_LIST_MAX);
    try_admit (o, x.cfg.notice_taints);
    json_t *less = admit_extract (o);
    char one[ADMIT_REASON] = "", two[ADMIT_REASON] = "";
    assert (less);
    assert (admit_node (NULL, x.cfg.notice_taints, o, one)
            == admit_node (NULL, x.cfg.notice_taints, less, two));
    assert (!strcmp (one, two));
    json_decref (less);
    node_release (&n);
}

static void check_spec (json_t *spec, const struct error *err)
{
    struct error own = { 0 };

    if (!spec) {
        fuzz_check_refusal (err, "");
        return;
    }
    struct jobspec *js = jobspec_from_json (spec, &own);
    if (js)
        assert (js->script == NULL);
    else /* such as a time limit of years, which the broker reports to the owner */
        fuzz_check_refusal (&own, "jobspec");
    jobspec_destroy (js);
    json_decref (spec);
}

static void try_job (const json_t *o)
{
    const struct adoptspec_how how = { .gpu_resource = GPU, .fractional_cpu = true };
    struct adoptview v;
    struct error err = { 0 };

    adoptview_read (o, &v);
    assert (v.parallelism >= 0 && v.completions >= -1 && is_line (v.text));
    assert (v.active >= 0 && v.terminating >= 0 && v.succeeded >= 0);
    assert (adoptview_wanted (&v, 4, v.succeeded) <= 4);
    adoptview_is_end (adoptview_status (json_object_get (o, "metadata")));
    check_spec (adoptspec_of_job (o, &how, &err), &err);
    memset (&err, 0, sizeof (err));
    check_spec (adoptspec_of_pods (o, "ns", "group", 3, &how, &err), &err);
    adoptspec_check_pod (json_object_get (o, "spec"), &err);
}

static void try_zones (const json_t *o)
{
    struct zonepod pods[2] = { { .print = podprint_of ("ns", "a"), .running = true },
                               { .print = 2, .size = { 1500, 1 << 20, 1 } } };
    struct machine_zone left[MACHINE_ZONES_MAX];
    struct zonerule rule = { 0 };
    struct zoneobject z;
    struct error err = { 0 };

    if (zoneobject_read (o, GPU, &z, &err) < 0) {
        fuzz_check_refusal (&err, "");
        return;
    }
    assert (z.n <= MACHINE_ZONES_MAX && strlen (z.print) < PODPRINT_SIZE);
    zonerule_object (&rule, &z);
    assert (zonerule_look (&rule, pods, 2) == 0);
    assert (zonerule_left (&rule, pods, 2, left) <= MACHINE_ZONES_MAX);
}

static void try_others (const json_t *o)
{
    char text[EXEC_NEED_TEXT] = "", group[GROUP_NAME_MAX + 1] = "";
    uint64_t job = 0;
    unsigned attempt;

    assert (need_conditions (o, text) <= NEED_REFUSED && is_line (text));
    need_count (o);
    int rc = need_owner (json_object_get (o, "metadata"), "c", &job, group, &attempt);
    assert (rc == -EINVAL || (rc == 0 && job > 0 && group[0]));
    assert (lease_judge (o, "state", 11) <= LEASE_FOREIGN);
    assert (lease_judge (o, "state", 1) != LEASE_EXPIRED);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct error err = { 0 };
    autojson json_t *o = json_parse ((const char *)data, size, "x", &err);

    if (!o)
        return 0;
    try_pod (o);
    try_node (o);
    try_job (o);
    try_zones (o);
    try_others (o);
    return 0;
}
