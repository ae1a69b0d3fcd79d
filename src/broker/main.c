/* main.c - the program fluxqd: options, configuration, loop
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <config.h>

#include "broker/config/config.h"
#include "broker/api/api.h"
#include "broker/core/broker.h"
#include "broker/watchdog.h"
#include "common/log.h"
#include "common/option.h"
#include "common/parse.h"
#include "protocol/agent_path.h"
#include "protocol/run_dir.h"

enum {
    OPT_CONFIG,
    OPT_CHECK,
    OPT_JOURNAL_CHECK,
    OPT_JOURNAL_REPAIR,
    OPT_LOCAL,
    OPT_KUBE,
    OPT_KUBECONFIG,
    OPT_RUNTIME,
    OPT_STATE,
    OPT_LEVEL,
    OPT_HELP,
    OPT_VERSION
};

static const struct option_desc options[] = {
    { "config", 'c', "FILE", "read FILE instead of " FLUXQ_SYSCONFDIR "/fluxq.yaml",
      OPT_CONFIG, false },
    { "check", 0, NULL, "check the configuration, say what is wrong, and exit", OPT_CHECK,
      false },
    { "journal-check", 0, NULL,
      "check the journal while no broker runs, say what is damaged, and exit",
      OPT_JOURNAL_CHECK, false },
    { "journal-repair", 0, NULL, "the same, and make it whole without what is lost",
      OPT_JOURNAL_REPAIR, false },
    { "local", 0, "N", "run jobs as processes of this machine, on N virtual nodes",
      OPT_LOCAL, false },
    { "kube", 0, NULL, "run jobs on Kubernetes", OPT_KUBE, false },
    { "kubeconfig", 0, "FILE", "how to reach it (default: kube.kubeconfig, $KUBECONFIG)",
      OPT_KUBECONFIG, false },
    { "runtime-dir", 0, "DIR", "where the socket fluxqd.sock is", OPT_RUNTIME, false },
    { "state-dir", 0, "DIR", "where the journal and the jobs' directories are", OPT_STATE,
      false },
    { "log-level", 0, "LEVEL", "error, warning, info or debug", OPT_LEVEL, false },
    { "help", 'h', NULL, "show this help and exit", OPT_HELP, false },
    { "version", 0, NULL, "show the version and exit", OPT_VERSION, false },
    OPTION_END
};

struct arguments {
    const char *config, *kubeconfig, *runtime, *state, *level;
    int64_t local; /* 0: not given */
    bool kube, check, journal_check, journal_repair;
};

static int usage_error (const char *text)
{
    fprintf (stderr, "fluxqd: %s\nTry 'fluxqd --help'.\n", text);
    return 2;
}

/* -1: continue, else the exit status. */
static int take_option (struct arguments *a, const struct option_match *m)
{
    struct error err = { 0 };

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
    case OPT_LOCAL:
        if (parse_int (m->value, 1, 100000, &a->local, "--local", &err) < 0)
            return usage_error (err.text);
        break;
    case OPT_KUBE:
        a->kube = true;
        break;
    case OPT_KUBECONFIG:
        a->kubeconfig = m->value;
        a->kube = true;
        break;
    case OPT_RUNTIME:
        a->runtime = m->value;
        break;
    case OPT_STATE:
        a->state = m->value;
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
        option_print_help (stdout, options);
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

    option_parser_init (&p, "fluxqd", options, OPTION_PERMUTE, argc, argv);
    while ((rc = option_next (&p, &m, &err)) == 1) {
        if (!m.desc)
            return usage_error ("it takes no arguments besides options");
        int status = take_option (a, &m);
        if (status >= 0)
            return status;
    }
    if (rc < 0)
        return usage_error (err.text);
    if (a->local && a->kube)
        return usage_error ("--local and --kube: choose one");
    return -1;
}

static char *print (const char *fmt, ...) PRINTF_LIKE (1, 2);

static char *print (const char *fmt, ...)
{
    struct strbuf sb;
    va_list ap;
    strbuf_init (&sb, 8192);
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
        return error_set (err, EINVAL, "HOME is not set: name a directory with --state-dir");
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
    if (geteuid () != 0 || personal) {
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
static int apply_arguments (struct config *c, const struct arguments *a,
                            struct error *err)
{
    json_t *value = a->local        ? json_integer ((json_int_t)a->local)
                    : a->kubeconfig ? json_string (a->kubeconfig)
                                    : NULL;
    const char *executor = a->local ? "local" : a->kube ? "kube" : NULL;

    if (set_text (&c->runtime_dir, a->runtime) < 0
        || set_text (&c->state_dir, a->state) < 0) {
        json_decref (value);
        return error_set (err, ENOMEM, "out of memory");
    }
    if (a->level)
        c->log_level = (enum log_level)log_level_from_name (a->level);
    if (executor
        && config_set_executor (c, executor,
                                !value     ? NULL
                                : a->local ? "nodes"
                                           : "kubeconfig",
                                value)
               < 0)
        return error_set (err, ENOMEM, "out of memory");
    return 0;
}

static struct config *load (const struct arguments *a, struct error *err)
{
    const char *path = a->config ? a->config : FLUXQ_SYSCONFDIR "/fluxq.yaml";
    bool wanted = a->config || (!a->local && access (path, F_OK) == 0);
    struct config *c = wanted ? config_load (path, err) : config_default ();

    if (!c || apply_arguments (c, a, err) < 0
        || default_dirs (c, a->local && !wanted, err) < 0) {
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
    fprintf (stderr, "fluxqd: listening on %s, state in %s\n", b->socket_path,
             b->config->state_dir);
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
        if (find_shell (c, &err) == 0)
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
