/* scontrol_json.c - scontrol --json show job: the jobs of an answer, as squeue --json shows
 * them (job_json.h)
 */
#include "cmd/print/print.h"
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/jobs/job_rows.h"
#include "cmd/slurm/control/scontrol.h"

#define IDS_MAX (16 << 20)

/* jobs: in the order of their ids. */
static const json_t *find (const json_t *jobs, const char *id)
{
    double wanted = strtod (id, NULL);
    size_t low = 0, high = json_array_size (jobs);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const json_t *job = json_array_get (jobs, middle);
        double n = answer_number (job, "id");
        if (n == wanted)
            return job;
        if (n < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The columns of the jobs; their ranks are in `jobs` already. */
static json_t *describe (struct cmd *c, const json_t *jobs, const char *target,
                         double component)
{
    struct job_rows rows;
    struct job_row row;
    json_t *list = json_array ();

    if (job_rows_get (c, &rows, target, JOB_JSON_NEEDS, NULL) != CMD_OK) {
        json_decref (list);
        return NULL;
    }
    job_row_init (&row);
    for (size_t i = 0; i < rows.n; i++) {
        job_rows_fill (&rows, i, &row);
        const json_t *job = find (jobs, row.values[JOB_ID]);
        if (job
            && (component < 0
                || (*row.values[JOB_COMPONENTS]
                    && job_number (&row, JOB_COMPONENTS) == component)))
            json_array_append_new (list, job_json (&row, json_object_get (job, "ranks")));
    }
    job_rows_release (&rows);
    return list;
}

void scontrol_print_json (struct scontrol *s, const json_t *jobs, double component)
{
    autostrbuf struct strbuf target = STRBUF_INIT (IDS_MAX);
    const json_t *job;
    json_t *list = NULL;
    size_t i;

    strbuf_adds (&target, "/v1/jobs?state=all&limit=1000000&ids=");
    json_array_foreach (jobs, i, job)
        strbuf_addf (&target, "%s%.0f", i ? "," : "", answer_number (job, "id"));
    list = json_array_size (jobs) > 0 ? describe (s->c, jobs, target.buf, component)
                                      : json_array ();
    if (list)
        job_json_print (s->c, "jobs", list);
}
