/* sizes.h - sizes of jobs, requested and granted, in numbers and in words
 */
#pragma once

#include "broker/core/broker.h"

/* Copies the sizes in the jobspec to the entry. */
void entry_take_sizes (struct entry *e);
int64_t entry_ntasks (const struct entry *e, const struct rset *r);
/* "4-16 nodes, 8 tasks a node", "8 nodes, 64 tasks, 64 cores" */
void sizes_add_asked (struct strbuf *sb, const struct jobspec *js);
void sizes_add_granted (struct strbuf *sb, const struct job *job);
/* -EINVAL: the jobspec names several node counts, and some exceed the queue's maximum. */
int sizes_check_most (const struct jobspec *js, const struct config_queue *q,
                      struct error *err);
/* Add the sizes to the contexts of submit and alloc (the allocation exists). 0, or -1: no
 * memory. */
int sizes_to_submit (json_t *context, const struct jobspec *js);
int sizes_to_alloc (json_t *context, const struct entry *e,
                    const struct sched_size *size);
