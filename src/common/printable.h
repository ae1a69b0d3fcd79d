/* printable.h - characters that control a terminal, are invisible, or reorder a line
 *
 *     if (printable_check (name, "job-name", err) < 0)       // a name from a user
 *         return -EINVAL;       // "job-name: character 3 is U+202E, ..."
 *     printable_clean (text);   // a foreign text, before it goes to a terminal
 *
 * Not printable are control characters (C0, DEL, C1), line and paragraph separators, and
 * characters without a glyph (Unicode's Default_Ignorable_Code_Point: zero-width and
 * bidirectional characters, fillers, tags). Variation selectors (U+FE00 to U+FE0F) are
 * printable, because emoji use them. No locale, no memory, no state.
 */
#pragma once

#include "common/error.h"

/* The number of bytes of the character at s (UTF-8, not the NUL), at least 1.
 * *ret_hidden: the code point if the character is not printable, else 0. A byte that is
 * no UTF-8 is a character of its own, not printable if it is a control character of
 * Latin-1. */
size_t printable_next (const char *s, unsigned *ret_hidden);

/* -EINVAL unless all of text is printable. The error begins with where, and has the code
 * point and the position (from 1) of the first character that is not printable. */
int printable_check (const char *text, const char *where, struct error *err);

/* Replace each character that is not printable by a question mark, in place: text never
 * grows. */
void printable_clean (char *text);
