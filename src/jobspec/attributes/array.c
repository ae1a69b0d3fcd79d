/* array.c - see array.h */
#include "jobspec/attributes/array.h"

#include "common/parse.h"

/* Read a number at *p and advance *p past it. */
static int read_number (const char **p, int64_t min, int64_t max, const char *what,
                        const char *where, int64_t *ret, struct error *err)
{
    char digits[24], place[128];
    size_t len = strspn (*p, "0123456789");

    if (len == 0 || len >= sizeof (digits))
        return error_set (
            err, EINVAL, "%s: '%.32s' is no %s; an array is as 0-15, 1-9:2 or 1,4,7-9%%3",
            where, *p, what);
    memcpy (digits, *p, len);
    digits[len] = '\0';
    *p += len;
    snprintf (place, sizeof (place), "%.64s: %s", where, what);
    return parse_int (digits, min, max, ret, place, err);
}

/* The items of a list that have been read: a set for each item, and the number of tasks,
 * counted once for each time that they are listed, as each time costs time and memory. */
struct items {
    struct idset **sets;
    size_t n, alloc;
    int64_t tasks, limit;
};

static void items_release (struct items *items)
{
    for (size_t i = 0; i < items->n; i++)
        idset_destroy (items->sets[i]);
    free (items->sets);
}

static int add_steps (struct items *items, int64_t first, int64_t last, int64_t step,
                      const char *where, struct error *err)
{
    int64_t n = (last - first) / step + 1;
    int rc = 0;

    if (n > items->limit - items->tasks)
        return error_set (err, ERANGE, "%s: at most %jd tasks can be listed", where,
                          (intmax_t)items->limit);
    items->tasks += n;
    if (items->n == items->alloc) {
        size_t alloc = items->alloc ? 2 * items->alloc : 4;
        struct idset **sets = realloc (items->sets, alloc * sizeof (*sets));
        if (!sets)
            return error_no_memory (err, where);
        items->sets = sets;
        items->alloc = alloc;
    }
    struct idset *set = idset_create ();
    if (!set)
        return error_no_memory (err, where);
    items->sets[items->n++] = set;
    if (step == 1)
        rc = idset_add_range (set, (uint32_t)first, (uint32_t)last);
    for (int64_t i = first; step > 1 && rc == 0 && i <= last; i += step)
        rc = idset_add (set, (uint32_t)i);
    return rc < 0 ? error_no_memory (err, where) : 0;
}

/* Read "7", "1-9" or "1-9:2" at *p. later_step: a step after the limit, used for the last
 * range if that has no step of its own; 0: none. */
static int read_item (struct items *items, const char **p, const char *end,
                      int64_t later_step, const char *where, struct error *err)
{
    int64_t first, last, step = 1;
    int rc = read_number (p, 0, ARRAY_INDEX_MAX, "task number", where, &first, err);

    if (rc < 0)
        return rc;
    last = first;
    bool range = **p == '-';
    if (range) {
        (*p)++;
        rc = read_number (p, 0, ARRAY_INDEX_MAX, "task number", where, &last, err);
        if (rc < 0)
            return rc;
    }
    if (last < first)
        return error_set (err, EINVAL, "%s: %jd-%jd: the range ends before it begins",
                          where, (intmax_t)first, (intmax_t)last);
    if (**p == ':') {
        (*p)++;
        rc = read_number (p, 1, ARRAY_INDEX_MAX, "step", where, &step, err);
        if (rc < 0)
            return rc;
        if (!range || later_step)
            return error_set (err, EINVAL, "%s: a step belongs to one range, as in 1-9:2",
                              where);
    } else if (later_step && *p == end) {
        if (!range)
            return error_set (err, EINVAL, "%s: the step has no range before it", where);
        step = later_step;
    }
    return add_steps (items, first, last, step, where, err);
}

static int read_items (struct items *items, const char *text, const char *end,
                       int64_t later_step, const char *where, struct error *err)
{
    const char *p = text;

    for (;;) {
        int rc = read_item (items, &p, end, later_step, where, err);
        if (rc < 0 || p == end)
            return rc;
        if (*p != ',' || p > end)
            return error_set (err, EINVAL,
                              "%s: '%.32s' is not expected there; an array is as 0-15, "
                              "1-9:2 or 1,4,7-9%%3",
                              where, p);
        p++;
    }
}

/* Read the tasks before end. */
static int read_tasks (struct idset **ret, uint32_t limit, const char *text,
                       const char *end, int64_t later_step, const char *where,
                       struct error *err)
{
    struct items items = { .limit = limit };
    int rc = read_items (&items, text, end, later_step, where, err);

    if (rc == 0 && !(*ret = idset_unite (items.sets, items.n)))
        rc = error_no_memory (err, where);
    items_release (&items);
    return rc;
}

/* "%50" or "%50:2" */
static int read_limit (const char *p, uint32_t *limit, int64_t *step, const char *where,
                       struct error *err)
{
    int64_t n;
    int rc;

    if (*p == '\0')
        return 0;
    p++;
    rc =
        read_number (&p, 1, ARRAY_TASKS_MAX, "number of tasks at a time", where, &n, err);
    if (rc < 0)
        return rc;
    *limit = (uint32_t)n;
    if (*p == ':') {
        p++;
        rc = read_number (&p, 1, ARRAY_INDEX_MAX, "step", where, step, err);
    }
    if (rc == 0 && *p)
        rc = error_set (err, EINVAL, "%s: '%.32s' is not expected behind the %%", where,
                        p);
    return rc;
}

int array_spec_parse (struct array_spec *a, const char *text, const char *where,
                      struct error *err)
{
    const char *end = text + strcspn (text, "%");
    int64_t step = 0;

    *a = (struct array_spec){ 0 };
    if (strlen (text) > ARRAY_TEXT_MAX)
        return error_set (err, ERANGE, "%s: is longer than %d bytes", where,
                          ARRAY_TEXT_MAX);
    if (!(a->text = strdup (text)))
        return error_no_memory (err, where);
    int rc = read_limit (end, &a->limit, &step, where, err);
    if (rc == 0)
        rc = read_tasks (&a->tasks, ARRAY_TASKS_MAX, text, end, step, where, err);
    if (rc < 0)
        array_spec_release (a);
    return rc;
}

void array_spec_release (struct array_spec *a)
{
    idset_destroy (a->tasks);
    free (a->text);
    *a = (struct array_spec){ 0 };
}

int array_name_parse (const char *text, uint64_t *ret_id, uint32_t *ret_task,
                      const char *where, struct error *err)
{
    size_t len = strcspn (text, "_");
    int64_t id, task = IDSET_END;
    char job[24]; /* more than any number has digits */

    snprintf (job, sizeof (job), "%.*s", (int)MIN (len, sizeof (job) - 1), text);
    int rc = parse_int (text[len] ? job : text, 1, INT64_MAX, &id, where, err);
    if (rc == 0 && text[len])
        rc = parse_int (text + len + 1, 0, ARRAY_INDEX_MAX, &task, text, err);
    if (rc < 0)
        return rc;
    *ret_id = (uint64_t)id;
    *ret_task = (uint32_t)task;
    return 0;
}

int array_tasks_parse (const char *text, uint32_t limit, struct idset **ret,
                       const char *where, struct error *err)
{
    size_t len = strlen (text);
    const char *end = text + len;

    if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        end--;
    }
    return read_tasks (ret, limit, text, end, 0, where, err);
}

uint32_t array_step (const struct idset *tasks)
{
    uint32_t first = idset_first (tasks), second = idset_next (tasks, first);
    uint32_t step = second - first, before = second;

    if (idset_count (tasks) < 3 || step == 1)
        return 0;
    for (uint32_t id = idset_next (tasks, second); id != IDSET_END;
         id = idset_next (tasks, id)) {
        if (id - before != step)
            return 0;
        before = id;
    }
    return step;
}

int array_add_tasks (struct strbuf *sb, const struct idset *tasks, size_t max)
{
    uint32_t n = idset_count (tasks);
    uint32_t step = array_step (tasks);

    if (step)
        return strbuf_addf (sb, "%u-%u:%u", idset_first (tasks), idset_nth (tasks, n - 1),
                            step);
    autofree char *text = idset_encode (tasks);
    size_t len = text ? strlen (text) : 0;
    if (!text)
        return sb->err = -ENOMEM;
    if (max == 0 || len <= max)
        return strbuf_add (sb, text, len);
    size_t keep = max > 3 ? max - 3 : 0; /* whole items, and "..." */
    while (keep > 0 && text[keep - 1] != ',')
        keep--;
    strbuf_add (sb, text, keep);
    return strbuf_adds (sb, "...");
}
