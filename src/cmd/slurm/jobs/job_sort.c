/* job_sort.c - the order of squeue -S */
#include <grp.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "cmd/slurm/jobs/job_rows.h"

#define KEYS_MAX 32
#define CLUSTER "cluster" /* a key that is a word: there is one cluster */

#define BIT(v) (UINT64_C (1) << JOB_##v)
#define START                                                                            \
    (BIT (ST) | BIT (EXPECTED_START) | BIT (BEGIN_TIME) | BIT (START_TIME) | BIT (REASON))

enum kind {
    NOTHING, /* the values are alike, or Slurm does not compare them either */
    TEXT,
    NUMBER,
    NODES, /* the first node's name, numbers in it by value */
    GROUP,
    JOB,   /* the job's id or its array's, then the task */
    BEGIN, /* the planned start; without one last */
    END,
    LEFT,
    LIMIT,
};

static const struct letter {
    char letter;
    enum kind kind;
    enum job_value value;
    uint64_t needs;
} letters[] = {
    { 'B', NODES, JOB_NODELIST, BIT (NODELIST) },
    { 'b', NOTHING, 0, 0 },
    { 'c', NOTHING, 0, 0 },
    { 'C', NUMBER, JOB_NCORES, BIT (NCORES) },
    { 'd', NUMBER, JOB_TMP_DISK_PER_NODE, BIT (TMP_DISK_PER_NODE) },
    { 'D', NUMBER, JOB_NODES, BIT (NODES) },
    { 'e', END, 0, START | BIT (END_TIME) | BIT (TIME_LIMIT) },
    { 'f', NOTHING, 0, 0 },
    { 'g', GROUP, JOB_GROUPID, BIT (GROUPID) },
    { 'G', NUMBER, JOB_GROUPID, BIT (GROUPID) },
    { 'h', NOTHING, 0, 0 },
    { 'H', NOTHING, 0, 0 },
    { 'i', JOB, 0, BIT (ARRAY_JOB) | BIT (ARRAY_TASK) },
    { 'I', NOTHING, 0, 0 },
    { 'j', TEXT, JOB_NAME, BIT (NAME) },
    { 'J', NOTHING, 0, 0 },
    { 'l', LIMIT, 0, BIT (TIME_LIMIT) },
    { 'L', LEFT, 0, BIT (TIME_LIMIT) | BIT (TIME) },
    { 'm', NUMBER, JOB_MEMORY_PER_NODE, BIT (MEMORY_PER_NODE) },
    { 'M', NUMBER, JOB_TIME, BIT (TIME) },
    { 'n', NOTHING, 0, 0 },
    { 'N', NODES, JOB_NODELIST, BIT (NODELIST) },
    { 'O', NOTHING, 0, 0 },
    { 'p', NUMBER, JOB_PRIORITY, BIT (PRIORITY) },
    { 'P', TEXT, JOB_QUEUE, BIT (QUEUE) },
    { 'Q', NUMBER, JOB_PRIORITY, BIT (PRIORITY) },
    { 'S', BEGIN, 0, START },
    { 't', TEXT, JOB_ST, BIT (ST) },
    { 'T', TEXT, JOB_STATE, BIT (STATE) },
    { 'u', TEXT, JOB_USER, BIT (USER) },
    { 'U', NUMBER, JOB_USERID, BIT (USERID) },
    { 'v', TEXT, JOB_RESERVATION, BIT (RESERVATION) },
    { 'V', NUMBER, JOB_SUBMIT_TIME, BIT (SUBMIT_TIME) },
    { 'z', NOTHING, 0, 0 },
};

struct key {
    const struct letter *letter;
    bool reverse;
};

/* A value of a row; nodes: text up to '['. */
struct sort_value {
    const char *text; /* or NULL */
    double number;
};

struct group_name {
    gid_t gid;
    char *name;
};

#define VALUES_MAX (KEYS_MAX + OTHERS)
#define OTHERS 3 /* values of a row beside the keys: start, id, component */

/* Jobs often come in the wanted order, or in the opposite one: then the values of all rows
 * need no memory. */
struct job_sort {
    struct key keys[KEYS_MAX];
    size_t n;
    struct group_name *groups; /* that have been looked up */
    size_t ngroups;
    size_t nrows;                            /* that have come */
    bool up, down;                           /* ... in the order, in the opposite one */
    struct sort_value values[2][VALUES_MAX]; /* of the last two rows */
};

struct sorted {
    const char *row;
    const struct sort_value *values; /* sort->n + OTHERS */
};

static const struct letter *find_letter (char c)
{
    for (size_t i = 0; i < ARRAY_SIZE (letters); i++)
        if (letters[i].letter == c)
            return &letters[i];
    return NULL;
}

/* The keys in the order of spec; the unknown letter, or 0. */
static char parse (const char *spec, struct job_sort *ret)
{
    bool reverse = false;

    *ret = (struct job_sort){ .n = 0 };
    for (; *spec; spec++) {
        if (*spec == ',' || *spec == '+' || *spec == '-') {
            reverse = *spec == '-';
            continue;
        }
        if (!strncasecmp (spec, CLUSTER, strlen (CLUSTER))) {
            spec += strlen (CLUSTER) - 1;
            continue;
        }
        const struct letter *letter = find_letter (*spec);
        if (!letter)
            return *spec;
        if (letter->kind != NOTHING && ret->n < KEYS_MAX)
            ret->keys[ret->n++] = (struct key){ letter, reverse };
        reverse = false;
    }
    return 0;
}

bool job_sort_needs (const char *spec, uint64_t *ret_needs, char *ret_wrong)
{
    struct job_sort sort;

    *ret_wrong = parse (spec, &sort);
    *ret_needs = BIT (ID) | BIT (ST) | BIT (BEGIN_TIME) | BIT (START_TIME);
    for (size_t i = 0; i < sort.n; i++)
        *ret_needs |= sort.keys[i].letter->needs;
    return !*ret_wrong;
}

static double number_or_infinity (const struct job_row *row, enum job_value v)
{
    return *row->values[v] ? job_number (row, v) : HUGE_VAL;
}

static double job_and_task (const struct job_row *row)
{
    bool task = *row->values[JOB_ARRAY_TASK];
    double job = job_number (row, task ? JOB_ARRAY_JOB : JOB_ID);

    return job + (task ? (job_number (row, JOB_ARRAY_TASK) + 1) / (1 << 22) : 0);
}

/* Looks up each group once: there are more jobs than groups. */
static const char *group_name (struct job_sort *sort, const struct job_row *row)
{
    gid_t gid = (gid_t)job_number (row, JOB_GROUPID);

    for (size_t i = 0; i < sort->ngroups; i++)
        if (sort->groups[i].gid == gid)
            return sort->groups[i].name;
    struct group_name *groups =
        reallocarray (sort->groups, sort->ngroups + 1, sizeof (*groups));
    if (!groups)
        return "";
    sort->groups = groups;
    const struct group *gr = getgrgid (gid);
    char *name = strdup (gr ? gr->gr_name : "nogroup");
    if (!name)
        return "";
    groups[sort->ngroups++] = (struct group_name){ gid, name };
    return name;
}

static struct sort_value value_of (struct job_sort *sort, const struct job_row *row,
                                   const struct letter *l)
{
    switch (l->kind) {
    case TEXT:
    case NODES:
        return (struct sort_value){ row->values[l->value], 0 };
    case NUMBER:
        return (struct sort_value){ NULL, job_number (row, l->value) };
    case JOB:
        return (struct sort_value){ NULL, job_and_task (row) };
    case BEGIN:
        return (struct sort_value){ NULL, job_start_time (row) };
    case END:
        return (struct sort_value){ NULL, job_end_time (row) };
    case LEFT:
        return (struct sort_value){ NULL, number_or_infinity (row, JOB_TIME_LIMIT)
                                              - job_number (row, JOB_TIME) };
    case LIMIT:
        return (struct sort_value){ NULL, number_or_infinity (row, JOB_TIME_LIMIT) };
    case GROUP:
        return (struct sort_value){ group_name (sort, row), 0 };
    default:
        return (struct sort_value){ NULL, 0 };
    }
}

static int compare_numbers (double a, double b)
{
    return a < b ? -1 : a > b;
}

static int compare_key (const struct key *key, const struct sort_value *a,
                        const struct sort_value *b)
{
    int diff;

    if (key->letter->kind == BEGIN && (a->number <= 0 || b->number <= 0))
        return (a->number <= 0) - (b->number <= 0);
    if (a->text == b->text && a->text) /* most jobs are in the same queue */
        diff = 0;
    else if (key->letter->kind == NODES)
        diff = strverscmp (a->text, b->text);
    else if (a->text && b->text)
        diff = strcmp (a->text, b->text);
    else
        diff = compare_numbers (a->number, b->number);
    return key->reverse ? -diff : diff;
}

static int compare_rows (const struct job_sort *sort, const struct sort_value *a,
                         const struct sort_value *b)
{
    size_t i;

    for (i = 0; i < sort->n; i++) {
        int diff = compare_key (&sort->keys[i], &a[i], &b[i]);
        if (diff)
            return diff;
    }
    if (a[i].number != b[i].number)
        return compare_numbers (b[i].number, a[i].number); /* 0 comes last */
    bool oldest_first =
        a[i].number > 0 || (sort->n && sort->keys[0].letter->kind == BEGIN);
    int diff = compare_numbers (a[i + 1].number, b[i + 1].number);
    if (diff == 0)
        return compare_numbers (a[i + 2].number, b[i + 2].number);
    return oldest_first ? diff : -diff;
}

static int compare (const void *x, const void *y, void *arg)
{
    return compare_rows (arg, ((const struct sorted *)x)->values,
                         ((const struct sorted *)y)->values);
}

/* last: the values of another row, or NULL. */
static void read_values (struct job_sort *sort, const struct job_row *row,
                         const struct sort_value *last, struct sort_value *ret)
{
    for (size_t k = 0; k < sort->n; k++) {
        ret[k] = value_of (sort, row, sort->keys[k].letter);
        if (last && ret[k].text && !strcmp (ret[k].text, last[k].text))
            ret[k].text = last[k].text; /* equal texts are one text */
    }
    ret[sort->n].number = floor (job_start_time (row)); /* as Slurm has it */
    ret[sort->n + 1].number = job_number (row, JOB_ID);
    ret[sort->n + 2].number = job_number (row, JOB_COMPONENTS);
}

static void reverse (struct job_rows *rows)
{
    for (size_t i = 0, k = rows->n; i + 1 < k; i++) {
        const char *row = rows->order[i];
        rows->order[i] = rows->order[--k];
        rows->order[k] = row;
    }
}

static int sort_rows (struct job_rows *rows, struct job_sort *sort)
{
    size_t nvalues = sort->n + OTHERS;
    autofree struct sorted *list = calloc (rows->n, sizeof (*list));
    autofree struct sort_value *values = calloc (rows->n * nvalues, sizeof (*values));
    struct job_row row;

    if (!list || !values)
        return -ENOMEM;
    job_row_init (&row);
    for (size_t i = 0; i < rows->n; i++) {
        struct sort_value *v = values + i * nvalues;
        job_rows_fill (rows, i, &row);
        read_values (sort, &row, i > 0 ? v - nvalues : NULL, v);
        list[i] = (struct sorted){ rows->order[i], v };
    }
    qsort_r (list, rows->n, sizeof (*list), compare, sort);
    for (size_t i = 0; i < rows->n; i++)
        rows->order[i] = list[i].row;
    return 0;
}

struct job_sort *job_sort_create (const char *spec)
{
    struct job_sort *sort = malloc (sizeof (*sort));

    if (!sort)
        return NULL;
    parse (spec, sort);
    job_sort_reset (sort);
    return sort;
}

void job_sort_destroy (struct job_sort *sort)
{
    if (!sort)
        return;
    for (size_t i = 0; i < sort->ngroups; i++)
        free (sort->groups[i].name);
    free (sort->groups);
    free (sort);
}

void job_sort_reset (struct job_sort *sort)
{
    sort->nrows = 0;
    sort->up = sort->down = true;
}

void job_sort_note (struct job_sort *sort, const struct job_row *row)
{
    size_t n = sort->nrows++;
    struct sort_value *own = sort->values[n % 2], *last = sort->values[1 - n % 2];

    if (!sort->up && !sort->down)
        return;
    read_values (sort, row, n > 0 ? last : NULL, own);
    int diff = n > 0 ? compare_rows (sort, last, own) : 0;
    sort->up = sort->up && diff <= 0;
    sort->down = sort->down && diff >= 0;
}

int job_sort_order (struct job_sort *sort, struct job_rows *rows)
{
    if (sort->up)
        return 0;
    if (!sort->down)
        return sort_rows (rows, sort);
    reverse (rows);
    return 0;
}
