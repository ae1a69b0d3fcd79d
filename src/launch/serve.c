/* serve.c - fluxq-launch's loop: requests of the broker, and ended children
 *
 * The children are agents, and processes that open files. As a subreaper fluxq-launch also
 * inherits the orphans of a killed agent: a child that it did not start is such an orphan and
 * is killed. The end of an agent that left orphans is told when the last of them is gone.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/parse.h"
#include "launch/pass.h"
#include "launch/serve.h"

#define ORPHANS_MS 50        /* between two looks */
#define ORPHANS_SECONDS 10.0 /* a process in the kernel may not die */

struct child {
    struct child *next;
    pid_t pid;
    int status;
    bool is_agent, is_admin, ended;
    bool unclean; /* its orphans must end before its end is told, */
    double since; /* ... or ORPHANS_SECONDS after its end */
};

struct server {
    struct settings *settings;
    int exits; /* socket for launch_exit; -1 before LAUNCH_HELLO */
    struct child *children;
    bool orphans; /* a look for them is due */
};

/* -- refusals -- */

static int refuse (struct launch_reply *r, int errnum, const char *text)
{
    r->rc = -errnum;
    snprintf (r->text, sizeof (r->text), "%s", text);
    return -errnum;
}

static bool is_terminated (const char text[PATH_MAX])
{
    return memchr (text, '\0', PATH_MAX) != NULL;
}

static int may_become (const struct settings *s, const struct launch_request *q,
                       struct launch_reply *r)
{
    char text[LAUNCH_TEXT_MAX];

    if (q->uid >= s->min_uid && q->uid != s->owner && q->uid < UINT32_MAX)
        return 0;
    snprintf (text, sizeof (text),
              "fluxq-launch runs nothing for uid %u: users from uid %u on may run jobs "
              "(min-uid in fluxq.yaml)",
              q->uid, s->min_uid);
    return refuse (r, EPERM, text);
}

/* The variables are NAME=VALUE, each with a NUL behind it, up to an empty one: FLUXQ_ names
 * alone, as others change what a program of root's does. */
static int check_admin (const struct settings *s, const struct launch_request *q,
                        struct launch_reply *r)
{
    size_t i = 0, n = 0;

    while (s->admin[i] && strcmp (s->admin[i], q->launch) != 0)
        i++;
    if (!s->admin[i])
        return refuse (r, EPERM,
                       "fluxq-launch may not run this program as root: restart the "
                       "broker after a change of prolog or epilog, or name it with "
                       "--admin in the unit of fluxq-launch");
    /* The last variable and the list end within the record. */
    if (q->key[PATH_MAX - 1] || q->key[PATH_MAX - 2])
        return refuse (r, EINVAL, "variables without an end");
    for (const char *v = q->key; *v; v += strlen (v) + 1)
        if (++n > LAUNCH_VARIABLES_MAX || strncmp (v, "FLUXQ_", 6) != 0
            || !strchr (v, '='))
            return refuse (r, EINVAL, "not a valid variable of a prolog or epilog");
    return q->signum > 0 ? 0 : refuse (r, EINVAL, "a time limit is needed");
}

static int check_request (const struct settings *s, const struct launch_request *q,
                          int fd, struct launch_reply *r)
{
    if (q->version != LAUNCH_VERSION)
        return refuse (r, EPROTO, "fluxq-launch and fluxqd are of different versions");
    if (q->op == LAUNCH_SIGNAL)
        return fd < 0 ? refuse (r, EINVAL, "a signal without a process") : 0;
    if (q->op == LAUNCH_HELLO || q->op == LAUNCH_CGROUP)
        return fd < 0 ? refuse (r, EINVAL, "a descriptor is missing") : 0;
    if (q->op != LAUNCH_AGENT && q->op != LAUNCH_FILES && q->op != LAUNCH_ADMIN)
        return refuse (r, EINVAL, "not a request");
    if (!is_terminated (q->launch) || !is_terminated (q->key)
        || (q->op != LAUNCH_AGENT) != (fd >= 0))
        return refuse (r, EINVAL, "not a valid request");
    return q->op == LAUNCH_ADMIN ? check_admin (s, q, r) : may_become (s, q, r);
}

/* -- processes -- */

static struct child *find (const struct server *v, pid_t pid)
{
    struct child *c = v->children;

    while (c && c->pid != pid)
        c = c->next;
    return c;
}

/* The number behind the label, in a file of /proc with one value a line; -1: unknown. */
static int64_t number_behind (const char *path, const char *label)
{
    FILE *f = fopen (path, "re");
    char line[256];
    int64_t n = -1;

    while (f && n < 0 && fgets (line, sizeof (line), f))
        if (!strncmp (line, label, strlen (label)))
            n = strtoll (line + strlen (label), NULL, 10);
    if (f)
        fclose (f);
    return n;
}

/* Sends the signal as the user of the process, so the kernel decides; the pidfd names the
 * process also if its number is used again. */
static void send_signal (const struct server *v, int pidfd, int signum,
                         struct launch_reply *r)
{
    const struct settings *s = v->settings;
    const struct child *c;
    char path[64];
    int64_t pid, uid;

    snprintf (path, sizeof (path), "/proc/self/fdinfo/%d", pidfd);
    pid = number_behind (path, "Pid:");
    if (pid <= 1) {
        refuse (r, ESRCH, "the process has ended");
        return;
    }
    c = find (v, (pid_t)pid);
    if (c && c->is_admin) {
        kill (c->pid, signum);
        return;
    }
    snprintf (path, sizeof (path), "/proc/%d/status", (int)pid);
    uid = number_behind (path, "Uid:");
    if (uid < (int64_t)s->min_uid || uid == (int64_t)s->owner) {
        refuse (r, EPERM, "not a process of a user who may run jobs");
        return;
    }
    if (seteuid ((uid_t)uid) < 0
        || syscall (SYS_pidfd_send_signal, pidfd, signum, NULL, 0) < 0)
        refuse (r, errno, strerror (errno));
    if (seteuid (0) < 0)
        abort ();
}

static void reset_signals (void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal (i, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
}

/* Returns the new process's pidfd, or -1 and the reply has the reason. */
static int start (struct server *v, const struct launch_request *q, int fd,
                  struct launch_reply *r)
{
    struct child *c = calloc (1, sizeof (*c));
    int pidfd;

    if (!c || (c->pid = fork ()) < 0) {
        refuse (r, c ? errno : ENOMEM, c ? strerror (errno) : "out of memory");
        free (c);
        return -1;
    }
    if (c->pid == 0) {
        reset_signals ();
        start_child (v->settings, q, fd);
    }
    c->is_admin = q->op == LAUNCH_ADMIN;
    c->is_agent = q->op == LAUNCH_AGENT || c->is_admin;
    c->next = v->children;
    v->children = c;
    r->pid = c->pid;
    pidfd = (int)syscall (SYS_pidfd_open, c->pid, 0);
    if (pidfd < 0) {
        refuse (r, errno, "no descriptor of the new process can be had");
        kill (c->pid, SIGKILL);
    }
    return pidfd;
}

/* -- the broker's descriptors -- */

static bool is_socket (int fd)
{
    int type = 0;
    socklen_t len = sizeof (type);

    return getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET;
}

static int keep (int *ret, int fd, struct launch_reply *r)
{
    int copy = *ret < 0 ? fcntl (fd, F_DUPFD_CLOEXEC, LAUNCH_REQUEST_FD + 1) : -1;

    if (*ret >= 0)
        return refuse (r, EEXIST, "asked for the second time");
    if (copy < 0)
        return refuse (r, errno, strerror (errno));
    *ret = copy;
    return 0;
}

static void greet (struct server *v, int fd, struct launch_reply *r)
{
    if (!is_socket (fd))
        refuse (r, EINVAL, "not a socket for records");
    else if (keep (&v->exits, fd, r) == 0)
        r->pid = (int32_t)v->settings->min_uid;
}

/* A directory of a cgroup file system, where no user can make links. */
static void set_cgroup (struct server *v, int fd, struct launch_reply *r)
{
    struct statfs fs;
    struct stat st;

    if (fstat (fd, &st) < 0 || !S_ISDIR (st.st_mode) || fstatfs (fd, &fs) < 0
        || (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC))
        refuse (r, EINVAL, "not a directory of a cgroup file system");
    else
        keep (&v->settings->cgroup, fd, r);
}

/* False: the broker has gone. */
static bool serve_request (struct server *v)
{
    static struct launch_request q;
    struct launch_reply r = { 0 };
    int fd, pidfd = -1;
    int rc = pass_receive (LAUNCH_REQUEST_FD, &q, sizeof (q), &fd);

    if (rc == 0 || (rc < 0 && rc != -EBADMSG))
        return false;
    if (rc < 0)
        refuse (&r, EPROTO, "fluxq-launch and fluxqd are of different versions");
    else if (check_request (v->settings, &q, fd, &r) == 0) {
        if (q.op == LAUNCH_HELLO)
            greet (v, fd, &r);
        else if (q.op == LAUNCH_CGROUP)
            set_cgroup (v, fd, &r);
        else if (q.op == LAUNCH_SIGNAL)
            send_signal (v, fd, q.signum, &r);
        else
            pidfd = start (v, &q, fd, &r);
    }
    if (fd >= 0)
        close (fd);
    rc = pass_send (LAUNCH_REQUEST_FD, &r, sizeof (r), pidfd);
    if (pidfd >= 0)
        close (pidfd);
    return rc == 0;
}

/* -- ended children -- */

/* An agent that ends by itself with another status than 1 has ended its job's processes. */
static bool cleared_away (int status)
{
    return WIFEXITED (status) && WEXITSTATUS (status) != 1;
}

static void reap (struct server *v)
{
    int status;
    pid_t pid;

    while ((pid = waitpid (-1, &status, WNOHANG)) > 0) {
        struct child *c = find (v, pid);
        if (!c) {
            v->orphans = true;
            continue;
        }
        c->ended = true;
        c->since = clock_mono ();
        c->status = status;
        c->unclean = c->is_agent && !c->is_admin && !cleared_away (status);
        v->orphans |= c->unclean;
    }
}

/* Kills the children that fluxq-launch did not start; their children come to it then.
 * Returns whether there were any. */
static bool kill_orphans (const struct server *v)
{
    DIR *dir = opendir ("/proc");
    struct dirent *d;
    char path[64];
    bool any = false;

    while (dir && (d = readdir (dir))) {
        int64_t pid;
        if (parse_int (d->d_name, 2, INT32_MAX, &pid, "pid", NULL) < 0)
            continue;
        snprintf (path, sizeof (path), "/proc/%d/status", (int)pid);
        if (number_behind (path, "PPid:") != getpid () || find (v, (pid_t)pid))
            continue;
        any = true;
        kill ((pid_t)pid, SIGKILL);
    }
    if (dir)
        closedir (dir);
    return any;
}

/* Tells the broker of ended agents and forgets them. The rest waits while the socket is
 * full. */
static void tell_ends (struct server *v)
{
    struct child **at = &v->children;

    while (*at) {
        struct child *c = *at;
        struct launch_exit e = { c->pid, c->status };
        bool waits =
            c->unclean && v->orphans && clock_mono () - c->since < ORPHANS_SECONDS;
        if (!c->ended || waits
            || (c->is_agent
                && send (v->exits, &e, sizeof (e), MSG_DONTWAIT | MSG_NOSIGNAL) < 0
                && errno == EAGAIN)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free (c);
    }
}

static void forget_all (struct server *v)
{
    while (v->children) {
        struct child *c = v->children;
        v->children = c->next;
        free (c);
    }
}

static bool any_ended (const struct server *v)
{
    const struct child *c = v->children;

    while (c && !c->ended)
        c = c->next;
    return c != NULL;
}

int serve (struct settings *s)
{
    struct server v = { .settings = s, .exits = -1 };
    sigset_t set;

    sigemptyset (&set);
    sigaddset (&set, SIGCHLD);
    sigprocmask (SIG_BLOCK, &set, NULL);
    int signals = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return 1;
    for (;;) {
        struct pollfd fds[] = { { LAUNCH_REQUEST_FD, POLLIN, 0 },
                                { signals, POLLIN, 0 } };
        struct signalfd_siginfo info;
        if (poll (fds, 2, v.orphans || any_ended (&v) ? ORPHANS_MS : -1) < 0
            && errno != EINTR)
            return 1;
        if (fds[0].revents && !serve_request (&v)) {
            forget_all (&v);
            return 0;
        }
        while (read (signals, &info, sizeof (info)) > 0)
            continue;
        reap (&v);
        if (v.orphans)
            v.orphans = kill_orphans (&v);
        tell_ends (&v);
    }
}
