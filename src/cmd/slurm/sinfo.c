/* sinfo.c - sinfo: lists partitions and nodes in Slurm's formats
 *
 * The fields are sinfo_fields (sinfo_fields.c), the lines sinfo_lines.c. One request gets
 * the queues, one the nodes.
 */
#include "cmd/slurm/nodes/sinfo.h"

#include "cmd/print/print.h"
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/nodes/node_json.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"

#define LISTING_MAX (1 << 30)
#define COLUMN_MIN 9 /* of partitions and nodes in the formats of sinfo itself */

/* sinfo's own formats. */
#define SUMMARY "partition:9 ,available:.5 ,time:.10 ,nodeaiot:.16 ,nodelist:0"
#define NODES_LIST "nodelist:0 ,nodes:.6 ,partition:.9 ,statecompact:6"
#define NODES_LONG                                                                       \
    "nodelist:0 ,nodes:.6 ,partition:.9 ,statelong:.11 ,cpus:4 ,socketcorethread:.8 ,"   \
    "memory:.6 ,disk:.8 ,weight:.6 ,features:.8 ,reason:20"
#define REASONS_LIST "reason:20 ,user:9 ,timestamp:19 ,nodelist:0"
#define REASONS_LONG "reason:20 ,userlong:12 ,timestamp:19 ,statecompact:6 ,nodelist:0"
#define LIST "partition:9 ,available:.5 ,time:.10 ,nodes:.6 ,statecompact:.6 ,nodelist:0"
#define LIST_LONG                                                                        \
    "partition:9 ,available:.5 ,time:.10 ,size:.10 ,root:.4 ,oversubscribe:.8 ,"         \
    "groups:.10 ,nodes:.6 ,statelong:.11 ,reservation:.11 ,nodelist:0"

/* -- what the options mean -- */

static void wrong_letter (void *arg, const char *text)
{
    (void)arg;
    fprintf (stderr, "Invalid node format specification: %s\n", text);
}

static void wrong_name (void *arg, const char *text)
{
    cmd_warn (arg, "error: Invalid job format specification: %s", text);
}

/* The format of names when the user gives none. */
static const char *own_format (struct sinfo *s)
{
    s->fit_partition = s->summary || s->each_node || !s->reasons;
    s->fit_nodes = s->each_node && !s->summary;
    if (s->summary)
        return SUMMARY;
    if (s->each_node)
        return s->long_list ? NODES_LONG : NODES_LIST;
    if (s->reasons)
        return s->long_list ? REASONS_LONG : REASONS_LIST;
    return s->long_list ? LIST_LONG : LIST;
}

static int set_format (struct cmd *c, struct sinfo *s)
{
    int rc;

    if (s->names && !strcasecmp (s->names, "all")) {
        s->letters = "%all";
        s->names = NULL;
    }
    if (s->letters)
        rc = slurm_format_parse (&s->format, sinfo_fields, s->letters, wrong_letter, c);
    else
        rc =
            slurm_format_parse_long (&s->format, sinfo_fields,
                                     s->names ? s->names : own_format (s), wrong_name, c);
    return rc < 0 ? cmd_fail (c, "the format has too many fields") : CMD_OK;
}

static int set_states (struct cmd *c, struct sinfo *s)
{
    struct error err = { 0 };
    autostrbuf struct strbuf known = STRBUF_INIT (4096);

    if (!s->states_text && s->reasons)
        s->states_text = "down,fail,drain";
    if (!s->states_text || sinfo_states_parse (&s->states, s->states_text, &err) == 0)
        return CMD_OK;
    sinfo_states_add_names (&known, ",");
    cmd_warn (c, "error: Bad state string: \"%s\"", err.text);
    return cmd_fail (c, "valid states: %s", known.buf);
}

static int prepare (struct cmd *c, struct sinfo *s)
{
    struct error err = { 0 };
    struct sinfo_lines none = { .n = 0 };
    char wrong;

    if (!s->sort)
        s->sort = s->each_node ? SINFO_SORT_NODES : SINFO_SORT;
    if (sinfo_lines_sort (&none, s->sort, &wrong) < 0)
        return cmd_fail (c, "Invalid sort specification: %c", wrong);
    if (s->hosts_text
        && !(s->hosts = hostlist_decode (s->hosts_text, HOSTLIST_MAX, &err)))
        return cmd_fail (c, "'%s' invalid entry for --nodes", s->hosts_text);
    if (set_states (c, s) != CMD_OK)
        return c->status;
    return set_format (c, s);
}

static bool is_wanted (const void *arg, const json_t *node, unsigned state)
{
    const struct sinfo *s = arg;
    bool dead = state & NODE_NOT_RESPONDING;

    if (s->hosts && hostlist_find (s->hosts, json_text (node, "name")) < 0)
        return false;
    if ((s->dead && !dead) || (s->responding && dead))
        return false;
    return sinfo_states_match (&s->states, state, answer_number (node, "cores_used") > 0);
}

/* -- the list -- */

/* The widest text of the field. */
static int width_of_field (const struct slurm_field *field,
                           const struct sinfo_lines *lines)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    size_t width = COLUMN_MIN;

    for (size_t i = 0; i < lines->n; i++) {
        strbuf_reset (&sb);
        field->add (&lines->v[i], &sb);
        width = MAX (width, sb.len);
    }
    return (int)width;
}

/* Makes the columns of sinfo's own formats as wide as their texts. */
static void fit_columns (struct sinfo *s, const struct sinfo_lines *lines)
{
    for (size_t i = 0; i < s->format.n; i++) {
        struct slurm_format_item *item = &s->format.items[i];
        char letter = item->field ? item->field->letter : '\0';
        if ((s->fit_partition && letter == 'P') || (s->fit_nodes && letter == 'N'))
            item->width = width_of_field (item->field, lines);
    }
}

static int print (struct cmd *c, struct sinfo *s, struct sinfo_lines *lines)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    char wrong;

    sinfo_lines_sort (lines, s->sort, &wrong);
    fit_columns (s, lines);
    if (s->header)
        slurm_format_add_heading (&s->format, &sb);
    for (size_t i = 0; i < lines->n; i++)
        slurm_format_add_row (&s->format, &lines->v[i], &sb);
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

/* The fields that tell the lines of Slurm's --json apart. */
#define JSON_FIELDS                                                                      \
    (BY_PARTITION | BY_STATE_COMPLETE | BY_GRES | BY_GRES_USED | BY_REASON               \
     | BY_RESERVATION | BY_CPUS | BY_MEMORY)

static int print_lines_json (struct cmd *c, const struct sinfo_lines *lines)
{
    json_t *list = json_array ();

    for (size_t i = 0; i < lines->n; i++)
        json_array_append_new (list, sinfo_line_json (&lines->v[i]));
    return job_json_print (c, "sinfo", list);
}

static int print_reservations_json (struct cmd *c, json_t *all)
{
    autojson json_t *nodes = NULL;
    json_t *list, *o;
    size_t i;

    if (cmd_get (c, "/v1/nodes", &nodes) != CMD_OK)
        return c->status;
    list = json_array ();
    json_array_foreach (all, i, o) {
        reservationview_sum (o, json_object_get (nodes, "nodes"));
        json_array_append_new (list, reservation_json (o));
    }
    return job_json_print (c, "reservations", list);
}

/* Adds the sums over their nodes to the queues. */
static void sum_queues (json_t *queues, const json_t *nodes)
{
    json_t *queue;
    size_t i;

    json_array_foreach (queues, i, queue)
        queueview_sum (queue, nodes);
}

static int list (struct cmd *c, struct sinfo *s)
{
    autojson json_t *queues = NULL, *nodes = NULL;
    const struct sinfo_grouping g = {
        .by = s->json ? JSON_FIELDS : s->format.needs,
        .exact = s->exact || s->json,
        .each_node = s->each_node,
        .any_queue = s->reasons,
        .convert = !s->noconvert,
        .queues = s->partitions,
        .wanted = is_wanted,
        .arg = s,
    };
    struct sinfo_lines lines;

    if (cmd_get (c, "/v1/queues", &queues) != CMD_OK
        || cmd_get (c, "/v1/nodes", &nodes) != CMD_OK)
        return c->status;
    if (s->json)
        sum_queues (json_object_get (queues, "queues"), json_object_get (nodes, "nodes"));
    if (sinfo_lines_build (&lines, json_object_get (nodes, "nodes"),
                           json_object_get (queues, "queues"), &g)
        < 0)
        cmd_fail (c, "out of memory");
    else if (s->json)
        print_lines_json (c, &lines);
    else
        print (c, s, &lines);
    sinfo_lines_release (&lines);
    return c->status;
}

/* -- reservations -- */

static void add_reservation (const json_t *o, int width, struct strbuf *sb)
{
    double start = answer_number (o, "start"), end = answer_number (o, "end");
    autostrbuf struct strbuf name = STRBUF_INIT (4096), from = STRBUF_INIT (4096);
    autostrbuf struct strbuf until = STRBUF_INIT (4096), span = STRBUF_INIT (4096);
    bool active = !strcmp (json_text (o, "state"), "active");

    record_add_text (&name, json_text (o, "name"));
    slurm_add_time (&from, start);
    slurm_add_time (&until, end);
    record_add_duration (&span, end - start);
    strbuf_addf (sb, "%-*s  %8s  %19s  %19s  %11s  ", width, name.buf,
                 active ? "ACTIVE" : "INACTIVE", from.buf, until.buf, span.buf);
    record_add_text (sb, json_text (o, "nodes"));
    strbuf_addch (sb, '\n');
}

static int list_reservations (struct cmd *c, const struct sinfo *s)
{
    autojson json_t *answer = NULL;
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    size_t width = COLUMN_MIN;
    const json_t *o;
    size_t i;

    if (cmd_get (c, "/v1/reservations", &answer) != CMD_OK)
        return c->status;
    const json_t *all = json_object_get (answer, "reservations");
    if (s->json)
        return print_reservations_json (c, json_object_get (answer, "reservations"));
    if (json_array_size (all) == 0)
        strbuf_adds (&sb, "No reservations in the system\n");
    json_array_foreach (all, i, o)
        width = MAX (width, strlen (json_text (o, "name")));
    if (s->header && i > 0)
        strbuf_addf (&sb, "%-*s  %8s  %19s  %19s  %11s  %s\n", (int)width, "RESV_NAME",
                     "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST");
    json_array_foreach (all, i, o)
        add_reservation (o, (int)width, &sb);
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

static int show (struct cmd *c, struct sinfo *s)
{
    autostrbuf struct strbuf date = STRBUF_INIT (4096);

    if (s->header && !s->json && c->cluster[0])
        strbuf_addf (&date, "CLUSTER: %s\n", c->cluster);
    if (s->header && !s->json && (s->long_list || s->iterate > 0))
        slurm_add_date (&date);
    fputs (date.buf, stdout);
    return s->reservations ? list_reservations (c, s) : list (c, s);
}

static int run (struct cmd *c)
{
    struct sinfo s = { .header = true };
    int status = sinfo_read_options (c, &s);

    if (s.iterate > 0)
        cmd_catch_interrupts ();
    if (!c->ended && status == CMD_OK && (status = prepare (c, &s)) == CMD_OK)
        status = show (c, &s);
    while (!c->ended && status == CMD_OK && s.iterate > 0) {
        puts ("");
        fflush (stdout);
        status = cmd_sleep (s.iterate) ? show (c, &s) : CMD_INTERRUPTED;
    }
    slurm_format_release (&s.format);
    hostlist_destroy (s.hosts);
    return status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command slurm_sinfo = {
    .name = "sinfo",
    .summary = "List partitions and nodes",
    .usage = usage,
    .options = sinfo_options,
    .notes =
        "The variables SINFO_FORMAT, SINFO_PARTITION, SINFO_SORT and SINFO_ALL stand "
        "for options that\nare not given; SLURM_TIME_FORMAT is the form of times: "
        "standard, relative, or a format of\nstrftime(3).\n",
    .run = run,
    .slurm = true,
    .refused = "slurm_load_partitions: ",
};
