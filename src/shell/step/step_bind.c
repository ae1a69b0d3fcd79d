/* step_bind.c - binds a step's tasks to their cores (cpubind.h), and reports on their GPUs
 *
 * If the launch file says so, the matcher's core numbers are those of the machine.
 * Otherwise, in a container whose cpuset has as many CPUs as the job has cores here, the
 * n-th core is the n-th CPU of the cpuset. In other cases the CPUs are not known, and no
 * task is bound.
 */

#include "common/macros.h"
#include "protocol/gpubind.h"
#include "shell/io/stderr_line.h"
#include "shell/step/stepd_private.h"

#define SYS_CPU "/sys/devices/system/cpu"

struct stepbind {
    struct cpubind bind;
    struct idset **cores; /* [n] CPUs of each task here; NULL: not bound */
    uint32_t n;
};

/* Returns the CPUs of the job's cores here, in their order; NULL: not known. */
static struct idset *cpus_of (const struct stepd *d, const struct idset *job)
{
    if (!d->allowed)
        return NULL;
    if (d->launch->cores_are_cpus)
        return idset_copy (job);
    return idset_count (job) == idset_count (d->allowed) ? idset_copy (d->allowed) : NULL;
}

/* Converts core numbers to CPU numbers. */
static struct idset *to_cpus (const struct idset *cores, const struct idset *job,
                              const struct idset *cpus)
{
    struct idset *ret = idset_create ();

    IDSET_FOREACH (cores, core)
    {
        if (!ret || idset_add (ret, idset_nth (cpus, idset_rank (job, core))) < 0) {
            idset_destroy (ret);
            return NULL;
        }
    }
    return ret;
}

static int fill (struct rank_step *s, struct stepbind *b, const struct idset *job,
                 const struct idset *cpus, struct error *err)
{
    struct cpubind_sockets sockets = { 0 };
    struct layout_option opt = { 0 };
    int rc = 0;

    if (s->part->distribution)
        rc = layout_option_parse (s->part->distribution, &opt, err);
    if (rc == 0 && s->d->launch->cores_are_cpus)
        rc = cpubind_read_sockets (SYS_CPU, job, &sockets);
    struct cpubind_node node = { .cores = s->cores,
                                 .sockets = sockets.list,
                                 .nsockets = sockets.n,
                                 .ntasks = s->nown,
                                 .cores_per_task = MAX (s->part->cores_per_task, 1u),
                                 .order = opt.order };
    for (uint32_t i = 0; i < s->nown && rc == 0; i++) {
        autoidset struct idset *cores = NULL;
        rc = cpubind_cores (&b->bind, &node, i, &cores, err);
        if (rc == 0 && cores && !(b->cores[i] = to_cpus (cores, job, cpus)))
            rc = error_no_memory (err, NULL);
    }
    cpubind_sockets_release (&sockets);
    return rc;
}

int stepbind_create (struct rank_step *s, struct error *err)
{
    const char *text = s->d->launch->nodes[s->d->rank].cores;
    autoidset struct idset *job =
        text && text[0] ? idset_decode (text, LAUNCH_IDS_MAX, NULL) : NULL;
    autoidset struct idset *cpus = job ? cpus_of (s->d, job) : NULL;
    struct stepbind *b = cpus ? calloc (1, sizeof (*b)) : NULL;
    int rc = 0;

    s->bind = b;
    if (b && s->part->cpu_bind)
        rc = cpubind_parse (s->part->cpu_bind, &b->bind, err);
    if (b && rc == 0) {
        b->n = s->nown;
        b->cores = calloc (b->n, sizeof (struct idset *));
        rc = b->cores ? fill (s, b, job, cpus, err) : error_no_memory (err, NULL);
    }
    return rc;
}

void stepbind_destroy (struct stepbind *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; b->cores && i < b->n; i++)
        idset_destroy (b->cores[i]);
    free (b->cores);
    cpubind_release (&b->bind);
    free (b);
}

void stepbind_apply (const struct rank_step *s, uint32_t local)
{
    const struct stepbind *b = s->bind;
    const struct idset *cores = b ? b->cores[local] : NULL;
    int n = cores ? cpubind_apply (cores, s->d->allowed) : 0;

    if (!s->part->cpu_bind || strncmp (s->part->cpu_bind, "verbose", 7) != 0)
        return;
    autofree char *list = n > 0 ? idset_encode (cores) : NULL;
    stderr_line ("fluxq-run", "task %u on %s: %s%s", s->own[local].id,
                 s->d->launch->nodes[s->d->rank].name,
                 list ? "bound to CPUs " : "not bound to CPUs", list ? list : "");
}

void stepbind_report_gpus (const struct rank_step *s, uint32_t local)
{
    autofree char *text = step_spec_part (s->spec.gpu_ids, s->node);
    autoidset struct idset *gpus =
        text && *text ? idset_decode (text, LAUNCH_IDS_MAX, NULL) : NULL;
    const char *node = s->d->launch->nodes[s->d->rank].name;
    struct gpubind bind;
    bool missed = false;

    if (!s->part->gpu_bind || gpubind_parse (s->part->gpu_bind, &bind, NULL) < 0)
        return;
    autoidset struct idset *own =
        gpus ? gpubind_choose (&bind, gpus, local, &missed) : NULL;
    autofree char *list = own ? idset_encode (own) : NULL;
    if (missed)
        stderr_line ("fluxq-run",
                     "task %u on %s: --gpu-bind=%.80s names none of the GPUs %s: it gets "
                     "the first",
                     s->own[local].id, node, s->part->gpu_bind, text);
    if (bind.verbose)
        stderr_line ("fluxq-run", "task %u on %s: %s%s", s->own[local].id, node,
                     list ? "GPUs " : "no GPUs", list ? list : "");
}
