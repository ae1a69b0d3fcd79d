/* queue.c - fluxq-queue: lists jobs, and the reasons why they wait
 */
#include <ctype.h>
#include <sys/ioctl.h>

#include "cmd/client/command.h"
#include "cmd/print/listing.h"
#include "cmd/client/named.h"
#include "cmd/client/watch.h"
#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/attributes/datetime.h"

#define DEFAULT_FORMAT "%i %P %j %u %t %M %D %R"
#define HISTORY_FORMAT "%i %P %j %u %t %e %M %D %N"
#define LISTING_MAX (1 << 30)

#define WHY_FORMAT "id,user,st,nodes,jobs_ahead,expected_start,reason_text"
#define START_FORMAT "%i %P %j %u %t %S %D %r"

enum {
    ALL = 1,
    ME,
    USER,
    STATE,
    QUEUE,
    NAME,
    JOBS,
    SINCE,
    UNTIL,
    FORMAT,
    WHY,
    START,
    NO_HEADER,
    JSON,
    WATCH
};

static const struct option_desc options[] = {
    { "all", 'a', NULL, "also jobs that have ended", ALL, false, "Which jobs" },
    { "me", 0, NULL, "only my own jobs", ME, false, "Which jobs" },
    { "user", 'u', "USER,...", "jobs of these users", USER, false, "Which jobs" },
    { "state", 't', "STATE,...",
      "jobs in these states (PENDING or PD, R, ...), or: active, "
      "pending, running, finished, all [active]",
      STATE, false, "Which jobs" },
    { "queue", 'q', "QUEUE,...", "jobs of these queues", QUEUE, false, "Which jobs" },
    { "partition", 'p', "QUEUE,...", "the same as --queue", QUEUE, false, "Which jobs" },
    { "name", 'n', "NAME,...", "jobs with these names", NAME, false, "Which jobs" },
    { "jobs", 'j', "IDS", "these jobs, in any state: 1,4-7", JOBS, false, "Which jobs" },
    { "since", 0, "TIME",
      "ended jobs of the history that were here at TIME or later: 2026-11-21, 8:30",
      SINCE, false, "Which jobs" },
    { "until", 0, "TIME", "ended jobs of the history that were here at TIME or before",
      UNTIL, false, "Which jobs" },
    { "format", 'o', "FORMAT", "columns to show, see below", FORMAT, false,
      "Columns and output" },
    { "why", 0, NULL,
      "pending jobs: the jobs ahead, the planned start, and the reason to wait", WHY,
      false, "Columns and output" },
    { "start", 0, NULL, "pending jobs: the planned start", START, false,
      "Columns and output" },
    { "no-header", 0, NULL, "omit the line of headings", NO_HEADER, false,
      "Columns and output" },
    { "json", 0, NULL, "the broker's answer in JSON", JSON, false, "Columns and output" },
    { "watch", 0, "SECONDS",
      "show the list again when something changes, and every SECONDS", WATCH, true,
      "Columns and output" },
    OPTION_END,
};

struct queue {
    struct format format;
    bool headings, json, watch;
    double interval; /* seconds; 0: only after changes */
    bool past;       /* ended jobs of the history, */
    double since, until; /* ... of this span of time (unix times; 0: open) */
    bool shows_plan;     /* --why, --start */
    struct strbuf ids, target;
    const char *user, *state, *queue, *name, *format_text;
};

static int read_interval (struct cmd *c, struct queue *q, const char *value)
{
    struct error err = { 0 };

    q->watch = true;
    if (!value)
        return CMD_OK;
    if (parse_fsd (value, &q->interval, "--watch", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    if (q->interval < 0.5)
        return cmd_usage (c, "--watch: at least 0.5 seconds");
    return CMD_OK;
}

/* Whether the text is a time of day alone. */
static bool is_clock (const char *text)
{
    static const char *const days[] = { "today", "tomorrow", "now", "uts" };

    for (size_t i = 0; i < ARRAY_SIZE (days); i++)
        if (!strncasecmp (text, days[i], strlen (days[i])))
            return false;
    return (isalpha ((unsigned char)*text) || strchr (text, ':'))
           && !strpbrk (text, "-/.+");
}

/* A time of day is the last one, not the next one. */
static int read_time (struct cmd *c, struct queue *q, const struct option_match *m)
{
    struct error err = { 0 };
    const char *what = m->desc->id == SINCE ? "--since" : "--until";
    double *t = m->desc->id == SINCE ? &q->since : &q->until, now = clock_wall ();

    q->past = true;
    if (datetime_parse (m->value, now, t, what, &err) < 0)
        return cmd_usage (c, "%s", err.text);
    if (*t > now && is_clock (m->value))
        *t -= 86400;
    return CMD_OK;
}

static int set_option (struct cmd *c, struct queue *q, const struct option_match *m)
{
    switch (m->desc ? m->desc->id : JOBS) {
    case ALL:
        q->state = "all";
        return CMD_OK;
    case ME:
        q->user = "me";
        return CMD_OK;
    case USER:
        q->user = m->value;
        return CMD_OK;
    case STATE:
        q->state = m->value;
        return CMD_OK;
    case QUEUE:
        q->queue = m->value;
        return CMD_OK;
    case NAME:
        q->name = m->value;
        return CMD_OK;
    case JOBS:
        return cmd_add_ids (c, &q->ids, m->value);
    case SINCE:
    case UNTIL:
        return read_time (c, q, m);
    case FORMAT:
        q->format_text = m->value;
        return CMD_OK;
    case WHY:
    case START:
        q->format_text = m->desc->id == WHY ? WHY_FORMAT : START_FORMAT;
        q->state = q->state ? q->state : "pending";
        q->shows_plan = true;
        return CMD_OK;
    case NO_HEADER:
        q->headings = false;
        return CMD_OK;
    case JSON:
        q->json = true;
        return CMD_OK;
    default:
        return read_interval (c, q, m->value);
    }
}

static int read_options (struct cmd *c, struct queue *q)
{
    struct option_match m;
    struct error err = { 0 };

    while (cmd_next (c, &m) > 0)
        set_option (c, q, &m);
    if (c->ended)
        return c->status;
    if (q->json && (q->format_text || q->watch))
        return cmd_usage (
            c, "--json shows all fields, once: it cannot be combined with --format or "
               "--watch");
    if (q->past && (q->watch || q->shows_plan))
        return cmd_usage (c,
                          "--since and --until show ended jobs: they cannot be combined "
                          "with --watch, --why or --start");
    if (!q->format_text)
        q->format_text = q->past ? HISTORY_FORMAT : DEFAULT_FORMAT;
    if (format_parse (&q->format, q->format_text, &err) < 0)
        return cmd_usage (c, "--format: %s", err.text);
    return CMD_OK;
}

static void build_target (struct queue *q)
{
    struct strbuf fields = STRBUF_INIT (4096);

    char number[32];

    strbuf_adds (&q->target, q->past ? "/v1/history" : "/v1/jobs");
    for (int i = 0; i < 2; i++) {
        double t = i == 0 ? q->since : q->until;
        snprintf (number, sizeof (number), "%.0f", t);
        target_add (&q->target, i == 0 ? "since" : "until", t > 0 ? number : NULL);
    }
    target_add (&q->target, "user", q->user);
    target_add (&q->target, "state", q->state);
    target_add (&q->target, "queue", q->queue);
    target_add (&q->target, "name", q->name);
    target_add (&q->target, "ids", q->ids.len ? q->ids.buf : NULL);
    if (q->json)
        return;
    format_add_fields (&q->format, &fields);
    strbuf_adds (&q->target, strchr (q->target.buf, '?') ? "&" : "?");
    strbuf_adds (&q->target, "format=tsv&limit=1000000&fields=");
    strbuf_adds (&q->target, fields.buf); /* names need no encoding */
    strbuf_release (&fields);
}

static struct winsize terminal_size (void)
{
    struct winsize size = { 0 };

    if (!isatty (STDOUT_FILENO) || ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        size = (struct winsize){ 0 };
    return size;
}

/* When the next listing will replace this one on a terminal, cuts it to the terminal's
 * height. */
static void write_listing (const struct queue *q, const struct strbuf *sb,
                           unsigned height)
{
    const char *p = sb->buf, *end = sb->buf + sb->len;

    if (q->watch && height > 0)
        fputs ("\033[H\033[2J", stdout);
    for (unsigned lines = 0; q->watch && height > 2 && p < end && lines + 2 < height;
         lines++) {
        const char *newline = memchr (p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    if (!q->watch || height <= 2)
        p = end;
    fwrite (sb->buf, 1, (size_t)(p - sb->buf), stdout);
    if (p < end)
        puts ("...");
    fflush (stdout);
}

/* Requests and prints the listing; *ret_rows: the number of jobs. */
static int show (struct cmd *c, const struct queue *q, size_t *ret_rows)
{
    struct http_response r;
    struct listing l;
    struct error err = { 0 };
    struct winsize size = terminal_size ();
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);

    if (cmd_request (c, "GET", q->target.buf, NULL, 0, &r) != CMD_OK)
        return c->status;
    if (listing_parse (&l, &q->format, r.body, r.len, &err) < 0) {
        http_response_release (&r);
        return cmd_fail (c, "%s", err.text);
    }
    listing_fit (&l, size.ws_col, q->headings);
    listing_print (&l, q->headings, &sb);
    *ret_rows = l.nrows;
    listing_release (&l);
    http_response_release (&r);
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    write_listing (q, &sb, size.ws_row);
    return CMD_OK;
}

static int show_json (struct cmd *c, const struct queue *q)
{
    struct http_response r;

    if (cmd_request (c, "GET", q->target.buf, NULL, 0, &r) != CMD_OK)
        return c->status;
    fwrite (r.body, 1, r.len, stdout);
    if (r.len == 0 || r.body[r.len - 1] != '\n')
        putchar ('\n');
    http_response_release (&r);
    return CMD_OK;
}

static int watch (struct cmd *c, const struct queue *q)
{
    struct watch w;
    autostrbuf struct strbuf target = STRBUF_INIT (256 * 1024);
    size_t rows;
    int status = CMD_OK;

    strbuf_adds (&target, "/v1/watch");
    target_add (&target, "user", q->user);
    target_add (&target, "queue", q->queue);
    target_add (&target, "ids", q->ids.len ? q->ids.buf : NULL);
    cmd_catch_interrupts ();
    if (watch_start (&w, c, target.buf) != CMD_OK)
        return c->status;
    for (bool first = true; status == CMD_OK; first = false) {
        if (!first && !isatty (STDOUT_FILENO))
            putchar ('\n');
        status = show (c, q, &rows);
        if (status == CMD_OK)
            status = watch_next (&w, 0.5, q->interval);
    }
    watch_stop (&w);
    return status;
}

static int run (struct cmd *c)
{
    struct queue q = { .headings = true };
    size_t rows = 1;

    strbuf_init (&q.ids, 128 * 1024);
    strbuf_init (&q.target, 256 * 1024);
    int status = read_options (c, &q);
    if (status == CMD_OK && !c->ended) {
        build_target (&q);
        if ((status = named_users_check (c, q.user)) == CMD_OK
            && (status = named_queues_check (c, q.queue)) == CMD_OK)
            status = q.json    ? show_json (c, &q)
                     : q.watch ? watch (c, &q)
                               : show (c, &q, &rows);
        if (status == CMD_OK && rows == 0 && q.ids.len && !q.user && !q.state && !q.queue
            && !q.name)
            status = cmd_fail (c, "there is no job %s", q.ids.buf);
    }
    strbuf_release (&q.ids);
    strbuf_release (&q.target);
    return status;
}

static const char *const usage[] = { "[OPTION]... [IDS]...", NULL };

const struct command command_queue = {
    .name = "queue",
    .summary =
        "List pending and running jobs, with their nodes or the reason why they wait",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_JOBS,
    .notes = "IDS are job ids and ranges: 7 1,4-7. 12 also means all tasks of array 12; "
             "12_3 and\n12_[1-3] are some of them.\nFORMAT has squeue's letters, \"%.8i "
             "%9P %R\" (a dot aligns to the right, a number sets\nthe width), or is a "
             "list of names, \"id,name,place\":\n",
    .print_notes = columns_print_help,
    .run = run,
};
