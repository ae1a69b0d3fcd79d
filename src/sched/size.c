/* size.c - the size at which an elastic job starts, and the reason for it
 *
 * The job has its place already. Whether a larger size was possible is asked only for
 * jobs that start, so that each of the many failed tries costs one match.
 */

#include "common/parse.h"
#include "sched/sched_private.h"

static const char *const size_names[] = {
    [SCHED_SIZE_FIXED] = NULL,
    [SCHED_SIZE_LARGEST] = "largest",
    [SCHED_SIZE_FITTED] = "fitted",
    [SCHED_SIZE_WAITED] = "waited",
};

const char *sched_size_name (enum sched_size_code code)
{
    return size_names[code];
}

/* Turns a sentence about what is short now into the past: "8 nodes fit now" becomes "8
 * nodes fit". */
static void add_past (struct strbuf *sb, const char *why)
{
    static const char now[] = " now";
    const char *p;

    while ((p = strstr (why, now))) {
        strbuf_add (sb, why, (size_t)(p - why));
        why = p + sizeof (now) - 1;
    }
    strbuf_adds (sb, why);
}

static void write_text (const struct sched *s, const struct pending *p, const char *why,
                        struct sched_size *size)
{
    bool held = p->fitted > 0 && s->now > p->fitted;
    autostrbuf struct strbuf sb = STRBUF_INIT (sizeof (size->text));

    if (size->code == SCHED_SIZE_LARGEST)
        strbuf_adds (&sb, "its largest size");
    else {
        strbuf_adds (&sb, "the largest size that fitted at ");
        strbuf_add_time (&sb, s->now);
    }
    if (held) {
        strbuf_adds (&sb, ", after holding out ");
        strbuf_add_duration (&sb, s->now - p->fitted);
        strbuf_adds (&sb, size->code == SCHED_SIZE_LARGEST ? " for it" : " for more");
    }
    if (why) {
        strbuf_adds (&sb, "; its largest ");
        add_past (&sb, why);
    }
    snprintf (size->text, sizeof (size->text), "%s", sb.buf);
}

void size_note (const struct sched *s, const struct pending *p, enum sched_size_code code,
                const char *why, struct sched_size *size)
{
    size->code = code;
    if (code == SCHED_SIZE_FIXED || code == SCHED_SIZE_LARGEST
        || !match_request_has_largest (p->job.req))
        why = NULL;
    if (code == SCHED_SIZE_FIXED)
        size->text[0] = '\0';
    else
        write_text (s, p, why, size);
}

int size_explain (struct sched *s, struct pending *p, struct sched_decision *d,
                  struct error *why)
{
    bool known = s->generation == match_generation (s->m);
    struct error larger = { 0 };
    int rc = -EBUSY;

    if (!match_request_has_largest (p->job.req)) {
        size_note (s, p, SCHED_SIZE_FITTED, NULL, &d->size);
        return 0;
    }
    match_cancel (s->m, p->job.id);
    rset_destroy (d->r);
    d->r = NULL;
    s->tries++;
    rc = match_allocate_largest (s->m, p->job.id, p->job.req, s->now, d->duration, &d->r,
                                 &larger);
    size_note (s, p, rc == 0 ? SCHED_SIZE_LARGEST : SCHED_SIZE_FITTED, larger.text,
               &d->size);
    if (rc == -EBUSY) {
        s->tries++;
        rc = match_allocate (s->m, p->job.id, p->job.req, s->now, d->duration, &d->r,
                             why);
    }
    if (known) /* it gave back only what it had taken itself */
        s->generation = match_generation (s->m);
    return rc;
}
