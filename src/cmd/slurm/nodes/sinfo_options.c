/* sinfo_options.c - the options of sinfo; see sinfo.h
 */
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/nodes/sinfo.h"

#include "cmd/slurm/words/words.h"
#include "common/parse.h"

enum {
    ALL = 1,
    CLUSTERS,
    DEAD,
    EXACT,
    FORMAT_LETTERS,
    FORMAT_NAMES,
    HELP_FORMAT,
    HELP_FORMAT_NAMES,
    HELP_STATE,
    ITERATE,
    LONG,
    NOCONVERT,
    NODE,
    NODES,
    NOHEADER,
    PARTITION,
    REASONS,
    RESERVATION,
    RESPONDING,
    SORT_SPEC,
    STATES,
    SUMMARIZE,
    NO_DIFFERENCE, /* fluxq has one cluster, and no hidden partitions and future nodes */
    REFUSED,
    JSON,
};

/* clang-format off */
const struct option_desc sinfo_options[] = {
    { "all", 'a', NULL, "hidden partitions, too (there are none)", ALL, false, NULL },
    { "dead", 'd', NULL, "nodes that do not respond", DEAD, false, NULL },
    { "exact", 'e', NULL, "a line for each size of nodes", EXACT, false, NULL },
    { "federation", 0, NULL, "nodes of the federation (there is none)", NO_DIFFERENCE, false, NULL },
    { "format", 'o', "FORMAT", "fields by letter: \"%9P %T\", see --helpformat", FORMAT_LETTERS, false, NULL },
    { "Format", 'O', "LIST", "fields by name: Partition:9,NodeList, see --helpFormat", FORMAT_NAMES, false, NULL },
    { "future", 'F', NULL, "future nodes, too (there are none)", NO_DIFFERENCE, false, NULL },
    { "helpformat", 0, NULL, "list the letters of -o", HELP_FORMAT, false, NULL },
    { "helpFormat", 0, NULL, "list the names of -O", HELP_FORMAT_NAMES, false, NULL },
    { "helpstate", 0, NULL, "list the states of -t", HELP_STATE, false, NULL },
    { "hide", 0, NULL, "no hidden partitions (there are none)", NO_DIFFERENCE, false, NULL },
    { "iterate", 'i', "SECONDS", "repeat the list", ITERATE, false, NULL },
    { "list-reasons", 'R', NULL, "why nodes are down or drained", REASONS, false, NULL },
    { "local", 0, NULL, "nodes of the local cluster", NO_DIFFERENCE, false, NULL },
    { "long", 'l', NULL, "more fields", LONG, false, NULL },
    { "noconvert", 0, NULL, "numbers with all digits: 1024, not 1K", NOCONVERT, false, NULL },
    { "Node", 'N', NULL, "a line for each node", NODE, false, NULL },
    { "nodes", 'n', "HOSTS", "these nodes", NODES, false, NULL },
    { "noheader", 'h', NULL, "no line of headings", NOHEADER, false, NULL },
    { "clusters", 'M', "LIST", "all, or the name of this cluster", CLUSTERS, false, NULL },
    { "cluster", 0, "LIST", NULL, CLUSTERS, false, NULL },
    { "partition", 'p', "LIST", "these partitions", PARTITION, false, NULL },
    { "reservation", 'T', NULL, "the reservations", RESERVATION, false, NULL },
    { "responding", 'r', NULL, "nodes that respond", RESPONDING, false, NULL },
    { "sort", 'S', "SPEC", "order, by letters of -o [" SINFO_SORT "; with -N: " SINFO_SORT_NODES "]", SORT_SPEC, false, NULL },
    { "states", 't', "LIST", "nodes in these states: idle,mix; drain&idle; ~down", STATES, false, NULL },
    { "summarize", 's', NULL, "a line for each partition", SUMMARIZE, false, NULL },
    { "json", 0, "VERSION", "JSON, in the shape of data_parser v0.0.41", JSON, true, NULL },
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

static int set_iterate (struct cmd *c, struct sinfo *s, const char *text)
{
    int64_t n;

    if (parse_int (text, 1, INT32_MAX, &n, "", NULL) < 0)
        return cmd_usage (c, "Error: invalid entry for --iterate=%s", text);
    s->iterate = (double)n;
    return CMD_OK;
}

static const char **text_of (struct sinfo *s, int id)
{
    const char **const texts[REFUSED] = {
        [FORMAT_LETTERS] = &s->letters, [FORMAT_NAMES] = &s->names,
        [NODES] = &s->hosts_text,       [PARTITION] = &s->partitions,
        [SORT_SPEC] = &s->sort,         [STATES] = &s->states_text,
    };

    return (const char **)texts[id];
}

static bool *flag_of (struct sinfo *s, int id)
{
    bool *const flags[REFUSED] = {
        [ALL] = &s->all,
        [DEAD] = &s->dead,
        [EXACT] = &s->exact,
        [LONG] = &s->long_list,
        [NOCONVERT] = &s->noconvert,
        [NODE] = &s->each_node,
        [REASONS] = &s->reasons,
        [RESERVATION] = &s->reservations,
        [RESPONDING] = &s->responding,
        [SUMMARIZE] = &s->summary,
    };

    return flags[id];
}

static int print_help (struct cmd *c, int id)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (65536);

    if (id == HELP_STATE)
        sinfo_states_add_names (&sb, "\n");
    else if (id == HELP_FORMAT)
        slurm_format_add_letters (sinfo_fields, &sb);
    else
        slurm_format_add_names (sinfo_fields, &sb);
    fputs (sb.buf, stdout);
    if (id == HELP_STATE)
        putchar ('\n');
    c->ended = true;
    return CMD_OK;
}

static int set_option (struct cmd *c, struct sinfo *s, const struct option_match *m)
{
    int id = m->desc->id;

    switch (id) {
    case HELP_FORMAT:
    case HELP_FORMAT_NAMES:
    case HELP_STATE:
        return print_help (c, id);
    case ITERATE:
        return set_iterate (c, s, m->value);
    case NOHEADER:
        s->header = false;
        return CMD_OK;
    case CLUSTERS:
        return cmd_set_clusters (c, m->value, "--clusters");
    case NO_DIFFERENCE:
        return CMD_OK;
    case JSON:
        s->json = true;
        return job_json_has_version (m->value)
                   ? CMD_OK
                   : cmd_usage (c, "--json=%s: not supported; use --json=v0.0.41",
                                m->value);
    case REFUSED:
        return refuse (c, m);
    }
    if (text_of (s, id))
        *text_of (s, id) = m->value;
    else
        *flag_of (s, id) = true;
    return CMD_OK;
}

/* The variables that stand for an option which is not given. */
static int read_environ (struct cmd *c, struct sinfo *s)
{
    const char *partition = getenv ("SINFO_PARTITION");

    if (cmd_set_clusters_from_environ (c) != CMD_OK)
        return c->status;
    if (getenv ("SINFO_ALL") && partition)
        return cmd_usage (c, "Conflicting options, SINFO_ALL and SINFO_PARTITION, "
                             "specified. Please choose one or the other.");
    if (!s->partitions && !s->all)
        s->partitions = partition;
    if (!s->sort)
        s->sort = getenv ("SINFO_SORT");
    if (!s->letters && !s->names && !s->summary && !s->each_node && !s->reasons)
        s->letters = getenv ("SINFO_FORMAT");
    return CMD_OK;
}

static int check_options (struct cmd *c, const struct sinfo *s)
{
    if (s->operand)
        return cmd_usage (c, "Unrecognized option: %s", s->operand);
    if (s->long_list && (s->letters || s->names))
        return cmd_usage (c, "Options -o(--format) and -l(--long) are mutually "
                             "exclusive. Please remove one and retry.");
    if (s->letters && s->names)
        return cmd_usage (c, "-o (--format) is incompatible with -O (--Format)");
    if (s->all && s->partitions)
        return cmd_usage (c, "Conflicting options, -a and -p, specified. Please choose "
                             "one or the other.");
    return CMD_OK;
}

int sinfo_read_options (struct cmd *c, struct sinfo *s)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else if (!s->operand)
            s->operand = m.value;
    }
    if (c->ended || check_options (c, s) != CMD_OK)
        return c->status;
    if (!slurm_time_format_is_valid ())
        cmd_warn (c, "error: invalid SLURM_TIME_FORMAT = '%s'",
                  getenv ("SLURM_TIME_FORMAT"));
    return read_environ (c, s);
}
