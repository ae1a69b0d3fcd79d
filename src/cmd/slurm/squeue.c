/* squeue.c - squeue: lists jobs in Slurm's formats
 *
 * The fields are slurm_job_fields (job_fields.c), the order job_sort.c; filters that the
 * broker does not have are job_filter.c.
 */
#include <pwd.h>
#include <time.h>

#include "cmd/client/command.h"
#include "cmd/client/named.h"
#include "cmd/slurm/job_filter.h"
#include "cmd/slurm/job_rows.h"
#include "cmd/slurm/words.h"
#include "common/clock.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"

#define LISTING_MAX (1 << 30)
#define TARGET_MAX (256 * 1024)
#define TASKS_MAX (1 << 20)
#define FORMAT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define LONG_FORMAT "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
#define START_FORMAT "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
#define STATE_FORMAT "%.18i %.2t"
#define SORT "P,t,-p"

enum {
    ACCOUNT = 1,
    ALL,
    ARRAY,
    EXPAND,
    FORMAT_LETTERS,
    FORMAT_NAMES,
    HELP_FORMAT,
    HELP_FORMAT_NAMES,
    HELP_STATE,
    ITERATE,
    JOBS,
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
    USERS,
    NO_DIFFERENCE, /* fluxq has one cluster, and no hidden partitions */
    REFUSED,
};

/* clang-format off */
static const struct option_desc options[] = {
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
    { "sort", 'S', "SPEC", "order, by letters of -o [" SORT "]", SORT_SPEC, false, NULL },
    { "start", 0, NULL, "waiting jobs and their expected start", START, false, NULL },
    { "states", 't', "LIST", "jobs in these states, or all [those that wait or run]", STATES, false, NULL },
    { "user", 'u', "LIST", "jobs of these users", USERS, false, NULL },
    { "users", 0, "LIST", NULL, USERS, false, NULL },
    { "cluster", 0, "NAME", NULL, REFUSED, false, NULL },
    { "clusters", 'M', "NAME", NULL, REFUSED, false, NULL },
    { "json", 0, "VERSION", NULL, REFUSED, true, NULL },
    { "steps", 's', "LIST", NULL, REFUSED, true, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    { "yaml", 0, "VERSION", NULL, REFUSED, true, NULL },
    OPTION_END,
};
/* clang-format on */

static const struct {
    const char *name, *why;
} refusals[] = {
    { "cluster", "there is one cluster; remove the option" },
    { "json", "not supported; use -o or -O, or fluxq-queue --json" },
    { "steps", "the broker has no list of running steps; fluxq-show job prints the "
               "ended ones" },
    { "verbose", "there is nothing more to print; remove the option" },
    { "yaml", "not supported; use -o or -O, or fluxq-queue --json" },
};

struct squeue {
    struct job_filter filter;
    struct slurm_format format;
    const char *letters, *names; /* of -o and -O */
    const char *sort, *jobs, *states, *partitions, *users, *hosts;
    const char *operand, *extra;
    bool jobs_given, me, array, header, long_list, start, only_state, other_filter;
    bool noconvert, expand_patterns;
    bool nobody;         /* no user of the list exists */
    struct strbuf known; /* the users that exist */
    double iterate;
    uint64_t needs;
};

/* -- options -- */

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
        [ACCOUNT] = &q->filter.accounts,   [NAME] = &q->filter.names,
        [QOS] = &q->filter.qos,            [RESERVATION] = &q->filter.reservations,
        [LICENSES] = &q->filter.licenses,  [PARTITION] = &q->partitions,
        [STATES] = &q->states,             [USERS] = &q->users,
        [NODES] = &q->hosts,               [SORT_SPEC] = &q->sort,
        [FORMAT_LETTERS] = &q->letters,    [FORMAT_NAMES] = &q->names,
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
    case NO_DIFFERENCE:
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
        { "SQUEUE_ACCOUNT", ACCOUNT },     { "SQUEUE_NAMES", NAME },
        { "SQUEUE_LICENSES", LICENSES },   { "SQUEUE_PARTITION", PARTITION },
        { "SQUEUE_QOS", QOS },             { "SQUEUE_STATES", STATES },
        { "SQUEUE_USERS", USERS },         { "SQUEUE_SORT", SORT_SPEC },
    };

    if (getenv ("SLURM_CLUSTERS"))
        return cmd_usage (c, "SLURM_CLUSTERS: there is one cluster; unset the variable");
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
    const char *extra = q->jobs_given ? q->extra : q->operand;
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
    if (q->only_state
        && (f->accounts || f->names || f->qos || f->reservations || f->licenses
            || f->not_me || f->running_over > 0 || f->running_under > 0 || q->users
            || q->hosts || q->partitions || q->start || q->long_list))
        return cmd_usage (c, "--only-job-state only works with --jobs, --states and the "
                             "options of the output");
    return CMD_OK;
}

static int read_options (struct cmd *c, struct squeue *q)
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

/* -- what the options mean -- */

static void wrong_field (void *arg, const char *text)
{
    cmd_warn (arg, "error: Invalid job format specification: %s", text);
}

static int set_format (struct cmd *c, struct squeue *q)
{
    const char *letters = q->letters      ? q->letters
                          : q->start      ? START_FORMAT
                          : q->long_list  ? LONG_FORMAT
                          : q->only_state ? STATE_FORMAT
                                          : FORMAT;
    int rc = q->names ? slurm_format_parse_long (&q->format, slurm_job_fields, q->names,
                                                 wrong_field, c)
                      : slurm_format_parse (&q->format, slurm_job_fields, letters,
                                            wrong_field, c);

    if (rc < 0)
        return cmd_fail (c, "the format has too many fields");
    return CMD_OK;
}

static int set_sort (struct cmd *c, struct squeue *q)
{
    char wrong;
    uint64_t needs;

    if (!q->sort)
        q->sort = q->start ? "S" : SORT;
    if (!job_sort_needs (q->sort, &needs, &wrong))
        return cmd_fail (c, "Invalid sort specification: %c", wrong);
    q->needs |= needs;
    return CMD_OK;
}

static int set_states (struct cmd *c, struct squeue *q)
{
    struct error err = { 0 };
    autostrbuf struct strbuf known = STRBUF_INIT (4096);

    if (!q->states && q->start)
        q->states = "PD";
    if (!q->states || job_filter_set_states (&q->filter, q->states, &err) == 0)
        return CMD_OK;
    slurm_state_add_names (&known, ",");
    cmd_warn (c, "error: Invalid job state specified: %s", err.text);
    return cmd_fail (c, "Valid job states include: %s", known.buf);
}

/* Keeps the users that exist; the others are named on stderr. */
static int set_users (struct cmd *c, struct squeue *q)
{
    autofree char *copy = q->users ? strdup (q->users) : NULL;
    char *next = copy, *word;

    while ((word = strsep (&next, ","))) {
        bool number = *word && word[strspn (word, "0123456789")] == '\0';
        const struct passwd *pw =
            number ? getpwuid ((uid_t)strtoul (word, NULL, 10)) : NULL;
        if (!*word)
            continue;
        if (number || named_user_exists (c, word))
            strbuf_addf (&q->known, "%s%s", q->known.len ? "," : "",
                         pw ? pw->pw_name : word);
        else
            fprintf (stderr, "squeue: error: Invalid user: %s\n\n", word);
    }
    q->nobody = q->users && q->known.len == 0;
    return c->status;
}

static bool is_node (const json_t *nodes, const char *name)
{
    for (size_t i = 0; i < json_array_size (nodes); i++)
        if (!strcmp (json_text (json_array_get (nodes, i), "name"), name))
            return true;
    return false;
}

/* The nodes of -w, which must exist. */
static int set_hosts (struct cmd *c, struct squeue *q)
{
    json_t *answer;
    struct error err = { 0 };

    if (!q->hosts)
        return CMD_OK;
    if (!(q->filter.nodes = hostlist_decode (q->hosts, 1000000, &err)))
        return cmd_fail (c, "'%s' invalid entry for --nodelist", q->hosts);
    if (cmd_get (c, "/v1/nodes", &answer) != CMD_OK)
        return c->status;
    for (size_t i = 0; i < hostlist_count (q->filter.nodes); i++) {
        const char *name = hostlist_nth (q->filter.nodes, i);
        if (!is_node (json_object_get (answer, "nodes"), name)) {
            cmd_fail (c, "Invalid node name %s", name);
            break;
        }
    }
    json_decref (answer);
    return c->status;
}

static int set_jobs (struct cmd *c, struct squeue *q)
{
    struct error err = { 0 };

    if (q->jobs && job_filter_set_jobs (&q->filter, q->jobs, &err) < 0)
        return cmd_fail (c, "Invalid job id: %s", err.text);
    return CMD_OK;
}

/* One job is looked up whatever its state is, because it must exist. */
static bool is_one_job (const struct squeue *q)
{
    return q->filter.njobs == 1;
}

static int prepare (struct cmd *c, struct squeue *q)
{
    if (set_jobs (c, q) != CMD_OK || set_states (c, q) != CMD_OK
        || set_format (c, q) != CMD_OK || set_sort (c, q) != CMD_OK
        || set_users (c, q) != CMD_OK)
        return c->status;
    if (set_hosts (c, q) != CMD_OK)
        return c->status;
    q->filter.states_done = !is_one_job (q);
    q->needs |= q->format.needs | job_filter_needs (&q->filter);
    if (q->filter.active) /* then no job is shown that has ended */
        q->needs &= ~(UINT64_C (1) << JOB_WAIT_STATUS);
    if (q->array)
        q->needs |= UINT64_C (1) << JOB_ARRAY_TASKS;
    return CMD_OK;
}

/* -- the list -- */

static void add_ids (const struct squeue *q, struct strbuf *target)
{
    autostrbuf struct strbuf ids = STRBUF_INIT (TARGET_MAX);

    for (size_t i = 0; i < q->filter.njobs; i++)
        strbuf_addf (&ids, "%s%ju", i ? "," : "", (uintmax_t)q->filter.jobs[i].id);
    target_add (target, "ids", ids.buf);
}

/* The states that the broker knows, too: those that a job of fluxq can have. */
static void add_states (const struct squeue *q, struct strbuf *target)
{
    static const char *const known[] = {
        "PENDING",   "CONFIGURING", "RUNNING",   "COMPLETING",    "COMPLETED", "FAILED",
        "CANCELLED", "TIMEOUT",     "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "DEADLINE",
        "REQUEUED",
    };
    autostrbuf struct strbuf states = STRBUF_INIT (4096);

    for (size_t i = 0; !is_one_job (q) && i < q->filter.nstates; i++)
        for (size_t k = 0; k < ARRAY_SIZE (known); k++)
            if (!strcmp (known[k], q->filter.states[i]))
                strbuf_addf (&states, "%s%s", states.len ? "," : "", known[k]);
    bool active = q->filter.active && !is_one_job (q);
    target_add (target, "state", states.len ? states.buf : active ? "active" : "all");
}

static int get (struct cmd *c, const struct squeue *q, struct job_rows *ret)
{
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);

    strbuf_adds (&target, "/v1/jobs");
    add_states (q, &target);
    if (q->filter.njobs)
        add_ids (q, &target);
    if (!is_one_job (q)) {
        target_add (&target, "user", q->known.len ? q->known.buf : NULL);
        target_add (&target, "queue", q->partitions);
    }
    return job_rows_get (c, ret, target.buf, q->needs);
}

/* Prints the row, or a row for each task of an array that waits. */
static void add_row (const struct squeue *q, struct job_row *row, struct strbuf *sb)
{
    const char *tasks = row->tasks ? row->tasks : row->values[JOB_ARRAY_TASKS];
    autofree char *text = q->array ? strndup (tasks, strcspn (tasks, "%")) : NULL;
    struct idset *set = text && *text ? idset_decode (text, TASKS_MAX, NULL) : NULL;
    char number[16];

    if (!set) {
        slurm_format_add_row (&q->format, row, sb);
        return;
    }
    row->tasks = number;
    IDSET_FOREACH (set, task)
    {
        snprintf (number, sizeof (number), "%u", task);
        slurm_format_add_row (&q->format, row, sb);
    }
    idset_destroy (set);
}

static void add_date (struct strbuf *sb)
{
    time_t now = (time_t)clock_wall ();
    struct tm tm;
    char text[64];

    if (localtime_r (&now, &tm)
        && strftime (text, sizeof (text), "%a %b %d %H:%M:%S %Y\n", &tm) > 0)
        strbuf_adds (sb, text);
}

static int print (struct cmd *c, struct squeue *q, struct job_rows *rows)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    struct job_row row;

    job_row_init (&row);
    row.noconvert = q->noconvert;
    row.expand_patterns = q->expand_patterns;
    if (q->header && (q->long_list || q->iterate > 0))
        add_date (&sb);
    if (q->header)
        slurm_format_add_heading (&q->format, &sb);
    if (job_rows_sort (rows, q->sort) < 0)
        return cmd_fail (c, "out of memory");
    for (size_t i = 0; i < rows->n; i++) {
        job_rows_fill (rows, i, &row);
        if (job_filter_match (&q->filter, &row))
            add_row (q, &row, &sb);
    }
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

static int list (struct cmd *c, struct squeue *q)
{
    struct job_rows rows = { .n = 0 };
    bool nothing = q->nobody || (q->filter.jobs && q->filter.njobs == 0);

    if (!nothing && get (c, q, &rows) != CMD_OK)
        return c->status;
    if (is_one_job (q) && rows.n == 0 && !nothing) {
        fflush (stdout);
        fputs ("slurm_load_jobs error: Invalid job id specified\n", stderr);
        c->status = CMD_FAILED;
    } else {
        print (c, q, &rows);
    }
    job_rows_release (&rows);
    return c->status;
}

static int run (struct cmd *c)
{
    struct squeue q = { .header = true };

    job_filter_init (&q.filter);
    strbuf_init (&q.known, TARGET_MAX);
    int status = read_options (c, &q);
    if (q.iterate > 0)
        cmd_catch_interrupts ();
    if (!c->ended && status == CMD_OK && (status = prepare (c, &q)) == CMD_OK)
        status = list (c, &q);
    while (!c->ended && status == CMD_OK && q.iterate > 0) {
        puts ("");
        fflush (stdout);
        status = cmd_sleep (q.iterate) ? list (c, &q) : CMD_INTERRUPTED;
    }
    job_filter_release (&q.filter);
    slurm_format_release (&q.format);
    strbuf_release (&q.known);
    return status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command slurm_squeue = {
    .name = "squeue",
    .summary = "List jobs that wait and run",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_JOBS,
    .notes = "The variables SQUEUE_FORMAT, SQUEUE_FORMAT2, SQUEUE_SORT, SQUEUE_STATES, "
             "SQUEUE_USERS,\nSQUEUE_PARTITION, SQUEUE_NAMES, SQUEUE_ACCOUNT, SQUEUE_QOS and "
             "SQUEUE_ARRAY stand for options\nthat are not given; SLURM_TIME_FORMAT is the "
             "form of times: standard, relative, or a format\nof strftime(3).\n",
    .run = run,
    .slurm = true,
    .refused = "slurm_load_jobs error: ",
};
