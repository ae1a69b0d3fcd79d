/* known_users.c - see known_users.h */
#include "cmd/slurm/jobs/known_users.h"

#include <pwd.h>
#include <string.h>

#include "cmd/client/named.h"

int known_users (struct cmd *c, const char *list, struct strbuf *ret)
{
    autofree char *copy = list ? strdup (list) : NULL;
    char *next = copy, *word;

    while ((word = strsep (&next, ","))) {
        bool number = *word && word[strspn (word, "0123456789")] == '\0';
        const struct passwd *pw =
            number ? getpwuid ((uid_t)strtoul (word, NULL, 10)) : NULL;
        if (!*word)
            continue;
        if (number || named_user_exists (c, word))
            strbuf_addf (ret, "%s%s", ret->len ? "," : "", pw ? pw->pw_name : word);
        else
            fprintf (stderr, "%s: error: Invalid user: %s\n\n", c->program, word);
    }
    return c->status;
}
