/* env_values.h - functions of the table in env_table.c that compute the value of a
 * variable: env_gpus.c, env_het.c, env_hosts.c, env_mpi.c, env_slurm.c
 *
 * Each appends the value to sb and returns 1; 0: the variable does not apply to this job;
 * or negative errno. */
#pragma once

#include <inttypes.h>

#include "shell/step/env_table.h"

/* NULL: 0. */
int env_text (struct strbuf *sb, const char *text);
int env_number (struct strbuf *sb, uint64_t n);

/* The variables of the submission, or of the client of the step. */
char *const *env_of_user (const struct env_context *ctx, size_t *ret_n);

/* -- env_mpi.c -- */

int env_mpi_hostfile (const struct env_context *ctx, struct strbuf *sb);
int env_not_flux (const struct env_context *ctx, struct strbuf *sb);
int env_single_copy (const struct env_context *ctx, struct strbuf *sb);
int env_loopback (const struct env_context *ctx, struct strbuf *sb);
int env_mpi_directory (const struct env_context *ctx, const char *name,
                       struct strbuf *sb);

/* -- env_hosts.c -- */

int env_host_name (const struct env_context *ctx, struct strbuf *sb);
int env_master_address (const struct env_context *ctx, struct strbuf *sb);
int env_nodelist (const struct env_context *ctx, struct strbuf *sb);
int env_step_nodelist (const struct env_context *ctx, struct strbuf *sb);
int env_hostlist (const struct env_context *ctx, struct strbuf *sb);
int env_step_hostlist (const struct env_context *ctx, struct strbuf *sb);

/* -- env_het.c -- */

/* The component of the task's node. */
struct launch_component env_component (const struct env_context *ctx);
/* Whether the variables of the job are also about that rank: it is of a component in which
 * the step has tasks, or of that of the task's own node if it is no task of a step. */
bool env_has_rank (const struct env_context *ctx, uint32_t rank);
int env_het_size (const struct env_context *ctx, struct strbuf *sb);
/* Variables of all components, NAME=VALUE; env_het_most(): at most so many. Calls add for
 * each, which takes over the text. 0 or negative errno. */
size_t env_het_most (const struct launch *l);
int env_het_each (const struct env_context *ctx, int (*add) (void *arg, char *text),
                  void *arg);
/* Whether NAME=VALUE is of a component. */
bool env_is_of_component (const char *assignment);

/* -- env_slurm.c -- */

/* Room for the number of the process, which the process itself writes. */
#define ENV_PID "SLURM_TASK_PID"
#define ENV_PID_ROOM "0000000000"

int env_umask (const struct env_context *ctx, struct strbuf *sb);
int env_node_pattern (const struct env_context *ctx, struct strbuf *sb);
int env_group (const struct env_context *ctx, struct strbuf *sb);
int env_task_pid (const struct env_context *ctx, struct strbuf *sb);
int env_client_address (const struct env_context *ctx, struct strbuf *sb);
int env_distribution (const struct env_context *ctx, struct strbuf *sb);
int env_plane_size (const struct env_context *ctx, struct strbuf *sb);
int env_cpu_bind (const struct env_context *ctx, struct strbuf *sb);
int env_cpu_bind_type (const struct env_context *ctx, struct strbuf *sb);
int env_cpu_bind_list (const struct env_context *ctx, struct strbuf *sb);
int env_cpu_bind_verbose (const struct env_context *ctx, struct strbuf *sb);

/* -- env_gpus.c -- */

/* The GPUs of the job or step on this node, as an idset. */
int env_gpus (const struct env_context *ctx, struct strbuf *sb);
/* The GPUs of the task: its own, or all of the job or step on this node. */
int env_devices (const struct env_context *ctx, struct strbuf *sb);
/* The GPUs of the job on this node. */
int env_job_gpus (const struct env_context *ctx, struct strbuf *sb);
int env_step_gpus (const struct env_context *ctx, struct strbuf *sb);
int env_gpus_on_node (const struct env_context *ctx, struct strbuf *sb);
