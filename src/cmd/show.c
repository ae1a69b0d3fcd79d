/* show.c - fluxq-show: details of jobs, nodes and queues; priorities: show_priority.c
 */
#include "cmd/show/show.h"

#include "cmd/print/print.h"
#include "common/gres.h"
#include "common/json.h"
#include "common/parse.h"

enum { EVENTS = 1, JOBSPEC, JSON };

static const struct option_desc options[] = {
    { "events", 0, NULL, "jobs: show the event log", EVENTS, false, NULL },
    { "jobspec", 0, NULL, "jobs: show the submitted jobspec, in JSON", JOBSPEC, false,
      NULL },
    { "json", 0, NULL, "the broker's answer in JSON", JSON, false, NULL },
    OPTION_END,
};

static const struct subcommand subcommands[] = {
    { "job", "ID...", "jobs", COMPLETE_ALL_JOBS },
    { "node", "[NAMES]", "these nodes (node[1-3]), or all", COMPLETE_NODES },
    { "queue", "[NAME]...", "these queues, or all", COMPLETE_QUEUES },
    { "priority", "[ID]...",
      "the terms of these jobs' priorities, or of all pending jobs'", COMPLETE_JOBS },
    { "fair-share", "[USER]...", "the usage of these users, or of all", COMPLETE_NONE },
    { "reservation", "[NAME]...", "these reservations, or all", COMPLETE_RESERVATIONS },
    { "slurm-options", "[NAME]...",
      "what becomes of these options of Slurm's sbatch, srun and salloc, or of all",
      COMPLETE_NONE },
    { .name = NULL },
};

enum {
    SHOW_JOB,
    SHOW_NODE,
    SHOW_QUEUE,
    SHOW_PRIORITY,
    SHOW_FAIR_SHARE,
    SHOW_RESERVATION,
    SHOW_SLURM
};

/* -- jobs -- */

static int show_one_job (struct cmd *c, const struct show *s, const char *id)
{
    char target[80];
    json_t *o;

    snprintf (target, sizeof (target), "/v1/jobs/%s%s", id,
              s->events    ? "/events"
              : s->jobspec ? "/jobspec"
                           : "");
    if (cmd_get (c, target, &o) != CMD_OK)
        return c->status;
    if (s->json || s->jobspec) {
        print_json (o);
    } else if (s->events) {
        show_events (json_object_get (o, "events"));
    } else {
        show_job (o);
    }
    json_decref (o);
    return CMD_OK;
}

static int show_jobs (struct cmd *c, const struct show *s)
{
    int status = CMD_OK;

    if (s->n == 0)
        return cmd_usage (c, "which job?");
    for (size_t i = 0; i < s->n; i++) {
        if (cmd_check_id (c, s->names[i]) != CMD_OK)
            return c->status;
    }
    for (size_t i = 0; i < s->n && !c->ended && status != CMD_INTERRUPTED; i++) {
        if (i > 0 && !s->json)
            putchar ('\n');
        int rc = show_one_job (c, s, s->names[i]);
        status = rc ? rc : status;
    }
    return status;
}

/* -- nodes -- */

/* The amount used by jobs; of cores including fractions. */
static double used_of (const json_t *o, const char *what)
{
    char used[32];

    if (!strcmp (what, "cores"))
        return answer_number (o, "cpu_milli_used") / 1000;
    snprintf (used, sizeof (used), "%s_used", what);
    return answer_number (o, used);
}

static void print_amount (const json_t *o, const char *label, const char *what)
{
    char foreign[40], idle[32], of[64] = "";

    if (answer_number (o, what) <= 0)
        return;
    snprintf (foreign, sizeof (foreign), "%s_foreign", what);
    snprintf (idle, sizeof (idle), "%s_free", what);
    if (answer_number (o, foreign) > 0)
        snprintf (of, sizeof (of), ", %.0f used by others", answer_number (o, foreign));
    print_field (label, "%.0f, %.10g used by jobs%s, %.0f free", answer_number (o, what),
                 used_of (o, what), of, answer_number (o, idle));
}

static void print_memory (const json_t *o)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (256);

    add_memory (&sb, answer_number (o, "memory_mib"));
    strbuf_adds (&sb, ", ");
    add_memory (&sb, answer_number (o, "memory_used"));
    strbuf_adds (&sb, " used by jobs, ");
    if (answer_number (o, "memory_foreign") > 0) {
        add_memory (&sb, answer_number (o, "memory_foreign"));
        strbuf_adds (&sb, " by others, ");
    }
    add_memory (&sb, answer_number (o, "memory_free"));
    strbuf_adds (&sb, " free");
    print_field ("Memory", "%s", sb.buf);
}

static void print_tmp_disk (const json_t *o)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (256);

    if (!json_is_object (o))
        return;
    add_memory (&sb, answer_number (o, "count"));
    strbuf_adds (&sb, ", ");
    add_memory (&sb, answer_number (o, "used"));
    strbuf_adds (&sb, " used by jobs, ");
    if (answer_number (o, "foreign") > 0) {
        add_memory (&sb, answer_number (o, "foreign"));
        strbuf_adds (&sb, " by others, ");
    }
    add_memory (&sb, answer_number (o, "free"));
    strbuf_adds (&sb, " free");
    print_field ("Tmp disk", "%s", sb.buf);
}

/* Prints a line for each resource, with its name, as print_amount() prints cores. */
static void print_gres (const json_t *gres)
{
    const char *name;
    json_t *g;

    json_object_foreach ((json_t *)gres, name, g) {
        char of[64] = "";
        if (answer_number (g, "foreign") > 0)
            snprintf (of, sizeof (of), ", %.0f used by others",
                      answer_number (g, "foreign"));
        print_field ("Resource", "%s: %.0f, %.0f used by jobs%s, %.0f free", name,
                     answer_number (g, "count"), answer_number (g, "used"), of,
                     answer_number (g, "free"));
    }
}

static void print_reservation (const json_t *o)
{
    struct strbuf sb = STRBUF_INIT (128);

    if (!*json_text (o, "reservation"))
        return;
    strbuf_addf (&sb, "%s%s, from ", json_text (o, "reservation"),
                 answer_flag (o, "maintenance") ? " (maintenance)" : "");
    strbuf_add_time (&sb, answer_number (o, "reservation_start"));
    strbuf_adds (&sb, " to ");
    strbuf_add_time (&sb, answer_number (o, "reservation_end"));
    print_field ("Reservation", "%s", sb.buf);
    strbuf_release (&sb);
}

/* "zone a, rack r1" */
static void print_places (json_t *places)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (8192);
    const char *level;
    json_t *name;

    json_object_foreach (places, level, name) {
        strbuf_addf (&sb, "%s%s %s", sb.len ? ", " : "", level,
                     json_is_string (name) ? json_string_value (name) : "?");
    }
    print_field ("Places", "%s", sb.buf);
}

static void show_node (const json_t *o)
{
    autostrbuf struct strbuf jobs = STRBUF_INIT (1 << 20);

    answer_add_numbers (&jobs, json_object_get (o, "jobs"));
    print_field ("Node", "%s", json_text (o, "name"));
    print_field ("State", "%s", node_state (o));
    print_field ("Reason", "%s", json_text (o, "reason"));
    print_places (json_object_get (o, "places"));
    print_reservation (o);
    print_amount (o, "Cores", "cores");
    print_amount (o, "GPUs", "gpus");
    print_memory (o);
    print_tmp_disk (json_object_get (o, GRES_TMP_DISK));
    print_gres (json_object_get (o, "gres"));
    print_field ("Jobs", "%s%s", jobs.buf,
                 answer_flag (o, "exclusive") ? " (exclusive)" : "");
}

static int show_nodes (struct cmd *c, const struct show *s)
{
    struct strbuf target = STRBUF_INIT (1 << 20), names = STRBUF_INIT (1 << 18);
    json_t *o, *node;
    size_t i;

    for (i = 0; i < s->n; i++)
        strbuf_addf (&names, "%s%s", i ? "," : "", s->names[i]);
    strbuf_adds (&target, "/v1/nodes");
    target_add (&target, "names", s->n ? names.buf : NULL);
    cmd_get (c, target.buf, &o);
    strbuf_release (&target);
    strbuf_release (&names);
    if (!o)
        return c->status;
    if (s->json)
        print_json (o);
    json_array_foreach (s->json ? NULL : json_object_get (o, "nodes"), i, node) {
        if (i > 0)
            putchar ('\n');
        show_node (node);
    }
    json_decref (o);
    return CMD_OK;
}

/* -- queues -- */

static void print_limit (const char *label, double seconds)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64);

    if (seconds > 0)
        strbuf_add_duration (&sb, seconds);
    print_field (label, "%s", sb.len ? sb.buf : "unlimited");
}

/* Prints the names of those who may submit; null: no limit. */
static void print_names (const char *label, const json_t *names)
{
    struct strbuf sb = STRBUF_INIT (1 << 20);
    const json_t *name;
    size_t i;

    if (!json_is_array (names))
        return;
    json_array_foreach (names, i, name) {
        strbuf_addf (&sb, "%s%s", i ? "," : "", json_string_value (name));
    }
    print_field (label, "%s", sb.len ? sb.buf : "none");
    strbuf_release (&sb);
}

static void show_queue (const json_t *o)
{
    print_field ("Queue", "%s%s", json_text (o, "name"),
                 answer_flag (o, "default") ? " (default)" : "");
    print_field ("State", "%s",
                 answer_flag (o, "started") ? "started"
                                            : "stopped: takes jobs, starts none");
    print_field ("Pending", "%.0f jobs", answer_number (o, "pending"));
    print_field ("Running", "%.0f jobs on %.0f nodes", answer_number (o, "running"),
                 answer_number (o, "nodes_used"));
    print_limit ("Default time", answer_number (o, "default_time"));
    print_limit ("Longest time", answer_number (o, "max_time"));
    if (answer_number (o, "max_nodes") > 0)
        print_field ("Most nodes", "%.0f", answer_number (o, "max_nodes"));
    print_names ("Users", json_object_get (o, "users"));
    print_names ("Groups", json_object_get (o, "groups"));
}

/* -- the command -- */

static int find_subcommand (const char *word)
{
    for (int i = 0; subcommands[i].name; i++) {
        if (!strcmp (subcommands[i].name, word))
            return i;
    }
    return -1;
}

static int read_options (struct cmd *c, struct show *s)
{
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        switch (m.desc ? m.desc->id : CMD_OPERAND) {
        case EVENTS:
            s->events = true;
            break;
        case JOBSPEC:
            s->jobspec = true;
            break;
        case JSON:
            s->json = true;
            break;
        default:
            if (s->what < 0 && m.value[0] >= '0' && m.value[0] <= '9') { /* a job id */
                s->what = SHOW_JOB;
                s->seen_what = true;
            }
            if (s->what < 0 && (s->what = find_subcommand (m.value)) < 0)
                return cmd_usage (
                    c,
                    "'%s' is not one of job, node, queue, priority, fair-share, "
                    "reservation, slurm-options",
                    m.value);
            else if (s->seen_what)
                s->names[s->n++] = m.value;
            s->seen_what = true;
        }
    }
    if (c->ended)
        return c->status;
    if (s->what < 0)
        return cmd_usage (c, "show what? job ID, node [NAMES], queue [NAME], priority "
                             "[ID], fair-share [USER], reservation [NAME] or "
                             "slurm-options");
    if (s->what != SHOW_JOB && (s->events || s->jobspec))
        return cmd_usage (c, "--%s is for jobs", s->events ? "events" : "jobspec");
    if (s->events && s->jobspec)
        return cmd_usage (c, "--events or --jobspec, one at a time");
    return CMD_OK;
}

static int run (struct cmd *c)
{
    struct show s = { .what = -1 };
    autofree const char **names = calloc ((size_t)c->parser.argc + 1, sizeof (*names));

    s.names = names;
    if (!names)
        return cmd_fail (c, "out of memory");
    if (read_options (c, &s) != CMD_OK || c->ended)
        return c->status;
    switch (s.what) {
    case SHOW_JOB:
        return show_jobs (c, &s);
    case SHOW_NODE:
        return show_nodes (c, &s);
    case SHOW_PRIORITY:
        return show_priority (c, &s);
    case SHOW_FAIR_SHARE:
        return show_fair_share (c, &s);
    case SHOW_RESERVATION:
        return show_reservations (c, &s);
    case SHOW_SLURM:
        return show_slurm_options (c, &s);
    default:
        return show_named (c, &s, "queue", show_queue);
    }
}

static const char *const usage[] = {
    "[job] ID... [--events|--jobspec] [--json]",
    "node [NAMES] [--json]",
    "queue [NAME]... [--json]",
    "priority [ID]... [--json]",
    "fair-share [USER]... [--json]",
    "reservation [NAME]... [--json]",
    "slurm-options [NAME]...",
    NULL,
};

const struct command command_show = {
    .name = "show",
    .summary =
        "Show jobs, nodes, queues, priorities, fair share and reservations in detail",
    .usage = usage,
    .options = options,
    .subcommands = subcommands,
    .run = run,
};
