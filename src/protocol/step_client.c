/* step_client.c - the table of options for fluxq-run and the commands that start it */
#include "protocol/step_client.h"

const struct option_desc step_options[] = {
    { "nodes", 'N', "N", "number of nodes [all nodes of the job]", STEP_OPT_NODES, false,
      "Resources" },
    { "ntasks", 'n', "N", "number of tasks [as in the job]", STEP_OPT_NTASKS, false,
      "Resources" },
    { "ntasks-per-node", 0, "N", "tasks on each node, at most N with --ntasks",
      STEP_OPT_PER_NODE, false, "Resources" },
    { "cpus-per-task", 'c', "N", "cores for each task [as in the job]", STEP_OPT_CPUS,
      false, "Resources" },
    { "gpus", 'G', "[TYPE:]N", "GPUs in all [the job's]", STEP_OPT_GPUS, false,
      "Resources" },
    { "gpus-per-task", 0, "[TYPE:]N",
      "GPUs for each task, which sees only its own [as in the job]",
      STEP_OPT_GPUS_PER_TASK, false, "Resources" },
    { "ntasks-per-gpu", 0, "N", "so many tasks share each GPU", STEP_OPT_NTASKS_PER_GPU,
      false, "Resources" },
    { "nodelist", 'w', "HOSTS", "run on these nodes of the job", STEP_OPT_NODELIST, false,
      "Placement" },
    { "exclude", 'x', "HOSTS", "do not run on these nodes", STEP_OPT_EXCLUDE, false,
      "Placement" },
    { "distribution", 'm', "KIND", "block, cyclic, plane=SIZE or arbitrary [block]",
      STEP_OPT_DISTRIBUTION, false, "Placement" },
    { "taskmap", 0, "MAP", "place the tasks on the nodes by this RFC 34 task map",
      STEP_OPT_TASKMAP, false, "Placement" },
    { "exact", 0, NULL, "take only the requested cores, not whole nodes", STEP_OPT_EXACT,
      false, "Resources" },
    { "overlap", 0, NULL, "share cores with other steps", STEP_OPT_OVERLAP, false,
      "Resources" },
    { "overcommit", 'O', NULL, "allow more tasks than cores", STEP_OPT_OVERCOMMIT, false,
      "Resources" },
    { "immediate", 'I', NULL, "fail rather than wait for cores", STEP_OPT_IMMEDIATE,
      false, "The step" },
    { "cpu-bind", 0, "HOW", "how to bind tasks to cores [cores]", STEP_OPT_CPU_BIND,
      false, "Placement" },
    { "gpu-bind", 0, "HOW",
      "the GPUs of each task: none, single:N, per_task:N, map_gpu:LIST, "
      "mask_gpu:LIST [all of the step]",
      STEP_OPT_GPU_BIND, false, "Placement" },
    { "mpi", 0, "KIND", "none, pmi1, pmi2, pmix or list [pmi1 and pmi2]", STEP_OPT_MPI,
      false, "The step" },
    { "multi-prog", 0, NULL,
      "the command is a file that says which task runs which program",
      STEP_OPT_MULTI_PROG, false, "The step" },
    { "input", 'i', "FILE|TASK", "standard input: all, none, a task or a file [all]",
      STEP_OPT_INPUT, false, "Files and directory" },
    { "output", 'o', "FILE|TASK", "standard output: all, none, a task or a file [all]",
      STEP_OPT_OUTPUT, false, "Files and directory" },
    { "error", 'e', "FILE|TASK", "standard error [as --output, if given]", STEP_OPT_ERROR,
      false, "Files and directory" },
    { "open-mode", 0, "MODE", "append or truncate [truncate]", STEP_OPT_OPEN_MODE, false,
      "Files and directory" },
    { "label-io", 'l', NULL, "begin each line with the number of its task",
      STEP_OPT_LABEL, false, "Files and directory" },
    { "label", 0, NULL, NULL, STEP_OPT_LABEL, false, "Files and directory" },
    { "kill-on-bad-exit", 'K', "0|1", "end all tasks when one fails [0]",
      STEP_OPT_KILL_ON_BAD_EXIT, true, "The step" },
    { "wait", 'W', "SECONDS",
      "end the other tasks so long after the first task has ended [never]", STEP_OPT_WAIT,
      false, "The step" },
    { "chdir", 'D', "DIR", "working directory [the current one]", STEP_OPT_CHDIR, false,
      "Files and directory" },
    { "export", 0, "LIST", "variables that tasks get: ALL, NONE or NAME[=VALUE],...",
      STEP_OPT_EXPORT, false, "Environment" },
    { "job-name", 'J', "NAME", "name of the step [name of the program]", STEP_OPT_NAME,
      false, "The step" },
    { "quiet", 'Q', NULL, "print errors only", STEP_OPT_QUIET, false, "The step" },
    { "rsh", 0, NULL,
      "like rsh: the operands are a node of the job and a command for its shell",
      STEP_OPT_RSH, false, "The step" },
    { "pty", 0, NULL, "run task 0 on this terminal", STEP_OPT_PTY, false, "The step" },
    OPTION_END,
};

#define OF_JOB(name, letter, arg, optional)                                              \
    {                                                                                    \
        name, letter, arg, NULL, STEP_OPT_OF_JOB, optional, NULL                         \
    }
#define NOT_HERE(name, letter, arg, optional)                                            \
    {                                                                                    \
        name, letter, arg, NULL, STEP_OPT_REFUSED, optional, NULL                        \
    }
#define NOTHING(name, letter, arg, optional)                                             \
    {                                                                                    \
        name, letter, arg, NULL, STEP_OPT_NOTHING, optional, NULL                        \
    }

const struct option_desc srun_options[] = {
    { "time", 't', "TIME", "end the step after this time", STEP_OPT_TIME, false,
      "The step" },
    { "relative", 'r', "N", "begin with this node of the job [0]", STEP_OPT_RELATIVE,
      false, "Placement" },
    { "jobid", 0, "JOB", "the job of the step [this job]", STEP_OPT_JOBID, false,
      "The step" },
    { "gres", 0, "NAME[:TYPE][:COUNT],...", "GPUs on each node: gpu:2, or none",
      STEP_OPT_GRES, false, "Resources" },
    { "gpus-per-node", 0, "[TYPE:]N", "GPUs on each node", STEP_OPT_GPUS_PER_NODE, false,
      "Resources" },
    { "tres-bind", 0, "gres/gpu:HOW", "the same as --gpu-bind", STEP_OPT_TRES_BIND, false,
      "Placement" },
    { "tasks-per-node", 0, "N", "the same as --ntasks-per-node", STEP_OPT_PER_NODE, false,
      "Resources" },
    { "bcast", 0, "DEST", "copy the program to the nodes first [a name in the directory]",
      STEP_OPT_BCAST, true, "Files and directory" },
    { "exclusive", 0, "user|mcs", "take only the requested cores, as --exact",
      STEP_OPT_EXCLUSIVE, true, "Resources" },
    { "het-group", 0, "SET", "run on these components of a heterogeneous job [0]",
      STEP_OPT_HET_GROUP, false, "Placement" },
    { "pack-group", 0, "SET", NULL, STEP_OPT_HET_GROUP, false, NULL },
    { "nodefile", 'F', "FILE", "run on the nodes of the job that FILE names",
      STEP_OPT_NODEFILE, false, "Placement" },
    { "quit-on-interrupt", 0, NULL, "one ctrl-C ends the tasks", STEP_OPT_QUIT, false,
      "The step" },
    { "send-libs", 0, "yes|no", NULL, STEP_OPT_SEND_LIBS, true, NULL },
    { "cpu_bind", 0, "HOW", NULL, STEP_OPT_CPU_BIND, false, NULL }, /* of old scripts */
    { "hint", 0, "compute_bound|multithread|nomultithread", NULL, STEP_OPT_WORDS, false,
      NULL },
    { "threads-per-core", 0, "1", NULL, STEP_OPT_WORDS, false, NULL },
    { "ntasks-per-core", 0, "N", NULL, STEP_OPT_NUMBER, false, NULL },
    { "mem", 0, "SIZE", NULL, STEP_OPT_SIZE, false, NULL },
    { "mem-per-cpu", 0, "SIZE", NULL, STEP_OPT_SIZE, false, NULL },
    { "mem-per-gpu", 0, "SIZE", NULL, STEP_OPT_SIZE, false, NULL },
    OF_JOB ("account", 'A', "NAME", false),
    OF_JOB ("bb", 0, "SPEC", false),
    OF_JOB ("bbf", 0, "FILE", false),
    OF_JOB ("begin", 'b', "TIME", false),
    OF_JOB ("cluster-constraint", 0, "LIST", false),
    OF_JOB ("clusters", 'M', "NAMES", false),
    OF_JOB ("comment", 0, "TEXT", false),
    OF_JOB ("consolidate-segments", 0, NULL, false),
    OF_JOB ("contiguous", 0, NULL, false),
    OF_JOB ("core-spec", 'S', "N", false),
    OF_JOB ("deadline", 0, "TIME", false),
    OF_JOB ("delay-boot", 0, "MINUTES", false),
    OF_JOB ("dependency", 'd', "LIST", false),
    OF_JOB ("extra", 0, "TEXT", false),
    OF_JOB ("gpus-per-socket", 0, "N", false),
    OF_JOB ("hold", 'H', NULL, false),
    OF_JOB ("licenses", 'L', "LIST", false),
    OF_JOB ("mail-type", 0, "EVENTS", false),
    OF_JOB ("mail-user", 0, "USER", false),
    OF_JOB ("mcs-label", 0, "LABEL", false),
    OF_JOB ("mincpus", 0, "N", false),
    OF_JOB ("nice", 0, "N", true),
    OF_JOB ("ntasks-per-socket", 0, "N", false),
    OF_JOB ("oversubscribe", 's', NULL, false),
    OF_JOB ("partition", 'p', "NAME", false),
    OF_JOB ("power", 0, "FLAGS", false),
    OF_JOB ("prefer", 0, "LIST", false),
    OF_JOB ("priority", 0, "N", false),
    OF_JOB ("propagate", 0, "LIST", true),
    OF_JOB ("qos", 'q', "NAME", false),
    OF_JOB ("reboot", 0, NULL, false),
    OF_JOB ("reservation", 0, "NAME", false),
    OF_JOB ("segment", 0, "N", false),
    OF_JOB ("share", 0, NULL, false),
    OF_JOB ("signal", 0, "SIGNAL", false),
    OF_JOB ("sockets-per-node", 0, "N", false),
    OF_JOB ("spread-job", 0, NULL, false),
    OF_JOB ("spread-segments", 0, NULL, false),
    OF_JOB ("stepmgr", 0, NULL, false),
    OF_JOB ("switches", 0, "N", false),
    OF_JOB ("thread-spec", 0, "N", false),
    OF_JOB ("time-min", 0, "TIME", false),
    OF_JOB ("tmp", 0, "SIZE", false),
    OF_JOB ("use-min-nodes", 0, NULL, false),
    OF_JOB ("wckey", 0, "KEY", false),
    NOTHING ("bcast-exclude", 0, "PATHS", false),
    NOTHING ("compress", 0, "LIBRARY", true),
    NOTHING ("disable-status", 'X', NULL, false),
    NOTHING ("no-kill", 'k', "off", true),
    NOTHING ("preserve-env", 'E', NULL, false),
    NOTHING ("slurmd-debug", 0, "LEVEL", false),
    NOTHING ("threads", 'T', "N", false),
    NOTHING ("treewidth", 0, "N", false),
    NOTHING ("unbuffered", 'u', NULL, false),
    NOTHING ("verbose", 'v', NULL, false),
    NOT_HERE ("acctg-freq", 0, "LIST", false),
    NOT_HERE ("constraint", 'C', "TEXT", false),
    NOT_HERE ("container", 0, "PATH", false),
    NOT_HERE ("container-id", 0, "ID", false),
    NOT_HERE ("cores-per-socket", 0, "N", false),
    NOT_HERE ("cpu-freq", 0, "SPEC", false),
    NOT_HERE ("cpus-per-gpu", 0, "N", false),
    NOT_HERE ("epilog", 0, "PROGRAM", false),
    NOT_HERE ("external-launcher", 0, "MPI", true),
    NOT_HERE ("extra-node-info", 'B', "SPEC", false),
    NOT_HERE ("gpu-freq", 0, "SPEC", false),
    NOT_HERE ("gres-flags", 0, "SPEC", false),
    NOT_HERE ("mem-bind", 0, "SPEC", false),
    NOT_HERE ("msg-timeout", 0, "SECONDS", false),
    NOT_HERE ("network", 0, "SPEC", false),
    NOT_HERE ("no-allocate", 'Z', NULL, false),
    NOT_HERE ("ntasks-per-tres", 0, "N", false),
    NOT_HERE ("oom-kill-step", 0, "0|1", true),
    NOT_HERE ("profile", 0, "LIST", false),
    NOT_HERE ("prolog", 0, "PROGRAM", false),
    NOT_HERE ("resources", 0, "SPEC", false),
    NOT_HERE ("resv-ports", 0, "N", true),
    NOT_HERE ("task-epilog", 0, "PROGRAM", false),
    NOT_HERE ("task-prolog", 0, "PROGRAM", false),
    NOT_HERE ("test-only", 0, NULL, false),
    NOT_HERE ("tres-per-task", 0, "LIST", false),
    NOT_HERE ("wait-for-children", 0, NULL, false),
    NOT_HERE ("x11", 0, "all|first|last|batch", true),
    OPTION_END,
};

/* The advice for an option that a step refuses; the others are only to be
 * removed. */
static const struct {
    const char *name, *instead;
} srun_refused[] = {
    { "acctg-freq", "remove it (the usage of a step is measured when it ends)" },
    { "constraint", "name nodes of the job with --nodelist" },
    { "container", "a step runs in the image of the job" },
    { "container-id", "a step runs in the image of the job" },
    { "cores-per-socket", "ask for cores with --cpus-per-task" },
    { "cpu-freq", "remove it (fluxq does not change the frequency of cores)" },
    { "cpus-per-gpu", "ask for cores with --cpus-per-task" },
    { "epilog", "run it after srun" },
    { "extra-node-info", "ask for cores with --cpus-per-task" },
    { "gpu-freq", "remove it (fluxq does not change the frequency of GPUs)" },
    { "no-allocate", "remove it (a step runs in a job)" },
    { "ntasks-per-tres", "say --ntasks-per-gpu" },
    { "prolog", "run it before srun" },
    { "task-epilog", "run it in a script that is the command" },
    { "task-prolog", "run it in a script that is the command" },
    { "test-only", "say sbatch --test-only" },
    { "tres-per-task", "say --cpus-per-task and --gpus-per-task" },
    { "wait-for-children", "let the command wait for its processes" },
    { "x11", "use ssh -X to the node" },
};

int srun_refuse (const struct option_desc *option, struct error *err)
{
    const char *instead = "remove it";

    for (size_t i = 0; i < ARRAY_SIZE (srun_refused); i++)
        if (!strcmp (srun_refused[i].name, option->name))
            instead = srun_refused[i].instead;
    return error_set (err, EINVAL, "--%s: not supported in a step: %s", option->name,
                      instead);
}

const struct option_desc bcast_options[] = {
    { "force", 'f', NULL, "replace an existing file", BCAST_OPT_FORCE, false, NULL },
    { "preserve", 'p', NULL, "also keep the modification time", BCAST_OPT_PRESERVE, false,
      NULL },
    OPTION_END,
};

/* Options that are refused, with the reason. */
static const struct {
    const char *name;
    const char *variable; /* that stands for the option, or NULL */
    const char *reason;
} sbcast_refused[] = {
    { "exclude", "SBCAST_EXCLUDE", "it is for --send-libs" },
    { "fanout", "SBCAST_FANOUT", "the copy follows the tree of the job's agents" },
    { "treewidth", "SBCAST_TREE_WIDTH", "the copy follows the tree of the job's agents" },
    { "send-libs", "SBCAST_SEND_LIBS",
      "copy the libraries as files, or use an image that has them" },
    { "size", "SBCAST_SIZE", "the copy chooses the size of its blocks" },
    { "timeout", "SBCAST_TIMEOUT",
      "end the copy with timeout(1): timeout 60 sbcast FILE DEST" },
    { "no-allocation", NULL, "a file is copied to the nodes of a job" },
    { "nodelist", NULL, "a file is copied to all nodes of the job" },
};

#define REFUSED(name, letter, arg, optional)                                             \
    {                                                                                    \
        name, letter, arg, NULL, BCAST_OPT_REFUSED, optional, NULL                       \
    }

const struct option_desc sbcast_options[] = {
    { "force", 'f', NULL, "replace an existing file", BCAST_OPT_FORCE, false, NULL },
    { "preserve", 'p', NULL, "also keep the modification time", BCAST_OPT_PRESERVE, false,
      NULL },
    { "jobid", 'j', "JOB", "the job to whose nodes the file is copied [this job]",
      BCAST_OPT_JOBID, false, NULL },
    { "verbose", 'v', NULL, NULL, BCAST_OPT_NOTHING, false, NULL },
    { "compress", 'C', "LIBRARY", NULL, BCAST_OPT_NOTHING, true, NULL },
    REFUSED ("exclude", 0, "PATHS", false),
    REFUSED ("fanout", 'F', "N", false),
    REFUSED ("treewidth", 0, "N", false),
    REFUSED ("send-libs", 0, "yes|no", true),
    REFUSED ("size", 's', "SIZE", false),
    REFUSED ("timeout", 't', "SECONDS", false),
    REFUSED ("no-allocation", 'Z', NULL, true),
    REFUSED ("nodelist", 'w', "HOSTS", false),
    OPTION_END,
};

int sbcast_refuse (const struct option_desc *option, struct error *err)
{
    const char *reason = "";

    for (size_t i = 0; i < ARRAY_SIZE (sbcast_refused); i++)
        if (!strcmp (sbcast_refused[i].name, option->name))
            reason = sbcast_refused[i].reason;
    return error_set (err, EINVAL, "--%s: not supported: remove it (%s)", option->name,
                      reason);
}

int sbcast_read_environ (bool *force, bool *preserve, struct error *err)
{
    *force |= getenv ("SBCAST_FORCE") != NULL;
    *preserve |= getenv ("SBCAST_PRESERVE") != NULL;
    for (size_t i = 0; i < ARRAY_SIZE (sbcast_refused); i++)
        if (sbcast_refused[i].variable && getenv (sbcast_refused[i].variable))
            return error_set (err, EINVAL, "%s: not supported: unset it (%s)",
                              sbcast_refused[i].variable, sbcast_refused[i].reason);
    return 0;
}
