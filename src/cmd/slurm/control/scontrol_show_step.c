/* scontrol_show_step.c - scontrol show step: the steps that run, asked from the agents of
 * their jobs */
#include <math.h>
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/control/scontrol.h"
#include "cmd/slurm/words/record.h"

#define RECORD_MAX (1 << 20)

/* The members that the record shows, beside those of the step. */
struct step_view {
    const json_t *job, *steps;
    const char *step; /* "0", "batch"; NULL: all */
    size_t n;         /* steps shown */
};

/* The job's own tasks are step 0, or the batch step if the command started a step 0. */
static const char *name_of (const json_t *steps, const json_t *step)
{
    const char *name = json_text (step, "step");
    const json_t *other;
    size_t i;

    if (strcmp (name, "tasks") != 0)
        return name;
    json_array_foreach (steps, i, other)
        if (!strcmp (json_text (other, "step"), "0"))
            return "batch";
    return "0";
}

/* The CPUs of its tasks, as far as the job's can be divided among its own. */
static double cpus_of (const json_t *job, const json_t *step, const char *name)
{
    double cpus = answer_number (job, "ncores"), tasks = answer_number (job, "ntasks");

    if (*name >= '0' && *name <= '9' && tasks > 0 && fmod (cpus, tasks) == 0)
        return MIN (cpus, answer_number (step, "ntasks") * cpus / tasks);
    return cpus;
}

static json_t *record_of (const struct step_view *v, const json_t *step, const char *name)
{
    double cpus = cpus_of (v->job, step, name);
    char id[64], tres[64];

    snprintf (id, sizeof (id), "%s.%s", json_text (v->job, "job"), name);
    snprintf (tres, sizeof (tres), "cpu=%.0f,node=%.0f", cpus,
              answer_number (step, "nnodes"));
    json_t *o = json_pack ("{s:s s:s s:f}", "id", id, "tres", tres, "cpus", cpus);
    json_object_set (o, "userid", json_object_get (v->job, "userid"));
    json_object_set (o, "queue", json_object_get (v->job, "queue"));
    json_object_update_missing (o, (json_t *)step);
    if (!strcmp (name, "batch"))
        json_object_set_new (o, "name", json_string (name));
    return o;
}

static void print_step (struct scontrol *s, struct step_view *v, const json_t *step)
{
    static const struct row rows[] = {
        { .key = "StepId", .from = "id" },
        { .key = "UserId", .from = "userid", .kind = ROW_NUMBER },
        { .key = "StartTime", .from = "begin", .kind = ROW_TIME },
        { .key = "TimeLimit", .fixed = "UNLIMITED", .ends = true },
        { .key = "State", .fixed = "RUNNING" },
        { .key = "Partition", .from = "queue" },
        { .key = "NodeList", .from = "nodes", .ends = true },
        { .key = "Nodes", .from = "nnodes", .kind = ROW_NUMBER },
        { .key = "CPUs", .from = "cpus", .kind = ROW_NUMBER },
        { .key = "Tasks", .from = "ntasks", .kind = ROW_NUMBER },
        { .key = "Name", .from = "name" },
        { .key = "Network", .fixed = "(null)", .ends = true },
        { .key = "TRES", .from = "tres", .ends = true },
        { .key = "ResvPorts", .fixed = "(null)", .ends = true },
        { .key = "CPUFreqReq", .fixed = "Default", .ends = true },
        { 0 },
    };
    autostrbuf struct strbuf sb = STRBUF_INIT (RECORD_MAX);
    const char *name = name_of (v->steps, step);

    if (v->step && strcmp (v->step, name) != 0)
        return;
    json_t *o = record_of (v, step, name);
    record_add (&sb, rows, o, s->oneline ? RECORD_ONE_LINE : 0);
    printf ("%s\n%s", sb.buf, s->oneline ? "" : "\n");
    json_decref (o);
    v->n++;
}

/* Prints the steps of a job; none if it does not run, or is another user's. False: there is
 * no such job. */
static bool show_job (struct scontrol *s, const char *id, const char *step, size_t *n)
{
    autojson json_t *job = NULL, *answer = NULL;
    struct step_view v = { .step = step };
    struct refusal why;
    char target[96];
    const json_t *one;
    size_t i;

    snprintf (target, sizeof (target), "/v1/jobs/%s", id);
    if (scontrol_call (s, "GET", target, NULL, &job, &why) < 0)
        return false;
    snprintf (target, sizeof (target), "/v1/jobs/%.0f/steps", answer_number (job, "id"));
    if (scontrol_call (s, "GET", target, NULL, &answer, &why) < 0)
        return true;
    v.job = job;
    v.steps = json_object_get (answer, "steps");
    json_array_foreach (v.steps, i, one)
        print_step (s, &v, one);
    *n += v.n;
    return true;
}

/* The jobs that run: the caller's, or root's view of all. */
static size_t show_all (struct scontrol *s)
{
    autojson json_t *answer = NULL;
    struct refusal why;
    const json_t *job;
    size_t i, n = 0;
    char id[32];

    if (scontrol_call (s, "GET",
                       geteuid () == 0
                           ? "/v1/jobs?state=running&fields=id&limit=100000"
                           : "/v1/jobs?state=running&fields=id&limit=100000&user=me",
                       NULL, &answer, &why)
        < 0) {
        scontrol_say (s, "slurm_get_job_steps error: %s", why.words);
        return 1;
    }
    json_array_foreach (json_object_get (answer, "jobs"), i, job) {
        if (cmd_interrupted ())
            break;
        snprintf (id, sizeof (id), "%.0f", answer_number (job, "id"));
        show_job (s, id, NULL, &n);
    }
    return n;
}

void scontrol_show_steps (struct scontrol *s, const char *value)
{
    size_t id = value ? strspn (value, "0123456789_") : 0, n = 0;
    char job[32];

    if (!value) {
        if (show_all (s) == 0)
            puts ("No job steps in the system");
        return;
    }
    if (id == 0 || id >= sizeof (job) || *value == '_'
        || (value[id] != '\0' && value[id] != '.')) {
        scontrol_say (s, "slurm_get_job_steps error: Invalid job id specified");
        return;
    }
    snprintf (job, sizeof (job), "%.*s", (int)id, value);
    if (!show_job (s, job, value[id] ? value + id + 1 : NULL, &n))
        scontrol_say (s, "slurm_get_job_steps error: Invalid job id specified");
    else if (n == 0)
        scontrol_print (s, "Job step %s not found", value);
}
