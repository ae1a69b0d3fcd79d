/* submission.c - see submission.h */
#include "cmd/submit/submission.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "cmd/client/inside.h"
#include "cmd/client/send.h"
#include "cmd/print/print.h"
#include "common/clock.h"
#include "common/io.h"
#include "common/parse.h"
#include "jobspec/options/variables.h"
#include "jobspec/script/script.h"
#include "protocol/pattern.h"

extern char **environ;

#define DIRECTORY_DELAY 3 /* seconds */

void submission_init (struct submission *s)
{
    *s = (struct submission){ .urgency = -1 };
    submit_options_init (&s->so);
    if (inside_is_on ())
        snprintf (s->so.submit_host, sizeof (s->so.submit_host), "%s", inside_host ());
    else
        submit_options_set_host (&s->so);
    strbuf_init (&s->script, JOBSPEC_SCRIPT_MAX + 1);
}

void submission_release (struct submission *s)
{
    strbuf_release (&s->script);
    submit_options_release (&s->so);
}

/* As io_read_fd(), of standard input. */
static int read_input (struct strbuf *sb, size_t max)
{
    char buf[4096];
    size_t n;

    if (!inside_is_on ())
        return io_read_fd (STDIN_FILENO, sb, max);
    while ((n = fread (buf, 1, sizeof (buf), stdin)) > 0) {
        if (sb->len + n > max)
            return -EFBIG;
        if (strbuf_add (sb, buf, n) < 0)
            return sb->err;
    }
    return ferror (stdin) ? -EIO : 0;
}

static int read_script (struct cmd *c, struct submission *s)
{
    const char *path = s->operands ? s->operands[0] : "-";
    struct error err = { 0 };
    int rc;

    s->name = path;
    if (strcmp (path, "-") != 0) {
        rc = io_read_file (path, &s->script, JOBSPEC_SCRIPT_MAX, &err);
        s->so.script_path = strncmp (path, "/dev/", 5) != 0 ? strdup (path) : NULL;
    } else {
        bool terminal = isatty (STDIN_FILENO);
        if (c->in_console && !terminal)
            return cmd_usage (c, "standard input is the console's: name a script");
        if (terminal)
            fputs ("The script, please; ctrl-D ends it.\n", stderr);
        s->name = "stdin";
        rc = read_input (&s->script, JOBSPEC_SCRIPT_MAX);
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

void submission_check_variables (struct cmd *c, unsigned slurm)
{
    variables_check (slurm, environ, warn, c);
}

static void refuse (const char *text, void *arg)
{
    cmd_warn (arg, "%s", text);
}

static void explain (const char *text, void *arg)
{
    struct cmd *c = arg;

    if (c->command->slurm)
        cmd_warn (c, "%s", text);
    else
        print_text (text);
}

void submission_explain (struct cmd *c, struct submission *s)
{
    s->so.explain = explain;
    s->so.explain_arg = c;
}

/* $PWD if it names the working directory (keeps symbolic links), else the kernel's path.
 * The caller frees it. */
static char *working_directory (void)
{
    const char *pwd = getenv ("PWD");
    struct stat here, there;

    if (inside_is_on ())
        return strdup (inside_directory ());
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

    if (inside_is_on ()) /* another host: nothing is known */
        return;
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

/* Whether the number of the job is in the name of the directory. */
static bool has_own_directory (const char *output)
{
    autofree char *dir = output ? strdup (output) : NULL;
    char *slash = dir ? strrchr (dir, '/') : NULL;

    if (!slash)
        return false;
    *slash = '\0';
    return pattern_is_per_job (dir);
}

/* Programs that submit with sbatch make a directory of this kind when they know the number
 * of the job. Slurm starts no batch job before 3 seconds (batch_sched_delay). */
static void leave_time_for_directory (struct submit_options *so)
{
    if (so->slurm_defaults && so->js.begin <= 0
        && (has_own_directory (so->output) || has_own_directory (so->error)))
        so->js.begin = clock_wall () + DIRECTORY_DELAY;
}

int submission_build (struct cmd *c, struct submission *s, json_t **ret)
{
    struct submit_program program = { .args = s->operands };
    struct error err = { 0 };
    autofree char *cwd = working_directory ();

    if (!cwd)
        return cmd_fail (c, "cannot tell the working directory: %s", strerror (errno));
    if (!s->is_command) {
        if (s->script.len == 0 && read_script (c, s) != CMD_OK)
            return c->status;
        if (script_read_all (s->script.buf, s->script.len, s->name, &s->so, warn, refuse,
                             c, &err)
            < 0)
            return cmd_fail (c, "%s", err.text);
        program.script = s->script.buf;
        program.script_len = s->script.len;
        program.args = s->operands ? s->operands + 1 : NULL;
    }
    if (s->so.command.clusters.text
        && cmd_set_clusters (c, s->so.command.clusters.text, "--clusters") != CMD_OK)
        return c->status;
    s->so.process.umask = (int)umask (0); /* the only way to read the umask */
    umask ((mode_t)s->so.process.umask);
    s->so.process.nice = inside_is_on () ? inside_nice () : getpriority (PRIO_PROCESS, 0);
    if (s->so.js.begin > 0 && s->so.js.begin < clock_wall () - 1)
        note_past_begin (c, s->so.js.begin);
    if (s->so.array && s->so.output && !pattern_is_per_job (s->so.output)
        && strncmp (s->so.output, "/dev/", 5) != 0)
        cmd_warn (c,
                  "warning: all tasks of the array write to the same file %s; use %%a, "
                  "the number of the task, in its name",
                  s->so.output);
    leave_time_for_directory (&s->so);
    *ret = submit_options_jobspec (&s->so, &program, cwd, environ, &err);
    if (!*ret)
        return cmd_fail (c, "%s", err.text);
    note_missing_directories (c, &s->so, *ret);
    return CMD_OK;
}

static void build_target (const struct submission *s, struct strbuf *target)
{
    char number[24];

    strbuf_adds (target, "/v1/jobs");
    if (s->allow_infeasible)
        target_add (target, "allow-infeasible", "1");
    bool held = submit_options_hold (&s->so);
    snprintf (number, sizeof (number), "%jd", held ? 0 : (intmax_t)s->urgency);
    if (held || s->urgency >= 0)
        target_add (target, "urgency", number);
}

int submission_send (struct cmd *c, const struct submission *s, const json_t *jobspec,
                     uint64_t *ret_id)
{
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    autofree char *body = json_dumps (jobspec, JSON_COMPACT);

    build_target (s, &target);
    if (!body)
        return cmd_fail (c, "out of memory");
    return send_job (c, target.buf, body, strlen (body), &s->so, ret_id);
}

/* Returns the job's exit status; prints to stderr how it ended, unless it ended well. */
static int report_result (struct cmd *c, bool json, uint64_t id, const char *body,
                          size_t len)
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
    if (json) {
        fwrite (body, 1, len, stdout);
        if (len == 0 || body[len - 1] != '\n')
            putchar ('\n');
    } else if (strcmp (state, "COMPLETED") != 0) {
        cmd_warn (c, "job %ju: %s%s%s", (uintmax_t)id, state, *text ? ": " : "", text);
    }
    return (int)exit_code;
}

int submission_wait (struct cmd *c, uint64_t id, bool json)
{
    autostrbuf struct strbuf result = STRBUF_INIT (64 * 1024);

    if (send_wait (c, id, &result) != CMD_OK)
        return c->status;
    return report_result (c, json, id, result.buf, result.len);
}

int submission_test (struct cmd *c, const struct submission *s, const json_t *jobspec,
                     json_t **ret)
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
    *ret = json_parse (r.body, r.len, "the broker's answer", &err);
    http_response_release (&r);
    return *ret ? CMD_OK : cmd_fail (c, "%s", err.text);
}
