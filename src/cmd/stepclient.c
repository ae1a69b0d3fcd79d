/* stepclient.c - see stepclient.h */
#include "cmd/stepclient.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cmd/print.h"
#include "common/agent_path.h"
#include "common/json.h"
#include "common/step_client.h"

static int set_environment (const struct step_call *call)
{
    const struct {
        const char *name, *field;
    } texts[] = { { "FLUXQ_JOB_NAME", "name" },
                  { "FLUXQ_JOB_USER", "user" },
                  { "FLUXQ_NODELIST", "nodelist" } };
    char number[32];
    int rc;

    if (!call->job)
        return 0;
    snprintf (number, sizeof (number), "%d", call->fd);
    rc = setenv (STEP_CLIENT_FD, number, 1);
    snprintf (number, sizeof (number), "%.0f", answer_number (call->job, "id"));
    rc |= setenv ("FLUXQ_JOB_ID", number, 1);
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        rc |= setenv (texts[i].name, json_text (call->job, texts[i].field), 1);
    rc |= call->holds ? setenv (STEP_CLIENT_HOLD, "1", 1) : unsetenv (STEP_CLIENT_HOLD);
    rc |= unsetenv (STEP_CLIENT_JOB);
    return rc | fcntl (call->fd, F_SETFD, 0);
}

/* Returns when it failed. */
static int become (const struct step_call *call)
{
    struct error err = { 0 };
    autofree char *path = agent_path_find (NULL, &err);

    if (!path)
        return cmd_fail (call->c, "%s", err.text);
    if (set_environment (call) != 0)
        return cmd_fail (call->c, "the environment: %s", strerror (errno));
    execv (path, call->argv);
    return cmd_fail (call->c, "cannot execute %s: %s", path, strerror (errno));
}

/* In the console: as a child, which gets the keys meanwhile. */
static int run_child (const struct step_call *call)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    int status = 1 << 8;

    sigaction (SIGINT, &ignore, &before);
    pid_t pid = fork ();
    if (pid == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        sigaction (SIGINT, &before, NULL);
        _exit (become (call));
    }
    if (call->fd >= 0)
        close (call->fd); /* the child holds the job */
    while (pid > 0 && waitpid (pid, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction (SIGINT, &before, NULL);
    if (pid < 0)
        return cmd_fail (call->c, "cannot start a process: %s", strerror (errno));
    return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

int step_client_run (const struct step_call *call)
{
    fflush (stdout);
    cmd_disconnect (call->c);
    if (call->c->in_console)
        return run_child (call);
    return become (call);
}
