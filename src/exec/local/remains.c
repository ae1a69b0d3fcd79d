/* remains.c - see remains.h */
#include "exec/local/remains.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/io.h"
#include "common/log.h"
#include "common/sha256.h"
#include "exec/local/local.h"

#define GROUP_NAME "job-%ju-%u"
#define NAME_SIZE 32

struct remains {
    char *base; /* parent of the jobs' cgroups; NULL: no cgroups */
};

/* -- where cgroups can be made -- */

/* Returns the text behind a line's prefix in a file of /proc; NULL: there is none. */
static char *line_behind (const char *path, const char *prefix)
{
    autofree char *line = NULL;
    size_t size = 0;
    FILE *f = fopen (path, "re");
    char *value = NULL;

    while (f && !value && getline (&line, &size, f) > 0) {
        char *at = strstr (line, prefix);
        line[strcspn (line, "\n")] = '\0';
        if (at && (at == line || isdigit ((unsigned char)line[0])))
            value = strdup (at + strlen (prefix));
    }
    if (f)
        fclose (f);
    return value;
}

/* Returns the mount point of the hierarchy; option: for version 1. NULL: not mounted. */
static char *mount_of (const char *type, const char *option)
{
    autofree char *line = NULL;
    size_t size = 0;
    FILE *f = fopen ("/proc/self/mounts", "re");
    char *found = NULL, dir[PATH_MAX], kind[32], options[512];

    while (f && !found && getline (&line, &size, f) > 0)
        if (sscanf (line, "%*s %4095s %31s %511s", dir, kind, options) == 3
            && !strcmp (kind, type) && (!option || strstr (options, option)))
            found = strdup (dir);
    if (f)
        fclose (f);
    return found;
}

/* Each broker has its own directory: all cgroups in it belong to its jobs. */
static void name_base (const char *state_dir, char ret[NAME_SIZE])
{
    struct sha256 ctx;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    sha256_init (&ctx);
    sha256_update (&ctx, state_dir, strlen (state_dir));
    sha256_final (&ctx, digest);
    hex_encode (digest, sizeof (digest), hex);
    snprintf (ret, NAME_SIZE, "fluxq-%.12s", hex);
}

/* Makes the directory below parent, if processes can join it. */
static char *try_base (const char *parent, const char *name)
{
    char *base = NULL, *procs = NULL;

    if (asprintf (&base, "%s/%s", parent, name) < 0)
        return NULL;
    bool made = mkdir (base, 0755) == 0;
    if (asprintf (&procs, "%s/cgroup.procs", base) < 0)
        procs = NULL;
    bool good = (made || errno == EEXIST) && procs && access (procs, W_OK) == 0;
    free (procs);
    if (good)
        return base;
    if (made)
        rmdir (base);
    free (base);
    return NULL;
}

/* Makes the directory in the broker's own cgroup. */
static char *own_base (const char *type, const char *option, const char *prefix,
                       const char *name)
{
    autofree char *mount = mount_of (type, option), *parent = NULL;
    autofree char *own = line_behind ("/proc/self/cgroup", prefix);

    if (!mount || !own
        || asprintf (&parent, "%s%s", mount, strcmp (own, "/") ? own : "") < 0) {
        parent = NULL;
        return NULL;
    }
    return try_base (parent, name);
}

/* A broker started from elsewhere has another cgroup, but its jobs stay in the old
 * one. */
static char *remembered_base (const char *path)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (PATH_MAX);

    if (access (path, F_OK) < 0 || io_read_file (path, &sb, PATH_MAX - 1, NULL) < 0
        || !sb.buf || access (sb.buf, W_OK | X_OK) < 0)
        return NULL;
    return strbuf_detach (&sb);
}

static char *find_base (const char *state_dir, const char *name)
{
    autofree char *path = NULL;
    char *base;

    if (asprintf (&path, "%s/cgroup", state_dir) < 0) {
        path = NULL;
        return NULL;
    }
    if ((base = remembered_base (path)))
        return base;
    if (!(base = own_base ("cgroup2", NULL, "0::", name)))
        base = own_base ("cgroup", "freezer", ":freezer:", name);
    if (base)
        io_write_file_atomic (path, base, strlen (base), 0600, NULL);
    return base;
}

/* A path that the broker has remembered is its own word: only a directory that was given to
 * the broker before counts. */
static char *separate_base (const char *setting, const struct exec_separation *by,
                            const char *name)
{
    autofree char *path = NULL;
    char *base;
    struct stat st;

    if (setting[0] == '/')
        return try_base (setting, name);
    if (asprintf (&path, "%s/cgroup", by->state_dir) < 0) {
        path = NULL;
        return NULL;
    }
    base = remembered_base (path);
    if (base && stat (base, &st) == 0 && st.st_uid == by->owner)
        return base;
    free (base);
    if (!(base = own_base ("cgroup2", NULL, "0::", name)))
        base = own_base ("cgroup", "freezer", ":freezer:", name);
    return base;
}

/* Delegation as in cgroups(7). */
void remains_separate (const char *setting, const struct exec_separation *by)
{
    static const char *const files[] = { ".", "cgroup.procs", "cgroup.subtree_control" };
    autofree char *real = realpath (by->state_dir, NULL);
    char name[NAME_SIZE];

    name_base (real ? real : by->state_dir, name);
    autofree char *base =
        strcmp (setting, "none") != 0 ? separate_base (setting, by, name) : NULL;
    autoclose int dir = base ? open (base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (size_t i = 0; i < ARRAY_SIZE (files) && dir >= 0; i++)
        if (fchownat (dir, files[i], by->owner, by->group, AT_SYMLINK_NOFOLLOW) < 0
            && errno != ENOENT)
            log_warning ("local: cgroup: %s/%s: %s", base, files[i], strerror (errno));
}

/* Without a cgroup that agents can join there are no cgroups. */
static void tell_launcher (struct remains *r)
{
    struct error err = { 0 };
    autoclose int dir = open (r->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir >= 0 && launcher_set_cgroup (dir, &err) == 0)
        return;
    log_warning ("local: cgroup: %s: %s", r->base, dir < 0 ? strerror (errno) : err.text);
    free (r->base);
    r->base = NULL;
}

struct remains *remains_create (const char *setting, const char *state_dir)
{
    struct remains *r = calloc (1, sizeof (*r));
    autofree char *real = realpath (state_dir, NULL);
    char name[NAME_SIZE];

    if (!r)
        return NULL;
    name_base (real ? real : state_dir, name);
    if (!strcmp (setting, "auto"))
        r->base = find_base (state_dir, name);
    else if (setting[0] == '/' && !(r->base = try_base (setting, name)))
        log_warning ("local: cgroup: no cgroups can be made in %s", setting);
    if (r->base && launcher_is_on ())
        tell_launcher (r);
    if (r->base)
        log_debug ("local: each job has a cgroup in %s", r->base);
    return r;
}

void remains_destroy (struct remains *r)
{
    if (!r)
        return;
    if (r->base)
        rmdir (r->base); /* fails if it is in use */
    free (r->base);
    free (r);
}

/* -- the cgroup of a job -- */

static char *group_path (const struct remains *r, uint64_t id, unsigned attempt)
{
    char *path = NULL;

    if (!r->base
        || asprintf (&path, "%s/" GROUP_NAME, r->base, (uintmax_t)id, attempt) < 0)
        return NULL;
    return path;
}

char *remains_make_group (struct remains *r, uint64_t id, unsigned attempt)
{
    char *path = group_path (r, id, attempt);

    mkdir (r->base ? r->base : "", 0755);
    if (path && mkdir (path, 0755) < 0 && errno != EEXIST) {
        log_warning ("job %ju: no cgroup %s: %s", (uintmax_t)id, path, strerror (errno));
        free (path);
        path = NULL;
    }
    return path;
}

/* 0, or a negative errno. */
static int write_to (int dir, const char *name, const char *text)
{
    autoclose int fd = openat (dir, name, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : io_write_all (fd, text, strlen (text));
}

static void signal_pid (pid_t pid, int signum)
{
    autoclose int fd = (int)syscall (SYS_pidfd_open, pid, 0);

    if (fd >= 0)
        process_signal (fd, signum);
}

/* Signals each process of the cgroup, 0: none; returns their number. */
static size_t signal_each (int dir, int signum)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (16 << 20);
    autoclose int fd = openat (dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    size_t n = 0;

    if (fd < 0 || io_read_fd (fd, &sb, 16 << 20) < 0 || !sb.buf)
        return 0;
    for (char *p = sb.buf, *end; *p; p = end) {
        long pid = strtol (p, &end, 10);
        if (end == p)
            break;
        n++;
        if (signum > 0 && pid > 1 && pid != getpid ())
            signal_pid ((pid_t)pid, signum);
    }
    return n;
}

static bool group_kill (const char *path)
{
    autoclose int dir = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return false;
    if (write_to (dir, "cgroup.kill", "1") == 0)
        return signal_each (dir, 0) > 0;
    /* Version 1: a frozen process can neither start another one nor end. */
    write_to (dir, "freezer.state", "FROZEN");
    size_t n = signal_each (dir, SIGKILL);
    write_to (dir, "freezer.state", "THAWED");
    return n > 0;
}

bool remains_remove_group (struct remains *r, uint64_t id, unsigned attempt)
{
    autofree char *path = group_path (r, id, attempt);

    return !path || rmdir (path) == 0 || errno != EBUSY;
}

void remains_sweep (struct remains *r, const uint64_t *live, size_t nlive)
{
    DIR *d = r->base ? opendir (r->base) : NULL;
    struct dirent *entry;

    while (d && (entry = readdir (d))) {
        uintmax_t number;
        unsigned attempt;
        if (sscanf (entry->d_name, GROUP_NAME, &number, &attempt) != 2)
            continue;
        uint64_t id = number;
        autofree char *path = group_path (r, id, attempt);
        if (path && !(nlive && bsearch (&id, live, nlive, sizeof (id), compare_u64))
            && !group_kill (path))
            rmdir (path);
    }
    if (d)
        closedir (d);
}

/* -- without a cgroup -- */

static bool is_marked (const struct exec_job *job, pid_t pid)
{
    autostrbuf struct strbuf env = STRBUF_INIT (8 << 20);
    char path[64], mark[PATH_MAX + 64];
    struct stat st;

    snprintf (path, sizeof (path), "/proc/%d/environ", (int)pid);
    snprintf (mark, sizeof (mark), "FLUXQ_AGENT_SOCKET=%s/", job->dir);
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat (fd, &st) < 0 || st.st_uid != job->user.uid
        || io_read_fd (fd, &env, 8 << 20) < 0)
        return false;
    for (size_t i = 0; i < env.len; i += strlen (env.buf + i) + 1)
        if (!strncmp (env.buf + i, mark, strlen (mark)))
            return true;
    return false;
}

static bool is_the_jobs (pid_t pid, void *arg)
{
    return pid != getpid () && is_marked (arg, pid);
}

bool remains_kill (struct remains *r, const struct exec_job *job)
{
    autofree char *path = group_path (r, job->id, job->attempt);

    if (path && access (path, F_OK) == 0)
        return group_kill (path);
    return processes_kill (is_the_jobs, (void *)(uintptr_t)job) > 0;
}
