/* sacct.c - sacct: jobs and steps with their usage, from the queue and the history
 *
 * A page of the history is printed before the next one is read (acct_walk()).
 */
#include "cmd/slurm/acct/sacct.h"

#include <string.h>

#include "cmd/slurm/jobs/job_json.h"
#include "common/idset.h"

#define PRINT_MAX (1 << 30)
#define TASKS_MAX (1 << 20)

struct listing {
    struct cmd *c;
    struct sacct *s;
    struct acct_row row;
    struct strbuf out;
    bool written; /* a job in JSON */
};

/* The broker's own filters; the queue has fewer. */
static void add_filters (void *arg, struct strbuf *target, enum acct_source source)
{
    const struct listing *l = arg;
    const struct sacct *s = l->s;

    target_add (target, "ids", s->ids.len ? s->ids.buf : NULL);
    target_add (target, "user", s->all_users ? NULL : s->known.len ? s->known.buf : "me");
    target_add (target, "name", s->names);
    target_add (target, "queue", s->partitions);
    if (source == ACCT_JOBS)
        return;
    target_add (target, "account", s->accounts);
    target_add (target, "state", s->phases.len ? s->phases.buf : NULL);
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

static void show_row (struct listing *l)
{
    if (l->s->json) {
        if (!*l->row.component || sacct_wants_job (l->s, &l->row))
            add_json (l);
        return;
    }
    if (sacct_wants_job (l->s, &l->row))
        add_job (l);
    for (int batch = 1; batch >= 0 && !l->s->no_steps; batch--)
        add_steps (l, batch);
}

/* A heterogeneous job has a row for each component. */
static void show_components (struct listing *l, bool window)
{
    const struct acct_row all = l->row;
    autojson json_t *components = acct_components (&all);

    for (size_t i = 0; i < MAX (json_array_size (components), 1); i++) {
        l->row = all;
        if (components)
            acct_row_narrow (&l->row, components, i);
        if (sacct_match (l->s, &l->row, window))
            show_row (l);
    }
    l->row = all;
}

/* The steps of a running job are asked from its agent, so only when jobs are named. */
static void show (void *arg, const struct acct_rows *rows, size_t i)
{
    struct listing *l = arg;
    bool active = rows->source == ACCT_JOBS;
    json_t *running = NULL;

    acct_rows_fill (rows, i, &l->row);
    if (is_empty_array (&l->row))
        return;
    if (active && l->s->ids.len > 0 && !l->s->no_steps && acct_is_state (&l->row, "R"))
        l->row.steps = running = acct_running_steps (l->c, acct_row_id (rows, i));
    show_components (l, active);
    if (running)
        l->row.steps = NULL;
    json_decref (running);
}

static int flush (void *arg)
{
    struct listing *l = arg;

    if (l->out.err)
        return cmd_fail (l->c, "the listing is too large");
    fwrite (l->out.buf, 1, l->out.len, stdout);
    strbuf_reset (&l->out);
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
    const struct sacct *s = l->s;
    const struct acct_walk walk = {
        .c = l->c,
        .view = &s->view,
        .needs = s->needs & ~(ACCT_NEEDS_STEPS | ACCT_NEEDS_CLUSTER),
        .steps = !s->no_steps || s->needs & ACCT_NEEDS_STEPS,
        .named = s->ids.len > 0 || s->names,
        .add_filters = add_filters,
        .row = show,
        .page = flush,
        .arg = l,
    };

    if (s->json)
        strbuf_adds (&l->out, "{\"jobs\": [\n");
    else if (!s->no_heading)
        list_format_add_heading (&s->format, &l->out);
    if (acct_walk (&walk) != CMD_OK)
        return l->c->status;
    if (s->json)
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
        if (s.needs & ACCT_NEEDS_CLUSTER || s.json)
            status = sacct_ask_cluster (c, &s);
        if (status == CMD_OK)
            status = list (&l);
    }
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
