/* adoptreport.c - reports a job on its object, for `kubectl get job` and `kubectl
 * describe` (see adopt.h)
 *
 * Writes annotations: the job's number and its state (also as a label, for `kubectl get
 * -L`), with the uid of the object, since a copy of the object is another job. Writes an
 * event with the reason whenever the reason changes. Two writes, at most every
 * ADOPT_REPORT_EVERY seconds, and at once when the job has begun or ended.
 */
#include "exec/kube/adopt/adopt.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "exec/kube/make/eventobject.h"

/* "PENDING (Resources)" as one word: "PendingResources". */
static void word_of (const char *state, char *buf, size_t size)
{
    bool first = true;
    size_t n = 0;

    for (const char *p = state; *p && n + 1 < size; p++) {
        bool upper = *p >= 'A' && *p <= 'Z', lower = *p >= 'a' && *p <= 'z';

        if (upper && !first && p[-1] >= 'A' && p[-1] <= 'Z')
            buf[n++] = (char)(*p - 'A' + 'a');
        else if (upper || lower)
            buf[n++] = *p;
        first = !upper && !lower;
    }
    buf[n] = '\0';
}

/* Writes an event on the object; reason: one word in CamelCase. */
static void adopt_event (struct adoptee *a, bool warning, const char *reason,
                         const char *text)
{
    const struct adoptpod *ap = a->group ? adoptgroup_speaker (a) : NULL;
    const struct eventobject e = { .namespace_ = a->namespace_,
                                   .api = a->group ? "v1" : "batch/v1",
                                   .kind = a->group ? "Pod" : "Job",
                                   .name = ap ? ap->p->name : a->name,
                                   .uid = adopt_uid (a),
                                   .cluster = a->x->host.cluster_id,
                                   .reason = reason,
                                   .note = text,
                                   .warning = warning,
                                   .now = clock_wall (),
                                   .salt = strlen (a->reported) };
    char path[256];

    eventobject_path (a->namespace_, path, sizeof (path));
    adopt_send (a, ADOPT_CALL_EVENT, "POST", path, eventobject_make (&e), NULL);
}

/* "PENDING (Resources)" as a label: "PENDING.Resources". */
static void label_of (const char *state, char *buf, size_t size)
{
    size_t n = 0;

    for (const char *p = state; *p && n + 1 < size; p++)
        if ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || *p == '_')
            buf[n++] = *p;
        else if (*p == '(')
            buf[n++] = '.';
    buf[n] = '\0';
}

static json_t *annotations (const struct adoptee *a)
{
    json_t *notes =
        json_pack ("{s:s s:s}", ADOPT_STATUS, a->state, ADOPT_STATUS_OF, adopt_uid (a));
    char label[64];

    if (notes && a->id)
        json_object_set_new (notes, ADOPT_JOB_ID, json_sprintf ("%ju", (uintmax_t)a->id));
    label_of (a->state, label, sizeof (label));
    return json_pack ("{s:{s:o s:{s:s}}}", "metadata", "annotations", notes, "labels",
                      ADOPT_STATE, label);
}

static bool is_due (const struct adoptee *a, double now)
{
    bool matters = a->active || a->ended || a->id == 0;

    return now >= a->reported_at + ADOPT_REPORT_EVERY
           || (matters && now >= a->reported_at + 0.2);
}

void adopt_report (struct adoptee *a, double now)
{
    char reason[ADOPT_STATUS_MAX], text[1200];

    /* After a restart the object has the last report. */
    if (!a->reported[0] && a->view.status[0])
        snprintf (a->reported, sizeof (a->reported), "%s", a->view.status);
    if (!a->state[0] || !a->seen || strcmp (a->reported, a->state) == 0
        || strcmp (a->state, "COMPLETING") == 0 /* the outcome comes next */
        || adopt_is_calling (a, ADOPT_CALL_NOTE) || !is_due (a, now))
        return;
    word_of (a->state, reason, sizeof (reason));
    if (a->id)
        snprintf (text, sizeof (text), "job %ju: %s%s%s", (uintmax_t)a->id, a->state,
                  a->text[0] ? ": " : "", a->text);
    else
        snprintf (text, sizeof (text), "%s", a->text);
    snprintf (a->reported, sizeof (a->reported), "%s", a->state);
    a->reported_at = now;
    adopt_patch (a, ADOPT_CALL_NOTE, annotations (a));
    adopt_event (a, a->warn || strncmp (a->state, "FAILED", 6) == 0, reason, text);
}
