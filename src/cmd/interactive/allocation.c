/* allocation.c - see allocation.h */
#include "cmd/interactive/allocation.h"

#include "cmd/print/print.h"
#include "cmd/client/send.h"
#include "cmd/client/watch.h"
#include "common/clock.h"
#include "protocol/keepalive.h"
#include "jobspec/options/variables.h"

#define MOMENT 1.0           /* seconds; the user is not told of shorter waits */
#define LOOK_AGAIN 30.0      /* seconds, in case the broker's stream is silent */
#define CONNECT_SECONDS 30.0 /* for a broker or agents that cannot be reached at first */

extern char **environ;

const char *const allocation_without[] = {
    "input",      "output",       "error",  "array",       "requeue",
    "no-requeue", "get-user-env", "export", "export-file", "open-mode",
    "output-on-full",
    "stage-in",   "stage-out",    NULL
};

/* Signals that end a program, except ctrl-C. */
static const int ends[] = { SIGTERM, SIGHUP };

void allocation_catch_signals (void)
{
    struct sigaction sa = { .sa_handler = cmd_note_interrupt }, old;

    sigemptyset (&sa.sa_mask);
    cmd_catch_interrupts ();
    for (size_t i = 0; i < ARRAY_SIZE (ends); i++)
        if (sigaction (ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction (ends[i], &sa, NULL);
}

void allocation_release_signals (void)
{
    struct sigaction old;

    for (size_t i = 0; i < ARRAY_SIZE (ends); i++)
        if (sigaction (ends[i], NULL, &old) == 0 && old.sa_handler == cmd_note_interrupt)
            signal (ends[i], SIG_DFL);
}

/* -- any job -- */

json_t *job_ask (struct cmd *c, uint64_t id, struct error *err)
{
    struct http_response r = { 0 };
    json_t *job = NULL;
    char target[64];

    snprintf (target, sizeof (target), "/v1/jobs/%ju", (uintmax_t)id);
    if (cmd_open (c, err) < 0)
        return NULL;
    int rc = http_client_request (c->client, "GET", target, NULL, 0, NULL, &r, err);
    if (rc == 0 && r.status == 200)
        job = json_parse (r.body, r.len, "the broker's answer", err);
    else if (rc == 0)
        http_response_error (&r, err);
    http_response_release (&r);
    if (rc < 0)
        cmd_disconnect (c);
    return job;
}

bool job_is_over (const json_t *job)
{
    return answer_number (job, "end_time") > 0;
}

void job_end_text (const json_t *job, char *text, size_t size)
{
    const char *why = json_text (job, "result_text");

    snprintf (text, size, "%s%s%s", json_text (job, "state"), *why ? ": " : "", why);
}

int job_connect (struct cmd *c, uint64_t id, const char *session, int *ret_fd,
                 struct error *err)
{
    char target[128];

    snprintf (target, sizeof (target), "/v1/jobs/%ju/connect%s%s", (uintmax_t)id,
              *session ? "?session=" : "", session);
    int rc = cmd_open (c, err);
    return rc < 0 ? rc : http_client_upgrade (c->client, target, ret_fd, err);
}

/* -ESRCH: the job has ended, or waits to run again. A job that is just ending tells its
 * result soon. */
static int runs_no_more (const json_t *job, struct error *err)
{
    char text[ERROR_TEXT_MAX];

    if (!job || !strcmp (json_text (job, "state"), "RUNNING")
        || !strcmp (json_text (job, "state"), "COMPLETING"))
        return 0;
    job_end_text (job, text, sizeof (text));
    return error_set (err, ESRCH, "job %.0f: %s", answer_number (job, "id"), text);
}

int job_reach (struct cmd *c, uint64_t id, const char *session, int *ret_fd,
               struct error *err)
{
    double began = clock_mono (), pause = 0.05;
    double most = MAX (CONNECT_SECONDS, cmd_broker_wait (c, NULL));

    for (;; pause = MIN (pause * 2, 1.0)) {
        struct error other = { 0 };
        int rc = job_connect (c, id, session, ret_fd, err);
        if (rc == 0 || rc == -EACCES || rc == -EOPNOTSUPP || rc == -ENOENT
            || rc == -ECONNREFUSED) /* cmd_open() has waited */
            return rc;
        autojson json_t *job = cmd_interrupted () ? NULL : job_ask (c, id, &other);
        if (runs_no_more (job, err) < 0)
            return -ESRCH;
        if (clock_mono () - began > most)
            return -ETIMEDOUT;
        if (!cmd_sleep (pause))
            return -EINTR;
    }
}

/* -- submission -- */

static int set (struct cmd *c, struct submit_options *so, const char *name,
                const char *value)
{
    struct error err = { 0 };

    if (submit_options_set (so, SUBMIT_FROM_COMMAND, name, value, NULL, &err) < 0)
        return cmd_fail (c, "%s", err.text);
    return CMD_OK;
}

static void warn (const char *text, void *arg)
{
    cmd_warn (arg, "warning: %s", text);
}

int allocation_options (struct cmd *c, struct submit_options *so, unsigned slurm)
{
    struct error err = { 0 };

    variables_check (slurm, environ, warn, c);
    int rc = slurm ? slurm_options_from_environ (so, slurm, environ, &err)
                   : submit_options_from_environ (so, environ, &err);
    if (rc < 0)
        return cmd_usage (c, "%s", err.text);
    if (so->command.clusters.text
        && cmd_set_clusters (c, so->command.clusters.text, "--clusters") != CMD_OK)
        return c->status;
    submit_options_set_host (so);
    free (so->array); /* from the environment */
    so->array = NULL;
    /* Output of steps goes to the program that started them; their environment is their
     * own. A requeued job would have no client. */
    if (set (c, so, "output", "/dev/null") != CMD_OK
        || set (c, so, "error", "/dev/null") != CMD_OK
        || set (c, so, "no-requeue", NULL) != CMD_OK)
        return c->status;
    return set (c, so, "export", "NONE");
}

int allocation_submit (struct cmd *c, const struct submit_options *so, const char *name,
                       bool stays, uint64_t *ret_id)
{
    const char *script = stays ? KEEPALIVE_STAY_SCRIPT : KEEPALIVE_SCRIPT;
    const struct submit_program program = { .script = script,
                                            .script_len = strlen (script) };
    struct submit_options own = *so;
    struct error err = { 0 };
    autofree char *cwd = getcwd (NULL, 0);
    const char *slash = strrchr (name, '/');

    if (!cwd)
        return cmd_fail (c, "cannot tell the working directory: %s", strerror (errno));
    if (!own.js.name)
        own.script_name = (char *)(slash && slash[1] ? slash + 1 : name);
    autojson json_t *jobspec =
        submit_options_jobspec (&own, &program, cwd, environ, &err);
    autofree char *body = jobspec ? json_dumps (jobspec, JSON_COMPACT) : NULL;
    if (!body)
        return cmd_fail (c, "%s", err.text[0] ? err.text : "out of memory");
    return send_job (c, submit_options_hold (&own) ? "/v1/jobs?urgency=0" : "/v1/jobs",
                     body, strlen (body), so, ret_id);
}

void allocation_cancel (struct cmd *c, uint64_t id)
{
    int status = c->status;
    char ids[32];
    json_t *answer = NULL;

    cmd_forget_interrupt (); /* the one that caused the cancel */
    snprintf (ids, sizeof (ids), "%ju", (uintmax_t)id);
    cmd_call (c, "POST", "/v1/cancel", json_pack ("{s:s}", "ids", ids), &answer);
    json_decref (answer);
    c->status = status;
}

/* -- waiting -- */

static int interrupted (struct cmd *c, uint64_t id)
{
    allocation_cancel (c, id);
    cmd_warn (c, "interrupted: job %ju is cancelled", (uintmax_t)id);
    return c->status = CMD_INTERRUPTED;
}

struct waiting {
    struct cmd *c;
    uint64_t id;
    int flags;
    double began;
    bool told;
    char reason[128]; /* shown last */
};

/* Shows why the job waits, and again when the reason changes. */
static void tell (struct waiting *w, const json_t *job)
{
    const char *reason = json_text (job, "reason");
    const char *text = json_text (job, "reason_text");

    if (!strcmp (json_text (job, "state"), "CONFIGURING"))
        reason = "its nodes are started", text = "";
    if (!(w->flags & ALLOCATION_TELLS) || !*reason || !strcmp (reason, w->reason))
        return;
    cmd_warn (w->c, "job %ju waits: %s%s%s", (uintmax_t)w->id, reason, *text ? ": " : "",
              text);
    snprintf (w->reason, sizeof (w->reason), "%s", reason);
    w->told = true;
}

/* 1: the job runs, and *ret_job is set; 0: not yet; negative: it never will, and the
 * status is set. */
static int look (struct waiting *w, json_t **ret_job)
{
    struct error err = { 0 };
    char text[ERROR_TEXT_MAX];
    json_t *job = job_ask (w->c, w->id, &err);

    if (!job && cmd_interrupted ())
        return 0; /* the caller handles it */
    if (!job) { /* the job ends by itself after its start, as nobody holds it */
        cmd_fail (w->c, "job %ju: %s", (uintmax_t)w->id, err.text);
        return -1;
    }
    if (!strcmp (json_text (job, "state"), "RUNNING")) {
        *ret_job = job;
        return 1;
    }
    bool over = job_is_over (job);
    if (over) {
        job_end_text (job, text, sizeof (text));
        cmd_fail (w->c, "job %ju: %s", (uintmax_t)w->id, text);
    } else if (clock_mono () - w->began >= MOMENT) {
        if (w->flags & ALLOCATION_IMMEDIATE) {
            allocation_cancel (w->c, w->id);
            cmd_fail (w->c, "job %ju is cancelled: it would have to wait: %s",
                      (uintmax_t)w->id, json_text (job, "reason"));
            over = true;
        } else {
            tell (w, job);
        }
    }
    json_decref (job);
    return over ? -1 : 0;
}

static int wait_until_it_runs (struct waiting *w, struct watch *watch, json_t **ret_job)
{
    int rc;

    while ((rc = look (w, ret_job)) == 0) {
        double age = clock_mono () - w->began;
        int status =
            watch_next (watch, 0.05, age < MOMENT ? MOMENT - age + 0.05 : LOOK_AGAIN);
        if (status == CMD_INTERRUPTED || cmd_interrupted ())
            return interrupted (w->c, w->id);
        if (status != CMD_OK)
            return status;
    }
    if (rc < 0)
        return w->c->status;
    if (w->told)
        cmd_warn (w->c, "job %ju runs on %s", (uintmax_t)w->id,
                  json_text (*ret_job, "nodelist"));
    return CMD_OK;
}

int allocation_wait (struct cmd *c, uint64_t id, int flags, json_t **ret_job)
{
    struct waiting w = { .c = c, .id = id, .flags = flags, .began = clock_mono () };
    struct watch watch;
    char target[64];

    snprintf (target, sizeof (target), "/v1/watch?ids=%ju", (uintmax_t)id);
    if (watch_start (&watch, c, target) != CMD_OK) {
        allocation_cancel (c, id);
        return c->status;
    }
    int status = wait_until_it_runs (&w, &watch, ret_job);
    watch_stop (&watch);
    return status;
}

int allocation_connect (struct cmd *c, uint64_t id, const char *session, int *ret_fd)
{
    struct error err = { 0 };
    int rc = job_reach (c, id, session, ret_fd, &err);

    if (rc == 0)
        return CMD_OK;
    if (rc == -EINTR)
        return interrupted (c, id);
    if (rc == -ESRCH)
        return cmd_fail (c, "%s", err.text);
    allocation_cancel (c, id);
    return cmd_fail (c, "job %ju is cancelled: its agents cannot be reached: %s",
                     (uintmax_t)id, err.text);
}
