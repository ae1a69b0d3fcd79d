/* sacct_options.c - see sacct.h
 */
#include "cmd/slurm/acct/sacct.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <unistd.h>

#include "cmd/client/named.h"
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/words/words.h"
#include "common/clock.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"

#define LIST_MAX (1 << 20)
#define NODES_MAX 1000000
#define DEFAULT_FIELDS "jobid,jobname,partition,account,alloccpus,state,exitcode"
#define BRIEF_FIELDS "jobid,state,exitcode"
#define LONG_FIELDS                                                                      \
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,"  \
    "maxrss,maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,maxpagestask,avepages,"   \
    "mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,"       \
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,"        \
    "maxdiskread,maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,"              \
    "maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,"   \
    "tresusageinmax,tresusageinmaxnode,tresusageinmaxtask,tresusageinmin,"               \
    "tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutmax,"              \
    "tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutave,tresusageouttot"

enum {
    ACCOUNTS = 1,
    ALL_USERS,
    ALLOCATIONS,
    ARRAY,
    BRIEF,
    CLUSTERS,
    DELIMITER,
    DUPLICATES,
    END,
    FORMAT,
    GROUPS,
    HELP_FORMAT,
    HELP_STATE,
    JOBS,
    JSON,
    LIMIT_MAX,
    LIMIT_MIN,
    LONG,
    NAMES,
    NCPUS,
    NNODES,
    NOCONVERT,
    NODELIST,
    NOHEADER,
    PARSABLE,
    PARSABLE2,
    PARTITIONS,
    QOS,
    START,
    STATES,
    TRUNCATE,
    UNITS,
    USAGE,
    USERS,
    WCKEYS,
    WHOLE_HETJOB,
    NO_DIFFERENCE, /* fluxq has one cluster */
    REFUSED,
};

/* clang-format off */
const struct option_desc sacct_options[] = {
    { "accounts", 'A', "LIST", "jobs of these accounts", ACCOUNTS, false, NULL },
    { "allclusters", 'L', NULL, "jobs of all clusters (there is one)", NO_DIFFERENCE, false, NULL },
    { "allocations", 'X', NULL, "no steps", ALLOCATIONS, false, NULL },
    { "", 't', NULL, NULL, ALLOCATIONS, false, NULL },
    { "allusers", 'a', NULL, "jobs of all users [my own, unless I am root]", ALL_USERS, false, NULL },
    { "array", 0, NULL, "a line for each waiting task of an array", ARRAY, false, NULL },
    { "brief", 'b', NULL, "job, state and exit code", BRIEF, false, NULL },
    { "clusters", 'M', "LIST", "all, or the name of this cluster", CLUSTERS, false, NULL },
    { "cluster", 0, "LIST", NULL, CLUSTERS, false, NULL },
    { "delimiter", 0, "TEXT", "between fields, with -p and -P [|]", DELIMITER, false, NULL },
    { "duplicates", 'D', NULL, "steps of all attempts of a job that was requeued", DUPLICATES, false, NULL },
    { "endtime", 'E', "TIME", "jobs that were here before [now]", END, false, NULL },
    { "federation", 0, NULL, "jobs of the federation (there is none)", NO_DIFFERENCE, false, NULL },
    { "format", 'o', "LIST", "fields: JobID,State%20,NodeList%-30, see --helpformat", FORMAT, false, NULL },
    { "fields", 0, "LIST", NULL, FORMAT, false, NULL },
    { "group", 'g', "LIST", "jobs of these groups", GROUPS, false, NULL },
    { "gid", 0, "LIST", NULL, GROUPS, false, NULL },
    { "helpformat", 'e', NULL, "list the fields of -o", HELP_FORMAT, false, NULL },
    { "help-fields", 0, NULL, NULL, HELP_FORMAT, false, NULL },
    { "helpstate", 0, NULL, "list the states of -s", HELP_STATE, false, NULL },
    { "jobs", 'j', "LIST", "these jobs and steps: 12,13_4,14.batch", JOBS, false, NULL },
    { "json", 0, "VERSION", "JSON, as data_parser v0.0.41 [the only form]", JSON, true, NULL },
    { "local", 0, NULL, "jobs of this cluster", NO_DIFFERENCE, false, NULL },
    { "long", 'l', NULL, "many fields", LONG, false, NULL },
    { "name", 0, "LIST", "jobs with these names", NAMES, false, NULL },
    { "ncpus", 'I', "N[-M]", "jobs with so many CPUs", NCPUS, false, NULL },
    { "nnodes", 'i', "N[-M]", "jobs on so many nodes", NNODES, false, NULL },
    { "noconvert", 0, NULL, "sizes in their original unit", NOCONVERT, false, NULL },
    { "nodelist", 'N', "HOSTS", "jobs that ran on some of these nodes", NODELIST, false, NULL },
    { "noheader", 'n', NULL, "no lines of headings", NOHEADER, false, NULL },
    { "parsable", 'p', NULL, "fields between bars, and a bar at the end", PARSABLE, false, NULL },
    { "parsable2", 'P', NULL, "fields between bars", PARSABLE2, false, NULL },
    { "partition", 'r', "LIST", "jobs of these partitions", PARTITIONS, false, NULL },
    { "qos", 'q', "LIST", "jobs with these QOS", QOS, false, NULL },
    { "starttime", 'S', "TIME", "jobs that were here then or later: now-1day, 11/23, 2026-11-23T08:00", START, false, NULL },
    { "state", 's', "LIST", "jobs in these states in the window", STATES, false, NULL },
    { "timelimit-max", 'K', "TIME", "with -k: jobs with at most this limit", LIMIT_MAX, false, NULL },
    { "timelimit-min", 'k', "TIME", "jobs with this limit; with -K: at least this one", LIMIT_MIN, false, NULL },
    { "truncate", 'T', NULL, "times within the window", TRUNCATE, false, NULL },
    { "units", 0, "K|M|G|T|P", "sizes in this unit", UNITS, false, NULL },
    { "usage", 'U', NULL, "show the usage in short", USAGE, false, NULL },
    { "user", 'u', "LIST", "jobs of these users", USERS, false, NULL },
    { "uid", 0, "LIST", NULL, USERS, false, NULL },
    { "wckeys", 'W', "LIST", "jobs with these workload keys", WCKEYS, false, NULL },
    { "whole-hetjob", 0, "yes|no", "of the components of heterogeneous jobs: all (yes), or those of -j and the first ones (no) [12: all, 12+1: that one]", WHOLE_HETJOB, true, NULL },
    { "associations", 'x', "LIST", NULL, REFUSED, false, NULL },
    { "batch-script", 'B', NULL, NULL, REFUSED, false, NULL },
    { "completion", 'c', NULL, NULL, REFUSED, false, NULL },
    { "constraints", 'C', "LIST", NULL, REFUSED, false, NULL },
    { "env-vars", 0, NULL, NULL, REFUSED, false, NULL },
    { "expand-patterns", 0, NULL, NULL, REFUSED, false, NULL },
    { "file", 'f', "FILE", NULL, REFUSED, false, NULL },
    { "flags", 'F', "LIST", NULL, REFUSED, false, NULL },
    { "helpreason", 0, NULL, NULL, REFUSED, false, NULL },
    { "reason", 'R', "LIST", NULL, REFUSED, false, NULL },
    { "use-local-uid", 0, NULL, NULL, REFUSED, false, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    { "yaml", 0, "VERSION", NULL, REFUSED, true, NULL },
    OPTION_END,
};
/* clang-format on */

static const struct {
    const char *name, *why;
} refusals[] = {
    { "associations", "there are none; use -A, -u or -r" },
    { "batch-script", "the script is not kept in the history" },
    { "completion", "there is one history; remove the option" },
    { "constraints", "the history does not keep them" },
    { "env-vars", "the environment is not kept in the history" },
    { "file", "there is one history; remove the option" },
    { "flags", "jobs have none" },
    { "reason", "the history does not keep why jobs waited" },
    { "verbose", "there is nothing more to print; remove the option" },
    { "yaml", "not supported; use --parsable2" },
};

void sacct_init (struct sacct *s)
{
    *s = (struct sacct){ .view.now = clock_wall () };
    strbuf_init (&s->fields, LIST_MAX);
    strbuf_init (&s->jobs, LIST_MAX);
    strbuf_init (&s->known, LIST_MAX);
    strbuf_init (&s->ids, LIST_MAX);
    strbuf_init (&s->phases, LIST_MAX);
}

void sacct_release (struct sacct *s)
{
    strbuf_release (&s->fields);
    strbuf_release (&s->jobs);
    strbuf_release (&s->known);
    strbuf_release (&s->ids);
    strbuf_release (&s->phases);
    for (size_t i = 0; i < s->nwanted; i++)
        idset_destroy (s->wanted[i].tasks);
    free (s->wanted);
    hostlist_destroy (s->nodelist);
}

/* -- single options -- */

static int refuse (struct cmd *c, const struct option_match *m)
{
    char name[64];

    cmd_option_as_written (c, m, name, sizeof (name));
    for (size_t i = 0; i < ARRAY_SIZE (refusals); i++)
        if (!strcmp (m->desc->name, refusals[i].name))
            return cmd_usage (c, "%s: %s", name, refusals[i].why);
    return cmd_usage (c, "%s: not supported", name);
}

/* Slurm says "fatal" and no hint. */
static int die (struct cmd *c, const char *fmt, const char *text)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    strbuf_adds (&sb, "fatal: ");
    strbuf_adds (&sb, fmt);
    strbuf_adds (&sb, text);
    cmd_warn (c, "%s", sb.buf);
    c->ended = true;
    return c->status = CMD_FAILED;
}

static int fail (struct cmd *c)
{
    c->ended = true;
    return c->status = CMD_FAILED;
}

static int set_units (struct cmd *c, struct sacct *s, const char *text)
{
    static const char units[] = "KMGTP";
    const char *unit = *text ? strchr (units, *text) : NULL;

    if (unit) {
        s->view.unit = (int)(unit - units) + 1;
        return CMD_OK;
    }
    cmd_warn (c, "error: Invalid unit type '%.1s'. Possible options are '%s'", text,
              units);
    return die (c, "Invalid unit type", "");
}

/* Number with an optional k or m. */
static bool read_count (const char **pp, double *ret)
{
    char *end;
    long n = strtol (*pp, &end, 10);
    bool k = *end == 'k' || *end == 'K', m = *end == 'm' || *end == 'M';

    *ret = (double)n * (k ? 1024 : m ? 1048576 : 1);
    if (end == *pp || n < 0 || *ret > INT_MAX)
        return false;
    *pp = end + (k || m);
    return true;
}

/* "4", "4-16" */
static int set_range (struct cmd *c, struct sacct_range *r, const char *text,
                      const char *what)
{
    const char *p = text;

    *r = (struct sacct_range){ 0 };
    if (read_count (&p, &r->min)
        && (*p == '\0' || (*p++ == '-' && read_count (&p, &r->max) && *p == '\0')))
        return CMD_OK;
    cmd_warn (c, "error: Invalid numeric value \"%s\" for %s.", text, what);
    return fail (c);
}

static int set_limit (struct cmd *c, double *ret, const char *text)
{
    double seconds;

    if (parse_timelimit (text, &seconds, "", NULL) < 0 || seconds <= 0)
        return die (c, "Invalid time limit specification", "");
    *ret = seconds / 60;
    return CMD_OK;
}

int sacct_ask_cluster (struct cmd *c, struct sacct *s)
{
    autojson json_t *status = NULL;

    if (cmd_get (c, "/v1/status", &status) != CMD_OK)
        return c->status;
    snprintf (s->view.cluster, sizeof (s->view.cluster), "%s",
              json_text (status, "cluster"));
    return CMD_OK;
}

static void set_users (struct sacct *s, const char *text)
{
    s->all_users = !strcmp (text, "-1");
    s->users = s->all_users ? NULL : text;
}

static void print_help (struct cmd *c, int id)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (65536);

    if (id == HELP_FORMAT)
        list_format_add_names (acct_fields, &sb);
    else if (id == USAGE)
        strbuf_adds (&sb, "Usage: sacct [OPTION]...\n\tUse --help for help\n");
    else
        slurm_state_add_names (&sb, "\n");
    fputs (sb.buf, stdout);
    if (id == HELP_STATE)
        putchar ('\n');
    c->ended = true;
}

/* -- reading -- */

static const char **text_of (struct sacct *s, int id)
{
    const char **const texts[REFUSED] = {
        [ACCOUNTS] = &s->accounts,
        [DELIMITER] = &s->delimiter,
        [END] = &s->until,
        [GROUPS] = &s->groups,
        [NAMES] = &s->names,
        [NODELIST] = &s->hosts,
        [PARTITIONS] = &s->partitions,
        [QOS] = &s->qos,
        [START] = &s->since,
        [STATES] = &s->states,
        [WCKEYS] = &s->wckeys,
    };

    return (const char **)texts[id];
}

static bool *flag_of (struct sacct *s, int id)
{
    bool *const flags[REFUSED] = {
        [ALLOCATIONS] = &s->no_steps, [ARRAY] = &s->array,
        [BRIEF] = &s->brief,          [DUPLICATES] = &s->view.all_attempts,
        [LONG] = &s->long_list,       [NOCONVERT] = &s->view.noconvert,
        [NOHEADER] = &s->no_heading,  [TRUNCATE] = &s->view.truncate,
    };

    return flags[id];
}

static int set_option (struct cmd *c, struct sacct *s, const struct option_match *m)
{
    int id = m->desc->id;

    switch (id) {
    case ALL_USERS:
        s->all_users = true;
        return CMD_OK;
    case CLUSTERS:
        return cmd_set_clusters (c, m->value, "--clusters");
    case FORMAT:
        strbuf_addf (&s->fields, "%s,", m->value);
        return CMD_OK;
    case HELP_FORMAT:
    case HELP_STATE:
    case USAGE:
        print_help (c, id);
        return CMD_OK;
    case JOBS:
        strbuf_addf (&s->jobs, "%s,", m->value);
        return CMD_OK;
    case JSON:
        s->json = true;
        if (!job_json_has_version (m->value))
            return cmd_usage (c, "--json=%s: not supported; use --json=v0.0.41",
                              m->value);
        return CMD_OK;
    case LIMIT_MAX:
        return set_limit (c, &s->limit.max, m->value);
    case LIMIT_MIN:
        return set_limit (c, &s->limit.min, m->value);
    case NCPUS:
        return set_range (c, &s->cpus, m->value, "requested cpu range");
    case NNODES:
        return set_range (c, &s->nodes, m->value, "requested node range");
    case PARSABLE:
    case PARSABLE2:
        s->format.last_delimiter = id == PARSABLE;
        s->parsable = true;
        return CMD_OK;
    case UNITS:
        return set_units (c, s, m->value);
    case USERS:
        set_users (s, m->value);
        return CMD_OK;
    case WHOLE_HETJOB:
        s->whole_hetjob = m->value ? m->value : "yes";
        if (strcasecmp (s->whole_hetjob, "yes") && strcasecmp (s->whole_hetjob, "no"))
            return cmd_usage (c, "--whole-hetjob: '%s' is not yes or no",
                              s->whole_hetjob);
        return CMD_OK;
    case NO_DIFFERENCE:
        return CMD_OK;
    case REFUSED:
        return refuse (c, m);
    }
    if (text_of (s, id))
        *text_of (s, id) = m->value;
    else
        *flag_of (s, id) = true;
    return CMD_OK;
}

/* -- what the options mean -- */

static int set_users_known (struct cmd *c, struct sacct *s)
{
    autofree char *copy = s->users ? strdup (s->users) : NULL;
    char *next = copy, *word;

    while ((word = strsep (&next, ","))) {
        bool number = *word && word[strspn (word, "0123456789")] == '\0';
        const struct passwd *pw =
            number ? getpwuid ((uid_t)strtoul (word, NULL, 10)) : NULL;
        if (!*word)
            continue;
        if (!number && !named_user_exists (c, word)) {
            if (c->status == CMD_OK)
                cmd_warn (c, "error: Invalid user id: %s", word);
            return fail (c);
        }
        strbuf_addf (&s->known, "%s%s", s->known.len ? "," : "", pw ? pw->pw_name : word);
    }
    if (s->known.len == 0)
        s->all_users |= s->nwanted > 0 || s->hosts || getuid () == 0;
    return CMD_OK;
}

static int check_groups (struct cmd *c, const struct sacct *s)
{
    autofree char *copy = s->groups ? strdup (s->groups) : NULL;
    char *next = copy, *word;

    while ((word = strsep (&next, ","))) {
        bool number = *word && word[strspn (word, "0123456789")] == '\0';
        if (!*word || number || getgrnam (word))
            continue;
        cmd_warn (c, "error: Invalid group id: %s", word);
        return fail (c);
    }
    return CMD_OK;
}

/* Appends the long names of the states. */
static int set_states (struct cmd *c, struct sacct *s)
{
    static const char *const known[] = {
        "PENDING",  "RUNNING",       "SUSPENDED", "COMPLETED", "CANCELLED",
        "FAILED",   "TIMEOUT",       "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
        "DEADLINE", "OUT_OF_MEMORY", "REQUEUED",  "RESIZING",  "REVOKED",
    };
    autofree char *copy = s->states ? strdup (s->states) : NULL;
    char *next = copy, *word;
    const char *name;

    while ((word = strsep (&next, ","))) {
        bool is_known = false;
        if (!*word)
            continue;
        if (!slurm_state_find (word, &name)) {
            cmd_warn (c, "fatal: unrecognized job state value '%s'", word);
            return fail (c);
        }
        for (size_t i = 0; i < ARRAY_SIZE (known); i++)
            is_known |= !strcmp (name, known[i]);
        if (!is_known) {
            cmd_warn (c, "fatal: job state %s is not supported / accounted", name);
            return fail (c);
        }
        strbuf_addf (&s->phases, "%s%s", s->phases.len ? "," : "", name);
    }
    return CMD_OK;
}

static int read_time (struct cmd *c, const struct sacct *s, const char *text, double *ret)
{
    int at;

    if (acct_parse_time (text, s->view.now, ret, &at) == 0)
        return CMD_OK;
    fprintf (stderr, "Invalid time specification (pos=%d): %s\n", at, text);
    return fail (c);
}

static double midnight (double now)
{
    double t = 0;
    int at;

    acct_parse_time ("today", now, &t, &at);
    return t;
}

/* With -s, jobs in these states at -S [now]; with -j, those of all times; else those of
 * today. */
static int set_window (struct cmd *c, struct sacct *s)
{
    double now = (double)(int64_t)s->view.now, since = 0, until = 0;
    bool states = s->phases.len > 0, jobs = s->nwanted > 0;

    if ((s->since && read_time (c, s, s->since, &since) != CMD_OK)
        || (s->until && read_time (c, s, s->until, &until) != CMD_OK))
        return c->status;
    if (!s->since && !jobs)
        since = states ? now : midnight (now);
    if (until <= 0)
        until = states && since > 0 ? since : now;
    if (since > until) {
        autostrbuf struct strbuf a = STRBUF_INIT (256), b = STRBUF_INIT (256);
        slurm_add_time (&a, since);
        slurm_add_time (&b, until);
        cmd_warn (c, "error: Start time (%s) requested is after end time (%s).", a.buf,
                  b.buf);
        return fail (c);
    }
    s->view.since = since;
    s->view.until = until + (until == since || until >= now);
    return CMD_OK;
}

static int set_format (struct cmd *c, struct sacct *s)
{
    const char *variable = getenv ("SACCT_FORMAT");
    struct error err = { 0 };

    if (s->long_list && s->fields.len > 0)
        return die (c, "Options -o(--format) and -l(--long) are mutually exclusive. ",
                    "Please remove one and retry.");
    strbuf_adds (&s->fields, s->brief ? BRIEF_FIELDS "," : "");
    strbuf_adds (&s->fields, s->long_list ? LONG_FIELDS : "");
    if (s->fields.len == 0)
        strbuf_adds (&s->fields, variable ? variable : DEFAULT_FIELDS);
    s->format.has_all = true;
    int rc = list_format_parse (&s->format, acct_fields, s->fields.buf, &err);
    if (rc == -E2BIG)
        return cmd_usage (c, "the format has too many fields");
    if (rc < 0 && !strcasecmp (err.text, "AllocGRES"))
        return die (c, "AllocGRES has been removed, please use AllocTRES", "");
    if (rc < 0 && !strcasecmp (err.text, "ReqGRES"))
        return die (c, "ReqGRES has been removed, please use ReqTRES", "");
    if (rc < 0) {
        cmd_warn (c, "error: Invalid field requested: \"%s\"", err.text);
        return fail (c);
    }
    if (s->parsable)
        s->format.delimiter = s->delimiter ? s->delimiter : "|";
    return CMD_OK;
}

static int prepare (struct cmd *c, struct sacct *s)
{
    struct error err = { 0 };

    if (sacct_read_jobs (s, &err) < 0)
        return die (c, "", err.text);
    if (set_states (c, s) != CMD_OK || set_window (c, s) != CMD_OK
        || set_format (c, s) != CMD_OK || check_groups (c, s) != CMD_OK
        || set_users_known (c, s) != CMD_OK)
        return c->status;
    if (s->limit.max > 0 && s->limit.min <= 0)
        return cmd_usage (c, "--timelimit-max needs --timelimit-min");
    if (s->hosts && !(s->nodelist = hostlist_decode (s->hosts, NODES_MAX, &err)))
        return cmd_usage (c, "--nodelist=%s: %s", s->hosts, err.text);
    s->needs = s->json ? (UINT64_C (1) << ACCT_VALUES) - 1 : s->format.needs;
    s->needs |= sacct_match_needs (s);
    if (!s->no_steps)
        s->needs |= ACCT_BIT (NTASKS) | ACCT_BIT (NCORES) | ACCT_BIT (CPU_MILLI)
                    | ACCT_BIT (NODES) | ACCT_BIT (NODELIST) | ACCT_BIT (RESTARTS);
    if (!slurm_time_format_is_valid ())
        cmd_warn (c, "error: invalid SLURM_TIME_FORMAT = '%s'",
                  getenv ("SLURM_TIME_FORMAT"));
    return CMD_OK;
}

int sacct_read_options (struct cmd *c, struct sacct *s)
{
    struct option_match m;
    const char *operand = NULL;

    while (!c->ended && cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else if (!operand)
            operand = m.value;
    }
    if (c->ended)
        return c->status;
    if (operand) {
        cmd_warn (c, "error: Unknown arguments:");
        cmd_warn (c, "error:  %s", operand);
        return fail (c);
    }
    return prepare (c, s);
}
