/* sreport.c - sreport: what the cluster's jobs used, by account, user and size
 *
 *   sreport [OPTION]... cluster|job|user REPORT [CONDITION=VALUE]...
 *
 * The reports are those of report/reports.c. As in Slurm the period is yesterday unless
 * start= and end= say another; unlike there, it need not be whole hours.
 */
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/print/print.h"
#include "cmd/slurm/report/sreport.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"
#include "common/clock.h"
#include "common/parse.h"

#define LISTING_MAX (1 << 30)
#define WORDS_MAX 256
#define TOP 10 /* users of TopUsage */

enum {
    NOHEADER = 1,
    PARSABLE,
    PARSABLE2,
    TIME,
    RESOURCE,
    NO_DIFFERENCE,
    CLUSTER,
    REFUSED
};

/* clang-format off */
static const struct option_desc options[] = {
    { "all_clusters", 'a', NULL, "all clusters (there is one)", NO_DIFFERENCE, false, NULL },
    { "cluster", 'M', "LIST", "all, or the name of this cluster", CLUSTER, false, NULL },
    { "federation", 0, NULL, "the federation (there is none)", NO_DIFFERENCE, false, NULL },
    { "local", 0, NULL, "the local cluster", NO_DIFFERENCE, false, NULL },
    { "noheader", 'n', NULL, "no lines of headings", NOHEADER, false, NULL },
    { "parsable", 'p', NULL, "fields end in '|'", PARSABLE, false, NULL },
    { "parsable2", 'P', NULL, "'|' between fields", PARSABLE2, false, NULL },
    { "quiet", 'Q', NULL, "only errors (as always)", NO_DIFFERENCE, false, NULL },
    { "sort", 's', "KEY", NULL, REFUSED, false, NULL },
    { "", 't', "UNIT", "Seconds, Minutes, Hours, Percent, SecPer, MinPer or HourPer [Minutes]", TIME, false, NULL },
    { "tres", 'T', "LIST", "also of these resources: cpu, mem, node, gres/gpu, ALL", RESOURCE, false, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    OPTION_END,
};
/* clang-format on */

static bool is_beginning (const char *word, size_t len, const char *name, size_t min)
{
    return len >= min && len <= strlen (name) && !strncasecmp (word, name, len);
}

/* -- the values of options -- */

static int set_unit (struct cmd *c, struct sreport *s, const char *text)
{
    static const struct {
        const char *word, *name;
        size_t min;
        enum time_unit unit;
        bool and_percent;
    } units[] = {
        { "SecPer", "Seconds/Percentage of Total", 6, UNIT_SECONDS, true },
        { "MinPer", "Minutes/Percentage of Total", 6, UNIT_MINUTES, true },
        { "HourPer", "Hours/Percentage of Total", 6, UNIT_HOURS, true },
        { "Seconds", "Seconds", 1, UNIT_SECONDS, false },
        { "Minutes", "Minutes", 1, UNIT_MINUTES, false },
        { "Hours", "Hours", 1, UNIT_HOURS, false },
        { "Percent", "Percentage of Total", 1, UNIT_PERCENT, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE (units); i++) {
        if (!is_beginning (text, strlen (text), units[i].word, units[i].min))
            continue;
        s->unit = units[i].unit;
        s->unit_name = units[i].name;
        s->and_percent = units[i].and_percent;
        return CMD_OK;
    }
    return cmd_usage (c, "unknown time format %s", text);
}

static int set_resources (struct cmd *c, struct sreport *s, const char *list)
{
    autofree char *copy = strdup (list);
    char *next = copy, *word;

    s->resource_given = true;
    memset (s->resources, 0, sizeof (s->resources));
    while ((word = strsep (&next, ","))) {
        bool known = false;
        for (size_t i = 0; i < RESOURCES; i++)
            if (!strcasecmp (word, resource_names[i]) || !strcasecmp (word, "ALL"))
                s->resources[i] = known = true;
        if (!known)
            return cmd_usage (c, "--tres=%s: there are cpu, mem, node, gres/gpu", word);
    }
    return CMD_OK;
}

static int set_time (struct cmd *c, const struct sreport *s, double *ret,
                     const char *text)
{
    int at;

    if (acct_parse_time (text, s->now, ret, &at) < 0)
        return cmd_fail (c, "Invalid time specification (pos=%d): %s", at, text);
    *ret = MIN (*ret, s->now);
    return CMD_OK;
}

static int set_number (struct cmd *c, int64_t *ret, const char *text, const char *name)
{
    int64_t n;

    if (parse_int (text, INT32_MIN, INT32_MAX, &n, "", NULL) < 0)
        return cmd_fail (c, "Invalid value for %s (%s)", name, text);
    *ret = MAX (n, 0);
    return CMD_OK;
}

/* "50,250,500": sizes at which groups end. */
static int set_groups (struct cmd *c, struct sreport *s, const char *list)
{
    autofree char *copy = strdup (list);
    char *next = copy, *word;
    int64_t n, last = 0;

    s->nbounds = 0;
    while ((word = strsep (&next, ","))) {
        if (s->nbounds == GROUPS_MAX)
            return cmd_fail (c, "grouping=%s: more than %d groups", list, GROUPS_MAX);
        if (parse_int (word, last + 1, INT32_MAX, &n, "", NULL) < 0)
            return cmd_fail (c, "grouping=%s: must be numbers of CPUs that rise", list);
        s->bounds[s->nbounds++] = (double)(last = n);
    }
    return CMD_OK;
}

/* -- conditions -- */

enum condition {
    ACCOUNTS,
    CLUSTERS,
    END,
    FORMAT,
    START,
    USERS,
    TOP_COUNT,
    GROUPING,
    GROUP,
    FLAT,
    COUNT_JOBS,
    NOTHING,
};

static const struct {
    const char *name;
    size_t min;
    bool has_value;
    const char *type; /* of the reports that have it; NULL: all */
    enum condition id;
} conditions[] = {
    { "All_Clusters", 2, false, NULL, NOTHING },
    { "WithDeleted", 5, false, NULL, NOTHING },
    { "Tree", 4, false, "cluster", NOTHING }, /* root is the only parent */
    { "Group", 1, false, "user", GROUP },
    { "FlatView", 2, false, "job", FLAT },
    { "PrintJobCount", 2, false, "job", COUNT_JOBS },
    { "Grouping", 2, true, "job", GROUPING },
    { "TopCount", 1, true, "user", TOP_COUNT },
    { "Accounts", 2, true, NULL, ACCOUNTS },
    { "Acct", 4, true, NULL, ACCOUNTS },
    { "Clusters", 1, true, NULL, CLUSTERS },
    { "End", 1, true, NULL, END },
    { "Format", 1, true, NULL, FORMAT },
    { "Start", 1, true, NULL, START },
    { "Users", 1, true, NULL, USERS },
};

static int set_condition (struct cmd *c, struct sreport *s, enum condition id,
                          const char *value)
{
    switch (id) {
    case ACCOUNTS:
        s->accounts = value;
        break;
    case CLUSTERS:
        return slurm_list_has (value, s->cluster)
                   ? CMD_OK
                   : cmd_fail (c, "clusters=%s: there is one cluster, %s", value,
                               s->cluster);
    case END:
        return set_time (c, s, &s->until, value);
    case FORMAT:
        strbuf_addf (&s->fields, "%s,", value);
        break;
    case START:
        return set_time (c, s, &s->since, value);
    case USERS:
        s->users = value;
        break;
    case TOP_COUNT:
        return set_number (c, &s->top, value, "TopCount");
    case GROUPING:
        return set_groups (c, s, value);
    case GROUP:
        s->group = true;
        break;
    case FLAT:
        s->flat = true;
        break;
    case COUNT_JOBS:
        s->count_jobs = true;
        break;
    case NOTHING:
        break;
    }
    return CMD_OK;
}

/* A word without '=' names users, or clusters in the reports of the cluster. */
static int read_condition (struct cmd *c, struct sreport *s, const char *word)
{
    const char *equals = strchr (word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen (word);

    for (size_t i = 0; i < ARRAY_SIZE (conditions); i++)
        if (conditions[i].has_value == (equals != NULL)
            && (!conditions[i].type || !strcmp (conditions[i].type, s->report->type))
            && is_beginning (word, len, conditions[i].name, conditions[i].min))
            return set_condition (c, s, conditions[i].id, equals ? equals + 1 : NULL);
    if (!equals)
        return set_condition (
            c, s,
            s->report->of_cluster || !strcmp (s->report->type, "job") ? CLUSTERS : USERS,
            word);
    fprintf (stderr, " Unknown condition: %s\nUse keyword set to modify value\n", word);
    return c->status = CMD_FAILED;
}

/* Midnight of today, or days before. */
static double midnight (double now, int days)
{
    time_t t = (time_t)now;
    struct tm tm;

    localtime_r (&t, &tm);
    tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
    tm.tm_mday -= days;
    tm.tm_isdst = -1;
    return (double)mktime (&tm);
}

static int prepare (struct cmd *c, struct sreport *s, const char *const words[], size_t n)
{
    static const char own_groups[] = "50,250,500,1000";
    struct error err = { 0 };

    s->now = clock_wall ();
    s->since = midnight (s->now, 1);
    s->until = midnight (s->now, 0);
    set_groups (c, s, own_groups);
    for (size_t i = 0; i < n; i++)
        if (read_condition (c, s, words[i]) != CMD_OK)
            return c->status;
    for (int k = 0; k < RESOURCES && !strcmp (s->report->type, "job"); k++)
        if (s->resources[k] && k != RESOURCE_CPU)
            return cmd_fail (c, "--tres=%s: sizes of jobs are counted in cpu only",
                             resource_names[k]);
    if (s->since >= s->until)
        return cmd_fail (c, "the period ends before it starts");
    report_make_table (s);
    if (s->fields.len == 0)
        strbuf_adds (&s->fields, s->resource_given ? s->report->fields_of_resources
                                                   : s->report->fields);
    if (s->size_headings[0][0]) /* always, behind the fields */
        for (size_t i = 0; i <= s->nbounds; i++)
            strbuf_addf (&s->fields, ",%s", s->size_headings[i]);
    strbuf_adds (&s->fields, s->size_headings[0][0] ? "," REPORT_PART : "");
    int rc = list_format_parse (&s->format, s->table, s->fields.buf, &err);
    if (rc < 0)
        fprintf (stderr, " Unknown field '%s'\n", err.text);
    return rc < 0 ? c->status = CMD_FAILED : CMD_OK;
}

/* -- the report -- */

static void add_header (const struct sreport *s, struct strbuf *sb)
{
    static const char line[] = "----------------------------------------"
                               "----------------------------------------\n";
    const struct report *r = s->report;

    strbuf_adds (sb, line);
    strbuf_adds (sb, r->title);
    if (!strcmp (r->type, "user") && s->top > 0)
        strbuf_addf (sb, " %jd Users", (intmax_t)s->top);
    else if (!strcmp (r->type, "user"))
        strbuf_adds (sb, " ALL Users");
    strbuf_addch (sb, ' ');
    slurm_add_time (sb, s->since);
    strbuf_adds (sb, " - ");
    slurm_add_time (sb, s->until - 1);
    if (!r->of_cluster)
        strbuf_addf (sb, " (%.0f secs)", s->until - s->since);
    if (s->count_jobs)
        strbuf_adds (sb, "\nUnits are in number of jobs ran\n");
    else if (!strcmp (r->type, "job"))
        strbuf_addf (sb, "\nTime reported in %s\n", s->unit_name);
    else
        strbuf_addf (sb, "\nUsage reported in %s%s\n",
                     s->unit == UNIT_PERCENT ? ""
                     : s->resource_given     ? "TRES "
                                             : "CPU ",
                     s->unit_name);
    strbuf_adds (sb, line);
}

static int print (struct cmd *c, const struct sreport *s, const struct usages *u)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    autofree struct usage *rows = NULL;
    ssize_t n = s->report->rows (s, u, &rows);

    if (s->header) {
        add_header (s, &sb);
        list_format_add_heading (&s->format, &sb);
    }
    for (ssize_t i = 0; i < n; i++)
        for (int k = 0; k < RESOURCES; k++) {
            struct report_cell cell = { s, u, &rows[i], (enum resource)k };
            if (s->resources[k] && (k == RESOURCE_CPU || s->resource_given))
                list_format_add_row (&s->format, &cell, &sb);
        }
    if (n < 0 || sb.err)
        return cmd_fail (c, "out of memory");
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

static int report (struct cmd *c, struct sreport *s, const char *const words[], size_t n)
{
    autojson json_t *status = NULL;
    struct usages u = { .n = 0 };

    if (cmd_get (c, "/v1/status", &status) != CMD_OK)
        return c->status;
    snprintf (s->cluster, sizeof (s->cluster), "%s", json_text (status, "cluster"));
    if (prepare (c, s, words, n) == CMD_OK && usage_gather (c, s, &u) == CMD_OK)
        print (c, s, &u);
    usage_release (&u);
    return c->status;
}

static int run_words (struct cmd *c, struct sreport *s, const char *const words[],
                      size_t n)
{
    if (n == 0)
        return cmd_usage (c, "there is no prompt here; say cluster, job or user and a "
                             "report");
    if (is_beginning (words[0], strlen (words[0]), "reservation", 2))
        return cmd_fail (c,
                         "%s: usage is not counted by reservation; fluxq-show "
                         "reservation lists reservations",
                         words[0]);
    if (!report_has_type (words[0])) {
        fprintf (stderr, "invalid keyword: %s\n", words[0]);
        return c->status = CMD_FAILED;
    }
    if (n == 1)
        return cmd_fail (c, "too few arguments for keyword:%s", words[0]);
    if (!(s->report = report_find (words[0], words[1])))
        return cmd_fail (c,
                         "Not valid report %s; there are: cluster "
                         "AccountUtilizationByUser, UserUtilizationByAccount, "
                         "Utilization; job SizesByAccount; user TopUsage",
                         words[1]);
    return report (c, s, words + 2, n - 2);
}

static int set_option (struct cmd *c, struct sreport *s, const struct option_match *m)
{
    char name[64];

    switch (m->desc->id) {
    case NOHEADER:
        s->header = false;
        break;
    case PARSABLE:
    case PARSABLE2:
        s->format.delimiter = "|";
        s->format.last_delimiter = m->desc->id == PARSABLE;
        break;
    case TIME:
        return set_unit (c, s, m->value);
    case RESOURCE:
        return set_resources (c, s, m->value);
    case CLUSTER:
        return cmd_set_clusters (c, m->value, "--cluster");
    case REFUSED:
        cmd_option_as_written (c, m, name, sizeof (name));
        return cmd_usage (c, "%s: %s; remove the option", name,
                          m->desc->letter == 's' ? "reports have one order"
                                                 : "there is nothing more to print");
    }
    return CMD_OK;
}

static int run (struct cmd *c)
{
    struct sreport s = { .header = true,
                         .unit = UNIT_MINUTES,
                         .unit_name = "Minutes",
                         .resources = { [RESOURCE_CPU] = true },
                         .top = TOP };
    const char *words[WORDS_MAX];
    struct option_match m;
    size_t n = 0;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, &s, &m);
        else if (n == WORDS_MAX)
            cmd_usage (c, "more than %d words", WORDS_MAX);
        else
            words[n++] = m.value;
    }
    strbuf_init (&s.fields, 1 << 20);
    if (!c->ended)
        run_words (c, &s, words, n);
    strbuf_release (&s.fields);
    return c->status;
}

static const char *const usage[] = {
    "[OPTION]... cluster|job|user REPORT [CONDITION=VALUE]...", NULL
};

static const struct phrase phrases[] = {
    { "", "cluster|job|user", 0 },
    { "cluster", "AccountUtilizationByUser|UserUtilizationByAccount|Utilization", 0 },
    { "job", "SizesByAccount", 0 },
    { "user", "TopUsage", 0 },
    { NULL, NULL, 0 },
};

const struct command slurm_sreport = {
    .name = "sreport",
    .summary = "Report what jobs used, by account, user and size",
    .usage = usage,
    .options = options,
    .phrases = phrases,
    .notes = "Reports: cluster Utilization, AccountUtilizationByUser, "
             "UserUtilizationByAccount; job\nSizesByAccount; user TopUsage. Conditions: "
             "start=, end=, users=, accounts=, format=.\n",
    .run = run,
    .slurm = true,
};
