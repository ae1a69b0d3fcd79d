/* state.c - see state.h */
#include "exec/kube/core/state.h"

#include "common/clock.h"
#include "common/hostlist.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"
#include "exec/kube/core/kspace.h"

#define KUBELETS_RETURN 20.0 /* until all kubelets have reported, with a margin */

/* -- the loop's next turn -- */

static void on_soon (uv_timer_t *timer)
{
    struct exec *x = timer->data;

    x->hooks->turn (x);
}

void exec_soon (struct exec *x)
{
    if (!x->closing && !uv_is_active ((uv_handle_t *)&x->soon))
        uv_timer_start (&x->soon, on_soon, 0, 0);
}

void job_poke (struct kjob *k)
{
    if (k->poked)
        return;
    k->poked = true;
    LL_PREPEND2 (k->x->poked, k, next_poked);
    exec_soon (k->x);
}

void space_poke_jobs (struct kspace *s)
{
    struct kjob *k, *tmp;

    HASH_ITER (hh, s->x->jobs, k, tmp) {
        if (k->space == s)
            job_poke (k);
    }
}

void knode_changed (struct exec *x, struct knode *n)
{
    if (n->queued)
        return;
    n->queued = true;
    LL_PREPEND2 (x->changed_nodes, n, next_changed);
    exec_soon (x);
}

/* -- records -- */

struct knode *knode_get (struct exec *x, const char *name)
{
    struct knode *n;

    HASH_FIND_STR (x->nodes, name, n);
    if (n)
        return n;
    n = calloc (1, sizeof (*n));
    if (!n || !(n->name = strdup (name))) {
        free (n);
        return NULL;
    }
    n->down_since = clock_mono ();
    HASH_ADD_KEYPTR (hh, x->nodes, n->name, strlen (n->name), n);
    return n;
}

struct kjob *job_find (struct exec *x, uint64_t id)
{
    struct kjob *k;

    HASH_FIND (hh, x->jobs, &id, sizeof (id), k);
    return k;
}

bool job_is_made (const struct kjob *k)
{
    for (uint32_t i = 0; i < k->nparts; i++)
        if (!k->parts[i].uid[0])
            return false;
    return true;
}

uint32_t job_part_of (const struct kjob *k, uint32_t rank)
{
    uint32_t part = 0;

    while (part + 1 < k->nparts && rank >= k->parts[part + 1].first)
        part++;
    return part;
}

/* Only a job of one component can change its number of ranks. */
static uint32_t end_of (const struct kjob *k, uint32_t part, uint32_t nranks)
{
    return part + 1 < k->nparts ? k->parts[part + 1].first : nranks;
}

uint32_t job_part_ranks (const struct kjob *k, uint32_t part)
{
    uint32_t end = end_of (k, part, (uint32_t)k->launch.nnodes);

    return end - MIN (end, k->parts[part].first);
}

int job_rank_of (const struct kjob *k, const struct kpod *p)
{
    const struct podview *v = &p->view;

    if (v->index < 0 || v->component < 0 || (uint32_t)v->component >= k->nparts)
        return -1;
    uint32_t part = (uint32_t)v->component, first = k->parts[part].first;
    uint32_t end = MIN (end_of (k, part, k->room), k->room);
    return first < end && (uint32_t)v->index < end - first ? (int)first + v->index : -1;
}

const char *job_node_name (const struct kjob *k, uint32_t rank)
{
    return rank < MAX (k->launch.nnodes, k->nplaces) ? k->launch.nodes[rank].name : "?";
}

/* While the API server was away no kubelet could report. */
bool job_node_down (const struct kjob *k, const struct kpod *pod)
{
    if (!pod || !pod->node || pod->node->down_since == 0)
        return false;
    double down = clock_mono () - pod->node->down_since;
    return MIN (down, kube_back_for (k->x->kube) - KUBELETS_RETURN) >= k->x->cfg.grace;
}

/* -- the outcome of a job -- */

void job_set_finish (struct kjob *k, int status, const char *reason, const char *fmt, ...)
{
    va_list ap;

    k->have_fin = true;
    k->fin = (struct frame_finish){ .status = status };
    snprintf (k->fin.reason, sizeof (k->fin.reason), "%s", reason);
    va_start (ap, fmt);
    vsnprintf (k->fin.text, sizeof (k->fin.text), fmt, ap);
    va_end (ap);
    job_poke (k);
}

void job_start_failed (struct kjob *k, bool retry, const char *fmt, ...)
{
    va_list ap;
    char text[sizeof (k->fin.text)];

    if (k->start_lost || k->told || k->have_fin)
        return;
    if (k->phase == K_RUN) { /* it runs: this is about new ranks */
        va_start (ap, fmt);
        vsnprintf (text, sizeof (text), fmt, ap);
        va_end (ap);
        k->x->hooks->resize_failed (k, text);
        return;
    }
    k->start_lost = true;
    k->start_retry = retry;
    va_start (ap, fmt);
    vsnprintf (k->fin.text, sizeof (k->fin.text), fmt, ap);
    va_end (ap);
    job_poke (k);
}

void job_start_short (struct kjob *k, int errnum, const char *text)
{
    if (!k->start_lost && !k->told && !k->have_fin && k->phase != K_RUN)
        k->start_errno = errnum;
    job_start_failed (k, true, "%s", text);
}

static void note_node (struct hostlist **list, const char *name)
{
    if (!*list)
        *list = hostlist_create ();
    if (*list && hostlist_find (*list, name) < 0)
        hostlist_append (*list, name);
}

void job_blame (struct kjob *k, uint32_t rank, bool suspect)
{
    if (k->start_lost || k->told || k->have_fin)
        return;
    note_node (&k->blamed, job_node_name (k, rank));
    if (suspect)
        note_node (&k->suspects, job_node_name (k, rank));
}
