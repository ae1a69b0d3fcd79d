/* sacctmgr.c - sacctmgr: lists users, accounts, QOS, the cluster, ...; changes nothing
 *
 *   sacctmgr [OPTION]... show|list ENTITY [where] [CONDITION=LIST]... [format=LIST]
 *
 * The entities are those of accounts/entity.c. Accounts, limits and QOS are no records of
 * fluxq that a command could change: the words of changes are refused.
 */
#include <string.h>
#include <strings.h>

#include "cmd/slurm/accounts/sacctmgr.h"

#define LISTING_MAX (1 << 30)
#define WORDS_MAX 256

enum { ASSOCIATIONS = 1, NOHEADER, PARSABLE, PARSABLE2, NO_DIFFERENCE, REFUSED };

struct sacctmgr {
    bool associations, header;
    struct list_format format;
    const char *words[WORDS_MAX];
    size_t n;
};

/* clang-format off */
static const struct option_desc options[] = {
    { "associations", 's', NULL, "a line for each association of a user or account", ASSOCIATIONS, false, NULL },
    { "immediate", 'i', NULL, "ask nothing (nothing is asked)", NO_DIFFERENCE, false, NULL },
    { "json", 0, "VERSION", NULL, REFUSED, true, NULL },
    { "noheader", 'n', NULL, "no lines of headings", NOHEADER, false, NULL },
    { "oneliner", 'o', NULL, "a line for each record (as always)", NO_DIFFERENCE, false, NULL },
    { "parsable", 'p', NULL, "fields end in '|'", PARSABLE, false, NULL },
    { "parsable2", 'P', NULL, "'|' between fields", PARSABLE2, false, NULL },
    { "quiet", 'Q', NULL, "only errors (as always)", NO_DIFFERENCE, false, NULL },
    { "readonly", 'r', NULL, "change nothing (as always)", NO_DIFFERENCE, false, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    { "yaml", 0, "VERSION", NULL, REFUSED, true, NULL },
    OPTION_END,
};
/* clang-format on */

/* -- lists -- */

static int set_format (struct cmd *c, struct sacctmgr *s, const struct entity *e,
                       const struct query *q)
{
    autostrbuf struct strbuf fields = STRBUF_INIT (1 << 20);
    struct error err = { 0 };

    if (q->fields.len > 0)
        strbuf_adds (&fields, q->fields.buf);
    else
        strbuf_addf (&fields, "%s,%s", e->fields,
                     q->associations && e->association_fields ? e->association_fields
                                                              : "");
    int rc = list_format_parse (&s->format, entity_fields, fields.buf, &err);
    if (rc == -EINVAL) {
        fprintf (stderr, "Unknown field '%s'\n", err.text);
        return c->status = CMD_FAILED;
    }
    return rc < 0 ? cmd_fail (c, "format= has too many fields") : CMD_OK;
}

static int print (struct cmd *c, const struct sacctmgr *s, const struct query *q,
                  const json_t *rows)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    const json_t *row;
    size_t i;

    if (s->header)
        list_format_add_heading (&s->format, &sb);
    json_array_foreach (rows, i, row)
        if (entity_matches (q, row))
            list_format_add_row (&s->format, row, &sb);
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

static int no_entity (struct cmd *c)
{
    fputs ("No valid entity in list command\n"
           "Input line must include \"Account\", \"Association\", \"Cluster\", "
           "\"Configuration\",\n\"Event\", \"Federation\", \"Problem\", \"QOS\", "
           "\"Resource\", \"Reservation\",\n\"RunAwayJobs\", \"Stats\", "
           "\"Transaction\", \"TRES\", \"User\", or \"WCKey\"\n",
           stderr);
    return c->status = CMD_FAILED;
}

/* words: behind "show". */
static int list (struct cmd *c, struct sacctmgr *s, const char *const words[], size_t n)
{
    const struct entity *e = n > 0 ? entity_find (words[0]) : NULL;
    struct query q = { .associations = s->associations };

    if (!e)
        return no_entity (c);
    if (e->refused)
        return cmd_fail (c, "show %s: %s", words[0], e->refused);
    if (e->print)
        return n > 1 ? cmd_fail (c, "show %s %s: takes no condition", words[0], words[1])
                     : e->print (c);
    strbuf_init (&q.fields, 1 << 20);
    json_t *rows = json_array ();
    if (entity_read_words (c, e, &q, words + 1, n - 1) == CMD_OK
        && set_format (c, s, e, &q) == CMD_OK && e->get (c, &q, rows) == CMD_OK)
        print (c, s, &q, rows);
    json_decref (rows);
    strbuf_release (&q.fields);
    return c->status;
}

/* -- words -- */

static bool is_verb (const char *word, const char *name, size_t min)
{
    size_t len = strlen (word);

    return len >= min && len <= strlen (name) && !strncasecmp (word, name, len);
}

static int run_words (struct cmd *c, struct sacctmgr *s)
{
    static const struct {
        const char *name;
        size_t min;
    } changes[] = { { "add", 3 },     { "create", 2 },      { "archive", 2 },
                    { "clear", 3 },   { "modify", 1 },      { "update", 1 },
                    { "delete", 3 },  { "remove", 3 },      { "dump", 3 },
                    { "load", 2 },    { "reconfigure", 4 }, { "rollup", 2 },
                    { "shutdown", 4 } };
    const char *verb = s->words[0];
    size_t first = 0;

    if (is_verb (verb, "associations", 11)) {
        s->associations = true;
        first = 1;
    }
    verb = first < s->n ? s->words[first] : "";
    if (is_verb (verb, "show", 3) || is_verb (verb, "list", 3))
        return list (c, s, s->words + first + 1, s->n - first - 1);
    for (size_t i = 0; i < ARRAY_SIZE (changes); i++)
        if (is_verb (verb, changes[i].name, changes[i].min))
            return cmd_fail (c,
                             "%s: fluxq keeps no records of accounts, users and QOS: a "
                             "job may name any account; limits and shares of users are "
                             "in fluxq.yaml",
                             verb);
    fprintf (stderr, "invalid keyword: %s\n", verb);
    return c->status = CMD_FAILED;
}

static int set_option (struct cmd *c, struct sacctmgr *s, const struct option_match *m)
{
    char name[64];

    switch (m->desc->id) {
    case ASSOCIATIONS:
        s->associations = true;
        break;
    case NOHEADER:
        s->header = false;
        break;
    case PARSABLE:
    case PARSABLE2:
        s->format.delimiter = "|";
        s->format.last_delimiter = m->desc->id == PARSABLE;
        break;
    case REFUSED:
        cmd_option_as_written (c, m, name, sizeof (name));
        return cmd_usage (c, "%s: %s", name,
                          m->desc->letter == 'v'
                              ? "there is nothing more to print; remove the option"
                              : "not supported; use -P");
    }
    return CMD_OK;
}

static int run (struct cmd *c)
{
    struct sacctmgr s = { .header = true };
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, &s, &m);
        else if (s.n == WORDS_MAX)
            cmd_usage (c, "more than %d words", WORDS_MAX);
        else
            s.words[s.n++] = m.value;
    }
    if (c->ended)
        return c->status;
    if (s.n == 0)
        return cmd_usage (c, "there is no prompt here; say show and an entity");
    return run_words (c, &s);
}

static const char *const usage[] = {
    "[OPTION]... show|list ENTITY [CONDITION=LIST]... [format=FIELD[%WIDTH],...]", NULL
};

#define ENTITIES                                                                         \
    "account|association|cluster|configuration|event|qos|reservation|tres|user|wckey"

static const struct phrase phrases[] = {
    { "", "list|show", 0 },
    { "list", ENTITIES, 0 },
    { "show", ENTITIES, 0 },
    { NULL, NULL, 0 },
};

const struct command slurm_sacctmgr = {
    .name = "sacctmgr",
    .summary = "List users, accounts, QOS, the cluster, its resources and events",
    .usage = usage,
    .options = options,
    .phrases = phrases,
    .notes = "Entities: account, association, cluster, configuration, event, qos, "
             "reservation, tres, user,\nwckey. Nothing can be changed.\n",
    .run = run,
    .slurm = true,
};
