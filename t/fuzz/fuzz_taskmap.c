/* fuzz_taskmap.c - any bytes as a task map (RFC 34); an accepted map is written in both
 * forms, and each reads back as the same map
 *
 * Parser: protocol/taskmap.c
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "protocol/test/taskmap_raw.h"

#define RANKS 64

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A few bytes describe millions of tasks: keeps each try short. */
static int is_large (const char *text)
{
    size_t digits = 0;

    for (; *text; text++) {
        digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
        if (digits > 3)
            return 1;
    }
    return 0;
}

static void check_same (const char *text, const uint32_t *ranks, uint32_t ntasks)
{
    uint32_t *again, n;
    int rc = taskmap_decode (text, RANKS, &again, &n, NULL);

    assert (rc == 0 && n == ntasks);
    assert (!memcmp (again, ranks, n * sizeof (*ranks)));
    free (again);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autofree char *text = strndup ((const char *)data, size);
    struct error err = { 0 };
    uint32_t *ranks, ntasks;
    struct strbuf sb;

    assert (text);
    if (is_large (text))
        return 0;
    if (taskmap_decode (text, RANKS, &ranks, &ntasks, &err) < 0) {
        assert (err.code && !strncmp (err.text, "taskmap: ", 9));
        return 0;
    }
    assert (ntasks > 0 && ntasks <= TASKMAP_TASKS_MAX);
    for (uint32_t task = 0; task < ntasks; task++)
        assert (ranks[task] < RANKS);
    strbuf_init (&sb, (size_t)1 << 30);
    strbuf_add_taskmap (&sb, ranks, ntasks);
    assert (sb.err == 0);
    check_same (sb.buf, ranks, ntasks);
    strbuf_reset (&sb);
    strbuf_add_taskmap_raw (&sb, ranks, ntasks);
    assert (sb.err == 0);
    check_same (sb.buf, ranks, ntasks);
    strbuf_release (&sb);
    free (ranks);
    return 0;
}
