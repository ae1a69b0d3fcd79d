/* record.h - what the broker and fluxq-launch say to each other
 *
 * Each message is one record of fixed size on a SOCK_SEQPACKET socket, in the byte order of
 * the machine, so fluxq-launch parses no text. Descriptors travel beside a record
 * (SCM_RIGHTS, unix(7)).
 *
 *     broker                                fluxq-launch
 *       LAUNCH_HELLO    ------------------>   with a second socket, once
 *       launch_request  ------------------>   starts the process, or sends the signal
 *                       <------------------ launch_reply, with a pidfd
 *                       <------------------ launch_exit, on the second socket, later
 *     broker                                files of a user (a process that became the user)
 *       files_request   ------------------>
 *                       <------------------ files_reply, with a descriptor
 */
#pragma once

#include <limits.h>
#include <stdint.h>

#define LAUNCH_VERSION 1u
#define LAUNCH_VARIABLES_MAX 16
#define LAUNCH_TEXT_MAX 256

#define LAUNCH_REQUEST_FD 3 /* of fluxq-launch, as of a service of systemd */

enum launch_op {
    LAUNCH_HELLO = 1, /* a socket for launch_exit is beside the record */
    LAUNCH_CGROUP,    /* the parent of the jobs' cgroups is beside the record */
    LAUNCH_AGENT,     /* an agent of the job, as the user */
    LAUNCH_ADMIN,     /* a prolog or epilog, as root; its report's file is beside */
    LAUNCH_FILES,     /* opens files as the user; its socket is beside the record */
    LAUNCH_SIGNAL,    /* signum to the process of the pidfd beside the record */
};

struct launch_request {
    uint32_t version, op;
    uint32_t uid; /* the user, whose groups fluxq-launch looks up itself */
    int32_t signum; /* of LAUNCH_ADMIN: the time limit in seconds */
    uint64_t job;
    uint32_t attempt, rank;
    char launch[PATH_MAX]; /* the agent's launch file, or the administrator's program */
    char key[PATH_MAX];    /* the agent's key, or variables, each with a NUL behind it */
};

struct launch_reply {
    int32_t rc;  /* 0, or negative errno and text */
    int32_t pid; /* of the new process, whose pidfd is beside the record; of LAUNCH_HELLO:
                  * the least uid that may run jobs */
    char text[LAUNCH_TEXT_MAX];
};

struct launch_exit {
    int32_t pid, status; /* as waitpid(2) */
};

enum files_op {
    FILES_OPEN = 1, /* userfile_open(): cwd, path, mode */
    FILES_CHECK,    /* userfile_check(): cwd, path */
    FILES_NAMED,  /* userdir_open_named(): path, flags, the directory beside the record */
    FILES_MODE,   /* userfile_chmod(): the mode, the file beside the record */
    FILES_REMOVE, /* removes what the user has made in the directory of path */
};

struct files_request {
    uint32_t op;
    int32_t mode; /* enum userfile_mode, flags, or a file's mode */
    char cwd[PATH_MAX], path[PATH_MAX];
};

struct files_reply {
    int32_t rc; /* 0, or negative errno and text */
    char text[512];
};
