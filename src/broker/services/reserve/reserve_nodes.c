/* reserve_nodes.c - the nodes of a new reservation: chosen, or given and checked
 */
#include "broker/core/broker.h"
#include "broker/services/reserve/reserve.h"
#include "common/parse.h"

static int refuse_overlap (const struct reservation *o, const char *node,
                           struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (128);

    strbuf_add_time (&sb, o->start);
    strbuf_adds (&sb, " to ");
    strbuf_add_time (&sb, o->end);
    return error_set (err, EBUSY, "%s is in reservation %s from %s", node, o->name,
                      sb.buf);
}

/* Refuses nodes that another reservation has at that time. */
static int check_others (const struct broker *b, const struct reservation *r,
                         struct error *err)
{
    for (const struct reservation *o = reserve_list (b); o; o = o->hh.next) {
        if (o->start >= r->end || o->end <= r->start)
            continue;
        for (size_t i = 0; i < hostlist_count (r->nodes); i++) {
            const char *node = hostlist_nth (r->nodes, i);
            if (machine_node_find (realm_machine (o->realm), node) >= 0)
                return refuse_overlap (o, node, err);
        }
    }
    return 0;
}

static int check_nodes (const struct broker *b, const struct reservation *r, double now,
                        bool ignore_running, struct error *err)
{
    int rc = check_others (b, r, err);

    for (size_t i = 0; rc == 0 && i < hostlist_count (r->nodes); i++) {
        struct error why = { 0 };
        rc = match_window_check (broker_matcher (b), hostlist_nth (r->nodes, i), r->start,
                                 r->end, now, NULL, &why);
        if (rc == -EBUSY && ignore_running)
            rc = 0;
        else if (rc == -EBUSY)
            return error_set (err, EBUSY,
                              "%s: take other nodes or a later start, cancel it, or add "
                              "--ignore-running",
                              why.text);
        else if (rc < 0)
            return error_set (err, -rc, "%s", why.text);
    }
    return rc;
}

int reserve_find_nodes (struct broker *b, struct reservation *r, size_t n, double now,
                        bool ignore_running, struct error *err)
{
    size_t all = machine_node_count (broker_graph (b));

    if (n > all)
        return error_set (err, EINVAL, "%zu nodes are requested, the machine has %zu", n,
                          all);
    return n > 0 ? match_window_choose (broker_matcher (b), n, r->start, r->end, now,
                                        r->nodes, err)
                 : check_nodes (b, r, now, ignore_running, err);
}
