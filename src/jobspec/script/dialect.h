/* dialect.h - one kind of directive lines; each dialects/NAME.c ends in its descriptor
 *
 *     const struct dialect dialect_pbs = {
 *         .name = "pbs", .example = "#PBS -l nodes=2", .match = match, .read = read_pbs,
 *     };
 *
 * script.c finds the dialect of a script and passes it the lines from the first directive
 * on. The directives of most dialects are comments before the first command: such a
 * dialect calls dialect_read_header() with its table of options. dialect_apply() maps the
 * option names of one line.
 */
#pragma once

#include "jobspec/script/script.h"
#include "jobspec/script/words.h"

/* A line without its newline; number: from 1. */
struct script_line {
    const char *text;
    size_t len;
    unsigned number;
};

struct script {
    const char *name; /* "job.sh", for messages */
    const char *text, *end;
    struct script_line command; /* first line that is no comment; text NULL: none */
    struct submit_options *so;
    script_warn_f warn; /* or NULL */
    void *arg;
    struct script_refusals *refusals; /* or NULL: the first refusal ends the reading */
    bool heterogeneous; /* it has several components: messages name that of a line */
    size_t component;   /* whose options are read into so */
};

/* Refused directives, which are reported together. */
struct script_refusals {
    script_warn_f refuse; /* called for all but the last */
    void *arg;
    unsigned n;
    struct error last;
};

struct dialect_options;

struct dialect {
    const char *name;    /* "sbatch" */
    const char *example; /* "#SBATCH --nodes=2", for messages */
    /* The start of the arguments if the line (without newline) is a directive of this
     * dialect, else NULL. */
    const char *(*match) (const char *line, size_t len);
    /* The first directive can also come after the first command (RFC 36: in a
     * docstring). */
    bool anywhere;
    const struct dialect_options *options;
    /* Apply the directives from the line first on, warn of directives that are
     * ignored. */
    int (*read) (const struct script *s, struct script_line first, struct error *err);
};

extern const struct dialect *const dialects[]; /* generated, NULL-terminated */
/* fluxq's own dialect; its directives can stand beside those of another dialect. */
extern const struct dialect dialect_fluxq;

/* Step to the next line; to the first if line->text is NULL. False at the end. */
bool script_next_line (const struct script *s, struct script_line *line);

/* Ids for a dialect's table: the dialect's own kind of option (0 to 0x7fff), and unique
 * low bits, as option_find() takes options with the same id for one option. */
#define DIALECT_ID(kind) ((kind) << 16 | __COUNTER__)
#define DIALECT_KIND(id) ((id) >> 16)

#define DIALECT_REFUSED 0x7fff /* in all dialects: an option without a counterpart */

/* The text of a directive is split into words, each option is looked up in the table and
 * passed to set(). where: "job.sh:3: --nodes" (a long option, unabbreviated) or
 * "job.sh:3: -N". */
struct dialect_options {
    enum words_rules rules;
    const struct option_desc *(*table) (void);
    int (*set) (struct submit_options *so, const struct option_desc *option,
                const char *value, const char *where, struct error *err);
    /* Whether fluxq-submit does not have the option: -EINVAL with the way out, else
     * 0. */
    int (*refuse) (const struct option_desc *option, const char *where,
                   struct error *err);
    /* The length of the word that begins the text of a directive and says that the next
     * component of a heterogeneous job begins ("hetjob"); 0: it does not. NULL: no
     * directive of the dialect says so. */
    size_t (*next_component) (const char *text, size_t len);
};

/* Whether the line begins the next component of a heterogeneous job. */
bool dialect_begins_component (const struct script_line *line);
/* "hetjob" and "packjob", as next_component(). */
size_t dialect_hetjob (const char *text, size_t len);

/* Apply the text of the directive that begins on line; words that are no options are
 * refused. Errors begin with file and line. */
int dialect_apply (const struct script *s, const struct script_line *line,
                   const char *text, size_t len, const struct dialect_options *options,
                   struct error *err);

/* Apply the directives from the line first up to the script's first command, warn of the
 * directives after it. */
int dialect_read_header (const struct script *s, const struct dialect *d,
                         struct script_line first, const struct dialect_options *options,
                         struct error *err);
/* Warn of each directive of d from the line on: it is ignored, as it comes too late. */
void dialect_warn_late (const struct script *s, const struct dialect *d,
                        struct script_line line);

/* Refuse an option of another system: o->help says what to do instead, NULL: "remove it".
 * Returns -EINVAL. */
int dialect_unsupported (const char *system, const struct option_desc *o,
                         const char *where, struct error *err);
/* If a word ("--qos=x", "-A") is not in the caller's table `own` but is an option that a
 * dialect refuses: true, and err is that refusal; else err is unchanged. */
bool dialect_explain (const struct option_desc *own, const char *word, struct error *err);
/* Keep the refusal in `own` for later and clear `own`, so that reading can go on: 0. Or a
 * negative errno, with the error that ends the reading in err. */
int dialect_refuse (const struct script *s, struct error *own, struct error *err);
