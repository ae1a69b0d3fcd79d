/* main.c - fluxq-launch: the part of the broker that is root
 *
 * fluxqd starts fluxq-launch before it becomes its own user (`user` in fluxq.yaml), or
 * systemd does when a broker that is this user connects. The broker asks it for what needs root: to start an agent or to open files as the user
 * of a job, and to send a signal to such a process. fluxq-launch reads nothing else: no
 * configuration, no file of a user, no network.
 */
#include <config.h>
#include <fcntl.h>
#include <getopt.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/parse.h"
#include "launch/serve.h"

static const char usage[] =
    "usage: fluxq-launch --shell PATH --owner USER [OPTION...]\n"
    "\n"
    "The part of fluxqd that is root. fluxqd or systemd starts it, with a socket as "
    "descriptor 3.\n"
    "\n"
    "  --shell PATH     the agent, fluxq-shell\n"
    "  --owner USER     the broker's user: a name or a uid\n"
    "  --min-uid N      the least uid that may run jobs [1000]\n"
    "  --admin PROGRAM  a prolog or epilog that may run as root; may be given again\n"
    "  --help           this text\n"
    "  --version        the version\n";

static int fail (const char *text)
{
    fprintf (stderr, "fluxq-launch: %s\n", text);
    return 2;
}

static int number (const char *text, const char *what, uint32_t *ret)
{
    struct error err = { 0 };
    int64_t n = 0;
    int rc = parse_int (text, 1, UINT32_MAX - 1, &n, what, &err);

    *ret = (uint32_t)n;
    return rc < 0 ? fail (err.text) : 0;
}

/* A name or a number. */
static int find_owner (const char *text, uint32_t *ret)
{
    const struct passwd *pw = getpwnam (text);

    if (!pw)
        return number (text, "--owner", ret);
    *ret = pw->pw_uid;
    return 0;
}

static int add_admin (struct settings *s, const char *path)
{
    size_t n = 0;

    while (s->admin[n])
        n++;
    if (n == LAUNCH_ADMIN_MAX || path[0] != '/')
        return fail ("--admin: the absolute path of a program, at most 256 times");
    s->admin[n] = path;
    return 0;
}

/* -1: go on; else the exit status. */
static int read_arguments (struct settings *s, int argc, char **argv)
{
    static const struct option options[] = {
        { "shell", required_argument, NULL, 's' },
        { "owner", required_argument, NULL, 'o' },
        { "min-uid", required_argument, NULL, 'm' },
        { "admin", required_argument, NULL, 'A' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    int c, bad = 0;

    while (!bad && (c = getopt_long (argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            s->shell = optarg;
        else if (c == 'o')
            bad = find_owner (optarg, &s->owner);
        else if (c == 'm')
            bad = number (optarg, "--min-uid", &s->min_uid);
        else if (c == 'A')
            bad = add_admin (s, optarg);
        else if (c == 'h' || c == 'V') {
            fputs (c == 'h' ? usage : "fluxq-launch " PACKAGE_VERSION "\n", stdout);
            return 0;
        } else
            bad = 2;
    }
    if (!bad && (optind != argc || !s->shell || s->shell[0] != '/' || !s->owner))
        bad = fail ("--shell (an absolute path) and --owner are needed, and no operands");
    return bad ? bad : -1;
}

/* The other end of the socket is root's (a broker that will become the owner) or the
 * owner's. */
static bool is_brokers (const struct settings *s)
{
    struct ucred who;
    socklen_t len = sizeof (who);
    int type = 0;

    if (getsockopt (LAUNCH_REQUEST_FD, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return false;
    len = sizeof (type);
    return getsockopt (LAUNCH_REQUEST_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET && (who.uid == 0 || who.uid == s->owner);
}

/* Leaves nothing of the caller's environment to the code that is root. */
static int settle (const struct settings *s)
{
    const struct rlimit none = { 0, 0 };

    if (geteuid () != 0)
        return fail ("not root: fluxqd starts it when it is started as root");
    if (!is_brokers (s))
        return fail ("descriptor 3 is not the broker's socket");
    if (clearenv () != 0 || chdir ("/") < 0 || setrlimit (RLIMIT_CORE, &none) < 0
        || prctl (PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl (PR_SET_DUMPABLE, 0) < 0
        || fcntl (LAUNCH_REQUEST_FD, F_SETFD, FD_CLOEXEC) < 0)
        return fail (strerror (errno));
    umask (022);
    return -1;
}

int main (int argc, char **argv)
{
    struct settings s = { .cgroup = -1, .min_uid = 1000 };
    int status = read_arguments (&s, argc, argv);

    if (status < 0)
        status = settle (&s);
    return status < 0 ? serve (&s) : status;
}
