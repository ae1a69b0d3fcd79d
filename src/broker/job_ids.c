/* job_ids.c - "12,20-29,7_[1-3]": which jobs a user means
 */
#include <errno.h>
#include <string.h>

#include "broker/api.h"
#include "common/parse.h"

struct reading {
    struct broker *b;
    struct job_ids *ids;
    struct error *err;
};

static int add_numbers (struct id_numbers **list, size_t *n, uint64_t first,
                        uint64_t last)
{
    struct id_numbers *more = realloc (*list, (*n + 1) * sizeof (*more));

    if (!more)
        return -ENOMEM;
    *list = more;
    more[(*n)++] = (struct id_numbers){ first, last };
    return 0;
}

/* Grows by half as much again: an array may have many pieces. */
static int add_all (struct job_ids *ids, uint64_t first, uint64_t last)
{
    if (ids->nall == ids->all_alloc) {
        size_t alloc = ids->all_alloc + ids->all_alloc / 2 + 16;
        struct id_numbers *more = realloc (ids->all, alloc * sizeof (*more));
        if (!more)
            return -ENOMEM;
        ids->all = more;
        ids->all_alloc = alloc;
    }
    ids->all[ids->nall++] = (struct id_numbers){ first, last };
    return 0;
}

/* The numbers of some of its tasks; and its own, if any of them is not a job yet. */
static int add_tasks (struct job_ids *ids, const struct entry *e,
                      const struct idset *tasks)
{
    const struct job_array *a = e->job->array;
    bool waits = false;
    int rc = 0;

    IDSET_FOREACH (tasks, task)
    {
        if (rc < 0 || !idset_has (a->spec.tasks, task))
            continue;
        uint64_t id = job_array_task_id (a, e->id, task);
        waits |= !idset_has (a->running, task);
        if (ids->nall > 0 && ids->all[ids->nall - 1].last + 1 == id)
            ids->all[ids->nall - 1].last = id;
        else
            rc = add_all (ids, id, id);
    }
    return rc == 0 && waits ? add_all (ids, e->id, e->id) : rc;
}

static int add_part (struct reading *r, const struct id_range *range)
{
    struct job_ids *ids = r->ids;
    autofree char *text = strndup (range->tasks, range->tasks_len);
    struct id_part *more = realloc (ids->parts, (ids->nparts + 1) * sizeof (*more));
    const struct entry *e = entry_find (r->b, range->first);

    if (!more || !text)
        return -ENOMEM;
    ids->parts = more;
    more[ids->nparts] = (struct id_part){ range->first, NULL };
    if (array_tasks_parse (text, &more[ids->nparts].tasks, "tasks", r->err) < 0)
        return -EINVAL;
    ids->nparts++;
    return e && e->job->array ? add_tasks (ids, e, more[ids->nparts - 1].tasks) : 0;
}

static int add_range (const struct id_range *range, void *arg)
{
    struct reading *r = arg;
    struct job_ids *ids = r->ids;

    if (range->tasks)
        return add_part (r, range);
    const struct entry *e =
        range->first == range->last ? entry_find (r->b, range->first) : NULL;
    uint64_t last = range->last;
    if (e && e->job->array)
        last += job_array_ids (&e->job->array->spec) - 1;
    int rc = add_numbers (&ids->given, &ids->ngiven, range->first, range->last);
    return rc == 0 ? add_all (ids, range->first, last) : rc;
}

static int by_first (const void *a, const void *b)
{
    const struct id_numbers *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void sort (struct job_ids *ids)
{
    size_t n = 0;

    if (ids->nall == 0) /* of an array that is not here: nothing is meant */
        return;
    qsort (ids->all, ids->nall, sizeof (*ids->all), by_first);
    for (size_t i = 1; i < ids->nall; i++) {
        if (ids->all[i].first > ids->all[n].last)
            ids->all[++n] = ids->all[i];
        else
            ids->all[n].last = MAX (ids->all[n].last, ids->all[i].last);
    }
    ids->nall = n + 1;
}

struct job_ids *job_ids_parse (struct broker *b, const char *text, struct error *err)
{
    struct error why = { 0 };
    struct reading r = { b, calloc (1, sizeof (struct job_ids)), &why };
    int rc = r.ids ? parse_id_ranges (text, add_range, &r, "ids", &why) : -ENOMEM;

    if (rc < 0) {
        job_ids_destroy (r.ids);
        error_set (err, -rc, "%s", rc == -ENOMEM ? "out of memory" : why.text);
        return NULL;
    }
    sort (r.ids);
    return r.ids;
}

void job_ids_destroy (struct job_ids *ids)
{
    if (!ids)
        return;
    for (size_t i = 0; i < ids->nparts; i++)
        idset_destroy (ids->parts[i].tasks);
    free (ids->given);
    free (ids->parts);
    free (ids->all);
    free (ids);
}

bool job_ids_has (const struct job_ids *ids, uint64_t id)
{
    size_t low = 0, high = ids->nall; /* the answer is below high */

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (id < ids->all[mid].first)
            high = mid;
        else if (id > ids->all[mid].last)
            low = mid + 1;
        else
            return true;
    }
    return false;
}
