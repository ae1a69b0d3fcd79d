/* queuenodes.c - the nodes of a queue: a property of nodes, and a constraint of the jobs
 *
 * Where queues select nodes (exec/podset.h), the executor gives each node the property
 * "queue:NAME" for each of its queues, and jobs of that queue require it besides their
 * own constraints. So the planner, its reasons and forecasts treat it as any constraint.
 * Where no queue selects nodes, no job has such a constraint.
 */
#include "broker/core/service.h"
#include "broker/services/nodes/queuenodes.h"
#include "exec/podset.h"

struct queuenodes {
    bool select; /* queues select their nodes by properties */
};

static struct service_place place;
SERVICE_STATE_OF (struct queuenodes)

bool queuenodes_select (const struct broker *b)
{
    return state_of (b)->select;
}

/* Why jobs cannot get fractions of a CPU; NULL: they can. */
static const char *no_parts (const struct broker *b)
{
    static const char nowhere[] =
        "parts of a CPU are available only on Kubernetes; request whole ones, such as "
        "--cpus-per-task=1";

    return broker_ops (b)->no_parts ? broker_ops (b)->no_parts (
               config_executor_section (broker_config (b), broker_config (b)->executor))
                                    : nowhere;
}

static int init (struct broker *b, struct error *err)
{
    autojson json_t *sets = config_pods (broker_config (b));

    state_of (b)->select = broker_ops (b)->queues && podset_selects (sets);
    if (!no_parts (b))
        machine_divide_cpus (broker_graph (b));
    return sets ? 0 : error_no_memory (err, NULL);
}

/* {"and": [...]} of the jobspec's own constraints, `more`, and those of the queue; *ret is
 * NULL if there are none. */
static int all_constraints (struct broker *b, const struct jobspec *js, const char *queue,
                            const json_t *more, json_t **ret)
{
    json_t *all = json_array (), *both = json_pack ("{s:o}", "and", all);
    int rc = both ? 0 : -1;

    if (js->constraints)
        rc |= json_array_append (all, js->constraints);
    if (more)
        rc |= json_array_append (all, (json_t *)more);
    if (queue && queuenodes_select (b)) {
        autofree char *name = NULL;

        if (asprintf (&name, PODSET_PROPERTY "%s", queue) < 0)
            name = NULL;
        rc |= json_array_append_new (all, json_pack ("{s:[s]}", "properties", name));
    }
    if (rc == 0)
        *ret = json_array_size (all) > 1 ? json_incref (both)
                                         : json_incref (json_array_get (all, 0));
    json_decref (both);
    return rc < 0 ? -ENOMEM : 0;
}

static struct match_request *create_request (struct broker *b, const struct jobspec *js,
                                             struct error *err)
{
    const char *why = no_parts (b);

    if (!why)
        return match_request_create_divided (js, err);
    if (!match_asks_for_parts (js))
        return match_request_create (js, err);
    error_set (err, ENOTSUP, "%s", why);
    return NULL;
}

struct match_request *queuenodes_request (struct broker *b, const struct jobspec *js,
                                          const char *queue, const json_t *more,
                                          struct error *err)
{
    /* Copies of all components; everything but the constraints is borrowed. */
    size_t n = js->ncomponents + 1;
    autofree struct jobspec *asked = calloc (n, sizeof (*asked));
    autofree struct jobspec **further = calloc (n, sizeof (struct jobspec *));
    autofree json_t **constraints = calloc (n, sizeof (json_t *));
    struct match_request *req = NULL;
    int rc = asked && further && constraints ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct jobspec *c = jobspec_component (js, i);

        rc = all_constraints (b, c, queue, more, &constraints[i]);
        asked[i] = *c;
        asked[i].constraints = constraints[i];
        if (i > 0)
            further[i - 1] = &asked[i];
    }
    if (rc == 0) {
        asked[0].components = further;
        req = create_request (b, &asked[0], err);
    } else {
        error_no_memory (err, NULL);
    }
    for (size_t i = 0; constraints && i < n; i++)
        json_decref (constraints[i]);
    return req;
}

bool queuenodes_has_node (const struct broker *b, const char *const *properties,
                          const char *queue)
{
    size_t len = strlen (PODSET_PROPERTY);

    if (!queuenodes_select (b))
        return true;
    for (; *properties; properties++)
        if (strncmp (*properties, PODSET_PROPERTY, len) == 0
            && strcmp (*properties + len, queue) == 0)
            return true;
    return false;
}

json_t *queuenodes_of_node (const struct broker *b, const char *const *properties)
{
    json_t *list = json_array ();

    for (size_t i = 0; list && i < broker_config (b)->nqueues; i++)
        if (queuenodes_has_node (b, properties, broker_config (b)->queues[i].name))
            json_array_append_new (list, json_string (broker_config (b)->queues[i].name));
    return list;
}

/* Tells the executor which nodes each queue selects. */
static int check_reload (struct broker *b, const struct config *c, struct error *err)
{
    if (!broker_ops (b)->queues)
        return 0;
    autojson json_t *sets = config_pods (c);
    if (sets && queuenodes_select (b) != podset_selects (sets))
        return error_set (
            err, EINVAL,
            "%s: the %s queue that selects nodes (node-selector, tolerations or "
            "resources below pods) needs a restart of fluxqd",
            c->path, queuenodes_select (b) ? "end of the last" : "first");
    return sets && broker_ops (b)->queues (broker_exec (b), sets) >= 0
               ? 0
               : error_no_memory (err, NULL);
}

static int begin (struct broker *b, struct error *err)
{
    return check_reload (b, broker_config (b), err);
}

const struct broker_service service_queuenodes = {
    .name = "queuenodes",
    .order =
        SERVICE_AFTER, /* check_reload tells the executor: nothing may refuse after it */
    .place = &place,
    .state_size = sizeof (struct queuenodes),
    .init = init,
    .begin = begin,
    .check_reload = check_reload,
};
