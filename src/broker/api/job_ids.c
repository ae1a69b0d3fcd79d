/* job_ids.c - parses lists of jobs: "12,20-29,7_[1-3]"
 */
#include "broker/api/api.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "common/parse.h"

struct reading {
    struct broker *b;
    struct job_ids *ids;
    uint32_t tasks; /* of all parts */
    struct error *err;
};

static int add_numbers (struct id_list *list, uint64_t first, uint64_t last)
{
    if (array_reserve (&list->v, &list->alloc, list->n + 1, sizeof (*list->v)) < 0)
        return -ENOMEM;
    list->v[list->n++] = (struct id_numbers){ first, last };
    return 0;
}

/* Adds the ids of these tasks, and the array's own id if any of them is not a job yet. */
static int add_tasks (struct id_list *all, const struct entry *e,
                      const struct idset *tasks)
{
    const struct job_array *a = entry_job (e)->array;
    bool waits = false;
    int rc = 0;

    IDSET_FOREACH (tasks, task)
    {
        if (rc < 0 || !idset_has (a->spec.tasks, task))
            continue;
        uint64_t id = job_array_task_id (a, entry_id (e), task);
        waits |= !idset_has (a->running, task);
        if (all->n > 0 && all->v[all->n - 1].last + 1 == id)
            all->v[all->n - 1].last = id;
        else
            rc = add_numbers (all, id, id);
    }
    return rc == 0 && waits ? add_numbers (all, entry_id (e), entry_id (e)) : rc;
}

static int add_part (struct reading *r, const struct id_range *range)
{
    struct job_ids *ids = r->ids;
    autofree char *text = strndup (range->tasks, range->tasks_len);
    struct id_part *more = realloc (ids->parts, (ids->nparts + 1) * sizeof (*more));

    if (more)
        ids->parts = more;
    if (!more || !text)
        return -ENOMEM;
    struct id_part *part = &more[ids->nparts];
    *part = (struct id_part){ range->first, NULL };
    int rc = array_tasks_parse (text, ARRAY_TASKS_MAX - r->tasks, &part->tasks, "tasks",
                                r->err);
    if (rc < 0)
        return rc;
    r->tasks += idset_count (part->tasks);
    ids->nparts++;
    return 0;
}

static int add_range (const struct id_range *range, void *arg)
{
    struct reading *r = arg;
    bool one = range->first == range->last;

    if (range->tasks)
        return add_part (r, range);
    return add_numbers (one ? &r->ids->named : &r->ids->ranges, range->first,
                        range->last);
}

static int by_first (const void *a, const void *b)
{
    const struct id_numbers *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts the list and joins overlaps. */
static void sort (struct id_list *list)
{
    struct id_numbers *v = list->v;
    size_t n = 0;

    if (list->n == 0)
        return;
    qsort (v, list->n, sizeof (*v), by_first);
    for (size_t i = 1; i < list->n; i++) {
        if (v[i].first > v[n].last)
            v[++n] = v[i];
        else
            v[n].last = MAX (v[n].last, v[i].last);
    }
    list->n = n + 1;
}

static int by_array (const void *a, const void *b)
{
    const struct id_part *x = a, *y = b;
    return x->array < y->array ? -1 : x->array > y->array;
}

/* Joins the parts of each array into one. */
static int unite_parts (struct job_ids *ids)
{
    autofree struct idset **sets = calloc (ids->nparts + 1, sizeof (*sets));
    size_t kept = 0;
    int rc = sets ? 0 : -ENOMEM;

    if (ids->nparts > 1)
        qsort (ids->parts, ids->nparts, sizeof (*ids->parts), by_array);
    for (size_t i = 0, n; rc == 0 && i < ids->nparts; i += n) {
        struct id_part one = { ids->parts[i].array, NULL };
        for (n = 0; i + n < ids->nparts && ids->parts[i + n].array == one.array; n++)
            sets[n] = ids->parts[i + n].tasks;
        if (!(one.tasks = idset_unite (sets, n)))
            rc = -ENOMEM;
        for (size_t k = 0; rc == 0 && k < n; k++) {
            idset_destroy (sets[k]);
            ids->parts[i + k].tasks = NULL;
        }
        if (rc == 0)
            ids->parts[kept++] = one;
    }
    if (rc == 0)
        ids->nparts = kept;
    return rc;
}

/* Finds all ids that are meant: an array includes its tasks. */
static int find_all (struct broker *b, struct job_ids *ids)
{
    const struct entry *e;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ids->named.n; i++) {
        uint64_t id = ids->named.v[i].first, last = id;
        if ((e = entry_find (b, id)) && entry_job (e)->array)
            last += job_array_ids (&entry_job (e)->array->spec) - 1;
        rc = add_numbers (&ids->all, id, last);
    }
    for (size_t i = 0; rc == 0 && i < ids->ranges.n; i++)
        rc = add_numbers (&ids->all, ids->ranges.v[i].first, ids->ranges.v[i].last);
    for (size_t i = 0; rc == 0 && i < ids->nparts; i++)
        if ((e = entry_find (b, ids->parts[i].array)) && entry_job (e)->array)
            rc = add_tasks (&ids->all, e, ids->parts[i].tasks);
    sort (&ids->all);
    return rc;
}

struct job_ids *job_ids_parse (struct broker *b, const char *text, struct error *err)
{
    struct error why = { 0 };
    struct reading r = { b, calloc (1, sizeof (struct job_ids)), 0, &why };
    int rc = r.ids ? parse_id_ranges (text, add_range, &r, "ids", &why) : -ENOMEM;

    if (rc == 0) {
        sort (&r.ids->named);
        sort (&r.ids->ranges);
        rc = unite_parts (r.ids);
    }
    if (rc == 0)
        rc = find_all (b, r.ids);
    if (rc == 0)
        return r.ids;
    job_ids_destroy (r.ids);
    error_set (err, -rc, "%s", rc == -ENOMEM ? "out of memory" : why.text);
    return NULL;
}

void job_ids_destroy (struct job_ids *ids)
{
    if (!ids)
        return;
    for (size_t i = 0; i < ids->nparts; i++)
        idset_destroy (ids->parts[i].tasks);
    free (ids->named.v);
    free (ids->ranges.v);
    free (ids->parts);
    free (ids->all.v);
    free (ids);
}

/* Searches sorted ranges without overlaps. */
static bool has (const struct id_list *list, uint64_t id)
{
    size_t low = 0, high = list->n; /* the answer is below high */

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (id < list->v[mid].first)
            high = mid;
        else if (id > list->v[mid].last)
            low = mid + 1;
        else
            return true;
    }
    return false;
}

bool job_ids_has (const struct job_ids *ids, uint64_t id)
{
    return has (&ids->all, id);
}

bool job_ids_has_given (const struct job_ids *ids, uint64_t id)
{
    return has (&ids->named, id) || has (&ids->ranges, id);
}
