/* turn.h - events, and the actions that follow now and after their commit
 */
#pragma once

#include "broker/core/broker.h"

/* Applies an event and puts it into this turn's transaction. Takes context over. -EPROTO:
 * the job's state does not allow the event, and nothing happened. */
int broker_emit (struct broker *b, struct entry *e, const char *name, json_t *context);
/* The same for an event that nobody reports again: without memory the broker stops, unless
 * the job is being submitted, as the submit is refused then. */
int broker_emit_or_stop (struct broker *b, struct entry *e, const char *name,
                         json_t *context);
/* Performs `actions`: the inner ones now, the outer ones after the commit. */
#define BROKER_ACT_RESULT (1U << 16) /* outer: the result is final, answer the waiters */
#define BROKER_INNER                                                                     \
    (JOB_ACT_VALIDATE | JOB_ACT_DEPEND | JOB_ACT_PRIORITY | JOB_ACT_ENQUEUE              \
     | JOB_ACT_DEQUEUE | JOB_ACT_FREE | JOB_ACT_CLEAN)
void broker_act (struct broker *b, struct entry *e, unsigned actions);
/* Puts a job in SCHED into the queue, or updates its place there. */
void broker_enqueue (struct broker *b, struct entry *e);
/* Tries starts that wait again at once, as their reason may be over. */
void broker_starts_due (struct broker *b);
/* Asks for a pass over the queue at the end of this turn. */
void broker_plan_due (struct broker *b);
bool broker_is_plan_due (const struct broker *b);
/* For the service that passes. */
void broker_set_plan_due (struct broker *b, bool is);
/* Emits an exception of severity 0. type: "cancel", "timeout", ...; note may be NULL. */
int broker_exception (struct broker *b, struct entry *e, const char *type,
                      uint32_t userid, const char *note);
/* Ends the attempt of a job in RUN, which is queued again: emits `requeue` with this
 * context, to which the services add. Takes context over. */
struct service_requeue;
int broker_requeue (struct broker *b, struct entry *e, const char *reason,
                    const struct service_requeue *how, json_t *context);
/* Directs later events into the caller's own transaction (of a submit, which may fail),
 * until called with NULL. Meanwhile outer actions are up to the caller. */
void broker_emit_into (struct broker *b, struct journal_txn *txn);
/* The transaction of this turn. */
struct journal_txn *broker_transaction (struct broker *b);
/* Calls fn when all events emitted so far are on disk. */
void broker_after_commit (struct broker *b, void (*fn) (void *arg), void *arg);
/* Hands this turn's transaction to the journal. */
void broker_flush (struct broker *b);
/* A JSON string for an event. Texts of executors contain names of programs and files, in
 * any bytes; events are UTF-8, so other bytes are replaced rather than the event lost. */
json_t *broker_text (const char *text);
