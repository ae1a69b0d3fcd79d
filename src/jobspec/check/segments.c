/* segments.c - checks of the segments of a job's nodes (--segment) */
#include <errno.h>

#include "jobspec/jobspec_private.h"

int jobspec_check_segments (const struct jobspec *js, struct error *err)
{
    static const char where[] = "jobspec: attributes.system.fluxq.segment";

    if (js->spread_segments && js->segment == 0)
        return error_set (err, EINVAL,
                          "jobspec: attributes.system.fluxq.spread-segments: the job has "
                          "no segments (--segment)");
    if (js->segment > 0
        && (js->placement.kind > PLACEMENT_ANY || js->switches.count > 0))
        return error_set (err, EINVAL, "%s: does not go with --placement and --switches",
                          where);
    return 0;
}
