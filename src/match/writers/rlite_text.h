/* rlite_text.h - R_lite, the part of R (RFC 20) that lists cores and gpus by rank
 *
 *     struct rlite *r;
 *     if (rlite_collect (g, selection, &r) == 0) {
 *         rlite_add_array (r, sb);                  // [{"rank": "0-3", "children": ...}]
 *         rlite_destroy (r);
 *     }
 *
 * Ranks with equal children form one entry. Entries are in the order of the text of their
 * children; ids are in RFC 22 form, nodes in RFC 29 form by rank. A vertex of type node
 * or storage_node is a rank if something in it was chosen. Resources outside ranks, and
 * types other than core and gpu, are left out.
 */
#pragma once

#include "match/writers/writer.h"

struct rlite;

/* 0, -ENOMEM, -EINVAL: a node without a rank, a core or gpu without an id, or a node's
 * name that RFC 29 does not allow. O(picks log picks). */
int rlite_collect (const struct graph *g, const struct selection *s, struct rlite **ret);
void rlite_destroy (struct rlite *r);
bool rlite_is_empty (const struct rlite *r);
int rlite_add_array (const struct rlite *r, struct strbuf *sb);
/* R's "execution": R_lite, nodelist, properties, starttime and expiration. */
int rlite_add_execution (const struct rlite *r, const struct match_writer_options *opt,
                         struct strbuf *sb);
