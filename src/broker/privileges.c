/* privileges.c - see privileges.h */
#include "broker/privileges.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/program_path.h"
#include "exec/exec.h"
#include "launch/launcher.h"

static int find_user (const char *name, struct launcher_settings *s, struct error *err)
{
    errno = 0;
    const struct passwd *pw = getpwnam (name); /* no other thread runs yet */

    if (!pw && errno)
        return error_errno (err, errno, "user: %s", name);
    if (!pw)
        return error_set (err, ENOENT,
                          "user: %s is no user of this machine: make one (useradd "
                          "--system %s), or leave out the key",
                          name, name);
    if (pw->pw_uid == 0 || pw->pw_gid == 0)
        return error_set (err, EINVAL,
                          "user: %s is root or has its group: name a user without "
                          "rights, such as fluxq",
                          name);
    s->name = name;
    s->owner = pw->pw_uid;
    s->group = pw->pw_gid;
    return 0;
}

/* Gives a directory that is root's and empty to the user. A file of root's in it would be
 * closed to the broker. */
static int give (const char *dir, mode_t mode, const struct launcher_settings *s,
                 struct error *err)
{
    struct stat st;
    int rc = io_mkdir_p (dir, mode, err);

    if (rc < 0)
        return rc;
    autoclose int fd = open (dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat (fd, &st) < 0)
        return error_errno (err, errno, "%s", dir);
    if (st.st_uid == s->owner)
        return 0;
    if (st.st_uid == 0 && io_is_empty (fd))
        return fchown (fd, s->owner, s->group) < 0 ? error_errno (err, errno, "%s", dir)
                                                   : 0;
    return error_set (err, EPERM,
                      "%s has files of an earlier broker and belongs to uid %u: chown "
                      "--recursive --from=root %s: %s",
                      dir, (unsigned)st.st_uid, s->name, dir);
}

static int prepare_exec (const struct config *c, const struct launcher_settings *s,
                         struct error *err)
{
    const struct exec_ops *ops = exec_find (c->executor);
    const struct exec_separation by = { .owner = s->owner,
                                        .group = s->group,
                                        .state_dir = c->state_dir };

    return ops && ops->separate ? ops->separate (
               c->doc, config_executor_section (c, c->executor), &by, err)
                                : 0;
}

static void allow (struct launcher_settings *s, const char *program)
{
    size_t n = 0;

    while (n < ARRAY_SIZE (s->admin) - 1 && s->admin[n]
           && (!program || strcmp (s->admin[n], program) != 0))
        n++;
    if (program && n < ARRAY_SIZE (s->admin) - 1)
        s->admin[n] = program;
}

/* The programs that may run as root: those in the configuration as root has read it. */
static void allow_programs (const struct config *c, struct launcher_settings *s)
{
    for (unsigned i = 0; i < c->nqueues; i++) {
        const struct config_admin admin = config_admin_of (c, i);

        allow (s, admin.prolog);
        allow (s, admin.epilog);
    }
}

int privileges_separate (const struct config *c, const char *socket, struct error *err)
{
    struct launcher_settings s = { .shell = c->shell_path,
                                   .min_uid = (uint32_t)c->min_uid };
    char program[PATH_MAX];

    if (socket && c->user)
        return error_set (err, EINVAL,
                          "--launch-socket is for a broker that is started as its user: "
                          "leave out `user` or the option");
    if (socket)
        return launcher_connect (socket, err);
    if (!c->user)
        return 0;
    if (geteuid () != 0)
        return error_set (err, EPERM,
                          "user: the broker must be started as root to become %s and to "
                          "leave root to fluxq-launch; start it as root, or leave out "
                          "the key",
                          c->user);
    s.program = program;
    if (find_user (c->user, &s, err) < 0
        || program_path ("launch", "fluxq-launch", program, err) < 0
        || give (c->state_dir, 0711, &s, err) < 0
        || give (c->runtime_dir, 0755, &s, err) < 0 || prepare_exec (c, &s, err) < 0)
        return -err->code;
    allow_programs (c, &s);
    int rc = launcher_start (&s, err);
    return rc < 0 ? rc : launcher_become_owner (&s, err);
}
