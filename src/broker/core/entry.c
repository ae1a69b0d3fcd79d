/* entry.c - the parts of a job that services see and set
 */
#include "broker/core/inside.h"

PART (entry, unsigned, entry_queue, queue)
PART (entry, struct jobspec *, entry_jobspec, js)
PART (entry, struct match_request *, entry_request, req)
PART (entry, struct rset *, entry_alloc, r)
PART (entry, struct exec_job *, entry_exec_job, xjob)
PART (entry, const char *, entry_note, note)
PART (entry, double, entry_max_wait, max_wait)
PART (entry, double, entry_time_min, time_min)
PART (entry, size_t, entry_spec_bytes, spec_bytes)
PART (entry, bool, entry_is_submitting, submitting)
PART (entry, bool, entry_is_starting, starting)
PART (entry, bool, entry_is_result_told, result_told)
PART (entry, bool, entry_is_waiting, links[ENTRIES_WAITING].listed)

SET_PART (entry, struct jobspec *, entry_set_jobspec, js)
SET_PART (entry, struct match_request *, entry_set_request, req)
SET_PART (entry, struct rset *, entry_set_alloc, r)
SET_PART (entry, unsigned, entry_set_queue, queue)
SET_PART (entry, size_t, entry_set_spec_bytes, spec_bytes)
SET_PART (entry, bool, entry_set_submitting, submitting)

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
