/* complete.c - see complete.h */
#include "cmd/complete.h"

#include <sys/time.h>

#include <readline/readline.h>

#include "jobspec/script/words.h"

#define LIST_MAX (4 << 20)
/* Characters that end words, so that ids in a list and values after "--queue=" are
 * completed. */
#define BREAKS " \t\n\"'=,"

/* Words of the console that are not commands; NULL-terminated. */
static const char *const console_words[] = { "exit", "help", "quit", NULL };

static const char *const states[] = { "active",    "all",        "CANCELLED",
                                      "COMPLETED", "COMPLETING", "CONFIGURING",
                                      "FAILED",    "finished",   "NODE_FAIL",
                                      "PENDING",   "pending",    "RUNNING",
                                      "running",   "TIMEOUT",    NULL };

/* Options with values to complete, by name and by the value's name in the help. */
static const struct {
    const char *name, *arg; /* NULL: any */
    enum completion kind;
} option_values[] = {
    { "queue", NULL, COMPLETE_QUEUES }, { "partition", NULL, COMPLETE_QUEUES },
    { "state", NULL, COMPLETE_STATES }, { "states", NULL, COMPLETE_STATES },
    { "jobs", NULL, COMPLETE_JOBS },    { "job", NULL, COMPLETE_JOBS },
    { "jobid", NULL, COMPLETE_JOBS },   { "nodes", "NAMES", COMPLETE_NODES },
    { NULL, "HOSTS", COMPLETE_NODES },  { NULL, "FILE", COMPLETE_FILES },
    { NULL, "DIR", COMPLETE_FILES },    { "reservation", NULL, COMPLETE_RESERVATIONS },
};

/* -- where are we? -- */

static enum completion kind_of_value (const struct option_desc *d)
{
    for (size_t i = 0; i < ARRAY_SIZE (option_values); i++) {
        const char *name = option_values[i].name, *arg = option_values[i].arg;
        if ((!name || !strcmp (name, d->name)) && (!arg || !strcmp (arg, d->arg)))
            return option_values[i].kind;
    }
    return COMPLETE_NONE;
}

/* The option in this word whose value follows, or NULL. with_equals: "--name=". */
static const struct option_desc *awaits_value (const struct option_desc *options,
                                               const char *word, bool with_equals)
{
    const struct option_desc *d = NULL;
    char name[64];

    if (!strncmp (word, "--", 2)) {
        size_t len = strcspn (word + 2, "=");
        snprintf (name, sizeof (name), "%.*s", (int)MIN (len, sizeof (name) - 1),
                  word + 2);
        if (!name[0] || (word[2 + len] == '=') != with_equals)
            return NULL;
        d = option_find (options, name, NULL);
    } else if (word[0] == '-' && word[1] && !word[2] && !with_equals) {
        d = option_find_letter (options, word[1]);
    }
    return d && d->arg && (with_equals || !d->arg_optional) ? d : NULL;
}

static enum completion kind_of_operand (const struct command *command, const char *first)
{
    if (!command->subcommands)
        return command->operands;
    if (!first)
        return COMPLETE_SUBCOMMANDS;
    for (const struct subcommand *s = command->subcommands; s->name; s++) {
        if (!strcmp (s->name, first))
            return s->operands;
    }
    return COMPLETE_NONE;
}

/* The phrase that begins with the operands, separated by blanks; NULL: there is none. */
static const struct phrase *phrase_of (const struct command *command,
                                       const char *operands)
{
    for (const struct phrase *p = command->phrases; p && p->after; p++)
        if (!strcasecmp (p->after, operands))
            return p;
    return NULL;
}

/* argv[1] is the command. */
static void place_in_command (struct completion_place *ret, int argc, char **argv,
                              bool glued, const char *word)
{
    autostrbuf struct strbuf operands = STRBUF_INIT (LIST_MAX);
    struct option_desc options[CMD_OPTIONS_MAX];
    const struct option_desc *d;
    const char *first = NULL;

    command_options (ret->command, options);
    d = argc > 2 ? awaits_value (options, argv[argc - 1], glued) : NULL;
    if (d)
        ret->kind = kind_of_value (d);
    else if (!glued && word[0] == '-')
        ret->kind = COMPLETE_OPTIONS;
    if (d || glued || word[0] == '-')
        return;
    strbuf_adds (&operands, "");
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] == '-') {
            i += awaits_value (options, argv[i], false) != NULL;
            continue;
        }
        strbuf_addf (&operands, "%s%s", first ? " " : "", argv[i]);
        first = first ? first : argv[i];
    }
    const struct phrase *p = phrase_of (ret->command, operands.buf ? operands.buf : "");
    ret->words = p ? p->words : NULL;
    ret->kind = !p         ? kind_of_operand (ret->command, first)
                : p->words ? COMPLETE_PHRASES
                           : p->operands;
}

void complete_place (struct completion_place *ret, const char *line, size_t len,
                     const char *word)
{
    struct words w;

    *ret = (struct completion_place){ .kind = COMPLETE_NONE };
    /* in a list: the same place as before the list */
    if (len > 0 && line[len - 1] == ',')
        while (len > 0 && !strchr (" \t=", line[len - 1]))
            len--;
    bool glued = len > 0 && line[len - 1] == '=';
    if (words_split (&w, line, len, WORDS_POSIX, NULL) < 0)
        return;
    if (w.argc < 2) {
        ret->kind = COMPLETE_COMMANDS;
    } else if (!strcmp (w.argv[1], "help")) {
        ret->kind = COMPLETE_COMMANDS;
    } else {
        ret->command = command_find (w.argv[1]);
        if (!ret->command)
            ret->command = command_find_slurm (w.argv[1]);
        if (ret->command)
            place_in_command (ret, w.argc, w.argv, glued, word);
    }
    words_release (&w);
}

/* -- the list -- */

static void offer (struct strbuf *list, const char *word, const char *prefix,
                   const char *text)
{
    size_t n = strlen (prefix);

    if (strncmp (word, prefix, MIN (n, strlen (word))) != 0
        || (strlen (word) > n && strncmp (text, word + n, strlen (word) - n) != 0))
        return;
    strbuf_addf (list, "%s%s\n", prefix, text);
}

static volatile sig_atomic_t late;

static void note_late (int signum)
{
    (void)signum;
    late = 1;
}

/* The answer to a GET within a second, or NULL. The caller frees it. */
static char *ask (const char *broker, const char *target)
{
    struct sigaction sa = { .sa_handler = note_late }, old;
    struct itimerval second = { .it_value.tv_sec = 1 }, none = { .it_value.tv_sec = 0 };
    struct http_client *client = http_client_open (broker, NULL);
    struct http_response r = { 0 };
    char *body = NULL;

    if (!client)
        return NULL;
    late = 0;
    sigaction (SIGALRM, &sa, &old);
    setitimer (ITIMER_REAL, &second, NULL);
    http_client_set_interrupt (client, &late);
    if (http_client_request (client, "GET", target, NULL, 0, NULL, &r, NULL) == 0
        && r.status == 200) {
        body = r.body;
        r.body = NULL;
    }
    setitimer (ITIMER_REAL, &none, NULL);
    sigaction (SIGALRM, &old, NULL);
    http_response_release (&r);
    http_client_close (client);
    return body;
}

static void offer_ids (struct strbuf *list, const char *word, const char *broker,
                       bool all)
{
    autofree char *body = ask (broker, all ? "/v1/jobs?format=tsv&fields=id&state=all"
                                           : "/v1/jobs?format=tsv&fields=id");
    char *next = body, *line;

    while (next && (line = strsep (&next, "\n")) != NULL) {
        if (*line)
            offer (list, word, "", line);
    }
}

/* {"nodes":[{"name":...}]} */
static void offer_names (struct strbuf *list, const char *word, const char *broker,
                         const char *target, const char *key)
{
    autofree char *body = ask (broker, target);
    autojson json_t *o = body ? json_loads (body, 0, NULL) : NULL;
    json_t *item;
    size_t i;

    json_array_foreach (json_object_get (o, key), i, item) {
        const char *name = json_string_value (json_object_get (item, "name"));
        if (name)
            offer (list, word, "", name);
    }
}

static void offer_options (struct strbuf *list, const char *word,
                           const struct command *command)
{
    struct option_desc options[CMD_OPTIONS_MAX];

    command_options (command, options);
    for (const struct option_desc *d = options; d->name; d++) {
        if (d->name[0] && d->help)
            offer (list, word, "--", d->name);
    }
}

static void offer_commands (struct strbuf *list, const char *word)
{
    for (const struct command *const *c = commands; *c; c++) {
        if (strcmp ((*c)->name, "console") != 0)
            offer (list, word, "", (*c)->name);
    }
    for (const char *const *w = console_words; *w; w++)
        offer (list, word, "", *w);
}

/* words: "jobs|nodes" */
static void offer_words (struct strbuf *list, const char *word, const char *words)
{
    char one[64];

    for (const char *next; *words; words = next + (*next == '|')) {
        next = words + strcspn (words, "|");
        snprintf (one, sizeof (one), "%.*s", (int)(next - words), words);
        offer (list, word, "", one);
    }
}

void complete_list (const struct completion_place *place, const char *word,
                    const char *broker, struct strbuf *list)
{
    switch (place->kind) {
    case COMPLETE_JOBS:
    case COMPLETE_ALL_JOBS:
        offer_ids (list, word, broker, place->kind == COMPLETE_ALL_JOBS);
        break;
    case COMPLETE_NODES:
        offer_names (list, word, broker, "/v1/nodes", "nodes");
        break;
    case COMPLETE_QUEUES:
        offer_names (list, word, broker, "/v1/queues", "queues");
        break;
    case COMPLETE_RESERVATIONS:
        offer_names (list, word, broker, "/v1/reservations", "reservations");
        break;
    case COMPLETE_STATES:
        for (const char *const *s = states; *s; s++)
            offer (list, word, "", *s);
        break;
    case COMPLETE_COMMANDS:
        offer_commands (list, word);
        break;
    case COMPLETE_OPTIONS:
        offer_options (list, word, place->command);
        break;
    case COMPLETE_SUBCOMMANDS:
        for (const struct subcommand *s = place->command->subcommands; s->name; s++)
            offer (list, word, "", s->name);
        break;
    case COMPLETE_PHRASES:
        offer_words (list, word, place->words);
        break;
    default: /* files: readline completes them */
        break;
    }
}

/* -- shells -- */

void complete_print (const char *line, const char *broker)
{
    struct completion_place place;
    autostrbuf struct strbuf list = STRBUF_INIT (LIST_MAX);
    const char *program = line, *word = line + strlen (line);

    for (const char *p = line; *p && *p != ' ' && *p != '\t'; p++)
        if (*p == '/')
            program = p + 1;
    while (word > program && !strchr (BREAKS, word[-1]))
        word--;
    if (!strncmp (program, "fluxq-", 6))
        program += 6;
    else if (!strncmp (program, "fluxq ", 6) || !strncmp (program, "fluxq\t", 6))
        program += 6;
    if (word < program)
        return;
    complete_place (&place, program, (size_t)(word - program), word);
    if (place.kind == COMPLETE_FILES)
        puts (":files");
    complete_list (&place, word, broker, &list);
    fputs (list.buf ? list.buf : "", stdout);
}

/* -- readline -- */

static const char *the_broker;
static char *the_list; /* all matches; readline takes them from the_next on */
static char *the_next;

static char *next_match (const char *text, int state)
{
    char *line;

    (void)text;
    (void)state;
    while (the_next && (line = strsep (&the_next, "\n")) != NULL) {
        if (*line)
            return strdup (line); /* readline frees it */
    }
    return NULL;
}

static char **attempt (const char *text, int start, int end)
{
    struct completion_place place;
    struct strbuf list = STRBUF_INIT (LIST_MAX);

    (void)end;
    complete_place (&place, rl_line_buffer, (size_t)start, text);
    rl_attempted_completion_over = place.kind != COMPLETE_FILES;
    if (place.kind == COMPLETE_FILES)
        return NULL;
    complete_list (&place, text, the_broker, &list);
    the_next = the_list = strbuf_detach (&list);
    char **matches = the_list ? rl_completion_matches (text, next_match) : NULL;
    free (the_list);
    the_next = the_list = NULL;
    return matches;
}

void complete_setup (const char *broker)
{
    the_broker = broker;
    rl_readline_name = "fluxq";
    rl_basic_word_break_characters = BREAKS;
    rl_completer_word_break_characters = BREAKS;
    rl_completer_quote_characters = "\"'";
    rl_attempted_completion_function = attempt;
}
