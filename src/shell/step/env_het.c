/* env_het.c - the variables of the components of a heterogeneous job
 *
 * As in Slurm, the variables of the job are those of one component: the one in which the
 * script or command runs, or all those in which a step has tasks. For each component there
 * is a variable NAME_HET_GROUP_n beside, and the older name NAME_PACK_GROUP_n.
 */
#include "shell/step/env_values.h"

#include "shell/step/step_spec.h"

/* Suffixes of the names, before the number of the component. */
static const char *const suffixes[] = { "_HET_GROUP_", "_PACK_GROUP_" };

/* Names in env_variables. */
static const char *const computed[] = {
    "SLURM_JOB_ID",        "SLURM_JOB_NAME",     "SLURM_JOB_PARTITION",
    "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_NTASKS",        "SLURM_NPROCS",       "SLURM_TASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE",
};

/* Names that the submission sets for a component ... */
static const char *const submitted[] = {
    "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_GPU",
    "SLURM_CPUS_PER_GPU",    "SLURM_GPUS",
    "SLURM_GPUS_PER_NODE",   "SLURM_GPUS_PER_TASK",
    "SLURM_MEM_PER_CPU",     "SLURM_MEM_PER_GPU",
};

/* ... and for the job. */
static const char *const of_job[] = { "SLURM_JOB_ACCOUNT", "SLURM_JOB_QOS" };

struct adder {
    uint32_t component;
    int (*add) (void *arg, char *text);
    void *arg;
};

struct launch_component env_component (const struct env_context *ctx)
{
    const struct launch *l = ctx->launch;

    return launch_get_component (l, l->nodes[ctx->rank].component);
}

bool env_has_rank (const struct env_context *ctx, uint32_t rank)
{
    const struct launch_node *nodes = ctx->launch->nodes;

    return ctx->step ? step_spec_uses (ctx->step->spec, nodes[rank].component)
                     : nodes[rank].component == nodes[ctx->rank].component;
}

int env_het_size (const struct env_context *ctx, struct strbuf *sb)
{
    size_t further = ctx->launch->ncomponents;

    return further ? env_number (sb, further + 1) : 0;
}

static int add_both (const struct adder *a, const char *name, const char *value)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (suffixes) && rc == 0; i++) {
        char *text;
        if (asprintf (&text, "%s%s%u=%s", name, suffixes[i], a->component, value) < 0)
            return -ENOMEM;
        rc = a->add (a->arg, text);
    }
    return rc;
}

/* Adds a variable of the table, as a task of the component would have it. */
static int add_computed (const struct env_context *ctx, const struct adder *a,
                         const char *name)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (1024 * 1024);
    const struct env_variable *v = env_variables;

    while (strcmp (v->name, name) != 0)
        v++;
    int rc = env_add_value (v, ctx, &sb);
    return rc > 0 ? add_both (a, name, sb.buf ? sb.buf : "") : rc;
}

/* The value in env; NULL: none. */
static const char *value_of (const char *name, char *const *env, size_t nenv)
{
    size_t len = strlen (name);

    for (size_t i = 0; i < nenv; i++)
        if (!strncmp (env[i], name, len) && env[i][len] == '=')
            return env[i] + len + 1;
    return NULL;
}

/* Adds the variables of a list that have a value in env. */
static int add_given (const struct adder *a, const char *const *names, size_t n,
                      char *const *env, size_t nenv)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *value = value_of (names[i], env, nenv);
        rc = value ? add_both (a, names[i], value) : 0;
    }
    return rc;
}

size_t env_het_most (const struct launch *l)
{
    size_t names = ARRAY_SIZE (computed) + ARRAY_SIZE (submitted) + ARRAY_SIZE (of_job);
    size_t most = 0;

    if (l->ncomponents == 0)
        return 0;
    for (size_t i = 0; i < l->ncomponents; i++)
        most += l->components[i].nenv;
    return most + (l->ncomponents + 1) * names * ARRAY_SIZE (suffixes);
}

int env_het_each (const struct env_context *ctx, int (*add) (void *arg, char *text),
                  void *arg)
{
    const struct launch *l = ctx->launch;
    int rc = 0;

    for (uint32_t c = 0; c <= l->ncomponents && l->ncomponents > 0 && rc == 0; c++) {
        const struct launch_component own = launch_get_component (l, c);
        const struct adder a = { c, add, arg };
        struct env_context there = *ctx;

        there.step = NULL;
        there.rank = launch_component_first (l, c);
        for (size_t i = 0; i < ARRAY_SIZE (computed) && rc == 0; i++)
            rc = add_computed (&there, &a, computed[i]);
        if (rc == 0)
            rc = add_given (&a, submitted, ARRAY_SIZE (submitted), own.env, own.nenv);
        if (rc == 0)
            rc = add_given (&a, of_job, ARRAY_SIZE (of_job), l->env, l->nenv);
    }
    return rc;
}

bool env_is_of_component (const char *assignment)
{
    size_t len = strcspn (assignment, "=");

    for (size_t i = 0; i < ARRAY_SIZE (suffixes); i++)
        if (!strncmp (assignment, "SLURM_", 6)
            && memmem (assignment, len, suffixes[i], strlen (suffixes[i])))
            return true;
    return false;
}
