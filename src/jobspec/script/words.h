/* words.h - splits the text of a directive into the words of a command line
 *
 *     struct words w;
 *     rc = words_split (&w, text, len, WORDS_POSIX, &err);
 *     ... w.argv[1] ... w.argv[w.argc - 1], w.argv[w.argc] == NULL
 *     words_release (&w);
 *
 * argv[0] is empty, so the list has the form of main()'s argv. An unquoted '#' ends the
 * text under both rules (as in sbatch; RFC 36 allows it, and flux does it).
 */
#pragma once

#include "common/error.h"

enum words_rules {
    WORDS_SBATCH, /* ' and " quote alike; a backslash escapes, also in quotes */
    WORDS_POSIX,  /* the shell's quoting, and triple quotes of RFC 36 around anything */
};

struct words {
    int argc;
    char **argv;
    char *store; /* the words themselves */
};

/* -EINVAL: a quote is not closed; w is empty then. O(len). */
int words_split (struct words *w, const char *text, size_t len, enum words_rules rules,
                 struct error *err);
void words_release (struct words *w);
