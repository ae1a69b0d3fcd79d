/* adminrun.c - runs a prolog or epilog with a time limit and reports how it ended */
#include "shell/agent/adminrun.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/option.h"
#include "common/parse.h"
#include "protocol/agent_api.h"
#include "shell/agent/ranktext.h"
#include "shell/io/wait_status.h"
#include "shell/step/descendants.h"

#define PROGRAM "fluxq-shell " ADMINRUN_COMMAND
#define OUTPUT_MAX 16384 /* bytes of output passed on */
#define SET_MAX 64
#define ARGUMENTS_MAX 8
#define TIMEOUT_MAX 86400
#define KILL_TRIES 500 /* 10 ms each */

enum {
    OPT_PROGRAM,
    OPT_TIMEOUT,
    OPT_REPORT,
    OPT_SET,
    OPT_RANK,
    OPT_WAIT,
    OPT_INPUT,
    OPT_ARGUMENT,
    OPT_USER,
    OPT_HELP
};

static const struct option_desc options[] = {
    { "program", 0, "FILE", "program to run", OPT_PROGRAM, false, NULL },
    { "timeout", 0, "SECONDS", "end the program after this time", OPT_TIMEOUT, false,
      NULL },
    { "report", 0, "FILE",
      "write the reason of a failure to this file, - is standard output", OPT_REPORT,
      false, NULL },
    { "set", 0, "NAME=VALUE", "set this variable in the program's environment", OPT_SET,
      false, NULL },
    { "rank", 0, "[FIRST+]N", "set FLUXQ_NODEID to this number", OPT_RANK, false, NULL },
    { "wait", 0, NULL, "start the program on SIGTERM", OPT_WAIT, false, NULL },
    { "input", 0, "FILE", "standard input of the program [/dev/null]", OPT_INPUT, false,
      NULL },
    { "argument", 0, "TEXT", "argument of the program; may be given several times",
      OPT_ARGUMENT, false, NULL },
    { "user", 0, "UID:GID",
      "run the program as this user, and pass on none of its output", OPT_USER, false,
      NULL },
    { "help", 'h', NULL, "print this help", OPT_HELP, false, NULL },
    OPTION_END,
};

struct adminrun {
    const char *program, *report, *input;
    const char *argv[ARGUMENTS_MAX + 2]; /* the first is the program */
    size_t nargs;
    bool has_user;
    uid_t uid;
    gid_t gid;
    int64_t timeout;
    bool waits;
    const char *env[SET_MAX + 2];
    size_t nenv;
    char nodeid[32];
    pid_t pid;
    int out, err;    /* our ends of its pipes; -1: at end of file */
    int signals;     /* signalfd */
    size_t passed;   /* bytes of output passed on so far */
    char first[160]; /* first line of its standard error */
    size_t first_len;
    bool first_done;
};

/* "1000:100" */
static int read_user (struct adminrun *r, const char *text, struct error *err)
{
    char uid[24];
    const char *colon = strchr (text, ':');
    int64_t u, g;

    snprintf (uid, sizeof (uid), "%.*s", colon ? (int)(colon - text) : 0, text);
    if (parse_int (uid, 0, UINT32_MAX - 1, &u, "--user", err) < 0
        || parse_int (colon ? colon + 1 : "", 0, UINT32_MAX - 1, &g, "--user", err) < 0)
        return -EINVAL;
    r->uid = (uid_t)u;
    r->gid = (gid_t)g;
    r->has_user = true;
    return 0;
}

static int set_variable (struct adminrun *r, const char *text, struct error *err)
{
    if (!strchr (text, '=') || r->nenv == SET_MAX)
        return error_set (err, EINVAL, "--set %s: not NAME=VALUE, or one too many", text);
    r->env[r->nenv++] = text;
    return 0;
}

static int set_rank (struct adminrun *r, const char *text, struct error *err)
{
    int64_t rank;
    int rc = rank_parse (text, &rank, err);

    if (rc < 0)
        return rc;
    snprintf (r->nodeid, sizeof (r->nodeid), "FLUXQ_NODEID=%jd", (intmax_t)rank);
    return set_variable (r, r->nodeid, err);
}

static int take_option (struct adminrun *r, const struct option_match *m,
                        struct error *err)
{
    switch (m->desc->id) {
    case OPT_PROGRAM:
        r->program = m->value;
        return 0;
    case OPT_TIMEOUT:
        return parse_int (m->value, 1, TIMEOUT_MAX, &r->timeout, "--timeout", err);
    case OPT_REPORT:
        r->report = m->value;
        return 0;
    case OPT_WAIT:
        r->waits = true;
        return 0;
    case OPT_INPUT:
        r->input = m->value;
        return 0;
    case OPT_ARGUMENT:
        if (r->nargs == ARGUMENTS_MAX)
            return error_set (err, EINVAL, "--argument %s: one too many", m->value);
        r->argv[1 + r->nargs++] = m->value;
        return 0;
    case OPT_USER:
        return read_user (r, m->value, err);
    case OPT_SET:
        return set_variable (r, m->value, err);
    case OPT_RANK:
        return set_rank (r, m->value, err);
    default:
        printf ("Usage: " PROGRAM " --program FILE --timeout SECONDS [OPTION]...\n"
                "Run a program of the administrator. Started by fluxqd.\n\n");
        option_print_help (stdout, options);
        exit (0);
    }
}

static int parse (struct adminrun *r, int argc, char **argv, struct error *err)
{
    struct option_parser parser;
    struct option_match m;
    int rc;

    r->env[r->nenv++] =
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    option_parser_init (&parser, PROGRAM, options, OPTION_PERMUTE, argc, argv);
    while ((rc = option_next (&parser, &m, err)) > 0) {
        if (!m.desc)
            return error_set (err, EINVAL, "%s: not an option", m.value);
        if ((rc = take_option (r, &m, err)) < 0)
            return rc;
    }
    if (rc == 0 && (!r->program || r->timeout == 0))
        return error_set (err, EINVAL, "--program and --timeout are needed");
    return rc;
}

/* -- the child -- */

static bool become_user (const struct adminrun *r)
{
    return !r->has_user
           || (setgroups (0, NULL) == 0 && setresgid (r->gid, r->gid, r->gid) == 0
               && setresuid (r->uid, r->uid, r->uid) == 0);
}

static void run_child (const struct adminrun *r, int out, int err, pid_t parent)
{
    sigset_t none;

    setsid ();
    int in = open (r->input ? r->input : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2 (in, 0) < 0 || !become_user (r))
        _exit (126);
    prctl (PR_SET_PDEATHSIG, SIGKILL); /* a change of the user resets this */
    if (getppid () != parent)
        _exit (126);
    for (int sig = 1; sig < NSIG; sig++)
        signal (sig, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    if (dup2 (out, 1) < 0 || dup2 (err, 2) < 0 || chdir ("/") < 0)
        _exit (126);
    execve (r->program, (char **)r->argv, (char **)r->env);
    dprintf (2, "cannot be executed: %s\n", strerror (errno));
    _exit (127);
}

static int start (struct adminrun *r)
{
    int out[2] = { -1, -1 }, err[2] = { -1, -1 };
    pid_t self = getpid ();

    if (pipe2 (out, O_CLOEXEC) < 0 || pipe2 (err, O_CLOEXEC) < 0
        || (r->pid = fork ()) < 0)
        return -errno;
    if (r->pid == 0)
        run_child (r, out[1], err[1], self);
    close (out[1]);
    close (err[1]);
    r->out = out[0];
    r->err = err[0];
    fcntl (r->out, F_SETFL, O_NONBLOCK);
    fcntl (r->err, F_SETFL, O_NONBLOCK);
    return 0;
}

/* -- its output -- */

static void keep_first_line (struct adminrun *r, const char *data, size_t len)
{
    for (size_t i = 0; i < len && !r->first_done; i++) {
        if (data[i] == '\n')
            r->first_done = r->first_len > 0;
        else if (r->first_len < sizeof (r->first) - 1)
            r->first[r->first_len++] = (unsigned char)data[i] < 0x20 ? ' ' : data[i];
    }
}

/* Passes on the output that is there now; reads and drops output beyond the limit. */
static void pass_on (struct adminrun *r, int *fd)
{
    char buf[4096];
    ssize_t n;

    while (*fd >= 0 && (n = read (*fd, buf, sizeof (buf))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        if (fd == &r->err)
            keep_first_line (r, buf, (size_t)n);
        size_t room = r->has_user ? 0 : MIN ((size_t)n, OUTPUT_MAX - r->passed);
        (void)!write (STDERR_FILENO, buf, room);
        r->passed += room;
    }
    if (*fd >= 0)
        close (*fd);
    *fd = -1;
}

/* -- its end -- */

/* Waits until the program ends (1), runs out of time (0), or we are told to end
 * (-EINTR). */
static int wait_for_it (struct adminrun *r, int *status)
{
    double end = clock_mono () + (double)r->timeout;

    for (;;) {
        struct pollfd fds[] = { { r->signals, POLLIN, 0 },
                                { r->out, POLLIN, 0 },
                                { r->err, POLLIN, 0 } };
        struct signalfd_siginfo info;
        double left = end - clock_mono ();

        if (left <= 0)
            return 0;
        if (poll (fds, ARRAY_SIZE (fds), (int)(left * 1000.0) + 1) < 0 && errno != EINTR)
            return -errno;
        pass_on (r, &r->out);
        pass_on (r, &r->err);
        while (read (r->signals, &info, sizeof (info)) == (ssize_t)sizeof (info))
            if (info.ssi_signo != SIGCHLD)
                return -EINTR;
        if (waitpid (r->pid, status, WNOHANG) == r->pid) {
            pass_on (r, &r->out); /* its last output */
            pass_on (r, &r->err);
            return 1;
        }
    }
}

static void kill_all (void)
{
    for (int i = 0; i < KILL_TRIES && !descendants_kill (NULL, NULL); i++)
        poll (NULL, 0, 10);
}

static void report (const struct adminrun *r, const char *what)
{
    char text[512];
    int n = snprintf (text, sizeof (text), "%s%s%s", what, r->first_len ? ": " : "",
                      r->first);

    dprintf (STDERR_FILENO, "%s: %s\n", r->program, text);
    if (!r->report)
        return;
    autoclose int fd =
        !strcmp (r->report, "-")
            ? dup (STDOUT_FILENO)
            : open (r->report, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    if (fd < 0 || write (fd, text, (size_t)n) != n)
        dprintf (STDERR_FILENO, "%s: %s: %s\n", r->program, r->report, strerror (errno));
}

/* In a sidecar of a pod: waits until all other containers have ended. */
static void wait_for_end (const struct adminrun *r)
{
    struct signalfd_siginfo info = { 0 };
    struct pollfd fd = { r->signals, POLLIN, 0 };

    while (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT) {
        poll (&fd, 1, -1);
        if (read (r->signals, &info, sizeof (info)) != (ssize_t)sizeof (info))
            info.ssi_signo = 0;
    }
}

static int run (struct adminrun *r)
{
    char what[160];
    int status = 0;
    if (r->waits)
        wait_for_end (r);
    int rc = start (r);

    if (rc == 0)
        rc = wait_for_it (r, &status);
    kill_all ();
    if (rc == 1 && status == 0)
        return 0;
    if (rc == 1 && WIFEXITED (status) && WEXITSTATUS (status) == 127 && r->first_len > 0
        && !strncmp (r->first, "cannot be executed", 18))
        snprintf (what, sizeof (what), "it");
    else if (rc == 1)
        wait_status_text (status, what, sizeof (what));
    else if (rc == 0)
        snprintf (what, sizeof (what), "not done after %jd s", (intmax_t)r->timeout);
    else if (rc == -EINTR)
        snprintf (what, sizeof (what), "it was told to end");
    else
        snprintf (what, sizeof (what), "cannot be started: %s", strerror (-rc));
    report (r, what);
    return rc == -EINTR ? 1 : ADMINRUN_FAILED;
}

int adminrun_main (int argc, char **argv)
{
    struct adminrun r = { .out = -1, .err = -1 };
    struct error err = { 0 };
    sigset_t set;

    if (parse (&r, argc, argv, &err) < 0) {
        fprintf (stderr, PROGRAM ": %s\n", err.text);
        return 2;
    }
    r.argv[0] = r.program;
    sigemptyset (&set);
    sigaddset (&set, SIGCHLD);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGINT);
    sigprocmask (SIG_BLOCK, &set, NULL);
    signal (SIGPIPE, SIG_IGN);
    prctl (PR_SET_CHILD_SUBREAPER, 1);
    r.signals = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (r.signals < 0) {
        fprintf (stderr, PROGRAM ": signalfd: %s\n", strerror (errno));
        return 1;
    }
    return run (&r);
}
