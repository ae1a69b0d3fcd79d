/* srun_environ.c - the variables that stand for options of srun which are not given */
#include <stdlib.h>

#include "shell/run/run.h"

/* The variables of srun(1) for the options of a step. */
static const struct {
    const char *name, *option;
} variables[] = {
    { "SLURM_BCAST", "bcast" },
    { "SLURM_CPU_BIND", "cpu-bind" },
    { "SLURM_DISTRIBUTION", "distribution" },
    { "SLURM_EXACT", "exact" },
    { "SLURM_EXPORT_ENV", "export" },
    { "SLURM_GPU_BIND", "gpu-bind" },
    { "SLURM_KILL_BAD_EXIT", "kill-on-bad-exit" },
    { "SLURM_LABELIO", "label" },
    { "SLURM_MPI_TYPE", "mpi" },
    { "SLURM_MULTI_PROG", "multi-prog" },
    { "SLURM_NTASKS_PER_GPU", "ntasks-per-gpu" },
    { "SLURM_OPEN_MODE", "open-mode" },
    { "SLURM_OVERCOMMIT", "overcommit" },
    { "SLURM_OVERLAP", "overlap" },
    { "SLURM_SEND_LIBS", "send-libs" },
    { "SLURM_STDERRMODE", "error" },
    { "SLURM_STDINMODE", "input" },
    { "SLURM_STDOUTMODE", "output" },
    { "SLURM_TRES_BIND", "tres-bind" },
    { "SLURM_WAIT", "wait" },
    { "SLURM_WORKING_DIR", "chdir" },
    { "SRUN_CPUS_PER_TASK", "cpus-per-task" },
    { "SRUN_EXPORT_ENV", "export" },
};

static const struct option_desc *find (const struct option_desc *all, const char *name)
{
    while (all->name && strcmp (all->name, name) != 0)
        all++;
    return all->name ? all : NULL;
}

int srun_read_environ (struct run_options *o, const struct option_desc *all,
                       run_take_option take, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (variables); i++) {
        const char *value = getenv (variables[i].name);
        struct option_match m = { .desc = find (all, variables[i].option) };

        if (!value || !m.desc || (m.desc->arg && !*value))
            continue;
        m.value = m.desc->arg ? value : NULL;
        if (take (o, &m, err) < 0)
            return error_prefix (err, "%s", variables[i].name);
    }
    return 0;
}
