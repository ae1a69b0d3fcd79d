/* submit_check.c - whether a new job is admitted: names, queue, limits, feasibility */
#include "broker/core/jobs.h"
#include "broker/core/sizes.h"
#include "broker/services/accounts.h"
#include "broker/services/deadline.h"
#include "broker/services/depend/array.h"
#include "broker/services/licenses.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/nodes/queuenodes.h"
#include "broker/services/placing.h"
#include "broker/services/priority.h"
#include "sched/priority.h"
#include "broker/services/requeue.h"
#include "broker/services/reserve/reserve_job.h"
#include "broker/services/resize/resize.h"
#include "broker/services/submit/submission.h"
#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/options/attributes.h"

/* Applies the queue and its limits, and adds defaults to the jobspec's JSON. */
static int apply_queue (const struct config *c, struct jobspec *js,
                        struct submit_terms *terms, struct error *err)
{
    const struct config_queue *q;
    struct jobspec_sizes sizes;

    q = js->queue ? config_find_queue (c, js->queue) : config_default_queue (c);
    if (!q) {
        autostrbuf struct strbuf names = STRBUF_INIT (400);
        for (size_t i = 0; i < c->nqueues; i++)
            strbuf_addf (&names, "%s%s", i ? ", " : "", c->queues[i].name);
        return error_set (err, ENOENT, "queue '%s' does not exist; there is %s",
                          js->queue, names.buf);
    }
    if (!(terms->queue = strdup (q->name)))
        return error_set (err, ENOMEM, "out of memory");
    jobspec_get_sizes (js, &sizes);
    if (q->max_nodes && sizes.min_nodes > q->max_nodes)
        return error_set (err, EINVAL,
                          "queue %s allows at most %jd nodes per job, %jd are requested",
                          q->name, (intmax_t)q->max_nodes, (intmax_t)sizes.min_nodes);
    if (sizes_check_most (js, q, err) < 0)
        return -EINVAL;
    if (!js->has_duration)
        js->duration = q->default_time > 0 ? q->default_time : q->max_time;
    if (js->time_min > 0 && js->duration > 0 && js->time_min > js->duration) {
        autostrbuf struct strbuf text = STRBUF_INIT (64);
        strbuf_add_duration (&text, js->duration);
        return error_set (err, EINVAL, "--time-min is more than the time limit of %s",
                          text.buf);
    }
    if (q->max_time > 0 && (js->duration == 0 || js->duration > q->max_time)) {
        autostrbuf struct strbuf text = STRBUF_INIT (64);
        strbuf_add_duration (&text, q->max_time);
        return error_set (err, EINVAL,
                          "queue %s allows at most %s; ask for less with --time", q->name,
                          text.buf);
    }
    if (!js->image && q->image) {
        json_t *system =
            json_object_get (json_object_get (js->root, "attributes"), "system");
        json_t *own = json_object_get (system, "fluxq");
        if (!own && json_object_set_new (system, "fluxq", own = json_object ()) < 0)
            return error_set (err, ENOMEM, "out of memory");
        if (json_object_set_new (own, "image", json_string (q->image)) < 0
            || !(js->image = strdup (q->image)))
            return error_set (err, ENOMEM, "out of memory");
        terms->completed = true;
    }
    return 0;
}

static const char *name_of_resource (const char *type, void *arg)
{
    const struct broker *b = arg;
    return broker_ops (b)->resource (broker_exec (b), type);
}

/* Renames the resources of a job, or of a component, to the names that nodes use. */
static int rename_resources (struct broker *b, struct jobspec *js,
                             struct submit_terms *terms, struct error *err)
{
    int rc = broker_ops (b)->resource ? jobspec_rename (js, name_of_resource, b) : 0;
    if (rc < 0)
        return error_set (err, ENOMEM, "out of memory");
    terms->completed |= rc > 0;
    rc = jobspec_type_gpus (js, err);
    terms->completed |= rc > 0;
    return MIN (rc, 0);
}

static int apply_names (struct broker *b, struct jobspec *js, struct submit_terms *terms,
                        struct error *err)
{
    int rc = rename_resources (b, js, terms, err);

    for (size_t i = 0; i < js->ncomponents && rc == 0; i++) {
        rc = rename_resources (b, js->components[i], terms, err);
        if (rc < 0)
            error_prefix (err, "component %zu", i + 1);
    }
    return rc;
}

/* Attributes that only operators of the queue may set. */
static int check_attributes (const struct jobspec *js, int urgency, struct error *err)
{
    if (urgency > PRIORITY_URGENCY_DEFAULT)
        return error_set (err, EPERM, "urgency: only operators may go above %d",
                          PRIORITY_URGENCY_DEFAULT);
    if (js->nice < 0)
        return error_set (err, EPERM,
                          "--nice: only operators may raise a job's priority");
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->by_operator && attribute_text (a, js))
            return error_set (err, EPERM, "--%s: only operators may set it", a->name);
    return 0;
}

/* Refuses more priority than the submitter may give. -EPERM. */
static int check_operator (const struct broker *b, const struct entry *e,
                           const struct submit_terms *terms, struct error *err)
{
    int queue = config_queue_index (broker_config (b), terms->queue);
    const struct jobspec *js = entry_jobspec (e);

    if (terms->is_user && broker_operates (b, terms->uid, (unsigned)queue))
        return 0;
    if (check_attributes (js, terms->made_outside ? 0 : terms->urgency, err) < 0
        || (js->priority > 0
            && priority_check_submit (b, js, &broker_config (b)->queues[queue],
                                      terms->uid, err)
                   < 0))
        return -EPERM;
    return 0;
}

int submit_check (struct broker *b, struct entry *e, struct submit_terms *terms,
                  const char **code, struct error *err)
{
    *code = "bad-jobspec";
    int rc = apply_names (b, entry_jobspec (e), terms, err);
    if (rc == 0)
        rc = apply_queue (broker_config (b), entry_jobspec (e), terms, err);
    if (rc < 0) {
        *code = rc == -ENOENT ? "unknown-queue" : "bad-jobspec";
        return rc;
    }
    if (check_operator (b, e, terms, err) < 0) {
        *code = "not-operator";
        return -EPERM;
    }
    if (requeue_check (b, entry_jobspec (e), err) < 0)
        return -EINVAL;
    if ((rc = accounts_check (b, entry_jobspec (e), code, err)) < 0)
        return rc;
    if ((rc = licenses_check (b, entry_jobspec (e), err)) < 0) {
        *code = "bad-licenses";
        return rc;
    }
    if (entry_jobspec (e)->array.tasks
        && idset_count (entry_jobspec (e)->array.tasks) > array_max (b))
        return error_set (err, EINVAL,
                          "array: %u tasks are requested, an array may have at most %u "
                          "here (array-max)",
                          idset_count (entry_jobspec (e)->array.tasks), array_max (b));
    if (deadline_check (entry_jobspec (e), clock_wall (), err) < 0)
        return -EINVAL;
    if (placing_make (b, e,
                      (unsigned)config_queue_index (broker_config (b), terms->queue), err)
        < 0)
        return -EINVAL;
    entry_take_sizes (e);
    const struct config_queue *q = config_find_queue (broker_config (b), terms->queue);
    if (resize_check (b, entry_jobspec (e), err) < 0)
        return -EINVAL;
    if (broker_ops (b)->check && !terms->made_outside
        && broker_ops (b)->check (broker_exec (b), entry_jobspec (e), q->name, q->mounts,
                                  terms->uid, err)
               < 0)
        return -EINVAL;
    if (entry_jobspec (e)->reservation)
        return reserve_check (b, e, terms->uid, terms->allow_infeasible, code, err);
    *code = "infeasible";
    if (broker_is_recovering (b) || terms->allow_infeasible)
        return 0;
    rc = nodegroups_could_run (b, entry_request (e), err);
    if (rc == 0)
        rc = placing_check (b, e, err);
    if (rc < 0 && queuenodes_select (b))
        error_prefix (err, "queue %s", terms->queue);
    return rc;
}
