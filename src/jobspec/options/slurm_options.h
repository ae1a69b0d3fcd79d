/* slurm_options.h - the one table of the options of Slurm's sbatch, srun and salloc
 *
 * A row says what fluxq does with an option of Slurm 25.11 (and with the older ones that
 * scripts still have):
 *
 *     done       as in Slurm; the row names the option of attributes.h that has the value
 *     stored     the value is stored and shown with the job, and has no effect
 *     command    an option of the command itself (--parsable, --wait)
 *     refused    with the reason, or what to write instead
 *
 * The commands of src/cmd/slurm read their options and their variables of the environment
 * (SBATCH_ACCOUNT) from the table, the dialect reads the #SBATCH lines, and
 * doc/guide/slurm.md has a table that is made from it (fluxq-show slurm-options).
 *
 *     const struct option_desc *d = slurm_options_table (SLURM_SBATCH);
 *     rc = slurm_option_set (&so, SUBMIT_FROM_COMMAND, slurm_option_of (d), value,
 *                            "--mem", &err);
 */
#pragma once

#include "common/option.h"
#include "jobspec/options/submit_options.h"

/* Bits: the commands that have an option. */
enum slurm_command { SLURM_SBATCH = 1, SLURM_SRUN = 2, SLURM_SALLOC = 4, SLURM_ALL = 7 };

enum slurm_treatment {
    SLURM_DONE,
    SLURM_STORED,
    SLURM_COMMAND,
    SLURM_REFUSED,
};

struct slurm_option {
    const char *name; /* long name; NULL ends the table */
    char letter;      /* or 0 */
    bool arg_optional;
    const char *arg;   /* NULL: a flag; of rows with `sets`: that of the attribute */
    unsigned commands; /* enum slurm_command */
    enum slurm_treatment treatment;
    const char *sets; /* name of the row of attributes.h that has the value */
    /* The variable of the job that tells the value to its steps; check says whether the
     * value is valid, its error begins with where. Or NULL. */
    const char *steps;
    int (*check) (const char *value, const char *where, struct error *err);
    /* SBATCH_, SALLOC_ and this name set the value, too; or NULL */
    const char *variable;
    /* Refused: what to do instead, NULL: remove it. Command: the help. Done without
     * `sets`: what holds for every job; with it: what differs, or NULL. */
    const char *text;
    /* command: offset of the flag (bool), or of the value (struct command_text) if there is
     * one, in struct submit_options; or 0 */
    size_t at;
    const char *elsewhere; /* command: what to write for fluxq-submit */
};

extern const struct slurm_option slurm_option_table[];

/* The options of one command; static. */
const struct option_desc *slurm_options_table (enum slurm_command command);
/* The row of an option of slurm_options_table(); NULL: it is another one. */
const struct slurm_option *slurm_option_of (const struct option_desc *d);
/* Whether fluxq-submit does not have the option: -EINVAL with the way out, else 0. */
int slurm_option_refuse (const struct slurm_option *o, const char *where,
                         struct error *err);
/* As submit_options_set(), with sbatch's meaning; -EINVAL also: the option is refused. */
int slurm_option_set (struct submit_options *so, enum submit_source source,
                      const struct slurm_option *o, const char *value, const char *where,
                      struct error *err);
/* Reads SBATCH_ACCOUNT, ... (SALLOC_ACCOUNT) from a list like environ. A variable of an
 * option that is refused is an error, as the option is. */
int slurm_options_from_environ (struct submit_options *so, enum slurm_command command,
                                char *const environ_list[], struct error *err);
