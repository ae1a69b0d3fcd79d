/* serve.h - the parts of fluxq-launch: main.c (arguments), serve.c (requests and ended
 * children), start.c (a child becomes the user), files.c (opens files as the user) */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "launch/record.h"

#define LAUNCH_ADMIN_MAX 256

struct settings {
    const char *shell; /* path of the agent's program */
    int cgroup;        /* the broker's directory of the jobs' cgroups; -1: none */
    uint32_t min_uid;  /* jobs of users below are refused */
    const char
        *admin[LAUNCH_ADMIN_MAX + 1]; /* programs of the administrator; NULL ends */
    uint32_t owner;    /* uid of the broker, which runs no jobs */
};

/* Serves until the broker closes its socket. Returns the exit status. */
int serve (struct settings *s);

/* In a child, with all signals at their defaults: becomes the user of the request and runs
 * the agent, or serves files on the socket fd. Does not return. */
_Noreturn void start_child (const struct settings *s, const struct launch_request *q,
                            int fd);

/* Serves file requests as the current user until the socket closes, or nobody asks for 60
 * seconds. */
void files_serve (int fd);
