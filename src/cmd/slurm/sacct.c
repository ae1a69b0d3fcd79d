/* sacct.c - sacct: jobs and steps with their usage, from the queue and the history
 *
 *   GET /v1/jobs (waiting, running) --.
 *                                     |--> one list by id --> rows of jobs and steps
 *   GET /v1/history, page after page -'
 *
 * The queue is read first: a job that ends meanwhile is in the history, too, and shown as
 * ended. A page is printed before the next one is read.
 */
#include "cmd/slurm/acct/sacct.h"

#include <string.h>

#include "cmd/slurm/jobs/job_json.h"
#include "common/idset.h"

#define TARGET_MAX (256 * 1024)
#define PAGE 20000
#define PAGE_WITH_STEPS 1000
#define PRINT_MAX (1 << 30)
#define TASKS_MAX (1 << 20)

struct listing {
    struct cmd *c;
    struct sacct *s;
    bool steps; /* the history is read with its steps */
    struct acct_rows active;
    size_t *order, next; /* of active: by id */
    struct acct_row row;
    struct strbuf out;
    bool written; /* a job in JSON */
};

/* -- requests -- */

/* The filters that both lists have. */
static void add_filters (const struct sacct *s, struct strbuf *target)
{
    target_add (target, "ids", s->ids.len ? s->ids.buf : NULL);
    target_add (target, "user", s->all_users ? NULL : s->known.len ? s->known.buf : "me");
    target_add (target, "name", s->names);
    target_add (target, "queue", s->partitions);
}

static int compare_ids (const void *a, const void *b, void *arg)
{
    uint64_t ia = acct_row_id (arg, *(const size_t *)a);
    uint64_t ib = acct_row_id (arg, *(const size_t *)b);

    return (ia > ib) - (ia < ib);
}

/* A job that has just ended may not be in the history yet: when jobs are named, ended ones
 * are read here, too. */
static int read_active (struct listing *l)
{
    const struct sacct *s = l->s;
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);
    bool named = s->ids.len > 0 || s->names;

    strbuf_adds (&target, "/v1/jobs?limit=10000000");
    target_add (&target, "state", named ? "all" : "active");
    add_filters (s, &target);
    uint64_t window = ACCT_BIT (SUBMIT) | ACCT_BIT (STATE);
    if (acct_rows_get (l->c, &l->active, ACCT_JOBS, target.buf, s->needs | window, false)
        != CMD_OK)
        return l->c->status;
    l->order = malloc ((l->active.n + 1) * sizeof (*l->order));
    if (!l->order)
        return cmd_fail (l->c, "out of memory");
    for (size_t i = 0; i < l->active.n; i++)
        l->order[i] = i;
    qsort_r (l->order, l->active.n, sizeof (*l->order), compare_ids, &l->active);
    return CMD_OK;
}

static int read_history (struct listing *l, uint64_t after, struct acct_rows *ret)
{
    const struct sacct *s = l->s;
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);

    strbuf_addf (&target, "/v1/history?limit=%d&since=%.0f&until=%.0f&after=%ju",
                 l->steps ? PAGE_WITH_STEPS : PAGE, s->view.since, s->view.until,
                 (uintmax_t)after);
    add_filters (s, &target);
    target_add (&target, "account", s->accounts);
    target_add (&target, "state", s->phases.len ? s->phases.buf : NULL);
    return acct_rows_get (l->c, ret, ACCT_HISTORY, target.buf, s->needs, l->steps);
}

/* -- rows -- */

/* The row, or with --array a row for each task that waits. */
static void add_job (struct listing *l)
{
    struct acct_row *row = &l->row;
    const char *tasks = row->values[ACCT_ARRAY_TASKS];
    autofree char *text = l->s->array ? strndup (tasks, strcspn (tasks, "%")) : NULL;
    struct idset *set = text && *text ? idset_decode (text, TASKS_MAX, NULL) : NULL;

    if (!set) {
        list_format_add_row (&l->s->format, row, &l->out);
        return;
    }
    IDSET_FOREACH (set, task)
    {
        snprintf (row->task, sizeof (row->task), "%u", task);
        list_format_add_row (&l->s->format, row, &l->out);
    }
    row->task[0] = '\0';
    idset_destroy (set);
}

/* As in Slurm, the batch step comes first. */
static void add_steps (struct listing *l, bool batch)
{
    struct acct_row *row = &l->row;
    const json_t *step;
    size_t i;

    json_array_foreach (row->steps, i, step) {
        if (!acct_step_is_shown (row, step, &row->step_id)
            || batch != !strcmp (row->step_id, "batch"))
            continue;
        row->step = step;
        if (sacct_wants_step (l->s, row))
            list_format_add_row (&l->s->format, row, &l->out);
        row->step = NULL;
    }
}

/* An array all of whose tasks are jobs has no row of its own. */
static bool is_empty_array (const struct acct_row *row)
{
    return acct_has (row, ACCT_ARRAY_JOB) && !acct_has (row, ACCT_ARRAY_TASK)
           && !acct_has (row, ACCT_ARRAY_TASKS);
}

static void add_json (struct listing *l)
{
    json_t *job = acct_json (&l->row);
    autofree char *text = job ? json_dumps (job, JSON_INDENT (2)) : NULL;

    strbuf_adds (&l->out, l->written ? ",\n" : "");
    strbuf_adds (&l->out, text ? text : "{}");
    l->written = true;
    json_decref (job);
}

static void show (struct listing *l, const struct acct_rows *rows, size_t i)
{
    acct_rows_fill (rows, i, &l->row);
    if (is_empty_array (&l->row)
        || !sacct_match (l->s, &l->row, rows->source == ACCT_JOBS))
        return;
    if (l->s->json) {
        add_json (l);
        return;
    }
    if (sacct_wants_job (l->s, &l->row))
        add_job (l);
    for (int batch = 1; batch >= 0 && !l->s->no_steps; batch--)
        add_steps (l, batch);
}

/* Shows active jobs with ids below `id`, and leaves out the one with the id. */
static void show_active (struct listing *l, uint64_t id)
{
    for (; l->next < l->active.n; l->next++) {
        size_t i = l->order[l->next];
        uint64_t n = acct_row_id (&l->active, i);
        if (n > id)
            return;
        if (n < id)
            show (l, &l->active, i);
    }
}

static int flush (struct listing *l)
{
    if (l->out.err)
        return cmd_fail (l->c, "the listing is too large");
    fwrite (l->out.buf, 1, l->out.len, stdout);
    strbuf_reset (&l->out);
    return CMD_OK;
}

static int show_history (struct listing *l)
{
    struct acct_rows page;
    uint64_t after = 0;
    size_t most = l->steps ? PAGE_WITH_STEPS : PAGE;
    bool more = true;

    while (more) {
        if (read_history (l, after, &page) != CMD_OK)
            return l->c->status;
        for (size_t i = 0; i < page.n; i++) {
            after = acct_row_id (&page, i);
            show_active (l, after);
            show (l, &page, i);
        }
        more = page.n == most;
        acct_rows_release (&page);
        if (flush (l) != CMD_OK)
            return l->c->status;
    }
    return CMD_OK;
}

static void end_json (struct listing *l)
{
    json_t *meta = job_json_meta (l->c);
    autofree char *text = meta ? json_dumps (meta, JSON_INDENT (2)) : NULL;

    strbuf_adds (&l->out, "],\n");
    strbuf_adds (&l->out, text ? text + strlen ("{\n") : "}");
    strbuf_addch (&l->out, '\n');
    json_decref (meta);
}

static int list (struct listing *l)
{
    if (read_active (l) != CMD_OK)
        return l->c->status;
    if (l->s->json)
        strbuf_adds (&l->out, "{\"jobs\": [\n");
    else if (!l->s->no_heading)
        list_format_add_heading (&l->s->format, &l->out);
    if (show_history (l) != CMD_OK)
        return l->c->status;
    show_active (l, UINT64_MAX);
    if (l->s->json)
        end_json (l);
    return flush (l);
}

static int run (struct cmd *c)
{
    struct sacct s;
    struct listing l = { .c = c, .s = &s };

    sacct_init (&s);
    strbuf_init (&l.out, PRINT_MAX);
    acct_row_init (&l.row, &s.view);
    int status = sacct_read_options (c, &s);
    if (!c->ended && status == CMD_OK) {
        l.steps = !s.no_steps || s.needs & ACCT_NEEDS_STEPS;
        if (s.needs & ACCT_NEEDS_CLUSTER || s.json)
            status = sacct_ask_cluster (c, &s);
        s.needs &= ~(ACCT_NEEDS_STEPS | ACCT_NEEDS_CLUSTER);
        if (status == CMD_OK)
            status = list (&l);
    }
    acct_rows_release (&l.active);
    free (l.order);
    strbuf_release (&l.out);
    sacct_release (&s);
    return status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command slurm_sacct = {
    .name = "sacct",
    .summary = "List jobs and their steps, also ended ones, with their usage",
    .usage = usage,
    .options = sacct_options,
    .operands = COMPLETE_NONE,
    .notes = "Without -S, jobs of today are listed; with -j, those of all times; with "
             "-s, those "
             "that are\nin the states now. SACCT_FORMAT stands for -o; SLURM_TIME_FORMAT "
             "is the "
             "form of times:\nstandard, relative, or a format of strftime(3).\n",
    .run = run,
    .slurm = true,
};
