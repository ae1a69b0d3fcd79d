/* idset.h - a set of ids as text and back (RFC 22)
 *
 *     struct idset *s = idset_decode ("0-3,7", 64, &err);
 *     uint32_t id = idset_first (s);              // 0; IDSET_END when empty
 *     char *text = idset_encode (s);              // "0-3,7", caller frees
 *
 * A set is kept as sorted ranges: memory and time grow with the number of ranges, not of
 * ids. A loop over the ids costs a step for each id, so decoding takes a limit: the most
 * ids that the caller can use. Ids are 0 <= id < 2^31. Decoding accepts brackets
 * "[0-3,7]" and refuses unsorted, doubled or reversed ranges, as RFC 22 says. The caller
 * owns returned sets.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

struct idset;

#define IDSET_END UINT32_MAX
#define IDSET_MAX ((size_t)1 << 31) /* ids of the largest set; not for loops over ids */

struct idset *idset_create (void);
void idset_destroy (struct idset *s);
static inline void idset_destroyp (struct idset **s)
{
    idset_destroy (*s);
}
#define autoidset __attribute__ ((cleanup (idset_destroyp)))
struct idset *idset_copy (const struct idset *s);
/* NULL and EINVAL, ERANGE (an id of 2^31 or more, more ids than limit) or ENOMEM in err;
 * "" and "[]" are empty sets. */
struct idset *idset_decode (const char *text, size_t limit, struct error *err);
char *idset_encode (const struct idset *s);
int strbuf_add_idset (struct strbuf *sb, const struct idset *s);
/* 0, also if the set has the id already; -ENOMEM, -ERANGE. */
int idset_add (struct idset *s, uint32_t id);
/* As idset_add(); -ERANGE also for a reversed range. */
int idset_add_range (struct idset *s, uint32_t first, uint32_t last);
/* Add all of `more`; -ENOMEM: s is unchanged. O(ranges of both). */
int idset_add_all (struct idset *s, const struct idset *more);
/* A new set, the union of n sets; NULL: no memory. O(ranges of all, log n). */
struct idset *idset_unite (struct idset *const *sets, size_t n);
int idset_remove (struct idset *s, uint32_t id);
/* Remove all of `less`; -ENOMEM: s is unchanged. O(ranges of both). */
int idset_remove_all (struct idset *s, const struct idset *less);
bool idset_has (const struct idset *s, uint32_t id);
uint32_t idset_count (const struct idset *s);
uint32_t idset_first (const struct idset *s);
uint32_t idset_next (const struct idset *s, uint32_t id); /* next greater, IDSET_END */
/* The number of ids in the set that are less than id. O(log ranges). */
uint32_t idset_rank (const struct idset *s, uint32_t id);
/* The id with n smaller ids in the set; IDSET_END: none. O(log ranges). */
uint32_t idset_nth (const struct idset *s, uint32_t n);
bool idset_equal (const struct idset *a, const struct idset *b);

#define IDSET_FOREACH(s, id)                                                             \
    for (uint32_t id = idset_first (s); id != IDSET_END; id = idset_next (s, id))
