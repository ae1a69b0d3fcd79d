/* call.c - one request: errors, the answer, and the commands that the answer is made of */
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/client/command.h"
#include "common/io.h"
#include "rest/rest.h"

#define MESSAGE_MAX 16384

/* -- errors -- */

/* The status of the answer, and the name, by the number of the first error. */
static const struct {
    int number, status;
    const char
        *words; /* of the command's message, for which the number stands; or NULL */
    const char *name;
} kinds[] = {
    { REST_INVALID_JOB, 404, "Invalid job id specified", "Invalid job id specified" },
    { REST_INVALID_JOB, 404, "Invalid job id", "Invalid job id specified" },
    { REST_INVALID_PARTITION, 500, "Invalid partition name specified",
      "Invalid partition name specified" },
    { REST_INVALID_NODE, 500, "Invalid node name", "Invalid node name specified" },
    { REST_INVALID_USER, 500, "Invalid user", "User id missing or invalid" },
    { REST_ACCESS_DENIED, 500, "Access/permission denied", "Access/permission denied" },
    { REST_UNAVAILABLE, 500, "Requested node configuration is not available",
      "Requested node configuration is not available" },
    { REST_POLICY, 500, "Job violates accounting/QOS policy",
      "Job violates accounting/QOS policy" },
    { REST_INVALID_RESERVATION, 500, "reservation is invalid",
      "Requested reservation is invalid" },
    { REST_INVALID_ARRAY, 500, "Invalid job array specification",
      "Invalid job array specification" },
    { REST_TIMEOUT, 504, "Socket timed out", "Socket timed out on send/recv operation" },
    { REST_AUTHENTICATION, 401, "the token ", "Authentication failure" },
    { REST_AUTHENTICATION, 401, "takes no tokens", "Authentication failure" },
    { REST_CONNECTION, 502, "no broker", "Unable to contact slurm controller" },
    { REST_CONNECTION, 502, "Unable to contact slurm controller",
      "Unable to contact slurm controller" },
    { REST_INVALID_QUERY, 422, NULL, "Invalid query" },
    { REST_PARSING, 400, NULL, "Unable to parse query" },
    { REST_INVALID_JOBS, 400, NULL, "Invalid jobs description" },
    { REST_UNKNOWN_URL, 404, NULL, "Unable to find requested URL" },
    { REST_UNKNOWN_METHOD, 405, NULL, "Requested HTTP method is unknown" },
    { REST_UNKNOWN, 500, NULL, "Unspecified error" },
};

static size_t kind_of (int number)
{
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE (kinds) && kinds[i].number != number)
        i++;
    return i;
}

static void add_text (json_t *list, const char *key, const char *text, json_t *more)
{
    autofree char *clean = strndup (text, MESSAGE_MAX);
    json_t *description = clean ? json_string (clean) : NULL;

    if (!description)
        description = json_string ("the message is not UTF-8");
    if (more)
        json_object_set_new (more, key, description);
    else
        more = json_pack ("{s:o s:s}", key, description, "source", "slurmrestd");
    json_array_append_new (list, more);
}

void rest_error (struct rest_call *call, int number, const char *fmt, ...)
{
    char text[4096];
    size_t kind = kind_of (number);
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    if (json_array_size (call->errors) == 0)
        call->status = kinds[kind].status;
    add_text (call->errors, "description", text,
              json_pack ("{s:i s:s s:s}", "error_number", number, "error",
                         kinds[kind].name, "source", "slurmrestd"));
}

void rest_warn (struct rest_call *call, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    add_text (call->warnings, "description", text, NULL);
}

/* Whether it is "KIND NAME not found". */
static bool is_missing (const char *line, const char *kind)
{
    size_t len = strlen (line), end = strlen (" not found");

    return !strncmp (line, kind, strlen (kind)) && len > end
           && !strcmp (line + len - end, " not found");
}

/* A line of a command's stderr: "squeue: error: slurm_load_jobs error: Invalid ...". */
static void add_line (struct rest_call *call, const char *program, const char *line)
{
    size_t len = strlen (program), i = 0;

    if (!strncmp (line, program, len) && !strncmp (line + len, ": ", 2))
        line += len + 2;
    if (!strncmp (line, "error: ", 7))
        line += 7;
    while (i + 1 < ARRAY_SIZE (kinds)
           && !(kinds[i].words && strstr (line, kinds[i].words)))
        i++;
    rest_error (call,
                is_missing (line, "Node ")          ? REST_INVALID_NODE
                : is_missing (line, "Partition ")   ? REST_INVALID_PARTITION
                : is_missing (line, "Reservation ") ? REST_INVALID_RESERVATION
                                                    : kinds[i].number,
                "%s", line);
}

static void add_lines (struct rest_call *call, const char *program, char *text)
{
    char *line;

    while ((line = strsep (&text, "\n")))
        if (*line)
            add_line (call, program, line);
    if (json_array_size (call->errors) == 0)
        rest_error (call, REST_UNKNOWN, "%s has failed without a message", program);
}

/* -- the call -- */

int rest_call_init (struct rest_call *call, struct http_request *req)
{
    *call = (struct rest_call){ .req = req,
                                .errors = json_array (),
                                .warnings = json_array () };
    return call->errors && call->warnings ? 0 : -ENOMEM;
}

void rest_call_release (struct rest_call *call)
{
    json_decref (call->errors);
    json_decref (call->warnings);
}

char *rest_answer (struct rest_call *call, json_t *members)
{
    autojson json_t *o = members ? members : json_object ();
    const char *version = *call->version ? call->version : "v0.0.41";
    json_t *meta = json_pack (
        "{s:{s:s s:s s:s+ s:s} s:{s:s s:s s:s} s:[]"
        " s:{s:{s:s s:s s:s} s:s s:s}}",
        "plugin", "type", call->database ? "openapi/slurmdbd" : "openapi/slurmctld",
        "name", "fluxq slurmrestd", "data_parser", "data_parser/", version,
        "accounting_storage", "", "client", "source", "", "user", "", "group", "",
        "command", "slurm", "version", "major", "25", "minor", "11", "micro", "0",
        "release", CMD_SLURM_VERSION, "cluster", "");

    if (call->status == 0)
        call->status = json_array_size (call->errors) ? 500 : 200;
    if (!o || !meta || json_object_set_new (o, "meta", meta) < 0
        || json_object_set (o, "errors", call->errors) < 0
        || json_object_set (o, "warnings", call->warnings) < 0)
        return NULL;
    return json_dumps (o, JSON_COMPACT);
}

json_t *rest_body (struct rest_call *call)
{
    struct error err = { 0 };
    size_t len;
    const char *text = http_request_body (call->req, &len);
    json_t *o = json_parse (text, len, "the request's body", &err);

    if (o && json_is_object (o))
        return o;
    rest_error (call, REST_PARSING, "%s", o ? "the body is not an object" : err.text);
    json_decref (o);
    return NULL;
}

const char *rest_query (const struct rest_call *call, const char *name)
{
    return http_request_query (call->req, name);
}

/* -- command lines -- */

void rest_argv_add (struct rest_argv *a, const char *fmt, ...)
{
    char **v = realloc (a->v, (a->n + 2) * sizeof (*v));
    char *text = NULL;
    va_list ap;

    if (v)
        a->v = v;
    va_start (ap, fmt);
    bool ok = v && vasprintf (&text, fmt, ap) >= 0;
    va_end (ap);
    if (ok)
        a->v[a->n++] = text;
    else
        a->failed = true;
    if (v)
        a->v[a->n] = NULL;
}

void rest_argv_release (struct rest_argv *a)
{
    for (size_t i = 0; i < a->n; i++)
        free (a->v[i]);
    free (a->v);
    *a = (struct rest_argv){ .v = NULL };
}

/* -- commands -- */

/* Makes fd refer to a new file in memory with this text. 0 or -1. */
static int redirect (int fd, const char *text)
{
    int file = memfd_create ("slurmrestd", MFD_CLOEXEC);
    bool ok = file >= 0 && io_write_all (file, text, strlen (text)) >= 0
              && lseek (file, 0, SEEK_SET) == 0 && dup2 (file, fd) >= 0;

    if (file >= 0 && file != fd)
        close (file);
    return ok ? 0 : -1;
}

static int read_back (int fd, struct strbuf *sb)
{
    strbuf_reset (sb);
    return lseek (fd, 0, SEEK_SET) < 0 ? -1 : io_read_fd (fd, sb, sb->max);
}

int rest_run (struct rest_call *call, const char *const argv[], const char *input,
              struct strbuf *out)
{
    const struct command *command = command_find_slurm (argv[0]);
    autostrbuf struct strbuf said = STRBUF_INIT (256 * 1024);
    int argc = 0;

    while (argv[argc])
        argc++;
    if (redirect (0, input ? input : "") < 0 || redirect (1, "") < 0
        || redirect (2, "") < 0) {
        rest_error (call, REST_UNKNOWN, "out of memory");
        return -1;
    }
    rewind (stdin);
    int status = command_execute (command, argc, (char **)(uintptr_t)argv, NULL, false);
    if (read_back (1, out) < 0 || read_back (2, &said) < 0) {
        rest_error (call, REST_UNKNOWN, "the answer of %s is too large", argv[0]);
        return -1;
    }
    if (status == 0)
        return 0;
    add_lines (call, argv[0], said.buf);
    return -1;
}

/* Takes the members that rest_answer() makes out of the answer. */
static json_t *strip (json_t *o)
{
    static const char *const own[] = { "meta", "errors", "warnings" };

    for (size_t i = 0; i < ARRAY_SIZE (own); i++)
        json_object_del (o, own[i]);
    return o;
}

json_t *rest_run_json (struct rest_call *call, const char *const argv[])
{
    autostrbuf struct strbuf out = STRBUF_INIT (REST_ANSWER_MAX);
    struct error err = { 0 };

    if (rest_run (call, argv, NULL, &out) < 0)
        return NULL;
    json_t *o = json_parse (out.buf, out.len, argv[0], &err);
    if (o && json_is_object (o))
        return strip (o);
    rest_error (call, REST_UNKNOWN, "%s: %s", argv[0], o ? "not an object" : err.text);
    json_decref (o);
    return NULL;
}

json_t *rest_get (struct rest_call *call, const char *target)
{
    struct error err = { 0 };
    struct http_response r = { 0 };
    struct http_client *c = http_client_open (NULL, &err);
    json_t *o = NULL;

    if (c && http_client_request (c, "GET", target, NULL, 0, NULL, &r, &err) == 0
        && (r.status < 300 || http_response_error (&r, &err) == 0))
        o = json_parse (r.body, r.len, "the broker's answer", &err);
    if (!o)
        rest_error (call, r.status == 401 ? REST_AUTHENTICATION : REST_CONNECTION, "%s",
                    err.text);
    http_response_release (&r);
    http_client_close (c);
    return o;
}
