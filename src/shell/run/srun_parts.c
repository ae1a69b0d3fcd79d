/* srun_parts.c - srun on several components of a heterogeneous job
 *
 *     srun --het-group=0,1 prog              one program on the nodes of both components
 *     srun -n2 prog : -n1 other              one program on each
 *
 * The words ":" separate command lines. Each becomes the part of the step (step_spec.h) for
 * its components: those of --het-group, or the one with its own position. Options that
 * concern the whole step hold for all parts; as in Slurm, some others are passed on from
 * one command line to the next.
 */
#include "common/idset.h"
#include "protocol/launch.h"
#include "shell/run/run.h"

#define LINES_MAX (STEP_PARTS_MAX + 1)

/* Options of the whole step. */
enum kind { TEXT, OWN_TEXT, FLAG, NUMBER, SECONDS };

static const struct {
    const char *option;
    enum kind kind;
    size_t at;
} whole[] = {
#define OF(option, kind, member)                                                         \
    {                                                                                    \
        option, kind, offsetof (struct run_options, member)                              \
    }
    OF ("--input", TEXT, input),
    OF ("--input", NUMBER, spec.input),
    OF ("--input", NUMBER, spec.input_task),
    OF ("--label", FLAG, label),
    OF ("--open-mode", FLAG, append),
    OF ("--quiet", FLAG, quiet),
    OF ("--pty", FLAG, spec.pty),
    OF ("--time", SECONDS, time_limit),
    OF ("--wait", SECONDS, spec.wait),
    OF ("--immediate", FLAG, spec.immediate),
    OF ("--quit-on-interrupt", FLAG, quit),
    OF ("--kill-on-bad-exit", FLAG, spec.kill_on_bad_exit),
    OF ("--job-name", OWN_TEXT, spec.name),
    OF ("--mpi", OWN_TEXT, spec.mpi),
#undef OF
};

static int copy_text (char **to, const char *from, struct error *err)
{
    free (*to);
    *to = from ? strdup (from) : NULL;
    return from && !*to ? error_no_memory (err, NULL) : 0;
}

int srun_inherit (struct run_options *o, const struct run_options *before,
                  struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (whole) && rc == 0; i++) {
        void *to = (char *)o + whole[i].at;
        const void *from = (const char *)before + whole[i].at;

        if (whole[i].kind == OWN_TEXT)
            rc = copy_text (to, *(char *const *)from, err);
        else if (whole[i].kind == TEXT)
            *(const char **)to = *(const char *const *)from;
        else if (whole[i].kind == FLAG)
            *(bool *)to = *(const bool *)from;
        else if (whole[i].kind == NUMBER)
            *(uint32_t *)to = *(const uint32_t *)from;
        else
            *(double *)to = *(const double *)from;
    }
    o->output = before->output;
    o->error = before->error;
    o->export = before->export;
    o->arbitrary = before->arbitrary;
    if (rc == 0)
        rc = copy_text (&o->spec.distribution, before->spec.distribution, err);
    if (rc == 0)
        rc = copy_text (&o->spec.exclude, before->spec.exclude, err);
    return rc == 0 ? copy_text (&o->spec.cwd, before->spec.cwd, err) : rc;
}

static bool same_text (const char *a, const char *b)
{
    return a && b ? !strcmp (a, b) : a == b;
}

/* The option of the whole step that differs; NULL: none. */
static const char *differs (const struct run_options *a, const struct run_options *b)
{
    for (size_t i = 0; i < ARRAY_SIZE (whole); i++) {
        const void *x = (const char *)a + whole[i].at, *y = (const char *)b + whole[i].at;
        bool same = true;

        if (whole[i].kind == TEXT || whole[i].kind == OWN_TEXT)
            same = same_text (*(char *const *)x, *(char *const *)y);
        else if (whole[i].kind == FLAG)
            same = *(const bool *)x == *(const bool *)y;
        else if (whole[i].kind == NUMBER)
            same = *(const uint32_t *)x == *(const uint32_t *)y;
        else
            same = memcmp (x, y, sizeof (double)) == 0;
        if (!same)
            return whole[i].option;
    }
    return NULL;
}

/* -- the command lines -- */

struct lines {
    struct run_options *v; /* [n] */
    size_t n;
    int of_component[LINES_MAX]; /* index of the line; -1: none */
};

static size_t count_lines (int argc, char **argv)
{
    size_t n = 1;

    for (int i = 1; i < argc; i++)
        n += !strcmp (argv[i], ":");
    return n;
}

/* Reads the options of each line. 0; 1: --help or the like was answered. */
static int read_lines (struct lines *lines, int argc, char **argv, struct error *err)
{
    int rc = 0;

    for (int first = 0, end; first < argc && rc == 0; first = end) {
        struct run_options *o = &lines->v[lines->n];

        for (end = first + 1; end < argc && strcmp (argv[end], ":") != 0;)
            end++;
        if (end < argc)
            argv[end] = NULL; /* ends the command */
        rc = run_options_read (o, lines->n++ ? o - 1 : NULL, end - first, argv + first,
                               err);
        const char *option = rc == 0 ? differs (o, lines->v) : NULL;
        if (option)
            return error_set (err, EINVAL,
                              "%s after \":\" differs from before: it is for the whole "
                              "step, so say it before the first \":\"",
                              option);
    }
    return rc;
}

/* A line without a command has that of the next one. Its defaults are those of its first
 * component. */
static int finish_lines (struct lines *lines, struct error *err)
{
    int rc = 0;

    for (size_t i = lines->n; i-- > 1;)
        if (!lines->v[i - 1].command)
            lines->v[i - 1].command = lines->v[i].command;
    for (uint32_t c = LINES_MAX; c-- > 0;)
        if (lines->of_component[c] >= 0)
            lines->v[lines->of_component[c]].spec.component = c;
    for (size_t i = 0; i < lines->n && rc == 0; i++) {
        if (lines->n > 1 && lines->v[i].bcast)
            return error_set (err, EINVAL,
                              "--bcast copies one program: it cannot be combined with "
                              "\":\"");
        rc = run_options_finish (&lines->v[i], err);
    }
    return rc;
}

static int assign_component (struct lines *lines, uint32_t component, size_t line,
                             struct error *err)
{
    if (component >= LINES_MAX)
        return error_set (err, EINVAL, "--het-group: component %u: a job has at most %d",
                          component, LINES_MAX);
    if (lines->of_component[component] >= 0)
        return error_set (err, EINVAL,
                          "--het-group: component %u is named twice: a step has one "
                          "command for each",
                          component);
    lines->of_component[component] = (int)line;
    return 0;
}

/* "2" or "0-3". */
static int assign_range (struct lines *lines, const char *text, size_t line,
                         struct error *err)
{
    autoidset struct idset *ids = idset_decode (text, LINES_MAX, NULL);
    int rc = 0;

    if (!ids || idset_count (ids) == 0)
        return error_set (err, EINVAL,
                          "--het-group: '%.80s' is no component, and no range of "
                          "components such as 0-2",
                          text);
    for (uint32_t c = idset_first (ids); c != IDSET_END && rc == 0;
         c = idset_next (ids, c))
        rc = assign_component (lines, c, line, err);
    return rc;
}

static int assign_line (struct lines *lines, size_t line, struct error *err)
{
    const char *text = lines->v[line].het_group;
    autofree char *copy = text ? strdup (text) : NULL;
    int rc = 0;

    if (!text)
        return assign_component (lines, (uint32_t)line, line, err);
    if (!copy)
        return error_no_memory (err, NULL);
    for (char *rest = copy, *item; rc == 0 && (item = strsep (&rest, ","));)
        rc = assign_range (lines, item, line, err);
    return rc;
}

/* -- the request -- */

/* The request: the part of the first component, with those of the others. The strings are
 * those of the lines. *ret_first: the line of the first part; files: of each part. */
static int fill_request (const struct lines *lines, struct step_spec list[LINES_MAX],
                         struct run_files files[LINES_MAX],
                         const struct run_options **ret_first, struct error *err)
{
    const struct run_options *first = NULL;
    size_t n = 0;

    for (uint32_t c = 0; c < LINES_MAX; c++) {
        int line = lines->of_component[c];
        if (line < 0)
            continue;
        const struct run_options *own = &lines->v[line];
        list[n] = own->spec;
        list[n].component = c;
        if (c != own->spec.component) {
            list[n].gpus_per_task = own->gpus_asked;
            if (run_default_gpus (&list[n], err) < 0)
                return -EINVAL;
        }
        if (!first)
            first = own;
        else if (same_text (own->export, first->export))
            list[n].nenv = 0; /* that of the step */
        files[n++] = (struct run_files){ own->output, own->error };
    }
    *ret_first = first;
    list[0].parts = &list[1];
    list[0].nparts = n - 1;
    return 0;
}

static int join_lines (const struct lines *lines, struct run_options *o,
                       struct error *err)
{
    autofree struct step_spec *list = calloc (LINES_MAX, sizeof (*list));
    autofree struct run_files *files = calloc (LINES_MAX, sizeof (*files));
    autostrbuf struct strbuf sb = STRBUF_INIT (STEP_SPEC_MAX);
    const struct run_options *first;

    if (!list || !files)
        return error_no_memory (err, NULL);
    int rc = fill_request (lines, list, files, &first, err);
    if (rc < 0)
        return rc;
    if ((rc = step_spec_write (list, &sb)) < 0)
        return error_set (err, -rc,
                          "commands, environment and files are larger than %d bytes",
                          STEP_SPEC_MAX);
    *o = lines->v[0];
    lines->v[0].bcast_dest = lines->v[0].bcast_file = NULL; /* o has them now */
    o->output = first->output;
    o->error = first->error;
    if (!o->spec.pty) {
        memmove (files, files + 1, (LINES_MAX - 1) * sizeof (*files));
        o->files = files;
        files = NULL;
    }
    return step_spec_parse (sb.buf, sb.len, &o->spec, err);
}

int srun_parse (struct run_options *o, int argc, char **argv, struct error *err)
{
    struct lines lines = { .n = 0 };
    size_t n = count_lines (argc, argv);
    int rc = 0;

    *o = (struct run_options){ 0 };
    if (n > LINES_MAX)
        return error_set (err, EINVAL, "%zu commands: a job has at most %d components", n,
                          LINES_MAX);
    memset (lines.of_component, 0xff, sizeof (lines.of_component)); /* -1 */
    if (!(lines.v = calloc (n, sizeof (*lines.v))))
        return error_no_memory (err, NULL);
    rc = read_lines (&lines, argc, argv, err);
    for (size_t i = 0; i < lines.n && rc == 0; i++)
        rc = assign_line (&lines, i, err);
    if (rc == 0)
        rc = finish_lines (&lines, err);
    if (rc == 0)
        rc = join_lines (&lines, o, err);
    for (size_t i = 0; i < lines.n; i++)
        run_options_release (&lines.v[i]);
    free (lines.v);
    return rc;
}
