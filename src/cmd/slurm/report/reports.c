/* reports.c - the reports of sreport: their fields, rows and order; see sreport.h
 *
 * The broker keeps no history of its nodes: the cluster's time is that of the nodes that
 * there are, for the whole period, and the time in which nodes were down is unknown.
 */
#include "cmd/slurm/report/sreport.h"

#include <pwd.h>
#include <string.h>
#include <strings.h>

#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"

#define WIDTH_AND_PERCENT 20 /* of times, if "12(3.00%)" */

/* -- fields -- */

#define FIELD(name)                                                                      \
    static void value_##name (const struct report_cell *r, struct strbuf *sb);           \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        value_##name (row, sb);                                                          \
    }                                                                                    \
    static void value_##name (const struct report_cell *r, struct strbuf *sb)

FIELD (cluster)
{
    record_add_text (sb, r->s->cluster);
}

FIELD (account)
{
    record_add_text (sb, r->row->account);
}

FIELD (login)
{
    record_add_text (sb, r->row->user);
}

/* The name of the person, in front of the first comma, as this machine knows it. */
FIELD (proper)
{
    const struct passwd *pw = *r->row->user ? getpwnam (r->row->user) : NULL;
    autofree char *name = pw ? strndup (pw->pw_gecos, strcspn (pw->pw_gecos, ",")) : NULL;

    record_add_text (sb, name ? name : "");
}

FIELD (resource)
{
    strbuf_adds (sb, resource_names[r->resource]);
}

FIELD (count)
{
    double seconds = r->s->until - r->s->since;

    strbuf_addf (sb, "%.0f", seconds > 0 ? r->u->capacity[r->resource] / seconds : 0);
}

/* A part of a whole, in the unit of -t. */
static void add_time (const struct sreport *s, double seconds, double whole,
                      struct strbuf *sb)
{
    static const double units[] = {
        [UNIT_SECONDS] = 1, [UNIT_MINUTES] = 60, [UNIT_HOURS] = 3600
    };
    double percent = 100 * seconds / (whole > 0 ? whole : 1);

    if (s->unit == UNIT_PERCENT)
        strbuf_addf (sb, "%.2f%%", percent);
    else
        strbuf_addf (sb, "%.0f", seconds / units[s->unit]);
    if (s->and_percent)
        strbuf_addf (sb, "(%.2f%%)", percent);
}

FIELD (used)
{
    add_time (r->s, r->row->seconds[r->resource], r->u->capacity[r->resource], sb);
}

FIELD (idle)
{
    double capacity = r->u->capacity[r->resource];

    add_time (r->s, MAX (capacity - r->row->seconds[r->resource], 0), capacity, sb);
}

FIELD (reported)
{
    add_time (r->s, r->u->capacity[r->resource], r->u->capacity[r->resource], sb);
}

static double sum_of_sizes (const struct usage *usage)
{
    double sum = 0;

    for (size_t i = 0; i <= GROUPS_MAX; i++)
        sum += usage->sizes[i];
    return sum;
}

static void add_size (const struct report_cell *r, size_t group, struct strbuf *sb)
{
    if (r->s->count_jobs)
        strbuf_addf (sb, "%.0f", r->row->sizes[group]);
    else
        add_time (r->s, r->row->sizes[group], sum_of_sizes (r->row), sb);
}

FIELD (part)
{
    double all = sum_of_sizes (&r->u->all);

    strbuf_addf (sb, "%.2f%%", all > 0 ? 100 * sum_of_sizes (r->row) / all : 0);
}

#define SIZE(n)                                                                          \
    FIELD (size_##n)                                                                     \
    {                                                                                    \
        add_size (r, n, sb);                                                             \
    }
SIZE (0)
SIZE (1)
SIZE (2)
SIZE (3)
SIZE (4)
SIZE (5)
SIZE (6)
SIZE (7)
SIZE (8)
SIZE (9)
SIZE (10)
SIZE (11)
SIZE (12)
SIZE (13)
SIZE (14)
SIZE (15)
SIZE (16)

static void (*const add_sizes[GROUPS_MAX + 1]) (const void *, struct strbuf *) = {
    add_size_0,  add_size_1,  add_size_2,  add_size_3,  add_size_4,  add_size_5,
    add_size_6,  add_size_7,  add_size_8,  add_size_9,  add_size_10, add_size_11,
    add_size_12, add_size_13, add_size_14, add_size_15, add_size_16,
};

#define WIDE 1 /* needs: the width depends on the unit */

/* clang-format off */
static const struct list_field cluster_fields[] = {
    { "Cluster", 9, LIST_TEXT, 0, add_cluster, false, NULL },
    { "Count", 10, LIST_NUMBER, 0, add_count, true, "TRES Count" },
    { "CPUCount", 10, LIST_NUMBER, 0, add_count, true, "TRES Count" },
    { "Allocated", 12, LIST_TEXT, WIDE, add_used, false, NULL },
    { "Down", 10, LIST_TEXT, WIDE, NULL, false, NULL },
    { "Idle", 12, LIST_TEXT, WIDE, add_idle, false, NULL },
    { "OverCommitted", 9, LIST_TEXT, WIDE, NULL, false, "Over Comm" },
    { "Planned", 9, LIST_TEXT, WIDE, NULL, false, NULL },
    { "PLNDDown", 10, LIST_TEXT, WIDE, NULL, false, "PLND Down" },
    { "PlannedDown", 10, LIST_TEXT, WIDE, NULL, true, "PLND Down" },
    { "Reported", 12, LIST_TEXT, WIDE, add_reported, false, NULL },
    { "Reserved", 9, LIST_TEXT, WIDE, NULL, true, "Planned" },
    { "TRESCount", 10, LIST_NUMBER, 0, add_count, false, "TRES Count" },
    { "TRESName", 14, LIST_TEXT, 0, add_resource, false, "TRES Name" },
    { 0 },
};

static const struct list_field user_fields[] = {
    { "Accounts", 15, LIST_TEXT, 0, add_account, false, "Account" },
    { "Cluster", 9, LIST_TEXT, 0, add_cluster, false, NULL },
    { "Energy", 10, LIST_TEXT, WIDE, NULL, false, NULL },
    { "Login", 9, LIST_TEXT, 0, add_login, false, NULL },
    { "Proper", 15, LIST_TEXT, 0, add_proper, false, "Proper Name" },
    { "TRESName", 14, LIST_TEXT, 0, add_resource, false, "TRES Name" },
    { "Used", 10, LIST_TEXT, WIDE, add_used, false, NULL },
    { 0 },
};

static const struct list_field size_fields[] = {
    { "Account", 9, LIST_TEXT, 0, add_account, false, NULL },
    { "Cluster", 9, LIST_TEXT, 0, add_cluster, false, NULL },
    { 0 },
};
/* clang-format on */

static bool is_of_sizes (const struct report *report)
{
    return report->table == size_fields;
}

static void add_size_fields (struct sreport *s, size_t n)
{
    double last = 0;

    for (size_t i = 0; i <= s->nbounds; i++) {
        char *heading = s->size_headings[i];
        if (i < s->nbounds)
            snprintf (heading, sizeof (s->size_headings[i]), "%.0f-%.0f CPUs", last,
                      s->bounds[i] - 1);
        else
            snprintf (heading, sizeof (s->size_headings[i]), ">= %.0f CPUs", last);
        last = i < s->nbounds ? s->bounds[i] : last;
        s->table[n++] =
            (struct list_field){ heading,      s->and_percent ? WIDTH_AND_PERCENT : 13,
                                 LIST_TEXT,    0,
                                 add_sizes[i], false,
                                 NULL };
    }
    s->table[n++] = (struct list_field){ REPORT_PART, 12,    LIST_TEXT,     0,
                                         add_part,    false, "% of cluster" };
    s->table[n] = (struct list_field){ 0 };
}

void report_make_table (struct sreport *s)
{
    size_t n = 0;

    for (const struct list_field *f = s->report->table; f->name; f++) {
        s->table[n] = *f;
        if (f->needs & WIDE && s->and_percent)
            s->table[n].width = MAX (f->width, WIDTH_AND_PERCENT);
        n++;
    }
    s->table[n] = (struct list_field){ 0 };
    if (is_of_sizes (s->report))
        add_size_fields (s, n);
}

/* -- rows -- */

static void sum_up (struct usage *to, const struct usage *from)
{
    for (size_t i = 0; i < RESOURCES; i++)
        to->seconds[i] += from->seconds[i];
    for (size_t i = 0; i <= GROUPS_MAX; i++)
        to->sizes[i] += from->sizes[i];
}

/* Room for a row a user, a row an account, one more, and the users once more. */
static struct usage *make_rows (const struct usages *u, struct usage **ret)
{
    return *ret = calloc (3 * u->n + 2, sizeof (**ret));
}

static ssize_t cluster_rows (const struct sreport *s, const struct usages *u,
                             struct usage **ret)
{
    (void)s;
    if (!make_rows (u, ret))
        return -ENOMEM;
    (*ret)[0] = u->all;
    return 1;
}

/* root first, then by name. */
static int compare_accounts (const char *a, const char *b)
{
    int d = (strcmp (a, REPORT_ROOT) != 0) - (strcmp (b, REPORT_ROOT) != 0);

    return d ? d : strcmp (a, b);
}

static int by_account (const void *a, const void *b)
{
    const struct usage *ua = a, *ub = b;
    int d = compare_accounts (ua->account, ub->account);

    return d ? d : strcmp (ua->user, ub->user);
}

/* For each account its sum, then its users; the sum of root has all accounts. */
static ssize_t account_rows (const struct sreport *s, const struct usages *u,
                             struct usage **ret)
{
    struct usage *rows = make_rows (u, ret), *users = rows ? rows + 2 * u->n + 1 : NULL;
    struct usage *sum = NULL;
    size_t n = 0;

    if (!rows)
        return -ENOMEM;
    memcpy (users, u->v, u->n * sizeof (*users));
    qsort (users, u->n, sizeof (*users), by_account);
    if (u->n > 0 && (!s->accounts || slurm_list_has (s->accounts, REPORT_ROOT))) {
        sum = &rows[n++];
        sum->account = REPORT_ROOT;
        sum->user = "";
        for (size_t i = 0; i < u->n; i++)
            sum_up (sum, &users[i]);
    }
    for (size_t i = 0; i < u->n; i++) {
        const struct usage user = users[i];
        bool of_root = !strcmp (user.account, REPORT_ROOT);
        if (!sum || strcmp (sum->account, user.account) != 0) {
            sum = &rows[n++];
            *sum = (struct usage){ .account = user.account, .user = "" };
        }
        if (!of_root)
            sum_up (sum, &user);
        rows[n++] = user;
    }
    return (ssize_t)n;
}

static int by_user (const void *a, const void *b)
{
    const struct usage *ua = a, *ub = b;
    int d = strcmp (ua->user, ub->user);

    return d ? d : compare_accounts (ua->account, ub->account);
}

/* The user who used most first. */
static int by_usage (const void *a, const void *b)
{
    const struct usage *ua = a, *ub = b;
    int d = (ua->of_user < ub->of_user) - (ua->of_user > ub->of_user);

    return d ? d : by_user (a, b);
}

static ssize_t user_rows (const struct sreport *s, const struct usages *u,
                          struct usage **ret)
{
    struct usage *rows = make_rows (u, ret);

    (void)s;
    if (!rows)
        return -ENOMEM;
    memcpy (rows, u->v, u->n * sizeof (*rows));
    qsort (rows, u->n, sizeof (*rows), by_user);
    for (size_t i = 0, end; i < u->n; i = end) {
        double sum = 0;
        for (end = i; end < u->n && !strcmp (rows[i].user, rows[end].user); end++)
            sum += rows[end].seconds[RESOURCE_CPU];
        for (size_t k = i; k < end; k++)
            rows[k].of_user = sum;
    }
    qsort (rows, u->n, sizeof (*rows), by_usage);
    return (ssize_t)u->n;
}

/* The first `top` users, with `group` in one row each. */
static ssize_t top_rows (const struct sreport *s, const struct usages *u,
                         struct usage **ret)
{
    ssize_t all = user_rows (s, u, ret);
    struct usage *rows = *ret;
    size_t n = 0;
    int64_t users = 0;

    for (ssize_t i = 0; i < all; i++) {
        bool same = n > 0 && !strcmp (rows[n - 1].user, rows[i].user);
        if (!same && s->top > 0 && ++users > s->top)
            break;
        if (same && s->group)
            sum_up (&rows[n - 1], &rows[i]);
        else
            rows[n++] = rows[i];
    }
    return all < 0 ? all : (ssize_t)n;
}

/* Only root, which has all, unless accounts are named. */
static ssize_t size_rows (const struct sreport *s, const struct usages *u,
                          struct usage **ret)
{
    ssize_t all = account_rows (s, u, ret);
    struct usage *rows = *ret;
    size_t n = 0;

    for (ssize_t i = 0; i < all; i++)
        if (!*rows[i].user
            && (s->flat || s->accounts || !strcmp (rows[i].account, REPORT_ROOT)))
            rows[n++] = rows[i];
    return all < 0 ? all : (ssize_t)n;
}

/* -- the table -- */

#define CLUSTER "Allocated,Down,PLNDDown,Idle,Planned,Reported"

/* clang-format off */
static const struct report reports[] = {
    { "cluster", 2, "AccountUtilizationByUser", 1, "Cluster/Account/User Utilization", false, "Cluster,Accounts,Login,Proper,Used,Energy", "Cluster,Accounts,Login,Proper,TRESName,Used", user_fields, account_rows },
    { "cluster", 2, "UserUtilizationByAccount", 18, "Cluster/User/Account Utilization", false, "Cluster,Login,Proper,Accounts,Used,Energy", "Cluster,Login,Proper,Accounts,TRESName,Used", user_fields, user_rows },
    { "cluster", 2, "Utilization", 2, "Cluster Utilization", true, "Cluster," CLUSTER, "Cluster,TRESName," CLUSTER, cluster_fields, cluster_rows },
    { "job", 1, "SizesByAccount", 1, "Job Sizes", false, "Cluster,Account", "Cluster,Account", size_fields, size_rows },
    { "user", 1, "TopUsage", 1, "Top", false, "Cluster,Login,Proper,Accounts,Used,Energy", "Cluster,Login,Proper,Accounts,TRESName,Used", user_fields, top_rows },
};
/* clang-format on */

static bool is_beginning (const char *word, const char *name, size_t min)
{
    size_t len = strlen (word);

    return len >= min && len <= strlen (name) && !strncasecmp (word, name, len);
}

bool report_has_type (const char *type)
{
    for (size_t i = 0; i < ARRAY_SIZE (reports); i++)
        if (is_beginning (type, reports[i].type, reports[i].type_min))
            return true;
    return false;
}

const struct report *report_find (const char *type, const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE (reports); i++)
        if (is_beginning (type, reports[i].type, reports[i].type_min)
            && is_beginning (name, reports[i].name, reports[i].min))
            return &reports[i];
    return NULL;
}
