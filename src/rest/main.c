/* main.c - the program slurmrestd: options, environment, loop */
#include <signal.h>
#include <string.h>

#include <config.h>

#include "cmd/client/command.h"
#include "common/log.h"
#include "common/option.h"
#include "common/parse.h"
#include "rest/server.h"

enum { CHILDREN = 1, MODE, SECONDS, TLS, CERTIFICATE, KEY, VERBOSE, HELP, SHOW_VERSION };

static const struct option_desc options[] = {
    { "max-requests", 0, "N", "work on N requests at once; others wait [16]", CHILDREN,
      false, NULL },
    { "socket-mode", 0, "MODE", "mode of unix sockets, in octal [0600]", MODE, false,
      NULL },
    { "timeout", 0, "TIME", "time of a request [60s]", SECONDS, false, NULL },
    { "tls", 0, "off", "speak no TLS on TCP", TLS, false, NULL },
    { "tls-certificate", 0, "FILE", "speak TLS on TCP, with this certificate (PEM)",
      CERTIFICATE, false, NULL },
    { "tls-key", 0, "FILE", "private key of the certificate", KEY, false, NULL },
    { "verbose", 'v', NULL, "log more", VERBOSE, false, NULL },
    { "help", 'h', NULL, "show this text", HELP, false, NULL },
    { "version", 'V', NULL, "show the version", SHOW_VERSION, false, NULL },
    OPTION_END,
};

struct arguments {
    struct rest_settings settings;
    const char *addresses[16];
    size_t n;
    enum log_level level;
};

static int wrong (const char *text)
{
    fprintf (stderr, "slurmrestd: %s (see slurmrestd --help)\n", text);
    return CMD_USAGE;
}

static void print_help (void)
{
    puts ("Usage: slurmrestd [OPTION]... [unix:PATH|HOST:PORT]...\n"
          "Slurm's REST interface in front of fluxqd. Without an address it listens on "
          "localhost:6820.\nTCP needs --tls-certificate and --tls-key, or --tls=off.\n");
    option_print_help (stdout, options);
}

static int parse_mode (const char *text, mode_t *ret)
{
    size_t len = strlen (text);

    if (len < 1 || len > 4 || strspn (text, "01234567") != len)
        return -1;
    *ret = (mode_t)strtol (text, NULL, 8);
    return *ret <= 0777 ? 0 : -1;
}

/* The exit status, or -1 to go on. */
static int take_option (struct arguments *a, const struct option_match *m)
{
    struct error err = { 0 };
    int rc = 0;

    switch (m->desc->id) {
    case CHILDREN:
        rc = parse_int (m->value, 1, 1000, &a->settings.children, "--max-requests", &err);
        break;
    case MODE:
        if (parse_mode (m->value, &a->settings.socket_mode) < 0)
            return wrong ("--socket-mode: not an octal mode");
        break;
    case SECONDS:
        rc = parse_fsd (m->value, &a->settings.seconds, "--timeout", &err);
        if (rc == 0 && (a->settings.seconds < 1 || a->settings.seconds > 86400))
            return wrong ("--timeout: from 1s to 1d");
        break;
    case TLS:
        if (strcmp (m->value, "off") != 0)
            return wrong ("--tls: expected off; --tls-certificate and --tls-key switch "
                          "TLS on");
        a->settings.tls_off = true;
        break;
    case CERTIFICATE:
        a->settings.certificate = m->value;
        break;
    case KEY:
        a->settings.key = m->value;
        break;
    case VERBOSE:
        a->level = LOG_LEVEL_DEBUG;
        break;
    case HELP:
        print_help ();
        return CMD_OK;
    default:
        puts ("slurm " CMD_SLURM_VERSION " (fluxq " PACKAGE_VERSION ")");
        return CMD_OK;
    }
    return rc < 0 ? wrong (err.text) : -1;
}

static int parse_arguments (struct arguments *a, int argc, char **argv)
{
    struct option_parser p;
    struct option_match m;
    struct error err = { 0 };
    int rc, status = -1;

    option_parser_init (&p, "slurmrestd", options, OPTION_PERMUTE, argc, argv);
    while (status < 0 && (rc = option_next (&p, &m, &err)) == 1) {
        if (m.desc)
            status = take_option (a, &m);
        else if (a->n == ARRAY_SIZE (a->addresses))
            return wrong ("too many addresses");
        else
            a->addresses[a->n++] = m.value;
    }
    if (status >= 0)
        return status;
    if (rc == 0 && !a->settings.certificate != !a->settings.key)
        return wrong ("--tls-certificate and --tls-key need each other");
    if (rc == 0 && a->settings.certificate && a->settings.tls_off)
        return wrong ("--tls-certificate contradicts --tls=off: remove one of them");
    return rc < 0 ? wrong (err.text) : -1;
}

/* Commands read options from variables (SQUEUE_FORMAT); only variables that say where the
 * broker and the users are remain. */
static int clean_environment (void)
{
    static const char *const kept[] = { "FLUXQ_BROKER",
                                        "FLUXQ_BROKER_WAIT",
                                        "FLUXQ_RUNTIME_DIR",
                                        "XDG_RUNTIME_DIR",
                                        "XDG_CONFIG_HOME",
                                        "HOME",
                                        "PATH",
                                        "TZ",
                                        "FLUXQ_CLOCK_OFFSET",
                                        "FLUXQ_MUNGE_SOCKET" };
    char *values[ARRAY_SIZE (kept)] = { NULL };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (kept) && rc == 0; i++) {
        const char *value = getenv (kept[i]);
        if (value && !(values[i] = strdup (value)))
            rc = -1;
    }
    clearenv ();
    for (size_t i = 0; i < ARRAY_SIZE (kept); i++) {
        if (values[i] && setenv (kept[i], values[i], 1) < 0)
            rc = -1;
        free (values[i]);
    }
    return rc == 0 ? setenv (CMD_BROKER_WAIT, "5", 0) : rc;
}

static void on_signal (uv_signal_t *handle, int signum)
{
    (void)signum;
    uv_stop (handle->loop);
}

static void on_reload (uv_signal_t *handle, int signum)
{
    struct error err = { 0 };

    (void)signum;
    if (rest_server_read_certificate (handle->data, &err) < 0)
        log_error ("%s; the earlier certificate stays", err.text);
}

static int serve (const struct arguments *a)
{
    uv_loop_t *loop = uv_default_loop ();
    struct error err = { 0 };
    uv_signal_t signals[3];
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
    struct rest_server *s = rest_server_create (loop, &a->settings, &err);
    int rc = s ? rest_server_read_certificate (s, &err) : -1;

    for (size_t i = 0; i < a->n && rc == 0; i++)
        rc = rest_server_listen (s, a->addresses[i], &err);
    if (rc < 0)
        log_error ("%s", err.text);
    for (size_t i = 0; i < ARRAY_SIZE (signals); i++) {
        uv_signal_init (loop, &signals[i]);
        signals[i].data = s;
        uv_signal_start (&signals[i], numbers[i] == SIGHUP ? on_reload : on_signal,
                         numbers[i]);
    }
    if (rc == 0)
        uv_run (loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < ARRAY_SIZE (signals); i++)
        uv_close ((uv_handle_t *)&signals[i], NULL);
    rest_server_destroy (s);
    uv_run (loop, UV_RUN_DEFAULT);
    uv_loop_close (loop);
    return rc < 0 ? CMD_FAILED : CMD_OK;
}

int main (int argc, char **argv)
{
    struct arguments a = {
        .settings = { .children = 16, .socket_mode = 0600, .seconds = 60 },
        .level = LOG_LEVEL_INFO
    };
    int status = parse_arguments (&a, argc, argv);

    if (status >= 0)
        return status;
    if (a.n == 0)
        a.addresses[a.n++] = "localhost:6820";
    log_open ("slurmrestd", a.level, false);
    if (clean_environment () < 0) {
        log_error ("out of memory");
        return CMD_FAILED;
    }
    signal (SIGPIPE, SIG_IGN);
    return serve (&a);
}
