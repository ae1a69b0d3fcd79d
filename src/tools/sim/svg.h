/* svg.h - drawings as SVG text: boxes, lines and words, and an axis of time
 *
 *     struct strbuf sb;
 *     svg_begin (&sb, 900, 400, "title");
 *     svg_time_axis (&sb, &frame, makespan);
 *     svg_text (&sb, 10, 20, SVG_LEFT, "%s", text);     // escaped
 *     svg_write (&sb, "plot.svg", &err);                // ends it and frees sb
 *
 * No scripts, no links, no external content. Words keep only printable ASCII; other bytes
 * become '?'.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define SVG_MAX (64 << 20) /* bytes */

enum svg_anchor { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT };

struct svg_frame { /* place of a diagram */
    double x, y, width, height;
};

void svg_begin (struct strbuf *sb, int width, int height, const char *title);
void svg_text (struct strbuf *sb, double x, double y, enum svg_anchor anchor,
               const char *fmt, ...) PRINTF_LIKE (5, 6);
void svg_line (struct strbuf *sb, double x1, double y1, double x2, double y2);
/* Draws a box with a tooltip. fill: a colour of SVG. */
void svg_box (struct strbuf *sb, double x, double y, double width, double height,
              const char *fill, const char *fmt, ...) PRINTF_LIKE (7, 8);
/* Draws the frame's border, and below it times from 0 to end (seconds). */
void svg_time_axis (struct strbuf *sb, const struct svg_frame *f, double end);
/* 0 or -errno with the path. */
int svg_write (struct strbuf *sb, const char *path, struct error *err);
