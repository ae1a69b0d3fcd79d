/* entry.c - the parts of a job that services see and set
 */
#include <stdlib.h>
#include <string.h>

#include "broker/core/inside.h"

unsigned entry_queue (const struct entry *e)
{
    return e->queue;
}

struct jobspec *entry_jobspec (const struct entry *e)
{
    return e->js;
}

struct match_request *entry_request (const struct entry *e)
{
    return e->req;
}

struct rset *entry_alloc (const struct entry *e)
{
    return e->r;
}

struct exec_job *entry_exec_job (const struct entry *e)
{
    return e->xjob;
}

const char *entry_note (const struct entry *e)
{
    return e->note;
}

double entry_max_wait (const struct entry *e)
{
    return e->max_wait;
}

double entry_time_min (const struct entry *e)
{
    return e->time_min;
}

size_t entry_spec_bytes (const struct entry *e)
{
    return e->spec_bytes;
}

bool entry_is_submitting (const struct entry *e)
{
    return e->submitting;
}

bool entry_is_starting (const struct entry *e)
{
    return e->starting;
}

bool entry_is_result_told (const struct entry *e)
{
    return e->result_told;
}

bool entry_is_waiting (const struct entry *e)
{
    return e->waiting.listed;
}

void entry_set_jobspec (struct entry *e, struct jobspec *js)
{
    e->js = js;
}

void entry_set_request (struct entry *e, struct match_request *req)
{
    e->req = req;
}

void entry_set_alloc (struct entry *e, struct rset *r)
{
    e->r = r;
}

void entry_set_queue (struct entry *e, unsigned queue)
{
    e->queue = queue;
}

void entry_set_spec_bytes (struct entry *e, size_t bytes)
{
    e->spec_bytes = bytes;
}

void entry_set_submitting (struct entry *e, bool is)
{
    e->submitting = is;
}

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
