/* nodes.c - nodes, partitions, reservations and licenses, by scontrol --json show */
#include "rest/rest.h"

static json_t *show (struct rest_call *call, const char *what)
{
    const char *const all[] = { "scontrol", "--json", "--", "show", what, NULL };
    const char *const one[] = {
        "scontrol", "--json", "--", "show", what, call->arg, NULL
    };

    return rest_run_json (call, *call->arg ? one : all);
}

json_t *rest_get_nodes (struct rest_call *call)
{
    return show (call, "node");
}

json_t *rest_get_node (struct rest_call *call)
{
    return show (call, "node");
}

json_t *rest_get_partitions (struct rest_call *call)
{
    return show (call, "partition");
}

json_t *rest_get_partition (struct rest_call *call)
{
    return show (call, "partition");
}

json_t *rest_get_reservations (struct rest_call *call)
{
    return show (call, "reservation");
}

json_t *rest_get_reservation (struct rest_call *call)
{
    return show (call, "reservation");
}

json_t *rest_get_licenses (struct rest_call *call)
{
    return show (call, "license");
}
