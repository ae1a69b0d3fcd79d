/* print.h - prints JSON answers for people
 *
 * This folder holds tables, columns and lines for people. The text or JSON of an answer
 * comes in, and text goes to the terminal. The folder knows neither commands nor the
 * broker, and uses no other folder of cmd.
 *
 *     print_field ("State", "%s", json_text (o, "state"));      // "State:      RUNNING"
 *
 *     struct grid g;
 *     grid_init (&g, headings, 3);                   // ">CORES": to the right
 *     grid_add (&g, "%s", name); ...                 // cell after cell, row after row
 *     grid_print (&g, stdout);
 *     grid_release (&g);
 *
 * Getters return "" or 0 for a value that is absent, null or of another type, so newer
 * and older brokers cause no errors. Unprintable characters (common/printable.h) become
 * question marks.
 */
#pragma once

#include "common/json.h"

double answer_number (const json_t *o, const char *key);
bool answer_flag (const json_t *o, const char *key);
/* Appends "1,2,5", from an array of numbers. */
void answer_add_numbers (struct strbuf *sb, const json_t *array);

/* Prints a line "Label: value"; nothing for an empty value. */
void print_field (const char *label, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* Prints an answer as indented JSON. */
void print_json (const json_t *o);
/* Prints a line of text. */
void print_text (const char *text);
/* Prints unix seconds as local time; nothing for 0. */
void print_time (const char *label, double t);
/* Appends "1.5 GiB". */
void add_memory (struct strbuf *sb, double mib);

#define GRID_COLUMNS_MAX 16

struct grid {
    const char *const *headings; /* '>' in front: aligned to the right */
    size_t ncols, ncells;
    unsigned widths[GRID_COLUMNS_MAX];
    struct strbuf text; /* cells, each with its NUL */
};

void grid_init (struct grid *g, const char *const headings[], size_t ncols);
void grid_add (struct grid *g, const char *fmt, ...) PRINTF_LIKE (2, 3);
void grid_print (const struct grid *g, FILE *out);
void grid_release (struct grid *g);
