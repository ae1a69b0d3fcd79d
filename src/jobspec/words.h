/* words.h - a directive's text as the words of a command line
 *
 *     struct words w;
 *     rc = words_split (&w, text, len, WORDS_POSIX, &err);
 *     ... w.argv[1] ... w.argv[w.argc - 1], w.argv[w.argc] == NULL
 *     words_release (&w);
 *
 * argv[0] is empty, so that the list can go where a main()'s goes. An unquoted '#' ends
 * the text in both forms (sbatch does so, RFC 36 allows it and flux does).
 */
#ifndef FLUXQ_JOBSPEC_WORDS_H
#define FLUXQ_JOBSPEC_WORDS_H

#include <stddef.h>

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

#endif
