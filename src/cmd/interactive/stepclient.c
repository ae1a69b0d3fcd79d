/* stepclient.c - see stepclient.h */
#include "cmd/interactive/stepclient.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cmd/interactive/allocation.h"
#include "cmd/print/print.h"
#include "common/parse.h"
#include "protocol/agent_path.h"
#include "protocol/keepalive.h"
#include "protocol/step_client.h"

#define INSIDE "FLUXQ_AGENT_SOCKET" /* set in all tasks of a job */
#define GRACE_MORE 10.0 /* added seconds for connecting */

uint32_t step_session_grace (struct cmd *c)
{
    double wait = cmd_broker_wait (c, NULL);

    return wait > 0 ? (uint32_t)MIN (wait + GRACE_MORE, (double)KEEPALIVE_GRACE_MAX) : 0;
}

void step_session (struct step_call *call)
{
    if (step_session_grace (call->c) == 0 || !session_make (call->session))
        call->session[0] = '\0';
}

/* With these variables the step's client can ask for another connection. */
static int set_session (const struct step_call *call)
{
    char number[32], self[PATH_MAX];
    ssize_t n = readlink ("/proc/self/exe", self, sizeof (self) - 1);
    int rc = 0;

    if (!call->session[0] || n < 0 || !call->c->client)
        return unsetenv (STEP_CLIENT_SESSION);
    self[n] = '\0';
    snprintf (number, sizeof (number), "%u", step_session_grace (call->c));
    rc |= setenv (STEP_CLIENT_SESSION, call->session, 1);
    rc |= setenv (STEP_CLIENT_GRACE, number, 1);
    rc |= setenv (STEP_CLIENT_PROGRAM, self, 1);
    rc |= setenv (STEP_CLIENT_BROKER, http_client_url (call->c->client), 1);
    snprintf (number, sizeof (number), "%.3fs", cmd_broker_wait (call->c, NULL));
    return rc | setenv (CMD_BROKER_WAIT, number, 1);
}

static int set_environment (const struct step_call *call)
{
    const struct {
        const char *name, *field;
    } texts[] = { { "FLUXQ_JOB_NAME", "name" },
                  { "FLUXQ_JOB_USER", "user" },
                  { "FLUXQ_NODELIST", "nodelist" } };
    char number[32];

    if (!call->job)
        return 0;
    snprintf (number, sizeof (number), "%d", call->fd);
    int rc = setenv (STEP_CLIENT_FD, number, 1);
    snprintf (number, sizeof (number), "%.0f", answer_number (call->job, "id"));
    rc |= setenv ("FLUXQ_JOB_ID", number, 1);
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        rc |= setenv (texts[i].name, json_text (call->job, texts[i].field), 1);
    rc |= call->holds ? setenv (STEP_CLIENT_HOLD, "1", 1) : unsetenv (STEP_CLIENT_HOLD);
    rc |= unsetenv (STEP_CLIENT_JOB);
    rc |= set_session (call);
    return rc | fcntl (call->fd, F_SETFD, 0);
}

/* Returns only on failure. */
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

/* In the console: runs the client as a child, which reads the terminal meanwhile. */
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
    int status = call->c->in_console ? run_child (call) : become (call);
    cmd_disconnect (call->c);
    return status;
}

/* -- in the job in which we are -- */

bool step_is_inside (void)
{
    return getenv (INSIDE) != NULL;
}

int step_outer_job (struct cmd *c, int64_t *ret_id)
{
    const char *outer = getenv (STEP_CLIENT_JOB);
    struct error err = { 0 };

    *ret_id = 0;
    if (outer && parse_int (outer, 1, INT64_MAX, ret_id, STEP_CLIENT_JOB, &err) < 0)
        return cmd_fail (c, "%s", err.text);
    return CMD_OK;
}

int step_run_inside (struct cmd *c, char *const *argv)
{
    struct step_call call = { .c = c, .fd = -1, .argv = argv };

    return step_client_run (&call);
}

/* Fails with the reason why a job cannot be reached; in Slurm's commands, Slurm's sentence
 * is before a reason that lies in the job. */
static int not_reached (struct cmd *c, const char *refused, const struct error *err)
{
    if (!refused)
        return cmd_fail (c, "the job of this shell: %s", err->text);
    if (err->code == ENOENT || err->code == ESRCH)
        return cmd_fail (c, "%s: Invalid job id specified (%s)", refused, err->text);
    return cmd_fail (c, "%s: %s", refused, err->text);
}

int step_run_in (struct cmd *c, int64_t id, const char *refused, char *const *argv)
{
    struct step_call call = { .c = c, .fd = -1, .argv = argv };
    struct error err = { 0 };

    if (cmd_open (c, &err) < 0)
        return cmd_fail (c, "%s", err.text);
    autojson json_t *job = job_ask (c, (uint64_t)id, &err);
    step_session (&call);
    if (!job || job_reach (c, (uint64_t)id, call.session, &call.fd, &err) < 0)
        return not_reached (c, refused, &err);
    call.job = job;
    return step_client_run (&call);
}
