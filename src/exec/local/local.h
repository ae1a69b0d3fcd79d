/* local.h - jobs as processes of this machine: the executor's parts
 *
 *   local.c    configuration, virtual nodes, the verbs of struct exec_ops
 *   run.c      one job from its files to its last process, with files.c and spool.c
 *   resize.c   one that becomes another size
 *   admin.c    the administrator's prolog and epilog around a job
 *   agents.c   agents as processes: spawn, reap, find again after a restart, end what they left
 *   remains.c  cgroups of jobs, and what is left when agents and broker were killed at one moment
 */
#ifndef FLUXQ_EXEC_LOCAL_LOCAL_H
#define FLUXQ_EXEC_LOCAL_LOCAL_H

#include "exec/agentlink.h"
#include "exec/exec.h"
#include "exec/topology.h"

/* -- agents.c -- */

/* One agent process (its guardian). The job that has it gets on_exit once, on the loop;
 * then it is freed. */
struct agent_process;
struct agents;
typedef void (*agent_exit_f) (uint32_t rank, int status, bool status_known, void *arg);

/* Becomes a subreaper, so that what a killed agent leaves behind comes to us; notes the
 * agents that run already. on_no_strays: agents_strays() says false again. */
struct agents *agents_create (uv_loop_t *loop, void (*on_no_strays) (void *arg),
                              void *arg, struct error *err);
void agents_destroy (struct agents *a); /* processes go on */
/* argv as of the agent's, with rank among them; runs in directory dir_fd, its stderr goes to
 * log_fd. NULL: errno in err. */
struct agent_process *agents_spawn (struct agents *a, const char *path,
                                    char *const argv[], uint32_t rank, int log_fd,
                                    agent_exit_f on_exit, void *arg, struct error *err);
/* Whether one of a job's agents runs, by its rank; any from that rank on. Signal these. */
bool agents_have (const struct agents *a, const void *arg, uint32_t rank);
bool agents_have_from (const struct agents *a, const void *arg, uint32_t rank);
void agents_signal_from (struct agents *a, const void *arg, uint32_t rank, int signum);
/* Agents of this launch file (and owner) that an earlier broker left running: on_exit for
 * each; their number. They are no children, so their status is not known. */
size_t agents_adopt (struct agents *a, const char *launch_path, uid_t uid,
                     agent_exit_f on_exit, void *arg);
/* Whether the one of rank 0 is among them, which alone can have started anything; changes
 * nothing. */
bool agents_running (const struct agents *a, const char *launch_path, uid_t uid);
/* SIGKILL to such agents; nobody hears of their end. */
void agents_end (struct agents *a, const char *launch_path, uid_t uid);
/* Signal all processes of a job's agents (on_exit's arg names it). */
void agents_signal (struct agents *a, const void *arg, int signum);
/* SIGKILL to a job's agents so that nothing of theirs is left: what an agent that is no
 * child of ours leaves would not come to us, so its guardian stays to see to it, and must
 * be killed later if it does not end. */
void agents_kill (struct agents *a, const void *arg);
/* Whether an agent with this wait status has ended its job's processes before itself. */
bool agent_cleared_away (int status);
/* Whether there may be processes of agents that have not: they were killed, or are when
 * they come to us, each after its parent's end. */
bool agents_strays (const struct agents *a);
/* No more on_exit for arg. */
void agents_forget (struct agents *a, const void *arg);
/* The same to the agents found at the start that belong to none of these jobs (sorted
 * ids); what the others wait for is to be adopted. */
void agents_end_strays (struct agents *a, const char *jobs_dir, const uint64_t *live,
                        size_t nlive);

/* SIGKILL to the processes that are meant, to all of their sessions, and to what descends from
 * these; how many were meant. On any thread. */
size_t processes_kill (bool (*is_meant) (pid_t pid, void *arg), void *arg);

/* -- run.c -- */

struct exec {
    const struct exec_host *host;
    struct httpc *http;
    struct agents *agents;
    struct remains *remains;
    char *cgroup; /* as configured, see remains.h; NULL: "auto" */
    int64_t nodes, cores, gpus, memory_mib;
    struct gres_list gres;    /* of each node */
    struct topology topology; /* levels by nodes in a row */
    uv_timer_t announce;      /* the nodes, on the first turn of the loop */
    struct local_job *jobs;   /* DL list */
};

/* -- admin.c -- */

struct local_admin;
/* Run job->prolog or job->epilog for ranks from `from` to `to` - 1; done once all have ended, from the loop,
 * not from within. NULL: no memory. job must outlive it. Each node on which it failed is
 * told by host->node_failed(). */
struct local_admin *admin_start (struct exec *x, const struct exec_job *job, bool epilog,
                                 size_t from, size_t to,
                                 void (*done) (struct local_admin *a, void *arg),
                                 void *arg);
/* Those that run shall end; done comes as ever. */
void admin_end (struct local_admin *a);
/* Why it failed, for the user; NULL: it did not. And the nodes, or NULL: it could not be
 * started. */
const char *admin_failure (const struct local_admin *a);
const struct hostlist *admin_failed_nodes (const struct local_admin *a);
/* > 0: it could not be started for this errno, a shortage of the machine. */
int admin_shortage (const struct local_admin *a);
/* done does not come any more; what runs goes on. */
void admin_free (struct local_admin *a);

/* -- run.c -- */

struct local_job;
void local_job_start (struct exec *x, struct exec_job *job);
void local_job_terminate (struct exec *x, struct exec_job *job, const char *reason,
                          double grace);
int local_job_signal (struct exec_job *job, int signum, enum exec_whom whom, int64_t step,
                      void (*done) (int rc, void *arg), void *arg, struct error *err);
void local_job_limit (struct exec_job *job);
int local_job_connect (struct exec_job *job, const struct agentstream_events *ev,
                       void *arg, struct agentstream **ret, struct error *err);
void local_job_cleanup (struct exec *x, struct exec_job *job);
void local_jobs_no_strays (void *x);     /* on_no_strays */
void local_jobs_forget (struct exec *x); /* at destroy */

/* -- recover.c -- */
void local_job_recover (struct exec *x, struct exec_job *job);

/* -- resize.c -- */
void local_job_resize (struct exec *x, struct exec_job *job);

#endif
