/* flux.c - "# flux: -N2": submission directives of RFC 36, with the options of
 * flux-batch(1)
 *
 * The states of read_directives():
 *
 *     directives --- a line without the prefix ---> halted: a directive is an error
 *      |     ^
 *      | opening ''' at a line's end
 *      v     | closing ''' at a line's end
 *     read_quoted()
 *
 * In the RFC any text after a sentinel is a directive. But "flux:" also begins other
 * lines (keys of a YAML file that the script writes, prose). So a line without the file's
 * own sentinel counts only if an option follows.
 */
#include <ctype.h>

#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/jobspec.h"
#include "jobspec/script/dialect.h"

/* -- options -- */

enum kind {
    SAME,
    NODES,
    TIME,
    FILENAME,
    URGENCY,
    BEGIN,
    DEPENDENCY,
    SIGNAL,
    SHELL_OPTION,
    REFUSED = DIALECT_REFUSED
};

#define DO(name, letter, arg, kind)                                                      \
    {                                                                                    \
        name, letter, arg, NULL, DIALECT_ID (kind), false, NULL                          \
    }
/* fluxq has the option under another name */
#define AS(name, letter, arg, other)                                                     \
    {                                                                                    \
        name, letter, arg, other, DIALECT_ID (SAME), false, NULL                         \
    }
#define NO(name, letter, arg, instead)                                                   \
    {                                                                                    \
        name, letter, arg, instead, DIALECT_ID (REFUSED), false, NULL                    \
    }

static const struct option_desc table[] = {
    DO ("queue", 'q', "NAME", SAME),
    DO ("job-name", 0, "NAME", SAME),
    DO ("exclusive", 'x', NULL, SAME),
    DO ("requires", 0, "CONSTRAINT", SAME),
    DO ("nodes", 'N', "N", NODES),
    AS ("nslots", 'n', "N", "ntasks"),
    AS ("cores-per-slot", 'c', "N", "cpus-per-task"),
    AS ("gpus-per-slot", 'g', "N", "gpus-per-task"),
    DO ("time-limit", 't', "MIN|FSD", TIME),
    DO ("output", 0, "TEMPLATE", FILENAME),
    DO ("error", 0, "TEMPLATE", FILENAME),
    DO ("input", 0, "FILE", FILENAME),
    DO ("setopt", 'o', "OPT", SHELL_OPTION),
    AS ("cwd", 0, "DIR", "chdir"),
    DO ("urgency", 0, "N", URGENCY),
    DO ("begin-time", 0, "TIME", BEGIN),
    DO ("dependency", 0, "URI", DEPENDENCY),
    DO ("signal", 0, "SIG@TIME", SIGNAL),

    NO ("add-brokers", 0, "N", NULL),
    NO ("add-file", 0, "FILE", "say fluxq-submit --stage-in=FILE"),
    NO ("bank", 'B', "NAME", "remove it (there are no accounts)"),
    NO ("broker-opts", 0, "OPTS", NULL),
    NO ("conf", 0, "CONF", NULL),
    NO ("debug-emulate", 0, NULL, NULL),
    NO ("dry-run", 0, NULL, "it belongs on the command line of fluxq-submit"),
    { "dump", 0, "FILE", NULL, DIALECT_ID (REFUSED), true, NULL },
    NO ("env", 0, "RULE", "set variables in the script"),
    NO ("env-file", 0, "FILE", "set variables in the script"),
    NO ("env-remove", 0, "PATTERN", "unset variables in the script"),
    NO ("flags", 0, "FLAGS", NULL),
    NO ("help", 0, NULL, "it belongs on the command line of fluxq-submit"),
    NO ("label-io", 'l', NULL, NULL),
    NO ("list-plugins", 0, NULL, NULL),
    NO ("quiet", 0, NULL, NULL),
    NO ("rlimit", 0, "RULE", "set limits in the script with ulimit"),
    NO ("setattr", 'S', "ATTR", NULL),
    NO ("unbuffered", 'u', NULL, NULL),
    NO ("wrap", 0, NULL, "write the command into the script"),
    OPTION_END,
};

/* An RFC 23 duration, but a bare number is in minutes. */
static int set_time (struct submit_options *so, const char *value, const char *where,
                     struct error *err)
{
    double seconds;
    int rc = parse_fsd (value, &seconds, where, err);

    if (rc < 0)
        return rc;
    if (value[strspn (value, "0123456789.")] == '\0')
        seconds *= 60;
    if (seconds > JOBSPEC_DURATION_MAX)
        return error_set (err, ERANGE, "%s: '%.32s' is longer than %.0f days", where,
                          value, JOBSPEC_DURATION_MAX / 86400);
    submit_options_set_time_limit (so, SUBMIT_FROM_SCRIPT, seconds);
    return 0;
}

/* Replace {{id}} and similar tags by %j and so on. '%' has no meaning in flux and is
 * escaped; '\\' has none either, but would have one in fluxq, and is refused. */
static int set_filename (struct submit_options *so, const char *name, const char *value,
                         const char *where, struct error *err)
{
    static const struct {
        const char *from, *to;
    } tags[] = { { "{{id}}", "%j" },        { "{{id.dec}}", "%j" },
                 { "{{jobid}}", "%j" },     { "{{name}}", "%x" },
                 { "{{node.name}}", "%N" }, { "{{node.id}}", "%n" },
                 { "{{task.id}}", "%t" },   { "{{task.rank}}", "%t" },
                 { "{{taskid}}", "%t" } };
    autostrbuf struct strbuf pattern = STRBUF_INIT (8192);

    if (!strcmp (value, "none") || !strcmp (value, "kvs"))
        return error_set (err, EINVAL, "%s: '%s' is not supported by fluxq; name a file",
                          where, value);
    if (strchr (value, '\\'))
        return error_set (err, EINVAL,
                          "%s: a '\\' in a file name is not supported by fluxq", where);
    while (*value) {
        size_t i = 0;

        while (i < ARRAY_SIZE (tags)
               && strncmp (value, tags[i].from, strlen (tags[i].from)))
            i++;
        if (i < ARRAY_SIZE (tags)) {
            strbuf_adds (&pattern, tags[i].to);
            value += strlen (tags[i].from);
            continue;
        }
        if (!strncmp (value, "{{", 2))
            return error_set (
                err, EINVAL,
                "%s: '%.32s' is not supported by fluxq, which knows {{id}}, {{name}}, "
                "{{node.name}}, {{node.id}} and {{task.id}}",
                where, value);
        strbuf_addf (&pattern, *value == '%' ? "%%%%" : "%c", *value);
        value++;
    }
    if (pattern.err == -ENOMEM)
        return error_no_memory (err, where);
    if (pattern.err)
        return error_set (err, EINVAL, "%s: the file name is too long", where);
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, name, pattern.buf, where, err);
}

static int set_urgency (struct submit_options *so, const char *value, const char *where,
                        struct error *err)
{
    int64_t urgency;
    int rc = parse_int (value, 0, 31, &urgency, where, err);

    if (rc < 0)
        return rc;
    if (urgency != 0 && urgency != 16)
        return error_set (
            err, EINVAL,
            "%s: fluxq supports only 0 (hold) and 16 (as others) in a script", where);
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, "hold",
                               urgency == 0 ? "yes" : "no", where, err);
}

/* "+1h", or a time in one of the forms of datetime.h. */
static int set_begin (struct submit_options *so, const char *value, const char *where,
                      struct error *err)
{
    double seconds;

    if (*value != '+')
        return submit_options_set (so, SUBMIT_FROM_SCRIPT, "begin", value, where, err);
    int rc = parse_fsd (value + 1, &seconds, where, err);
    if (rc == 0)
        submit_options_set_begin (so, SUBMIT_FROM_SCRIPT, clock_wall () + seconds);
    return rc;
}

/* RFC 26: "afterok:37", one dependency an option; flux turns --begin-time into
 * "begin-time:T". */
static int set_dependency (struct submit_options *so, const char *value,
                           const char *where, struct error *err)
{
    char moment[64];

    if (strpbrk (value, "?,+"))
        return error_set (err, EINVAL,
                          "%s: '%.64s': fluxq takes SCHEME:ID here, without '?', ',' or "
                          "'+'; give the option once for each",
                          where, value);
    if (strncmp (value, "begin-time:", 11) != 0)
        return submit_options_add_dependency (so, SUBMIT_FROM_SCRIPT, value, where, err);
    snprintf (moment, sizeof (moment), "uts%.40s", value + 11);
    moment[strcspn (moment, ".")] = '\0'; /* whole seconds are enough */
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, "begin", moment, where, err);
}

static int set_signal (struct submit_options *so, const char *value, const char *where,
                       struct error *err)
{
    struct job_warning w;
    int rc = job_warning_parse_flux (value, &w, where, err);

    if (rc == 0)
        submit_options_set_warning (so, SUBMIT_FROM_SCRIPT, &w);
    return rc;
}

/* Options of the job shell that are not set by a file name or another option. */
static int set_shell_option (struct submit_options *so, const char *value,
                             const char *where, struct error *err)
{
    static const char mode[] = "output.mode=";

    if (strncmp (value, mode, sizeof (mode) - 1) != 0)
        return error_set (
            err, EINVAL,
            "%s: '%.64s' is not supported by fluxq, which knows "
            "output.mode=append|truncate (for the output file say --output)",
            where, value);
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, "open-mode",
                               value + sizeof (mode) - 1, where, err);
}

static int set (struct submit_options *so, const struct option_desc *option,
                const char *value, const char *where, struct error *err)
{
    const char *name = option->help ? option->help : option->name;

    switch (DIALECT_KIND (option->id)) {
    case SAME:
        break;
    case NODES:
        so->whole_nodes = true;
        break;
    case TIME:
        return set_time (so, value, where, err);
    case FILENAME:
        return set_filename (so, name, value, where, err);
    case URGENCY:
        return set_urgency (so, value, where, err);
    case BEGIN:
        return set_begin (so, value, where, err);
    case DEPENDENCY:
        return set_dependency (so, value, where, err);
    case SIGNAL:
        return set_signal (so, value, where, err);
    case SHELL_OPTION:
        return set_shell_option (so, value, where, err);
    default:
        return dialect_unsupported ("flux", option, where, err);
    }
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, name, value, where, err);
}

static const struct option_desc *options_of_flux (void)
{
    return table;
}

static int refuse (const struct option_desc *option, const char *where, struct error *err)
{
    return DIALECT_KIND (option->id) == DIALECT_REFUSED
               ? dialect_unsupported ("flux", option, where, err)
               : 0;
}

static const struct dialect_options options = {
    .rules = WORDS_POSIX,
    .table = options_of_flux,
    .set = set,
    .refuse = refuse,
};

/* -- lines -- */

/* Match ^([^\w]*)(flux|FLUX): and return the text after it, or NULL; *ret_prefix: bytes
 * before the tag. */
static const char *sentinel (const char *line, size_t len, size_t *ret_prefix)
{
    size_t n = 0;

    while (n < len && !isalnum ((unsigned char)line[n]) && line[n] != '_'
           && (unsigned char)line[n] < 0x80)
        n++;
    if (len - n < 5 || (memcmp (line + n, "flux:", 5) && memcmp (line + n, "FLUX:", 5)))
        return NULL;
    *ret_prefix = n;
    return line + n + 5;
}

static const char *match (const char *line, size_t len)
{
    size_t prefix;
    const char *args = sentinel (line, len, &prefix);

    for (const char *p = args; p && p < line + len; p++) {
        if (!isblank ((unsigned char)*p))
            return *p == '-' ? args : NULL;
    }
    return NULL;
}

/* The file's sentinel, from its first directive. */
struct reader {
    const struct script *s;
    const char *sentinel;
    size_t sentinel_len;
    size_t prefix_len; /* without blanks at its end */
};

static struct reader reader_of (const struct script *s, const struct script_line *first)
{
    struct reader r = { .s = s, .sentinel = first->text };
    size_t prefix = 0;
    const char *args = sentinel (first->text, first->len, &prefix);

    r.sentinel_len = (size_t)(args - first->text);
    while (prefix > 0 && isspace ((unsigned char)first->text[prefix - 1]))
        prefix--;
    r.prefix_len = prefix;
    return r;
}

static bool begins (const struct script_line *line, const char *s, size_t len)
{
    return line->len >= len && !memcmp (line->text, s, len);
}

static bool is_blank (const struct script_line *line)
{
    for (size_t i = 0; i < line->len; i++) {
        if (!isspace ((unsigned char)line->text[i]))
            return false;
    }
    return true;
}

/* -- triple quotes -- */

/* The line's text after the sentinel, without trailing blanks. */
static size_t directive_text (const struct reader *r, const struct script_line *line,
                              const char **ret)
{
    size_t len = line->len - r->sentinel_len;

    *ret = line->text + r->sentinel_len;
    while (len > 0 && isspace ((unsigned char)(*ret)[len - 1]))
        len--;
    return len;
}

/* Whether the line opens a text of several lines: it ends in a triple quote and has an
 * odd number of them. */
static const char *opens_quote (const char *text, size_t len)
{
    const char *end = text + len, *quote = end - 3, *p = text;
    size_t n = 0;

    if (len < 3 || (memcmp (quote, "'''", 3) && memcmp (quote, "\"\"\"", 3)))
        return NULL;
    while ((p = memmem (p, (size_t)(end - p), quote, 3)) != NULL) {
        n++;
        p += 3;
    }
    return n % 2 ? quote : NULL;
}

/* Add the lines up to the one that ends in the same quote, without the indentation of the
 * opening line, whose text is in sb already. *line becomes the closing line. */
static int read_quoted (const struct reader *r, struct script_line *line,
                        const char *quote, struct strbuf *sb, struct error *err)
{
    const unsigned opened = line->number;
    const char *indent = line->text + r->sentinel_len, *text, *inside;
    size_t indent_len = 0, len, whole;

    while (isblank ((unsigned char)indent[indent_len]))
        indent_len++;
    while (script_next_line (r->s, line) && begins (line, r->sentinel, r->sentinel_len)) {
        len = directive_text (r, line, &text);
        whole = line->len - r->sentinel_len;
        if (len >= indent_len && !memcmp (text, indent, indent_len)) {
            text += indent_len;
            len -= indent_len;
            whole -= indent_len;
        }
        inside = memmem (text, len, quote, 3);
        if (inside && inside != text + len - 3)
            return error_set (err, EINVAL,
                              "%s:%u: %.3s must stand at the end of the line", r->s->name,
                              line->number, quote);
        strbuf_add (sb, text, inside ? len : whole);
        if (inside)
            return 0;
        strbuf_addch (sb, '\n');
    }
    return error_set (
        err, EINVAL,
        "%s:%u: the quote %.3s is not closed in the lines that begin with '%.*s'",
        r->s->name, opened, quote, (int)MIN (r->sentinel_len, 32), r->sentinel);
}

static int read_directive (const struct reader *r, struct script_line *line,
                           struct error *err)
{
    const struct script_line at = *line;
    const char *text, *quote;
    size_t len = directive_text (r, line, &text);
    autostrbuf struct strbuf sb = STRBUF_INIT (JOBSPEC_SCRIPT_MAX);

    strbuf_add (&sb, text, len);
    quote = opens_quote (text, len);
    if (quote) {
        int rc = read_quoted (r, line, quote, &sb, err);

        if (rc < 0)
            return rc;
    }
    if (sb.err)
        return error_set (err, -sb.err, "%s:%u: out of memory", r->s->name, at.number);
    return dialect_apply (r->s, &at, sb.buf, sb.len, &options, err);
}

/* -- the file -- */

static int changed_sentinel (const struct reader *r, const struct script_line *line,
                             const char *args, struct error *err)
{
    return error_set (
        err, EINVAL,
        "%s:%u: this directive begins with '%.*s', those before with '%.*s'; all must "
        "begin alike (to leave one out: '%.*s # ...')",
        r->s->name, line->number, (int)MIN (args - line->text, 32), line->text,
        (int)MIN (r->sentinel_len, 32), r->sentinel, (int)MIN (r->sentinel_len, 32),
        r->sentinel);
}

static int read_directives (const struct script *s, struct script_line line,
                            struct error *err)
{
    const struct reader r = reader_of (s, &line);
    unsigned halted = 0;

    do {
        bool own = begins (&line, r.sentinel, r.sentinel_len);
        const char *args = match (line.text, line.len);
        int rc = 0;

        if (halted && (own || args))
            return error_set (
                err, EINVAL,
                "%s:%u: a flux directive after the directives' end (line %u is the "
                "first line of another kind); move it up",
                s->name, line.number, halted);
        if (!own && args)
            return changed_sentinel (&r, &line, args, err);
        if (own)
            rc = read_directive (&r, &line, err);
        else if (!halted && !is_blank (&line)
                 && !dialect_fluxq.match (line.text, line.len)
                 && !begins (&line, r.sentinel, r.prefix_len))
            halted = line.number;
        if (rc < 0)
            return rc;
    } while (script_next_line (s, &line));
    return 0;
}

const struct dialect dialect_flux = {
    .name = "flux",
    .example = "# flux: -N2",
    .match = match,
    .anywhere = true,
    .options = &options,
    .read = read_directives,
};
