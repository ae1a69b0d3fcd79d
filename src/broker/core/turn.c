/* turn.c - events, and the actions that follow now and after their commit
 *
 * A turn is the result of one round of the loop: events in one transaction, and a list of
 * (job, outer actions, events for watchers) to work off when the transaction is on disk.
 */
#include <errno.h>
#include <string.h>

#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/plan.h"
#include "broker/core/start.h"
#include "broker/core/turn.h"
#include "broker/services/adopt.h"
#include "broker/services/array.h"
#include "broker/services/avoid.h"
#include "broker/services/depend.h"
#include "broker/services/follow.h"
#include "broker/services/limit.h"
#include "broker/services/placing.h"
#include "broker/services/priority.h"
#include "broker/services/reserve.h"
#include "broker/services/resize.h"
#include "broker/services/userlimits.h"
#include "broker/services/watch.h"
#include "common/clock.h"
#include "common/log.h"

#define INNER                                                                            \
    (JOB_ACT_VALIDATE | JOB_ACT_DEPEND | JOB_ACT_PRIORITY | JOB_ACT_ENQUEUE              \
     | JOB_ACT_DEQUEUE | JOB_ACT_FREE | JOB_ACT_CLEAN)
#define MAX_TOLD 8 /* events of one job in one turn */
#define TEXT_MAX 65536

struct follow_up {
    uint64_t id;
    unsigned actions;
    unsigned ntold;
    char told[MAX_TOLD][EVENT_NAME_MAX]; /* for watchers */
};

struct turn {
    struct broker *b;
    struct journal_txn *txn;
    struct follow_up *list;
    size_t n, alloc;
    struct promise *promises;
};

/* A function to call after the commit, see broker_after_commit(). */
struct promise {
    void (*fn) (void *arg);
    void *arg;
    struct promise *next;
};

static struct turn *current_turn (struct broker *b)
{
    if (!b->turn) {
        if (!(b->turn = calloc (1, sizeof (*b->turn)))
            || !(b->turn->txn = journal_txn_create ())) {
            log_error ("out of memory: the broker stops rather than lose an event");
            abort ();
        }
        b->turn->b = b;
        b->turn_serial++;
    }
    return b->turn;
}

static struct follow_up *follow_up (struct broker *b, struct entry *e)
{
    struct turn *t = current_turn (b);
    if (e->turn == b->turn_serial)
        return &t->list[e->turn_slot];
    if (t->n == t->alloc) {
        t->alloc = t->alloc ? t->alloc * 2 : 16;
        if (!(t->list = realloc (t->list, t->alloc * sizeof (*t->list)))) {
            log_error ("out of memory: the broker stops rather than lose an event");
            abort ();
        }
    }
    e->turn = b->turn_serial;
    e->turn_slot = t->n;
    t->list[t->n] = (struct follow_up){ .id = e->id };
    return &t->list[t->n++];
}

struct journal_txn *broker_transaction (struct broker *b)
{
    return current_turn (b)->txn;
}

void broker_emit_into (struct broker *b, struct journal_txn *txn)
{
    b->submit_txn = txn;
}

static void note_event (struct broker *b, struct entry *e, const struct event *ev,
                        const struct held *held)
{
    autofree char *context = event_encode_context (ev);
    struct journal_txn *txn = b->submit_txn ? b->submit_txn : current_turn (b)->txn;

    journal_txn_event (txn, e->id, ev->timestamp, ev->name,
                       context && *context ? context : NULL);
    broker_account (b, e, held, ev->timestamp, txn);
    if (b->submit_txn || (!b->watchers && !e->adopted))
        return;
    struct follow_up *f = follow_up (b, e);
    if (f->ntold < MAX_TOLD)
        snprintf (f->told[f->ntold++], sizeof (f->told[0]), "%s", ev->name);
}

int broker_emit (struct broker *b, struct entry *e, const char *name, json_t *context)
{
    struct error err = { 0 };
    unsigned actions = 0;
    enum job_state before = e->job->state;
    bool holds = e->job->allocated;
    const struct held held = { e->job->ncores, e->job->t_cores };
    struct event *ev = event_create (clock_wall (), name, context);

    if (!ev)
        return -ENOMEM;
    if (b->dead) { /* the next broker finds out again */
        event_destroy (ev);
        return -ESHUTDOWN;
    }
    int rc = job_apply (e->job, ev, &actions, &err);
    if (rc < 0) {
        log_debug ("job %ju: %s: %s", (uintmax_t)e->id, name, err.text);
    } else {
        note_event (b, e, ev, holds ? &held : NULL);
        if (e->job->state != before)
            entry_moved (b, e, before);
        broker_depend_event (b, e, ev->name);
        if (e->job->state == JOB_INACTIVE && before != JOB_INACTIVE)
            broker_array_task_ended (b, e);
        if (e->job->finished && !e->job->requeue && !e->result_told)
            actions |= BROKER_ACT_RESULT;
        broker_act (b, e, actions);
    }
    event_destroy (ev);
    return rc;
}

json_t *broker_text (const char *text)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, TEXT_MAX);
    strbuf_add_json (&sb, text ? text : "", SIZE_MAX);
    json_t *value = sb.err ? NULL : json_loadb (sb.buf, sb.len, JSON_DECODE_ANY, NULL);
    return value ? value : json_string ("");
}

int broker_exception (struct broker *b, struct entry *e, const char *type,
                      uint32_t userid, const char *note)
{
    return broker_emit (b, e, "exception",
                        json_pack ("{s:s s:i s:I s:o}", "type", type, "severity", 0,
                                   "userid", (json_int_t)userid, "note",
                                   broker_text (note)));
}

/* Cancels the booking; waiting jobs may fit now. */
static void give_back (struct broker *b, struct entry *e)
{
    match_cancel (broker_matcher_of (b, e), e->id);
    broker_reserve_freed (b, e);
    if (e->xjob)
        e->r_given_back = e->r;
    else
        rset_destroy (e->r);
    e->r = NULL;
    e->realm = NULL;
    broker_plan_due (b);
    broker_emit (b, e, "free", NULL);
}

static void act_inner (struct broker *b, struct entry *e, unsigned actions)
{
    if (actions & JOB_ACT_VALIDATE)
        broker_emit (b, e, "validate", NULL);
    if (actions & JOB_ACT_DEPEND)
        broker_depend (b, e);
    if (actions & JOB_ACT_PRIORITY)
        broker_emit (
            b, e, "priority",
            json_pack ("{s:I}", "priority", (json_int_t)broker_priority (b, e, NULL)));
    if (actions & JOB_ACT_DEQUEUE)
        broker_dequeue (b, e);
    if (actions & JOB_ACT_ENQUEUE) {
        broker_rank (b, e);
        broker_enqueue (b, e);
    }
    if (actions & JOB_ACT_FREE)
        give_back (b, e);
    if (actions & JOB_ACT_CLEAN && !e->xjob) /* else when the executor has cleaned up */
        broker_emit (b, e, "clean", NULL);
}

void broker_act (struct broker *b, struct entry *e, unsigned actions)
{
    if (actions & JOB_ACT_INACTIVE)
        journal_txn_inactive (current_turn (b)->txn, e->id);
    if (actions & ~(unsigned)INNER && !b->submit_txn)
        follow_up (b, e)->actions |= actions & ~(unsigned)INNER;
    act_inner (b, e, actions & INNER);
}

static void become_inactive (struct broker *b, struct entry *e)
{
    exec_job_free (e->xjob);
    e->xjob = NULL;
    broker_avoid_prepare (b, e);
    entry_drop_spec (e);
    match_request_destroy (e->req);
    placing_done (b, e);
    e->req = NULL;
    entry_set_note (e, NULL);
    watch_output (b, e);
    userlimits_output_changed (b);
    entry_retire (b, e);
}

/* After the commit. A job that is being cleaned up needs no kill. */
static void act_outer (struct broker *b, struct entry *e, unsigned actions)
{
    adopt_tell (b, e);
    if (actions & JOB_ACT_START)
        broker_start (b, e);
    if (actions & JOB_ACT_CLEANUP)
        broker_cleanup (b, e);
    else if (actions & JOB_ACT_KILL)
        broker_kill (b, e);
    if (actions & JOB_ACT_LIMIT)
        broker_limit_changed (b, e);
    if (actions & JOB_ACT_RESIZE)
        broker_resize (b, e);
    if (actions & (BROKER_ACT_RESULT | JOB_ACT_INACTIVE) && !e->result_told) {
        e->result_told = true;
        watch_result (b, e);
    }
    if (actions & JOB_ACT_INACTIVE)
        become_inactive (b, e); /* may free e */
}

static void turn_done (int rc, const struct error *err, void *arg)
{
    struct turn *t = arg;
    struct broker *b = t->b;

    b->under_way--;
    if (rc < 0) /* cannot happen: the journal retries until it succeeds */
        log_error ("journal: %s", err ? err->text : strerror (-rc));
    for (struct promise *p = t->promises, *next; p; p = next) {
        next = p->next;
        p->fn (p->arg);
        free (p);
    }
    for (size_t i = 0; i < t->n && rc == 0 && !b->dead; i++) {
        struct entry *e = entry_find (b, t->list[i].id);
        if (!e)
            continue;
        for (unsigned k = 0; k < t->list[i].ntold; k++)
            watch_event (b, e, t->list[i].told[k]);
        act_outer (b, e, t->list[i].actions);
    }
    free (t->list);
    free (t);
}

void broker_after_commit (struct broker *b, void (*fn) (void *arg), void *arg)
{
    if (b->dead) {
        fn (arg);
        return;
    }
    struct turn *t = current_turn (b); /* may be empty, and follows those under way */
    struct promise *p = malloc (sizeof (*p));
    if (!p) {
        log_error ("out of memory: the broker stops rather than answer too early");
        abort ();
    }
    *p = (struct promise){ fn, arg, t->promises };
    t->promises = p;
}

void broker_flush (struct broker *b)
{
    struct turn *t = b->turn;
    if (!t)
        return;
    b->turn = NULL;
    b->under_way++;
    if (journal_commit (b->journal, t->txn, 0, turn_done, t) < 0) {
        log_error ("out of memory: the broker stops rather than lose an event");
        abort ();
    }
}
