/* env_mpi.c - the variables for MPI libraries that have a launcher of their own */
#include "shell/step/env_values.h"

#include <sys/uio.h>

#include "shell/io/hostfile.h"
#include "shell/io/mpidir.h"
#include "shell/step/step_spec.h"

/* On rank 0, Open MPI's mpirun (4: ORTE, 5: PRRTE) finds the nodes in this file and
 * starts its daemons there without ssh. It must not conclude from the SLURM_* and FLUX_*
 * names that it can ask a Slurm or a Flux. */
int env_mpi_hostfile (const struct env_context *ctx, struct strbuf *sb)
{
    autofree char *path = ctx->rank == 0 ? hostfile_path (ctx->launch) : NULL;
    return path ? env_text (sb, path) : ctx->rank == 0 ? -ENOMEM : 0;
}

int env_not_flux (const struct env_context *ctx, struct strbuf *sb)
{
    (void)ctx;
    return env_text (sb, "^flux");
}

/* Open MPI 4 tries to read the memory of other tasks even if the system call filter of a
 * container forbids it, and complains. UCX detects that itself, with the same test as
 * here. */
int env_single_copy (const struct env_context *ctx, struct strbuf *sb)
{
    char from = 1, to = 0;
    struct iovec in = { &to, 1 }, out = { &from, 1 };
    (void)ctx;
    bool forbidden = process_vm_readv (getpid (), &in, 1, &out, 1, 0) < 0;
    return forbidden ? env_text (sb, "none") : 0;
}

/* PMIX_MCA_* are parameters of the library that a user may set. */
bool env_is_of_pmi (const char *assignment)
{
    return !strncmp (assignment, "PMI_", 4)
           || (!strncmp (assignment, "PMIX_", 5) && strncmp (assignment, "PMIX_MCA_", 9));
}

/* The value that the user gives the variable; NULL: none. */
static const char *users_value (const struct env_context *ctx, const char *name)
{
    size_t n, len = strlen (name);
    char *const *env = env_of_user (ctx, &n);

    for (size_t i = n; i > 0; i--)
        if (!strncmp (env[i - 1], name, len) && env[i - 1][len] == '=')
            return env[i - 1] + len + 1;
    return NULL;
}

static bool has_virtual_nodes (const struct env_context *ctx)
{
    return ctx->launch->nnodes > 1 && mpidir_is_needed (ctx->launch);
}

/* Open MPI uses no loopback interface unless it is named, but the virtual nodes of one
 * machine may have nothing else in common. Naming interfaces to use and others to avoid
 * is an error. */
int env_loopback (const struct env_context *ctx, struct strbuf *sb)
{
    if (!has_virtual_nodes (ctx) || users_value (ctx, "OMPI_MCA_btl_tcp_if_include")
        || users_value (ctx, "OMPI_MCA_btl_tcp_if_exclude"))
        return 0;
    return env_text (sb, "127.0.0.0/8");
}

/* The directory of this node for Open MPI: only for its daemons, whose tasks inherit the
 * variable. In the environment of the script, mpirun would send one node's directory to
 * all nodes. */
int env_mpi_directory (const struct env_context *ctx, const char *name, struct strbuf *sb)
{
    const char *given = users_value (ctx, name);

    if (!ctx->step || !step_spec_has_mpidir (ctx->step->spec) || !has_virtual_nodes (ctx)
        || (given && !mpidir_is_own (ctx->launch, given)))
        return 0;
    autofree char *path = mpidir_path (ctx->launch, ctx->rank);
    return path ? env_text (sb, path) : -ENOMEM;
}
