/* foresee.c - POST /v1/jobs?test-only=1: when and where the job would start
 *
 * Only the waiting jobs with a planned start are taken into account, so a future time is
 * a lower bound, and the answer gives the number of waiting jobs.
 */
#include "broker/core/jobs.h"
#include "broker/core/sizes.h"
#include "broker/services/licenses.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/placing.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/submit/submission.h"
#include "common/clock.h"

static json_t *where (const struct entry *e, const struct rset *r)
{
    autofree char *nodelist = rset_nodelist (r);
    int64_t milli = rset_cpu_milli (r);

    return nodelist ? json_pack ("{s:s s:I s:I s:o}", "nodelist", nodelist, "nnodes",
                                 (json_int_t)r->nranks, "ntasks",
                                 (json_int_t)entry_ntasks (e, r), "ncores",
                                 milli > 0 ? json_real ((double)milli / 1000)
                                           : json_integer (rset_cores (r)))
                    : NULL;
}

json_t *broker_foresee (struct broker *b, struct entry *e)
{
    const struct match_request *req = placing_choose (b, e);
    struct error why = { 0 };
    struct rset *r = NULL;
    double now = clock_wall (), start = 0;
    double from = MAX (now, entry_jobspec (e)->begin);
    const struct reservation *in = entry_jobspec (e)->reservation
                                       ? reserve_find (b, entry_jobspec (e)->reservation)
                                       : NULL;
    struct matcher *m = in ? realm_matcher (in->realm) : broker_matcher (b);
    int rc = match_earliest (m, req, from, entry_jobspec (e)->duration, &start, &r, &why);
    if (!in && (rc == -ENOENT || rc == -EBUSY))
        nodegroups_foresee (b, e, req, &why);
    if (rc == 0) /* when they come is not known */
        rc = licenses_are_free (b, entry_jobspec (e), &why);
    struct rset *now_r = NULL;
    if (rc == 0 && start <= now && match_request_is_elastic (req)
        && match_without_allocating (m, req, now, entry_jobspec (e)->duration, &now_r,
                                     NULL)
               == 0) {
        rset_destroy (r);
        r = now_r; /* the allocation that it would get, not its minimum */
    }
    json_t *o = rc == 0 ? where (e, r) : json_object ();

    rset_destroy (r);
    if (!o || rc == -ENOMEM) {
        json_decref (o);
        return NULL;
    }
    json_object_set_new (o, "start", rc == 0 ? json_real (start) : json_null ());
    json_object_set_new (o, "now", json_boolean (rc == 0 && start <= now));
    const struct sched *queue = in ? realm_sched (in->realm) : broker_sched (b);
    json_object_set_new (o, "queue",
                         json_string (broker_config (b)->queues[entry_queue (e)].name));
    json_object_set_new (o, "pending", json_integer ((json_int_t)sched_pending (queue)));
    if (rc < 0)
        json_object_set_new (o, "reason", json_string (why.text));
    return o;
}
