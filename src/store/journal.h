/* journal.h - stores jobs and their events durably in SQLite, with group commit
 *
 *     struct journal *j = journal_open (path, wake, arg, &err); // starts the threads
 *     struct journal_txn *t = journal_txn_create ();
 *     journal_txn_job (t, id, uid, "key", jobspec_text, len);
 *     journal_txn_event (t, id, now, "submit", context_text);
 *     journal_commit (j, t, JOURNAL_MAY_FAIL, done, arg);           // takes t
 *     ... wake (arg) is called from a storage thread: then, on the loop,
 *     journal_dispatch (j);                                        // runs done (rc, ...)
 *
 * WAL, synchronous=FULL. One writer thread takes all waiting transactions and commits
 * them in one go, in the order given (group commit). One reader thread serves look-ups
 * meanwhile. Completions run on the thread that calls journal_dispatch(), in order of
 * commit.
 *
 * A transaction with JOURNAL_MAY_FAIL (a submit) fails with its reason at most 100 ms
 * after the disk fails, and nothing of it is on disk then. If the disk does not even
 * take the rollback, the transaction fails with -EINPROGRESS: a crash before the disk
 * recovers may still commit it. A transaction without the flag is tried again with
 * back-off (100 ms to 5 s) until it succeeds, in order, and journal_trouble() reports
 * this. A transaction that breaks a rule of the data base (an id given twice) fails
 * alone, whatever its flags, since no later try could succeed. At most 100,000
 * transactions or 256 MiB wait (-EAGAIN for MAY_FAIL beyond).
 *
 * The journal detects all losses: each row has a checksum, each commit has the sum over
 * all rows, and the file PATH-head, outside of the data base, has the position of the
 * last commit and the ids taken. A journal with missing or changed rows is not opened
 * (-EBADMSG); an older journal in its place is opened, and gives other ids.
 *
 * Schema version in PRAGMA user_version; a newer one is refused. The file is locked
 * against a second broker (flock on PATH-lock: -EBUSY names the file).
 *
 * Thread: all functions are for one thread, the loop's. Group commit as in
 * "Implementation techniques for main memory database systems", DeWitt et al. 1984.
 */
#pragma once

#include "common/error.h"

#define JOURNAL_KEY_MAX 255 /* bytes of an Idempotency-Key */

struct journal;
struct journal_txn;

/* path: data base file (created, mode 0600; its folder must exist). wake (arg) is called
 * on a storage thread when the first completion is due, never after journal_close() has
 * returned. NULL on error: -EBUSY another broker has it, -EPROTO not a journal or of a
 * newer fluxq, else the disk's errno. */
struct journal *journal_open (const char *path, void (*wake) (void *arg), void *arg,
                              struct error *err);
/* Commits waiting transactions (for at most about 1 s when the disk refuses), ends the
 * threads, closes. Drops completions that were not dispatched. NULL is fine. */
void journal_close (struct journal *j);

/* NULL: no memory. */
struct journal_txn *journal_txn_create (void);
void journal_txn_destroy (struct journal_txn *t);
/* These functions copy their arguments and accept t == NULL; journal_commit() reports
 * their errors (no memory, a key that is too long). 1 <= id < 2^63. */
void journal_txn_job (struct journal_txn *t, uint64_t id, uint32_t uid, const char *key,
                      const char *jobspec, size_t len); /* key: Idempotency-Key or NULL */
/* Writes a job that shares the jobspec of the job `of`, which was written before. */
void journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid, uint64_t of);
/* Reserves all ids up to `last`: no other job gets one of them (journal_last_id()). Only
 * in a transaction with a job. */
void journal_txn_keep_ids (struct journal_txn *t, uint64_t last);
void journal_txn_event (struct journal_txn *t, uint64_t id, double timestamp,
                        const char *name,
                        const char *context); /* context: JSON text or NULL */
/* Deletes all rows of a job that has ended. */
void journal_txn_prune (struct journal_txn *t, uint64_t id);
/* The job has ended for good. */
void journal_txn_inactive (struct journal_txn *t, uint64_t id);
void journal_txn_setting (struct journal_txn *t, const char *name,
                          const char *value); /* NULL: delete */
bool journal_txn_empty (const struct journal_txn *t);

enum journal_flags { JOURNAL_MAY_FAIL = 1 };
/* rc 0: on disk. Negative, with the reason in err: -ENOSPC, -EIO, -EEXIST (id given
 * twice): not on disk; -EINPROGRESS: unknown. */
typedef void (*journal_done_f) (int rc, const struct error *err, void *arg);
/* Takes t. done may be NULL. Returns 0, or -EAGAIN/-ENOMEM/-EINVAL: t is destroyed, and
 * done is not called. Errors are returned with JOURNAL_MAY_FAIL only. Without the flag,
 * and without memory for an event that has already happened, the process aborts, and the
 * restart replays what is on disk. An empty transaction completes after all transactions
 * given before it. */
int journal_commit (struct journal *j, struct journal_txn *t, int flags,
                    journal_done_f done, void *arg);
/* Runs the completions that are due; call it after wake() on the loop's thread. A
 * completion may call any function here except journal_close(). */
void journal_dispatch (struct journal *j);
/* NULL: commits succeed. Else one line: since when and why they fail. Valid until the
 * next call of this function. While no transaction waits, the journal tries the disk
 * itself every 5 s. */
const char *journal_trouble (struct journal *j);
/* The errno of the trouble, > 0; 0: none. ESTALE: the file at the journal's path is gone
 * or was replaced, and the journal stops writing to a file that nobody will find. */
int journal_trouble_errno (struct journal *j);
size_t journal_waiting (struct journal *j); /* transactions not yet committed */

/* -- offline: no broker has the journal open -- */
struct journal_say {
    void (*line) (const char *text, void *arg); /* for a person; without a newline */
    void *arg;
};
/* Checks whether the journal is whole, and reports losses line by line. mend: keeps the
 * damaged files beside the journal and makes a new one of all that can be read. 0: the
 * journal is whole (now); -EBADMSG: it is not; -EBUSY, ... */
int journal_check (const char *path, bool mend, struct journal_say lines,
                   struct error *err);

/* -- start-up: synchronous, before the loop runs -- */
struct journal_job_row { /* valid during the callback */
    uint64_t id;
    uint32_t uid;
    bool inactive;
    uint64_t of;         /* the job whose jobspec it shares; 0: its own */
    const char *key;     /* or NULL */
    const char *jobspec; /* NULL for an inactive job */
    size_t jobspec_len;
};
typedef int (*journal_job_f) (const struct journal_job_row *row, void *arg);
typedef int (*journal_event_f) (uint64_t id, double timestamp, const char *name,
                                /* context: text or NULL */
                                const char *context, void *arg);
/* Calls on_job for all active jobs and the newest `recent` inactive ones, by id, and
 * on_event for the events of each job, in order. Stops with the first non-zero return and
 * returns it. */
int journal_load (struct journal *j, size_t recent, journal_job_f on_job,
                  journal_event_f on_event, void *arg, struct error *err);
/* greatest id that was ever on disk or reserved, 0: none; as of open */
uint64_t journal_last_id (struct journal *j);
typedef int (*journal_setting_f) (const char *name, const char *value, void *arg);
int journal_load_settings (struct journal *j, journal_setting_f fn, void *arg,
                           struct error *err);
/* The job that this user submitted with this key, while the key is remembered: for 24 h
 * of a running broker, whatever the wall clock says; else 0. O(1), by index. Also finds
 * transactions that wait for their commit: to answer only after that job is on disk,
 * commit an empty transaction and look again in its completion (0: the job failed). */
uint64_t journal_find_key (struct journal *j, uint32_t uid, const char *key);

/* -- look-ups at run time: asynchronous, reader thread, complete through
 * journal_dispatch() -- */
struct journal_record { /* valid during the callback */
    uint64_t id;
    uint32_t uid;
    bool inactive;
    const char *jobspec; /* NULL unless requested */
    size_t jobspec_len;
    const struct journal_record_event {
        double timestamp;
        const char *name;
        const char *context; /* or NULL */
    } * events;
    size_t nevents;
};
enum journal_want { JOURNAL_JOBSPEC = 1, JOURNAL_EVENTS = 2 };
/* rc 0 and the record; -ENOENT no such job on disk, -EIO, -ENOMEM: rec is NULL. */
typedef void (*journal_record_f) (int rc, const struct journal_record *rec, void *arg);
/* Reads the state that is committed when the reader thread serves the request. want: bits
 * of journal_want. 0, -ENOMEM, or -EAGAIN when 10,000 requests wait: then done is not
 * called. */
int journal_read (struct journal *j, uint64_t id, int want, journal_record_f done,
                  void *arg);

/* Finds at most max ended jobs with ids above `after`, in order, that are not among the
 * newest `jobs` (0: all are), or that ended more than `keep` seconds of the journal's
 * time ago (0: none did). Leaves out jobs with a remembered key and jobs whose jobspec
 * another job shares. Returns and errors as journal_read(). */
struct journal_ended {
    uint64_t id;
    double first_time, last_time; /* unix times of its first and last event */
};
typedef void (*journal_old_f) (int rc, const struct journal_ended *jobs, size_t n,
                               void *arg);
int journal_old (struct journal *j, int64_t jobs, double keep, uint64_t after, size_t max,
                 journal_old_f done, void *arg);
/* The same for all ended jobs. */
int journal_ended (struct journal *j, uint64_t after, size_t max, journal_old_f done,
                   void *arg);
/* Gives free pages back to the file system in small pieces while no transaction waits.
 * The journal does so itself when a fifth of the file is free. */
void journal_compact (struct journal *j);
/* Size of the data base and its log. */
int64_t journal_bytes (const struct journal *j);
