/* ctl.c - fluxq-ctl: controls the broker, nodes, queues, reservations, and holds on jobs
 */

#include "cmd/ctl_reserve.h"
#include "cmd/ctl_tokens.h"
#include "cmd/print/print.h"
#include "common/hostlist.h"
#include "common/parse.h"

#include "common/json.h"
#include "jobspec/attributes/text.h"

enum { REASON = 1, JSON, NODES, STATE, ALL, BEFORE };

static const struct option_desc options[] = {
    { "reason", 0, "TEXT", "drain, hold: the reason; users see it", REASON, false, NULL },
    { "json", 0, NULL, "status: the broker's answer in JSON", JSON, false, NULL },
    { "state", 0, "DIR", "journal: the state directory (default: fluxqd's)", STATE, false,
      NULL },
    { "all", 0, NULL, "revoke-tokens: of all users", ALL, false, NULL },
    { "before", 0, "TIME",
      "revoke-tokens: only tokens made until this time (default: now)", BEFORE, false,
      NULL },
    RESERVE_OPTIONS,
    OPTION_END,
};

struct ctl {
    const char *reason;
    const char *state, *before;
    bool json, all;
    struct reserve_args reserve;
    const char **words; /* after the subcommand */
    size_t n;
};

/* -- the broker -- */

/* The journal, or the history. */
static void print_store (const char *label, const json_t *store)
{
    print_field (label, "%.1f MiB, %.0f waiting%s%s",
                 answer_number (store, "bytes") / 1048576,
                 answer_number (store, "waiting"),
                 *json_text (store, "trouble") ? "; " : "", json_text (store, "trouble"));
}

static void print_status (const json_t *o)
{
    const json_t *jobs = json_object_get (o, "jobs"),
                 *nodes = json_object_get (o, "nodes");
    const json_t *listen = json_object_get (o, "listen");
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    strbuf_add_duration (&sb, answer_number (o, "uptime"));
    print_field ("Version", "%s", json_text (o, "version"));
    print_field ("Process", "%.0f%s%s, up %s, %.1f MiB", answer_number (o, "pid"),
                 *json_text (o, "user") ? " of " : "", json_text (o, "user"), sb.buf,
                 answer_number (o, "memory_kib") / 1024);
    print_field ("Executor", "%s", json_text (o, "executor"));
    for (size_t i = 0; i < json_array_size (listen); i++) {
        const char *where = json_string_value (json_array_get (listen, i));
        print_field ("Listening", "%s", where ? where : "");
    }
    print_field ("State in", "%s", json_text (o, "state_dir"));
    print_field ("Jobs", "%.0f pending, %.0f running, %.0f finished",
                 answer_number (jobs, "pending"), answer_number (jobs, "running"),
                 answer_number (jobs, "finished"));
    print_field ("Nodes", "%.0f up, %.0f drained, %.0f down", answer_number (nodes, "up"),
                 answer_number (nodes, "drained"), answer_number (nodes, "down"));
    print_store ("Journal", json_object_get (o, "journal"));
    print_store ("History", json_object_get (o, "history"));
    const json_t *audit = json_object_get (o, "audit_log");
    if (*json_text (audit, "trouble"))
        print_field ("Audit log", "%.0f requests not recorded; %s",
                     answer_number (audit, "lost"), json_text (audit, "trouble"));
    json_t *paused = json_object_get (o, "paused");
    if (*json_text (paused, "starts"))
        print_field ("Starts", "wait: %s", json_text (paused, "starts"));
    if (*json_text (paused, "submits"))
        print_field ("Submits", "are refused: %s", json_text (paused, "submits"));
    if (*json_text (paused, "socket"))
        print_field ("Socket", "%s", json_text (paused, "socket"));
    if (answer_flag (o, "recovering"))
        print_field ("Note", "still finding its jobs again after the start");
}

static int do_status (struct cmd *c, const struct ctl *x)
{
    json_t *o;

    if (cmd_get (c, "/v1/status", &o) != CMD_OK)
        return c->status;
    if (x->json) {
        print_json (o);
    } else {
        print_status (o);
    }
    json_decref (o);
    return CMD_OK;
}

static int do_shutdown (struct cmd *c, const struct ctl *x)
{
    json_t *o;

    (void)x;
    if (cmd_call (c, "POST", "/v1/shutdown", json_object (), &o) != CMD_OK)
        return c->status;
    if (answer_number (o, "running") > 0)
        printf ("%.0f running jobs go on; the next start picks them up\n",
                answer_number (o, "running"));
    json_decref (o);
    return CMD_OK;
}

static int do_reload (struct cmd *c, const struct ctl *x)
{
    json_t *o, *word;
    size_t i;

    (void)x;
    if (cmd_call (c, "POST", "/v1/reload", json_object (), &o) != CMD_OK)
        return c->status;
    json_array_foreach (json_object_get (o, "applied"), i, word)
        if (json_is_string (word))
            print_text (json_string_value (word));
    if (json_array_size (json_object_get (o, "applied")) == 0)
        puts ("nothing has changed");
    json_decref (o);
    return CMD_OK;
}

/* -- one thing after another, each with its own answer -- */

/* POST /v1/COLLECTION/NAME; takes body over. */
static int post_to (struct cmd *c, const char *collection, const char *name,
                    const char *suffix, json_t *body)
{
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    autojson json_t *o = NULL;

    strbuf_addf (&target, "/v1/%s/", collection);
    strbuf_add_urlencoded (&target, name);
    strbuf_adds (&target, suffix);
    int status = cmd_call (c, "POST", target.buf, body, &o);
    return status;
}

static int for_nodes (struct cmd *c, const struct ctl *x, const char *action)
{
    struct error err = { 0 };
    int status = CMD_OK;

    for (size_t i = 0; i < x->n; i++) {
        struct hostlist *names = hostlist_decode (x->words[i], HOSTLIST_MAX, &err);
        if (!names)
            return cmd_usage (c, "%s: %s", x->words[i], err.text);
        for (size_t k = 0; k < hostlist_count (names) && status != CMD_INTERRUPTED; k++) {
            int rc =
                post_to (c, "nodes", hostlist_nth (names, k), "",
                         json_pack ("{s:s s:s*}", "action", action, "reason", x->reason));
            status = rc ? rc : status;
        }
        hostlist_destroy (names);
    }
    return status;
}

static int do_drain (struct cmd *c, const struct ctl *x)
{
    if (!x->reason || !*x->reason)
        return cmd_usage (c, "drain needs a --reason; users see it");
    return for_nodes (c, x, "drain");
}

static int do_resume (struct cmd *c, const struct ctl *x)
{
    return for_nodes (c, x, "resume");
}

struct holding {
    struct cmd *c;
    int urgency;
    const char *reason; /* or NULL */
    int status;
};

static int set_urgency (struct holding *h, const char *id)
{
    int rc =
        post_to (h->c, "jobs", id, "/urgency",
                 json_pack ("{s:i s:s*}", "urgency", h->urgency, "reason", h->reason));

    h->status = rc ? rc : h->status;
    return rc == CMD_INTERRUPTED;
}

/* Takes the waiting jobs of a range, and a single job in any state, so that the user sees
 * the error. */
static int hold_range (const struct id_range *range, void *arg)
{
    struct holding *h = arg;
    struct http_response r;
    char text[128], *line, *next;
    int stop = 0;

    if (range->tasks) {
        h->status = cmd_fail (h->c,
                              "the waiting tasks of array %ju are held and released "
                              "together: name %ju",
                              (uintmax_t)range->first, (uintmax_t)range->first);
        return 0;
    }
    if (range->first == range->last) {
        snprintf (text, sizeof (text), "%ju", (uintmax_t)range->first);
        return set_urgency (h, text);
    }
    snprintf (text, sizeof (text),
              "/v1/jobs?format=tsv&fields=id&state=pending&ids=%ju-%ju",
              (uintmax_t)range->first, (uintmax_t)range->last);
    if (cmd_request (h->c, "GET", text, NULL, 0, &r) != CMD_OK)
        return h->status = h->c->status;
    next = r.body;
    while (!stop && (line = strsep (&next, "\n")) != NULL)
        stop = *line ? set_urgency (h, line) : 0;
    http_response_release (&r);
    return stop;
}

static int for_jobs (struct cmd *c, const struct ctl *x, int urgency)
{
    struct holding h = { .c = c, .urgency = urgency, .reason = x->reason };
    autostrbuf struct strbuf ids = STRBUF_INIT (128 * 1024);
    struct error err = { 0 };

    for (size_t i = 0; i < x->n; i++) {
        if (cmd_add_ids (c, &ids, x->words[i]) != CMD_OK)
            return c->status;
    }
    if (parse_id_ranges (ids.buf, hold_range, &h, "job id", &err) < 0)
        return cmd_fail (c, "%s", err.text);
    return h.status;
}

static int do_hold (struct cmd *c, const struct ctl *x)
{
    return for_jobs (c, x, 0);
}

static int do_release (struct cmd *c, const struct ctl *x)
{
    return for_jobs (c, x, 16);
}

/* The request for "90", "+1:00:00", "-30" or "UNLIMITED"; NULL: c has ended. */
static json_t *limit_request (struct cmd *c, const char *text)
{
    bool relative = *text == '+' || *text == '-';
    struct error err = { 0 };
    double seconds;

    if (parse_timelimit (text + relative, &seconds, "extend", &err) < 0)
        cmd_usage (c, "%s", err.text);
    else if (relative && seconds <= 0)
        cmd_usage (c, "extend: '%s' is not a time to add or subtract", text);
    else
        return json_pack ("{s:f}", relative ? "change" : "limit",
                          *text == '-' ? -seconds : seconds);
    return NULL;
}

static int do_extend (struct cmd *c, const struct ctl *x)
{
    int status = CMD_OK;

    if (x->n < 2)
        return cmd_usage (c, "extend which job, and to what time limit?");
    for (size_t i = 0; i + 1 < x->n && status != CMD_INTERRUPTED; i++) {
        json_t *request = limit_request (c, x->words[x->n - 1]);
        if (!request)
            return c->status;
        int rc = post_to (c, "jobs", x->words[i], "/limit", request);
        status = rc ? rc : status;
    }
    return status;
}

/* The number in -N. Other options of reserve are refused. */
static int nodes_of_resize (struct cmd *c, const struct ctl *x, int64_t *ret)
{
    const char *text = x->reserve.text[RESERVE_NODES - RESERVE_FIRST];
    struct error err = { 0 };

    for (int i = 0; i < RESERVE_END - RESERVE_FIRST; i++)
        if (x->reserve.text[i] && i != RESERVE_NODES - RESERVE_FIRST)
            return cmd_usage (c, "resize takes only -N");
    if (!text)
        return cmd_usage (c, "resize to how many nodes? (-N)");
    if (parse_int (text, 1, INT32_MAX, ret, "-N", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    return CMD_OK;
}

static int do_resize (struct cmd *c, const struct ctl *x)
{
    int64_t nodes = 0;
    int status = nodes_of_resize (c, x, &nodes);

    for (size_t i = 0; i < x->n && status != CMD_INTERRUPTED && nodes > 0; i++) {
        int rc = post_to (c, "jobs", x->words[i], "/resize",
                          json_pack ("{s:I}", "nodes", (json_int_t)nodes));
        status = rc ? rc : status;
    }
    return status;
}

static int do_queue (struct cmd *c, const struct ctl *x)
{
    const char *action = x->words[0];
    int status = CMD_OK;

    if (strcmp (action, "start") != 0 && strcmp (action, "stop") != 0)
        return cmd_usage (c, "queue '%s': start or stop", action);
    if (x->n < 2)
        return cmd_usage (c, "%s which queue?", action);
    for (size_t i = 1; i < x->n && status != CMD_INTERRUPTED; i++) {
        int rc =
            post_to (c, "queues", x->words[i], "", json_pack ("{s:s}", "action", action));
        status = rc ? rc : status;
    }
    return status;
}

/* Works without a broker: fluxqd reads the files itself. */
static int run_fluxqd (struct cmd *c, const char *option, const char *state)
{
    char *argv[] = { (char *)"fluxqd", (char *)option, (char *)(state ? "--state-dir" : NULL),
                     (char *)state, NULL };

    fflush (NULL);
    execvp (argv[0], argv);
    execv (FLUXQ_SBINDIR "/fluxqd", argv);
    return cmd_fail (c, "cannot run fluxqd: %s", strerror (errno));
}

static int compact (struct cmd *c)
{
    json_t *o;

    if (cmd_call (c, "POST", "/v1/journal", json_pack ("{s:s}", "action", "compact"), &o)
        != CMD_OK)
        return c->status;
    printf ("the journal, %.1f MiB, is being compacted; fluxq-ctl status shows its size\n",
            answer_number (o, "bytes") / 1048576);
    json_decref (o);
    return CMD_OK;
}

static int do_journal (struct cmd *c, const struct ctl *x)
{
    const char *action = x->words[0];

    if (x->n > 1)
        return cmd_usage (c, "journal %s takes no arguments", action);
    if (!strcmp (action, "check"))
        return run_fluxqd (c, "--journal-check", x->state);
    if (!strcmp (action, "repair"))
        return run_fluxqd (c, "--journal-repair", x->state);
    if (!strcmp (action, "compact"))
        return compact (c);
    return cmd_usage (c, "journal '%s': check, repair or compact", action);
}

static int do_reserve (struct cmd *c, const struct ctl *x)
{
    return reserve_run (c, &x->reserve);
}

static int do_unreserve (struct cmd *c, const struct ctl *x)
{
    int status = CMD_OK;

    for (size_t i = 0; i < x->n && status != CMD_INTERRUPTED; i++) {
        int rc = post_to (c, "reservations", x->words[i], "",
                          json_pack ("{s:s}", "action", "remove"));
        status = rc ? rc : status;
    }
    return status;
}

static int do_revoke_tokens (struct cmd *c, const struct ctl *x)
{
    return tokens_revoke (c, x->words, x->n, x->all, x->before);
}

/* -- the command -- */

static const struct subcommand subcommands[] = {
    { "status", "[--json]", "show the state of the broker", COMPLETE_NONE },
    { "shutdown", "", "stop the broker; running jobs go on", COMPLETE_NONE },
    { "reload", "", "apply the configuration file", COMPLETE_NONE },
    { "drain", "NODES... --reason TEXT", "start no more jobs on these nodes",
      COMPLETE_NODES },
    { "resume", "NODES...", "use drained nodes again", COMPLETE_NODES },
    { "hold", "IDS... [--reason TEXT]", "keep pending jobs from starting",
      COMPLETE_JOBS },
    { "release", "IDS...", "let held jobs start", COMPLETE_JOBS },
    { "extend", "IDS... [+|-]TIME", "change the time limit of jobs", COMPLETE_JOBS },
    { "resize", "IDS... -N NODES", "change the number of nodes of malleable jobs",
      COMPLETE_JOBS },
    { "queue", "start|stop NAME...", "let queues start jobs, or stop them",
      COMPLETE_QUEUES },
    { "reserve",
      "--start TIME --duration TIME --nodes N|NODES --users NAMES|--maintenance",
      "keep nodes for some users' jobs, or free of jobs, during a time", COMPLETE_NONE },
    { "unreserve", "NAME...", "end a reservation: all jobs may use its nodes again",
      COMPLETE_RESERVATIONS },
    { "journal", "compact|check|repair [--state DIR]",
      "compact: give free space back; while no broker runs: check it, or repair it",
      COMPLETE_NONE },
    { "revoke-tokens", "[USER...|--all] [--before TIME]",
      "end tokens (scontrol token) before their time; default: one's own",
      COMPLETE_NONE },
    { .name = NULL },
};

/* Ordered as the subcommands. */
static const struct {
    int (*run) (struct cmd *c, const struct ctl *x);
    enum { NONE, SOME, ANY } operands;
} actions[] = {
    { do_status, NONE },  { do_shutdown, NONE },     { do_reload, NONE },
    { do_drain, SOME },   { do_resume, SOME },       { do_hold, SOME },
    { do_release, SOME }, { do_extend, SOME },       { do_resize, SOME },
    { do_queue, SOME },   { do_reserve, NONE },      { do_unreserve, SOME },
    { do_journal, SOME }, { do_revoke_tokens, ANY },
};
_Static_assert(ARRAY_SIZE (actions) + 1 == ARRAY_SIZE (subcommands),
               "an action a subcommand");

static int find_action (struct cmd *c, struct ctl *x)
{
    int i = 0;

    if (x->n == 0)
        return cmd_usage (c, "do what?"), -1;
    while (subcommands[i].name && strcmp (subcommands[i].name, x->words[0]) != 0)
        i++;
    if (!subcommands[i].name)
        return cmd_usage (c, "'%s': no such subcommand", x->words[0]), -1;
    x->words++;
    x->n--;
    if (actions[i].operands != ANY && (actions[i].operands == SOME) != (x->n > 0))
        return cmd_usage (c, "%s %s", subcommands[i].name,
                          x->n > 0 ? "takes no further arguments" : "what?"),
               -1;
    if (x->reason && actions[i].run != do_drain && actions[i].run != do_hold)
        return cmd_usage (c, "--reason is for drain and hold"), -1;
    if (x->reserve.given && actions[i].run != do_reserve && actions[i].run != do_resize)
        return cmd_usage (c, "--%s is for reserve", x->reserve.given), -1;
    if (x->state && actions[i].run != do_journal)
        return cmd_usage (c, "--state is for journal"), -1;
    if (x->json && actions[i].run != do_status)
        return cmd_usage (c, "--json is for status"), -1;
    if ((x->all || x->before) && actions[i].run != do_revoke_tokens)
        return cmd_usage (c, "--all and --before are for revoke-tokens"), -1;
    return i;
}

static int run (struct cmd *c)
{
    autofree const char **words = calloc ((size_t)c->parser.argc + 1, sizeof (*words));
    struct ctl x = { .words = words };
    struct option_match m;

    if (!words)
        return cmd_fail (c, "out of memory");
    while (cmd_next (c, &m) > 0) {
        if (!m.desc)
            words[x.n++] = m.value;
        else if (reserve_take (&x.reserve, &m))
            continue;
        else if (m.desc->id == REASON)
            x.reason = m.value;
        else if (m.desc->id == STATE)
            x.state = m.value;
        else if (m.desc->id == BEFORE)
            x.before = m.value;
        else if (m.desc->id == ALL)
            x.all = true;
        else
            x.json = true;
    }
    if (c->ended)
        return c->status;
    struct error err = { 0 };
    if (x.reason && !text_is_utf8 (x.reason, strlen (x.reason), NULL)
        && text_not_utf8 ("--reason", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    int i = find_action (c, &x);
    return i < 0 ? c->status : actions[i].run (c, &x);
}

static const char *const usage[] = { "SUBCOMMAND [ARGUMENT]...", NULL };

const struct command command_ctl = {
    .name = "ctl",
    .summary = "Control the broker, its nodes, queues and jobs, and reserve nodes",
    .usage = usage,
    .options = options,
    .subcommands = subcommands,
    .notes = "NODES are node names and lists, node[1-3]; IDS are job ids and ranges: 7 "
             "1,4-7.\nUsers may resize, hold and release their own jobs, and lower their "
             "time limits (write --\nbefore -TIME). Only operators raise time limits and "
             "release jobs that an operator holds.\n"
             "Users may revoke their own tokens, and everybody may use status. queue is "
             "for operators\nof the queue; all other subcommands are for "
             "administrators.\n",
    .run = run,
};
