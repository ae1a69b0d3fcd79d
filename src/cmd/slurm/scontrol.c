/* scontrol.c - scontrol: shows jobs, nodes, partitions and reservations, and changes them
 *
 * This file has the options, the table of keywords and the interactive mode. What a
 * keyword does is in the other files: scontrol_show.c, scontrol_jobs.c, ...
 */
#include "cmd/slurm/control/scontrol.h"

#include <config.h>
#include <ctype.h>

#include "cmd/print/print.h"
#include "cmd/slurm/jobs/job_json.h"

#define WORDS_MAX 128

enum {
    ALL = 1,
    DETAILS,
    FUTURE,
    FEDERATION,
    HIDE,
    LOCAL,
    CLUSTER,
    ONE,
    QUIET,
    SIBLING,
    UID,
    VERBOSE,
    JSON,
    YAML
};

static const struct option_desc options[] = {
    { "all", 'a', NULL, "also hidden partitions (fluxq has none)", ALL, false, NULL },
    { "details", 'd', NULL, "show more of each job", DETAILS, false, NULL },
    { "federation", 0, NULL, NULL, FEDERATION, false, NULL },
    { "future", 'F', NULL, NULL, FUTURE, false, NULL },
    { "help", 'h', NULL, "show this text", 0, false, NULL },
    { "hide", 0, NULL, "undo --all and --details", HIDE, false, NULL },
    { "json", 0, "VERSION", "show: print JSON, in the shape of data_parser v0.0.41", JSON,
      true, NULL },
    { "local", 0, NULL, "this cluster only, which is all that there is", LOCAL, false,
      NULL },
    { "cluster", 'M', "LIST", "all, or the name of this cluster", CLUSTER, false, NULL },
    { "oneliner", 'o', NULL, "show each record in one line", ONE, false, NULL },
    { "quiet", 'Q', NULL, "no messages, only the exit status", QUIET, false, NULL },
    { "sibling", 0, NULL, NULL, SIBLING, false, NULL },
    { "uid", 'u', "USER", NULL, UID, false, NULL },
    { "verbose", 'v', NULL, "more messages (there are none)", VERBOSE, false, NULL },
    { "yaml", 0, "VERSION", NULL, YAML, true, NULL },
    OPTION_END,
};

/* -- messages and requests -- */

static void say (struct scontrol *s, FILE *to, const char *fmt, va_list ap)
{
    struct error err = { 0 };
    char text[ERROR_TEXT_MAX];

    s->status = CMD_FAILED;
    if (s->quiet)
        return;
    vsnprintf (text, sizeof (text), fmt, ap);
    error_set (&err, EINVAL, "%s", text); /* one line, no control characters */
    fflush (stdout);
    fprintf (to, "%s\n", err.text);
}

void scontrol_say (struct scontrol *s, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    say (s, stderr, fmt, ap);
    va_end (ap);
}

void scontrol_print (struct scontrol *s, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    say (s, stdout, fmt, ap);
    va_end (ap);
}

void scontrol_error (struct scontrol *s, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    s->status = cmd_fail (s->c, "%s", text);
}

bool scontrol_is (const char *text, size_t len, const char *name, size_t min)
{
    return len >= min && len <= strlen (name) && !strncasecmp (text, name, len);
}

/* Slurm's sentence alone where it says all, else with the broker's own reason. */
static void explain (const struct http_response *r, const char *reason,
                     struct refusal *why)
{
    autojson json_t *o = json_parse (r->body, r->len, "answer", NULL);
    const char *code = o ? json_text (o, "code") : "";
    const char *words = cmd_slurm_sentence (code);

    snprintf (why->code, sizeof (why->code), "%s", code);
    if (words && !strncmp (code, "unknown-", 8))
        snprintf (why->words, sizeof (why->words), "%s", words);
    else if (words)
        snprintf (why->words, sizeof (why->words), "%s (%s)", words, reason);
    else
        snprintf (why->words, sizeof (why->words), "%s", reason);
}

static int request (struct scontrol *s, const char *method, const char *target,
                    const char *text, json_t **ret, struct refusal *why)
{
    struct http_response r = { 0 };
    struct error err = { 0 };
    int rc = cmd_open (s->c, &err);

    *ret = NULL;
    *why = (struct refusal){ 0 };
    if (rc == 0)
        rc = http_client_request (s->c->client, method, target, text,
                                  text ? strlen (text) : 0, NULL, &r, &err);
    if (rc == 0 && r.status >= 200 && r.status < 300)
        *ret = json_parse (r.body, r.len, "the broker's answer", &err);
    else if (rc == 0 && http_response_error (&r, &err) < 0)
        explain (&r, err.text, why);
    if (!*ret && !*why->words)
        snprintf (why->words, sizeof (why->words),
                  "Unable to contact slurm controller (%s)",
                  *err.text ? err.text : "connect failure");
    http_response_release (&r);
    return *ret ? 0 : -1;
}

int scontrol_call (struct scontrol *s, const char *method, const char *target,
                   json_t *body, json_t **ret, struct refusal *why)
{
    autofree char *text = body ? json_dumps (body, JSON_COMPACT) : NULL;
    bool lacking = body && !text;

    json_decref (body);
    if (!lacking)
        return request (s, method, target, text, ret, why);
    *ret = NULL;
    *why = (struct refusal){ .words = "the request is no UTF-8" };
    return -1;
}

int scontrol_post (struct scontrol *s, const char *prefix, const char *name,
                   const char *suffix, json_t *body, struct refusal *why)
{
    autostrbuf struct strbuf target = STRBUF_INIT (16 * 1024);
    json_t *o;

    strbuf_addf (&target, "%s/", prefix);
    strbuf_add_urlencoded (&target, name);
    strbuf_adds (&target, suffix);
    int rc = scontrol_call (s, "POST", target.buf, body, &o, why);
    json_decref (o);
    return rc;
}

/* -- keywords that change how the next ones work -- */

static void all (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)s;
    (void)tag;
    (void)w;
}

static void details (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    s->details = true;
}

static void hide (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    s->details = false;
}

static void oneliner (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    s->oneline = true;
}

static void quiet (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    s->quiet = true;
}

static void verbose (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    s->quiet = false;
}

static void leave (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    s->finished = true;
}

static void help (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    (void)w;
    command_print_help (stdout, s->c->command);
}

static void version (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)s;
    (void)tag;
    (void)w;
    puts ("slurm " CMD_SLURM_VERSION " (fluxq " PACKAGE_VERSION ")");
}

/* -- the keywords -- */

/* In the order in which Slurm compares them: the first that matches counts. */
static const struct keyword keywords[] = {
    { "all", 2, all, 0, 0, NULL },
    { "cancel_reboot", 3, .refused = "fluxq does not reboot nodes" },
    { "completing", 2, scontrol_completing, 0, 0, NULL },
    { "cluster", 2,
      .refused = "fluxq has one cluster; name another one's broker in "
                 "FLUXQ_BROKER" },
    { "create", 2, scontrol_create, 1, -1, NULL },
    { "details", 1, details, 0, 0, NULL },
    { "errnumstr", 2, .refused = "fluxq has no numbers of errors" },
    { "exit", 2, leave, 0, 0, NULL },
    { "getaddrs", 8,
      .refused = "fluxq knows no addresses of nodes; their names resolve" },
    { "gethost", 7, .refused = "fluxq has no files of hosts" },
    { "help", 2, help, 0, 0, NULL },
    { "hide", 2, hide, 0, 0, NULL },
    { "oneliner", 1, oneliner, 0, 0, NULL },
    { "pidinfo", 3, .refused = "the processes of a job are known to its agents only" },
    { "ping", 3, scontrol_ping, 0, 0, NULL },
    { "power", 2, .refused = "fluxq does not switch nodes on or off" },
    { "quiet", 4, quiet, 0, 0, NULL },
    { "quit", 4, leave, 0, 0, NULL },
    { "reboot_nodes", 3,
      .refused = "fluxq does not reboot nodes; drain them (update "
                 "NodeName=... State=DRAIN) and reboot them yourself" },
    { "reconfigure", 3,
      .refused = "the broker reads its configuration again with "
                 "fluxq-ctl reload" },
    { "requeue", 3, scontrol_requeue, 1, -1, NULL },
    { "requeuehold", 11, scontrol_requeuehold, 1, -1, NULL },
    { "holdu", 5, scontrol_hold, 1, -1, NULL },
    { "hold", 4, scontrol_hold, 1, -1, NULL },
    { "uhold", 5, scontrol_hold, 1, -1, NULL },
    { "release", 3, scontrol_release, 1, -1, NULL },
    { "suspend", 2, scontrol_suspend, 1, -1, NULL },
    { "resume", 3, scontrol_suspend, 1, -1, NULL },
    { "top", 3,
      .refused = "hold the other jobs (scontrol hold), or submit them with "
                 "--nice" },
    { "token", 3, scontrol_token, 0, -1, NULL },
    { "wait_job", 2,
      .refused = "a job runs as soon as all its nodes are ready; wait for "
                 "its end with fluxq-submit --wait" },
    { "setdebugflags", 9, .refused = "the broker's log has one level" },
    { "fsdampeningfactor", 3, .refused = "fair share is configured in fluxq.yaml" },
    { "setdebug", 2, .refused = "the broker's log has one level" },
    { "schedloglevel", 3, .refused = "the broker's log has one level" },
    { "show", 3, scontrol_show, 1, -1, NULL },
    { "write", 5, scontrol_write, 1, 3, NULL },
    { "takeover", 8, .refused = "the broker has no backup controller" },
    { "shutdown", 8, .refused = "stop the broker with fluxq-ctl shutdown" },
    { "update", 1, scontrol_update, 1, -1, NULL },
    { "delete", 1, scontrol_delete, 1, -1, NULL },
    { "verbose", 4, verbose, 0, 0, NULL },
    { "version", 4, version, 0, 0, NULL },
    { "listpids", 1,
      .refused = "the processes of a job are known to its agents only; "
                 "attach to the job (fluxq-attach) to see them" },
    { "listjobs", 1, .refused = "list jobs with squeue" },
    { "liststeps", 1,
      .refused = "the broker learns of a step when it has ended: see sacct -j ID" },
    { "getent", 6, .refused = "fluxq does not send users to nodes" },
    { "notify", 1,
      .refused = "fluxq cannot write to a running job; send it a signal "
                 "(scancel --signal)" },
    { "callerid", 3, .refused = "fluxq does not trace connections" },
    { .name = NULL },
};

static const struct keyword *find_keyword (const char *tag)
{
    const struct keyword *k = keywords;

    while (k->name && !scontrol_is (tag, strlen (tag), k->name, k->min))
        k++;
    return k->name ? k : NULL;
}

/* update, create and delete have their words in another order. */
static void say_too_few (struct scontrol *s, const struct keyword *k, const char *tag)
{
    if (k->run == scontrol_update || k->run == scontrol_create
        || k->run == scontrol_delete)
        scontrol_say (s, "too few arguments for %s keyword", tag);
    else
        scontrol_say (s, "too few arguments for keyword:%s", tag);
}

static void process (struct scontrol *s, const struct words *w)
{
    const struct keyword *k = w->n > 0 ? find_keyword (w->word[0]) : NULL;
    struct words rest = { w->word + 1, w->n - 1 };

    if (w->n == 0)
        return;
    const char *tag = w->word[0];
    if (!k)
        scontrol_say (s, "invalid keyword: %s", tag);
    else if (k->refused)
        scontrol_error (s, "%s is not supported: %s", k->name, k->refused);
    else if (rest.n < k->least)
        say_too_few (s, k, tag);
    else if (k->most >= 0 && rest.n > k->most)
        scontrol_say (s, "too many arguments for keyword:%s", tag);
    else if (s->json && k->run != scontrol_show)
        scontrol_error (s, "--json is for show");
    else
        k->run (s, tag, &rest);
}

/* -- interactive mode -- */

/* Splits a line at blanks outside quotes; the quotes stay, as in Slurm. */
static int split (char *line, char *word[WORDS_MAX])
{
    int n = 0;

    for (char *p = line; *p;) {
        char quote = 0;
        while (isspace ((unsigned char)*p))
            p++;
        if (!*p || n == WORDS_MAX)
            break;
        word[n++] = p;
        for (; *p && (quote || !isspace ((unsigned char)*p)); p++)
            if (*p == quote)
                quote = 0;
            else if (!quote && (*p == '"' || *p == '\''))
                quote = *p;
        if (*p)
            *p++ = '\0';
    }
    return n;
}

static void interact (struct scontrol *s)
{
    autofree char *line = NULL, *last = NULL;
    char *word[WORDS_MAX];
    size_t size = 0;

    while (!s->finished && !cmd_interrupted ()) {
        fputs ("scontrol: ", stdout);
        fflush (stdout);
        ssize_t len = getline (&line, &size, stdin);
        if (len < 0) {
            putchar ('\n');
            break;
        }
        line[strcspn (line, "\n")] = '\0';
        if (!strcmp (line, "!!") && last) {
            free (line);
            line = strdup (last);
            size = 0;
        } else {
            free (last);
            last = strdup (line);
        }
        if (line)
            process (s, &(struct words){ word, split (line, word) });
    }
}

/* -- the command -- */

/* An option that changes nothing here, or one that fluxq refuses. */
static void set_option (struct scontrol *s, const struct option_match *m)
{
    switch (m->desc->id) {
    case DETAILS:
        s->details = true;
        return;
    case HIDE:
        s->details = false;
        return;
    case ONE:
        s->oneline = true;
        return;
    case QUIET:
        s->quiet = true;
        return;
    case VERBOSE:
        s->quiet = false;
        return;
    case JSON:
        if (!job_json_has_version (m->value))
            cmd_usage (s->c, "--json=%s: not supported; use --json=v0.0.41", m->value);
        s->json = s->details = true;
        return;
    case ALL:
    case LOCAL:
    case FUTURE: /* fluxq has neither hidden partitions nor future nodes */
        return;
    case CLUSTER:
        cmd_set_clusters (s->c, m->value, "--cluster");
        return;
    case UID:
        cmd_usage (s->c, "--uid is not supported: the broker takes the user that calls "
                         "it (use sudo -u)");
        return;
    case YAML:
        cmd_usage (s->c, "--yaml is not supported; --json is, for show");
        return;
    default:
        cmd_usage (s->c,
                   "--%s is not supported: fluxq has one cluster; name another "
                   "one's broker in FLUXQ_BROKER",
                   m->desc->name);
    }
}

static int run (struct cmd *c)
{
    struct scontrol s = { .c = c };
    struct option_match m;
    char *word[WORDS_MAX];
    struct words w = { word, 0 };

    while (cmd_next (c, &m) > 0) {
        if (m.desc)
            set_option (&s, &m);
        else if (w.n == WORDS_MAX)
            return cmd_usage (c, "can not process over %d words", WORDS_MAX);
        else
            word[w.n++] = (char *)m.value;
    }
    if (c->ended || cmd_set_clusters_from_environ (c) != CMD_OK)
        return c->status;
    if (w.n > 0)
        process (&s, &w);
    else
        interact (&s);
    return s.status;
}

static const char *const usage[] = { "[OPTION]... [COMMAND [ARGUMENT]...]", NULL };

static const struct phrase phrases[] = {
    { "",
      "completing|create|delete|help|hold|ping|release|requeue|requeuehold|show|token|"
      "uhold|update|version|write",
      0 },
    { "show",
      "config|hostlist|hostlistsorted|hostnames|job|licenses|node|partition|reservation|"
      "steps",
      0 },
    { "show job", NULL, COMPLETE_JOBS },
    { "show node", NULL, COMPLETE_NODES },
    { "show partition", NULL, COMPLETE_QUEUES },
    { "show reservation", NULL, COMPLETE_RESERVATIONS },
    { "hold", NULL, COMPLETE_JOBS },
    { "uhold", NULL, COMPLETE_JOBS },
    { "release", NULL, COMPLETE_JOBS },
    { "requeue", NULL, COMPLETE_JOBS },
    { "requeuehold", NULL, COMPLETE_JOBS },
    { "create", "reservation", 0 },
    { "delete", "reservation", 0 },
    { "delete reservation", NULL, COMPLETE_RESERVATIONS },
    { "write", "batch_script", 0 },
    { "write batch_script", NULL, COMPLETE_JOBS },
    { NULL, NULL, 0 },
};

const struct command slurm_scontrol = {
    .name = "scontrol",
    .summary = "Show and change jobs, nodes, partitions and reservations",
    .usage = usage,
    .options = options,
    .phrases = phrases,
    .notes = "COMMAND is one of these, in any case, and may be abbreviated:\n"
             "  show job [ID], node|partition|reservation|license [NAME], config [KEY],\n"
             "       hostnames|hostlist|hostlistsorted [LIST]\n"
             "  hold|uhold|release JOBS|jobname=NAME, requeue|requeuehold JOBS\n"
             "  update JobId=JOBS KEY=VALUE..., NodeName=NODES State=DRAIN|RESUME "
             "Reason=TEXT\n"
             "  create reservation KEY=VALUE..., delete reservation=NAME\n"
             "  write batch_script ID [FILE|-], completing, ping, version, help\n"
             "  token [lifespan=SECONDS|infinite] [username=USER]\n"
             "  all, details, hide, oneliner, quiet, verbose, exit, quit\n"
             "Without COMMAND, scontrol reads commands from its input, a line each.\n",
    .run = run,
    .slurm = true,
};
