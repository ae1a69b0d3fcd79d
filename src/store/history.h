/* history.h - the ended jobs of a long time, in a data base of its own beside the journal
 *
 *     struct history *h = history_open (path, wake, arg, &err); // starts the threads
 *     history_put (h, &job, done, arg);                         // copies the job
 *     struct history_scan *s = history_scan_create (h, &filter);
 *     history_scan_next (s, rows, arg);       // rows (rc, jobs, n, last, arg), a batch
 *     ... wake (arg) is called from a storage thread: then, on the loop,
 *     history_dispatch (h);                   // runs done() and rows()
 *
 * SQLite, WAL, synchronous=FULL. One writer thread commits all jobs that wait in one
 * transaction; while the disk refuses, it tries again with back-off (100 ms to 5 s), and
 * history_trouble() says why. One reader thread serves the look-ups. A job is written
 * whole, and a second time replaces the first, so whoever is not sure writes again.
 *
 * A scan gives the jobs by id. Memory is bounded: a batch has at most HISTORY_BATCH jobs
 * and about 1 MiB of text, and the next one is read when the consumer asks. If an index
 * helps and at most 100,000 jobs match, their ids are collected first; else the scan
 * walks the table. No transaction stays open between two batches.
 *
 * history_keep() removes the oldest jobs in small transactions, then gives free pages
 * back to the file system, while no job waits. The data base remembers the end of the
 * newest job that was removed: an older job is not missing (history_lacks()).
 *
 * Schema version in PRAGMA user_version; a newer one is refused. The journal's lock
 * (journal.h) also keeps a second broker away from the history.
 *
 * Thread: all functions are for one thread, the loop's.
 */
#pragma once

#include "common/error.h"
#include "store/journal.h"

#define HISTORY_NONE INT64_MIN /* a number that the job does not have */
#define HISTORY_BATCH 256      /* jobs in a batch of a scan */
#define HISTORY_LACKS_MAX 256  /* jobs in one question of history_lacks() */
#define HISTORY_WAITING_MAX 4096

struct history;
struct history_scan;

/* A step of an attempt of a job. */
struct history_step {
    int64_t attempt;  /* 0: the first */
    const char *step; /* "0", "batch" */
    const char *name;
    double begin, end;              /* unix times */
    int64_t ntasks, nnodes, status; /* status: wait status */
    const char *usage; /* JSON object: the figures of the event `usage`; or NULL */
};

/* An ended job. Texts may be NULL; numbers may be HISTORY_NONE; times are unix times, 0:
 * never. history_columns has all members. */
struct history_job {
    int64_t id;
    int64_t array_job, array_task; /* of a task of an array; of an array: its id, NONE */
    const char *array_tasks;       /* of an array: the tasks that never started, "" */
    int64_t userid, groupid;
    const char *user, *account, *qos, *wckey, *licenses, *name, *queue;
    int64_t state;     /* enum job_phase */
    int64_t status;    /* wait status */
    int64_t exit_code; /* see job_exit_code() */
    double first_time; /* of the job's first event; tells jobs of the same id apart */
    double submit_time, eligible_time, start_time, end_time;
    double ended_time; /* when nothing of the job was left; not before end_time */
    double time_limit; /* seconds, 0: none */
    int64_t nodes, ntasks, ncores, cpu_milli, gpus, memory_mib; /* allocated */
    int64_t asked_nodes, asked_ntasks, asked_ncores, asked_cpu_milli, asked_gpus,
        asked_memory_mib;
    const char *nodelist, *cwd, *comment, *extra, *mcs_label, *admin_comment,
        *result_text;
    const char *components; /* of a heterogeneous job: JSON, broker/api/components.h */
    const char *exception; /* type of the exception that ended the job */
    int64_t restarts, urgency, priority;
    int64_t cancelled_by; /* uid of the user who ended the job */
    const struct history_step *steps;
    size_t nsteps;
};

enum history_kind { HISTORY_NUMBER, HISTORY_TIME, HISTORY_TEXT };

/* A member of struct history_job: int64_t, double or const char *; and a column of the
 * same name. */
struct history_column {
    const char *name; /* NULL ends the table */
    enum history_kind kind;
    size_t at; /* offset in struct history_job */
};

extern const struct history_column history_columns[];
#define HISTORY_COLUMNS_MAX 64

/* path: data base file (created, mode 0600; its folder must exist). wake (arg) is called
 * on a storage thread when the first completion is due, never after history_close() has
 * returned. NULL on error: -EPROTO not a history, damaged, or of a newer fluxq; else the
 * disk's errno. */
struct history *history_open (const char *path, void (*wake) (void *arg), void *arg,
                              struct error *err);
/* Commits the jobs that wait (for at most about 1 s when the disk refuses), ends the
 * threads, closes. Completions that are due run, those of other operations with
 * -ECANCELED. Destroy the scans before. NULL is fine. */
void history_close (struct history *h);
/* Runs the completions that are due; call it after wake() on the loop's thread. */
void history_dispatch (struct history *h);

/* rc 0: on disk. Negative: -ECANCELED; else the job breaks a rule of the data base, and
 * no later try could succeed. */
typedef void (*history_done_f) (int rc, void *arg);
/* Returns 0; -ENOMEM; -EAGAIN: HISTORY_WAITING_MAX jobs wait; -ESHUTDOWN. */
int history_put (struct history *h, const struct history_job *job, history_done_f done,
                 void *arg);
size_t history_waiting (struct history *h); /* jobs not yet committed */

/* Removes jobs that ended before the unix time `before` (0: none), and all but the newest
 * `jobs` (0: all stay). A request replaces the one before. */
void history_keep (struct history *h, double before, int64_t jobs);
/* Gives free pages back to the file system, as history_keep() does when a fifth of the
 * file is free. */
void history_compact (struct history *h);
uint64_t history_removed (struct history *h); /* jobs since the start */
/* NULL: commits succeed. Else one line: since when and why they fail. Valid until the
 * next call of this function. */
const char *history_trouble (struct history *h);
/* Size of the data base and its log. */
int64_t history_bytes (const struct history *h);

/* Those of the jobs that the history does not have on disk, and should. rc: -ECANCELED,
 * -EIO, ... */
typedef void (*history_lacks_f) (int rc, const struct journal_ended *lacking, size_t n,
                                 void *arg);
/* Asks which of n jobs of the journal, at most HISTORY_LACKS_MAX, the history lacks. A job
 * with the same id and another first_time is another job, of an earlier journal. 0, -ENOMEM,
 * -ESHUTDOWN. */
int history_lacks (struct history *h, const struct journal_ended *jobs, size_t n,
                   history_lacks_f done, void *arg);

/* -- scans -- */

struct history_words {
    const char *const *v;
    size_t n; /* 0: all */
};

struct history_range {
    uint64_t first, last;
};

/* Tasks of an array. */
struct history_tasks {
    uint64_t array;
    const uint32_t *tasks; /* sorted */
    size_t n;
};

struct history_filter {
    struct history_words users, accounts, names, queues;
    bool by_userid;
    uint32_t userid; /* ... only this user's jobs */
    uint32_t states; /* bits of enum job_phase; 0: all */
    /* Unix times, 0: open. Without states: jobs that were in the system at some time from
     * since to until. Otherwise jobs that ended then in one of the states; or waited
     * (JOB_PENDING) or ran (JOB_RUNNING) at some time of it. */
    double since, until;
    /* Jobs of these ids (an array's includes its tasks), of these ranges of ids, and
     * tasks; each list is sorted, without overlaps. None: all jobs. */
    const uint64_t *ids;
    size_t nids;
    const struct history_range *ranges;
    size_t nranges;
    const struct history_tasks *tasks;
    size_t ntasks;
    uint64_t after; /* only ids above */
    bool steps;     /* with the steps of each job */
};

/* Copies the filter. NULL: no memory. */
struct history_scan *history_scan_create (struct history *h,
                                          const struct history_filter *f);
/* jobs: valid during the callback; last: no more follow. rc: -ECANCELED, -EIO, -ENOMEM:
 * then n is 0 and last is true. */
typedef void (*history_rows_f) (int rc, const struct history_job *jobs, size_t n,
                                bool last, void *arg);
/* Reads the next batch. One at a time, and none after the last. 0, -ESHUTDOWN. */
int history_scan_next (struct history_scan *s, history_rows_f rows, void *arg);
/* Also while a batch is under way: rows is not called then. NULL is fine. */
void history_scan_destroy (struct history_scan *s);
