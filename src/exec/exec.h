/* exec.h - the interface of an executor: it offers nodes and runs allocated jobs on them
 *
 * The broker calls the verbs of `struct exec_ops`; the executor calls back through
 * `struct exec_host`. All calls are made on the loop's thread. An executor never calls
 * back from within a verb; it reports on a later turn of the loop.
 *
 *   start --> ready --> finished --> (broker) cleanup --> [released -->] cleaned
 *     |                    ^
 *     +-> start_failed ----|----> cleanup --> [released -->] cleaned
 *
 * The broker calls start() only after `alloc` is on disk. Every executor promises:
 * start() for a job that is already running there (also after a crash of the broker)
 * starts nothing a second time; after cleaned() no process and no object of the job is
 * left, and its output is on disk.
 */
#pragma once

#include <sys/types.h>
#include <uv.h>

#include "common/yaml.h"
#include "exec/topology.h"
#include "jobspec/jobspec.h"
#include "match/machine/machine.h"
#include "match/machine/rset.h"

struct exec; /* an instance */
struct exec_claim;
struct agentstream;
struct agentstream_events;

/* The answer of a review: rc 0 and the account as NAMESPACE/NAME; -EACCES: the token is
 * not accepted; -EAGAIN: there is no answer. why: the reason of a failure, for people. */
typedef void exec_review_f (int rc, const char *account, const struct error *why,
                            void *arg);

struct exec_user {
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    size_t ngroups;
    char **group_names; /* the name of each of groups, NULL: it has no name; the array
                         * itself may be NULL */
    char *name, *home, *shell;
};

/* The processes that a signal is sent to; the words are those of agent_api.h. */
enum exec_whom { EXEC_WHOM_TASKS, EXEC_WHOM_STEPS, EXEC_WHOM_BATCH, EXEC_WHOM_FULL };
#define EXEC_NO_STEP (-1)

/* Time limits of a start, from start() until all ranks are ready, in seconds, all > 0
 * (startclock.h). While an image is pulled, only the clock of `pull` runs. */
struct exec_limits {
    double start; /* in total */
    double place; /* part of start: until every rank has a place on its node */
    double pull;
};

/* The reason why a start failed. */
struct exec_start_failure {
    const char *text;  /* for the user, one line */
    bool retry;        /* another attempt may succeed */
    /* hostlist: the nodes where it failed, which the next attempt avoids; NULL: no
     * particular node */
    const char *nodes;
    /* hostlist: the nodes among these that may be broken. A node is no suspect if the
     * cause belongs to the job (its image, its memory), if the owner can cause it (end
     * the agents), or if a race was lost. NULL: none */
    const char *suspects;
    /* node_failed() has reported these nodes: the job has done nothing, and the broker
     * requeues it at once, any number of times */
    bool drained;
    /* > 0: the broker's machine, not the user, is short of something (ENOSPC, EMFILE,
     * ...). All starts wait until the shortage is over, and this attempt does not count.
     * The broker reads no other field but the text */
    int pause_errno;
};

/* Amounts of a node, in the executor's own resolution. */
struct exec_amounts {
    int64_t cpu_milli; /* thousandths of a core */
    int64_t memory;    /* bytes */
    int64_t gpus;
};

/* Nodes of one kind that do not exist but can be made: a node group of an autoscaler. */
#define EXEC_GROUPS_MAX 64
struct exec_group {
    const char *name;
    struct machine_node_spec node; /* describes each of the nodes; name: NULL */
    uint32_t possible;             /* number of nodes that can still be made */
    double delay;                  /* estimated seconds until a new node is there, >= 0 */
};

/* Nodes of a group that a pending job lacks and that shall be made for it. */
struct exec_need {
    uint64_t job;
    size_t group; /* index in the list of the last host->groups() */
    uint32_t nodes;
    uint32_t cores, gpus; /* the most that the job would take of each node */
    int64_t memory_mib;
};

#define EXEC_NEED_TEXT 320
struct exec_need_state {
    double asked; /* unix time at which the nodes were asked for, 0: they were not */
    char text[EXEC_NEED_TEXT]; /* the latest news about them: one line, or "" */
};

/* An object that others made in the executor's cluster and that shall run as a job. The
 * broker queues and plans it like any job; start() lets it run where R says. It has no
 * agent. */
struct exec_foreign {
    const char *key;   /* identifies this object, and no other, forever */
    const char *name;  /* for people: "Job team-a/train" */
    const char *owner; /* the user who will own the job */
    int urgency;       /* 1 to 31 */
    const json_t *jobspec;
};

/* The state of the job of a foreign object. */
struct exec_foreign_state {
    uint64_t id;
    const char *key, *name;
    const char *state, *reason, *text; /* PENDING, Resources, a sentence; "" */
    bool active;                       /* the job has nodes */
    bool ended, cancelled;
};

/* A malleable job changes its number of nodes, or did so when the broker restarted and
 * the outcome is not known. */
struct exec_resize {
    bool active;
    uint32_t generation;  /* number of the change; each change has a greater one */
    uint32_t nodes, from; /* ranks 0 to nodes - 1, instead of 0 to from - 1 */
    /* seconds between the message to the job and the end of its tasks on the nodes that
     * it loses */
    double grace;
};

/* A job as executors see it. The broker owns it; it stays valid from start() or recover()
 * until cleaned() has returned. */
struct exec_job {
    uint64_t id;
    unsigned attempt;    /* 0, 1, ... : restarts so far; part of object names */
    uint64_t array_job;  /* the array that the job is a task of; 0: none */
    uint32_t array_task; /* its index in the array; js->array has all indices */
    const char *adopted, *adopted_key; /* the foreign object that the job runs, see
                                        * exec_foreign; or NULL */
    /* unix time at which the job became ready in this attempt; 0: it did not */
    double started;
    double t_submit, t_eligible, t_alloc; /* unix times of this attempt */
    const char *requeue_reason; /* why this is not the first attempt, or NULL */
    const char *name, *queue;
    const char *cluster; /* name of the broker's cluster, or NULL */
    /* namespace of its queue when it was allocated, see namespaces.h; NULL: none */
    const char *namespace_;
    struct exec_user user;
    const struct jobspec *js;
    const struct rset *r;
    /* while resize.active, r has all ranks: the old and the new */
    struct exec_resize resize;
    double time_limit;   /* seconds from the start, 0: none */
    bool limit_changed;  /* since start(): the agent must be told */
    int nice;            /* of the job's processes, 0 to 19 */
    double grace;        /* seconds between SIGTERM and SIGKILL */
    /* --no-requeue: must not start again once the user's instructions may have run */
    bool once;
    uint64_t output_max; /* size limit of the spool in bytes, see output_limit.h; 0: none */
    struct exec_limits limits;
    json_t *mounts; /* of the job's queue, see mounts.h, or NULL */
    /* The administrator's programs, which run for each rank before and after its tasks;
     * NULL: none. Absolute paths on the broker's machine. */
    const char *prolog, *epilog;
    double admin_timeout; /* time limit of each in seconds, >= 1 */
    /* the job's own directory STATE/jobs/ID; exists, belongs to the user, mode 0700 */
    const char *dir;
    /* DIR/spool-ATTEMPT: frames (protocol/frame.h); fluxq-logs reads it */
    const char *spool;
    void *aux;  /* for the executor */
};

struct exec_host { /* the broker's callbacks; arg is the first argument of each */
    void *arg;
    uv_loop_t *loop;
    const char *state_dir, *runtime_dir;
    const char *cluster_id;   /* label value of objects, unique to this broker */
    const char *shell_path;   /* the agent's binary */
    struct exec_claim *claim; /* the claim made before, or NULL */
    /* Nodes. node_foreign: the part of a node that foreign pods use. */
    void (*node) (void *arg, const struct machine_node_spec *spec,
                  enum machine_node_state state, const char *reason);
    void (*node_foreign) (void *arg, const char *name, uint32_t cores, uint32_t gpus,
                          int64_t memory_mib, const struct gres_list *gres);
    /* Reports what is left in the zones of a node that has zones; copied. */
    void (*node_zones) (void *arg, const char *name, const struct machine_report *report);
    void (*node_gone) (void *arg, const char *name);
    /* The administrator's own program reports a fault of the node: the broker drains the
     * node until an operator resumes it. */
    void (*node_failed) (void *arg, const char *name, const char *reason);
    /* All kinds of nodes that can be made: before nodes_complete() and after each change.
     * At most EXEC_GROUPS_MAX; the list stays valid until the next call or destroy(). */
    void (*groups) (void *arg, const struct exec_group *list, size_t n);
    /* The first full list was reported: recovery may begin. */
    void (*nodes_complete) (void *arg);
    /* Asks for a job for this object. The broker answers with exec_ops.adopted(), now or
     * later. After that, another adopt() with the same key gives the same job. Only after
     * the first sweep(). */
    void (*adopt) (void *arg, const struct exec_foreign *f);
    /* The object of this job is gone: the broker cancels the job. text: one line. */
    void (*adopt_gone) (void *arg, uint64_t id, const char *text);
    /* jobs */
    void (*ready) (void *arg, uint64_t id); /* all ranks are ready, tasks start */
    void (*start_failed) (void *arg, uint64_t id, const struct exec_start_failure *why);
    /* The job has ended, after ready(). status: wait status; reason: as in the FINISH
     * frame of frame.h ("exited", "signaled", "timeout", "cancelled", "lost", "oom");
     * text: one line. */
    void (*finished) (void *arg, uint64_t id, int status, const char *reason,
                      const char *text);
    /* No process of the job runs any more and other jobs may use its nodes, but some of
     * its objects are not removed yet. An executor without anything to remove in between
     * omits this call. */
    void (*released) (void *arg, uint64_t id);
    /* Answers resize(). done: the job has its new nodes, and nothing of it runs on
     * others. Not done: new nodes did not come (text: one line says why), and the broker
     * calls resize() to change back. */
    void (*resized) (void *arg, uint64_t id, uint32_t generation, bool done,
                     const char *text);
    void (*cleaned) (void *arg, uint64_t id);
    /* The spool has grown or ended (fluxq-logs -f waits for this). */
    void (*output) (void *arg, uint64_t id);
    /* The usage of a step: the text of a FRAME_USAGE (stepuse.h). A program of the user
     * may have written the text. Before finished(); a step may be reported more than
     * once. */
    void (*usage) (void *arg, uint64_t id, const char *text, size_t len);
    /* An operation on the broker's machine failed with this errno; the executor tries it
     * again, and starts wait meanwhile. what: one line for the log, with the reason. */
    void (*shortage) (void *arg, const char *what, int errnum);
    /* A command inside the job waits for the broker (FRAME_CALL, protocol/inside.h). After a
     * restart of either side the report may be repeated. */
    void (*call) (void *arg, uint64_t id);
    /* Whether this child of the broker's process is the broker's own, and no process of a
     * job. */
    bool (*is_own) (void *arg, pid_t pid);
    /* A line for the job's record ("image is being pulled on node2"). */
    void (*note) (void *arg, uint64_t id, const char *text);
};

/* An option of fluxqd that chooses an executor. */
struct exec_option {
    const char *name, *arg, *help; /* as in option.h; name NULL ends the list */
    const char *key;   /* arg is the value of this setting; NULL: there is no arg */
    int64_t min, max;  /* arg is a number in this range; both 0: any text */
    /* The broker is its user's own: the system's fluxq.yaml is not read. */
    bool personal;
};

/* rc 0 and the text (not NUL-terminated, gone afterwards) of GET /v1/steps, see
 * protocol/agent_api.h; or negative errno and NULL. */
typedef void exec_steps_fn (int rc, const char *text, size_t len, void *arg);

/* See exec_ops.separate. */
struct exec_separation {
    uid_t owner; /* the broker's user from now on */
    gid_t group;
    const char *state_dir;
};

struct exec_ops {
    const char *name; /* of the executor in fluxq.yaml, and of its mapping there */
    bool is_default;  /* for a fluxq.yaml that names none; one of all has this */
    /* jobs are processes of this machine, so only root can run jobs of other users */
    bool runs_here;
    const struct exec_option *options;
    /* config: this executor's YAML mapping or NULL; doc: for line and column of
     * errors. */
    int (*create) (const struct exec_host *host, const struct yaml_doc *doc,
                   json_t *config, struct exec **ret, struct error *err);
    /* Checks the mapping as create() does, for fluxqd --check, and starts nothing. */
    int (*check_config) (const struct yaml_doc *doc, json_t *config, struct error *err);
    /* Returns what the administrator's prolog and epilog lack under this configuration:
     * the rest of a sentence. NULL: nothing. The verb itself NULL: they lack nothing. */
    const char *(*no_admin) (const json_t *config);
    /* Called as root, before the broker becomes another user (`user` in fluxq.yaml) and
     * before create(): makes what only root can make. NULL: there is nothing to do. */
    int (*separate) (const struct yaml_doc *doc, json_t *config,
                     const struct exec_separation *by, struct error *err);
    enum topology_kind topology; /* for its setting `topology`, see topology.h */
    /* Waits until no other broker acts for this cluster id. Called before create() and
     * before anything of the state is touched. Runs the host's loop. *ret NULL: there is
     * nothing to claim. The verb itself NULL: there can be no other broker. */
    int (*claim) (const struct exec_host *host, const struct yaml_doc *doc,
                  json_t *config, struct exec_claim **ret, struct error *err);
    /* Starts a program of the broker that belongs to no job: argv[0] is its path. done is
     * called on the loop, with its wait status, if known; not after destroy(). 0 or a
     * negative errno. NULL: the broker starts it itself. An executor that looks for
     * processes of jobs among the broker's children has it. */
    int (*spawn) (struct exec *x, char *const argv[],
                  void (*done) (uint32_t zero, int status, bool known, void *arg),
                  void *arg, struct error *err);
    void (*destroy) (struct exec *x); /* running jobs continue; handles are closed */
    /* The settings of each queue's pods: {"batch": {...}, ...}, see podset.h. Called
     * after create() and after each change. From then on each node has a property
     * "queue:NAME" for each queue that may use it, as podset_selects() says. NULL: the
     * executor has no pods. */
    int (*queues) (struct exec *x, const json_t *sets);
    /* Checks at submit what only the executor knows (for instance that an image is
     * needed). queue: its name; mounts: the mounts of the queue, or NULL. */
    int (*check) (struct exec *x, const struct jobspec *js, const char *queue,
                  const json_t *mounts, uid_t uid, struct error *err);
    /* Returns the name of a resource on the nodes where it differs from the name in
     * requests ("hca": "rdma/hca"), borrowed; NULL: none. The verb itself NULL: no other
     * names. */
    const char *(*resource) (const struct exec *x, const char *type);
    /* Returns why jobs cannot have parts of a CPU under this configuration: a sentence
     * for the user who asks for them. NULL: they can, see machine_divide_cpus(). The verb
     * itself NULL: they cannot. */
    const char *(*no_parts) (const json_t *config);
    void (*start) (struct exec *x, struct exec_job *job);
    /* After a restart of the broker, for a job in RUN: finds the running job and reports
     * ready() and finished() as usual; starts the job if it was never started. */
    void (*recover) (struct exec *x, struct exec_job *job);
    void (*terminate) (struct exec *x, struct exec_job *job, const char *reason,
                       double grace);
    /* Opens a stream of bytes to the agent of rank 0, which serves it as a client of the
     * job's steps (agentstream.h). The caller owns *ret, also beyond the job's end.
     * -ESRCH: the job does not run; -EBUSY: it is not found again yet after recover();
     * -EOPNOTSUPP: it has no agents. */
    int (*connect) (struct exec *x, struct exec_job *job,
                    const struct agentstream_events *ev, void *arg,
                    struct agentstream **ret, struct error *err);
    /* Sends a signal to the tasks of a step (whom is ignored), or with EXEC_NO_STEP to
     * whom. signum 0: end that step. -ESRCH, -EBUSY and -EOPNOTSUPP as connect().
     * Otherwise done() is called once, later. rc 0: sent; -ENOENT: there is no such step,
     * or no batch script; -ESRCH: the job has ended meanwhile; others: the agent was not
     * reached, or refused. */
    int (*signal) (struct exec *x, struct exec_job *job, int signum, enum exec_whom whom,
                   int64_t step, void (*done) (int rc, void *arg), void *arg,
                   struct error *err);
    /* Asks the agent which steps run now, and with fresh for new figures. -ESRCH, -EBUSY
     * and -EOPNOTSUPP as connect(). Otherwise done() is called once, later; rc -ESRCH: the
     * job has ended meanwhile; others: the agent was not reached. */
    int (*steps) (struct exec *x, struct exec_job *job, bool fresh, exec_steps_fn *done,
                  void *arg, struct error *err);
    /* job->time_limit has changed, and job->limit_changed is set: tells the agent, now or
     * as soon as there is one. The new limit holds from then on. */
    void (*limit) (struct exec *x, struct exec_job *job);
    /* Brings about the change in job->resize, which is active, then calls
     * host->resized(). The broker calls it again after a restart, after recover(), and to
     * replace a change under way (new nodes are not wanted after all). A job that ends
     * meanwhile ends as usual. NULL: the executor's jobs cannot be malleable. */
    void (*resize) (struct exec *x, struct exec_job *job);
    /* Removes everything of this attempt (also if it was never started or was lost), then
     * calls cleaned(). */
    void (*cleanup) (struct exec *x, struct exec_job *job);
    /* Removes all objects with this broker's mark that belong to none of these jobs
     * (sorted ids). */
    void (*sweep) (struct exec *x, const uint64_t *live, size_t nlive);
    /* The nodes that jobs lack now and that can be made, in the order of the queue. The
     * executor asks for entries that are new in the list, and withdraws those that are
     * not in it any more. A job that starts meanwhile lacks nothing. NULL: the executor
     * has no groups. */
    void (*needs) (struct exec *x, const struct exec_need *list, size_t n);
    /* Returns the state of an entry of the last list. */
    void (*need_state) (struct exec *x, uint64_t job, size_t group,
                        struct exec_need_state *ret);
    /* The answer to host->adopt(): the job's number; or 0, the reason, and whether to ask
     * again later. NULL, like foreign_state, if the executor adopts nothing. */
    void (*adopted) (struct exec *x, const char *key, uint64_t id, bool again,
                     const char *text);
    /* The state of each adopted job that has not ended: before the first sweep(), and
     * after each change. The reason of a pending job is repeated every few seconds. */
    void (*foreign_state) (struct exec *x, const struct exec_foreign_state *s);
    /* For people: the total of this node and the part that others use, before rounding to
     * what is offered. 0 or -ENOENT. NULL: the executor counts in whole cores and MiB. */
    int (*amounts) (struct exec *x, const char *node, struct exec_amounts *ret_all,
                    struct exec_amounts *ret_foreign);
    /* Asks which service account the token for the audience is of. done is called once,
     * within about 10 s, never from within this call; not after destroy(). 0, or
     * -EAGAIN or -ENOMEM with a reason: done is not called. NULL: there are no service
     * accounts. */
    int (*review) (struct exec *x, const char *token, const char *audience,
                   exec_review_f *done, void *arg, struct error *err);
};

extern const struct exec_ops *const executors[]; /* generated, NULL-terminated */

/* exec.c */
/* NULL: there is none of that name. */
const struct exec_ops *exec_find (const char *name);
/* The executor with is_default. */
const struct exec_ops *exec_default (void);
