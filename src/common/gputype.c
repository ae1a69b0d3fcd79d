/* gputype.c - see gputype.h */
#include "common/gputype.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 6
#define NAME_SIZE (sizeof (GPU_TYPE_PREFIX) + GPU_TYPE_MAX)

int gpu_type_read (const char *text, char ret[GPU_TYPE_MAX + 1])
{
    size_t n = 0;

    for (; *text; text++) {
        bool in_word = isalnum ((unsigned char)*text);

        if (!in_word && (n == 0 || ret[n - 1] == '-'))
            continue;
        if (n == GPU_TYPE_MAX)
            return -EINVAL;
        ret[n++] = in_word ? (char)tolower ((unsigned char)*text) : '-';
    }
    if (n > 0 && ret[n - 1] == '-')
        n--;
    ret[n] = '\0';
    return n > 0 ? 0 : -EINVAL;
}

/* The list and the text of its names are one block. */
struct names {
    char *list[GPU_TYPE_NAMES_MAX + 2];
    char text[GPU_TYPE_NAMES_MAX + 1][NAME_SIZE];
    size_t n;
};

static void add (struct names *all, const char *text, size_t len)
{
    char *name = all->text[all->n];

    snprintf (name, NAME_SIZE, GPU_TYPE_PREFIX "%.*s", (int)len, text);
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp (all->list[i], name))
            return;
    all->list[all->n++] = name;
}

char **gpu_type_names (const char *type)
{
    struct names *all = calloc (1, sizeof (*all));
    const char *from = type;

    if (!all)
        return NULL;
    add (all, type, strlen (type));
    for (int first = 0; first < WORDS_MAX; first++) {
        const char *end = from;
        for (int last = first; last < WORDS_MAX; last++) {
            end += strcspn (end, "-");
            add (all, from, (size_t)(end - from));
            if (!*end)
                break;
            end++;
        }
        from += strcspn (from, "-");
        if (!*from)
            break;
        from++;
    }
    return all->list;
}

bool gpu_type_has_name (const char *type, const char *name)
{
    char **names = gpu_type_names (type);
    size_t skip = sizeof (GPU_TYPE_PREFIX) - 1;
    bool found = false;

    for (char **n = names; n && *n && !found; n++)
        found = !strcmp (*n + skip, name);
    free (names);
    return found;
}
