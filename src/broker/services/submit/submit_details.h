/* submit_details.h - values of the request that listings show, for the submit event
 */
#pragma once

#include "broker/core/broker.h"

/* A new object of strings, the context's "details" (job/details.h); values that the
 * request does not have are left out. NULL: no memory. */
json_t *submit_details (const struct broker *b, const struct jobspec *js);
