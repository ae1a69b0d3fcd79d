/* main.c - the program fluxqd: options, configuration, loop
 */
#include <signal.h>
#include <sys/stat.h>

#include <config.h>

#include "broker/api/api.h"
#include "broker/core/service.h"
#include "broker/privileges.h"
#include "broker/watchdog.h"
#include "common/option.h"
#include "common/parse.h"
#include "protocol/agent_path.h"
#include "protocol/run_dir.h"

enum {
    OPT_CONFIG,
    OPT_CHECK,
    OPT_JOURNAL_CHECK,
    OPT_JOURNAL_REPAIR,
    OPT_ROUTES,
    OPT_RUNTIME,
    OPT_STATE,
    OPT_LAUNCH,
    OPT_LEVEL,
    OPT_HELP,
    OPT_VERSION,
    OPT_EXECUTOR /* and above: see struct arguments */
};

#define EXECUTOR_OPTIONS_MAX 16

/* The options of executors are between these two lists. */
static const struct option_desc first_options[] = {
    { "config", 'c', "FILE", "read FILE instead of " FLUXQ_SYSCONFDIR "/fluxq.yaml",
      OPT_CONFIG, false, NULL },
    { "check", 0, NULL, "check the configuration, report errors, and exit", OPT_CHECK,
      false, NULL },
    { "journal-check", 0, NULL,
      "check the journal while no broker runs, report damage, and exit",
      OPT_JOURNAL_CHECK, false, NULL },
    { "journal-repair", 0, NULL,
      "like --journal-check, and repair the journal; damaged records are lost",
      OPT_JOURNAL_REPAIR, false, NULL },
    { "routes", 0, NULL, "print the routes of the HTTP API and their roles, and exit",
      OPT_ROUTES, false, NULL },
};
static const struct option_desc last_options[] = {
    { "runtime-dir", 0, "DIR", "directory of the socket fluxqd.sock", OPT_RUNTIME, false,
      NULL },
    { "state-dir", 0, "DIR", "directory of the journal and of the jobs' directories",
      OPT_STATE, false, NULL },
    { "launch-socket", 0, "PATH",
      "ask fluxq-launch there, which systemd starts, for what needs root", OPT_LAUNCH,
      false, NULL },
    { "log-level", 0, "LEVEL", "error, warning, info or debug", OPT_LEVEL, false, NULL },
    { "help", 'h', NULL, "show this help and exit", OPT_HELP, false, NULL },
    { "version", 0, NULL, "show the version and exit", OPT_VERSION, false, NULL },
    OPTION_END
};

struct arguments {
    const char *config, *runtime, *state, *level, *launch_socket;
    bool check, journal_check, journal_repair;
    struct option_desc options[ARRAY_SIZE (first_options) + EXECUTOR_OPTIONS_MAX
                               + ARRAY_SIZE (last_options)];
    /* by id - OPT_EXECUTOR: the options of executors, the default executor's first */
    struct {
        const struct exec_ops *ops;
        const struct exec_option *option;
        bool given;
        const char *value; /* the last one given, or NULL */
    } choices[EXECUTOR_OPTIONS_MAX];
    size_t nchoices;
    const struct exec_ops *executor; /* chosen by an option, or NULL */
    bool personal;                   /* see struct exec_option */
};

static void add_choices (struct arguments *a, const struct exec_ops *ops)
{
    for (const struct exec_option *o = ops->options;
         o && o->name && a->nchoices < EXECUTOR_OPTIONS_MAX; o++) {
        a->choices[a->nchoices].ops = ops;
        a->choices[a->nchoices++].option = o;
    }
}

static void add_options (struct arguments *a)
{
    size_t n = ARRAY_SIZE (first_options);

    add_choices (a, exec_default ());
    for (size_t i = 0; executors[i]; i++)
        if (executors[i] != exec_default ())
            add_choices (a, executors[i]);
    memcpy (a->options, first_options, sizeof (first_options));
    for (size_t i = 0; i < a->nchoices; i++) {
        const struct exec_option *o = a->choices[i].option;

        a->options[n++] = (struct option_desc){
            .name = o->name, .arg = o->arg, .help = o->help, .id = OPT_EXECUTOR + (int)i
        };
    }
    memcpy (a->options + n, last_options, sizeof (last_options));
}

static int usage_error (const char *text)
{
    fprintf (stderr, "fluxqd: %s\nTry 'fluxqd --help'.\n", text);
    return 2;
}

/* -1: continue, else the exit status. */
static int take_choice (struct arguments *a, size_t i, const char *value)
{
    const struct exec_option *o = a->choices[i].option;
    struct error err = { 0 };
    char name[64];
    int64_t n;

    snprintf (name, sizeof (name), "--%s", o->name);
    if (o->max > 0 && parse_int (value, o->min, o->max, &n, name, &err) < 0)
        return usage_error (err.text);
    a->choices[i].given = true;
    a->choices[i].value = value;
    a->executor = a->choices[i].ops;
    a->personal |= o->personal;
    return -1;
}

/* The options must choose one executor. */
static int check_choices (const struct arguments *a)
{
    const struct exec_ops *one = NULL;
    char text[160];

    for (size_t i = 0; i < a->nchoices; i++) {
        const struct exec_ops *ops = a->choices[i].ops;

        if (a->choices[i].given && one && ops != one) {
            snprintf (text, sizeof (text), "--%s and --%s: choose one",
                      one->options->name, ops->options->name);
            return usage_error (text);
        }
        one = a->choices[i].given ? ops : one;
    }
    return -1;
}

/* -1: continue, else the exit status. */
static int take_option (struct arguments *a, const struct option_match *m)
{
    if (m->desc->id >= OPT_EXECUTOR)
        return take_choice (a, (size_t)(m->desc->id - OPT_EXECUTOR), m->value);
    switch (m->desc->id) {
    case OPT_CONFIG:
        a->config = m->value;
        break;
    case OPT_CHECK:
        a->check = true;
        break;
    case OPT_JOURNAL_CHECK:
        a->journal_check = true;
        break;
    case OPT_JOURNAL_REPAIR:
        a->journal_repair = true;
        break;
    case OPT_ROUTES:
        services_arrange ();
        return api_print_routes (stdout) < 0 || fflush (stdout) ? 1 : 0;
    case OPT_RUNTIME:
        a->runtime = m->value;
        break;
    case OPT_STATE:
        a->state = m->value;
        break;
    case OPT_LAUNCH:
        a->launch_socket = m->value;
        break;
    case OPT_LEVEL:
        if (log_level_from_name (m->value) < 0)
            return usage_error ("--log-level: expected error, warning, info or debug");
        a->level = m->value;
        break;
    case OPT_VERSION:
        printf ("fluxqd %s\n", PACKAGE_VERSION);
        return 0;
    default:
        printf ("Usage: fluxqd [OPTION]...\nThe broker of fluxq: takes in, queues, "
                "places and runs "
                "batch jobs.\n\n");
        option_print_help (stdout, a->options);
        return 0;
    }
    return -1;
}

static int parse_arguments (struct arguments *a, int argc, char **argv)
{
    struct option_parser p;
    struct option_match m;
    struct error err = { 0 };
    int rc;

    add_options (a);
    option_parser_init (&p, "fluxqd", a->options, OPTION_PERMUTE, argc, argv);
    while ((rc = option_next (&p, &m, &err)) == 1) {
        if (!m.desc)
            return usage_error ("fluxqd takes only options, no arguments");
        int status = take_option (a, &m);
        if (status >= 0)
            return status;
    }
    if (rc < 0)
        return usage_error (err.text);
    return check_choices (a);
}

static char *print (const char *fmt, ...) PRINTF_LIKE (1, 2);

static char *print (const char *fmt, ...)
{
    struct strbuf sb = STRBUF_INIT (8192);
    va_list ap;
    va_start (ap, fmt);
    strbuf_vaddf (&sb, fmt, ap);
    va_end (ap);
    return strbuf_detach (&sb);
}

static int set_text (char **field, const char *value)
{
    if (!value)
        return 0;
    free (*field);
    *field = strdup (value);
    return *field ? 0 : -ENOMEM;
}

/* An XDG directory; an empty or relative value counts as unset. */
static const char *xdg_dir (const char *name)
{
    const char *dir = getenv (name);
    return dir && dir[0] == '/' ? dir : NULL;
}

/* A broker started by a user for himself uses the user's own directories. */
static int personal_dirs (struct config *c, struct error *err)
{
    const char *state = xdg_dir ("XDG_STATE_HOME"), *home = xdg_dir ("HOME");
    char dir[RUN_DIR_MAX];

    if (!c->state_dir && state)
        c->state_dir = print ("%s/fluxq", state);
    else if (!c->state_dir && geteuid () == 0)
        c->state_dir = strdup (FLUXQ_STATEDIR);
    else if (!c->state_dir && home)
        c->state_dir = print ("%s/.local/state/fluxq", home);
    else if (!c->state_dir)
        return error_set (err, EINVAL,
                          "HOME is not set: name a directory with --state-dir");
    if (!c->runtime_dir && !run_dir_choose (dir, sizeof (dir)))
        return error_set (err, EINVAL,
                          "HOME is not set: name a directory with --runtime-dir");
    if (!c->runtime_dir)
        c->runtime_dir = strdup (dir);
    return 0;
}

/* Sets unset directories. personal: there is no system configuration file. */
static int default_dirs (struct config *c, bool personal, struct error *err)
{
    if (personal) {
        if (personal_dirs (c, err) < 0)
            return -EINVAL;
    } else {
        if (!c->runtime_dir)
            c->runtime_dir = strdup (RUN_DIR_SYSTEM);
        if (!c->state_dir)
            c->state_dir = strdup (FLUXQ_STATEDIR);
    }
    return c->runtime_dir && c->state_dir ? 0 : error_set (err, ENOMEM, "out of memory");
}

static int find_shell (struct config *c, struct error *err)
{
    char *path = agent_path_find (c->shell_path, err);

    if (!path)
        return error_prefix (err, "shell-path");
    free (c->shell_path);
    c->shell_path = path;
    return 0;
}

/* Options are settings in the executor's section, which is made if there is no file. */
static int apply_choices (struct config *c, const struct arguments *a)
{
    int rc = 0;

    for (size_t i = 0; i < a->nchoices && rc == 0; i++) {
        const struct exec_option *o = a->choices[i].option;
        const char *text = a->choices[i].value;
        int64_t n = 0;

        if (!a->choices[i].given)
            continue;
        if (o->max > 0)
            parse_int (text, o->min, o->max, &n, o->name, NULL);
        rc = config_set_executor (c, a->executor->name, o->key,
                                  !o->key      ? NULL
                                  : o->max > 0 ? json_integer ((json_int_t)n)
                                               : json_string (text));
    }
    return rc;
}

static int apply_arguments (struct config *c, const struct arguments *a,
                            struct error *err)
{
    if (a->level)
        c->log_level = (enum log_level)log_level_from_name (a->level);
    if (set_text (&c->runtime_dir, a->runtime) < 0
        || set_text (&c->state_dir, a->state) < 0 || apply_choices (c, a) < 0)
        return error_set (err, ENOMEM, "out of memory");
    return 0;
}

/* Whether the broker uses a user's own directories. */
static bool is_personal (const struct arguments *a, bool with_file)
{
    return (geteuid () != 0 && !a->launch_socket) || (a->personal && !with_file);
}

static struct config *load (const struct arguments *a, struct error *err)
{
    const char *path = a->config ? a->config : FLUXQ_SYSCONFDIR "/fluxq.yaml";
    bool wanted = a->config || (!a->personal && access (path, F_OK) == 0);
    struct config *c = wanted ? config_load (path, services_settings (), err)
                              : config_default (services_settings ());

    if (!c || apply_arguments (c, a, err) < 0
        || default_dirs (c, is_personal (a, wanted), err) < 0) {
        config_destroy (c);
        return NULL;
    }
    return c;
}

static int check_only (struct config *c, struct error *err)
{
    int rc = exec_check_config (c, err);
    if (rc == 0)
        printf ("%s: good (%zu queue%s, executor %s)\n",
                c->path ? c->path : "built-in settings", c->nqueues,
                c->nqueues == 1 ? "" : "s", c->executor);
    return rc;
}

static void print_line (const char *text, void *arg)
{
    (void)arg;
    puts (text);
}

static int journal_only (struct config *c, bool repair, struct error *err)
{
    autofree char *path = print ("%s/journal.db", c->state_dir);
    struct journal_say lines = { print_line, NULL };
    int rc = path ? journal_check (path, repair, lines, err) : -ENOMEM;

    config_destroy (c);
    return rc < 0 ? 1 : 0;
}

static int run (struct config *c, struct error *err)
{
    uv_loop_t *loop = uv_default_loop ();
    struct broker *b = broker_create (loop, c, api_handle, err);

    if (!b)
        return -EIO;
    fprintf (stderr, "fluxqd: listening on %s, state in %s\n", broker_socket_path (b),
             broker_config (b)->state_dir);
    watchdog_begin (loop);
    uv_run (loop, UV_RUN_DEFAULT);
    watchdog_end ();
    broker_destroy (b);
    return 0;
}

static void raise_limits (void)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit (RLIMIT_NOFILE, &limit);
    }
}

int main (int argc, char *argv[])
{
    struct arguments a = { 0 };
    struct error err = { 0 };
    int status = parse_arguments (&a, argc, argv);

    if (status >= 0)
        return status;
    umask (022);
    signal (SIGPIPE, SIG_IGN);
    watchdog_init ();
    log_open ("fluxqd", LOG_LEVEL_INFO, true);
    raise_limits ();
    struct config *c = load (&a, &err);
    if (c && a.check) {
        status = check_only (c, &err);
        config_destroy (c);
    } else if (c && (a.journal_check || a.journal_repair)) {
        status = journal_only (c, a.journal_repair, &err);
    } else if (c) {
        log_set_level (c->log_level);
        if (find_shell (c, &err) == 0
            && privileges_separate (c, a.launch_socket, &err) == 0)
            status = run (c, &err);
        else
            config_destroy (c);
    }
    if (err.code) {
        fprintf (stderr, "fluxqd: %s\n", err.text);
        return 1;
    }
    return status < 0 ? 1 : 0;
}
