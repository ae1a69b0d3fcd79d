/* hold_environ.c - the variables of the command of fluxq-alloc and salloc: those of a job's
 * script, as far as they are known outside of the job
 */
#include <stdlib.h>

#include "cmd/interactive/hold.h"
#include "cmd/print/print.h"
#include "common/idset.h"
#include "common/strbuf.h"
#include "protocol/step_client.h"

#define CORES_MAX 65536

/* Sets a variable to a number for each node, in Slurm's form "4(x2),3". */
static int set_counts (const char *name, const json_t *ranks,
                       int64_t (*count) (const json_t *rank))
{
    autostrbuf struct strbuf sb = STRBUF_INIT (128 * 1024);
    size_t n = json_array_size (ranks), run;

    for (size_t i = 0; i < n; i += run) {
        int64_t each = count (json_array_get (ranks, i));
        for (run = 1; i + run < n && count (json_array_get (ranks, i + run)) == each;)
            run++;
        strbuf_addf (&sb, "%s%jd", i ? "," : "", (intmax_t)each);
        if (run > 1)
            strbuf_addf (&sb, "(x%zu)", run);
    }
    return sb.err || n == 0 ? 0 : setenv (name, sb.buf, 1);
}

static int64_t tasks_of (const json_t *rank)
{
    return json_integer_value (json_object_get (rank, "slots"));
}

static int64_t cores_of (const json_t *rank)
{
    const char *text = json_string_value (json_object_get (rank, "cores"));
    autoidset struct idset *ids = idset_decode (text ? text : "", CORES_MAX, NULL);

    return ids ? idset_count (ids) : 0;
}

/* The ranks of a component; those of any other job are of component 0. */
static json_t *ranks_of (const json_t *job, size_t component)
{
    json_t *list = json_array (), *rank;
    size_t i;

    json_array_foreach (json_object_get (job, "ranks"), i, rank)
        if ((size_t)json_integer_value (json_object_get (rank, "component")) == component)
            json_array_append (list, rank);
    return list;
}

/* Variables with the value of a member of the job, or of the component that has it. */
static const struct {
    const char *member, *of_component; /* of_component: its name there; NULL: the job's */
    const char *names[6];
} variables[] = {
    { "id",
      NULL,
      { "SLURM_JOB_ID", "FLUXQ_JOB_ID", "SLURM_JOBID", "FLUX_JOB_ID", STEP_CLIENT_JOB } },
    { "name", "name", { "SLURM_JOB_NAME", "FLUXQ_JOB_NAME" } },
    { "queue", NULL, { "SLURM_JOB_PARTITION", "FLUXQ_JOB_QUEUE" } },
    { "nodelist",
      "nodelist",
      { "SLURM_JOB_NODELIST", "FLUXQ_NODELIST", "SLURM_NODELIST" } },
    { "node_count", "nodes", { "SLURM_JOB_NUM_NODES", "FLUXQ_NNODES", "SLURM_NNODES" } },
    { "ntasks", "ntasks", { "SLURM_NTASKS", "FLUXQ_NTASKS", "SLURM_NPROCS" } },
    { "user", NULL, { "FLUXQ_JOB_USER", "SLURM_JOB_USER" } },
    { "cwd", NULL, { "FLUXQ_SUBMIT_DIR", "SLURM_SUBMIT_DIR" } },
};

/* The first so many have a name with a suffix for each component: the first of the names. */
#define OF_COMPONENTS 6

/* The value as text. */
static const char *value_of (const json_t *job, const json_t *component, size_t i,
                             char number[32])
{
    const char *member = variables[i].member;

    if (component && variables[i].of_component)
        return json_text (component, variables[i].of_component);
    snprintf (number, 32, "%.0f", answer_number (job, member));
    return *json_text (job, member) ? json_text (job, member) : number;
}

static int set_plain (const json_t *job)
{
    const json_t *first = json_array_get (json_object_get (job, "components"), 0);
    autojson json_t *ranks = ranks_of (job, 0);
    char number[32];
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (variables); i++) {
        const char *text = value_of (job, first, i, number);
        for (size_t j = 0; j < ARRAY_SIZE (variables[i].names) && variables[i].names[j];
             j++)
            rc |= setenv (variables[i].names[j], text, 1);
    }
    rc |= set_counts ("SLURM_TASKS_PER_NODE", ranks, tasks_of);
    return rc | set_counts ("SLURM_JOB_CPUS_PER_NODE", ranks, cores_of);
}

static int set_component (const json_t *job, const json_t *component, size_t n)
{
    autojson json_t *ranks = ranks_of (job, n);
    char name[64], number[32];
    int rc = 0;

    for (size_t i = 0; i < OF_COMPONENTS; i++) {
        snprintf (name, sizeof (name), "%s_HET_GROUP_%zu", variables[i].names[0], n);
        rc |= setenv (name, value_of (job, component, i, number), 1);
    }
    snprintf (name, sizeof (name), "SLURM_TASKS_PER_NODE_HET_GROUP_%zu", n);
    rc |= set_counts (name, ranks, tasks_of);
    snprintf (name, sizeof (name), "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_%zu", n);
    return rc | set_counts (name, ranks, cores_of);
}

static int set_components (const json_t *list, const json_t *job)
{
    char size[24];
    json_t *component;
    size_t i;
    int rc = 0;

    json_array_foreach (list, i, component)
        rc |= set_component (job, component, i);
    snprintf (size, sizeof (size), "%zu", json_array_size (list));
    return rc | (json_array_size (list) > 0 ? setenv ("SLURM_HET_SIZE", size, 1) : 0);
}

int hold_set_environment (const json_t *job, const struct submit_options *so)
{
    int rc = set_plain (job) | set_components (json_object_get (job, "components"), job);
    const char *name;
    json_t *value;
    char each[32];

    json_object_foreach (so->for_steps, name, value)
        rc |= setenv (name, json_string_value (json_array_get (value, 1)), 1);
    if (so->submit_host[0])
        rc |= setenv ("SLURM_SUBMIT_HOST", so->submit_host, 1);
    snprintf (each, sizeof (each), "%jd", (intmax_t)so->ntasks_per_node);
    return rc
           | (so->ntasks_per_node > 0 ? setenv ("SLURM_NTASKS_PER_NODE", each, 1)
                                      : unsetenv ("SLURM_NTASKS_PER_NODE"));
}
