/* pulls.c - reads events about pods that take long to start: pulls of an image, and
 * trouble (see run.h)
 *
 * While a kubelet pulls an image, the status of its pod is the same as while it mounts
 * volumes, or cannot mount them: a waiting container, ContainerCreating. Only events
 * tell the difference: "Pulling" and "Pulled", and warnings such as "FailedMount".
 * Events of a Job or MiniCluster say why it has no pods. They are listed for the whole
 * namespace, and only while some pod takes long: three lists each LOOK_AGAIN seconds,
 * however many jobs start.
 */
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

#define LOOK_AGAIN 10.0
#define PAGE 500
#define PAGES_MAX 100 /* for one reason: 50,000 events at most */

enum { PULLING, PULLED, WARNINGS, LISTS };
static const char *const lists[LISTS] = {
    [PULLING] = "reason%3DPulling",
    [PULLED] = "reason%3DPulled",
    [WARNINGS] = "type%3DWarning",
};

struct pulls_call {
    struct exec *x;
    struct kspace *space; /* whose events are being listed */
    struct kube_request *req;
    int list; /* index of the list being read */
    unsigned pages;
    double asked;
};

static void on_page (const struct kube_result *res, void *arg);

static bool send_page (struct pulls_call *c, const char *token)
{
    autostrbuf struct strbuf path = STRBUF_INIT (16384);

    strbuf_addf (&path,
                 "/api/v1/namespaces/%s/events?limit=%d&fieldSelector=%s", c->space->name,
                 PAGE, lists[c->list]);
    if (token[0]) {
        strbuf_adds (&path, "&continue=");
        strbuf_add_urlencoded (&path, token);
    }
    c->pages++;
    c->req = path.err ? NULL : kube_send (c->x->kube, "GET", path.buf, NULL, on_page, c);
    return c->req != NULL;
}

/* For all jobs, whatever was found: ranks that are late now are late. */
static void finish (struct pulls_call *c)
{
    struct exec *x = c->x;
    struct kjob *k, *tmp;

    x->pulls_known = c->asked;
    x->pulls_call = NULL;
    free (c);
    HASH_ITER (hh, x->jobs, k, tmp) {
        job_poke (k);
    }
}

static struct kpod *pod_of (const struct pulls_call *c, const json_t *object)
{
    char key[512];
    struct kpod *p;

    snprintf (key, sizeof (key), "%s/%s", json_text (object, "namespace"),
              json_text (object, "name"));
    HASH_FIND_STR (c->x->pods, key, p);
    return p && p->ours ? p : NULL;
}

/* Returns the job of a Job or MiniCluster of that name: fluxq-CLUSTER-ID-ATTEMPT, or that
 * of a further component. */
static struct kjob *job_of (const struct pulls_call *c, const char *name)
{
    const char *cluster = c->x->host.cluster_id;
    size_t n = strlen ("fluxq-") + strlen (cluster) + 1;
    struct kjob *k =
        strlen (name) > n ? job_find (c->x, strtoull (name + n, NULL, 10)) : NULL;

    return k && object_is_part (name, k->name) ? k : NULL;
}

/* The latest event counts: its time is written so that texts sort like times. */
static void read_warning (struct pulls_call *c, const json_t *event,
                          const json_t *object)
{
    bool of_pod = strcmp (json_text (object, "kind"), "Pod") == 0;
    struct kpod *p = of_pod ? pod_of (c, object) : NULL;
    struct kjob *k = of_pod ? NULL : job_of (c, json_text (object, "name"));
    struct kwarning *w = p ? &p->warning : k ? &k->warning : NULL;
    const char *when = json_text (event, "lastTimestamp");
    char text[KWARNING_MAX];

    if (!*when)
        when = json_text (event, "eventTime");
    if (!w || strncmp (when, w->when, sizeof (w->when) - 1) < 0)
        return;
    snprintf (text, sizeof (text), "%.64s: %s", json_text (event, "reason"),
              json_text (event, "message"));
    text[strcspn (text, "\r\n")] = '\0';
    snprintf (w->when, sizeof (w->when), "%s", when);
    free (w->text);
    w->text = strdup (text);
}

static void read_event (struct pulls_call *c, const json_t *event)
{
    const json_t *object = json_object_get (event, "involvedObject");
    struct kpod *p;

    if (c->list == WARNINGS) {
        read_warning (c, event, object);
    } else if (strcmp (json_text (object, "kind"), "Pod") == 0
               && (p = pod_of (c, object))) {
        p->pulled |= c->list == PULLED;
        p->pulls = !p->pulled;
    }
}

/* Goes to the next namespace with jobs; false: there is none. */
static bool next_space (struct pulls_call *c)
{
    do
        c->space = c->space ? c->space->hh.next : c->x->spaces;
    while (c->space && c->space->njobs == 0);
    c->list = PULLING;
    c->pages = 0;
    return c->space && send_page (c, "");
}

static void on_page (const struct kube_result *res, void *arg)
{
    struct pulls_call *c = arg;
    const char *token = json_text (json_object_get (res->body, "metadata"), "continue");
    json_t *event;
    size_t i;

    c->req = NULL;
    if (res->status != 200) {
        if (!c->x->pulls_refused)
            log_warning ("kube: pulls of images cannot be observed, and pull-timeout has "
                         "no effect: %s",
                         res->err.text);
        c->x->pulls_refused = true;
        if (!next_space (c))
            finish (c);
        return;
    }
    c->x->pulls_refused = false;
    json_array_foreach (json_object_get (res->body, "items"), i, event) {
        read_event (c, event);
    }
    if (token[0] && c->pages < PAGES_MAX && send_page (c, token))
        return;
    c->pages = 0;
    if (++c->list < LISTS ? send_page (c, "") : next_space (c))
        return;
    finish (c);
}

void pulls_look (struct exec *x)
{
    double now = clock_mono ();
    struct pulls_call *c;

    if (x->pulls_call || now < x->pulls_next || !(c = calloc (1, sizeof (*c))))
        return;
    *c = (struct pulls_call){ .x = x, .asked = now };
    x->pulls_next = now + LOOK_AGAIN;
    x->pulls_call = c;
    if (!next_space (c))
        finish (c);
}

void pulls_cancel (struct exec *x)
{
    if (!x->pulls_call)
        return;
    kube_cancel (x->pulls_call->req);
    free (x->pulls_call);
    x->pulls_call = NULL;
}
