/* complete.c - see complete.h */
#include "tools/match/complete.h"

#include <inttypes.h>

#include <readline/readline.h>

#include "jobspec/script/words.h"

#define LIST_MAX (4 << 20)
#define BREAKS " \t\n\"'"

/* -- where are we? -- */

/* Kind of the word after these len bytes. */
static enum word_kind complete_kind (const char *line, size_t len)
{
    const struct match_command *command;
    enum word_kind kind = WORD_NONE;
    struct words w;

    if (words_split (&w, line, len, WORDS_POSIX, NULL) < 0)
        return WORD_NONE;
    if (w.argc < 2) {
        kind = WORD_COMMAND;
    } else if ((command = command_find_word (w.argv[1])) != NULL) {
        int last = 0;
        while (last + 1 < COMMAND_WORDS_MAX && command->words[last + 1] != WORD_NONE)
            last++;
        if (command->most < 0 || w.argc - 2 < command->most)
            kind = command->most < 0    ? command->words[MIN (w.argc - 2, last)]
                   : w.argc - 2 <= last ? command->words[w.argc - 2]
                                        : WORD_NONE;
    }
    words_release (&w);
    return kind;
}

/* -- the list -- */

static void offer (struct strbuf *list, const char *word, const char *text)
{
    if (!strncmp (word, text, strlen (word)))
        strbuf_addf (list, "%s\n", text);
}

static void offer_all (struct strbuf *list, const char *word, const char *const *texts)
{
    for (; *texts; texts++)
        offer (list, word, *texts);
}

static void offer_commands (struct strbuf *list, const char *word)
{
    for (const struct match_command *c = match_commands; c->name; c++)
        offer (list, word, c->name);
}

static void offer_readers (struct strbuf *list, const char *word)
{
    for (const struct match_reader *const *r = match_readers; *r; r++) {
        if ((*r)->read_selection)
            offer (list, word, (*r)->name);
    }
}

static void offer_jobs (struct session *s, struct strbuf *list, const char *word)
{
    struct planner_job job;
    char text[32];
    size_t n = 0;

    for (uint64_t after = 0; n < COMPLETE_MAX && planner_next (s->planner, after, &job);
         after = job.job) {
        snprintf (text, sizeof (text), "%" PRIu64, job.job);
        offer (list, word, text);
        n++;
    }
}

/* Offers the units of v whose path begins with word. */
static size_t offer_units (struct session *s, struct strbuf *list, const char *word,
                           uint32_t v, size_t n)
{
    autostrbuf struct strbuf path = STRBUF_INIT (1 << 16);

    for (uint32_t unit = 0; unit < graph_vertex (s->graph, v)->n && n < COMPLETE_MAX;
         unit++) {
        strbuf_reset (&path);
        if (graph_path (s->graph, v, unit, &path) == 0
            && !strncmp (word, path.buf, strlen (word))) {
            offer (list, word, path.buf);
            n++;
        }
    }
    return n;
}

/* Offers the children of the vertex that the word names up to its last slash. */
static void offer_paths (struct session *s, struct strbuf *list, const char *word)
{
    const char *slash = strrchr (word, '/');
    autofree char *above = strndup (word, slash ? (size_t)(slash - word) : 0);
    uint32_t v, unit;
    size_t n = 0;

    if (!above || s->graph->root == GRAPH_NONE)
        return;
    if (!above[0]) {
        offer_units (s, list, word, s->graph->root, 0);
    } else if (graph_find_path (s->graph, above, &v, &unit) == 0) {
        GRAPH_CHILDREN (s->graph, v, child)
        n = offer_units (s, list, word, child, n);
    }
}

void complete_list (struct session *s, const char *line, size_t len, const char *word,
                    struct strbuf *list)
{
    static const char *const statuses[] = { "up", "down", NULL };
    static const char *const bools[] = { "true", "false", NULL };
    static const char *const bookings[] = { "allocate", "reserve", NULL };

    static const char *const *const lists[WORD_COMMAND + 1] = {
        [WORD_OP] = match_ops, [WORD_TERM] = find_terms,  [WORD_STATUS] = statuses,
        [WORD_BOOL] = bools,   [WORD_BOOKING] = bookings,
    };
    enum word_kind kind = complete_kind (line, len);

    if (lists[kind])
        offer_all (list, word, lists[kind]);
    else if (kind == WORD_COMMAND)
        offer_commands (list, word);
    else if (kind == WORD_READER)
        offer_readers (list, word);
    else if (kind == WORD_JOB)
        offer_jobs (s, list, word);
    else if (kind == WORD_PATH)
        offer_paths (s, list, word);
}

/* -- for readline, which gives its callbacks no place for their own -- */

static struct session *the_session;
static char *the_next; /* the part of the list not yet returned */

static char *next_match (const char *text, int state)
{
    char *line = the_next ? strsep (&the_next, "\n") : NULL;

    (void)text;
    (void)state;
    return line && *line ? strdup (line) : NULL;
}

static char **attempt (const char *text, int start, int end)
{
    enum word_kind kind = complete_kind (rl_line_buffer, (size_t)start);
    autofree char *list_text = NULL;
    struct strbuf list = STRBUF_INIT (LIST_MAX);
    size_t n = strlen (text);

    (void)end;
    rl_attempted_completion_over = kind != WORD_FILE;
    if (kind == WORD_FILE)
        return NULL;
    complete_list (the_session, rl_line_buffer, (size_t)start, text, &list);
    list_text = strbuf_detach (&list);
    the_next = list_text;
    char **matches = list_text ? rl_completion_matches (text, next_match) : NULL;
    the_next = NULL;
    /* Deeper vertices, and values, follow without a blank. */
    if (matches && !matches[1]
        && (kind == WORD_PATH || (n > 0 && matches[0][strlen (matches[0]) - 1] == '=')))
        rl_completion_suppress_append = 1;
    return matches;
}

void complete_setup (struct session *s)
{
    the_session = s;
    rl_readline_name = "fluxq-match";
    rl_basic_word_break_characters = BREAKS;
    rl_completer_word_break_characters = BREAKS;
    rl_completer_quote_characters = "\"'";
    rl_attempted_completion_function = attempt;
}
