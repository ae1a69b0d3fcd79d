/* sprio.c - sprio: the terms of the priorities of waiting jobs
 *
 * One request gets the jobs with their terms, one the weights of the terms. As in Slurm,
 * a job that may not start yet is left out: it is held, depends on others, or has a begin
 * time. SITE is the part of a priority that no other term explains: the urgency, which
 * Slurm does not have. There are no terms for associations, QOS and TRES.
 */
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/jobs/known_users.h"
#include "cmd/slurm/jobs/sprio.h"
#include "common/parse.h"

#define LISTING_MAX (1 << 30)
#define KEYS_MAX 32
#define TARGET                                                                           \
    "/v1/"                                                                               \
    "jobs?state=pending&limit=10000000&fields=id,user,queue,account,qos,reason,nice,"    \
    "priority,priority_fixed,priority_queue,priority_age,priority_size,priority_fair_"   \
    "share"

enum {
    LETTERS = 1,
    HELP_FORMAT,
    JOBS,
    LONG,
    NOHEADER,
    NORM,
    PARTITION,
    SORT_SPEC,
    USERS
};
enum { WEIGHTS = USERS + 1, NO_DIFFERENCE, CLUSTERS, REFUSED };

struct sprio {
    const char *jobs, *users, *partitions, *format_text, *sort;
    const char *operand, *extra;
    bool jobs_given, long_list, header, norm, weights_only, nobody;
    json_t *weights; /* of GET /v1/status */
    struct strbuf users_known;
    struct slurm_format format;
};

/* clang-format off */
static const struct option_desc options[] = {
    { "clusters", 'M', "LIST", "all, or the name of this cluster", CLUSTERS, false,
      NULL },
    { "cluster", 0, "LIST", NULL, CLUSTERS, false, NULL },
    { "federation", 0, NULL, "jobs of the federation (there is none)", NO_DIFFERENCE, false, NULL },
    { "format", 'o', "FORMAT", "fields by letter: \"%.15i %Y\", see --helpformat", LETTERS, false, NULL },
    { "helpformat", 0, NULL, "list the letters of -o", HELP_FORMAT, false, NULL },
    { "jobs", 'j', "LIST", "these jobs", JOBS, true, NULL },
    { "local", 0, NULL, "jobs of the local cluster", NO_DIFFERENCE, false, NULL },
    { "long", 'l', NULL, "all terms", LONG, false, NULL },
    { "noheader", 'h', NULL, "no line of headings", NOHEADER, false, NULL },
    { "norm", 'n', NULL, "the factors, without their weights", NORM, false, NULL },
    { "partition", 'p', "LIST", "jobs of these partitions", PARTITION, false, NULL },
    { "sib", 0, NULL, NULL, NO_DIFFERENCE, false, NULL },
    { "sibling", 0, NULL, "jobs of the federation's clusters (there is none)", NO_DIFFERENCE, false, NULL },
    { "sort", 'S', "SPEC", "order, by letters of -o [i]", SORT_SPEC, false, NULL },
    { "user", 'u', "LIST", "jobs of these users", USERS, false, NULL },
    { "users", 0, "LIST", NULL, USERS, false, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    { "weights", 'w', NULL, "the weights of the terms", WEIGHTS, false, NULL },
    OPTION_END,
};
/* clang-format on */

/* -- the format -- */

/* A column for each term that has a weight, as in Slurm. */
static void add_own_format (const struct sprio *s, struct strbuf *sb)
{
    static const struct {
        const char *weight, *points, *factor;
    } terms[] = { { "age", " %.10A", " %10a" },
                  { "fair_share", " %.10F", " %10f" },
                  { "size", " %.10J", " %10j" },
                  { "queue", " %.10P", " %10p" } };

    strbuf_adds (sb, "%.15i %9r");
    strbuf_adds (sb, s->users ? " %.8u" : "");
    strbuf_adds (sb, s->norm ? " %10y" : " %.10Y %.10S");
    for (size_t i = 0; i < ARRAY_SIZE (terms); i++)
        if (answer_number (s->weights, terms[i].weight) != 0)
            strbuf_adds (sb, s->norm ? terms[i].factor : terms[i].points);
}

static void wrong_letter (void *arg, const char *text)
{
    cmd_warn (arg, "error: Invalid job format specification: %s", text);
}

static int set_format (struct cmd *c, struct sprio *s)
{
    autostrbuf struct strbuf own = STRBUF_INIT (4096);
    const char *text = s->format_text;

    if (!text && !s->long_list)
        text = getenv ("SPRIO_FORMAT");
    if (!text && s->long_list)
        text = s->norm ? "%.15i %9r %.8u %.8o %10y %10a %10b %10f %10j %10p %10n %10q "
                         "%20t"
                       : "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J "
                         "%.10P %.10n %.10Q %.11N %.20T";
    if (!text)
        add_own_format (s, &own);
    if (slurm_format_parse (&s->format, sprio_fields, text ? text : own.buf, wrong_letter,
                            c)
        < 0)
        return cmd_fail (c, "the format has too many fields");
    return CMD_OK;
}

/* -- the order -- */

struct key {
    const char *member;
    bool number, descends;
};

struct order {
    struct key v[KEYS_MAX];
    size_t n;
};

static const struct {
    char letters[3];
    struct key key;
} sort_letters[] = {
    { "i", { "id", true, false } },
    { "N", { "nice", true, false } },
    { "n", { "qos", false, false } },
    { "o", { "account", false, false } },
    { "r", { "queue", false, false } },
    { "u", { "user", false, false } },
    { "Aa", { "priority_age", true, false } },
    { "Ff", { "priority_fair_share", true, false } },
    { "Jj", { "priority_size", true, false } },
    { "Pp", { "priority_queue", true, false } },
    { "Qq", { "qos", true, false } }, /* no such term */
    { "Tt", { "tres", true, false } },
    { "Yy", { "priority", true, false } },
    { "c", { "cluster", false, false } }, /* there is one */
};

static const struct key *find_sort_letter (char letter)
{
    for (size_t i = 0; i < ARRAY_SIZE (sort_letters); i++)
        if (strchr (sort_letters[i].letters, letter))
            return &sort_letters[i].key;
    return NULL;
}

static int read_order (struct cmd *c, const char *spec, struct order *ret)
{
    for (const char *p = spec; *p; p++) {
        if (strchr (",+-", *p))
            continue;
        const struct key *key = find_sort_letter (*p);
        if (!key)
            return cmd_fail (c, "Invalid sort specification: %c", *p);
        if (ret->n == KEYS_MAX)
            return cmd_fail (c, "--sort has more than %d letters", KEYS_MAX);
        ret->v[ret->n] = *key;
        ret->v[ret->n++].descends = p > spec && p[-1] == '-';
    }
    return CMD_OK;
}

static int compare (const void *a, const void *b, void *arg)
{
    const json_t *ja = *(json_t *const *)a, *jb = *(json_t *const *)b;
    const struct order *order = arg;
    int d = 0;

    for (size_t i = 0; i < order->n && d == 0; i++) {
        const struct key *key = &order->v[i];
        double na = answer_number (ja, key->member), nb = answer_number (jb, key->member);
        d = key->number
                ? (na > nb) - (na < nb)
                : strcmp (json_text (ja, key->member), json_text (jb, key->member));
        d = key->descends ? -d : d;
    }
    double ia = answer_number (ja, "id"), ib = answer_number (jb, "id");
    return d ? d : (ia > ib) - (ia < ib);
}

/* -- the list -- */

/* A job whose priority the caller may not see is left out, as in Slurm. */
static bool is_listed (const json_t *job)
{
    static const char *const waits[] = { "JobHeld", "Dependency", "BeginTime" };

    for (size_t i = 0; i < ARRAY_SIZE (waits); i++)
        if (!strncmp (json_text (job, "reason"), waits[i], strlen (waits[i])))
            return false;
    return json_is_number (json_object_get (job, "priority"));
}

static int get_jobs (struct cmd *c, const struct sprio *s, json_t **ret)
{
    autostrbuf struct strbuf target = STRBUF_INIT (1 << 20);

    strbuf_adds (&target, TARGET);
    target_add (&target, "ids", s->jobs);
    target_add (&target, "user", s->users ? s->users_known.buf : NULL);
    target_add (&target, "queue", s->partitions);
    return cmd_get (c, target.buf, ret);
}

static int print (struct cmd *c, const struct sprio *s, json_t **jobs, size_t n)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    struct terms row = { .weights = s->weights };

    if (s->header)
        slurm_format_add_heading (&s->format, &sb);
    if (s->weights_only)
        slurm_format_add_row (&s->format, &row, &sb);
    for (size_t i = 0; i < n; i++) {
        row.job = jobs[i];
        slurm_format_add_row (&s->format, &row, &sb);
    }
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

static int list (struct cmd *c, const struct sprio *s)
{
    struct order order = { .n = 0 };
    autojson json_t *answer = NULL;
    autofree json_t **jobs = NULL;
    json_t *job;
    size_t i, n = 0;

    if (read_order (c, s->sort ? s->sort : "i", &order) != CMD_OK)
        return c->status;
    if (s->weights_only || s->nobody)
        return print (c, s, NULL, 0);
    if (get_jobs (c, s, &answer) != CMD_OK)
        return c->status;
    const json_t *all = json_object_get (answer, "jobs");
    if (!(jobs = calloc (json_array_size (all) + 1, sizeof (*jobs))))
        return cmd_fail (c, "out of memory");
    json_array_foreach (all, i, job)
        if (is_listed (job))
            jobs[n++] = job;
    if (s->jobs && n == 0) {
        puts ("Unable to find jobs matching user/id(s) specified");
        return CMD_OK;
    }
    qsort_r (jobs, n, sizeof (*jobs), compare, &order);
    return print (c, s, jobs, n);
}

/* -- options -- */

/* Plain ids, as in Slurm; a task of an array that waits has none. */
static int check_ids (struct cmd *c, const struct sprio *s)
{
    autofree char *copy = s->jobs ? strdup (s->jobs) : NULL;
    char *next = copy, *word;
    int64_t id;

    while ((word = strsep (&next, ",")))
        if (parse_int (word, 1, INT64_MAX, &id, "", NULL) < 0)
            return cmd_fail (c, "Invalid job id: %s", word);
    return CMD_OK;
}

static void print_letters (struct cmd *c)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    slurm_format_add_letters (sprio_fields, &sb);
    fputs (sb.buf, stdout);
    c->ended = true;
}

static int set_option (struct cmd *c, struct sprio *s, const struct option_match *m)
{
    char name[64];

    switch (m->desc->id) {
    case LETTERS:
        s->format_text = m->value;
        break;
    case HELP_FORMAT:
        print_letters (c);
        break;
    case JOBS:
        s->jobs_given = true;
        s->jobs = m->value ? m->value : s->jobs;
        break;
    case LONG:
        s->long_list = true;
        break;
    case NOHEADER:
        s->header = false;
        break;
    case NORM:
        s->norm = true;
        break;
    case PARTITION:
        s->partitions = m->value;
        break;
    case SORT_SPEC:
        s->sort = m->value;
        break;
    case USERS:
        s->users = m->value;
        break;
    case WEIGHTS:
        s->weights_only = true;
        break;
    case CLUSTERS:
        return cmd_set_clusters (c, m->value, "--clusters");
    case REFUSED:
        cmd_option_as_written (c, m, name, sizeof (name));
        return cmd_usage (c, "%s: there is nothing more to print; remove the option",
                          name);
    }
    return CMD_OK;
}

static int read_options (struct cmd *c, struct sprio *s)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else if (!s->operand)
            s->operand = m.value;
        else
            s->extra = s->extra ? s->extra : m.value;
    }
    if (c->ended)
        return c->status;
    /* "-j 12" is an option and an operand, as in Slurm. */
    if (s->operand && s->jobs_given)
        s->jobs = s->operand;
    const char *extra = s->jobs_given ? s->extra : s->operand;
    if (extra)
        return cmd_usage (c, "Unrecognized option: %s", extra);
    if (s->long_list && s->format_text)
        return cmd_usage (c, "Options -o(--format) and -l(--long) are mutually "
                             "exclusive. Please remove one and retry.");
    return CMD_OK;
}

static int run (struct cmd *c)
{
    struct sprio s = { .header = true };
    autojson json_t *status = NULL;

    strbuf_init (&s.users_known, 1 << 20);
    if (read_options (c, &s) == CMD_OK && !c->ended && check_ids (c, &s) == CMD_OK
        && known_users (c, s.users, &s.users_known) == CMD_OK
        && cmd_get (c, "/v1/status", &status) == CMD_OK) {
        s.nobody = s.users && s.users_known.len == 0;
        s.weights = json_object_get (status, "priority");
        if (set_format (c, &s) == CMD_OK)
            list (c, &s);
    }
    slurm_format_release (&s.format);
    strbuf_release (&s.users_known);
    return c->status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command slurm_sprio = {
    .name = "sprio",
    .summary = "List the terms of the priorities of waiting jobs",
    .usage = usage,
    .options = options,
    .notes = "SPRIO_FORMAT stands for -o. SITE is what the job's urgency adds to its "
             "priority.\n",
    .run = run,
    .slurm = true,
    .refused = "Couldn't get priority factors from controller: ",
};
