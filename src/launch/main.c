/* main.c - fluxq-launch: the part of the broker that is root
 *
 * fluxqd starts fluxq-launch before it becomes its own user (`user` in fluxq.yaml), with two
 * sockets, and asks it for what needs root: to start an agent or to open files as the user
 * of a job, and to send a signal to such a process. fluxq-launch reads nothing else: no
 * configuration, no file of a user, no network.
 */
#include <config.h>
#include <fcntl.h>
#include <getopt.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <linux/magic.h>

#include "common/parse.h"
#include "launch/serve.h"

static const char usage[] = "usage: fluxq-launch --shell PATH --owner UID [OPTION...]\n"
                            "\n"
                            "The part of fluxqd that is root. fluxqd starts it, with "
                            "sockets as descriptors 3 and 4.\n"
                            "\n"
                            "  --shell PATH     the agent, fluxq-shell\n"
                            "  --owner UID      the broker's uid\n"
                            "  --cgroup DIR     parent of the jobs' cgroups\n"
                            "  --min-uid N      the least uid that may run jobs [1000]\n"
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

/* Opens the directory, which must be of a cgroup file system: no user can make links
 * there. */
static int open_cgroup (struct settings *s, const char *path)
{
    struct statfs fs;

    s->cgroup = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->cgroup < 0 || fstatfs (s->cgroup, &fs) < 0
        || (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC))
        return fail ("--cgroup: not a directory of a cgroup file system");
    return 0;
}

/* -1: go on; else the exit status. */
static int read_arguments (struct settings *s, int argc, char **argv)
{
    static const struct option options[] = {
        { "shell", required_argument, NULL, 's' },
        { "owner", required_argument, NULL, 'o' },
        { "cgroup", required_argument, NULL, 'c' },
        { "min-uid", required_argument, NULL, 'm' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    int c, bad = 0;

    while (!bad && (c = getopt_long (argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            s->shell = optarg;
        else if (c == 'o')
            bad = number (optarg, "--owner", &s->owner);
        else if (c == 'm')
            bad = number (optarg, "--min-uid", &s->min_uid);
        else if (c == 'c')
            bad = open_cgroup (s, optarg);
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

static int is_socket (int fd)
{
    int type = 0;
    socklen_t len = sizeof (type);

    return getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET;
}

/* Leaves nothing of the caller's environment to the code that is root. */
static int settle (void)
{
    const struct rlimit none = { 0, 0 };

    if (geteuid () != 0)
        return fail ("not root: fluxqd starts it when it is started as root");
    if (!is_socket (LAUNCH_REQUEST_FD) || !is_socket (LAUNCH_EXIT_FD))
        return fail ("descriptors 3 and 4 are not the broker's sockets");
    if (clearenv () != 0 || chdir ("/") < 0 || setrlimit (RLIMIT_CORE, &none) < 0
        || prctl (PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl (PR_SET_DUMPABLE, 0) < 0
        || fcntl (LAUNCH_REQUEST_FD, F_SETFD, FD_CLOEXEC) < 0
        || fcntl (LAUNCH_EXIT_FD, F_SETFD, FD_CLOEXEC) < 0)
        return fail (strerror (errno));
    umask (022);
    return -1;
}

int main (int argc, char **argv)
{
    struct settings s = { .cgroup = -1, .min_uid = 1000 };
    int status = read_arguments (&s, argc, argv);

    if (status < 0)
        status = settle ();
    return status < 0 ? serve (&s) : status;
}
