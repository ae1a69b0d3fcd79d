/* env_hosts.c - the variables with names and addresses of nodes */
#include "shell/step/env_values.h"

#include "common/hostlist.h"
#include "shell/io/rankhost.h"
#include "shell/io/sock.h"

/* Pods do not know the names of nodes, so in pods the variables from which programs learn
 * their peers contain pod names. One variable (128 KiB) can hold this many; in larger
 * jobs the variables contain node names. */
#define HOSTS_MAX 1024
static bool has_hosts (const struct env_context *ctx)
{
    const struct launch *l = ctx->launch;
    return l->listen && !sock_is_unix (l->listen) && l->nnodes <= HOSTS_MAX;
}

static int add_host (const struct env_context *ctx, struct strbuf *sb, uint32_t rank)
{
    autofree char *host = rank_host (ctx->launch, rank);
    return host ? env_text (sb, host) : -ENOMEM;
}

int env_host_name (const struct env_context *ctx, struct strbuf *sb)
{
    return has_hosts (ctx) ? add_host (ctx, sb, ctx->rank)
                           : env_text (sb, ctx->launch->nodes[ctx->rank].name);
}

/* Address of the first node of the step or job. Local nodes are all this machine. */
int env_master_address (const struct env_context *ctx, struct strbuf *sb)
{
    const char *listen = ctx->launch->listen;
    if (!listen || sock_is_unix (listen))
        return env_text (sb, "127.0.0.1");
    return add_host (ctx, sb, ctx->step ? ctx->step->ranks[0] : 0);
}

static int add_names (const struct env_context *ctx, struct strbuf *sb,
                      const uint32_t *ranks, size_t n)
{
    autohostlist struct hostlist *hl = hostlist_create ();
    if (!hl)
        return -ENOMEM;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = hostlist_append (hl, ctx->launch->nodes[ranks ? ranks[i] : i].name);
    autofree char *text = rc == 0 ? hostlist_encode (hl) : NULL;
    return text ? env_text (sb, text) : -ENOMEM;
}

/* All nodes of the job, by rank: clients of steps count on that. */
int env_nodelist (const struct env_context *ctx, struct strbuf *sb)
{
    return add_names (ctx, sb, NULL, ctx->launch->nnodes);
}

int env_step_nodelist (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? add_names (ctx, sb, ctx->step->ranks, ctx->step->nnodes) : 0;
}

/* Without brackets: some programs take the text before the first bracket for a name. */
static int add_hosts (const struct env_context *ctx, struct strbuf *sb,
                      const uint32_t *ranks, size_t n)
{
    int rc = has_hosts (ctx) ? 1 : add_names (ctx, sb, ranks, n);
    for (size_t i = 0; has_hosts (ctx) && i < n && rc > 0; i++) {
        if (i > 0)
            strbuf_adds (sb, ",");
        rc = add_host (ctx, sb, ranks[i]);
    }
    return rc;
}

int env_hostlist (const struct env_context *ctx, struct strbuf *sb)
{
    autofree uint32_t *ranks = calloc (ctx->launch->nnodes, sizeof (*ranks));
    size_t n = 0;
    for (uint32_t rank = 0; ranks && rank < ctx->launch->nnodes; rank++)
        if (env_has_rank (ctx, rank))
            ranks[n++] = rank;
    return ranks ? add_hosts (ctx, sb, ranks, n) : -ENOMEM;
}

int env_step_hostlist (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? add_hosts (ctx, sb, ctx->step->ranks, ctx->step->nnodes) : 0;
}
