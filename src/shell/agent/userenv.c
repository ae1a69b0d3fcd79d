/* userenv.c - runs the user's login shell and takes its environment */
#include "shell/agent/userenv.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/sha256.h"
#include "shell/step/task.h"

#define OUTPUT_MAX (4u << 20) /* bytes that the shell and its profiles may print */
#define MARK_BYTES 16
#define SHELL_DEFAULT "/bin/sh"
#define SHELL_PATH "/usr/local/bin:/usr/bin:/bin"

struct login {
    const char *user, *home, *shell;
    bool as_login;
    char mark[2 * MARK_BYTES + 1];
    int fd; /* the shell's standard output */
    pid_t pid;
};

/* -- in the shell's process -- */

int user_env_print (const char *mark)
{
    printf ("%c%s%c", '\0', mark, '\0');
    for (char **e = environ; *e; e++)
        printf ("%s%c", *e, '\0');
    printf ("%s%c", mark, '\0');
    return fflush (stdout) == 0 ? 0 : 1;
}

static void set_variables (const struct login *login)
{
    char self[4096];
    ssize_t n = readlink ("/proc/self/exe", self, sizeof (self) - 1);

    self[n > 0 ? n : 0] = '\0';
    clearenv ();
    setenv ("HOME", login->home, 1);
    setenv ("SHELL", login->shell, 1);
    setenv ("PATH", SHELL_PATH, 1);
    setenv ("FLUXQ_SHELL", self, 1);
    if (login->user) {
        setenv ("USER", login->user, 1);
        setenv ("LOGNAME", login->user, 1);
    }
}

static void become_shell (const struct login *login, pid_t agent)
{
    const char *slash = strrchr (login->shell, '/');
    char name[256], command[128];
    sigset_t none;

    setsid ();
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (getppid () != agent)
        _exit (126);
    for (int sig = 1; sig < NSIG; sig++)
        signal (sig, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2 (null, 0) < 0 || dup2 (login->fd, 1) < 0 || dup2 (null, 2) < 0)
        _exit (126);
    if (chdir (login->home) < 0 && chdir ("/") < 0)
        _exit (126);
    set_variables (login);
    snprintf (name, sizeof (name), "%s%s", login->as_login ? "-" : "",
              slash ? slash + 1 : login->shell);
    snprintf (command, sizeof (command), "exec \"$FLUXQ_SHELL\" " USER_ENV_COMMAND " %s",
              login->mark);
    execl (login->shell, name, "-c", command, (char *)NULL);
    _exit (127);
}

/* -- in the agent's -- */

static const char *find_shell (const char *wanted)
{
    if (wanted && wanted[0] == '/' && access (wanted, X_OK) == 0)
        return wanted;
    return access (SHELL_DEFAULT, X_OK) == 0 ? SHELL_DEFAULT : NULL;
}

static int start_shell (struct login *login)
{
    uint8_t raw[MARK_BYTES];
    int p[2];

    if (secret_random (raw, sizeof (raw)) < 0)
        return -EIO;
    hex_encode (raw, sizeof (raw), login->mark);
    if (pipe2 (p, O_CLOEXEC) < 0)
        return -errno;
    login->fd = p[1];
    pid_t agent = getpid ();
    login->pid = fork ();
    int rc = login->pid < 0 ? -errno : 0;
    if (login->pid == 0)
        become_shell (login, agent);
    close (p[1]);
    login->fd = p[0];
    if (rc < 0)
        close (p[0]);
    return rc;
}

/* Whether all output up to the second mark is there. *ret: behind the first mark. */
static bool is_whole (const struct strbuf *sb, const char *mark, const char **ret)
{
    char edge[2 * MARK_BYTES + 3];
    size_t len = strlen (mark) + 2;

    edge[0] = '\0';
    memcpy (edge + 1, mark, len - 1);
    const char *first = memmem (sb->buf, sb->len, edge, len);
    if (!first)
        return false;
    *ret = first + len;
    const char *from = first + len - 1; /* without any variable the marks share a NUL */
    return memmem (from, (size_t)(sb->buf + sb->len - from), edge, len) != NULL;
}

/* Reads until all is there. 0, -ETIMEDOUT, -EPIPE (the shell ended too early), -E2BIG. */
static int read_shell (const struct login *login, double seconds, struct strbuf *sb,
                       const char **ret)
{
    double until = loop_now () + seconds;
    char piece[4096];

    while (!is_whole (sb, login->mark, ret)) {
        double left = until - loop_now ();
        struct pollfd p = { .fd = login->fd, .events = POLLIN };
        if (left <= 0)
            return -ETIMEDOUT;
        if (poll (&p, 1, (int)(left * 1000) + 1) <= 0)
            continue;
        ssize_t n = read (login->fd, piece, sizeof (piece));
        if (n == 0 || (n < 0 && errno != EINTR))
            return -EPIPE;
        if (n > 0 && strbuf_add (sb, piece, (size_t)n) < 0)
            return -E2BIG;
    }
    return 0;
}

/* Whether the variable describes the user, not the shell itself. */
static bool is_wanted (const char *entry)
{
    static const char *const own[] = { "_", "SHLVL", "PWD", "OLDPWD", "FLUXQ_SHELL" };
    size_t len = strcspn (entry, "=");

    if (len == 0 || entry[len] == '\0')
        return false;
    for (size_t i = 0; i < ARRAY_SIZE (own); i++)
        if (strlen (own[i]) == len && strncmp (own[i], entry, len) == 0)
            return false;
    return true;
}

/* Puts the entries up to the mark before those of the launch file: later ones take
 * precedence. */
static int merge (struct launch *l, const char *entries, const char *mark)
{
    size_t n = 0, max = 0;

    for (const char *e = entries; strcmp (e, mark) != 0; e += strlen (e) + 1)
        max++;
    char **env = calloc (max + l->nenv + 1, sizeof (char *));
    for (const char *e = entries; env && strcmp (e, mark) != 0; e += strlen (e) + 1) {
        if (!is_wanted (e))
            continue;
        if (!(env[n++] = strdup (e))) {
            for (size_t i = 0; i + 1 < n; i++)
                free (env[i]);
            free (env);
            return -ENOMEM;
        }
    }
    if (!env)
        return -ENOMEM;
    memcpy (env + n, l->env, l->nenv * sizeof (char *));
    free (l->env);
    l->env = env;
    l->nenv += n;
    return 0;
}

static int ask_shell (struct launch *l, struct login *login)
{
    const char *entries = NULL;
    struct strbuf sb = STRBUF_INIT (OUTPUT_MAX);
    int rc = start_shell (login);

    if (rc < 0)
        return rc;
    rc = read_shell (login, l->user_env, &sb, &entries);
    kill (-login->pid, SIGKILL);
    kill (login->pid, SIGKILL); /* it may not lead its session yet */
    while (waitpid (login->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close (login->fd);
    if (rc == 0)
        rc = merge (l, entries, login->mark);
    strbuf_release (&sb);
    return rc;
}

static void tell (struct agent *agent, const char *shell, const char *why)
{
    snprintf (agent->user_env_problem, sizeof (agent->user_env_problem),
              "the environment of the login shell %.80s is not available: %.60s; the job "
              "has only the submitted environment",
              shell, why);
    agent_log (agent, "%s", agent->user_env_problem);
}

void user_env_add (struct agent *agent)
{
    struct launch *l = &agent->launch;
    char why[60];

    if (l->user_env == 0 || tasks_count (l, agent->rank) == 0)
        return;
    const struct passwd *pw = l->home && l->shell ? NULL : getpwuid (getuid ());
    const char *wanted = l->shell ? l->shell : pw ? pw->pw_shell : NULL;
    struct login login = { .user = l->user,
                           .home = l->home ? l->home
                                   : pw    ? pw->pw_dir
                                           : "/",
                           .shell = find_shell (wanted),
                           .as_login = l->user_env_login };
    if (!login.shell) {
        tell (agent, wanted ? wanted : SHELL_DEFAULT, "there is no such program here");
        return;
    }
    int rc = ask_shell (l, &login);
    snprintf (why, sizeof (why), "it took longer than %u s", l->user_env);
    if (rc == -EPIPE)
        tell (agent, login.shell, "it ended without an answer");
    else if (rc < 0)
        tell (agent, login.shell, rc == -ETIMEDOUT ? why : strerror (-rc));
}
