/* bcast.c - fluxq-bcast: copies a file to all nodes of the job it runs in
 *
 * This is a step, as in run.c: the agent's program copies (shell/run/bcast.c); in a shell of
 * fluxq-alloc it uses a connection of its own.
 */
#include "cmd/client/command.h"
#include "cmd/interactive/stepclient.h"
#include "protocol/step_client.h"

/* The arguments of the agent's program: the options, "--", FILE and DEST. */
enum { WORDS_MAX = 6 };

struct bcast {
    char *argv[WORDS_MAX + 1];
    const char *operands[2];
    size_t noperands;
    bool force, preserve;
};

static int read_options (struct cmd *c, struct bcast *b)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            *(m.desc->id == BCAST_OPT_FORCE ? &b->force : &b->preserve) = true;
        else if (b->noperands == 2)
            return cmd_usage (c, "'%s': expected one FILE and one DEST", m.value);
        else
            b->operands[b->noperands++] = m.value;
    }
    if (!c->ended && b->noperands < 2)
        return cmd_usage (c, "FILE and DEST are required");
    return c->status;
}

static void fill_argv (struct bcast *b)
{
    size_t n = 0;

    b->argv[n++] = (char *)BCAST_CLIENT;
    if (b->force)
        b->argv[n++] = (char *)"--force";
    if (b->preserve)
        b->argv[n++] = (char *)"--preserve";
    b->argv[n++] = (char *)"--";
    for (size_t i = 0; i < b->noperands; i++)
        b->argv[n++] = (char *)b->operands[i];
}

static int run (struct cmd *c)
{
    struct bcast b = { 0 };
    int64_t outer;

    if (read_options (c, &b) != CMD_OK || c->ended)
        return c->status;
    fill_argv (&b);
    if (step_is_inside ())
        return step_run_inside (c, b.argv);
    if (step_outer_job (c, &outer) != CMD_OK)
        return c->status;
    if (outer == 0)
        return cmd_fail (c, "this is neither inside a job nor in a shell of fluxq-alloc");
    return step_run_in (c, outer, NULL, b.argv);
}

static const char *const usage[] = { "[OPTION]... FILE DEST", NULL };

const struct command command_bcast = {
    .name = "bcast",
    .summary = "Copy a file to all nodes of the job",
    .usage = usage,
    .options = bcast_options,
    .operands = COMPLETE_FILES,
    .notes = "Works inside a job and in a shell of fluxq-alloc. DEST is a path on the "
             "nodes; if it ends in /,\nthe name of FILE is added.\n",
    .run = run,
};
