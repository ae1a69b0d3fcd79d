/* text.h - checks of text: UTF-8, one line, names
 */
#pragma once

#include "common/error.h"

/* Whether the bytes are UTF-8 (RFC 3629: no surrogates, no overlong forms). *ret_json, if
 * not NULL, is the number of bytes of the text as a JSON string, without the quotes.
 * O(len). */
bool text_is_utf8 (const char *s, size_t len, size_t *ret_json);

/* Set the error for a text that is not UTF-8, with the way to convert it. Returns
 * -EINVAL. */
int text_not_utf8 (const char *where, struct error *err);

/* Whether s can be shown on a terminal in one line: not empty, at most max bytes, UTF-8,
 * no control characters. */
bool text_is_line (const char *s, size_t max);

/* Whether s can name a resource type or a queue ("nvidia.com/gpu"): letters, digits and
 * _ - . /, beginning with a letter, digit or _; at most 253 bytes. */
bool text_is_name (const char *s);

/* Whether s can name an environment variable: not empty, no '=', one line. */
bool text_is_variable (const char *s, size_t len);
