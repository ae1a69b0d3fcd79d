/* adoptrelease.c - unsuspends a Job with our scheduling gate and tolerations (see
 * adopt.h)
 *
 * The API server accepts a change of the pods' template only for a Job that is suspended
 * and has no status.startTime. A Job that was created without `suspend: true` has one:
 * the Job controller sets it at once, and keeps it when the Job is suspended later. So:
 *
 *   suspended? --> the Job controller has seen that, every earlier pod has ended, and the
 *                  Job controller has counted it
 *              --> the startTime is removed, if there is one and the template changes
 *              --> one patch: template, parallelism, suspend: false
 *
 * Without the second step the Job controller might never see the suspension, and pods
 * without the gate would stay; and a Job whose last pod counts as succeeded later could
 * not become Complete, for which the API server requires a startTime. Each patch carries
 * the version of the object that it is based on, so a refusal concerns that version and
 * is final.
 */
#include "exec/kube/adopt/adopt.h"

#include "common/clock.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/needs/needs.h"
#include "kube/object.h"

/* Returns what the template lacks: our gate, and the queue's tolerations. */
static json_t *gates_and_tolerations (const struct adoptee *a)
{
    const json_t *set = json_object_get (a->x->sets, a->job->queue ? a->job->queue : "");
    const json_t *more = json_object_get (set, "tolerations"), *one;
    json_t *spec = json_object (), *list = json_array ();
    size_t i;

    if (!a->view.binds && !a->view.gated)
        json_object_set_new (spec, "schedulingGates",
                             json_pack ("[{s:s}]", "name", ADOPT_QUEUE));
    json_array_foreach (a->tolerations, i, one) {
        json_array_append (list, (json_t *)one);
    }
    size_t own = json_array_size (list);
    json_array_foreach (more, i, one) {
        bool there = false;
        for (size_t k = 0; k < own; k++)
            there |= json_equal (json_array_get (list, k), one);
        if (!there)
            json_array_append (list, (json_t *)one);
    }
    if (json_array_size (list) > own)
        json_object_set (spec, "tolerations", list);
    json_decref (list);
    return spec;
}

/* One patch for this version of the object only: the template (taken), the number of pods
 * that have room, and the release. */
static json_t *release_patch (const struct adoptee *a, json_t *template)
{
    json_t *spec = json_pack ("{s:b}", "suspend", 0);
    int64_t slots = rset_slots (a->job->r);

    if (spec && json_object_size (template) > 0)
        json_object_set_new (spec, "template", json_pack ("{s:O}", "spec", template));
    json_decref (template);
    if (spec && a->view.parallelism != slots
        && (a->view.completions < 0 || a->view.parallelism < a->view.completions
            || slots < a->view.parallelism))
        json_object_set_new (spec, "parallelism", json_integer (slots));
    return json_pack ("{s:{s:s} s:o}", "metadata", "resourceVersion", a->view.version,
                      "spec", spec);
}

static json_t *reset_patch (const struct adoptee *a)
{
    return json_pack ("{s:{s:s} s:{s:n}}", "metadata", "resourceVersion", a->view.version,
                      "status", "startTime");
}

static void send_release (struct adoptee *a)
{
    if (adopt_is_calling (a, ADOPT_CALL_RELEASE) || adopt_is_calling (a, ADOPT_CALL_RESET)
        || strcmp (a->tried, a->view.version) == 0) /* the watch reports a new one */
        return;
    snprintf (a->tried, sizeof (a->tried), "%s", a->view.version);
    json_t *template = gates_and_tolerations (a);
    bool reset = a->view.started > 0 && json_object_size (template) > 0;

    if (reset)
        json_decref (template);
    else
        adopt_begin_pods (a); /* earlier pods have ended */
    if (reset ? !adopt_patch (a, ADOPT_CALL_RESET, reset_patch (a))
              : !adopt_patch (a, ADOPT_CALL_RELEASE, release_patch (a, template)))
        adopt_start_short (a);
}

/* 409 and 404: the watch reports what the Job is now. */
static bool is_refused (const struct adoptee *a, const struct kube_result *res)
{
    return a->job && a->phase == A_RELEASE && !a->told && res->status != 200
           && res->status != 409 && res->status != 404;
}

static void refused (struct adoptee *a, const struct kube_result *res, const char *what)
{
    bool may_pass = res->status == 0 || res->status == 401 || res->status == 403
                    || res->status == 429 || res->status >= 500;

    adopt_start_failed (a, may_pass, NULL, "its Job cannot be %s: %s", what,
                        res->err.text);
}

void adopt_reset (struct adoptee *a, const struct kube_result *res)
{
    if (is_refused (a, res))
        refused (a, res, "made ready for its release");
}

void adopt_released (struct adoptee *a, const struct kube_result *res)
{
    if (res->status == 200) /* the watch reports that, too, but later */
        a->view.suspended = a->view.at_rest = false;
    if (is_refused (a, res))
        refused (a, res, "released");
    else if (res->status == 200 && a->job && a->phase == A_RELEASE && !a->told)
        adopt_enter (a, A_START);
}

/* Whether the Job controller knows of the suspension, and has counted all earlier
 * pods. */
static bool is_quiet (const struct adoptee *a)
{
    const struct adoptview *v = &a->view;

    return v->at_rest && v->active == 0 && v->terminating == 0 && !v->counting && !v->ending
           && !adopt_has_live_pods (a) && !adopt_has_uncounted_pods (a);
}

/* The Job controller may know of a pod that succeeded just before the suspension sooner
 * than the broker does. */
void adopt_heal (struct adoptee *a)
{
    const struct adoptview *v = &a->view;
    char when[KUBE_TIME_MAX];

    if (a->group || !a->seen || !v->ending || v->over || v->started > 0 || v->deleting
        || !v->suspended || adopt_is_calling (a, ADOPT_CALL_RESET)
        || strcmp (a->healed, v->version) == 0)
        return;
    kube_time_write (clock_wall (), false, when);
    snprintf (a->healed, sizeof (a->healed), "%s", v->version);
    adopt_patch (a, ADOPT_CALL_RESET,
                 json_pack ("{s:{s:s} s:{s:s}}", "metadata", "resourceVersion", v->version,
                            "status", "startTime", when));
}

/* After a restart of the broker: we have released the Job only if its pods wait for
 * us. */
static void go_on (struct adoptee *a)
{
    a->recovering = false;
    if (a->job->started > 0)
        adopt_enter (a, A_RUN);
    else if (!a->view.suspended && (a->view.gated || a->view.binds || a->group))
        adopt_enter (a, A_START);
    else
        adopt_poke (a);
}

static void release_job (struct adoptee *a, double waited)
{
    if (!a->view.suspended)
        adopt_suspend (a); /* somebody else has released it, perhaps to any node */
    if (a->view.suspended && is_quiet (a) && !adopt_is_calling (a, ADOPT_CALL_SUSPEND)) {
        if (needs_settled (a->x, a->job->id))
            send_release (a);
    } else if (waited > a->job->limits.start)
        adopt_start_failed (a, true, NULL, "its Job could not be suspended first%s",
                            adopt_has_live_pods (a) ? ": there are still pods of before"
                            : a->view.suspended ? ": the Job controller does not say that "
                                                  "it is"
                                                : "");
}

void adopt_step_release (struct adoptee *a)
{
    double waited = clock_mono () - a->since;

    if (!a->space) {
        adopt_start_failed (a, false, NULL,
                            "namespace %s is no longer in kube.adopt.namespaces",
                            a->namespace_);
    } else if (!a->job->r) {
        adopt_start_failed (a, false, NULL, "its allocation cannot be read");
    } else if (!a->seen || a->view.deleting) {
        if (a->space->listed && waited > a->job->limits.start)
            adopt_start_failed (a, false, NULL, "its Job is not there");
    } else if (a->view.over) {
        adopt_finish_as_seen (a);
    } else if (a->recovering) {
        go_on (a);
    } else if (!a->group) {
        release_job (a, waited);
    } else if (a->npods < a->size) {
        adopt_start_failed (a, true, NULL, "%u of its %u pods are there", a->npods,
                            (unsigned)a->size);
    } else if (needs_settled (a->x, a->job->id)) {
        adopt_enter (a, A_START); /* pod by pod */
    }
}
