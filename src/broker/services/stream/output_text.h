/* output_text.h - text from the frames of a job's spool, as a client selects it
 *
 *     struct output_text o = { .rank = -1, .task = -1, .label = true };
 *     strbuf_init (&o.text, TEXT_MAX);
 *     output_text_add (&o, &frame);               // "3: " before each line of task 3
 *
 * A pure module: no input or output.
 */
#pragma once

#include "common/strbuf.h"
#include "protocol/frame.h"

struct output_text {
    int64_t rank, task; /* -1: all */
    int stream;         /* 0: all; 1: standard output; 2: standard error */
    bool label;         /* prefix each line with its task */
    bool line_open;     /* the text added last has no newline yet; its task: */
    uint32_t line_task;
    struct strbuf text;
};

/* Appends the text of the frame, if it is selected. */
void output_text_add (struct output_text *o, const struct frame *fr);
/* Appends a line of the broker's own, whatever is selected. */
void output_text_add_line (struct output_text *o, const char *text, size_t len);
