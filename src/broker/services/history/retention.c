/* retention.c - removes old or surplus ended jobs from the journal
 *
 * Once a minute the reader thread lists some jobs that `journal` no longer keeps
 * (journal_old()). Of these, this file skips jobs that are still needed and jobs that the
 * history does not have on disk (history.h), and removes the rest in a small transaction.
 * After a full list the next one follows at once; between two of them other work has its
 * turn. Needed are jobs in memory (keep-finished, also those with
 * waiting clients), and jobs that a waiting job depends on, as a restart looks them up
 * again. The journal itself skips jobs with a remembered Idempotency-Key, and arrays that
 * still have tasks.
 */
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/depend/depend.h"
#include "broker/services/history/history.h"

#define FIRST_SECONDS 5
#define EVERY_SECONDS 60
#define ROUNDS_MAX 12 /* of a request, while the history lacks jobs */
#define SLICE 16 /* jobs in one transaction */

struct state {
    struct broker_timer timer;
    bool busy, full; /* a look at the journal is under way; more old jobs follow */
    bool compact;    /* shrink the journal afterwards */
    unsigned rounds; /* further ones for that, because of: */
    bool lacking;    /* the history has yet to get jobs that were found in this round */
    uint64_t after, removed;
    struct journal_ended found[SLICE]; /* by the look that is under way */
    size_t nfound;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    double keep;  /* seconds, 0: forever */
    int64_t jobs; /* maximum number, 0: unlimited */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key mapping[] = {
    { "keep", value_seconds, AT (keep), 0, CONFIG_YEARS_MAX, NULL },
    { "jobs", value_int, AT (jobs), 0, INT64_C (1000000000), NULL },
    { 0 },
};

static const struct config_key keys[] = {
    { "journal", value_mapping, 0, sizeof (struct settings), 0, 0, mapping },
    { 0 },
};

static const struct settings defaults = { .keep = 90 * 86400.0, .jobs = 100000 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct state)

/* The ids that waiting jobs depend on, sorted; NULL: no memory. */
static uint64_t *list_needed (const struct broker *b, size_t *ret_n)
{
    const struct entry *e;
    size_t n = 0;

    entries_each (ENTRIES_WAITING, b, e) {
        size_t own;
        depend_needs (e, &own);
        n += own;
    }
    uint64_t *ids = calloc (n + 1, sizeof (*ids));
    if (!ids)
        return NULL;
    *ret_n = n;
    n = 0;
    entries_each (ENTRIES_WAITING, b, e) {
        size_t own;
        const uint64_t *needs = depend_needs (e, &own);
        for (size_t i = 0; i < own; i++)
            ids[n++] = needs[i];
    }
    qsort (ids, n, sizeof (*ids), compare_u64);
    return ids;
}

static void look (struct broker *b, uint64_t after);

static void look_again (struct broker *b, bool at_once)
{
    struct state *state = state_of (b);

    state->busy = false;
    if (broker_is_dead (b))
        return;
    if (at_once)
        look (b, state->after);
    else if (state->compact && state->lacking && state->rounds++ < ROUNDS_MAX)
        broker_timer_set (&state->timer, FIRST_SECONDS);
    else {
        if (state->compact)
            journal_compact (broker_journal (b));
        state->compact = false;
    }
}

static void removed (int rc, const struct error *err, void *arg)
{
    struct broker *b = arg;

    (void)err;
    broker_work_ends (b);
    look_again (b, rc == 0 && state_of (b)->full && !broker_is_stopping (b));
}

static int by_id (const void *a, const void *b)
{
    return compare_u64 (&((const struct journal_ended *)a)->id,
                        &((const struct journal_ended *)b)->id);
}

/* The history has the jobs that were found, but for those that lack. */
static void asked (int rc, const struct journal_ended *lacking, size_t nlacking,
                   void *arg)
{
    struct broker *b = arg;
    struct state *state = state_of (b);
    struct journal_txn *t = journal_txn_create ();
    size_t nneeded = 0, found = 0;
    autofree uint64_t *needed = list_needed (b, &nneeded);

    broker_work_ends (b);
    state->lacking |= nlacking > 0;
    for (size_t i = 0; rc == 0 && needed && t && !broker_is_dead (b) && i < state->nfound;
         i++) {
        const struct journal_ended *job = &state->found[i];
        if (entry_find (b, job->id)
            || bsearch (&job->id, needed, nneeded, sizeof (*needed), compare_u64)
            || (nlacking > 0 && bsearch (job, lacking, nlacking, sizeof (*job), by_id)))
            continue;
        journal_txn_prune (t, job->id);
        found++;
    }
    state->removed += found;
    if (found == 0) {
        journal_txn_destroy (t);
        look_again (b, rc == 0 && needed && state->full);
        return;
    }
    broker_work_begins (b);
    if (journal_commit (broker_journal (b), t, JOURNAL_MAY_FAIL, removed, b) < 0)
        removed (-EAGAIN, NULL, b);
}

static void listed (int rc, const struct journal_ended *jobs, size_t n, void *arg)
{
    struct broker *b = arg;
    struct state *state = state_of (b);

    state->full = rc == 0 && n == SLICE;
    state->nfound = rc == 0 ? n : 0;
    if (state->nfound > 0) {
        memcpy (state->found, jobs, n * sizeof (*jobs));
        state->after = jobs[n - 1].id;
        rc = history_missing (b, jobs, n, asked, b);
    }
    if (rc < 0 || state->nfound == 0)
        asked (rc, NULL, 0, b);
}

static void look (struct broker *b, uint64_t after)
{
    const struct settings *h = settings_of (b);
    struct state *state = state_of (b);

    if (state->busy || broker_is_recovering (b) || broker_is_stopping (b))
        return;
    broker_work_begins (b);
    state->busy = true;
    state->lacking &= after > 0;
    if (journal_old (broker_journal (b), h->jobs, h->keep, after, SLICE, listed, b) < 0)
        listed (-EAGAIN, NULL, 0, b);
}

static void on_timer (struct broker *b)
{
    broker_timer_set (&state_of (b)->timer, EVERY_SECONDS);
    look (b, 0);
}

static int begin (struct broker *b, struct error *err)
{
    (void)err;
    broker_timer_set (&state_of (b)->timer, FIRST_SECONDS);
    return 0;
}

/* -- what users see -- */

/* Starts a round now; after it the journal returns its free space to the file system. */
static void api_journal (struct broker *b, struct http_request *req,
                         const struct api_path *path)
{
    static const char *const members[] = { "action", NULL };
    autojson json_t *body = api_body (req, members);

    (void)path;
    if (!body || !api_action (req, body, "compact", NULL))
        return;
    state_of (b)->compact = true;
    state_of (b)->rounds = 0;
    look (b, 0);
    api_reply_json (
        req, 202,
        json_pack ("{s:I}", "bytes", (json_int_t)journal_bytes (broker_journal (b))));
}

static void shows_status (struct broker *b, uid_t viewer, json_t *status)
{
    (void)viewer;
    json_object_set_new (json_object_get (status, "journal"), "removed",
                         json_integer ((json_int_t)state_of (b)->removed));
}

static const struct api_route routes[] = {
    { "POST", "/v1/journal", api_journal, ROLE_ADMINISTRATOR, "compact" },
    { 0 },
};

const struct broker_service service_retention = {
    .name = "retention",
    .place = &place,
    .state_size = sizeof (struct state),
    .settings = &settings,
    .timer = offsetof (struct state, timer),
    .on_timer = on_timer,
    .begin = begin,
    .routes = routes,
    .shows_status = shows_status,
};
