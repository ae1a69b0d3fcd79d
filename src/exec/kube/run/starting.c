/* starting.c - from the Job to all ranks ready: reads the state of the pods, and finds
 * late starts and nodes at fault (see run.h, exec/startclock.h)
 *
 * A rank is not placed until its pod is bound. It pulls its image while the kubelet
 * reports a failing pull, or events report a pull (pulls.c: the pod's status is the same
 * as while volumes are mounted). It is up when its container has started. The user is
 * told of warning events during the start, and a failed start names them.
 */
#include "exec/kube/make/podmaker.h"
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/hostlist.h"
#include "common/parse.h"
#include "exec/kube/core/kjob.h"

#define TEXT_MAX 512
#define NAMED_MAX 3       /* ranks that the text names with more than the node */
#define LOOK_AFTER 5.0    /* seconds until a container in creation is looked at */
#define ANSWER_WAIT 5.0   /* seconds for rank 0 to name the ranks that have not joined */
#define LOOK_IS_FRESH 5.0 /* largest age of news about pulls when a rank is late */

static const char *image_of (const struct kjob *k)
{
    return k->job->js->image ? k->job->js->image : k->x->cfg.image;
}

static void note (struct kjob *k, const char *text)
{
    k->x->host.note (k->x->host.arg, k->id, text);
}

/* -- stages -- */

static enum start_stage stage_of (const struct kpod *p)
{
    if (!p || !p->node)
        return START_UNPLACED;
    if (p->view.started)
        return START_UP;
    if (p->view.pull_trouble || (p->view.creating && p->pulls))
        return START_PULLING;
    return START_CREATED;
}

static void note_pull (struct kjob *k, const struct kpod *p, const char *node)
{
    char text[TEXT_MAX];

    int what = p->view.pull_trouble ? 2 : 1;

    if (k->pull_noted >= what)
        return;
    k->pull_noted = what;
    if (p->view.pull_trouble)
        snprintf (text, sizeof (text),
                  "image %s cannot be pulled on %s: %s (tried again)", image_of (k), node,
                  p->view.text);
    else
        snprintf (text, sizeof (text), "image %s is being pulled on %s", image_of (k),
                  node);
    note (k, text);
}

/* The time so far counts for the known stage of the rank. If the rank turns out to have
 * pulled since its creation, that time counts as a pull. */
static void see_rank (struct kjob *k, uint32_t rank, double now)
{
    struct kpod *p = k->pods[rank];
    enum start_stage stage = stage_of (p);

    startclock_set (&k->clock, rank, stage);
    if (!p)
        return;
    if (!p->view.creating && !p->view.pull_trouble)
        p->creating_since = 0;
    else if (p->creating_since == 0)
        p->creating_since = now;
    if (stage != START_PULLING) {
        p->pull_counted = false;
        if (p->view.creating && now - p->creating_since >= LOOK_AFTER)
            pulls_look (k->x);
        return;
    }
    if (!p->pull_counted)
        startclock_was_pulling (&k->clock, rank, now - p->creating_since);
    p->pull_counted = true;
    note_pull (k, p, job_node_name (k, rank));
}

static const char *what_it_does (const struct kpod *p)
{
    if (p->view.text[0])
        return p->view.text;
    if (p->warning.text)
        return p->warning.text;
    return p->view.creating ? "its container is being created"
                            : "its kubelet has not accepted the pod";
}

/* Reports the first late rank that has news. */
static void note_late (struct kjob *k, double now)
{
    char text[KWARNING_MAX] = "";

    if (k->waiting_since == 0)
        k->waiting_since = now;
    if (now - k->waiting_since < LOOK_AFTER || k->pull_noted > 0)
        return;
    for (uint32_t r = 0; r < k->launch.nnodes && !text[0]; r++) {
        const struct kpod *p = k->pods[r];

        if (p && !p->view.started && (p->view.text[0] || p->warning.text))
            snprintf (text, sizeof (text), "rank %u on %s: %s", r, job_node_name (k, r),
                      what_it_does (p));
        else if (!p && k->parts[0].uid[0] && k->maker && k->maker->others_make) {
            pulls_look (k->x);
            snprintf (text, sizeof (text), "there is no pod of rank %u yet: %s", r,
                      k->warning.text ? k->warning.text : k->maker->silence);
        }
    }
    if (!text[0] || strcmp (text, k->late_noted) == 0)
        return;
    snprintf (k->late_noted, sizeof (k->late_noted), "%s", text);
    note (k, text);
}

void start_tick (struct kjob *k)
{
    double now = clock_mono ();

    if (kube_away (k->x->kube))
        startclock_skip (&k->clock, now);
    else
        startclock_advance (&k->clock, now);
    for (uint32_t r = 0; r < k->launch.nnodes; r++)
        see_rank (k, r, now);
    note_late (k, now);
}

/* -- failures that a pod shows by itself -- */

/* The node is drained for it, and the job starts again elsewhere. */
static void prolog_failed (struct kjob *k, uint32_t rank, const struct podview *v)
{
    const char *node = job_node_name (k, rank);
    char text[512];

    snprintf (text, sizeof (text), "prolog failed on node %.128s: %s", node,
              v->admin_text);
    job_blame (k, rank, false);
    k->start_drained = true;
    k->x->host.node_failed (k->x->host.arg, node, text);
    job_start_failed (k, true, "%s", text);
}

void start_look_at_pod (struct kjob *k, uint32_t rank, const struct kpod *p)
{
    const struct podview *v = &p->view;
    const char *node = job_node_name (k, rank);

    if (v->prolog_failed) {
        prolog_failed (k, rank, v);
    } else if (v->trouble == POD_FATAL && v->pull_trouble) {
        job_start_failed (k, false, "image %s cannot be pulled on %s: %s", image_of (k),
                          node, v->text);
    } else if (v->trouble == POD_FATAL || v->trouble == POD_RETRY) {
        if (v->blame != POD_BLAME_NOBODY)
            job_blame (k, rank, v->blame == POD_BLAME_NODE);
        job_start_failed (k, v->trouble == POD_RETRY, "rank %u on %s: %s", rank, node,
                          v->text);
    } else if (v->deleting && !v->terminal) {
        job_start_failed (k, true, "rank %u on %s: its pod was deleted", rank, node);
    }
}

void start_look_at_pods (struct kjob *k)
{
    for (uint32_t r = 0; r < k->launch.nnodes && !k->start_lost; r++)
        if (k->pods[r])
            start_look_at_pod (k, r, k->pods[r]);
}

/* -- somebody is late -- */

static char *nodes_at_fault (const struct kjob *k, enum start_late late)
{
    struct hostlist *hl = hostlist_create ();

    for (uint32_t r = 0; hl && r < k->launch.nnodes; r++)
        if (startclock_is_at_fault (&k->clock, late, r))
            hostlist_append (hl, job_node_name (k, r));
    char *text = hl ? hostlist_encode (hl) : NULL;
    hostlist_destroy (hl);
    return text;
}

static uint32_t count_at_fault (const struct kjob *k, enum start_late late)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < k->launch.nnodes; r++)
        n += startclock_is_at_fault (&k->clock, late, r);
    return n;
}

/* The other scheduler, which must bind the pod to our node (podspec.h), finds no place
 * for it. */
static bool scheduler_refuses (const struct kpod *p)
{
    return p && !p->node && p->view.trouble == POD_WAITING;
}

static void late_place (struct kjob *k, const char *limit)
{
    autofree char *nodes = nodes_at_fault (k, START_LATE_PLACE);
    const char *why = "";
    bool made = true;

    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        made &= k->pods[r] != NULL;
        if (!scheduler_refuses (k->pods[r]))
            continue;
        job_blame (k, r, false); /* another node may do */
        if (!why[0])
            why = k->pods[r]->view.text;
    }
    if (k->phase == K_CREATE && !k->parts[0].uid[0])
        job_start_failed (k, true, "the API server accepted no job for %s", limit);
    else if (k->phase == K_CREATE)
        job_start_failed (k, true, "the job's objects could not be made for %s", limit);
    else if (!made)
        k->maker->missing (k, limit);
    else
        job_start_failed (k, true, "%u of %zu ranks are not placed after %s: %s%s%s",
                          count_at_fault (k, START_LATE_PLACE), k->launch.nnodes, limit,
                          nodes ? nodes : "", why[0] ? "; " : "", why);
}

/* If several ranks pull, and all still do, the registry is slow, and no node is
 * better. */
static void late_pull (struct kjob *k, const char *limit)
{
    autofree char *nodes = nodes_at_fault (k, START_LATE_PULL);
    const char *trouble = "";
    uint32_t n = count_at_fault (k, START_LATE_PULL);

    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        if (!startclock_is_at_fault (&k->clock, START_LATE_PULL, r))
            continue;
        if (!trouble[0] && k->pods[r])
            trouble = k->pods[r]->view.text;
        if (n < k->launch.nnodes || n == 1)
            job_blame (k, r, false);
    }
    job_start_failed (k, true, "image %s is still being pulled on %s after %s%s%s",
                      image_of (k), nodes ? nodes : "?", limit, trouble[0] ? ": " : "",
                      trouble);
}

static void late_up (struct kjob *k, const char *limit)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    unsigned told = 0;

    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        const struct kpod *p = k->pods[r];

        if (!startclock_is_at_fault (&k->clock, START_LATE_UP, r))
            continue;
        /* The owner may have caused the failure of a pod that ran, or is gone. */
        if (!p || p->view.blame != POD_BLAME_NOBODY)
            job_blame (k, r, p && !p->view.started && p->view.blame == POD_BLAME_NODE);
        if (told++ < NAMED_MAX)
            strbuf_addf (&sb, "%s%s: %s", told > 1 ? "; " : "", job_node_name (k, r),
                         p ? what_it_does (p) : "its pod is gone");
    }
    if (told > NAMED_MAX)
        strbuf_addf (&sb, "; and %u more", told - NAMED_MAX);
    job_start_failed (k, true, "%u of %zu ranks are not ready after %s: %s", told,
                      k->launch.nnodes, limit, sb.buf ? sb.buf : "");
}

/* A container in creation may be pulling, and only events tell why it is late: no rank
 * counts as late before they were read. */
static bool must_look (struct kjob *k)
{
    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        const struct kpod *p = k->pods[r];

        if (p && p->view.creating
            && startclock_is_at_fault (&k->clock, START_LATE_UP, r)
            && clock_mono () - k->x->pulls_known > LOOK_IS_FRESH) {
            pulls_look (k->x);
            return true;
        }
    }
    return false;
}

/* Only rank 0 knows who has not joined: it is told to end the start, and names those
 * ranks. True while it may still answer. */
static bool ask_who_is_missing (struct kjob *k)
{
    double now = clock_mono ();

    if (!k->link || k->link_trouble[0])
        return false;
    if (k->missing_asked == 0) {
        k->missing_asked = now;
        agentlink_terminate (k->link, "startfail", 0);
    }
    return now < k->missing_asked + ANSWER_WAIT;
}

static void late_join (struct kjob *k, const char *limit)
{
    if (ask_who_is_missing (k))
        return; /* FINISH, see start_refused() in job.c; or READY at the last moment */
    job_start_failed (k, true,
                      "not ready after %s: all pods run, but their agents did not "
                      "find each other%s%s",
                      limit, k->link_trouble[0] ? "; " : "", k->link_trouble);
}

void start_judge (struct kjob *k)
{
    enum start_late late = startclock_late (&k->clock);
    autostrbuf struct strbuf limit = STRBUF_INIT (64);

    if (late == START_IN_TIME || k->start_lost || k->diagnosed
        || (late == START_LATE_UP && must_look (k)))
        return;
    strbuf_add_duration (&limit, startclock_limit (&k->clock, late));
    if (late == START_LATE_PLACE)
        late_place (k, limit.buf);
    else if (late == START_LATE_PULL)
        late_pull (k, limit.buf);
    else if (late == START_LATE_UP)
        late_up (k, limit.buf);
    else
        late_join (k, limit.buf);
}
