/* pmix_setup.c - finds fluxq-pmix and describes a step for it, see step_pmix.h */
#include "shell/step/step_pmix.h"

#include <inttypes.h>

#include "protocol/pmix_helper.h"
#include "shell/io/mpidir.h"
#include "shell/io/rankhost.h"
#include "shell/step/env_table.h"
#include "shell/step/stepd_private.h"

int steppmix_program (char ret[PATH_MAX])
{
    static const char *const places[] = { "/usr/libexec/fluxq",
                                          "/usr/local/libexec/fluxq" };
    char own[PATH_MAX];

    env_own_program (own);
    char *slash = strrchr (own, '/');
    if (slash)
        *slash = '\0';
    if (slash && snprintf (ret, PATH_MAX, "%s/" PMIX_HELPER, own) < PATH_MAX
        && access (ret, X_OK) == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE (places); i++) {
        snprintf (ret, PATH_MAX, "%s/" PMIX_HELPER, places[i]);
        if (access (ret, X_OK) == 0)
            return 0;
    }
    return -ENOENT;
}

/* The tasks of each node, "0,1;2,3". */
static int add_procs (const struct rank_step *s, struct strbuf *sb)
{
    autofree struct strbuf *nodes = calloc (s->nnodes, sizeof (*nodes));

    if (!nodes)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->nnodes; i++)
        strbuf_init (&nodes[i], PMIX_SETUP_MAX);
    for (uint32_t t = 0; t < s->ntasks; t++) {
        struct strbuf *node = &nodes[s->rank_of[t]];
        strbuf_addf (node, "%s%" PRIu32, node->len ? "," : "", t);
    }
    for (uint32_t i = 0; i < s->nnodes; i++) {
        strbuf_adds (sb, i ? ";" : "");
        if (nodes[i].err)
            sb->err = nodes[i].err;
        strbuf_add (sb, nodes[i].buf, nodes[i].len);
        strbuf_release (&nodes[i]);
    }
    return sb->err;
}

static int add_nodes (const struct rank_step *s, struct strbuf *sb)
{
    for (uint32_t i = 0; i < s->nnodes; i++) {
        autofree char *host = rank_host (s->d->launch, s->ranks[i]);
        if (!host)
            return -ENOMEM;
        strbuf_addf (sb, "%s%s", i ? "," : "", host);
    }
    return sb->err;
}

int steppmix_describe (const struct rank_step *s, struct strbuf *text, struct error *err)
{
    autostrbuf struct strbuf nodes = STRBUF_INIT (PMIX_SETUP_MAX);
    autostrbuf struct strbuf procs = STRBUF_INIT (PMIX_SETUP_MAX);
    autofree char *own = mpidir_path (s->d->launch, s->d->rank);
    char nspace[64], *dir = mpidir_is_needed (s->d->launch) ? own : (char[]){ "/tmp" };

    snprintf (nspace, sizeof (nspace), "fluxq.%" PRIu64 ".%" PRIu32, s->d->launch->job_id,
              s->id);
    int rc = add_nodes (s, &nodes);
    if (rc == 0)
        rc = add_procs (s, &procs);
    if (rc == 0)
        rc = pmix_setup_write (&(struct pmix_setup){ .nspace = nspace,
                                                     .nodes = nodes.buf,
                                                     .procs = procs.buf,
                                                     .node = s->node,
                                                     .nnodes = s->nnodes,
                                                     .ntasks = s->ntasks,
                                                     .directory = dir },
                               text);
    return rc < 0 ? error_errno (err, -rc, "--mpi=pmix: the description of the step") : 0;
}
