/* run_options.c - turns command line and environment of fluxq-run into a request for a
 * step */
#ifndef PACKAGE_VERSION /* the agent's makefile rule defines it */
#include <config.h>
#endif
#include <sys/stat.h>

#include "common/gputype.h"
#include "common/io.h"
#include "common/option.h"
#include "common/parse.h"
#include "protocol/gpubind.h"
#include "protocol/pattern.h"
#include "protocol/pmix_helper.h"
#include "shell/run/run.h"
#include "shell/step/cpubind.h"
#include "shell/step/layout.h"
#include "shell/step/step_pmix.h"

#define FILE_MAX_BYTES (1024 * 1024) /* of --multi-prog and host files */

enum { HELP = 0x1000, SHOW_VERSION };

static const struct option_desc own_options[] = {
    { "help", 'h', NULL, "print this help", HELP, false, NULL },
    { "usage", 0, NULL, NULL, HELP, false, NULL },
    { "version", 'V', NULL, "print the version", SHOW_VERSION, false, NULL },
    OPTION_END,
};

#define OPTIONS_MAX 160

extern char **environ;

/* Joins both tables. */
static void join_options (struct option_desc all[OPTIONS_MAX])
{
    bool srun = !strcmp (run_name, SRUN_CLIENT);
    const struct option_desc *const tables[] = { step_options,
                                                 srun ? srun_options : own_options,
                                                 srun ? own_options : NULL };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_SIZE (tables); i++)
        for (const struct option_desc *d = tables[i]; d && d->name && n + 1 < OPTIONS_MAX;
             d++)
            all[n++] = *d;
    all[n] = (struct option_desc)OPTION_END;
}

static void print_help (void)
{
    struct option_desc all[OPTIONS_MAX];
    join_options (all);
    printf ("Usage: %s [OPTION...] COMMAND [ARG...]\n"
            "Run a parallel step inside the job's allocation.\n\n",
            run_name);
    option_print_help (stdout, all);
    printf (
        "\nExit status: that of the worst task, or 128 plus the number of its signal.\n");
}

static int set_text (char **field, const char *value, struct error *err)
{
    free (*field);
    *field = strdup (value);
    return *field ? 0 : error_no_memory (err, NULL);
}

static int set_number (uint32_t *field, const char *value, const char *what,
                       struct error *err)
{
    int64_t n;
    int rc = parse_int (value, 1, STEP_TASKS_MAX, &n, what, err);
    if (rc == 0)
        *field = (uint32_t)n;
    return rc;
}

const char *run_gpu_count (struct step_spec *s, const char *value, struct error *err)
{
    const char *colon = strrchr (value, ':');
    char type[GPU_TYPE_MAX + 1];
    autofree char *text = colon ? strndup (value, (size_t)(colon - value)) : NULL;

    if (!colon)
        return value;
    if (!text || strchr (text, ',') || gpu_type_read (text, type) < 0) {
        error_set (err, EINVAL, "'%.80s': not [TYPE:]N with one type of GPUs", value);
        return NULL;
    }
    return set_text (&s->gpu_type, type, err) == 0 ? colon + 1 : NULL;
}

static int read_text (char **field, const char *path, struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (FILE_MAX_BYTES);
    int rc = io_read_file (path, &sb, FILE_MAX_BYTES, err);
    if (rc == 0 && memchr (sb.buf, '\0', sb.len))
        rc = error_set (err, EINVAL, "%s: has a NUL byte: not a text file", path);
    if (rc == 0) {
        free (*field);
        *field = strbuf_detach (&sb);
        rc = *field ? 0 : error_no_memory (err, NULL);
    }
    return rc;
}

static int set_pattern (const char **field, const char *value, const char *what,
                        struct error *err)
{
    *field = value;
    if (pattern_check_home (value, err) == 0 && pattern_check (value, err) == 0)
        return 0;
    error_prefix (err, "%s", what);
    return -EINVAL;
}

static int set_input (struct run_options *o, const char *value, struct error *err)
{
    int64_t task;
    o->input = NULL;
    o->spec.input = STEP_INPUT_ALL;
    if (!strcmp (value, "all"))
        return 0;
    if (!strcmp (value, "none")) {
        o->spec.input = STEP_INPUT_NONE;
    } else if (parse_int (value, 0, STEP_TASKS_MAX, &task, "", NULL) == 0) {
        o->spec.input = STEP_INPUT_ONE;
        o->spec.input_task = (uint32_t)task;
    } else if (set_pattern (&o->input, value, "--input", err) < 0) {
        return -EINVAL;
    } else if (pattern_is_per_task (value) || pattern_is_per_node (value)) {
        o->spec.input = STEP_INPUT_EACH;
    }
    return 0;
}

static int set_mpi (struct run_options *o, const char *value, struct error *err)
{
    static const char *const kinds[] = { "none", "pmi1", "pmi2", "pmix" };
    char path[PATH_MAX];
    if (!strcmp (value, "list")) {
        bool pmix = steppmix_program (path) == 0;
        printf ("none\npmi1\npmi2\n%s", pmix ? "pmix\n" : "");
        if (!pmix)
            fprintf (stderr, "pmix: " PMIX_HELPER " is not installed here\n");
        return 1;
    }
    /* The versions of PMIx understand each other. */
    if (!strncmp (value, "pmix_v", 6) && value[6] >= '1' && value[6] <= '9' && !value[7])
        value = "pmix";
    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
        if (!strcmp (value, kinds[i]))
            return set_text (&o->spec.mpi, value, err);
    return error_set (err, EINVAL,
                      "--mpi=%s: the values are none, pmi1 and pmi2 (both are "
                      "served without it), and pmix",
                      value);
}

static int set_mode (struct run_options *o, const char *value, struct error *err)
{
    if (strcmp (value, "append") && strcmp (value, "truncate"))
        return error_set (err, EINVAL, "--open-mode: %s is neither append nor truncate",
                          value);
    o->append = value[0] == 'a';
    return 0;
}

static int set_bad_exit (struct run_options *o, const char *value, struct error *err)
{
    int64_t n = 1;
    if (value && parse_int (value, 0, 1, &n, "--kill-on-bad-exit", err) < 0)
        return -EINVAL;
    o->spec.kill_on_bad_exit = n == 1;
    return 0;
}

static int set_bind (struct run_options *o, const char *value, struct error *err)
{
    struct cpubind bind;
    int rc = cpubind_parse (value, &bind, err);
    if (rc < 0)
        return rc;
    cpubind_release (&bind);
    return set_text (&o->spec.cpu_bind, value, err);
}

static int set_gpu_bind (struct run_options *o, const char *value, struct error *err)
{
    struct gpubind bind;
    int rc = gpubind_parse (value, &bind, err);
    return rc < 0 ? rc : set_text (&o->spec.gpu_bind, value, err);
}

static int set_distribution (struct run_options *o, const char *value, struct error *err)
{
    struct layout_option opt;
    int rc = layout_option_parse (value, &opt, err);
    if (rc == 0)
        o->arbitrary = opt.kind == LAYOUT_ARBITRARY;
    return rc < 0 ? rc : set_text (&o->spec.distribution, value, err);
}

static int set_wait (struct run_options *o, const char *value, struct error *err)
{
    int64_t n;
    int rc = parse_int (value, 0, 100000000, &n, "--wait", err);
    if (rc == 0)
        o->spec.wait = (double)n;
    return rc;
}

/* 0; 1: --help or --version was answered; or -EINVAL. */
static int take_option (struct run_options *o, const struct option_match *m,
                        struct error *err)
{
    struct step_spec *s = &o->spec;
    const char *value;
    switch (m->desc->id) {
    case STEP_OPT_NODES:
        return set_number (&s->nnodes, m->value, "--nodes", err);
    case STEP_OPT_NTASKS:
        return set_number (&s->ntasks, m->value, "--ntasks", err);
    case STEP_OPT_PER_NODE:
        return set_number (&s->per_node, m->value, "--ntasks-per-node", err);
    case STEP_OPT_CPUS:
        if (strpbrk (m->value, ".m"))
            return error_set (err, EINVAL,
                              "--cpus-per-task: %.32s: the tasks of a step have whole "
                              "cores; a part of a core counts as one",
                              m->value);
        return set_number (&s->cores_per_task, m->value, "--cpus-per-task", err);
    case STEP_OPT_GPUS:
        value = run_gpu_count (s, m->value, err);
        return value ? set_number (&s->gpus, value, "--gpus", err) : -EINVAL;
    case STEP_OPT_GPUS_PER_TASK:
        value = run_gpu_count (s, m->value, err);
        return value ? set_number (&s->gpus_per_task, value, "--gpus-per-task", err)
                     : -EINVAL;
    case STEP_OPT_NTASKS_PER_GPU:
        return set_number (&o->ntasks_per_gpu, m->value, "--ntasks-per-gpu", err);
    case STEP_OPT_NODELIST:
        return set_text (&s->hosts, m->value, err);
    case STEP_OPT_EXCLUDE:
        return set_text (&s->exclude, m->value, err);
    case STEP_OPT_DISTRIBUTION:
        return set_distribution (o, m->value, err);
    case STEP_OPT_TASKMAP:
        return set_text (&s->taskmap_asked, m->value, err);
    case STEP_OPT_EXACT:
        s->exact = true;
        return 0;
    case STEP_OPT_OVERLAP:
        s->overlap = true;
        return 0;
    case STEP_OPT_OVERCOMMIT:
        s->overcommit = true;
        return 0;
    case STEP_OPT_IMMEDIATE:
        s->immediate = true;
        return 0;
    case STEP_OPT_CPU_BIND:
        return set_bind (o, m->value, err);
    case STEP_OPT_GPU_BIND:
        return set_gpu_bind (o, m->value, err);
    case STEP_OPT_TRES_BIND:
        value = gpubind_of_tres (m->value, err);
        return value ? set_gpu_bind (o, value, err) : -EINVAL;
    case STEP_OPT_MPI:
        return set_mpi (o, m->value, err);
    case STEP_OPT_MULTI_PROG:
        return set_text (&s->multi_prog, "", err);
    case STEP_OPT_INPUT:
        return set_input (o, m->value, err);
    case STEP_OPT_OUTPUT:
        return set_pattern (&o->output, m->value, "--output", err);
    case STEP_OPT_ERROR:
        return set_pattern (&o->error, m->value, "--error", err);
    case STEP_OPT_OPEN_MODE:
        return set_mode (o, m->value, err);
    case STEP_OPT_LABEL:
        o->label = true;
        return 0;
    case STEP_OPT_KILL_ON_BAD_EXIT:
        return set_bad_exit (o, m->value, err);
    case STEP_OPT_WAIT:
        return set_wait (o, m->value, err);
    case STEP_OPT_CHDIR:
        return set_text (&s->cwd, m->value, err);
    case STEP_OPT_EXPORT:
        o->export = m->value;
        return 0;
    case STEP_OPT_NAME:
        return set_text (&s->name, m->value, err);
    case STEP_OPT_QUIET:
        o->quiet = true;
        return 0;
    case STEP_OPT_PTY:
        s->pty = true;
        return 0;
    case STEP_OPT_RSH:
        o->rsh = true;
        return 0;
    case HELP:
        print_help ();
        return 1;
    case SHOW_VERSION:
        printf ("%s " PACKAGE_VERSION "\n", run_name);
        return 1;
    default:
        return srun_take_option (o, m, err);
    }
}

/* -- the environment -- */

static int add_variable (struct step_spec *s, char *text, struct error *err)
{
    if (!text)
        return error_no_memory (err, NULL);
    s->env[s->nenv++] = text;
    s->env[s->nenv] = NULL;
    return 0;
}

static bool has_variable (const struct step_spec *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->nenv; i++)
        if (!strncmp (s->env[i], name, len) && s->env[i][len] == '=')
            return true;
    return false;
}

/* Exports NAME or NAME=VALUE of --export. */
static int export_one (struct step_spec *s, const char *item, struct error *err)
{
    size_t len = strcspn (item, "=");
    char *text = NULL;
    if (len == 0)
        return error_set (err, EINVAL, "--export: '%s' is neither NAME nor NAME=VALUE",
                          item);
    if (item[len] == '=')
        return add_variable (s, strdup (item), err);
    const char *value = getenv (item);
    if (!value)
        return 0;
    if (asprintf (&text, "%s=%s", item, value) < 0)
        text = NULL;
    return add_variable (s, text, err);
}

/* Exports the variables that every program needs, even with NONE. */
static int export_least (struct step_spec *s, struct error *err)
{
    static const char *const names[] = { "PATH", "HOME", "USER", "LOGNAME", "SHELL" };
    int rc = 0;
    for (size_t i = 0; i < ARRAY_SIZE (names) && rc == 0; i++)
        if (!has_variable (s, names[i], strlen (names[i])))
            rc = export_one (s, names[i], err);
    return rc;
}

/* FLUXQ_* variables of the login node configure fluxq's programs there: not exported, as
 * in a submission. */
static bool is_foreign (const char *assignment)
{
    return getenv (STEP_CLIENT_FD) && !strncmp (assignment, "FLUXQ_", strlen ("FLUXQ_"));
}

static int set_environment (struct step_spec *s, const char *list, struct error *err)
{
    size_t n = 0, items = 1;
    int rc = 0;
    bool all = !list;
    while (environ[n])
        n++;
    for (const char *p = list; p && *p; p++)
        items += *p == ',';
    s->env = calloc (n + items + 8, sizeof (*s->env));
    autofree char *copy = list ? strdup (list) : NULL;
    if (!s->env || (list && !copy))
        return error_no_memory (err, NULL);
    for (char *rest = copy, *item; copy && rc == 0 && (item = strsep (&rest, ","));) {
        if (!strcasecmp (item, "ALL"))
            all = true;
        else if (strcasecmp (item, "NONE") && strcasecmp (item, "NIL"))
            rc = export_one (s, item, err);
    }
    for (size_t i = 0; i < n && all && rc == 0; i++) {
        size_t len = strcspn (environ[i], "=");
        if (len > 0 && environ[i][len] && !is_foreign (environ[i])
            && !has_variable (s, environ[i], len))
            rc = add_variable (s, strdup (environ[i]), err);
    }
    return rc == 0 ? export_least (s, err) : rc;
}

/* -- top level -- */

static int set_cwd (struct step_spec *s, struct error *err)
{
    char *here = getcwd (NULL, 0), *path = NULL;
    if (!here)
        return error_errno (err, errno, "the directory that we are in");
    if (!s->cwd) {
        s->cwd = here;
        return 0;
    }
    if (s->cwd[0] != '/') {
        if (asprintf (&path, "%s/%s", here, s->cwd) < 0)
            path = NULL;
        free (s->cwd);
        s->cwd = path;
    }
    free (here);
    return s->cwd ? 0 : error_no_memory (err, NULL);
}

/* "HOST WORD...": a shell on the host runs the words as one line, on cores that other
 * steps may use too. */
static int set_remote (struct step_spec *s, char **argv, struct error *err)
{
    autostrbuf struct strbuf line = STRBUF_INIT (STEP_SPEC_MAX);
    const char *words[] = { "/bin/sh", "-c", NULL };
    if (!argv || !argv[0] || !argv[1])
        return error_set (err, EINVAL, "--rsh needs a node and a command");
    for (size_t i = 1; argv[i]; i++)
        strbuf_addf (&line, "%s%s", i > 1 ? " " : "", argv[i]);
    s->args = calloc (4, sizeof (*s->args));
    for (; s->args && s->nargs < 2; s->nargs++)
        s->args[s->nargs] = strdup (words[s->nargs]);
    if (s->args)
        s->args[s->nargs++] = strbuf_detach (&line);
    if (!s->args || !s->args[0] || !s->args[1] || !s->args[2])
        return error_no_memory (err, NULL);
    s->overlap = s->remote_shell = s->any_component = true;
    s->ntasks = s->nnodes = 1;
    int rc = set_text (&s->hosts, argv[0], err);
    if (rc == 0)
        rc = set_text (&s->mpi, "none", err);
    return rc == 0 ? set_text (&s->cpu_bind, "none", err) : rc;
}

static int set_command (struct step_spec *s, char **argv, struct error *err)
{
    if (!argv || !argv[0])
        return error_set (err, EINVAL, "no command (see %s --help)", run_name);
    if (s->multi_prog) {
        if (argv[1])
            return error_set (err, EINVAL,
                              "--multi-prog takes one file; '%s' is an unexpected "
                              "argument",
                              argv[1]);
        int rc = read_text (&s->multi_prog, argv[0], err);
        return rc < 0 ? error_prefix (err, "--multi-prog") : 0;
    }
    while (argv[s->nargs])
        s->nargs++;
    s->args = calloc (s->nargs + 1, sizeof (*s->args));
    for (size_t i = 0; s->args && i < s->nargs; i++)
        if (!(s->args[i] = strdup (argv[i])))
            return error_no_memory (err, NULL);
    return s->args ? 0 : error_no_memory (err, NULL);
}

int run_default_gpus (struct step_spec *s, struct error *err)
{
    char name[64];
    const char *of_job;

    if (s->component == 0)
        snprintf (name, sizeof (name), "SLURM_GPUS_PER_TASK");
    else
        snprintf (name, sizeof (name), "SLURM_GPUS_PER_TASK_HET_GROUP_%u", s->component);
    of_job = getenv (name);
    if (!of_job || !*of_job || s->gpus || s->gpus_per_task || s->gpus_per_node
        || s->no_gpus || s->remote_shell || getenv (STEP_CLIENT_FD))
        return 0;
    return set_number (&s->gpus_per_task, of_job, name, err);
}

/* --ntasks-per-gpu: the number of tasks, and the GPU of each. */
static int share_gpus (struct run_options *o, struct error *err)
{
    struct step_spec *s = &o->spec;
    uint64_t n = (uint64_t)s->gpus * o->ntasks_per_gpu;
    char text[32];

    if (o->ntasks_per_gpu == 0)
        return 0;
    if (s->ntasks == 0 && n > STEP_TASKS_MAX)
        return error_set (err, ERANGE, "--ntasks-per-gpu: more than %u tasks",
                          STEP_TASKS_MAX);
    if (s->ntasks == 0)
        s->ntasks = (uint32_t)n;
    snprintf (text, sizeof (text), "single:%u", o->ntasks_per_gpu);
    return s->gpu_bind || s->gpus_per_task ? 0 : set_text (&s->gpu_bind, text, err);
}

static int check (const struct run_options *o, struct error *err)
{
    const struct step_spec *s = &o->spec;
    if (s->gpus && s->gpus_per_task)
        return error_set (err, EINVAL, "--gpus and --gpus-per-task exclude each other");
    if (s->exact && s->overlap)
        return error_set (err, EINVAL, "--exact and --overlap contradict each other");
    if (s->distribution && s->taskmap_asked)
        return error_set (err, EINVAL,
                          "--distribution and --taskmap both place the tasks: give one "
                          "of them");
    if (s->cores_per_task > 1 && s->overcommit)
        return error_set (err, EINVAL,
                          "--overcommit and --cpus-per-task contradict each other");
    if (s->pty && (o->output || o->error || o->input || o->label))
        return error_set (err, EINVAL,
                          "--pty runs task 0 on this terminal: it cannot be combined "
                          "with --output, --error, --input or --label-io");
    return 0;
}

/* Only task 0 has the terminal; output of other tasks is dropped. */
static void set_terminal (struct run_options *o)
{
    o->spec.input = STEP_INPUT_ONE;
    o->spec.input_task = 0;
    o->output = "0";
    run_terminal_size (&o->spec.pty_rows, &o->spec.pty_cols);
}

static mode_t own_umask (void)
{
    mode_t mask = umask (0);
    umask (mask);
    return mask;
}

int run_options_read (struct run_options *o, const struct run_options *before, int argc,
                      char **argv, struct error *err)
{
    struct option_desc all[OPTIONS_MAX];
    struct option_parser parser;
    struct option_match m;
    int rc = 0;

    *o = (struct run_options){ .spec = { .input = STEP_INPUT_ALL } };
    join_options (all);
    if (!strcmp (run_name, SRUN_CLIENT)
        && (rc = srun_read_environ (o, all, take_option, err)) < 0)
        return rc;
    if (before && (rc = srun_inherit (o, before, err)) < 0)
        return rc;
    option_parser_init (&parser, run_name, all, OPTION_STOP_AT_OPERAND, argc, argv);
    while (!o->command && (rc = option_next (&parser, &m, err)) > 0) {
        if (!m.desc)
            o->command = argv + m.index;
        else if ((rc = take_option (o, &m, err)) != 0)
            return rc;
    }
    return o->command ? 0 : rc;
}

int run_options_finish (struct run_options *o, struct error *err)
{
    const char *hosts = getenv ("SLURM_HOSTFILE");
    int rc;

    o->spec.umask = own_umask ();
    if (!(o->spec.client_address = client_address ()))
        return error_no_memory (err, NULL);
    rc = o->rsh ? set_remote (&o->spec, o->command, err)
                : set_command (&o->spec, o->command, err);
    o->gpus_asked = o->spec.gpus_per_task;
    if (rc == 0)
        rc = run_default_gpus (&o->spec, err);
    if (rc == 0)
        rc = share_gpus (o, err);
    if (rc < 0 || (rc = check (o, err)) < 0 || (rc = set_cwd (&o->spec, err)) < 0
        || (rc = set_environment (&o->spec, o->export, err)) < 0
        || (rc = run_bcast_find (o, err)) < 0)
        return rc;
    if (o->spec.pty)
        set_terminal (o);
    return hosts && o->arbitrary ? read_text (&o->spec.hostfile, hosts, err) : 0;
}

int run_options_parse (struct run_options *o, int argc, char **argv, struct error *err)
{
    int rc;

    if (!strcmp (run_name, SRUN_CLIENT))
        return srun_parse (o, argc, argv, err);
    rc = run_options_read (o, NULL, argc, argv, err);
    return rc == 0 ? run_options_finish (o, err) : rc;
}

void run_options_release (struct run_options *o)
{
    free (o->bcast_dest);
    free (o->bcast_file);
    free (o->files);
    step_spec_release (&o->spec);
}
