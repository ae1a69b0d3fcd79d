/* places.h - places of nodes in tests, in few words */
#ifndef FLUXQ_MATCH_TEST_PLACES_H
#define FLUXQ_MATCH_TEST_PLACES_H

#include "match/machine/machine.h"

/* Of a node that is in that rack alone; as long as the block that it stands in. */
#define IN_RACK(rack)                                                                    \
    (const struct machine_place[])                                                       \
    {                                                                                    \
        { "rack", (rack) },                                                              \
        {                                                                                \
            NULL, NULL                                                                   \
        }                                                                                \
    }
#define IN_ZONE(zone, rack)                                                              \
    (const struct machine_place[])                                                       \
    {                                                                                    \
        { "zone", (zone) }, { "rack", (rack) },                                          \
        {                                                                                \
            NULL, NULL                                                                   \
        }                                                                                \
    }

#endif
