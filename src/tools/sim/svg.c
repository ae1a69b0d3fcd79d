/* svg.c - see svg.h */
#include "tools/sim/svg.h"

#include "common/io.h"

#define TEXT_MAX 512
#define TICKS_MAX 8

static void add_escaped (struct strbuf *sb, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            strbuf_adds (sb, "&amp;");
            break;
        case '<':
            strbuf_adds (sb, "&lt;");
            break;
        case '>':
            strbuf_adds (sb, "&gt;");
            break;
        case '"':
            strbuf_adds (sb, "&quot;");
            break;
        case '\'':
            strbuf_adds (sb, "&#39;");
            break;
        default:
            strbuf_addch (sb, *text >= ' ' && *text <= '~' ? *text : '?');
        }
    }
}

void svg_begin (struct strbuf *sb, int width, int height, const char *title)
{
    strbuf_init (sb, SVG_MAX);
    strbuf_addf (sb,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                 "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                 "<title>",
                 width, height, width, height);
    add_escaped (sb, title);
    strbuf_adds (sb, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
}

void svg_text (struct strbuf *sb, double x, double y, enum svg_anchor anchor,
               const char *fmt, ...)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    char text[TEXT_MAX];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    strbuf_addf (sb, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                 anchors[anchor]);
    add_escaped (sb, text);
    strbuf_adds (sb, "</text>\n");
}

void svg_line (struct strbuf *sb, double x1, double y1, double x2, double y2)
{
    strbuf_addf (sb,
                 "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                 "stroke=\"black\" stroke-width=\"0.5\"/>\n",
                 x1, y1, x2, y2);
}

void svg_box (struct strbuf *sb, double x, double y, double width, double height,
              const char *fill, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    strbuf_addf (sb,
                 "<rect x=\"%.3f\" y=\"%.3f\" width=\"%.3f\" height=\"%.3f\" "
                 "fill=\"%s\" stroke=\"black\" stroke-width=\"0.2\"><title>",
                 x, y, width, height, fill);
    add_escaped (sb, text);
    strbuf_adds (sb, "</title></rect>\n");
}

/* -- the axis of time -- */

static const struct {
    double seconds;
    const char *name;
} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };

/* 1, 2 or 5 times a power of ten, so that few steps make the whole. */
static double round_step (double whole)
{
    static const double steps[] = { 1, 2, 5 };
    double ten = 1;

    for (;; ten *= 10)
        for (size_t i = 0; i < ARRAY_SIZE (steps); i++)
            if (whole <= TICKS_MAX * ten * steps[i])
                return ten * steps[i];
}

void svg_time_axis (struct strbuf *sb, const struct svg_frame *f, double end)
{
    size_t u = 0;

    while (u + 1 < ARRAY_SIZE (units) && end < 2 * units[u].seconds)
        u++;
    double whole = end / units[u].seconds, step = round_step (whole);
    strbuf_addf (sb,
                 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                 "fill=\"none\" stroke=\"black\" stroke-width=\"0.5\"/>\n",
                 f->x, f->y, f->width, f->height);
    for (double t = 0; whole > 0 && t <= whole; t += step) {
        double x = f->x + f->width * t / whole;
        svg_line (sb, x, f->y + f->height, x, f->y + f->height + 4);
        svg_text (sb, x, f->y + f->height + 17, SVG_MIDDLE, "%g %s", t, units[u].name);
    }
}

int svg_write (struct strbuf *sb, const char *path, struct error *err)
{
    strbuf_adds (sb, "</svg>\n");
    int rc = sb->err;
    if (rc < 0)
        error_errno (err, -rc, "%s: the drawing", path);
    else
        rc = io_write_file_atomic (path, sb->buf, sb->len, 0644, err);
    strbuf_release (sb);
    return rc;
}
