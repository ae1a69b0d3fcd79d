/* local.h - jobs as processes of this machine: the executor's parts
 *
 *   local.c    configuration, virtual nodes, the verbs of struct exec_ops
 *   run.c      one job from its files to the end of its agents, with files.c and spool.c
 *   cleanup.c  the end of a job: its last process and its files
 *   resize.c   changes the size of a running job
 *   admin.c    the administrator's prolog and epilog around a job
 *   agents.c   agents as processes: spawn, reap, find again after a restart, end orphans
 *   remains.c  cgroups of jobs; orphans when agents and broker were killed at one moment
 */
#pragma once

#include "exec/agentlink.h"
#include "common/gputype.h"
#include "exec/exec.h"
#include "exec/topology.h"
#include "launch/launcher.h"

/* -- agents.c -- */

/* An agent is one process (its guardian), whose job gets on_exit once, on the loop. */
struct agents;
typedef void (*agent_exit_f) (uint32_t rank, int status, bool status_known, void *arg);

/* Becomes a subreaper, so that this process inherits the orphans of a killed agent; finds
 * the agents of jobs in STATE_DIR/jobs that run already. on_no_strays: agents_strays() is false again. */
struct agents *agents_create (const struct exec_host *host,
                              void (*on_no_strays) (void *arg), void *arg,
                              struct error *err);
void agents_destroy (struct agents *a); /* processes continue */
/* Spawns an agent. argv: the agent's, with its path first, including its rank. Its stderr
 * is that of the broker. 0 or a negative errno. */
int agents_spawn (struct agents *a, char *const argv[], uint32_t rank,
                  agent_exit_f on_exit, void *arg, struct error *err);
/* As agents_spawn(), by fluxq-launch (launcher.h), which also ends the orphans of an agent
 * before it tells of the agent's end. */
int agents_launch (struct agents *a, const struct launcher_agent *agent,
                   agent_exit_f on_exit, void *arg, struct error *err);
/* The same for a prolog or epilog, see launcher_admin(). */
int agents_launch_admin (struct agents *a, const char *program, int seconds,
                         const struct strbuf *variables, int report, uint32_t rank,
                         agent_exit_f on_exit, void *arg, struct error *err);
/* Sends a signal to a process, as root or by fluxq-launch. 0 or negative errno. */
int process_signal (int pidfd, int signum);
/* Whether the job has an agent of a rank from first to last. */
bool agents_have (const struct agents *a, const void *arg, uint32_t first, uint32_t last);
/* Adopts agents of this launch file (and owner) that an earlier broker left running:
 * on_exit for each; returns their number. They are no children, so their status is not
 * known. */
size_t agents_adopt (struct agents *a, const char *launch_path, uid_t uid,
                     agent_exit_f on_exit, void *arg);
/* Returns whether such an agent of rank 0 runs, since only rank 0 can have started
 * anything. Changes nothing. */
bool agents_running (const struct agents *a, const char *launch_path, uid_t uid);
/* Sends SIGKILL to such agents, without on_exit. */
void agents_end (struct agents *a, const char *launch_path, uid_t uid);
/* Signals the agents of a job (on_exit's arg names the job), from rank first on. */
void agents_signal (struct agents *a, const void *arg, uint32_t first, int signum);
/* Sends SIGKILL to a job's agents and leaves no process behind. If an agent is no child
 * of ours, we do not inherit its orphans: its guardian stays to end them, and must be
 * killed later if it does not end. */
void agents_kill (struct agents *a, const void *arg);
/* Returns whether an agent with this wait status has ended its job's processes before
 * itself. */
bool agent_cleared_away (int status);
/* Returns whether orphans may remain of agents that did not. Orphans are killed when we
 * inherit them, each after its parent's end. */
bool agents_strays (const struct agents *a);
/* Calls on_exit for arg no more. */
void agents_forget (struct agents *a, const void *arg);
/* Kills agents found at the start that belong to none of these jobs (sorted ids); the
 * others wait for adoption. */
void agents_end_strays (struct agents *a, const uint64_t *live, size_t nlive);

/* Sends SIGKILL to the processes for which is_meant is true, to all of their sessions,
 * and to the descendants of these; returns the number of the former. On any thread. */
size_t processes_kill (bool (*is_meant) (pid_t pid, void *arg), void *arg);

/* -- what all parts share -- */

struct exec {
    const struct exec_host *host;
    struct httpc *http;
    struct agents *agents;
    struct remains *remains;
    char *cgroup; /* as configured, see remains.h; NULL: "auto" */
    int64_t nodes, cores, gpus, memory_mib;
    char gpu_type[GPU_TYPE_MAX + 1]; /* or "" */
    struct gres_list gres;    /* of each node */
    struct topology topology; /* levels by consecutive nodes */
    uv_timer_t announce;      /* announces the nodes, on the first turn of the loop */
    struct local_job *jobs;   /* DL list */
};

/* -- admin.c -- */

struct local_admin;
/* Runs job->prolog or job->epilog for ranks `from` to `to` - 1; calls done once all have
 * ended, from the loop, not from within. NULL: no memory. job must outlive the result.
 * Reports each node with a failure by host->node_failed(). */
struct local_admin *admin_start (struct exec *x, const struct exec_job *job, bool epilog,
                                 size_t from, size_t to,
                                 void (*done) (struct local_admin *a, void *arg),
                                 void *arg);
/* Ends the running programs; done comes as usual. */
void admin_end (struct local_admin *a);
/* The reason for the failure, for the user; NULL: none failed. And the nodes; NULL: a
 * program could not be started. */
const char *admin_failure (const struct local_admin *a);
const struct hostlist *admin_failed_nodes (const struct local_admin *a);
/* > 0: the errno of a shortage of the machine that prevented the start. */
int admin_shortage (const struct local_admin *a);
/* done does not come any more; running programs continue. */
void admin_free (struct local_admin *a);

/* -- run.c -- */

struct local_job;
void local_job_start (struct exec *x, struct exec_job *job);
void local_job_terminate (struct exec *x, struct exec_job *job, const char *reason,
                          double grace);
int local_job_signal (struct exec *x, struct exec_job *job, int signum,
                      enum exec_whom whom, int64_t step, void (*done) (int rc, void *arg),
                      void *arg, struct error *err);
int local_job_steps (struct exec *x, struct exec_job *job, bool fresh,
                     exec_steps_fn *done, void *arg, struct error *err);
void local_job_limit (struct exec *x, struct exec_job *job);
int local_job_connect (struct exec *x, struct exec_job *job,
                       const struct agentstream_events *ev, void *arg,
                       struct agentstream **ret, struct error *err);

/* -- cleanup.c -- */
void local_job_cleanup (struct exec *x, struct exec_job *job);
void local_jobs_no_strays (void *x); /* on_no_strays */

/* -- local_job.c -- */
void local_jobs_forget (struct exec *x); /* at destroy */

/* -- recover.c -- */
void local_job_recover (struct exec *x, struct exec_job *job);

/* -- resize.c -- */
void local_job_resize (struct exec *x, struct exec_job *job);
