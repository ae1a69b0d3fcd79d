/* env_slurm.c - variables of Slurm that tell how a step was started */
#include "shell/step/env_values.h"

#include <grp.h>

#include "shell/step/cpubind.h"
#include "shell/step/layout.h"
#include "shell/step/step_spec.h"

int env_text (struct strbuf *sb, const char *text)
{
    if (!text)
        return 0;
    int rc = strbuf_adds (sb, text);
    return rc < 0 ? rc : 1;
}

int env_number (struct strbuf *sb, uint64_t n)
{
    int rc = strbuf_addf (sb, "%" PRIu64, n);
    return rc < 0 ? rc : 1;
}

/* The script of a batch job has no such variable, as in Slurm. */
int env_umask (const struct env_context *ctx, struct strbuf *sb)
{
    if (!ctx->step && ctx->launch->batch)
        return 0;
    uint32_t mask = ctx->step ? ctx->step->spec->umask : ctx->launch->umask;
    int rc = strbuf_addf (sb, "%04o", mask);
    return rc < 0 ? rc : 1;
}

int env_node_pattern (const struct env_context *ctx, struct strbuf *sb)
{
    (void)ctx;
    return env_text (sb, "node");
}

int env_group (const struct env_context *ctx, struct strbuf *sb)
{
    const struct group *group = getgrgid (getgid ());

    (void)ctx;
    return env_text (sb, group ? group->gr_name : NULL);
}

int env_task_pid (const struct env_context *ctx, struct strbuf *sb)
{
    (void)ctx;
    return env_text (sb, ENV_PID_ROOM);
}

/* The address of the machine on which the client of the step runs. */
int env_client_address (const struct env_context *ctx, struct strbuf *sb)
{
    const char *text = ctx->step ? ctx->step->spec->client_address : NULL;

    if (!text || text[strspn (text, "0123456789abcdef.:")] != '\0')
        return 0;
    return env_text (sb, text);
}

/* The layout of the step: by default tasks go to nodes in turn if there is a node for
 * each. */
static void get_layout (const struct env_step *step, struct layout_option *ret)
{
    const char *text = step->part->distribution;

    *ret = (struct layout_option){ 0 };
    if (text && layout_option_parse (text, ret, NULL) < 0)
        *ret = (struct layout_option){ 0 };
    if (ret->kind == LAYOUT_DEFAULT)
        ret->kind = step->ntasks <= step->nnodes ? LAYOUT_CYCLIC : LAYOUT_BLOCK;
}

int env_distribution (const struct env_context *ctx, struct strbuf *sb)
{
    static const char *const names[] = { [LAYOUT_BLOCK] = "block",
                                         [LAYOUT_CYCLIC] = "cyclic",
                                         [LAYOUT_PLANE] = "plane",
                                         [LAYOUT_ARBITRARY] = "arbitrary" };
    struct layout_option layout;

    if (!ctx->step || ctx->step->part->taskmap_asked)
        return 0;
    get_layout (ctx->step, &layout);
    return env_text (sb, names[layout.kind]);
}

int env_plane_size (const struct env_context *ctx, struct strbuf *sb)
{
    struct layout_option layout = { 0 };

    if (ctx->step)
        get_layout (ctx->step, &layout);
    return layout.kind == LAYOUT_PLANE ? env_number (sb, layout.plane) : 0;
}

/* The value of --cpu-bind without its first word, quiet or verbose. */
static const char *bind_type (const struct env_context *ctx, bool *ret_verbose)
{
    bool asked = ctx->step && !ctx->step->spec->remote_shell;
    const char *text = asked ? ctx->step->part->cpu_bind : NULL;

    *ret_verbose = text && !strncasecmp (text, "verbose", 7);
    if (text && (*ret_verbose || !strncasecmp (text, "quiet", 5))) {
        text += strcspn (text, ",");
        text += *text == ',';
    }
    return text;
}

/* The list behind map_cpu: and the like. */
static const char *bind_list (const char *type)
{
    const char *colon = strchr (type, ':');

    return colon ? colon + 1 : "";
}

int env_cpu_bind (const struct env_context *ctx, struct strbuf *sb)
{
    bool verbose;
    const char *type = bind_type (ctx, &verbose);

    if (!type)
        return 0;
    strbuf_addf (sb, "%s%s%s", verbose ? "verbose" : "quiet", *type ? "," : "", type);
    return sb->err ? sb->err : 1;
}

int env_cpu_bind_type (const struct env_context *ctx, struct strbuf *sb)
{
    bool verbose;
    const char *type = bind_type (ctx, &verbose);

    if (!type)
        return 0;
    strbuf_add (sb, type, strlen (type) - strlen (bind_list (type)));
    return sb->err ? sb->err : 1;
}

int env_cpu_bind_list (const struct env_context *ctx, struct strbuf *sb)
{
    bool verbose;
    const char *type = bind_type (ctx, &verbose);

    return type ? env_text (sb, bind_list (type)) : 0;
}

int env_cpu_bind_verbose (const struct env_context *ctx, struct strbuf *sb)
{
    bool verbose;
    const char *type = bind_type (ctx, &verbose);

    return type ? env_text (sb, verbose ? "verbose" : "quiet") : 0;
}
