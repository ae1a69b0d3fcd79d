/* submission.h - a job as fluxq-submit and sbatch submit it
 *
 *     struct submission s;
 *     submission_init (&s);
 *     ... the options go into s.so, the script's or the command's words into s.operands ...
 *     if (submission_build (c, &s, &jobspec) == CMD_OK
 *         && submission_send (c, &s, jobspec, &id) == CMD_OK)
 *         ...
 *     json_decref (jobspec);
 *     submission_release (&s);
 *
 * All functions that return int return the exit status, after a message if it is not
 * CMD_OK.
 */
#pragma once

#include "cmd/client/command.h"
#include "jobspec/options/submit_options.h"

struct submission {
    struct submit_options so;
    bool allow_infeasible;
    int64_t urgency;      /* -1: not given */
    char **operands;      /* NULL-terminated; the script first, or the command; or NULL */
    bool is_command;      /* the operands are a command, not a script and its arguments */
    const char *name;     /* name of the script, for messages */
    struct strbuf script; /* text of the script; if empty, it is read from operands[0] or
                             standard input ("-", or no operands) */
};

void submission_init (struct submission *s);
void submission_release (struct submission *s);
/* Reads the script and its directives, and makes the jobspec, which the caller owns.
 * Prints all refused directives, and warnings. */
int submission_build (struct cmd *c, struct submission *s, json_t **ret);
/* From now on, tells the user what becomes of each option that is set: on stderr, or on
 * stdout for fluxq-submit --explain. */
void submission_explain (struct cmd *c, struct submission *s);
/* Warns of variables of the environment that look like those of options and are not used
 * (variables.h). slurm: SLURM_SBATCH, SLURM_SALLOC; 0: those of fluxq. */
void submission_check_variables (struct cmd *c, unsigned slurm);
/* Submits the job. */
int submission_send (struct cmd *c, const struct submission *s, const json_t *jobspec,
                     uint64_t *ret_id);
/* Asks when and where the job would start; *ret: the answer, a new reference. */
int submission_test (struct cmd *c, const struct submission *s, const json_t *jobspec,
                     json_t **ret);
/* Waits until the job has ended. Returns the job's exit status. Prints the result as JSON
 * to stdout, or else, if the job did not complete, a line to stderr. */
int submission_wait (struct cmd *c, uint64_t id, bool json);
