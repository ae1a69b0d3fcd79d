/* resize.h - malleable jobs get and lose nodes while they run (resize.c)
 *
 *     if (resize_job (b, e, 6, "asked for", uid, &err) < 0) ...   // it begins
 *     ... events resize, and when it is done resized
 */
#ifndef FLUXQ_BROKER_RESIZE_H
#define FLUXQ_BROKER_RESIZE_H

#include "broker/broker.h"

/* The job, which runs, is malleable, and has one of its sizes in mind, becomes that: 0, and the
 * event is emitted; -EBUSY: there are no such nodes now, -EINVAL, -ENOMEM, with words. reason:
 * one line for the log. */
enum resize_by { RESIZE_BY_BROKER, RESIZE_BY_USER, RESIZE_BY_SCHEDULER };
int resize_job (struct broker *b, struct entry *e, int64_t nnodes, const char *reason,
                enum resize_by by, uint32_t userid, struct error *err);
/* For JOB_ACT_RESIZE, and after a restart: the executor is told. */
void broker_resize (struct broker *b, struct entry *e);
/* Whether the executor can do that at all. -EINVAL. */
int resize_check (const struct broker *b, const struct jobspec *js, struct error *err);
/* -- malleable.c -- */
/* A pass is over: are nodes to be asked back, or offered? */
void malleable_due (struct broker *b);
/* For whom nodes were asked back: of whom; appended. */
void malleable_add_reason (const struct broker *b, const struct entry *e,
                           struct strbuf *sb);
/* -- resize.c -- */
void resize_host_init (struct broker *b);
/* What the job held once is not looked at any more. */
void resize_forget (struct entry *e);

#endif
