/* submit.c - fluxq-submit: submits a script or a command as a job
 *
 * options, environment, directives --> jobspec --> POST (send.c) --> id --> [--wait:
 * result]
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include "cmd/client/command.h"
#include "cmd/print/print.h"
#include "cmd/client/send.h"
#include "common/clock.h"
#include "common/io.h"
#include "common/parse.h"
#include "jobspec/jobspec.h"
#include "jobspec/options/submit_options.h"
#include "jobspec/script/script.h"
#include "protocol/pattern.h"

#include "common/json.h"

extern char **environ;

enum { WAIT = 1, DRY_RUN, TEST_ONLY, JSON, URGENCY, ALLOW_INFEASIBLE };

static const struct option_desc options[] = {
    { "wait", 'W', NULL, "wait until the job has ended, and exit with its status", WAIT,
      false, "This command" },
    { "dry-run", 0, NULL, "show the jobspec and submit nothing", DRY_RUN, false,
      "This command" },
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
    struct submit_options so;
    bool wait, dry_run, test_only, json, allow_infeasible;
    int64_t urgency; /* -1: not given */
    char **operands; /* NULL-terminated; the script first, or the command */
    bool is_command;
    const char *name;     /* name of the script, for messages */
    struct strbuf script; /* text of the script */
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
    case TEST_ONLY:
        s->test_only = true;
        return CMD_OK;
    case JSON:
        s->json = true;
        return CMD_OK;
    case ALLOW_INFEASIBLE:
        s->allow_infeasible = true;
        return CMD_OK;
    case URGENCY:
        if (parse_int (m->value, 0, 31, &s->urgency, where, &err) < 0)
            return cmd_usage (c, "%s", err.text);
        return CMD_OK;
    default:
        if (submit_options_set (&s->so, SUBMIT_FROM_COMMAND, m->desc->name, m->value,
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

    while (!s->operands && cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else
            s->operands = c->parser.argv + m.index;
    }
    if (c->ended)
        return c->status;
    s->is_command = c->parser.dashes && s->operands;
    if (c->parser.dashes && !s->operands)
        return cmd_usage (c, "there is no command after --");
    if ((s->dry_run || s->test_only) && s->wait)
        return cmd_usage (c, "--%s submits nothing: there is no job to --wait for",
                          s->dry_run ? "dry-run" : "test-only");
    if (s->dry_run && s->test_only)
        return cmd_usage (c,
                          "--dry-run asks no broker, --test-only does: give one of them");
    if (s->so.hold && s->urgency > 0)
        return cmd_usage (c, "--hold means urgency 0, and --urgency gives another one");
    if (submit_options_from_environ (&s->so, environ, &err) < 0)
        return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}

static int read_script (struct cmd *c, struct submit *s)
{
    const char *path = s->operands ? s->operands[0] : "-";
    struct error err = { 0 };
    int rc;

    s->name = path;
    if (strcmp (path, "-") != 0) {
        rc = io_read_file (path, &s->script, JOBSPEC_SCRIPT_MAX, &err);
    } else {
        bool terminal = isatty (STDIN_FILENO);
        if (c->in_console && !terminal)
            return cmd_usage (c, "standard input is the console's: name a script");
        if (terminal)
            fputs ("The script, please; ctrl-D ends it.\n", stderr);
        s->name = "stdin";
        rc = io_read_fd (STDIN_FILENO, &s->script, JOBSPEC_SCRIPT_MAX);
        error_errno (&err, -rc, "standard input");
    }
    if (rc == -EFBIG)
        return cmd_fail (
            c,
            "%s: the script is larger than %d bytes (4 MiB), the most that is "
            "accepted",
            s->name, JOBSPEC_SCRIPT_MAX);
    return rc < 0 ? cmd_fail (c, "%s", err.text) : CMD_OK;
}

static void warn (const char *text, void *arg)
{
    cmd_warn (arg, "warning: %s", text);
}

static void refuse (const char *text, void *arg)
{
    cmd_warn (arg, "%s", text);
}

/* $PWD if it names the working directory (keeps symbolic links), else the kernel's path.
 * The caller frees it. */
static char *working_directory (void)
{
    const char *pwd = getenv ("PWD");
    struct stat here, there;

    if (pwd && pwd[0] == '/' && stat (pwd, &there) == 0 && stat (".", &here) == 0
        && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return strdup (pwd);
    return getcwd (NULL, 0);
}

/* Warns if a directory for output is missing, as far as it is known: the part after a
 * pattern is not. Returns whether it warned. */
static bool note_missing (struct cmd *c, const char *cwd, const char *name)
{
    size_t fixed = strcspn (name, "%\\");
    autostrbuf struct strbuf dir = STRBUF_INIT (16384);
    struct stat st;

    while (fixed > 0 && name[fixed - 1] != '/')
        fixed--;
    strbuf_addf (&dir, "%s%s%.*s", name[0] == '/' ? "" : cwd, name[0] == '/' ? "" : "/",
                 (int)fixed, name);
    while (dir.len > 1 && dir.buf[dir.len - 1] == '/')
        dir.buf[--dir.len] = '\0';
    if (stat (dir.buf, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return false;
    cmd_warn (c,
              "warning: the directory %s does not exist here: a job that writes there "
              "fails",
              dir.buf);
    return true;
}

static void note_missing_directories (struct cmd *c, const struct submit_options *so,
                                      const json_t *jobspec)
{
    const json_t *system =
        json_object_get (json_object_get (jobspec, "attributes"), "system");
    const char *cwd = json_text (system, "cwd");

    if (note_missing (c, cwd, so->output ? so->output : "")
        || (so->error && note_missing (c, cwd, so->error)))
        return;
    for (size_t i = 0; i < so->stage_out.n; i++)
        if (note_missing (c, cwd, so->stage_out.v[i].to))
            return;
}

/* Warns as Slurm does; the broker takes the time as now. */
static void note_past_begin (struct cmd *c, double begin)
{
    autostrbuf struct strbuf time = STRBUF_INIT (64);

    strbuf_add_time (&time, begin);
    cmd_warn (c, "note: the begin time %s is in the past: the job may start at once",
              time.buf);
}

static int build_jobspec (struct cmd *c, struct submit *s, json_t **ret)
{
    struct submit_program program = { .args = s->operands };
    struct error err = { 0 };
    autofree char *cwd = working_directory ();

    if (!cwd)
        return cmd_fail (c, "cannot tell the working directory: %s", strerror (errno));
    if (!s->is_command) {
        if (read_script (c, s) != CMD_OK)
            return c->status;
        if (script_read_all (s->script.buf, s->script.len, s->name, &s->so, warn, refuse,
                             c, &err)
            < 0)
            return cmd_fail (c, "%s", err.text);
        program.script = s->script.buf;
        program.script_len = s->script.len;
        program.args = s->operands ? s->operands + 1 : NULL;
    }
    s->so.process.umask = (int)umask (0); /* the only way to read the umask */
    umask ((mode_t)s->so.process.umask);
    s->so.process.nice = getpriority (PRIO_PROCESS, 0);
    if (s->so.js.begin > 0 && s->so.js.begin < clock_wall () - 1)
        note_past_begin (c, s->so.js.begin);
    if (s->so.array && s->so.output && !pattern_is_per_job (s->so.output)
        && strncmp (s->so.output, "/dev/", 5) != 0)
        cmd_warn (c,
                  "warning: all tasks of the array write to the same file %s; use %%a, "
                  "the number of the task, in its name",
                  s->so.output);
    *ret = submit_options_jobspec (&s->so, &program, cwd, environ, &err);
    if (!*ret)
        return cmd_fail (c, "%s", err.text);
    note_missing_directories (c, &s->so, *ret);
    return CMD_OK;
}

static int print_jobspec (struct cmd *c, const json_t *jobspec)
{
    if (json_dumpf (jobspec, stdout, JSON_INDENT (2)) < 0)
        return cmd_fail (c, "cannot write the jobspec");
    putchar ('\n');
    return CMD_OK;
}

static void build_target (const struct submit *s, struct strbuf *target)
{
    char number[24];

    strbuf_adds (target, "/v1/jobs");
    if (s->allow_infeasible)
        target_add (target, "allow-infeasible", "1");
    snprintf (number, sizeof (number), "%jd", s->so.hold ? 0 : (intmax_t)s->urgency);
    if (s->so.hold || s->urgency >= 0)
        target_add (target, "urgency", number);
}

/* Returns the job's exit status; prints to stderr how it ended, unless it ended well. */
static int report_result (struct cmd *c, const struct submit *s, uint64_t id,
                          const char *body, size_t len)
{
    struct error err = { 0 };
    autojson json_t *o = json_parse (body, len, "the broker's answer", &err);
    const char *state = "", *text = "";
    int64_t exit_code = CMD_FAILED;

    if (!o
        || json_get_int (o, "exit_code", 0, 255, &exit_code, JSON_REQUIRED, NULL, &err)
               < 0
        || json_get_string (o, "state", &state, JSON_REQUIRED, NULL, &err) < 0
        || json_get_string (o, "text", &text, JSON_OPTIONAL_KEY, NULL, &err) < 0)
        return cmd_fail (c, "job %ju: %s", (uintmax_t)id, err.text);
    if (s->json) {
        fwrite (body, 1, len, stdout);
        if (len == 0 || body[len - 1] != '\n')
            putchar ('\n');
    } else if (strcmp (state, "COMPLETED") != 0) {
        cmd_warn (c, "job %ju: %s%s%s", (uintmax_t)id, state, *text ? ": " : "", text);
    }
    return (int)exit_code;
}

static int submit (struct cmd *c, struct submit *s, const json_t *jobspec)
{
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    autostrbuf struct strbuf result = STRBUF_INIT (64 * 1024);
    autofree char *body = json_dumps (jobspec, JSON_COMPACT);
    uint64_t id;

    build_target (s, &target);
    if (!body)
        return cmd_fail (c, "out of memory");
    if (s->wait) /* so that ctrl-C can report that the job goes on */
        cmd_catch_interrupts ();
    if (send_job (c, target.buf, body, strlen (body), &s->so, &id) != CMD_OK)
        return c->status;
    printf (s->json ? "{\"id\":%ju}\n" : "%ju\n", (uintmax_t)id);
    if (!s->wait)
        return CMD_OK;
    fflush (stdout);
    if (send_wait (c, id, &result) != CMD_OK)
        return c->status;
    return report_result (c, s, id, result.buf, result.len);
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
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    autofree char *body = json_dumps (jobspec, JSON_COMPACT);
    struct error err = { 0 };
    struct http_response r;

    build_target (s, &target);
    target_add (&target, "test-only", "1");
    if (!body)
        return cmd_fail (c, "out of memory");
    if (send_request (c, target.buf, body, strlen (body), &s->so, &r) != CMD_OK)
        return c->status;
    json_t *o = json_parse (r.body, r.len, "the broker's answer", &err);
    if (o && s->json)
        printf ("%.*s\n", (int)r.len, r.body);
    else if (o)
        print_test (o);
    json_decref (o);
    http_response_release (&r);
    return o ? CMD_OK : cmd_fail (c, "%s", err.text);
}

static int run (struct cmd *c)
{
    struct submit s = { .urgency = -1 };
    json_t *jobspec = NULL;

    submit_options_init (&s.so);
    strbuf_init (&s.script, JOBSPEC_SCRIPT_MAX + 1);
    int status = read_options (c, &s);
    if (!c->ended)
        status = build_jobspec (c, &s, &jobspec);
    if (!c->ended && status == CMD_OK)
        status = s.dry_run     ? print_jobspec (c, jobspec)
                 : s.test_only ? test (c, &s, jobspec)
                               : submit (c, &s, jobspec);
    json_decref (jobspec);
    strbuf_release (&s.script);
    submit_options_release (&s.so);
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
