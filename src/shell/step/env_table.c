/* env_table.c - the table of variables that fluxq sets for a task */
#include "shell/step/env_table.h"

#include <inttypes.h>
#include <sys/auxv.h>

#include "common/idset.h"
#include "common/thousandths.h"
#include "shell/io/agent_file.h"
#include "shell/io/hostfile.h"
#include "shell/io/resizefile.h"
#include "shell/step/env_values.h"
#include "shell/step/step_spec.h"

static const struct launch_node *own_node (const struct env_context *ctx)
{
    return &ctx->launch->nodes[ctx->rank];
}

static int job_id (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, ctx->launch->job_id);
}

static int array_job (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->launch->array_job ? env_number (sb, ctx->launch->array_job) : 0;
}

static int submit_dir (const struct env_context *ctx, struct strbuf *sb)
{
    const struct launch *l = ctx->launch;
    return env_text (sb, l->submit_dir ? l->submit_dir : l->cwd);
}

static int working_dir (const struct env_context *ctx, struct strbuf *sb)
{
    return env_text (sb, ctx->cwd);
}

static int job_name (const struct env_context *ctx, struct strbuf *sb)
{
    return env_text (sb, env_component (ctx).job_name);
}

static int nodes_requested (const struct env_context *ctx, struct strbuf *sb)
{
    return env_text (sb, env_component (ctx).nodes_requested);
}

static uint32_t count_nodes (const struct env_context *ctx)
{
    uint32_t n = 0;

    for (uint32_t rank = 0; rank < ctx->launch->nnodes; rank++)
        n += env_has_rank (ctx, rank);
    return n;
}

static int job_nnodes (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, count_nodes (ctx));
}

/* Nodes of the step, or of the job if there is no step. */
static int nnodes (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? env_number (sb, ctx->step->nnodes) : job_nnodes (ctx, sb);
}

static int ntasks (const struct env_context *ctx, struct strbuf *sb)
{
    uint64_t n = 0;

    for (uint32_t rank = 0; rank < ctx->launch->nnodes && !ctx->step; rank++)
        n += env_has_rank (ctx, rank) ? ctx->launch->nodes[rank].ntasks : 0;
    return env_number (sb, ctx->step ? ctx->step->ntasks : n);
}

static int node_id (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, ctx->step ? ctx->step->node : ctx->rank);
}

static int node_name (const struct env_context *ctx, struct strbuf *sb)
{
    return env_text (sb, own_node (ctx)->name);
}

static int task_id (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, ctx->task);
}

static int local_id (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, ctx->local);
}

static int cores_per_task (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, ctx->step ? ctx->step->part->cores_per_task
                                     : env_component (ctx).cores_per_task);
}

/* Fractional CPUs of the job's tasks, which the variable above rounds up. */
static int cpu_milli_per_task (const struct env_context *ctx, struct strbuf *sb)
{
    uint32_t milli = env_component (ctx).cpu_milli_per_task;

    return milli > 0 ? env_number (sb, milli) : 0;
}

static int end_time (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->end_time ? env_number (sb, ctx->end_time) : 0;
}

static int step_id (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? env_number (sb, ctx->step->spec->id) : 0;
}

static int step_ntasks (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? ntasks (ctx, sb) : 0;
}

static int step_nnodes (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? nnodes (ctx, sb) : 0;
}

/* The number requested for the job is in the environment already. */
static int step_ntasks_per_node (const struct env_context *ctx, struct strbuf *sb)
{
    uint32_t n = ctx->step ? ctx->step->part->per_node : 0;
    return n > 0 ? env_number (sb, n) : 0;
}

static int step_taskmap (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? env_text (sb, ctx->step->spec->taskmap) : 0;
}

static int agent_socket (const struct env_context *ctx, struct strbuf *sb)
{
    autofree char *path = client_socket_path (ctx->launch, ctx->rank);
    return path ? env_text (sb, path) : -ENOMEM;
}

static int host_file (const struct env_context *ctx, struct strbuf *sb)
{
    autofree char *path = hostfile_path (ctx->launch);
    return path ? env_text (sb, path) : -ENOMEM;
}

static int resize_file (const struct env_context *ctx, struct strbuf *sb)
{
    autofree char *path = resizefile_path (ctx->launch, ctx->rank);
    return ctx->launch->max_nodes > 0 ? env_text (sb, path) : 0;
}

/* In a pod /proc/self/exe resolves the links of the volume to a name that contains a
 * time. */
void env_own_program (char ret[PATH_MAX])
{
    const char *name = (const char *)getauxval (AT_EXECFN);
    ssize_t n = 0;
    if (name && name[0] == '/')
        n = snprintf (ret, PATH_MAX, "%s", name);
    else
        n = readlink ("/proc/self/exe", ret, PATH_MAX);
    ret[n > 0 && n < PATH_MAX ? n : 0] = '\0';
}

/* The same program as fluxq-run. */
static int agent_program (const struct env_context *ctx, struct strbuf *sb)
{
    char path[PATH_MAX];
    (void)ctx;
    env_own_program (path);
    return path[0] ? env_text (sb, path) : 0;
}

/* The cores of the step or job on this node, as an idset. The caller frees it. */
static char *cores_given (const struct env_context *ctx)
{
    const char *job = own_node (ctx)->cores;
    if (ctx->step)
        return step_spec_part (ctx->step->spec->cores, ctx->step->node);
    return job ? strdup (job) : NULL;
}

static int cores (const struct env_context *ctx, struct strbuf *sb)
{
    autofree char *text = cores_given (ctx);
    return env_text (sb, text);
}

/* Generic resources of this node: "license:2,rdma/hca:1". */
static int job_gres (const struct env_context *ctx, struct strbuf *sb)
{
    return env_text (sb, own_node (ctx)->gres);
}

/* As in Slurm, not beside the memory for each core or GPU, which the submission sets. */
static int mem_per_node (const struct env_context *ctx, struct strbuf *sb)
{
    const struct launch_component c = env_component (ctx);

    for (size_t i = 0; i < c.nenv; i++)
        if (!strncmp (c.env[i], "SLURM_MEM_PER_", 14))
            return 0;
    return c.mem_mib > 0 ? env_number (sb, c.mem_mib) : 0;
}

static int uid (const struct env_context *ctx, struct strbuf *sb)
{
    (void)ctx;
    return env_number (sb, getuid ());
}

static int gid (const struct env_context *ctx, struct strbuf *sb)
{
    (void)ctx;
    return env_number (sb, getgid ());
}

static int start_time (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->start_time ? env_number (sb, ctx->start_time) : 0;
}

/* The global numbers of the tasks on this node. */
static int global_ids (const struct env_context *ctx, struct strbuf *sb)
{
    const struct env_step *step = ctx->step;
    size_t before = sb->len;

    for (uint32_t t = 0; step && t < step->ntasks; t++)
        if (step->rank_of[t] == step->node)
            strbuf_addf (sb, "%s%" PRIu32, sb->len > before ? "," : "", t);
    if (!step && ctx->launch->batch)
        strbuf_adds (sb, "0");
    for (uint32_t t = 0; !step && !ctx->launch->batch && t < own_node (ctx)->ntasks; t++)
        strbuf_addf (sb, "%s%" PRIu32, t ? "," : "",
                     launch_first_task (ctx->launch, ctx->rank) + t);
    return sb->err ? sb->err : sb->len > before;
}

/* Cores for ntasks tasks on a node without a list of cores; the sum of CPU fractions is
 * rounded up. */
static uint32_t cores_of_tasks (const struct launch_component *c, uint32_t ntasks)
{
    uint64_t milli = (uint64_t)ntasks * c->cpu_milli_per_task;

    return milli > 0 ? (uint32_t)milli_whole ((int64_t)milli)
                     : ntasks * c->cores_per_task;
}

static uint32_t cores_on (const struct env_context *ctx, uint32_t rank)
{
    const struct launch_node *node = &ctx->launch->nodes[rank];
    autoidset struct idset *ids = node->cores && *node->cores
                                      ? idset_decode (node->cores, LAUNCH_IDS_MAX, NULL)
                                      : NULL;
    const struct launch_component c = launch_get_component (ctx->launch, node->component);
    return ids ? idset_count (ids) : cores_of_tasks (&c, MAX (node->ntasks, 1));
}

static uint32_t tasks_on (const struct env_context *ctx, uint32_t rank)
{
    return ctx->launch->nodes[rank].ntasks;
}

/* Slurm's way to list a number for each node: "4(x2),3". */
static int add_runs (struct strbuf *sb, const uint32_t *v, uint32_t n)
{
    for (uint32_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && v[i + run] == v[i];)
            run++;
        strbuf_addf (sb, "%s%" PRIu32, i ? "," : "", v[i]);
        if (run > 1)
            strbuf_addf (sb, "(x%" PRIu32 ")", run);
    }
    return sb->err ? sb->err : 1;
}

/* Tasks of the step on each of its nodes. */
static int step_tasks_per_node (const struct env_context *ctx, struct strbuf *sb)
{
    const struct env_step *step = ctx->step;
    if (!step)
        return 0;
    autofree uint32_t *v = calloc (step->nnodes, sizeof (*v));
    if (!v)
        return -ENOMEM;
    for (uint32_t t = 0; t < step->ntasks; t++)
        v[step->rank_of[t]]++;
    return add_runs (sb, v, step->nnodes);
}

static int cores_here (const struct env_context *ctx, struct strbuf *sb)
{
    return env_number (sb, cores_on (ctx, ctx->rank));
}

static int add_counts (const struct env_context *ctx, struct strbuf *sb,
                       uint32_t (*count) (const struct env_context *, uint32_t))
{
    autofree uint32_t *v = calloc (ctx->launch->nnodes, sizeof (*v));
    uint32_t n = 0;
    for (uint32_t rank = 0; v && rank < ctx->launch->nnodes; rank++)
        if (env_has_rank (ctx, rank))
            v[n++] = count (ctx, rank);
    return v ? add_runs (sb, v, n) : -ENOMEM;
}

static int tasks_per_node (const struct env_context *ctx, struct strbuf *sb)
{
    return ctx->step ? step_tasks_per_node (ctx, sb) : add_counts (ctx, sb, tasks_on);
}

static int cores_per_node (const struct env_context *ctx, struct strbuf *sb)
{
    return add_counts (ctx, sb, cores_on);
}

const struct env_variable env_variables[] = {
    { "FLUXQ_JOB_ID", .value = job_id },
    { "FLUXQ_JOB_NAME", .text = offsetof (struct launch, job_name) },
    { "FLUXQ_JOB_QUEUE", .text = offsetof (struct launch, queue) },
    { "FLUXQ_JOB_USER", .text = offsetof (struct launch, user) },
    { "FLUXQ_JOB_END_TIME", .value = end_time },
    { "FLUXQ_ARRAY_JOB_ID", .value = array_job },
    { "FLUXQ_ARRAY_TASK_ID", .of_array = offsetof (struct launch, array_task) },
    { "FLUXQ_ARRAY_TASK_COUNT", .of_array = offsetof (struct launch, array_count) },
    { "FLUXQ_ARRAY_TASK_MIN", .of_array = offsetof (struct launch, array_min) },
    { "FLUXQ_ARRAY_TASK_MAX", .of_array = offsetof (struct launch, array_max) },
    { "FLUXQ_ARRAY_TASK_STEP", .of_array = offsetof (struct launch, array_step) },
    { "FLUXQ_NNODES", .value = nnodes },
    { "FLUXQ_NODES_REQUESTED", .value = nodes_requested },
    { "FLUXQ_NTASKS", .value = ntasks },
    { "FLUXQ_NODELIST", .value = env_nodelist },
    { "FLUXQ_NODEID", .value = node_id },
    { "FLUXQ_NODENAME", .value = node_name },
    { "FLUXQ_PROCID", .value = task_id },
    { "FLUXQ_LOCALID", .value = local_id },
    { "FLUXQ_CORES", .value = cores },
    { "FLUXQ_GPUS", .value = env_gpus },
    { "FLUXQ_JOB_GRES", .value = job_gres },
    { "FLUXQ_CPUS_PER_TASK", .value = cores_per_task },
    { "FLUXQ_CPU_MILLI_PER_TASK", .value = cpu_milli_per_task },
    { "FLUXQ_SUBMIT_DIR", .value = submit_dir },
    { "FLUXQ_STEP_ID", .value = step_id },
    { "FLUXQ_STEP_NODELIST", .value = env_step_nodelist },
    { "FLUXQ_STEP_NNODES", .value = step_nnodes },
    { "FLUXQ_STEP_NTASKS", .value = step_ntasks },
    { "FLUXQ_STEP_TASKS_PER_NODE", .value = step_tasks_per_node },
    { "FLUXQ_STEP_TASKMAP", .value = step_taskmap },
    { CLIENT_SOCKET_VARIABLE, .value = agent_socket },
    { "FLUXQ_SHELL", .value = agent_program },
    { "SLURM_JOB_ID", .value = job_id },
    { "SLURM_JOBID", .value = job_id },
    { "SLURM_HET_SIZE", .value = env_het_size },
    { "SLURM_PACK_SIZE", .value = env_het_size },
    { "SLURM_JOB_NAME", .value = job_name },
    { "SLURM_JOB_PARTITION", .text = offsetof (struct launch, queue) },
    { "SLURM_CLUSTER_NAME", .text = offsetof (struct launch, cluster) },
    { "SLURM_JOB_USER", .text = offsetof (struct launch, user) },
    { "SLURM_JOB_UID", .value = uid },
    { "SLURM_JOB_GID", .value = gid },
    { "SLURM_JOB_START_TIME", .value = start_time },
    { "SLURM_JOB_END_TIME", .value = end_time },
    { "SLURM_ARRAY_JOB_ID", .value = array_job },
    { "SLURM_ARRAY_TASK_ID", .of_array = offsetof (struct launch, array_task) },
    { "SLURM_ARRAY_TASK_COUNT", .of_array = offsetof (struct launch, array_count) },
    { "SLURM_ARRAY_TASK_MIN", .of_array = offsetof (struct launch, array_min) },
    { "SLURM_ARRAY_TASK_MAX", .of_array = offsetof (struct launch, array_max) },
    { "SLURM_ARRAY_TASK_STEP", .of_array = offsetof (struct launch, array_step) },
    { "SLURM_NNODES", .value = nnodes },
    { "SLURM_JOB_NUM_NODES", .value = job_nnodes },
    { "SLURM_NTASKS", .value = ntasks },
    { "SLURM_NPROCS", .value = ntasks },
    { "SLURM_JOB_NODELIST", .value = env_hostlist },
    { "SLURM_NODELIST", .value = env_hostlist },
    { "SLURM_NODEID", .value = node_id },
    { "SLURMD_NODENAME", .value = env_host_name },
    { "SLURM_PROCID", .value = task_id },
    { "SLURM_LOCALID", .value = local_id },
    { "SLURM_CPUS_PER_TASK", .value = cores_per_task },
    { "SLURM_CPUS_ON_NODE", .value = cores_here },
    { "SLURM_TASKS_PER_NODE", .value = tasks_per_node },
    { "SLURM_JOB_CPUS_PER_NODE", .value = cores_per_node },
    { "SLURM_GTIDS", .value = global_ids },
    { "SLURM_MEM_PER_NODE", .value = mem_per_node },
    { "SLURM_JOB_GPUS", .value = env_job_gpus },
    { "SLURM_STEP_GPUS", .value = env_step_gpus },
    { "SLURM_GPUS_ON_NODE", .value = env_gpus_on_node },
    { "SLURM_JOB_GROUP", .value = env_group },
    { "SLURM_TASK_PID", .value = env_task_pid },
    { "SLURM_LAUNCH_NODE_IPADDR", .value = env_client_address },
    { "SLURM_SRUN_COMM_HOST", .value = env_client_address },
    { "SLURM_DISTRIBUTION", .value = env_distribution },
    { "SLURM_DIST_PLANESIZE", .value = env_plane_size },
    { "SLURM_CPU_BIND", .value = env_cpu_bind },
    { "SLURM_CPU_BIND_TYPE", .value = env_cpu_bind_type },
    { "SLURM_CPU_BIND_LIST", .value = env_cpu_bind_list },
    { "SLURM_CPU_BIND_VERBOSE", .value = env_cpu_bind_verbose },
    { "SLURM_UMASK", .value = env_umask },
    { "SLURM_TOPOLOGY_ADDR", .value = env_host_name },
    { "SLURM_TOPOLOGY_ADDR_PATTERN", .value = env_node_pattern },
    { "SLURM_SUBMIT_DIR", .value = submit_dir },
    { "SLURM_STEP_ID", .value = step_id },
    { "SLURM_STEPID", .value = step_id },
    { "SLURM_NTASKS_PER_NODE", .value = step_ntasks_per_node },
    { "SLURM_STEP_NODELIST", .value = env_step_hostlist },
    { "SLURM_STEP_NUM_NODES", .value = step_nnodes },
    { "SLURM_STEP_NUM_TASKS", .value = step_ntasks },
    { "SLURM_STEP_TASKS_PER_NODE", .value = step_tasks_per_node },
    { "FLUX_JOB_ID", .value = job_id },
    { "FLUX_JOB_SIZE", .value = ntasks },
    { "FLUX_JOB_NNODES", .value = nnodes },
    { "FLUX_TASK_RANK", .value = task_id },
    { "FLUX_TASK_LOCAL_ID", .value = local_id },
    { "FLUXQ_RESIZE_FILE", .value = resize_file },
    { "FLUXQ_HOSTFILE", .value = host_file },
    { "FLUXQ_MASTER_ADDR", .value = env_master_address },
    { "OMPI_MCA_orte_default_hostfile", .value = env_mpi_hostfile },
    { "OMPI_MCA_plm", .on_root = "rsh" },
    { "OMPI_MCA_plm_rsh_agent", .on_root = ENV_RUN_NAME " --rsh" },
    { "OMPI_MCA_ras", .on_root = "^slurm" },
    { "OMPI_MCA_pmix", .value = env_not_flux },
    { "OMPI_MCA_btl_vader_single_copy_mechanism", .value = env_single_copy },
    { "OMPI_MCA_btl_tcp_if_include", .value = env_loopback },
    { "OMPI_MCA_orte_tmpdir_base", .directory = true },
    { "OMPI_MCA_btl_vader_backing_directory", .directory = true },
    { "OMPI_MCA_btl_sm_backing_directory", .directory = true },
    { "OMPI_MCA_orte_leave_session_attached", .on_root = "1" },
    { "OMPI_MCA_orte_set_default_slots", .on_root = "none" },
    { "PRTE_MCA_prte_default_hostfile", .value = env_mpi_hostfile },
    { "PRTE_MCA_plm_ssh_agent", .on_root = ENV_RUN_NAME " --rsh" },
    { "PRTE_MCA_prte_tmpdir_base", .directory = true },
    { "PRTE_MCA_ras", .on_root = "^slurm" },
    { "CUDA_VISIBLE_DEVICES", .value = env_devices },
    { "ROCR_VISIBLE_DEVICES", .value = env_devices },
    { "ZE_AFFINITY_MASK", .value = env_devices },
    { "PWD", .value = working_dir },
    { .name = NULL },
};

int env_add_value (const struct env_variable *v, const struct env_context *ctx,
                   struct strbuf *sb)
{
    const char *launch = (const char *)ctx->launch;

    if (v->value)
        return v->value (ctx, sb);
    if (v->directory)
        return env_mpi_directory (ctx, v->name, sb);
    if (v->on_root)
        return ctx->rank == 0 ? env_text (sb, v->on_root) : 0;
    if (v->text)
        return env_text (sb, *(char *const *)(launch + v->text));
    if (ctx->launch->array_job == 0)
        return 0;
    return env_number (sb, *(const uint32_t *)(launch + v->of_array));
}

bool env_is_of_flux (const char *name)
{
    return strncmp (name, "FLUX_", 5) == 0;
}

bool env_is_left_to_flux (const struct env_variable *v)
{
    return env_is_of_flux (v->name) || v->value == env_not_flux;
}
