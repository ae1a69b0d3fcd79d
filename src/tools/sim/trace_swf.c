/* trace_swf.c - the Standard Workload Format: 18 numbers per job and line, -1: unknown
 *
 *     1 job        7 memory used, KB    13 group
 *     2 submit     8 procs requested    14 program
 *     3 wait       9 time requested     15 queue
 *     4 run time  10 memory requested   16 partition
 *     5 procs     11 status             17 preceding job
 *     6 CPU time  12 user               18 think time
 *
 * A processor becomes a slot of one core, on any node; memory is per processor, in KB of
 * 1024. If nothing was requested (8 and 9: -1), the used amount (5 and 4) replaces it:
 * the time limit is then the run time, or a second. Left out are parts of jobs (status 2,
 * 3, 4: the whole has a line of its own), jobs cancelled before they ran (status 5 and no
 * run time), and those with unknown run time or processors. A job that failed, or was
 * cancelled while it ran, took its processors like any other. Fields 17 and 18 are
 * ignored: field 2 has the time of the submit.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tools/sim/trace.h"

#define FIELDS 18
#define NUMBER_MAX 40

enum { SUBMIT = 2, RUN = 4, PROCS = 5, ASKED_PROCS = 8, ASKED_TIME = 9, ASKED_KB = 10 };
enum { STATUS = 11 };

static const char *const names[FIELDS + 1] = { "",
                                               "job",
                                               "submit time",
                                               "wait time",
                                               "run time",
                                               "processors",
                                               "CPU time",
                                               "memory used",
                                               "processors requested",
                                               "time requested",
                                               "memory requested",
                                               "status",
                                               "user",
                                               "group",
                                               "program",
                                               "queue",
                                               "partition",
                                               "preceding job",
                                               "think time" };

/* Reads a plain decimal number. */
static int read_number (const char *text, size_t len, int field, double *ret,
                        struct error *err)
{
    char copy[NUMBER_MAX + 1], *end = copy;

    if (len <= NUMBER_MAX && strspn (text, "+-.0123456789eE") >= len) {
        memcpy (copy, text, len);
        copy[len] = '\0';
        *ret = strtod (copy, &end);
        if (end == copy + len && isfinite (*ret))
            return 0;
    }
    return error_set (err, EINVAL, "field %d (%s): '%.*s' is not a number", field,
                      names[field], (int)MIN (len, NUMBER_MAX), text);
}

static int split (const char *text, double *field, struct error *err)
{
    int n = 0;

    for (const char *at = text + strspn (text, " \t"); *at; at += strspn (at, " \t")) {
        size_t len = strcspn (at, " \t");
        if (n == FIELDS)
            return error_set (err, EINVAL, "more than %d fields", FIELDS);
        n++;
        int rc = read_number (at, len, n, &field[n], err);
        if (rc < 0)
            return rc;
        at += len;
    }
    if (n < FIELDS)
        return error_set (err, EINVAL, "%d fields, not %d", n, FIELDS);
    return 0;
}

/* Checks that the field is from least (or -1) to most. */
static int check (const double *field, int i, double least, double most, bool whole,
                  struct error *err)
{
    double x = field[i];

    if (x != -1 && (!(x >= least) || x > most))
        return error_set (err, EINVAL,
                          "field %d (%s): %.10g is not -1 and not from %.10g to %.10g", i,
                          names[i], x, least, most);
    if (whole && x != floor (x))
        return error_set (err, EINVAL, "field %d (%s): %.10g is not a whole number", i,
                          names[i], x);
    return 0;
}

static int check_all (const double *field, struct error *err)
{
    int rc = check (field, SUBMIT, 0, TRACE_TIME_MAX, false, err);

    if (rc == 0 && field[SUBMIT] == -1)
        return error_set (err, EINVAL, "field %d (%s): is not known", SUBMIT,
                          names[SUBMIT]);
    if (rc == 0)
        rc = check (field, RUN, 0, TRACE_RUN_MAX, false, err);
    if (rc == 0)
        rc = check (field, PROCS, 0, TRACE_COUNT_MAX, true, err);
    if (rc == 0)
        rc = check (field, ASKED_PROCS, 0, TRACE_COUNT_MAX, true, err);
    if (rc == 0)
        rc = check (field, ASKED_TIME, 0, TRACE_RUN_MAX, false, err);
    if (rc == 0)
        rc = check (field, ASKED_KB, 0, 1024.0 * TRACE_COUNT_MAX, false, err);
    if (rc == 0)
        rc = check (field, STATUS, 0, 5, true, err);
    return rc;
}

static int read_swf (const char *text, size_t len, struct trace_job *ret,
                     struct error *err)
{
    double field[FIELDS + 1];
    int rc = split (text, field, err);

    (void)len;
    if (rc == 0)
        rc = check_all (field, err);
    if (rc < 0)
        return rc;
    double procs = field[ASKED_PROCS] > 0 ? field[ASKED_PROCS] : field[PROCS];
    double run = field[RUN];
    bool is_part = field[STATUS] >= 2 && field[STATUS] <= 4;
    bool never_ran = field[STATUS] == 5 && run <= 0;
    if (is_part || never_ran || run < 0 || procs < 1)
        return TRACE_LEFT_OUT;
    ret->submit = field[SUBMIT];
    ret->runtime = run;
    ret->limit = field[ASKED_TIME] > 0 ? field[ASKED_TIME] : MAX (run, 1);
    ret->size.slots_min = ret->size.slots_max = (uint32_t)procs;
    ret->size.cores = 1;
    ret->size.memory_mib = (uint32_t)ceil (MAX (field[ASKED_KB], 0) / 1024);
    return TRACE_JOB;
}

const struct trace_format trace_swf = {
    .name = "swf",
    .suffixes = { "swf" },
    .summary = "Standard Workload Format",
    .comment = ";",
    .read = read_swf,
};
