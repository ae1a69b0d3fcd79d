/* test_userfile.c - tests of userfile.h: files opened as their users, with links and
 * FIFOs in their place */
#include "common/test/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/io.h"
#include "common/userfile.h"

/* Two users that need no entry in passwd. */
#define ANN 61001
#define BEA 61002

static char dir[64];

/* dir/ann (0700, Ann's) and dir/shared (like /tmp); needs root, because there
 * are several users. */
static int make_dir (void **state)
{
    char path[100];

    (void)state;
    umask (022);
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-userfile-XXXXXX");
    if (!mkdtemp (dir) || chmod (dir, 0755) < 0)
        return -1;
    snprintf (path, sizeof (path), "%s/ann", dir);
    if (mkdir (path, 0700) < 0 || (geteuid () == 0 && chown (path, ANN, ANN) < 0))
        return -1;
    snprintf (path, sizeof (path), "%s/shared", dir);
    return mkdir (path, 0755) < 0 || chmod (path, 01777) < 0 ? -1 : 0;
}

static int remove_dir (void **state)
{
    (void)state;
    userfile_restore (NULL);
    return io_remove_tree (dir, NULL);
}

static const char *at (const char *name)
{
    static char paths[8][300];
    static unsigned int next;
    char *p = paths[next++ % 8];

    snprintf (p, sizeof (paths[0]), "%s/%s", dir, name);
    return p;
}

static void become (uid_t uid)
{
    struct error err;
    gid_t gid = uid;

    if (userfile_become (uid, gid, &gid, 1, &err) < 0)
        fail_msg ("%s", err.text);
}

/* The expected result for Ann's open of a path: 0, or an errno and a word of the
 * message. */
static void ann_gets (const char *path, int want, const char *word)
{
    struct error err = { 0 };

    become (ANN);
    int rc = userfile_open (dir, path, USERFILE_TRUNCATE, &err);
    userfile_restore (NULL);
    if (rc >= 0) {
        assert_int_equal (fcntl (rc, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK),
                          O_WRONLY | O_APPEND | O_NONBLOCK);
        assert_true (fcntl (rc, F_GETFD) & FD_CLOEXEC);
        close (rc);
        rc = 0;
    }
    if (rc != -want || !strstr (err.text, word))
        fail_msg ("%s: %d, wanted %d with '%s': %s", path, rc, -want, word, err.text);
}

static void put (const char *name, uid_t owner, mode_t mode)
{
    int fd = open (at (name), O_WRONLY | O_CREAT, 0600);

    assert_true (fd >= 0);
    assert_int_equal (io_write_all (fd, "old text\n", 9), 0);
    assert_int_equal (fchown (fd, owner, owner), 0);
    assert_int_equal (fchmod (fd, mode), 0);
    close (fd);
}

static void plant_link (const char *target, const char *name, uid_t owner)
{
    assert_int_equal (symlink (target, at (name)), 0);
    assert_int_equal (lchown (at (name), owner, owner), 0);
}

static void test_files (void **state)
{
    struct stat st;

    (void)state;
    ann_gets ("ann/new.out", 0, "");
    assert_int_equal (stat (at ("ann/new.out"), &st), 0);
    assert_int_equal (st.st_uid, ANN);
    assert_int_equal (st.st_gid, ANN);
    assert_int_equal (st.st_mode & 07777, 0644);
    ann_gets (at ("ann/new.out"), 0, "");
    ann_gets ("ann/.././/ann/new.out", 0, "");
    ann_gets ("shared/ann.out", 0, "");
    ann_gets ("/dev/null", 0, "");
}

/* userfile_check() gives the same result as userfile_open(), and creates and changes
 * nothing. */
static void test_check (void **state)
{
    struct error err = { 0 };
    struct stat st;

    (void)state;
    put ("ann/kept", ANN, 0600);
    put ("ann/shut", ANN, 0400);
    become (ANN);
    assert_int_equal (userfile_check (at ("ann"), "fresh", &err), 0);
    assert_int_equal (userfile_check (at ("ann"), "kept", &err), 0);
    assert_int_equal (userfile_check (at ("ann"), "shut", &err), -EACCES);
    assert_int_equal (userfile_check (at ("ann"), "missing/x", &err), -ENOENT);
    assert_non_null (strstr (err.text, "missing does not exist"));
    assert_int_equal (userfile_check (at ("ann"), ".", &err), -EISDIR);
    assert_int_equal (userfile_check (dir, "fresh", &err), -EACCES); /* root's */
    userfile_restore (NULL);
    assert_int_equal (stat (at ("ann/fresh"), &st), -1);
    assert_int_equal (stat (at ("ann/kept"), &st), 0);
    assert_true (st.st_size > 0);
}

static void test_truncate_or_append (void **state)
{
    struct stat st;
    struct error err;

    (void)state;
    put ("ann/f", ANN, 0600);
    become (ANN);
    int fd = userfile_open (at ("ann"), "f", USERFILE_APPEND, &err);
    assert_true (fd >= 0);
    assert_int_equal (io_write_all (fd, "more", 4), 0);
    close (fd);
    userfile_restore (NULL);
    assert_int_equal (stat (at ("ann/f"), &st), 0);
    assert_int_equal (st.st_size, 13);
    ann_gets ("ann/f", 0, "");
    assert_int_equal (stat (at ("ann/f"), &st), 0);
    assert_int_equal (st.st_size, 0);
}

static void test_the_kernel_s_permissions_hold (void **state)
{
    (void)state;
    put ("root-file", 0, 0644);
    put ("ann/protected", ANN, 0400);
    ann_gets ("new-in-root-s-directory", EACCES, "Permission denied");
    ann_gets ("root-file", EACCES, "root-file: Permission denied");
    ann_gets ("ann/protected", EACCES, "Permission denied");
    assert_int_equal (mkdir (at ("closed"), 0700), 0);
    ann_gets ("closed/x", EACCES, "closed/x");
}

static void test_what_is_no_file (void **state)
{
    (void)state;
    assert_int_equal (mkdir (at ("ann/d"), 0777), 0);
    assert_int_equal (chown (at ("ann/d"), ANN, ANN), 0);
    ann_gets ("ann/d", EISDIR, "ann/d is a directory");
    ann_gets ("ann/d/", EISDIR, "is a directory");
    ann_gets ("ann/d/..", EISDIR, "is a directory");
    ann_gets ("/", EISDIR, "is a directory");
    ann_gets ("ann/typo/x.out", ENOENT, "ann/typo does not exist");
    ann_gets ("ann/typo/", ENOENT, "ann/typo does not exist");
    put ("ann/plain", ANN, 0600);
    ann_gets ("ann/plain/x", ENOTDIR, "ann/plain");
    ann_gets ("ann/plain/", ENOTDIR, "ann/plain");
    ann_gets ("", ENOENT, "empty");
    ann_gets ("/dev/zero", EPERM, "device");
    ann_gets ("/dev/full", EPERM, "device");
    ann_gets ("/proc/self/timerslack_ns", EPERM, "a part of /proc");

    char name[5000];
    memset (name, 'x', sizeof (name) - 1);
    name[sizeof (name) - 1] = '\0';
    ann_gets (name, ENAMETOOLONG, "");
    for (size_t i = 1; i < sizeof (name) - 1; i += 2)
        name[i] = '/';
    name[300] = '\0';
    ann_gets (name, ENOENT, "does not exist");
}

static void test_links_of_others (void **state)
{
    struct stat st;

    (void)state;
    put ("ann/precious", ANN, 0600);
    plant_link (at ("ann/precious"), "shared/trap", BEA);
    ann_gets ("shared/trap", EPERM, "shared/trap is a link that belongs to uid 61002");
    plant_link (at ("ann/precious"), "ann/trap", BEA);
    ann_gets ("ann/trap", EPERM, "ann/trap is a link that belongs to uid 61002");
    plant_link (at ("ann"), "shared/way", BEA);
    ann_gets ("shared/way/new", EPERM, "shared/way is a link");
    plant_link ("/no/such/place", "shared/dangling", BEA);
    ann_gets ("shared/dangling", EPERM, "is a link");
    /* a link of hers that leads through another user's directory */
    plant_link ("trap", "shared/mine", ANN);
    ann_gets ("shared/mine", EPERM, "shared/trap is a link");
    assert_int_equal (stat (at ("ann/precious"), &st), 0);
    assert_int_equal (st.st_size, 9); /* no file was truncated */
}

static void test_links_of_her_own_and_of_root (void **state)
{
    struct stat st;

    (void)state;
    put ("ann/target", ANN, 0600);
    plant_link ("target", "ann/own", ANN);
    ann_gets ("ann/own/", ENOTDIR, "ann/target");
    ann_gets ("ann/own", 0, "");
    assert_int_equal (stat (at ("ann/target"), &st), 0);
    assert_int_equal (st.st_size, 0);
    plant_link (at ("ann"), "home", 0);
    ann_gets ("home/via-root-s-link", 0, "");
    assert_int_equal (access (at ("ann/via-root-s-link"), F_OK), 0);
    plant_link ("../ann/./", "ann/round", ANN);
    ann_gets ("ann/round/round/round/x", 0, "");
    plant_link ("made-by-link", "ann/dangling", ANN);
    ann_gets ("ann/dangling", 0, "");
    assert_int_equal (access (at ("ann/made-by-link"), F_OK), 0);
    plant_link ("loop", "ann/loop", ANN);
    ann_gets ("ann/loop", ELOOP, "ann/loop");
    ann_gets ("ann/loop/x", ELOOP, "ann/loop");

    char target[4001];
    memset (target, '/', 4000);
    memcpy (target + 3997, "big", 4);
    plant_link (target, "ann/big", ANN);
    ann_gets ("ann/big/big/big", ENOENT, "/big does not exist");
}

static void test_files_of_others (void **state)
{
    struct stat st;

    (void)state;
    put ("shared/bait", BEA, 0666);
    ann_gets ("shared/bait", EPERM, "file of another user");
    assert_int_equal (stat (at ("shared/bait"), &st), 0);
    assert_int_equal (st.st_size, 9);
    put ("shared/roots", 0, 0666); /* the owner's file: as fs.protected_regular */
    ann_gets ("shared/roots", 0, "");
    /* in a project's directory users do write to each other's files */
    assert_int_equal (mkdir (at ("project"), 0755), 0);
    put ("project/log", BEA, 0666);
    ann_gets ("project/log", 0, "");
}

static void test_fifos (void **state)
{
    (void)state;
    assert_int_equal (mkfifo (at ("shared/fifo"), 0666), 0);
    assert_int_equal (chmod (at ("shared/fifo"), 0666), 0);
    assert_int_equal (lchown (at ("shared/fifo"), BEA, BEA), 0);
    ann_gets ("shared/fifo", EPERM, "FIFO of another user");
    assert_int_equal (mkfifo (at ("ann/fifo"), 0600), 0);
    assert_int_equal (lchown (at ("ann/fifo"), ANN, ANN), 0);
    ann_gets ("ann/fifo", ENXIO, "nobody reads");
    int reader = open (at ("ann/fifo"), O_RDONLY | O_NONBLOCK);
    ann_gets ("ann/fifo", 0, "");
    close (reader);
}

/* True if the calling thread can read root's secret file. */
static bool reads_secret (void)
{
    int fd = open (at ("secret"), O_RDONLY);

    if (fd >= 0)
        close (fd);
    return fd >= 0;
}

static sem_t changed, checked;

static void *become_ann (void *arg)
{
    bool *refused = arg;

    become (ANN);
    sem_post (&changed);
    sem_wait (&checked);
    *refused = !reads_secret ();
    userfile_restore (NULL);
    return NULL;
}

static void test_become_is_of_one_thread (void **state)
{
    pthread_t thread;
    bool refused = false;
    gid_t before[64], after[64];

    (void)state;
    put ("secret", 0, 0600);
    int n = getgroups (64, before);
    sem_init (&changed, 0, 0);
    sem_init (&checked, 0, 0);
    pthread_create (&thread, NULL, become_ann, &refused);
    sem_wait (&changed);
    bool ours = reads_secret ();
    int fsuid = setfsuid ((uid_t)-1);
    int n2 = getgroups (64, after);
    sem_post (&checked);
    pthread_join (thread, NULL);
    assert_true (refused);
    assert_true (ours);
    assert_int_equal (fsuid, 0);
    assert_int_equal (n2, n);
    assert_int_equal (n > 0 ? memcmp (before, after, (size_t)n * sizeof (gid_t)) : 0, 0);
}

static void test_become_and_restore (void **state)
{
    gid_t before[64], after[64];
    gid_t two[] = { ANN, BEA };
    struct error err;

    (void)state;
    int n = getgroups (64, before);
    put ("group-file", 0, 0660);
    assert_int_equal (chown (at ("group-file"), 0, BEA), 0);
    ann_gets ("group-file", EACCES, "");
    assert_int_equal (userfile_become (ANN, ANN, two, 2, &err), 0);
    int fd = userfile_open (dir, "group-file", USERFILE_APPEND, &err);
    assert_true (fd >= 0); /* through a second group */
    close (fd);
    become (BEA); /* one user after another, and back from the last */
    assert_false (reads_secret ());
    assert_int_equal (userfile_restore (&err), 0);
    assert_int_equal (userfile_restore (&err), 0);
    assert_true (reads_secret ());
    assert_int_equal (getgroups (64, after), n);
    assert_int_equal (n > 0 ? memcmp (before, after, (size_t)n * sizeof (gid_t)) : 0, 0);
}

/* A process without root can act only as its own user. Needs no root. */
static void test_become_without_root (void **state)
{
    (void)state;
    pid_t pid = fork ();
    if (pid == 0) {
        if (geteuid () == 0 && setuid (ANN) < 0)
            _exit (1);
        int same = userfile_become (geteuid (), getegid (), NULL, 0, NULL);
        int other = userfile_become (BEA, BEA, NULL, 0, NULL);
        _exit (same == 0 && other == -EPERM && userfile_restore (NULL) == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
}

/* The checks without root: links are of the user itself, and the other cases as for
 * Ann. */
static void test_own_files (void **state)
{
    struct error err;

    (void)state;
    assert_int_equal (symlink ("f1", at ("shared/own")), 0);
    int fd = userfile_open (at ("shared"), "own", USERFILE_TRUNCATE, &err);
    assert_true (fd >= 0);
    close (fd);
    assert_int_equal (access (at ("shared/f1"), F_OK), 0);
    assert_int_equal (userfile_open (dir, "typo/x", USERFILE_TRUNCATE, &err), -ENOENT);
    assert_int_equal (userfile_open (dir, "shared", USERFILE_TRUNCATE, &err), -EISDIR);
    assert_int_equal (userfile_open ("relative", "x", USERFILE_TRUNCATE, &err), -EINVAL);
}

int main (void)
{
    const struct CMUnitTest anybody[] = {
        cmocka_unit_test (test_own_files),
        cmocka_unit_test (test_become_without_root),
    };
    const struct CMUnitTest root[] = {
        cmocka_unit_test (test_files),
        cmocka_unit_test (test_check),
        cmocka_unit_test (test_truncate_or_append),
        cmocka_unit_test (test_the_kernel_s_permissions_hold),
        cmocka_unit_test (test_what_is_no_file),
        cmocka_unit_test (test_links_of_others),
        cmocka_unit_test (test_links_of_her_own_and_of_root),
        cmocka_unit_test (test_files_of_others),
        cmocka_unit_test (test_fifos),
        cmocka_unit_test (test_become_is_of_one_thread),
        cmocka_unit_test (test_become_and_restore),
    };
    int failed = cmocka_run_group_tests (anybody, make_dir, remove_dir);

    if (geteuid () == 0)
        failed += cmocka_run_group_tests (root, make_dir, remove_dir);
    else
        puts ("The cases of several users need root and were not run.");
    return failed;
}
