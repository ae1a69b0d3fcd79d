/* job_filter.c - see job_filter.h */
#include "cmd/slurm/jobs/job_filter.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cmd/slurm/words/words.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"
#include "jobspec/attributes/licenses.h"

#define HOSTS_MAX 1000000
#define TASKS_MAX (1 << 20)

void job_filter_init (struct job_filter *f)
{
    *f = (struct job_filter){ .active = true };
    strbuf_init (&f->tasks, 1 << 24);
}

void job_filter_release (struct job_filter *f)
{
    hostlist_destroy (f->nodes);
    free (f->jobs);
    strbuf_release (&f->tasks);
}

/* -- reading -- */

static int read_job (const char *word, struct job_wanted *ret)
{
    const char *task = strchr (word, '_'), *component = strchr (word, '+');
    autofree char *job = strndup (word, strcspn (word, "_+"));
    int64_t id;

    ret->task = ret->component = -1;
    if (!job || parse_int (job, 1, INT64_MAX, &id, "", NULL) < 0
        || (component
            && parse_int (component + 1, 0, INT32_MAX, &ret->component, "", NULL) < 0)
        || (task && parse_int (task + 1, 0, INT32_MAX, &ret->task, "", NULL) < 0))
        return -EINVAL;
    ret->id = (uint64_t)id;
    return 0;
}

int job_filter_set_jobs (struct job_filter *f, const char *list, struct error *err)
{
    autofree char *copy = strdup (list);
    char *next = copy, *word;

    free (f->jobs);
    f->njobs = 0;
    f->jobs = calloc (strlen (list) / 2 + 2, sizeof (*f->jobs));
    if (!copy || !f->jobs)
        return error_set (err, ENOMEM, "out of memory");
    while ((word = strsep (&next, ","))) {
        if (*word && read_job (word, &f->jobs[f->njobs++]) < 0)
            return error_set (err, EINVAL, "%s", word);
    }
    return 0;
}

int job_filter_set_states (struct job_filter *f, const char *list, struct error *err)
{
    autofree char *copy = strdup (list);
    char *next = copy, *word;

    f->nstates = 0;
    f->active = false;
    if (!strcasecmp (list, "all"))
        return 0;
    while ((word = strsep (&next, ","))) {
        if (!*word)
            continue;
        if (f->nstates == JOB_FILTER_STATES_MAX
            || !slurm_state_find (word, &f->states[f->nstates]))
            return error_set (err, EINVAL, "%s", word);
        f->nstates++;
    }
    return 0;
}

/* -- comparing -- */

uint64_t job_filter_needs (const struct job_filter *f)
{
#define BIT(v) (UINT64_C (1) << JOB_##v)
    const struct {
        bool used;
        uint64_t needs;
    } parts[] = {
        { f->accounts, BIT (ACCOUNT) },
        { f->qos, BIT (QOS) },
        { f->names, BIT (NAME) },
        { f->reservations, BIT (RESERVATION) },
        { f->licenses, BIT (LICENSES) },
        { !f->states_done && (f->nstates || f->active), BIT (STATE) | BIT (ST) },
        { f->not_me, BIT (USERID) },
        { f->running_over > 0 || f->running_under > 0, BIT (ST) | BIT (TIME) },
        { f->nodes, BIT (NODELIST) },
        { f->jobs, BIT (ARRAY_JOB) | BIT (ARRAY_TASK) | BIT (ARRAY_TASKS) },
    };
    uint64_t needs = 0;

    for (size_t i = 0; i < ARRAY_SIZE (parts); i++)
        needs |= parts[i].used ? parts[i].needs : 0;
    return needs;
#undef BIT
}

/* Whether a license of the job has a name in the list. */
static bool has_license (const char *list, const char *licenses)
{
    struct gres_list held = { 0 };
    bool has = false;

    if (*licenses)
        licenses_parse (licenses, &held, "licenses", NULL);
    for (size_t i = 0; i < held.n; i++)
        has |= slurm_list_has (list, held.v[i].name);
    gres_release (&held);
    return has;
}

static bool has_state (const struct job_filter *f, const struct job_row *row)
{
    static const char *const active[] = { "PD", "RQ", "R", "CF", "CG" };

    for (size_t i = 0; f->active && i < ARRAY_SIZE (active); i++)
        if (!strcmp (row->values[JOB_ST], active[i]))
            return true;
    for (size_t i = 0; i < f->nstates; i++)
        if (!strcmp (row->values[JOB_STATE], f->states[i]))
            return true;
    return !f->active && f->nstates == 0;
}

static bool has_node (const struct hostlist *nodes, const char *list)
{
    struct hostlist *hl = *list ? hostlist_decode (list, HOSTS_MAX, NULL) : NULL;
    bool has = false;

    for (size_t i = 0; hl && !has && i < hostlist_count (hl); i++)
        has = hostlist_find (nodes, hostlist_nth (hl, i)) >= 0;
    hostlist_destroy (hl);
    return has;
}

static bool runs_as_long (const struct job_filter *f, const struct job_row *row)
{
    double time = job_number (row, JOB_TIME);
    bool runs = !strcmp (row->values[JOB_ST], "R") || !strcmp (row->values[JOB_ST], "CF");

    return runs && time >= f->running_over
           && (f->running_under <= 0 || time < f->running_under);
}

/* The wanted tasks of an array that wait. */
static bool has_tasks (struct job_filter *f, struct job_row *row, double id)
{
    const char *all = row->values[JOB_ARRAY_TASKS];
    autofree char *text = strndup (all, strcspn (all, "%"));
    struct idset *waiting = text ? idset_decode (text, TASKS_MAX, NULL) : NULL;
    struct idset *shown = idset_create ();

    for (size_t i = 0; waiting && shown && i < f->njobs; i++)
        if ((double)f->jobs[i].id == id && f->jobs[i].task >= 0
            && idset_has (waiting, (uint32_t)f->jobs[i].task))
            idset_add (shown, (uint32_t)f->jobs[i].task);
    strbuf_reset (&f->tasks);
    if (shown)
        strbuf_add_idset (&f->tasks, shown);
    idset_destroy (waiting);
    idset_destroy (shown);
    row->tasks = f->tasks.buf;
    return f->tasks.len > 0;
}

/* An array with a row of its own has no last task yet. */
static double last_of (const struct job_wanted *w, const struct job_row *row)
{
    double id = job_number (row, JOB_ID);

    if (id == (double)w->id)
        return HUGE_VAL;
    return job_number (row, JOB_ARRAY_JOB) == (double)w->id ? MAX (id, w->last) : w->last;
}

/* In Slurm, the task of an array that started last has the array's number as JobID. Here
 * each task has a number of its own; this is the task with the greatest. */
void job_filter_find_last (struct job_filter *f, const struct job_rows *rows)
{
    struct job_row row;

    job_row_init (&row);
    for (size_t i = 0; i < f->njobs; i++)
        f->jobs[i].last = 0;
    for (size_t r = 0; f->njobs && r < rows->n; r++) {
        job_rows_fill (rows, r, &row);
        for (size_t i = 0; i < f->njobs; i++)
            f->jobs[i].last = last_of (&f->jobs[i], &row);
    }
}

static bool is_wanted (struct job_filter *f, struct job_row *row)
{
    double id = job_number (row, JOB_ID), array = job_number (row, JOB_ARRAY_JOB);
    bool is_task = *row->values[JOB_ARRAY_TASK], some = false;

    for (size_t i = 0; i < f->njobs; i++) {
        const struct job_wanted *w = &f->jobs[i];
        double wanted = (double)w->id;
        if (w->component >= 0
            && (!*row->values[JOB_COMPONENTS]
                || (double)w->component != job_number (row, JOB_COMPONENTS)))
            continue;
        if (w->task < 0 && (wanted == id || wanted == array)) {
            row->number = id == w->last ? row->values[JOB_ARRAY_JOB] : NULL;
            return true;
        }
        if (w->task >= 0 && is_task && wanted == array
            && (double)w->task == job_number (row, JOB_ARRAY_TASK))
            return true;
        some |= w->task >= 0 && !is_task && wanted == array;
    }
    return some && has_tasks (f, row, id);
}

bool job_filter_match (struct job_filter *f, struct job_row *row)
{
    row->tasks = row->number = NULL;
    if ((f->accounts && !slurm_list_has (f->accounts, row->values[JOB_ACCOUNT]))
        || (f->qos && !slurm_list_has (f->qos, row->values[JOB_QOS]))
        || (f->licenses && !has_license (f->licenses, row->values[JOB_LICENSES]))
        || (f->names && !slurm_list_has (f->names, row->values[JOB_NAME]))
        || (f->reservations && !slurm_list_has (f->reservations, row->values[JOB_RESERVATION])))
        return false;
    if ((f->not_me && (uid_t)job_number (row, JOB_USERID) == getuid ())
        || (!f->states_done && !has_state (f, row)))
        return false;
    if ((f->running_over > 0 || f->running_under > 0) && !runs_as_long (f, row))
        return false;
    if (f->nodes && !has_node (f->nodes, row->values[JOB_NODELIST]))
        return false;
    return !f->jobs || is_wanted (f, row);
}
