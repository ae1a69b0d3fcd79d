/* base64.h - RFC 4648, section 4: the standard alphabet, padded, no line breaks
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Bytes of the encoding of len bytes, without a NUL. */
#define BASE64_ENCODED(len) (((len) + 2) / 3 * 4)
/* The most bytes that a text of len bytes decodes to. */
#define BASE64_DECODED(len) ((len) / 4 * 3)

/* Write BASE64_ENCODED (len) bytes and a NUL. */
void base64_encode (const void *data, size_t len, char *ret);
/* Write at most BASE64_DECODED (len) bytes; returns their number, or -EINVAL: not strict
 * base64 (other characters, wrong padding, non-zero bits left over). */
ssize_t base64_decode (const char *text, size_t len, void *ret);
