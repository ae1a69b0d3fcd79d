/* sstat.c - sstat: what the steps that run have used so far
 *
 *   for each job: GET /v1/jobs (its rows) -> GET /v1/jobs/ID/steps until all nodes answer
 *
 * The fields are those of sacct that sstat has, too. A job without a step is its lowest
 * step with a number, as in Slurm.
 */
#include <string.h>
#include <strings.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"
#include "common/clock.h"
#include "common/parse.h"

#define LISTING_MAX (64 << 20)
#define TABLE_MAX 64
#define ANSWER_TRIES 30
#define ANSWER_EVERY 0.1 /* seconds */

enum {
    ALL = 1,
    FORMAT,
    HELP_FORMAT,
    JOBS,
    NOCONVERT,
    NOHEADER,
    PARSABLE,
    PARSABLE2,
    REFUSED
};

struct sstat {
    struct strbuf jobs, fields;
    bool all, header;
    struct acct_view view;
    struct list_field table[TABLE_MAX];
    struct list_format format;
    struct acct_row row;
};

/* clang-format off */
static const struct option_desc options[] = {
    { "allsteps", 'a', NULL, "all steps of a job", ALL, false, NULL },
    { "fields", 0, "LIST", NULL, FORMAT, false, NULL },
    { "format", 'o', "LIST", "fields: JobID,MaxRSS%12, see --helpformat", FORMAT, false, NULL },
    { "helpformat", 'e', NULL, "list the fields of -o", HELP_FORMAT, false, NULL },
    { "jobs", 'j', "LIST", "these jobs or steps: 12,13.0,14.batch", JOBS, false, NULL },
    { "noconvert", 0, NULL, "sizes in their own unit", NOCONVERT, false, NULL },
    { "noheader", 'n', NULL, "no lines of headings", NOHEADER, false, NULL },
    { "parsable", 'p', NULL, "fields end in '|'", PARSABLE, false, NULL },
    { "parsable2", 'P', NULL, "'|' between fields", PARSABLE2, false, NULL },
    { "pidformat", 'i', NULL, NULL, REFUSED, false, NULL },
    { "verbose", 'v', NULL, NULL, REFUSED, false, NULL },
    OPTION_END,
};

/* The fields of sstat, with their widths; from: the field of sacct if it has another
 * name. */
static const struct {
    const char *name;
    int width;
    const char *from;
} fields[] = {
    { "AllocTRES", 10, NULL }, { "AveCPU", 10, NULL }, { "AveCPUFreq", 10, NULL },
    { "AveDiskRead", 12, NULL }, { "AveDiskWrite", 12, NULL }, { "AvePages", 10, NULL },
    { "AveRSS", 10, NULL }, { "AveVMSize", 10, NULL }, { "ConsumedEnergy", 14, NULL },
    { "ConsumedEnergyRaw", 17, NULL }, { "JobID", -12, "JobIDRaw" },
    { "MaxDiskRead", 12, NULL }, { "MaxDiskReadNode", 15, NULL },
    { "MaxDiskReadTask", 15, NULL }, { "MaxDiskWrite", 12, NULL },
    { "MaxDiskWriteNode", 16, NULL }, { "MaxDiskWriteTask", 16, NULL },
    { "MaxPages", 8, NULL }, { "MaxPagesNode", 12, NULL }, { "MaxPagesTask", 14, NULL },
    { "MaxRSS", 10, NULL }, { "MaxRSSNode", 10, NULL }, { "MaxRSSTask", 10, NULL },
    { "MaxVMSize", 10, NULL }, { "MaxVMSizeNode", 14, NULL }, { "MaxVMSizeTask", 14, NULL },
    { "MinCPU", 10, NULL }, { "MinCPUNode", 10, NULL }, { "MinCPUTask", 10, NULL },
    { "Nodelist", 20, NULL }, { "NTasks", 8, NULL }, { "ReqCPUFreq", 10, NULL },
    { "ReqCPUFreqMin", 13, NULL }, { "ReqCPUFreqMax", 13, NULL },
    { "ReqCPUFreqGov", 13, NULL }, { "TRESUsageInAve", 14, NULL },
    { "TRESUsageInMax", 14, NULL }, { "TRESUsageInMaxNode", 18, NULL },
    { "TRESUsageInMaxTask", 18, NULL }, { "TRESUsageInMin", 14, NULL },
    { "TRESUsageInMinNode", 18, NULL }, { "TRESUsageInMinTask", 18, NULL },
    { "TRESUsageInTot", 14, NULL }, { "TRESUsageOutAve", 15, NULL },
    { "TRESUsageOutMax", 15, NULL }, { "TRESUsageOutMaxNode", 19, NULL },
    { "TRESUsageOutMaxTask", 19, NULL }, { "TRESUsageOutMin", 15, NULL },
    { "TRESUsageOutMinNode", 19, NULL }, { "TRESUsageOutMinTask", 19, NULL },
    { "TRESUsageOutTot", 15, NULL },
};
/* clang-format on */
_Static_assert(ARRAY_SIZE (fields) < TABLE_MAX, "the last row ends the table");

#define OWN_FIELDS                                                                       \
    "JobID,AllocTRES,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode," \
    "MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,"   \
    "MinCPUTask,AveCPU,NTasks,AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,"     \
    "ConsumedEnergy,MaxDiskRead,MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,"            \
    "MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite,TRESUsageInAve,"        \
    "TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,TRESUsageInMin,"               \
    "TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutAve,"              \
    "TRESUsageOutMax,TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutMin,"           \
    "TRESUsageOutMinNode,TRESUsageOutMinTask,TRESUsageOutTot"

static void make_table (struct sstat *s)
{
    for (size_t i = 0; i < ARRAY_SIZE (fields); i++) {
        const char *from = fields[i].from ? fields[i].from : fields[i].name;
        const struct list_field *f = acct_fields;
        while (f->name && strcasecmp (f->name, from) != 0)
            f++;
        /* A frequency is no field of sacct; there is no value. */
        s->table[i] = f->name ? *f : (struct list_field){ .kind = LIST_TEXT };
        s->table[i].name = fields[i].name;
        s->table[i].width = fields[i].width;
    }
}

/* -- one job -- */

/* Asks for new figures, and waits a while for the nodes that have not answered. */
static json_t *get_steps (struct cmd *c, uint64_t id)
{
    json_t *answer = NULL;
    char target[64];

    for (int i = 0; i < ANSWER_TRIES; i++) {
        json_decref (answer);
        answer = NULL;
        snprintf (target, sizeof (target), "/v1/jobs/%ju/steps?fresh=%d", (uintmax_t)id,
                  i == 0);
        if (cmd_get (c, target, &answer) != CMD_OK)
            return NULL;
        if (answer_number (answer, "waiting") == 0 || !cmd_sleep (ANSWER_EVERY))
            break;
    }
    return answer;
}

/* The lowest step with a number, or NULL. */
static const json_t *first_of (struct sstat *s, const json_t *steps)
{
    const json_t *step, *first = NULL;
    double lowest = 0;
    size_t i;

    json_array_foreach (steps, i, step) {
        const char *name;
        if (!acct_step_is_shown (&s->row, step, &name) || *name < '0' || *name > '9')
            continue;
        double n = strtod (name, NULL);
        if (!first || n < lowest) {
            first = step;
            lowest = n;
        }
    }
    return first;
}

/* Prints the steps with that name, all, or the first one; the number of them. */
static size_t add_steps (struct sstat *s, const json_t *steps, const char *name,
                         struct strbuf *sb)
{
    const json_t *step, *first = name || s->all ? NULL : first_of (s, steps);
    size_t i, n = 0;

    s->row.steps = steps;
    json_array_foreach (steps, i, step) {
        if (!acct_step_is_shown (&s->row, step, &s->row.step_id)
            || (name && strcmp (name, s->row.step_id) != 0)
            || (!name && !s->all && step != first))
            continue;
        s->row.step = step;
        list_format_add_row (&s->format, &s->row, sb);
        n++;
    }
    s->row.step = NULL;
    s->row.steps = NULL;
    return n;
}

static int show_job (struct cmd *c, struct sstat *s, const struct acct_rows *rows,
                     size_t i, const char *step)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    uint64_t id = acct_row_id (rows, i);

    acct_rows_fill (rows, i, &s->row);
    bool runs = acct_is_state (&s->row, "R");
    autojson json_t *answer = runs ? get_steps (c, id) : NULL;
    if (runs && !answer)
        return c->status;
    size_t n = answer ? add_steps (s, json_object_get (answer, "steps"), step, &sb) : 0;
    if (n == 0 && step)
        cmd_warn (c, "error: StepId=%ju.%s not found running.", (uintmax_t)id, step);
    else if (n == 0 && (!runs || s->all))
        cmd_warn (c, "error: No steps running for job %ju", (uintmax_t)id);
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

/* "12", "12_3", "12.0", "12.batch" */
static int show_word (struct cmd *c, struct sstat *s, char *word)
{
    char *step = strchr (word, '.');
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    struct acct_rows rows;

    if (step)
        *step++ = '\0';
    strbuf_adds (&target, "/v1/jobs?state=all");
    target_add (&target, "ids", word);
    if (acct_rows_get (c, &rows, ACCT_JOBS, target.buf,
                       s->format.needs | ACCT_BIT (ST) | ACCT_BIT (RESTARTS)
                           | ACCT_BIT (NODELIST) | ACCT_BIT (ARRAY_JOB),
                       false)
        != CMD_OK)
        return c->status;
    if (rows.n == 0)
        cmd_warn (c, "error: couldn't get steps for job %s", word);
    for (size_t i = 0; i < rows.n && c->status == CMD_OK; i++)
        show_job (c, s, &rows, i, step);
    acct_rows_release (&rows);
    return c->status;
}

/* -- options -- */

static bool is_digits (const char *text, size_t len)
{
    return len > 0 && strspn (text, "0123456789") >= len;
}

static bool is_job_or_step (const char *word)
{
    size_t id = strcspn (word, "._"), len = strlen (word);
    const char *step = strchr (word, '.');
    size_t task = word[id] == '_' ? strcspn (word + id + 1, ".") : 0;

    if (len == 0 || !is_digits (word, id) || id > 18
        || (word[id] == '_' && (!is_digits (word + id + 1, task) || task > 9)))
        return false;
    return !step || !strcmp (step + 1, "batch") || !strcmp (step + 1, "extern")
           || is_digits (step + 1, strlen (step + 1));
}

static int check_jobs (struct cmd *c, const struct sstat *s)
{
    autofree char *copy = strdup (s->jobs.buf);
    char *next = copy, *word;

    while ((word = strsep (&next, ",")))
        if (*word && !is_job_or_step (word)) {
            cmd_warn (c, "fatal: Bad job/step specified: %s", word);
            return c->status = CMD_FAILED;
        }
    return CMD_OK;
}

static void print_names (struct cmd *c, struct sstat *s)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (65536);

    list_format_add_names (s->table, &sb);
    fputs (sb.buf, stdout);
    c->ended = true;
}

static int set_option (struct cmd *c, struct sstat *s, const struct option_match *m)
{
    char name[64];

    switch (m->desc->id) {
    case ALL:
        s->all = true;
        break;
    case FORMAT:
        strbuf_addf (&s->fields, "%s,", m->value);
        break;
    case HELP_FORMAT:
        print_names (c, s);
        break;
    case JOBS:
        strbuf_addf (&s->jobs, "%s,", m->value);
        break;
    case NOCONVERT:
        s->view.noconvert = true;
        break;
    case NOHEADER:
        s->header = false;
        break;
    case PARSABLE:
    case PARSABLE2:
        s->format.delimiter = "|";
        s->format.last_delimiter = m->desc->id == PARSABLE;
        break;
    case REFUSED:
        cmd_option_as_written (c, m, name, sizeof (name));
        return cmd_usage (c, "%s: %s", name,
                          m->desc->letter == 'i'
                              ? "the broker does not see process ids; use srun --overlap "
                                "--jobid=ID ps"
                              : "there is nothing more to print; remove the option");
    }
    return CMD_OK;
}

static int read_options (struct cmd *c, struct sstat *s)
{
    struct error err = { 0 };
    struct option_match m;

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (c, s, &m);
        else
            strbuf_addf (&s->jobs, "%s,", m.value);
    }
    if (c->ended)
        return c->status;
    int rc = list_format_parse (&s->format, s->table,
                                s->fields.len ? s->fields.buf : OWN_FIELDS, &err);
    if (rc == -EINVAL)
        return cmd_fail (c, "Invalid field requested: \"%s\"", err.text);
    if (rc < 0)
        return cmd_fail (c, "--format has too many fields");
    if (s->jobs.len == 0)
        return cmd_fail (c, "You didn't give me any jobs to stat.");
    return check_jobs (c, s);
}

static int show (struct cmd *c, struct sstat *s)
{
    autostrbuf struct strbuf heading = STRBUF_INIT (65536);
    autofree char *copy = strdup (s->jobs.buf);
    char *next = copy, *word;

    if (s->header)
        list_format_add_heading (&s->format, &heading);
    fputs (heading.buf, stdout);
    while (c->status == CMD_OK && (word = strsep (&next, ",")))
        if (*word)
            show_word (c, s, word);
    return c->status;
}

static int run (struct cmd *c)
{
    struct sstat s = { .header = true, .view = { .now = clock_wall () } };

    strbuf_init (&s.jobs, 1 << 20);
    strbuf_init (&s.fields, 1 << 20);
    make_table (&s);
    acct_row_init (&s.row, &s.view);
    if (read_options (c, &s) == CMD_OK && !c->ended)
        show (c, &s);
    strbuf_release (&s.jobs);
    strbuf_release (&s.fields);
    return c->status;
}

static const char *const usage[] = { "[OPTION]... JOB[.STEP]...", NULL };

const struct command slurm_sstat = {
    .name = "sstat",
    .summary = "Show what the steps of running jobs have used so far",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_JOBS,
    .run = run,
    .slurm = true,
};
