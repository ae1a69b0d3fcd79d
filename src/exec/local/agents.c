/* agents.c - agents as processes of this machine
 *
 * Agents that this broker started are its children (SIGCHLD, waitpid). Agents of an
 * earlier broker are watched by pidfd. They are found by their command line,
 * "fluxq-shell --launch JOBDIR/launch-N ... --rank R", and must belong to the job's
 * user. Until their job adopts them they stay in the list, held by pidfd, so that no
 * other process is taken for one. As a subreaper the broker inherits the orphans of a
 * killed agent: any child that is no agent is such a stray, and is killed with all its
 * descendants.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <dirent.h>
#include <utlist.h>

#include "common/io.h"
#include "common/log.h"
#include "common/parse.h"
#include "exec/local/local.h"

struct agent_process {
    struct agents *a;
    pid_t pid;
    int pidfd; /* for processes that are no children, else -1 */
    uv_poll_t poll;
    agent_exit_f on_exit; /* NULL: nobody waits for it any more */
    void *arg;
    char *launch; /* the launch file of an agent found at the start, until its adoption */
    uint32_t rank;
    uid_t uid;
    bool launched; /* by fluxq-launch, which tells of the end */
    bool polled; /* poll is a handle of the loop */
    bool killed; /* by agents_end_strays(): its guardian has time until the next sweep */
    struct agent_process *prev, *next;
};

struct agents {
    const struct exec_host *host;
    char *jobs_dir;
    uv_signal_t sigchld;
    uv_poll_t exits;  /* of agents that fluxq-launch has started */
    unsigned handles; /* not closed yet */
    struct agent_process *list;
    size_t strays; /* found by the last look; at least 1 if a look is due */
    void (*on_no_strays) (void *arg);
    void *arg;
};

static void closed (uv_handle_t *h)
{
    struct agent_process *p = h->data;
    close (p->pidfd);
    free (p->launch);
    free (p);
}

static void process_free (struct agent_process *p)
{
    DL_DELETE (p->a->list, p);
    if (p->polled) {
        uv_close ((uv_handle_t *)&p->poll, closed);
        return;
    }
    if (p->pidfd >= 0)
        close (p->pidfd);
    free (p->launch);
    free (p);
}

static void process_ended (struct agent_process *p, int status, bool known)
{
    agent_exit_f on_exit = p->on_exit;
    void *arg = p->arg;
    uint32_t rank = p->rank;
    process_free (p);
    if (on_exit)
        on_exit (rank, status, known, arg);
}

static struct agent_process *find (struct agents *a, pid_t pid)
{
    struct agent_process *p;
    DL_FOREACH (a->list, p)
        if (p->pid == pid)
            return p;
    return NULL;
}

static bool is_own (const struct agents *a, pid_t pid)
{
    return a->host->is_own (a->host->arg, pid);
}

/* -- /proc -- */

static void for_each_process (void (*fn) (pid_t pid, void *arg), void *arg)
{
    DIR *dir = opendir ("/proc");
    struct dirent *d;
    int64_t pid;

    while (dir && (d = readdir (dir)))
        if (parse_int (d->d_name, 2, INT32_MAX, &pid, "pid", NULL) == 0)
            fn ((pid_t)pid, arg);
    if (dir)
        closedir (dir);
}

/* Reads /proc/PID/NAME, NUL-terminated; returns the length or -1. */
static ssize_t read_proc (pid_t pid, const char *name, char *buf, size_t size)
{
    char path[64];
    snprintf (path, sizeof (path), "/proc/%d/%s", (int)pid, name);
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : io_read_all (fd, buf, size - 1);
    if (n >= 0)
        buf[n] = '\0';
    return n;
}

struct member {
    pid_t pid, parent, session;
    uint64_t begin; /* start time: no other process of this number has the same */
    bool zombie;
    bool below; /* matches, or descends from a match */
};

struct tree {
    struct member *list;
    size_t n, alloc;
};

/* Fields 3, 4, 6 and 22 of /proc/PID/stat, behind the command's name in parentheses. */
static bool read_stat (pid_t pid, struct member *m)
{
    char buf[512], state;
    if (read_proc (pid, "stat", buf, sizeof (buf)) <= 0)
        return false;
    const char *end = strrchr (buf, ')');
    if (!end
        || sscanf (end + 1,
                   " %c %d %*d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                   "%*s %" SCNu64,
                   &state, &m->parent, &m->session, &m->begin)
               != 4)
        return false;
    m->zombie = state == 'Z' || state == 'X';
    return true;
}

static void tree_add (pid_t pid, void *arg)
{
    struct tree *t = arg;
    struct member m = { .pid = pid };

    if (!read_stat (pid, &m))
        return;
    if (t->n == t->alloc) {
        size_t alloc = t->alloc ? 2 * t->alloc : 1024;
        struct member *list = realloc (t->list, alloc * sizeof (*list));
        if (!list)
            return;
        t->list = list;
        t->alloc = alloc;
    }
    t->list[t->n++] = m;
}

static int cmp_pid (const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int tree_read (struct tree *t)
{
    for_each_process (tree_add, t);
    if (t->n > 0)
        qsort (t->list, t->n, sizeof (*t->list), cmp_pid);
    return t->n > 0 ? 0 : -ENOMEM;
}

static bool is_below (const struct tree *t, pid_t parent)
{
    const struct member like = { .pid = parent };
    const struct member *p = bsearch (&like, t->list, t->n, sizeof (like), cmp_pid);
    return p && p->below;
}

int process_signal (int pidfd, int signum)
{
    if (syscall (SYS_pidfd_send_signal, pidfd, signum, NULL, 0) == 0)
        return 0;
    return errno == EPERM ? launcher_signal (pidfd, signum) : -errno;
}

/* Sends SIGKILL, unless the process has ended and another one has its number by now. */
static void kill_member (const struct member *m)
{
    autoclose int fd = (int)syscall (SYS_pidfd_open, m->pid, 0);
    struct member now;

    if (fd >= 0 && read_stat (m->pid, &now) && now.begin == m->begin)
        process_signal (fd, SIGKILL);
}

/* Sends SIGKILL to matching processes and their descendants. Repeats the search until no
 * new one is found, since a child's number may be less than its parent's. Ends t. */
static void tree_kill (struct tree *t)
{
    bool more = t->n > 0;

    while (more) {
        more = false;
        for (size_t i = 0; i < t->n; i++)
            if (!t->list[i].below && is_below (t, t->list[i].parent))
                t->list[i].below = more = true;
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].below && !t->list[i].zombie)
            kill_member (&t->list[i]);
    free (t->list);
}

static bool session_is_below (const struct tree *t, pid_t session)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].below && t->list[i].session == session)
            return true;
    return false;
}

size_t processes_kill (bool (*is_meant) (pid_t pid, void *arg), void *arg)
{
    struct tree t = { 0 };
    size_t n = 0;

    tree_read (&t);
    for (size_t i = 0; i < t.n; i++)
        if (!t.list[i].zombie && is_meant (t.list[i].pid, arg)) {
            t.list[i].below = true;
            n++;
        }
    for (size_t i = 0; n > 0 && i < t.n; i++)
        if (t.list[i].session > 1 && session_is_below (&t, t.list[i].session))
            t.list[i].below = true;
    tree_kill (&t);
    return n;
}

/* -- those that end -- */

/* Kills our children that are no agents. We inherit their children when they are dead:
 * all are killed at once, since one after the other takes long. */
static void kill_strays (struct agents *a)
{
    struct tree t = { 0 };

    if (tree_read (&t) < 0)
        return; /* the end is not known: its waiter has a time limit */
    a->strays = 0;
    for (size_t i = 0; i < t.n; i++) {
        struct member *m = &t.list[i];
        if (m->parent != getpid () || find (a, m->pid) || is_own (a, m->pid))
            continue;
        m->below = true;
        a->strays++;
        if (!m->zombie)
            log_info ("process %d outlived its agent and is ended", (int)m->pid);
    }
    tree_kill (&t);
}

bool agent_cleared_away (int status)
{
    return WIFEXITED (status) && WEXITSTATUS (status) != 1;
}

bool agents_strays (const struct agents *a)
{
    return a->strays > 0;
}

/* If a look finds no stray, there are none: each stray has an ancestor that is our child,
 * perhaps a zombie, until the look is over. */
static void reap (struct agents *a)
{
    int status;
    pid_t pid;
    bool look = false;

    while ((pid = waitpid (-1, &status, WNOHANG)) > 0) {
        struct agent_process *p = find (a, pid);
        if (!p && is_own (a, pid))
            continue;
        if (!p || !agent_cleared_away (status)) {
            look = true;
            a->strays = MAX (a->strays, 1u);
        }
        if (p)
            process_ended (p, status, true);
    }
    if (!look)
        return;
    kill_strays (a);
    if (a->strays == 0)
        a->on_no_strays (a->arg);
}

static void on_sigchld (uv_signal_t *h, int signum)
{
    (void)signum;
    reap (h->data);
}

/* -- agents of an earlier broker -- */

/* Returns the word after `option` in a command line of NUL-terminated words. */
static const char *word_after (const char *words, size_t len, const char *option)
{
    bool next = false;
    for (size_t i = 0; i < len; i += strlen (words + i) + 1) {
        if (next)
            return words + i;
        next = !strcmp (words + i, option);
    }
    return NULL;
}

/* Returns the real uid from the status of the process: its files in /proc belong to root
 * (an agent is not dumpable). */
static int uid_of (pid_t pid, uid_t *ret)
{
    char text[4096];
    unsigned uid;
    const char *line = read_proc (pid, "status", text, sizeof (text)) > 0
                           ? strstr (text, "\nUid:")
                           : NULL;
    if (!line || sscanf (line, " Uid: %u", &uid) != 1)
        return -ESRCH;
    *ret = (uid_t)uid;
    return 0;
}

/* Returns the number behind JOBS_DIR/ in the launch file's path; 0: it is no job of this
 * broker. */
static uint64_t job_of (const struct agents *a, const char *launch)
{
    size_t len = strlen (a->jobs_dir);
    if (strncmp (launch, a->jobs_dir, len) != 0 || launch[len] != '/')
        return 0;
    return strtoull (launch + len + 1, NULL, 10);
}

/* Agents of other brokers are left out: each one in the list takes a descriptor. */
static void note_agent (pid_t pid, void *arg)
{
    struct agents *a = arg;
    char words[4096];
    int64_t rank;
    uid_t uid;
    ssize_t n = read_proc (pid, "cmdline", words, sizeof (words));

    if (n <= 0)
        return;
    const char *base = strrchr (words, '/');
    const char *launch = word_after (words, (size_t)n, "--launch");
    const char *number = word_after (words, (size_t)n, "--rank");
    if (strcmp (base ? base + 1 : words, "fluxq-shell") != 0 || !launch || !number
        || job_of (a, launch) == 0
        || parse_int (number, 0, INT32_MAX, &rank, "rank", NULL) < 0
        || uid_of (pid, &uid) < 0)
        return;
    struct agent_process *p = calloc (1, sizeof (*p));
    if (!p || !(p->launch = strdup (launch))
        || (p->pidfd = (int)syscall (SYS_pidfd_open, pid, 0)) < 0) {
        if (p)
            free (p->launch);
        free (p);
        return;
    }
    fcntl (p->pidfd, F_SETFD, FD_CLOEXEC);
    p->a = a;
    p->pid = pid;
    p->rank = (uint32_t)rank;
    p->uid = uid;
    DL_APPEND (a->list, p);
}

static void send_signal (const struct agent_process *p, int signum)
{
    if (p->pidfd >= 0)
        process_signal (p->pidfd, signum);
    else
        kill (p->pid, signum);
}

static bool runs (const struct agent_process *p)
{
    return syscall (SYS_pidfd_send_signal, p->pidfd, 0, NULL, 0) == 0 || errno == EPERM;
}

static void pidfd_ready (uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    process_ended (poll->data, 0, false);
}

static bool is_of (const struct agent_process *p, const char *launch_path, uid_t uid)
{
    /* root: found before it took its user's identity */
    return p->launch && (p->uid == uid || p->uid == 0)
           && !strcmp (p->launch, launch_path);
}

bool agents_running (const struct agents *a, const char *launch_path, uid_t uid)
{
    const struct agent_process *p;
    DL_FOREACH (a->list, p)
        if (is_of (p, launch_path, uid) && p->rank == 0 && runs (p))
            return true;
    return false;
}

size_t agents_adopt (struct agents *a, const char *launch_path, uid_t uid,
                     agent_exit_f on_exit, void *arg)
{
    struct agent_process *p, *next;
    size_t n = 0;

    DL_FOREACH_SAFE (a->list, p, next)
    {
        if (!is_of (p, launch_path, uid))
            continue;
        if (!runs (p)) {
            process_free (p);
            continue;
        }
        free (p->launch);
        p->launch = NULL;
        uv_poll_init (a->host->loop, &p->poll, p->pidfd);
        p->polled = true;
        p->poll.data = p;
        uv_poll_start (&p->poll, UV_READABLE, pidfd_ready);
        p->on_exit = on_exit;
        p->arg = arg;
        n++;
    }
    return n;
}

void agents_end (struct agents *a, const char *launch_path, uid_t uid)
{
    struct agent_process *p, *next;
    DL_FOREACH_SAFE (a->list, p, next)
    {
        if (!is_of (p, launch_path, uid))
            continue;
        send_signal (p, SIGKILL);
        process_free (p);
    }
}

/* -- the end of agents that are no children -- */

/* Kills the processes of the agent. Kills the guardian, which inherits their orphans,
 * only if it has none left. */
static void kill_below (struct agent_process *p)
{
    struct tree t = { 0 };
    bool any = false;

    if (runs (p) && tree_read (&t) == 0)
        for (size_t i = 0; i < t.n; i++)
            if (t.list[i].parent == p->pid)
                t.list[i].below = any = true;
    send_signal (p, any ? SIGCONT : SIGKILL);
    tree_kill (&t);
}

void agents_kill (struct agents *a, const void *arg)
{
    struct agent_process *p;
    DL_FOREACH (a->list, p) {
        if (p->arg != arg || !p->on_exit)
            continue;
        if (p->pidfd >= 0 && !p->launched)
            kill_below (p);
        else
            send_signal (p, SIGKILL);
    }
}

void agents_end_strays (struct agents *a, const uint64_t *live, size_t nlive)
{
    struct agent_process *p, *next;

    DL_FOREACH_SAFE (a->list, p, next)
    {
        if (!p->launch)
            continue;
        uint64_t id = job_of (a, p->launch);
        if (bsearch (&id, live, nlive, sizeof (id), compare_u64))
            continue; /* waits for its adoption */
        if (runs (p) && !p->killed) {
            log_info ("agent %d belongs to no job that runs and is ended", (int)p->pid);
            p->killed = true;
            kill_below (p);
            continue;
        }
        if (runs (p))
            send_signal (p, SIGKILL);
        process_free (p);
    }
}

/* -- start and end -- */

int agents_spawn (struct agents *a, char *const argv[], uint32_t rank,
                  agent_exit_f on_exit, void *arg, struct error *err)
{
    static char *const environment[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin",
                                         NULL };
    struct agent_process *p = calloc (1, sizeof (*p));
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;

    if (!p)
        return error_set (err, ENOMEM, "out of memory");
    sigfillset (&all);
    sigemptyset (&none);
    posix_spawn_file_actions_init (&files);
    posix_spawn_file_actions_addopen (&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen (&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2 (&files, 2, 2);
    posix_spawnattr_init (&attr);
    posix_spawnattr_setsigdefault (&attr, &all);
    posix_spawnattr_setsigmask (&attr, &none);
    posix_spawnattr_setflags (
        &attr,
        (short)(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID));
    int rc = posix_spawn (&p->pid, argv[0], &files, &attr, argv, environment);
    posix_spawnattr_destroy (&attr);
    posix_spawn_file_actions_destroy (&files);
    if (rc != 0) {
        free (p);
        return error_errno (err, rc, "%s", argv[0]);
    }
    p->a = a;
    p->pidfd = -1;
    p->rank = rank;
    p->on_exit = on_exit;
    p->arg = arg;
    DL_APPEND (a->list, p);
    return 0;
}

/* p: with pid and pidfd of fluxq-launch's. */
static void launched (struct agents *a, struct agent_process *p, uint32_t rank,
                      agent_exit_f on_exit, void *arg)
{
    p->a = a;
    p->launched = true;
    p->rank = rank;
    p->on_exit = on_exit;
    p->arg = arg;
    DL_APPEND (a->list, p);
}

int agents_launch (struct agents *a, const struct launcher_agent *agent,
                   agent_exit_f on_exit, void *arg, struct error *err)
{
    struct agent_process *p = calloc (1, sizeof (*p));
    int rc =
        p ? launcher_agent (agent, &p->pid, &p->pidfd, err) : error_no_memory (err, NULL);

    if (rc < 0)
        free (p);
    else
        launched (a, p, agent->rank, on_exit, arg);
    return rc;
}

int agents_launch_admin (struct agents *a, const char *program, int seconds,
                         const struct strbuf *variables, int report, uint32_t rank,
                         agent_exit_f on_exit, void *arg, struct error *err)
{
    struct agent_process *p = calloc (1, sizeof (*p));
    int rc = p ? launcher_admin (program, seconds, variables->buf, variables->len, report,
                                 &p->pid, &p->pidfd, err)
               : error_no_memory (err, NULL);

    if (rc < 0)
        free (p);
    else
        launched (a, p, rank, on_exit, arg);
    return rc;
}

/* Without fluxq-launch no job can start or be ended: whoever has started the broker starts
 * both again, and running jobs go on. */
static void on_exits (uv_poll_t *h, int status, int events)
{
    struct agents *a = h->data;
    pid_t pid;
    int wait_status, rc;

    (void)status, (void)events;
    while ((rc = launcher_next_exit (&pid, &wait_status)) > 0) {
        struct agent_process *p = find (a, pid);
        if (p)
            process_ended (p, wait_status, true);
    }
    if (rc < 0) {
        log_error ("fluxq-launch has ended: the broker stops; restart it");
        uv_poll_stop (h);
        raise (SIGTERM);
    }
}

static bool is_agent (const struct agent_process *p, const void *arg)
{
    return p->arg == arg && p->on_exit;
}

bool agents_have (const struct agents *a, const void *arg, uint32_t first, uint32_t last)
{
    const struct agent_process *p;
    DL_FOREACH (a->list, p)
        if (is_agent (p, arg) && p->rank >= first && p->rank <= last)
            return true;
    return false;
}

void agents_signal (struct agents *a, const void *arg, uint32_t first, int signum)
{
    struct agent_process *p;
    DL_FOREACH (a->list, p)
        if (is_agent (p, arg) && p->rank >= first)
            send_signal (p, signum);
}

void agents_forget (struct agents *a, const void *arg)
{
    struct agent_process *p;
    DL_FOREACH (a->list, p)
        if (p->arg == arg)
            p->on_exit = NULL;
}

struct agents *agents_create (const struct exec_host *host,
                              void (*on_no_strays) (void *arg), void *arg,
                              struct error *err)
{
    struct agents *a = calloc (1, sizeof (*a));
    if (!a || asprintf (&a->jobs_dir, "%s/jobs", host->state_dir) < 0) {
        free (a);
        return error_null (error_set (err, ENOMEM, "out of memory"));
    }
    a->host = host;
    a->on_no_strays = on_no_strays;
    a->arg = arg;
    if (prctl (PR_SET_CHILD_SUBREAPER, 1) < 0)
        log_warning ("cannot become a subreaper: processes of a killed agent may "
                     "survive");
    uv_signal_init (host->loop, &a->sigchld);
    a->sigchld.data = a;
    uv_signal_start (&a->sigchld, on_sigchld, SIGCHLD);
    a->handles = 1;
    if (launcher_is_on ()) {
        uv_poll_init (host->loop, &a->exits, launcher_exit_fd ());
        a->exits.data = a;
        uv_poll_start (&a->exits, UV_READABLE, on_exits);
        a->handles++;
    }
    for_each_process (note_agent, a);
    return a;
}

static void agents_free (uv_handle_t *h)
{
    struct agents *a = h->data;

    if (--a->handles > 0)
        return;
    free (a->jobs_dir);
    free (a);
}

void agents_destroy (struct agents *a)
{
    struct agent_process *p, *next;
    if (!a)
        return;
    DL_FOREACH_SAFE (a->list, p, next)
    process_free (p);
    if (a->handles > 1)
        uv_close ((uv_handle_t *)&a->exits, agents_free);
    uv_close ((uv_handle_t *)&a->sigchld, agents_free);
}
