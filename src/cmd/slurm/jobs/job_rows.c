/* job_rows.c - see job_rows.h */
#include "cmd/slurm/jobs/job_rows.h"

#include "cmd/print/tsv.h"
#include "common/strbuf.h"

#define TARGET_MAX (256 * 1024)

/* An answer that is being read. */
struct reading {
    struct job_rows *rows;
    struct job_sort *sort; /* NULL: the rows keep their order */
    struct job_row row;
};

/* Makes the line of fields a row: its texts, one after another, in the same memory. Sets
 * their places in row. */
static int read_row (const struct job_rows *rows, char **pp, char *end,
                     struct job_row *row)
{
    char *to = *pp;

    for (size_t i = 0; i < rows->ncolumns; i++) {
        struct cell cell = tsv_read (pp, end);
        bool last = i + 1 == rows->ncolumns;
        if (*pp == end || (**pp == '\n') != last)
            return -EPROTO;
        if (to != cell.text) /* a field before had escapes */
            memmove (to, cell.text, cell.len);
        row->values[rows->columns[i]] = to;
        to += cell.len;
        *to++ = '\0';
        (*pp)++;
    }
    return 0;
}

/* Adds the row that has been read, or the rows of its components. */
static int add_row (struct reading *r, const char *text)
{
    size_t i = r->rows->n;
    int rc = job_rows_add (r->rows, text);

    for (; rc == 0 && r->sort && i < r->rows->n; i++) {
        if (r->rows->order[i] != text)
            job_rows_fill (r->rows, i, &r->row);
        job_sort_note (r->sort, &r->row);
    }
    return rc;
}

static int read_rows (char *text, char *end, void *arg)
{
    struct reading *r = arg;
    int rc = 0;

    while (text < end && rc == 0) {
        const char *begin = text;
        rc = read_row (r->rows, &text, end, &r->row);
        if (rc == 0)
            rc = add_row (r, begin);
    }
    return rc;
}

/* Forgets the rows, but not their columns. */
static void forget (struct job_rows *rows)
{
    for (size_t i = 0; i < rows->nmade; i++)
        free (rows->made[i]);
    rows->n = rows->nmade = 0;
    lines_release (&rows->lines);
}

static void begin (void *arg)
{
    struct reading *r = arg;

    forget (r->rows);
    if (r->sort)
        job_sort_reset (r->sort);
}

static void add_piece (const char *data, size_t len, void *arg)
{
    lines_add (&((struct reading *)arg)->rows->lines, data, len);
}

static int wrong_answer (struct cmd *c, int rc)
{
    return cmd_fail (c, "%s",
                     rc == -EPROTO  ? "the broker's answer lacks the requested columns"
                     : rc == -EFBIG ? "the broker's answer is larger than 1 GiB"
                                    : "out of memory");
}

static int read_answer (struct cmd *c, struct reading *r, const char *target)
{
    const struct http_reader reader = { begin, add_piece, r };

    r->rows->lines = (struct lines){ .fn = read_rows, .arg = r };
    job_row_init (&r->row);
    if (cmd_read (c, target, &reader) != CMD_OK)
        return c->status;
    int rc = lines_check (&r->rows->lines);
    if (rc == 0 && r->sort)
        rc = job_sort_order (r->sort, r->rows);
    return rc < 0 ? wrong_answer (c, rc) : CMD_OK;
}

/* Sets the columns, and appends them to the target. */
static void request_columns (struct job_rows *rows, uint64_t needs, struct strbuf *target)
{
    strbuf_addf (target, "%sformat=tsv&limit=10000000&fields=%s",
                 strchr (target->buf, '?') ? "&" : "?",
                 slurm_job_columns[JOB_COMPONENTS]);
    rows->columns[rows->ncolumns++] = JOB_COMPONENTS; /* the first: see job_rows_add() */
    needs |= UINT64_C (1) << JOB_ID;
    for (size_t v = 0; v < JOB_VALUES; v++) {
        if (!(needs >> v & 1) || v == JOB_COMPONENTS)
            continue;
        strbuf_addf (target, ",%s", slurm_job_columns[v]);
        rows->columns[rows->ncolumns++] = (enum job_value)v;
    }
}

int job_rows_get (struct cmd *c, struct job_rows *ret, const char *target, uint64_t needs,
                  const char *sort)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TARGET_MAX);
    struct reading r = { .rows = ret };

    *ret = (struct job_rows){ .n = 0 };
    strbuf_adds (&sb, target);
    request_columns (ret, needs, &sb);
    if (sb.err)
        return cmd_fail (c, "the list of jobs or users is too long");
    if (sort && !(r.sort = job_sort_create (sort)))
        return cmd_fail (c, "out of memory");
    int status = read_answer (c, &r, sb.buf);
    job_sort_destroy (r.sort);
    if (status != CMD_OK)
        job_rows_release (ret);
    return status;
}

void job_rows_release (struct job_rows *rows)
{
    forget (rows);
    free (rows->order);
    free (rows->made);
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
