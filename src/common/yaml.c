/* yaml.c - see yaml.h. Each event of libyaml becomes a jansson value; open mappings and
 * sequences are on a stack of fixed depth. The place of each value and key is noted on
 * the way, and the places are sorted at the end, for a binary search in yaml_error().
 */
#include "common/yaml.h"

#include <locale.h>
#include <math.h>
#include <yaml.h>

#include "common/io.h"

#define MAX_TEXT (4 * 1024 * 1024)
#define MAX_DEPTH 64
#define MAX_NODES 1000000

/* The place where a value begins (key NULL), or a key in the object `value`. */
struct place {
    const json_t *value;
    char *key;
    int line, column;
};

struct yaml_doc {
    char *name;
    json_t *root;
    struct place *places;
    size_t nplaces, alloc;
};

/* An open mapping or sequence. */
struct level {
    json_t *container;
    char *key; /* of the next value; NULL: a key comes next, or a sequence */
    int line, column;
};

struct loader {
    struct yaml_doc *doc;
    struct level stack[MAX_DEPTH];
    size_t depth;
    size_t nnodes;
    bool done; /* the document's root is complete */
    locale_t c_locale;
    struct error *err;
};

static int fail_at (struct loader *l, const yaml_mark_t *mark, const char *problem)
{
    return error_set (l->err, EINVAL, "%s:%zu:%zu: %s", l->doc->name, mark->line + 1,
                      mark->column + 1, problem);
}

/* -- places -- */

static int note_place (struct yaml_doc *doc, struct place place)
{
    if (array_reserve (&doc->places, &doc->alloc, doc->nplaces + 1, sizeof (place)) < 0)
        return -ENOMEM;
    doc->places[doc->nplaces++] = place;
    return 0;
}

static int compare_places (const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->value != y->value)
        return (uintptr_t)x->value < (uintptr_t)y->value ? -1 : 1;
    if (!x->key || !y->key)
        return (x->key != NULL) - (y->key != NULL);
    return strcmp (x->key, y->key);
}

/* -- scalars (YAML 1.2 core schema, chapter 10.3) -- */

static bool is_one_of (const char *text, const char *const words[])
{
    for (size_t i = 0; words[i]; i++) {
        if (!strcmp (text, words[i]))
            return true;
    }
    return false;
}

static bool all_of (const char *text, const char *set)
{
    return text[0] && text[strspn (text, set)] == '\0';
}

/* The base of an integer and the start of its digits; 0: no integer. */
static int integer_base (const char *text, const char **ret_digits)
{
    const char *p = text + (text[0] == '-' || text[0] == '+');

    *ret_digits = text;
    if (all_of (p, "0123456789"))
        return 10;
    *ret_digits = text + 2;
    if (!strncmp (text, "0o", 2) && all_of (text + 2, "01234567"))
        return 8;
    if (!strncmp (text, "0x", 2) && all_of (text + 2, "0123456789abcdefABCDEF"))
        return 16;
    return 0;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_float (const char *text)
{
    static const char digits[] = "0123456789";
    const char *p = text + (text[0] == '-' || text[0] == '+');
    size_t whole = strspn (p, digits);
    size_t fraction = 0;

    p += whole;
    if (*p == '.') {
        fraction = strspn (p + 1, digits);
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        return all_of (p, digits);
    }
    return *p == '\0';
}

static bool is_not_finite (const char *text)
{
    const char *p = text + (text[0] == '-' || text[0] == '+');

    return is_one_of (p, (const char *const[]){ ".inf", ".Inf", ".INF", NULL })
           || is_one_of (text, (const char *const[]){ ".nan", ".NaN", ".NAN", NULL });
}

/* The value of a plain scalar; NULL with *problem if it has none. */
static json_t *plain_value (struct loader *l, const char *text, const char **problem)
{
    const char *digits;
    int base;

    *problem = NULL;
    if (is_one_of (text, (const char *const[]){ "", "~", "null", "Null", "NULL", NULL }))
        return json_null ();
    if (is_one_of (text, (const char *const[]){ "true", "True", "TRUE", NULL }))
        return json_true ();
    if (is_one_of (text, (const char *const[]){ "false", "False", "FALSE", NULL }))
        return json_false ();
    if ((base = integer_base (text, &digits)) != 0) {
        errno = 0;
        long long n = strtoll (digits, NULL, base);
        if (errno == ERANGE)
            *problem = "an integer beyond 64 bits";
        return errno == ERANGE ? NULL : json_integer (n);
    }
    if (is_float (text)) {
        double d = strtod_l (text, NULL, l->c_locale);
        if (isinf (d))
            *problem = "a number that is too large";
        return isinf (d) ? NULL : json_real (d);
    }
    if (is_not_finite (text)) {
        *problem =
            "infinity and not-a-number are not accepted (quote the value to mean a text)";
        return NULL;
    }
    return json_string (text);
}

/* -- the tree -- */

/* Add v (stolen) to the open container, or make it the root. */
static int attach (struct loader *l, json_t *v, const yaml_mark_t *mark)
{
    struct level *top = l->depth > 0 ? &l->stack[l->depth - 1] : NULL;
    int line = (int)mark->line + 1, column = (int)mark->column + 1;
    int rc = 0;

    /* null, true and false are shared values without a place of their own. */
    if (!json_is_null (v) && !json_is_boolean (v))
        rc = note_place (l->doc, (struct place){ v, NULL, line, column });
    if (!top) {
        l->doc->root = v;
        return rc < 0 ? error_no_memory (l->err, l->doc->name) : 0;
    }
    if (!top->key)
        rc = json_array_append_new (top->container, v) < 0 ? -ENOMEM : rc;
    else {
        struct place place = { top->container, top->key, top->line, top->column };
        if (json_object_set_new (top->container, top->key, v) < 0)
            rc = -ENOMEM;
        if (rc == 0)
            rc = note_place (l->doc, place);
        if (rc == 0)
            top->key = NULL; /* the place owns it now */
    }
    return rc < 0 ? error_no_memory (l->err, l->doc->name) : 0;
}

static bool wants_key (const struct loader *l)
{
    const struct level *top = l->depth > 0 ? &l->stack[l->depth - 1] : NULL;

    return top && json_is_object (top->container) && !top->key;
}

static int take_key (struct loader *l, const char *text, const yaml_mark_t *mark)
{
    struct level *top = &l->stack[l->depth - 1];

    if (json_object_get (top->container, text))
        return error_set (l->err, EINVAL, "%s:%zu:%zu: key '%s' is given twice",
                          l->doc->name, mark->line + 1, mark->column + 1, text);
    top->key = strdup (text);
    top->line = (int)mark->line + 1;
    top->column = (int)mark->column + 1;
    return top->key ? 0 : error_no_memory (l->err, l->doc->name);
}

static int take_scalar (struct loader *l, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    const char *problem = "not valid UTF-8";
    json_t *v;

    if (memchr (text, '\0', e->data.scalar.length))
        return fail_at (l, &e->start_mark, "a NUL byte in a text");
    if (wants_key (l))
        return take_key (l, text, &e->start_mark);
    if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        v = plain_value (l, text, &problem);
    else
        v = json_string (text);
    if (!v)
        return fail_at (l, &e->start_mark, problem ? problem : "not valid UTF-8");
    return attach (l, v, &e->start_mark);
}

static int open_container (struct loader *l, json_t *container, const yaml_mark_t *mark)
{
    if (!container)
        return error_no_memory (l->err, l->doc->name);
    if (l->depth == MAX_DEPTH) {
        json_decref (container);
        return fail_at (l, mark, "nested more than 64 levels deep");
    }
    if (wants_key (l)) {
        json_decref (container);
        return fail_at (l, mark, "a key must be a plain word");
    }
    int rc = attach (l, container, mark);
    if (rc == 0)
        l->stack[l->depth++] = (struct level){ .container = container };
    return rc;
}

/* Refuse anchors, which would allow aliases, and tags, which would allow other types. */
static int refuse_decoration (struct loader *l, const yaml_event_t *e)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    switch (e->type) {
    case YAML_SCALAR_EVENT:
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
        break;
    default:
        return 0;
    }
    if (anchor)
        return fail_at (l, &e->start_mark, "anchors (&name) are not accepted");
    if (tag)
        return fail_at (l, &e->start_mark, "tags (!name) are not accepted");
    if (++l->nnodes > MAX_NODES)
        return fail_at (l, &e->start_mark, "more than 1000000 values");
    return 0;
}

static int take_event (struct loader *l, const yaml_event_t *e)
{
    int rc = refuse_decoration (l, e);

    if (rc < 0)
        return rc;
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return fail_at (l, &e->start_mark, "aliases (*name) are not accepted");
    case YAML_DOCUMENT_START_EVENT:
        if (l->done)
            return fail_at (l, &e->start_mark, "a second document");
        return 0;
    case YAML_SCALAR_EVENT:
        return take_scalar (l, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_container (l, json_array (), &e->start_mark);
    case YAML_MAPPING_START_EVENT:
        return open_container (l, json_object (), &e->start_mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        l->depth--;
        return 0;
    case YAML_DOCUMENT_END_EVENT:
        l->done = true;
        return 0;
    default:
        return 0;
    }
}

/* For errors of the reader (bad UTF-8), libyaml has an offset and no line. */
static int parser_failed (struct loader *l, const yaml_parser_t *parser, const char *text)
{
    yaml_mark_t mark = parser->problem_mark;

    if (parser->error == YAML_MEMORY_ERROR)
        return error_no_memory (l->err, l->doc->name);
    if (parser->error == YAML_READER_ERROR) {
        mark = (yaml_mark_t){ 0 };
        for (size_t i = 0; i < parser->problem_offset && text[i]; i++) {
            mark.column = text[i] == '\n' ? 0 : mark.column + 1;
            mark.line += text[i] == '\n';
        }
    }
    return fail_at (l, &mark, parser->problem ? parser->problem : "not YAML");
}

static int load (struct loader *l, yaml_parser_t *parser, const char *text)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse (parser, &event))
            return parser_failed (l, parser, text);
        bool end = event.type == YAML_STREAM_END_EVENT;
        int rc = take_event (l, &event);
        yaml_event_delete (&event);
        if (rc < 0 || end)
            return rc;
    }
}

static int load_text (struct yaml_doc *doc, const char *text, size_t len,
                      struct error *err)
{
    struct loader l = { .doc = doc, .err = err };
    yaml_parser_t parser;

    l.c_locale = newlocale (LC_ALL_MASK, "C", NULL);
    if (!l.c_locale)
        return error_no_memory (err, doc->name);
    if (!yaml_parser_initialize (&parser)) {
        freelocale (l.c_locale);
        return error_no_memory (err, doc->name);
    }
    yaml_parser_set_encoding (&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string (&parser, (const unsigned char *)text, len);
    int rc = load (&l, &parser, text);
    yaml_parser_delete (&parser);
    freelocale (l.c_locale);
    for (size_t i = 0; i < l.depth; i++)
        free (l.stack[i].key);
    return rc;
}

struct yaml_doc *yaml_load (const char *text, size_t len, const char *name,
                            struct error *err)
{
    struct yaml_doc *doc = calloc (1, sizeof (*doc));

    if (doc)
        doc->name = strdup (name);
    if (!doc || !doc->name)
        error_errno (err, ENOMEM, "%s", name);
    else if (len > MAX_TEXT)
        error_set (err, EINVAL, "%s: larger than 4 MiB", name);
    else if (load_text (doc, text, len, err) == 0) {
        if (!doc->root)
            doc->root = json_null ();
        if (doc->nplaces > 0)
            qsort (doc->places, doc->nplaces, sizeof (*doc->places), compare_places);
        return doc;
    }
    yaml_destroy (doc);
    return NULL;
}

struct yaml_doc *yaml_load_file (const char *path, struct error *err)
{
    struct yaml_doc *doc = NULL;
    autostrbuf struct strbuf sb = STRBUF_INIT (MAX_TEXT);

    if (io_read_file (path, &sb, MAX_TEXT, err) == 0)
        doc = yaml_load (sb.buf, sb.len, path, err);
    return doc;
}

void yaml_destroy (struct yaml_doc *doc)
{
    if (!doc)
        return;
    json_decref (doc->root);
    for (size_t i = 0; i < doc->nplaces; i++)
        free (doc->places[i].key);
    free (doc->places);
    free (doc->name);
    free (doc);
}

json_t *yaml_root (const struct yaml_doc *doc)
{
    return doc->root;
}

int yaml_error (const struct yaml_doc *doc, const json_t *value, const char *key,
                struct error *err, const char *fmt, ...)
{
    struct place wanted = { .value = value, .key = (char *)key };
    const struct place *p = NULL;
    char text[ERROR_TEXT_MAX];
    va_list ap;

    va_start (ap, fmt);
    if (vsnprintf (text, sizeof (text), fmt, ap) < 0)
        text[0] = '\0';
    va_end (ap);
    if (doc->nplaces > 0)
        p = bsearch (&wanted, doc->places, doc->nplaces, sizeof (wanted), compare_places);
    if (!p)
        return error_set (err, EINVAL, "%s: %s", doc->name, text);
    return error_set (err, EINVAL, "%s:%d:%d: %s", doc->name, p->line, p->column, text);
}
