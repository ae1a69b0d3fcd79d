/* width.h - how many columns of a terminal a text takes
 *
 *     width_of ("\u674e", 3)                     // 2: most Asian characters are wide
 *     n = width_cut (text, len, 10, &columns);   // bytes of the whole characters in 10 columns
 *
 * As the C library's wcwidth() says for UTF-8, in whichever locale the user is: a combining
 * character takes no column, a byte that is no UTF-8 one. O(len).
 */
#ifndef FLUXQ_CMD_WIDTH_H
#define FLUXQ_CMD_WIDTH_H

#include <stddef.h>

unsigned width_of (const char *text, size_t len);
/* How many bytes fit in so many columns; no character is split, and combining ones stay with
 * theirs. *ret_columns (may be NULL): what these bytes take. */
size_t width_cut (const char *text, size_t len, unsigned columns, unsigned *ret_columns);

#endif
