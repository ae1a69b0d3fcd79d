/* job_components.c - rows of the components of heterogeneous jobs; see job_rows.h */
#include "cmd/slurm/jobs/job_rows.h"

/* Values that a component has of its own; "" if its list has none. */
static const enum job_value own[] = {
    JOB_NAME,           JOB_NODES,           JOB_NODE_COUNT,   JOB_NTASKS,
    JOB_NCORES,         JOB_NODELIST,        JOB_FEATURES,     JOB_REQUIRED_NODES,
    JOB_EXCLUDED_NODES, JOB_GRES_PER_NODE,   JOB_GPUS,         JOB_CPUS_PER_TASK,
    JOB_EXCLUSIVE,      JOB_MEMORY_PER_NODE, JOB_BATCH_SCRIPT, JOB_LICENSES,
};

/* Those that only the first component has. */
static bool is_first_only (enum job_value v)
{
    return v == JOB_BATCH_SCRIPT || v == JOB_LICENSES;
}

static const char *column_of (enum job_value v)
{
    return slurm_job_columns[v == JOB_NODE_COUNT ? JOB_NODES : v];
}

static size_t find_column (const struct job_rows *rows, enum job_value v)
{
    size_t k = 0;

    while (k < rows->ncolumns && rows->columns[k] != v)
        k++;
    return k;
}

/* Replaces texts of a row by those of component n. New texts belong to o. */
static void set_texts (const struct job_rows *rows, const char **texts, json_t *o,
                       size_t n)
{
    char text[64];
    size_t k;

    for (size_t i = 0; i < ARRAY_SIZE (own); i++)
        if ((k = find_column (rows, own[i])) < rows->ncolumns
            && (n > 0 || !is_first_only (own[i])))
            texts[k] = is_first_only (own[i]) ? "" : json_text (o, column_of (own[i]));
    snprintf (text, sizeof (text), "%zu", n);
    json_object_set_new (o, "component", json_string (text));
    texts[find_column (rows, JOB_COMPONENTS)] = json_text (o, "component");
    if ((k = find_column (rows, JOB_JOB)) < rows->ncolumns) {
        snprintf (text, sizeof (text), "%s+%zu", texts[k], n);
        json_object_set_new (o, "job", json_string (text));
        texts[k] = json_text (o, "job");
    }
}

/* The row of component n, one text after another; NULL: no memory. */
static char *make_row (const struct job_rows *rows, const char *row, json_t *o, size_t n)
{
    const char *texts[JOB_VALUES], *text = row;
    size_t size = 0;

    for (size_t k = 0; k < rows->ncolumns; k++, text += strlen (text) + 1)
        texts[k] = text;
    set_texts (rows, texts, o, n);
    for (size_t k = 0; k < rows->ncolumns; k++)
        size += strlen (texts[k]) + 1;
    char *made = malloc (size), *to = made;
    for (size_t k = 0; k < rows->ncolumns && made; k++)
        to = stpcpy (to, texts[k]) + 1;
    return made;
}

/* Adds a row; made: memory that the rows own then. */
static int append (struct job_rows *to, const char *row, char *made)
{
    if (array_reserve (&to->order, &to->aorder, to->n + 1, sizeof (*to->order)) < 0
        || (made
            && array_reserve (&to->made, &to->amade, to->nmade + 1, sizeof (*to->made))
                   < 0)) {
        free (made);
        return -ENOMEM;
    }
    if (made)
        to->made[to->nmade++] = made;
    to->order[to->n++] = row;
    return 0;
}

static int append_components (struct job_rows *to, const char *row)
{
    autojson json_t *list = json_loads (row, 0, NULL);
    json_t *o;
    size_t i;

    json_array_foreach (list, i, o) {
        char *made = make_row (to, row, o, i);
        if (!made || append (to, made, made) < 0)
            return -ENOMEM;
    }
    return json_array_size (list) > 0 ? 0 : append (to, row, NULL);
}

int job_rows_add (struct job_rows *rows, const char *row)
{
    return *row ? append_components (rows, row) : append (rows, row, NULL);
}
