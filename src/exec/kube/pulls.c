/* pulls.c - whose image is being pulled (see private.h)
 *
 * While a kubelet pulls an image, the status of its pod is the same as while it mounts
 * volumes: a waiting container, ContainerCreating. Only events tell, "Pulling" and "Pulled".
 * They are listed for all pods of the namespace at once, and only while some container takes
 * long to be created: a list each LOOK_AGAIN seconds, however many jobs start.
 */
#include "exec/kube/private.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"

#define LOOK_AGAIN 10.0
#define PAGE 500
#define PAGES_MAX 100 /* of one reason: nobody reads more than 50,000 events */

struct pulls_call {
    struct exec *x;
    struct kspace *space; /* whose events are being listed */
    struct kube_request *req;
    bool ended; /* "Pulled" is being listed, else "Pulling" */
    unsigned pages;
    double asked;
};

static void on_page (const struct kube_result *res, void *arg);

static bool send_page (struct pulls_call *c, const char *token)
{
    autostrbuf struct strbuf path;

    strbuf_init (&path, 16384);
    strbuf_addf (&path,
                 "/api/v1/namespaces/%s/events?limit=%d&fieldSelector=reason%%3D%s",
                 c->space->name, PAGE, c->ended ? "Pulled" : "Pulling");
    if (token[0]) {
        strbuf_adds (&path, "&continue=");
        strbuf_add_urlencoded (&path, token);
    }
    c->pages++;
    c->req = path.err ? NULL : kube_send (c->x->kube, "GET", path.buf, NULL, on_page, c);
    return c->req != NULL;
}

/* For all, whatever was learnt: who is late now is late. */
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

static void read_event (struct pulls_call *c, const json_t *event)
{
    const json_t *object = json_object_get (event, "involvedObject");
    char key[512];
    struct kpod *p;

    if (strcmp (json_text (object, "kind"), "Pod") != 0)
        return;
    snprintf (key, sizeof (key), "%s/%s", json_text (object, "namespace"),
              json_text (object, "name"));
    HASH_FIND_STR (c->x->pods, key, p);
    if (!p || !p->ours)
        return;
    p->pulled |= c->ended;
    p->pulls = !p->pulled;
}

/* The next one in which jobs are; false: there is none. */
static bool next_space (struct pulls_call *c)
{
    do
        c->space = c->space ? c->space->hh.next : c->x->spaces;
    while (c->space && c->space->njobs == 0);
    c->ended = false;
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
            log_warning ("kube: whether images are being pulled cannot be told, and "
                         "pull-timeout is without effect: %s",
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
    if (!c->ended) {
        c->ended = true;
        c->pages = 0;
        if (send_page (c, ""))
            return;
    } else if (next_space (c))
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
