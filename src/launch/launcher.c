/* launcher.c - see launcher.h */
#include "launch/launcher.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "common/log.h"
#include "common/userfile.h"
#include "launch/pass.h"
#include "launch/record.h"

#define ANSWER_SECONDS 30
#define IDLE_MAX 16 /* processes that have become a user and wait for its next file */

extern char **environ;

static struct {
    int requests, exits;           /* sockets; -1: there is no launcher */
    uid_t min_uid;
    pthread_mutex_t lock;          /* of a request and its answer, */
    struct launch_request request; /* ... which is built here */
} launcher = { .requests = -1, .exits = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

bool launcher_is_on (void)
{
    return launcher.requests >= 0;
}

/* -- start -- */

#define ARGS_MAX (12 + 2 * 256)

struct arguments {
    const char *argv[ARGS_MAX];
    char owner[16], min_uid[16];
};

static void set_arguments (struct arguments *a, const struct launcher_settings *s)
{
    size_t n = 0;

    snprintf (a->owner, sizeof (a->owner), "%u", (unsigned)s->owner);
    snprintf (a->min_uid, sizeof (a->min_uid), "%u", (unsigned)s->min_uid);
    a->argv[n++] = s->program;
    a->argv[n++] = "--shell";
    a->argv[n++] = s->shell;
    a->argv[n++] = "--owner";
    a->argv[n++] = a->owner;
    a->argv[n++] = "--min-uid";
    a->argv[n++] = a->min_uid;
    for (size_t i = 0; i < ARRAY_SIZE (s->admin) && s->admin[i]; i++) {
        a->argv[n++] = "--admin";
        a->argv[n++] = s->admin[i];
    }
    a->argv[n] = NULL;
}

/* Starts the program with the socket as its descriptor 3. Its own number is moved out of
 * the way first. */
static int spawn (const struct launcher_settings *s, int theirs, struct error *err)
{
    struct arguments a;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all;
    pid_t pid;
    autoclose int high = fcntl (theirs, F_DUPFD_CLOEXEC, 10);

    if (high < 0)
        return error_errno (err, errno, "%s", s->program);
    set_arguments (&a, s);
    sigfillset (&all);
    posix_spawn_file_actions_init (&files);
    posix_spawnattr_init (&attr);
    posix_spawn_file_actions_adddup2 (&files, high, LAUNCH_REQUEST_FD);
    posix_spawnattr_setsigdefault (&attr, &all);
    /* A session of its own: a signal from the terminal ends the broker, which ends it. */
    posix_spawnattr_setflags (&attr, (short)(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
    int rc =
        posix_spawn (&pid, s->program, &files, &attr, (char *const *)a.argv, environ);
    posix_spawnattr_destroy (&attr);
    posix_spawn_file_actions_destroy (&files);
    return rc ? error_errno (err, rc, "%s", s->program) : 0;
}

int launcher_become_owner (const struct launcher_settings *s, struct error *err)
{
    uid_t real, effective, saved;

    if (initgroups (s->name, s->group) < 0)
        return error_errno (err, errno, "user: the groups of %s", s->name);
    if (setresgid (s->group, s->group, s->group) < 0
        || setresuid (s->owner, s->owner, s->owner) < 0
        || getresuid (&real, &effective, &saved) < 0)
        return error_errno (err, errno, "user: cannot become %s", s->name);
    if (real != s->owner || effective != s->owner || saved != s->owner || setuid (0) == 0)
        return error_set (err, EPERM, "user: %s could become root again", s->name);
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_errno (err, errno, "no_new_privs");
    return 0;
}

/* -- requests -- */

static int ask_locked (int fd, struct launch_reply *r, int *ret_fd, struct error *err)
{
    int rc =
        pass_send (launcher.requests, &launcher.request, sizeof (launcher.request), fd);

    if (rc == 0)
        rc = pass_receive (launcher.requests, r, sizeof (*r), ret_fd);
    if (rc == 1)
        return 0;
    return error_set (err, EPIPE, "fluxq-launch does not answer (%s): restart the broker",
                      rc == 0 ? "it has ended" : strerror (-rc));
}

/* fills: builds the request. *ret_fd (or NULL): the descriptor of the answer. */
static int ask (void (*fill) (struct launch_request *q, const void *arg), const void *arg,
                int fd, pid_t *ret_pid, int *ret_fd, struct error *err)
{
    struct launch_reply r = { 0 };
    int got = -1;

    pthread_mutex_lock (&launcher.lock);
    launcher.request = (struct launch_request){ .version = LAUNCH_VERSION };
    fill (&launcher.request, arg);
    int rc = ask_locked (fd, &r, &got, err);
    pthread_mutex_unlock (&launcher.lock);
    r.text[sizeof (r.text) - 1] = '\0';
    if (rc == 0 && r.rc < 0)
        rc = error_set (err, -r.rc, "%s", r.text);
    if (rc == 0 && ret_pid)
        *ret_pid = r.pid;
    if (rc == 0 && ret_fd)
        *ret_fd = got;
    else if (got >= 0)
        close (got);
    return rc;
}

/* -- the connection -- */

static const struct userfile_ways ways;

static void fill_hello (struct launch_request *q, const void *arg)
{
    (void)arg;
    q->op = LAUNCH_HELLO;
}

/* Takes the socket over, in any case. */
static int greet (int requests, struct error *err)
{
    const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
    int exits[2];
    pid_t min_uid = 0;

    if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, exits) < 0) {
        close (requests);
        return error_errno (err, errno, "socketpair");
    }
    setsockopt (requests, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof (limit));
    fcntl (exits[0], F_SETFL, O_NONBLOCK);
    launcher.requests = requests;
    launcher.exits = exits[0];
    int rc = ask (fill_hello, NULL, exits[1], &min_uid, NULL, err);
    close (exits[1]);
    if (rc < 0) {
        close (launcher.requests);
        close (launcher.exits);
        launcher.requests = launcher.exits = -1;
        return rc;
    }
    launcher.min_uid = (uid_t)min_uid;
    userfile_set_ways (&ways);
    return 0;
}

int launcher_start (const struct launcher_settings *s, struct error *err)
{
    int requests[2];

    if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests) < 0)
        return error_errno (err, errno, "socketpair");
    int rc = spawn (s, requests[1], err);
    close (requests[1]);
    if (rc == 0)
        return greet (requests[0], err);
    close (requests[0]);
    return rc;
}

static int connect_to (int fd, const char *path, struct error *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct ucred who = { .uid = (uid_t)-1 };
    socklen_t len = sizeof (who);

    if (strlen (path) >= sizeof (addr.sun_path))
        return error_errno (err, ENAMETOOLONG, "--launch-socket %.200s", path);
    memcpy (addr.sun_path, path, strlen (path) + 1);
    if (connect (fd, (const struct sockaddr *)&addr, sizeof (addr)) < 0)
        return error_errno (err, errno, "--launch-socket %s: start fluxq-launch.socket",
                            path);
    if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.uid != 0)
        return error_set (err, EPERM,
                          "--launch-socket %s: uid %u listens there, not root", path,
                          (unsigned)who.uid);
    return 0;
}

int launcher_connect (const char *path, struct error *err)
{
    int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return error_errno (err, errno, "socket");
    int rc = connect_to (fd, path, err);
    if (rc == 0)
        return greet (fd, err);
    close (fd);
    return rc;
}

uid_t launcher_min_uid (void)
{
    return launcher.min_uid;
}

static void fill_cgroup (struct launch_request *q, const void *arg)
{
    (void)arg;
    q->op = LAUNCH_CGROUP;
}

int launcher_set_cgroup (int dir, struct error *err)
{
    return ask (fill_cgroup, NULL, dir, NULL, NULL, err);
}

/* -- agents -- */

static void fill_agent (struct launch_request *q, const void *arg)
{
    const struct launcher_agent *a = arg;

    q->op = LAUNCH_AGENT;
    q->uid = a->uid;
    q->job = a->job;
    q->attempt = a->attempt;
    q->rank = a->rank;
    snprintf (q->launch, sizeof (q->launch), "%s", a->launch);
    snprintf (q->key, sizeof (q->key), "%s", a->key);
}

int launcher_agent (const struct launcher_agent *a, pid_t *ret_pid, int *ret_pidfd,
                    struct error *err)
{
    if (strlen (a->launch) >= PATH_MAX || strlen (a->key) >= PATH_MAX)
        return error_errno (err, ENAMETOOLONG, "%.200s", a->launch);
    return ask (fill_agent, a, -1, ret_pid, ret_pidfd, err);
}

struct admin {
    const char *program, *variables;
    size_t len;
    int seconds;
};

static void fill_admin (struct launch_request *q, const void *arg)
{
    const struct admin *a = arg;

    q->op = LAUNCH_ADMIN;
    q->signum = a->seconds;
    snprintf (q->launch, sizeof (q->launch), "%s", a->program);
    memcpy (q->key, a->variables, a->len);
}

int launcher_admin (const char *program, int seconds, const char *variables, size_t len,
                    int report, pid_t *ret_pid, int *ret_pidfd, struct error *err)
{
    const struct admin a = { program, variables, len, seconds };

    if (strlen (program) >= PATH_MAX || len >= PATH_MAX - 1)
        return error_set (err, E2BIG, "%.200s: path or variables are too long", program);
    return ask (fill_admin, &a, report, ret_pid, ret_pidfd, err);
}

static void fill_signal (struct launch_request *q, const void *arg)
{
    q->op = LAUNCH_SIGNAL;
    q->signum = *(const int *)arg;
}

int launcher_signal (int pidfd, int signum)
{
    return launcher_is_on () ? ask (fill_signal, &signum, pidfd, NULL, NULL, NULL)
                             : -EPERM;
}

int launcher_exit_fd (void)
{
    return launcher.exits;
}

int launcher_next_exit (pid_t *ret_pid, int *ret_status)
{
    struct launch_exit e;
    int fd;
    int rc = pass_receive (launcher.exits, &e, sizeof (e), &fd);

    if (fd >= 0)
        close (fd);
    if (rc == -EAGAIN)
        return 0;
    if (rc <= 0)
        return -EPIPE;
    *ret_pid = e.pid;
    *ret_status = e.status;
    return 1;
}

/* -- files of users -- */

/* A process that has become the user. */
struct helper {
    struct helper *next;
    int fd;
    uid_t uid;
    struct files_request request;
};

static struct helper *idle_list; /* the newest first */
static size_t nidle;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

static void helper_free (struct helper *h)
{
    if (h && h->fd >= 0)
        close (h->fd);
    free (h);
}

static bool is_alive (const struct helper *h)
{
    char c;

    return recv (h->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static struct helper *take_idle (uid_t uid)
{
    struct helper *found = NULL;

    pthread_mutex_lock (&idle_lock);
    for (struct helper **at = &idle_list; *at && !found; at = found ? at : &(*at)->next) {
        struct helper *h = *at;
        if (h->uid != uid)
            continue;
        *at = h->next;
        found = h;
        nidle--;
    }
    pthread_mutex_unlock (&idle_lock);
    if (found && !is_alive (found)) {
        helper_free (found);
        return NULL;
    }
    return found;
}

static void put_idle (void *handle)
{
    struct helper *h = handle, *oldest = NULL;

    pthread_mutex_lock (&idle_lock);
    h->next = idle_list;
    idle_list = h;
    if (++nidle > IDLE_MAX) {
        struct helper **at = &idle_list;
        while ((*at)->next)
            at = &(*at)->next;
        oldest = *at;
        *at = NULL;
        nidle--;
    }
    pthread_mutex_unlock (&idle_lock);
    helper_free (oldest);
}

static void fill_files (struct launch_request *q, const void *arg)
{
    const struct helper *h = arg;

    q->op = LAUNCH_FILES;
    q->uid = h->uid;
}

static int start_helper (struct helper *h, struct error *err)
{
    int pair[2], pidfd = -1;

    if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno (err, errno, "socketpair");
    h->fd = pair[0];
    int rc = ask (fill_files, h, pair[1], NULL, &pidfd, err);
    close (pair[1]);
    if (pidfd >= 0)
        close (pidfd);
    return rc;
}

/* The groups are looked up by fluxq-launch. */
static int become (uid_t uid, gid_t gid, const gid_t *groups, size_t ngroups, void **ret,
                   struct error *err)
{
    struct helper *h = take_idle (uid);

    (void)gid, (void)groups, (void)ngroups;
    if (!h) {
        if (!(h = malloc (sizeof (*h))))
            return error_no_memory (err, NULL);
        h->fd = -1;
        h->uid = uid;
        int rc = start_helper (h, err);
        if (rc < 0) {
            helper_free (h);
            return rc;
        }
    }
    *ret = h;
    return 0;
}

/* A descriptor (for open), 0, or negative errno. The paths are shorter than PATH_MAX, or
 * the kernel would refuse them, too. */
static int ask_helper (struct helper *h, enum files_op op, const char *cwd,
                       const char *path, int mode, int dir, struct error *err)
{
    struct files_reply r = { 0 };
    int fd = -1;

    if (strlen (cwd) >= PATH_MAX || strlen (path) >= PATH_MAX)
        return error_errno (err, ENAMETOOLONG, "%.200s", path);
    h->request.op = op;
    h->request.mode = mode;
    snprintf (h->request.cwd, PATH_MAX, "%s", cwd);
    snprintf (h->request.path, PATH_MAX, "%s", path);
    int rc = pass_send (h->fd, &h->request, sizeof (h->request), dir);
    if (rc == 0)
        rc = pass_receive (h->fd, &r, sizeof (r), &fd);
    if (rc <= 0)
        return error_set (err, EIO,
                          "%.200s: the process that opens files as uid %u has ended",
                          path, (unsigned)h->uid);
    r.text[sizeof (r.text) - 1] = '\0';
    if (r.rc < 0) {
        if (fd >= 0)
            close (fd);
        return error_set (err, -r.rc, "%s", r.text);
    }
    return fd >= 0 ? fd : 0;
}

static int must_have_fd (int fd, struct error *err)
{
    return fd == 0 ? error_set (err, EIO, "no descriptor came") : fd;
}

static int way_open (void *handle, const char *cwd, const char *path,
                     enum userfile_mode mode, struct error *err)
{
    return must_have_fd (ask_helper (handle, FILES_OPEN, cwd, path, (int)mode, -1, err),
                         err);
}

static int way_check (void *handle, const char *cwd, const char *path, struct error *err)
{
    return ask_helper (handle, FILES_CHECK, cwd, path, 0, -1, err);
}

static int way_open_named (void *handle, int dirfd, const char *path, int flags)
{
    return must_have_fd (ask_helper (handle, FILES_NAMED, "/", path, flags, dirfd, NULL),
                         NULL);
}

static int way_chmod (void *handle, int fd, mode_t mode)
{
    return ask_helper (handle, FILES_MODE, "/", "/", (int)mode, fd, NULL);
}

static const struct userfile_ways ways = { .become = become,
                                           .release = put_idle,
                                           .open = way_open,
                                           .check = way_check,
                                           .open_named = way_open_named,
                                           .chmod = way_chmod };

int launcher_remove_tree (uid_t uid, const char *path, struct error *err)
{
    void *h;
    int rc = become (uid, 0, NULL, 0, &h, err);

    if (rc < 0)
        return rc;
    rc = ask_helper (h, FILES_REMOVE, "/", path, 0, -1, err);
    put_idle (h);
    return rc;
}
