/* submit_write.c - the second half of a submit: number, write, then answer
 *
 * The job enters the table only when its transaction is on disk: a failed write leaves
 * nothing behind.
 */
#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/sizes.h"
#include "broker/core/turn.h"
#include "broker/services/depend/depend.h"
#include "broker/services/queueusers.h"
#include "broker/services/stream/watch.h"
#include "broker/services/submit/submission.h"
#include "broker/services/submit/submit_details.h"
#include "broker/services/userlimits.h"
#include "jobspec/options/attributes.h"

static json_t *submit_context (const struct submission *s, const struct exec_user *user)
{
    const struct jobspec *js = entry_jobspec (s->e);
    json_t *o =
        json_pack ("{s:I s:i s:i s:i s:I s:s s:s s:s s:f}", "userid",
                   (json_int_t)user->uid, "urgency", s->terms.urgency, "flags", 0,
                   "version", 1, "groupid", (json_int_t)user->gid, "user", user->name,
                   "name", js->name, "queue", s->terms.queue, "duration", js->duration);
    int rc = o ? sizes_to_submit (o, js) : -1;
    rc |= attributes_to_event (o, js);
    rc |= json_object_set_new (o, "details", submit_details (s->b, js));
    if (js->array.text)
        rc |= json_object_set_new (o, "array", json_string (js->array.text));
    if (!s->req)
        rc |= json_object_set_new (
            o, "adopted",
            json_pack ("{s:s s:s}", "name", s->foreign.name, "key", s->key));
    if (rc < 0) {
        json_decref (o);
        return NULL;
    }
    return o;
}

/* The submit is on disk: puts the job into the table. */
static void take_in (struct broker *b, struct entry *e)
{
    entry_set_submitting (e, false);
    entry_insert (b, e);
    entry_count (b, e);
    entry_find_queue (b, e);
    submit_fresh_keep (b, e);
    services_call (comes, b, e);
    if (entry_job (e)->state == JOB_DEPEND)
        depend_begin (b, e);
    else
        broker_enqueue (b, e);
    watch_event (b, e, "submit");
}

static uint64_t tasks_of (const struct submission *s)
{
    return entry_jobspec (s->e)->array.tasks
               ? idset_count (entry_jobspec (s->e)->array.tasks)
               : 1;
}

/* Counts the submit while it is being written; then the entry counts. */
static void reserve (struct submission *s, int sign)
{
    userlimits_reserve (s->b, s->terms.uid, sign * (int64_t)tasks_of (s),
                        sign * (int64_t)entry_spec_bytes (s->e));
}

static void committed (int rc, const struct error *err, void *arg)
{
    struct submission *s = arg;
    struct broker *b = s->b;
    struct entry *e = s->e;
    char text[64];

    reserve (s, -1);
    if (rc < 0) {
        bool unknown = rc == -EINPROGRESS;
        log_warning ("a submit by uid %u %s: %s", (unsigned)s->terms.uid,
                     unknown ? "got no answer" : "was refused", err->text);
        if (unknown)
            submission_retry_after (s, "1");
        submission_refuse (s, 503, unknown ? "commit-unknown" : "journal", err->text);
        return;
    }
    s->e = NULL;
    take_in (b, e);
    submission_detach (s);
    if (!s->req) {
        s->foreign.done (entry_id (e), 201, "", s->foreign.arg);
    } else if (!s->gone) {
        audit_note_job (s->req, e);
        snprintf (text, sizeof (text), "{\"id\":%ju}", (uintmax_t)entry_id (e));
        http_reply (s->req, 201, NULL, text, strlen (text));
    }
    submission_free (s);
}

static void answer_test (struct submission *s)
{
    json_t *o = broker_is_recovering (s->b) ? NULL : broker_foresee (s->b, s->e);

    if (!o) {
        submission_refuse (s, 503, "busy",
                           broker_is_recovering (s->b)
                               ? "the broker does not know its nodes yet"
                               : "out of memory");
        return;
    }
    submission_detach (s);
    if (!s->gone)
        api_reply_json (s->req, 200, o);
    else
        json_decref (o);
    submission_free (s);
}

void submission_write (struct submission *s, const struct exec_user *user)
{
    struct broker *b = s->b;
    struct entry *e = s->e;
    int queue = config_queue_index (broker_config (b), s->terms.queue);

    if (queue < 0) {
        submission_refuse (s, 422, "unknown-queue", "its queue was removed a moment ago");
        return;
    }
    entry_set_queue (e, (unsigned)queue);
    entry_set_spec_bytes (e, strlen (s->text));
    if (!broker_operates (b, user->uid, (unsigned)queue)
        && queueusers_check (&broker_config (b)->queues[queue], user, &s->err) < 0) {
        submission_refuse_for (s, 403, "not-in-queue");
        return;
    }
    if (s->test_only) {
        answer_test (s);
        return;
    }
    if (userlimits_check (b, s->terms.uid, tasks_of (s), entry_spec_bytes (e), &s->err)
        < 0) {
        /* 429: the executor tries again */
        submission_refuse_for (s, s->req ? 403 : 429, "over-limit");
        return;
    }
    struct journal_txn *t = journal_txn_create ();
    json_t *context = submit_context (s, user);
    if (!t || !context || entry_number (b, e) < 0) {
        journal_txn_destroy (t);
        json_decref (context);
        submission_refuse (s, 503, "busy", "out of memory");
        return;
    }
    entry_set_submitting (e, true);
    services_call (take, b, e, false);
    journal_txn_job (t, entry_id (e), s->terms.uid, s->key, s->text, strlen (s->text));
    if (entries_next_id (b) > entry_id (e) + 1)
        journal_txn_keep_ids (t, entries_next_id (b) - 1);
    broker_emit_into (b, t);
    int rc = broker_emit (b, e, "submit", context);
    broker_emit_into (b, NULL);
    if (rc < 0
        || (entry_job (e)->state != JOB_SCHED && entry_job (e)->state != JOB_DEPEND)) {
        bool odd = rc < 0 && rc != -ENOMEM; /* else there was no memory for an event */
        journal_txn_destroy (t);
        submission_refuse (s, odd ? 500 : 503, odd ? "bad-request" : "busy",
                           "the job could not be accepted");
        return;
    }
    if (journal_commit (broker_journal (b), t, JOURNAL_MAY_FAIL, committed, s) < 0) {
        submission_retry_after (s, "1");
        submission_refuse (s, 429, "busy",
                           "too many submits wait for the disk; try again in a second");
        return;
    }
    reserve (s, 1);
}
