/* slurm_options.c - see slurm_options.h */
#include "jobspec/options/slurm_options.h"

#include "common/parse.h"
#include "jobspec/options/attributes.h"
#include "protocol/distribution.h"
#include "protocol/gpubind.h"

#define DONE(n, l, who, var)                                                             \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .sets = n, .variable = var              \
    }
#define STORED(n, l, who, var)                                                           \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .treatment = SLURM_STORED, .sets = n,   \
        .variable = var                                                                  \
    }
/* Done by an option of fluxq with another name. */
#define AS(n, l, who, a, option)                                                         \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .arg = a, .sets = option                \
    }
/* Done for every job, whether the option is given or not. */
#define ALWAYS(n, l, who, a, var, always)                                                \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .arg = a, .variable = var,              \
        .text = always                                                                   \
    }
#define COMMAND(n, l, who, a, var, help, offset, other)                                  \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .arg = a, .treatment = SLURM_COMMAND,   \
        .variable = var, .text = help, .at = offset, .elsewhere = other                  \
    }
#define FLAG(member) offsetof (struct submit_options, command.member)
/* Done by the steps of the job: srun reads the variable. */
#define STEPS(n, l, who, a, var, valid)                                                  \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .arg = a, .variable = var,              \
        .steps = "SLURM_" var, .check = valid                                            \
    }
#define NO(n, l, who, a, var, instead)                                                   \
    {                                                                                    \
        .name = n, .letter = l, .commands = who, .arg = a, .treatment = SLURM_REFUSED,   \
        .variable = var, .text = instead                                                 \
    }
/* ... with a value only as --name=VALUE */
#define NO_OPT(n, l, who, a, var, instead)                                               \
    {                                                                                    \
        .name = n, .letter = l, .arg_optional = true, .commands = who, .arg = a,         \
        .treatment = SLURM_REFUSED, .variable = var, .text = instead                     \
    }

static int check_distribution (const char *value, const char *where, struct error *err)
{
    struct layout_option opt;
    struct error why = { 0 };
    int rc = layout_option_parse (value, &opt, &why);

    return rc == 0 ? 0 : error_set (err, -rc, "%s: %s", where, why.text);
}

static int check_gpu_bind (const char *value, const char *where, struct error *err)
{
    struct gpubind bind;
    struct error why = { 0 };
    int rc = gpubind_parse (value, &bind, &why);

    return rc == 0 ? 0 : error_set (err, -rc, "%s: %s", where, why.text);
}

static int check_tres_bind (const char *value, const char *where, struct error *err)
{
    struct error why = { 0 };
    const char *of_gpus = gpubind_of_tres (value, &why);

    return of_gpus ? check_gpu_bind (of_gpus, where, err)
                   : error_set (err, EINVAL, "%s: %s", where, why.text);
}

const struct slurm_option slurm_option_table[] = {
    STORED ("account", 'A', SLURM_ALL, "ACCOUNT"),
    NO ("acctg-freq", 0, SLURM_ALL, "LIST", "ACCTG_FREQ",
        "remove it (the usage of a job is measured when it ends)"),
    DONE ("array", 'a', SLURM_SBATCH, "ARRAY_INX"),
    NO ("batch", 0, SLURM_SBATCH, "FEATURE", "BATCH",
        "say the features of all nodes with --constraint"),
    NO ("bb", 0, SLURM_ALL, "SPEC", "BURST_BUFFER",
        "remove it (there are no burst buffers; --stage-in of fluxq-submit copies "
        "files)"),
    NO ("bbf", 0, SLURM_ALL, "FILE", NULL,
        "remove it (there are no burst buffers; --stage-in of fluxq-submit copies "
        "files)"),
    DONE ("begin", 'b', SLURM_ALL, NULL),
    COMMAND ("bell", 0, SLURM_SALLOC, NULL, "BELL",
             "ring the terminal's bell when the job starts [after a wait of 10 s]",
             FLAG (bell), "remove it"),
    DONE ("chdir", 'D', SLURM_ALL, NULL),
    NO ("cluster-constraint", 0, SLURM_ALL, "LIST", "CLUSTER_CONSTRAINT",
        "remove it (there is one cluster)"),
    COMMAND ("clusters", 'M', SLURM_ALL, "NAMES", "CLUSTERS",
             "submit to this cluster, the only one: its name, or all", FLAG (clusters),
             "remove it (there is one cluster)"),
    STORED ("comment", 0, SLURM_ALL, NULL),
    NO ("consolidate-segments", 0, SLURM_ALL, NULL, "CONSOLIDATE_SEGMENTS",
        "remove it (the segments come into as few racks as possible)"),
    DONE ("constraint", 'C', SLURM_ALL, "CONSTRAINT"),
    NO ("container", 0, SLURM_ALL, "PATH", "CONTAINER",
        "name an image with --image of fluxq-submit, or in the script: #FLUXQ "
        "--image=IMAGE"),
    NO ("container-id", 0, SLURM_ALL, "ID", "CONTAINER_ID",
        "name an image with --image of fluxq-submit, or in the script: #FLUXQ "
        "--image=IMAGE"),
    NO ("contiguous", 0, SLURM_ALL, NULL, NULL,
        "ask for nodes that are near each other: --switches=1, or --placement of "
        "fluxq-submit"),
    NO ("core-spec", 'S', SLURM_ALL, "N", "CORE_SPEC",
        "remove it (cores for the system are set aside by the administrator)"),
    NO ("cores-per-socket", 0, SLURM_ALL, "N", NULL,
        "ask for cores with --cpus-per-task"),
    NO ("cpu-freq", 0, SLURM_ALL, "SPEC", "CPU_FREQ_REQ",
        "remove it (fluxq does not change the frequency of cores)"),
    DONE ("cpus-per-gpu", 0, SLURM_ALL, "CPUS_PER_GPU"),
    DONE ("cpus-per-task", 'c', SLURM_ALL, NULL),
    DONE ("deadline", 0, SLURM_ALL, NULL),
    NO ("delay-boot", 0, SLURM_ALL, "MINUTES", "DELAY_BOOT",
        "remove it (fluxq boots no nodes)"),
    DONE ("dependency", 'd', SLURM_ALL, NULL),
    STEPS ("distribution", 'm', SLURM_ALL, "NODES[:SOCKETS[:CORES]]", "DISTRIBUTION",
           check_distribution),
    DONE ("error", 'e', SLURM_SBATCH | SLURM_SRUN, "ERROR"),
    DONE ("exclude", 'x', SLURM_ALL, NULL),
    { .name = "exclusive",
      .arg = "user|mcs|topo",
      .arg_optional = true,
      .commands = SLURM_ALL,
      .sets = "exclusive",
      .variable = "EXCLUSIVE",
      .text = "a value is refused; without one, no other job shares the nodes" },
    DONE ("export", 0, SLURM_SBATCH | SLURM_SRUN, "EXPORT"),
    DONE ("export-file", 0, SLURM_SBATCH, NULL),
    NO ("external", 0, SLURM_SBATCH, NULL, NULL, "remove it (the job runs its script)"),
    STORED ("extra", 0, SLURM_ALL, NULL),
    NO ("extra-node-info", 'B', SLURM_ALL, "SPEC", NULL,
        "ask for cores with --cpus-per-task"),
    DONE ("get-user-env", 0, SLURM_SBATCH, "GET_USER_ENV"),
    NO ("gid", 0, SLURM_SBATCH, "GROUP", NULL, "submit as that user"),
    STEPS ("gpu-bind", 0, SLURM_ALL, "[verbose,]TYPE", "GPU_BIND", check_gpu_bind),
    NO ("gpu-freq", 0, SLURM_ALL, "SPEC", "GPU_FREQ",
        "remove it (fluxq does not change the frequency of GPUs)"),
    DONE ("gpus", 'G', SLURM_ALL, "GPUS"),
    DONE ("gpus-per-node", 0, SLURM_ALL, "GPUS_PER_NODE"),
    NO ("gpus-per-socket", 0, SLURM_ALL, "N", "GPUS_PER_SOCKET",
        "say the number of all GPUs with --gpus"),
    DONE ("gpus-per-task", 0, SLURM_ALL, "GPUS_PER_TASK"),
    DONE ("gres", 0, SLURM_ALL, "GRES"),
    NO ("gres-flags", 0, SLURM_ALL, "SPEC", "GRES_FLAGS", NULL),
    COMMAND ("help", 'h', SLURM_ALL, NULL, NULL, "show this text", 0,
             "it belongs on the command line of fluxq-submit"),
    ALWAYS ("hint", 0, SLURM_ALL, "compute_bound|multithread|nomultithread", "HINT",
            "a task has whole cores of a node; fluxq knows no threads of a core"),
    DONE ("hold", 'H', SLURM_ALL, NULL),
    ALWAYS ("ignore-pbs", 0, SLURM_SBATCH, NULL, "IGNORE_PBS", "#PBS lines are not read"),
    DONE ("input", 'i', SLURM_SBATCH | SLURM_SRUN, "INPUT"),
    DONE ("job-name", 'J', SLURM_ALL, "JOB_NAME"),
    AS ("kill-on-invalid-dep", 0, SLURM_SBATCH, "yes|no", "kill-invalid-depend"),
    DONE ("licenses", 'L', SLURM_ALL, NULL),
    DONE ("mail-type", 0, SLURM_ALL, NULL),
    DONE ("mail-user", 0, SLURM_ALL, NULL),
    STORED ("mcs-label", 0, SLURM_ALL, NULL),
    DONE ("mem", 0, SLURM_ALL, "MEM_PER_NODE"),
    NO ("mem-bind", 0, SLURM_ALL, "SPEC", "MEM_BIND", NULL),
    DONE ("mem-per-cpu", 0, SLURM_ALL, "MEM_PER_CPU"),
    DONE ("mem-per-gpu", 0, SLURM_ALL, "MEM_PER_GPU"),
    NO ("mincpus", 0, SLURM_ALL, "N", NULL, "ask for cores with --cpus-per-task"),
    NO ("network", 0, SLURM_ALL, "SPEC", "NETWORK", NULL),
    DONE ("nice", 0, SLURM_ALL, NULL),
    NO_OPT ("no-kill", 'k', SLURM_ALL, "off", "NO_KILL",
            "remove it (a job ends when a node of it is lost)"),
    DONE ("no-requeue", 0, SLURM_SBATCH, "NO_REQUEUE"),
    DONE ("nodefile", 'F', SLURM_ALL, NULL),
    DONE ("nodelist", 'w', SLURM_ALL, NULL),
    DONE ("nodes", 'N', SLURM_ALL, NULL),
    DONE ("ntasks", 'n', SLURM_ALL, NULL),
    ALWAYS ("ntasks-per-core", 0, SLURM_ALL, "N", NULL,
            "a core has at most one task, unless srun --overcommit is given"),
    DONE ("ntasks-per-gpu", 0, SLURM_ALL, NULL),
    DONE ("ntasks-per-node", 0, SLURM_ALL, NULL),
    DONE ("ntasks-per-socket", 0, SLURM_ALL, NULL),
    NO ("ntasks-per-tres", 0, SLURM_ALL, "N", NULL, "say --gpus-per-task"),
    NO_OPT ("oom-kill-step", 0, SLURM_ALL, "0|1", NULL, NULL),
    DONE ("open-mode", 0, SLURM_SBATCH | SLURM_SRUN, "OPEN_MODE"),
    DONE ("output", 'o', SLURM_SBATCH | SLURM_SRUN, "OUTPUT"),
    NO ("overcommit", 'O', SLURM_ALL, NULL, "OVERCOMMIT",
        "give it to srun or fluxq-run in the script"),
    ALWAYS ("oversubscribe", 's', SLURM_ALL, NULL, NULL,
            "jobs share nodes unless --exclusive is given"),
    { .name = "kill-command",
      .letter = 'K',
      .arg = "SIGNAL",
      .arg_optional = true,
      .commands = SLURM_SALLOC,
      .treatment = SLURM_COMMAND,
      .variable = "KILL_CMD",
      .text = "signal for the command when the job ends first [HUP; without SIGNAL, HUP "
              "at a terminal, else TERM]",
      .at = FLAG (kill_command),
      .elsewhere = "remove it" },
    COMMAND ("no-bell", 0, SLURM_SALLOC, NULL, "NO_BELL", "ring no bell", FLAG (no_bell),
             "remove it"),
    COMMAND ("no-shell", 0, SLURM_SALLOC, NULL, NULL,
             "run no command: the allocation stays until it is cancelled or its time is "
             "over",
             FLAG (no_shell), "remove it"),
    COMMAND ("parsable", 0, SLURM_SBATCH, NULL, NULL, "print the job's number alone",
             FLAG (parsable), "remove it (fluxq-submit prints the id alone)"),
    DONE ("partition", 'p', SLURM_ALL, "PARTITION"),
    NO ("power", 0, SLURM_ALL, "FLAGS", "POWER", NULL),
    NO ("prefer", 0, SLURM_ALL, "LIST", NULL,
        "say --constraint if the job needs the feature, else remove it"),
    DONE ("priority", 0, SLURM_ALL, NULL),
    NO ("profile", 0, SLURM_ALL, "LIST", "PROFILE", NULL),
    DONE ("propagate", 0, SLURM_SBATCH | SLURM_SRUN, NULL),
    STORED ("qos", 'q', SLURM_ALL, "QOS"),
    COMMAND ("quiet", 'Q', SLURM_ALL, NULL, NULL, "print errors only", FLAG (quiet),
             "remove it (fluxq-submit prints the id alone)"),
    NO ("reboot", 0, SLURM_ALL, NULL, NULL, "remove it (fluxq boots no nodes)"),
    DONE ("requeue", 0, SLURM_SBATCH, "REQUEUE"),
    DONE ("reservation", 0, SLURM_ALL, "RESERVATION"),
    NO ("resources", 0, SLURM_ALL, "SPEC", NULL, NULL),
    NO_OPT ("resv-ports", 0, SLURM_ALL, "N", NULL, NULL),
    DONE ("segment", 0, SLURM_ALL, "SEGMENT_SIZE"),
    ALWAYS ("share", 0, SLURM_ALL, NULL, NULL,
            "jobs share nodes unless --exclusive is given"),
    DONE ("signal", 0, SLURM_ALL, "SIGNAL"),
    NO ("sockets-per-node", 0, SLURM_ALL, "N", NULL,
        "ask for cores with --cpus-per-task"),
    DONE ("spread-job", 0, SLURM_ALL, "SPREAD_JOB"),
    DONE ("spread-segments", 0, SLURM_ALL, "SPREAD_SEGMENTS"),
    NO ("stepmgr", 0, SLURM_ALL, NULL, NULL,
        "remove it (steps are started by the job's own agents)"),
    DONE ("switches", 0, SLURM_ALL, NULL),
    AS ("tasks-per-node", 0, SLURM_ALL, NULL, "ntasks-per-node"),
    NO ("test-only", 0, SLURM_SRUN, NULL, NULL, "say sbatch --test-only"),
    COMMAND ("test-only", 0, SLURM_SBATCH, NULL, NULL,
             "show when and where the job would start, and submit nothing",
             FLAG (test_only), "it belongs on the command line of fluxq-submit"),
    NO ("thread-spec", 0, SLURM_ALL, "N", "THREAD_SPEC",
        "remove it (cores for the system are set aside by the administrator)"),
    ALWAYS ("threads-per-core", 0, SLURM_ALL, "1", "THREADS_PER_CORE",
            "a task has whole cores of a node; fluxq knows no threads of a core"),
    DONE ("time", 't', SLURM_ALL, "TIMELIMIT"),
    DONE ("time-min", 0, SLURM_ALL, NULL),
    DONE ("tmp", 0, SLURM_ALL, NULL),
    STEPS ("tres-bind", 0, SLURM_ALL, "gres/gpu:[verbose,]TYPE", "TRES_BIND",
           check_tres_bind),
    NO ("tres-per-task", 0, SLURM_ALL, "LIST", "TRES_PER_TASK",
        "say --cpus-per-task and --gpus-per-task"),
    NO ("uid", 0, SLURM_SBATCH, "USER", NULL, "submit as that user"),
    COMMAND ("usage", 0, SLURM_ALL, NULL, NULL, "show the usage in short", 0,
             "fluxq-submit --help prints it"),
    NO ("use-min-nodes", 0, SLURM_ALL, NULL, "USE_MIN_NODES",
        "name one number of nodes with --nodes"),
    ALWAYS ("verbose", 'v', SLURM_SRUN | SLURM_SALLOC, NULL, NULL,
            "the messages are complete without it"),
    COMMAND ("verbose", 'v', SLURM_SBATCH, NULL, "DEBUG",
             "say what becomes of each option", FLAG (verbose), "remove it"),
    COMMAND ("version", 'V', SLURM_ALL, NULL, NULL, "show the version", 0,
             "it belongs on the command line of fluxq-submit"),
    COMMAND ("wait", 'W', SLURM_SBATCH, NULL, "WAIT",
             "wait until the job has ended, and exit with its status", FLAG (wait),
             "it belongs on the command line of fluxq-submit"),
    ALWAYS ("wait-all-nodes", 0, SLURM_SBATCH | SLURM_SALLOC, "0|1", "WAIT_ALL_NODES",
            "a job starts when all its nodes are ready"),
    STORED ("wckey", 0, SLURM_ALL, "WCKEY"),
    NO ("workdir", 0, SLURM_SBATCH, "DIR", NULL, "say --chdir"),
    COMMAND ("wrap", 0, SLURM_SBATCH, "COMMAND", NULL,
             "submit a script with this command", 0,
             "write -- COMMAND; in a script, write the command into the script"),
    NO_OPT ("x11", 0, SLURM_SRUN | SLURM_SALLOC, "all|first|last|batch", NULL,
            "use ssh -X to the node"),
    { .name = NULL },
};

#define ROWS ARRAY_SIZE (slurm_option_table)
/* Ids begin behind those of the attributes. */
#define ID_FIRST (SUBMIT_OPTION_FIRST + ATTRIBUTES_MAX)

static const struct attribute *attribute_of (const struct slurm_option *o)
{
    return o->sets ? attribute_find (o->sets, strlen (o->sets)) : NULL;
}

static struct option_desc describe (const struct slurm_option *o)
{
    const struct attribute *a = attribute_of (o);
    struct option_desc d = {
        o->name, o->letter, o->arg, o->text, 0, o->arg_optional, NULL
    };

    d.id = ID_FIRST + (int)(o - slurm_option_table);
    if (o->treatment == SLURM_REFUSED)
        d.help = NULL;
    else if (a && !o->arg)
        d = (struct option_desc){ o->name, o->letter,       a->arg,  a->help,
                                  d.id,    a->arg_optional, a->group };
    else if (a)
        d = (struct option_desc){ o->name, o->letter,       o->arg,  a->help,
                                  d.id,    o->arg_optional, a->group };
    return d;
}

const struct option_desc *slurm_options_table (enum slurm_command command)
{
    static struct option_desc tables[SLURM_ALL + 1][ROWS];
    struct option_desc *ret = tables[command];
    size_t n = 0;

    if (ret[0].name)
        return ret;
    for (const struct slurm_option *o = slurm_option_table; o->name; o++)
        if (o->commands & command)
            ret[n++] = describe (o);
    ret[n] = (struct option_desc)OPTION_END;
    return ret;
}

const struct slurm_option *slurm_option_of (const struct option_desc *d)
{
    bool is_row = d->id >= ID_FIRST && d->id < ID_FIRST + (int)ROWS - 1;

    return is_row ? &slurm_option_table[d->id - ID_FIRST] : NULL;
}

int slurm_option_refuse (const struct slurm_option *o, const char *where,
                         struct error *err)
{
    if (o->treatment == SLURM_REFUSED)
        return error_set (err, EINVAL,
                          "%s: an option of Slurm that fluxq does not support; %s", where,
                          o->text ? o->text : "remove it");
    if (o->treatment == SLURM_COMMAND)
        return error_set (err, EINVAL, "%s: an option of sbatch; %s", where,
                          o->elsewhere);
    return 0;
}

static void explain (const struct submit_options *so, const char *where, const char *text)
{
    char line[1024];

    snprintf (line, sizeof (line), "%s: done: %s", where, text);
    if (so->explain)
        so->explain (line, so->explain_arg);
}

/* An option of the command itself. */
static int set_command (struct submit_options *so, enum submit_source source,
                        const struct slurm_option *o, const char *value,
                        const char *where, struct error *err)
{
    so = so->first ? so->first : so;
    void *at = (char *)so + o->at;
    char *copy;

    explain (so, where, o->text);
    if (!o->arg) {
        *(bool *)at = true;
        return 0;
    }
    struct command_text *text = at;
    if (text->source > (int)source)
        return 0;
    if (!(copy = strdup (value ? value : "")))
        return error_no_memory (err, where);
    free (text->text);
    *text = (struct command_text){ copy, (int)source };
    return 0;
}

/* An option that is done for every job. */
static int set_always (const struct submit_options *so, const struct slurm_option *o,
                       const char *value, const char *where, struct error *err)
{
    int64_t n;
    int rc =
        !o->arg                 ? 0
        : !strcmp (o->arg, "N") ? parse_int (value, 0, INT32_MAX, &n, where, err)
        : parse_is_word_of (value, o->arg)
            ? 0
            : error_set (err, EINVAL, "%s: '%.32s' is not supported; the values are %s",
                         where, value, o->arg);

    if (rc == 0)
        explain (so, where, o->text);
    return rc;
}

/* An option that the steps of the job do. */
static int set_for_steps (struct submit_options *so, enum submit_source source,
                          const struct slurm_option *o, const char *value,
                          const char *where, struct error *err)
{
    int rc = o->check (value, where, err);
    const json_t *old = json_object_get (so->for_steps, o->steps);

    if (rc < 0)
        return rc;
    explain (so, where, "the steps of srun do so");
    if (json_integer_value (json_array_get (old, 0)) > (json_int_t)source)
        return 0;
    if (!so->for_steps)
        so->for_steps = json_object ();
    return json_object_set_new (so->for_steps, o->steps,
                                json_pack ("[i, s]", (int)source, value))
                   == 0
               ? 0
               : error_no_memory (err, where);
}

/* The options whose value may be empty, as in Slurm: "sbatch -d "$after" job.sh". The option
 * is then as not given. */
static bool is_left_empty (const struct slurm_option *o, const char *value)
{
    return value && !*value
           && parse_is_word_of (o->name,
                                "account|array|chdir|comment|constraint|dependency|error|"
                                "exclude|extra|input|job-name|licenses|mail-user|"
                                "mcs-label|output|qos|reservation|wckey");
}

static void explain_empty (const struct submit_options *so, const char *where)
{
    char line[1024];

    snprintf (line, sizeof (line), "%s: not used: the value is empty", where);
    if (so->explain)
        so->explain (line, so->explain_arg);
}

int slurm_option_set (struct submit_options *so, enum submit_source source,
                      const struct slurm_option *o, const char *value, const char *where,
                      struct error *err)
{
    if (o->treatment == SLURM_REFUSED)
        return slurm_option_refuse (o, where, err);
    if (o->treatment == SLURM_COMMAND && !o->at)
        return error_set (err, EINVAL, "%s: it belongs on the command line", where);
    if (o->treatment == SLURM_COMMAND)
        return set_command (so, source, o, value, where, err);
    if (o->steps)
        return set_for_steps (so, source, o, value, where, err);
    if (!o->sets) /* done for every job */
        return set_always (so, o, value, where, err);
    if (is_left_empty (o, value)) {
        explain_empty (so, where);
        return 0;
    }
    if (!strcmp (o->name, "exclusive") && value)
        return error_set (err, EINVAL,
                          "%s=%.32s: fluxq does not support a value here; --exclusive "
                          "without a value shares the nodes with no other job",
                          where, value);
    so->explain_as = o->treatment == SLURM_STORED ? "stored and shown" : NULL;
    int rc = submit_options_set (so, source, o->sets, value, where, err);
    so->explain_as = NULL;
    if (!strcmp (o->name, "signal"))
        so->process.warn.steps = !so->process.warn.batch;
    return rc;
}

/* -- from the environment -- */

/* The row of "SBATCH_ACCOUNT=..."; NULL: there is none. */
static const struct slurm_option *row_of_variable (const char *entry, const char *prefix,
                                                   enum slurm_command command,
                                                   size_t *ret_len)
{
    size_t len = strlen (prefix);

    if (strncmp (entry, prefix, len) != 0)
        return NULL;
    *ret_len = strcspn (entry, "=");
    for (const struct slurm_option *o = slurm_option_table; o->name; o++)
        if ((o->commands & command) && o->variable
            && strlen (o->variable) == *ret_len - len
            && !strncmp (entry + len, o->variable, *ret_len - len))
            return o;
    return NULL;
}

/* As in sbatch, the variable of a flag sets it whatever its value is; so does that of
 * --requeue, unless the value is the option's word. */
static const char *value_of_variable (const struct slurm_option *o, const char *value)
{
    bool other = !strcmp (o->name, "requeue") && strcasecmp (value, "expedite") != 0;
    const struct option_desc d = describe (o);

    return d.arg && (*value || !d.arg_optional) && !other ? value : NULL;
}

static int read_environ (struct submit_options *so, enum slurm_command command,
                         char *const environ_list[], struct error *err)
{
    const char *prefix = command == SLURM_SALLOC ? "SALLOC_"
                         : command == SLURM_SRUN ? "SLURM_"
                                                 : "SBATCH_";

    for (; *environ_list; environ_list++) {
        size_t len;
        char where[64];
        const struct slurm_option *o =
            row_of_variable (*environ_list, prefix, command, &len);
        const char *value = *environ_list + len + 1;

        /* The streams and the environment of srun are those of a step. */
        if (!o || (command == SLURM_SRUN && (o->commands & SLURM_SALLOC) == 0))
            continue;
        snprintf (where, sizeof (where), "%.*s", (int)len, *environ_list);
        if (slurm_option_set (so, SUBMIT_FROM_ENVIRONMENT, o,
                              value_of_variable (o, value), where, err)
            < 0)
            return -err->code;
    }
    return 0;
}

int slurm_options_from_environ (struct submit_options *so, enum slurm_command command,
                                char *const environ_list[], struct error *err)
{
    int rc = read_environ (so, command, environ_list, err);

    for (size_t i = 0; i < so->nfurther && rc == 0; i++)
        rc = read_environ (so->further[i], command, environ_list, err);
    return rc;
}
