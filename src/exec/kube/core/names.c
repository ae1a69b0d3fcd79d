/* names.c - see names.h */
#include "exec/kube/core/names.h"

#include <math.h>

#include "common/sha256.h"
#include "jobspec/attributes/base64.h"

const struct kube_kind kube_kinds[KUBE_KINDS] = {
    { PATH_MINICLUSTER, "miniclusters", "?propagationPolicy=Background" },
    { PATH_BATCH, "jobs", "?propagationPolicy=Background" },
    { PATH_CORE, "configmaps", "" },
    { PATH_CORE, "secrets", "" },
    { PATH_CORE, "services", "" },
    { PATH_DISCOVERY, "endpointslices", "" },
    { PATH_CORE, "pods", "" },
};

void object_name (char ret[OBJECT_NAME_MAX], const char *cluster, uint64_t id,
                  unsigned attempt)
{
    snprintf (ret, OBJECT_NAME_MAX, "fluxq-%s-%ju-%u", cluster, (uintmax_t)id, attempt);
}

void object_part_name (char ret[OBJECT_NAME_MAX], const char *name, uint32_t component)
{
    if (component == 0)
        snprintf (ret, OBJECT_NAME_MAX, "%s", name);
    else
        snprintf (ret, OBJECT_NAME_MAX, "%.50s-c%u", name, (unsigned)component);
}

bool object_is_part (const char *object, const char *name)
{
    size_t len = strlen (name);

    if (strncmp (object, name, len) != 0)
        return false;
    object += len;
    return !*object
           || (strncmp (object, "-c", 2) == 0 && object[2]
               && !object[2 + strspn (object + 2, "0123456789")]);
}

void object_submitted (const struct exec_job *job, char ret[OBJECT_SUBMITTED_MAX])
{
    int64_t us = (int64_t)llround (job->t_submit * 1e6);

    snprintf (ret, OBJECT_SUBMITTED_MAX, "%jd.%06jd", (intmax_t)(us / 1000000),
              (intmax_t)(us % 1000000));
}

bool object_is_anothers (const struct exec_job *job, const char *submitted)
{
    char own[OBJECT_SUBMITTED_MAX];

    object_submitted (job, own);
    return submitted[0] && strcmp (submitted, own) != 0;
}

json_t *object_bytes (const void *data, size_t len)
{
    char *text = malloc (BASE64_ENCODED (len) + 1);

    if (!text)
        return NULL;
    base64_encode (data, len, text);
    json_t *v = json_string (text);
    secret_wipe (text, strlen (text));
    free (text);
    return v;
}
