/* placement.h - the places (zones, racks) in which the nodes of a job should be
 *
 *     struct placement p;
 *     rc = placement_parse ("pack:rack", &p, "--placement", &err);   // job never waits
 *     struct switches s;
 *     rc = switches_parse ("2@10:00", &s, "--switches", &err);       // waits 10 min
 *
 * The default level is the innermost one of the broker's configuration.
 * In a jobspec these are attributes.system.fluxq.placement and .switches (the text), and
 * .switches-wait (seconds).
 */
#pragma once

#include "common/json.h"

#define PLACEMENT_LEVEL_MAX 63 /* characters */
#define SWITCHES_MAX 65536

enum placement_kind {
    PLACEMENT_NONE,   /* not given */
    PLACEMENT_ANY,    /* anywhere; overrides the queue's placement */
    PLACEMENT_PACK,   /* in as few places as possible */
    PLACEMENT_SPREAD, /* evenly over all places */
};

struct placement {
    enum placement_kind kind;
    char level[PLACEMENT_LEVEL_MAX + 1]; /* "": the innermost */
};

struct switches {
    int64_t count; /* the largest number of places of the innermost level; 0: not given */
    /* seconds to wait for such places; -1: as the broker is configured; INFINITY: no
     * limit */
    double wait;
};

/* "any", "pack", "pack:LEVEL", "spread" or "spread:LEVEL". -EINVAL, beginning with
 * where. */
int placement_parse (const char *text, struct placement *ret, const char *where,
                     struct error *err);
/* "N" or "N@TIME", time as for --time. -EINVAL, -ERANGE, beginning with where. */
int switches_parse (const char *text, struct switches *ret, const char *where,
                    struct error *err);

/* "LEVEL:K": K nodes in each place of the level. -EINVAL, -ERANGE, beginning with
 * where. */
struct nodes_per {
    int64_t count; /* 0: not given */
    char level[PLACEMENT_LEVEL_MAX + 1];
};
int nodes_per_parse (const char *text, struct nodes_per *ret, const char *where,
                     struct error *err);

/* Read from and write to attributes.system.fluxq; where: "jobspec:
 * attributes.system.fluxq". Reading: 0 or -EINVAL; writing: 0, or -1: no memory. */
int placement_from_json (const json_t *own, struct placement *p, struct switches *s,
                         const char *where, struct error *err);
int placement_to_json (json_t *own, const struct placement *p, const struct switches *s);
