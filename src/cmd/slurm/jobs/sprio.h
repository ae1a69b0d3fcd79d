/* sprio.h - the fields of sprio
 */
#pragma once

#include "cmd/slurm/words/format.h"
#include "common/json.h"

/* A row of sprio_fields. */
struct terms {
    const json_t *job;     /* of GET /v1/jobs; NULL: the row of weights */
    const json_t *weights; /* "priority" of GET /v1/status */
};

extern const struct slurm_field sprio_fields[];
