/* run_connect.c - fluxq-run's first connection: to the agent's socket, or one that it is
 * given */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/parse.h"
#include "shell/io/agent_file.h"
#include "shell/io/sock.h"
#include "shell/run/run.h"

static int connect_agent (pid_t *ret_agent, struct error *err)
{
    const char *path = getenv (CLIENT_SOCKET_VARIABLE);
    struct ucred who;
    socklen_t len = sizeof (who);
    autofree char *address = NULL, *here = getcwd (NULL, 0);
    if (!path || path[0] != '/')
        return error_set (err, ENOENT,
                          "not inside a job (" CLIENT_SOCKET_VARIABLE " is not set)");
    if (asprintf (&address, "unix:%s", path) < 0)
        return error_no_memory (err, NULL);
    int fd = sock_connect (address, NULL, 0, err);
    if (here && chdir (here) < 0) { /* a long path needs chdir(2) */
        int rc = error_errno (err, errno, "%s", here);
        if (fd >= 0)
            close (fd);
        return rc;
    }
    if (fd < 0)
        return error_prefix (err, "the job's agent");
    if (ret_agent && getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0)
        *ret_agent = who.pid;
    return fd;
}

static int take_given (const char *text, struct error *err)
{
    struct stat st;
    int64_t fd;
    int rc = parse_int (text, 0, INT32_MAX, &fd, STEP_CLIENT_FD, err);
    if (rc < 0)
        return rc;
    if (fstat ((int)fd, &st) < 0 || !S_ISSOCK (st.st_mode))
        return error_set (err, EBADF,
                          STEP_CLIENT_FD ": %s is not a connection; the variable is for "
                                         "fluxq's own programs: unset it",
                          text);
    fcntl ((int)fd, F_SETFD, FD_CLOEXEC);
    return (int)fd;
}

int run_connect (pid_t *ret_agent, struct error *err)
{
    const char *given = getenv (STEP_CLIENT_FD);
    return given ? take_given (given, err) : connect_agent (ret_agent, err);
}
