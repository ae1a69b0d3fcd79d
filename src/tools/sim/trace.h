/* trace.h - the jobs of a trace, in the order of their submits
 *
 *     struct trace *t = trace_open ("jobs.swf", &options, &err);
 *     while ((rc = trace_next (t, &job, &err)) == 1) ...
 *     trace_close (t);
 *
 * A trace is "FILE.swf", "FILE.jsonl" or "FILE.json"; "swf:FILE" or "jsonl:FILE" for a
 * file of any name; or "builtin:NAME". A file is read as a whole and sorted by submit
 * time; jobs with equal times keep the order of the file. A built-in trace is made job by
 * job.
 *
 * swf: Standard Workload Format (Chapin et al., Benchmarks and Standards for the
 * Evaluation of Parallel Job Schedulers, JSSPP 1999; Parallel Workloads Archive), see
 * trace_swf.c. jsonl: objects, see trace_jsonl.c.
 */
#pragma once

#include "common/error.h"

#define TRACE_JOBS_MAX 10000000 /* of a file */
#define TRACE_LINE_MAX (16 << 20)
#define TRACE_TIME_MAX 1e10           /* seconds; times in a file are from 0 to this */
#define TRACE_RUN_MAX (365 * 86400.0) /* of a run or limit: the scheduler plans no further
                                       * ahead */
#define TRACE_COUNT_MAX 2147483647
#define TRACE_CORES_MAX 65536 /* of a slot */
#define TRACE_GPUS_MAX 1024

/* Resources that a job asks for; without padding, so that equal sizes have equal
 * bytes. */
struct job_size {
    uint32_t nodes_min, nodes_max;    /* 0: slots go anywhere */
    uint32_t slots_min, slots_max;    /* in total; with nodes: on each of them, and
                                       * equal */
    uint32_t cores, gpus, memory_mib; /* of each slot; cores >= 1 */
    uint32_t exclusive;               /* 1: whole nodes; only with nodes */
};

struct trace_job {
    double submit;    /* seconds */
    double begin;     /* earliest start, 0: at once */
    double runtime;   /* seconds, >= 0, at its largest size */
    double limit;     /* seconds, 0: unlimited */
    int64_t priority; /* larger first */
    uint64_t line;    /* of the file; built-in: 0 */
    struct job_size size;
};

struct trace_options {
    bool skip;     /* broken lines are skipped, otherwise they end the trace */
    uint64_t seed; /* of a built-in trace */
    /* Called for each of the first skipped lines; may be NULL. */
    void (*warn) (const char *text);
};

/* Counts of what was read so far. */
struct trace_counts {
    uint64_t skipped;  /* broken lines */
    uint64_t left_out; /* jobs that never ran or lack data */
};

struct trace;

/* NULL with a reason; for a broken line "FILE:LINE: what is wrong". */
struct trace *trace_open (const char *name, const struct trace_options *opt,
                          struct error *err);
/* 1 and *ret; 0: the end. */
int trace_next (struct trace *t, struct trace_job *ret);
struct trace_counts trace_counts (const struct trace *t);
/* The SPEC of the machine that a built-in trace was made for; NULL: a file. */
const char *trace_cluster (const char *name);
void trace_close (struct trace *t);

/* -- formats: a record of a file is a job -- */

enum trace_verdict { TRACE_LEFT_OUT, TRACE_JOB }; /* or negative errno: broken */

struct trace_format {
    const char *name;
    const char *suffixes[3]; /* NULL-terminated */
    const char *summary;     /* one line for help */
    bool indented;           /* a line "{" begins a record, and a line "}" ends it */
    const char *comment;     /* first characters of comment lines */
    /* text: NUL-terminated, without NUL inside, not blank. The caller zeroes ret. */
    int (*read) (const char *text, size_t len, struct trace_job *ret, struct error *err);
};

extern const struct trace_format trace_swf, trace_jsonl;
extern const struct trace_format *const trace_formats[]; /* NULL-terminated */

/* -- traces that are built in -- */

#define TRACE_BUILTIN "builtin:" /* prefix of a name */

struct trace_builtin {
    const char *name, *summary, *cluster;
    uint64_t jobs;
    /* Makes the next job. ret: zero, except for the submit of the previous job; random: a
     * state. */
    void (*make) (uint64_t *random, struct trace_job *ret);
};
extern const struct trace_builtin trace_builtins[]; /* ends with a name that is NULL */
