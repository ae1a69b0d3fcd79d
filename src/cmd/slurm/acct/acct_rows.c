/* acct_rows.c - the jobs of /v1/jobs and /v1/history as rows of texts; see acct.h
 *
 * Without steps a list comes as TSV, which is many times cheaper to read than JSON.
 */
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/print/tsv.h"
#include "cmd/slurm/acct/acct.h"
#include "common/printable.h"

#define TARGET_MAX (512 * 1024)

/* The column of each source; NULL: it has none. */
static const char *const columns[ACCT_VALUES][2] = {
    [ACCT_ID] = { "id", "id" },
    [ACCT_ARRAY_JOB] = { "array_job", "array_job" },
    [ACCT_ARRAY_TASK] = { "array_task", "array_task" },
    [ACCT_ARRAY_TASKS] = { "array_tasks", "array_tasks" },
    [ACCT_QUEUE] = { "queue", "queue" },
    [ACCT_NAME] = { "name", "name" },
    [ACCT_USER] = { "user", "user" },
    [ACCT_USERID] = { "userid", "userid" },
    [ACCT_GROUPID] = { "groupid", "groupid" },
    [ACCT_ACCOUNT] = { "account", "account" },
    [ACCT_QOS] = { "qos", "qos" },
    [ACCT_LICENSES] = { "licenses", "licenses" },
    [ACCT_WCKEY] = { "wckey", "wckey" },
    [ACCT_EXTRA] = { "extra", "extra" },
    [ACCT_MCS_LABEL] = { "mcs_label", "mcs_label" },
    [ACCT_ADMIN_COMMENT] = { "admin_comment", "admin_comment" },
    [ACCT_STATE] = { "state", "state" },
    [ACCT_ST] = { "st", "st" },
    [ACCT_EXIT_CODE] = { "exit_code", "exit_code" },
    [ACCT_STATUS] = { "wait_status", "status" },
    [ACCT_CANCELLED_BY] = { NULL, "cancelled_by" },
    [ACCT_TIME] = { "time", "time" },
    [ACCT_LIMIT] = { "time_limit", "time_limit" },
    [ACCT_SUBMIT] = { "submit_time", "submit_time" },
    [ACCT_ELIGIBLE] = { "eligible_time", "eligible_time" },
    [ACCT_BEGIN] = { "begin_time", NULL },
    [ACCT_START] = { "start_time", "start_time" },
    [ACCT_END] = { "end_time", "end_time" },
    [ACCT_NODES] = { "nodes", "nodes" },
    [ACCT_NTASKS] = { "ntasks", "ntasks" },
    [ACCT_NCORES] = { "ncores", "ncores" },
    [ACCT_CPU_MILLI] = { NULL, "cpu_milli" },
    [ACCT_GPUS] = { "gpus", "gpus" },
    [ACCT_MEMORY] = { NULL, "memory_mib" },
    [ACCT_ASKED_NODES] = { "node_count", "asked_nodes" },
    [ACCT_ASKED_NCORES] = { "ncores", "asked_ncores" },
    [ACCT_ASKED_CPU_MILLI] = { NULL, "asked_cpu_milli" },
    [ACCT_ASKED_GPUS] = { "gpus", "asked_gpus" },
    [ACCT_ASKED_MEMORY] = { NULL, "asked_memory_mib" },
    [ACCT_NODE_MEMORY] = { "memory_per_node", NULL },
    [ACCT_NODE_GRES] = { "gres_per_node", NULL },
    [ACCT_NODELIST] = { "nodelist", "nodelist" },
    [ACCT_CWD] = { "cwd", "cwd" },
    [ACCT_COMMENT] = { "comment", "comment" },
    [ACCT_RESTARTS] = { "restarts", "restarts" },
    [ACCT_PRIORITY] = { "priority", "priority" },
    [ACCT_RESERVATION] = { "reservation", NULL },
    [ACCT_FEATURES] = { "features", NULL },
    [ACCT_REASON] = { "reason", NULL },
    [ACCT_OUTPUT] = { "output", NULL },
    [ACCT_ERROR] = { "error", NULL },
    [ACCT_INPUT] = { "input", NULL },
    [ACCT_COMPONENTS] = { "components", "components" },
};

/* -- requests -- */

/* Whether an earlier value has the same column: a column is requested once. */
static enum acct_value first_with (enum acct_value v, enum acct_source source)
{
    enum acct_value first = 0;

    while (!columns[first][source] || strcmp (columns[first][source], columns[v][source]))
        first++;
    return first;
}

static void add_fields (struct acct_rows *rows, uint64_t needs, struct strbuf *target)
{
    uint64_t wanted = ACCT_BIT (ID) | ACCT_BIT (COMPONENTS);

    for (enum acct_value v = 0; v < ACCT_VALUES; v++)
        if (needs >> v & 1 && columns[v][rows->source])
            wanted |= UINT64_C (1) << first_with (v, rows->source);
    strbuf_addf (target, "%sfields=", strchr (target->buf, '?') ? "&" : "?");
    for (enum acct_value v = 0; v < ACCT_VALUES; v++) {
        if (!(wanted >> v & 1))
            continue;
        strbuf_addf (target, "%s%s", rows->ncolumns ? "," : "", columns[v][rows->source]);
        rows->columns[rows->ncolumns++] = v;
    }
}

static int allocate (struct acct_rows *rows, size_t n)
{
    rows->cells = calloc (n * rows->ncolumns + 1, sizeof (*rows->cells));
    rows->steps = calloc (n + 1, sizeof (*rows->steps));
    return rows->cells && rows->steps ? 0 : -ENOMEM;
}

/* -- TSV -- */

static int read_line (struct acct_rows *rows, char **pp, char *end)
{
    const char **cells = rows->cells + rows->n * rows->ncolumns;

    for (size_t i = 0; i < rows->ncolumns; i++) {
        struct cell cell = tsv_read (pp, end);
        if (*pp == end || (**pp == '\n') != (i + 1 == rows->ncolumns))
            return -EPROTO;
        ((char *)cell.text)[cell.len] = '\0';
        (*pp)++;
        cells[i] = cell.text;
    }
    rows->n++;
    return 0;
}

static int read_tsv (struct acct_rows *rows)
{
    char *p = rows->answer.body, *end = p + rows->answer.len;
    size_t n = 0;
    int rc;

    for (char *q = p; q < end && (q = memchr (q, '\n', (size_t)(end - q))); q++)
        n++;
    rc = allocate (rows, n);
    while (p < end && rc == 0)
        rc = rows->n == n ? -EPROTO : read_line (rows, &p, end);
    return rc;
}

/* -- JSON -- */

/* Puts a printable text in the place of the member, so that it lives as long as the job. */
static const char *text_in (json_t *job, const char *key)
{
    const json_t *value = json_object_get (job, key);
    char number[40];
    json_t *text;

    if (json_is_integer (value))
        snprintf (number, sizeof (number), "%jd", (intmax_t)json_integer_value (value));
    else if (json_is_real (value))
        snprintf (number, sizeof (number), "%.3f", json_real_value (value));
    else
        number[0] = '\0';
    if (json_is_string (value)) {
        autofree char *copy = strdup (json_string_value (value));
        if (copy)
            printable_clean (copy);
        text = copy ? json_string (copy) : NULL;
    } else {
        text = json_string (number);
    }
    json_object_set_new (job, key, text);
    return json_text (job, key);
}

static int read_json (struct acct_rows *rows, struct error *err)
{
    size_t i;
    json_t *job;

    rows->json = json_parse (rows->answer.body, rows->answer.len, "answer", err);
    const json_t *jobs = json_object_get (rows->json, "jobs");
    if (!json_is_array (jobs))
        return -EPROTO;
    if (allocate (rows, json_array_size (jobs)) < 0)
        return -ENOMEM;
    json_array_foreach (jobs, i, job) {
        for (size_t k = 0; k < rows->ncolumns; k++)
            rows->cells[i * rows->ncolumns + k] =
                text_in (job, columns[rows->columns[k]][rows->source]);
        rows->steps[i] = json_object_get (job, "steps");
    }
    rows->n = json_array_size (jobs);
    return 0;
}

/* -- rows -- */

uint64_t acct_row_id (const struct acct_rows *rows, size_t i)
{
    /* the first column */
    return strtoull (rows->cells[i * rows->ncolumns], NULL, 10);
}

int acct_rows_get (struct cmd *c, struct acct_rows *ret, enum acct_source source,
                   const char *target, uint64_t needs, bool steps)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TARGET_MAX);
    struct error err = { 0 };

    *ret = (struct acct_rows){ .source = source };
    strbuf_adds (&sb, target);
    add_fields (ret, needs, &sb);
    strbuf_adds (&sb, steps ? "&steps=1" : "&format=tsv");
    if (sb.err)
        return cmd_fail (c, "the list of jobs or names is too long");
    if (cmd_request (c, "GET", sb.buf, NULL, 0, &ret->answer) != CMD_OK)
        return c->status;
    int rc = steps ? read_json (ret, &err) : read_tsv (ret);
    if (rc == 0)
        return CMD_OK;
    acct_rows_release (ret);
    return cmd_fail (c, rc == -ENOMEM ? "out of memory" : "the broker's answer is cut");
}

void acct_rows_release (struct acct_rows *rows)
{
    free (rows->cells);
    free (rows->steps);
    json_decref (rows->json);
    http_response_release (&rows->answer);
    *rows = (struct acct_rows){ .n = 0 };
}

void acct_row_init (struct acct_row *row, const struct acct_view *view)
{
    *row = (struct acct_row){ .view = view };
    for (size_t v = 0; v < ACCT_VALUES; v++)
        row->values[v] = "";
}

/* Accounting does not know CONFIGURING and COMPLETING: programs take an unknown state for
 * the end of the job. */
static void set_accounted_state (struct acct_row *row)
{
    static const char *const passing[] = { "CF", "CG" };

    for (size_t i = 0; i < ARRAY_SIZE (passing); i++) {
        if (!acct_is_state (row, passing[i]))
            continue;
        row->values[ACCT_STATE] = "RUNNING";
        row->values[ACCT_ST] = "R";
    }
}

void acct_rows_fill (const struct acct_rows *rows, size_t i, struct acct_row *row)
{
    const char **cells = rows->cells + i * rows->ncolumns;

    acct_row_init (row, row->view);
    for (size_t k = 0; k < rows->ncolumns; k++)
        row->values[rows->columns[k]] = cells[k];
    for (enum acct_value v = 0; v < ACCT_VALUES; v++)
        if (columns[v][rows->source])
            row->values[v] = row->values[first_with (v, rows->source)];
    row->steps = rows->steps[i];
    set_accounted_state (row);
}
