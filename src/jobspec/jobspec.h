/* jobspec.h - the canonical description of a job (RFC 14, RFC 25 "V1")
 *
 *     struct jobspec *js = jobspec_parse (text, len, &err);  // JSON text
 *     js->duration, js->resources[0].type, ...               // read only
 *     char *again = jobspec_encode (js);                     // canonical, caller frees
 *     jobspec_destroy (js);
 *
 * Resources are the general tree of RFC 14: any type names, slots anywhere, counts fixed
 * or elastic (a dictionary, an RFC 45 range or an RFC 22 list as a string). What the matcher of today
 * cannot place it refuses itself. There is exactly one task (RFC 25). What is read of
 * attributes.system, all optional; "fluxq" is our own beyond the RFCs:
 *
 *     job.name                 job name
 *     queue                    queue name
 *     duration                 seconds, 0: unlimited; absent: the queue's default (RFC 25
 *                              requires it; the broker puts it in)
 *     cwd, environment         as RFC 14
 *     dependencies             as RFC 26, see dependency.h
 *     begin-time               unix time before which it may not start
 *     constraints              as RFC 31
 *     shell.options.output.stdout.path, .stderr.path    patterns (pattern.h)
 *     shell.options.stage-in, .stage-out   files brought to the job and back: arrays of
 *                              {"from": PATTERN, "to": PATTERN}, see stage.h
 *     files.script             RFC 37 file: {"mode", "size", "encoding", "data"}; then
 *                              tasks[0].command[0] is JOBSPEC_SCRIPT_COMMAND
 *     fluxq.array              tasks of a job array, "1-100:2%10", see array.h
 *     fluxq.image              container image
 *     fluxq.pods               what of its pods it chooses itself, see podwish.h
 *     fluxq.submit-dir         where the user submitted, if that is not cwd
 *     fluxq.time-min           seconds to which its duration may be lowered, if it starts sooner so
 *     fluxq.max-wait           seconds for which it holds out for its largest size
 *     fluxq.reservation        name of the advance reservation to run in, and nowhere else
 *     fluxq.start-timeout      seconds that its start may take, 1 to 86400; absent: as the
 *                              queue, or the broker, is configured
 *     fluxq.deadline           unix time by which it must have ended, or not start at all
 *     fluxq.kill-invalid-depend  false: what waits for something that cannot be any more
 *                              stays in the queue
 *     fluxq.malleable          it may get and lose nodes while it runs, see jobspec_malleable()
 *     fluxq.resize-signal      number of the signal by which it is told, 1 to 64
 *     fluxq.requeue            whether it goes back into the queue when it loses a node;
 *                              absent: as the broker is configured
 *     fluxq.memory-per-node    MiB on each node that the job gets (when no node vertex
 *                              could carry a memory vertex)
 *
 * Other keys are kept and not looked at in attributes.user and attributes.system (RFC 14
 * asks for that); anywhere else an unknown key is refused by its name, and so is what RFC
 * 14 has and fluxq does not do: several tasks, per_resource, vertex ids, irregular lists
 * of counts, other files.
 *
 * Limits: 8 MiB of text, 4 MiB of script, 64 levels and 1,000 vertices of resources,
 * counts 1 to 2^31-1, 128 KiB for one argument or one variable of the environment
 * (Linux's own limit). Errors name the place: "jobspec: resources[0].count.min: -3 is not
 * a positive integer". Thread: a jobspec may be read by several threads as long as none
 * of them touches the reference counts of its JSON values.
 */
#ifndef FLUXQ_JOBSPEC_JOBSPEC_H
#define FLUXQ_JOBSPEC_JOBSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/idset.h"
#include "common/json.h"
#include "common/strbuf.h"
#include "jobspec/array.h"
#include "jobspec/dependency.h"
#include "jobspec/placement.h"
#include "jobspec/process.h"
#include "jobspec/stage.h"

#define JOBSPEC_TEXT_MAX (8 << 20)
#define JOBSPEC_SCRIPT_MAX (4 << 20)
/* Bytes of an argument, or of NAME=VALUE, with the NUL. */
#define JOBSPEC_STRING_MAX 131072
#define JOBSPEC_COUNT_MAX 2147483647
/* Of a count as a list of sizes, so that it fits wherever it is shown. */
#define JOBSPEC_COUNT_TEXT_MAX 32768
#define JOBSPEC_HOSTS_MAX 65536 /* names in all hostlists of the constraints */
#define JOBSPEC_DEPTH_MAX 64
#define JOBSPEC_VERTICES_MAX 1000
#define JOBSPEC_START_TIMEOUT_MAX 86400.0
#define JOBSPEC_DURATION_MAX 1e9 /* seconds, 31 years */
#define JOBSPEC_TIME_MAX 1e10    /* seconds since 1970, the year 2286 */
#define JOBSPEC_SCRIPT_COMMAND "{{tmpdir}}/script"

struct jobspec_count {
    int64_t min;
    int64_t max; /* == min: not elastic; JOBSPEC_COUNT_MAX where the user gave none */
    char op;     /* '+', '*' or '^': allowed sizes are min, min op operand, ... <= max */
    int64_t operand;
};

#define JOBSPEC_NICE_MAX INT64_C (2147483645) /* as in Slurm; 0 to that for users */

enum jobspec_tristate { JOBSPEC_UNSET = -1, JOBSPEC_FALSE = 0, JOBSPEC_TRUE = 1 };

struct jobspec_resource {
    char *type; /* "node", "slot", "core", "gpu", "memory", "rack", ... */
    struct jobspec_count count;
    char *unit;  /* or NULL; of memory one of jobspec_memory_mib(); ours writes "MiB" */
    char *label; /* or NULL; slots always have one */
    enum jobspec_tristate exclusive;
    struct jobspec_resource *with; /* children */
    size_t nwith;
    struct idset *sizes; /* the allowed counts, when they are no regular range, or NULL;
                          * count has their least and greatest */
    /* Only of requests for the matcher (request.h); NULL elsewhere. */
    json_t *requires; /* RFC 31, for this vertex; borrowed from the request's root */
};

enum jobspec_task_count { JOBSPEC_PER_SLOT, JOBSPEC_TOTAL };

/* What becomes of output whose file system is full: the tasks wait until there is room; it is
 * lost; the job ends. */
enum jobspec_on_full { JOBSPEC_FULL_WAIT, JOBSPEC_FULL_DROP, JOBSPEC_FULL_END };
/* -1: no such word. */
int jobspec_on_full (const char *word);
const char *jobspec_on_full_word (int on_full);

struct jobspec {
    struct jobspec_resource *resources;
    size_t nresources;
    char **command; /* tasks[0].command, NULL-terminated */
    size_t ncommand;
    char *slot_label; /* of tasks[0]; a slot of this label exists */
    enum jobspec_task_count task_count_kind;
    int64_t task_count; /* per_slot: tasks in each slot (ours writes 1); total: in all */
    /* attributes.system */
    bool has_duration;       /* false: the user named no time limit, duration is 0 */
    double duration;         /* seconds, 0: unlimited */
    char *name;              /* never NULL: job.name, else the command's base name */
    char *queue;             /* or NULL */
    char *cwd;               /* or NULL; absolute */
    char *output;            /* pattern or NULL */
    char *error;             /* pattern or NULL */
    char *input;             /* pattern or NULL: /dev/null */
    bool append;             /* to the output files; else they begin anew with each run */
    int on_full;             /* enum jobspec_on_full */
    char *image;             /* or NULL */
    json_t *pods;            /* its wishes (podwish.h) or NULL; borrowed from root */
    char *submit_dir;        /* or NULL: cwd */
    int64_t memory_per_node; /* MiB or 0 */
    struct array_spec array; /* tasks NULL: it is no array */
    struct dependencies depend;
    struct stage_list stage_in, stage_out;
    bool keep_invalid_depend;
    enum jobspec_tristate requeue;
    double begin, deadline; /* unix times; 0: none */
    double max_wait;        /* seconds to hold out for the largest size; 0: none */
    bool malleable;         /* see jobspec_malleable() */
    int resize_signal;      /* by which it is told of another size */
    struct placement placement;
    struct switches switches;
    char *reservation;    /* to run in, and nowhere else; or NULL */
    double start_timeout; /* seconds that a start may take; 0: as configured */
    struct job_process process;
    int64_t nice;        /* points of priority less (negative: more), as in Slurm */
    double time_min;     /* seconds to which duration may be lowered; 0: it may not */
    json_t *environment; /* object of strings, nulls left out, or NULL; owned */
    const char *script;  /* text or NULL; decoded, NUL-terminated, owned */
    size_t script_len;
    json_t *constraints; /* RFC 31 or NULL; borrowed from root, checked by the matcher */
    json_t *root;        /* the whole, owned */
};

/* NULL with the place and the reason. O(len). */
struct jobspec *jobspec_parse (const char *text, size_t len, struct error *err);
/* -EINVAL with the place, unless all names in it are printable (common/printable.h). For new
 * jobs only: a journal may have others. */
int jobspec_check_names (const struct jobspec *js, struct error *err);
/* From a JSON value; takes a new reference of its own, which must not be changed
 * after. */
struct jobspec *jobspec_from_json (json_t *root, struct error *err);
void jobspec_destroy (struct jobspec *js);
/* Compact, keys sorted: equal jobspecs give equal text. NULL: no memory. */
char *jobspec_encode (const struct jobspec *js);
/* Each type of its resources for which name() has another is called that from now on, in root,
 * too. 1: some were, 0: none; -ENOMEM: some may have been. */
typedef const char *jobspec_name_f (const char *type, void *arg);
int jobspec_rename (struct jobspec *js, jobspec_name_f *name, void *arg);
/* Has a script: that runs once, on the job's first node; else the command runs once a
 * task. */
bool jobspec_is_batch (const struct jobspec *js);

/* Sizes of the request: smallest and largest numbers over elastic counts. Without a node
 * vertex min_nodes is 1 and max_nodes is the number of slots. Spread tasks have a slot each
 * at least. Parts of CPUs (GRES_CPU_MILLI) count as cores, rounded up: all of the job together,
 * and those of a slot. Saturate at INT64_MAX. */
struct jobspec_sizes {
    int64_t min_nodes, max_nodes;
    int64_t min_slots, max_slots; /* in all; only slots of the task's label count */
    int64_t min_cores, max_cores; /* in all */
    int64_t min_gpus, max_gpus;
    int64_t cores_per_slot;     /* the smallest; 0: the slot names none (whole nodes) */
    int64_t cpu_milli_per_slot; /* the same in thousandths, where it has parts; else 0 */
    int64_t min_cpu_milli, max_cpu_milli; /* in all, likewise */
};
void jobspec_get_sizes (const struct jobspec *js, struct jobspec_sizes *ret);
/* A fixed number of tasks in all on several numbers of nodes, each with several numbers of
 * slots: they are spread, so that as few slots as there are tasks are enough. The node
 * vertex, with its slots in *slot (may be NULL), or NULL: it is not so. */
const struct jobspec_resource *jobspec_spread (const struct jobspec *js,
                                               const struct jobspec_resource **slot);
/* The number of nodes as asked, "4" or as jobspec_count_add() has it; false: no node vertex, and
 * nothing was added. */
bool jobspec_add_nodes (const struct jobspec *js, struct strbuf *sb);
/* The same of its slots, where one count says how many there are: in all without a node vertex,
 * else on each node; and of the cores of each slot, where it has one such vertex. */
bool jobspec_add_slots (const struct jobspec *js, struct strbuf *sb);
bool jobspec_add_slot_cores (const struct jobspec *js, struct strbuf *sb);
/* Tasks when nslots slots (>= 0) are granted: nslots * per_slot, or the total.
 * Saturates. */
int64_t jobspec_task_total (const struct jobspec *js, int64_t nslots);
/* Walk the allowed sizes of a count downwards: the largest allowed <= limit, or 0 when
 * even min is larger. O(log max). */
int64_t jobspec_count_fit (const struct jobspec_count *count, int64_t limit);
/* A count as text: RFC 45 (4, 4-16, 4+, 4-16:4, 2-16:2:*, 2-256:2:^), or a list of RFC 22
 * (1,2,4,8), whose numbers are *ret_sizes (else NULL; the caller's), its least and greatest
 * the count. -EINVAL with a reason that names no place; -ENOMEM. */
int jobspec_count_parse (const char *text, struct jobspec_count *ret,
                         struct idset **ret_sizes, struct error *err);
/* The same text again, the shortest form. */
void jobspec_count_add (struct strbuf *sb, const struct jobspec_count *c,
                        const struct idset *sizes);
/* -EINVAL, with the reason, when its steps pass max by ("4-15:4" ends with 12). */
int jobspec_count_reaches (const struct jobspec_count *c, struct error *err);
/* count (>= 0) units of a memory vertex in MiB, rounded up. unit: kB MB GB TB PB
 * (1000-based), KiB MiB GiB TiB PiB, B, NULL = MiB. -EINVAL: unknown unit; -ERANGE: over
 * 2^40 MiB. */
int jobspec_memory_mib (const char *unit, int64_t count, int64_t *ret_mib);

/* The count of nodes between whose sizes a malleable job may be changed while it runs; NULL:
 * it is not malleable. Such a job has a script, a range of nodes, all of them alike, and at
 * most JOBSPEC_MALLEABLE_NODES of them; it is no array, copies no files, and does not ask for
 * places: jobspec_parse() refuses others. */
#define JOBSPEC_MALLEABLE_NODES 512
const struct jobspec_resource *jobspec_malleable (const struct jobspec *js);
/* Is n one of the sizes of that count? -EINVAL with words for who asked for it. */
int jobspec_malleable_size (const struct jobspec_resource *nodes, int64_t n,
                            struct error *err);

static inline void jobspec_destroyp (struct jobspec **p)
{
    jobspec_destroy (*p);
}
#define autojobspec __attribute__ ((cleanup (jobspec_destroyp)))

#endif
