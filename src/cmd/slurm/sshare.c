/* sshare.c - sshare: shares and usage of users
 *
 * fluxq shares the cluster among users; there are no accounts with shares. As in a Slurm
 * whose accounts are not configured, there is one account, root, and the users are below
 * it. A user may name any account, so no user is a member of one: -U lists nothing.
 */
#include <math.h>
#include <pwd.h>
#include <string.h>

#include "cmd/client/shares.h"
#include "cmd/print/print.h"
#include "cmd/slurm/words/list_format.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"

#define LISTING_MAX (1 << 30)
#define ROOT "root" /* the account */

enum {
    ACCOUNTS = 1,
    ALL,
    HELP_FORMAT,
    LONG,
    PARTITION,
    NOHEADER,
    FORMAT,
    PARSABLE,
    PARSABLE2,
    USERS,
    USERS_ONLY,
    CLUSTERS,
    REFUSED,
};

struct sshare {
    const char *accounts; /* NULL: all */
    struct strbuf users, fields;
    bool all, long_list, partition, header, users_only;
    struct list_format format;
};

struct share {
    const json_t *all;  /* of GET /v1/fair-share */
    const json_t *user; /* of its users; NULL: the account */
    const char *cluster;
};

/* clang-format off */
static const struct option_desc options[] = {
    { "accounts", 'A', "LIST", "only these accounts (there is root)", ACCOUNTS, false, NULL },
    { "all", 'a', NULL, "all users", ALL, false, NULL },
    { "clusters", 'M', "LIST", "all, or the name of this cluster", CLUSTERS, false,
      NULL },
    { "cluster", 0, "LIST", NULL, CLUSTERS, false, NULL },
    { "format", 'o', "LIST", "fields: User,FairShare%12, see --helpformat", FORMAT, false, NULL },
    { "helpformat", 'e', NULL, "list the fields of -o", HELP_FORMAT, false, NULL },
    { "json", 0, "VERSION", NULL, REFUSED, true, NULL },
    { "long", 'l', NULL, "more fields", LONG, false, NULL },
    { "noheader", 'n', NULL, "no lines of headings", NOHEADER, false, NULL },
    { "", 'h', NULL, NULL, NOHEADER, false, NULL },
    { "parsable", 'p', NULL, "fields end in '|'", PARSABLE, false, NULL },
    { "parsable2", 'P', NULL, "'|' between fields", PARSABLE2, false, NULL },
    { "partition", 'm', NULL, "also the field Partition", PARTITION, false, NULL },
    { "users", 'u', "LIST", "these users [the caller]", USERS, false, NULL },
    { "Users", 'U', NULL, "only members of accounts (there are none)", USERS_ONLY, false, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    { "yaml", 0, "VERSION", NULL, REFUSED, true, NULL },
    OPTION_END,
};
/* clang-format on */

/* -- fields -- */

#define FIELD(name)                                                                      \
    static void value_##name (const struct share *s, struct strbuf *sb);                 \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        value_##name (row, sb);                                                          \
    }                                                                                    \
    static void value_##name (const struct share *s, struct strbuf *sb)

/* A level of the tree is a blank. */
FIELD (account)
{
    strbuf_adds (sb, s->user ? " " ROOT : ROOT);
}

FIELD (cluster)
{
    record_add_text (sb, s->cluster);
}

static const char *name_of (const json_t *user, char *buf, size_t size)
{
    const char *name = json_text (user, "user");

    snprintf (buf, size, "%.0f", answer_number (user, "userid"));
    return *name ? name : buf;
}

FIELD (user)
{
    char buf[32];

    if (s->user)
        record_add_text (sb, name_of (s->user, buf, sizeof (buf)));
}

/* Each user has one share. */
FIELD (shares)
{
    if (s->user)
        strbuf_adds (sb, "1");
}

FIELD (share)
{
    strbuf_addf (sb, "%.6f", s->user ? answer_number (s->user, "share") : 0);
}

/* Seconds of cores; NULL: hidden from the caller. */
static const json_t *usage_of (const struct share *s)
{
    const json_t *usage = s->user ? json_object_get (s->user, "usage")
                                  : json_object_get (s->all, "usage_all");

    return json_is_number (usage) ? usage : NULL;
}

FIELD (usage)
{
    const json_t *usage = usage_of (s);

    if (usage)
        strbuf_addf (sb, "%.0f", json_number_value (usage));
}

FIELD (cpu_minutes)
{
    const json_t *usage = usage_of (s);

    if (usage)
        strbuf_addf (sb, "cpu=%.0f", floor (json_number_value (usage) / 60));
}

FIELD (usage_part)
{
    if (s->user)
        strbuf_addf (sb, "%.6f", answer_number (s->user, "usage_part"));
}

FIELD (effective)
{
    strbuf_addf (sb, "%.6f", s->user ? answer_number (s->user, "usage_part") : 1);
}

FIELD (factor)
{
    if (s->user)
        strbuf_addf (sb, "%.6f", answer_number (s->user, "factor"));
}

FIELD (level)
{
    double part = s->user ? answer_number (s->user, "usage_part") : 0;

    if (s->user && part > 0)
        strbuf_addf (sb, "%.6f", answer_number (s->user, "share") / part);
    else if (s->user)
        strbuf_adds (sb, "inf");
}

static const struct list_field fields[] = {
    { "Account", -20, LIST_TEXT, 0, add_account, false, NULL },
    { "Cluster", 10, LIST_TEXT, 0, add_cluster, false, NULL },
    { "EffectvUsage", 13, LIST_NUMBER, 0, add_effective, false, NULL },
    { "FairShare", 10, LIST_NUMBER, 0, add_factor, false, NULL },
    { "GrpTRESMins", 30, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpTRESRaw", 30, LIST_TEXT, 0, add_cpu_minutes, false, NULL },
    { "ID", 6, LIST_NUMBER, 0, NULL, false, NULL },
    { "LevelFS", 10, LIST_NUMBER, 0, add_level, false, NULL },
    { "NormShares", 11, LIST_NUMBER, 0, add_share, false, NULL },
    { "NormUsage", 11, LIST_NUMBER, 0, add_usage_part, false, NULL },
    { "Partition", 12, LIST_TEXT, 0, NULL, false, NULL },
    { "RawShares", 10, LIST_NUMBER, 0, add_shares, false, NULL },
    { "RawUsage", 11, LIST_NUMBER, 0, add_usage, false, NULL },
    { "TRESRunMins", 30, LIST_TEXT, 0, NULL, false, NULL },
    { "User", 10, LIST_TEXT, 0, add_user, false, NULL },
    { 0 },
};

/* -- the list -- */

static bool is_wanted (const struct sshare *s, const json_t *user)
{
    char buf[32];

    return s->all || slurm_list_has (s->users.buf, name_of (user, buf, sizeof (buf)));
}

static void add_rows (const struct sshare *s, struct share *row, struct strbuf *sb)
{
    const json_t *user;
    size_t i;

    list_format_add_row (&s->format, row, sb);
    json_array_foreach (json_object_get (row->all, "users"), i, user) {
        row->user = user;
        if (is_wanted (s, user))
            list_format_add_row (&s->format, row, sb);
    }
}

static int list (struct cmd *c, const struct sshare *s)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    json_t *status = NULL, *all = NULL;

    if (cmd_get (c, "/v1/status", &status) == CMD_OK
        && cmd_get_shares (c, &all) == CMD_OK) {
        struct share row = { .all = all, .cluster = json_text (status, "cluster") };
        if (c->cluster[0])
            strbuf_addf (&sb, "CLUSTER: %s\n", c->cluster);
        if (s->header)
            list_format_add_heading (&s->format, &sb);
        if (!s->users_only && (!s->accounts || slurm_list_has (s->accounts, ROOT)))
            add_rows (s, &row, &sb);
        if (sb.err)
            cmd_fail (c, "the listing is too large");
        else
            fwrite (sb.buf, 1, sb.len, stdout);
        if (s->users_only)
            cmd_warn (c, "no user is a member of an account: jobs may name any account; "
                         "without -U users are listed");
    }
    json_decref (all);
    json_decref (status);
    return c->status;
}

/* -- options -- */

static void add_users (struct sshare *s, const char *list)
{
    autofree char *copy = strdup (list);
    char *next = copy, *word;

    s->all = !strcmp (list, "-1");
    while (!s->all && (word = strsep (&next, ","))) {
        bool number = *word && word[strspn (word, "0123456789")] == '\0';
        const struct passwd *pw =
            number ? getpwuid ((uid_t)strtoul (word, NULL, 10)) : NULL;
        strbuf_addf (&s->users, "%s,", pw ? pw->pw_name : word);
    }
}

static int refuse (struct cmd *c, const struct option_match *m)
{
    const char *name = m->desc->name;
    char written[64];

    cmd_option_as_written (c, m, written, sizeof (written));
    if (!strcmp (name, "json") || !strcmp (name, "yaml"))
        return cmd_usage (c, "%s: not supported; use -P, or fluxq-show fair-share --json",
                          written);
    return cmd_usage (c, "%s: there is nothing more to print; remove the option",
                      written);
}

static void print_names (struct cmd *c)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    list_format_add_names (fields, &sb);
    fputs (sb.buf, stdout);
    c->ended = true;
}

static int set_option (struct cmd *c, struct sshare *s, const struct option_match *m)
{
    switch (m->desc->id) {
    case ACCOUNTS:
        s->accounts = m->value;
        break;
    case ALL:
        s->all = true;
        break;
    case FORMAT:
        strbuf_addf (&s->fields, "%s,", m->value);
        break;
    case HELP_FORMAT:
        print_names (c);
        break;
    case LONG:
        s->long_list = true;
        break;
    case NOHEADER:
        s->header = false;
        break;
    case PARSABLE:
    case PARSABLE2:
        s->format.delimiter = "|";
        s->format.last_delimiter = m->desc->id == PARSABLE;
        break;
    case PARTITION:
        s->partition = true;
        break;
    case USERS:
        add_users (s, m->value);
        break;
    case USERS_ONLY:
        s->users_only = true;
        break;
    case CLUSTERS:
        return cmd_set_clusters (c, m->value, "--clusters");
    case REFUSED:
        return refuse (c, m);
    }
    return CMD_OK;
}

static void add_own_fields (struct sshare *s)
{
    strbuf_adds (&s->fields, "Account,User,");
    strbuf_adds (&s->fields, s->partition ? "Partition," : "");
    strbuf_adds (&s->fields, "RawShares,NormShares,RawUsage,");
    strbuf_adds (&s->fields, s->long_list ? "NormUsage," : "");
    strbuf_adds (&s->fields, "EffectvUsage,FairShare");
    strbuf_adds (&s->fields, s->long_list ? ",LevelFS,GrpTRESMins,TRESRunMins" : "");
}

static int read_options (struct cmd *c, struct sshare *s)
{
    struct error err = { 0 };
    struct option_match m;
    struct passwd *pw;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else
            cmd_usage (c, "Unrecognized argument: %s", m.value);
    }
    if (c->ended)
        return c->status;
    if (s->fields.len == 0)
        add_own_fields (s);
    if (s->users.len == 0 && (pw = getpwuid (getuid ())))
        strbuf_adds (&s->users, pw->pw_name);
    int rc = list_format_parse (&s->format, fields, s->fields.buf, &err);
    if (rc == -EINVAL)
        return cmd_fail (c, "Invalid field requested: \"%s\"", err.text);
    return rc < 0 ? cmd_fail (c, "--format has too many fields") : CMD_OK;
}

static int run (struct cmd *c)
{
    struct sshare s = { .header = true };

    strbuf_init (&s.users, 1 << 20);
    strbuf_init (&s.fields, 1 << 20);
    if (read_options (c, &s) == CMD_OK && !c->ended)
        list (c, &s);
    strbuf_release (&s.users);
    strbuf_release (&s.fields);
    return c->status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command slurm_sshare = {
    .name = "sshare",
    .summary = "List shares and usage of users",
    .usage = usage,
    .options = options,
    .notes = "Usage is in seconds of cores, and decays as fluxq.yaml says.\n",
    .run = run,
    .slurm = true,
    .refused = "Couldn't get shares from controller: ",
};
