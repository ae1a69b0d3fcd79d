/* acct_walk.c - all jobs in the order of their ids, from the queue and the history
 *
 *   GET /v1/jobs (waiting, running) --.
 *                                     |--> one list by id --> w->row()
 *   GET /v1/history, page after page -'
 *
 * The queue is read first: a job that ends meanwhile is in the history, too, and given as
 * ended. See acct.h.
 */
#include "cmd/slurm/acct/acct.h"

#define TARGET_MAX (256 * 1024)
#define PAGE 20000
#define PAGE_WITH_STEPS 1000

struct walk {
    const struct acct_walk *w;
    struct acct_rows active;
    size_t *order, next; /* of active: by id */
};

static int compare_ids (const void *a, const void *b, void *arg)
{
    uint64_t ia = acct_row_id (arg, *(const size_t *)a);
    uint64_t ib = acct_row_id (arg, *(const size_t *)b);

    return (ia > ib) - (ia < ib);
}

/* A job that has just ended may not be in the history yet: when jobs are named, ended ones
 * are read here, too. */
static int read_active (struct walk *k)
{
    const struct acct_walk *w = k->w;
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);

    strbuf_adds (&target, "/v1/jobs?limit=10000000");
    target_add (&target, "state", w->named ? "all" : "active");
    w->add_filters (w->arg, &target, ACCT_JOBS);
    uint64_t window = ACCT_BIT (SUBMIT) | ACCT_BIT (STATE);
    if (acct_rows_get (w->c, &k->active, ACCT_JOBS, target.buf, w->needs | window, false)
        != CMD_OK)
        return w->c->status;
    k->order = malloc ((k->active.n + 1) * sizeof (*k->order));
    if (!k->order)
        return cmd_fail (w->c, "out of memory");
    for (size_t i = 0; i < k->active.n; i++)
        k->order[i] = i;
    qsort_r (k->order, k->active.n, sizeof (*k->order), compare_ids, &k->active);
    return CMD_OK;
}

static size_t page_of (const struct acct_walk *w)
{
    return w->steps ? PAGE_WITH_STEPS : PAGE;
}

static int read_history (const struct acct_walk *w, uint64_t after, struct acct_rows *ret)
{
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);

    strbuf_addf (&target, "/v1/history?limit=%zu&since=%.0f&until=%.0f&after=%ju",
                 page_of (w), w->view->since, w->view->until, (uintmax_t)after);
    w->add_filters (w->arg, &target, ACCT_HISTORY);
    return acct_rows_get (w->c, ret, ACCT_HISTORY, target.buf, w->needs, w->steps);
}

/* Gives active jobs with ids below `id`, and leaves out the one with the id. */
static void give_active (struct walk *k, uint64_t id)
{
    for (; k->next < k->active.n; k->next++) {
        size_t i = k->order[k->next];
        uint64_t n = acct_row_id (&k->active, i);
        if (n > id)
            return;
        if (n < id)
            k->w->row (k->w->arg, &k->active, i);
    }
}

static int give_history (struct walk *k)
{
    const struct acct_walk *w = k->w;
    struct acct_rows page;
    uint64_t after = 0;
    bool more = true;

    while (more) {
        if (read_history (w, after, &page) != CMD_OK)
            return w->c->status;
        for (size_t i = 0; i < page.n; i++) {
            after = acct_row_id (&page, i);
            give_active (k, after);
            w->row (w->arg, &page, i);
        }
        more = page.n == page_of (w);
        acct_rows_release (&page);
        if (w->page && w->page (w->arg) != CMD_OK)
            return w->c->status;
    }
    return CMD_OK;
}

int acct_walk (const struct acct_walk *w)
{
    struct walk k = { .w = w };

    if (read_active (&k) == CMD_OK && give_history (&k) == CMD_OK)
        give_active (&k, UINT64_MAX);
    acct_rows_release (&k.active);
    free (k.order);
    return w->c->status;
}
