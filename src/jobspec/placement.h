/* placement.h - where the nodes of a job are to be, of the places above them (zones, racks)
 *
 *     struct placement p;
 *     rc = placement_parse ("pack:rack", &p, "--placement", &err);    // a wish: never waits
 *     struct switches s;
 *     rc = switches_parse ("2@10:00", &s, "--switches", &err);        // at most 2, for 10 min
 *
 * The level that is not named is the innermost one that the broker's configuration has.
 * In a jobspec these are attributes.system.fluxq.placement and .switches (the text), and
 * .switches-wait (seconds).
 */
#ifndef FLUXQ_JOBSPEC_PLACEMENT_H
#define FLUXQ_JOBSPEC_PLACEMENT_H

#include <stdint.h>

#include "common/json.h"

#define PLACEMENT_LEVEL_MAX 63 /* characters */
#define SWITCHES_MAX 65536

enum placement_kind {
    PLACEMENT_NONE,   /* not said */
    PLACEMENT_ANY,    /* anywhere: also where the queue says otherwise */
    PLACEMENT_PACK,   /* in as few places as can be */
    PLACEMENT_SPREAD, /* evenly over all of them */
};

struct placement {
    enum placement_kind kind;
    char level[PLACEMENT_LEVEL_MAX + 1]; /* "": the innermost */
};

struct switches {
    int64_t count; /* in at most so many places of the innermost level; 0: not said */
    /* seconds to wait for that; -1: as the broker says; INFINITY: for ever */
    double wait;
};

/* "any", "pack", "pack:LEVEL", "spread" or "spread:LEVEL". -EINVAL, beginning with where. */
int placement_parse (const char *text, struct placement *ret, const char *where,
                     struct error *err);
/* "N" or "N@TIME", time as for --time. -EINVAL, -ERANGE, beginning with where. */
int switches_parse (const char *text, struct switches *ret, const char *where,
                    struct error *err);

/* "LEVEL:K": so many nodes in each place of the level. -EINVAL, -ERANGE, beginning with where. */
struct nodes_per {
    int64_t count; /* 0: not said */
    char level[PLACEMENT_LEVEL_MAX + 1];
};
int nodes_per_parse (const char *text, struct nodes_per *ret, const char *where,
                     struct error *err);

/* From and to attributes.system.fluxq; where: "jobspec: attributes.system.fluxq". 0, -EINVAL;
 * to: 0 or -1. */
int placement_from_json (const json_t *own, struct placement *p, struct switches *s,
                         const char *where, struct error *err);
int placement_to_json (json_t *own, const struct placement *p, const struct switches *s);

#endif
