/* attach.c - fluxq-attach: joins a running job: its output, or a terminal on a node
 */

#include "cmd/interactive/allocation.h"
#include "cmd/client/command.h"
#include "cmd/interactive/follow.h"
#include "cmd/print/print.h"
#include "cmd/client/send.h"
#include "cmd/interactive/stepclient.h"
#include "common/hostlist.h"
#include "common/parse.h"
#include "protocol/step_client.h"

#include "common/json.h"

enum { PTY = 1, RANK, NODE };

static const struct option_desc options[] = {
    { "pty", 0, NULL, "open a terminal on a node of the job", PTY, false, NULL },
    { "rank", 0, "N", "only this rank (node of the job, from 0) [all; with --pty: 0]",
      RANK, false, NULL },
    { "nodelist", 'w', "NODE", "only this node, by name", NODE, false, NULL },
    OPTION_END,
};

/* The user's shell if the node has it, else bash or sh. */
static const char shell_script[] =
    "for shell in \"$SHELL\" bash; do command -v \"$shell\" >/dev/null 2>&1 && exec "
    "\"$shell\"; done; exec sh";

struct attach {
    const char *id;   /* as written */
    const char *node; /* NULL: not given */
    int64_t rank;     /* -1: not given */
    bool pty;
    char **command; /* NULL: a shell */
};

static int take_option (struct cmd *c, struct attach *a, const struct option_match *m)
{
    struct error err = { 0 };

    switch (m->desc->id) {
    case PTY:
        a->pty = true;
        return CMD_OK;
    case RANK:
        if (parse_int (m->value, 0, INT32_MAX, &a->rank, "--rank", &err) < 0)
            return cmd_usage (c, "%s", err.text);
        return CMD_OK;
    default:
        a->node = m->value;
        return CMD_OK;
    }
}

/* Options may precede and follow the id; the words after them are the command. */
static int read_options (struct cmd *c, struct attach *a)
{
    struct option_parser *p = &c->parser;
    struct option_match m;

    while (!a->command && cmd_next (c, &m) > 0) {
        if (m.desc) {
            take_option (c, a, &m);
        } else if (a->id) {
            a->command = p->argv + m.index;
        } else if (cmd_check_id (c, m.value) == CMD_OK) {
            a->id = m.value;
            option_parser_init (p, c->program, c->options, OPTION_STOP_AT_OPERAND,
                                p->argc - m.index, p->argv + m.index);
        }
    }
    if (c->ended)
        return c->status;
    if (!a->id)
        return cmd_usage (c, "which job?");
    if (a->node && a->rank >= 0)
        return cmd_usage (c, "--rank and --nodelist both select a node: give one of "
                             "them");
    if (a->command && !a->pty)
        return cmd_usage (c, "'%s': a command needs --pty", a->command[0]);
    return CMD_OK;
}

/* -- its output -- */

static int detached (struct cmd *c, const struct attach *a)
{
    cmd_warn (c, "detached: job %s goes on; fluxq-cancel %s ends it", a->id, a->id);
    return c->status = CMD_INTERRUPTED;
}

/* Reports how the job ended, and returns its exit status. */
static int report (struct cmd *c, const struct attach *a, const json_t *job)
{
    struct error err = { 0 };
    autostrbuf struct strbuf result = STRBUF_INIT (64 * 1024);

    if (send_wait (c, (uint64_t)answer_number (job, "id"), &result) != CMD_OK)
        return c->status;
    autojson json_t *o = json_parse (result.buf, result.len, "the broker's answer", &err);
    if (!o)
        return cmd_fail (c, "%s", err.text);
    const char *state = json_text (o, "state"), *text = json_text (o, "text");
    if (strcmp (state, "COMPLETED") != 0)
        cmd_warn (c, "job %s: %s%s%s", a->id, state, *text ? ": " : "", text);
    return (int)answer_number (o, "exit_code");
}

static int show_output (struct cmd *c, const struct attach *a, const json_t *job)
{
    char target[160], rank[40] = "";
    struct follow f = { .target = target };

    if (a->rank >= 0)
        snprintf (rank, sizeof (rank), "&rank=%jd", (intmax_t)a->rank);
    snprintf (target, sizeof (target), "/v1/jobs/%s/output?follow=1%s", a->id, rank);
    cmd_catch_interrupts ();
    int status = follow_output (c, &f);
    if (cmd_interrupted ())
        return detached (c, a);
    return status == CMD_OK ? report (c, a, job) : status;
}

/* -- a terminal -- */

/* Finds the rank of the named node, or the name of the rank; the caller frees
 * *ret_name. */
static int find_node (struct cmd *c, struct attach *a, const json_t *job, char **ret_name)
{
    const char *list = json_text (job, "nodelist");
    struct hostlist *hosts = *list ? hostlist_decode (list, HOSTLIST_MAX, NULL) : NULL;
    size_t n = hosts ? hostlist_count (hosts) : 0;

    for (size_t i = 0; a->node && a->rank < 0 && i < n; i++)
        if (!strcmp (hostlist_nth (hosts, i), a->node))
            a->rank = (int64_t)i;
    if (a->node && a->rank < 0)
        cmd_fail (c, "%s is not a node of job %s%s%s", a->node, a->id,
                  *list ? ", which has " : "", list);
    else if (n > 0 && a->rank >= (int64_t)n)
        cmd_fail (c, "--rank %jd: job %s has %zu node%s, from 0", (intmax_t)a->rank,
                  a->id, n, n == 1 ? "" : "s");
    else if (n > 0)
        a->node = *ret_name = strdup (hostlist_nth (hosts, (size_t)MAX (a->rank, 0)));
    hostlist_destroy (hosts);
    return c->status;
}

static int open_terminal (struct cmd *c, const struct attach *a, json_t *job)
{
    static char *const shell[] = { "sh", "-c", (char *)shell_script, NULL };
    char *const *command = a->command ? a->command : shell;
    autofree char *chdir = NULL, *node = NULL;
    struct step_call call = { .c = c, .fd = -1, .job = job };
    struct error err = { 0 };
    size_t n = 0, count = 0;

    if (strcmp (json_text (job, "state"), "RUNNING") != 0 || !a->node)
        return cmd_fail (c, "job %s is %s: only running jobs can have a terminal", a->id,
                         json_text (job, "state"));
    step_session (&call);
    if (job_reach (c, (uint64_t)answer_number (job, "id"), call.session, &call.fd, &err)
        < 0)
        return cmd_fail (c, "%s", err.text);
    while (command[count])
        count++;
    autofree char **argv = calloc (count + 9, sizeof (*argv));
    if (!argv
        || asprintf (&chdir, "--chdir=%s",
                     *json_text (job, "cwd") ? json_text (job, "cwd") : "/")
               < 0
        || asprintf (&node, "--nodelist=%s", a->node) < 0)
        return cmd_fail (c, "out of memory");
    argv[n++] = STEP_CLIENT;
    argv[n++] = "--overlap";
    argv[n++] = "--pty";
    argv[n++] = "--nodes=1";
    argv[n++] = "--ntasks=1";
    argv[n++] = node;
    argv[n++] = chdir;
    argv[n++] = "--";
    for (size_t i = 0; i < count; i++)
        argv[n++] = command[i];
    call.argv = argv;
    return step_client_run (&call);
}

static int run (struct cmd *c)
{
    struct attach a = { .rank = -1 };
    char target[64], *name = NULL;
    json_t *job = NULL;

    if (read_options (c, &a) != CMD_OK || c->ended)
        return c->status;
    snprintf (target, sizeof (target), "/v1/jobs/%s", a.id);
    if (cmd_get (c, target, &job) != CMD_OK)
        return c->status;
    int status = find_node (c, &a, job, &name);
    if (status == CMD_OK)
        status = a.pty ? open_terminal (c, &a, job) : show_output (c, &a, job);
    json_decref (job);
    free (name);
    return status;
}

static const char *const usage[] = { "[OPTION]... ID",
                                     "--pty [OPTION]... ID [COMMAND [ARGUMENT]...]",
                                     NULL };

const struct command command_attach = {
    .name = "attach",
    .summary = "Attach to a running job: show its output, or open a terminal on one of "
               "its nodes",
    .usage = usage,
    .options = options,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_JOBS,
    .notes = "Shows the output of the job from its beginning to its end, and exits with "
             "the job's status.\nCtrl-C detaches; the job goes on.\n",
    .run = run,
};
