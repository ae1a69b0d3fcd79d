/* fuzz_trace.c - any bytes as a trace of jobs, as SWF and as JSON lines; each job that is read
 * has values in the ranges that trace.h promises
 *
 * Parser: tools/sim/trace.c tools/sim/trace_swf.c tools/sim/trace_jsonl.c
 */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/sim/trace.h"

static void check_job (const struct trace_job *job, double before)
{
    const struct job_size *s = &job->size;

    assert (job->submit >= before && job->submit <= TRACE_TIME_MAX);
    assert (job->runtime >= 0 && job->runtime <= TRACE_RUN_MAX);
    assert (job->limit >= 0 && job->limit <= TRACE_RUN_MAX && job->begin >= 0);
    assert (s->nodes_min <= s->nodes_max && s->slots_min <= s->slots_max);
    assert (s->slots_min >= 1 && s->cores >= 1 && s->cores <= TRACE_CORES_MAX);
    assert (s->gpus <= TRACE_GPUS_MAX && s->exclusive <= 1);
    assert (!s->exclusive || s->nodes_min > 0);
    assert (s->nodes_min == 0 || s->slots_min == s->slots_max);
}

static void warn (const char *text)
{
    assert (text[0] && !strchr (text, '\n'));
}

static size_t read_all (const char *name, bool skip)
{
    const struct trace_options opt = { .skip = skip, .warn = skip ? warn : NULL };
    struct error err = { 0 };
    struct trace *t = trace_open (name, &opt, &err);
    struct trace_job job;
    double before = 0;
    size_t n = 0;

    if (!t) {
        assert (!skip || err.code != EINVAL || strstr (err.text, "no job"));
        fuzz_check_refusal (&err, "");
        return 0;
    }
    for (; trace_next (t, &job) == 1; n++) {
        check_job (&job, before);
        before = job.submit;
    }
    assert (skip || trace_counts (t).skipped == 0);
    trace_close (t);
    return n;
}

/* The beginning of the file as the name of a trace. */
static void try_name (const uint8_t *data, size_t size)
{
    static const struct trace_options opt = { .seed = 5 };
    autofree char *name = fuzz_text (data, MIN (size, (size_t)40));
    struct error err = { 0 };
    struct trace_job job;

    trace_cluster (name);
    if (strncmp (name, TRACE_BUILTIN, strlen (TRACE_BUILTIN)) != 0)
        return;
    struct trace *t = trace_open (name, &opt, &err);
    if (!t)
        fuzz_check_refusal (&err, "");
    for (int i = 0; t && i < 100 && trace_next (t, &job) == 1; i++)
        check_job (&job, 0);
    trace_close (t);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    int fd = memfd_create ("trace", MFD_CLOEXEC);
    char name[64];

    try_name (data, size);
    assert (fd >= 0 && write (fd, data, size) == (ssize_t)size);
    for (const struct trace_format *const *f = trace_formats; *f; f++) {
        snprintf (name, sizeof (name), "%s:/proc/self/fd/%d", (*f)->name, fd);
        size_t n = read_all (name, false), all = read_all (name, true);
        assert (n <= all);
    }
    close (fd);
    return 0;
}
