/* server.h - fluxq-pmix: the PMIx server of one node of a step
 *
 * The folder pmix/ is the program fluxq-pmix, which links the PMIx library on behalf of
 * the static agent (protocol/pmix_helper.h): link.h carries frames to the agent,
 * parcels.h messages to the helpers of other nodes, nspace.h tells the library about the
 * step, and server.h connects the library's requests with these.
 *
 *     struct pmix_server *server = pmix_server_create (&setup, link, parcels, &err);
 *     pmix_server_start (server, &err);              // PMIX_ENV for each task
 *     pmix_server_fenced (server, data, len);        // PMIX_FENCED is complete
 *     pmix_server_parcel (server, &parcel);          // from another helper
 *     pmix_server_destroy (server);
 *
 * The library calls back on a thread of its own; this module locks what both threads
 * use. Fences of all tasks go through the agents' exchange. In a fence of some tasks, the
 * first node of those tasks collects the parts.
 */
#pragma once

#include "common/error.h"
#include "pmix/link.h"
#include "pmix/parcels.h"
#include "protocol/pmix_helper.h"

struct pmix_server;

/* setup, link and parcels must outlive the server. One at a time. */
struct pmix_server *pmix_server_create (const struct pmix_setup *setup,
                                        struct pmix_link *link, struct parcels *parcels,
                                        struct error *err);
void pmix_server_destroy (struct pmix_server *server);
/* Starts the library, registers the step and its tasks here, and sends the environment of
 * each task. Negative errno with the reason. */
int pmix_server_start (struct pmix_server *server, struct error *err);
/* Completes the fence of all tasks; takes over data (of malloc()). */
void pmix_server_fenced (struct pmix_server *server, char *data, size_t len);
/* Handles a message of another helper; takes over its data. */
void pmix_server_parcel (struct pmix_server *server, struct parcel *parcel);
/* The tasks of a node have ended: it answers no more. */
void pmix_server_node_ended (struct pmix_server *server, uint32_t node);
