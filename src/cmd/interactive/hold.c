/* hold.c - see hold.h
 *
 *   submit, wait, connect --> command --its end--> the job ends, with its exit status
 *                              |   ^
 *            connection gone   v   |  again: the broker has restarted
 *                            lost --+--the job has ended--> a signal to the command
 *
 * The connection keeps the job (protocol/keepalive.h). It is a session
 * (protocol/session.h): the agents keep the job while the broker is away, and learn from
 * the session when this process is gone.
 */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cmd/interactive/allocation.h"
#include "cmd/interactive/hold.h"
#include "cmd/interactive/stepclient.h"
#include "cmd/client/job_option.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/parse.h"
#include "jobspec/options/slurm_options.h"
#include "protocol/keepalive.h"
#include "protocol/session.h"
#include "protocol/step_client.h"

#define GRACE 30 /* seconds that the job outlives the connection, without a session */
#define BELL_AFTER 10   /* seconds of waiting, as in Slurm */
#define LOST_LOOK 0.5 /* seconds */
#define LAST_LOOKS 10 /* after the command has ended */

struct alloc {
    struct cmd *c;
    struct submit_options so;
    int flags; /* enum allocation_flags */
    bool quiet;
    char **command;
    char *shell[2];
    uint64_t id;
    json_t *job;
    int fd;                     /* the connection that keeps the job; -1: lost */
    double wait;                /* seconds, for a broker that is away */
    char session[SESSION_TEXT]; /* "": no session */
    int signal_fd;              /* SIGCHLD, and signals for the command */
    sigset_t before;
    pid_t pid;
    bool apart; /* the command has a process group of its own */
    int kill_signal;
    bool over;  /* the job has ended */
    int status; /* of waitpid() */
};

/* Programs search for salloc's words, which begin with a capital. */
static void say (const struct alloc *a, const char *fluxq, const char *slurm)
{
    if (!a->quiet)
        cmd_warn (a->c, "%s job allocation %ju", a->c->command->slurm ? slurm : fluxq,
                  (uintmax_t)a->id);
}

/* The signal for a command that outlives the job. */
static int read_kill_signal (struct cmd *c, struct alloc *a)
{
    const char *text = a->so.command.kill_command.text;
    struct error err = { 0 };

    a->apart = !isatty (STDIN_FILENO);
    a->kill_signal = text && a->apart ? SIGTERM : SIGHUP;
    if (text && *text && parse_signal (text, &a->kill_signal, "--kill-command", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}

static int read_options (struct cmd *c, struct alloc *a)
{
    struct submit_options *so = &a->so;
    struct option_match m;

    while (!a->command && cmd_next (c, &m) > 0) {
        if (!m.desc) {
            if (!c->command->slurm || !submit_next_component (c, &m, &so))
                a->command = c->parser.argv + m.index;
        } else if (m.desc->id == HOLD_QUIET) {
            a->quiet = true;
        } else if (m.desc->id == HOLD_IMMEDIATE) {
            a->flags |= ALLOCATION_IMMEDIATE;
        } else if (submit_set_option (c, so, &m) != CMD_OK) {
            return c->status;
        }
    }
    if (c->ended)
        return c->status;
    a->quiet |= a->so.command.quiet;
    if (a->quiet)
        a->flags &= ~ALLOCATION_TELLS;
    if (getenv ("FLUXQ_AGENT_SOCKET") || getenv (STEP_CLIENT_JOB))
        return cmd_fail (c,
                         "this shell is inside the allocation of job %s: use fluxq-run "
                         "to run steps in it",
                         getenv ("FLUXQ_JOB_ID") ? getenv ("FLUXQ_JOB_ID") : "?");
    const char *shell = getenv ("SHELL");
    a->shell[0] = (char *)(shell && shell[0] ? shell : "/bin/sh");
    if (a->command && a->so.command.no_shell)
        return cmd_usage (c,
                          "--no-shell runs no command: leave %s out, and run it later "
                          "with srun --jobid",
                          a->command[0]);
    if (!a->command)
        a->command = a->shell;
    if (allocation_options (c, &a->so, c->command->slurm ? SLURM_SALLOC : 0) != CMD_OK)
        return c->status;
    return read_kill_signal (c, a);
}

/* -- the connection -- */

static void send_keepalive (struct alloc *a, enum keepalive_kind kind, uint32_t value)
{
    uint8_t msg[KEEPALIVE_SIZE];

    keepalive_encode (kind, value, msg);
    if (send (a->fd, msg, sizeof (msg), MSG_NOSIGNAL) == (ssize_t)sizeof (msg))
        return;
    close (a->fd);
    a->fd = -1;
}

/* Sent on a new connection. Data of the agents is not read, so there is no position to
 * resume from. */
static void send_keep (struct alloc *a, enum session_kind kind)
{
    uint8_t token[SESSION_TOKEN], msg[SESSION_MESSAGE_MAX];
    bool is_new = kind == SESSION_NEW;

    if (a->session[0] && session_parse (a->session, token)) {
        size_t len = session_encode (kind, token, is_new ? step_session_grace (a->c) : 0,
                                     is_new ? 4 : 8, msg);
        if (send (a->fd, msg, len, MSG_NOSIGNAL) != (ssize_t)len)
            return; /* the end of the connection is noticed next */
    }
    send_keepalive (a, KEEPALIVE_KEEP, a->session[0] ? 0 : GRACE);
}

/* Data of the agents is for clients of steps; only the end of the connection matters. */
static void on_connection (struct alloc *a)
{
    char buf[4096];
    ssize_t n = recv (a->fd, buf, sizeof (buf), MSG_DONTWAIT);

    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    close (a->fd);
    a->fd = -1;
    cmd_disconnect (a->c);
    /* run_command() tries again, and serves the command meanwhile */
    a->c->broker_wait = 0;
}

static void signal_command (const struct alloc *a, int sig)
{
    if (a->pid > 0)
        kill (a->apart ? -a->pid : a->pid, sig);
}

/* The connection is gone: finds out whether the job has ended, or only the broker. */
static void find_out (struct alloc *a)
{
    struct error err = { 0 };
    char text[ERROR_TEXT_MAX];
    autojson json_t *job = job_ask (a->c, a->id, &err);

    if (!job)
        return;
    if (!job_is_over (job)) {
        if (!strcmp (json_text (job, "state"), "RUNNING")
            && job_connect (a->c, a->id, a->session, &a->fd, &err) == 0)
            send_keep (a, SESSION_AGAIN);
        return;
    }
    a->over = true;
    job_end_text (job, text, sizeof (text));
    cmd_warn (a->c, "job allocation %ju has ended: %s", (uintmax_t)a->id, text);
    signal_command (a, a->kill_signal);
    signal_command (a, SIGCONT);
}

/* -- the command -- */

static _Noreturn void become_command (const struct alloc *a)
{
    int rc = hold_set_environment (a->job, &a->so);

    if (a->apart)
        setpgid (0, 0);
    signal (SIGINT, SIG_DFL);
    allocation_release_signals ();
    sigprocmask (SIG_SETMASK, &a->before, NULL);
    if (rc == 0)
        execvp (a->command[0], a->command);
    cmd_warn (a->c, "cannot execute %s: %s", a->command[0], strerror (errno));
    _exit (errno == ENOENT ? 127 : 126);
}

static void on_child (struct alloc *a)
{
    pid_t pid = waitpid (a->pid, &a->status, WNOHANG);

    if (pid == a->pid)
        a->pid = 0;
}

/* Signals from the terminal's keys reach the command directly. */
static void on_signals (struct alloc *a)
{
    struct signalfd_siginfo info;

    while (read (a->signal_fd, &info, sizeof (info)) == (ssize_t)sizeof (info)) {
        if (info.ssi_signo == SIGCHLD)
            on_child (a);
        else if (a->apart || info.ssi_signo != SIGINT)
            signal_command (a, (int)info.ssi_signo);
    }
}

static int start_command (struct alloc *a)
{
    sigset_t set;

    sigemptyset (&set);
    sigaddset (&set, SIGCHLD);
    sigaddset (&set, SIGINT);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGHUP);
    sigprocmask (SIG_BLOCK, &set, &a->before);
    a->signal_fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    fflush (stdout);
    a->pid = a->signal_fd >= 0 ? fork () : -1;
    if (a->pid == 0)
        become_command (a);
    if (a->pid > 0 && a->apart)
        setpgid (a->pid, a->pid);
    return a->pid > 0 ? CMD_OK
                      : cmd_fail (a->c, "cannot start a process: %s", strerror (errno));
}

static void run_command (struct alloc *a)
{
    while (a->pid > 0) {
        struct pollfd p[] = { { .fd = a->signal_fd, .events = POLLIN },
                              { .fd = a->fd, .events = POLLIN } };
        bool lost = a->fd < 0 && !a->over;
        poll (p, 2, lost ? (int)(LOST_LOOK * 1000) : -1);
        if (p[0].revents)
            on_signals (a);
        if (a->pid > 0 && a->fd >= 0 && p[1].revents)
            on_connection (a);
        else if (a->pid > 0 && lost)
            find_out (a);
    }
}

static int exit_code (int status)
{
    return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

/* Ends the job with the command's exit status. */
static void give_back (struct alloc *a)
{
    cmd_disconnect (a->c);
    a->c->broker_wait = a->wait;
    for (int i = 0; i < LAST_LOOKS && a->fd < 0 && !a->over; i++) {
        find_out (a);
        if (a->fd < 0 && !a->over)
            cmd_sleep (LOST_LOOK);
    }
    if (a->over)
        return;
    say (a, "relinquishing", "Relinquishing");
    if (a->fd >= 0)
        send_keepalive (a, KEEPALIVE_END, (uint32_t)exit_code (a->status) << 8);
    if (a->fd < 0)
        allocation_cancel (a->c, a->id);
}

static void ring (const struct alloc *a, double waited)
{
    bool late = a->c->command->slurm && waited > BELL_AFTER;

    if ((a->so.command.bell || (late && !a->so.command.no_bell))
        && isatty (STDOUT_FILENO)) {
        putchar ('\a');
        fflush (stdout);
    }
}

static int keep_until_end (struct alloc *a)
{
    struct cmd *c = a->c;

    a->wait = MAX (cmd_broker_wait (c, NULL), 0.0);
    if (step_session_grace (c) == 0 || !session_make (a->session))
        a->session[0] = '\0';
    allocation_catch_signals ();
    double began = clock_mono ();
    bool stays = a->so.command.no_shell;
    if (allocation_submit (c, &a->so, stays ? "no-shell" : a->command[0], stays, &a->id)
            != CMD_OK
        || allocation_wait (c, a->id, a->flags, &a->job) != CMD_OK)
        return c->status;
    ring (a, clock_mono () - began);
    if (stays) {
        say (a, "granted", "Granted");
        return CMD_OK;
    }
    if (allocation_connect (c, a->id, a->session, &a->fd) != CMD_OK)
        return c->status;
    send_keep (a, SESSION_NEW);
    say (a, "granted", "Granted");
    if (start_command (a) == CMD_OK)
        run_command (a);
    else
        a->status = 1 << 8;
    give_back (a);
    sigprocmask (SIG_SETMASK, &a->before, NULL);
    return c->status ? c->status : exit_code (a->status);
}

int hold_allocation (struct cmd *c)
{
    struct alloc a = { .c = c, .fd = -1, .signal_fd = -1, .flags = ALLOCATION_TELLS };

    submit_options_init (&a.so);
    int status = read_options (c, &a);
    if (!c->ended && status == CMD_OK)
        status = keep_until_end (&a);
    allocation_release_signals ();
    if (a.fd >= 0)
        close (a.fd);
    if (a.signal_fd >= 0)
        close (a.signal_fd);
    json_decref (a.job);
    submit_options_release (&a.so);
    return status;
}
