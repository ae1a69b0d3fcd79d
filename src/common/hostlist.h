/* hostlist.h - host names, compressed as text and back (RFC 29)
 *
 *     struct hostlist *hl = hostlist_decode ("node[1-3,7],login0", 100, &err);
 *     const char *h = hostlist_nth (hl, 0); // "node1", valid until the list changes
 *     char *text = hostlist_encode (hl);    // "node[1-3,7],login0", caller frees
 *
 * The order is kept, duplicates are allowed (a list, not a set). Leading zeros are kept
 * ("node[01-10]"; by RFC 29 those of a list's first id apply to all its ids). One bracket
 * a name; a name has at most 255 bytes, a list HOSTLIST_MAX names. A short text can stand
 * for millions of names. So the names are counted first, in O(length of the text) and
 * without memory, and a text with more names than the caller's limit is never expanded;
 * the limit is the most names that the caller can use, such as the nodes of the machine.
 * The encoder brackets neighbours that differ in one number, anywhere in the name
 * ("ip-[1-3].site"). The caller owns returned lists.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

struct hostlist;

#define HOSTLIST_MAX 1000000 /* names */

struct hostlist *hostlist_create (void);
void hostlist_destroy (struct hostlist *hl);
static inline void hostlist_destroyp (struct hostlist **hl)
{
    hostlist_destroy (*hl);
}
#define autohostlist __attribute__ ((cleanup (hostlist_destroyp)))
/* NULL and EINVAL, ERANGE (more names than limit) or ENOMEM in err; "" is an empty
 * list. */
struct hostlist *hostlist_decode (const char *text, size_t limit, struct error *err);
char *hostlist_encode (const struct hostlist *hl);
/* Append one name, unchanged: 0, -EINVAL (empty, too long, with a blank, comma or
 * bracket), -ERANGE (the list is full), -ENOMEM. */
int hostlist_append (struct hostlist *hl, const char *host);
size_t hostlist_count (const struct hostlist *hl);
const char *hostlist_nth (const struct hostlist *hl, size_t i); /* NULL past the end */
ssize_t hostlist_find (const struct hostlist *hl, const char *host); /* index or -1 */
