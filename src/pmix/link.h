/* link.h - fluxq-pmix: its socket to the agent
 *
 *     struct pmix_link *link = pmix_link_create (fd);
 *     pmix_link_send (link, &(struct frame){ .type = PMIX_READY });   // from any thread
 *     while ((rc = pmix_link_receive (link, &frame, &err)) > 0) ...   // from one thread
 *     pmix_link_destroy (link);
 *
 * Sends are whole frames, in the order of the calls. A send blocks until the agent has
 * taken the bytes; the agent always reads.
 */
#pragma once

#include "common/error.h"
#include "protocol/frame.h"

struct pmix_link;

/* Takes over the descriptor. NULL: no memory. */
struct pmix_link *pmix_link_create (int fd);
void pmix_link_destroy (struct pmix_link *link);
/* Sends a frame of at most FRAME_DATA_MAX bytes. After a failure the agent is gone, and
 * pmix_link_receive() finds the end of the socket. */
void pmix_link_send (struct pmix_link *link, const struct frame *frame);
/* Sends data of any length in pieces; stream 1 marks the last one. */
void pmix_link_send_pieces (struct pmix_link *link, const struct frame *head,
                            const char *data, size_t len);
/* Waits for the next frame, valid until the next call. 1; 0: the end; negative errno. */
int pmix_link_receive (struct pmix_link *link, struct frame *ret, struct error *err);
