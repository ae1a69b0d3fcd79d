/* words.c - see words.h
 */
#include "jobspec/script/words.h"

#include <limits.h>

/* The text to read and the word to write; both positions only move forwards. */
struct splitter {
    const char *in, *end;
    char *out;
    struct error *err;
};

static bool is_blank (char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static int not_closed (struct splitter *s, const char *quote, size_t n)
{
    return error_set (s->err, EINVAL, "the quote %.*s is not closed", (int)n, quote);
}

static int split_sbatch (struct splitter *s)
{
    const char *quote = NULL;

    for (; s->in < s->end && (quote || (!is_blank (*s->in) && *s->in != '#')); s->in++) {
        if (*s->in == '\\') {
            if (++s->in == s->end)
                break;
            *s->out++ = *s->in;
        } else if (quote && *s->in == *quote) {
            quote = NULL;
        } else if (!quote && (*s->in == '"' || *s->in == '\'')) {
            quote = s->in;
        } else {
            *s->out++ = *s->in;
        }
    }
    return quote ? not_closed (s, quote, 1) : 0;
}

/* Copy the text between triple quotes literally. */
static int copy_triple (struct splitter *s)
{
    const char *begin = s->in + 3;
    const char *close = memmem (begin, (size_t)(s->end - begin), s->in, 3);

    if (!close)
        return not_closed (s, s->in, 3);
    memcpy (s->out, begin, (size_t)(close - begin));
    s->out += close - begin;
    s->in = close + 3;
    return 0;
}

static int copy_quoted (struct splitter *s)
{
    const char *open = s->in;

    if (s->end - s->in >= 3 && s->in[1] == *open && s->in[2] == *open)
        return copy_triple (s);
    for (s->in++; s->in < s->end && *s->in != *open; s->in++) {
        if (*open == '"' && *s->in == '\\' && s->in + 1 < s->end
            && memchr ("\"\\$`", s->in[1], 4))
            s->in++;
        *s->out++ = *s->in;
    }
    if (s->in == s->end)
        return not_closed (s, open, 1);
    s->in++;
    return 0;
}

static int split_posix (struct splitter *s)
{
    while (s->in < s->end && !is_blank (*s->in) && *s->in != '#') {
        if (*s->in == '\'' || *s->in == '"') {
            int rc = copy_quoted (s);

            if (rc < 0)
                return rc;
            continue;
        }
        if (*s->in == '\\' && ++s->in == s->end)
            break;
        *s->out++ = *s->in++;
    }
    return 0;
}

static int add_word (struct words *w, char *word)
{
    int n = w->argc;

    /* room for the word and the final NULL; doubles at powers of two */
    if (n < 2 || (n & (n - 1)) == 0) {
        char **bigger = n > INT_MAX / 4
                            ? NULL
                            : realloc (w->argv, 2 * ((size_t)n + 2) * sizeof (*bigger));

        if (!bigger)
            return -ENOMEM;
        w->argv = bigger;
    }
    w->argv[w->argc++] = word;
    w->argv[w->argc] = NULL;
    return 0;
}

static int split_all (struct words *w, struct splitter *s, enum words_rules rules)
{
    int rc = add_word (w, s->out);

    *s->out++ = '\0';
    while (rc == 0) {
        while (s->in < s->end && is_blank (*s->in))
            s->in++;
        if (s->in == s->end || *s->in == '#')
            return 0;
        rc = add_word (w, s->out);
        if (rc == 0)
            rc = rules == WORDS_SBATCH ? split_sbatch (s) : split_posix (s);
        *s->out++ = '\0';
    }
    return rc;
}

int words_split (struct words *w, const char *text, size_t len, enum words_rules rules,
                 struct error *err)
{
    struct splitter s = { text, text + len, NULL, err };
    int rc = -ENOMEM;

    memset (w, 0, sizeof (*w));
    /* a word is never longer than its source text, and has one NUL */
    w->store = malloc (2 * len + 2);
    if (w->store) {
        s.out = w->store;
        rc = split_all (w, &s, rules);
    }
    if (rc == -ENOMEM)
        error_no_memory (err, NULL);
    if (rc < 0)
        words_release (w);
    return rc;
}

void words_release (struct words *w)
{
    free (w->argv);
    free (w->store);
    memset (w, 0, sizeof (*w));
}
