/* audit.c - the audit log: who did what to whose job, from where, with what result
 *
 *   api_handle() --> audit_note_begin() --> the route's function: audit_note_...()
 *                                               |
 *        http_reply...() --> answered() --> audit_line --> audit_file
 *
 * A line is written for each answer to a request that changes something, and for each
 * refusal for lack of rights, before the answer is sent. A request is served also when its
 * line cannot be written: the log then says how many lines it lacks.
 */
#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/core/service.h"
#include "broker/core/users.h"
#include "broker/services/audit/audit_file.h"
#include "broker/services/audit/audit_line.h"
#include "common/clock.h"
#include "common/yaml.h"

#define AGAIN 10.0        /* seconds until lost lines are counted in the log */
#define WARN_SECONDS 60.0 /* between two warnings */

struct settings {
    char *path;    /* NULL: no log */
    uint64_t most; /* bytes; 0: the log is not rotated here */
    int64_t keep;
};

struct audit {
    struct broker_timer timer;
    struct audit_file *file; /* NULL: no log */
    struct audit_file *next; /* of the configuration that may replace the current one */
    struct strbuf line;
    double warn_after;    /* clock_mono() of the next warning, at the earliest */
    bool warned;          /* of lines that are still lost */
    uint64_t lost;        /* lines since the last one that was written, */
    uint64_t all_lost;    /* ... and since the broker's start */
    struct error trouble; /* why; code 0: none */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "audit-log", value_string, AT (path), 0, 0, NULL },
    { "audit-log-size", value_bytes, AT (most), INT64_C (1) << 20, INT64_C (1) << 50,
      NULL },
    { "audit-log-keep", value_int, AT (keep), 1, 1000, NULL },
    { 0 },
};
#undef AT
static const struct settings defaults = { .most = UINT64_C (64) << 20, .keep = 10 };
static struct service_place place;
SERVICE_STATE_OF (struct audit)
SERVICE_SETTINGS_OF (struct settings)

/* -- lines -- */

static void lose (struct audit *a, const struct error *why)
{
    double now = clock_mono ();

    if (a->lost == 0)
        broker_timer_set (&a->timer, AGAIN);
    if (a->lost == 0 && now >= a->warn_after) {
        log_warning ("audit log: %s: requests are served, but not recorded", why->text);
        a->warn_after = now + WARN_SECONDS;
        a->warned = true;
    }
    a->lost++;
    a->all_lost++;
    a->trouble = *why;
}

/* Writes the line, after the number of lines that are lost before it: both or neither. */
static int put_all (struct audit *a, const struct strbuf *line, struct error *err)
{
    autostrbuf struct strbuf both = STRBUF_INIT (AUDIT_BUFFER);

    if (a->lost == 0)
        return line->err ? error_no_memory (err, NULL)
                         : audit_file_write (a->file, line->buf, line->len, err);
    audit_line_lost (&both, clock_wall (), a->lost);
    strbuf_add (&both, line->buf, line->len);
    int rc = both.err || line->err ? error_no_memory (err, NULL)
                                   : audit_file_write (a->file, both.buf, both.len, err);
    if (rc < 0)
        return rc;
    if (a->warned)
        log_info ("audit log: requests are recorded again, %ju were not",
                  (uintmax_t)a->lost);
    a->warned = false;
    a->lost = 0;
    a->trouble = (struct error){ 0 };
    return 0;
}

static void put (struct audit *a)
{
    struct error err = { 0 };

    if (put_all (a, &a->line, &err) < 0)
        lose (a, &err);
}

/* Tries to write the number of lost lines; false: there are still some. */
static bool count_lost (struct audit *a)
{
    struct error err = { 0 };

    strbuf_reset (&a->line);
    return !a->file || a->lost == 0 || put_all (a, &a->line, &err) == 0;
}

static void on_timer (struct broker *b)
{
    if (!count_lost (state_of (b)))
        broker_timer_set (&state_of (b)->timer, AGAIN);
}

/* -- requests -- */

/* The caller's name; NULL: it is not known, now or here. */
static const char *name_of (struct broker *b, const struct audit_note *n, uid_t uid)
{
    const char *name = n                  ? n->user
                       : uid != (uid_t)-1 ? users_recall (broker_users (b), uid)
                                          : NULL;

    return name && *name ? name : NULL;
}

static void answered (struct http_request *req, int status, const char *code, void *arg)
{
    struct broker *b = arg;
    struct audit *a = state_of (b);
    const struct audit_note *n = http_request_note (req);
    bool refused = status == 401 || status == 403, changes = n && !n->reads;
    uid_t uid = http_request_uid (req);
    const char *by = http_request_by (req);
    char from[HTTP_FROM_SIZE];

    if (!a->file || (!refused && !changes))
        return;
    const struct audit_record r = {
        .time = clock_wall (),
        .user = name_of (b, n, uid),
        .uid = uid == (uid_t)-1 ? -1 : (int64_t)uid,
        .by = by && !strcmp (by, "guest") ? "job" : by,
        .from = http_request_from (req, from),
        .method = http_request_method (req),
        .path = http_request_path (req),
        .action = n ? n->action : NULL,
        .jobs = n ? n->jobs : NULL,
        .njobs = n ? n->njobs : 0,
        .nfailed = n ? n->nfailed : 0,
        .owner = n && *n->owners ? n->owners : NULL,
        .status = (unsigned)status,
        .code = code ? code
                : n  ? n->code
                     : NULL,
    };
    audit_line_request (&a->line, &r);
    put (a);
}

/* -- the file -- */

/* 0 and the file, or NULL when none is configured. */
static int open_log (const struct config *c, struct audit_file **ret, struct error *err)
{
    const struct settings *set = service_settings (c, &place);
    struct error own = { 0 };

    *ret = NULL;
    if (!set->path
        || (*ret = audit_file_open (set->path, set->most, (unsigned)set->keep, &own)))
        return 0;
    return error_set (err, EINVAL,
                      "audit-log: %s: make its directory for the broker's user, or name "
                      "another file in fluxq.yaml",
                      own.text);
}

static int check_config (const struct config *c, struct error *err)
{
    const struct settings *set = service_settings (c, &place);

    if (!set->path || *set->path == '/')
        return 0;
    return yaml_error (c->doc, yaml_root (c->doc), "audit-log", err,
                       "audit-log: expected the absolute path of a file");
}

static int init (struct broker *b, struct error *err)
{
    (void)err;
    strbuf_init (&state_of (b)->line, AUDIT_BUFFER);
    return 0;
}

/* The journal is this broker's, so no other one writes the log. */
static int load (struct broker *b, struct error *err)
{
    return open_log (broker_config (b), &state_of (b)->file, err);
}

static void observe (struct broker *b)
{
    http_server_set_observer (broker_http (b), state_of (b)->file ? answered : NULL);
}

static int begin (struct broker *b, struct error *err)
{
    (void)err;
    observe (b);
    return 0;
}

static int check_reload (struct broker *b, const struct config *c, struct error *err)
{
    struct audit *a = state_of (b);

    audit_file_close (a->next);
    return open_log (c, &a->next, err);
}

/* A log that ends says where it goes on. */
static void say_next (struct broker *b)
{
    struct audit *a = state_of (b);
    const char *path = a->next ? audit_file_path (a->next) : NULL;

    if (!a->file || (path && !strcmp (path, audit_file_path (a->file))))
        return;
    audit_line_next (&a->line, clock_wall (), path);
    put (a);
}

static void reloaded (struct broker *b, const struct config *old)
{
    struct audit *a = state_of (b);

    (void)old;
    say_next (b);
    audit_file_close (a->file);
    a->file = a->next;
    a->next = NULL;
    observe (b);
}

static void release (struct broker *b)
{
    struct audit *a = state_of (b);

    if (!count_lost (a))
        log_warning ("audit log: the broker ends, and %ju requests are not recorded: %s",
                     (uintmax_t)a->lost, a->trouble.text);
    audit_file_close (a->file);
    audit_file_close (a->next);
    strbuf_release (&a->line);
}

/* -- what operators see -- */

static void shows_status (struct broker *b, uid_t viewer, json_t *status)
{
    const struct audit *a = state_of (b);
    const char *trouble = a->trouble.code ? a->trouble.text
                          : a->file       ? audit_file_trouble (a->file)
                                          : NULL;

    if (a->file && broker_is_administrator (b, viewer))
        json_object_set_new (status, "audit_log",
                             json_pack ("{s:s s:I s:s?}", "path", settings_of (b)->path,
                                        "lost", (json_int_t)a->all_lost, "trouble",
                                        trouble));
}

const struct broker_service service_audit = {
    .name = "audit",
    .place = &place,
    .state_size = sizeof (struct audit),
    .timer = offsetof (struct audit, timer),
    .on_timer = on_timer,
    .settings = &settings,
    .init = init,
    .load = load,
    .begin = begin,
    .check_config = check_config,
    .check_reload = check_reload,
    .reloaded = reloaded,
    .release = release,
    .shows_status = shows_status,
};
