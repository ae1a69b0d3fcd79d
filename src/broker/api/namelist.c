/* namelist.c - see namelist.h */
#include "broker/api/namelist.h"

static int compare (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
}

int namelist_parse (struct namelist *w, const char *text, const char *what, struct error *err)
{
    size_t n = *text != '\0';
    char *rest, *word;

    for (const char *p = text; (p = strchr (p, ',')); p++)
        n++;
    if (n > NAMELIST_MAX)
        return error_set (err, ERANGE, "%s: more than %d names", what, NAMELIST_MAX);
    *w = (struct namelist){ .text = strdup (text), .v = calloc (n + 1, sizeof (*w->v)) };
    if (!w->text || !w->v) {
        namelist_release (w);
        return error_set (err, ENOMEM, "%s: out of memory", what);
    }
    rest = w->text;
    while (n > 0 && (word = strsep (&rest, ",")))
        w->v[w->n++] = word;
    if (w->n > 1)
        qsort (w->v, w->n, sizeof (*w->v), compare);
    return 0;
}

bool namelist_has (const struct namelist *w, const char *word)
{
    return w->n > 0 && bsearch (&word, w->v, w->n, sizeof (*w->v), compare);
}

void namelist_release (struct namelist *w)
{
    free (w->v);
    free (w->text);
    *w = (struct namelist){ 0 };
}
