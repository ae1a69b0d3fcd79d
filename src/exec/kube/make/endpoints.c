/* endpoints.c - gives the names of a job's ranks their addresses (see podmaker.h)
 *
 * The broker writes EndpointSlices when all pods have an address: the ranks find each
 * other only then, so the tasks of a ready job find all its names. For a Service with a
 * selector, controllers would write Endpoints and slices again after each change of a
 * pod, and remove them all again.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpoints.h"
#include "exec/kube/make/endpointslice.h"

#include "exec/kube/make/podmaker.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

struct kslice {
    bool there, busy;
    bool current; /* the slice, or the one requested, matches the pods */
};

static bool all_have_addresses (const struct kjob *k)
{
    for (uint32_t r = 0; r < k->nplaces; r++)
        if (!k->pods[r] || !k->pods[r]->view.address[0])
            return false;
    return true;
}

static bool some_to_write (const struct kjob *k)
{
    for (uint32_t i = 0; i < k->nslices; i++)
        if (!k->slices[i].current && !k->slices[i].busy)
            return true;
    return false;
}

static struct endpoint *endpoints_of (const struct kjob *k)
{
    struct endpoint *all = calloc (k->nplaces, sizeof (all[0]));

    for (uint32_t r = 0; all && r < k->nplaces; r++)
        all[r] = (struct endpoint){ .address = k->pods[r]->view.address,
                                    .pod = k->pods[r]->name,
                                    .node = job_node_name (k, r) };
    return all;
}

static bool write_slice (struct kjob *k, uint32_t i, const struct endpoint *all)
{
    struct kslice *s = &k->slices[i];
    struct object_source src = calls_source (k);
    char name[ENDPOINTSLICE_NAME_MAX], path[512];
    json_t *object = endpointslice_make (&src, k->parts[0].uid, i, all, k->nplaces);

    endpointslice_name (name, k->name, i);
    snprintf (path, sizeof (path), PATH_DISCOVERY "%s/endpointslices%s%s", k->space->name,
              s->there ? "/" : "", s->there ? name : "");
    k->objects_asked |= 1u << CALL_MAKE_ENDPOINTS;
    s->busy = s->current = true;
    return object
           && call_send (k, CALL_MAKE_ENDPOINTS, i, s->there ? "PATCH" : "POST", path,
                         object);
}

void endpoints_write (struct kjob *k)
{
    if (!k->maker->names_ranks || !some_to_write (k) || !all_have_addresses (k))
        return;
    autofree struct endpoint *all = endpoints_of (k);
    bool fine = all != NULL;
    for (uint32_t i = 0; fine && i < k->nslices; i++)
        if (!k->slices[i].current && !k->slices[i].busy)
            fine = write_slice (k, i, all);
    if (!fine)
        job_start_short (k, ENOMEM, "out of memory");
}

/* 409: made before a restart, or by a request whose answer was lost; checks whether it
 * matches the pods. */
void endpoints_answer (struct kjob *k, const struct kcall *c,
                       const struct kube_result *res)
{
    struct kslice *s = &k->slices[c->rank];
    bool gone = s->there && res->status == 404;

    s->busy = false;
    if (res->status == 409 || gone) {
        s->there = !gone;
        s->current = false;
    } else if (res->status == 200 || res->status == 201)
        s->there = true;
    else
        job_start_failed (k, call_may_pass (res),
                          "the names of its ranks were not made: %s", res->err.text);
}

void endpoints_see (struct kjob *k, const struct kpod *p, const char *old_address)
{
    int rank = job_rank_of (k, p);

    if (rank >= 0 && (uint32_t)rank / ENDPOINTSLICE_MAX < k->nslices
        && strcmp (p->view.address, old_address) != 0)
        k->slices[(uint32_t)rank / ENDPOINTSLICE_MAX].current = false;
}

void endpoints_renew (struct kjob *k)
{
    for (uint32_t i = 0; i < k->nslices; i++)
        k->slices[i].current = false;
}

int endpoints_prepare (struct kjob *k)
{
    uint32_t n = endpointslice_parts (k->room);

    k->slices = calloc (n + 1, sizeof (k->slices[0]));
    k->nslices = k->slices ? n : 0;
    return k->slices ? 0 : -ENOMEM;
}
