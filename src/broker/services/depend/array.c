/* array.c - job arrays: one record in the queue, and a job for each task that starts
 *
 *   array in SCHED --> the scheduler has it under the id of its next task, its head
 *   sched_next() --> array_start(): the task becomes a job, in one transaction:
 *                    of the task: submit validate depend priority
 *                    of the array: task-start
 *                    then it is allocated and started as any other job
 *   task INACTIVE --> of the array: task-end, in the same transaction
 *
 * The submit of the array reserves a job id for each task (job/array.h).
 */
#include "broker/core/no_memory.h"

#include <uthash.h>
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/array.h"
#include "broker/services/depend/correspond.h"
#include "broker/services/depend/depend.h"
#include "broker/services/reserve/reserve.h"
#include "job/details.h"

#define CANCEL_TEXT_MAX (16 << 20)

/* -- the next task of each array -- */

struct slot {
    struct entry *e;
    uint64_t head; /* id of the array's next task, which the scheduler knows; or 0 */
    UT_hash_handle hh;
};

struct arrays {
    struct slot *heads; /* arrays with a queued task, by that task's id */
};

static struct service_place place;

/* -- settings -- */

struct settings {
    unsigned max; /* maximum number of tasks */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "array-max", value_int, AT (max), 1, ARRAY_TASKS_MAX, NULL },
    { 0 },
};

static const struct settings defaults = { .max = 100000 };

SERVICE_SETTINGS_OF (struct settings)

unsigned array_max (const struct broker *b)
{
    return settings_of (b)->max;
}

SERVICE_STATE_OF (struct arrays)
SERVICE_SLOT_OF (struct slot)

static void set_head (struct broker *b, struct entry *e, uint64_t head)
{
    struct arrays *a = state_of (b);
    struct slot *s = slot_of (e);

    if (s->head == head)
        return;
    if (s->head) {
        reserve_dequeue (b, e, s->head);
        HASH_DEL (a->heads, s);
    }
    s->e = e;
    s->head = head;
    if (head)
        HASH_ADD (hh, a->heads, head, sizeof (s->head), s);
}

uint64_t array_queued_id (const struct entry *e)
{
    return entry_job (e)->array ? slot_of (e)->head : entry_id (e);
}

void array_dequeue (struct broker *b, struct entry *e)
{
    set_head (b, e, 0);
}

uint64_t array_enqueue (struct broker *b, struct entry *e)
{
    const struct job_array *a = entry_job (e)->array;
    const struct idset *ready = correspond_ready (e);
    uint32_t task = job_array_is_full (a) || !ready ? IDSET_END : idset_first (ready);

    set_head (b, e, task == IDSET_END ? 0 : job_array_task_id (a, entry_id (e), task));
    return slot_of (e)->head;
}

bool array_is_whole (const struct entry *e)
{
    const struct job *job = entry_job (e);

    return job->array && job->state >= JOB_RUN;
}

/* Why none of the array's tasks is queued. */
static const char *reason (struct broker *b, const struct entry *e, struct strbuf *text)
{
    const struct job *job = entry_job (e);
    const struct job_array *a = job->array;

    if (!a || job->state != JOB_SCHED || slot_of (e)->head || broker_is_recovering (b))
        return NULL;
    bool full = job_array_is_full (a);
    if (text && full)
        strbuf_addf (text, "%u of its tasks run, and at most %u may run at a time",
                     idset_count (a->running), a->spec.limit);
    else if (text)
        strbuf_adds (text,
                     "waits for the corresponding tasks of other arrays to succeed");
    return full ? "JobArrayTaskLimit" : "Dependency";
}

/* -- a task starts -- */

static json_t *submit_context (const struct entry *array, uint32_t task)
{
    const struct job *job = entry_job (array);
    json_t *o = json_pack (
        "{s:I s:i s:i s:i s:I s:s s:s s:s s:f s:I s:I s:I s:{s:I s:I s:f s:f s:f}}",
        "userid", (json_int_t)job->userid, "urgency", job->urgency, "flags", 0, "version",
        1, "groupid", (json_int_t)job->groupid, "user", job->user, "name", job->name,
        "queue", job->queue, "duration", job->duration, "nnodes", (json_int_t)job->nnodes,
        "ntasks", (json_int_t)job->ntasks, "ncores", (json_int_t)job->ncores,
        "array_task", "job", (json_int_t)entry_id (array), "task", (json_int_t)task,
        "submitted", job->t_submit, "eligible", job->t_eligible, "age",
        job_age_since (job));

    if (o
        && ((job->t_deadline > 0
             && json_object_set_new (o, "deadline", json_real (job->t_deadline)) < 0)
            || (job->cpu_milli > 0
                && json_object_set_new (o, "cpu_milli", json_integer (job->cpu_milli))
                       < 0)
            || (job->nice != 0
                && json_object_set_new (o, "nice", json_integer (job->nice)) < 0)
            || (job->fixed != 0
                && json_object_set_new (o, "fixed_priority", json_integer (job->fixed))
                       < 0)
            || (job->shown && json_object_update (o, job->shown) < 0)
            || (job->details
                && json_object_set_new (o, "details", details_to_json (job->details)) < 0)
            || (job->asked_nodes
                && json_object_set_new (o, "nodes", json_string (job->asked_nodes))
                       < 0))) {
        json_decref (o);
        return NULL;
    }
    return o;
}

static struct entry *make_task (struct broker *b, struct entry *array, uint32_t task)
{
    struct entry *e = entry_create (slot_of (array)->head);
    json_t *context = submit_context (array, task);

    if (!e || !context)
        broker_no_memory ("a task");
    entry_copy (e, array);
    services_call (splits, e, array);
    entry_set_submitting (e, true); /* already placed: do not queue it */
    journal_txn_job_of (broker_transaction (b), entry_id (e), entry_job (array)->userid,
                        entry_id (array));
    if (broker_emit (b, e, "submit", context) < 0 || entry_job (e)->state != JOB_SCHED)
        broker_no_memory ("a task"); /* the transaction has half of its events */
    entry_set_submitting (e, false);
    entry_insert (b, e);
    entry_count (b, e);
    services_call (comes, b, e);
    return e;
}

struct entry *array_start (struct broker *b, uint64_t head)
{
    const struct slot *s;

    HASH_FIND (hh, state_of (b)->heads, &head, sizeof (head), s);
    if (!s || entry_job (s->e)->state != JOB_SCHED)
        return NULL;
    struct entry *array = s->e;
    uint32_t task = job_array_task_of (entry_job (array)->array, entry_id (array), head);
    struct entry *e = make_task (b, array, task);
    set_head (b, array, 0); /* the scheduler has dropped this id */
    broker_emit_or_stop (b, array, "task-start",
                         json_pack ("{s:I}", "task", (json_int_t)task));
    return e;
}

static void task_ended (struct broker *b, const struct entry *e)
{
    const struct job *job = entry_job (e);
    struct entry *array = job->array_job ? entry_find (b, job->array_job) : NULL;

    if (!array || !entry_job (array)->array)
        return;
    int rc = broker_emit_or_stop (b, array, "task-end",
                                  json_pack ("{s:I s:s s:i}", "task",
                                             (json_int_t)job->array_task, "state",
                                             job_phase_name (job_result_phase (job)),
                                             "exit_code", job_exit_code (job) & 0xff));
    if (rc == 0)
        correspond_event (b, array, job->array_task);
    if (rc < 0 && rc != -ESHUTDOWN)
        log_error ("array %ju: the end of task %u cannot be recorded: %s",
                   (uintmax_t)entry_id (array), job->array_task, strerror (-rc));
}

int array_cancel (struct broker *b, struct entry *e, const struct idset *tasks,
                  uint32_t userid, const char *note)
{
    autostrbuf struct strbuf text = STRBUF_INIT (CANCEL_TEXT_MAX);

    array_add_tasks (&text, tasks, 0);
    if (text.err)
        return text.err;
    int rc = broker_emit (b, e, "task-cancel",
                          json_pack ("{s:s s:I s:o}", "tasks", text.buf, "userid",
                                     (json_int_t)userid, "note", broker_text (note)));
    if (rc == 0)
        depend_never_start (b, e, tasks);
    return rc;
}

static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    if (entry_job (e)->state == JOB_INACTIVE && change->before != JOB_INACTIVE)
        task_ended (b, e);
}

static void leave (struct broker *b, struct entry *e)
{
    set_head (b, e, 0);
}

static void shows_status (struct broker *b, uid_t viewer, json_t *status)
{
    (void)viewer;
    json_object_set_new (status, "array_max", json_integer (array_max (b)));
}

const struct broker_service service_array = {
    .name = "array",
    .order = SERVICE_AFTER, /* deps.h hears of the task first */
    .place = &place,
    .state_size = sizeof (struct arrays),
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .shows_status = shows_status,
    .event = on_event,
    .goes = leave,
    .reason = reason,
};
