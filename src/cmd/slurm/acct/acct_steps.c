/* acct_steps.c - the steps of a job; see acct.h
 *
 *     step of fluxq    row
 *     batch            12.batch
 *     0, 1, ...        12.0, 12.1, ...
 *     tasks            12.0, or 12.batch if the command started a step 0 itself
 *     all              none; the processor time of the job's row
 */
#include <string.h>
#include <sys/wait.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"

static const char *name_of (const json_t *step)
{
    return json_text (step, "step");
}

/* Steps of the last attempt count, as the job's row is about it. */
static bool is_last (const struct acct_row *row, const json_t *step)
{
    return answer_number (step, "attempt") == acct_number (row, ACCT_RESTARTS);
}

static const json_t *find (const struct acct_row *row, const char *name)
{
    const json_t *step;
    size_t i;

    json_array_foreach (row->steps, i, step) {
        if (is_last (row, step) && !strcmp (name_of (step), name))
            return step;
    }
    return NULL;
}

bool acct_step_is_shown (const struct acct_row *row, const json_t *step,
                         const char **ret_id)
{
    const char *name = name_of (step);

    *ret_id = name;
    if (!strcmp (name, "tasks"))
        *ret_id = find (row, "0") ? "batch" : "0";
    return strcmp (name, "all") != 0 && (row->view->all_attempts || is_last (row, step))
           && acct_step_is_here (row, step);
}

json_t *acct_running_steps (struct cmd *c, uint64_t id)
{
    struct http_response r = { 0 };
    struct error err = { 0 };
    json_t *answer = NULL, *steps = NULL;
    char target[64];

    snprintf (target, sizeof (target), "/v1/jobs/%ju/steps", (uintmax_t)id);
    if (cmd_open (c, &err) < 0)
        return NULL;
    if (http_client_request (c->client, "GET", target, NULL, 0, NULL, &r, &err) == 0
        && r.status == 200)
        answer = json_parse (r.body, r.len, "the broker's answer", &err);
    http_response_release (&r);
    steps = json_incref (json_object_get (answer, "steps"));
    json_decref (answer);
    return steps;
}

/* -- figures -- */

const json_t *acct_figure (const struct acct_row *row, const char *name)
{
    return row->step ? json_object_get (row->step, name) : NULL;
}

static double cpu_time_of (const json_t *step, const char *figure)
{
    if (figure)
        return answer_number (json_object_get (step, figure), "sum");
    return cpu_time_of (step, "user") + cpu_time_of (step, "system");
}

double acct_cpu_time (const struct acct_row *row, const char *figure)
{
    const json_t *step, *all = find (row, "all");
    double sum = 0;
    size_t i;

    if (row->step || all)
        return cpu_time_of (row->step ? row->step : all, figure);
    json_array_foreach (row->steps, i, step) {
        if (is_last (row, step) && acct_step_is_here (row, step))
            sum += cpu_time_of (step, figure);
    }
    return sum;
}

/* -- ends -- */

const char *acct_step_state (const struct acct_row *row)
{
    static const char *const ends[] = { "CA", "TO", "DL", "PR", "NF" };
    int status = acct_status (row);

    if (json_is_null (json_object_get (row->step, "end")))
        return "RUNNING";
    if (status == 0)
        return "COMPLETED";
    if (acct_is_state (row, "OOM"))
        return "OUT_OF_MEMORY";
    for (size_t i = 0; i < ARRAY_SIZE (ends) && WIFSIGNALED (status); i++)
        if (acct_is_state (row, ends[i]))
            return "CANCELLED";
    return "FAILED";
}

/* Codes are compared as numbers, as in Slurm. */
int acct_derived_status (const struct acct_row *row)
{
    const json_t *step;
    const char *id;
    int worst = 0;
    size_t i;

    json_array_foreach (row->steps, i, step) {
        if (!acct_step_is_shown (row, step, &id) || !strcmp (id, "batch"))
            continue;
        worst = MAX (worst, (int)answer_number (step, "status"));
    }
    return worst;
}

const char *acct_step_nodes (const struct acct_row *row)
{
    const char *nodes = json_text (row->step, "nodes"); /* of a step that runs */
    double n = answer_number (row->step, "nnodes");

    if (*nodes)
        return nodes;
    if (n == acct_number (row, ACCT_NODES))
        return row->values[ACCT_NODELIST];
    return n == 1 ? json_text (acct_figure (row, "peak"), "max_node") : "";
}
