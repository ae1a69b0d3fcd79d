/* placing.c - placement of a job's nodes among racks and zones: request, wait, result
 *
 *     submit, recovery --> placing_make(): the request with the placement of the job or
 *                          queue ("pack:rack"), or its segments; for --switches a
 *                          second one, bounded
 *     into the queue   --> placing_choose(): the bounded one, until its time is over
 *     the time is over --> placing_pass(): into the queue again, now anywhere
 *     alloc            --> placing_to_alloc(): the places, for the record
 *
 * A job does not wait for a bound that the machine can never meet; if its user asked to
 * wait forever, the job is refused, as any request that can never be met. The time
 * counts from the job's first possible start, and does not start over for a second
 * attempt.
 */
#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/nodes/queuenodes.h"
#include "broker/services/placing.h"
#include "broker/services/reserve/reserve.h"

#include <math.h>

#include "common/clock.h"
#include "common/parse.h"
#include "job/deps_due.h"

#define NAMES_MAX 8 /* places named in the record */

/* The placement that a job, or its queue, asks for. */
struct placing {
    struct entry *e;
    struct placement wish;       /* with its level; or PLACEMENT_NONE */
    int64_t segment;             /* nodes of a segment in a place of that level; or 0 */
    int64_t most;                /* maximum number of places of `level`; 0: any */
    const char *level;           /* the executor's */
    double wait;                 /* seconds to wait for `close`; or INFINITY */
    struct match_request *close; /* the request limited to `most` places; or NULL */
    struct due due;              /* in the state: the end of the wait */
};

struct slot {
    struct placing *p; /* or NULL */
};

static struct service_place place;

/* -- settings -- */

struct settings {
    double switches_wait; /* for --switches without a time, seconds */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "switches-wait", value_duration, AT (switches_wait), 0, 0, NULL },
    { 0 },
};

static const struct settings defaults = { .switches_wait = 300 };

/* The state is the ends of the waits for a placement. */
SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct due_heap)
SERVICE_SLOT_OF (struct slot)

/* -- levels -- */

static const char *innermost (const struct broker *b)
{
    const struct topology *t = broker_topology (b);

    return t->n > 0 ? t->level[t->n - 1].name : NULL;
}

static bool is_level (const struct broker *b, const char *name)
{
    for (size_t i = 0; i < broker_topology (b)->n; i++)
        if (!strcmp (broker_topology (b)->level[i].name, name))
            return true;
    return false;
}

static int refuse_level (const struct broker *b, const char *option, const char *name,
                         struct error *err)
{
    autostrbuf struct strbuf names = STRBUF_INIT (1024);

    if (!innermost (b))
        return error_set (err, EINVAL,
                          "%s: this broker knows of no racks or zones (the setting "
                          "topology is empty); leave the option out",
                          option);
    for (size_t i = 0; i < broker_topology (b)->n; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", broker_topology (b)->level[i].name);
    return error_set (err, EINVAL, "%s: there is no level %s; there is %s", option, name,
                      names.buf);
}

/* -- the configuration -- */

/* Whether the executor's setting topology has this level ("": any level). */
static bool section_has (json_t *section, const char *name)
{
    json_t *entry;
    size_t i;

    json_array_foreach (json_object_get (section, "topology"), i, entry) {
        const char *level = json_string_value (json_object_get (entry, "level"));
        if (level && (!*name || !strcmp (level, name)))
            return true;
    }
    return false;
}

static int check_config (const struct config *c, struct error *err)
{
    json_t *section = config_executor_section (c, c->executor);

    for (size_t i = 0; i < c->nqueues; i++) {
        const struct config_queue *q = &c->queues[i];
        if (q->placement.kind <= PLACEMENT_ANY
            || section_has (section, q->placement.level))
            continue;
        json_t *queues = json_object_get (yaml_root (c->doc), "queues");
        return yaml_error (c->doc, json_object_get (queues, q->name), "placement", err,
                           "queue %s: placement: %s.topology has no level %s", q->name,
                           c->executor, q->placement.level);
    }
    return 0;
}

/* -- the placement asked for -- */

/* The job's placement, else its queue's where the job's request allows it. */
static int find_wish (const struct broker *b, const struct jobspec *js, unsigned queue,
                      struct placement *ret, struct error *err)
{
    const char *last = innermost (b);

    *ret = js->placement.kind != PLACEMENT_NONE
               ? js->placement
               : broker_config (b)->queues[queue].placement;
    if (ret->kind <= PLACEMENT_ANY) {
        ret->kind = PLACEMENT_NONE;
        return 0;
    }
    if (!ret->level[0] && last)
        snprintf (ret->level, sizeof (ret->level), "%s", last);
    return is_level (b, ret->level) ? 0 : refuse_level (b, "placement", ret->level, err);
}

static struct match_request *make_request (struct broker *b, const struct jobspec *js,
                                           unsigned queue, struct placement *wish,
                                           int64_t most, bool own, struct error *err)
{
    struct match_request *req =
        queuenodes_request (b, js, broker_config (b)->queues[queue].name, NULL, err);

    if (!req || (wish->kind == PLACEMENT_NONE && most == 0))
        return req ? match_request_share (broker_matcher (b), req) : NULL;
    if (match_request_place (req, wish, most, err) < 0) {
        wish->kind = PLACEMENT_NONE; /* the queue's placement does not apply */
        if (own) {
            match_request_destroy (req);
            return NULL;
        }
    }
    return match_request_share (broker_matcher (b), req);
}

/* Makes the request with the bound, on the innermost level. */
static int make_close (struct broker *b, struct placing *p, const struct jobspec *js,
                       unsigned queue, struct error *err)
{
    struct placement pack = { .kind = PLACEMENT_PACK };
    const char *last = innermost (b);

    if (!last)
        return refuse_level (b, "switches", "", err);
    snprintf (pack.level, sizeof (pack.level), "%s", last);
    p->level = last;
    p->most = js->switches.count;
    p->wait = js->switches.wait < 0 ? settings_of (b)->switches_wait : js->switches.wait;
    p->close = make_request (b, js, queue, &pack, p->most, true, err);
    return p->close ? 0 : -EINVAL;
}

/* Makes the request of a job with segments: on the innermost level, and nowhere else. */
static int make_segments (struct broker *b, struct entry *e, unsigned queue,
                          struct error *err)
{
    const struct jobspec *js = entry_jobspec (e);
    const char *level = innermost (b);
    struct match_request *req;

    if (!level)
        return refuse_level (b, "segment", "", err);
    req = queuenodes_request (b, js, broker_config (b)->queues[queue].name, NULL, err);
    if (!req)
        return -EINVAL;
    if (match_request_segment (req, level, js->segment, js->spread_segments, err) < 0) {
        match_request_destroy (req);
        return -EINVAL;
    }
    entry_set_request (e, match_request_share (broker_matcher (b), req));
    struct placing *p = slot_of (e)->p = calloc (1, sizeof (*p));
    if (!p)
        return error_no_memory (err, NULL);
    p->e = e;
    p->segment = js->segment;
    p->wish.kind = PLACEMENT_PACK;
    snprintf (p->wish.level, sizeof (p->wish.level), "%s", level);
    return 0;
}

int placing_make (struct broker *b, struct entry *e, unsigned queue, struct error *err)
{
    struct placement wish;
    const struct jobspec *js = entry_jobspec (e);
    bool own = js->placement.kind != PLACEMENT_NONE;

    if (js->segment > 0)
        return make_segments (b, e, queue, err);
    if (find_wish (b, js, queue, &wish, err) < 0)
        return -EINVAL;
    entry_set_request (e, make_request (b, js, queue, &wish, 0, own, err));
    if (!entry_request (e))
        return -EINVAL;
    if (wish.kind == PLACEMENT_NONE && js->switches.count == 0)
        return 0;
    struct placing *p = slot_of (e)->p = calloc (1, sizeof (*p));
    if (!p)
        return error_set (err, ENOMEM, "out of memory");
    p->e = e;
    p->wish = wish;
    return js->switches.count > 0 ? make_close (b, p, js, queue, err) : 0;
}

/* Drops parts of the placement that are not possible any more. */
static void replayed (struct broker *b, struct entry *e)
{
    struct error err = { 0 };

    if (!entry_jobspec (e) || placing_make (b, e, entry_queue (e), &err) == 0)
        return;
    if (!entry_request (e))
        entry_set_request (
            e, queuenodes_request (b, entry_jobspec (e),
                                   broker_config (b)->queues[entry_queue (e)].name, NULL,
                                   &err));
    if (!entry_request (e))
        log_error ("job %ju: %s", (uintmax_t)entry_id (e), err.text);
}

int placing_check (struct broker *b, const struct entry *e, struct error *err)
{
    const struct placing *p = slot_of (e)->p;

    return p && p->close && isinf (p->wait) ? nodegroups_could_run (b, p->close, err) : 0;
}

static void splits (struct entry *to, const struct entry *from)
{
    const struct placing *p = slot_of (from)->p;
    struct placing *copy = p ? malloc (sizeof (*p)) : NULL;

    if (!copy)
        return; /* already placed; its record says less */
    *copy = *p;
    copy->e = to;
    copy->due = (struct due){ 0 };
    if (p->close)
        copy->close = match_request_ref (p->close);
    slot_of (to)->p = copy;
}

static void done (struct broker *b, struct entry *e)
{
    struct placing *p = slot_of (e)->p;

    if (!p)
        return;
    due_remove (state_of (b), &p->due);
    match_request_destroy (p->close);
    p->close = NULL;
}

static void drop (struct entry *e)
{
    struct placing *p = slot_of (e)->p;

    if (p)
        match_request_destroy (p->close);
    free (p);
}

/* -- until when -- */

/* INFINITY: forever. For a job without a record, counted from now. */
static double end_of_wait (const struct placing *p)
{
    const struct job *job = entry_job (p->e);
    double from = job && job->t_eligible > 0 ? job->t_eligible : clock_wall ();

    return MAX (from, job ? job->t_begin : 0) + p->wait;
}

/* Whether the machine can meet the bound; assumed while this cannot be determined. */
static bool can_be (struct broker *b, const struct placing *p)
{
    return broker_is_recovering (b)
           || match_satisfiability (reserve_matcher_of (b, p->e), p->close, NULL)
                  != -ENOENT;
}

static bool waits (struct broker *b, const struct placing *p)
{
    return p && p->close
           && (isinf (p->wait) || (end_of_wait (p) > clock_wall () && can_be (b, p)));
}

const struct match_request *placing_choose (struct broker *b, struct entry *e)
{
    struct placing *p = slot_of (e)->p;

    if (!waits (b, p))
        return entry_request (e);
    if (entry_job (e) && !isinf (p->wait)
        && due_set (state_of (b), &p->due, end_of_wait (p)) < 0)
        return entry_request (e); /* no memory: nothing would end the wait */
    return p->close;
}

static void pass_begins (struct broker *b)
{
    struct due *first;

    while ((first = due_first (state_of (b))) && first->at <= clock_wall ()) {
        struct entry *e = CONTAINER_OF (first, struct placing, due)->e;
        due_remove (state_of (b), first);
        if (entry_job (e)->state == JOB_SCHED)
            broker_enqueue (b, e);
    }
}

static double wakeup (const struct broker *b)
{
    const struct due *first = due_first (state_of (b));

    return first ? first->at : 0;
}

/* -- in words -- */

static void add_count (struct strbuf *sb, int64_t n, const char *level)
{
    strbuf_addf (sb, "%jd %s%s", (intmax_t)n, level, n == 1 ? "" : "s");
}

static void add_wait (struct strbuf *sb, struct broker *b, const struct placing *p)
{
    if (isinf (p->wait)) {
        strbuf_adds (sb, ", however long that takes");
    } else if (p->close && entry_job (p->e) && entry_job (p->e)->state < JOB_RUN
               && p->wait > 0 && !can_be (b, p)) {
        strbuf_adds (sb, ", which is impossible: the job does not wait for it");
    } else {
        strbuf_adds (sb, ", waits ");
        strbuf_add_duration (sb, p->wait);
        strbuf_adds (sb, " for that");
    }
}

/* Appends "in at most 2 racks, waits 5:00 for that; packed into few racks, if it can be";
 * nothing for a job without a placement. */
static void add_asked (struct strbuf *sb, struct broker *b, const struct entry *e)
{
    const struct placing *p = slot_of (e)->p;

    if (!p)
        return;
    if (p->most > 0) {
        strbuf_adds (sb, "in at most ");
        add_count (sb, p->most, p->level);
        add_wait (sb, b, p);
    }
    if (p->wish.kind == PLACEMENT_NONE)
        return;
    if (p->segment > 0) {
        strbuf_addf (sb, "in segments of %jd, each in one %s", (intmax_t)p->segment,
                     p->wish.level);
        return;
    }
    strbuf_adds (sb, sb->len ? "; " : "");
    if (p->wish.kind == PLACEMENT_SPREAD)
        strbuf_addf (sb, "spread over all %ss, if possible", p->wish.level);
    else
        strbuf_addf (sb, "packed into few %ss, if possible", p->wish.level);
}

/* "a/r1": the node's place on this level, with its outer places; false: none. */
static bool add_place (struct strbuf *sb, const struct broker *b, const char *node,
                       const char *level)
{
    struct machine_node_info info;
    int index = machine_node_find (broker_graph (b), node);

    strbuf_reset (sb);
    if (index < 0 || machine_node_info (broker_graph (b), index, &info) < 0)
        return false;
    for (const struct machine_place *x = info.places; x->level; x++) {
        strbuf_addf (sb, "%s%s", sb->len ? "/" : "", x->name);
        if (!strcmp (x->level, level))
            return true;
    }
    return false;
}

/* The places of the job's nodes, each once. */
static json_t *places_of (const struct broker *b, const struct rset *r, const char *level)
{
    json_t *set = json_object ();
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    for (size_t i = 0; set && i < r->nranks; i++)
        if (add_place (&sb, b, r->ranks[i].node, level) && !sb.err)
            json_object_set_new (set, sb.buf, json_null ());
    return set;
}

static int allocates (const struct broker *b, const struct entry *e, json_t *context)
{
    const struct placing *p = slot_of (e)->p;
    const char *level = !p ? NULL : p->most > 0 ? p->level : p->wish.level;
    autojson json_t *set = p ? places_of (b, entry_alloc (e), level) : NULL;
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    const char *name;
    json_t *unused;
    size_t told = 0;

    if (!p || json_object_size (set) == 0)
        return 0;
    add_count (&sb, (int64_t)json_object_size (set), level);
    json_object_foreach (set, name, unused) {
        if (told++ == NAMES_MAX)
            strbuf_adds (&sb, ", ...");
        if (told > NAMES_MAX)
            break;
        strbuf_addf (&sb, "%s%s", told == 1 ? ": " : ", ", name);
    }
    return sb.err ? -1 : json_object_set_new (context, "places", json_string (sb.buf));
}

/* Adds the placement asked for, and the places of the allocation. */
static void shows_job (struct broker *b, struct entry *e, const struct jobspec *js,
                       const struct journal_record *rec, json_t *job)
{
    const char *places = entry_job (e)->places;
    autostrbuf struct strbuf asked = STRBUF_INIT (1024);

    (void)js;
    (void)rec;
    add_asked (&asked, b, e);
    json_object_set_new (job, "placement", api_text_or_null (&asked));
    json_object_set_new (job, "places", places ? json_string (places) : json_null ());
}

static void release (struct broker *b)
{
    due_release (state_of (b));
}

const struct broker_service service_placing = {
    .name = "placing",
    .order = SERVICE_FIRST, /* makes the request */
    .place = &place,
    .state_size = sizeof (struct due_heap),
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .check_config = check_config,
    .release = release,
    .replayed = replayed,
    .splits = splits,
    .ended = done,
    .goes = done,
    .drop = drop,
    .pass_begins = pass_begins,
    .wakeup = wakeup,
    .allocates = allocates,
    .shows_job = shows_job,
};
