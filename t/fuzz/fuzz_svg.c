/* fuzz_svg.c - drawings with any titles and numbers are well-formed XML without links, scripts
 * and entities
 *
 * Parser: tools/sim/svg.c
 */
#include "fuzz.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <unistd.h>

#include "common/io.h"
#include "tools/sim/svg.h"

static void check_node (const xmlNode *node)
{
    static const char *const names[] = { "svg", "title", "rect", "text", "line" };
    bool known = false;

    for (; node; node = node->next) {
        assert (node->type == XML_ELEMENT_NODE || node->type == XML_TEXT_NODE);
        known = node->type == XML_TEXT_NODE;
        for (size_t i = 0; i < ARRAY_SIZE (names); i++)
            known = known || !strcmp ((const char *)node->name, names[i]);
        assert (known);
        check_node (node->children);
    }
}

static void check_xml (const char *path)
{
    struct error err = { 0 };
    autostrbuf struct strbuf text = STRBUF_INIT (SVG_MAX);

    assert (io_read_file (path, &text, SVG_MAX, &err) == 0);
    xmlDoc *doc =
        xmlReadMemory (text.buf, (int)text.len, "drawing", NULL,
                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_PEDANTIC);
    assert (doc && !doc->intSubset);
    check_node (xmlDocGetRootElement (doc));
    xmlFreeDoc (doc);
}

/* From 0 to some years, and parts of seconds. */
static double number (struct fuzz_input *in)
{
    return fuzz_number (in) / 8.0;
}

static void draw (struct strbuf *sb, struct fuzz_input *in)
{
    static const char *const fills[] = { "red", "#aabbcc" };
    struct svg_frame frame = { 10, 20, 300, 100 };

    svg_time_axis (sb, &frame, number (in));
    while (in->size > 0) {
        double x = number (in), y = number (in);
        uint8_t kind = fuzz_byte (in);
        autofree char *text = fuzz_line (in);
        if (kind % 3 == 0)
            svg_text (sb, x, y, kind / 3 % 3, "%s", text);
        else if (kind % 3 == 1)
            svg_box (sb, x, y, 1, 2, fills[kind / 3 % 2], "job %s", text);
        else
            svg_line (sb, x, y, y, x);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    char path[64];
    struct error err = { 0 };
    struct strbuf sb;

    snprintf (path, sizeof (path), "/dev/shm/fluxq-fuzz-svg.%d", (int)getpid ());
    autofree char *title = fuzz_line (&in);
    svg_begin (&sb, 900, 400, title);
    draw (&sb, &in);
    assert (svg_write (&sb, path, &err) == 0);
    check_xml (path);
    unlink (path);
    return 0;
}
