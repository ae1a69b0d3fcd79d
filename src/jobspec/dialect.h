/* dialect.h - one kind of directive lines; each dialects/NAME.c ends in its descriptor
 *
 *     const struct dialect dialect_pbs = {
 *         .name = "pbs", .example = "#PBS -l nodes=2", .match = match, .read = read_pbs,
 *     };
 *
 * script.c finds which dialect a script speaks and gives it the lines from the first
 * directive on. Most dialects' directives are comments before the first command: they
 * call dialect_read_header() with a function that applies one line. What they share of
 * mapping option names is dialect_apply().
 */
#ifndef FLUXQ_JOBSPEC_DIALECT_H
#define FLUXQ_JOBSPEC_DIALECT_H

#include "jobspec/script.h"
#include "jobspec/words.h"

/* A line without its newline; number: from 1. */
struct script_line {
    const char *text;
    size_t len;
    unsigned number;
};

struct script {
    const char *name; /* "job.sh", for messages */
    const char *text, *end;
    struct script_line command; /* the first that is no comment; text NULL: none is */
    struct submit_options *so;
    script_warn_f warn; /* or NULL */
    void *arg;
    struct script_refusals *refusals; /* or NULL: the first refusal ends it */
};

/* What is wrong with directives, to be told together. */
struct script_refusals {
    script_warn_f refuse; /* called with all but the last */
    void *arg;
    unsigned n;
    struct error last;
};

struct dialect_options;

struct dialect {
    const char *name;    /* "sbatch" */
    const char *example; /* "#SBATCH --nodes=2", for messages */
    /* Where the arguments begin when the line (no newline) is a directive of this
     * dialect, else NULL. */
    const char *(*match) (const char *line, size_t len);
    /* Its first directive may also come after the first command (RFC 36: in a
     * docstring). */
    bool anywhere;
    const struct dialect_options *options;
    /* Apply the directives from the line first on, warn of those that are not used. */
    int (*read) (const struct script *s, struct script_line first, struct error *err);
};

extern const struct dialect *const dialects[]; /* generated, NULL-terminated */
/* fluxq's own, whose directives may stand beside those of another. */
extern const struct dialect dialect_fluxq;

/* Step to the next line; to the first if line->text is NULL. False at the end. */
bool script_next_line (const struct script *s, struct script_line *line);

/* Ids for a dialect's table: the dialect's own kind of option (0 to 0x7fff), and low bits
 * in which all differ, as option_find() takes two of the same id for one. */
#define DIALECT_ID(kind) ((kind) << 16 | __COUNTER__)
#define DIALECT_KIND(id) ((id) >> 16)

#define DIALECT_REFUSED 0x7fff /* the kind that fluxq does not do, in all dialects */

/* How a directive's text is read: split into words, each option looked up in the table
 * and given to set(). where: "job.sh:3: --nodes" (long options, written out) or
 * "job.sh:3: -N". */
struct dialect_options {
    enum words_rules rules;
    const struct option_desc *table;
    int (*set) (struct submit_options *so, const struct option_desc *option,
                const char *value, const char *where, struct error *err);
};

/* Apply the text of the directive that begins on line; words that are no options are
 * refused. Errors begin with the line's place. */
int dialect_apply (const struct script *s, const struct script_line *line,
                   const char *text, size_t len, const struct dialect_options *options,
                   struct error *err);

/* Apply the matching lines from first on up to the script's first command, warn of those
 * behind it. */
int dialect_read_header (const struct script *s, const struct dialect *d,
                         struct script_line first, const struct dialect_options *options,
                         struct error *err);
/* Warn of each directive of d from the line on: they come too late. */
void dialect_warn_late (const struct script *s, const struct dialect *d,
                        struct script_line line);

/* The refusal of an option that another system has: o->help says what to do instead,
 * NULL: "remove it". Returns -EINVAL. */
int dialect_unsupported (const char *system, const struct option_desc *o,
                         const char *where, struct error *err);
/* The same refusal of a word ("--qos=x", "-A") that is none of the caller's own options and that
 * a dialect refuses: true, and err is that, else unchanged. */
bool dialect_explain (const struct option_desc *own, const char *word, struct error *err);
/* Keep a refusal, so that the next directive is looked at, and clear it: 0; or what ends all at
 * once, in err. */
int dialect_refuse (const struct script *s, struct error *own, struct error *err);

#endif
