/* scancel.c - scancel: ends jobs or steps, or sends them a signal, with Slurm's words
 *
 *   filters that the broker has ------------------------> POST /v1/cancel
 *   filters on columns, or -i --> listing, choice --ids--^
 *
 * As in Slurm, a job that does not exist or has ended is no failure, and only -v reports
 * it.
 */
#include <pwd.h>
#include <signal.h>

#include "cmd/client/command.h"
#include "cmd/client/named.h"
#include "common/hostlist.h"
#include "common/parse.h"
#include "common/printable.h"

enum {
    ACCOUNT = 1,
    BATCH,
    CLUSTERS,
    FULL,
    HURRY,
    INTERACTIVE,
    ME,
    NAME,
    NODELIST,
    PARTITION,
    QUIET,
    QOS,
    SIGNAL,
    STATE,
    USER,
    VERBOSE,
    WCKEY,
    CTLD
};

static const struct option_desc options[] = {
    { "account", 'A', "NAME", "only jobs of this account", ACCOUNT, false, NULL },
    { "batch", 'b', NULL, "send the signal to the batch script's shell", BATCH, false,
      NULL },
    { "clusters", 'M', "LIST", "all, or the name of this cluster", CLUSTERS, false,
      NULL },
    { "cluster", 0, "LIST", NULL, CLUSTERS, false, NULL },
    { "ctld", 0, NULL, "the broker sends the signal, as always", CTLD, false, NULL },
    { "full", 'f', NULL, "send the signal to the batch script and all steps", FULL, false,
      NULL },
    { "hurry", 'H', NULL, "stage nothing out of burst buffers: there are none", HURRY,
      false, NULL },
    { "interactive", 'i', NULL, "ask before each job", INTERACTIVE, false, NULL },
    { "me", 0, NULL, "only my own jobs", ME, false, NULL },
    { "name", 'n', "NAME", "only jobs with this name", NAME, false, NULL },
    { "jobname", 0, "NAME", "the same as --name", NAME, false, NULL },
    { "nodelist", 'w', "HOSTS", "only jobs on some of these nodes", NODELIST, false,
      NULL },
    { "partition", 'p', "NAME", "only jobs in this partition", PARTITION, false, NULL },
    { "quiet", 'Q', NULL, "print errors only", QUIET, false, NULL },
    { "qos", 'q', "NAME", "only jobs with this quality of service", QOS, false, NULL },
    { "signal", 's', "SIGNAL", "send this signal [KILL, which cancels the job]", SIGNAL,
      false, NULL },
    { "state", 't', "STATE", "only jobs in this state: PENDING, RUNNING or SUSPENDED",
      STATE, false, NULL },
    { "user", 'u', "USER", "only jobs of this user", USER, false, NULL },
    { "verbose", 'v', NULL, "say what is done", VERBOSE, false, NULL },
    { "wckey", 0, "KEY", "only jobs with this workload key", WCKEY, false, NULL },
    OPTION_END,
};

/* Filters that the broker does not have: the columns of the listing after job, id, name
 * and queue. */
enum { BY_ACCOUNT, BY_QOS, BY_WCKEY, BY_NODES, COLUMN_FILTERS };
#define FIELDS "job,name,queue,account,qos,wckey,nodelist"
enum { FIELD_JOB, FIELD_NAME, FIELD_QUEUE, FIELD_FILTERS, NFIELDS = 7 };

#define NODES_MAX 1000000

struct scancel {
    const char *user, *state, *queue, *name;
    const char *by_column[COLUMN_FILTERS];
    int signum; /* 0: cancel */
    const char *whom;
    bool interactive, verbose;
    struct strbuf ids;
    char **steps; /* operands "12.0"; NULL-terminated */
    size_t nsteps;
};

/* -- options -- */

static int set_user (struct cmd *c, struct scancel *x, const char *value)
{
    bool number = *value && value[strspn (value, "0123456789")] == '\0';

    x->user = value;
    if (!number && !getpwnam (value))
        return cmd_usage (c, "Invalid user name: %s", value);
    return CMD_OK;
}

static int set_state (struct cmd *c, struct scancel *x, const char *value)
{
    static const char *const states[][3] = { { "PENDING", "PD", "pending" },
                                             { "RUNNING", "R", "running" },
                                             { "SUSPENDED", "S", "SUSPENDED" } };

    for (size_t i = 0; i < ARRAY_SIZE (states); i++)
        if (!strcasecmp (value, states[i][0]) || !strcasecmp (value, states[i][1])) {
            x->state = states[i][2];
            return CMD_OK;
        }
    return cmd_usage (c,
                      "Invalid job state specified: %s (PENDING, RUNNING and SUSPENDED "
                      "are valid)",
                      value);
}

static int set_signal (struct cmd *c, struct scancel *x, const char *value)
{
    if (parse_signal (value, &x->signum, "", NULL) < 0)
        return cmd_usage (c, "Unknown job signal: %s", value);
    return CMD_OK;
}

static int add_operand (struct cmd *c, struct scancel *x, char *text)
{
    struct strbuf *ids = &x->ids;

    size_t digits = strspn (text, "0123456789");
    if (digits > 0 && text[digits] == '+')
        return cmd_usage (c,
                          "%s: a component of a heterogeneous job cannot be cancelled "
                          "alone: name the job, %.*s",
                          text, (int)digits, text);
    if (text[strspn (text, "0123456789_[],-.batchexnr")] != '\0' || text[0] < '0'
        || text[0] > '9')
        return cmd_usage (c, "Invalid job id %s", text);
    if (!strchr (text, '.'))
        return cmd_add_ids (c, ids, text);
    char **steps = realloc (x->steps, (x->nsteps + 2) * sizeof (*steps));
    if (!steps)
        return cmd_fail (c, "out of memory");
    x->steps = steps;
    steps[x->nsteps++] = text;
    steps[x->nsteps] = NULL;
    return CMD_OK;
}

static int take (struct cmd *c, struct scancel *x, const struct option_match *m)
{
    switch (m->desc ? m->desc->id : CMD_OPERAND) {
    case ACCOUNT:
        x->by_column[BY_ACCOUNT] = m->value;
        return CMD_OK;
    case QOS:
        x->by_column[BY_QOS] = m->value;
        return CMD_OK;
    case WCKEY:
        x->by_column[BY_WCKEY] = m->value;
        return CMD_OK;
    case NODELIST:
        x->by_column[BY_NODES] = m->value;
        return CMD_OK;
    case BATCH:
    case FULL:
        x->whom = m->desc->id == BATCH ? "batch" : "full";
        return CMD_OK;
    case CLUSTERS:
        return cmd_set_clusters (c, m->value, "--clusters");
    case INTERACTIVE:
        x->interactive = true;
        return CMD_OK;
    case ME:
        x->user = "me";
        return CMD_OK;
    case NAME:
        x->name = m->value;
        return CMD_OK;
    case PARTITION:
        x->queue = m->value;
        return CMD_OK;
    case SIGNAL:
        return set_signal (c, x, m->value);
    case STATE:
        return set_state (c, x, m->value);
    case USER:
        return set_user (c, x, m->value);
    case VERBOSE:
        x->verbose = true;
        return CMD_OK;
    case CMD_OPERAND:
        return add_operand (c, x, (char *)m->value);
    default: /* QUIET, CTLD, HURRY change nothing */
        return CMD_OK;
    }
}

static bool has_column_filter (const struct scancel *x)
{
    for (size_t i = 0; i < COLUMN_FILTERS; i++)
        if (x->by_column[i])
            return true;
    return x->interactive;
}

static bool has_filter (const struct scancel *x)
{
    return x->user || x->state || x->queue || x->name || has_column_filter (x);
}

static int read_options (struct cmd *c, struct scancel *x)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0)
        take (c, x, &m);
    if (c->ended || cmd_set_clusters_from_environ (c) != CMD_OK)
        return c->status;
    if (x->signum == SIGKILL && !x->whom)
        x->signum = 0;
    if (x->whom && x->signum == 0)
        x->signum = SIGKILL;
    if (!has_filter (x) && x->ids.len == 0 && x->nsteps == 0)
        return cmd_usage (c, "No job identification provided");
    return CMD_OK;
}

/* -- the choice from a listing -- */

static bool shares_node (const char *nodes, const char *wanted)
{
    struct hostlist *a = hostlist_decode (nodes, NODES_MAX, NULL);
    struct hostlist *b = hostlist_decode (wanted, NODES_MAX, NULL);
    bool found = false;

    for (size_t i = 0; a && b && !found && i < hostlist_count (b); i++)
        found = hostlist_find (a, hostlist_nth (b, i)) >= 0;
    hostlist_destroy (a);
    hostlist_destroy (b);
    return found;
}

/* Asks on the terminal, as Slurm does. */
static bool user_agrees (const char *const *fields)
{
    char line[16];

    printf ("Cancel job_id=%s name=%s partition=%s [y/n]? ", fields[FIELD_JOB],
            fields[FIELD_NAME], fields[FIELD_QUEUE]);
    fflush (stdout);
    return fgets (line, sizeof (line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static bool is_chosen (const struct scancel *x, const char *const *fields)
{
    for (size_t i = 0; i < COLUMN_FILTERS; i++) {
        const char *has = fields[FIELD_FILTERS + i];
        if (x->by_column[i] && i == BY_NODES
                ? !shares_node (has, x->by_column[i])
                : x->by_column[i] && strcmp (has, x->by_column[i]) != 0)
            return false;
    }
    return !x->interactive || user_agrees (fields);
}

/* Adds the job of a line of the listing if it matches. */
static void add_if_chosen (struct scancel *x, char *line)
{
    const char *fields[NFIELDS] = { "", "", "", "", "", "", "" };

    for (size_t i = 0; i < NFIELDS && line; i++) {
        char *field = strsep (&line, "\t");
        printable_clean (field);
        fields[i] = field;
    }
    /* "12_[4-9%2]" without the limit of tasks that run at a time */
    const char *job = fields[FIELD_JOB], *limit = strchr (job, '%');
    if (is_chosen (x, fields))
        strbuf_addf (&x->ids, "%s%.*s%s", x->ids.len ? "," : "", (int)strcspn (job, "%"),
                     job, limit ? "]" : "");
}

/* Replaces the ids by those of the jobs that match. */
static int choose (struct cmd *c, struct scancel *x)
{
    autostrbuf struct strbuf target = STRBUF_INIT (256 * 1024);
    struct http_response r;
    char *rest, *line;

    strbuf_adds (&target, "/v1/jobs?format=tsv&limit=1000000&fields=" FIELDS);
    target_add (&target, "user", x->user);
    target_add (&target, "state", x->state);
    target_add (&target, "queue", x->queue);
    target_add (&target, "name", x->name);
    target_add (&target, "ids", x->ids.len ? x->ids.buf : NULL);
    if (cmd_request (c, "GET", target.buf, NULL, 0, &r) != CMD_OK)
        return c->status;
    strbuf_reset (&x->ids);
    for (rest = r.len > 0 ? r.body : NULL;
         rest && (line = strsep (&rest, "\n")) && *line;)
        add_if_chosen (x, line);
    http_response_release (&r);
    return x->ids.err ? cmd_fail (c, "too many jobs") : CMD_OK;
}

/* -- requests -- */

static void tell (struct cmd *c, const struct scancel *x, const char *kind,
                  const char *id)
{
    if (x->verbose && x->signum)
        cmd_warn (c, "Signal %d to %s %s", x->signum, kind, id);
    else if (x->verbose)
        cmd_warn (c, "Terminating %s %s", kind, id);
}

static int report (struct cmd *c, const struct scancel *x, const json_t *answer)
{
    const json_t *failed = json_object_get (answer, "failed"), *o;
    size_t i;

    json_array_foreach (failed, i, o) {
        const char *code = json_text (o, "code");
        bool gone = !strcmp (code, "unknown-job") || !strcmp (code, "wrong-state");
        const char *words = cmd_slurm_sentence (code);
        if (!gone || x->verbose)
            cmd_warn (c, "error: Kill job error on job id %jd: %s (%s)",
                      (intmax_t)json_integer_value (json_object_get (o, "id")),
                      words ? words : code, json_text (o, "detail"));
        if (!gone)
            c->status = CMD_FAILED;
    }
    return c->status;
}

static int send (struct cmd *c, const struct scancel *x, json_t *request)
{
    autojson json_t *answer = NULL;

    if (x->signum)
        json_object_set_new (request, "signal", json_integer (x->signum));
    /* As in Slurm, the script does not get a signal that is for the job. */
    if (x->whom || (x->signum && !json_object_get (request, "step")))
        json_object_set_new (request, "whom", json_string (x->whom ? x->whom : "steps"));
    if (cmd_call (c, "POST", "/v1/cancel", request, &answer) == CMD_OK)
        report (c, x, answer);
    return c->status;
}

static void set_text (json_t *request, const char *key, const char *value)
{
    if (value)
        json_object_set_new (request, key, json_string (value));
}

static int send_jobs (struct cmd *c, struct scancel *x)
{
    json_t *request;
    autofree char *copy = NULL;

    if (has_column_filter (x)) {
        if (choose (c, x) != CMD_OK || x->ids.len == 0)
            return c->status;
        x->user = x->state = x->queue = x->name = NULL;
    }
    copy = x->ids.len ? strdup (x->ids.buf) : NULL;
    for (char *rest = copy, *id; rest && (id = strsep (&rest, ","));)
        tell (c, x, "job", id);
    request = json_object ();
    set_text (request, "ids", x->ids.len ? x->ids.buf : NULL);
    set_text (request, "user", x->user);
    set_text (request, "state", x->state);
    set_text (request, "queue", x->queue);
    set_text (request, "name", x->name);
    return send (c, x, request);
}

/* "12.0"; "12.batch" is the batch script's shell. */
static int send_step (struct cmd *c, struct scancel *x, const char *text)
{
    struct scancel one = { .signum = x->signum, .whom = x->whom, .verbose = x->verbose };
    const char *dot = strchr (text, '.');
    json_t *request = json_object ();
    int64_t step;

    json_object_set_new (request, "ids", json_stringn (text, (size_t)(dot - text)));
    tell (c, x, "step", text);
    if (!strcmp (dot + 1, "batch")) {
        one.whom = "batch";
        one.signum = x->signum ? x->signum : SIGKILL;
    } else if (parse_int (dot + 1, 0, UINT32_MAX, &step, "", NULL) == 0) {
        json_object_set_new (request, "step", json_integer (step));
    } else {
        json_decref (request);
        return cmd_fail (c, "Invalid job id %s", text);
    }
    return send (c, &one, request);
}

static int run (struct cmd *c)
{
    struct scancel x = { 0 };

    strbuf_init (&x.ids, 16 << 20);
    int status = read_options (c, &x);
    if (!c->ended && status == CMD_OK
        && (x.ids.len > 0 || (has_filter (&x) && !x.nsteps)))
        status = send_jobs (c, &x);
    for (size_t i = 0; !c->ended && i < x.nsteps && status != CMD_INTERRUPTED; i++)
        status = send_step (c, &x, x.steps[i]);
    free (x.steps);
    strbuf_release (&x.ids);
    return c->status;
}

static const char *const usage[] = { "[OPTION]... [JOB[_TASK][.STEP]]...", NULL };

const struct command slurm_scancel = {
    .name = "scancel",
    .summary = "Cancel jobs or steps, or send them a signal",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_JOBS,
    .run = run,
    .slurm = true,
};
