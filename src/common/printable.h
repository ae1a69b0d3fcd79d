/* printable.h - characters that a terminal obeys, hides, or lets turn a line around
 *
 *     if (printable_check (name, "job-name", err) < 0)       // a name that a user gives
 *         return -EINVAL;       // "job-name: character 3 is U+202E, ..."
 *     printable_clean (text);   // a text of elsewhere, before a terminal gets it
 *
 * Not printable are the controls (C0, DEL, C1), and what Unicode says has no picture of its
 * own (Default_Ignorable_Code_Point: zero-width and bidirectional characters, fillers, tags;
 * line and paragraph separators besides). Variation selectors (U+FE00 to U+FE0F) are
 * printable: emoji are written with them. No locale, no memory, no state.
 */
#ifndef FLUXQ_COMMON_PRINTABLE_H
#define FLUXQ_COMMON_PRINTABLE_H

#include <stddef.h>

#include "common/error.h"

/* Bytes of the character at s (UTF-8; s is not at its NUL), at least 1. *ret_hidden: the
 * character's number if it is not printable, else 0. A byte that is no UTF-8 is a character
 * of its own, and not printable if it is a control in Latin-1. */
size_t printable_next (const char *s, unsigned *ret_hidden);

/* -EINVAL unless all of text is printable; where begins the message, which has the first such
 * character's number and place (from 1). */
int printable_check (const char *text, const char *where, struct error *err);

/* Each character that is not printable becomes one question mark. In place: text never grows. */
void printable_clean (char *text);

#endif
