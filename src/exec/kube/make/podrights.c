/* podrights.c - see podrights.h */
#include "exec/kube/make/podrights.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/rights.h"

#define LOOK_AGAIN 10.0

enum pods_wanted pods_wanted (const struct kube_config *cfg)
{
    if (!cfg->pods || strcmp (cfg->pods, "auto") == 0)
        return WANT_AUTO;
    return strcmp (cfg->pods, "broker") == 0 ? WANT_BROKER : WANT_CONTROLLER;
}

static void on_rights (const char *missing, void *arg)
{
    struct kspace *s = arg;
    struct exec *x = s->x;
    struct pods_rights *r = &s->rights;
    bool news = !r->told || strcmp (r->missing, missing) != 0;

    r->call = NULL;
    r->known = r->told = true;
    r->look_at = clock_mono () + LOOK_AGAIN;
    snprintf (r->missing, sizeof (r->missing), "%s", missing);
    if (news && missing[0] && pods_wanted (&x->cfg) == WANT_AUTO)
        log_warning ("kube: the Job controller makes the pods in namespace %s, as the "
                     "broker may not: %s is missing (see kube.pods)",
                     s->name, missing);
    else if (news && missing[0])
        log_error ("kube: pods: broker: no job can start in namespace %s: %s is missing",
                   s->name, missing);
    else if (news)
        log_info ("kube: the broker makes the pods in namespace %s", s->name);
    space_poke_jobs (s);
}

bool podrights_look (struct kspace *s)
{
    struct pods_rights *r = &s->rights;

    if (r->call)
        return false;
    if (r->known && (!r->missing[0] || clock_mono () < r->look_at))
        return true;
    r->known = false;
    r->call = rights_ask (s->x->kube, s->name, RIGHTS_PODS, on_rights, s);
    return false;
}

void podrights_begin (struct exec *x)
{
    if (pods_wanted (&x->cfg) != WANT_CONTROLLER)
        podrights_look (x->space);
}

bool podrights_are_there (const struct kspace *s)
{
    return s->rights.known && !s->rights.missing[0];
}

void podrights_doubt (struct kspace *s)
{
    s->rights.known = false;
}

void podrights_cancel (struct exec *x)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        rights_cancel (s->rights.call);
        s->rights.call = NULL;
    }
}
