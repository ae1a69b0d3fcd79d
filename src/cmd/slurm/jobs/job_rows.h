/* job_rows.h - the broker's jobs as rows for Slurm's formats: requested, ordered, walked
 *
 *     struct job_rows rows;
 *     if (job_rows_get (c, &rows, "/v1/jobs?state=active", format.needs | sort_needs)
 *         != CMD_OK)
 *         return c->status;
 *     job_rows_sort (&rows, "P,t,-p");
 *     job_row_init (&row);
 *     for (size_t i = 0; i < rows.n; i++) {
 *         job_rows_fill (&rows, i, &row);
 *         slurm_format_add_row (&format, &row, &sb);
 *     }
 *     job_rows_release (&rows);
 *
 * Only the columns in `needs` are requested; the other values of a row are "". A
 * heterogeneous job has a row for each of its components: JOB_JOB is "12+1" there,
 * JOB_COMPONENTS "1", and sizes and nodes are those of the component.
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/jobs/job_fields.h"

struct job_rows {
    size_t n;
    /* The rows as they are shown, each of ncolumns texts, one after another: lists are
     * long, and memory is slow. */
    const char **order;
    size_t ncolumns;
    enum job_value columns[JOB_VALUES];
    struct http_response answer;
    char **made; /* rows of components, owned */
    size_t nmade, amade;
};

/* target: with its filters. CMD_OK, or the status after a message; then there is nothing to
 * release. */
int job_rows_get (struct cmd *c, struct job_rows *ret, const char *target,
                  uint64_t needs);
void job_rows_release (struct job_rows *rows);
/* Sets the requested values of the i-th row in the order. job_row_init() must have been
 * called once for the row. */
void job_rows_fill (const struct job_rows *rows, size_t i, struct job_row *row);

/* Replaces the row of each heterogeneous job by the rows of its components
 * (job_components.c). -ENOMEM. */
int job_rows_expand (struct job_rows *rows);

/* -- order (job_sort.c) -- */

/* spec: letters of squeue -S, "P,t,-p". The values that the order reads; false: *ret_wrong
 * is an unknown letter. */
bool job_sort_needs (const char *spec, uint64_t *ret_needs, char *ret_wrong);
/* Rows that are alike by spec: those that start later first, then those without a start,
 * the newest first. -ENOMEM. */
int job_rows_sort (struct job_rows *rows, const char *spec);
