/* job_rows.c - see job_rows.h */
#include "cmd/slurm/jobs/job_rows.h"

#include "cmd/print/tsv.h"
#include "common/strbuf.h"

#define TARGET_MAX (256 * 1024)

/* Makes the line of fields a row: its texts, one after another, in the same memory. */
static int read_row (struct job_rows *rows, char **pp, char *end)
{
    char *to = *pp;

    rows->order[rows->n++] = to;
    for (size_t i = 0; i < rows->ncolumns; i++) {
        struct cell cell = tsv_read (pp, end);
        bool last = i + 1 == rows->ncolumns;
        if (*pp == end || (**pp == '\n') != last)
            return -EPROTO;
        if (to != cell.text) /* a field before had escapes */
            memmove (to, cell.text, cell.len);
        to += cell.len;
        *to++ = '\0';
        (*pp)++;
    }
    return 0;
}

static int read_rows (struct job_rows *rows, struct error *err)
{
    char *p = rows->answer.body, *end = p + rows->answer.len;
    size_t n = 0;

    for (char *q = p; q < end && (q = memchr (q, '\n', (size_t)(end - q))); q++)
        n++;
    rows->order = malloc ((n + 1) * sizeof (*rows->order));
    if (!rows->order)
        return error_set (err, ENOMEM, "out of memory");
    while (p < end)
        if (rows->n == n || read_row (rows, &p, end) < 0)
            return error_set (err, EPROTO,
                              "the broker's answer lacks the requested columns");
    return 0;
}

int job_rows_get (struct cmd *c, struct job_rows *ret, const char *target, uint64_t needs)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TARGET_MAX);
    struct error err = { 0 };

    *ret = (struct job_rows){ .n = 0 };
    needs |= UINT64_C (1) << JOB_ID;
    strbuf_addf (&sb, "%s%sformat=tsv&limit=10000000&fields=%s", target,
                 strchr (target, '?') ? "&" : "?", slurm_job_columns[JOB_COMPONENTS]);
    ret->columns[ret->ncolumns++] = JOB_COMPONENTS; /* the first: see job_rows_expand() */
    for (size_t v = 0; v < JOB_VALUES; v++) {
        if (!(needs >> v & 1) || v == JOB_COMPONENTS)
            continue;
        strbuf_addf (&sb, ",%s", slurm_job_columns[v]);
        ret->columns[ret->ncolumns++] = (enum job_value)v;
    }
    if (sb.err)
        return cmd_fail (c, "the list of jobs or users is too long");
    if (cmd_request (c, "GET", sb.buf, NULL, 0, &ret->answer) != CMD_OK)
        return c->status;
    int rc = read_rows (ret, &err);
    if (rc == 0 && job_rows_expand (ret) < 0)
        rc = error_no_memory (&err, NULL);
    if (rc < 0) {
        job_rows_release (ret);
        return cmd_fail (c, "%s", err.text);
    }
    return CMD_OK;
}

void job_rows_release (struct job_rows *rows)
{
    free (rows->order);
    for (size_t i = 0; i < rows->nmade; i++)
        free (rows->made[i]);
    free (rows->made);
    http_response_release (&rows->answer);
    *rows = (struct job_rows){ .n = 0 };
}

void job_rows_fill (const struct job_rows *rows, size_t i, struct job_row *row)
{
    const char *text = rows->order[i];

    for (size_t j = 0; j < rows->ncolumns; j++) {
        row->values[rows->columns[j]] = text;
        while (*text++) /* most texts are too short for strlen() */
            ;
    }
}
