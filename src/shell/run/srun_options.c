/* srun_options.c - the options that srun has besides those of fluxq-run, inside a job */
#include "common/hostlist.h"
#include "common/parse.h"
#include "protocol/launch.h"
#include "shell/run/run.h"

#define HOSTS_MAX 1000000

static int set_count (uint32_t *field, const char *value, const char *what,
                      struct error *err)
{
    int64_t n;
    int rc = parse_int (value, 0, LAUNCH_IDS_MAX, &n, what, err);

    if (rc == 0)
        *field = (uint32_t)n;
    return rc;
}

/* "gpu:2", "gres/gpu:a100:2", "none"; other resources are those of the job. */
static int set_gres (struct step_spec *s, const char *value, struct error *err)
{
    autofree char *copy = strdup (value);
    int rc = copy ? 0 : error_no_memory (err, NULL);

    s->no_gpus = !strcasecmp (value, "none");
    for (char *rest = copy, *item; rc == 0 && (item = strsep (&rest, ","));) {
        if (!strncmp (item, "gres/", 5) || !strncmp (item, "gres:", 5))
            item += 5;
        if (strncmp (item, "gpu", 3) != 0 || (item[3] && item[3] != ':'))
            continue;
        const char *last = strrchr (item, ':');
        bool number =
            last && last[1] && last[1 + strspn (last + 1, "0123456789")] == '\0';
        rc = set_count (&s->gpus_per_node, number ? last + 1 : "1", "--gres=gpu", err);
        s->no_gpus = s->gpus_per_node == 0;
    }
    return rc;
}

/* The names of the job's nodes from number `from` on; at most n, 0: all. */
static int set_hosts (struct step_spec *s, uint32_t from, uint32_t n, struct error *err)
{
    const char *names = getenv ("FLUXQ_NODELIST");
    autohostlist struct hostlist *job =
        hostlist_decode (names ? names : "", HOSTS_MAX, err);
    autohostlist struct hostlist *own = hostlist_create ();

    if (!job || !own)
        return -EINVAL;
    size_t most = hostlist_count (job);
    if (from >= most || (n > 0 && from + n > most))
        return error_set (err, EINVAL,
                          "--relative=%u: the job has %zu nodes, numbered from 0", from,
                          most);
    for (size_t i = from; i < (n > 0 ? from + n : most); i++)
        if (hostlist_append (own, hostlist_nth (job, i)) < 0)
            return error_no_memory (err, NULL);
    free (s->hosts);
    s->hosts = hostlist_encode (own);
    return s->hosts ? 0 : error_no_memory (err, NULL);
}

static int check_job (const char *value, struct error *err)
{
    const char *job = getenv ("FLUXQ_JOB_ID");

    return job && !strcmp (job, value)
               ? 0
               : error_set (err, EINVAL,
                            "--jobid=%s: a step inside a job is a step of that job, %s",
                            value, job ? job : "?");
}

int srun_take_option (struct run_options *o, const struct option_match *m,
                      struct error *err)
{
    int64_t n;
    int rc;

    switch (m->desc->id) {
    case STEP_OPT_TIME:
        return parse_timelimit (m->value, &o->time_limit, "--time", err);
    case STEP_OPT_RELATIVE:
        rc = parse_int (m->value, 0, STEP_TASKS_MAX, &n, "--relative", err);
        o->relative = rc == 0 ? (uint32_t)n : 0;
        return rc;
    case STEP_OPT_JOBID:
        return check_job (m->value, err);
    case STEP_OPT_GRES:
        return set_gres (&o->spec, m->value, err);
    case STEP_OPT_GPUS_PER_NODE:
        return set_count (&o->spec.gpus_per_node, run_gpu_count (m->value),
                          "--gpus-per-node", err);
    case STEP_OPT_EXCLUSIVE:
        o->spec.exact = !o->spec.overlap;
        return 0;
    default: /* STEP_OPT_OF_JOB, STEP_OPT_NOTHING */
        return 0;
    }
}

int srun_finish_options (struct run_options *o, struct error *err)
{
    return o->relative > 0 ? set_hosts (&o->spec, o->relative, o->spec.nnodes, err) : 0;
}
