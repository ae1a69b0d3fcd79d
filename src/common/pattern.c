/* pattern.c - see pattern.h */
#include "common/pattern.h"

#include <errno.h>
#include <string.h>

#define WIDTH_MAX 10
#define EXPANDED_MAX 4096 /* PATH_MAX */

/* What a pattern is made of: a run of plain text or one %-letter. */
struct piece {
    const char *text; /* plain text; NULL: a letter */
    size_t len;
    char letter;
    int width;
};

/* The next piece at *p: 1, 0 at the end, -EINVAL. */
static int next_piece (const char **p, struct piece *ret, struct error *err)
{
    const char *start = *p;
    const char *q = start;

    if (*q == '\0')
        return 0;
    if (*q != '%') {
        *ret = (struct piece){ .text = q, .len = strcspn (q, "%") };
        *p += ret->len;
        return 1;
    }
    int width = 0;
    for (q++; *q >= '0' && *q <= '9'; q++)
        width = MIN (width * 10 + (*q - '0'), WIDTH_MAX);
    if (*q == '\0')
        return error_set (err, EINVAL,
                          "'%.200s': a '%%' at the end (%%%% stands for itself)", start);
    if (!strchr ("jAaxuNt%", *q))
        return error_set (err, EINVAL,
                          "'%%%c': unknown in a file name (known: %%j job id, %%A "
                          "array's id, %%a array's "
                          "task, %%x job name, %%u user, %%N node, %%t task, %%%%)",
                          *q);
    *ret = (struct piece){ .letter = *q, .width = width };
    *p = q + 1;
    return 1;
}

/* A value is part of one path component: no '/', nothing unprintable, no "..". */
static void add_value (struct strbuf *sb, const char *value)
{
    bool dots = value && (!strcmp (value, ".") || !strcmp (value, ".."));

    for (const char *p = value; p && *p; p++) {
        bool bad = *p == '/' || (unsigned char)*p < ' ' || *p == 0x7f || dots;
        strbuf_addch (sb, bad ? '_' : *p);
    }
}

static void add_letter (struct strbuf *sb, const struct piece *piece,
                        const struct pattern_vars *vars)
{
    switch (piece->letter) {
    case 'j':
        strbuf_addf (sb, "%0*ju", piece->width, (uintmax_t)vars->job_id);
        break;
    case 'A':
        strbuf_addf (sb, "%0*ju", piece->width,
                     (uintmax_t)(vars->array_job ? vars->array_job : vars->job_id));
        break;
    case 'a':
        strbuf_addf (sb, "%0*u", piece->width, vars->array_task);
        break;
    case 't':
        strbuf_addf (sb, "%0*u", piece->width, vars->task);
        break;
    case 'x':
        add_value (sb, vars->job_name);
        break;
    case 'u':
        add_value (sb, vars->user);
        break;
    case 'N':
        add_value (sb, vars->node);
        break;
    default:
        strbuf_addch (sb, '%');
    }
}

int pattern_expand (const char *pattern, const struct pattern_vars *vars,
                    struct strbuf *sb, struct error *err)
{
    struct piece piece;
    const char *p = pattern;
    size_t start = sb->len;
    int rc;

    while ((rc = next_piece (&p, &piece, err)) > 0) {
        if (piece.text)
            strbuf_add (sb, piece.text, piece.len);
        else
            add_letter (sb, &piece, vars);
    }
    if (rc < 0)
        return rc;
    if (sb->err)
        return error_errno (err, -sb->err, "file name '%.200s'", pattern);
    if (sb->len - start >= EXPANDED_MAX)
        return error_errno (err, ENAMETOOLONG, "file name '%.200s'", pattern);
    return 0;
}

int pattern_check (const char *pattern, struct error *err)
{
    struct piece piece;
    int rc;

    while ((rc = next_piece (&pattern, &piece, err)) > 0)
        ;
    return rc;
}

static bool has_letter (const char *pattern, char letter)
{
    struct piece piece;

    while (next_piece (&pattern, &piece, NULL) > 0) {
        if (!piece.text && piece.letter == letter)
            return true;
    }
    return false;
}

bool pattern_is_per_job (const char *pattern)
{
    return has_letter (pattern, 'j') || has_letter (pattern, 'a');
}

bool pattern_is_per_task (const char *pattern)
{
    return has_letter (pattern, 't');
}

bool pattern_is_per_node (const char *pattern)
{
    return has_letter (pattern, 'N');
}
