/* components.h - the components of a heterogeneous job, as listings show them
 *
 *     [{"name": "train", "nodes": "4", "ntasks": "8", "ncores": "8", "gpus": "8",
 *       "nodelist": "node[1-4]", ...}, ...]
 *
 * Values are texts: those of the columns of the same names, for the component alone. Those
 * of the request come from the details of the submit event (services/submit), those of the
 * allocation from R.
 */
#pragma once

#include "job/job.h"

/* A new list; NULL: the job has no components, or out of memory. */
json_t *components_json (const struct job *job);
