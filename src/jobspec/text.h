/* text.h - what bytes are text: UTF-8, one line, names
 */
#ifndef FLUXQ_JOBSPEC_TEXT_H
#define FLUXQ_JOBSPEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* Whether the bytes are UTF-8 (RFC 3629: no surrogates, no overlong forms). *ret_json, if
 * not NULL, is how many bytes the text takes as a JSON string, without the quotes.
 * O(len). */
bool text_is_utf8 (const char *s, size_t len, size_t *ret_json);

/* -EINVAL, and the error for a text that is not: what it is, and how it becomes UTF-8. */
int text_not_utf8 (const char *where, struct error *err);

/* Neither empty nor longer than max bytes, UTF-8 and without control characters, so that
 * it may be shown on a terminal in one line. */
bool text_is_line (const char *s, size_t max);

/* Letters, digits and _ - . /, beginning with a letter, digit or _; at most 253 bytes.
 * Names of resource types and queues ("nvidia.com/gpu"). */
bool text_is_name (const char *s);

/* A name that a variable of the environment may have: not empty, no '=', a line. */
bool text_is_variable (const char *s, size_t len);

#endif
