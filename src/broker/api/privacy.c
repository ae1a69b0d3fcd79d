/* privacy.c - see privacy.h
 */
#include "broker/api/privacy.h"

#include <ctype.h>

#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "jobspec/options/attributes.h"

#define TEXT_MAX 65536
#define HIDDEN "(private)"

/* Parts that are private in the site or in q; NULL: in any queue. */
static unsigned parts_of (const struct config *c, const struct config_queue *q)
{
    unsigned parts = c->private_parts;

    for (size_t i = 0; i < c->nqueues; i++)
        if (!q || q == &c->queues[i])
            parts |= c->queues[i].private_parts;
    return parts;
}

/* q: the job's queue; NULL: it is gone, and its privacy unknown. */
static bool is_private (const struct config *c, const struct config_queue *q,
                        enum private_part part)
{
    unsigned parts = parts_of (c, q);

    if (parts & PRIVATE_JOBS && part == PRIVATE_ARGUMENTS)
        return true;
    return parts & (unsigned)part;
}

/* Most sites hide nothing: the job's queue, whose name is elsewhere in memory, is looked at
 * only where some queue hides the part. */
bool privacy_sees (const struct broker *b, uid_t viewer, const struct entry *e,
                   enum private_part part)
{
    const struct config *c = broker_config (b);
    const struct job *job = entry_job (e);

    if (viewer == job->userid || !is_private (c, NULL, part))
        return true;
    const struct config_queue *q = &c->queues[entry_queue (e)];
    bool gone = !job->queue || strcmp (q->name, job->queue) != 0;
    return gone
               ? broker_is_administrator (b, viewer)
               : !is_private (c, q, part) || broker_operates (b, viewer, entry_queue (e));
}

bool privacy_sees_ended (const struct broker *b, uid_t viewer, uid_t owner,
                         const char *queue, enum private_part part)
{
    const struct config *c = broker_config (b);
    int i = queue ? config_queue_index (c, queue) : -1;

    return viewer == owner || !is_private (c, i >= 0 ? &c->queues[i] : NULL, part)
           || (i < 0 ? broker_is_administrator (b, viewer)
                     : broker_operates (b, viewer, (unsigned)i));
}

bool privacy_sees_usage (const struct broker *b, uid_t viewer, uid_t user)
{
    return viewer == user || !(broker_config (b)->private_parts & PRIVATE_USAGE)
           || broker_is_administrator (b, viewer);
}

/* Otherwise no job needs to be looked at. */
static bool any_private_jobs (const struct broker *b)
{
    return parts_of (broker_config (b), NULL) & PRIVATE_JOBS;
}

bool privacy_sees_id (struct broker *b, uid_t viewer, uint64_t id)
{
    uint32_t task;

    if (!any_private_jobs (b) || broker_is_administrator (b, viewer))
        return true;
    const struct entry *e = entry_find (b, id);
    if (!e)
        e = entry_array_of (b, id, &task);
    return e && privacy_sees (b, viewer, e, PRIVATE_JOBS);
}

/* -- texts -- */

/* The length of "job ", "jobs ", "array " or "arrays " at the start of a word, or 0. */
static size_t job_word (const char *p)
{
    static const char *const words[] = { "jobs ", "job ", "arrays ", "array " };

    for (size_t i = 0; i < ARRAY_SIZE (words); i++)
        if (!strncasecmp (p, words[i], strlen (words[i])))
            return strlen (words[i]);
    return 0;
}

/* Scrubs numbers and the text between them: "3, 4_1 and 7". Returns the end. */
static const char *scrub_numbers (struct broker *b, uid_t viewer, const char *p,
                                  struct strbuf *to)
{
    while (isdigit ((unsigned char)*p)) {
        size_t len = strspn (p, "0123456789");
        size_t all = strspn (p, "0123456789_");
        bool seen = privacy_sees_id (b, viewer, strtoull (p, NULL, 10));

        if (seen)
            strbuf_add (to, p, all);
        else
            strbuf_adds (to, HIDDEN);
        p += MAX (len, all);
        size_t between = strncmp (p, ", ", 2) == 0      ? 2
                         : strncmp (p, " and ", 5) == 0 ? 5
                         : *p == ','                    ? 1
                                                        : 0;
        if (between == 0 || !isdigit ((unsigned char)p[between]))
            break;
        strbuf_add (to, p, between);
        p += between;
    }
    return p;
}

void privacy_scrub (struct broker *b, uid_t viewer, struct strbuf *text)
{
    autostrbuf struct strbuf to = STRBUF_INIT (TEXT_MAX);

    if (text->len == 0 || !any_private_jobs (b) || broker_is_administrator (b, viewer))
        return;
    for (const char *p = text->buf; *p;) {
        bool begins = p == text->buf || !isalnum ((unsigned char)p[-1]);
        size_t word = begins ? job_word (p) : 0;

        strbuf_add (&to, p, word ? word : 1);
        p += word ? word : 1;
        if (word)
            p = scrub_numbers (b, viewer, p, &to);
    }
    strbuf_reset (text);
    strbuf_add (text, to.buf, to.len);
}

void privacy_scrub_member (struct broker *b, uid_t viewer, json_t *o, const char *key)
{
    const char *text = json_string_value (json_object_get (o, key));
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);

    if (!text)
        return;
    strbuf_adds (&sb, text);
    privacy_scrub (b, viewer, &sb);
    json_object_set_new (o, key, json_string (sb.buf));
}

/* -- answers -- */

static void keep_seen_ids (struct broker *b, uid_t viewer, json_t *list)
{
    for (size_t i = json_array_size (list); i-- > 0;)
        if (!privacy_sees_id (b, viewer,
                              (uint64_t)json_integer_value (json_array_get (list, i))))
            json_array_remove (list, i);
}

void privacy_mask_job (struct broker *b, uid_t viewer, const struct entry *e, json_t *job)
{
    static const char *const arguments[] = { "cwd",      "output",    "error",
                                             "input",    "size_text", "exception",
                                             "open_mode" };

    privacy_scrub_member (b, viewer, job, "dependency");
    keep_seen_ids (b, viewer, json_object_get (job, "waits_for"));
    if (privacy_sees (b, viewer, e, PRIVATE_ARGUMENTS))
        return;
    for (size_t i = 0; i < ARRAY_SIZE (arguments); i++)
        json_object_set_new (job, arguments[i], json_null ());
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->label && !a->heading && a->is_private)
            json_object_set_new (job, a->name, json_null ());
    json_object_set_new (job, "command", json_array ());
    json_object_set_new (job, "stage_in", json_array ());
    json_object_set_new (job, "stage_out", json_array ());
    json_object_set_new (job, "steps", json_array ()); /* steps name programs */
}

void privacy_mask_event (struct broker *b, uid_t viewer, const struct entry *e,
                         json_t *context)
{
    /* Keys without arguments of programs and file names. */
    static const char *const harmless[] = {
        "userid",   "urgency", "version", "groupid",  "user",     "name",     "queue",
        "duration", "begin",   "array",   "nice",     "priority", "nodelist", "ranks",
        "final",    "status",  "type",    "severity", "order",    "avoid",    "uncounted"
    };
    const char *key;
    void *next;
    json_t *value;

    privacy_scrub_member (b, viewer, context, "note");
    privacy_scrub_member (b, viewer, context, "reason");
    privacy_scrub_member (b, viewer, context, "text");
    if (context && !privacy_sees (b, viewer, e, PRIVATE_USAGE))
        json_object_del (context, "priority");
    if (privacy_sees (b, viewer, e, PRIVATE_ARGUMENTS))
        return;
    json_object_foreach_safe (context, next, key, value)
    {
        bool keep = false;
        for (size_t i = 0; i < ARRAY_SIZE (harmless); i++)
            keep |= !strcmp (harmless[i], key);
        if (!keep)
            json_object_del (context, key);
    }
}
