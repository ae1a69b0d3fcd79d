/* complete.h - what the console offers at the tab key
 *
 *     struct completion_place place;
 *     complete_place (&place, "ctl drain ", 10, "no");   // place.kind == COMPLETE_NODES
 *     complete_list (&place, "no", broker, &list);       // "node1", "node2", asked from the broker
 *
 * Commands, options and subcommands come from the tables; ids, nodes and queues from the
 * broker, which gets a second to answer: without an answer nothing is offered.
 */
#ifndef FLUXQ_CMD_COMPLETE_H
#define FLUXQ_CMD_COMPLETE_H

#include "cmd/command.h"

struct completion_place {
    enum completion kind;
    const struct command *command; /* of the line, or NULL */
};

/* line: the len bytes in front of the word that is to be completed. */
void complete_place (struct completion_place *ret, const char *line, size_t len,
                     const char *word);
/* All that begin with word, each ended by a newline. */
void complete_list (const struct completion_place *place, const char *word,
                    const char *broker, struct strbuf *list);
/* Make the tab key work; broker (URL or NULL) must live on. */
void complete_setup (const char *broker);

#endif
