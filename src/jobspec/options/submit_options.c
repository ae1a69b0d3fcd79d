/* submit_options.c - see submit_options.h. make_jobspec.c makes the jobspec.
 */
#include "jobspec/options/submit_options.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/parse.h"
#include "common/printable.h"
#include "common/thousandths.h"
#include "jobspec/attributes/datetime.h"
#include "jobspec/attributes/podwish.h"
#include "jobspec/attributes/requires.h"
#include "jobspec/attributes/text.h"
#include "jobspec/jobspec.h"
#include "jobspec/options/environment.h"
#include "jobspec/options/written.h"
#include "protocol/pattern.h"

#define NICE_DEFAULT 100 /* points, as in Slurm */

enum {
    JOB_NAME = SUBMIT_OPTION_FIRST,
    OUTPUT,
    ERROR,
    INPUT,
    STAGE_IN,
    STAGE_OUT,
    OPEN_MODE,
    OUTPUT_ON_FULL,
    NODES,
    NTASKS,
    NTASKS_PER_NODE,
    CPUS_PER_TASK,
    MEM,
    GPUS,
    GPUS_PER_TASK,
    GPUS_PER_NODE,
    GRES,
    TIME,
    QUEUE,
    RESERVATION,
    CHDIR,
    EXPORT,
    IMAGE,
    EXECUTOR,
    RUNTIME_CLASS,
    PRIORITY_CLASS,
    SERVICE_ACCOUNT,
    VOLUME,
    SHM_SIZE,
    POD_TEMPLATE,
    HOST_NETWORK,
    ARRAY,
    DEPENDENCY,
    KILL_INVALID_DEPEND,
    BEGIN,
    DEADLINE,
    MAX_WAIT,
    TIME_MIN,
    HOLD,
    START_TIMEOUT,
    REQUEUE,
    NO_REQUEUE,
    MALLEABLE,
    RESIZE_SIGNAL,
    EXCLUSIVE,
    NODELIST,
    EXCLUDE,
    CONSTRAINT,
    SWITCHES,
    NODES_PER,
    NODES_PER_RACK,
    PLACEMENT,
    SIGNAL,
    EXPORT_FILE,
    GET_USER_ENV,
    PROPAGATE,
    NICE,
    OPTIONS_END,
};

const struct option_desc submit_options_table[] = {
    { "job-name", 'J', "NAME", "name of the job [the script's or command's]", JOB_NAME,
      false },
    { "output", 'o', "FILE",
      "standard output; %j id, %A_%a array and its task, %x name, %u user, %N node, %t "
      "task, %J %n %s [" SUBMIT_DEFAULT_OUTPUT "]",
      OUTPUT, false },
    { "error", 'e', "FILE", "standard error [the same as the output]", ERROR, false },
    { "input", 'i', "FILE", "standard input, of every task [/dev/null]", INPUT, false },
    { "stage-in", 0, "FILE[:DEST]",
      "copy this file to DEST in the job, on each node, before its tasks start [its "
      "name]; "
      "may be given several times",
      STAGE_IN, false },
    { "stage-out", 0, "FILE[:DEST]",
      "bring this file of the job to DEST here when its tasks have ended [its name]; "
      "several times, too",
      STAGE_OUT, false },
    { "open-mode", 0, "append|truncate",
      "what becomes of output files that are there [truncate]", OPEN_MODE, false },
    { "output-on-full", 0, "wait|drop|end",
      "what becomes of output whose file system is full [wait]", OUTPUT_ON_FULL, false },
    { "nodes", 'N', "N|SIZES",
      "number of nodes, or several that will do: 4-16, 4-16:4, 2-16:2:*, 1,2,4", NODES,
      false },
    { "ntasks", 'n', "N|SIZES", "number of tasks, or several [1, or one a node]", NTASKS,
      false },
    { "ntasks-per-node", 0, "N", "tasks on each node, at most N with --ntasks",
      NTASKS_PER_NODE, false },
    { "cpus-per-task", 'c', "N",
      "cores for each task, or parts of one: 0.5, 500m (on Kubernetes) [1]",
      CPUS_PER_TASK, false },
    { "mem", 0, "SIZE", "memory on each node; MiB, or with K, M, G, T", MEM, false },
    { "gpus", 'G', "N", "GPUs in all", GPUS, false },
    { "gpus-per-task", 0, "N", "GPUs for each task", GPUS_PER_TASK, false },
    { "gpus-per-node", 0, "N", "GPUs on each node", GPUS_PER_NODE, false },
    { "gres", 0, "NAME[:TYPE][:COUNT],...",
      "generic resources on each node: license:2, gpu:1, vendor.com/thing; none: none "
      "(fluxq-info -N shows what there is)",
      GRES, false },
    { "nodelist", 'w', "HOSTS",
      "run on these nodes: as many of them as --nodes says [all], as in node[1-4]",
      NODELIST, false },
    { "exclude", 'x', "HOSTS", "not on these nodes", EXCLUDE, false },
    { "constraint", 'C', "TEXT",
      "on nodes with these properties: fast&(a100|h100), not slow; host:node[1-4]",
      CONSTRAINT, false },
    { "requires", 0, "TEXT", "the same as --constraint", CONSTRAINT, false },
    { "switches", 0, "N[@TIME]",
      "in at most N racks (places of the innermost level): wait so long for that, then "
      "run "
      "anywhere [as configured]",
      SWITCHES, false },
    { "nodes-per", 0, "LEVEL:N", "exactly N nodes in each rack, zone, ... that has any",
      NODES_PER, false },
    { "nodes-per-rack", 0, "N", "the same as --nodes-per=rack:N", NODES_PER_RACK, false },
    { "placement", 0, "pack|spread[:LEVEL]|any",
      "in as few racks (zones, ...) as can be, or evenly over all; never waits for that "
      "[as the queue says]",
      PLACEMENT, false },
    { "time", 't', "TIME", "time limit: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S or UNLIMITED",
      TIME, false },
    { "queue", 'q', "NAME", "queue to submit to", QUEUE, false },
    { "partition", 'p', "NAME", "the same as --queue", QUEUE, false },
    { "reservation", 0, "NAME", "run in this advance reservation only", RESERVATION,
      false },
    { "chdir", 'D', "DIR", "directory to run in [where you are]", CHDIR, false },
    { "export", 0, "LIST",
      "variables that the job gets: ALL, NONE, NIL or [ALL,]NAME[=VALUE],...", EXPORT,
      false },
    { "export-file", 0, "FILE", "and those of this file: NAME=VALUE, each ended by NUL",
      EXPORT_FILE, false },
    { "get-user-env", 0, "[SECONDS][L|S]",
      "below them, those of the user's login shell where the job runs [8L]", GET_USER_ENV,
      true },
    { "propagate", 0, "LIST",
      "soft resource limits that the job gets as they are here: ALL, NONE, or AS, CORE, "
      "CPU, DATA, FSIZE, MEMLOCK, NOFILE, NPROC, RSS, STACK [NONE; without LIST: ALL]",
      PROPAGATE, true },
    { "signal", 0, "[B:]SIG[@SECONDS]",
      "send the job's tasks (B: the batch script's shell) a signal before its time limit "
      "[60 s before]",
      SIGNAL, false },
    { "nice", 0, "N", "points by which to lower its priority [0; without N: 100]", NICE,
      true },
    { "image", 0, "IMAGE", "container image to run in, on Kubernetes", IMAGE, false },
    { "executor", 0, "NAME",
      "what it becomes on Kubernetes: job, an Indexed Job, or minicluster, a MiniCluster "
      "of the Flux operator [the queue's, else job]",
      EXECUTOR, false },
    { "runtime-class", 0, "NAME",
      "runtime class of its pods, of those that the queue allows", RUNTIME_CLASS, false },
    { "priority-class", 0, "NAME", "priority class of its pods, the same", PRIORITY_CLASS,
      false },
    { "service-account", 0, "NAME", "service account of its pods, the same",
      SERVICE_ACCOUNT, false },
    { "volume", 0, "NAME:PATH",
      "have this volume of the queue's list at PATH; may be given several times", VOLUME,
      false },
    { "shm-size", 0, "SIZE", "size of /dev/shm in its pods; MiB, or with K, M, G, T",
      SHM_SIZE, false },
    { "pod-template", 0, "FILE",
      "have in its pods what this template of a pod says, as far as the queue allows",
      POD_TEMPLATE, false },
    { "host-network", 0, NULL, "use the network of the nodes, which must be whole",
      HOST_NETWORK, false },
    { "array", 'a', "LIST",
      "one job for each number: 0-15, 1-9:2, 1,4,7; %N behind it: N at a time", ARRAY,
      false },
    { "dependency", 'd', "LIST",
      "wait for other jobs: after, afterany, afterok, afternotok, aftercorr:ID[:ID...], "
      "singleton; several with ',' (all) or '?' (one)",
      DEPENDENCY, false },
    { "kill-invalid-depend", 0, "yes|no",
      "cancel the job when what it waits for cannot be any more [yes]",
      KILL_INVALID_DEPEND, false },
    { "begin", 'b', "TIME",
      "do not start before: 16:00, tomorrow, 2026-11-21T08:00, now+1hour", BEGIN, false },
    { "deadline", 0, "TIME", "cancel the job when it cannot end before", DEADLINE,
      false },
    { "max-wait", 0, "TIME",
      "with several sizes: how long to hold out for the largest once the least fits [not "
      "at all]",
      MAX_WAIT, false },
    { "time-min", 0, "TIME",
      "the time limit may be lowered to that, if the job starts sooner so, or would else "
      "end after its deadline",
      TIME_MIN, false },
    { "hold", 'H', NULL, "submit the job held (urgency 0)", HOLD, false },
    { "start-timeout", 0, "TIME",
      "how long a start may take before it is given up [as configured]", START_TIMEOUT,
      false },
    { "requeue", 0, NULL, "queue the job again when it loses a node [as configured]",
      REQUEUE, false },
    { "no-requeue", 0, NULL, "end the job when it loses a node", NO_REQUEUE, false },
    { "malleable", 0, NULL,
      "with several numbers of nodes (-N MIN-MAX): the job may get more of them, and "
      "give "
      "some back, while it runs",
      MALLEABLE, false },
    { "resize-signal", 0, "SIG",
      "tell the script and the tasks of a malleable job with this signal [WINCH]",
      RESIZE_SIGNAL, false },
    { "exclusive", 0, NULL, "share the nodes with no other job", EXCLUSIVE, false },
    OPTION_END,
};

void submit_options_init (struct submit_options *so)
{
    memset (so, 0, sizeof (*so));
    so->time_limit = -1;
    job_process_init (&so->process);
}

void submit_options_release (struct submit_options *so)
{
    free (so->job_name);
    free (so->output);
    free (so->error);
    free (so->input);
    stage_list_release (&so->stage_in);
    stage_list_release (&so->stage_out);
    free (so->queue);
    free (so->chdir);
    free (so->export);
    free (so->export_file);
    free (so->image);
    json_decref (so->pods);
    free (so->nodelist);
    free (so->exclude);
    free (so->constraint);
    free (so->reservation);
    free (so->script_name);
    free (so->array);
    gres_release (&so->gres);
    idset_destroy (so->nodes.list);
    idset_destroy (so->ntasks.list);
    dependencies_release (&so->depend);
    submit_written_release (so);
    submit_options_init (so);
}

/* Whether a checked value can be stored: no source of higher precedence has set the
 * option. */
static bool wins (struct submit_options *so, enum submit_source source, int id)
{
    int *owner = &so->source_of[id - SUBMIT_OPTION_FIRST];

    _Static_assert(OPTIONS_END - SUBMIT_OPTION_FIRST <= (int)ARRAY_SIZE (so->source_of),
                   "one owner an option");
    if (*owner > (int)source + 1)
        return false;
    *owner = (int)source + 1;
    return true;
}

/* -- values of one kind each; store: false when the value is only to be checked -- */

static int set_string (char **field, const char *value, bool store, const char *where,
                       struct error *err)
{
    char *copy;

    if (!store)
        return 0;
    copy = strdup (value);
    if (!copy)
        return error_no_memory (err, where);
    free (*field);
    *field = copy;
    return 0;
}

static int set_size (struct submit_options *so, enum submit_source source, int id,
                     struct submit_size *field, const char *value, const char *where,
                     struct error *err)
{
    struct submit_size z;
    struct error why = { 0 };
    int rc = jobspec_count_parse (value, &z.count, &z.list, &why);

    if (rc == 0 && !z.list)
        rc = jobspec_count_reaches (&z.count, &why);
    if (rc < 0)
        return error_set (err, -rc, "%s: '%.64s': %s", where, value, why.text);
    if (wins (so, source, id)) {
        idset_destroy (field->list);
        *field = z;
    } else {
        idset_destroy (z.list);
    }
    return 0;
}

static int set_count (struct submit_options *so, enum submit_source source, int id,
                      int64_t *field, const char *value, const char *where,
                      struct error *err)
{
    int64_t n;
    int rc = parse_int (value, 1, JOBSPEC_COUNT_MAX, &n, where, err);

    if (rc == 0 && wins (so, source, id))
        *field = n;
    return rc;
}

/* A whole number, in any notation ("2.0", "2000m"), is a number of cores. */
static int set_cpus (struct submit_options *so, enum submit_source source, int id,
                     const char *value, const char *where, struct error *err)
{
    int64_t whole = 0, milli = 0;
    int rc = strpbrk (value, ".m")
                 ? thousandths_parse (value, JOBSPEC_COUNT_MAX, &milli, where, err)
                 : parse_int (value, 1, JOBSPEC_COUNT_MAX, &whole, where, err);

    if (rc < 0 || !wins (so, source, id))
        return rc;
    so->cpus_per_task = milli % 1000 == 0 ? whole + milli / 1000 : 0;
    so->cpu_milli = milli % 1000 == 0 ? 0 : milli;
    return 0;
}

static int set_gres (struct submit_options *so, enum submit_source source,
                     const char *value, const char *where, struct error *err)
{
    struct gres_list list;
    int rc = gres_parse (value, &list, where, err);

    if (rc < 0)
        return rc;
    if (wins (so, source, GRES)) {
        gres_release (&so->gres);
        so->gres = list;
        return 0;
    }
    gres_release (&list);
    return 0;
}

static int set_memory (struct submit_options *so, enum submit_source source,
                       const char *value, const char *where, struct error *err)
{
    int64_t mib;
    int rc = parse_memory_mib (value, &mib, where, err);

    if (rc < 0)
        return rc;
    if (mib == 0)
        return error_set (
            err, EINVAL,
            "%s: 0 (all memory of a node) is not supported by fluxq; give the "
            "size, and --exclusive for the whole node",
            where);
    if (mib > JOBSPEC_COUNT_MAX)
        return error_set (err, ERANGE, "%s: '%s' is more than %d MiB", where, value,
                          JOBSPEC_COUNT_MAX);
    if (wins (so, source, MEM))
        so->mem_mib = mib;
    return 0;
}

static int set_time (struct submit_options *so, enum submit_source source,
                     const char *value, const char *where, struct error *err)
{
    double seconds;
    int rc = parse_timelimit (value, &seconds, where, err);

    if (rc == 0)
        submit_options_set_time_limit (so, source, seconds);
    return rc;
}

void submit_options_set_time_limit (struct submit_options *so, enum submit_source source,
                                    double seconds)
{
    if (wins (so, source, TIME))
        so->time_limit = seconds;
}

/* A time in the form of a time limit, but not unlimited. */
static int set_span (struct submit_options *so, enum submit_source source, int id,
                     double *field, const char *value, const char *where,
                     struct error *err)
{
    double seconds;
    int rc = parse_timelimit (value, &seconds, where, err);

    if (rc == 0 && seconds <= 0)
        rc = error_set (err, EINVAL, "%s: it must end: say how long", where);
    if (rc == 0 && wins (so, source, id))
        *field = seconds;
    return rc;
}

static int set_start_timeout (struct submit_options *so, enum submit_source source,
                              const char *value, const char *where, struct error *err)
{
    double seconds;
    int rc = parse_timelimit (value, &seconds, where, err);

    if (rc == 0 && (seconds < 1 || seconds > JOBSPEC_START_TIMEOUT_MAX))
        rc = error_set (err, ERANGE, "%s: must be from 1 second to 24 hours", where);
    if (rc == 0 && wins (so, source, START_TIMEOUT))
        so->start_timeout = seconds;
    return rc;
}

static int set_pattern (struct submit_options *so, enum submit_source source, int id,
                        char **field, const char *value, const char *where,
                        struct error *err)
{
    int rc;

    if (!strcasecmp (value, "none"))
        value = "/dev/null";
    if (!text_is_line (value, 4095))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a file", where,
                          value);
    rc = pattern_check_home (value, err);
    if (rc == 0)
        rc = pattern_check (value, err);
    if (rc < 0) {
        error_prefix (err, "%s", where);
        return rc;
    }
    return set_string (field, value, wins (so, source, id), where, err);
}

/* Values of one source add up; a source of higher precedence replaces them. */
static int set_stage (struct submit_options *so, enum submit_source source, int id,
                      struct stage_list *field, const char *value, const char *where,
                      struct error *err)
{
    bool more = so->source_of[id - SUBMIT_OPTION_FIRST] == (int)source + 1;
    struct stage_list list = { 0 };
    int rc = stage_list_add_text (&list, value, where, err);

    if (rc == 0 && ((rc = pattern_check_home (list.v[0].from, err)) < 0
                    || (rc = pattern_check_home (list.v[0].to, err)) < 0))
        error_prefix (err, "%s", where);
    if (rc == 0 && wins (so, source, id)) {
        if (!more)
            stage_list_release (field);
        rc = stage_list_add (field, list.v[0].from, list.v[0].to, where, err);
    }
    stage_list_release (&list);
    return rc;
}

static int set_open_mode (struct submit_options *so, enum submit_source source,
                          const char *value, const char *where, struct error *err)
{
    bool append = !strcasecmp (value, "append") || !strcasecmp (value, "a");

    if (!append && strcasecmp (value, "truncate") && strcasecmp (value, "t"))
        return error_set (err, EINVAL, "%s: '%.64s' is not append or truncate", where,
                          value);
    if (wins (so, source, OPEN_MODE))
        so->append = append;
    return 0;
}

static int set_on_full (struct submit_options *so, enum submit_source source,
                        const char *value, const char *where, struct error *err)
{
    int on_full = jobspec_on_full (value);

    if (on_full < 0)
        return error_set (err, EINVAL, "%s: '%.64s' is not wait, drop or end", where,
                          value);
    if (wins (so, source, OUTPUT_ON_FULL)) {
        so->on_full = on_full;
        so->has_on_full = true;
    }
    return 0;
}

static int set_text (struct submit_options *so, enum submit_source source, int id,
                     char **field, size_t max, const char *value, const char *where,
                     struct error *err)
{
    if (!text_is_line (value, max))
        return error_set (
            err, EINVAL,
            "%s: must be a text of 1 to %zu bytes without control characters", where,
            max);
    if (id != CHDIR && id != EXPORT_FILE /* paths */ && printable_check (value, where, err) < 0)
        return -EINVAL;
    if ((id == CHDIR || id == EXPORT_FILE) && pattern_check_home (value, err) < 0) {
        error_prefix (err, "%s", where);
        return -EINVAL;
    }
    return set_string (field, value, wins (so, source, id), where, err);
}

static int set_queue (struct submit_options *so, enum submit_source source,
                      const char *value, const char *where, struct error *err)
{
    if (strchr (value, ','))
        return error_set (err, EINVAL, "%s: '%.64s' is a list; name one queue", where,
                          value);
    if (!text_is_name (value))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a queue", where,
                          value);
    return set_string (&so->queue, value, wins (so, source, QUEUE), where, err);
}

static int set_export (struct submit_options *so, enum submit_source source,
                       const char *value, const char *where, struct error *err)
{
    int rc = environment_check (value, where, err);

    if (rc < 0)
        return rc;
    return set_string (&so->export, value, wins (so, source, EXPORT), where, err);
}

static int set_user_env (struct submit_options *so, enum submit_source source,
                         const char *value, const char *where, struct error *err)
{
    struct job_user_env e;
    int rc = job_user_env_parse (value, &e, where, err);

    if (rc == 0 && wins (so, source, GET_USER_ENV))
        so->process.user_env = e;
    return rc;
}

static int set_propagate (struct submit_options *so, enum submit_source source,
                          const char *value, const char *where, struct error *err)
{
    struct rlimits set;
    int rc = rlimits_select (value ? value : "ALL", &set, where, err);

    if (rc == 0 && wins (so, source, PROPAGATE))
        so->process.rlimits = set;
    return rc;
}

static int set_nice (struct submit_options *so, enum submit_source source,
                     const char *value, const char *where, struct error *err)
{
    int64_t n = NICE_DEFAULT;
    int rc = value
                 ? parse_int (value, -JOBSPEC_NICE_MAX, JOBSPEC_NICE_MAX, &n, where, err)
                 : 0;

    if (rc == 0 && wins (so, source, NICE))
        so->nice = n;
    return rc;
}

static int set_signal (struct submit_options *so, enum submit_source source,
                       const char *value, const char *where, struct error *err)
{
    struct job_warning w;
    int rc = job_warning_parse (value, &w, where, err);

    if (rc == 0)
        submit_options_set_warning (so, source, &w);
    return rc;
}

void submit_options_set_warning (struct submit_options *so, enum submit_source source,
                                 const struct job_warning *warn)
{
    if (wins (so, source, SIGNAL))
        so->process.warn = *warn;
}

static int set_resize_signal (struct submit_options *so, enum submit_source source,
                              const char *value, const char *where, struct error *err)
{
    int signum, rc = parse_signal (value, &signum, where, err);

    if (rc == 0 && (signum == SIGKILL || signum == SIGSTOP))
        rc = error_set (err, EINVAL,
                        "%s: SIG%s ends or stops the job; it tells it nothing", where,
                        signal_name (signum));
    if (rc == 0 && wins (so, source, RESIZE_SIGNAL))
        so->resize_signal = signum;
    return rc;
}

static int set_image (struct submit_options *so, enum submit_source source,
                      const char *value, const char *where, struct error *err)
{
    if (!text_is_line (value, 1024) || strpbrk (value, " \"'\\"))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of an image",
                          where, value);
    return set_string (&so->image, value, wins (so, source, IMAGE), where, err);
}

static const char *name_of (int id)
{
    const struct option_desc *o = submit_options_table;

    while (o->id != id)
        o++;
    return o->name;
}

/* Set an option of the job's pods; volumes of one source add up, as in set_stage(). */
static int set_pod (struct submit_options *so, enum submit_source source, int id,
                    const char *value, const char *where, struct error *err)
{
    bool more = so->source_of[id - SUBMIT_OPTION_FIRST] == (int)source + 1;
    autojson json_t *alone = NULL;
    int rc = podwish_set (&alone, name_of (id), value, where, err);

    if (rc < 0 || !wins (so, source, id))
        return rc;
    if (id == VOLUME && !more && so->pods)
        json_object_del (so->pods, "volumes");
    return podwish_set (&so->pods, name_of (id), value, where, err);
}

static int set_array (struct submit_options *so, enum submit_source source,
                      const char *value, const char *where, struct error *err)
{
    struct array_spec a;
    int rc = array_spec_parse (&a, value, where, err);

    if (rc < 0)
        return rc;
    array_spec_release (&a);
    return set_string (&so->array, value, wins (so, source, ARRAY), where, err);
}

/* Set a time; "now+1hour" counts from the time of reading. */
static int set_moment (struct submit_options *so, enum submit_source source, int id,
                       double *field, const char *value, const char *where,
                       struct error *err)
{
    double t;
    int rc = datetime_parse (value, clock_wall (), &t, where, err);

    if (rc == 0 && wins (so, source, id))
        *field = t;
    return rc;
}

void submit_options_set_begin (struct submit_options *so, enum submit_source source,
                               double t)
{
    if (wins (so, source, BEGIN))
        so->begin = t;
}

static int set_dependency (struct submit_options *so, enum submit_source source,
                           const char *value, const char *where, struct error *err)
{
    struct dependencies d;
    int rc = dependencies_parse (&d, value, where, err);

    if (rc == 0 && wins (so, source, DEPENDENCY)) {
        dependencies_release (&so->depend);
        so->depend = d;
        d = (struct dependencies){ 0 };
    }
    dependencies_release (&d);
    return rc;
}

int submit_options_add_dependency (struct submit_options *so, enum submit_source source,
                                   const char *text, const char *where, struct error *err)
{
    struct dependencies d;

    if (so->source_of[DEPENDENCY - SUBMIT_OPTION_FIRST] != (int)source + 1)
        return set_dependency (so, source, text, where, err);
    int rc = dependencies_parse (&d, text, where, err);
    if (rc == 0)
        rc = dependencies_append (&so->depend, &d, where, err);
    dependencies_release (&d);
    return rc;
}

static int read_flag (bool *ret, const char *value, const char *where, struct error *err)
{
    static const char *const yes[] = { "1", "yes", "true", "on" };
    static const char *const no[] = { "0", "no", "false", "off" };
    int on = value ? -1 : 1;

    for (size_t i = 0; value && i < ARRAY_SIZE (yes); i++) {
        if (!strcasecmp (value, yes[i]))
            on = 1;
        else if (!strcasecmp (value, no[i]))
            on = 0;
    }
    if (on < 0)
        return error_set (err, EINVAL, "%s: '%.64s' is not yes or no", where, value);
    *ret = on;
    return 0;
}

static int set_flag (struct submit_options *so, enum submit_source source, int id,
                     bool *field, const char *value, const char *where, struct error *err)
{
    bool on;
    int rc = read_flag (&on, value, where, err);

    if (rc == 0 && wins (so, source, id))
        *field = on;
    return rc;
}

static int set_kill (struct submit_options *so, enum submit_source source,
                     const char *value, const char *where, struct error *err)
{
    bool kill = !so->keep_invalid_depend;
    int rc = set_flag (so, source, KILL_INVALID_DEPEND, &kill, value, where, err);

    so->keep_invalid_depend = !kill;
    return rc;
}

/* --requeue and --no-requeue are one option: the last of them counts. */
static int set_requeue (struct submit_options *so, enum submit_source source, bool meant,
                        const char *value, const char *where, struct error *err)
{
    bool on;
    int rc = read_flag (&on, value, where, err);

    if (rc == 0 && wins (so, source, REQUEUE)) {
        so->has_requeue = true;
        so->requeue = on == meant;
    }
    return rc;
}

/* Check a text with requires.h, and keep it unchanged. */
static int set_hosts (struct submit_options *so, enum submit_source source, int id,
                      char **field, const char *value, const char *where,
                      struct error *err)
{
    autojson json_t *o = requires_hosts (value, where, NULL, err);

    return o ? set_text (so, source, id, field, 65535, value, where, err) : -err->code;
}

static int set_constraint (struct submit_options *so, enum submit_source source,
                           const char *value, const char *where, struct error *err)
{
    autojson json_t *o = requires_parse (value, where, err);

    return o ? set_text (so, source, CONSTRAINT, &so->constraint, REQUIRES_MAX, value,
                         where, err)
             : -err->code;
}

static int set_switches (struct submit_options *so, enum submit_source source,
                         const char *value, const char *where, struct error *err)
{
    struct switches s;
    int rc = switches_parse (value, &s, where, err);

    if (rc == 0 && wins (so, source, SWITCHES))
        so->switches = s;
    return rc;
}

/* --nodes-per and --nodes-per-rack are one option. */
static int set_nodes_per (struct submit_options *so, enum submit_source source, bool rack,
                          const char *value, const char *where, struct error *err)
{
    struct nodes_per n = { .level = "rack" };
    int rc = rack ? parse_int (value, 1, INT32_MAX, &n.count, where, err)
                  : nodes_per_parse (value, &n, where, err);

    if (rc == 0 && wins (so, source, NODES_PER))
        so->nodes_per = n;
    return rc;
}

static int set_placement (struct submit_options *so, enum submit_source source,
                          const char *value, const char *where, struct error *err)
{
    struct placement p;
    int rc = placement_parse (value, &p, where, err);

    if (rc == 0 && wins (so, source, PLACEMENT))
        so->placement = p;
    return rc;
}

static const struct option_desc *find (const char *name)
{
    for (const struct option_desc *o = submit_options_table; o->name; o++) {
        if (!strcmp (o->name, name))
            return o;
    }
    return NULL;
}

static int set_option (struct submit_options *so, enum submit_source from, int id,
                       const char *value, const char *where, struct error *err)
{
    switch (id) {
    case JOB_NAME:
        return set_text (so, from, id, &so->job_name, 255, value, where, err);
    case OUTPUT:
        return set_pattern (so, from, id, &so->output, value, where, err);
    case ERROR:
        return set_pattern (so, from, id, &so->error, value, where, err);
    case INPUT:
        return set_pattern (so, from, id, &so->input, value, where, err);
    case STAGE_IN:
        return set_stage (so, from, id, &so->stage_in, value, where, err);
    case STAGE_OUT:
        return set_stage (so, from, id, &so->stage_out, value, where, err);
    case OPEN_MODE:
        return set_open_mode (so, from, value, where, err);
    case OUTPUT_ON_FULL:
        return set_on_full (so, from, value, where, err);
    case NODES:
        return set_size (so, from, id, &so->nodes, value, where, err);
    case NTASKS:
        return set_size (so, from, id, &so->ntasks, value, where, err);
    case NTASKS_PER_NODE:
        return set_count (so, from, id, &so->ntasks_per_node, value, where, err);
    case CPUS_PER_TASK:
        return set_cpus (so, from, id, value, where, err);
    case MEM:
        return set_memory (so, from, value, where, err);
    case GPUS:
        return set_count (so, from, id, &so->gpus, value, where, err);
    case GPUS_PER_TASK:
        return set_count (so, from, id, &so->gpus_per_task, value, where, err);
    case GPUS_PER_NODE:
        return set_count (so, from, id, &so->gpus_per_node, value, where, err);
    case GRES:
        return set_gres (so, from, value, where, err);
    case TIME:
        return set_time (so, from, value, where, err);
    case QUEUE:
        return set_queue (so, from, value, where, err);
    case NODELIST:
        return set_hosts (so, from, id, &so->nodelist, value, where, err);
    case EXCLUDE:
        return set_hosts (so, from, id, &so->exclude, value, where, err);
    case CONSTRAINT:
        return set_constraint (so, from, value, where, err);
    case SWITCHES:
        return set_switches (so, from, value, where, err);
    case NODES_PER:
    case NODES_PER_RACK:
        return set_nodes_per (so, from, id == NODES_PER_RACK, value, where, err);
    case PLACEMENT:
        return set_placement (so, from, value, where, err);
    case RESERVATION:
        return set_text (so, from, id, &so->reservation, 63, value, where, err);
    case CHDIR:
        return set_text (so, from, id, &so->chdir, 4095, value, where, err);
    case EXPORT:
        return set_export (so, from, value, where, err);
    case EXPORT_FILE:
        return set_text (so, from, id, &so->export_file, 4095, value, where, err);
    case GET_USER_ENV:
        return set_user_env (so, from, value, where, err);
    case PROPAGATE:
        return set_propagate (so, from, value, where, err);
    case SIGNAL:
        return set_signal (so, from, value, where, err);
    case NICE:
        return set_nice (so, from, value, where, err);
    case IMAGE:
        return set_image (so, from, value, where, err);
    case EXECUTOR:
    case RUNTIME_CLASS:
    case PRIORITY_CLASS:
    case SERVICE_ACCOUNT:
    case VOLUME:
    case SHM_SIZE:
    case POD_TEMPLATE:
        return set_pod (so, from, id, value, where, err);
    case HOST_NETWORK:
        return set_flag (so, from, id, &so->host_network, value, where, err);
    case ARRAY:
        return set_array (so, from, value, where, err);
    case DEPENDENCY:
        return set_dependency (so, from, value, where, err);
    case KILL_INVALID_DEPEND:
        return set_kill (so, from, value, where, err);
    case BEGIN:
        return set_moment (so, from, id, &so->begin, value, where, err);
    case DEADLINE:
        return set_moment (so, from, id, &so->deadline, value, where, err);
    case MAX_WAIT:
        return set_span (so, from, id, &so->max_wait, value, where, err);
    case TIME_MIN:
        return set_span (so, from, id, &so->time_min, value, where, err);
    case START_TIMEOUT:
        return set_start_timeout (so, from, value, where, err);
    case HOLD:
        return set_flag (so, from, id, &so->hold, value, where, err);
    case REQUEUE:
    case NO_REQUEUE:
        return set_requeue (so, from, id == REQUEUE, value, where, err);
    case MALLEABLE:
        return set_flag (so, from, id, &so->malleable, value, where, err);
    case RESIZE_SIGNAL:
        return set_resize_signal (so, from, value, where, err);
    case EXCLUSIVE:
        return set_flag (so, from, id, &so->exclusive, value, where, err);
    default:
        return error_set (err, EINVAL, "%s: this option sets nothing", where);
    }
}

int submit_options_set (struct submit_options *so, enum submit_source source,
                        const char *name, const char *value, const char *where,
                        struct error *err)
{
    const struct option_desc *o = find (name);
    char buf[64];

    if (!where) {
        snprintf (buf, sizeof (buf), "--%s", name);
        where = buf;
    }
    if (!o)
        return error_set (err, EINVAL, "%s: unknown option", where);
    if (o->arg && !o->arg_optional && !value)
        return error_set (err, EINVAL, "%s: needs a value (%s)", where, o->arg);
    if (value && o->id != EXPORT /* its error names the variable */
        && !text_is_utf8 (value, strlen (value), NULL))
        return text_not_utf8 (where, err);
    int rc = set_option (so, source, o->id, value, where, err);
    if (rc == 0 && so->source_of[o->id - SUBMIT_OPTION_FIRST] == (int)source + 1)
        submit_written_note (so, o->id, where);
    return rc;
}
