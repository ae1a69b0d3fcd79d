/* entry.c - the parts of a job that services see and set
 */
#include <stdlib.h>
#include <string.h>

#include "broker/core/inside.h"

/* PART (type, function, member): the function gives this member of the entry; SET_PART
 * sets it. */
#define PART(type, function, member)                                                     \
    type function (const struct entry *e)                                                \
    {                                                                                    \
        return e->member;                                                                \
    }
#define SET_PART(type, function, member)                                                 \
    void function (struct entry *e, type value)                                          \
    {                                                                                    \
        e->member = value;                                                               \
    }

PART (unsigned, entry_queue, queue)
PART (struct jobspec *, entry_jobspec, js)
PART (struct match_request *, entry_request, req)
PART (struct rset *, entry_alloc, r)
PART (struct exec_job *, entry_exec_job, xjob)
PART (const char *, entry_note, note)
PART (double, entry_max_wait, max_wait)
PART (double, entry_time_min, time_min)
PART (size_t, entry_spec_bytes, spec_bytes)
PART (bool, entry_is_submitting, submitting)
PART (bool, entry_is_starting, starting)
PART (bool, entry_is_result_told, result_told)
PART (bool, entry_is_waiting, waiting.listed)

SET_PART (struct jobspec *, entry_set_jobspec, js)
SET_PART (struct match_request *, entry_set_request, req)
SET_PART (struct rset *, entry_set_alloc, r)
SET_PART (unsigned, entry_set_queue, queue)
SET_PART (size_t, entry_set_spec_bytes, spec_bytes)
SET_PART (bool, entry_set_submitting, submitting)

void entry_end_alloc (struct entry *e)
{
    if (e->xjob)
        e->r_given_back = e->r;
    else
        rset_destroy (e->r);
    e->r = NULL;
}

void entry_set_note (struct entry *e, const char *text)
{
    free (e->note);
    e->note = text ? strdup (text) : NULL;
}

void entry_drop_spec (struct entry *e)
{
    jobspec_destroy (e->js);
    e->js = NULL;
}

void entry_copy (struct entry *task, const struct entry *array)
{
    task->queue = array->queue;
    task->req = match_request_ref (array->req);
    task->max_wait = array->max_wait;
    task->time_min = array->time_min;
    task->tasks_total = array->tasks_total;
    task->tasks_per_slot = array->tasks_per_slot;
}
