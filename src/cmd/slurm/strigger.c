/* strigger.c - strigger: refused, with what to use instead
 *
 * A trigger of Slurm is a program that the controller runs when a job or a node changes.
 * The broker runs no programs of users; events can be watched, and jobs can follow jobs.
 */
#include "cmd/client/command.h"

enum { ANY = 1 };

/* clang-format off */
static const struct option_desc options[] = {
    { "backup_slurmctld_assumed_control", 'B', NULL, NULL, ANY, false, NULL },
    { "backup_slurmctld_failure", 'b', NULL, NULL, ANY, false, NULL },
    { "backup_slurmctld_resumed_operation", 'c', NULL, NULL, ANY, false, NULL },
    { "burst_buffer", 0, NULL, NULL, ANY, false, NULL },
    { "clear", 0, NULL, NULL, ANY, false, NULL },
    { "cluster", 'M', "NAME", NULL, ANY, false, NULL },
    { "clusters", 0, "NAME", NULL, ANY, false, NULL },
    { "down", 'd', NULL, NULL, ANY, false, NULL },
    { "drained", 'D', NULL, NULL, ANY, false, NULL },
    { "draining", 0, NULL, NULL, ANY, false, NULL },
    { "fail", 'F', NULL, NULL, ANY, false, NULL },
    { "fini", 'f', NULL, NULL, ANY, false, NULL },
    { "flags", 0, "FLAGS", NULL, ANY, false, NULL },
    { "get", 0, NULL, NULL, ANY, false, NULL },
    { "id", 'i', "ID", NULL, ANY, false, NULL },
    { "idle", 'I', NULL, NULL, ANY, false, NULL },
    { "jobid", 'j', "ID", NULL, ANY, false, NULL },
    { "node", 'n', "HOSTS", NULL, ANY, true, NULL },
    { "noheader", 'N', NULL, NULL, ANY, false, NULL },
    { "offset", 'o', "SECONDS", NULL, ANY, false, NULL },
    { "primary_database_failure", 'k', NULL, NULL, ANY, false, NULL },
    { "primary_database_resumed_operation", 'K', NULL, NULL, ANY, false, NULL },
    { "primary_slurmctld_acct_buffer_full", 'e', NULL, NULL, ANY, false, NULL },
    { "primary_slurmctld_failure", 'a', NULL, NULL, ANY, false, NULL },
    { "primary_slurmctld_resumed_control", 'C', NULL, NULL, ANY, false, NULL },
    { "primary_slurmctld_resumed_operation", 'A', NULL, NULL, ANY, false, NULL },
    { "primary_slurmdbd_failure", 'g', NULL, NULL, ANY, false, NULL },
    { "primary_slurmdbd_resumed_operation", 'G', NULL, NULL, ANY, false, NULL },
    { "program", 'p', "PATH", NULL, ANY, false, NULL },
    { "quiet", 'Q', NULL, NULL, ANY, false, NULL },
    { "reconfig", 'r', NULL, NULL, ANY, false, NULL },
    { "resume", 'R', NULL, NULL, ANY, false, NULL },
    { "set", 0, NULL, NULL, ANY, false, NULL },
    { "time", 't', NULL, NULL, ANY, false, NULL },
    { "up", 'u', NULL, NULL, ANY, false, NULL },
    { "user", 0, "USER", NULL, ANY, false, NULL },
    { "verbose", 'v', NULL, NULL, ANY, false, NULL },
    OPTION_END,
};
/* clang-format on */

static int run (struct cmd *c)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0)
        continue;
    if (c->ended)
        return c->status;
    return cmd_fail (c, "fluxq has no triggers: let a job follow another's end with "
                        "--dependency=afterany:ID, warn it of its time limit with "
                        "--signal, and watch jobs with GET /v1/watch");
}

static const char *const usage[] = { "", NULL };

const struct command slurm_strigger = {
    .name = "strigger",
    .summary = "Refused: there are no triggers",
    .usage = usage,
    .options = options,
    .run = run,
    .slurm = true,
};
