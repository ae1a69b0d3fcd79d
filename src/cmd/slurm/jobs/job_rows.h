/* job_rows.h - the broker's jobs as rows for Slurm's formats: requested, ordered, walked
 *
 *     struct job_rows rows;
 *     if (job_rows_get (c, &rows, "/v1/jobs?state=active", format.needs | sort_needs,
 *                       "P,t,-p") != CMD_OK)
 *         return c->status;
 *     job_row_init (&row);
 *     for (size_t i = 0; i < rows.n; i++) {
 *         job_rows_fill (&rows, i, &row);
 *         slurm_format_add_row (&format, &row, &sb);
 *     }
 *     job_rows_release (&rows);
 *
 * The rows are read while the broker writes the others. Only the columns in `needs` are
 * requested; the other values of a row are "". A heterogeneous job has a row for each of its
 * components: JOB_JOB is "12+1" there, JOB_COMPONENTS "1", and sizes and nodes are those of
 * the component.
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/print/lines.h"
#include "cmd/slurm/jobs/job_fields.h"

struct job_rows {
    size_t n;
    /* The rows as they are shown, each of ncolumns texts, one after another: lists are
     * long, and memory is slow. */
    const char **order;
    size_t ncolumns;
    enum job_value columns[JOB_VALUES];
    size_t aorder;
    struct lines lines; /* of the broker's answer: the texts of the rows */
    char **made; /* rows of components, owned */
    size_t nmade, amade;
};

/* target: with its filters. sort: letters of squeue -S; NULL: the broker's order. CMD_OK, or
 * the status after a message; then there is nothing to release. */
int job_rows_get (struct cmd *c, struct job_rows *ret, const char *target, uint64_t needs,
                  const char *sort);
void job_rows_release (struct job_rows *rows);
/* Sets the requested values of the i-th row in the order. job_row_init() must have been
 * called once for the row. */
void job_rows_fill (const struct job_rows *rows, size_t i, struct job_row *row);

/* Adds a row; those of its components for a heterogeneous job (job_components.c). -ENOMEM. */
int job_rows_add (struct job_rows *rows, const char *row);

/* -- order (job_sort.c) -- */

/* spec: letters of squeue -S, "P,t,-p". The values that the order reads; false: *ret_wrong
 * is an unknown letter. */
bool job_sort_needs (const char *spec, uint64_t *ret_needs, char *ret_wrong);
/* Orders rows while they come. Rows that are alike by spec: those that start later first,
 * then those without a start, the newest first. */
struct job_sort;
struct job_sort *job_sort_create (const char *spec); /* NULL: no memory */
void job_sort_destroy (struct job_sort *sort);
/* No row has come yet. */
void job_sort_reset (struct job_sort *sort);
/* The next row has come. Its texts must not move before job_sort_reset(). */
void job_sort_note (struct job_sort *sort, const struct job_row *row);
/* Orders the rows, all of which have been noted. -ENOMEM. */
int job_sort_order (struct job_sort *sort, struct job_rows *rows);
