/* journal.h - accepted means on disk: jobs and their events in SQLite, with group commit
 *
 *     struct journal *j = journal_open (path, wake, arg, &err); // starts the threads
 *     struct journal_txn *t = journal_txn_create ();
 *     journal_txn_job (t, id, uid, "key", jobspec_text, len);
 *     journal_txn_event (t, id, now, "submit", context_text);
 *     journal_commit (j, t, JOURNAL_MAY_FAIL, done, arg);           // takes t
 *     ... wake (arg) is called from a storage thread: then, on the loop,
 *     journal_dispatch (j);                                        // runs done (rc, ...)
 *
 * WAL, synchronous=FULL. One writer thread takes all transactions that wait and commits
 * them in one go, in the order given (group commit); one reader thread serves look-ups
 * meanwhile. Completions run on the thread that calls journal_dispatch(), in order of
 * commit.
 *
 * A transaction with JOURNAL_MAY_FAIL (a submit) fails with its reason when the disk
 * does, at most 100 ms later, and nothing of it is on disk then; where the disk does not
 * even take that back, it fails with -EINPROGRESS: a crash before the disk is well again
 * may make it true. One without is tried again with back-off (100 ms to 5 s)
 * until it succeeds, in order, and journal_trouble() says so. A transaction that breaks a
 * rule of the data base (an id given twice) fails alone, whatever its flags: no later try
 * could succeed. At most 100,000 transactions or 256 MiB wait (-EAGAIN for MAY_FAIL
 * beyond).
 *
 * Nothing is lost in silence: each row has a checksum, each commit the sum over all rows, and
 * PATH-head says outside of the data base how far the journal had come and which ids are
 * taken. A journal of which something is missing or changed is not opened (-EBADMSG);
 * an older one in its place is, and gives other ids.
 *
 * Schema version in PRAGMA user_version; a newer one is refused. The file is locked
 * against a second broker (flock on PATH-lock: -EBUSY names the file).
 *
 * Thread: all functions are for one thread, the loop's. Group commit as in
 * "Implementation techniques for main memory database systems", DeWitt et al. 1984.
 */
#ifndef FLUXQ_STORE_JOURNAL_H
#define FLUXQ_STORE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define JOURNAL_KEY_MAX 255 /* bytes of an Idempotency-Key */

struct journal;
struct journal_txn;

/* path: data base file (created, mode 0600; its folder must exist). wake (arg) is called
 * on a storage thread whenever completions are due that were none before, never after
 * journal_close() has returned. NULL on error: -EBUSY another broker has it, -EPROTO not
 * a journal or of a newer fluxq, else the disk's.
 */
struct journal *journal_open (const char *path, void (*wake) (void *arg), void *arg,
                              struct error *err);
/* Commits what waits (for at most about 1 s when the disk refuses), ends the threads,
 * closes. Completions that were not dispatched are dropped. NULL is fine. */
void journal_close (struct journal *j);

/* NULL: no memory. */
struct journal_txn *journal_txn_create (void);
void journal_txn_destroy (struct journal_txn *t);
/* All of them copy and accept t == NULL; trouble (memory, a key that is too long) is kept
 * and reported by journal_commit(). 1 <= id < 2^63. */
void journal_txn_job (struct journal_txn *t, uint64_t id, uint32_t uid, const char *key,
                      const char *jobspec, size_t len); /* key: Idempotency-Key or NULL */
/* One that has the jobspec of the job `of`, which was written before. */
void journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid, uint64_t of);
/* No number up to `last` is given to anybody else any more (journal_last_id()). In a
 * transaction with a job. */
void journal_txn_keep_ids (struct journal_txn *t, uint64_t last);
void journal_txn_event (struct journal_txn *t, uint64_t id, double timestamp,
                        const char *name,
                        const char *context); /* context: JSON text or NULL */
/* Nothing is left of a job that has ended. */
void journal_txn_prune (struct journal_txn *t, uint64_t id);
/* job has ended for good */
void journal_txn_inactive (struct journal_txn *t, uint64_t id);
void journal_txn_setting (struct journal_txn *t, const char *name,
                          const char *value); /* NULL: delete */
bool journal_txn_empty (const struct journal_txn *t);

enum journal_flags { JOURNAL_MAY_FAIL = 1 };
/* rc 0: on disk. Else negative and err says why: -ENOSPC, -EIO, -EEXIST (id given twice):
 * it is not on disk; -EINPROGRESS: nobody knows. */
typedef void (*journal_done_f) (int rc, const struct error *err, void *arg);
/* Takes t. done may be NULL. Returns 0, or -EAGAIN/-ENOMEM/-EINVAL (t is destroyed, done
 * not called; only with JOURNAL_MAY_FAIL: without it, and without memory for an event
 * that has already happened, the process aborts, and the restart replays what is on
 * disk). An empty transaction completes after all that were given before it. */
int journal_commit (struct journal *j, struct journal_txn *t, int flags,
                    journal_done_f done, void *arg);
/* Run the completions that are due; call after wake() on the loop's thread. A completion
 * may call anything here but journal_close(). */
void journal_dispatch (struct journal *j);
/* NULL when all is well, else one line since when and why commits fail. Valid until the
 * next call of this function. While nothing waits, the journal tries the disk itself
 * every 5 s. */
const char *journal_trouble (struct journal *j);
/* Its errno, > 0; 0: all is well. ESTALE: the file at the journal's path is gone or is another
 * one, and nothing is written to what nobody will find. */
int journal_trouble_errno (struct journal *j);
size_t journal_waiting (struct journal *j); /* transactions not yet committed */

/* -- offline: no broker has it open -- */
struct journal_say {
    void (*line) (const char *text, void *arg); /* for a person; without a newline */
    void *arg;
};
/* Whether it is whole, and what of it is lost, line by line; mend: the damaged files are
 * kept beside it, and what can be read becomes the journal. 0: it is whole (now);
 * -EBADMSG: it is not; -EBUSY, ... */
int journal_check (const char *path, bool mend, struct journal_say lines,
                   struct error *err);

/* -- start-up: synchronous, before the loop runs -- */
struct journal_job_row { /* valid during the callback */
    uint64_t id;
    uint32_t uid;
    bool inactive;
    uint64_t of;         /* it has the jobspec of that job; 0: its own */
    const char *key;     /* or NULL */
    const char *jobspec; /* NULL: of an inactive one */
    size_t jobspec_len;
};
typedef int (*journal_job_f) (const struct journal_job_row *row, void *arg);
typedef int (*journal_event_f) (uint64_t id, double timestamp, const char *name,
                                /* context: text or NULL */
                                const char *context, void *arg);
/* All active jobs and the newest `recent` inactive ones, by id; after each job its
 * events, in order. Stops with the first non-zero return and returns it. */
int journal_load (struct journal *j, size_t recent, journal_job_f on_job,
                  journal_event_f on_event, void *arg, struct error *err);
/* greatest id on disk or kept ever, 0: none; as of open */
uint64_t journal_last_id (struct journal *j);
typedef int (*journal_setting_f) (const char *name, const char *value, void *arg);
int journal_load_settings (struct journal *j, journal_setting_f fn, void *arg,
                           struct error *err);
/* The job that this user submitted with this key, as long as the key is remembered: 24 h
 * of a running broker, whatever the wall clock is set to; else 0. Looked up by index, O(1); also sees what waits for its commit: to answer only when that is on disk, commit
 * an empty transaction and look again in its completion (0: it failed). */
uint64_t journal_find_key (struct journal *j, uint32_t uid, const char *key);

/* -- look-ups at run time: asynchronous, reader thread, complete through
 * journal_dispatch() -- */
struct journal_record { /* valid during the callback */
    uint64_t id;
    uint32_t uid;
    bool inactive;
    const char *jobspec; /* NULL when not wanted */
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
/* Sees what is committed when the reader thread gets to it. want: bits of journal_want.
 * 0, -ENOMEM, or -EAGAIN when 10,000 wait: then done is not called. */
int journal_read (struct journal *j, uint64_t id, int want, journal_record_f done,
                  void *arg);

/* Ids, in order, of at most max jobs behind `after` that have ended and are not among the newest
 * `jobs` (0: all are), or ended more than `keep` seconds of the journal's time ago (0: none
 * has); without those of which a key is remembered or the jobspec is another job's. As
 * journal_read(). */
typedef void (*journal_old_f) (int rc, const uint64_t *ids, size_t n, void *arg);
int journal_old (struct journal *j, int64_t jobs, double keep, uint64_t after, size_t max,
                 journal_old_f done, void *arg);
/* Free pages are given back to the file system in small pieces while nothing waits; so they
 * are by themselves when they are a fifth of the file. */
void journal_compact (struct journal *j);
/* Of the data base and its log. */
int64_t journal_bytes (const struct journal *j);

#endif
