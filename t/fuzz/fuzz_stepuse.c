/* fuzz_stepuse.c - any bytes as the usage of a step (protocol/stepuse.h); an accepted
 * text is written and reads back as the same usage
 *
 * Parser: protocol/stepuse.c
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "protocol/stepuse.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void check_same (const struct stepuse *a, const struct stepuse *b)
{
    assert (!strcmp (a->step, b->step));
    assert (a->begin_ms == b->begin_ms && a->end_ms == b->end_ms);
    assert (a->status == b->status && a->nreported == b->nreported);
    for (unsigned f = 0; f < USE_FIGURES; f++)
        assert (a->spread[f].n == b->spread[f].n && a->spread[f].sum == b->spread[f].sum);
    assert (!a->ranks == !b->ranks);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct stepuse s, again;
    struct strbuf sb;

    if (stepuse_decode ((const char *)data, size, &s) < 0)
        return 0;
    strbuf_init (&sb, 32768);
    stepuse_encode (&s, &sb);
    assert (sb.err == 0);
    assert (stepuse_decode (sb.buf, sb.len, &again) == 0);
    check_same (&s, &again);
    strbuf_release (&sb);
    stepuse_release (&again);
    stepuse_release (&s);
    return 0;
}
