/* option.c - see option.h */
#include "common/option.h"

#include "common/strbuf.h"

#define HELP_COLUMN 30 /* where the second column begins */
#define HELP_WIDTH 79
#define NEAR_MAX 48 /* longer names are not compared for "did you mean" */

void option_parser_init (struct option_parser *p, const char *program,
                         const struct option_desc *table, int flags, int argc,
                         char **argv)
{
    *p = (struct option_parser){
        .program = program,
        .table = table,
        .flags = flags,
        .argc = argc,
        .argv = argv,
        .index = 1,
    };
}

/* -- finding -- */

/* Edit distance with swaps of neighbours (Damerau 1964, restricted form). */
static size_t distance (const char *a, const char *b)
{
    size_t rows[3][NEAR_MAX + 1] = { { 0 } };
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t n = strlen (a), m = strlen (b);

    if (n > NEAR_MAX || m > NEAR_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        above[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = MIN (above[j], row[j - 1]) + 1;
            row[j] = MIN (row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN (row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[m];
}

/* The known option that is most similar to name, or NULL if none is similar. */
static const struct option_desc *nearest (const struct option_desc *table,
                                          const char *name)
{
    const struct option_desc *best = NULL;
    size_t best_distance = MIN (strlen (name) / 3 + 1, (size_t)3) + 1;

    for (const struct option_desc *d = table; d->name; d++) {
        size_t n = d->name[0] ? distance (name, d->name) : SIZE_MAX;
        if (n < best_distance) {
            best = d;
            best_distance = n;
        }
    }
    return best;
}

static int unknown (const struct option_desc *table, const char *name, struct error *err)
{
    const struct option_desc *d = nearest (table, name);

    if (d)
        return error_set (err, EINVAL, "--%s: unknown option (did you mean --%s?)", name,
                          d->name);
    return error_set (err, EINVAL, "--%s: unknown option", name);
}

static void ambiguous (const struct option_desc *table, const char *name,
                       struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (ERROR_TEXT_MAX);
    const char *separator = "";

    for (const struct option_desc *d = table; d->name; d++) {
        if (strncmp (d->name, name, strlen (name)))
            continue;
        strbuf_addf (&sb, "%s--%s", separator, d->name);
        separator = ", ";
    }
    error_set (err, EINVAL, "--%s: ambiguous option (%s)", name, sb.buf);
}

const struct option_desc *option_find (const struct option_desc *table, const char *name,
                                       struct error *err)
{
    const struct option_desc *found = NULL;
    bool several = false;
    size_t len = strlen (name);

    for (const struct option_desc *d = table; d->name && len > 0; d++) {
        if (strncmp (d->name, name, len))
            continue;
        if (d->name[len] == '\0')
            return d;
        /* Two names of one option are no ambiguity. */
        if (found && (found->id != d->id || !found->arg != !d->arg))
            several = true;
        if (!found)
            found = d;
    }
    if (found && !several)
        return found;
    if (found)
        ambiguous (table, name, err);
    else
        unknown (table, name, err);
    return NULL;
}

const struct option_desc *option_find_letter (const struct option_desc *table,
                                              char letter)
{
    for (const struct option_desc *d = table; d->name && letter; d++) {
        if (d->letter == letter)
            return d;
    }
    return NULL;
}

/* -- parsing -- */

/* The argument after the option is its value. */
static int take_next_argument (struct option_parser *p, struct option_match *ret,
                               const char *shown, struct error *err)
{
    if (p->index >= p->argc)
        return error_set (err, EINVAL, "%s: needs a value (%s)", shown, ret->desc->arg);
    ret->value = p->argv[p->index++];
    return 1;
}

static int next_long (struct option_parser *p, struct option_match *ret,
                      struct error *err)
{
    const char *text = p->argv[p->index++] + 2;
    const char *equals = strchr (text, '=');
    char name[128], shown[132];
    size_t len = equals ? (size_t)(equals - text) : strlen (text);

    if (len >= sizeof (name))
        return error_set (err, EINVAL, "--%.40s...: unknown option", text);
    memcpy (name, text, len);
    name[len] = '\0';
    ret->desc = option_find (p->table, name, err);
    if (!ret->desc)
        return -EINVAL;
    snprintf (shown, sizeof (shown), "--%s", ret->desc->name);
    ret->value = equals ? equals + 1 : NULL;
    if (equals && !ret->desc->arg)
        return error_set (err, EINVAL, "%s: takes no value", shown);
    if (equals || !ret->desc->arg || ret->desc->arg_optional)
        return 1;
    return take_next_argument (p, ret, shown, err);
}

/* Take one letter of a group such as "-xvf"; p->cluster is the position in the group. */
static int next_short (struct option_parser *p, struct option_match *ret,
                       struct error *err)
{
    const char *text = p->argv[p->index] + p->cluster;
    char shown[3] = { '-', text[0], '\0' };

    ret->desc = option_find_letter (p->table, text[0]);
    if (!ret->desc)
        return error_set (err, EINVAL, "%s: unknown option (in '%s')", shown,
                          p->argv[p->index]);
    if (!ret->desc->arg && text[1]) {
        p->cluster++;
        return 1;
    }
    p->index++;
    p->cluster = 0;
    if (!ret->desc->arg)
        return 1;
    if (text[1]) {
        ret->value = text + 1;
        return 1;
    }
    if (ret->desc->arg_optional)
        return 1;
    return take_next_argument (p, ret, shown, err);
}

static int next_operand (struct option_parser *p, struct option_match *ret)
{
    if (p->flags & OPTION_STOP_AT_OPERAND)
        p->done = true;
    ret->value = p->argv[p->index++];
    return 1;
}

int option_next (struct option_parser *p, struct option_match *ret, struct error *err)
{
    *ret = (struct option_match){ .index = p->index };
    if (p->index >= p->argc)
        return 0;
    if (p->cluster > 0)
        return next_short (p, ret, err);

    const char *arg = p->argv[p->index];
    if (p->done || arg[0] != '-' || arg[1] == '\0')
        return next_operand (p, ret);
    if (!strcmp (arg, "--")) {
        p->done = true;
        p->dashes = true;
        p->index++;
        return option_next (p, ret, err);
    }
    if (arg[1] == '-')
        return next_long (p, ret, err);
    p->cluster = 1;
    return next_short (p, ret, err);
}

/* -- help -- */

/* "  -o, --output=FILE" */
static void add_left_column (struct strbuf *sb, const struct option_desc *d)
{
    if (d->letter)
        strbuf_addf (sb, "  -%c%s", d->letter, d->name[0] ? ", " : "");
    else
        strbuf_adds (sb, "      ");
    if (d->name[0])
        strbuf_addf (sb, "--%s", d->name);
    if (d->arg) {
        const char *equals = d->name[0] ? "=" : d->arg_optional ? "" : " ";
        strbuf_addf (sb, d->arg_optional ? "[%s%s]" : "%s%s", equals, d->arg);
    }
}

/* The number of bytes of text that fit in width columns; a longer word is not broken. */
static size_t line_length (const char *text, size_t width)
{
    size_t fits = 0, i = 0;

    for (;;) {
        i += strcspn (text + i, " ");
        if (i > width && fits > 0)
            return fits;
        fits = i;
        if (text[i] == '\0' || i > width)
            return fits;
        i += strspn (text + i, " ");
    }
}

static void print_row (FILE *out, const struct option_desc *d)
{
    const char *help = d->help;
    struct strbuf left = STRBUF_INIT (4096);

    add_left_column (&left, d);
    int column = (int)left.len;
    fputs (left.buf, out);
    strbuf_release (&left);
    if (column > HELP_COLUMN - 2) {
        fputc ('\n', out);
        column = 0;
    }
    do {
        size_t n = line_length (help, HELP_WIDTH - HELP_COLUMN);
        fprintf (out, "%*s%.*s\n", HELP_COLUMN - column, "", (int)n, help);
        help += n + strspn (help + n, " ");
        column = 0;
    } while (*help);
}

static bool in_group (const struct option_desc *d, const char *group)
{
    return d->help && (d->group && group ? !strcmp (d->group, group) : d->group == group);
}

static void print_group (FILE *out, const struct option_desc *table, const char *group)
{
    for (const struct option_desc *d = table; d->name; d++)
        if (in_group (d, group))
            print_row (out, d);
}

void option_print_help (FILE *out, const struct option_desc *table)
{
    print_group (out, table, NULL);
    for (const struct option_desc *d = table; d->name; d++) {
        const struct option_desc *first = table;

        if (!d->help || !d->group)
            continue;
        while (!in_group (first, d->group))
            first++;
        if (first != d)
            continue;
        fprintf (out, "\n%s:\n", d->group);
        print_group (out, table, d->group);
    }
}
