/* endpointslice.c - see endpointslice.h */
#include "exec/kube/make/endpointslice.h"

#include "exec/kube/make/rankname.h"

uint32_t endpointslice_parts (uint32_t nranks)
{
    return nranks < 2 ? 0 : (nranks - 1) / ENDPOINTSLICE_MAX + 1;
}

void endpointslice_name (char ret[ENDPOINTSLICE_NAME_MAX], const char *name,
                         uint32_t part)
{
    if (part == 0)
        snprintf (ret, ENDPOINTSLICE_NAME_MAX, "%s", name);
    else
        snprintf (ret, ENDPOINTSLICE_NAME_MAX, "%s-%u", name, part);
}

/* Ready from the beginning, because the ranks become ready only after they find each
 * other. */
static json_t *endpoint_json (const struct object_source *src, const struct endpoint *e,
                              uint32_t rank)
{
    char host[RANKNAME_LABEL_MAX];

    rankname_label (src, rank, host);
    return json_pack ("{s:[s] s:s s:s s:{s:b} s:{s:s s:s s:s}}", "addresses", e->address,
                      "hostname", host, "nodeName", e->node, "conditions", "ready", 1,
                      "targetRef", "kind", "Pod", "namespace", src->namespace_, "name",
                      e->pod);
}

static json_t *metadata (const struct object_source *src, const char *uid, uint32_t part)
{
    char name[ENDPOINTSLICE_NAME_MAX];
    json_t *meta = object_metadata (src, uid);
    json_t *more = json_pack ("{s:s s:s}", "kubernetes.io/service-name", src->name,
                              "endpointslice.kubernetes.io/managed-by", "fluxq");

    endpointslice_name (name, src->name, part);
    if (json_object_update_new (json_object_get (meta, "labels"), more) == 0
        && json_object_set_new (meta, "name", json_string (name)) == 0)
        return meta;
    json_decref (meta);
    return NULL;
}

json_t *endpointslice_make (const struct object_source *src, const char *uid,
                            uint32_t part, const struct endpoint *all, uint32_t nranks)
{
    uint32_t first = part * ENDPOINTSLICE_MAX;
    uint32_t end = MIN (nranks, first + ENDPOINTSLICE_MAX);
    bool ipv6 = strchr (all[first].address, ':') != NULL;
    json_t *endpoints = json_array ();
    int rc = endpoints ? 0 : -1;

    for (uint32_t r = first; r < end; r++)
        rc |= json_array_append_new (endpoints, endpoint_json (src, &all[r], r));
    if (rc < 0) {
        json_decref (endpoints);
        return NULL;
    }
    return json_pack ("{s:s s:s s:o s:s s:o s:[{s:s s:i}]}", "apiVersion",
                      "discovery.k8s.io/v1", "kind", "EndpointSlice", "metadata",
                      metadata (src, uid, part), "addressType", ipv6 ? "IPv6" : "IPv4",
                      "endpoints", endpoints, "ports", "name", "agent", "port",
                      AGENT_PORT);
}
