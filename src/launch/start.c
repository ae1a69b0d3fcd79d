/* start.c - a child of fluxq-launch becomes the user; see serve.h */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "launch/serve.h"

static _Noreturn void fail (const char *what)
{
    fprintf (stderr, "fluxq-launch: %s: %s\n", what, strerror (errno));
    _exit (126);
}

/* Joins the job's cgroup, which the broker has made, if there is one. */
static void join_cgroup (const struct settings *s, const struct launch_request *q)
{
    char path[64];
    int fd;

    if (s->cgroup < 0 || q->op != LAUNCH_AGENT)
        return;
    snprintf (path, sizeof (path), "job-%ju-%u/cgroup.procs", (uintmax_t)q->job,
              q->attempt);
    fd = openat (s->cgroup, path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || write (fd, "0", 1) != 1)
        fail (path);
    close (fd);
}

/* The audit system's name of who began all that follows (pam_loginuid(8)); a kernel without
 * audit, or one that fixes the value, has nothing to set. */
static void set_loginuid (uid_t uid)
{
    int fd = open ("/proc/self/loginuid", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    dprintf (fd, "%u", (unsigned)uid);
    close (fd);
}

/* The groups are those of the user database: a list from the broker could name those of
 * administrators. They are set first, as only root may set them. */
static void become (const struct launch_request *q)
{
    uid_t uid = q->uid, real, effective, saved;
    const struct passwd *pw = getpwuid (uid);
    gid_t gid = pw ? pw->pw_gid : 0;

    if (!pw || gid == 0) {
        errno = pw ? EPERM : ENOENT;
        fail ("the user's entry in the user database");
    }
    set_loginuid (uid);
    if (initgroups (pw->pw_name, gid) < 0)
        fail ("initgroups");
    if (setresgid (gid, gid, gid) < 0)
        fail ("setresgid");
    if (setresuid (uid, uid, uid) < 0 || getresuid (&real, &effective, &saved) < 0)
        fail ("setresuid");
    if (real != uid || effective != uid || saved != uid || setuid (0) == 0) {
        errno = EPERM;
        fail ("setresuid");
    }
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        fail ("no_new_privs");
}

static void null_input (void)
{
    int fd = open ("/dev/null", O_RDWR | O_CLOEXEC);

    if (fd < 0 || dup2 (fd, 0) < 0 || dup2 (fd, 1) < 0)
        fail ("/dev/null");
}

static void run_agent (const struct settings *s, const struct launch_request *q)
{
    char rank[16];
    const char *argv[] = { s->shell, "--launch", q->launch, "--key",
                           q->key,   "--rank",   rank,      NULL };
    char *const environment[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL };

    snprintf (rank, sizeof (rank), "%u", q->rank);
    execve (s->shell, (char *const *)argv, environment);
    fail (s->shell);
}

/* The agent's program bounds the time and the output of the administrator's, and ends its
 * processes. */
static void run_admin (const struct settings *s, const struct launch_request *q)
{
    char timeout[16];
    const char *argv[9 + 2 * LAUNCH_VARIABLES_MAX] = {
        s->shell,    "admin-run", "--program", q->launch,
        "--timeout", timeout,     "--report",  "-",
    };
    char *const environment[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL };
    size_t n = 8;

    snprintf (timeout, sizeof (timeout), "%d", q->signum);
    for (const char *v = q->key; *v; v += strlen (v) + 1) {
        argv[n++] = "--set";
        argv[n++] = v;
    }
    execve (s->shell, (char *const *)argv, environment);
    fail (s->shell);
}

_Noreturn void start_child (const struct settings *s, const struct launch_request *q,
                            int fd)
{
    if (setsid () < 0)
        fail ("setsid");
    null_input ();
    if (q->op == LAUNCH_ADMIN) {
        if (dup2 (fd, 1) < 0 || syscall (SYS_close_range, 3, ~0U, 0) < 0)
            fail ("report");
        run_admin (s, q);
    }
    join_cgroup (s, q);
    if (fd >= 0 && (fd = dup2 (fd, LAUNCH_REQUEST_FD)) < 0)
        fail ("dup2");
    become (q);
    if (syscall (SYS_close_range, fd < 0 ? 3 : 4, ~0U, 0) < 0)
        fail ("close_range");
    if (q->op == LAUNCH_AGENT)
        run_agent (s, q);
    umask (022);
    files_serve (fd);
    _exit (0);
}
