/* submit.c - fluxq-submit: submits a script or a command as a job
 *
 * options, environment, directives --> jobspec --> POST (submit/submission.c) --> id -->
 * [--wait: result]
 */
#include "cmd/print/print.h"
#include "cmd/submit/submission.h"
#include "common/parse.h"

extern char **environ;

enum { WAIT = 1, DRY_RUN, EXPLAIN, TEST_ONLY, JSON, URGENCY, ALLOW_INFEASIBLE };

static const struct option_desc options[] = {
    { "wait", 'W', NULL, "wait until the job has ended, and exit with its status", WAIT,
      false, "This command" },
    { "dry-run", 0, NULL, "show the jobspec and submit nothing", DRY_RUN, false,
      "This command" },
    { "explain", 0, NULL,
      "show what becomes of each directive of the script, and submit nothing", EXPLAIN,
      false, "This command" },
    { "test-only", 0, NULL, "show when and where the job would start, and submit nothing",
      TEST_ONLY, false, "This command" },
    { "json", 0, NULL,
      "print {\"id\":N}; with --wait, also a second line with the result", JSON, false,
      "This command" },
    { "urgency", 0, "N", "urgency: 0 (held) to 16; for operators up to 31 [16]", URGENCY,
      false, "Queue and priority" },
    { "allow-infeasible", 0, NULL, "accept the job even if no node here can ever run it",
      ALLOW_INFEASIBLE, false, "This command" },
    OPTION_END,
};

struct submit {
    struct submission job;
    bool wait, dry_run, explain, test_only, json;
};

static int set_option (struct cmd *c, struct submit *s, const struct option_match *m)
{
    struct error err = { 0 };
    char where[64];

    cmd_option_as_written (c, m, where, sizeof (where));
    switch (m->desc->id) {
    case WAIT:
        s->wait = true;
        return CMD_OK;
    case DRY_RUN:
        s->dry_run = true;
        return CMD_OK;
    case EXPLAIN:
        s->explain = true;
        return CMD_OK;
    case TEST_ONLY:
        s->test_only = true;
        return CMD_OK;
    case JSON:
        s->json = true;
        return CMD_OK;
    case ALLOW_INFEASIBLE:
        s->job.allow_infeasible = true;
        return CMD_OK;
    case URGENCY:
        if (parse_int (m->value, 0, 31, &s->job.urgency, where, &err) < 0)
            return cmd_usage (c, "%s", err.text);
        return CMD_OK;
    default:
        if (submit_options_set (&s->job.so, SUBMIT_FROM_COMMAND, m->desc->name, m->value,
                                where, &err)
            < 0)
            return cmd_usage (c, "%s", err.text);
        return CMD_OK;
    }
}

/* Reads the command line and the environment. */
static int read_options (struct cmd *c, struct submit *s)
{
    struct option_match m;
    struct error err = { 0 };

    while (!s->job.operands && cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else
            s->job.operands = c->parser.argv + m.index;
    }
    if (c->ended)
        return c->status;
    s->job.is_command = c->parser.dashes && s->job.operands;
    if (c->parser.dashes && !s->job.operands)
        return cmd_usage (c, "there is no command after --");
    if ((s->dry_run || s->test_only || s->explain) && s->wait)
        return cmd_usage (c, "--%s submits nothing: there is no job to --wait for",
                          s->dry_run   ? "dry-run"
                          : s->explain ? "explain"
                                       : "test-only");
    if (s->dry_run + s->test_only + s->explain > 1)
        return cmd_usage (c, "--dry-run, --explain, --test-only: give one of them");
    if (s->explain)
        submission_explain (c, &s->job);
    if (submit_options_hold (&s->job.so) && s->job.urgency > 0)
        return cmd_usage (c, "%s means urgency 0, and --urgency gives another one",
                          s->job.so.hold ? "--hold" : "--priority=0");
    submission_check_variables (c, 0);
    if (submit_options_from_environ (&s->job.so, environ, &err) < 0)
        return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}

static int print_jobspec (struct cmd *c, const json_t *jobspec)
{
    if (json_dumpf (jobspec, stdout, JSON_INDENT (2)) < 0)
        return cmd_fail (c, "cannot write the jobspec");
    putchar ('\n');
    return CMD_OK;
}

static int submit (struct cmd *c, struct submit *s, const json_t *jobspec)
{
    uint64_t id;

    if (s->wait) /* so that ctrl-C can report that the job goes on */
        cmd_catch_interrupts ();
    if (submission_send (c, &s->job, jobspec, &id) != CMD_OK)
        return c->status;
    printf (s->json ? "{\"id\":%ju}\n" : "%ju\n", (uintmax_t)id);
    if (!s->wait)
        return CMD_OK;
    fflush (stdout);
    return submission_wait (c, id, s->json);
}

/* ": 2 nodes, 2 tasks, 4 cores" */
static void add_size (struct strbuf *sb, const json_t *o)
{
    static const struct {
        const char *key, *unit;
    } sizes[] = { { "nnodes", "node" }, { "ntasks", "task" }, { "ncores", "core" } };

    for (size_t i = 0; i < ARRAY_SIZE (sizes); i++) {
        double n = answer_number (o, sizes[i].key);
        strbuf_addf (sb, "%s %.10g %s%s", i ? "," : ":", n, sizes[i].unit,
                     n == 1 ? "" : "s");
    }
}

/* "would start now on node[0-1]: 2 nodes, 2 tasks, 4 cores; 1 job waits" */
static void print_test (const json_t *o)
{
    double pending = answer_number (o, "pending"), start = answer_number (o, "start");
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    if (json_is_true (json_object_get (o, "now")))
        strbuf_adds (&sb, "would start now");
    else if (start > 0)
        strbuf_adds (&sb, "would start not before ");
    else
        strbuf_addf (&sb, "the start cannot be estimated: %s", json_text (o, "reason"));
    if (start > 0 && !json_is_true (json_object_get (o, "now")))
        strbuf_add_time (&sb, start);
    if (start > 0) {
        strbuf_addf (&sb, " on %s", json_text (o, "nodelist"));
        add_size (&sb, o);
    }
    if (pending > 0)
        strbuf_addf (&sb, "; %.0f job%s", pending, pending == 1 ? " waits" : "s wait");
    print_text (sb.buf);
}

static int test (struct cmd *c, const struct submit *s, const json_t *jobspec)
{
    autojson json_t *o = NULL;

    if (submission_test (c, &s->job, jobspec, &o) != CMD_OK)
        return c->status;
    if (s->json)
        json_dumpf (o, stdout, JSON_COMPACT);
    else
        print_test (o);
    if (s->json)
        putchar ('\n');
    return CMD_OK;
}

static int run (struct cmd *c)
{
    struct submit s = { 0 };
    autojson json_t *jobspec = NULL;

    submission_init (&s.job);
    int status = read_options (c, &s);
    if (!c->ended)
        status = submission_build (c, &s.job, &jobspec);
    s.wait |= s.job.so.command.wait && !s.dry_run && !s.test_only;
    s.test_only |= s.job.so.command.test_only && !s.dry_run;
    if (!c->ended && status == CMD_OK && !s.explain)
        status = s.dry_run     ? print_jobspec (c, jobspec)
                 : s.test_only ? test (c, &s, jobspec)
                               : submit (c, &s, jobspec);
    submission_release (&s.job);
    return status;
}

static const char *const usage[] = {
    "[OPTION]... SCRIPT [ARGUMENT]...",
    "[OPTION]... -- COMMAND [ARGUMENT]...",
    "[OPTION]... <SCRIPT",
    NULL,
};

const struct command command_submit = {
    .name = "submit",
    .summary = "Submit a batch script, or a command to run once for each task",
    .usage = usage,
    .options = options,
    .more_options = submit_options_table,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_FILES,
    .notes = "Prints the job's id. Options may also be set in the script (#SBATCH, # "
             "flux:, #FLUXQ) and\nin the environment (FLUXQ_NODES=2). The command line "
             "overrides the environment, and the\nenvironment overrides the script.\n",
    .run = run,
};
