/* sbatch.c - "#SBATCH --nodes=2": the options of Slurm's sbatch, as sbatch reads them; see
 * options/slurm_options.h
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "jobspec/options/slurm_options.h"
#include "jobspec/script/dialect.h"

/* sbatch also reads #SLURM. A plain comment can begin like that, so an option must follow
 * #SLURM. */
static const char *match (const char *line, size_t len)
{
    static const char sbatch[] = "#SBATCH", slurm[] = "#SLURM";
    const size_t n = sizeof (sbatch) - 1, m = sizeof (slurm) - 1;

    if (len >= n && !memcmp (line, sbatch, n)
        && (len == n || isspace ((unsigned char)line[n]) || line[n] == '-'))
        return line + n;
    if (len > m && !memcmp (line, slurm, m) && isspace ((unsigned char)line[m])) {
        for (size_t i = m; i < len; i++) {
            if (!isspace ((unsigned char)line[i]))
                return line[i] == '-' ? line + m : NULL;
        }
    }
    return NULL;
}

static const struct option_desc *table (void)
{
    return slurm_options_table (SLURM_SBATCH);
}

static int set (struct submit_options *so, const struct option_desc *option,
                const char *value, const char *where, struct error *err)
{
    return slurm_option_set (so, SUBMIT_FROM_SCRIPT, slurm_option_of (option), value,
                             where, err);
}

static int refuse (const struct option_desc *option, const char *where, struct error *err)
{
    return slurm_option_refuse (slurm_option_of (option), where, err);
}

static const struct dialect_options options = {
    .rules = WORDS_SBATCH,
    .table = table,
    .set = set,
    .refuse = refuse,
    .next_component = dialect_hetjob,
};

extern const struct dialect dialect_sbatch;

static int read_directives (const struct script *s, struct script_line first,
                            struct error *err)
{
    return dialect_read_header (s, &dialect_sbatch, first, &options, err);
}

const struct dialect dialect_sbatch = {
    .name = "sbatch",
    .example = "#SBATCH --nodes=2",
    .match = match,
    .options = &options,
    .read = read_directives,
};
