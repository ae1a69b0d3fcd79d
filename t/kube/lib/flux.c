/* flux.c - stands in for Flux in the image of t/kube/flux-image: what the Flux operator's pods
 * call of it, with the same meaning, and nothing else
 *
 *     flux R encode ...                          resources: an empty object
 *     flux start [-o] --config DIR -SNAME=VALUE... [COMMAND]
 *     flux broker --config-path DIR -SNAME=VALUE...
 *     flux run|submit [-N N] [-n N] [-c N] [-g N] [--quiet] [--watch] COMMAND     in an instance
 *     flux resource list                         in an instance: the nodes that are there
 *
 * Rank 0 is the first of the hosts in broker.toml; it runs COMMAND when as many ranks are there as
 * broker.quorum says (all, if it does not), and its status is that of `flux start`. Another rank
 * connects to rank 0 within tbon.connect_timeout or ends with 1; it ends with 0 when the instance
 * does. There is no security, no tree and no scheduler: rank 0 hands each task to its node, block
 * by block, and passes on what comes back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT "8050"
#define MESSAGE_MAX (4u << 20)
#define PEERS_MAX 256
#define WORDS_MAX 8192

extern char **environ;

enum { HELLO = 'H', RUN = 'R', TASK = 'T', OUT = 'O', EXIT = 'X', NODES = 'N', BYE = 'B' };

struct message {
    uint32_t len; /* length of data */
    char type;
    char data[MESSAGE_MAX];
};
static struct message in; /* one at a time */

static void die (const char *fmt, ...) __attribute__ ((noreturn, format (printf, 1, 2)));
static void die (const char *fmt, ...)
{
    va_list ap;

    fprintf (stderr, "flux (stand-in): ");
    va_start (ap, fmt);
    vfprintf (stderr, fmt, ap);
    va_end (ap);
    fputc ('\n', stderr);
    exit (1);
}

/* -- messages: length, type, data -- */

static bool write_all (int fd, const void *data, size_t len)
{
    for (const char *p = data; len > 0;) {
        ssize_t n = write (fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool read_all (int fd, void *data, size_t len)
{
    for (char *p = data; len > 0;) {
        ssize_t n = read (fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool put (int fd, char type, const void *data, size_t len)
{
    uint32_t n = (uint32_t)len;
    return write_all (fd, &n, sizeof (n)) && write_all (fd, &type, 1) && write_all (fd, data, len);
}

static bool get (int fd)
{
    return read_all (fd, &in.len, sizeof (in.len)) && in.len < MESSAGE_MAX && read_all (fd, &in.type, 1)
           && read_all (fd, in.data, in.len) && (in.data[in.len] = 0, true);
}

/* Words with a NUL after each. */
struct words {
    char *v[WORDS_MAX];
    size_t n;
};

static void split (struct words *w, char *data, size_t len)
{
    w->n = 0;
    for (char *p = data; p < data + len && w->n < WORDS_MAX - 1; p += strlen (p) + 1)
        w->v[w->n++] = p;
    w->v[w->n] = NULL;
}

static size_t add (char *to, size_t at, const char *word)
{
    size_t len = strlen (word) + 1;
    if (at + len > MESSAGE_MAX)
        die ("too long");
    memcpy (to + at, word, len);
    return at + len;
}

static size_t add_number (char *to, size_t at, long n)
{
    char text[24];
    snprintf (text, sizeof (text), "%ld", n);
    return add (to, at, text);
}

/* -- the instance -- */

struct instance {
    char host[128], prefix[128], service[256]; /* own name; NAME-; suffix of host names */
    long rank, size, quorum;
    double timeout;
    char socket[108];
    char **command;
};

static void read_config (struct instance *f, const char *dir)
{
    char path[512], line[512], *at;
    snprintf (path, sizeof (path), "%s/broker.toml", dir);
    FILE *file = fopen (path, "r");
    if (!file)
        die ("%s: %s", path, strerror (errno));
    while (fgets (line, sizeof (line), file)) {
        long last = 0;
        if ((at = strstr (line, "tcp://%h")) && strstr (line, "connect")) {
            snprintf (f->service, sizeof (f->service), "%s", at + 8);
            f->service[strcspn (f->service, ":")] = 0;
        }
        if ((at = strstr (line, "host=\""))) {
            snprintf (f->prefix, sizeof (f->prefix), "%s", at + 6);
            at = strchr (f->prefix, '[');
            if (!at || (sscanf (at, "[0-%ld", &last) != 1 && strncmp (at, "[0]", 3) != 0))
                die ("%s: hosts are NAME-[0-N]", path);
            *at = 0;
            f->size = last + 1;
        }
    }
    fclose (file);
    if (!f->size)
        die ("%s: no hosts", path);
}

static void read_option (struct instance *f, const char *text)
{
    if (!strncmp (text, "broker.quorum=", 14))
        f->quorum = atol (text + 14);
    else if (!strncmp (text, "tbon.connect_timeout=", 21))
        f->timeout = atof (text + 21);
    else if (!strncmp (text, "local-uri=local://", 18))
        snprintf (f->socket, sizeof (f->socket), "%s", text + 18);
}

static void read_line (struct instance *f, char **argv)
{
    *f = (struct instance){ .timeout = 30 };
    for (; *argv; argv++) {
        if (!strcmp (*argv, "-o"))
            continue; /* the next word is an option of the broker, too */
        if ((!strcmp (*argv, "--config") || !strcmp (*argv, "--config-path")) && argv[1])
            read_config (f, *++argv);
        else if (!strncmp (*argv, "-S", 2))
            read_option (f, *argv + 2);
        else if (**argv == '-')
            die ("%s: not supported here", *argv);
        else
            break;
    }
    f->command = argv;
    gethostname (f->host, sizeof (f->host) - 1);
    if (strncmp (f->host, f->prefix, strlen (f->prefix)) != 0)
        die ("%s is not one of the hosts %s[0-%ld]", f->host, f->prefix, f->size - 1);
    f->rank = atol (f->host + strlen (f->prefix));
    if (!f->quorum)
        f->quorum = f->size;
}

/* -- a rank: runs tasks -- */

struct task {
    pid_t pid;
    int out[2];
    char head[64]; /* "CLIENT\0TASK\0" */
    size_t head_len;
};

static void spawn (struct task *t, struct words *w)
{
    int out[2], err[2];
    long nargs = atol (w->v[4]);

    t->head_len = add (t->head, add (t->head, 0, w->v[0]), w->v[1]);
    if (pipe2 (out, O_CLOEXEC) < 0 || pipe2 (err, O_CLOEXEC) < 0)
        die ("pipe");
    t->pid = fork ();
    if (t->pid == 0) {
        char **env = w->v + 5 + nargs;
        dup2 (out[1], 1);
        dup2 (err[1], 2);
        if (chdir (w->v[3]) < 0 && chdir ("/") < 0)
            _exit (126);
        clearenv ();
        for (; *env; env++)
            putenv (*env);
        setenv ("FLUX_TASK_RANK", w->v[1], 1);
        setenv ("FLUX_JOB_SIZE", w->v[2], 1);
        w->v[5 + nargs] = NULL;
        execvp (w->v[5], w->v + 5);
        dprintf (2, "flux-shell (stand-in): %s: %s\n", w->v[5], strerror (errno));
        _exit (127);
    }
    close (out[1]);
    close (err[1]);
    t->out[0] = out[0];
    t->out[1] = err[0];
}

/* Sends output of the task, or its end. */
static void carry (int up, struct task *t, int which)
{
    char buf[8192 + sizeof (t->head)];
    size_t at = t->head_len;
    int status;

    memcpy (buf, t->head, at);
    buf[at++] = (char)('1' + which);
    ssize_t n = read (t->out[which], buf + at, 8192);
    if (n > 0) {
        put (up, OUT, buf, at + (size_t)n);
        return;
    }
    close (t->out[which]);
    t->out[which] = -1;
    if (t->out[0] >= 0 || t->out[1] >= 0)
        return;
    waitpid (t->pid, &status, 0);
    at = add_number (buf, t->head_len, WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status));
    put (up, EXIT, buf, at);
    t->pid = 0;
}

static int connect_to (const char *host, double timeout)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
    struct timespec pause = { .tv_nsec = 200000000 };
    time_t end = time (NULL) + (time_t)timeout + 1;

    do {
        if (getaddrinfo (host, PORT, &hints, &list) == 0) {
            int fd = socket (list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
            int rc = connect (fd, list->ai_addr, list->ai_addrlen);
            freeaddrinfo (list);
            if (rc == 0)
                return fd;
            close (fd);
        }
        nanosleep (&pause, NULL);
    } while (time (NULL) < end);
    return -1;
}

static int be_rank (long rank, const char *host, double timeout)
{
    static struct task tasks[PEERS_MAX];
    static struct words w;
    char text[24];
    int up = connect_to (host, timeout);

    if (up < 0) {
        fprintf (stderr, "flux (stand-in): %s does not answer\n", host);
        return 1;
    }
    snprintf (text, sizeof (text), "%ld", rank);
    put (up, HELLO, text, strlen (text) + 1);
    while (true) {
        struct pollfd fds[2 * PEERS_MAX + 1] = { { .fd = up, .events = POLLIN } };
        for (size_t i = 0; i < PEERS_MAX; i++)
            for (int j = 0; j < 2; j++)
                fds[1 + 2 * i + (size_t)j] =
                    (struct pollfd){ .fd = tasks[i].pid ? tasks[i].out[j] : -1, .events = POLLIN };
        if (poll (fds, 2 * PEERS_MAX + 1, -1) < 0)
            continue;
        for (size_t i = 0; i < 2 * PEERS_MAX; i++)
            if (fds[1 + i].revents)
                carry (up, &tasks[i / 2], (int)(i % 2));
        if (!fds[0].revents)
            continue;
        if (!get (up))
            return 1;
        if (in.type == BYE)
            return 0;
        size_t i = 0;
        while (i < PEERS_MAX && tasks[i].pid)
            i++;
        split (&w, in.data, in.len);
        if (i < PEERS_MAX && w.n > 5)
            spawn (&tasks[i], &w);
    }
}

/* -- rank 0 of the instance: its ranks, and the clients that request tasks -- */

struct peer {
    int fd; /* 0: none */
    long rank, left;
};
static struct peer peers[PEERS_MAX];

static int rank_fd (long rank)
{
    for (size_t i = 0; i < PEERS_MAX; i++)
        if (peers[i].fd && peers[i].rank == rank)
            return peers[i].fd;
    return -1;
}

static long online (void)
{
    long n = 0;
    while (rank_fd (n) >= 0)
        n++;
    return n;
}

static void refuse (int client, const char *why)
{
    char buf[256];
    size_t at = add (buf, add (buf, 0, "0"), "-");
    at += (size_t)snprintf (buf + at, sizeof (buf) - at, "2flux (stand-in): %s\n", why);
    put (client, OUT, buf, at);
    at = add_number (buf, add (buf, add (buf, 0, "0"), "-"), 1);
    put (client, EXIT, buf, at);
}

/* NODES TASKS CWD NARGS ARGS... ENV...: block by block over the first nodes. */
static void run_tasks (size_t client)
{
    static struct words w;
    static char out[MESSAGE_MAX];

    split (&w, in.data, in.len);
    if (w.n < 5)
        return;
    long nodes = atol (w.v[0]), ntasks = atol (w.v[1]);
    if (nodes > online () || ntasks < nodes) {
        peers[client].left = 1;
        refuse (peers[client].fd, ntasks < nodes ? "fewer tasks than nodes" : "unsatisfiable request");
        return;
    }
    peers[client].left = ntasks;
    for (long t = 0; t < ntasks; t++) {
        size_t at = add_number (out, 0, (long)client);
        at = add_number (out, add_number (out, at, t), ntasks);
        for (size_t i = 2; i < w.n; i++)
            at = add (out, at, w.v[i]);
        put (rank_fd (t * nodes / ntasks), TASK, out, at);
    }
}

static void on_message (size_t i)
{
    char text[24];

    if (in.type == HELLO)
        peers[i].rank = atol (in.data);
    else if (in.type == RUN)
        run_tasks (i);
    else if (in.type == NODES) {
        snprintf (text, sizeof (text), "%ld", online ());
        put (peers[i].fd, NODES, text, strlen (text) + 1);
    } else if (in.type == OUT || in.type == EXIT) {
        long client = atol (in.data);
        if (client >= 0 && client < PEERS_MAX && peers[client].fd)
            put (peers[client].fd, in.type, in.data, in.len);
    }
}

static int listen_tcp (void)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET, .ai_flags = AI_PASSIVE }, *list;
    int on = 1;
    if (getaddrinfo (NULL, PORT, &hints, &list) != 0)
        die ("getaddrinfo");
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof (on));
    if (bind (fd, list->ai_addr, list->ai_addrlen) < 0 || listen (fd, 64) < 0)
        die ("port " PORT ": %s", strerror (errno));
    freeaddrinfo (list);
    return fd;
}

static int unix_socket (const char *path, bool serve)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf (a.sun_path, sizeof (a.sun_path), "%s", path);
    if (serve)
        unlink (path);
    int rc = serve ? bind (fd, (struct sockaddr *)&a, sizeof (a)) : connect (fd, (struct sockaddr *)&a, sizeof (a));
    if (rc < 0 || (serve && listen (fd, 64) < 0))
        die ("%s: %s", path, strerror (errno));
    return fd;
}

static void take (int listener)
{
    int fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);
    for (size_t i = 0; i < PEERS_MAX && fd >= 0; i++)
        if (!peers[i].fd) {
            peers[i] = (struct peer){ .fd = fd, .rank = -1 };
            return;
        }
    close (fd);
}

static pid_t start_command (const struct instance *f)
{
    char uri[128];
    pid_t pid = fork ();
    if (pid != 0)
        return pid;
    snprintf (uri, sizeof (uri), "local://%s", f->socket);
    setenv ("FLUX_URI", uri, 1);
    execvp (f->command[0], f->command);
    fprintf (stderr, "flux (stand-in): %s: %s\n", f->command[0], strerror (errno));
    _exit (127);
}

static int finish (int status)
{
    for (size_t i = 0; i < PEERS_MAX; i++)
        if (peers[i].fd && peers[i].rank >= 0)
            put (peers[i].fd, BYE, "", 0);
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static int lead (const struct instance *f)
{
    int listeners[2] = { listen_tcp (), unix_socket (f->socket, true) }, status;
    pid_t command = 0, own = fork ();

    if (own == 0)
        exit (be_rank (0, "127.0.0.1", 30));
    while (true) {
        struct pollfd fds[PEERS_MAX + 2];
        for (size_t i = 0; i < PEERS_MAX; i++)
            fds[i] = (struct pollfd){ .fd = peers[i].fd ? peers[i].fd : -1, .events = POLLIN };
        for (size_t i = 0; i < 2; i++)
            fds[PEERS_MAX + i] = (struct pollfd){ .fd = listeners[i], .events = POLLIN };
        poll (fds, PEERS_MAX + 2, 100);
        for (size_t i = 0; i < PEERS_MAX; i++) {
            if (!peers[i].fd || !fds[i].revents)
                continue;
            if (get (peers[i].fd)) {
                on_message (i);
                continue;
            }
            close (peers[i].fd);
            peers[i].fd = 0;
        }
        for (size_t i = 0; i < 2; i++)
            if (fds[PEERS_MAX + i].revents)
                take (listeners[i]);
        if (!command && f->command[0] && online () >= f->quorum)
            command = start_command (f);
        if (command && waitpid (command, &status, WNOHANG) == command)
            return finish (status);
    }
}

/* -- commands -- */

static int start (char **argv)
{
    struct instance f;
    char first[512];

    read_line (&f, argv);
    if (f.rank == 0)
        return lead (&f);
    snprintf (first, sizeof (first), "%s0%s", f.prefix, f.service);
    return be_rank (f.rank, first, f.timeout);
}

static int open_instance (void)
{
    const char *uri = getenv ("FLUX_URI");
    if (!uri || strncmp (uri, "local://", 8) != 0)
        die ("FLUX_URI is not set: this is not a Flux instance");
    return unix_socket (uri + 8, false);
}

static long read_number (char ***argv, char letter)
{
    const char *arg = **argv;
    if (arg[1] != letter)
        return -1;
    if (arg[2])
        return atol (arg + 2);
    ++*argv;
    return **argv ? atol (**argv) : -1;
}

/* Passes on the tasks' output until all have ended. */
static int watch (int fd, long ntasks)
{
    int worst = 0;
    while (ntasks > 0 && get (fd)) {
        const char *rest = in.data + strlen (in.data) + 1;
        rest += strlen (rest) + 1;
        if (in.type == OUT)
            write_all (*rest == '2' ? 2 : 1, rest + 1, in.len - (size_t)(rest + 1 - in.data));
        if (in.type != EXIT)
            continue;
        if (atoi (rest) > worst)
            worst = atoi (rest);
        ntasks--;
        if (in.data[strlen (in.data) + 1] == '-') /* no task was started */
            return worst;
    }
    return ntasks > 0 && worst == 0 ? 1 : worst;
}

static int run (char **argv)
{
    static char out[MESSAGE_MAX];
    char cwd[4096];
    long nodes = -1, tasks = -1, n, nargs = 0;

    for (; *argv && **argv == '-'; argv++) {
        if (!strncmp (*argv, "--", 2))
            continue; /* --quiet, --watch */
        if ((n = read_number (&argv, 'N')) > 0)
            nodes = n;
        else if (*argv && (n = read_number (&argv, 'n')) > 0)
            tasks = n;
        else if (!*argv || (read_number (&argv, 'c') < 0 && read_number (&argv, 'g') < 0))
            die ("an option is not supported here");
    }
    tasks = tasks > 0 ? tasks : nodes > 0 ? nodes : 1;
    nodes = nodes > 0 ? nodes : 1;
    while (argv[nargs])
        nargs++;
    if (nargs == 0)
        die ("no command");
    size_t at = add_number (out, add_number (out, 0, nodes), tasks);
    at = add_number (out, add (out, at, getcwd (cwd, sizeof (cwd)) ? cwd : "/"), nargs);
    for (; *argv; argv++)
        at = add (out, at, *argv);
    for (char **env = environ; *env; env++)
        at = add (out, at, *env);
    int fd = open_instance ();
    put (fd, RUN, out, at);
    return watch (fd, tasks);
}

static int resource (void)
{
    int fd = open_instance ();
    if (!put (fd, NODES, "", 0) || !get (fd))
        die ("no answer");
    printf ("     STATE NNODES\n      free %6s\n", in.data);
    return 0;
}

int main (int argc, char **argv)
{
    signal (SIGPIPE, SIG_IGN);
    if (argc > 1 && (!strcmp (argv[1], "start") || !strcmp (argv[1], "broker")))
        return start (argv + 2);
    if (argc > 1 && (!strcmp (argv[1], "run") || !strcmp (argv[1], "submit")))
        return run (argv + 2);
    if (argc > 1 && !strcmp (argv[1], "R"))
        return puts ("{}") < 0;
    if (argc > 1 && !strcmp (argv[1], "resource"))
        return resource ();
    die ("%s: not supported here", argc > 1 ? argv[1] : "no command");
}
