/* idset.h - a set of ids as text and back (RFC 22)
 *
 *     struct idset *s = idset_decode ("0-3,7", 64, &err);
 *     uint32_t id = idset_first (s);              // 0; IDSET_END when empty
 *     char *text = idset_encode (s);              // "0-3,7", caller frees
 *
 * Kept as sorted ranges: memory and time grow with the number of ranges, not of ids. Who
 * goes from id to id pays for each, so decoding takes a limit: how many ids the caller could
 * use at most. Ids
 * are 0 <= id < 2^31. Accepts brackets "[0-3,7]" on decode; rejects unsorted, doubled or
 * reversed ranges as RFC 22 says. Caller owns.
 */
#ifndef FLUXQ_COMMON_IDSET_H
#define FLUXQ_COMMON_IDSET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

struct idset;

#define IDSET_END UINT32_MAX
#define IDSET_MAX ((size_t)1 << 31) /* ids of the largest set; of use to who only asks for some */

struct idset *idset_create (void);
void idset_destroy (struct idset *s);
struct idset *idset_copy (const struct idset *s);
/* NULL and EINVAL, ERANGE (an id of 2^31 or more, more ids than limit) or ENOMEM in err; ""
 * and "[]" are empty sets. */
struct idset *idset_decode (const char *text, size_t limit, struct error *err);
char *idset_encode (const struct idset *s);
int strbuf_add_idset (struct strbuf *sb, const struct idset *s);
int idset_add (struct idset *s, uint32_t id); /* 0 or -ENOMEM, -ERANGE; twice is fine */
/* As idset_add(); -ERANGE also when reversed. */
int idset_add_range (struct idset *s, uint32_t first, uint32_t last);
/* All of `more`; s is as it was on -ENOMEM. O(ranges of both). */
int idset_add_all (struct idset *s, const struct idset *more);
/* A new set with the ids of all of them; NULL: no memory. O(ranges of all, log n). */
struct idset *idset_unite (struct idset *const *sets, size_t n);
int idset_remove (struct idset *s, uint32_t id);
/* All of `less`; s is as it was on -ENOMEM. O(ranges of both). */
int idset_remove_all (struct idset *s, const struct idset *less);
bool idset_has (const struct idset *s, uint32_t id);
uint32_t idset_count (const struct idset *s);
uint32_t idset_first (const struct idset *s);
uint32_t idset_next (const struct idset *s, uint32_t id); /* next greater, IDSET_END */
/* How many ids of the set are less than id. O(log ranges). */
uint32_t idset_rank (const struct idset *s, uint32_t id);
/* The id with so many before it, IDSET_END when there are not so many. O(log ranges). */
uint32_t idset_nth (const struct idset *s, uint32_t n);
bool idset_equal (const struct idset *a, const struct idset *b);

#define IDSET_FOREACH(s, id)                                                             \
    for (uint32_t id = idset_first (s); id != IDSET_END; id = idset_next (s, id))

#endif
