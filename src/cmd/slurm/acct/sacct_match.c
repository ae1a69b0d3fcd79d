/* sacct_match.c - jobs and steps that the options choose; see sacct.h
 *
 * The broker chooses by ids, user, name, queue and, in the history, by account, state and
 * time. The rest is compared here.
 */
#include <grp.h>
#include <string.h>
#include <strings.h>

#include "cmd/slurm/acct/sacct.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"

#define HOSTS_MAX 1000000
#define TASKS_MAX (1 << 20)

/* -- jobs of -j -- */

/* "12", "12+1", "12_3", "12_[1-3]", each with ".batch" behind it. */
static int read_job (struct sacct *s, char *word, struct error *err)
{
    struct sacct_wanted *w = &s->wanted[s->nwanted];
    char *tasks = strchr (word, '_'), *bracket = tasks ? strchr (tasks, ']') : NULL;
    char *dot = strchr (bracket ? bracket : word, '.'), *plus = strchr (word, '+');
    int64_t id;

    *w = (struct sacct_wanted){ .step = dot ? dot + 1 : NULL };
    if (dot)
        *dot = '\0';
    if (plus)
        *plus++ = '\0';
    w->component = -1;
    if (plus && parse_int (plus, 0, INT32_MAX, &w->component, "", NULL) < 0)
        return error_set (err, EINVAL, "Bad job/step specified: %s+%s", word, plus);
    strbuf_addf (&s->ids, "%s%s", s->ids.len ? "," : "", word);
    if (tasks)
        *tasks++ = '\0';
    if (parse_int (word, 1, INT64_MAX, &id, "", NULL) < 0)
        return error_set (err, EINVAL, "Bad job/step specified: %s", word);
    w->id = (uint64_t)id;
    s->nwanted++;
    if (!tasks)
        return 0;
    size_t len = strlen (tasks);
    if (*tasks == '[' && tasks[len - 1] == ']') {
        tasks[len - 1] = '\0';
        tasks++;
    }
    tasks[strcspn (tasks, "%")] = '\0';
    w->tasks = idset_decode (tasks, TASKS_MAX, NULL);
    if (!w->tasks || idset_count (w->tasks) == 0)
        return error_set (err, EINVAL, "Bad job array element specified: %s", word);
    return 0;
}

/* The next word; commas within brackets belong to it. */
static char *next_word (char **pp)
{
    char *word = *pp, *p = word;
    int depth = 0;

    if (!word)
        return NULL;
    for (; *p && (*p != ',' || depth > 0); p++)
        depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
    *pp = *p ? p + 1 : NULL;
    *p = '\0';
    return word;
}

int sacct_read_jobs (struct sacct *s, struct error *err)
{
    char *next = s->jobs.buf, *word;
    int rc = 0;

    if (s->jobs.len == 0)
        return 0;
    s->wanted = calloc (s->jobs.len / 2 + 2, sizeof (*s->wanted));
    if (!s->wanted)
        return error_set (err, ENOMEM, "out of memory");
    while (rc == 0 && (word = next_word (&next)))
        if (*word)
            rc = read_job (s, word, err);
    return rc;
}

/* Whether the row's component is wanted, if it is one. */
static bool has_component (const struct sacct *s, const struct sacct_wanted *w,
                           const struct acct_row *row)
{
    bool whole = s->whole_hetjob && !strcasecmp (s->whole_hetjob, "yes");
    int64_t component = w->component;

    if (!*row->component)
        return component < 0;
    if (component < 0 && s->whole_hetjob && !whole)
        component = 0;
    return whole || component < 0 || component == strtoll (row->component, NULL, 10);
}

static bool is_of (const struct sacct *s, const struct sacct_wanted *w,
                   const struct acct_row *row)
{
    uint64_t id = strtoull (row->values[ACCT_ID], NULL, 10);
    uint64_t array = strtoull (row->values[ACCT_ARRAY_JOB], NULL, 10);

    if (!has_component (s, w, row))
        return false;
    if (!w->tasks)
        return w->id == id || w->id == array;
    if (w->id != array)
        return false;
    if (acct_has (row, ACCT_ARRAY_TASK))
        return idset_has (w->tasks, (uint32_t)acct_number (row, ACCT_ARRAY_TASK));
    return true; /* tasks that wait */
}

bool sacct_wants_job (const struct sacct *s, const struct acct_row *row)
{
    bool wanted = s->nwanted == 0;

    for (size_t i = 0; i < s->nwanted && !wanted; i++)
        wanted = (!s->wanted[i].step || s->no_steps) && is_of (s, &s->wanted[i], row);
    return wanted;
}

bool sacct_wants_step (const struct sacct *s, const struct acct_row *row)
{
    for (size_t i = 0; i < s->nwanted; i++) {
        const char *step = s->wanted[i].step;
        if (is_of (s, &s->wanted[i], row) && (!step || !strcmp (step, row->step_id)))
            return true;
    }
    return s->nwanted == 0;
}

/* -- other options -- */

static bool list_has (const char *list, const char *value)
{
    size_t len = strlen (value);

    for (; *list; list += strcspn (list, ","), list += *list == ',')
        if (strcspn (list, ",") == len && !strncasecmp (list, value, len))
            return true;
    return false;
}

static bool in_range (const struct sacct_range *r, double n)
{
    return r->min <= 0 || (r->max > 0 ? n >= r->min && n <= r->max : n == r->min);
}

static bool on_nodes (const struct sacct *s, const struct acct_row *row)
{
    const char *nodes = row->values[ACCT_NODELIST];
    struct hostlist *hl = *nodes ? hostlist_decode (nodes, HOSTS_MAX, NULL) : NULL;
    bool found = false;

    for (size_t i = 0; hl && i < hostlist_count (s->nodelist) && !found; i++)
        found = hostlist_find (hl, hostlist_nth (s->nodelist, i)) >= 0;
    hostlist_destroy (hl);
    return found;
}

/* groups: names and numbers. */
static bool has_group (const char *groups, const char *id)
{
    const struct group *gr = *id ? getgrgid ((gid_t)strtoul (id, NULL, 10)) : NULL;

    return list_has (groups, id) || (gr && list_has (groups, gr->gr_name));
}

/* Without states, the job was in the system within the window; else it ended then in one of
 * them, or waited or ran then. */
static bool in_window (const struct sacct *s, const struct acct_row *row)
{
    double submit = acct_number (row, ACCT_SUBMIT);
    double start = acct_has_run (row) ? acct_number (row, ACCT_START) : 0;
    double end = acct_waits (row) ? 0 : acct_number (row, ACCT_END);
    double since = s->view.since, until = s->view.until;
    bool here = submit < until && (end <= 0 || end >= since);

    if (s->phases.len == 0 || !here)
        return here;
    if (list_has (s->phases.buf, "PENDING")
        && (start > 0 ? start > since : end <= 0 || end > since))
        return true;
    if (list_has (s->phases.buf, "RUNNING") && start > 0 && start < until)
        return true;
    return list_has (s->phases.buf, row->values[ACCT_STATE]) && end < until;
}

uint64_t sacct_match_needs (const struct sacct *s)
{
    const struct {
        bool used;
        uint64_t needs;
    } parts[] = {
        { true, ACCT_BIT (ARRAY_JOB) | ACCT_BIT (ARRAY_TASK) | ACCT_BIT (ARRAY_TASKS)
                    | ACCT_BIT (ST) | ACCT_BIT (START) | ACCT_BIT (END) },
        { s->accounts, ACCT_BIT (ACCOUNT) },
        { s->qos, ACCT_BIT (QOS) },
        { s->wckeys, ACCT_BIT (WCKEY) },
        { s->groups, ACCT_BIT (GROUPID) },
        { s->nodelist, ACCT_BIT (NODELIST) },
        { s->nodes.min > 0, ACCT_BIT (NODES) },
        { s->cpus.min > 0, ACCT_BIT (NCORES) | ACCT_BIT (CPU_MILLI) },
        { s->limit.min > 0, ACCT_BIT (LIMIT) },
    };
    uint64_t needs = 0;

    for (size_t i = 0; i < ARRAY_SIZE (parts); i++)
        needs |= parts[i].used ? parts[i].needs : 0;
    return needs;
}

bool sacct_match (const struct sacct *s, const struct acct_row *row, bool window)
{
    const struct {
        const char *list;
        enum acct_value value;
    } lists[] = { { s->accounts, ACCT_ACCOUNT },
                  { s->qos, ACCT_QOS },
                  { s->wckeys, ACCT_WCKEY } };

    for (size_t i = 0; i < ARRAY_SIZE (lists); i++)
        if (lists[i].list && !list_has (lists[i].list, row->values[lists[i].value]))
            return false;
    if ((window && !in_window (s, row)) || (s->nodelist && !on_nodes (s, row))
        || (s->groups && !has_group (s->groups, row->values[ACCT_GROUPID])))
        return false;
    return in_range (&s->nodes, acct_nodes (row, false))
           && in_range (&s->cpus, acct_cpus (row, false))
           && in_range (&s->limit, acct_number (row, ACCT_LIMIT) / 60);
}
