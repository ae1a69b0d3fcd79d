/* fuzz.h - helpers of the fuzz targets
 *
 *     int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
 *     {
 *         autofree char *text = fuzz_text (data, size);   // ASan sees each byte beyond it
 *         struct error err = { 0 };
 *         if (parse_it (text, &err) < 0)
 *             fuzz_check_refusal (&err, "option: ");
 *         return 0;
 *     }
 *
 * An opening comment of a target has a line "Parser: FILE ..." with the sources of its
 * parser, below src/: t/fuzz/farm prints their line coverage.
 */
#pragma once

#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/macros.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A copy of the input that ends with a NUL, in exactly as much memory; the caller frees. */
static inline char *fuzz_text (const void *data, size_t size)
{
    char *text = malloc (size + 1);

    assert (text);
    if (size > 0)
        memcpy (text, data, size);
    text[size] = '\0';
    return text;
}

/* A refusal has a code and one line of text that begins with prefix. $FLUXQ_FUZZ_SHOW prints the
 * text: shows whether an input gets through the parser. */
static inline void fuzz_check_refusal (const struct error *err, const char *prefix)
{
    if (getenv ("FLUXQ_FUZZ_SHOW"))
        fprintf (stderr, "REFUSED: %s\n", err->text);
    assert (err->code > 0 && err->text[0]);
    assert (strncmp (err->text, prefix, strlen (prefix)) == 0);
    assert (!strchr (err->text, '\n'));
}

/* The parts of an input, from front to back. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

/* 0 at the end of the input. */
static inline uint8_t fuzz_byte (struct fuzz_input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

static inline uint32_t fuzz_number (struct fuzz_input *in)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++)
        n = n << 8 | fuzz_byte (in);
    return n;
}

/* The input up to the separator, or to its end, without the separator; the caller frees. */
static inline char *fuzz_part (struct fuzz_input *in, const char *separator)
{
    size_t len = strlen (separator);
    const uint8_t *end =
        in->size > 0 ? memmem (in->data, in->size, separator, len) : NULL;
    size_t n = end ? (size_t)(end - in->data) : in->size;
    char *text = fuzz_text (in->data, n);

    n = end ? n + len : n;
    in->data += n;
    in->size -= n;
    return text;
}

static inline char *fuzz_line (struct fuzz_input *in)
{
    return fuzz_part (in, "\n");
}
