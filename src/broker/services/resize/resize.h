/* resize.h - resizing of running malleable jobs (resize.c)
 *
 *     if (resize_job (b, e, 6, "asked for", uid, &err) < 0) ...   // it begins
 *     ... events resize, and when it is done resized
 */
#pragma once

#include "broker/core/broker.h"

/* Begins to resize a running malleable job to nnodes, one of its sizes: 0, and the event
 * is emitted; -EBUSY: no such nodes now, -EINVAL, -ENOMEM, with a reason in err. reason:
 * one line for the log. */
enum resize_by { RESIZE_BY_BROKER, RESIZE_BY_USER, RESIZE_BY_SCHEDULER };
int resize_job (struct broker *b, struct entry *e, int64_t nnodes, const char *reason,
                enum resize_by by, uint32_t userid, struct error *err);
/* Whether the executor can resize jobs at all. -EINVAL. */
int resize_check (const struct broker *b, const struct jobspec *js, struct error *err);
