/* jobspec.h - the canonical description of a job (RFC 14, RFC 25 "V1")
 *
 *     struct jobspec *js = jobspec_parse (text, len, &err);  // JSON text
 *     js->duration, js->resources[0].type, ...               // read only
 *     char *again = jobspec_encode (js);                     // canonical, caller frees
 *     jobspec_destroy (js);
 *
 * Resources are the general tree of RFC 14: any type names, slots anywhere, counts fixed
 * or elastic (a dictionary, an RFC 45 range or an RFC 22 list as a string). The matcher
 * itself refuses a request that it cannot place. There is exactly one task (RFC 25).
 * These keys of attributes.system are read, and the paths of scalar rows in
 * options/attributes.c. All are optional; those below "fluxq" are fluxq's own:
 *
 *     duration                 seconds, 0: unlimited; absent: the queue's default (RFC 25
 *                              requires it; the broker puts it in)
 *     cwd, environment         as RFC 14
 *     dependencies             as RFC 26, see dependency.h
 *     constraints              as RFC 31
 *     shell.options.output.stdout.path, .stderr.path    patterns (pattern.h)
 *     shell.options.stage-in, .stage-out   files brought to the job and back: arrays of
 *                              {"from": PATTERN, "to": PATTERN}, see stage.h
 *     files.script             RFC 37 file: {"mode", "size", "encoding", "data"}; then
 *                              tasks[0].command[0] is JOBSPEC_SCRIPT_COMMAND
 *     fluxq.environment-bytes  variables whose values are not UTF-8: {NAME: base64}
 *     fluxq.array              tasks of a job array, "1-100:2%10", see array.h
 *     fluxq.pods               the user's choices for the job's pods, see podwish.h
 *     fluxq.submit-dir         directory of the submission, if it is not cwd
 *     fluxq.script-path        file that the script was read from; only shown
 *     fluxq.kill-invalid-depend  false: a job whose dependencies can never be met stays
 *                              in the queue
 *     fluxq.resize-signal      number of the signal that announces a resize, 1 to 64
 *     fluxq.requeue            whether the job is requeued when it loses a node; absent:
 *                              as the broker is configured
 *     fluxq.memory-per-node    MiB on each node of the job (when there is no node vertex
 *                              that could have a memory vertex)
 *     fluxq.components         the further components of a heterogeneous job: a list of
 *                              jobspecs, see `components` below
 *
 * In attributes.user and attributes.system other keys are kept and ignored, as RFC 14
 * requires. Elsewhere an unknown key is refused by its name. Parts of RFC 14 that fluxq
 * does not implement are refused too: several tasks, per_resource, vertex ids, irregular
 * lists of counts, other files.
 *
 * Limits: 8 MiB of text, 4 MiB of script, 64 levels and 1,000 vertices of resources,
 * counts 1 to 2^31-1, 128 KiB for one argument or one variable of the environment
 * (Linux's own limit). Errors name the place: "jobspec: resources[0].count.min: -3 is not
 * a positive integer". Thread: several threads can read a jobspec as long as none of
 * them changes the reference counts of its JSON values.
 */
#pragma once

#include "common/idset.h"
#include "common/json.h"
#include "jobspec/attributes/array.h"
#include "jobspec/attributes/dependency.h"
#include "jobspec/attributes/placement.h"
#include "jobspec/attributes/process.h"
#include "jobspec/attributes/stage.h"

#define JOBSPEC_TEXT_MAX (8 << 20)
#define JOBSPEC_SCRIPT_MAX (4 << 20)
/* Bytes of an argument, or of NAME=VALUE, including the NUL. */
#define JOBSPEC_STRING_MAX 131072
#define JOBSPEC_COUNT_MAX 2147483647
/* Characters of a count that is a list of sizes: it fits wherever it is shown. */
#define JOBSPEC_COUNT_TEXT_MAX 32768
#define JOBSPEC_DEPTH_MAX 64
#define JOBSPEC_VERTICES_MAX 1000
#define JOBSPEC_START_TIMEOUT_MAX 86400.0
#define JOBSPEC_DURATION_MAX 1e9 /* seconds, 31 years */
#define JOBSPEC_TIME_MAX 1e10    /* seconds since 1970, the year 2286 */
#define JOBSPEC_SCRIPT_COMMAND "{{tmpdir}}/script"

struct jobspec_count {
    int64_t min;
    int64_t max; /* == min: not elastic; JOBSPEC_COUNT_MAX if the user gave no max */
    char op;     /* '+', '*' or '^': allowed sizes are min, min op operand, ... <= max */
    int64_t operand;
};

#define JOBSPEC_NICE_MAX INT64_C (2147483645) /* as in Slurm; users: 0 to this */
#define JOBSPEC_PRIORITY_TOP INT64_C (4294967293) /* of --priority=TOP, as in Slurm */

enum jobspec_tristate { JOBSPEC_UNSET = -1, JOBSPEC_FALSE = 0, JOBSPEC_TRUE = 1 };

struct jobspec_resource {
    char *type; /* "node", "slot", "core", "gpu", "memory", "rack", ... */
    struct jobspec_count count;
    char *unit;  /* or NULL; memory: a unit of jobspec_memory_mib(), fluxq writes "MiB" */
    char *label; /* or NULL; slots always have one */
    enum jobspec_tristate exclusive;
    struct jobspec_resource *with; /* children */
    size_t nwith;
    struct idset *sizes; /* the allowed counts if they are no regular range, else NULL;
                          * count then has the least and the greatest */
    /* Only in requests for the matcher (request.h), else NULL. */
    json_t *requires; /* RFC 31, for this vertex; borrowed from the request's root */
};

enum jobspec_task_count { JOBSPEC_PER_SLOT, JOBSPEC_TOTAL };

/* When the file system of the output is full: the tasks wait for room, or the output is
 * dropped, or the job ends. */
enum jobspec_on_full { JOBSPEC_FULL_WAIT, JOBSPEC_FULL_DROP, JOBSPEC_FULL_END };
/* The value of a word; -1: no such word. */
int jobspec_on_full (const char *word);
const char *jobspec_on_full_word (int on_full);

/* Components of a heterogeneous job, with the first one. */
#define JOBSPEC_COMPONENTS_MAX 64

struct jobspec {
    struct jobspec_resource *resources;
    size_t nresources;
    char **command; /* tasks[0].command, NULL-terminated */
    size_t ncommand;
    char *slot_label; /* of tasks[0]; a slot of this label exists */
    enum jobspec_task_count task_count_kind;
    int64_t task_count; /* per_slot: tasks in each slot (fluxq writes 1); total: in all */
    /* attributes.system */
    bool has_duration;       /* false: the user named no time limit, duration is 0 */
    double duration;         /* seconds, 0: unlimited */
    char *name;              /* never NULL: job.name, else the command's base name */
    char *queue;             /* or NULL */
    char *cwd;               /* or NULL; absolute */
    char *output;            /* pattern or NULL */
    char *error;             /* pattern or NULL */
    char *input;             /* pattern or NULL: /dev/null */
    bool append;             /* to the output files; else each run truncates them */
    int on_full;             /* enum jobspec_on_full */
    char *image;             /* or NULL */
    json_t *pods;            /* choices for its pods (podwish.h) or NULL; from root */
    char *submit_dir;        /* or NULL: cwd */
    char *script_path;       /* or NULL; only shown */
    int64_t memory_per_node; /* MiB or 0 */
    struct array_spec array; /* tasks NULL: no array */
    struct dependencies depend;
    struct stage_list stage_in, stage_out;
    bool keep_invalid_depend;
    enum jobspec_tristate requeue;
    bool expedite;          /* with requeue: the job goes first when it is queued again */
    double begin, deadline; /* unix times; 0: none */
    double max_wait;        /* seconds to wait for the largest size; 0: none */
    bool malleable;         /* see jobspec_malleable() */
    int resize_signal;      /* announces a resize */
    struct placement placement;
    struct switches switches;
    int64_t segment;      /* nodes of a segment, see placing.c; 0: none */
    bool spread_segments; /* each segment in a place of its own */
    char *comment;        /* or NULL; only recorded and shown */
    char *wckey;          /* or NULL; the same */
    char *extra;          /* or NULL; the same */
    char *mcs_label;      /* or NULL; the same */
    char *admin_comment;  /* or NULL; the same */
    char *account;        /* or NULL; the same */
    char *qos;            /* or NULL; the same */
    char *mail_type;      /* "BEGIN,END", see mail.h; or NULL */
    char *mail_user;      /* NULL: the job's user */
    char *licenses;       /* "matlab:2,ansys", see licenses.h; or NULL */
    char *reservation;    /* advance reservation to run in; or NULL */
    double start_timeout; /* seconds allowed for a start; 0: as configured */
    struct job_process process;
    int64_t nice;        /* points off the priority, as in Slurm; negative: on top */
    int64_t priority; /* in place of the computed one, to JOBSPEC_PRIORITY_TOP; 0: none */
    double time_min;     /* seconds to which duration can be lowered; 0: it is fixed */
    json_t *environment; /* object of strings, nulls left out, or NULL; owned */
    const char *script;  /* text or NULL; decoded, NUL-terminated, owned */
    size_t script_len;
    json_t *constraints; /* RFC 31 or NULL; borrowed from root, checked by the matcher */
    /* The further components of a heterogeneous job (Slurm's "hetjob"); 0: it is none. The
     * job has the resources of all components at once, each on nodes of its own, and runs
     * its script or command in the first component, which this jobspec itself describes.
     * Each component has its own resources, number of tasks, name, constraints,
     * memory-per-node and environment (variables for its tasks on top of the job's); all
     * else is that of the job. All numbers are fixed. */
    struct jobspec **components;
    size_t ncomponents;
    json_t *root;        /* the whole jobspec, owned */
};

/* NULL with the place and the reason in err. O(len). */
struct jobspec *jobspec_parse (const char *text, size_t len, struct error *err);
/* -EINVAL with the place, unless all names in the jobspec are printable
 * (common/printable.h). Only for new jobs: a journal can have jobs with other names. */
int jobspec_check_names (const struct jobspec *js, struct error *err);
/* The component with that index, 0 to ncomponents; 0 is js itself. */
const struct jobspec *jobspec_component (const struct jobspec *js, size_t i);
/* Whether the script can be run: not empty, at most JOBSPEC_SCRIPT_MAX bytes, begins with
 * "#!", no NUL bytes, no DOS line ends. -EINVAL or -EFBIG: the error begins with name and
 * line. */
int script_check (const char *text, size_t len, const char *name, struct error *err);
/* As jobspec_parse(), from a JSON value. Takes a reference of its own; nobody may change
 * the value afterwards. */
struct jobspec *jobspec_from_json (json_t *root, struct error *err);
void jobspec_destroy (struct jobspec *js);
/* Compact, keys sorted: equal jobspecs give equal text. NULL: no memory. */
char *jobspec_encode (const struct jobspec *js);
/* Rename each resource type for which name() returns another name, in root too. 1:
 * renamed some, 0: none; -ENOMEM: some types can have been renamed. */
typedef const char *jobspec_name_f (const char *type, void *arg);
int jobspec_rename (struct jobspec *js, jobspec_name_f *name, void *arg);
/* Turns GPUs of a type ("gpu:a100") into GPUs and a constraint on the nodes, {"properties":
 * ["gpu:a100"]}, in root too. 1: done, 0: there are none; -EINVAL: several types, or some
 * GPUs without a type; -ENOMEM. After an error the jobspec can have changed. */
int jobspec_type_gpus (struct jobspec *js, struct error *err);
/* Whether the jobspec has a script, which runs once, on the job's first node. Without one
 * the command runs once a task. */
bool jobspec_is_batch (const struct jobspec *js);

/* Sizes of the request: smallest and largest numbers over elastic counts. Without a node
 * vertex min_nodes is 1 and max_nodes is the number of slots. Spread tasks (see
 * jobspec_spread()) get at least one slot each. Parts of CPUs (GRES_CPU_MILLI) count as
 * cores: their sum over the job, and over a slot, is rounded up. Saturate at
 * INT64_MAX. */
struct jobspec_sizes {
    int64_t min_nodes, max_nodes;
    int64_t min_slots, max_slots; /* in all; only slots with the task's label count */
    int64_t min_cores, max_cores; /* in all */
    int64_t min_gpus, max_gpus;
    int64_t cores_per_slot;     /* the smallest; 0: the slot has no cores (whole nodes) */
    int64_t cpu_milli_per_slot; /* parts of CPUs in a slot, in thousandths; 0: none */
    int64_t min_cpu_milli, max_cpu_milli; /* parts of CPUs in all, in thousandths */
};
/* A heterogeneous job has the sums over all components; those per slot are the first
 * component's. */
void jobspec_get_sizes (const struct jobspec *js, struct jobspec_sizes *ret);
/* The same for one component: without the further ones. */
void jobspec_get_component_sizes (const struct jobspec *js, struct jobspec_sizes *ret);
/* GPUs in each slot of the task; 0: none, or they are beside the slots. */
int64_t jobspec_slot_gpus (const struct jobspec *js);
/* Whether the tasks are spread: a fixed total of tasks, an elastic count of nodes, and an
 * elastic count of slots on each node. Then as many slots as tasks are enough. Returns
 * the node vertex, and its slot vertex in *slot (slot can be NULL); NULL: not spread. */
const struct jobspec_resource *jobspec_spread (const struct jobspec *js,
                                               const struct jobspec_resource **slot);
/* Append the requested number of nodes in the form of jobspec_count_add(); false: there
 * is no node vertex, and nothing was appended. */
bool jobspec_add_nodes (const struct jobspec *js, struct strbuf *sb);
/* Append the number of slots (in all without a node vertex, else on each node), and the
 * number of cores in each slot. false: no single count says it, nothing was appended. */
bool jobspec_add_slots (const struct jobspec *js, struct strbuf *sb);
bool jobspec_add_slot_cores (const struct jobspec *js, struct strbuf *sb);
/* The least number of tasks, over all components. Saturates. */
int64_t jobspec_tasks (const struct jobspec *js);
/* The number of tasks of the component when nslots slots (>= 0) are granted: nslots * per_slot, or the
 * total. Saturates. */
int64_t jobspec_task_total (const struct jobspec *js, int64_t nslots);
/* The largest allowed size <= limit, or 0 when even min is larger. O(log max). */
int64_t jobspec_count_fit (const struct jobspec_count *count, int64_t limit);
/* Parse a count: a range of RFC 45 (4, 4-16, 4+, 4-16:4, 2-16:2:*, 2-256:2:^), or a list
 * of RFC 22 (1,2,4,8). Of a list with gaps *ret_sizes, which the caller owns, has the
 * numbers and *ret the least and the greatest; otherwise *ret_sizes is NULL. -EINVAL with
 * a reason that names no place; -ENOMEM. */
int jobspec_count_parse (const char *text, struct jobspec_count *ret,
                         struct idset **ret_sizes, struct error *err);
/* Append the count as text for jobspec_count_parse(), in the shortest form. */
void jobspec_count_add (struct strbuf *sb, const struct jobspec_count *c,
                        const struct idset *sizes);
/* -EINVAL with the reason if the steps of the count miss max ("4-15:4" ends with 12). */
int jobspec_count_reaches (const struct jobspec_count *c, struct error *err);
/* Convert count (>= 0) units of a memory vertex to MiB, rounded up. unit: kB MB GB TB PB
 * (1000-based), KiB MiB GiB TiB PiB, B, NULL = MiB. -EINVAL: unknown unit; -ERANGE: over
 * 2^40 MiB. */
int jobspec_memory_mib (const char *unit, int64_t count, int64_t *ret_mib);

/* The node vertex of a malleable job: the job can be resized to each size of this vertex
 * while it runs. NULL: not malleable. A malleable job has a script and an elastic number
 * of nodes, all alike, at most JOBSPEC_MALLEABLE_NODES. It is no array, stages no files
 * and asks for no placement or switches: jobspec_parse() refuses others. */
#define JOBSPEC_MALLEABLE_NODES 512
const struct jobspec_resource *jobspec_malleable (const struct jobspec *js);
/* 0 if n is a size of the node vertex `nodes`, else -EINVAL with a reason for the
 * user. */
int jobspec_malleable_size (const struct jobspec_resource *nodes, int64_t n,
                            struct error *err);

static inline void jobspec_destroyp (struct jobspec **p)
{
    jobspec_destroy (*p);
}
#define autojobspec __attribute__ ((cleanup (jobspec_destroyp)))
