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
    { 'd', NOTHING, 0, 0 },
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
    const char *text;
    double number;
};

struct sort {
    struct key keys[KEYS_MAX];
    size_t n;
    struct sort_value *values; /* n + 2 of each row: the keys, the start, the id */
};

static const struct letter *find_letter (char c)
{
    for (size_t i = 0; i < ARRAY_SIZE (letters); i++)
        if (letters[i].letter == c)
            return &letters[i];
    return NULL;
}

/* The keys in the order of spec; the unknown letter, or 0. */
static char parse (const char *spec, struct sort *ret)
{
    bool reverse = false;

    ret->n = 0;
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
    struct sort sort;

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

/* The caller frees the name. */
static char *group_name (const struct job_row *row)
{
    const struct group *gr = getgrgid ((gid_t)job_number (row, JOB_GROUPID));

    return strdup (gr ? gr->gr_name : "nogroup");
}

static struct sort_value value_of (const struct job_row *row, const struct letter *l)
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
        return (struct sort_value){ group_name (row), 0 };
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

static int compare (const void *x, const void *y, void *arg)
{
    const struct sort *sort = arg;
    const struct sort_value *a = sort->values + *(const size_t *)x * (sort->n + 2);
    const struct sort_value *b = sort->values + *(const size_t *)y * (sort->n + 2);
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
    return oldest_first ? diff : -diff;
}

/* Jobs often come in the wanted order, or in the opposite one. */
static void order (struct job_rows *rows, struct sort *sort)
{
    size_t *list = rows->order, n = rows->n, i = 1;

    if (n > 1 && compare (&list[0], &list[n - 1], sort) > 0)
        for (size_t k = 0; k < n / 2; k++) {
            size_t index = list[k];
            list[k] = list[n - 1 - k];
            list[n - 1 - k] = index;
        }
    while (i < n && compare (&list[i - 1], &list[i], sort) <= 0)
        i++;
    if (i < n)
        qsort_r (list, n, sizeof (*list), compare, sort);
}

static void release (struct sort *sort, size_t nrows)
{
    for (size_t k = 0; k < sort->n; k++)
        for (size_t i = 0; sort->keys[k].letter->kind == GROUP && i < nrows; i++)
            free ((char *)sort->values[i * (sort->n + 2) + k].text);
    free (sort->values);
}

int job_rows_sort (struct job_rows *rows, const char *spec)
{
    struct sort sort;
    struct job_row row;
    const struct sort_value *last = NULL;

    job_row_init (&row);
    parse (spec, &sort);
    sort.values = malloc ((rows->n * (sort.n + 2) + 1) * sizeof (*sort.values));
    if (!sort.values)
        return -ENOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        struct sort_value *values = sort.values + rows->order[i] * (sort.n + 2);
        job_rows_fill (rows, i, &row);
        for (size_t k = 0; k < sort.n; k++)
            values[k] = value_of (&row, sort.keys[k].letter);
        for (size_t k = 0; k < sort.n && last; k++)
            if (sort.keys[k].letter->kind == TEXT
                && !strcmp (values[k].text, last[k].text))
                values[k].text = last[k].text; /* equal texts are one text */
        last = values;
        values[sort.n].number = floor (job_start_time (&row)); /* as Slurm has it */
        values[sort.n + 1].number = job_number (&row, JOB_ID);
    }
    order (rows, &sort);
    release (&sort, rows->n);
    return 0;
}
