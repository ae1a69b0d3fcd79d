/* squeue_options.c - see squeue.h
 */
#include "cmd/slurm/jobs/squeue.h"

#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/words/words.h"
#include "common/parse.h"

enum {
    ACCOUNT = 1,
    ALL,
    ARRAY,
    EXPAND,
    CLUSTERS,
    FORMAT_LETTERS,
    FORMAT_NAMES,
    HELP_FORMAT,
    HELP_FORMAT_NAMES,
    HELP_STATE,
    ITERATE,
    JOBS,
    JSON,
    LICENSES,
    LONG,
    ME,
    NAME,
    NOCONVERT,
    NODES,
    NOHEADER,
    NOTME,
    ONLY_STATE,
    PARTITION,
    QOS,
    RESERVATION,
    RUNNING_OVER,
    RUNNING_UNDER,
    SORT_SPEC,
    START,
    STATES,
    STEPS,
    USERS,
    NO_DIFFERENCE, /* fluxq has one cluster, and no hidden partitions */
    REFUSED,
};

/* clang-format off */
const struct option_desc squeue_options[] = {
    { "account", 'A', "LIST", "jobs of these accounts", ACCOUNT, false, NULL },
    { "accounts", 'U', "LIST", NULL, ACCOUNT, false, NULL },
    { "all", 'a', NULL, "jobs in hidden partitions, too (there are none)", NO_DIFFERENCE, false, NULL },
    { "array", 'r', NULL, "a line for each task of an array", ARRAY, false, NULL },
    { "expand-patterns", 0, NULL, "StdOut, StdErr and StdIn as the job opens them", EXPAND, false, NULL },
    { "federation", 0, NULL, "jobs of the federation (there is none)", NO_DIFFERENCE, false, NULL },
    { "format", 'o', "FORMAT", "fields by letter: \"%.18i %T\", see --helpformat", FORMAT_LETTERS, false, NULL },
    { "Format", 'O', "LIST", "fields by name: JobID:10,State, see --helpFormat", FORMAT_NAMES, false, NULL },
    { "helpformat", 0, NULL, "list the letters of -o", HELP_FORMAT, false, NULL },
    { "helpFormat", 0, NULL, "list the names of -O", HELP_FORMAT_NAMES, false, NULL },
    { "helpstate", 0, NULL, "list the states of -t", HELP_STATE, false, NULL },
    { "hide", 0, NULL, "no jobs in hidden partitions (there are none)", NO_DIFFERENCE, false, NULL },
    { "iterate", 'i', "SECONDS", "repeat the list", ITERATE, false, NULL },
    { "jobs", 'j', "LIST", "these jobs: 12,13_4", JOBS, true, NULL },
    { "licenses", 'L', "LIST", "jobs with these licenses (fluxq has none)", LICENSES, false, NULL },
    { "clusters", 'M', "LIST", "all, or the name of this cluster", CLUSTERS, false, NULL },
    { "cluster", 0, "LIST", NULL, CLUSTERS, false, NULL },
    { "local", 0, NULL, "jobs of the local cluster", NO_DIFFERENCE, false, NULL },
    { "long", 'l', NULL, "more fields", LONG, false, NULL },
    { "me", 0, NULL, "my jobs", ME, false, NULL },
    { "name", 'n', "LIST", "jobs with these names", NAME, false, NULL },
    { "noconvert", 0, NULL, "sizes in their original unit", NOCONVERT, false, NULL },
    { "nodelist", 'w', "HOSTS", "jobs on these nodes", NODES, false, NULL },
    { "nodes", 0, "HOSTS", NULL, NODES, false, NULL },
    { "node", 0, "HOSTS", NULL, NODES, false, NULL },
    { "noheader", 'h', NULL, "no line of headings", NOHEADER, false, NULL },
    { "notme", 0, NULL, "jobs of others", NOTME, false, NULL },
    { "only-job-state", 0, NULL, "only ids and states", ONLY_STATE, false, NULL },
    { "partition", 'p', "LIST", "jobs of these partitions", PARTITION, false, NULL },
    { "partitions", 0, "LIST", NULL, PARTITION, false, NULL },
    { "priority", 'P', NULL, "a line for each partition of a job (it has one)", NO_DIFFERENCE, false, NULL },
    { "qos", 'q', "LIST", "jobs with these QOS", QOS, false, NULL },
    { "reservation", 'R', "LIST", "jobs of these reservations", RESERVATION, false, NULL },
    { "running-over", 0, "TIME", "jobs that have run for at least this time", RUNNING_OVER, false, NULL },
    { "running-under", 0, "TIME", "jobs that have run for less", RUNNING_UNDER, false, NULL },
    { "sibling", 0, NULL, "jobs of the federation's clusters (there is none)", NO_DIFFERENCE, false, NULL },
    { "sib", 0, NULL, NULL, NO_DIFFERENCE, false, NULL },
    { "sort", 'S', "SPEC", "order, by letters of -o [" SQUEUE_SORT "]", SORT_SPEC, false, NULL },
    { "start", 0, NULL, "waiting jobs and their expected start", START, false, NULL },
    { "states", 't', "LIST", "jobs in these states, or all [those that wait or run]", STATES, false, NULL },
    { "user", 'u', "LIST", "jobs of these users", USERS, false, NULL },
    { "users", 0, "LIST", NULL, USERS, false, NULL },
    { "json", 0, "VERSION", "JSON, as data_parser v0.0.41 [the only form]", JSON, true, NULL },
    { "steps", 's', "LIST", "steps that run, instead of jobs", STEPS, true, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    { "yaml", 0, "VERSION", NULL, REFUSED, true, NULL },
    OPTION_END,
};
/* clang-format on */

static const struct {
    const char *name, *why;
} refusals[] = {
    { "verbose", "there is nothing more to print; remove the option" },
    { "yaml", "not supported; use --json" },
};

static int refuse (struct cmd *c, const struct option_match *m)
{
    char name[64];

    cmd_option_as_written (c, m, name, sizeof (name));
    for (size_t i = 0; i < ARRAY_SIZE (refusals); i++)
        if (!strncmp (m->desc->name, refusals[i].name, strlen (refusals[i].name)))
            return cmd_usage (c, "%s: %s", name, refusals[i].why);
    return cmd_usage (c, "%s: not supported", name);
}

static int set_running (struct cmd *c, double *ret, const char *text)
{
    struct error err = { 0 };

    if (parse_timelimit (text, ret, "--running-over, --running-under", &err) < 0
        || *ret <= 0)
        return cmd_usage (c, "Invalid time limit specification");
    return CMD_OK;
}

static int set_iterate (struct cmd *c, struct squeue *q, const char *text)
{
    int64_t n;

    if (parse_int (text, 1, INT32_MAX, &n, "", NULL) < 0)
        return cmd_usage (c, "--iterate=%s", text);
    q->iterate = (double)n;
    return CMD_OK;
}

/* Lists that filter jobs. */
static const char **list_of (struct squeue *q, int id)
{
    const char **const lists[REFUSED] = {
        [ACCOUNT] = &q->filter.accounts,
        [NAME] = &q->filter.names,
        [QOS] = &q->filter.qos,
        [RESERVATION] = &q->filter.reservations,
        [LICENSES] = &q->filter.licenses,
        [PARTITION] = &q->partitions,
        [STATES] = &q->states,
        [USERS] = &q->users,
        [NODES] = &q->hosts,
        [SORT_SPEC] = &q->sort,
        [FORMAT_LETTERS] = &q->letters,
        [FORMAT_NAMES] = &q->names,
    };

    return (const char **)lists[id];
}

static bool *flag_of (struct squeue *q, int id)
{
    bool *const flags[REFUSED] = {
        [ARRAY] = &q->array,         [EXPAND] = &q->expand_patterns,
        [LONG] = &q->long_list,      [NOCONVERT] = &q->noconvert,
        [NOTME] = &q->filter.not_me, [ONLY_STATE] = &q->only_state,
        [START] = &q->start,
    };

    return flags[id];
}

static void print_help (struct cmd *c, int id)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (65536);

    if (id == HELP_STATE)
        slurm_state_add_names (&sb, "\n");
    else if (id == HELP_FORMAT)
        slurm_format_add_letters (slurm_job_fields, &sb);
    else
        slurm_format_add_names (slurm_job_fields, &sb);
    fputs (sb.buf, stdout);
    if (id == HELP_STATE)
        putchar ('\n');
    c->ended = true;
}

static int set_option (struct cmd *c, struct squeue *q, const struct option_match *m)
{
    int id = m->desc->id;

    switch (id) {
    case HELP_FORMAT:
    case HELP_FORMAT_NAMES:
    case HELP_STATE:
        print_help (c, id);
        return CMD_OK;
    case ITERATE:
        return set_iterate (c, q, m->value);
    case JOBS:
        q->jobs_given = true;
        q->jobs = m->value ? m->value : q->jobs;
        return CMD_OK;
    case JSON:
        q->json = true;
        if (!job_json_has_version (m->value))
            return cmd_usage (c, "--json=%s: not supported; use --json=v0.0.41",
                              m->value);
        return CMD_OK;
    case ME:
        q->users = "me";
        return CMD_OK;
    case NOHEADER:
        q->header = false;
        return CMD_OK;
    case RUNNING_OVER:
        return set_running (c, &q->filter.running_over, m->value);
    case RUNNING_UNDER:
        return set_running (c, &q->filter.running_under, m->value);
    case CLUSTERS:
        return cmd_set_clusters (c, m->value, "--clusters");
    case NO_DIFFERENCE:
        return CMD_OK;
    case STEPS:
        q->steps = true;
        q->step_list = m->value ? m->value : q->step_list;
        return CMD_OK;
    case REFUSED:
        return refuse (c, m);
    }
    if (list_of (q, id))
        *list_of (q, id) = m->value;
    else
        *flag_of (q, id) = true;
    return CMD_OK;
}

/* The variables that stand for an option which is not given. */
static int read_environ (struct cmd *c, struct squeue *q)
{
    static const struct {
        const char *name;
        int id;
    } variables[] = {
        { "SQUEUE_ACCOUNT", ACCOUNT },   { "SQUEUE_NAMES", NAME },
        { "SQUEUE_LICENSES", LICENSES }, { "SQUEUE_PARTITION", PARTITION },
        { "SQUEUE_QOS", QOS },           { "SQUEUE_STATES", STATES },
        { "SQUEUE_USERS", USERS },       { "SQUEUE_SORT", SORT_SPEC },
    };

    if (cmd_set_clusters_from_environ (c) != CMD_OK)
        return c->status;
    q->array |= getenv ("SQUEUE_ARRAY") != NULL;
    for (size_t i = 0; i < ARRAY_SIZE (variables); i++)
        if (!*list_of (q, variables[i].id))
            *list_of (q, variables[i].id) = getenv (variables[i].name);
    if (q->letters || q->names || q->long_list || q->start)
        return CMD_OK;
    q->letters = getenv ("SQUEUE_FORMAT");
    q->names = q->letters ? NULL : getenv ("SQUEUE_FORMAT2");
    return CMD_OK;
}

/* Slurm permutes operands behind the options: "-j 12" is an option and an operand. */
static int read_operand (struct cmd *c, struct squeue *q)
{
    if (q->operand && q->jobs_given)
        q->jobs = q->operand;
    else if (q->operand && q->steps)
        q->step_list = q->operand;
    const char *extra = q->jobs_given || q->steps ? q->extra : q->operand;
    if (extra)
        return cmd_usage (c, "Unrecognized option: %s", extra);
    return CMD_OK;
}

static int check_options (struct cmd *c, const struct squeue *q)
{
    const struct job_filter *f = &q->filter;

    if (q->letters && q->names)
        return cmd_usage (c, "-o (--format) is incompatible with -O (--Format)");
    if (q->letters && q->long_list)
        return cmd_usage (c, "-o (--format) is incompatible with -l (--long)");
    if (q->steps
        && (q->states || q->hosts || q->start || q->long_list || q->json || q->only_state
            || q->array || q->sort || f->accounts || f->names || f->qos || f->reservations
            || f->licenses || f->not_me || f->running_over > 0 || f->running_under > 0))
        return cmd_usage (
            c, "--steps only works with --jobs, --user, --me, --partition and the "
               "options of the output");
    if (q->only_state
        && (f->accounts || f->names || f->qos || f->reservations || f->licenses
            || f->not_me || f->running_over > 0 || f->running_under > 0 || q->users
            || q->hosts || q->partitions || q->start || q->long_list))
        return cmd_usage (c, "--only-job-state only works with --jobs, --states and the "
                             "options of the output");
    return CMD_OK;
}

int squeue_read_options (struct cmd *c, struct squeue *q)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, q, &m);
        else if (!q->operand)
            q->operand = m.value;
        else
            q->extra = q->extra ? q->extra : m.value;
    }
    if (c->ended)
        return c->status;
    if (read_operand (c, q) != CMD_OK || check_options (c, q) != CMD_OK)
        return c->status;
    if (!slurm_time_format_is_valid ())
        cmd_warn (c, "error: invalid SLURM_TIME_FORMAT = '%s'",
                  getenv ("SLURM_TIME_FORMAT"));
    return read_environ (c, q);
}
