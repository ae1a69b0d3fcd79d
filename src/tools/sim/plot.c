/* plot.c - see plot.h */
#include "tools/sim/plot.h"

#include "tools/sim/svg.h"

#define WIDTH 960
#define HEIGHT 480

static const struct svg_frame upper = { 70, 50, 860, 170 };
static const struct svg_frame lower = { 70, 270, 860, 170 };

/* Draws the area below the steps of the values; value: of a bucket, 0 to 1. */
static void add_area (struct strbuf *sb, const struct series *s,
                      const struct svg_frame *f, const char *fill,
                      double (*value) (const struct series *s, size_t i, double most),
                      double most)
{
    double bottom = f->y + f->height, right = f->x;

    strbuf_addf (sb, "<path fill=\"%s\" d=\"M%.2f %.2f", fill, f->x, bottom);
    for (size_t i = 0; i < s->n; i++) {
        double end = MIN (((double)i + 1) * s->width, s->end);
        right = f->x + f->width * end / s->end;
        strbuf_addf (sb, "V%.2fH%.2f", bottom - f->height * value (s, i, most), right);
    }
    strbuf_addf (sb, "V%.2fZ\"/>\n", bottom);
}

static double used (const struct series *s, size_t i, double most)
{
    return s->bucket[i].used / most;
}

static double queued (const struct series *s, size_t i, double most)
{
    return most > 0 ? s->bucket[i].queued / most : 0;
}

static void add_scale (struct strbuf *sb, const struct svg_frame *f, const char *name,
                       const char *top)
{
    svg_text (sb, f->x, f->y - 6, SVG_LEFT, "%s", name);
    svg_text (sb, f->x - 6, f->y + 10, SVG_RIGHT, "%s", top);
    svg_text (sb, f->x - 6, f->y + f->height, SVG_RIGHT, "0");
}

int plot_write (const struct series *s, double cores, const char *title, const char *path,
                struct error *err)
{
    struct strbuf sb;
    char top[32];

    svg_begin (&sb, WIDTH, HEIGHT, title);
    svg_text (&sb, WIDTH / 2.0, 22, SVG_MIDDLE, "%s", title);
    add_area (&sb, s, &upper, "#4c78a8", used, cores);
    add_scale (&sb, &upper, "Cores in use", "100 %");
    svg_time_axis (&sb, &upper, s->end);
    snprintf (top, sizeof (top), "%.0f", s->queued_max);
    add_area (&sb, s, &lower, "#e45756", queued, s->queued_max);
    add_scale (&sb, &lower, "Jobs that wait", top);
    svg_time_axis (&sb, &lower, s->end);
    return svg_write (&sb, path, err);
}
