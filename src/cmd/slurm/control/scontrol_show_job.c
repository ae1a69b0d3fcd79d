/* scontrol_show_job.c - scontrol show job */
#include "cmd/print/print.h"
#include "cmd/slurm/jobs/jobview.h"
#include "cmd/slurm/control/scontrol.h"

#define RECORD_MAX (16 << 20)

/* One job with all members: 0, or -1 and *why. */
static int get_job (struct scontrol *s, const char *id, json_t **ret, struct refusal *why)
{
    char target[80];

    snprintf (target, sizeof (target), "/v1/jobs/%s", id);
    return scontrol_call (s, "GET", target, NULL, ret, why);
}

/* A new array of the jobs that Slurm knows too, in the order of their ids: those of an array
 * with its tasks, or all (ids NULL). An array that consists of jobs now is left out. */
static json_t *get_jobs (struct scontrol *s, const char *ids, struct refusal *why)
{
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    autojson json_t *answer = NULL;
    json_t *jobs = json_array (), *job;
    size_t i;

    strbuf_adds (&target, "/v1/descriptions");
    target_add (&target, "ids", ids);
    if (scontrol_call (s, "GET", target.buf, NULL, &answer, why) < 0) {
        json_decref (jobs);
        return NULL;
    }
    const json_t *all = json_object_get (answer, "jobs");
    json_array_foreach (all, i, job)
        if (!jobview_is_spent (job) || json_array_size (all) == 1)
            json_array_append (jobs, job);
    return jobs;
}

static void print_job (const struct scontrol *s, const json_t *job)
{
    int flags = (s->oneline ? RECORD_ONE_LINE : 0) | (s->details ? RECORD_DETAILS : 0);
    autostrbuf struct strbuf sb = STRBUF_INIT (RECORD_MAX);

    jobview_add (&sb, job, flags);
    printf ("%s\n%s", sb.buf, s->oneline ? "" : "\n");
}

/* component: of "12+1", NULL: all of a job. */
static void print_jobs (struct scontrol *s, const json_t *jobs, const char *component)
{
    json_t *job, *part;
    bool found = !component;
    size_t i, k;

    if (s->json) {
        scontrol_print_json (s, jobs, component ? strtod (component, NULL) : -1);
        return;
    }
    json_array_foreach (jobs, i, job) {
        json_t *parts = jobview_components (job);
        json_array_foreach (parts, k, part) {
            if (component
                && (!json_object_get (part, "component")
                    || answer_number (part, "component") != strtod (component, NULL)))
                continue;
            print_job (s, part);
            found = true;
        }
        json_decref (parts);
    }
    if (!found)
        scontrol_print (s, "Job %.0f+%s not found",
                        answer_number (json_array_get (jobs, 0), "id"), component);
}

/* Narrows an array to one of its waiting tasks, as Slurm shows it. */
static void narrow (json_t *job, const char *task)
{
    json_t *waiting = json_object_get (json_object_get (job, "array"), "waiting");

    if (waiting) {
        json_object_set_new (waiting, "tasks", json_string (task));
        json_object_set_new (json_object_get (job, "array"), "limit", json_integer (0));
    }
}

/* "12" with all tasks of array 12, or "12_3" */
static json_t *find_jobs (struct scontrol *s, const char *value, struct refusal *why)
{
    const char *task = strchr (value, '_');
    autojson json_t *job = NULL;

    if (get_job (s, value, &job, why) < 0)
        return NULL;
    if (task || answer_number (job, "array_job") <= 0) {
        if (task)
            narrow (job, task + 1);
        return json_pack ("[O]", job);
    }
    if (!json_object_get (job, "array"))
        return json_pack ("[O]", job);
    return get_jobs (s, value, why);
}

/* Whether the array of an unknown task exists. */
static bool is_other_task (struct scontrol *s, const char *value,
                           const struct refusal *why)
{
    const char *end = strchr (value, '_');
    autojson json_t *array = NULL;
    struct refusal other;
    char id[32];

    if (!end || strcmp (why->code, "unknown-job") != 0)
        return false;
    snprintf (id, sizeof (id), "%.*s", (int)(end - value), value);
    return get_job (s, id, &array, &other) == 0;
}

static void show_all (struct scontrol *s)
{
    struct refusal why;
    autojson json_t *jobs = get_jobs (s, NULL, &why);

    if (!jobs)
        scontrol_say (s, "slurm_load_jobs error: %s", why.words);
    else if (json_array_size (jobs) == 0 && !s->json)
        puts ("No jobs in the system");
    else
        print_jobs (s, jobs, NULL);
}

void scontrol_show_jobs (struct scontrol *s, const char *value)
{
    struct refusal why;

    if (!value) {
        show_all (s);
        return;
    }
    if (strspn (value, "0123456789_+") != strlen (value) || *value == '_') {
        scontrol_say (s, "scontrol_print_job error: Invalid job id specified");
        return;
    }
    const char *plus = strchr (value, '+');
    autofree char *id = strndup (value, strcspn (value, "+"));
    if (!id
        || (plus && (!plus[1] || strspn (plus + 1, "0123456789") != strlen (plus + 1)))) {
        scontrol_say (s, "scontrol_print_job error: Invalid job id specified");
        return;
    }
    autojson json_t *jobs = find_jobs (s, id, &why);
    if (jobs)
        print_jobs (s, jobs, plus ? plus + 1 : NULL);
    else if (is_other_task (s, value, &why))
        scontrol_print (s, "Job %s not found", value);
    else
        scontrol_say (s, "slurm_load_jobs error: %s", why.words);
}
