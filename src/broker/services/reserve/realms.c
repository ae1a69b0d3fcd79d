/* realms.c - all schedulers and matchers: the broker's own, and one of each reservation */
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/services/reserve/reserve.h"

int reserve_sched_next (struct broker *b, double now, unsigned tries,
                        struct sched_decision *ret)
{
    int rc = sched_next (broker_sched (b), now, tries, ret);

    for (struct reservation *r = reserve_list (b); rc == 0 && r; r = r->hh.next) {
        if ((rc = sched_next (realm_sched (r->realm), now, tries, ret)) == 1)
            realm_rename (ret->r, broker_graph (b));
    }
    return rc;
}

double reserve_wakeup (const struct broker *b)
{
    double when = sched_wakeup (broker_sched (b));

    for (struct reservation *r = reserve_list (b); r; r = r->hh.next) {
        double t = sched_wakeup (realm_sched (r->realm));
        when = when > 0 && t > 0 ? MIN (when, t) : MAX (when, t);
    }
    return when;
}

void reserve_unbook (struct broker *b, uint64_t id)
{
    match_cancel (broker_matcher (b), id);
    for (struct reservation *r = reserve_list (b); r; r = r->hh.next)
        match_cancel (realm_matcher (r->realm), id);
}

void reserve_queue_set (struct broker *b, unsigned queue, bool started)
{
    sched_queue_set (broker_sched (b), queue, started);
    for (struct reservation *r = reserve_list (b); r; r = r->hh.next)
        realm_queue_set (r->realm, queue, started);
}

/* Jobs inside must not get what the node does not have any more. */
static void mirror (struct broker *b, const struct reservation *r, const char *node)
{
    if (realm_mirror (r->realm, broker_graph (b), node) < 0)
        broker_no_memory ("a reservation");
}

void reserve_node_changed (struct broker *b, const char *node)
{
    for (struct reservation *r = reserve_list (b); r && !broker_is_recovering (b);
         r = r->hh.next)
        mirror (b, r, node);
}

void reserve_reloaded (struct broker *b, const struct config *old)
{
    const struct config *c = broker_config (b);

    if (c->match_policy != old->match_policy)
        matcher_set_policy (broker_matcher (b), c->match_policy);
    sched_set_policy (broker_sched (b), c->queue_policy, c->reservation_depth);
    for (struct reservation *r = reserve_list (b); r; r = r->hh.next) {
        if (c->match_policy != old->match_policy)
            matcher_set_policy (realm_matcher (r->realm), c->match_policy);
        sched_set_policy (realm_sched (r->realm), c->queue_policy, c->reservation_depth);
    }
    for (size_t i = 0; i < c->nqueues; i++)
        reserve_queue_set (b, (unsigned)i, c->queues[i].started);
}

void reserve_freed (struct broker *b, const struct entry *e)
{
    for (const struct reservation *r = reserve_list (b);
         r && !reserve_has_realm (e) && entry_alloc (e); r = r->hh.next)
        for (size_t i = 0; r->active && i < entry_alloc (e)->nranks; i++)
            mirror (b, r, entry_alloc (e)->ranks[i].node);
}
