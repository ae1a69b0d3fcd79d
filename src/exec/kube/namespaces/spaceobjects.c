/* spaceobjects.c - see spaceobjects.h */
#include "exec/kube/namespaces/spaceobjects.h"

#include <stdio.h>
#include <string.h>

#include "exec/kube/core/names.h"
#include "kube/object.h"
#include "protocol/agent_api.h"

#define CORE "/api/v1/namespaces/"
#define NETWORKING "/apis/networking.k8s.io/v1/namespaces/"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/"
#define ENFORCE "pod-security.kubernetes.io/enforce"

static json_t *our_labels (const struct space_source *src)
{
    return json_pack ("{s:s s:s}", LABEL_MANAGED, "fluxq", LABEL_CLUSTER, src->cluster);
}

static void uid_text (const struct space_source *src, char ret[24])
{
    snprintf (ret, 24, "%ju", (uintmax_t)src->uid);
}

json_t *space_namespace (const struct space_source *src)
{
    json_t *labels = our_labels (src);
    json_t *more = json_object_get (src->set, "namespace-labels");
    char uid[24];
    int rc = json_object_set_new (
        labels, ENFORCE, json_string (src->restricted ? "restricted" : "baseline"));

    if (more)
        rc |= json_object_update (labels, more);
    uid_text (src, uid);
    if (src->is_users)
        rc |= json_object_set_new (labels, LABEL_UID, json_string (uid));
    json_t *meta = json_pack ("{s:s s:o}", "name", src->name, "labels", labels);
    if (src->is_users && src->user)
        rc |= json_object_set_new (meta, "annotations",
                                   json_pack ("{s:s}", LABEL_USER, src->user));
    json_t *o = json_pack ("{s:s s:s s:o}", "apiVersion", "v1", "kind", "Namespace",
                           "metadata", meta);
    if (rc < 0) {
        json_decref (o);
        return NULL;
    }
    return o;
}

/* Adds an object to make; takes the spec or other content over. */
static int add (json_t *list, const struct space_source *src, const char *group,
                const char *collection, const char *version, const char *kind,
                const char *name, const char *field, json_t *content)
{
    char path[512];

    snprintf (path, sizeof (path), "%s%s/%s", group, src->name, collection);
    return json_array_append_new (
        list,
        json_pack ("{s:s s:{s:s s:s s:{s:s s:s s:o} s:o}}", "path", path, "object",
                   "apiVersion", version, "kind", kind, "metadata", "name", name,
                   "namespace", src->name, "labels", our_labels (src), field, content));
}

/* The policy of etc/kubernetes/networkpolicy.yaml. */
static json_t *default_policy (void)
{
    json_t *pods =
        json_pack ("{s:{s:s} s:[{s:s s:s}]}", "matchLabels", LABEL_MANAGED, "fluxq",
                   "matchExpressions", "key", LABEL_JOB, "operator", "Exists");

    return json_pack (
        "{s:o s:[s] s:[{s:[{s:{s:s}} {s:{s:s}}] s:[{s:s s:i}]}]}", "podSelector", pods,
        "policyTypes", "Ingress", "ingress", "from", "ipBlock", "cidr", "0.0.0.0/0",
        "ipBlock", "cidr", "::/0", "ports", "protocol", "TCP", "port", AGENT_PORT);
}

static int add_policies (json_t *list, const struct space_source *src)
{
    const json_t *wanted = json_object_get (src->set, "network-policy");
    json_t *spec;
    char name[32] = "fluxq-jobs";
    size_t i;
    int rc = 0;

    if (json_is_false (wanted))
        return 0;
    autojson json_t *specs = json_is_array (wanted)
                                 ? json_incref ((json_t *)wanted)
                                 : json_pack ("[o]", default_policy ());
    json_array_foreach (specs, i, spec) {
        if (i > 0)
            snprintf (name, sizeof (name), "fluxq-jobs-%zu", i + 1);
        rc |= add (list, src, NETWORKING, "networkpolicies", "networking.k8s.io/v1",
                   "NetworkPolicy", name, "spec", json_incref (spec));
    }
    return rc;
}

static int add_binding (json_t *list, const struct space_source *src, const char *role)
{
    static const char group[] = "rbac.authorization.k8s.io";
    json_t *ref = json_pack ("{s:s s:s s:s}", "apiGroup", group, "kind", "ClusterRole",
                             "name", role);
    json_t *subjects = json_pack ("[{s:s s:s s:s}]", "apiGroup", group, "kind", "User",
                                  "name", src->subject);
    int rc = add (list, src, RBAC, "rolebindings", "rbac.authorization.k8s.io/v1",
                  "RoleBinding", role, "roleRef", ref);
    json_t *last = json_array_get (list, json_array_size (list) - 1);

    return rc
           | json_object_set_new (json_object_get (last, "object"), "subjects", subjects);
}

json_t *space_objects (const struct space_source *src)
{
    json_t *quota = json_object_get (src->set, "quota"), *list = json_array ();
    json_t *limits = json_object_get (src->set, "limits");
    const char *role = json_string_value (json_object_get (src->set, "namespace-role"));
    int rc = list ? 0 : -1;

    if (quota)
        rc |= add (list, src, CORE, "resourcequotas", "v1", "ResourceQuota", SPACE_QUOTA,
                   "spec", json_incref (quota));
    if (limits)
        rc |= add (list, src, CORE, "limitranges", "v1", "LimitRange", "fluxq", "spec",
                   json_pack ("{s:O}", "limits", limits));
    rc |= add_policies (list, src);
    if (role && src->subject)
        rc |= add_binding (list, src, role);
    if (rc < 0) {
        json_decref (list);
        return NULL;
    }
    return list;
}

bool space_is_ours (const char *cluster, const json_t *namespace_)
{
    return strcmp (kube_label (namespace_, LABEL_MANAGED), "fluxq") == 0
           && strcmp (kube_label (namespace_, LABEL_CLUSTER), cluster) == 0;
}

const char *space_refusal (const struct space_source *src, const json_t *namespace_,
                           bool literal)
{
    json_t *meta = json_object_get (namespace_, "metadata");
    const char *of = kube_label (namespace_, LABEL_UID);
    char uid[24];

    uid_text (src, uid);
    if (json_object_get (meta, "deletionTimestamp"))
        return "it is being deleted";
    if (literal)
        return NULL;
    if (!space_is_ours (src->cluster, namespace_))
        return "it exists, but not for fluxq: it lacks the labels "
               "app.kubernetes.io/managed-by=fluxq and fluxq.io/cluster of this broker";
    if (src->is_users && !of[0])
        return "it exists, but its label fluxq.io/uid names no user";
    if (strcmp (of, src->is_users ? uid : "") != 0)
        return "it belongs to another user (label fluxq.io/uid)";
    return NULL;
}
