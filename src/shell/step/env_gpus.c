/* env_gpus.c - the variables of a task for its GPUs */
#include "common/idset.h"
#include "protocol/gpubind.h"
#include "shell/step/env_values.h"
#include "shell/step/step_spec.h"

static const char *of_job (const struct env_context *ctx)
{
    return ctx->launch->nodes[ctx->rank].gpus;
}

/* The GPUs of the job or step on this node; NULL: none. *ret_set: the caller destroys it.
 * 0 or negative errno. */
static int gpus_here (const struct env_context *ctx, struct idset **ret_set)
{
    autofree char *of_step =
        ctx->step ? step_spec_part (ctx->step->spec->gpu_ids, ctx->step->node) : NULL;
    const char *text = ctx->step ? of_step : of_job (ctx);

    *ret_set = text && *text ? idset_decode (text, LAUNCH_IDS_MAX, NULL) : NULL;
    return text && *text && !*ret_set ? -EINVAL : 0;
}

/* GPUs for each task; 0: a task sees all of its node. */
static uint32_t gpus_per_task (const struct env_context *ctx)
{
    if (ctx->step)
        return ctx->step->part->gpus_per_task;
    return ctx->launch->batch ? 0 : ctx->launch->gpus_per_task;
}

/* The numbers from the first-th on, at most n: "0,2,3". 0: there are none. */
static int add_ids (struct strbuf *sb, const struct idset *ids, size_t first, size_t n)
{
    size_t i = 0, before = sb->len;

    if (!ids)
        return 0;
    IDSET_FOREACH (ids, id)
    {
        if (i >= first && i - first < n)
            strbuf_addf (sb, "%s%" PRIu32, sb->len > before ? "," : "", id);
        i++;
    }
    return sb->err ? sb->err : sb->len > before;
}

int env_gpus (const struct env_context *ctx, struct strbuf *sb)
{
    autofree char *of_step =
        ctx->step ? step_spec_part (ctx->step->spec->gpu_ids, ctx->step->node) : NULL;

    return env_text (sb, ctx->step ? of_step : of_job (ctx));
}

int env_devices (const struct env_context *ctx, struct strbuf *sb)
{
    const char *text = ctx->step ? ctx->step->part->gpu_bind : NULL;
    uint32_t share = ctx->step ? 1 : MAX (ctx->launch->gpu_share, 1);
    size_t each = gpus_per_task (ctx);
    autoidset struct idset *ids = NULL;
    struct gpubind bind;
    int rc = gpus_here (ctx, &ids);

    if (rc < 0 || !ids)
        return rc;
    if (!text)
        return add_ids (sb, ids, each * (ctx->local / share),
                        each ? each : LAUNCH_IDS_MAX);
    if ((rc = gpubind_parse (text, &bind, NULL)) < 0)
        return rc;
    autoidset struct idset *own = gpubind_choose (&bind, ids, ctx->local, NULL);
    return own ? add_ids (sb, own, 0, LAUNCH_IDS_MAX) : -ENOMEM;
}

int env_job_gpus (const struct env_context *ctx, struct strbuf *sb)
{
    const char *text = of_job (ctx);
    autoidset struct idset *ids =
        text && *text ? idset_decode (text, LAUNCH_IDS_MAX, NULL) : NULL;

    return text && *text && !ids ? -EINVAL : add_ids (sb, ids, 0, LAUNCH_IDS_MAX);
}

int env_step_gpus (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? env_devices (ctx, sb) : 0;
}

int env_gpus_on_node (const struct env_context *ctx, struct strbuf *sb)
{
    autoidset struct idset *ids = NULL;
    int rc = gpus_here (ctx, &ids);

    return rc < 0 || !ids ? rc : env_number (sb, idset_count (ids));
}
