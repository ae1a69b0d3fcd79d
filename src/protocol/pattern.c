/* pattern.c - see pattern.h */
#include "protocol/pattern.h"

#include <ctype.h>

#define WIDTH_MAX 10
#define EXPANDED_MAX 4096 /* PATH_MAX */

static const struct letter {
    char letter;
    bool per_task, per_node, per_job, in_task; /* in_task: valid only for a task */
    const char *meaning;
} letters[] = {
    { 'j', .per_job = true, .meaning = "job id" },
    { 'J', .per_job = true, .in_task = true, .meaning = "job id and step" },
    { 'A', .meaning = "array's id" },
    { 'a', .per_job = true, .meaning = "array's task" },
    { 's', .in_task = true, .meaning = "step" },
    { 'x', .meaning = "job name" },
    { 'u', .meaning = "user" },
    { 'N', .per_node = true, .meaning = "node" },
    { 'n', .per_node = true, .meaning = "node's number" },
    { 't', .per_task = true, .in_task = true, .meaning = "task" },
    { '%', .meaning = NULL },
};

/* A piece of a pattern: a run of plain text, or one %-letter. */
struct piece {
    const char *text; /* plain text; NULL: a letter */
    size_t len;
    const struct letter *letter;
    int width;
};

static const struct letter *find_letter (char c)
{
    for (size_t i = 0; i < ARRAY_SIZE (letters); i++) {
        if (letters[i].letter == c)
            return &letters[i];
    }
    return NULL;
}

static int unknown_letter (char c, struct error *err)
{
    autostrbuf struct strbuf known = STRBUF_INIT (1024);

    for (size_t i = 0; i < ARRAY_SIZE (letters); i++)
        strbuf_addf (&known, "%s%%%c%s%s", i ? ", " : "", letters[i].letter,
                     letters[i].meaning ? " " : "",
                     letters[i].meaning ? letters[i].meaning : "");
    error_set (err, EINVAL, "'%%%c': unknown in a file name (known: %s)", c,
               known.err ? "see fluxq-submit(1)" : known.buf);
    return -EINVAL;
}

/* Read the next piece at *p: 1, 0 at the end, -EINVAL. */
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
    *ret = (struct piece){ .letter = find_letter (*q), .width = width };
    if (!ret->letter)
        return unknown_letter (*q, err);
    *p = q + 1;
    return 1;
}

static bool is_literal (const char *pattern)
{
    return strchr (pattern, '\\') != NULL;
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

/* Add the name up to its first dot; an address (a number before the dot) is added
 * whole. */
static void add_node (struct strbuf *sb, const char *node)
{
    size_t len = node ? strcspn (node, ".") : 0;
    autofree char *first = node ? strndup (node, len) : NULL;

    if (node && strspn (node, "0123456789") == len)
        add_value (sb, node);
    else
        add_value (sb, first);
}

static void add_number (struct strbuf *sb, int width, uint64_t n)
{
    strbuf_addf (sb, "%0*ju", width, (uintmax_t)n);
}

static void add_letter (struct strbuf *sb, const struct piece *piece,
                        const struct pattern_vars *vars)
{
    int width = piece->width;

    switch (piece->letter->letter) {
    case 'j':
        add_number (sb, width, vars->job_id);
        break;
    case 'J':
        add_number (sb, width, vars->job_id);
        if (vars->in_step)
            strbuf_addf (sb, ".%u", vars->step);
        break;
    case 'A':
        add_number (sb, width, vars->array_job ? vars->array_job : vars->job_id);
        break;
    case 'a':
        add_number (sb, width, vars->array_task);
        break;
    case 's':
        if (vars->in_step)
            add_number (sb, width, vars->step);
        else
            strbuf_adds (sb, "batch");
        break;
    case 't':
        add_number (sb, width, vars->task);
        break;
    case 'n':
        add_number (sb, width, vars->node_index);
        break;
    case 'x':
        add_value (sb, vars->job_name);
        break;
    case 'u':
        add_value (sb, vars->user);
        break;
    case 'N':
        add_node (sb, vars->node);
        break;
    default:
        strbuf_addch (sb, '%');
    }
}

/* Add the name literally, without its backslashes. */
static int add_literal (struct strbuf *sb, const char *pattern, struct error *err)
{
    size_t start = sb->len;

    for (const char *p = pattern; *p; p++) {
        if (*p != '\\')
            strbuf_addch (sb, *p);
    }
    if (!sb->err && sb->len == start)
        return error_set (err, EINVAL, "'%.200s': no file name is left of it", pattern);
    return 0;
}

static int add_pieces (struct strbuf *sb, const char *pattern,
                       const struct pattern_vars *vars, struct error *err)
{
    struct piece piece;
    int rc;

    while ((rc = next_piece (&pattern, &piece, err)) > 0) {
        if (piece.text)
            strbuf_add (sb, piece.text, piece.len);
        else
            add_letter (sb, &piece, vars);
    }
    return rc;
}

int pattern_expand (const char *pattern, const struct pattern_vars *vars,
                    struct strbuf *sb, struct error *err)
{
    size_t start = sb->len;
    int rc = is_literal (pattern) ? add_literal (sb, pattern, err)
                                  : add_pieces (sb, pattern, vars, err);

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

    if (is_literal (pattern) && pattern[strspn (pattern, "\\")] == '\0')
        return error_set (err, EINVAL, "'%.200s': no file name is left of it", pattern);
    if (is_literal (pattern))
        return 0;
    while ((rc = next_piece (&pattern, &piece, err)) > 0)
        ;
    return rc;
}

static bool has_home_variable (const char *name)
{
    for (const char *p = name; (p = strstr (p, "$HOME")); p += strlen ("$HOME"))
        if (!isalnum ((unsigned char)p[5]) && p[5] != '_')
            return true;
    return strstr (name, "${HOME}") != NULL;
}

int pattern_check_home (const char *name, struct error *err)
{
    if (name[0] != '~' && !has_home_variable (name))
        return 0;
    return error_set (err, EINVAL,
                      "'%.64s': no shell expands ~ and $HOME here; write the whole path (a "
                      "file whose name begins so: ./~name)",
                      name);
}

/* The letter of the next piece with a letter; NULL at the end. */
static const struct letter *next_letter (const char **p)
{
    struct piece piece;

    if (is_literal (*p))
        return NULL;
    while (next_piece (p, &piece, NULL) > 0) {
        if (piece.letter)
            return piece.letter;
    }
    return NULL;
}

int pattern_check_of_node (const char *pattern, struct error *err)
{
    const char *p = pattern;
    const struct letter *l;
    int rc = pattern_check (pattern, err);

    while (rc == 0 && (l = next_letter (&p))) {
        if (l->in_task)
            return error_set (err, EINVAL,
                              "'%.200s': %%%c has no meaning here, because the file does "
                              "not belong to a task",
                              pattern, l->letter);
    }
    return rc;
}

bool pattern_is_per_job (const char *pattern)
{
    const struct letter *l;

    while ((l = next_letter (&pattern)) && !l->per_job)
        ;
    return l != NULL;
}

bool pattern_is_per_task (const char *pattern)
{
    const struct letter *l;

    while ((l = next_letter (&pattern)) && !l->per_task)
        ;
    return l != NULL;
}

bool pattern_is_per_node (const char *pattern)
{
    const struct letter *l;

    while ((l = next_letter (&pattern)) && !l->per_node)
        ;
    return l != NULL;
}
