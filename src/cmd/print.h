/* print.h - what commands need to show JSON answers to people
 *
 *     print_field ("State", "%s", json_text (o, "state"));      // "State:      RUNNING"
 *
 *     struct grid g;
 *     grid_init (&g, headings, 3);                   // ">CORES": to the right
 *     grid_add (&g, "%s", name); ...                 // cell after cell, row after row
 *     grid_print (&g, stdout);
 *     grid_release (&g);
 *
 * Getters give "" or 0 for what is absent, null or of another type: a newer or older
 * broker is no error. What is not printable (common/printable.h) is shown as question marks.
 */
#ifndef FLUXQ_CMD_PRINT_H
#define FLUXQ_CMD_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/json.h"
#include "common/strbuf.h"

double answer_number (const json_t *o, const char *key);
bool answer_flag (const json_t *o, const char *key);
/* "1,2,5" out of an array of numbers, appended. */
void answer_add_numbers (struct strbuf *sb, const json_t *array);

/* A line "Label:      value"; nothing at all when the value is empty. */
void print_field (const char *label, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* A line of text. */
void print_text (const char *text);
/* Unix seconds as local time; nothing for 0. */
void print_time (const char *label, double t);
/* "1.5 GiB" */
void add_memory (struct strbuf *sb, double mib);

#define GRID_COLUMNS_MAX 16

struct grid {
    const char *const *headings; /* '>' before one: to the right */
    size_t ncols, ncells;
    unsigned widths[GRID_COLUMNS_MAX];
    struct strbuf text; /* cells, each with its NUL */
};

void grid_init (struct grid *g, const char *const headings[], size_t ncols);
void grid_add (struct grid *g, const char *fmt, ...) PRINTF_LIKE (2, 3);
void grid_print (const struct grid *g, FILE *out);
void grid_release (struct grid *g);

#endif
