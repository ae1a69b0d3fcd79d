/* match_cpus.c - parts of CPUs in requests, if the machine divides its CPUs
 *
 * Cores have numbers and are given one by one; parts of a CPU come out of a node's pool
 * of thousandths, GRES_CPU_MILLI (machine.h). The two must never exceed the size of the
 * node together, now or at any planned time. So a job with cores takes an equal amount
 * from the pool: its request gets an additional vertex.
 *
 *     slot               slot                 node                 node
 *       core 2   =>        core 2               slot 4     =>        slot 4
 *                          cpu_milli 2000         core 1               core 1
 *                                                                    cpu_milli 4000
 *
 * The pool belongs to the node; so a node in the request has one such vertex for
 * everything in it, which is also booked at once. A node that the job has as a whole is
 * booked with all its contents, and needs none.
 */
#include <errno.h>
#include <string.h>

#include "match/machine/match_private.h"

#define COUNT_MAX (JOBSPEC_COUNT_MAX / CPU_MILLI * CPU_MILLI)

static bool is_type (const struct jobspec_resource *v, const char *type)
{
    return strcmp (v->type, type) == 0;
}

bool cpus_asks_for_parts (const struct jobspec_resource *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_type (&list[i], GRES_CPU_MILLI)
            || cpus_asks_for_parts (list[i].with, list[i].nwith))
            return true;
    return false;
}

/* -- resources -- */

struct range {
    int64_t min, max;
};

/* Neither factor exceeds the maximum of a count. */
static int64_t times (int64_t a, int64_t b)
{
    return MIN (a * b, COUNT_MAX);
}

/* CPU thousandths of the cores in the list. */
static struct range cpus_of (const struct jobspec_resource *list, size_t n)
{
    struct range all = { 0, 0 };

    for (size_t i = 0; i < n; i++) {
        const struct jobspec_resource *v = &list[i];
        struct range one = { CPU_MILLI, CPU_MILLI };
        if (!is_type (v, "core"))
            one = cpus_of (v->with, v->nwith);
        all.min = MIN (all.min + times (one.min, v->count.min), COUNT_MAX);
        all.max = MIN (all.max + times (one.max, v->count.max), COUNT_MAX);
    }
    return all;
}

static int append (struct jobspec_resource *v, const struct range *cpus)
{
    struct jobspec_resource *with = realloc (v->with, (v->nwith + 1) * sizeof (*with));

    if (!with)
        return -ENOMEM;
    v->with = with;
    with[v->nwith++] =
        (struct jobspec_resource){ .type = (char *)GRES_CPU_MILLI,
                                   .count = { cpus->min, cpus->max, '+', CPU_MILLI },
                                   .exclusive = JOBSPEC_UNSET };
    return 0;
}

static int add_to (struct jobspec_resource *v)
{
    bool node = is_type (v, "node"), slot = is_type (v, "slot");

    if (node && v->exclusive == JOBSPEC_TRUE)
        return 0;
    if (slot && v->nwith == 1 && is_type (&v->with[0], "node"))
        return 0; /* a slot that is a node has all of it */
    if (!node && !slot)
        return cpus_add (v->with, v->nwith);
    struct range cpus = cpus_of (v->with, v->nwith);
    return cpus.min > 0 ? append (v, &cpus) : 0;
}

int cpus_add (struct jobspec_resource *list, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_to (&list[i]);
    return rc;
}

/* -- shapes -- */

static bool is_core (const struct shape_vertex *v)
{
    return v->kind == SHAPE_RESOURCE && strcmp (v->type, "core") == 0;
}

void cpus_mark (struct shape *s)
{
    bool cores = false;

    for (size_t i = 0; i < s->nv; i++)
        cores = cores || is_core (&s->v[i]);
    for (size_t i = 0; i < s->nv && cores; i++)
        if (strcmp (s->v[i].type, GRES_CPU_MILLI) == 0)
            s->v[i].follows = s->follows = true;
}

static int64_t cpus_at (const struct shape *s, uint16_t first)
{
    int64_t all = 0;

    for (uint16_t i = first; i != SHAPE_NONE; i = s->v[i].next) {
        const struct shape_vertex *v = &s->v[i];
        int64_t one = is_core (v) ? CPU_MILLI : cpus_at (s, v->first);
        all = MIN (all + times (one, shape_count_least (v)), COUNT_MAX);
    }
    return all;
}

void cpus_follow (struct shape *s)
{
    for (size_t i = 0; i < s->nv && s->follows; i++) {
        struct shape_vertex *v = &s->v[i];
        if (!v->follows)
            continue;
        int64_t n = cpus_at (s, s->v[v->parent].first);
        v->count = (struct jobspec_count){ n, n, '+', 1 };
    }
}
