/* submit_options.h - the options of a submission, and how they become a jobspec
 *
 * One table (attributes.h) serves the command line, the environment (FLUXQ_*) and the
 * directives of all dialects; help and completion read it too.
 *
 *     struct submit_options so;
 *     submit_options_init (&so);
 *     submit_options_set (&so, SUBMIT_FROM_SCRIPT, "nodes", "2", "job.sh:3: -N", &err);
 *     submit_options_set (&so, SUBMIT_FROM_COMMAND, "nodes", "4", "--nodes", &err);
 *     json_t *js = submit_options_jobspec (&so, &program, cwd, environ, &err);
 *     submit_options_release (&so);
 *
 * Here "4" wins: the command line overrides the environment, which overrides the script,
 * in whatever order they are set; within one source the last value wins. All values are
 * checked at once, also those that are overridden. An error begins with `where`, which
 * names the option as the user wrote it, and its place: "job.sh:3: -N: 'x' is not ...",
 * "--nodes: ...", "FLUXQ_NODES: ...".
 *
 * Resources made of the counts (tasks n, nodes N, tasks a node t, cores a task c):
 *
 *     nothing, or -n      slot[n] > core[c]
 *     -N, or -N and t     node[N] > slot[t or 1] > core[c]
 *     -n and -N           node[N] > slot[n/N rounded up] > core[c]; tasks: n in all
 *     -n and t            as -n and -N with N = n/t rounded up; t alone: N = 1
 *     --ntasks-per-socket with -n as t, since a node counts as one socket; else a check
 *     --spread-job, -n    as -N n/t-n and -n, without t -N 1-n
 *
 * If -N or -n has several sizes (SIZES: MIN-MAX, MIN-MAX:STEP, MIN-MAX:OPERAND:OPERATOR,
 * A,B,C; MIN+ without an upper limit):
 *
 *     -N SIZES (and t)    node{SIZES} > slot[t or 1] > core[c]
 *     -n SIZES            slot{SIZES} > core[c]
 *     -n SIZES and t      node{SIZES/t} > slot[t] > core[c]
 *     -N and -n SIZES     node[N] > slot{SIZES/N} > core[c]
 *     -N A-B and -n       node{A-B} > slot{n/B - n/A, rounded up} > core[c]; tasks: n in
 *                         all, so that the slots are n/nodes, rounded up
 *     -N A-B and -n C-D   node{A-B} > slot{C/A - D/B} > core[c]
 *
 * Sizes that do not divide are refused, and so are sizes whose steps miss MAX.
 *
 *     --mem               a memory vertex beside the slot; without a node vertex
 *                         attributes.system.fluxq.memory-per-node; 0: as --exclusive
 *     --mem-per-cpu m     slot > memory[m * cores]
 *     --mem-per-gpu m     slot > memory[m * GPUs], or node > memory[m * GPUs], where the
 *                         GPUs are
 *     --cpus-per-gpu c    slot > core[c * GPUs], or with GPUs beside the slots
 *                         slot > core[c * GPUs / slots] if that divides
 *     --ntasks-per-gpu n  a slot is a GPU with n tasks: slot > gpu[1], core[n * c]; the
 *                         number of slots is that of the GPUs, or of the tasks divided by
 *                         n; tasks: n a slot
 *     -c c                slot > core[c]; of a fraction, "0.5" or "500m":
 *                         slot > cpu_milli[1000 * c]
 *     --gpus-per-task g   slot > gpu[g]
 *     -G g                slot > gpu[g/n] if that divides, else node > gpu[g/N] if that
 *                         does, else refused
 *     --gpus-per-node g   node > gpu[g]
 *     --gres LIST         node > gpu[g] for gpu:g, node > NAME[n] for NAME:n. As with
 *                         --gpus-per-node one task without -N gets a node[1]; -n alone is
 *                         refused
 *     TYPE:g              gpu:TYPE[g] in place of gpu[g], in all these options; the
 *                         broker looks for nodes with such GPUs
 *     --tmp m             node > tmp_disk[m]; nodes as for --gres
 *     --exclusive         node vertex exclusive; one task without -N gets a node[1]; -n
 *                         alone is refused, as the number of nodes is unknown
 *
 * Other values go to the paths in attributes.h; times become unix times when the option
 * is read. Values of one source add up for --stage-in, --stage-out and --volume.
 *
 * Without -N, --nodelist asks for all nodes that it names; with -N, for N of them.
 *
 * The jobspec has a duration only if the user gave a time limit (0: UNLIMITED). --hold is
 * not in the jobspec: the submission has urgency 0 beside the jobspec.
 */
#pragma once

#include "common/gres.h"
#include "common/option.h"
#include "jobspec/attributes/dependency.h"
#include "jobspec/jobspec.h"

enum submit_source { SUBMIT_FROM_SCRIPT, SUBMIT_FROM_ENVIRONMENT, SUBMIT_FROM_COMMAND };

/* The options of `fluxq-submit`, without those that make sense only on the command line
 * (--wait, --json, --dry-run, --broker), which are in the command's own table. Ids are
 * SUBMIT_OPTION_FIRST and up, so a command can use smaller ids in a joined table. */
const struct option_desc *submit_options_table (void);
#define SUBMIT_OPTION_FIRST 0x1000

/* The output file if the user names none (sbatch: slurm-%j.out and, for a task of an
 * array, slurm-%A_%a.out). */
#define SUBMIT_DEFAULT_OUTPUT "fluxq-%j.out"
#define SUBMIT_DEFAULT_ARRAY_OUTPUT "fluxq-%A_%a.out"

/* A number, or several allowed sizes: 4, 4-16, 4-16:4, 2-16:2:*, 1,2,4,8. */
struct submit_size {
    struct jobspec_count count; /* min 0: not given */
    struct idset *list;         /* as sizes of struct jobspec_resource; owned */
};

struct submit_options {
    /* Values that are the same in the jobspec: those of the rows of attributes.h with
     * AT (js.MEMBER), keep_invalid_depend, requeue, resize_signal (0: not given),
     * placement and switches. The other members of js are not used. */
    struct jobspec js;
    char *output;              /* -o */
    char *error;               /* -e */
    char *input;               /* -i; "none" is stored as /dev/null in all three */
    bool append;               /* --open-mode=append */
    bool has_on_full;          /* --output-on-full: */
    int on_full;               /* enum jobspec_on_full */
    struct submit_size nodes;  /* -N */
    struct submit_size ntasks; /* -n */
    int64_t ntasks_per_node, ntasks_per_socket;
    bool spread_job;       /* --spread-job */
    int64_t cpus_per_task; /* -c, a whole number */
    int64_t cpu_milli;     /* -c in thousandths, if it is a fraction; else 0 */
    int64_t mem_mib;       /* --mem, a node */
    bool mem_all;          /* --mem=0: the whole node */
    int64_t mem_per_cpu, mem_per_gpu; /* MiB */
    int64_t tmp_mib;                  /* --tmp, a node; 0: none */
    int64_t cpus_per_gpu, ntasks_per_gpu;
    int64_t gpus;          /* -G, in all */
    int64_t gpus_per_task;
    int64_t gpus_per_node;
    struct {
        char *in_all, *per_task, *per_node;
    } gpu_type; /* as the user wrote the types in these three options, or NULL */
    struct gres_list gres; /* --gres, on each node */
    double time_limit;     /* -t seconds; 0: unlimited; -1: not given (queue's default) */
    char *chdir;           /* -D */
    char *export;          /* --export: ALL, NONE, NAME[=VALUE],... */
    json_t *pods;               /* choices for the job's pods (podwish.h), or NULL */
    bool host_network;          /* --host-network */
    char *array;                /* -a, checked */
    struct dependencies depend; /* -d */
    bool hold;                  /* --hold: urgency 0 */
    bool priority_0;            /* --priority=0: the same */
    bool exclusive;             /* --exclusive */
    struct nodes_per nodes_per; /* --nodes-per, --nodes-per-rack */
    char *nodelist, *exclude, *constraint; /* -w, -x, -C, checked; see requires.h */
    bool whole_nodes; /* flux: nodes from the script without tasks are exclusive */
    struct job_process process; /* --signal, --propagate, --get-user-env */
    /* Variables for the job's steps: {NAME: [source, value]}; or NULL. */
    json_t *for_steps;
    char *export_file;          /* --export-file */
    struct stage_list stage_in, stage_out;
    /* Options of sbatch itself, also in a script. */
    struct {
        bool wait, parsable, quiet, verbose, test_only, bell, no_bell, no_shell;
        struct command_text {
            char *text; /* NULL: not given; "": without a value */
            int source; /* enum submit_source */
        } clusters, kill_command;
    } command;
    /* Slurm's defaults instead of fluxq's: the output file is slurm-%j.out, and a job
     * whose dependency can never be met stays in the queue. */
    bool slurm_defaults;
    bool ignore_directives; /* the script's: script_read_all() sets no options */
    /* Is told, for each option that is set, what becomes of it: "job.sh:3: -N 2: done". NULL:
     * nobody. */
    void (*explain) (const char *text, void *arg);
    void *explain_arg;
    const char *explain_as; /* the word for an option that takes effect; NULL: "done" */
    int source_of[80]; /* internal: source of each row's value, plus 1 */
    char *written[80];  /* as the user wrote it: "--nodes", "job.sh:3: -N"; NULL: unset */
    int submit_nice;    /* nice value of the submission; set with submit_host */
    char submit_host[64]; /* name of this machine, see submit_options_set_host() */
    char *script_name; /* default job name; script_read_all() sets it if NULL */
    char *script_path; /* the file with the script, for people; or NULL */
    /* The next fields are for heterogeneous jobs, see components.h. */
    struct submit_options **further; /* the further components, owned */
    size_t nfurther;
    struct submit_options *first; /* of a further component: the first one; else NULL */
    size_t component;             /* 0: the first one */
    json_t *given; /* internal: the options that were set, see components.c; or NULL */
};

/* Whether the job is submitted with urgency 0. */
static inline bool submit_options_hold (const struct submit_options *so)
{
    return so->hold || so->priority_0;
}

void submit_options_init (struct submit_options *so);
void submit_options_release (struct submit_options *so);
/* The job learns the name of the machine on which it is submitted (SLURM_SUBMIT_HOST). */
void submit_options_set_host (struct submit_options *so);
/* name: long name without dashes (exact). value: the option's value; for a flag NULL, or
 * a word for yes or no as in submit_options_from_environ(). where: begins the error;
 * NULL: "--NAME". -EINVAL (also: no such option), -ERANGE, -ENOMEM. */
int submit_options_set (struct submit_options *so, enum submit_source source,
                        const char *name, const char *value, const char *where,
                        struct error *err);
/* Rewrite an error of the jobspec made from so: "jobspec: resources[0].count: ..."
 * becomes "--nodes: ...", the option that the value comes from, as the user wrote it. */
void submit_options_explain (const struct submit_options *so, struct error *err);
/* The source of the option's value, plus 1; 0: not given. */
int submit_source_of (const struct submit_options *so, const char *name);
/* As submit_options_set() with "time", already in seconds (>= 0; 0: unlimited). */
void submit_options_set_time_limit (struct submit_options *so, enum submit_source source,
                                    double seconds);
/* As submit_options_set() with "signal". */
void submit_options_set_warning (struct submit_options *so, enum submit_source source,
                                 const struct job_warning *warn);
/* As submit_options_set() with "begin", as a unix time (> 0). */
void submit_options_set_begin (struct submit_options *so, enum submit_source source,
                               double t);
/* Add a dependency to those of the same source: all are needed. Text as for "dependency",
 * without '?'. */
int submit_options_add_dependency (struct submit_options *so, enum submit_source source,
                                   const char *text, const char *where,
                                   struct error *err);
/* Read FLUXQ_NODES, FLUXQ_TIME, ... (upper case, '-' as '_') from a list like environ.
 * Flags take 1, yes, true, on and 0, no, false, off; an empty value counts as unset.
 * Variables which fluxq itself sets inside a job (FLUXQ_JOB_ID, ...) and FLUXQ_BROKER are
 * no options. Inside a job (FLUXQ_JOB_ID is set), FLUXQ_JOB_NAME, _NTASKS, _CPUS_PER_TASK
 * and _GPUS describe that job and are not read either. */
int submit_options_from_environ (struct submit_options *so, char *const environ_list[],
                                 struct error *err);

/* The program of the job: a script's text (batch) with arguments, or a command. */
struct submit_program {
    const char *script; /* NULL: command mode */
    size_t script_len;
    char *const *args; /* NULL-terminated; command mode: argv; batch: may be NULL */
};

/* The jobspec as a new reference; NULL on error (conflicting counts, ...). cwd: the
 * user's working directory, absolute; environ_list: the user's environment, filtered by
 * --export:
 *
 *     ALL (default)        all but FLUXQ_* (they control submissions, or describe the job
 *                          in which the user submits)
 *     NIL                  nothing
 *     NONE                 nothing, but the job gets the environment of a login shell, as
 *                          with --get-user-env
 *     NAME, NAME=VALUE,... only these, and the environment of a login shell; with ALL
 *                          among them, these besides all. A NAME that is not in the
 *                          environment is left out, as in sbatch. A VALUE with commas is
 *                          quoted.
 *
 * --export-file adds the variables of a file (NAME=VALUE, each ended by a NUL), which
 * override the others. The limits that --propagate names are read from this process.
 *
 * A variable of 128 KiB or more cannot be passed to a program: it is left out, as an odd
 * variable of the user must not stop a submission. Values that are not UTF-8 arrive byte
 * for byte. Arguments, working directory and file names that are not UTF-8 are
 * refused. */
json_t *submit_options_jobspec (const struct submit_options *so,
                                const struct submit_program *prog, const char *cwd,
                                char *const environ_list[], struct error *err);
