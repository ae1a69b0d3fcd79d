/* audit_note.c - see audit_note.h
 */
#include "broker/api/audit_note.h"

#include <string.h>

#include "broker/core/jobs.h"

#define MORE ",..."

/* -- the note, and its caller -- */

void audit_note_user (struct http_request *req, const char *name)
{
    struct audit_note *n = http_request_note (req);
    size_t len = n ? strnlen (name, sizeof (n->user) - 1) : 0;

    if (!n)
        return;
    memcpy (n->user, name, len);
    n->user[len] = '\0';
}

bool audit_note_begin (struct http_request *req, const char *action)
{
    struct audit_note *n = calloc (1, sizeof (*n));

    if (!n) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return false;
    }
    n->action = action;
    http_request_set_note (req, n);
    return true;
}

/* -- what it does -- */

void audit_note_action (struct http_request *req, const char *word)
{
    struct audit_note *n = http_request_note (req);

    if (n)
        n->action = word;
}

void audit_note_reads (struct http_request *req)
{
    struct audit_note *n = http_request_note (req);

    if (n)
        n->reads = true;
}

void audit_note_failed (struct http_request *req, const char *code)
{
    struct audit_note *n = http_request_note (req);

    if (!n)
        return;
    n->nfailed++;
    if (!n->code)
        n->code = code;
}

/* -- its jobs -- */

/* Whether the list "alice,bob" has the name. */
static bool list_has (const char *list, const char *name)
{
    size_t len = strlen (name);

    while (*list) {
        size_t n = strcspn (list, ",");
        if (n == len && !memcmp (list, name, len))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static void add_owner (struct audit_note *n, const char *name)
{
    size_t len = strlen (n->owners);
    const char *comma = len ? "," : "";

    if (list_has (n->owners, name) || list_has (n->owners, &MORE[1]))
        return;
    if (len + 1 + strlen (name) + sizeof (MORE) > sizeof (n->owners))
        snprintf (n->owners + len, sizeof (n->owners) - len, "%s", len ? MORE : &MORE[1]);
    else
        snprintf (n->owners + len, sizeof (n->owners) - len, "%s%s", comma, name);
}

/* false: the note has the job already. */
static bool add_id (struct audit_note *n, uint64_t id)
{
    if (n->njobs > 0 && n->njobs <= AUDIT_JOBS_MAX && n->jobs[n->njobs - 1] == id)
        return false;
    if (n->njobs < AUDIT_JOBS_MAX)
        n->jobs[n->njobs] = id;
    n->njobs++;
    return true;
}

void audit_note_job (struct http_request *req, const struct entry *e)
{
    struct audit_note *n = http_request_note (req);

    if (n && add_id (n, entry_id (e)))
        add_owner (n, entry_job (e)->user);
}

void audit_note_id (struct http_request *req, uint64_t id)
{
    struct audit_note *n = http_request_note (req);

    if (n)
        add_id (n, id);
}
