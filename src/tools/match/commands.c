/* commands.c - see commands.h */
#include "tools/match/commands.h"

#include "jobspec/script/words.h"

const struct match_command match_commands[] = {
    { "match",
      "m",
      "OPERATION JOBSPEC",
      "find resources for a jobspec and book them: allocate (now), "
      "allocate_with_satisfiability (now, and report if it never fits), "
      "allocate_orelse_reserve (now, else as soon as it fits); or book nothing: "
      "satisfiability (whether it ever fits), without_allocating, "
      "without_allocating_future",
      2,
      2,
      { WORD_OP, WORD_FILE },
      do_match },
    { "multi-match",
      "M",
      "OPERATION JOBSPEC JOBSPEC...",
      "match several jobspecs, up to the first that finds nothing",
      3,
      -1,
      { WORD_OP, WORD_FILE },
      do_multi_match },
    { "update",
      "u",
      "allocate|reserve READER FILE JOBID START DURATION",
      "book the selection in FILE for a job (jgf, jgf_shorthand, rv1exec)",
      6,
      6,
      { WORD_BOOKING, WORD_READER, WORD_FILE, WORD_NONE },
      do_update },
    { "attach",
      "j",
      "FILE",
      "add the vertices of a JGF file to the graph",
      1,
      1,
      { WORD_FILE },
      do_attach },
    { "remove",
      "r",
      "PATH true | RANKS false",
      "remove a vertex, or the vertices of ranks, with all vertices below",
      2,
      2,
      { WORD_PATH, WORD_BOOL },
      do_remove },
    { "find",
      "f",
      "EXPRESSION",
      "show the vertices that match the expression: terms, \"and\", \"or\", parentheses; "
      "adjacent terms are joined by and",
      1,
      -1,
      { WORD_TERM },
      do_find },
    { "cancel",
      "c",
      "JOBID [stats]",
      "free the resources of a job",
      1,
      2,
      { WORD_JOB, WORD_NONE },
      do_cancel },
    { "partial-cancel",
      "pc",
      "JOBID READER FILE [stats]",
      "free the part of a job's resources in FILE (jgf, rv1exec)",
      3,
      4,
      { WORD_JOB, WORD_READER, WORD_FILE, WORD_NONE },
      do_partial_cancel },
    { "set-property",
      "p",
      "PATH KEY=VALUE",
      "set a property of a vertex",
      2,
      2,
      { WORD_PATH, WORD_NONE },
      do_set_property },
    { "get-property",
      "g",
      "PATH",
      "show the properties of a vertex",
      1,
      1,
      { WORD_PATH },
      do_get_property },
    { "set-status",
      "t",
      "PATH up|down",
      "mark a vertex and all vertices below it up or down",
      2,
      2,
      { WORD_PATH, WORD_STATUS },
      do_set_status },
    { "get-status",
      "e",
      "PATH",
      "show the status of a vertex",
      1,
      1,
      { WORD_PATH },
      do_get_status },
    { "list",
      "l",
      "",
      "list all jobs: id, state, start, file, seconds that the match took",
      0,
      0,
      { WORD_NONE },
      do_list },
    { "info",
      "i",
      "JOBID",
      "show the line of list for one job",
      1,
      1,
      { WORD_JOB },
      do_info },
    { "stat",
      "s",
      "",
      "show how long matches took, and the size of graph and plan",
      0,
      0,
      { WORD_NONE },
      do_stat },
    { "cat", "a", "FILE", "show a file", 1, 1, { WORD_FILE }, do_cat },
    { "help",
      "h",
      "[COMMAND]",
      "list the commands, or explain one",
      0,
      1,
      { WORD_COMMAND },
      do_help },
    { "quit",
      "q",
      "",
      "end the session (as does the end of input)",
      0,
      0,
      { WORD_NONE },
      do_quit },
    { NULL, NULL, NULL, NULL, 0, 0, { WORD_NONE }, NULL },
};

const struct match_command *command_find_word (const char *word)
{
    for (const struct match_command *c = match_commands; c->name; c++) {
        if (!strcmp (c->name, word) || !strcmp (c->letter, word))
            return c;
    }
    return NULL;
}

/* Skips comments and unknown commands; tells an interactive user. */
static const struct match_command *command_of_line (const struct session *s,
                                                    const char *line, size_t len)
{
    char word[32];
    size_t from = 0, n = 0;

    while (from < len && strchr (" \t\r", line[from]))
        from++;
    while (from + n < len && !strchr (" \t\r", line[from + n]))
        n++;
    snprintf (word, sizeof (word), "%.*s", (int)MIN (n, sizeof (word) - 1), line + from);
    const struct match_command *command = command_find_word (word);
    if (!command && s->interactive && n > 0 && word[0] != '#')
        session_complain ("%s: no such command; \"help\" lists them", word);
    return command;
}

/* argv[0] is the command. */
static void run_words (struct session *s, const struct match_command *command, int argc,
                       char **argv)
{
    if (argc - 1 < command->least || (command->most >= 0 && argc - 1 > command->most)) {
        session_complain ("malformed command: the usage is %s %s", command->name,
                          command->usage);
        return;
    }
    command->run (s, argc, argv);
}

void command_run (struct session *s, const char *line, size_t len)
{
    const struct match_command *command = command_of_line (s, line, len);
    struct error err = { 0 };
    struct words w;

    if (!command)
        return;
    if (words_split (&w, line, len, WORDS_POSIX, &err) < 0) {
        session_complain ("%s", err.text);
        return;
    }
    run_words (s, command, w.argc - 1, w.argv + 1);
    words_release (&w);
    fflush (s->out);
    fflush (stdout);
}
