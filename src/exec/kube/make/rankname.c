/* rankname.c - see rankname.h */
#include "exec/kube/make/rankname.h"

#define HOST_NAME_LEN 64 /* as kubelet checks it: the kernel's __NEW_UTS_LEN */

bool rankname_wanted (const struct exec_job *job)
{
    return job->r->nranks > 1 || job->js->malleable;
}

static bool is_short (const struct object_source *src)
{
    return src->short_names && rankname_wanted (src->job);
}

bool rankname_is_short (const json_t *job)
{
    const json_t *annotations =
        json_object_get (json_object_get (job, "metadata"), "annotations");

    return strcmp (json_text (annotations, ANNOTATION_NAMES), ANNOTATION_NAMES_SHORT)
           == 0;
}

/* rank: a number or %r. */
static void put_label (const struct object_source *src, const char *rank,
                       char ret[RANKNAME_LABEL_MAX])
{
    if (is_short (src))
        snprintf (ret, RANKNAME_LABEL_MAX, "n%s", rank);
    else
        snprintf (ret, RANKNAME_LABEL_MAX, "%s-%s", src->name, rank);
}

/* False: no memory. */
static bool whole_name (const struct object_source *src, const char *rank, char **ret)
{
    char label[RANKNAME_LABEL_MAX];

    put_label (src, rank, label);
    return asprintf (ret, "%s.%s.%s.svc.%s.", label, src->name, src->namespace_,
                     src->cfg->cluster_domain)
           >= 0;
}

void rankname_label (const struct object_source *src, uint32_t rank,
                     char ret[RANKNAME_LABEL_MAX])
{
    char number[12];

    snprintf (number, sizeof (number), "%u", rank);
    put_label (src, number, ret);
}

char *rankname_pattern (const struct object_source *src)
{
    char *all = NULL;

    return whole_name (src, "%r", &all) ? all : NULL;
}

bool rankname_fits (const struct object_source *src)
{
    const struct jobspec_resource *nodes = jobspec_malleable (src->job->js);
    uint64_t most = src->job->r->nranks;
    char last[24];

    if (!rankname_wanted (src->job) || (src->component > 0 && !is_short (src)))
        return false;
    if (nodes)
        most = MAX (most, (uint64_t)nodes->count.max);
    snprintf (last, sizeof (last), "%ju", (uintmax_t)most - 1);
    autofree char *all = NULL;
    return whole_name (src, last, &all) && strlen (all) - 1 <= HOST_NAME_LEN;
}
