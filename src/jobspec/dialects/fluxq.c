/* fluxq.c - "#FLUXQ --nodes=2": fluxq-submit's own options
 */
#include <ctype.h>
#include <string.h>

#include "jobspec/script/dialect.h"

static const char *match (const char *line, size_t len)
{
    static const char mark[] = "#FLUXQ";
    const size_t n = sizeof (mark) - 1;

    if (len < n || memcmp (line, mark, n))
        return NULL;
    if (len > n && !isspace ((unsigned char)line[n]) && line[n] != '-')
        return NULL;
    return line + n;
}

static int set (struct submit_options *so, const struct option_desc *option,
                const char *value, const char *where, struct error *err)
{
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, option->name, value, where, err);
}

static const struct dialect_options options = {
    .rules = WORDS_POSIX,
    .table = submit_options_table,
    .set = set,
    .next_component = dialect_hetjob,
};

static int read_directives (const struct script *s, struct script_line first,
                            struct error *err)
{
    return dialect_read_header (s, &dialect_fluxq, first, &options, err);
}

const struct dialect dialect_fluxq = {
    .name = "fluxq",
    .example = "#FLUXQ --nodes=2",
    .match = match,
    .options = &options,
    .read = read_directives,
};
