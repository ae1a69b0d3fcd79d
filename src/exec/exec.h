/* exec.h - what an executor is: it offers nodes and runs allocated jobs on them
 *
 * The broker calls the verbs of `struct exec_ops`, the executor calls back through
 * `struct exec_host`; all on the loop's thread, and never from within a verb (an executor
 * reports on a later turn of the loop).
 *
 *   start --> ready --> finished --> (broker) cleanup --> [released -->] cleaned
 *     |                    ^
 *     +-> start_failed ----|----> cleanup --> [released -->] cleaned
 *
 * Promise of every executor: start() is called only after `alloc` is on disk; start() for
 * a job that is already running there (also after a crash of the broker) starts nothing a
 * second time; after cleaned() no process and no object of the job is left, and its
 * output is on disk.
 */
#ifndef FLUXQ_EXEC_EXEC_H
#define FLUXQ_EXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/yaml.h"
#include "exec/topology.h"
#include "jobspec/jobspec.h"
#include "match/machine.h"
#include "match/rset.h"

struct exec; /* an instance */
struct exec_claim;
struct agentstream;
struct agentstream_events;

struct exec_user {
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    size_t ngroups;
    char **group_names; /* of each of groups: NULL, it has none; or NULL as a whole */
    char *name, *home, *shell;
};

/* Whom a signal is for; the words of agent_api.h. */
enum exec_whom { EXEC_WHOM_TASKS, EXEC_WHOM_BATCH, EXEC_WHOM_FULL };
#define EXEC_NO_STEP (-1)

/* How long a start may take, from start() until all ranks are ready, in seconds, all > 0
 * (startclock.h). Time in which an image is pulled counts for `pull` alone. */
struct exec_limits {
    double start; /* in all */
    double place; /* of that, until every rank has a place on its node */
    double pull;
};

/* Why a start did not succeed. */
struct exec_start_failure {
    const char *text;  /* for the user, one line */
    bool retry;        /* worth another try */
    const char *nodes; /* hostlist: where it failed, to be avoided by the next try; NULL:
                        * nowhere in particular */
    const char *suspects; /* hostlist: those of them that may be broken: nothing that is the
                           * job's own (its image, its memory), nothing that its owner can
                           * do (end its agents), and no race that was lost; NULL: none */
    bool drained; /* these nodes were told by node_failed(): the job did nothing, and is
                   * queued again at once however often that happens */
    int pause_errno; /* > 0: the broker's own side is short of something (ENOSPC, EMFILE,
                      * ...), not its user's: all starts wait until that is over, and
                      * this one counts as none. The rest but the text is not looked at */
};

/* Of a node, as finely as its executor counts. */
struct exec_amounts {
    int64_t cpu_milli; /* thousandths of a core */
    int64_t memory;    /* bytes */
    int64_t gpus;
};

/* Nodes of one kind that do not exist, but could be made: a node group of an autoscaler. */
#define EXEC_GROUPS_MAX 64
struct exec_group {
    const char *name;
    struct machine_node_spec node; /* each of them; its name is NULL */
    uint32_t possible;             /* so many could still be made */
    double delay;                  /* seconds until one is there, about; >= 0 */
};

/* Nodes of a group that a job which waits lacks, and which are to be made for it. */
struct exec_need {
    uint64_t job;
    size_t group; /* index in what host->groups() was told last */
    uint32_t nodes;
    uint32_t cores, gpus; /* of each the job would take so much, at most */
    int64_t memory_mib;
};

#define EXEC_NEED_TEXT 320
struct exec_need_state {
    double asked; /* unix time at which somebody was asked for them, 0: nobody is */
    char text[EXEC_NEED_TEXT]; /* what is heard of it: one line, or "" */
};

/* What others made where the executor's nodes are, and want to be run as a job: it is queued and
 * planned as any, and start() lets it run where R says. It has no agent. */
struct exec_foreign {
    const char *key;   /* the same as long as there is that one thing, never another's */
    const char *name;  /* for people: "Job team-a/train" */
    const char *owner; /* the user whose job it is to be */
    int urgency;       /* 1 to 31 */
    const json_t *jobspec;
};

/* How it stands with its job. */
struct exec_foreign_state {
    uint64_t id;
    const char *key, *name;
    const char *state, *reason, *text; /* PENDING, Resources, a sentence; "" */
    bool active;                       /* it has nodes */
    bool ended, cancelled;
};

/* A malleable job is to have another number of nodes, or has since a restart nobody knows. */
struct exec_resize {
    bool active;
    uint32_t generation;  /* of the change; each has a greater one */
    uint32_t nodes, from; /* ranks 0 to nodes - 1, instead of 0 to from - 1 */
    double grace; /* seconds between what the job is told and the end of its tasks on
                           * nodes that it loses */
};

/* A job as executors see it. Owned by the broker, stays valid from start()/recover()
 * until cleaned() has returned. */
struct exec_job {
    uint64_t id;
    unsigned attempt;    /* 0, 1, ... : restarts so far; part of object names */
    uint64_t array_job;  /* it is a task of that array; 0: of none */
    uint32_t array_task; /* ... which one; js->array has all of them */
    const char *adopted, *adopted_key; /* what others made, see exec_foreign; or NULL */
    /* unix time at which it was ready, of who was before; 0: it was not */
    double started;
    double t_submit, t_eligible, t_alloc; /* unix times of this attempt's way */
    const char *requeue_reason; /* why there is another attempt than the first, or NULL */
    const char *name, *queue;
    /* its queue's when it was placed, see namespaces.h; NULL: none */
    const char *namespace_;
    struct exec_user user;
    const struct jobspec *js;
    const struct rset *r;
    /* while it is active r has all ranks, the old and the new */
    struct exec_resize resize;
    double time_limit;   /* seconds from the start, 0: none */
    bool limit_changed;  /* it is another one than at start(): the agent is to be told */
    int nice;            /* of its processes, 0 to 19 */
    double grace;        /* seconds between SIGTERM and SIGKILL */
    bool once; /* never to be started again once instructions of the user's may have run:
                * --no-requeue */
    uint64_t output_max; /* bytes that the spool may take, see cut.h; 0: any */
    struct exec_limits limits;
    json_t *mounts; /* of its queue, see mounts.h, or NULL */
    /* The administrator's programs, run for each rank before its tasks and after them; NULL:
     * none. Absolute paths here. */
    const char *prolog, *epilog;
    double admin_timeout; /* seconds that each may take, >= 1 */
    /* the job's own directory STATE/jobs/ID, exists, belongs to the user, 0700 */
    const char *dir;
    /* DIR/spool-ATTEMPT: frames (common/frame.h); fluxq-logs reads it */
    const char *spool;
    void *aux;  /* executor's */
};

struct exec_host { /* how the executor tells the broker; arg first */
    void *arg;
    uv_loop_t *loop;
    const char *state_dir, *runtime_dir;
    const char *cluster_id;   /* label value for objects, unique to this broker */
    const char *shell_path;   /* the agent's binary */
    struct exec_claim *claim; /* that was made before, or NULL */
    /* nodes; foreign: what others use */
    void (*node) (void *arg, const struct machine_node_spec *spec,
                  enum machine_node_state state, const char *reason);
    void (*node_foreign) (void *arg, const char *name, uint32_t cores, uint32_t gpus,
                          int64_t memory_mib, const struct gres_list *gres);
    /* What is left in the zones of a node that has such; copied. */
    void (*node_zones) (void *arg, const char *name, const struct machine_report *report);
    void (*node_gone) (void *arg, const char *name);
    /* The administrator's own program says that something is wrong with it: it takes no
     * more jobs until an operator says so. */
    void (*node_failed) (void *arg, const char *name, const char *reason);
    /* All kinds of nodes that could be made: before nodes_complete(), and when that changes. At
     * most EXEC_GROUPS_MAX; the list stays valid until the next call, or destroy(). */
    void (*groups) (void *arg, const struct exec_group *list, size_t n);
    void (*nodes_complete) (
        void *arg); /* the first full list was reported: recovery may begin */
    /* This is to be a job. Answered by exec_ops.adopted(), now or later; once it is, another
     * adopt() for the same key gives the same job. After the first sweep(). */
    void (*adopt) (void *arg, const struct exec_foreign *f);
    /* Of that job nothing is there any more: it is cancelled. text: one line. */
    void (*adopt_gone) (void *arg, uint64_t id, const char *text);
    /* jobs */
    void (*ready) (void *arg, uint64_t id); /* all ranks are there, tasks start */
    void (*start_failed) (void *arg, uint64_t id, const struct exec_start_failure *why);
    /* It is over (after ready). status: wait status; reason as frame.h's FINISH
     * ("exited", "signaled", "timeout", "cancelled", "lost", "oom"); text: one line. */
    void (*finished) (void *arg, uint64_t id, int status, const char *reason,
                      const char *text);
    /* Nothing of it runs any more, and its nodes may have other jobs; but objects of its are
     * still to be taken away. An executor with nothing to tell between the two leaves it
     * out. */
    void (*released) (void *arg, uint64_t id);
    /* Of resize(): the job has the nodes that it is to have, and nothing of it runs on others;
     * or (not done, with one line why) new ones did not come, and resize() back follows. */
    void (*resized) (void *arg, uint64_t id, uint32_t generation, bool done,
                     const char *text);
    void (*cleaned) (void *arg, uint64_t id);
    /* The spool grew or ended (fluxq-logs -f waits for this). */
    void (*output) (void *arg, uint64_t id);
    /* What a step has used: the text of a FRAME_USAGE (stepuse.h), as a program of the user's
     * may have written it. Before finished(); the same step may come again. */
    void (*usage) (void *arg, uint64_t id, const char *text, size_t len);
    /* Something on the broker's own side could not be done for that errno, and is tried
     * again by the executor: starts wait meanwhile. what: one line for the log, with
     * the reason. */
    void (*shortage) (void *arg, const char *what, int errnum);
    /* Anything worth a line in the job's record ("image is being pulled on node2"). */
    void (*note) (void *arg, uint64_t id, const char *text);
};

struct exec_ops {
    const char *name; /* "local", "kube" */
    /* jobs are processes of this machine: only root has them for others */
    bool runs_here;
    /* config: this executor's YAML mapping or NULL; doc: for errors with line and column.
     */
    int (*create) (const struct exec_host *host, const struct yaml_doc *doc,
                   json_t *config, struct exec **ret, struct error *err);
    /* The same checks of the mapping, for fluxqd --check: nothing is started. */
    int (*check_config) (const struct yaml_doc *doc, json_t *config, struct error *err);
    enum topology_kind topology; /* what its setting of that name says, see topology.h */
    /* Wait until no other broker acts for this cluster id: before anything of the state is
     * touched, before create(). Runs the host's loop. *ret NULL: nobody keeps watch over
     * that. The verb itself NULL: there can be no other. */
    int (*claim) (const struct exec_host *host, const struct yaml_doc *doc,
                  json_t *config, struct exec_claim **ret, struct error *err);
    void (*destroy) (struct exec *x); /* running jobs go on; handles are closed */
    /* How the pods of each queue are: {"batch": {...}, ...}, see podset.h. After create(), and
     * when it changes. From then on each node has the property "queue:NAME" of each queue
     * whose node it is, if podset_selects(). NULL: there are no pods. */
    int (*queues) (struct exec *x, const json_t *sets);
    /* Check at submit what only the executor knows (an image is needed, ...). queue: its
     * name; mounts: what the queue has of them, or NULL. */
    int (*check) (struct exec *x, const struct jobspec *js, const char *queue,
                  const json_t *mounts, uid_t uid, struct error *err);
    /* What its nodes have under another name than the one by which a request asks for it
     * ("hca": "rdma/hca"): that name, borrowed; NULL: none. The verb itself NULL: no other
     * names. */
    const char *(*resource) (const struct exec *x, const char *type);
    /* Why parts of a CPU cannot be had of it, configured like that: a sentence for who asks for
     * them. NULL: they can, see machine_divide_cpus(). The verb itself NULL: they cannot. */
    const char *(*no_parts) (const json_t *config);
    void (*start) (struct exec *x, struct exec_job *job);
    /* After a broker restart, for a job in RUN: pick it up and report ready/finished as
     * if nothing had happened; if it was never started, start it. */
    void (*recover) (struct exec *x, struct exec_job *job);
    void (*terminate) (struct exec *x, struct exec_job *job, const char *reason,
                       double grace);
    /* A stream of bytes to rank 0's agent, which takes its other end as a client of the
     * job's steps (agentstream.h): *ret is the caller's, also beyond the job's end. -ESRCH
     * when it does not run, -EBUSY when it was not found again yet after recover(), -EOPNOTSUPP
     * when it has no agents. */
    int (*connect) (struct exec *x, struct exec_job *job,
                    const struct agentstream_events *ev, void *arg,
                    struct agentstream **ret, struct error *err);
    /* step: to that step's tasks, and whom is not looked at; or EXEC_NO_STEP. signum 0: end
     * that step. -ESRCH, -EBUSY and -EOPNOTSUPP as connect(). Else done comes once, later, with what became
     * of it: 0; -ENOENT: there is no such step, or no batch script; -ESRCH: the job has ended
     * meanwhile; others: its agent could not be reached, or refused. */
    int (*signal) (struct exec *x, struct exec_job *job, int signum, enum exec_whom whom,
                   int64_t step, void (*done) (int rc, void *arg), void *arg,
                   struct error *err);
    /* job->time_limit is another one now, and job->limit_changed is set: tell its agent, now
     * or as soon as there is one. It holds from then on. */
    void (*limit) (struct exec *x, struct exec_job *job);
    /* job->resize is active, and is to be brought about: then host->resized(). Also again after
     * a restart, behind recover(), and in place of another one (new nodes are not wanted after
     * all). A job that ends meanwhile ends as ever. NULL: its jobs cannot be malleable. */
    void (*resize) (struct exec *x, struct exec_job *job);
    /* Remove everything of this attempt (also when it was never started or was lost),
     * then cleaned(). */
    void (*cleanup) (struct exec *x, struct exec_job *job);
    /* Remove whatever carries our mark and belongs to none of these jobs (sorted ids). */
    void (*sweep) (struct exec *x, const uint64_t *live, size_t nlive);
    /* All that jobs lack now and that could be made, in the order of the queue: what is new in
     * the list is to be asked for, what is not in it any more is not. A job that is started
     * meanwhile lacks nothing. NULL: it never told of groups. */
    void (*needs) (struct exec *x, const struct exec_need *list, size_t n);
    /* How it stands with one that was told last. */
    void (*need_state) (struct exec *x, uint64_t job, size_t group,
                        struct exec_need_state *ret);
    /* What became of host->adopt(): the job's number; or 0, why, and whether to ask again
     * later. Executors that adopt nothing have neither of these. */
    void (*adopted) (struct exec *x, const char *key, uint64_t id, bool again,
                     const char *text);
    /* Of each adopted job that has not ended before the first sweep(), and when it changes;
     * the reason of one that waits every few seconds. */
    void (*foreign_state) (struct exec *x, const struct exec_foreign_state *s);
    /* For people: what this node has in all, and what others use of it, before it is rounded
     * to what is offered. 0 or -ENOENT. NULL: whole cores and MiB are all there is. */
    int (*amounts) (struct exec *x, const char *node, struct exec_amounts *ret_all,
                    struct exec_amounts *ret_foreign);
};

extern const struct exec_ops *const executors[]; /* generated, NULL-terminated */

#endif
