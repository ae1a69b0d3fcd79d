/* multiprog.c - parses the file of --multi-prog, see multiprog.h
 *
 * The file is parsed once: words are stored with marks (below), and each task knows its
 * line. So the cost of a task's argv is its own length.
 */
#include "shell/step/multiprog.h"

#include "common/strbuf.h"
#include "protocol/taskmap.h"

#define NO_LINE UINT32_MAX

/* Marks in a stored word: the task's number, its position, and a literal character that
 * has the value of a mark. */
#define MARK_TASK '\001'
#define MARK_PLACE '\002'
#define MARK_KEEP '\003'

struct line {
    uint32_t first, n; /* words: first index in multiprog.words, number */
    size_t number;     /* line number in the file */
};

struct multiprog {
    uint32_t ntasks;
    uint32_t *line_of;  /* [ntasks] */
    uint32_t *place_of; /* [ntasks] position in the list of its line */
    struct line *lines;
    size_t n_lines, lines_alloc;
    size_t *words; /* offsets in text; each word ends with a NUL */
    size_t n_words, words_alloc;
    struct strbuf text;
};

struct parser {
    struct multiprog *mp;
    const char *p, *end;
    const char *name;
    size_t number; /* of the current line */
    size_t all;    /* line number of '*'; 0: none yet */
    struct error *err;
};

/* -- the tasks of a line -- */

static int bad_tasks (const struct parser *ps, const char *list, size_t len)
{
    return error_set (ps->err, EINVAL,
                      "%s:%zu: '%.*s' is neither a list of tasks such as 0,4-7 nor *",
                      ps->name, ps->number, (int)MIN (len, 80), list);
}

/* Reads the number of a task and moves *p behind it. */
static int read_task (const struct parser *ps, const char **p, uint32_t *ret)
{
    const char *start = *p;
    uint64_t n = 0;

    for (; **p >= '0' && **p <= '9'; (*p)++)
        n = MIN (n * 10 + (uint64_t)(**p - '0'), UINT32_MAX);
    if (*p == start)
        return -EINVAL;
    if (n >= ps->mp->ntasks)
        return error_set (ps->err, ERANGE, "%s:%zu: task %.*s, tasks are 0 to %u",
                          ps->name, ps->number, (int)MIN (*p - start, 20), start,
                          ps->mp->ntasks - 1);
    *ret = (uint32_t)n;
    return 0;
}

/* Assigns tasks to the current line; *place is the position of the first one. */
static int add_tasks (struct parser *ps, uint32_t first, uint32_t last, uint32_t *place)
{
    struct multiprog *mp = ps->mp;

    for (uint32_t task = first; task <= last; task++) {
        if (mp->line_of[task] != NO_LINE)
            return error_set (ps->err, EINVAL, "%s:%zu: task %u is in line %zu, too",
                              ps->name, ps->number, task,
                              mp->lines[mp->line_of[task]].number);
        mp->line_of[task] = (uint32_t)mp->n_lines - 1;
        mp->place_of[task] = (*place)++;
    }
    return 0;
}

static int read_list (struct parser *ps, const char *list, size_t len)
{
    const char *p = list, *end = list + len;
    uint32_t first, last, place = 0;
    int rc;

    for (;;) {
        if ((rc = read_task (ps, &p, &first)) < 0)
            break;
        last = first;
        if (*p == '-') {
            p++;
            if ((rc = read_task (ps, &p, &last)) < 0)
                break;
        }
        if (last < first) {
            rc = -EINVAL;
            break;
        }
        if (p < end && *p != ',') {
            rc = -EINVAL;
            break;
        }
        if ((rc = add_tasks (ps, first, last, &place)) < 0 || p == end)
            return rc;
        p++;
    }
    return rc == -EINVAL ? bad_tasks (ps, list, len) : rc;
}

static bool is_blank (char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Reads the first word: a list, or '*', which is resolved at the end of the file. */
static int read_tasks (struct parser *ps)
{
    const char *list = ps->p;

    while (ps->p < ps->end && !is_blank (*ps->p) && *ps->p != '\n')
        ps->p++;
    size_t len = (size_t)(ps->p - list);
    if (ps->all > 0)
        return error_set (ps->err, EINVAL,
                          "%s:%zu: a line after that of *, which must be the last",
                          ps->name, ps->number);
    if (len == 1 && *list == '*') {
        ps->all = ps->number;
        return 0;
    }
    return read_list (ps, list, len);
}

/* -- words -- */

/* Adds a literal character. */
static void put (struct multiprog *mp, char c)
{
    if (c >= MARK_TASK && c <= MARK_KEEP)
        strbuf_addch (&mp->text, MARK_KEEP);
    strbuf_addch (&mp->text, c);
}

/* Reads the character after a backslash; a newline is dropped. */
static int read_escape (struct parser *ps)
{
    if (ps->p == ps->end)
        return error_set (ps->err, EINVAL, "%s:%zu: nothing after the last backslash",
                          ps->name, ps->number);
    if (*ps->p == '\n')
        ps->number++;
    else
        put (ps->mp, *ps->p);
    ps->p++;
    return 0;
}

static void read_percent (struct parser *ps)
{
    char c = ps->p < ps->end ? *ps->p : '\0';

    if (c == 't' || c == 'o') {
        strbuf_addch (&ps->mp->text, c == 't' ? MARK_TASK : MARK_PLACE);
        ps->p++;
    } else
        put (ps->mp, '%');
}

/* Reads up to the closing quote, which must be on the same line. */
static int read_quoted (struct parser *ps, char quote)
{
    size_t number = ps->number;

    while (ps->p < ps->end && *ps->p != '\n') {
        char c = *ps->p++;
        int rc = 0;
        if (c == quote)
            return 0;
        if (quote == '"' && c == '\\')
            rc = read_escape (ps);
        else if (quote == '"' && c == '%')
            read_percent (ps);
        else
            put (ps->mp, c);
        if (rc < 0)
            return rc;
    }
    return error_set (ps->err, EINVAL, "%s:%zu: no closing %c", ps->name, number, quote);
}

/* Reads one character of a word, or a quoted part. */
static int read_sign (struct parser *ps)
{
    char c = *ps->p++;

    if (c == '\'' || c == '"')
        return read_quoted (ps, c);
    if (c == '\\')
        return read_escape (ps);
    if (c == '%')
        read_percent (ps);
    else
        put (ps->mp, c);
    return 0;
}

/* Whether a backslash here continues the line in the next one. */
static bool at_continuation (const struct parser *ps)
{
    return ps->end - ps->p >= 2 && ps->p[0] == '\\' && ps->p[1] == '\n';
}

static void skip_blanks (struct parser *ps)
{
    while (ps->p < ps->end && (is_blank (*ps->p) || at_continuation (ps))) {
        if (*ps->p == '\\') {
            ps->number++;
            ps->p++;
        }
        ps->p++;
    }
}

static int read_word (struct parser *ps)
{
    struct multiprog *mp = ps->mp;

    if (array_reserve (&mp->words, &mp->words_alloc, mp->n_words + 1, sizeof (*mp->words))
        < 0)
        return error_no_memory (ps->err, ps->name);
    mp->words[mp->n_words++] = mp->text.len;
    while (ps->p < ps->end && !is_blank (*ps->p) && *ps->p != '\n') {
        int rc = read_sign (ps);
        if (rc < 0)
            return rc;
    }
    strbuf_addch (&mp->text, '\0');
    return mp->text.err < 0 ? error_no_memory (ps->err, ps->name) : 0;
}

static int read_words (struct parser *ps, size_t number)
{
    struct multiprog *mp = ps->mp;
    struct line *l = &mp->lines[mp->n_lines - 1];
    int rc;

    for (skip_blanks (ps); ps->p < ps->end && *ps->p != '\n'; skip_blanks (ps)) {
        if (l->n == MULTIPROG_ARGS_MAX)
            return error_set (ps->err, E2BIG, "%s:%zu: more than %d words", ps->name,
                              number, MULTIPROG_ARGS_MAX);
        if ((rc = read_word (ps)) < 0)
            return rc;
        l->n++;
    }
    if (l->n > 0 && mp->text.buf[mp->words[l->first]] != '\0')
        return 0;
    return error_set (ps->err, EINVAL, "%s:%zu: no program after the tasks", ps->name,
                      number);
}

/* -- the file -- */

static int read_line (struct parser *ps)
{
    struct multiprog *mp = ps->mp;
    size_t number = ps->number;
    int rc;

    if (array_reserve (&mp->lines, &mp->lines_alloc, mp->n_lines + 1, sizeof (*mp->lines))
        < 0)
        return error_no_memory (ps->err, ps->name);
    mp->lines[mp->n_lines++] =
        (struct line){ .first = (uint32_t)mp->n_words, .number = number };
    if ((rc = read_tasks (ps)) < 0)
        return rc;
    return read_words (ps, number);
}

static int read_lines (struct parser *ps)
{
    int rc;

    while (ps->p < ps->end) {
        ps->number++;
        while (ps->p < ps->end && is_blank (*ps->p))
            ps->p++;
        if (ps->p < ps->end && *ps->p == '#')
            ps->p += strcspn (ps->p, "\n");
        else if (ps->p < ps->end && *ps->p != '\n' && (rc = read_line (ps)) < 0)
            return rc;
        if (ps->p < ps->end)
            ps->p++; /* the end of the line */
    }
    return 0;
}

/* Lists the tasks without a line as ranges, as many as fit. */
static int tell_missing (const struct parser *ps)
{
    const struct multiprog *mp = ps->mp;
    autostrbuf struct strbuf sb = STRBUF_INIT (200);
    uint32_t last;

    for (uint32_t task = 0; task < mp->ntasks && sb.err == 0; task = last + 1) {
        last = task;
        if (mp->line_of[task] != NO_LINE)
            continue;
        while (last + 1 < mp->ntasks && mp->line_of[last + 1] == NO_LINE)
            last++;
        strbuf_addf (&sb, "%s%u", sb.len > 0 ? "," : "", task);
        if (last > task)
            strbuf_addf (&sb, "-%u", last);
    }
    if (sb.err == -ENOMEM)
        return error_no_memory (ps->err, ps->name);
    if (sb.len == 0)
        return 0;
    return error_set (ps->err, EINVAL, "%s: no line for tasks %s%s", ps->name, sb.buf,
                      sb.err < 0 ? ",..." : "");
}

/* Assigns the tasks that no line names to the line of '*'. */
static void fill_rest (struct multiprog *mp)
{
    for (uint32_t task = 0; task < mp->ntasks; task++)
        if (mp->line_of[task] == NO_LINE) {
            mp->line_of[task] = (uint32_t)mp->n_lines - 1;
            mp->place_of[task] = task;
        }
}

static int read_file (struct parser *ps)
{
    int rc = read_lines (ps);

    if (rc < 0)
        return rc;
    if (ps->all > 0)
        fill_rest (ps->mp);
    return tell_missing (ps);
}

static struct multiprog *create (uint32_t ntasks)
{
    struct multiprog *mp = calloc (1, sizeof (*mp));

    if (!mp)
        return NULL;
    /* Each byte of a file becomes at most two; the NUL of a word replaces the blank after
     * it. */
    strbuf_init (&mp->text, 2 * MULTIPROG_TEXT_MAX + 1);
    mp->ntasks = ntasks;
    mp->line_of = malloc (ntasks * sizeof (*mp->line_of));
    mp->place_of = malloc (ntasks * sizeof (*mp->place_of));
    if (!mp->line_of || !mp->place_of) {
        multiprog_destroy (mp);
        return NULL;
    }
    memset (mp->line_of, 0xff, ntasks * sizeof (*mp->line_of)); /* NO_LINE */
    return mp;
}

static int check_bounds (const char *text, size_t len, const char *name, uint32_t ntasks,
                         struct error *err)
{
    if (ntasks == 0 || ntasks > TASKMAP_TASKS_MAX)
        return error_set (err, EINVAL, "%s: %u tasks: from 1 to %u are possible", name,
                          ntasks, TASKMAP_TASKS_MAX);
    if (len > MULTIPROG_TEXT_MAX)
        return error_set (err, E2BIG, "%s: more than %d bytes", name, MULTIPROG_TEXT_MAX);
    if (memchr (text, '\0', len))
        return error_set (err, EINVAL, "%s: not a text: it has a NUL byte", name);
    return 0;
}

struct multiprog *multiprog_parse (const char *text, size_t len, const char *name,
                                   uint32_t ntasks, struct error *err)
{
    struct parser ps = { .name = name, .err = err };

    if (check_bounds (text, len, name, ntasks, err) < 0)
        return NULL;
    /* A copy with a NUL behind it, which ends every search. */
    autofree char *copy = strndup (text, len);
    ps.mp = create (ntasks);
    ps.p = copy;
    ps.end = copy ? copy + len : NULL;
    if (!copy || !ps.mp)
        error_no_memory (ps.err, ps.name);
    else if (read_file (&ps) == 0)
        return ps.mp;
    multiprog_destroy (ps.mp);
    return NULL;
}

void multiprog_destroy (struct multiprog *mp)
{
    if (!mp)
        return;
    free (mp->line_of);
    free (mp->place_of);
    free (mp->lines);
    free (mp->words);
    strbuf_release (&mp->text);
    free (mp);
}

/* -- argv -- */

/* Returns a word as the task gets it; NULL: no memory. */
static char *expand (const struct multiprog *mp, const char *word, uint32_t task)
{
    struct strbuf sb = STRBUF_INIT (strlen (word) * 10 + 1);

    /* A mark of one byte becomes at most ten digits. */
    for (; *word; word++) {
        if (*word == MARK_TASK)
            strbuf_addf (&sb, "%u", task);
        else if (*word == MARK_PLACE)
            strbuf_addf (&sb, "%u", mp->place_of[task]);
        else
            strbuf_addch (&sb, *word == MARK_KEEP ? *++word : *word);
    }
    return strbuf_detach (&sb);
}

char **multiprog_argv (const struct multiprog *mp, uint32_t task)
{
    const struct line *l = &mp->lines[mp->line_of[task]];
    char **argv = calloc ((size_t)l->n + 1, sizeof (*argv));

    for (uint32_t i = 0; argv && i < l->n; i++) {
        argv[i] = expand (mp, mp->text.buf + mp->words[l->first + i], task);
        if (!argv[i]) {
            free_strings (argv);
            return NULL;
        }
    }
    return argv;
}
