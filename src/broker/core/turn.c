/* turn.c - events, and the actions that follow now and after their commit
 *
 * A turn is the result of one round of the loop: events in one transaction, and a list of
 * (job, outer actions, events for watchers) to work off when the transaction is on disk.
 */
#include "broker/core/exec_job.h"
#include "broker/core/inside.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "common/clock.h"

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
    if (!b->turns.current) {
        if (!(b->turns.current = calloc (1, sizeof (*b->turns.current)))
            || !(b->turns.current->txn = journal_txn_create ()))
            broker_no_memory ("an event");
        b->turns.current->b = b;
        b->turns.serial++;
    }
    return b->turns.current;
}

static struct follow_up *follow_up (struct broker *b, struct entry *e)
{
    struct turn *t = current_turn (b);
    if (e->turn == b->turns.serial)
        return &t->list[e->turn_slot];
    if (array_reserve (&t->list, &t->alloc, t->n + 1, sizeof (*t->list)) < 0)
        broker_no_memory ("an event");
    e->turn = b->turns.serial;
    e->turn_slot = t->n;
    t->list[t->n] = (struct follow_up){ .id = entry_id (e) };
    return &t->list[t->n++];
}

struct journal_txn *broker_transaction (struct broker *b)
{
    return current_turn (b)->txn;
}

void broker_emit_into (struct broker *b, struct journal_txn *txn)
{
    b->turns.into = txn;
}

static void note_event (struct broker *b, struct entry *e, const struct event *ev,
                        struct job_change *change)
{
    autofree char *context = event_encode_context (ev);
    struct journal_txn *txn = b->turns.into ? b->turns.into : current_turn (b)->txn;

    if (!context)
        broker_no_memory ("an event");
    journal_txn_event (txn, entry_id (e), ev->timestamp, ev->name,
                       *context ? context : NULL);
    change->txn = txn;
    change->now = ev->timestamp;
    if (b->turns.into || !services_any (listens, b, e))
        return;
    struct follow_up *f = follow_up (b, e);
    if (f->ntold < MAX_TOLD)
        snprintf (f->told[f->ntold++], sizeof (f->told[0]), "%s", ev->name);
}

int broker_emit (struct broker *b, struct entry *e, const char *name, json_t *context)
{
    struct error err = { 0 };
    unsigned actions = 0;
    struct job_change change = { .name = name,
                                 .before = entry_job (e)->state,
                                 .held = entry_job (e)->allocated,
                                 .held_cores = entry_job (e)->ncores,
                                 .held_since = entry_job (e)->t_cores };
    struct event *ev = event_create (clock_wall (), name, context);

    if (!ev)
        return -ENOMEM;
    if (b->dead) { /* the next broker finds out again */
        event_destroy (ev);
        return -ESHUTDOWN;
    }
    int rc = job_apply (entry_job (e), ev, &actions, &err);
    if (rc < 0) {
        log_debug ("job %ju: %s: %s", (uintmax_t)entry_id (e), name, err.text);
    } else {
        note_event (b, e, ev, &change);
        if (entry_job (e)->state != change.before)
            entry_moved (b, e, change.before);
        services_call (event, b, e, &change);
        if (entry_job (e)->finished && !entry_job (e)->requeue && !e->result_told)
            actions |= BROKER_ACT_RESULT;
        broker_act (b, e, actions);
    }
    event_destroy (ev);
    return rc;
}

int broker_emit_or_stop (struct broker *b, struct entry *e, const char *name,
                         json_t *context)
{
    int rc = broker_emit (b, e, name, context);

    if (rc == -ENOMEM && !e->submitting)
        broker_no_memory ("an event");
    return rc;
}

json_t *broker_text (const char *text)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);

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

static void perform (struct broker *b, struct entry *e, unsigned action)
{
    for (const struct broker_service **s = SERVICES_WITH (acts); *s; s++)
        for (const struct service_act *a = (*s)->acts; a->action; a++)
            if (a->action == action)
                a->fn (b, e);
}

static void act_inner (struct broker *b, struct entry *e, unsigned actions)
{
    static const unsigned order[] = { JOB_ACT_DEPEND, JOB_ACT_PRIORITY, JOB_ACT_DEQUEUE,
                                      JOB_ACT_ENQUEUE, JOB_ACT_FREE };

    if (actions & JOB_ACT_VALIDATE)
        broker_emit_or_stop (b, e, "validate", NULL);
    for (size_t i = 0; i < ARRAY_SIZE (order); i++)
        if (actions & order[i])
            perform (b, e, order[i]);
    if (actions & JOB_ACT_CLEAN && !e->xjob) /* else when the executor has cleaned up */
        broker_emit_or_stop (b, e, "clean", NULL);
}

void broker_act (struct broker *b, struct entry *e, unsigned actions)
{
    if (actions & JOB_ACT_INACTIVE)
        journal_txn_inactive (current_turn (b)->txn, entry_id (e));
    if (actions & ~(unsigned)BROKER_INNER && !b->turns.into)
        follow_up (b, e)->actions |= actions & ~(unsigned)BROKER_INNER;
    act_inner (b, e, actions & BROKER_INNER);
}

static void become_inactive (struct broker *b, struct entry *e)
{
    exec_job_free (e->xjob);
    e->xjob = NULL;
    entry_drop_spec (e);
    match_request_destroy (e->req);
    e->req = NULL;
    entry_set_note (e, NULL);
    services_call (ended, b, e);
    entry_retire (b, e);
}

/* After the commit. A job that is being cleaned up needs no kill. */
static void act_outer (struct broker *b, struct entry *e, unsigned actions)
{
    static const unsigned order[] = { JOB_ACT_START, JOB_ACT_CLEANUP, JOB_ACT_KILL,
                                      JOB_ACT_LIMIT, JOB_ACT_RESIZE,  BROKER_ACT_RESULT };

    if (actions & JOB_ACT_CLEANUP)
        actions &= ~(unsigned)JOB_ACT_KILL;
    if (actions & JOB_ACT_INACTIVE)
        actions |= BROKER_ACT_RESULT;
    if (e->result_told)
        actions &= ~BROKER_ACT_RESULT;
    if (actions & BROKER_ACT_RESULT)
        e->result_told = true;
    for (size_t i = 0; i < ARRAY_SIZE (order); i++)
        if (actions & order[i])
            perform (b, e, order[i]);
    if (actions & JOB_ACT_INACTIVE)
        become_inactive (b, e); /* may free e */
}

void broker_enqueue (struct broker *b, struct entry *e)
{
    services_call (enqueue, b, e);
}

void broker_starts_due (struct broker *b)
{
    services_call (starts_due, b);
}

void broker_plan_due (struct broker *b)
{
    b->plan_due = true;
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
        services_call (committed, b, e, (const char (*)[EVENT_NAME_MAX])t->list[i].told,
                       t->list[i].ntold);
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
    if (!p)
        broker_no_memory ("an answer");
    *p = (struct promise){ fn, arg, t->promises };
    t->promises = p;
}

void broker_flush (struct broker *b)
{
    struct turn *t = b->turns.current;
    if (!t)
        return;
    b->turns.current = NULL;
    b->under_way++;
    if (journal_commit (b->journal, t->txn, 0, turn_done, t) < 0)
        broker_no_memory ("an event");
}
