/* env.c - the environment of a task: from the table of env_table.c, the user and Flux */
#include "shell/step/env.h"

#include <limits.h>
#include <pwd.h>

#include "protocol/inside.h"
#include "protocol/step_client.h"
#include "shell/step/env_values.h"
#include "shell/step/step_spec.h"

#define VALUE_MAX (1024 * 1024)
#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct envlist {
    char **v;
    size_t n;
};

static bool has_name (const struct envlist *list, const char *name)
{
    size_t len = strlen (name);
    for (size_t i = 0; i < list->n; i++)
        if (strncmp (list->v[i], name, len) == 0 && list->v[i][len] == '=')
            return true;
    return false;
}

static int add_default (struct envlist *list, const char *name, const char *value)
{
    if (has_name (list, name) || !value)
        return 0;
    if (asprintf (&list->v[list->n], "%s=%s", name, value) < 0) {
        list->v[list->n] = NULL;
        return -ENOMEM;
    }
    list->n++;
    return 0;
}

/* The user's shell for programs that start one, or /bin/sh if the account cannot log
 * in. */
static const char *usable_shell (const struct passwd *pw)
{
    const char *slash = pw ? strrchr (pw->pw_shell, '/') : NULL;

    if (!slash || strcmp (slash, "/false") == 0 || strcmp (slash, "/nologin") == 0)
        return "/bin/sh";
    return pw->pw_shell;
}

static int add_defaults (const struct env_context *ctx, struct envlist *list)
{
    const char *name = ctx->launch->user;
    const struct passwd *pw = NULL;
    if (!has_name (list, "HOME") || !has_name (list, "SHELL"))
        pw = name ? getpwnam (name) : NULL;
    int rc = add_default (list, "HOME", pw ? pw->pw_dir : "/");
    if (rc == 0)
        rc = add_default (list, "SHELL", usable_shell (pw));
    if (rc == 0)
        rc = add_default (list, "USER", name);
    if (rc == 0)
        rc = add_default (list, "LOGNAME", name);
    if (rc == 0)
        rc = add_default (list, "FLUXQ_BROKER", ctx->launch->broker);
    if (rc == 0)
        rc = add_default (list, "PATH",
                          ctx->default_path ? ctx->default_path : PATH_DEFAULT);
    return rc;
}

/* Whether this is the job's own task in a Flux instance; steps are started by fluxq. */
static bool is_in_flux (const struct env_context *ctx)
{
    return ctx->launch->flux && !ctx->step;
}

/* Appends a variable of the table if it applies. */
static int add_variable (const struct env_context *ctx, struct envlist *list,
                         const struct env_variable *v)
{
    if (is_in_flux (ctx) && env_is_left_to_flux (v))
        return 0;
    autostrbuf struct strbuf sb = STRBUF_INIT (VALUE_MAX);
    strbuf_addf (&sb, "%s=", v->name);
    int rc = env_add_value (v, ctx, &sb);
    if (rc <= 0)
        return rc;
    char *text = strbuf_detach (&sb);
    if (!text)
        return -ENOMEM;
    list->v[list->n++] = text;
    return 0;
}

static bool is_in (const char *const names[], size_t n, const char *assignment,
                   size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen (names[i]) == len && !strncmp (names[i], assignment, len))
            return true;
    return false;
}

/* Whether the assignment is not for this task: of a name of Slurm in the table that does
 * not apply to this job, so that the value is that of the job in which the user
 * submitted; or of the GPUs of the script, when the step gets none.
 * The submission sets some of them for the job, and users set others for srun. */
static bool is_stale (const struct env_context *ctx, const char *assignment)
{
    static const char *const devices[] = { "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                           "ZE_AFFINITY_MASK", "SLURM_GPUS_ON_NODE" };
    static const char *const submitted[] = { "SLURM_NTASKS_PER_NODE",
                                             "SLURM_DISTRIBUTION", "SLURM_CPU_BIND" };
    size_t len = strcspn (assignment, "=");

    if (ctx->step)
        return ctx->step->part->no_gpus
               && is_in (devices, ARRAY_SIZE (devices), assignment, len);
    if (strncmp (assignment, "SLURM_", 6) != 0
        || is_in (submitted, ARRAY_SIZE (submitted), assignment, len))
        return false;
    for (const struct env_variable *v = env_variables; v->name; v++)
        if (!strncmp (v->name, assignment, len) && v->name[len] == '\0')
            return true;
    return false;
}

/* Adds a variable of the user, unless fluxq sets that name for this job. Also skips the
 * variables of an array task or heterogeneous job from which this job was submitted, and of
 * the start of another MPI program. */
static int add_users (struct envlist *list, const char *assignment)
{
    size_t len = strcspn (assignment, "=");
    if (strncmp (assignment, "SLURM_ARRAY_", strlen ("SLURM_ARRAY_")) == 0
        || env_is_of_component (assignment) || env_is_of_pmi (assignment))
        return 0;
    for (size_t i = 0; i < list->n; i++)
        if (strncmp (list->v[i], assignment, len + 1) == 0)
            return 0;
    list->v[list->n] = strdup (assignment);
    if (!list->v[list->n])
        return -ENOMEM;
    list->n++;
    return 0;
}

/* Adds the variables of the Flux instance whose initial program the agent is. */
static int add_flux (const struct env_context *ctx, struct envlist *list)
{
    for (char **own = environ; is_in_flux (ctx) && own && *own; own++)
        if (env_is_of_flux (*own) && add_users (list, *own) < 0)
            return -ENOMEM;
    return 0;
}

static int append_to_path (struct envlist *list, const char *more)
{
    for (size_t i = 0; i < list->n; i++) {
        char *text;
        if (strncmp (list->v[i], "PATH=", 5) != 0)
            continue;
        if (asprintf (&text, "%s:%s", list->v[i], more) < 0)
            return -ENOMEM;
        free (list->v[i]);
        list->v[i] = text;
    }
    return 0;
}

/* Adds the PATH of the agent, which the image or the Flux instance has set to find its
 * commands. */
static int add_flux_path (const struct env_context *ctx, struct envlist *list)
{
    const char *own = ctx->default_path;
    for (size_t i = 0; i < list->n; i++)
        if (own && !strncmp (list->v[i], "PATH=", 5) && !strcmp (list->v[i] + 5, own))
            return 0; /* PATH is the agent's already */
    return is_in_flux (ctx) && own ? append_to_path (list, own) : 0;
}

static int prepend_to_path (struct envlist *list, const char *dir)
{
    for (size_t i = 0; i < list->n; i++) {
        char *text;
        if (strncmp (list->v[i], "PATH=", 5) != 0)
            continue;
        if (asprintf (&text, "PATH=%s:%s", dir, list->v[i] + 5) < 0)
            return -ENOMEM;
        free (list->v[i]);
        list->v[i] = text;
    }
    return 0;
}

/* Puts the folder of Slurm's commands, beside the agent's program, in front of PATH: a
 * Slurm that is also installed there knows nothing of this job. */
static int find_slurm (struct envlist *list, const char *dir)
{
    char folder[PATH_MAX + sizeof (INSIDE_DIR)];
    char program[sizeof (folder) + sizeof (SRUN_CLIENT)];

    snprintf (folder, sizeof (folder), "%s/" INSIDE_DIR, dir);
    snprintf (program, sizeof (program), "%s/" SRUN_CLIENT, folder);
    return access (program, X_OK) < 0 ? 0 : prepend_to_path (list, folder);
}

/* Appends the directory of the agent's program to PATH if fluxq-run is in it, so that
 * every job finds fluxq-run; and Slurm's commands, see find_slurm(). */
static int extend_path (struct envlist *list)
{
    char dir[PATH_MAX], program[PATH_MAX + sizeof (ENV_RUN_NAME)];
    env_own_program (dir);
    char *slash = strrchr (dir, '/');
    if (!slash || slash == dir)
        return 0;
    *slash = '\0';
    snprintf (program, sizeof (program), "%s/" ENV_RUN_NAME, dir);
    if (access (program, X_OK) == 0 && append_to_path (list, dir) < 0)
        return -ENOMEM;
    return find_slurm (list, dir);
}

char *const *env_of_user (const struct env_context *ctx, size_t *ret_n)
{
    const struct launch *l = ctx->launch;

    if (ctx->step)
        return step_spec_env (ctx->step->spec, ctx->step->part->component, ret_n);
    *ret_n = l->nenv;
    return l->env;
}

static int add_text (void *list, char *text)
{
    struct envlist *l = list;

    l->v[l->n++] = text;
    return 0;
}

/* Adds the variables of components: those of all, and those that a further one has of its
 * own for tasks of steps. */
static int add_components (const struct env_context *ctx, struct envlist *list)
{
    const struct launch_component own = env_component (ctx);
    int rc = env_het_each (ctx, add_text, list);

    for (size_t i = own.nenv; i > 0 && own.env != ctx->launch->env && rc == 0; i--)
        rc = add_users (list, own.env[i - 1]);
    return rc;
}

static size_t length_of (char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

char **env_make (const struct env_context *ctx, struct error *err)
{
    const struct launch *l = ctx->launch;
    size_t nbase;
    char *const *base = env_of_user (ctx, &nbase);
    size_t most = nbase + l->nenv + length_of (environ) + env_het_most (l) + 7;
    for (const struct env_variable *v = env_variables; v->name; v++)
        most++;
    struct envlist list = { calloc (most, sizeof (char *)), 0 };
    int rc = list.v ? 0 : -ENOMEM;
    for (const struct env_variable *v = env_variables; v->name && rc == 0; v++) {
        rc = add_variable (ctx, &list, v);
        if (rc < 0)
            error_errno (err, -rc, "environment: %s", v->name);
    }
    if (rc == 0)
        rc = add_flux (ctx, &list);
    if (rc == 0)
        rc = add_components (ctx, &list);
    /* From the last assignment on, so that the later of two takes precedence. */
    for (size_t i = nbase; i > 0 && rc == 0; i--)
        rc = is_stale (ctx, base[i - 1]) ? 0 : add_users (&list, base[i - 1]);
    /* A step of a client outside gets the variables of Slurm that the submission set. */
    for (size_t i = 0; i < l->nenv && ctx->step && rc == 0; i++)
        rc = strncmp (l->env[i], "SLURM_", 6) != 0 ? 0 : add_users (&list, l->env[i]);
    if (rc == 0 && !ctx->step)
        rc = add_defaults (ctx, &list);
    if (rc == 0)
        rc = add_flux_path (ctx, &list);
    if (rc == 0 && !ctx->step)
        rc = extend_path (&list);
    if (rc == 0)
        return list.v;
    if (err && !err->code)
        error_errno (err, -rc, "environment");
    free_strings (list.v);
    return NULL;
}

int env_replace (char ***env, const char *assignment)
{
    size_t n = 0, len = strcspn (assignment, "=") + 1;
    char *copy = strdup (assignment);

    while (copy && (*env)[n] && strncmp ((*env)[n], assignment, len) != 0)
        n++;
    if (copy && !(*env)[n]) {
        char **v = realloc (*env, (n + 2) * sizeof (*v));
        if (!v) {
            free (copy);
            return -ENOMEM;
        }
        *env = v;
        v[n + 1] = NULL;
    } else if (copy) {
        free ((*env)[n]);
    }
    if (copy)
        (*env)[n] = copy;
    return copy ? 0 : -ENOMEM;
}
