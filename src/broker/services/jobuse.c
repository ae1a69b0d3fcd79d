/* jobuse.c - usage of a job's steps, from the agents' reports to the job's record
 *
 *   FRAME_USAGE --> exec_host usage() --> slot.steps --finish or requeue--> event "usage"
 *
 * The event is {attempt, steps: [...], steps_not_kept}: for each step its times, size,
 * status and figures (sum, mean, minimum, maximum, and the node of each), and the figures
 * of each rank if there are few. On local machines the spool is the user's file, so a
 * user can write anything there about his own jobs: the data is bounded here, and no
 * decision depends on it. After a restart the executor reports everything again.
 */
#include "broker/core/jobs.h"
#include "broker/core/turn.h"
#include "broker/core/service.h"
#include "broker/services/jobuse.h"

#define DETAILED_MAX 16 /* steps with the figures of each rank */

struct slot {
    json_t *steps; /* usage of this attempt's steps, as in the event; or NULL */
    uint64_t not_kept;
};

static struct service_place place;
SERVICE_SLOT_OF (struct slot)

static const char *node_of (const struct entry *e, uint32_t rank)
{
    return entry_alloc (e) && rank < entry_alloc (e)->nranks
               ? entry_alloc (e)->ranks[rank].node
               : "";
}

static bool is_time (unsigned figure)
{
    return figure == USE_USER || figure == USE_SYSTEM;
}

/* Seconds or bytes. */
static json_t *value_of (unsigned figure, uint64_t value)
{
    if (is_time (figure))
        return json_real ((double)value / 1e6);
    return json_integer ((json_int_t)MIN (value, (uint64_t)INT64_MAX));
}

static json_t *spread_json (const struct entry *e, unsigned figure,
                            const struct use_spread *s)
{
    return json_pack ("{s:o s:o s:o s:s s:o s:s}", "sum", value_of (figure, s->sum),
                      "mean", value_of (figure, s->sum / s->n), "min",
                      value_of (figure, s->min), "min_node", node_of (e, s->min_rank),
                      "max", value_of (figure, s->max), "max_node",
                      node_of (e, s->max_rank));
}

static json_t *ranks_json (const struct entry *e, const struct stepuse *s)
{
    json_t *list = json_array ();

    for (uint32_t i = 0; i < s->nreported; i++) {
        const struct use_rank *r = &s->ranks[i];
        json_t *o = json_pack ("{s:I s:s}", "rank", (json_int_t)r->rank, "node",
                               node_of (e, r->rank));

        for (unsigned f = 0; f < USE_FIGURES; f++)
            if (r->use.known & (1U << f))
                json_object_set_new (o, use_names[f], value_of (f, r->use.v[f]));
        json_array_append_new (list, o);
    }
    return list;
}

static void note_component (const struct entry *e, uint32_t rank, bool *seen)
{
    if (rank < entry_alloc (e)->nranks)
        seen[entry_alloc (e)->ranks[rank].component] = true;
}

/* The components of a heterogeneous job in which the step ran. Of a large step only the
 * ranks with the extreme figures are known. */
static json_t *components_json (const struct entry *e, const struct stepuse *s)
{
    bool seen[JOBSPEC_COMPONENTS_MAX] = { false };
    json_t *list = json_array ();

    for (uint32_t i = 0; s->ranks && i < s->nreported; i++)
        note_component (e, s->ranks[i].rank, seen);
    for (unsigned f = 0; !s->ranks && f < USE_FIGURES; f++) {
        if (s->spread[f].n == 0)
            continue;
        note_component (e, s->spread[f].min_rank, seen);
        note_component (e, s->spread[f].max_rank, seen);
    }
    for (int i = 0; i < JOBSPEC_COMPONENTS_MAX; i++)
        if (seen[i])
            json_array_append_new (list, json_integer (i));
    return list;
}

static bool is_heterogeneous (const struct rset *r)
{
    return r && r->nranks > 0 && r->ranks[r->nranks - 1].component > 0;
}

json_t *jobuse_step_json (const struct entry *e, const struct stepuse *s, bool detailed)
{
    json_t *o = json_pack ("{s:s s:o s:f s:f s:I s:I s:i s:I}", "step", s->step, "name",
                           broker_text (s->name), "begin", (double)s->begin_ms / 1e3,
                           "end", (double)s->end_ms / 1e3, "ntasks",
                           (json_int_t)s->ntasks, "nnodes", (json_int_t)s->nnodes,
                           "status", s->status, "reported", (json_int_t)s->nreported);

    for (unsigned f = 0; o && f < USE_FIGURES; f++)
        if (s->spread[f].n > 0)
            json_object_set_new (o, use_names[f], spread_json (e, f, &s->spread[f]));
    if (o && is_heterogeneous (entry_alloc (e)))
        json_object_set_new (o, "components", components_json (e, s));
    if (o && detailed && s->ranks)
        json_object_set_new (o, "ranks", ranks_json (e, s));
    return o;
}

static bool is_numbered (const char *step)
{
    return *step >= '0' && *step <= '9';
}

/* The index of the step in the list; the list's length: not there. */
static size_t find_step (json_t *list, const char *step)
{
    json_t *o;
    size_t i;

    json_array_foreach (list, i, o) {
        if (!strcmp (json_string_value (json_object_get (o, "step")), step))
            return i;
    }
    return json_array_size (list);
}

static void host_usage (void *arg, uint64_t id, const char *text, size_t len)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);
    struct stepuse s;

    if (!e || entry_job (e)->finished || stepuse_decode (text, len, &s) < 0)
        return;
    struct slot *slot = slot_of (e);
    if (!slot->steps)
        slot->steps = json_array ();
    size_t at = find_step (slot->steps, s.step);
    bool is_new = at == json_array_size (slot->steps);
    if (is_new && at >= JOBUSE_STEPS_MAX + (is_numbered (s.step) ? 0 : 2)) {
        slot->not_kept++;
    } else {
        json_t *o = jobuse_step_json (e, &s, at < DETAILED_MAX || !is_numbered (s.step));

        if (is_new)
            json_array_append_new (slot->steps, o);
        else
            json_array_set_new (slot->steps, at, o);
    }
    stepuse_release (&s);
}

/* The context of the event "usage", with what is known so far; NULL: nothing is. */
static json_t *context_of (const struct entry *e)
{
    const struct slot *slot = slot_of (e);

    if (json_array_size (slot->steps) == 0)
        return NULL;
    return json_pack ("{s:i s:O s:I}", "attempt", (int)entry_job (e)->restarts, "steps",
                      slot->steps, "steps_not_kept", (json_int_t)slot->not_kept);
}

static void drop (struct entry *e)
{
    struct slot *slot = slot_of (e);

    json_decref (slot->steps);
    *slot = (struct slot){ 0 };
}

static void emit (struct broker *b, struct entry *e)
{
    json_t *context = context_of (e);

    if (context)
        broker_emit (b, e, "usage", context);
    drop (e);
}

/* Adds the usage of the ended steps: of this attempt, else of the last one that
 * reported. */
static void shows_job (struct broker *b, struct entry *e, const struct jobspec *js,
                       const struct journal_record *rec, json_t *job)
{
    json_t *use = context_of (e);

    (void)b;
    (void)js;
    for (size_t i = rec->nevents; !use && i-- > 0;)
        if (!strcmp (rec->events[i].name, "usage") && rec->events[i].context)
            use = json_loads (rec->events[i].context, 0, NULL);
    json_t *steps = json_object_get (use, "steps"),
           *more = json_object_get (use, "steps_not_kept");
    json_object_set_new (job, "steps",
                         json_is_array (steps) ? json_incref (steps) : json_array ());
    json_object_set_new (job, "steps_not_kept",
                         json_is_integer (more) ? json_incref (more) : json_integer (0));
    json_decref (use);
}

static void host_init (struct broker *b, struct exec_host *host)
{
    (void)b;
    host->usage = host_usage;
}

const struct broker_service service_jobuse = {
    .name = "jobuse",
    .place = &place,
    .slot_size = sizeof (struct slot),
    .host = host_init,
    .attempt_ends = emit,
    .drop = drop,
    .shows_job = shows_job,
};
