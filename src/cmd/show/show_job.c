/* show_job.c - prints a job, its events and a node's state for people; see show.h */
#include "cmd/show/show.h"

#include "cmd/print/print.h"
#include "common/gres.h"
#include "common/parse.h"
#include "common/thousandths.h"
#include "jobspec/jobspec.h"
#include "jobspec/options/attributes.h"
#include "protocol/pattern.h"

/* -- a job -- */

static void print_state (const json_t *o)
{
    const json_t *exception = json_object_get (o, "exception");
    bool ended = answer_number (o, "end_time") > 0;

    print_field ("State", "%s", json_text (o, "state"));
    print_field ("Reason", "%s%s%s", json_text (o, "reason"),
                 *json_text (o, "reason") && *json_text (o, "reason_text") ? ": " : "",
                 json_text (o, "reason_text"));
    print_field ("Result", "%s", json_text (o, "result_text"));
    if (ended)
        print_field ("Exit status", "%.0f", answer_number (o, "exit_code"));
    if (exception)
        print_field ("Exception", "%s%s%s", json_text (exception, "type"),
                     *json_text (exception, "note") ? ": " : "",
                     json_text (exception, "note"));
    print_field ("Dependency", "%s", json_text (o, "dependency"));
    print_field ("Adopted", "%s", json_text (o, "adopted"));
    if (answer_number (o, "restarts") > 0)
        print_field ("Restarts", "%.0f", answer_number (o, "restarts"));
}

/* The start of a waiting job: as planned, or the known bound. */
static void print_start (const json_t *o)
{
    double planned = answer_number (o, "expected_start");
    double bound = answer_number (o, "not_before");
    autostrbuf struct strbuf sb = STRBUF_INIT (128);

    if (planned > 0 || bound > 0) {
        strbuf_adds (&sb, planned > 0 ? "about " : "not before ");
        strbuf_add_time (&sb, planned > 0 ? planned : bound);
    }
    print_field ("Starts", "%s", sb.buf);
    strbuf_reset (&sb);
    const json_t *id, *list = json_object_get (o, "blocking_jobs");
    size_t i;
    json_array_foreach (list, i, id) {
        strbuf_addf (&sb, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "job ",
                     json_integer_value (id));
    }
    print_field ("Waits for", "%s", sb.buf);
}

static void print_times (const json_t *o)
{
    struct strbuf sb = STRBUF_INIT (128);
    double limit = answer_number (o, "time_limit");

    print_time ("Submitted", answer_number (o, "submit_time"));
    print_time ("Eligible", answer_number (o, "eligible_time"));
    print_time ("Not before", answer_number (o, "begin_time"));
    print_time ("Deadline", answer_number (o, "deadline"));
    print_start (o);
    print_time ("Started", answer_number (o, "start_time"));
    print_time ("Ended", answer_number (o, "end_time"));
    strbuf_add_duration (&sb, answer_number (o, "time"));
    strbuf_adds (&sb, " of ");
    if (limit > 0)
        strbuf_add_duration (&sb, limit);
    else
        strbuf_adds (&sb, "unlimited");
    if (json_is_number (json_object_get (o, "time_left"))) {
        strbuf_adds (&sb, ", ");
        strbuf_add_duration (&sb, answer_number (o, "time_left"));
        strbuf_adds (&sb, " left");
    }
    print_field ("Time", "%s", sb.buf);
    strbuf_release (&sb);
}

/* Appends a word as a shell reads it: in quotes if it has special characters. */
static void add_word (struct strbuf *sb, const char *word)
{
    if (*word && !strpbrk (word, " \t\n\"'\\$`;&|<>()*?[]#~")) {
        strbuf_adds (sb, word);
        return;
    }
    strbuf_adds (sb, "'");
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_adds (sb, "'\\''");
        else
            strbuf_add (sb, word, 1);
    }
    strbuf_adds (sb, "'");
}

/* The name of a script is unknown: only its text was sent. */
static void print_command (const json_t *command)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    const json_t *word;
    size_t i;

    json_array_foreach (command, i, word) {
        const char *text = json_string_value (word);
        if (i == 0 && text && !strcmp (text, JOBSPEC_SCRIPT_COMMAND))
            text = "SCRIPT";
        strbuf_adds (&sb, i ? " " : "");
        add_word (&sb, text ? text : "");
    }
    print_field ("Command", "%s", sb.err ? "(too long to show; see --jobspec)" : sb.buf);
}

/* "90 waiting (11-100), 10 running (1-10)" */
static void print_array (const json_t *o)
{
    static const char *const sets[] = { "waiting", "running", "completed", "failed",
                                        "cancelled" };
    const json_t *array = json_object_get (o, "array");
    struct strbuf sb = STRBUF_INIT (4 << 20);

    if (answer_number (o, "array_job") > 0 && !array)
        print_field ("Array", "task %.0f of %.0f", answer_number (o, "array_task"),
                     answer_number (o, "array_job"));
    if (!array)
        return;
    for (size_t i = 0; i < ARRAY_SIZE (sets); i++) {
        const json_t *set = json_object_get (array, sets[i]);
        if (answer_number (set, "count") > 0)
            strbuf_addf (&sb, "%s%.0f %s (%s)", sb.len ? ", " : "",
                         answer_number (set, "count"), sets[i], json_text (set, "tasks"));
    }
    print_field ("Array", "%s", json_text (array, "tasks"));
    print_field ("Tasks", "%s", sb.buf);
    strbuf_release (&sb);
}

static void print_rank (const json_t *rank)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    char label[32];
    const char *name;
    json_t *count;

    strbuf_addf (&sb, "%s", json_text (rank, "node"));
    if (*json_text (rank, "cores"))
        strbuf_addf (&sb, ", cores %s", json_text (rank, "cores"));
    if (*json_text (rank, "gpus"))
        strbuf_addf (&sb, ", gpus %s", json_text (rank, "gpus"));
    if (answer_number (rank, "memory_mib") > 0) {
        strbuf_adds (&sb, ", ");
        add_memory (&sb, answer_number (rank, "memory_mib"));
    }
    json_object_foreach (json_object_get (rank, "gres"), name, count) {
        if (!strcmp (name, GRES_CPU_MILLI)) {
            strbuf_adds (&sb, ", cpus ");
            strbuf_add_thousandths (&sb, json_integer_value (count));
        } else if (!strcmp (name, GRES_TMP_DISK)) {
            strbuf_adds (&sb, ", temporary disk ");
            add_memory (&sb, json_number_value (count));
        } else
            strbuf_addf (&sb, ", %s %.0f", name, json_number_value (count));
    }
    if (answer_flag (rank, "exclusive"))
        strbuf_adds (&sb, ", exclusive");
    snprintf (label, sizeof (label), "Rank %.0f", answer_number (rank, "rank"));
    print_field (label, "%s", sb.buf);
}

/* Appends the file name made from the pattern, with the job's directory; the pattern
 * itself if it stands for several names. */
static void add_file (struct strbuf *sb, const json_t *o, const char *pattern)
{
    const struct pattern_vars vars = { .job_id = (uint64_t)answer_number (o, "id"),
                                       .array_job =
                                           (uint64_t)answer_number (o, "array_job"),
                                       .array_task =
                                           (uint32_t)answer_number (o, "array_task"),
                                       .job_name = json_text (o, "name"),
                                       .user = json_text (o, "user"),
                                       .in_step = !answer_flag (o, "batch") };
    const char *directory = *pattern == '/' ? "" : json_text (o, "cwd");

    strbuf_addf (sb, "%s%s", directory, *directory ? "/" : "");
    if (pattern_is_per_task (pattern) || pattern_is_per_node (pattern)
        || (json_object_get (o, "array") && pattern_is_per_job (pattern))
        || pattern_expand (pattern, &vars, sb, NULL) < 0)
        strbuf_adds (sb, pattern);
}

/* Prints the user's path of the file. */
static void print_file (const char *label, const json_t *o, const char *pattern)
{
    struct strbuf sb = STRBUF_INIT (64 * 1024);

    if (!*pattern)
        return;
    add_file (&sb, o, pattern);
    print_field (label, "%s", sb.buf);
    strbuf_release (&sb);
}

/* Prints the files staged in or out, one a line: source and destination. */
static void print_stages (const char *label, const json_t *o, const char *key)
{
    const json_t *list = json_object_get (o, key), *entry;
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    size_t i;

    json_array_foreach (list, i, entry) {
        strbuf_reset (&sb);
        add_file (&sb, o, json_text (entry, "from"));
        strbuf_adds (&sb, " -> ");
        add_file (&sb, o, json_text (entry, "to"));
        print_field (label, "%s", sb.buf);
    }
}

/* Prints the size that a malleable job is changing to. */
static void print_resize (const json_t *o)
{
    const json_t *change = json_object_get (o, "resize");

    if (json_is_object (change))
        print_field ("Resizing", "from %.0f to %.0f nodes",
                     answer_number (change, "from"), answer_number (change, "nodes"));
    else if (answer_flag (o, "malleable"))
        print_field ("Malleable", "yes, its number of nodes may change");
}

/* "lead: 1 node, 2 tasks, 2 cores, on node0" */
static void print_component (const json_t *component, size_t n)
{
    static const char *const sizes[] = { "nodes", "ntasks", "ncores", "gpus" };
    static const char *const units[] = { "node", "task", "core", "GPU" };
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    char label[32];

    strbuf_addf (&sb, "%s: ", json_text (component, "name"));
    for (size_t i = 0; i < ARRAY_SIZE (sizes); i++) {
        const char *count = json_text (component, sizes[i]);
        if (*count && strcmp (count, "0") != 0)
            strbuf_addf (&sb, "%s%s %s%s", i ? ", " : "", count, units[i],
                         strcmp (count, "1") == 0 ? "" : "s");
    }
    if (*json_text (component, "nodelist"))
        strbuf_addf (&sb, ", on %s", json_text (component, "nodelist"));
    snprintf (label, sizeof (label), "Component %zu", n);
    print_field (label, "%s", sb.buf);
}

static void print_components (const json_t *o)
{
    const json_t *list = json_object_get (o, "components"), *component;
    size_t i;

    json_array_foreach (list, i, component)
        print_component (component, i);
}

void show_job (const json_t *o)
{
    const json_t *ranks = json_object_get (o, "ranks");
    size_t i, n = json_array_size (ranks);

    print_field ("Job", "%.0f", answer_number (o, "id"));
    print_array (o);
    print_field ("Name", "%s", json_text (o, "name"));
    print_field ("User", "%s (%.0f)", json_text (o, "user"), answer_number (o, "userid"));
    print_field ("Queue", "%s", json_text (o, "queue"));
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->label)
            print_field (a->label, "%s", json_text (o, a->heading ? a->event : a->name));
    print_field ("Mail", "%s", json_text (o, "mail_note"));
    print_state (o);
    print_field ("Urgency", "%.0f%s", answer_number (o, "urgency"),
                 answer_number (o, "urgency") == 0 ? " (held)" : "");
    print_field ("Priority", "%.0f", answer_number (o, "priority"));
    print_times (o);
    print_field ("Asked", "%s", json_text (o, "asked"));
    print_field ("Granted", "%s", json_text (o, "granted"));
    print_components (o);
    print_field ("Size", "%s", json_text (o, "size_text"));
    print_resize (o);
    print_field ("Placement", "%s", json_text (o, "placement"));
    print_field ("Places", "%s", json_text (o, "places"));
    print_command (json_object_get (o, "command"));
    print_field ("Directory", "%s", json_text (o, "cwd"));
    print_file ("Output", o, json_text (o, "output"));
    if (strcmp (json_text (o, "error"), json_text (o, "output")) != 0)
        print_file ("Error", o, json_text (o, "error"));
    print_file ("Input", o, json_text (o, "input"));
    print_stages ("Stage in", o, "stage_in");
    print_stages ("Stage out", o, "stage_out");
    print_field ("Nodes", "%s", json_text (o, "nodelist"));
    if (*json_text (o, "avoids"))
        print_field ("Avoids", "%s (it failed to start there)", json_text (o, "avoids"));
    for (i = 0; i < n; i++)
        print_rank (json_array_get (ranks, i));
    show_steps (o);
}

/* -- events -- */

/* "key=value key=value": strings without quotes. */
static void add_context (struct strbuf *sb, json_t *context)
{
    const char *key;
    json_t *value;
    bool first = true;

    json_object_foreach (context, key, value) {
        strbuf_addf (sb, "%s%s=", first ? "" : " ", key);
        if (json_is_string (value) && !strpbrk (json_string_value (value), " \"="))
            strbuf_adds (sb, json_string_value (value));
        else
            strbuf_add_json_value (sb, value);
        first = false;
    }
}

void show_events (const json_t *events)
{
    static const char *const headings[] = { "TIME", ">OFFSET", "EVENT", "CONTEXT" };
    struct grid g;
    struct strbuf time = STRBUF_INIT (64), context = STRBUF_INIT (1 << 20);
    double began = answer_number (json_array_get (events, 0), "timestamp");

    grid_init (&g, headings, ARRAY_SIZE (headings));
    for (size_t i = 0; i < json_array_size (events); i++) {
        const json_t *e = json_array_get (events, i);
        double t = answer_number (e, "timestamp");
        strbuf_reset (&time);
        strbuf_reset (&context);
        strbuf_add_time (&time, t);
        add_context (&context, json_object_get (e, "context"));
        grid_add (&g, "%s", time.buf);
        grid_add (&g, "%.3f", t - began);
        grid_add (&g, "%s", json_text (e, "name"));
        grid_add (&g, "%s", context.buf);
    }
    grid_print (&g, stdout);
    strbuf_release (&time);
    strbuf_release (&context);
    grid_release (&g);
}

/* -- nodes -- */

const char *node_state (const json_t *node)
{
    const char *state = json_text (node, "state");
    bool used =
        answer_number (node, "njobs") > 0 || answer_number (node, "cores_used") > 0;

    if (!strcmp (state, "drained"))
        return used ? "draining" : "drained";
    if (strcmp (state, "up") != 0)
        return state;
    if (!used && answer_flag (node, "reservation_active"))
        return answer_flag (node, "maintenance") ? "maint" : "resv";
    if (!used)
        return "idle";
    return answer_flag (node, "exclusive") || answer_number (node, "cores_free") <= 0
               ? "allocated"
               : "mixed";
}
