/* columns.c - see columns.h */
#include "cmd/print/columns.h"

#include "jobspec/options/attributes.h"

#define TEXT(name, letter, heading, min, absent, help)                                   \
    {                                                                                    \
        name, letter, heading, COLUMN_TEXT, false, min, absent, { name, NULL }, help     \
    }
#define SENTENCE(name, heading, help)                                                    \
    {                                                                                    \
        name, 0, heading, COLUMN_SENTENCE, false, 16, "-", { name, NULL }, help          \
    }
#define NUMBER(name, letter, heading, help)                                              \
    {                                                                                    \
        name, letter, heading, COLUMN_TEXT, true, 0, "-", { name, NULL }, help           \
    }
#define TIME(name, letter, heading, help)                                                \
    {                                                                                    \
        name, letter, heading, COLUMN_TIME, false, 0, "N/A", { name, NULL }, help        \
    }

/* clang-format off */
static const struct column columns[] = {
    { "id", 'i', "JOBID", COLUMN_TEXT, true, 0, "-", { "job", NULL },
      "job id; 12_3: task 3 of array 12; 12_[4-9]: its waiting tasks" },
    { "number", 'A', "NUMBER", COLUMN_TEXT, true, 0, "-", { "id", NULL },
      "the job's number, for a task of an array too" },
    NUMBER ("array_job", 'F', "ARRAY_JOB", "array that the job is a task of"),
    NUMBER ("array_task", 'K', "TASK", "number of the task in the array"),
    TEXT ("queue", 'P', "QUEUE", 6, "-", "queue"),
    TEXT ("name", 'j', "NAME", 8, "-", "name of the job"),
    TEXT ("user", 'u', "USER", 6, "-", "owner of the job"),
    NUMBER ("userid", 'U', "UID", "user id of the owner"),
    TEXT ("st", 't', "ST", 0, "-", "state in short: PD CF R CG CD F CA TO NF"),
    TEXT ("state", 'T', "STATE", 0, "-", "state: PENDING, RUNNING, COMPLETED, ..."),
    TEXT ("flux_state", 0, "FLUX_STATE", 0, "-",
          "state as in RFC 21: SCHED, RUN, CLEANUP, ..."),
    { "time", 'M', "TIME", COLUMN_DURATION, true, 0, "0:00", { "time", NULL },
      "time that the job has run" },
    { "time_limit", 'l', "TIME_LIMIT", COLUMN_DURATION, true, 0, "UNLIMITED", { "time_limit", NULL },
      "time limit" },
    { "time_left", 'L', "TIME_LEFT", COLUMN_LEFT, true, 0, "UNLIMITED", { "time_limit", "time" },
      "time left to the limit" },
    { "nodes", 'D', "NODES", COLUMN_TEXT, true, 0, "-", { "node_count", NULL },
      "number of nodes; of a waiting job as requested: 4-16" },
    NUMBER ("ncores", 'C', "CORES", "number of cores"),
    NUMBER ("ntasks", 0, "TASKS", "number of tasks"),
    { "place", 'R', "NODELIST(REASON)", COLUMN_PLACE, false, 16, "", { "reason", "nodelist" },
      "nodes of the job, or in parentheses the reason why it waits" },
    TEXT ("nodelist", 'N', "NODELIST", 8, "", "nodes of the job"),
    TEXT ("reason", 'r', "REASON", 0, "None", "reason why the job waits, as a word"),
    SENTENCE ("reason_text", "REASON_TEXT", "reason why the job waits, as a sentence"),
    NUMBER ("priority", 'Q', "PRIORITY", "priority among the waiting jobs"),
    NUMBER ("urgency", 'y', "URGENCY", "urgency: 0 (held) to 31"),
    TIME ("submit_time", 'V', "SUBMIT_TIME", "time of the submission"),
    TIME ("eligible_time", 0, "ELIGIBLE_TIME", "time since which the job is eligible"),
    { "start_time", 'S', "START_TIME", COLUMN_TIME, false, 0, "N/A", { "start_time", "expected_start" },
      "start, or planned start" },
    TIME ("expected_start", 0, "EXPECTED_START", "planned start"),
    NUMBER ("jobs_ahead", 0, "AHEAD", "number of jobs ahead in the queue"),
    TEXT ("blocking_jobs", 0, "WAITS_FOR", 0, "-", "first jobs that the job waits for"),
    TIME ("end_time", 'e', "END_TIME", "time of the end"),
    NUMBER ("exit_code", 0, "EXIT", "exit status"),
    NUMBER ("restarts", 0, "RESTARTS", "number of failed starts that were tried again"),
    SENTENCE ("result_text", "RESULT", "result of the job, as a sentence"),
};
/* clang-format on */

const struct column *columns_all (void)
{
    static struct column all[ARRAY_SIZE (columns) + ATTRIBUTES_MAX];
    size_t n = ARRAY_SIZE (columns);

    if (all[0].name)
        return all;
    memcpy (all, columns, sizeof (columns));
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->heading)
            all[n++] = (struct column)TEXT (a->event, a->column_letter, a->heading, 8,
                                            "-", a->help);
    return all;
}

static size_t field_index (struct format *f, const char *field)
{
    size_t i = 0;

    while (i < f->nfields && strcmp (f->fields[i], field) != 0)
        i++;
    if (i == f->nfields)
        f->fields[f->nfields++] = field;
    return i;
}

static int add_item (struct format *f, struct format_item item, struct error *err)
{
    if (f->n == FORMAT_ITEMS_MAX)
        return error_set (err, EINVAL, "more than %d columns", FORMAT_ITEMS_MAX);
    for (size_t i = 0; i < ARRAY_SIZE (item.field) && item.column->fields[i]; i++)
        item.field[i] = field_index (f, item.column->fields[i]);
    f->items[f->n++] = item;
    return 0;
}

static const struct column *find_letter (char letter)
{
    for (const struct column *c = columns_all (); c->name; c++) {
        if (letter && c->letter == letter)
            return c;
    }
    return NULL;
}

static const struct column *find_name (const char *name, size_t len)
{
    for (const struct column *c = columns_all (); c->name; c++) {
        if (strlen (c->name) == len && !memcmp (c->name, name, len))
            return c;
    }
    return NULL;
}

/* Parses "[[.]width]letter" after a percent sign; returns its length. */
static int parse_letter (struct format *f, const char *text, const char *before,
                         size_t before_len, struct error *err)
{
    struct format_item item = { .before = before, .before_len = before_len };
    const char *p = text;

    if (*p == '.') {
        item.right = true;
        p++;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        item.width = item.width * 10 + (unsigned)(*p - '0');
        if (item.width > FORMAT_WIDTH_MAX)
            return error_set (err, EINVAL,
                              "'%%%.20s': a column has at most %d characters", text,
                              FORMAT_WIDTH_MAX);
    }
    item.column = find_letter (*p);
    if (!item.column)
        return error_set (err, EINVAL, "'%%%.*s': no such column (see --help)",
                          (int)(p - text) + (*p != '\0'), text);
    if (p == text)
        item.right = item.column->right;
    int rc = add_item (f, item, err);
    return rc < 0 ? rc : (int)(p - text) + 1;
}

static int parse_letters (struct format *f, const char *text, struct error *err)
{
    const char *literal = text, *p = text;

    while (*p) {
        if (*p != '%') {
            p++;
            continue;
        }
        if (p[1] == '%')
            return error_set (err, EINVAL, "a percent sign cannot be text of the format");
        int used = parse_letter (f, p + 1, literal, (size_t)(p - literal), err);
        if (used < 0)
            return used;
        p += 1 + used;
        literal = p;
    }
    f->after = literal;
    f->after_len = (size_t)(p - literal);
    return 0;
}

static int parse_names (struct format *f, const char *text, struct error *err)
{
    for (;;) {
        size_t len = strcspn (text, ",");
        struct format_item item = { .column = find_name (text, len),
                                    .before = " ",
                                    .before_len = f->n > 0 };
        if (!item.column)
            return error_set (err, EINVAL, "'%.*s': no such column (see --help)",
                              (int)MIN (len, (size_t)40), text);
        item.right = item.column->right;
        int rc = add_item (f, item, err);
        if (rc < 0 || text[len] == '\0')
            return rc;
        text += len + 1;
    }
}

int format_parse (struct format *f, const char *text, struct error *err)
{
    *f = (struct format){ .after = "" };
    return strchr (text, '%') ? parse_letters (f, text, err) : parse_names (f, text, err);
}

void format_add_fields (const struct format *f, struct strbuf *sb)
{
    for (size_t i = 0; i < f->nfields; i++) {
        if (i)
            strbuf_addch (sb, ',');
        strbuf_adds (sb, f->fields[i]);
    }
}

void columns_print_help (FILE *out)
{
    for (const struct column *c = columns_all (); c->name; c++) {
        if (c->letter)
            fprintf (out, "  %%%c  ", c->letter);
        else
            fputs ("      ", out);
        fprintf (out, "%-15s %s\n", c->name, c->help);
    }
}
