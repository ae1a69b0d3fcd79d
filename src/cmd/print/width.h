/* width.h - the number of terminal columns that a text takes
 *
 *     width_of ("\u674e", 3)                     // 2: most Asian characters are wide
 *     n = width_cut (text, len, 10, &columns);   // bytes that fit into 10 columns
 *
 * Widths are those of the C library's wcwidth() for UTF-8, whatever the user's locale: a
 * combining character takes no column, a byte that is not UTF-8 takes one. O(len).
 */
#pragma once

#include <stddef.h>

unsigned width_of (const char *text, size_t len);
/* Returns the number of bytes that fit into so many columns, without splitting a
 * character or leaving its combining ones behind. *ret_columns (may be NULL): the columns
 * that these bytes take. */
size_t width_cut (const char *text, size_t len, unsigned columns, unsigned *ret_columns);
