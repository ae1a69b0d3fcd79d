/* parcels.h - fluxq-pmix: messages of any length to the helpers of other nodes
 *
 *     parcels_send (parcels, node, PARCEL_ASK, id, data, len);
 *     parcels_take (parcels, &frame, &parcel);   // 1: parcel is complete
 *     ... parcel.data; free (parcel.data);
 *
 * The agents pass pieces on, in order for each pair of nodes. A piece is u8 kind, u8
 * last, u64 id, bytes. Pieces of parcels with different kinds or ids may be mixed.
 */
#pragma once

#include "common/error.h"
#include "pmix/link.h"

#define PARCEL_MAX (64u << 20) /* bytes */
#define PARCELS_MAX 4096       /* incomplete ones at a time */

enum parcel_kind {
    PARCEL_ASK = 1, /* wants the data of a task: u32 number of the task */
    PARCEL_ANSWER,  /* i32 status of PMIx, data */
    PARCEL_PART,    /* what one node gives to a fence of some tasks */
    PARCEL_WHOLE,   /* what all of its nodes gave */
};

struct parcel {
    uint32_t node; /* that sent it */
    enum parcel_kind kind;
    uint64_t id;
    char *data; /* the caller frees it */
    size_t len;
};

struct parcels;

struct parcels *parcels_create (struct pmix_link *link);
void parcels_destroy (struct parcels *p);
/* From any thread. */
void parcels_send (struct parcels *p, uint32_t node, enum parcel_kind kind, uint64_t id,
                   const char *data, size_t len);
/* Takes a frame PMIX_FROM with data, from one thread. 1: *ret is complete; 0: pieces are
 * missing; -EPROTO, -E2BIG, -ENOMEM. */
int parcels_take (struct parcels *p, const struct frame *frame, struct parcel *ret,
                  struct error *err);
