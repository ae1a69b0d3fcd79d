/* output_text.c - see output_text.h
 */
#include "broker/services/stream/output_text.h"

void output_text_add_line (struct output_text *o, const char *text, size_t len)
{
    strbuf_addf (&o->text, "%sfluxq: ", o->line_open ? "\n" : "");
    strbuf_add (&o->text, text, len);
    strbuf_addch (&o->text, '\n');
    o->line_open = false;
}

/* Keeps lines of several tasks apart: output in the middle of another task's line begins
 * a new line. */
static void add_labelled (struct output_text *o, const struct frame *fr)
{
    const char *p = fr->data, *end = fr->data + fr->len;

    if (o->line_open && o->line_task != fr->task) {
        strbuf_addch (&o->text, '\n');
        o->line_open = false;
    }
    while (p < end) {
        const char *newline = memchr (p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline + 1 : end;

        if (!o->line_open)
            strbuf_addf (&o->text, "%u: ", fr->task);
        strbuf_add (&o->text, p, (size_t)(stop - p));
        o->line_open = !newline;
        p = stop;
    }
    o->line_task = fr->task;
}

static void take_output (struct output_text *o, const struct frame *fr)
{
    if (fr->len == 0 || (o->stream && fr->stream != o->stream)
        || (o->task >= 0 && fr->task != (uint32_t)o->task))
        return;
    if (o->label) {
        add_labelled (o, fr);
        return;
    }
    strbuf_add (&o->text, fr->data, fr->len);
    o->line_open = fr->data[fr->len - 1] != '\n';
}

void output_text_add (struct output_text *o, const struct frame *fr)
{
    if (fr->type == FRAME_FINISH && o->label && o->line_open)
        strbuf_addch (&o->text, '\n');
    if (o->rank >= 0 && fr->rank != (uint32_t)o->rank)
        return;
    if (fr->type == FRAME_OUTPUT)
        take_output (o, fr);
    else if ((fr->type == FRAME_NOTE || fr->type == FRAME_LOST) && o->stream != 1)
        output_text_add_line (o, fr->data, fr->len);
}
