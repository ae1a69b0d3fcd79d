/* fuzz_hwloc.c - any bytes as a topology of hwloc, with all types and with a few
 *
 * Parser: match/readers/hwloc.c match/readers/hwloc_xml.c
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "match/readers/reader.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void try (const char *text, size_t len, const char *const *types)
{
    struct match_reader_options opt = { .types = types };
    struct graph *g = graph_create ();
    struct error err = { 0 };

    assert (g);
    if (match_reader_find ("hwloc")->read (g, text, len, &opt, &err) == 0)
        assert (g->root != GRAPH_NONE);
    else
        assert (err.code && !strncmp (err.text, "hwloc: ", 7)
                && !strchr (err.text, '\n'));
    graph_destroy (g);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static const char *const few[] = { "node", "core", "gpu", "storage", NULL };

    try ((const char *)data, size, NULL);
    try ((const char *)data, size, few);
    return 0;
}
