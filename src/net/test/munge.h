/* munge.h - a private munged for tests: its own key, socket and folder */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "common/clock.h"
#include "common/io.h"

struct test_munge {
    char dir[64];
    char socket[96];
    pid_t pid;
};

static inline void test_munge_exec (const struct test_munge *m)
{
    char options[5][128];
    static const char *const names[] = { "key-file", "pid-file", "log-file", "seed-file",
                                         "socket" };
    static const char *const files[] = { "key", "pid", "log", "seed", "socket" };

    for (size_t i = 0; i < 5; i++)
        snprintf (options[i], sizeof (options[i]), "--%s=%s/%s", names[i], m->dir,
                  files[i]);
    char output[96];
    snprintf (output, sizeof (output), "%s/output", m->dir);
    int fd = open (output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2 (fd, STDERR_FILENO) < 0)
        _exit (126);
    execl ("/usr/sbin/munged", "munged", "--foreground", "--force", "--num-threads=1",
           options[0], options[1], options[2], options[3], options[4], (char *)NULL);
    _exit (127);
}

static inline void test_munge_start (struct test_munge *m)
{
    char path[96], key[128];
    struct stat st;

    memset (m, 0, sizeof (*m));
    snprintf (m->dir, sizeof (m->dir), "/tmp/fluxq-test-munge.XXXXXX");
    assert_non_null (mkdtemp (m->dir));
    assert_int_equal (chmod (m->dir, 0755), 0);
    snprintf (path, sizeof (path), "%s/key", m->dir);
    snprintf (m->socket, sizeof (m->socket), "%s/socket", m->dir);
    assert_int_equal (getrandom (key, sizeof (key), 0), sizeof (key));
    assert_int_equal (io_write_file_atomic (path, key, sizeof (key), 0400, NULL), 0);
    m->pid = fork ();
    assert_true (m->pid >= 0);
    if (m->pid == 0)
        test_munge_exec (m);
    double end = clock_mono () + 30;
    while (stat (m->socket, &st) < 0) {
        if (waitpid (m->pid, NULL, WNOHANG) == m->pid || clock_mono () > end)
            fail_msg ("munged does not start, see %s/output", m->dir);
        poll (NULL, 0, 5);
    }
}

static inline void test_munge_stop (struct test_munge *m)
{
    assert_int_equal (kill (m->pid, SIGTERM), 0);
    assert_int_equal (waitpid (m->pid, NULL, 0), m->pid);
    assert_int_equal (io_remove_tree (m->dir, NULL), 0);
}
