/* launcher.h - the broker's side of fluxq-launch, the program that is root in its place
 *
 *     launcher_start (&settings, &err);       // as root, before any thread and any socket
 *     launcher_become_owner (&settings, &err) // this process is no longer root
 *
 *     launcher_connect ("/run/fluxq-launch.sock", &err);   // or: systemd starts fluxq-launch
 *     ...
 *     launcher_agent (&agent, &pid, &pidfd, &err);
 *     launcher_signal (pidfd, SIGTERM);
 *     while (launcher_next_exit (&pid, &status)) ...   // when launcher_exit_fd() is readable
 *
 * From then on userfile_become() and the functions of userfile.h that follow it act as other
 * users, too: a process of fluxq-launch that has become the user opens the files.
 *
 * There is one launcher in a process. The requests are synchronous: fluxq-launch answers
 * after a fork, and waits for nothing. launcher_agent() and launcher_signal(): any thread.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"

struct launcher_settings {
    const char *program, *shell; /* paths of fluxq-launch and of the agent */
    uid_t owner;                 /* the broker's user from now on, */
    gid_t group;
    const char *name; /* ... and its name */
    uint32_t min_uid;
    const char *admin[256]; /* prologs and epilogs, which may run as root; NULL ends */
};

/* Starts fluxq-launch, as root. */
int launcher_start (const struct launcher_settings *s, struct error *err);
/* Connects to a socket of systemd's, for a process that is the owner already. */
int launcher_connect (const char *path, struct error *err);
/* The parent of the jobs' cgroups, which the broker makes; agents join them. */
int launcher_set_cgroup (int dir, struct error *err);
/* The least uid that may run jobs. */
uid_t launcher_min_uid (void);
/* Gives up root for good: the owner's groups, gid and uid; no capability is left. */
int launcher_become_owner (const struct launcher_settings *s, struct error *err);
/* Whether there is a launcher. */
bool launcher_is_on (void);

struct launcher_agent {
    uid_t uid;
    uint64_t job;
    uint32_t attempt, rank;
    const char *launch, *key; /* paths */
};

/* Starts an agent as its user, in the job's cgroup if there are cgroups. *ret_pidfd
 * belongs to the caller. */
int launcher_agent (const struct launcher_agent *a, pid_t *ret_pid, int *ret_pidfd,
                    struct error *err);
/* Starts a prolog or epilog as root. variables: NAME=VALUE with a NUL behind each, len bytes;
 * report: a file that gets the reason of a failure. */
int launcher_admin (const char *program, int seconds, const char *variables, size_t len,
                    int report, pid_t *ret_pid, int *ret_pidfd, struct error *err);
/* Sends a signal to a prolog or epilog, or to a process of a user who may run jobs. 0 or negative errno. */
int launcher_signal (int pidfd, int signum);
/* Ended agents: a descriptor to poll; the next of them, with its status as of waitpid(2):
 * 1; 0: there is none now; -EPIPE: fluxq-launch has ended. */
int launcher_exit_fd (void);
int launcher_next_exit (pid_t *ret_pid, int *ret_status);
/* Removes, as the user, all that the user has made in the directory. */
int launcher_remove_tree (uid_t uid, const char *path, struct error *err);
