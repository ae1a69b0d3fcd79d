/* places.h - short forms of places of nodes in tests */
#pragma once

#include "match/machine/machine.h"

/* The place of a node that is only in this rack; valid in the block that contains it. */
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
