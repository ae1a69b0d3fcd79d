/* sbatch.c - "#SBATCH --nodes=2": the options of Slurm's sbatch (22.05), as sbatch reads
 * them
 *
 * The table has all options of sbatch that have no row in options/attributes.c. So a unique prefix means the same as in sbatch,
 * and an option that fluxq does not support is refused by its name instead of being
 * "unknown".
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "jobspec/options/attributes.h"
#include "jobspec/script/dialect.h"

enum kind { SAME, ONE_VALUE, REFUSED = DIALECT_REFUSED };

/* an option that fluxq does not support, and what to use instead */
#define NO(name, letter, arg, instead)                                                   \
    {                                                                                    \
        name, letter, arg, instead, DIALECT_ID (REFUSED), false, NULL                    \
    }
/* ... not supported either, and with a value only as --name=VALUE */
#define NO_OPT(name, letter, arg, instead)                                               \
    {                                                                                    \
        name, letter, arg, instead, DIALECT_ID (REFUSED), true, NULL                     \
    }

#define COMMAND_LINE "it belongs on the command line of fluxq-submit"
#define NO_ACCOUNTS "remove it (there are no accounts)"
#define CORES_ONLY "ask for cores with --cpus-per-task"

/* The others are rows of options/attributes.c. */
static const struct option_desc own[] = {
    /* under another name in fluxq; unlike other ids, 1 has two names */
    { "ntasks-per-node", 0, "N", "ntasks-per-node", 1, false, NULL },
    { "tasks-per-node", 0, "N", "ntasks-per-node", 1, false, NULL },
    { "kill-on-invalid-dep", 0, "yes|no", "kill-invalid-depend", 2, false, NULL },
    { "exclusive", 0, "user|mcs", NULL, DIALECT_ID (ONE_VALUE), true, NULL },

    NO ("account", 'A', "NAME", NO_ACCOUNTS),
    NO ("acctg-freq", 0, "LIST", NULL),
    NO ("batch", 0, "FEATURE", NULL),
    NO ("bb", 0, "SPEC", NULL),
    NO ("bbf", 0, "FILE", NULL),
    NO ("cluster-constraint", 0, "LIST", NULL),
    NO ("clusters", 'M', "NAMES", NULL),
    NO ("container", 0, "PATH", "name an image with fluxq-submit --image"),
    NO ("contiguous", 0, NULL, NULL),
    NO ("core-spec", 'S', "N", NULL),
    NO ("cores-per-socket", 0, "N", CORES_ONLY),
    NO ("cpu-freq", 0, "SPEC", NULL),
    NO ("cpus-per-gpu", 0, "N", CORES_ONLY),
    NO ("delay-boot", 0, "MINUTES", NULL),
    NO ("distribution", 'm', "SPEC", NULL),
    NO ("extra-node-info", 'B', "SPEC", CORES_ONLY),
    NO ("gid", 0, "GROUP", NULL),
    NO ("gpu-bind", 0, "SPEC", NULL),
    NO ("gpu-freq", 0, "SPEC", NULL),
    NO ("gpus-per-socket", 0, "N", "say the number of all GPUs with --gpus"),
    NO ("gres-flags", 0, "SPEC", NULL),
    NO ("help", 'h', NULL, COMMAND_LINE),
    NO ("hint", 0, "TYPE", NULL),
    NO ("ignore-pbs", 0, NULL, NULL),
    NO ("licenses", 'L', "LIST", NULL),
    NO ("mail-type", 0, "EVENTS", "remove it (fluxq sends no mail)"),
    NO ("mail-user", 0, "USER", "remove it (fluxq sends no mail)"),
    NO ("mcs-label", 0, "LABEL", NULL),
    NO ("mem-bind", 0, "SPEC", NULL),
    NO ("mem-per-cpu", 0, "SIZE", "say the memory of a node with --mem"),
    NO ("mem-per-gpu", 0, "SIZE", "say the memory of a node with --mem"),
    NO ("mincpus", 0, "N", CORES_ONLY),
    NO ("network", 0, "SPEC", NULL),
    NO_OPT ("no-kill", 'k', "off", "remove it (a job ends when a node of it is lost)"),
    NO ("nodefile", 'F', "FILE", NULL),
    NO ("ntasks-per-core", 0, "N", CORES_ONLY),
    NO ("ntasks-per-gpu", 0, "N", "say --gpus-per-task"),
    NO ("ntasks-per-socket", 0, "N", "say --ntasks-per-node"),
    NO ("overcommit", 'O', NULL, NULL),
    NO ("oversubscribe", 's', NULL, NULL),
    NO ("parsable", 0, NULL, "remove it (fluxq-submit prints the id alone)"),
    NO ("power", 0, "FLAGS", NULL),
    NO ("prefer", 0, "LIST", NULL),
    NO ("priority", 0, "N", NULL),
    NO ("profile", 0, "LIST", NULL),
    NO ("qos", 'q', "NAME", "remove it, or name a queue with --partition"),
    NO ("quiet", 'Q', NULL, NULL),
    NO ("reboot", 0, NULL, NULL),
    NO ("share", 0, NULL, NULL),
    NO ("sockets-per-node", 0, "N", CORES_ONLY),
    NO ("spread-job", 0, NULL, NULL),
    NO ("test-only", 0, NULL, "use fluxq-submit --test-only"),
    NO ("thread-spec", 0, "N", NULL),
    NO ("threads-per-core", 0, "N", CORES_ONLY),
    NO ("tmp", 0, "SIZE", NULL),
    NO ("uid", 0, "USER", NULL),
    NO ("usage", 0, NULL, "fluxq-submit --help prints it"),
    NO ("use-min-nodes", 0, NULL, NULL),
    NO ("verbose", 'v', NULL, NULL),
    NO ("version", 'V', NULL, COMMAND_LINE),
    NO ("wait", 'W', NULL, COMMAND_LINE),
    NO ("wait-all-nodes", 0, "0|1",
        "remove it (a job starts when all its nodes are ready)"),
    NO ("workdir", 0, "DIR", "say --chdir"),
    NO ("wrap", 0, "COMMAND", "write the command into the script"),
    OPTION_END,
};

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

static int set (struct submit_options *so, const struct option_desc *option,
                const char *value, const char *where, struct error *err)
{
    const char *name = option->id < SUBMIT_OPTION_FIRST ? option->help : option->name;

    switch (DIALECT_KIND (option->id)) {
    case SAME:
        break;
    case ONE_VALUE:
        if (value)
            return error_set (
                err, EINVAL,
                "%s=%.32s: fluxq does not support a value here; --exclusive alone "
                "shares the nodes with no other job",
                where, value);
        break;
    default:
        return dialect_unsupported ("sbatch", option, where, err);
    }
    return submit_options_set (so, SUBMIT_FROM_SCRIPT, name, value, where, err);
}

static const struct option_desc *table (void)
{
    static struct option_desc all[ATTRIBUTES_MAX + ARRAY_SIZE (own)];

    return all[0].name ? all : attribute_options (all, ARRAY_SIZE (all), true, own);
}

static const struct dialect_options options = {
    .rules = WORDS_SBATCH,
    .table = table,
    .set = set,
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
