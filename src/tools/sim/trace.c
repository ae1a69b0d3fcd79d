/* trace.c - see trace.h: finds the format, reads and sorts files */
#include "tools/sim/trace.h"

#include "tools/sim/records.h"

#define WARNINGS_MAX 10

struct trace {
    struct trace_counts counts;
    /* of a file */
    struct trace_job *jobs;
    size_t njobs, alloc;
    size_t next;
    /* built in */
    const struct trace_builtin *builtin;
    uint64_t random, made;
    double last_submit;
};

const struct trace_format *const trace_formats[] = { &trace_swf, &trace_jsonl, NULL };

/* -- names -- */

static const struct trace_builtin *find_builtin (const char *name)
{
    if (strncmp (name, TRACE_BUILTIN, strlen (TRACE_BUILTIN)) != 0)
        return NULL;
    for (const struct trace_builtin *b = trace_builtins; b->name; b++)
        if (!strcmp (b->name, name + strlen (TRACE_BUILTIN)))
            return b;
    return NULL;
}

const char *trace_cluster (const char *name)
{
    const struct trace_builtin *b = find_builtin (name);
    return b ? b->cluster : NULL;
}

static bool has_suffix (const struct trace_format *f, const char *name)
{
    const char *dot = strrchr (name, '.');

    for (const char *const *s = f->suffixes; dot && *s; s++)
        if (!strcmp (dot + 1, *s))
            return true;
    return false;
}

/* *ret_path: where the name of the file begins. */
static const struct trace_format *find_format (const char *name, const char **ret_path)
{
    const struct trace_format *const *f;

    *ret_path = name;
    for (f = trace_formats; *f; f++) {
        size_t len = strlen ((*f)->name);
        if (!strncmp (name, (*f)->name, len) && name[len] == ':') {
            *ret_path = name + len + 1;
            return *f;
        }
    }
    for (f = trace_formats; *f && !has_suffix (*f, name); f++)
        continue;
    return *f;
}

/* -- files -- */

static int add_job (struct trace *t, const struct trace_job *job, struct error *err)
{
    if (t->njobs == TRACE_JOBS_MAX)
        return error_set (err, E2BIG, "more than %d jobs", TRACE_JOBS_MAX);
    if (array_reserve (&t->jobs, &t->alloc, t->njobs + 1, sizeof (*t->jobs)) < 0)
        return error_set (err, ENOMEM, "out of memory");
    t->jobs[t->njobs++] = *job;
    return 0;
}

static bool is_comment (const struct trace_format *f, const char *text)
{
    size_t blanks = strspn (text, " \t\r\f\v");
    return !text[blanks] || strchr (f->comment, text[blanks]);
}

static int read_record (struct trace *t, const struct trace_format *f,
                        const struct records *r, struct error *err)
{
    struct trace_job job = { .line = r->line };

    if (is_comment (f, r->text.buf))
        return 0;
    int rc = f->read (r->text.buf, r->text.len, &job, err);
    if (rc == TRACE_JOB)
        return add_job (t, &job, err);
    t->counts.left_out += rc == TRACE_LEFT_OUT;
    return rc;
}

/* Handles a broken line: 0 if it is skipped. */
static int broken (struct trace *t, const struct trace_options *opt, int rc,
                   const char *path, uint64_t line, struct error *err)
{
    error_prefix (err, "%s:%ju", path, (uintmax_t)line);
    if (!opt->skip || rc != -EINVAL)
        return rc;
    if (opt->warn && t->counts.skipped < WARNINGS_MAX)
        opt->warn (err->text);
    t->counts.skipped++;
    return 0;
}

static int compare (const void *pa, const void *pb)
{
    const struct trace_job *a = pa, *b = pb;

    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int read_file (struct trace *t, const struct trace_format *f, const char *path,
                      const struct trace_options *opt, struct error *err)
{
    struct records r;
    int rc = records_open (&r, path, f->indented, err);

    if (rc < 0)
        return rc;
    for (;;) {
        rc = records_next (&r, err);
        if (rc == 0)
            break;
        if (rc == 1)
            rc = read_record (t, f, &r, err);
        if (rc < 0 && (rc = broken (t, opt, rc, path, r.line, err)) < 0)
            break;
    }
    records_close (&r);
    if (rc == 0 && t->njobs > 0)
        qsort (t->jobs, t->njobs, sizeof (*t->jobs), compare);
    return rc;
}

static int open_file (struct trace *t, const char *name, const struct trace_options *opt,
                      struct error *err)
{
    const char *path;
    const struct trace_format *f = find_format (name, &path);

    if (!f)
        return error_set (
            err, EINVAL,
            "%s: is it swf or jsonl? Say swf:%s or jsonl:%s, or call it .swf "
            "or .jsonl",
            name, name, name);
    int rc = read_file (t, f, path, opt, err);
    if (rc == 0 && t->njobs == 0)
        return error_set (err, EINVAL,
                          "%s: there is no job in it (%ju left out, %ju "
                          "broken)",
                          path, (uintmax_t)t->counts.left_out,
                          (uintmax_t)t->counts.skipped);
    return rc;
}

/* -- top level -- */

static int open_builtin (struct trace *t, const char *name,
                         const struct trace_options *opt, struct error *err)
{
    t->builtin = find_builtin (name);
    t->random = opt->seed;
    if (t->builtin)
        return 0;
    return error_set (err, EINVAL, "%s: no such trace; --help lists them", name);
}

struct trace *trace_open (const char *name, const struct trace_options *opt,
                          struct error *err)
{
    struct trace *t = calloc (1, sizeof (*t));
    int rc;

    if (!t)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    if (!strncmp (name, TRACE_BUILTIN, strlen (TRACE_BUILTIN)))
        rc = open_builtin (t, name, opt, err);
    else
        rc = open_file (t, name, opt, err);
    if (rc == 0)
        return t;
    trace_close (t);
    return NULL;
}

static int make_job (struct trace *t, struct trace_job *ret)
{
    if (t->made == t->builtin->jobs)
        return 0;
    t->made++;
    *ret = (struct trace_job){ .submit = t->last_submit };
    t->builtin->make (&t->random, ret);
    t->last_submit = ret->submit;
    return 1;
}

int trace_next (struct trace *t, struct trace_job *ret)
{
    if (t->builtin)
        return make_job (t, ret);
    if (t->next == t->njobs)
        return 0;
    *ret = t->jobs[t->next++];
    return 1;
}

struct trace_counts trace_counts (const struct trace *t)
{
    return t->counts;
}

void trace_close (struct trace *t)
{
    if (!t)
        return;
    free (t->jobs);
    free (t);
}
