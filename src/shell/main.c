/* main.c - fluxq-shell's command line and the change to the user's identity. Under the
 * name fluxq-run, fluxq-bcast or that of one of Slurm's commands this program is that
 * client, see run.h, bcast.h, hostnames.h and inside.h. */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/option.h"
#include "common/parse.h"
#include "shell/agent/adminrun.h"
#include "shell/agent/agent.h"
#include "shell/agent/guardian.h"
#include "shell/agent/install.h"
#include "shell/agent/ranktext.h"
#include "shell/agent/relro.h"
#include "shell/agent/userenv.h"
#include "shell/io/stderr_line.h"
#include "shell/run/bcast.h"
#include "shell/run/hostnames.h"
#include "shell/run/inside.h"
#include "shell/run/run.h"

#define PROGRAM "fluxq-shell"
#define GROUPS_MAX 65536 /* like the kernel's NGROUPS_MAX */
/* Kubernetes sets this in pods of an Indexed Job. */
#define RANK_VARIABLE "JOB_COMPLETION_INDEX"

enum {
    OPT_LAUNCH,
    OPT_KEY,
    OPT_RANK,
    OPT_UID,
    OPT_GID,
    OPT_GROUPS,
    OPT_CGROUP,
    OPT_RECEIVE,
    OPT_SIZE,
    OPT_MODE,
    OPT_MTIME,
    OPT_FORCE,
    OPT_HELP,
    OPT_VERSION
};

static const struct option_desc options[] = {
    { "launch", 'l', "FILE", "launch file of the job", OPT_LAUNCH, false, NULL },
    { "key", 'k', "FILE", "file with the job's key, 64 hex digits", OPT_KEY, false,
      NULL },
    { "rank", 'r', "[FIRST+]N", "this node's rank (default: $" RANK_VARIABLE ")",
      OPT_RANK, false, NULL },
    { "uid", 0, "UID", "run as this user (needs root)", OPT_UID, false, NULL },
    { "gid", 0, "GID", "run as this group (needs root)", OPT_GID, false, NULL },
    { "groups", 0, "GID,...", "run with these supplementary groups (needs root)",
      OPT_GROUPS, false, NULL },
    { "cgroup", 0, "DIR", "first join this cgroup", OPT_CGROUP, false, NULL },
    { "receive", 0, "PATH", "only write standard input to this file, for fluxq-bcast",
      OPT_RECEIVE, false, NULL },
    { "size", 0, "BYTES", "size of that file", OPT_SIZE, false, NULL },
    { "mode", 0, "MODE", "mode of that file, decimal", OPT_MODE, false, NULL },
    { "mtime", 0, "SECONDS", "modification time of that file [now]", OPT_MTIME, false,
      NULL },
    { "force", 0, NULL, "replace an existing file", OPT_FORCE, false, NULL },
    { "help", 'h', NULL, "print this help", OPT_HELP, false, NULL },
    { "version", 'V', NULL, "print the version", OPT_VERSION, false, NULL },
    OPTION_END,
};

struct command_line {
    struct agent_options agent;
    int64_t uid, gid, rank; /* -1: not given */
    struct receive receive;
    int64_t size, mode; /* of the received file */
    gid_t *groups;
    size_t ngroups;
    bool groups_given;
    const char *cgroup;
};

static int parse_groups (const char *text, struct command_line *cl, struct error *err)
{
    autofree char *copy = strdup (text);
    cl->groups = calloc (strlen (text) + 1, sizeof (gid_t));
    if (!copy || !cl->groups)
        return error_no_memory (err, NULL);
    cl->groups_given = true;
    for (char *rest = copy, *item; *text && (item = strsep (&rest, ","));) {
        int64_t gid;
        int rc = parse_int (item, 0, UINT32_MAX - 1, &gid, "--groups", err);
        if (rc < 0)
            return rc;
        if (cl->ngroups == GROUPS_MAX)
            return error_set (err, EINVAL, "--groups: more than %d", GROUPS_MAX);
        cl->groups[cl->ngroups++] = (gid_t)gid;
    }
    return 0;
}

static void print_help (void)
{
    printf ("Usage: " PROGRAM
            " --launch FILE --key FILE [--rank N] [--uid UID --gid GID]\n"
            "Run one node's part of a fluxq job. fluxqd starts this program; users do "
            "not.\n\n");
    option_print_help (stdout, options);
    printf (
        "\nExit status: 0 the job is over and reported, 1 the agent failed, 2 usage,\n"
        "3 the job had been started before and nothing was done.\n");
}

static int take_option (struct command_line *cl, const struct option_match *m,
                        struct error *err)
{
    switch (m->desc->id) {
    case OPT_LAUNCH:
        cl->agent.launch_path = m->value;
        return 0;
    case OPT_KEY:
        cl->agent.key_path = m->value;
        return 0;
    case OPT_RANK:
        return rank_parse (m->value, &cl->rank, err);
    case OPT_UID:
        return parse_int (m->value, 0, UINT32_MAX - 1, &cl->uid, "--uid", err);
    case OPT_GID:
        return parse_int (m->value, 0, UINT32_MAX - 1, &cl->gid, "--gid", err);
    case OPT_GROUPS:
        return parse_groups (m->value, cl, err);
    case OPT_CGROUP:
        cl->cgroup = m->value;
        return 0;
    case OPT_RECEIVE:
        cl->receive.dest = m->value;
        return 0;
    case OPT_SIZE:
        return parse_int (m->value, 0, INT64_MAX, &cl->size, "--size", err);
    case OPT_MODE:
        return parse_int (m->value, 0, 0777, &cl->mode, "--mode", err);
    case OPT_MTIME:
        return parse_int (m->value, 0, INT64_MAX, &cl->receive.mtime, "--mtime", err);
    case OPT_FORCE:
        cl->receive.force = true;
        return 0;
    case OPT_HELP:
        print_help ();
        exit (0);
    default:
        printf (PROGRAM " " PACKAGE_VERSION "\n");
        exit (0);
    }
}

static int parse_command_line (int argc, char **argv, struct command_line *cl,
                               struct error *err)
{
    struct option_parser parser;
    struct option_match m;
    int rc;
    *cl = (struct command_line){
        .uid = -1, .gid = -1, .rank = -1, .mode = 0600, .receive = { .mtime = -1 }
    };
    option_parser_init (&parser, PROGRAM, options, OPTION_PERMUTE, argc, argv);
    while ((rc = option_next (&parser, &m, err)) > 0) {
        if (!m.desc)
            return error_set (err, EINVAL, "%s: not an option", m.value);
        rc = take_option (cl, &m, err);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return rc;
    if (cl->receive.dest)
        return 0;
    const char *index = getenv (RANK_VARIABLE);
    if (cl->rank < 0 && index) {
        rc = parse_int (index, 0, INT32_MAX, &cl->rank, RANK_VARIABLE, err);
        if (rc < 0)
            return rc;
    }
    if (!cl->agent.launch_path || !cl->agent.key_path || cl->rank < 0)
        return error_set (err, EINVAL, "--launch, --key and --rank are needed");
    if ((cl->uid >= 0) != (cl->gid >= 0) || (cl->groups_given && cl->uid < 0))
        return error_set (err, EINVAL,
                          "--uid and --gid go together, --groups only with them");
    cl->agent.rank = (uint32_t)cl->rank;
    return 0;
}

/* Joins the cgroup while still permitted to. A failure matters only if agents and broker
 * are killed at the same time. */
static void join_cgroup (const char *dir)
{
    char path[PATH_MAX];
    if (!dir)
        return;
    snprintf (path, sizeof (path), "%s/cgroup.procs", dir);
    autoclose int fd = open (path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write (fd, "0", 1) != 1)
        fprintf (stderr, PROGRAM ": cannot join cgroup %s: %s\n", dir, strerror (errno));
}

/* A broker may run with a negative nice value to answer soon while users compute; jobs do
 * not. */
static void drop_nice (void)
{
    if (getpriority (PRIO_PROCESS, 0) < 0)
        (void)!setpriority (PRIO_PROCESS, 0, 0);
}

/* Changes from root to the user for good. Sets the groups first, as only root may set
 * them. */
static int become_user (const struct command_line *cl, struct error *err)
{
    if (cl->uid < 0)
        return 0;
    uid_t uid = (uid_t)cl->uid;
    gid_t gid = (gid_t)cl->gid;
    if (setgroups (cl->ngroups, cl->groups) < 0)
        return error_errno (err, errno, "setgroups");
    if (setgid (gid) < 0 || getgid () != gid || getegid () != gid)
        return error_errno (err, errno, "setgid %u", gid);
    if (setuid (uid) < 0 || getuid () != uid || geteuid () != uid)
        return error_errno (err, errno, "setuid %u", uid);
    if (uid != 0 && setuid (0) == 0)
        return error_set (err, EPERM, "setuid %u: the process could become root again",
                          uid);
    return 0;
}

/* Closes descriptors that the executor left open, which neither agent nor tasks may
 * have. */
static void close_inherited (void)
{
    if (syscall (SYS_close_range, 3, ~0U, 0) == 0)
        return;
    for (int fd = 3; fd < 1024; fd++)
        close (fd);
}

static int work (void *arg, int guardian_fd)
{
    return agent_work (arg, guardian_fd);
}

static bool is_named (const char *path, const char *name)
{
    const char *slash = path ? strrchr (path, '/') : NULL;
    return path && !strcmp (slash ? slash + 1 : path, name);
}

int main (int argc, char **argv)
{
    struct command_line cl;
    struct error err = { 0 };
    relro_protect ();
    if (argc > 0 && is_named (argv[0], SRUN_CLIENT))
        run_name = SRUN_CLIENT;
    if (argc > 0 && (is_named (argv[0], RUN_PROGRAM) || is_named (argv[0], SRUN_CLIENT)))
        return run_main (argc, argv);
    if (argc > 0 && is_named (argv[0], BCAST_PROGRAM))
        return bcast_main (BCAST_PROGRAM, argc, argv);
    if (argc > 0 && is_named (argv[0], SBCAST_CLIENT))
        return bcast_main (SBCAST_CLIENT, argc, argv);
    if (argc > 0 && is_named (argv[0], SCONTROL_CLIENT) && hostnames_asked (argc, argv))
        return hostnames_main (argc, argv);
    for (const char *const *name = inside_clients; argc > 0 && *name; name++)
        if (is_named (argv[0], *name))
            return inside_client_main (*name, argc, argv);
    if (argc == 3 && !strcmp (argv[1], USER_ENV_COMMAND))
        return user_env_print (argv[2]);
    if (argc > 1 && !strcmp (argv[1], ADMINRUN_COMMAND))
        return adminrun_main (argc - 1, argv + 1);
    if (argc > 1 && !strcmp (argv[1], INSTALL_COMMAND))
        return install_main (argc - 1, argv + 1);
    if (parse_command_line (argc, argv, &cl, &err) < 0) {
        fprintf (stderr, PROGRAM ": %s\n", err.text);
        return 2;
    }
    if (cl.receive.dest) {
        cl.receive.size = (uint64_t)cl.size;
        cl.receive.mode = (uint32_t)cl.mode;
        if (receive_file (&cl.receive, &err) == 0)
            return 0;
        stderr_line (BCAST_PROGRAM, "%s", err.text);
        return 1;
    }
    close_inherited ();
    drop_nice ();
    join_cgroup (cl.cgroup);
    if (become_user (&cl, &err) < 0) {
        fprintf (stderr, PROGRAM ": %s\n", err.text);
        return 1;
    }
    free (cl.groups);
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        fprintf (stderr, PROGRAM ": no_new_privs: %s\n", strerror (errno));
        return 1;
    }
    setsid (); /* fails if the executor has called it: fine */
    return guardian_run (work, &cl.agent);
}
