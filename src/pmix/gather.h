/* gather.h - fluxq-pmix: fences of some tasks of a step
 *
 *     gathers_enter (gathers, tasks, n, data, len, cb, arg);    // all tasks here are in
 *     gathers_part (gathers, &parcel);     // a part came from another node
 *     gathers_whole (gathers, &parcel);    // the first node has sent all parts
 *     gathers_node_ended (gathers, node);  // the fences with that node fail
 *
 * The nodes of a fence send their parts to the first of them, which sends all parts back.
 * A fence is known by a hash of its tasks and by how often these tasks were in one. The
 * caller holds a lock for all calls; callbacks are called under it.
 */
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include "common/error.h"
#include "pmix/parcels.h"
#include "pmix/taskplaces.h"

struct gathers;

struct gathers *gathers_create (const struct taskplaces *places, uint32_t node,
                                struct parcels *parcels);
void gathers_destroy (struct gathers *g);
/* The tasks of this node are in the fence; tasks: [n] sorted. -ENOMEM. */
int gathers_enter (struct gathers *g, const uint32_t *tasks, size_t n, const char *data,
                   size_t len, pmix_modex_cbfunc_t done, void *arg);
/* -ENOMEM, -E2BIG, or -EPROTO: the message belongs to no fence. */
int gathers_part (struct gathers *g, const struct parcel *parcel);
int gathers_whole (struct gathers *g, const struct parcel *parcel);
void gathers_node_ended (struct gathers *g, uint32_t node);
