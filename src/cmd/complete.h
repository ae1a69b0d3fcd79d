/* complete.h - completion at the tab key, in the console and in shells
 *
 *     struct completion_place place;
 *     complete_place (&place, "ctl drain ", 10, "no");   // place.kind == COMPLETE_NODES
 *     complete_list (&place, "no", broker, &list);   // "node1", "node2", from the broker
 *
 * Commands, options and subcommands come from the tables; ids, nodes and queues from the
 * broker. If the broker does not answer within a second, nothing is offered.
 */
#pragma once

#include "cmd/client/command.h"

struct completion_place {
    enum completion kind;
    const struct command *command; /* the line's command, or NULL */
    const char *words;             /* COMPLETE_PHRASES: "jobs|nodes" */
};

/* line: the len bytes before the word to complete. */
void complete_place (struct completion_place *ret, const char *line, size_t len,
                     const char *word);
/* Lists all completions that begin with word, each ended by a newline. */
void complete_list (const struct completion_place *place, const char *word,
                    const char *broker, struct strbuf *list);
/* Prints the completions of the last word of a shell's line, one a line: what can follow
 * the last ',' or '=' of that word. ":files" stands for the names of files. line: from
 * the program's name to the cursor; without the substitutions of the shell. */
void complete_print (const char *line, const char *broker);
/* Enables the tab key; broker (URL or NULL) must stay valid. */
void complete_setup (const char *broker);
