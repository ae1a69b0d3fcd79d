/* users.c - passwd and group look-ups, on libuv's worker threads
 */
#include "broker/core/inside.h"
#include "broker/core/users.h"

#include <grp.h>
#include <pwd.h>
#include <uthash.h>

#include "common/clock.h"

#define KEEP_SECONDS 60.0
#define KEEP_ABSENT_SECONDS 5.0 /* a user who was just created need not wait long */
#define GROUPS_MAX 65536
#define GROUP_NAMES_MAX 1024 /* each costs a request to the directory service */
#define PASSWD_SIZE 65536
#define GROUP_SIZE ((size_t)1 << 20) /* includes the names of all members */

struct known {
    UT_hash_handle hh;
    uid_t uid;
    bool exists;
    double until; /* clock_mono() */
    double refreshed; /* clock_mono() of the last users_recall() that found it too old */
    double failed;    /* clock_mono() of the last look-up that failed */
    struct exec_user user;
};

struct users {
    uv_loop_t *loop;
    struct known *table;
};

struct lookup {
    uv_work_t work;
    struct users *users;
    char *name;           /* NULL: by uid */
    uid_t uid;            /* by name: -1, which is no user, until it is found */
    struct known *result; /* NULL: rc says why */
    int rc;
    users_f done;
    void *arg;
};

struct users *users_create (uv_loop_t *loop)
{
    struct users *u = calloc (1, sizeof (*u));
    if (u)
        u->loop = loop;
    return u;
}

void users_release (struct exec_user *user)
{
    for (size_t i = 0; user->group_names && i < user->ngroups; i++)
        free (user->group_names[i]);
    free (user->group_names);
    free (user->groups);
    free (user->name);
    free (user->home);
    free (user->shell);
    memset (user, 0, sizeof (*user));
}

static int copy_group_names (struct exec_user *to, const struct exec_user *from)
{
    if (!from->group_names)
        return 0;
    if (!(to->group_names = calloc (from->ngroups + 1, sizeof (char *))))
        return -ENOMEM;
    for (size_t i = 0; i < from->ngroups; i++)
        if (from->group_names[i] && !(to->group_names[i] = strdup (from->group_names[i])))
            return -ENOMEM;
    return 0;
}

int users_copy (struct exec_user *to, const struct exec_user *from)
{
    *to = (struct exec_user){ .uid = from->uid,
                              .gid = from->gid,
                              .ngroups = from->ngroups };
    to->name = strdup (from->name);
    to->home = strdup (from->home);
    to->shell = strdup (from->shell);
    to->groups = calloc (from->ngroups + 1, sizeof (gid_t));
    if (!to->name || !to->home || !to->shell || !to->groups
        || copy_group_names (to, from) < 0) {
        users_release (to);
        return -ENOMEM;
    }
    memcpy (to->groups, from->groups, from->ngroups * sizeof (gid_t));
    return 0;
}

static void known_free (struct known *k)
{
    if (k) {
        users_release (&k->user);
        free (k);
    }
}

static int look_up_groups (struct exec_user *user)
{
    int n = 64;
    for (;;) {
        gid_t *list = calloc ((size_t)n, sizeof (*list));
        if (!list)
            return -ENOMEM;
        int got = n;
        if (getgrouplist (user->name, user->gid, list, &got) >= 0) {
            user->groups = list;
            user->ngroups = (size_t)got;
            return 0;
        }
        free (list);
        if (n >= GROUPS_MAX)
            return -E2BIG;
        n = MIN (MAX (got, n * 2), GROUPS_MAX);
    }
}

/* NULL also on errors: a missing group name does not prevent a job. */
static char *group_name (gid_t gid, char *buf, size_t size)
{
    struct group gr, *found = NULL;

    return getgrgid_r (gid, &gr, buf, size, &found) == 0 && found ? strdup (gr.gr_name)
                                                                  : NULL;
}

static int look_up_group_names (struct exec_user *user)
{
    autofree char *buf = malloc (GROUP_SIZE);

    user->group_names = calloc (user->ngroups + 1, sizeof (char *));
    if (!buf || !user->group_names)
        return -ENOMEM;
    for (size_t i = 0; i < user->ngroups && i < GROUP_NAMES_MAX; i++)
        user->group_names[i] = group_name (user->groups[i], buf, GROUP_SIZE);
    return 0;
}

/* getpwuid_r(3): these errors also mean that there is no entry. */
static bool is_absent (int errnum)
{
    return errnum == ENOENT || errnum == ESRCH || errnum == EBADF || errnum == EPERM;
}

/* Returns 0 also for a missing user, with k->exists false. */
static int look_up (uid_t uid, struct known *k)
{
    struct passwd pw, *found = NULL;
    autofree char *buf = malloc (PASSWD_SIZE);

    if (!buf)
        return -ENOMEM;
    int errnum = getpwuid_r (uid, &pw, buf, PASSWD_SIZE, &found);
    if (!found)
        return errnum == 0 || is_absent (errnum) ? 0 : -errnum;
    k->user.uid = uid;
    k->user.gid = pw.pw_gid;
    k->user.name = strdup (pw.pw_name);
    k->user.home = strdup (pw.pw_dir);
    k->user.shell = strdup (pw.pw_shell);
    if (!k->user.name || !k->user.home || !k->user.shell)
        return -ENOMEM;
    int rc = look_up_groups (&k->user);
    if (rc == 0)
        rc = look_up_group_names (&k->user);
    k->exists = rc == 0;
    return rc;
}

/* A uid without a passwd entry: the broker's own user can still run jobs (as in
 * containers). */
static int make_numeric (uid_t uid, struct known *k)
{
    char name[16];
    snprintf (name, sizeof (name), "%u", (unsigned)uid);
    k->user = (struct exec_user){ .uid = uid, .gid = getgid () };
    k->user.name = strdup (name);
    k->user.home = strdup ("/");
    k->user.shell = strdup ("/bin/sh");
    k->user.groups = calloc (1, sizeof (gid_t));
    if (!k->user.name || !k->user.home || !k->user.shell || !k->user.groups)
        return -ENOMEM;
    k->exists = true;
    return 0;
}

int users_uid_of (const char *name, uid_t *ret)
{
    struct passwd pw, *found = NULL;
    autofree char *buf = malloc (PASSWD_SIZE);

    if (!buf)
        return -ENOMEM;
    int errnum = getpwnam_r (name, &pw, buf, PASSWD_SIZE, &found);
    if (found)
        *ret = pw.pw_uid;
    return found ? 0 : errnum == 0 || is_absent (errnum) ? -ENOENT : -errnum;
}

static void work (uv_work_t *w)
{
    struct lookup *l = w->data;
    struct known *k = calloc (1, sizeof (*k));

    l->rc = k ? 0 : -ENOMEM;
    if (k && l->name)
        l->rc = users_uid_of (l->name, &l->uid);
    if (l->rc == 0) {
        k->uid = l->uid;
        l->rc = look_up (l->uid, k);
    }
    if (l->rc == 0 && !k->exists && l->uid == geteuid () && l->uid != 0)
        l->rc = make_numeric (l->uid, k);
    if (l->rc < 0) {
        known_free (k);
        return;
    }
    l->result = k;
}

static void tell (const struct known *k, users_f done, void *arg)
{
    done (k->exists ? 0 : -ENOENT, k->exists ? &k->user : NULL, arg);
}

static void work_done (uv_work_t *w, int status)
{
    struct lookup *l = w->data;
    struct users *u = l->users;
    struct known *old, *k = status == 0 ? l->result : NULL;

    HASH_FIND (hh, u->table, &l->uid, sizeof (l->uid), old);
    if (!k && old && old->exists) {
        k = old; /* old data is better than none */
        k->failed = clock_mono ();
    } else if (k) {
        if (old) {
            HASH_DELETE (hh, u->table, old);
            known_free (old);
        }
        k->until = clock_mono () + (k->exists ? KEEP_SECONDS : KEEP_ABSENT_SECONDS);
        HASH_ADD (hh, u->table, uid, sizeof (k->uid), k);
    }
    if (k)
        tell (k, l->done, l->arg);
    else
        l->done (l->rc < 0 ? l->rc : -ECANCELED, NULL, l->arg);
    free (l->name);
    free (l);
}

/* Begins the look-up of the uid or (not NULL) of the name. */
static void begin (struct users *u, uid_t uid, const char *name, users_f done, void *arg)
{
    struct lookup *l = calloc (1, sizeof (*l));

    if (l) {
        *l = (struct lookup){ .users = u, .uid = uid, .done = done, .arg = arg };
        l->name = name ? strdup (name) : NULL;
        l->work.data = l;
    }
    if (l && !l->name == !name && uv_queue_work (u->loop, &l->work, work, work_done) == 0)
        return;
    if (l)
        free (l->name);
    free (l);
    done (-ENOMEM, NULL, arg);
}

static struct known *find_known (const struct users *u, uid_t uid)
{
    struct known *k;

    HASH_FIND (hh, u->table, &uid, sizeof (uid), k);
    return k;
}

bool users_is_fresh (const struct users *u, uid_t uid)
{
    const struct known *k = find_known (u, uid);

    return k && MAX (k->until, k->failed + KEEP_ABSENT_SECONDS) > clock_mono ();
}

void users_find (struct users *u, uid_t uid, users_f done, void *arg)
{
    if (users_is_fresh (u, uid))
        tell (find_known (u, uid), done, arg);
    else
        begin (u, uid, NULL, done, arg);
}

/* The table has the result. */
static void refreshed (int rc, const struct exec_user *user, void *arg)
{
    (void)rc;
    (void)user;
    (void)arg;
}

/* The last look-up, or NULL; the next one begins when that is too old. */
static const struct known *recall (struct users *u, uid_t uid)
{
    double now = clock_mono ();
    struct known *k = find_known (u, uid);

    if (k && k->until < now && k->refreshed < now - KEEP_ABSENT_SECONDS) {
        k->refreshed = now;
        begin (u, uid, NULL, refreshed, NULL);
    }
    return k;
}

const char *users_recall (struct users *u, uid_t uid)
{
    const struct known *k = recall (u, uid);

    return !k ? NULL : k->exists ? k->user.name : "";
}

bool users_in_groups (struct users *u, uid_t uid, const gid_t *gids, size_t n)
{
    const struct known *k = recall (u, uid);

    for (size_t i = 0; k && i < k->user.ngroups; i++)
        for (size_t j = 0; j < n; j++)
            if (k->user.groups[i] == gids[j])
                return true;
    return false;
}

void users_find_named (struct users *u, const char *name, users_f done, void *arg)
{
    begin (u, (uid_t)-1, name, done, arg);
}

void users_destroy (struct users *u)
{
    struct known *k, *next;

    if (!u)
        return;
    HASH_ITER (hh, u->table, k, next) {
        HASH_DELETE (hh, u->table, k);
        known_free (k);
    }
    free (u);
}
