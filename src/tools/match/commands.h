/* commands.h - the commands of a session: one table, which help and completion use, too
 *
 *     command_run (s, "match allocate job.yaml", len);
 *
 * A command gets its words and prints its answer (output.h). Whatever the answer, the
 * session goes on until s->over.
 */
#pragma once

#include "match/search/search.h"
#include "tools/match/session.h"

/* Kind of a word of a command, for completion. */
enum word_kind {
    WORD_NONE,
    WORD_FILE,
    WORD_OP,     /* match_ops[] */
    WORD_READER, /* a reader that has read_selection */
    WORD_PATH,   /* of a vertex */
    WORD_TERM,   /* of find */
    WORD_JOB,
    WORD_STATUS,
    WORD_BOOL,
    WORD_BOOKING, /* allocate, reserve */
    WORD_COMMAND,
};

#define COMMAND_WORDS_MAX 6

struct match_command {
    const char *name, *letter; /* long and short form */
    const char *usage;         /* words after the name */
    const char *help;          /* one line */
    int least, most;           /* number of words after the name; most -1: any number */
    enum word_kind words[COMMAND_WORDS_MAX]; /* the last one also applies to all later
                                              * words */
    void (*run) (struct session *s, int argc, char **argv);
};

extern const struct match_command match_commands[]; /* ends with a name that is NULL */
const struct match_command *command_find_word (const char *word);
/* Runs one line. */
void command_run (struct session *s, const char *line, size_t len);

/* The operations of match, NULL-terminated in the order of enum search_op. */
extern const char *const match_ops[];
/* Prefixes of the terms of find, NULL-terminated. */
extern const char *const find_terms[];

/* -- the handlers, by file -- */

/* do_match.c */
void do_match (struct session *s, int argc, char **argv);
void do_multi_match (struct session *s, int argc, char **argv);
/* do_book.c */
void do_update (struct session *s, int argc, char **argv);
void do_cancel (struct session *s, int argc, char **argv);
void do_partial_cancel (struct session *s, int argc, char **argv);
/* do_graph.c */
void do_attach (struct session *s, int argc, char **argv);
void do_remove (struct session *s, int argc, char **argv);
void do_set_property (struct session *s, int argc, char **argv);
void do_get_property (struct session *s, int argc, char **argv);
void do_set_status (struct session *s, int argc, char **argv);
void do_get_status (struct session *s, int argc, char **argv);
/* do_find.c */
void do_find (struct session *s, int argc, char **argv);
/* do_show.c */
void do_list (struct session *s, int argc, char **argv);
void do_info (struct session *s, int argc, char **argv);
void do_stat (struct session *s, int argc, char **argv);
void do_cat (struct session *s, int argc, char **argv);
void do_help (struct session *s, int argc, char **argv);
void do_quit (struct session *s, int argc, char **argv);
